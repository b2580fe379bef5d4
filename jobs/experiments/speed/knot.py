#!/usr/bin/python3
"""knot.py [-o FILE] [--no-check]: the reef knot at the papers' resolution, as the scene papers-knot.json.

What the papers print (ACM 2009, section 8; AVCM 2011, section 8.4), in centimetres, grams and seconds, and here in SI:

    ribbons         two, 27 cm long, of 5321 vertices each (10,642 in all); here 312 x 16 cells, 5321 vertices each
    stretching      750 g/s^2, constant-strain triangles         0.75 N/m
    damping         0.1 g/s, of stretching                       0.1/750 s times the stiffness
    bending         0.01 (ACM 2009)                              1e-9 N m
    density         0.1 g/cm^2                                   1 kg/m^2
    contact         r(1) = 1000 g/s^2, eta(1) = 0.1 cm, COR 0    1 N/m, 1 mm, restitution 0
    pull            the ends move at 10 cm/s, for 2 s

How the knot lies at the start is not printed. Here it is the curve of jobs/reef-knot.json, made smaller until it is 27 cm long.
The ribbons are 1 cm wide, not 2: wider ones would pass through each other on that curve. So cells are 0.87 x 0.62 mm, edges
about the thickness (0.62 to 1.29 mm but for two in a hundred, at the bends). Poisson's ratio is not printed; it is 0.3.

`tactus check` proves that the ribbons begin apart: it accepts them with a skin of half a thickness, and the script finds by halving how
thick a skin it accepts.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
PROGRAM = os.path.abspath(os.environ.get("TACTUS", os.path.join(ROOT, "build", "tactus")))
LENGTH, WIDTH, CELLS = .27, .01, [312, 16]
THICKNESS, SPEED, END = .001, .1, 2


def curves():
    """Name and points (m) of either ribbon's curve, 27 cm long."""
    with open(os.path.join(ROOT, "jobs", "reef-knot.json")) as file:
        bodies = json.load(file)["bodies"]
    for body in bodies:
        points = body["mesh"]["curve"]
        scale = LENGTH / sum(math.dist(a, b) for a, b in zip(points, points[1:]))
        yield body["name"], [[round(scale * x, 7) for x in point] for point in points]


def scene():
    bodies, motions = [], []
    for name, curve in curves():
        end, side = curve[0][0], math.copysign(1, curve[0][0])
        bodies.append({"name": name, "material": "ribbon",
                       "mesh": {"kind": "ribbon", "width": WIDTH, "cells": CELLS, "up": [0, 0, 1], "curve": curve}})
        border = round(end - side * .4 * LENGTH / CELLS[0], 7)  # only the last row of vertices
        box = [[-1, -1, -1], [border, 1, 1]] if side < 0 else [[border, -1, -1], [1, 1, 1]]
        motions.append({"body": name, "vertices": {"box": box}, "path": [[0, [0, 0, 0]], [END, [side * SPEED * END, 0, 0]]]})
    return {
        "format": "tactus-scene/1",
        "name": "the reef knot of ACM 2009, section 8, at its resolution: 10,642 vertices",
        "time": {"end": END, "frame": 2.0 ** -5},
        "contact": {"thickness": THICKNESS, "rest_fraction": 0.5, "stiffness": 1, "restitution": 0},
        "clocks": {"elastic_safety": .25},
        "materials": {"ribbon": {"density": 1, "stretch": {"model": "cst", "stiffness": .75, "poisson": .3, "damping": 1.3333e-4},
                                 "bend": {"model": "hinge", "stiffness": 1e-9}}},
        "bodies": bodies, "motions": motions,
    }


def text(made):
    """JSON with a line for each short value, and four points of a curve per line."""
    def value(v, indent):
        flat = json.dumps(v)
        if len(flat) + len(indent) <= 130:
            return flat
        inner = indent + "  "
        if isinstance(v, dict):
            return "{\n" + ",\n".join(f"{inner}{json.dumps(k)}: {value(x, inner)}" for k, x in v.items()) + f"\n{indent}}}"
        if isinstance(v[0], list):
            rows = [", ".join(json.dumps(point) for point in v[k:k + 4]) for k in range(0, len(v), 4)]
            return "[\n" + ",\n".join(inner + row for row in rows) + f"\n{indent}]"
        return "[\n" + ",\n".join(inner + value(x, inner) for x in v) + f"\n{indent}]"
    return value(made, "") + "\n"


def accepts(made, skin, own):
    """Does `tactus check` accept the ribbons with this skin (m) on either side? `own`: also where a ribbon meets itself."""
    made = dict(made, motions=[])  # two scripted vertices are not compared
    made["bodies"] = [dict(body, radius=skin, self=own) for body in made["bodies"]]
    with tempfile.TemporaryDirectory(prefix="tactus-knot-") as home:
        path = os.path.join(home, "knot.json")
        with open(path, "w") as file:
            json.dump(made, file)
        done = subprocess.run([PROGRAM, "check", path, "-o", home], capture_output=True, text=True)
    if done.returncode != 0 and "overlap" not in done.stderr:
        sys.exit(done.stderr)
    return done.returncode == 0


def clearance(made):
    """How far the ribbons are apart at least, m, from below, to 1 % of the thickness."""
    low, high = 0, 4 * THICKNESS
    while high - low > .01 * THICKNESS:
        middle = (low + high) / 2
        low, high = (middle, high) if accepts(made, middle / 2, False) else (low, middle)
    return low


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", metavar="FILE", help="default: papers-knot.json beside this script")
    parser.add_argument("--no-check", action="store_true", help="do not ask `tactus check` how far the ribbons are apart")
    arguments = parser.parse_args()
    made, path = scene(), arguments.o or os.path.join(HERE, "papers-knot.json")
    if not arguments.no_check:
        apart = clearance(made)
        print(f"the ribbons are {1e3 * apart:.2f} mm apart at least, and the thickness is {1e3 * THICKNESS:g} mm")
        if apart <= THICKNESS or not accepts(made, THICKNESS / 2, True):
            sys.exit("knot.py: the ribbons are in contact at the start")
    with open(path, "w") as file:
        file.write(text(made))
    print(f"{path}: {sum((b['mesh']['cells'][0] + 1) * (b['mesh']['cells'][1] + 1) for b in made['bodies']):,} vertices")


if __name__ == "__main__":
    main()
