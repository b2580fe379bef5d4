#!/usr/bin/python3
"""Where kinetic data structures win against speculative windows, and where they lose: one thing is varied at a time.

    jobs/experiments/kds/where.py [--repeats N] [--only WORD]

A table in Markdown: seconds of processor time of both (medians; both take turns), their ratio (least and greatest of those
of neighbouring runs), and what they ran. All scenes are made here. Both must end in the same bits, or the exit code is 1.
"""
import argparse
import json
import os
import sys
import tempfile

from runs import KDS, Runs, figure, table

WAYS = {"speculate": ["--discover", "speculate"], "kds": KDS}


def scene(end, bodies, **more):
    base = {"format": "tactus-scene/1", "time": {"end": end, "frame": end / 2}, "bodies": bodies,
            "contact": {"thickness": 0.02, "stiffness": 20000}}
    base.update(more)
    return base


def gas(count, spacing=0.28, radius=0.1, speed=(0, 10), **more):
    """Balls in a box."""
    side = [n * spacing + .2 for n in count]
    return [{"name": "box", "fixed": True, "mesh": {"kind": "box", "size": side, "cells": [1, 1, 1]}},
            {"name": "balls", "mass": 1, "radius": radius, "random_speed": list(speed), "seed": 2009,
             "mesh": {"kind": "points", "lattice": {"count": count, "spacing": spacing}}, **more}]


def sheet(name, cells, size, height, **more):
    return {"name": name, "material": "cloth", "position": [0, height, 0],
            "mesh": {"kind": "grid", "size": [size, size], "cells": [cells, cells]}, **more}


def cloth(stretch=60, density=.2):
    return {"cloth": {"density": density, "stretch": {"model": "cst", "stiffness": stretch, "poisson": 0.3},
                      "bend": {"model": "hinge", "stiffness": 1e-6}}}


FINE = {"contact": {"thickness": 0.001, "stiffness": 20}, "clocks": {"elastic_safety": 0.25}}


def number():
    """Balls at one density, more and more."""
    for n in (5, 10, 20):
        yield f"balls, {n ** 3} of them", scene(.3 * (10 / n) ** 2, gas([n, n, n]))


def density():
    """1000 balls, in a box that becomes wider."""
    for spacing, end in ((.21, .1), (.28, .3), (.56, 1), (1.12, 2), (2.24, 2)):
        yield f"1000 balls, {spacing} m apart, 0.1 m thick", scene(end, gas([10, 10, 10], spacing))


def speed():
    """Faster and faster: thin bullets through a thin gas, where each meets few. Clocks are those of the contact: per tick of
    the first layer the way grows."""
    for v in (1, 10, 100, 1000):
        yield f"1000 balls 0.02 m thick, 0.5 m apart, at {v} m/s", scene(
            3 / v, gas([10, 10, 10], .5, .02, (.5 * v, v)), contact={"thickness": .01, "stiffness": 20000})


def moving():
    """Of 8000 balls that lie in a lattice, one corner flies."""
    n = 20
    for part in (1, 2, 5, 10):
        balls, shift = gas([n, n, n], .5, .05, (0, 0)), .25 * (part % 2 == 0)
        shots = {"name": "shots", "mass": 1, "radius": .05, "random_speed": [5, 10], "seed": 1,
                 "position": [shift] * 3, "mesh": {"kind": "points", "lattice": {"count": [part] * 3, "spacing": .5}}}
        yield f"8000 balls at rest, {part ** 3} fly among them", scene(.5, balls + [shots])


def still():
    """Few flies about a large mesh that never moves."""
    for cells in (20, 80, 320):
        yield f"27 balls over a fixed mesh of {2 * cells * cells} triangles", scene(
            1, [{"name": "ground", "fixed": True, "mesh": {"kind": "grid", "size": [4, 4], "cells": [cells, cells]}},
                {"name": "balls", "mass": .1, "radius": .05, "random_speed": [0, 1], "seed": 3, "position": [0, 1, 0],
                 "mesh": {"kind": "points", "lattice": {"count": [3, 3, 3], "spacing": .4}}}],
            gravity=[0, -9.81, 0], contact={"thickness": .01, "stiffness": 2000})


