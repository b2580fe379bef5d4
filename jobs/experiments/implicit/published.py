#!/usr/bin/python3
"""published.py [SCENE ...]: scenes of incremental potential contact's literature, built anew, beside its figures.

Scenes, steps, thicknesses and stiffnesses are those of Ferguson 2023, chapter 2; shapes are our own where his are not told (meshes of
boxes and spheres by this program, so nodes and tetrahedra differ). Prints Newton iterations per step and contacts (mean and most) of
both, processor seconds per step on one core, and whether the audit proves the run. --list: their names; --most-steps N: end after N
steps, and say so. The figures of docs/implicit.md are its own. What it shows if it fails: a step converges worse than the literature's,
or a contact was let through."""
import argparse
import csv
import json
import math
import os
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.abspath(os.environ.get("TACTUS", os.path.join(HERE, "..", "..", "..", "build", "tactus")))


def solid(youngs, density=1000, poisson=0.4):
    return {"density": density, "solid": {"model": "neo-hookean", "youngs": youngs, "poisson": poisson}}


def box(size, cells):
    return {"kind": "box", "size": size, "cells": cells, "fill": "tets"}


def scene(name, step, end, thickness, youngs, bodies, steps_per_frame=1, gravity=-9.81, **more):
    frame = step * steps_per_frame
    return {"format": "tactus-scene/1", "name": name, "time": {"end": round(end / frame) * frame, "frame": frame}, "gravity": [0, gravity, 0],
            "contact": {"thickness": thickness}, "integrator": {"kind": "implicit", "step_s": step, **more.pop("integrator", {})},
            "materials": {"gel": solid(youngs)}, "bodies": bodies, **more}


def floor(y=0.0, size=4):
    return {"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [size, size], "cells": [2, 2]}, "position": [0, y, 0]}


def cubes():
    bodies = [floor(0, 2)]
    for k in range(5):
        bodies.append({"name": "cube%d" % k, "material": "gel", "mesh": box([0.2, 0.2, 0.2], [1, 1, 1]), "position": [0, 0.11 + 0.21 * k, 0]})
    return scene("five cubes", 0.025, 2.5, 2e-3, 1e5, bodies)


def knives():
    """A mat of 3K nodes falls onto the edges of four upright triangles."""
    bodies = [{"name": "mat", "material": "gel", "mesh": box([1, 0.05, 1], [32, 2, 32]), "position": [0, 0.1, 0]}]
    for k in range(4):
        x = -0.3 + 0.2 * k
        bodies.append({"name": "knife%d" % k, "fixed": True,
                       "mesh": {"kind": "inline", "vertices": [[x, 0, -0.6], [x, 0, 0.6], [x, -0.4, 0]], "triangles": [[0, 1, 2]]}})
    return scene("a mat on knives", 0.04, 2, 1.5e-3, 2e4, bodies)


def ball():
    """A ball of 0.1 m flies at 10 m/s against a board of 0.02 m whose rim is held."""
    bodies = [{"name": "ball", "material": "gel", "mesh": {"kind": "sphere", "radius": 0.05, "level": 2, "fill": "tets"},
               "position": [0, 0.2, 0], "velocity": [0, -10, 0]},
              {"name": "board", "material": "gel", "mesh": box([0.6, 0.02, 0.6], [24, 1, 24]), "position": [0, 0, 0]}]
    rim = [i for i in range(25 * 2 * 25) if i % 25 in (0, 24) or i // 50 in (0, 24)]
    motions = [{"body": "board", "vertices": rim, "path": [[0, [0, 0, 0]]]}]
    return scene("a ball at 10 m/s", 0.02, 0.4, 1e-3, 1e6, bodies, motions=motions, gravity=0)


def twist(cells, seconds):
    """A mat whose two ends are turned against each other by 72 degrees a second."""
    n = cells + 1
    bodies = [{"name": "mat", "material": "gel", "mesh": box([1, 0.02, 1], [cells, 1, cells]), "position": [0, 0, 0]}]
    low = [i for i in range(n * 2 * n) if i % n == 0]
    high = [i for i in range(n * 2 * n) if i % n == n - 1]
    motions = [{"body": "mat", "vertices": low, "rotate": {"axis": [1, 0, 0], "path": [[0, 0], [seconds, 72 * seconds]]}},
               {"body": "mat", "vertices": high, "rotate": {"axis": [1, 0, 0], "path": [[0, 0], [seconds, -72 * seconds]]}}]
    return scene("a mat twisted, %d^2" % cells, 0.04, seconds, 1e-3 * math.sqrt(2), 2e4, bodies, motions=motions, gravity=0)


def arch(friction):
    """25 stones in half of a ring stand without mortar, or fall."""
    stones, inner, outer, depth = 25, 8.5, 10.0, 1.5
    bodies = [floor(-1e-5, 60)]
    gap = 2e-6
    for k in range(stones):
        corners = []
        a0, a1 = (math.pi * k / stones, math.pi * (k + 1) / stones)
        shift = gap / 10.0
        for a in (a0 + shift, a1 - shift):
            for r in (inner, outer):
                for z in (-depth / 2, depth / 2):
                    corners.append([r * math.cos(a), r * math.sin(a), z])
        i = {(s, r, z): 4 * s + 2 * r + z for s in range(2) for r in range(2) for z in range(2)}
        tets = []
        for p, q in (("r", "s"), ("r", "z"), ("s", "r"), ("s", "z"), ("z", "r"), ("z", "s")):  # Kuhn's six
            at = {"s": 0, "r": 0, "z": 0}
            path = [i[(0, 0, 0)]]
            for axis in (p, q, "".join(sorted(set("srz") - {p, q}))):
                at[axis] = 1
                path.append(i[(at["s"], at["r"], at["z"])])
            x = [corners[v] for v in path]
            d = [[x[j][c] - x[0][c] for c in range(3)] for j in (1, 2, 3)]
            volume = (d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) - d[0][1] * (d[1][0] * d[2][2] - d[1][2] * d[2][0])
                      + d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0]))
            tets.append(path if volume > 0 else [path[0], path[2], path[1], path[3]])
        bodies.append({"name": "stone%d" % k, "material": "gel", "mesh": {"kind": "inline", "vertices": corners, "tetrahedra": tets}})
    made = scene("an arch, friction %g" % friction, 0.01, 1 if friction > .3 else .7, 1e-6, 2e10, bodies,
                 integrator={"newton": {"velocity_tol": 1e-4 * 22}, "friction": {"velocity": 1e-5 * 22, "lags": 0 if friction > .3 else 1}})
    made["contact"]["friction"] = friction
    made["materials"]["gel"] = solid(2e10, 2300, 0.2)
    return made


