#!/usr/bin/python3
"""run.py [--all] [--texts] [NAME ...] : deliberate faults in the engine, and which of the tests' oracles see them.

A fault (mutants.py) is put into a copy of one source file, which is compiled as the build in TACTUS_BUILD does, and linked
with the rest of it. The program made so runs scenes of seconds, and these look at it:

    stops   it ends with an error (a run beyond its time says nothing: the machine may be busy)
    audit   `tactus audit` of its record, on one rank
    modes   `tactus diff` of speculation with all pairs
    kds     `tactus diff` of speculation with kinetic structures, on as many ranks as below
    ranks   `tactus diff` of two and of three ranks with one
    moving  `tactus diff` of kinetic structures on ranks that part the scene anew at every commit, with one rank
    restart `tactus diff` of a run that was stopped and went on
    sound   `tactus diff` with the program as it is

The sound program passes all of them first. If a fault passes too, these oracles would not see such a mistake in the engine.
"""
import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, *(os.path.join(os.path.dirname(HERE), folder) for folder in ("equality", "../ranks"))]
import experiment_scenes
import mutants
import random_scene
from launch import MANY as MPI

ORACLES = ["stops", "audit", "modes", "kds", "ranks", "moving", "restart", "sound"]
TESTS = os.path.dirname(HERE)
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
# Scene, what is changed in it, where it stops on the way, on how many ranks it runs too, and on how many while its vertices
# migrate. (Of the faults, only runs with migrations show broken-tube, and only the scene whose lists live longest shows
# old-list.)
SCENES = [("equality/scenes/crossing-ribbons", {"contact.friction": .3, "discovery.window_s": [.002, .004]}, .0625, [2, 3], []),
          ("equality/scenes/particle-at-sheet", {}, .0078125, [], []), ("experiment:chain-shot", {}, .0007, [2], []),
          ("seed:6", {}, .002, [], [2, 3]), ("equality/scenes/particles-in-box", {}, .125, [], [])]
SKIPPED, LIMIT = 77, 120


def call(words, cwd, environment=None):
    """Exit code (None: no end in time) and output."""
    try:
        done = subprocess.run(words, cwd=cwd, env={**os.environ, **MPI, **(environment or {})}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=LIMIT)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as e:
        return None, (e.stdout or b"").decode("utf-8", "replace")


class Build:
    """A build that is there, by Ninja: how it compiles a file, and how it links the program."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        done = subprocess.run(["ninja", "-C", self.folder, "-t", "commands", "tactus-program"], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit("no commands from ninja in %s: %s" % (folder, done.stderr or done.stdout))
        self.commands = done.stdout.splitlines()
        self.source = SOURCE

    def make(self, mutant, home, only_compile=False):
        """The program with this fault; its path. Or only whether it can be compiled."""
        name, _, path, changes = mutant
        folder = os.path.join(home, name)
        os.mkdir(folder)
        original = os.path.join(self.source, path)
        with open(original) as file:
            text = file.read()
        for old, new in changes:
            if text.count(old) != 1:
                sys.exit("mutant %s: %s has this text %d times, not once:\n%s" % (name, path, text.count(old), old))
            text = text.replace(old, new)
        mine, wrong, program = (os.path.join(folder, n) for n in ("mutant.c", "mutant.o", "tactus"))
        with open(mine, "w") as file:
            file.write(text)
        compile_it = [c for c in self.commands if c.endswith(" -c " + original)]
        link = [c for c in self.commands if " -o tactus " in c]
        if len(compile_it) != 1 or len(link) != 1:
            sys.exit("no way to compile %s found among the build's commands" % path)
        words = compile_it[0].split(" -MD ")[0] + " -Wno-error -w -iquote %s -o %s -c %s" % (os.path.dirname(original), wrong, mine)
        # The linker takes from the library only what it lacks: this file's functions are here already.
        linking = link[0].replace(" -o tactus ", " -o %s %s " % (program, wrong))
        for command in (words + " -fsyntax-only",) if only_compile else (words, linking):
            done = subprocess.run(command, shell=True, cwd=self.folder, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit("mutant %s: %s\n%s" % (name, command, done.stdout + done.stderr))
        return program


class Trial:
    """A program on the scenes: what it leaves, and who objects."""

    def __init__(self, program, sound, folder, scenes):
        self.program, self.sound, self.folder, self.scenes = program, sound, folder, scenes
        self.caught = {}

    def object(self, oracle, why):
        self.caught.setdefault(oracle, " ".join(why.split())[:160])

    def run(self, ranks, folder, *words, environment=None):
        command = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
        code, said = call(command + [self.program, "run", *words, "--quiet"] + (["-o", folder] if "--restart" not in words else []), self.folder, environment)
        if code not in (0, None):
            self.object("stops", "%s: exit code %s %s" % (folder, code, said.strip()[:160]))
        return code == 0

    def differ(self, oracle, a, b):
        # The sound program compares.
        code, said = call([self.sound, "diff", a, b, "--all-frames"], self.folder)
        if code != 0:
            lines = [line for line in said.splitlines() if "differ" in line]
            self.object(oracle, "; ".join(lines[:2]) or said)

    def all(self, reference):
        """reference(scene): the sound program's run, or None."""
        for name, path, middle, more, moving in self.scenes:
            one = name + ".run"
            if not self.run(1, one, path, "--record"):
                continue
            code, said = call([self.sound, "audit", one], self.folder)
            if code != 0:
                self.object("audit", said)
            if reference:
                self.differ("sound", one, reference(name))
            if self.run(1, name + "-all.run", path, "--discover", "all-pairs"):
                self.differ("modes", one, name + "-all.run")
            for ranks in [1, *more]:
                if self.run(ranks, "%s-kds-%d.run" % (name, ranks), path, "--discover", "kds"):
                    self.differ("kds", one, "%s-kds-%d.run" % (name, ranks))
            for ranks in more:
                if self.run(ranks, "%s-%d.run" % (name, ranks), path):
                    self.differ("ranks", one, "%s-%d.run" % (name, ranks))
            for ranks in moving:
                if self.run(ranks, "%s-moving-%d.run" % (name, ranks), path, "--discover", "kds", environment={"TACTUS_TEST_MIGRATE": str(ranks)}):
                    self.differ("moving", one, "%s-moving-%d.run" % (name, ranks))
            again = name + "-again.run"
            if self.run(1, again, path, "--until", str(middle)) and self.run(1, again, "--restart", again, path):
                self.differ("restart", one, again)


