#!/usr/bin/python3
"""Do rigid bodies in the integrator for impact rest, slide, separate and keep what they must keep?  (Smith et al. 2012.)

    jobs/experiments/impact/bodies.py all|flat|tilted|stack|slope|stop|cubes|dolls|vessel|trefoil|turned|rocks|tower|heap [--count N] [--end S] [--ranks N]

flat     boxes that lie on a floor do not move by a bit, with restitution 0, .5 and .9
tilted   a box that is tilted by .5 rad comes to rest within 20 s; how far it drifts afterwards
stack    5 and 10 cubes on each other: how far they creep in 5 s
slope    a box on a slope of 1/2 holds with friction .51 and .501, and slides by the closed form with .49 and .3
stop     a box that slides stops at v^2/(2 mu g)
cubes    eight cubes fly apart in a large cube, without gravity: they stay their own mirror image, and keep their energy
dolls    hollow boxes in each other fall on a table: they separate, and with one impulse for all they do not
vessel   two boxes in a closed vessel that nothing holds, restitution .8, friction .5: how far the momenta drift (--end, 30 s)
trefoil  a knot falls flat on a plane and bounces: it keeps its energy, and goes straight
turned   two crooked shapes, one the other turned by 180 degrees, meet: they stay so, and keep their energy
rocks    elastic bodies that turn while they lie on a floor: the error of their energy against the step, and its order
tower    boxes whose faces have more and more vertices, on each other: iterations of a step
heap     --count boxes (1000) fall into a box: seconds and iterations of a step

Prints figures, and code 1 if one is over its bar.  `all` is all but tower and heap.
"""
import argparse
import csv
import json
import math
import os
import random
import subprocess
import sys
import tempfile