def slow():
    """Two sheets come together slowly, and fast."""
    for v, end in ((.02, .2), (.2, .1), (2, .05), (20, .006)):
        yield f"two sheets of 1000 vertices, {v} m/s", scene(
            end, [{**sheet("low", 30, .3, 0), "velocity": [0, .5 * v, 0]},
                  {**sheet("high", 30, .3, .5 * v * end + .001), "velocity": [0, -.5 * v, 0], "rotation": [0, 20, 0]}],
            materials=cloth(), **FINE)


def quiet():
    """Sheets far apart in free fall, and one set that does not fall: no contact at all."""
    for n, fall in ((2, True), (8, True), (8, False), (32, True)):
        cells = int(30 / (n / 2) ** .5)
        yield f"{n} sheets of {(cells + 1) ** 2} vertices, .1 m apart, {'fall' if fall else 'without gravity'}", scene(
            .05, [sheet(f"sheet {i}", cells, .3, .1 * i) for i in range(n)], gravity=[0, -9.81 * fall, 0], materials=cloth(), **FINE)


def clocks():
    """A small stiff drum ticks fast beside a large soft sheet that falls on it."""
    for stiff in (60, 6000, 600000):
        mats = cloth()
        mats["drum"] = {"density": .2, "stretch": {"model": "cst", "stiffness": stiff, "poisson": .3}}
        yield f"a soft sheet of 1681 vertices and a ball of 42, {stiff // 60} times as stiff", scene(
            .05, [sheet("sheet", 40, .4, .1), {"name": "drum", "material": "drum", "velocity": [0, 2, 0],
                                               "mesh": {"kind": "sphere", "radius": .03, "level": 1}}],
            gravity=[0, -9.81, 0], materials=mats, **FINE)


def bodies():
    """Small elastic bodies that fly and now and then meet."""
    for speed_ in (.1, 1):
        shells = [{"name": f"{i} {j} {k}", "material": "cloth", "position": [.15 * i, .15 * j, .15 * k],
                   "velocity": [speed_ * (1 - i), speed_ * (1 - j) * .7, speed_ * (1 - k) * .4],
                   "mesh": {"kind": "sphere", "radius": .03, "level": 1}} for i in range(3) for j in range(3) for k in range(3)]
        yield f"27 elastic shells of 42 vertices meet at {speed_} m/s", scene(.1, shells, materials=cloth(), **FINE)


SETS = (number, density, speed, moving, still, slow, quiet, clocks, bodies)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="", metavar="WORD", help="sets whose name has this in it")
    options = parser.parse_args()
    rows, fine = [], True
    with tempfile.TemporaryDirectory() as home:
        for part in SETS:
            for name, made in part() if options.only in part.__name__ else ():
                path = os.path.join(home, "scene.json")
                with open(path, "w") as file:
                    json.dump(made, file)
                r = Runs(path, [], WAYS, options.repeats, home)
                fine = fine and not r.differs
                ratio, low, high = r.ratio("kds")
                s, k = r.counters("speculate"), r.counters("kds")
                ran = [sum(c["executed"].values()) / 1e6 for c in (s, k)]
                rows.append([name, figure(r.median("speculate")), figure(r.median("kds")), f"{ratio:.2f} ({low:.2f}..{high:.2f})",
                             f"{ran[0]:.2f} M, {ran[1]:.2f} M", f"{s['repeated_ticks'] / 1e6:.2f} M", s["committed"]["penalty"] - s["silent"],
                             k["deepest_layer"]])
                print(" | ".join(map(str, rows[-1])), file=sys.stderr, flush=True)
    table("Speculative windows and kinetic data structures, seconds of processor time",
          ["scene", "speculate", "kds", "kds / speculate", "ticks run by both", "again by speculate", "contact ticks", "deepest layer"], rows)
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
