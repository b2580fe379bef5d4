#!/usr/bin/python3
"""run_equality.py SCENE... : the same trajectory, to the last bit, however it is computed (invariance law).

Each scene is run by the plain reference, all pairs, and then in other ways that may not change a bit; `tactus diff`
compares. A SCENE is a file, or KIND:SEED or KIND:FIRST..LAST for scenes of random_scene.py (kind "seed": any kind), or
experiment:NAME,... (or all) for those of experiment_scenes.py.

    TACTUS=build/tactus tests/system/equality/run_equality.py tests/system/equality/scenes/*.json soup:1..10 seed:1..1000

TACTUS is the program, TACTUS_OTHER (optional) one that another compiler built. Where two runs differ, or one fails, or
one hangs, their folders are kept and named, and the exit code is 1. A run that stops because the scene cannot go on
must do so in every way, with the same sentence.
"""
import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import experiment_scenes
import random_scene

HERE = os.path.dirname(os.path.abspath(__file__))
# One rank does without the daemon and the network of mpirun: it starts in 10 ms instead of 300. Such ranks take each
# other's temporary files for their own, so each scene has a folder for them.
ALONE = {"OMPI_MCA_ess_singleton_isolated": "1", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self", "OMPI_MCA_mtl": "^ofi,psm2",
         "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
# The C library picks its sin, exp, pow by what the processor can do; here it may not see FMA and vectors.
PLAIN_LIBRARY = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-AVX512F,-AVX512VL,-FMA,-FMA4,-AVX"}


class Way:
    """One way to run a scene: arguments from the scene's time section, environment, program."""

    def __init__(self, name, arguments=lambda time: [], environment=None, program="TACTUS", same_frames=True,
                 may_be_slow=False):
        self.name, self.arguments, self.environment = name, arguments, environment or {}
        self.program, self.same_frames, self.may_be_slow = program, same_frames, may_be_slow


def window(shortest, longest):
    return ["--set", f"discovery.window_s=[{shortest!r},{longest!r}]"]


def kinetic(**keys):
    """Kinetic data structures with these settings."""
    return ["--discover", "kds"] + [word for key, value in keys.items() for word in ("--set", f"discovery.{key}={value}")]


REFERENCE = Way("all pairs", lambda t: ["--discover", "all-pairs"])
WAYS = [
    Way("speculate", lambda t: ["--discover", "speculate"]),
    Way("kds", lambda t: kinetic()),
    Way("tiny windows", lambda t: window(t["end"] / 512, t["end"] / 512)),
    Way("windows", lambda t: window(t["end"] / 150, t["end"] / 12)),
    Way("one window", lambda t: window(t["end"], t["end"]), may_be_slow=True),  # whoever asks for it gets it
    Way("frames", lambda t: ["--set", f"time.frame={t['frame'] / 4!r}"], same_frames=False),
    Way("kds, straight", lambda t: kinetic(vagueness=0, kdop=6, queue="binary")),
    Way("kds, vague", lambda t: kinetic(vagueness=3, kdop=26, queue="pairing")),
    Way("kds, pairs", lambda t: kinetic(vagueness=.1, structure="pairs", queue="calendar")),
    Way("kds, 14", lambda t: kinetic(kdop=14) + ["--set", f"time.frame={t['frame'] / 4!r}"], same_frames=False),
    Way("plain libm", environment=PLAIN_LIBRARY),
    Way("other build", program="TACTUS_OTHER"),
    Way("other, pairs", lambda t: ["--discover", "all-pairs"], program="TACTUS_OTHER"),
]


def call(command, environment, limit):
    """Exit code, output, seconds; the code is None when it took longer than the limit."""
    start = time.monotonic()
    try:
        done = subprocess.run(command, env={**os.environ, **ALONE, **environment}, timeout=limit, text=True,
                              errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout, time.monotonic() - start
    except subprocess.TimeoutExpired:
        return None, f"no end within {limit} s", limit


def sentence(output, folder):
    """The program's last line, less the folder's name and the place: what stops a run, and when, is part of the law."""
    lines = [line for line in output.replace(folder, "DIR").splitlines() if line.strip()]
    return re.sub(r" near \([^)]*\)", "", lines[-1]) if lines else ""


def run(way, scene_path, times, folder, limit):
    program = os.environ[way.program]
    command = [program, "run", scene_path, "-o", folder, "--quiet"] + way.arguments(times)
    return call(command, {**way.environment, "OMPI_MCA_orte_tmpdir_base": os.path.dirname(folder)}, limit)


def deepest_layer(folder):
    """Of the whole run: 0 where nothing touched."""
    try:
        with open(os.path.join(folder, "energy.csv")) as file:
            return max((int(float(row["deepest_layer"])) for row in csv.DictReader(file)), default=0)
    except (OSError, KeyError, ValueError):
        return 0


class Result:
    def __init__(self, name):
        self.name, self.cells, self.trouble, self.layer, self.seconds = name, [], [], 0, 0.0
        self.stopped = False


def compare(way, reference, mine, folders, limit):
    """What is different, as a sentence; empty where nothing is."""
    if mine[0] is None:
        return mine[1]
    ends = [sentence(r[1], f) for r, f in zip((reference, mine), folders)] if reference[0] else ["", ""]
    if reference[0] != mine[0] or ends[0] != ends[1]:
        return f"exit code {mine[0]}: {sentence(mine[1], folders[1])}; the reference: {reference[0]} {ends[0]}"
    more = ["--all-frames"] if way.same_frames else []
    code, output, _ = call([os.environ["TACTUS"], "diff", *folders] + more,
                           {"OMPI_MCA_orte_tmpdir_base": os.path.dirname(folders[0])}, limit)
    if code == 0:
        return ""
    lines = [" ".join(line.split()) for line in output.splitlines()]
    return "; ".join([line for line in lines if "largest" in line] or lines) or f"tactus diff ends with {code}"


def crossings(folder, options):
    """What crosses in a run's frames: a list of at most one sentence."""
    if not options.apart:
        return []
    code, output, _ = call([options.apart, folder], {}, options.limit)
    return [f"surfaces that must lie apart do not: {output.strip()}"] if code != 0 else []


def check(name, scene, ways, options):
    """Runs a scene in all ways; leaves nothing behind unless something differs."""
    result = Result(name)
    home = tempfile.mkdtemp(prefix="equality-", dir=options.keep)
    path = os.path.join(home, "scene.json")
    with open(path, "w") as file:
        json.dump(scene, file, indent=1)
    folder = os.path.join(home, "reference.run")
    reference = run(REFERENCE, path, scene["time"], folder, options.limit)
    result.seconds, result.layer = reference[2], deepest_layer(folder)
    result.stopped = reference[0] == 3
    if reference[0] not in (0, 3):
        result.trouble.append(f"all pairs: exit code {reference[0]}: {sentence(reference[1], folder)}")
    for way in ways if not result.trouble else []:
        if way.program not in os.environ:
            continue
        other = os.path.join(home, way.name.replace(" ", "-").replace(",", "") + ".run")
        limit = min(options.limit, 10 + 20 * reference[2]) if way.may_be_slow else options.limit
        mine = run(way, path, scene["time"], other, limit)
        if way.may_be_slow and mine[0] is None:
            result.cells.append(f"{way.name}: slow")
            shutil.rmtree(other)
            continue
        difference = compare(way, reference, mine, (folder, other), options.limit)
        result.cells.append(f"{way.name}: {'DIFFERS' if difference else 'same'}")
        if difference:
            result.trouble.append(f"{way.name}: {difference}\n    {folder} {other}")
        elif not way.same_frames:  # finer: more to see
            result.trouble += crossings(other, options)
        if not result.trouble:
            shutil.rmtree(other)
    if not result.trouble:
        result.trouble += crossings(folder, options)
    if options.contact and not result.layer and not result.stopped and not result.trouble:
        result.trouble.append("nothing touches in this scene: it tests nothing")
    if not result.trouble:
        shutil.rmtree(home)
    return result


def scenes(words):
    """(name, scene) of each."""
    for word in words:
        kind, colon, seeds = word.partition(":")
        if not colon or os.path.exists(word):
            with open(word) as file:
                yield os.path.basename(word).removesuffix(".json"), json.load(file)
            continue
        if kind == "experiment":
            yield from experiment_scenes.scenes(seeds)
            continue
        first, _, last = seeds.partition("..")
        for seed in range(int(first), int(last or first) + 1):
            yield f"{kind}:{seed}", random_scene.make(seed, None if kind == "seed" else kind)


def library_changes():
    """Does the C library compute anything else when it may not see the processor's features?"""
    script = "import math; print(sum(hash((math.sin(i), math.exp(-i / 7), math.atan2(i, 3))) for i in range(9999)))"
    return len({call([sys.executable, "-c", script], e, 60)[1] for e in ({}, PLAIN_LIBRARY)}) == 2


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scene", nargs="+")
    parser.add_argument("--some", action="store_true", help="per scene two other ways, in turn, beside speculate and kds")
    parser.add_argument("--only", default="", metavar="WORD", help="only ways whose name has this in it, such as kds")
    parser.add_argument("--contact", action="store_true", help="a scene in which nothing touches, and that goes on, is a failure")
    parser.add_argument("--apart", metavar="PROGRAM", help="frames_apart: checks that nothing crosses in the frames")
    parser.add_argument("--limit", type=float, default=120, help="seconds that a run may take (%(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="scenes at a time")
    parser.add_argument("--keep", default=None, help="folder for what differs; default: the system's for temporary files")
    options = parser.parse_args()
    if "TACTUS" not in os.environ:
        parser.error("set TACTUS to the program, such as TACTUS=build/tactus")
    for name in ("TACTUS", "TACTUS_OTHER"):
        if name in os.environ:
            os.environ[name] = os.path.abspath(os.environ[name])
    if not library_changes():
        print("(plain libm: this processor or C library has nothing to hide)")

    ways = [way for way in WAYS if way.program in os.environ and options.only in way.name]
    turns = ways[2:]

    def one(job):
        i, (name, scene) = job
        mine = ways if not options.some else ways[:2] + [turns[(2 * i + k) % len(turns)] for k in range(2)]
        return check(name, scene, mine, options)

    start, count, differ, touching, stopped = time.monotonic(), 0, 0, 0, 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(one, enumerate(scenes(options.scene))):
            count += 1
            differ += bool(result.trouble)
            touching += result.layer > 0 or result.stopped
            stopped += result.stopped
            print(f"{result.name:24} {result.seconds:6.2f} s  layer {result.layer:4}{'  stops' if result.stopped else ''}  "
                  f"{', '.join(result.cells)}", flush=True)
            for line in result.trouble:
                print(f"  {line}", flush=True)
    print(f"{count} scenes in {time.monotonic() - start:.0f} s: contact in {touching}, {stopped} stop early, "
          f"{differ} differ or fail")
    sys.exit(1 if differ or not count else 0)


if __name__ == "__main__":
    main()
