#!/usr/bin/python3
"""kills.py: `tactus run` is killed (kill -9) before its n-th call that changes a file; whatever n is, --restart makes the folder
that an undisturbed run makes: frames, rows, record, index, run.json, status.  If this fails, a kill at a bad moment loses the
end of a run, or doubles something.

inject.c kills, and lists the calls first, so the moments are the program's own and not the clock's.  --count: so many moments
of each case, spread over all; those after the last checkpoint, where a run is most easily lost, are all among them, but
for writes of the same kind that follow each other: every --stride-th.  --ranks: the run that goes on has so many.
"""
import argparse
import fnmatch
import itertools
import json
import os
import shutil
import signal
import sys
import tempfile

import h5py

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "ranks"))
import launch  # noqa: E402

CHANGES = {"pwrite", "write", "ftruncate", "renameat", "rename", "unlinkat", "unlink", "symlinkat", "linkat", "fsync", "fclose", "close"}
# The end is between two frames, and an instant of the forces: 13/128 s; or a frame.
OFF, ON = 0.1015625, 0.125
SCENE = {
    "format": "tactus-scene/1", "time": {"end": OFF, "frame": 0.03125}, "gravity": [0, -9.81, 0],
    "contact": {"thickness": 0.02, "stiffness": 200, "restitution": 0.5}, "output": {"checkpoint_every_t": 0.0390625},
    "materials": {"cloth": {"density": 0.15, "stretch": {"model": "spring", "stiffness": 50}}},
    "bodies": [{"name": "sheet", "material": "cloth", "mesh": {"kind": "grid", "size": [0.5, 0.5], "cells": [3, 3]}},
               {"name": "floor", "fixed": True, "position": [0, -0.02, 0], "mesh": {"kind": "grid", "size": [1, 1], "cells": [1, 1]}}]}
# The same by steps of 1/128 s.
IMPLICIT = dict(SCENE, contact={"thickness": 0.01}, integrator={"kind": "implicit", "step_s": 0.0078125})
# name: (the end, what is run before, what is killed); {}: the folder
CASES = {
    "off-grid": (OFF, [], ["run", "scene.json", "-o", "{}", "--record"]),
    "on-grid": (ON, [], ["run", "scene.json", "-o", "{}", "--record"]),
    "until": (ON, [], ["run", "scene.json", "-o", "{}", "--record", "--until", str(OFF)]),
    "further": (ON, [["run", "scene.json", "-o", "{}", "--record", "--until", "0.08"]], ["run", "--restart", "{}", "--record"]),
    "implicit": (OFF, [], ["run", "scene.json", "-o", "{}", "--record"]),
    "back": (OFF, [["run", "scene.json", "-o", "{}", "--record"]], ["run", "--restart", "{}/checkpoint-000002.h5", "--record"]),
}


def read(folder, name):
    """None: it is not there."""
    try:
        with open(os.path.join(folder, name)) as file:
            return file.read()
    except FileNotFoundError:
        return None


def fields(path, top):
    with h5py.File(path, "r") as file:
        return {name: {key: d[()].tobytes() for key, d in group.items()} if group is not None else None for name, group in file[top].items()}


def content(folder):
    """All that a folder holds and that no two runs may differ in."""
    text = {name: read(folder, name) for name in ("energy.csv", "frames.xdmf", "scene.json", "status.json", "run.json")}
    found = {"frames": fields(folder + "/frames.h5", "frames"), "record": fields(folder + "/record.h5", "record"),
             "partial": fields(folder + "/record.h5", "partial"), **text}
    for name in ("status.json", "run.json"):
        report = json.loads(text[name] or "{}")
        found[name] = [report.get(key) for key in ("state", "time", "scene_sha256")]
    found["files"] = sorted(n for n in os.listdir(folder) if not fnmatch.fnmatch(n, "checkpoint-*.h5"))
    newest = max(n for n in os.listdir(folder) if fnmatch.fnmatch(n, "checkpoint-*.h5"))
    found["newest"] = os.readlink(folder + "/checkpoint.h5") == newest
    return found


def bytes_of(folder):
    return {name: open(os.path.join(folder, name), "rb").read() for name in os.listdir(folder)}


