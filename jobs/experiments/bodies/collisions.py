#!/usr/bin/python3
"""collisions.py [--impact] [--only WORD] [--keep DIR]: what programs for rigid bodies are tested with, as a table of cases, each passed or reported.

    jobs/experiments/bodies/collisions.py

Each case is a scene of rigid bodies that is hard for a collision detector: fast things and thin ones, concave meshes, features that meet exactly,
far from the origin, tiny, huge, of very different masses. With --impact they
are run by the integrator for impact, in 128 steps or more. The cases are after those that DART's and Chrono's own tests list. Each is run with
--record, and passes if the run ends with code 0, the audit proves that nothing passed through anything, energy is not gained (kinetic and
potential energy never over what they were at the start by 2 % of what moved or was lost), and what the case itself asks for holds. Prints a row per case, and code 1 if one fails."""
import argparse
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

import h5py
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
TACTUS = os.path.abspath(os.environ.get("TACTUS", os.path.join(HERE, "..", "..", "..", "build", "tactus")))
FALL = [0, -9.81, 0]


def box(name, size, cells=(1, 1, 1), mass=1., **keys):
    return {"name": name, "rigid": {"mass": mass}, "mesh": {"kind": "box", "size": list(size), "cells": list(cells)}, **keys}


def wall(name, size, **keys):
    """A fixed box."""
    return {"name": name, "fixed": True, "mesh": {"kind": "box", "size": list(size), "cells": [1, 1, 1]}, **keys}