# name: (scene, iterations per step, contacts mean, most, seconds per step: of the literature)
SCENES = {
    "cubes": (cubes, 3.25, 8, 69, .006),
    "knives": (knives, 5.5, 291, 472, 1.4),
    "ball": (ball, float("nan"), float("nan"), 62, 4.7),
    "twist20": (lambda: twist(20, 2), float("nan"), float("nan"), float("nan"), float("nan")),
    "twist40": (lambda: twist(40, 10), 7.6, 2000, float("nan"), 1.3),
    "arch": (lambda: arch(.5), 5.7, 101, 118, .05),
    "arch-falls": (lambda: arch(.2), float("nan"), float("nan"), float("nan"), float("nan")),
}


def measure(folder, name, most_steps):
    make, its, contacts, most, cost = SCENES[name]
    made = make()
    path, out = os.path.join(folder, name + ".json"), os.path.join(folder, name + ".run")
    with open(path, "w") as file:
        json.dump(made, file)
    until = min(made["time"]["end"], most_steps * made["integrator"]["step_s"])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([PROGRAM, "run", path, "-o", out, "--overwrite", "--quiet", "--record", "--until", repr(until)])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(os.path.join(out, "steps.csv")) as file:
        steps = list(csv.DictReader(file))
    audit = subprocess.run([PROGRAM, "audit", out, "--until", repr(until)], stdout=subprocess.DEVNULL).returncode == 0
    with open(os.path.join(out, "energy.csv")) as file:
        last = list(csv.DictReader(file))[-1]
    newton = sum(int(s["newton"]) for s in steps) / len(steps)
    linear = sum(int(s["linear"]) for s in steps) / sum(int(s["newton"]) for s in steps)
    touching = [int(s["contacts"]) for s in steps]
    print("| %s | %d | %.1f (%.3g) | %.0f | %.0f (%.3g) | %d (%.3g) | %.3g (%.3g) | %.3g | %s |" % (
        made["name"], len(steps), newton, its, linear, sum(touching) / len(steps), contacts, max(touching), most,
        (after.ru_utime - before.ru_utime) / len(steps), cost, float(last["kinetic"]),
        "ended with code %d" % done.returncode if done.returncode else "proven" if audit else "NOT PROVEN"), flush=True)
    return done.returncode == 0 and audit


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scene", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--most-steps", type=int, default=10 ** 9)
    given = parser.parse_args()
    if given.list:
        print("\n".join(SCENES))
        return 0
    print("| scene | steps | Newton per step (literature's) | linear per Newton | contacts, mean | most | processor s per step | kinetic energy at last, J | audit |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        return not all([measure(folder, name, given.most_steps) for name in given.scene or SCENES])


if __name__ == "__main__":
    sys.exit(main())
