#!/usr/bin/python3
"""damage.py [--flips N] [--ranks N] : damaged, foreign and missing checkpoints, and a folder that is removed.

One clear sentence and exit code 2 each, or, where a folder is given, the checkpoint before it with a warning and the
undisturbed run's bits; never a crash, HDF5's error stack, or wrong data.  If this fails, a broken disk costs a whole run,
or a run goes on from garbage.
"""
import argparse
import glob
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time

import launch

failures = []


def check(condition, what):
    if not condition:
        failures.append(what)
        print("failed:", what, flush=True)


def refused(result, code, what, *parts):
    """The exit code, and one sentence with these parts; nothing of HDF5, MPI or a crash beside it."""
    check(result.code == code and not result.crashed, "%s: exit code %d expected: %s %s" % (what, code, result, result.crashed))
    check(len(result.sentences) == 1, "%s: one sentence expected: %r" % (what, result.output[-600:]))
    for part in parts:
        check(any(re.search(part, s) for s in result.sentences), "%s: '%s' expected: %s" % (what, part, result))


def flip(path, draw, bits=1):
    with open(path, "r+b") as file:
        data = bytearray(file.read())
        for _ in range(bits):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        file.seek(0)
        file.write(data)


def checkpoints(folder):
    return sorted(glob.glob(os.path.join(folder, "checkpoint-[0-9]*.h5")))