class Case:
    def __init__(self, name, home, options):
        self.name, self.home, self.options, self.failures = name, home, options, []
        self.end, self.before, self.killed = CASES[name]
        self.scene = os.path.join(home, name + ".json")
        with open(self.scene, "w") as file:
            json.dump(dict(IMPLICIT if name == "implicit" else SCENE, time=dict(SCENE["time"], end=self.end)), file)

    def run(self, words, folder, ranks=1, **environment):
        arguments = [w.replace("scene.json", self.scene).replace("{}", folder) for w in words]
        return launch.tactus(ranks, *arguments, environment=environment)

    def fail(self, what):
        self.failures.append("%s: %s" % (self.name, what))
        print("failed: %s: %s" % (self.name, what), flush=True)

    def folder(self, name):
        """A new one, as it is before the run that is killed."""
        folder = os.path.join(self.home, "%s-%s.run" % (self.name, name))
        if self.before:
            shutil.copytree(os.path.join(self.home, self.name + "-before.run"), folder, symlinks=True)
        return folder

    def prepare(self):
        for words in self.before:
            self.run(words + ["--quiet"], os.path.join(self.home, self.name + "-before.run"))
        whole = self.folder("whole")
        first = self.run(self.killed + ["--quiet"], whole)
        if first.code != 0:
            self.fail("undisturbed: %s" % first)
        self.whole = content(whole)

    def moments(self):
        """Numbers of the calls before which it is killed."""
        report = os.path.join(self.home, self.name + ".calls")
        self.run(self.killed + ["--quiet"], self.folder("listed"), LD_PRELOAD=launch.injector(), TACTUS_FAULT_KIND="file",
                 TACTUS_FAULT_LIST="1", TACTUS_FAULT_REPORT=report)
        with open(report + ".0") as file:
            names = [line.split()[2] for line in file if line.startswith("call ")]
        changes = [n for n, name in enumerate(names, 1) if name in CHANGES]
        # The last link to a checkpoint: what comes after it is the end.
        last = max(n for n, name in enumerate(names, 1) if name in ("symlinkat", "linkat"))
        tail, alike = [], 0
        for n in changes:
            alike = alike + 1 if names[n - 1] in ("pwrite", "close") and n > 1 and names[n - 2] == names[n - 1] else 0
            if n >= last - 8 and alike % self.options.stride == 0:
                tail.append(n)
        step = max(1, len(changes) // self.options.count)
        found = sorted(set(tail) | set(changes[self.options.offset % step::step]))
        if self.options.most == 0:
            return found
        # The first flushes of a file that was opened again, in the middle; and evenly of the rest.
        runs = [list(numbers) for is_pwrite, numbers in itertools.groupby(range(1, len(names) + 1), lambda n: names[n - 1] == "pwrite") if is_pwrite]
        middles = [run[len(run) // 2] for run in runs if len(run) > 8][:3] if self.before else []
        found = [n for n in found if n not in middles]
        left = self.options.most - len(middles)
        return middles + [found[k * (len(found) - 1) // (left - 1)] for k in range(left)]

    def goes_on(self, n, folder, ranks=1):
        """What call n ended is run to its end: from its checkpoint, or from the beginning if there is none."""
        names = os.listdir(folder) if os.path.isdir(folder) else []
        if fnmatch.filter(names, "checkpoint-*.h5"):
            words = ["run", "--restart", "{}", "--record"]
            # What was run with --until goes on with it.
            words += self.killed[-2:] if "--until" in self.killed else []
        else:
            words = ["run", "scene.json", "-o", "{}", "--record", "--overwrite"] + self.killed[5:]
        r = self.run(words + ["--quiet"], folder, ranks)
        if r.code != 0 or r.crashed:
            self.fail("call %d: it does not go on: %s %s" % (n, r, r.crashed))
        return r.code == 0 and not r.crashed

    def is_whole(self, n, folder):
        """Whether the folder is that of an undisturbed run."""
        try:
            got = content(folder)
        except (OSError, RuntimeError) as e:
            self.fail("call %d: it cannot be read: %s" % (n, e))
            return False
        wrong = [key for key in self.whole if got[key] != self.whole[key]]
        if wrong:
            self.fail("call %d: other %s" % (n, ", ".join(wrong)))
        return not wrong

    def kill_at(self, n):
        folder = self.folder("at-%d" % n)
        r = self.run(self.killed + ["--quiet"], folder, LD_PRELOAD=launch.injector(), TACTUS_FAULT_KIND="file",
                     TACTUS_FAULT_KILL="1", TACTUS_FAULT_AT=str(n))
        if r.code != -signal.SIGKILL:
            return self.fail("call %d: it was not killed: %s" % (n, r))
        if not (self.goes_on(n, folder, self.options.ranks) and self.is_whole(n, folder)):
            return None
        if n % self.options.again:
            return shutil.rmtree(folder)
        before, words = bytes_of(folder), ["run", "--restart", "{}"] + (["--until", str(OFF)] if "--until" in self.killed else [])
        r = self.run(words, folder)
        if r.code != 0 or "nothing left to run" not in r.output or bytes_of(folder) != before:
            self.fail("call %d: a whole folder is left alone: %s" % (n, r.output[-300:]))
        return shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=4)
    parser.add_argument("--stride", type=int, default=8)
    parser.add_argument("--offset", type=int, default=0)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--most", type=int, default=0, help="so many moments of each case; 0: all of the above")
    parser.add_argument("--again", type=int, default=1, help="every so-and-so-manieth folder is gone on with once more")
    parser.add_argument("cases", nargs="*", default=sorted(CASES))
    options = parser.parse_args()
    home, failures, kills = tempfile.mkdtemp(prefix="tactus-kills-"), [], 0
    try:
        for name in options.cases:
            case = Case(name, home, options)
            case.prepare()
            for n in case.moments():
                case.kill_at(n)
                kills += 1
            failures += case.failures
    finally:
        shutil.rmtree(home, ignore_errors=True)
    print("%d kills, %d failures" % (kills, len(failures)))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
