#!/usr/bin/python3
"""impact_closed.py: runs of the integrator for impact with known results: a block on a slope, a bounce that keeps its energy, a cradle, a scene
that is its own mirror image, a heap that comes to rest, and what a script does to the energy.

If it fails, steps with impact are not those of docs/reference/impact.md."""

import math
import os
import sys
import tempfile

import h5py

from impact_equality import make
from runs import Run, check, failures


def scene(bodies, h, end, **more):
    return {"format": "tactus-scene/1", "time": {"end": end, "frame": end / 10}, "integrator": {"kind": "impact", "step_s": h}, "bodies": bodies, **more}


def points(name, where, radius, **more):
    return {"name": name, "mass": 1, "radius": radius, "mesh": {"kind": "points", "vertices": where}, **more}


def line(name, *where, **more):
    return {"name": name, "fixed": True, "mesh": {"kind": "segments", "vertices": [[x, y, 0] for x, y in where], **more}}


def slope(folder):
    g, angle = 9.81, math.atan(.5)
    for mu in (.501, .49, .3):
        run = Run(folder, scene([points("block", [[0, .055, 0]], .05), line("slope", (-1, 0), (50, 0))], .01, 5,
                                gravity=[g * math.sin(angle), -g * math.cos(angle), 0], contact={"thickness": .01, "friction": mu}))
        slid = run.x[-1][0][0] - run.x[0][0][0]
        wanted = 0 if mu > .5 else .5 * 25 * g * (math.sin(angle) - mu * math.cos(angle))
        check(abs(slid - wanted) <= 1e-7 * max(wanted, 1), "slope of 1/2, friction %g: %.9g m of %.9g" % (mu, slid, wanted))
        check(run.keeps_energy(1e-12) and run.energy[-1]["dissipated_friction"] >= 0, "its book is closed")


def bounce(folder):
    run = Run(folder, scene([points("ball", [[0, 1, 0], [.3, .7, 0]], .05), line("floor", (-1, 0), (1, 0))], .01, 10,
                            gravity=[0, -9.81, 0], contact={"thickness": .01, "restitution": 1}))
    total = [row["total"] for row in run.energy]
    check(max(abs(t - total[0]) for t in total) < 1e-12 * total[0], "bounces of 10 s keep their energy: %.3g" % (total[-1] - total[0]))


def cradle(folder):
    balls = [[.1001 * k, 0, 0] for k in range(5)]
    bodies = [points("striker", [[-.3, 0, 0]], .05, velocity=[1, 0, 0]), points("balls", balls, .05)]
    run = Run(folder, scene(bodies, .01, .5, contact={"thickness": .001, "restitution": 1}))
    check([v[0] for v in run.v[-1]] == [0, 0, 0, 0, 0, 1], "a cradle of 6: the last one leaves, exactly", str(run.v[-1]))


def mirror(folder):
    def sides(where):
        return [[-x, y, 0] for x, y, _ in where] + where
    right = [[.06 + .11 * i, .25 + .11 * j, 0] for i in range(3) for j in range(4)]
    pins = [[.5 * math.sin(a), -.1 + .5 * (1 - math.cos(a)), 0] for a in [.1 + .13 * k for k in range(16)]]
    bodies = [points("balls", sides(right), .05, velocity=[0, -1, 0]), points("pins", sides(pins), .04, fixed=True)]
    run = Run(folder, scene(bodies, .01, 3, gravity=[0, -9.81, 0], contact={"thickness": .002, "restitution": 1}))
    n, same = len(right), True
    for x in run.x:
        for k in range(n):
            same = same and x[k][0] == -x[n + k][0] and x[k][1] == x[n + k][1]
    check(same and sum(row["reflections"] for row in run.steps) > 100, "24 balls among pins stay their own mirror image, to the last bit")
    check(run.keeps_energy(1e-12), "and keep their energy: %.3g" % max(abs(row["defect"]) for row in run.energy))


def heap(folder):
    grains = {"name": "grains", "mass": 1, "radius": .05, "random_speed": [0, 1], "seed": 3, "position": [0, .4, 0],
              "mesh": {"kind": "points", "lattice": {"count": [3, 3, 3], "spacing": .12}}}
    box = {"name": "box", "fixed": True, "mesh": {"kind": "box", "size": [.5, 2, .5], "cells": [2, 4, 2]}, "position": [0, .8, 0]}
    for friction in (0, .3):
        run = Run(folder, scene([grains, box], .005, 2, gravity=[0, -9.81, 0], contact={"thickness": .002, "restitution": .5, "friction": friction}))
        check(run.energy[-1]["kinetic"] < 1e-4 * run.energy[0]["kinetic"] and run.keeps_energy(1e-12),
              "27 grains with friction %g come to rest: %.3g J" % (friction, run.energy[-1]["kinetic"]))
        check(all(b["total"] <= a["total"] + 1e-9 * run.energy[0]["total"] for a, b in zip(run.energy, run.energy[1:])), "and never gain energy, but for what solvers leave",
              str([b["total"] - a["total"] for a, b in zip(run.energy, run.energy[1:])]))


def script(folder):
    floor = line("floor", (-1, 0), (1, 0))
    del floor["fixed"]
    what = scene([points("ball", [[0, .06, 0]], .05), floor], .01, 1, gravity=[0, -9.81, 0], contact={"thickness": .02, "restitution": 0},
                 motions=[{"body": "floor", "path": [[0, [0, 0, 0]], [1, [0, .5, 0]]]}])
    run = Run(folder, what)
    check(run.keeps_energy(1e-12) and abs(run.v[-1][0][1] - .5) < 1e-6, "a lift: work %.9g J, defect %.3g J" %
          (run.energy[-1]["work"], run.energy[-1]["defect"]), str([v[0] for v in run.v]))


def tower(folder):
    what = scene([points("balls", [[0, .055 + .105 * k, 0] for k in range(3)], .05), line("floor", (-1, 0), (1, 0))], .01, 1,
                 gravity=[0, -9.81, 0], contact={"thickness": .01, "restitution": 0}, output={"contacts": True})
    run = Run(folder, what)
    with h5py.File(os.path.join(run.folder, "frames.h5")) as frames:
        last = frames["frames"][sorted(frames["frames"])[-1]]
        force, gap = sorted(last["contacts_force"][()]), last["contacts_gap"][()]
    check(len(force) == 3 and all(abs(f - k * 9.81) < 1e-6 for f, k in zip(force, (1, 2, 3))) and min(gap) > 0,
          "the contacts of a tower of three carry 1, 2 and 3 weights", str(force))


def floor_of_triangles(folder):
    floor = {"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [2, 2], "cells": [20, 20]}}
    ball = points("ball", [[-.71, .055, -.33]], .05, velocity=[1, 0, .3])
    for c in (0, 1):
        run = Run(folder, scene([ball, floor], .01, 1.5, gravity=[0, -9.81, 0], contact={"thickness": .01, "restitution": c}))
        v = run.v[-1][0]
        check(abs(v[0] - 1) < 1e-9 and abs(v[2] - .3) < 1e-9 and max(row["rows"] for row in run.steps) >= 1,
              "a ball slides over the edges of a floor of triangles (restitution %g): %s" % (c, v))


def pinched(folder):
    """Grains between a rod and a cup that a whole step would press together: rows that no velocity allows."""
    what = make(14)
    what["time"] = {"end": .13, "frame": .13}
    run = Run(folder, what)
    check(sum(row["halvings"] for row in run.steps) > 0, "grains that are pinched halve the step")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for part in (slope, bounce, cradle, mirror, heap, script, tower, floor_of_triangles, pinched):
            part(folder)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
