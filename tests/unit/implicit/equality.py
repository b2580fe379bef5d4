#!/usr/bin/python3
"""equality.py [FROM TO]: the implicit integrator gives the same bits on 1, 2, 3 and 4 ranks, after restarts on another number of them, and
when vertices change ranks in mid-run, with other skins of the candidates, without FMA in the C library; and every run is proven by the audit.

Random small scenes of cloth, rope, particles and solids, with friction, damping, fixed and scripted bodies, each told by its seed.  FROM TO: these
seeds (a long run takes hundreds).  If it fails, a run cannot be repeated on another machine, or something passed through
something."""

import json
import os
import random
import sys
import tempfile

from program import call

PLAIN_LIBRARY = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-AVX512F,-AVX512VL,-FMA,-FMA4,-AVX"}


def make(seed):
    r = random.Random(seed)
    cloth = {"density": r.choice([0.1, 0.3]), "stretch": {"model": "cst", "stiffness": r.choice([100, 2000]), "poisson": 0.3},
             "bend": {"model": "hinge", "stiffness": r.choice([1e-6, 1e-4])}}
    if r.random() < 0.5:
        cloth["stretch"]["damping"] = 0.01
    if r.random() < 0.5:
        cloth["stretch"]["yield"], cloth["bend"]["yield"] = 0.002, 0.2
    rope = {"density": 0.05, "stretch": {"model": "spring", "stiffness": 200}}
    if seed % 5 == 4:
        cloth["stretch"]["limit_principal"], rope["stretch"]["limit"] = 0.08, 0.02
    ball = {"name": "ball", "mesh": {"kind": "sphere", "radius": 0.1, "level": 1}, "position": [0, -0.12, 0]}
    bodies = [{"name": "sheet", "material": "cloth", "position": [0.02, 0.02, 0.01], "rotation": [r.uniform(-9, 9), r.uniform(0, 90), 0],
               "mesh": {"kind": "grid", "size": [0.4, 0.4], "cells": [r.randint(3, 6), r.randint(3, 6)]}},
              ball,
              {"name": "rope", "material": "rope", "position": [0.03, 0.12, -0.02], "radius": r.choice([0, 0.003]),
               "mesh": {"kind": "segments", "from": [-0.15, 0, 0], "to": [0.15, 0.02, 0.1], "cells": 6}},
              {"name": "dust", "mass": 0.001, "radius": 0.004, "position": [-0.05, 0.2, 0.05], "velocity": [0.3, -2, 0],
               "mesh": {"kind": "points", "lattice": {"count": [2, 2, 2], "spacing": 0.03}}}]
    gel = {"density": 500, "solid": {"model": r.choice(["neo-hookean", "stvk", "corotated"]), "youngs": 1e4, "poisson": 0.3, "damping": r.choice([0, 0.01])}}
    bodies.append({"name": "block", "material": "gel", "position": [0.1, 0.25, 0.1], "rotation": [20, 0, r.uniform(0, 90)],
                   "mesh": {"kind": "box", "size": [0.08, 0.06, 0.08], "cells": [2, 1, 1], "fill": "tets"}})
    scene = {"format": "tactus-scene/1", "time": {"end": 0.24, "frame": 0.04}, "gravity": [0, -9.81, 0],
             "contact": {"thickness": 0.004, "friction": r.choice([0, 0.3])},
             "integrator": {"kind": "implicit", "step_s": r.choice([0.01, 0.02]), "friction": {"lags": r.choice([0, 1, 2])}},
             "materials": {"cloth": cloth, "rope": rope, "gel": gel}, "bodies": bodies,
             "output": {"fields": ["strain", "stress", "plastic_strain", "contact_pressure"], "contacts": True, "reactions": True}}
    if r.random() < 0.5:
        ball["fixed"] = True
    else:  # up into the sheet, and turned away
        scene["motions"] = [{"body": "ball", "path": [[0, [0, 0, 0]], [0.12, [0, 0.1, 0]], [0.24, [0.05, 0.1, 0]]]},
                            {"body": "rope", "vertices": [0], "path": [[0.04, [0, 0, 0]], [0.2, [0, 0.05, 0]]], "release": True}]
    scene["integrator"]["scheme"] = ("euler", "bdf2", "newmark")[seed % 3]
    if r.random() < 0.5:
        scene["loads"] = [{"body": "sheet", "pressure": 3, "path": [[0, 0], [0.1, 1]]}, {"body": "sheet", "wind": [1, 0.5, 0], "drag": 1.2}]
    return scene


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

    def same(name):
        code, text = call("diff", os.path.join(folder, "one"), os.path.join(folder, name))
        must(code == 0, "seed %d: one rank and %s differ" % (seed, name), text)
        one, other = (open(os.path.join(folder, n, "reactions.csv")).read() for n in ("one", name))
        must(one == other, "seed %d: one rank and %s have other reactions" % (seed, name), other)

    def proven(name):
        code, text = call("audit", os.path.join(folder, name))
        must(code == 0, "seed %d, %s: the audit does not prove it" % (seed, name), text)

    run("one", scene, "--overwrite")
    proven("one")
    with open(os.path.join(folder, "one", "run.json")) as file:
        repairs = json.load(file)["counters"]["candidate_repairs"]  # of lists, which are made anew on several ranks
    ranks = 2 + seed % 3
    run("ranks", scene, "--overwrite", ranks=ranks)
    same("ranks")
    proven("ranks")
    stop, other = random.Random(seed).choice(["0.04", "0.08", "0.1" if make(seed)["integrator"]["step_s"] == 0.01 else "0.12"]), 1 + seed % 2
    run("restarted", scene, "--overwrite", "--until", stop, ranks=ranks)
    code, text = call("run", "--restart", os.path.join(folder, "restarted"), "--quiet", "--record", ranks=other)
    must(code == 0, "seed %d: restart: exit code %d" % (seed, code), text)
    same("restarted")
    proven("restarted")
    run("moved", scene, "--overwrite", ranks=2, TACTUS_TEST_MIGRATE=str(1 + seed))
    same("moved")
    # Lists of candidates that are made more or less often; and a C library that may not see the processor's FMA and vectors.
    run("skins", scene, "--overwrite", TACTUS_TEST_SKIN=random.Random(seed).choice(["0.3", "4"]), **PLAIN_LIBRARY)
    same("skins")
    step = make(seed)["integrator"]["step_s"]
    steps = round(0.24 / step)
    if seed % 4 == 0:  # stopped at the end of every step
        run("steps", scene, "--overwrite", "--until", repr(step))
        for k in range(2, steps + 1):
            code, text = call("run", "--restart", os.path.join(folder, "steps"), "--quiet", "--record", "--until", repr(k * step))
            must(code == 0, "seed %d: restart after step %d: exit code %d" % (seed, k - 1, code), text)
        same("steps")
    print("ok      seed %d: 1 and %d ranks, stopped at %s s and gone on with on %d, distributed anew at every step; %d lists repaired" % (seed, ranks, stop, other, repairs))
    return repairs


def main():
    seeds = range(int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else (4, 2)
    with tempfile.TemporaryDirectory() as folder:
        repairs = sum(case(folder, seed) for seed in seeds)
    must(repairs > 0 or 2 not in seeds, "no list of candidates was repaired; that of seed 2 is, more than a hundred times", "")


if __name__ == "__main__":
    main()