def put(scene, path, value):
    for key in path.split(".")[:-1]:
        scene = scene.setdefault(key, {})
    scene[path.split(".")[-1]] = value


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="*", help="which faults; without any, four of them")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--texts", action="store_true", help="runs nothing: only whether every fault can be put into its file and compiled")
    parser.add_argument("--build", default=os.environ.get("TACTUS_BUILD"), help="a build folder, made with Ninja")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if not options.build or not os.path.exists(os.path.join(options.build, "build.ninja")):
        print("skipped: no build by Ninja (--build, TACTUS_BUILD)")
        return SKIPPED
    known = {m[0]: m for m in mutants.MUTANTS}
    names = list(known) if options.all else options.name or ["missed-pair", "undo-layer-group", "ghost-late", "late-slab"]
    unknown = [n for n in names if n not in known]
    if unknown:
        sys.exit("no such fault: %s; there are %s" % (unknown[0], ", ".join(known)))
    if options.texts:
        build = Build(options.build)
        with tempfile.TemporaryDirectory(prefix="tactus-mutation-") as home:
            for name in known:
                build.make(known[name], home, only_compile=True)
        print("%d faults can be put into the sources" % len(known))
        return 0
    build, begin, home = Build(options.build), time.monotonic(), tempfile.mkdtemp(prefix="tactus-mutation-")
    sound_program = os.path.join(build.folder, "tactus")
    try:
        scenes = []
        for name, changes, middle, more, moving in SCENES:
            if name.startswith("experiment:"):
                scene = experiment_scenes.make(name.partition(":")[2])
            elif name.startswith("seed:"):
                scene = random_scene.make(int(name.partition(":")[2]))
            else:
                with open(os.path.join(TESTS, name + ".json")) as file:
                    scene = json.load(file)
            name = os.path.basename(name).replace(":", "-")
            for path, value in changes.items():
                put(scene, path, value)
            scenes.append((name, os.path.join(home, name + ".json"), middle, more, moving))
            with open(scenes[-1][1], "w") as file:
                json.dump(scene, file)
        os.mkdir(os.path.join(home, "sound"))
        sound = Trial(sound_program, sound_program, os.path.join(home, "sound"), scenes)
        sound.all(None)
        if sound.caught:
            print("the program as it is: %s" % sound.caught)
            return 1

        def one(name):
            program = build.make(known[name], home)
            trial = Trial(program, sound_program, os.path.dirname(program), scenes)
            trial.all(lambda scene: os.path.join(home, "sound", scene + ".run"))
            return trial.caught
        missed = 0
        print("%-16s %s   what is wrong" % ("fault", " ".join("%-7s" % o for o in ORACLES)))
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for name, caught in zip(names, pool.map(one, names)):
                missed += not caught
                print("%-16s %s   %s" % (name, " ".join("%-7s" % ("caught" if o in caught else "-") for o in ORACLES), known[name][1]), flush=True)
                if len(names) < 4:
                    for oracle, why in caught.items():
                        print("    %s: %s" % (oracle, why))
    finally:
        shutil.rmtree(home, ignore_errors=True)
    print("%d faults, %d caught, %d missed; %.0f s" % (len(names), len(names) - missed, missed, time.monotonic() - begin))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
