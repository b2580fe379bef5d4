#!/usr/bin/python3
"""crushed.py: a late force of a million times its weight presses a cloth onto a floor, through all layers: the run says so and ends.
On the way there windows become a millionth of what they were. If this failed, a window would cost what it did when it was long: it
would go through all pairs that may meet until long after it (speculate), or through all that are watched for a few ticks (kds), or
would tick rungs of a nanosecond for milliseconds (kds, several ranks), and nobody would live to hear of the end. Counted, not timed.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

TACTUS = os.path.abspath(os.environ["TACTUS"])
HERE = tempfile.TemporaryDirectory(prefix="tactus-crushed-")
os.chdir(HERE.name)
CELLS, DENSITY, FACTOR = 4, .2, 1e6
WEIGHT = DENSITY * 9.81 / (CELLS + 1) ** 2 # of a vertex of a sheet of 1 m^2, N
SCENE = {
    "format": "tactus-scene/1", "time": {"end": .2, "frame": .05}, "gravity": [0, -9.81, 0], "contact": {"thickness": .01},
    "materials": {"cloth": {"density": DENSITY, "stretch": {"model": "cst", "stiffness": 60}}},
    "bodies": [{"name": "sheet", "material": "cloth", "position": [0, .02, 0], "mesh": {"kind": "grid", "size": [1, 1], "cells": [CELLS, CELLS]}},
               {"name": "floor", "fixed": True, "position": [0, -.5, 0], "mesh": {"kind": "box", "size": [2, 1, 2], "cells": [1, 1, 1]}}],
    "loads": [{"body": "sheet", "force": [0, -WEIGHT, 0], "path": [[0, 0], [.1, 0], [.1001, FACTOR], [.2, FACTOR]]}]}
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)
        print("failed:", what, file=sys.stderr)


def run(mode, ranks, expected=r"cannot go on at t = 0\.10\d+ s: .* are pressed through all \d+ layers between them"):
    """What it said, and its counters."""
    folder = "%s-%d" % (mode, ranks)
    launch = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
    r = subprocess.run([*launch, TACTUS, "run", "scene.json", "-o", folder, "--quiet", "--discover", mode], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       universal_newlines=True, timeout=600)
    said = [line for line in r.stderr.splitlines() if line.startswith("tactus: ")]
    check(r.returncode == 3 and len(said) == 1 and re.search(expected, said[0]),
          "%s: %d %s" % (folder, r.returncode, r.stderr[:600]))
    with open(folder + "/run.json") as f:
        counters = json.load(f)["counters"]
    print("%s: %d windows, the last with %d candidates; %d silent ticks" % (folder, counters["windows"], counters["candidates"], counters["silent"]))
    return said, counters


with open("scene.json", "w") as out:
    json.dump(SCENE, out)
speculated, counted = run("speculate", 1)
check(counted["candidates"] < 1000, "pairs that each window goes through: %d, of 3000 that there are" % counted["candidates"])
said, counted = run("kds", 1)
check(counted["windows"] < 1000, "windows for the ticks of that many pairs: %d" % counted["windows"])
check(said == speculated, "one sentence: %s, %s" % (speculated, said))
said, counted = run("kds", 2)
# How many windows there are depends on how the cloth gives way; a window's share of these ticks does not.
check(counted["silent"] < 300 * counted["windows"], "silent ticks on two ranks: %d in %d windows" % (counted["silent"], counted["windows"]))
check(said == speculated, "one sentence: %s, %s" % (speculated, said))

# Layers that hardly push have periods longer than the run. Then the sentence speaks of what happens in the run: of the two threads that meet at
# 0.05 s, and not of the ones before them in the scene, which would meet an hour later, before such a layer ticks for the first time.
def thread(name, x, along, speed):
    return {"name": name, "mass": .1, "velocity": [speed, 0, 0], "mesh": {"kind": "segments", "vertices": [[x, *along], [x, *(-c for c in along)]]}}


SCENE["contact"]["stiffness"] = 1e-30
SCENE.update(gravity=[0, 0, 0], loads=[], bodies=[thread("slow", 10, [1, 0], 1e-4), thread("still", 10.4, [0, 1], 0),
                                                  thread("fast", -.5, [1, 0], 10), thread("faster", .5, [0, 1], -10)])
with open("scene.json", "w") as out:
    json.dump(SCENE, out)
for mode, ranks in (("all-pairs", 1), ("speculate", 1), ("speculate", 2), ("kds", 1), ("kds", 2)):
    shutil.rmtree("%s-%d" % (mode, ranks), ignore_errors=True)
    said, counted = run(mode, ranks, r"cannot go on at t = 0\.2 s: edge 0-1 of body `fast` and edge 0-1 of body `faster` near .* are pressed through all")

# Such a run ends before the first interval of its record is whole, and an audit says that, and not that the record is damaged.
subprocess.run([TACTUS, "run", "scene.json", "-o", "recorded", "--quiet", "--record"], stderr=subprocess.DEVNULL)
r = subprocess.run([TACTUS, "audit", "recorded"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
check(r.returncode == 2 and "holds no interval that is whole" in r.stderr, "audit: %d %s" % (r.returncode, r.stderr))
print("%d failures" % len(failures))
sys.exit(1 if failures else 0)