import h5py
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
TACTUS = os.path.abspath(os.environ.get("TACTUS", os.path.join(HERE, "..", "..", "..", "build", "tactus")))
G = 9.81
FLOOR = {"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [4, 4], "cells": [1, 1]}}
failed = []


def check(ok, text):
    print(("ok      " if ok else "FAILED  ") + text, flush=True)
    if not ok:
        failed.append(text)


def box(name, size, at, cells=(1, 1, 1), density=1000, **more):
    size = [size] * 3 if not isinstance(size, (list, tuple)) else list(size)
    return {"name": name, "rigid": {"density": density}, "mesh": {"kind": "box", "size": size, "cells": list(cells)}, "position": list(at), **more}


def scene(bodies, end, contact, step=.01, frames=10, gravity=(0, -G, 0), operator="reflections"):
    every = max(1, round(end / step / frames)) * step
    return {"format": "tactus-scene/1", "time": {"end": every * round(end / every), "frame": every}, "gravity": list(gravity),
            "contact": {"thickness": .002, **contact}, "integrator": {"kind": "impact", "step_s": step, "operator": operator},
            "bodies": bodies, "output": {"fields": ["pose"]}}


class Run:
    """A run of a scene, and what it has written. x, v: of vertices, frame by frame."""

    def __init__(self, what, ranks=1, audit=False):
        with tempfile.TemporaryDirectory() as folder:
            path, out = os.path.join(folder, "scene.json"), os.path.join(folder, "out")
            with open(path, "w") as file:
                json.dump(what, file)
            start = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
            done = subprocess.run(start + [TACTUS, "run", path, "-o", out, "--quiet", *(["--record"] if audit else [])],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode != 0:
                sys.exit(done.stdout)
            if audit and subprocess.run([TACTUS, "audit", out], stdout=subprocess.DEVNULL).returncode != 0:
                failed.append("audit")
            self.energy, self.steps = table(out, "energy.csv"), table(out, "steps.csv")
            with h5py.File(os.path.join(out, "frames.h5")) as frames:
                names = sorted(frames["frames"])
                self.x = [frames["frames"][n]["position"][()] for n in names]
                self.center = [frames["frames"][n]["rigid_center"][()] for n in names]
                self.velocity = [frames["frames"][n]["rigid_velocity"][()] for n in names]
                self.spin = [frames["frames"][n]["rigid_spin"][()] for n in names]

    def moved(self, first=0):
        """The largest change of a coordinate since a frame."""
        return max(abs(x - self.x[first]).max() for x in self.x[first:])

    def range_of(self, *names):
        return [max(row[n] for row in self.energy) - min(row[n] for row in self.energy) for n in names]

    def mean(self, name):
        return sum(row[name] for row in self.steps) / len(self.steps)

    def most(self, name):
        return max(row[name] for row in self.steps)


def table(folder, name):
    with open(os.path.join(folder, name)) as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def flat(words):
    for c in (0, .5, .9):
        bodies = [FLOOR] + [box("box%d" % k, [.1, .05 + .01 * k, .08], [.3 * k - .4, .026 + .005 * k, .1 * k], cells=(k, 1, k)) for k in (1, 2, 3)]
        run = Run(scene(bodies, 3, {"restitution": c, "friction": .4}))
        check(run.moved() == 0, "boxes on a floor, restitution %g: moved %g m in 3 s" % (c, run.moved()))


def tilted(words):
    run = Run(scene([FLOOR, box("box", [.1, .06, .08], [0, .15, 0], rotation=[0, 0, math.degrees(.5)])], 30, {"restitution": .5, "friction": .5}, frames=30))
    last = [row for row in run.energy if row["time"] <= 20.01][-1]
    rise = max(b["total"] - a["total"] for a, b in zip(run.energy, run.energy[1:]))
    check(last["kinetic"] < 1e-12, "tilted by .5 rad: %.3g J after 20 s" % last["kinetic"])
    check(run.moved(20) < 2e-14, "and drifts %.3g m in the next 10 s; energy rises by %.3g J at most" % (run.moved(20), rise))


def stack(words):
    for n in (5, 10):
        run = Run(scene([FLOOR] + [box("cube%d" % k, .1, [0, .051 + .101 * k, 0]) for k in range(n)], 5, {"restitution": .5, "friction": .5}))
        check(run.moved(1) < 3e-8, "%d cubes on each other creep %.3g m in 4.5 s; %.3g iterations a step" % (n, run.moved(1), run.mean("iterations")))


def slope(words):
    angle = math.atan(.5)
    for mu in (.51, .501, .49, .3):
        ground = {"name": "slope", "fixed": True, "mesh": {"kind": "grid", "size": [100, 4], "cells": [1, 1]}}
        run = Run(scene([ground, box("box", [.1, .06, .08], [-40, .031, .1])], 5, {"friction": mu}, gravity=[G * math.sin(angle), -G * math.cos(angle), 0]))
        slid, wanted = run.center[-1][0][0] - run.center[0][0][0], max(0, .5 * 25 * G * (math.sin(angle) - mu * math.cos(angle)))
        check(abs(slid - wanted) < (1e-6 if wanted == 0 else 1e-6 * wanted), "slope of 1/2, friction %g: slides %.9g m of %.9g m" % (mu, slid, wanted))


def stop(words):
    v, mu = 2, .3
    run = Run(scene([FLOOR, box("box", [.1, .06, .08], [-1, .031, .1], velocity=[v, 0, 0])], 2, {"friction": mu}, step=.001))
    slid, wanted = run.center[-1][0][0] - run.center[0][0][0], v * v / (2 * mu * G)
    check(abs(slid / wanted - 1) < 2e-6, "a box of 2 m/s, friction .3, stops after %.9g m of %.9g m" % (slid, wanted))


def crossed(size, sign=(1, 1, 1)):
    """A cube with both diagonals on each face; sign: as a mirror shows it."""
    half, corner, triangles = size / 2, [], []
    for axis in range(3):
        for side in (-1, 1):
            u, v, first = (axis + 1) % 3, (axis + 2) % 3, len(corner)
            for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1), (0, 0)):
                at = [0, 0, 0]
                at[axis], at[u], at[v] = side * half, a * half, b * half
                corner.append(at)
            for k in range(4):
                one = [first + k, first + (k + 1) % 4, first + 4]
                triangles.append(one if side * sign[0] * sign[1] * sign[2] > 0 else one[::-1])
    place = sorted({tuple(at) for at in corner})
    return {"kind": "inline", "vertices": [[s * x for s, x in zip(sign, at)] for at in place],
            "triangles": [[place.index(tuple(corner[i])) for i in t] for t in triangles]}


