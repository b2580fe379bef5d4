#!/usr/bin/python3
"""ranks_kills.py: one of several ranks is killed (kill -9) at a chosen change of a chosen file of the run folder; --restart, on another
number of ranks, makes the folder that an undisturbed run makes, to the last bit.  If this fails, a node that dies costs
frames, rows, breakpoints, or the whole run.

kill_write.c kills, whoever writes.  `--directed N`: of the first and the last change of each file, and of places between them, on each rank
that changes it; `--random N`: any; both from `--seed`.
"""
import argparse
import collections
import fnmatch
import json
import os
import random
import shutil
import sys
import tempfile

import h5py

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "ranks"))
import launch  # noqa: E402

OUTPUT = {"checkpoint_every_t": 0.0390625, "reactions": True,
          "histories": [{"name": "middle", "body": "thing", "every": 0.0078125}]}
FLOOR = {"name": "floor", "fixed": True, "position": [0, -0.02, 0], "mesh": {"kind": "grid", "size": [1, 1], "cells": [1, 1]}}
CLOTH = {
    "format": "tactus-scene/1", "time": {"end": 0.1015625, "frame": 0.03125}, "gravity": [0, -9.81, 0],
    "contact": {"thickness": 0.02, "stiffness": 200, "restitution": 0.5}, "output": OUTPUT,
    "materials": {"cloth": {"density": 0.15, "stretch": {"model": "spring", "stiffness": 50}}},
    "bodies": [{"name": "thing", "material": "cloth", "mesh": {"kind": "grid", "size": [0.5, 0.5], "cells": [6, 6]}}, FLOOR]}
SOLID = {
    "format": "tactus-scene/1", "time": {"end": 0.125, "frame": 0.03125}, "gravity": [0, -9.81, 0], "output": OUTPUT,
    "contact": {"thickness": 0.01}, "integrator": {"kind": "implicit", "step_s": 0.0078125},
    "materials": {"jelly": {"density": 1000, "solid": {"model": "neo-hookean", "youngs": 2e4, "poisson": 0.4}}},
    "bodies": [{"name": "thing", "material": "jelly", "position": [0, 0.15, 0],
                "mesh": {"kind": "box", "size": [0.2, 0.2, 0.2], "cells": [3, 3, 3], "fill": "tets"}}, FLOOR]}
# name: scene, ranks of the run that is killed
CASES = {"cloth-2": (CLOTH, 2), "cloth-3": (CLOTH, 3), "cloth-4": (CLOTH, 4), "solid-2": (SOLID, 2), "solid-3": (SOLID, 3)}
Moment = collections.namedtuple("Moment", "case rank file at part")


def text(folder, name):
    try:
        with open(os.path.join(folder, name)) as file:
            return file.read()
    except FileNotFoundError:
        return None


def datasets(path, top):
    found = {}
    with h5py.File(path, "r") as file:
        file[top].visititems(lambda name, d: found.update({name: d[()].tobytes()}) if isinstance(d, h5py.Dataset) else None)
    return found


def steps(folder):
    """steps.csv without the columns that a clock made."""
    rows = [line.split(",") for line in (text(folder, "steps.csv") or "").splitlines()]
    keep = [k for k, name in enumerate(rows[0]) if "second" not in name and "wall" not in name] if rows else []
    return [[row[k] for k in keep] for row in rows]


def content(folder):
    """All that no two runs of one scene may differ in."""
    found = {name: text(folder, name) for name in ("energy.csv", "reactions.csv", "histories.csv", "frames.xdmf", "scene.json")}
    found.update({"frames": datasets(folder + "/frames.h5", "frames"), "mesh": datasets(folder + "/frames.h5", "mesh"),
                  "record": datasets(folder + "/record.h5", "record"), "partial": datasets(folder + "/record.h5", "partial"),
                  "histories.h5": datasets(folder + "/histories.h5", "/"), "steps": steps(folder)})
    for name in ("status.json", "run.json"):
        report = json.loads(text(folder, name) or "{}")
        found[name] = [report.get(key) for key in ("state", "time", "scene_sha256")]
    found["files"] = sorted(n for n in os.listdir(folder) if not fnmatch.fnmatch(n, "checkpoint-*.h5"))
    return found


