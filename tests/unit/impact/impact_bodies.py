#!/usr/bin/python3
"""impact_bodies.py: rigid bodies in the integrator for impact: boxes that rest do not move by a bit, a box on a slope holds or slides by the
closed form, a tilted one comes to rest, stacks stand, dolls in each other separate, momenta and energies are kept, a load turns what it
acts on beside the centre, pieces are bodies, and what turns too fast ends the run with a sentence.

If it fails, the turns of docs/explanation/impact.md, Rigid bodies, are not those of bodies."""

import json
import math
import os
import sys
import tempfile

from runs import Run, call, check, failures

G = 9.81
FLOOR = {"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [4, 4], "cells": [1, 1]}}


def box(name, size, at, cells=(1, 1, 1), **more):
    return {"name": name, "rigid": {"density": 1000}, "mesh": {"kind": "box", "size": size, "cells": list(cells)}, "position": at, **more}


def scene(bodies, end, contact, step=.01, gravity=(0, -G, 0), **more):
    return {"format": "tactus-scene/1", "time": {"end": end, "frame": end / 10}, "gravity": list(gravity), "contact": {"thickness": .002, **contact},
            "integrator": {"kind": "impact", "step_s": step, **more.pop("integrator", {})}, "bodies": bodies, "output": {"fields": ["pose"]}, **more}


class BodyRun(Run):
    def moved(self, first=0):
        return max(abs(x - self.x[first]).max() for x in self.x[first:])

    def book(self, part):
        check(self.keeps_energy(part), "its book is closed to %g of the energy" % part, str(max(abs(row["defect"]) for row in self.energy)))

    def span(self, name):
        return max(row[name] for row in self.energy) - min(row[name] for row in self.energy)


def rest(folder):
    for c in (0, .9):
        run = BodyRun(folder, scene([FLOOR] + [box("box%d" % k, [.1, .05 + .01 * k, .08], [.3 * k - .4, .026 + .005 * k, .1 * k], cells=(k, 1, k)) for k in (1, 2)],
                                1, {"restitution": c, "friction": .4}))
        check(run.moved() == 0, "boxes on a floor, restitution %g: no bit moves" % c, str(run.moved()))
    run = BodyRun(folder, scene([FLOOR, box("box", [.1, .06, .08], [0, .15, 0], rotation=[0, 0, math.degrees(.5)])], 5, {"restitution": .5, "friction": .5}))
    run.book(1e-12)
    check(run.moved(8) < 2e-14, "a box that is tilted by .5 rad rests after 4 s: %.3g m" % run.moved(8))
    check(all(b["total"] <= a["total"] + 1e-12 for a, b in zip(run.energy, run.energy[1:])), "and never gains energy")
    run = BodyRun(folder, scene([FLOOR] + [box("cube%d" % k, [.1, .1, .1], [0, .051 + .101 * k, 0]) for k in range(5)], 1, {"restitution": .5, "friction": .5}))
    check(run.moved(5) < 3e-8 and run.moved() < 1e-3, "five cubes stand on each other: %.3g m" % run.moved(5))


def triangles(folder):
    """A flight into a floor passes edges beside the box: their normals must not push it."""
    floor = {"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [3, 3], "cells": [23, 31]}}
    run = BodyRun(folder, scene([floor, box("box", [.1, .06, .08], [-.3, .2, .1], velocity=[.7, -1, .5], cells=(2, 1, 2))], 1.5, {"restitution": 1}))
    spin, u = max(abs(s).max() for s in run.spin), run.velocity[-1][0]
    check(spin < 1e-9 and abs(u[0] - .7) < 1e-9 and abs(u[2] - .5) < 1e-9, "a box bounces flat on a floor of triangles: spin %.3g rad/s" % spin, str(u))


def slope(folder):
    angle = math.atan(.5)
    ground = {"name": "slope", "fixed": True, "mesh": {"kind": "grid", "size": [100, 4], "cells": [1, 1]}}
    for mu in (.501, .49):
        run = BodyRun(folder, scene([ground, box("box", [.1, .06, .08], [-40, .031, .1])], 5, {"friction": mu}, gravity=[G * math.sin(angle), -G * math.cos(angle), 0]))
        slid, wanted = run.center[-1][0][0] - run.center[0][0][0], max(0, .5 * 25 * G * (math.sin(angle) - mu * math.cos(angle)))
        check(abs(slid - wanted) <= 1e-7, "a box on a slope of 1/2, friction %g: %.9g m of %.9g m" % (mu, slid, wanted))


def apart(folder):
    for operator in ("reflections", "lcp"):
        dolls = [box("doll%d" % k, [size] * 3, [0, .0015 * (k + 1) + size / 2, 0], velocity=[0, -1, 0]) for k, size in enumerate((.3, .22, .14))]
        run = BodyRun(folder, scene([FLOOR] + dolls, .002, {"restitution": .8}, step=.0002, gravity=[0, 0, 0], integrator={"operator": operator}))
        up = [v[1] for v in run.velocity[-1]]
        check(max(up) - min(up) > .1 if operator == "reflections" else max(abs(v - .8) for v in up) < 1e-9, "dolls in each other, %s: %s" % (operator, up))


def kept(folder):
    vessel = {"name": "vessel", "rigid": {"mass": 3}, "mesh": {"kind": "box", "size": [.5, .4, .45], "cells": [1, 1, 1]}, "velocity": [-.2, 0, .1],
              "angular_velocity": [.3, .2, -.1]}
    two = [box("one", [.1, .14, .08], [-.1, .02, .05], velocity=[.5, .2, -.3], angular_velocity=[1, 2, .5], rotation=[10, 40, 0]),
           box("two", [.12, .06, .1], [.1, -.03, -.05], velocity=[.1, -.4, .2], angular_velocity=[-1, 1, 2], rotation=[70, 0, 20])]
    for c, friction in ((.8, .5), (1, 0)):
        run = BodyRun(folder, scene([vessel] + two, 15, {"restitution": c, "friction": friction}, gravity=[0, 0, 0]))
        worst = max(run.span(name + "_" + axis) for name in ("momentum", "angular_momentum") for axis in "xyz")
        check(worst < 4e-14 and sum(row["rows"] for row in run.steps) > 50, "two boxes in a vessel, restitution %g: momenta drift %.3g" % (c, worst))
        run.book(1e-13)
        check(c < 1 or run.span("total") < 1e-13, "and elastic ones keep their energy", str(run.span("total")))
    free = box("box", [.1, .2, .3], [0, 0, 0], angular_velocity=[.01, 10, .01])
    run = BodyRun(folder, scene([free], 10, {}, gravity=[0, 0, 0]))
    worst = max(run.span("angular_momentum_" + axis) for axis in "xyz")
    check(run.span("kinetic") < 1e-12 and worst < 1e-14, "a free turn about the middle axis: energy %.3g J, angular momentum %.3g" % (run.span("kinetic"), worst))
    check(run.x[0][0][1] * run.x[3][0][1] < -.009, "and it stands on its head after 3 s")


def pushed(folder):
    loads = [{"body": "box", "vertices": [0], "force": [0, .02, 0]}]
    run = BodyRun(folder, scene([box("box", [.1, .1, .1], [0, 0, 0])], 1, {}, gravity=[0, 0, 0], loads=loads))
    end = run.energy[-1]
    check(abs(end["momentum_y"] - .02) < 1e-15 and abs(end["work"] - end["kinetic"]) < 1e-15 and abs(run.spin[-1][0]).max() > .1,
          "a force on a corner moves and turns: work %.9g J, kinetic energy %.9g J" % (end["work"], end["kinetic"]))
    run.book(1e-13)
    stones = {"name": "stones", "rigid": {"density": 1000, "pieces": True}, "position": [0, .2, 0], "mesh": {
        "kind": "inline", "vertices": [[x + .2 * k, y, z] for k in range(3) for x, y, z in ((0, 0, 0), (.1, 0, 0), (0, .1, 0), (0, 0, .1))],
        "triangles": [[4 * k + i for i in t] for k in range(3) for t in ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))]}}
    run = BodyRun(folder, scene([FLOOR, stones], 1, {"restitution": .3, "friction": .4}))
    check(len(run.center[-1]) == 3 and run.energy[-1]["kinetic"] < 1e-6, "three pieces of a mesh fall and rest: %.3g J" % run.energy[-1]["kinetic"])
    run.book(1e-12)