SIGNS = [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]


def cubes_scene(spin, end):
    bodies = [dict(box("cube%d" % i, .1, [.0505 * s for s in sign]), mesh=crossed(.1, sign), velocity=[.7 * sign[0], .5 * sign[1], .9 * sign[2]],
                   angular_velocity=[.6 * spin * sign[1] * sign[2], .4 * spin * sign[0] * sign[2], -.5 * spin * sign[0] * sign[1]])
              for i, sign in enumerate(SIGNS)]
    return scene(bodies + [{"name": "room", "fixed": True, "mesh": crossed(.5)}], end, {"restitution": 1}, gravity=[0, 0, 0], frames=50)


def unlike(center):
    """How far the eight cubes are from being mirror images of the last, in any frame (centres of all bodies, frame by frame)."""
    return max(abs(frame[i] * sign - frame[-1]).max() for frame in center for i, sign in enumerate(SIGNS))


def cubes(words):
    """The distance of two images grows some 30 times with every impact, so this is over after a second."""
    for spin, end in ((0, .55), (1, .5)):
        run = Run(cubes_scene(spin, end))
        apart = unlike(run.center)
        check(apart < 1e-9, "eight cubes%s stay mirror images to %.3g m in %g s, after %d reflections" %
              (" that turn" if spin else "", apart, end, sum(row["reflections"] for row in run.steps)))
        part = run.range_of("total")[0] / run.energy[0]["total"]
        check(part < 1e-12, "and keep their energy to %.3g of it" % part)


def dolls_scene(operator):
    """Hollow boxes in each other, 1.5 mm apart, fall on a table with 1 m/s."""
    bodies, low = [FLOOR], .0015
    for k, size in enumerate((.3, .22, .14, .06)):
        bodies.append(box("doll%d" % k, size, [0, low + size / 2, 0], density=200, velocity=[0, -1, 0]))
        low += .0015
    return scene(bodies, .002, {"restitution": .8}, step=.0002, frames=5, operator=operator, gravity=[0, 0, 0])


def dolls(words):
    for operator in ("reflections", "lcp"):
        run = Run(dolls_scene(operator))
        up = [round(float(v[1]), 6) for v in run.velocity[1]]
        apart = max(up) - min(up)
        check(apart > .1 if operator == "reflections" else apart < 1e-6, "four dolls in each other that fall, %s: go up with %s m/s" % (operator, up))


def vessel_scene(end):
    bodies = [{"name": "vessel", "rigid": {"mass": 3}, "mesh": {"kind": "box", "size": [.5, .4, .45], "cells": [1, 1, 1]}, "angular_velocity": [.3, .2, -.1]},
              box("one", [.1, .14, .08], [-.1, .02, .05], velocity=[.5, .2, -.3], angular_velocity=[1, 2, .5], rotation=[10, 40, 0]),
              box("two", [.12, .06, .1], [.1, -.03, -.05], velocity=[.1, -.4, .2], angular_velocity=[-1, 1, 2], rotation=[70, 0, 20])]
    # All together stay where they are. If they flew away, their places would be rounded to more than what is to be seen.
    masses = [1000 * math.prod(b["mesh"]["size"]) for b in bodies[1:]]
    bodies[0]["velocity"] = [-sum(m * b["velocity"][c] for m, b in zip(masses, bodies[1:])) / 3 for c in range(3)]
    return scene(bodies, end, {"restitution": .8, "friction": .5}, gravity=[0, 0, 0], frames=100)


def vessel(words):
    end = words.end or 30
    run = Run(vessel_scene(end))
    turn = max(abs(run.energy[0]["angular_momentum_" + c]) for c in "xyz")
    drift = 100 * max(run.range_of(*("angular_momentum_" + c for c in "xyz"))) / turn
    line = max(run.range_of(*("momentum_" + c for c in "xyz")))
    check(drift < 4.37e-11 and line < 1.36e-11, "two boxes in a vessel, %g s: angular momentum drifts %.3g percent, momentum %.3g kg m/s; %d contacts" %
          (end, drift, line, sum(row["rows"] for row in run.steps)))