class Case:
    def __init__(self, name, home):
        self.name, self.home, self.missed = name, home, 0
        scene, self.ranks = CASES[name]
        self.scene = os.path.join(home, name + ".json")
        with open(self.scene, "w") as file:
            json.dump(scene, file)
        self.whole_folder = os.path.join(home, name + "-whole.run")
        report = os.path.join(home, name + ".changes")
        # On one rank what is undisturbed; on the ranks of the case the list of changes.
        first = launch.tactus(1, "run", self.scene, "-o", self.whole_folder, "--record", "--quiet")
        listed = launch.tactus(self.ranks, "run", self.scene, "-o", self.folder("listed"), "--record", "--quiet",
                               environment=killer(TACTUS_KILL_FILE="*", TACTUS_KILL_REPORT=report))
        if first.code != 0 or listed.code != 0:
            sys.exit("%s: undisturbed: %s, %s" % (name, first, listed))
        self.whole = content(self.whole_folder)
        self.changes = {}
        ours = set(os.listdir(self.folder("listed")))
        for rank in range(self.ranks):
            for word in (text(home, "%s.changes.%d" % (name, rank)) or "").splitlines():
                # Files of the folder, also those that are renamed; not those of MPI.
                if word in ours or word.removesuffix(".tmp") in ours or word.removesuffix(".part") in ours:
                    self.changes[rank, word] = self.changes.get((rank, word), 0) + 1
        shutil.rmtree(self.folder("listed"))

    def folder(self, name):
        return os.path.join(self.home, "%s-%s.run" % (self.name, name))

    def kill_at(self, moment):
        """What went wrong; empty: nothing."""
        folder = self.folder("killed")
        shutil.rmtree(folder, ignore_errors=True)
        more = {"TACTUS_KILL_PART": "1"} if moment.part else {}
        killed = launch.tactus(self.ranks, "run", self.scene, "-o", folder, "--record", "--quiet",
                               environment=killer(TACTUS_KILL_FILE=moment.file, TACTUS_KILL_AT=str(moment.at),
                                                  TACTUS_KILL_RANK=str(moment.rank), **more))
        if killed.code == 0: # how often status.json is written depends on the clock
            self.missed += 1
        names = os.listdir(folder) if os.path.isdir(folder) else []
        ranks = self.ranks % 4 + 1
        if killed.code == 0:
            r = killed
        elif fnmatch.filter(names, "checkpoint-*.h5"):
            r = launch.tactus(ranks, "run", "--restart", folder, "--record", "--quiet")
        else:
            r = launch.tactus(ranks, "run", self.scene, "-o", folder, "--record", "--overwrite", "--quiet")
        if r.code != 0 or r.crashed:
            return "it does not go on: %s %s" % (r, r.crashed or "")
        if r.warnings:
            return "it warns: %s" % r.warnings[0]
        try:
            got = content(folder)
        except (OSError, RuntimeError) as e:
            return "it cannot be read: %s" % e
        return "".join(" other %s" % key for key in self.whole if got[key] != self.whole[key])


def killer(**settings):
    path = os.path.abspath(os.environ.get("TACTUS_KILLER", ""))
    if not os.path.isfile(path):
        sys.exit("set TACTUS_KILLER to the library made of tests/faults/kill_write.c, such as "
                 "TACTUS_KILLER=build/tests/faults/libfaults_kill_write.so")
    return dict(settings, LD_PRELOAD=path)


def moments(cases, options):
    source = random.Random(options.seed)
    files = [(case, rank, file, count) for case in cases.values() for (rank, file), count in sorted(case.changes.items())
             if any(fnmatch.fnmatch(file, glob) for glob in options.files.split(","))]
    directed = []
    for case, rank, file, count in files:
        # The last and the first; of files that are written often, the seven eighths between them too.
        places = {count, 1} | ({count * k // 8 for k in range(1, 8)} if count > 20 else set())
        directed += [Moment(case.name, rank, file, at, (at + rank) % 2 == 1) for at in sorted(places)]
    source.shuffle(directed)
    chosen = directed[:options.directed]
    for _ in range(options.random):
        case, rank, file, count = source.choice(files)
        chosen.append(Moment(case.name, rank, file, source.randint(1, count), source.random() < .5))
    return chosen


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--directed", type=int, default=100)
    parser.add_argument("--files", default="*", help="globs, parted by commas: kills at changes of these alone")
    parser.add_argument("--random", type=int, default=100)
    parser.add_argument("--seed", type=int, default=35)
    parser.add_argument("cases", nargs="*", default=sorted(CASES))
    options = parser.parse_args()
    home, failures = tempfile.mkdtemp(prefix="tactus-kills-"), 0
    try:
        cases = {name: Case(name, home) for name in options.cases}
        kills = moments(cases, options)
        for moment in kills:
            wrong = cases[moment.case].kill_at(moment)
            if wrong:
                failures += 1
                print("failed: %s: rank %d, %s, change %d of %d%s: %s" % (
                    moment.case, moment.rank, moment.file, moment.at, cases[moment.case].changes[moment.rank, moment.file],
                    ", half of it made" if moment.part else "", wrong), flush=True)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    missed = sum(case.missed for case in cases.values())
    print("%d kills at changes of %d files, %d runs ended before theirs, %d lost something" % (
        len(kills) - missed, len({m.file for m in kills}), missed, failures))
    return 1 if failures or missed > len(kills) // 4 else 0


if __name__ == "__main__":
    sys.exit(main())