def fast(folder):
    path, out = os.path.join(folder, "scene.json"), os.path.join(folder, "out")
    with open(path, "w") as file:
        json.dump(scene([box("top", [.1, .1, .2], [0, 0, 0], angular_velocity=[0, 0, 1e6])], .1, {}), file)
    code, text = call("run", path, "-o", out, "--quiet", "--overwrite")
    check(code == 3 and "the rigid body `top` turns at 1e+06 rad/s from t = 0 s, by more than half a radian" in text, "what turns too fast ends the run", text)


def tumbling(folder):
    """Corners and edges that turn leave the lines of their velocities by more than the thickness: a step must not take them through the floor.

    Run itself asks the audit."""
    floor = {"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [10, 10], "cells": [20, 20]}}
    shapes = {"kind": "box", "size": [.2, .15, .1], "cells": [1, 1, 1]}, {"kind": "sphere", "radius": .2, "level": 0}
    stones = [{"name": "stone%d" % k, "rigid": {"density": 1000}, "mesh": shapes[k % 2], "rotation": [40 * k, 25 * k, 10], "angular_velocity": [8 + k, -15, 8 - k],
               "position": [-3 + 1.65 * (k % 4), .3, -3 + 1.5 * (k // 4)], "velocity": [-.1, 0, .1]} for k in range(8)]
    run = BodyRun(folder, {**scene([floor] + stones, 1, {}, step=.02), "contact": {"thickness": .0003}})
    check(run.energy[-1]["total"] < run.energy[0]["total"], "stones tumble over a floor, and nothing goes through it", str(run.energy[-1]["total"]))


def main():
    with tempfile.TemporaryDirectory() as folder:
        for part in (rest, triangles, slope, apart, kept, pushed, tumbling, fast):
            part(folder)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