def trefoil(words):
    """Six of its vertices are lowest.  Without friction it must go straight up and down."""
    n = 48
    turns = [2 * math.pi * k / n for k in range(n + 1)]
    knot = [[.04 * (math.sin(t) + 2 * math.sin(2 * t)), -.04 * math.sin(3 * t), .04 * (math.cos(t) - 2 * math.cos(2 * t))] for t in turns[:n]]
    body = {"name": "knot", "rigid": True, "mass": .02, "radius": .01, "position": [0, .1, 0],
            "mesh": {"kind": "segments", "vertices": knot, "closed": True}}
    run = Run(scene([FLOOR, body], 2, {"restitution": 1}, frames=40))
    part = run.range_of("total")[0] / run.energy[0]["total"]
    check(part < 1e-9, "a trefoil bounces on a plane for 2 s, %d reflections: its energy is kept to %.3g of it" % (sum(row["reflections"] for row in run.steps), part))
    across = max(abs(c[0][[0, 2]] - run.center[0][0][[0, 2]]).max() for c in run.center)
    check(across < 1e-9 and max(abs(w).max() for w in run.spin) < 1e-9, "and it goes straight: %.3g m across, spin %.3g rad/s" % (across, max(abs(w).max() for w in run.spin)))


def turned(words):
    """A turn by 180 degrees about the vertical changes two signs, so the second body is the first one's image to the last bit at the start."""
    corners = [[.05, .01, .02], [-.04, .03, -.03], [.01, -.05, -.02], [-.02, -.01, .06], [.02, .06, -.01]]
    faces = [[0, 3, 2], [0, 4, 3], [0, 2, 4], [1, 2, 3], [1, 3, 4], [1, 4, 2]]
    bodies = []
    for name, sign in (("one", 1), ("two", -1)):
        bodies.append({"name": name, "rigid": {"density": 1000}, "position": [.1 * sign, 0, .005 * sign], "velocity": [-1 * sign, 0, 0], "angular_velocity": [.5 * sign, 1, .3 * sign],
                       "mesh": {"kind": "inline", "vertices": [[sign * x, y, sign * z] for x, y, z in corners], "triangles": faces}})
    run = Run(scene(bodies, .3, {"restitution": 1}, step=.002, frames=30, gravity=[0, 0, 0]))
    apart = max(abs(c[0] * [-1, 1, -1] - c[1]).max() for c in run.center)
    part = run.range_of("total")[0] / run.energy[0]["total"]
    check(apart < 1e-9, "two shapes at 180 degrees stay so to %.3g m in .3 s, after %d reflections" % (apart, sum(row["reflections"] for row in run.steps)))
    check(part < 1e-9, "and keep their energy to %.3g of it" % part)


def ball(radii, level=2):
    """An ellipsoid: an octahedron whose triangles are cut in four `level` times."""
    corner = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
    triangles = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]
    for _ in range(level):
        middle, cut = {}, []
        for t in triangles:
            new = []
            for a, b in ((t[0], t[1]), (t[1], t[2]), (t[2], t[0])):
                key = (min(a, b), max(a, b))
                if key not in middle:
                    at = [corner[a][c] + corner[b][c] for c in range(3)]
                    middle[key] = len(corner)
                    corner.append(tuple(x / math.hypot(*at) for x in at))
                new.append(middle[key])
            cut += [(t[0], new[0], new[2]), (new[0], t[1], new[1]), (new[2], new[1], t[2]), tuple(new)]
        triangles = cut
    return {"kind": "inline", "vertices": [[r * x for r, x in zip(radii, at)] for at in corner], "triangles": [list(t) for t in triangles]}


