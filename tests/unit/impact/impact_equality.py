#!/usr/bin/python3
"""impact_equality.py [FROM TO]: the integrator for impact gives the same bits on 1, 2, 3 and 4 ranks, after restarts on another number of them,
where all ranks solve an island that one would solve, with another skin of the candidates, and built by another compiler (TACTUS_OTHER); and every run is proven by the audit.

Random small scenes of particles with fixed and scripted bodies, restitution and friction, each told by its seed.  If it fails, a run
cannot be repeated on another machine, or something passed through something."""

import json
import os
import random
import sys
import tempfile

from runs import call


def make(seed):
    r = random.Random(seed)
    grains = {"name": "grains", "material": "sand", "mass": 0.01, "radius": 0.02, "random_speed": [0, 1.5], "seed": seed, "position": [0, 0.15, 0],
              "mesh": {"kind": "points", "lattice": {"count": [3, 4, 3], "spacing": 0.045}}}
    big = {"name": "big", "mass": 0.5, "radius": 0.05, "velocity": [0, r.uniform(-2, 0), 0], "position": [0.02, 0.4, 0],
           "mesh": {"kind": "points", "vertices": [[0, 0, 0], [0.11, 0.01, 0]]}}
    cup = {"name": "cup", "fixed": True, "mesh": {"kind": "box", "size": [0.32, 1, 0.3], "cells": [3, 4, 2]}, "position": [0.03, 0.5, 0]}
    rod = {"name": "rod", "mesh": {"kind": "capsule", "radius": 0.03, "length": 0.12}, "rotation": [90, 0, 0], "position": [-0.08, 0.75, 0]}
    paddle = {"name": "paddle", "mesh": {"kind": "grid", "size": [0.1, 0.1], "cells": [1, 1]}, "position": [0.05, 0.7, 0]}
    return {"format": "tactus-scene/1", "time": {"end": 0.4, "frame": 0.08}, "gravity": [0, -9.81, 0],
            "contact": {"thickness": 0.002, "restitution": r.choice([0, 0.5, 1]), "friction": r.choice([0, 0.4]),
                        "pairs": [{"materials": ["sand", "sand"], "restitution": r.choice([0.2, 0.9])}]},
            "integrator": {"kind": "impact", "step_s": 0.01}, "materials": {"sand": {}}, "bodies": [grains, big, cup, rod, paddle],
            "motions": [{"body": "rod", "path": [[0, [0, 0, 0]], [0.4, [0.1, -0.35, 0]]]},
                        {"body": "paddle", "rotate": {"axis": [1, 0, 0], "center": [0.05, 0.7, 0], "path": [[0, 0], [0.4, 60]]}},
                        {"body": "big", "vertices": [1], "path": [[0.1, [0, 0, 0]], [0.2, [-0.01, -0.03, 0]]], "release": True}],
            "loads": [{"body": "grains", "vertices": [0, 7], "force": [0.05, 0, 0], "path": [[0, 0], [0.3, 1]]}],
            "output": {"contacts": True, "reactions": True}}


def must(ok, what, text):
    if not ok:
        print("FAILED  %s\n%s" % (what, text))
        sys.exit(1)


def case(folder, seed):
    scene = os.path.join(folder, "scene.json")
    with open(scene, "w") as file:
        json.dump(make(seed), file)

    def run(name, *words, **how):
        code, text = call("run", *words, "-o", os.path.join(folder, name), "--quiet", "--record", **how)
        must(code == 0, "seed %d, %s: exit code %d" % (seed, name, code), text)

    def same(name, one="one"):
        code, text = call("diff", os.path.join(folder, one), os.path.join(folder, name))
        must(code == 0, "seed %d: one rank and %s differ" % (seed, name), text)

    def proven(name):
        code, text = call("audit", os.path.join(folder, name))
        must(code == 0, "seed %d, %s: the audit does not prove it" % (seed, name), text)

    run("one", scene, "--overwrite")
    proven("one")
    ranks = 2 + seed % 3
    run("ranks", scene, "--overwrite", ranks=ranks)
    same("ranks")
    proven("ranks")
    stop, other = random.Random(seed).choice(["0.08", "0.15", "0.24"]), 1 + seed % 2
    run("restarted", scene, "--overwrite", "--until", stop, ranks=ranks)
    code, text = call("run", "--restart", os.path.join(folder, "restarted"), "--quiet", "--record", ranks=other)
    must(code == 0, "seed %d: restart: exit code %d" % (seed, code), text)
    same("restarted")
    short = ("--set", "time.end=0.16", "--overwrite")
    run("short", scene, *short)
    run("giants", scene, *short, ranks=max(2, 5 - ranks), TACTUS_TEST_GIANT=random.Random(seed).choice(["9", "40"]))
    same("giants", "short")
    if os.environ.get("TACTUS_OTHER"):
        run("other", scene, "--overwrite", TACTUS=os.environ["TACTUS_OTHER"])
        same("other")
    run("skins", scene, "--overwrite", TACTUS_TEST_SKIN=random.Random(seed).choice(["0.3", "4"]))
    same("skins")
    print("ok      seed %d: 1 and %d ranks, stopped at %s s and gone on with on %d" % (seed, ranks, stop, other))


def main():
    seeds = range(int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else (1, 2)
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            case(folder, seed)


if __name__ == "__main__":
    main()