def floor(size=4., cells=1, **keys):
    return {"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [size, size], "cells": [cells, cells]}, **keys}


def prism(outline, depth):
    """The closed surface of a polygon in x and y (counterclockwise) along z, by cutting off ears."""
    n, left, caps = len(outline), list(range(len(outline))), []

    def turn(a, b, c):
        (ax, ay), (bx, by), (cx, cy) = outline[a], outline[b], outline[c]
        return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    while len(left) > 2:
        for k in range(len(left)):
            a, b, c = left[k - 1], left[k], left[(k + 1) % len(left)]
            if turn(a, b, c) > 0 and not any(turn(a, b, p) >= 0 and turn(b, c, p) >= 0 and turn(c, a, p) >= 0 for p in left if p not in (a, b, c)):
                caps.append((a, b, c))
                left.pop(k)
                break
    vertices = [[x, y, z] for z in (-depth / 2, depth / 2) for x, y in outline]
    triangles = [[c, b, a] for a, b, c in caps] + [[a + n, b + n, c + n] for a, b, c in caps]
    for a in range(n):
        b = (a + 1) % n
        triangles += [[a, b, b + n], [a, b + n, a + n]]
    return {"kind": "inline", "vertices": vertices, "triangles": triangles}


HOOK = [(-.05, -.05), (.05, -.05), (.05, .03), (.03, .03), (.03, -.03), (-.03, -.03), (-.03, .05), (-.05, .05)]


class Run:
    """What a run left."""

    def __init__(self, folder):
        with open(os.path.join(folder, "energy.csv")) as file:
            self.energy = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
        with h5py.File(os.path.join(folder, "frames.h5")) as file:
            frames = list(file["frames"].values())
            self.x = numpy.array([f["position"][:] for f in frames])
            self.v = frames[-1]["velocity"][:]
            names = [name.decode().rstrip("\0") for name in file["mesh/body_names"][:]]
            self.of = {name: file["mesh/body"][:] == k for k, name in enumerate(names)}

    def middle(self, body, frame=-1):
        return self.x[frame][self.of[body]].mean(axis=0)

    def low(self, body):
        return self.x[-1][self.of[body]][:, 1].min()

    def speed(self, body):
        return float(numpy.linalg.norm(self.v[self.of[body]], axis=1).max())


def scene(end, bodies, gravity=FALL, thickness=1e-3, stiffness=2000., restitution=0., friction=0., **more):
    return {"format": "tactus-scene/1", "time": {"end": end, "frame": end / 16}, "gravity": gravity,
            "contact": {"thickness": thickness, "stiffness": stiffness, "restitution": restitution, "friction": friction}, "bodies": bodies, **more}


# ---- the cases: a scene, and what has to hold of its run ----

def gap():
    """A cube of .1 m at 100 m/s between two walls that leave .1 mm at either side."""
    walls = [wall(name, (1, .1, .3), position=[0, side * .1001, 0]) for name, side in (("above", 1), ("below", -1))]
    return (scene(.01, [box("cube", (.1, .1, .1), position=[-.6, 0, 0], velocity=[100, 0, 0]), *walls], gravity=[0, 0, 0], thickness=5e-5),
            lambda r: r.middle("cube")[0] > .35)


def tight_turn():
    """The same cube, turned by one degree, so that it hits a wall's corner."""
    walls = [wall(name, (1, .1, .3), position=[0, side * .1001, 0]) for name, side in (("above", 1), ("below", -1))]
    return (scene(.01, [box("cube", (.1, .1, .1), rotation=[0, 0, 1], position=[-.6, 0, 0], velocity=[100, 0, 0]), *walls], gravity=[0, 0, 0],
                  thickness=5e-5, stiffness=1e5, restitution=1), lambda r: r.middle("cube")[0] < .6)


def bullet():
    """A cube of 1 cm at 1000 m/s hits a plate of 1 mm."""
    return (scene(2e-4, [box("bullet", (.01, .01, .01), position=[0, .1, 0], rotation=[20, 30, 10], velocity=[0, -1000, 0], mass=.008),
                         wall("plate", (.3, .001, .3))], gravity=[0, 0, 0], stiffness=1e5, restitution=.5), lambda r: r.low("bullet") > .0005)


def thin_plates():
    """Two plates of .2 mm fall flat onto each other and the floor."""
    plates = [box(f"plate {k}", (.2, .0002, .2), (2, 1, 2), mass=.05, position=[.01 * k, .005 + .004 * k, 0], rotation=[0, 20 * k, 0]) for k in range(2)]
    return scene(.2, [*plates, floor()], thickness=4e-4), lambda r: .0 < r.middle("plate 0")[1] < r.middle("plate 1")[1] < .005


def knife():
    """A plate of .5 mm falls with its edge on the edge of another."""
    return (scene(.2, [box("blade", (.2, .1, .0005), position=[0, .08, 0], mass=.2), wall("edge", (.0005, .05, .2))], friction=.3, thickness=2e-4),
            lambda r: numpy.isfinite(r.x).all())


def tip_on_tip():
    """A tetrahedron falls with its tip exactly on the tip of a fixed one."""
    tip = [[0, 0, 0], [.05, -.1, 0], [-.05, -.1, .05], [-.05, -.1, -.05]]
    faces = [[0, 2, 1], [0, 3, 2], [0, 1, 3], [1, 2, 3]]
    down = {"kind": "inline", "vertices": [[x, -y, z] for x, y, z in tip], "triangles": [f[::-1] for f in faces]}
    return (scene(.3, [{"name": "top", "rigid": {"mass": 1}, "mesh": down, "position": [0, .02, 0]},
                       {"name": "low", "fixed": True, "mesh": {"kind": "inline", "vertices": tip, "triangles": faces}}, floor(position=[0, -.11, 0])],
                  friction=.3), lambda r: r.low("top") > -.11)


def crossed_edges():
    """Two beams that stand on their edges, crosswise, edge on edge."""
    return (scene(.2, [box("beam", (.3, .04, .04), position=[0, .07, 0], rotation=[45, 0, 0]), wall("under", (.04, .04, .3), rotation=[0, 0, 45])],
                  friction=.5), lambda r: numpy.isfinite(r.x).all() and r.low("beam") > -2)


def inner_edges():
    """A box slides over a floor of 24 times 24 cells without friction: edges within a plane must not stop or lift it."""
    return (scene(.5, [box("box", (.1, .1, .1), (2, 2, 2), position=[-.5, .0507, 0], velocity=[2, 0, 0]), floor(3, 24)]),
            lambda r: abs(r.middle("box")[0] - .5) < .01 and abs(r.middle("box")[2]) < 1e-3 and r.middle("box")[1] < .0515)


def slivers():
    """A ball of 320 triangles falls on a floor of needles: 1000 times as long as they are wide."""
    needles = {"kind": "grid", "size": [2, .1], "cells": [1, 50]}
    return (scene(.2, [{"name": "ball", "rigid": {"mass": 1}, "mesh": {"kind": "sphere", "radius": .05, "level": 2}, "position": [0, .06, 0]},
                       {"name": "floor", "fixed": True, "mesh": needles}]), lambda r: r.low("ball") > 0)


def masses():
    """10 g under 10 kg: a thousand times its weight lies on a small box."""
    return (scene(.2, [box("light", (.05, .05, .05), mass=.01, position=[0, .0257, 0]), box("heavy", (.2, .2, .2), mass=10, position=[0, .1514, 0]), floor()],
                  friction=.3, clocks={"accuracy": "fine"}), lambda r: 0 < r.low("light") < .002 and r.low("heavy") > .05)


def stack():
    """Ten boxes on each other stand."""
    boxes = [box(f"box {k}", (.1, .1, .1), position=[0, .0507 + .1007 * k, 0]) for k in range(10)]
    return scene(.25, [*boxes, floor()], friction=.5), lambda r: abs(r.middle("box 9")[0]) < .01 and r.middle("box 9")[1] > .95


def hooks():
    """Two hooks of concave surfaces: one hangs from the other, and must neither slip through nor be pushed out."""
    turned = prism([(-x, -y) for x, y in HOOK], .04)
    return (scene(.3, [{"name": "hook", "rigid": {"mass": 1}, "mesh": turned, "position": [-.04, .022, 0]},
                       {"name": "held", "fixed": True, "mesh": prism(HOOK, .04)}], friction=.2), lambda r: r.low("hook") > -.031)


def link():
    """A torus hangs from a fixed torus that goes through it."""
    ring = {"kind": "torus", "radii": [.05, .01], "cells": [24, 10]}
    return (scene(.4, [{"name": "ring", "rigid": {"mass": 1}, "mesh": ring, "position": [.05, 0, 0], "rotation": [90, 0, 0]},
                       {"name": "held", "fixed": True, "mesh": ring}], friction=.2), lambda r: r.middle("ring")[1] > -.12)


def cavity():
    """A cube in the cavity of a box, .1 mm smaller at each side, is thrown about."""
    shell = {"kind": "box", "size": [.1002] * 3, "cells": [1, 1, 1]}
    return (scene(.05, [box("cube", (.1, .1, .1), velocity=[2, 3, -1], angular_velocity=[1, 2, 3]), {"name": "cavity", "fixed": True, "mesh": shell}],
                  thickness=5e-5, restitution=.5, stiffness=1e5), lambda r: abs(r.middle("cube")).max() < 1.5e-4)


def hole():
    """A ball of 19.8 mm falls into a tube of 20 mm."""
    tube = {"kind": "cylinder", "radius": .01, "height": .1, "cells": [32, 4], "closed": False}
    return (scene(.3, [{"name": "ball", "rigid": {"mass": .1}, "mesh": {"kind": "sphere", "radius": .0097, "level": 2}, "position": [.0005, .065, 0],
                        "velocity": [0, -.1, 0]}, {"name": "tube", "fixed": True, "mesh": tube}, floor(position=[0, -.06, 0])], thickness=1e-4, stiffness=1e4),
            lambda r: r.middle("ball")[1] < -.03 and r.low("ball") > -.06)


def funnel():
    """Three balls fall into a cone whose tip points downwards, and jam."""
    cone = {"kind": "cone", "radius": .15, "height": .2, "cells": [24, 6], "closed": False}
    balls = [{"name": f"ball {k}", "rigid": {"mass": .2}, "mesh": {"kind": "sphere", "radius": .03, "level": 1}, "position": [.02 * math.cos(2 * k), .15 + .07 * k, .02 * math.sin(2 * k)]}
             for k in range(3)]
    return scene(.5, [*balls, {"name": "cone", "fixed": True, "mesh": cone, "rotation": [180, 0, 0]}], restitution=.3, friction=.3), lambda r: min(r.low(f"ball {k}") for k in range(3)) > -.11


def spinning():
    """A cube that turns 160 times a second falls on the floor."""
    return (scene(.1, [box("cube", (.05, .05, .05), position=[0, .06, 0], rotation=[20, 0, 35], angular_velocity=[0, 1000, 30]), floor()], friction=.3, restitution=.5),
            lambda r: r.low("cube") > 0)


def far():
    """A box lands 100 km from the origin."""
    at = [1e5, -1e5, 1e5]
    return (scene(.2, [box("box", (.1, .1, .1), position=[at[0], at[1] + .06, at[2]], rotation=[0, 30, 0]), floor(position=at)], friction=.3),
            lambda r: 0 < r.low("box") - at[1] < .005)


def tiny():
    """A cube of a hundredth of a millimetre lands."""
    s = 1e-5
    return (scene(2e-3, [box("box", (s, s, s), mass=1e-12, position=[0, .7 * s, 0]), floor(20 * s)], thickness=.02 * s, stiffness=1e-5,
                  clocks={"gravity_s": 1e-6}), lambda r: 0 < r.low("box") < .1 * s)


def huge():
    """A block of 100 m and a million tonnes lands."""
    return (scene(2., [box("block", (100, 100, 100), mass=1e9, position=[0, 51, 0]), floor(400)], thickness=.5, stiffness=1e12), lambda r: 0 < r.low("block") < 1)


def wedge():
    """A wedge is driven between two blocks by a blow of 20 m/s and pushes them apart."""
    point = prism([(0, -.1), (.03, .05), (-.03, .05)], .05)
    blocks = [box(f"block {k}", (.1, .1, .1), mass=2, position=[(.1015 if k else -.1015) / 2 * 1.02, -.05 + .0007, 0]) for k in range(2)]
    return (scene(.05, [{"name": "wedge", "rigid": {"mass": 1}, "mesh": point, "position": [0, .1045, 0], "velocity": [0, -20, 0]}, *blocks, floor(position=[0, -.1, 0])]),
            lambda r: r.middle("block 1")[0] - r.middle("block 0")[0] > .11)


def round_things():
    """A ball and a capsule that are exactly round roll down a slope onto a box."""
    return (scene(.6, [{"name": "ball", "rolls": True, "mass": 1, "mesh": {"kind": "ball", "radius": .03}, "position": [-.3, .032, 0]},
                       {"name": "capsule", "rigid": True, "mass": .5, "mesh": {"kind": "capsule", "radius": .02, "length": .06}, "rotation": [90, 0, 0], "position": [-.15, .022, 0]},
                       box("box", (.1, .1, .1), position=[.1, .052, 0]), floor()], gravity=[4, -9, 0], friction=0), lambda r: r.middle("box")[0] > .12)


CASES = [gap, tight_turn, bullet, thin_plates, knife, tip_on_tip, crossed_edges, inner_edges, slivers, masses, stack, hooks, link, cavity, hole, funnel, spinning, far,
         tiny, huge, wedge, round_things]


def with_impact(made):
    """The scene for the integrator for impact: steps of at most 1/128 of the run, and .2 rad of its fastest turn."""
    made.pop("clocks", None)
    for body in made["bodies"]:
        body.pop("rolls", None)
    spin = max(math.dist(body.get("angular_velocity", [0, 0, 0]), [0, 0, 0]) for body in made["bodies"])
    steps = 128 * max(1, math.ceil(made["time"]["end"] * spin / .2 / 128))
    made["integrator"] = {"kind": "impact", "step_s": made["time"]["end"] / steps}
    return made


def judge(folder, make, impact):
    """What is wrong, or nothing; seconds."""
    made, holds = make()
    if impact:
        made = with_impact(made)
    path, out = os.path.join(folder, make.__name__ + ".json"), os.path.join(folder, make.__name__ + ".run")
    with open(path, "w") as file:
        json.dump(made, file)
    done = subprocess.run([TACTUS, "run", path, "-o", out, "--overwrite", "--quiet", "--record"], capture_output=True, text=True)
    if done.returncode:
        return f"code {done.returncode}: {done.stderr.strip().splitlines()[-1]}", 0
    report = json.loads(subprocess.run([TACTUS, "audit", out, "--json"], capture_output=True, text=True).stdout)
    result = Run(out)
    with open(os.path.join(out, "run.json")) as file:
        wall_s = json.load(file)["wall_s"]
    if report["pieces"]["crossing"] or report["pieces"]["open"] or report["start_crossing"]:
        return f"the audit finds {report['pieces']['crossing']} crossings and {report['pieces']['open']} open pieces", wall_s
    gained = max(row["total"] for row in result.energy) - result.energy[0]["total"]
    if gained > .02 * max(max(row["kinetic"] for row in result.energy), result.energy[-1]["dissipated"]):
        return f"gains {gained:.3g} J", wall_s
    return ("" if holds(result) else "ends otherwise than it should"), wall_s


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--impact", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--keep")
    given = parser.parse_args()
    failures = 0
    print("| case | | result | wall, s |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as home:
        for make in CASES:
            if given.only in make.__name__:
                wrong, wall_s = judge(given.keep or home, make, given.impact)
                failures += bool(wrong)
                print(f"| {make.__name__.replace('_', ' ')} | {make.__doc__} | {wrong or 'passed, proven'} | {wall_s:.1f} |", flush=True)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