def rocks(words):
    """Energy is of the height over rest.  `box`: until its second edge meets the floor; `ellipsoid`: one and a half swings."""
    tilt, size = .35, (.1, .06, .08)
    low = .5 * (size[0] * math.sin(tilt) + size[1] * math.cos(tilt))
    falls = box("box", size, [0, low + .001, 0], rotation=[0, 0, math.degrees(tilt)])
    egg = {"name": "egg", "rigid": {"density": 1000}, "mesh": ball((.1, .06, .08)), "rotation": [0, 0, 25]}
    lean = max(math.sin(math.radians(25)) * x + math.cos(math.radians(25)) * y for x, y, _ in egg["mesh"]["vertices"])
    egg["position"] = [0, lean + .001, 0]
    for name, body, end in (("a box on its edge", falls, .1), ("an ellipsoid", egg, .6)):
        errors = []
        for step in (.01, .005, .0025, .00125, .000625):
            run = Run(scene([FLOOR, body], end, {"restitution": 1}, step=step, frames=10))
            errors.append(max(abs(row["total"] - run.energy[0]["total"]) for row in run.energy))
        kinetic = max(row["kinetic"] for row in run.energy)
        orders = [math.log2(a / b) for a, b in zip(errors, errors[1:]) if b > 0]
        print("        %s, %g s: energy is off by %s J with steps of 10, 5, 2.5, 1.25, .625 ms, orders %s; up to %.3g J move" %
              (name, end, ", ".join("%.3g" % e for e in errors), ", ".join("%.2f" % o for o in orders), kinetic), flush=True)
        check(errors[-1] < .02 * kinetic and errors[-1] < errors[0], "and less with shorter steps: %.3g of what moves" % (errors[-1] / kinetic))


def tower(words):
    for n, cells in ((5, 1), (10, 1), (20, 1), (5, 3), (10, 3), (5, 7)):
        bodies = [FLOOR] + [box("box%d" % k, .1, [0, .051 + .101 * k, 0], cells=(cells, 1, cells)) for k in range(n)]
        run = Run(scene(bodies, 1, {"restitution": .5, "friction": .5}))
        print("        %2d boxes, %3d vertices a face: %g rows, %.4g iterations a step (most %g), %.3g s a step; moved %.3g m" %
              (n, (cells + 1) ** 2, run.most("rows"), run.mean("iterations"), run.most("iterations"), run.mean("seconds"), run.moved()), flush=True)


def heap(words):
    rng, n = random.Random(1), words.count
    across = max(2, round((n / 2) ** (1 / 3)))
    pitch, bodies = .13, []
    for k in range(n):
        at = [pitch * (k % across - (across - 1) / 2), .08 + pitch * (k // across ** 2), pitch * (k // across % across - (across - 1) / 2)]
        bodies.append(box("box%d" % k, [rng.uniform(.04, .08) for _ in range(3)], at, rotation=[rng.uniform(-180, 180) for _ in range(3)]))
    side = pitch * across
    bodies.append({"name": "bin", "fixed": True, "mesh": {"kind": "box", "size": [side, 4 * side, side], "cells": [1, 1, 1]}, "position": [0, 2 * side, 0]})
    run = Run(scene(bodies, words.end or 1, {"restitution": .3, "friction": .4}), words.ranks)
    print("        %d boxes, %d rank(s), %g s" % (n, words.ranks, words.end or 1))
    for name in ("rounds", "reflections", "rows", "island", "iterations", "corrections", "halvings", "seconds_candidates", "seconds_operator", "seconds"):
        print("        %-20s mean %10.5g   most %10.5g" % (name, run.mean(name), run.most(name)))
    print("        defect %.3g J of %.3g J" % (max(abs(row["defect"]) for row in run.energy), run.energy[0]["total"]))
    print("        kinetic energy at the end %.3g J" % run.energy[-1]["kinetic"])


def main():
    every = (flat, tilted, stack, slope, stop, cubes, dolls, vessel, trefoil, turned, rocks)
    all_of_them = {part.__name__: part for part in every + (tower, heap)}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["all", *all_of_them])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--end", type=float)
    parser.add_argument("--ranks", type=int, default=1)
    words = parser.parse_args()
    for part in every if words.what == "all" else (all_of_them[words.what],):
        part(words)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