class Damage:
    def __init__(self, options, home):
        self.options, self.home, self.draw = options, home, random.Random(options.seed)
        self.whole, self.stopped = os.path.join(home, "whole.run"), os.path.join(home, "stopped.run")
        self.scene = os.path.join(home, "scene.json")
        with open(os.path.join(launch.SCENES, "corner.json")) as file:
            self.text = json.load(file)
        end = self.text["time"]["end"]
        self.text["output"] = {"checkpoint_every_t": end / 8, "checkpoint_keep": 3}
        with open(self.scene, "w") as file:
            json.dump(self.text, file)
        for folder, until in ((self.whole, end), (self.stopped, 0.7 * end)):
            r = self.run(1, self.scene, "-o", folder, "--until", repr(until))
            if r.code != 0 or len(checkpoints(folder)) != 3:
                sys.exit("no checkpoints to damage: %s, %s" % (r, os.listdir(folder)))
        self.bytes = [open(path, "rb").read() for path in checkpoints(self.stopped)]

    def run(self, ranks, *arguments, quiet=True):
        return launch.tactus(ranks, "run", *arguments, *(["--quiet"] if quiet else []), limit=self.options.limit)

    def copy(self, name):
        folder = os.path.join(self.home, name)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.stopped, folder, symlinks=True)
        return folder

    def flipped(self):
        """Random bits of a checkpoint, by the file's name: refused, all of them."""
        path = os.path.join(self.home, "flipped.h5")
        for number in range(self.options.flips):
            with open(path, "wb") as file:
                file.write(self.bytes[-1])
            flip(path, self.draw, 1 if number % 4 else self.draw.choice([2, 3, 40]))
            ranks = self.options.ranks if number % 40 == 0 else 1
            out = os.path.join(self.home, "never.run")
            refused(self.run(ranks, "--restart", path, "-o", out), 2, "flip %d" % number, "flipped.h5")
            check(not os.path.exists(os.path.join(out, "frames.h5")), "flip %d: a run was begun" % number)

    def shortened(self):
        """Cut short at any length, and what is no checkpoint at all."""
        path = os.path.join(self.home, "short.h5")
        size = len(self.bytes[-1])
        for length in [0, 1, 511, 512, 513, 2000, size - 1] + [self.draw.randrange(size) for _ in range(20)]:
            with open(path, "wb") as file:
                file.write(self.bytes[-1][:length])
            refused(self.run(1, "--restart", path, "-o", os.path.join(self.home, "never.run")), 2, "%d bytes" % length, "short.h5")
        with open(path, "wb") as file:
            file.write(self.bytes[-1] + b"more")
        refused(self.run(self.options.ranks, "--restart", path, "-o", os.path.join(self.home, "never.run")), 2, "longer", "short.h5")
        for other in (os.path.join(self.whole, "frames.h5"), self.scene, "/dev/null", os.path.join(self.home, "nowhere.h5")):
            refused(self.run(1, "--restart", other, "-o", os.path.join(self.home, "never.run")), 2, other, os.path.basename(other))

    def previous(self):
        """A folder whose newest checkpoint is damaged: the one before, with a warning, and the same bits."""
        for ranks, what in ((1, "flip"), (self.options.ranks, "cut"), (self.options.ranks, "both"), (1, "gone")):
            folder = self.copy("previous.run")
            paths = checkpoints(folder)
            named = paths[-1:]
            if what == "gone":  # and checkpoint.h5 points to nothing
                os.remove(paths[-1])
                named = []
            elif what == "cut":
                os.truncate(paths[-1], os.path.getsize(paths[-1]) // 2)
            else:
                flip(paths[-1], self.draw, 5)
                if what == "both":
                    flip(paths[-2], self.draw, 5)
                    named = paths[-2:]
            r = self.run(ranks, "--restart", folder, quiet=False)
            check(r.code == 0 and not r.crashed and not r.sentences, "%s: it goes on: %s" % (what, r))
            for path in named:
                check(sum(os.path.basename(path) in w for w in r.warnings) == 1,
                      "%s: one warning that names %s: %r" % (what, os.path.basename(path), r.output[-600:]))
            if r.code == 0:
                differs = launch.difference(self.whole, folder)
                check(not differs, "%s: other bits than undisturbed: %s" % (what, differs))

    def nothing_left(self):
        folder = self.copy("all.run")
        for path in checkpoints(folder):
            flip(path, self.draw)
        refused(self.run(self.options.ranks, "--restart", folder), 2, "all damaged", "all.run")
        os.makedirs(os.path.join(self.home, "empty"), exist_ok=True)
        refused(self.run(1, "--restart", os.path.join(self.home, "empty")), 2, "an empty folder", "empty")
        refused(self.run(1, "--restart", os.path.join(self.home, "nowhere")), 2, "no folder", "nowhere")

    def foreign(self):
        other = os.path.join(self.home, "other.json")
        with open(other, "w") as file:
            json.dump({**self.text, "gravity": [0, -1, 0]}, file)
        refused(self.run(self.options.ranks, other, "--restart", self.copy("foreign.run")), 2, "another scene", "gravity")

    def removed(self):
        """The folder goes while the run writes it."""
        long = os.path.join(self.home, "long.json")
        with open(long, "w") as file:
            json.dump({**self.text, "time": {"end": 16, "frame": 0.0078125}}, file)
        folder = os.path.join(self.home, "removed.run")
        process = launch.Process(self.options.ranks, ["run", long, "-o", folder, "--quiet"])
        end = time.monotonic() + launch.PATIENCE_S
        while not checkpoints(folder) and process.process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        while os.path.exists(folder):  # a file may come while the others go
            shutil.rmtree(folder, ignore_errors=True)
        refused(process.wait(launch.PATIENCE_S), 3, "the folder is removed", "removed")
        check(not os.path.exists(folder), "the folder stays removed")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flips", type=int, default=200)
    parser.add_argument("--ranks", type=int, default=3, help="of the runs on several (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=60, help="seconds that a run may take (%(default)s)")
    options = parser.parse_args()
    launch.program()
    begin, home = time.monotonic(), tempfile.mkdtemp(prefix="ranks-damage-")
    try:
        damage = Damage(options, home)
        for part in (damage.flipped, damage.shortened, damage.previous, damage.nothing_left, damage.foreign, damage.removed):
            part()
    finally:
        shutil.rmtree(home, ignore_errors=True)
    print("%d flips, and files cut short, foreign, missing, removed, in %.0f s: %d failures" %
          (options.flips, time.monotonic() - begin, len(failures)))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
