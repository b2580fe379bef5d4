#!/usr/bin/python3
"""stack.py VERTICES [-o FILE] : a scene of about so many vertices for measuring speed and memory on many ranks.

A stack of cloths of at most 100 x 100 cells, each a little above the next and turned against it, falls onto a plate: every
cloth is in contact with its neighbours after a thousandth of a second or two, all over its area. The stack is wide rather than
high (up to four times four piles), so that cuts run between piles and through them.

    jobs/experiments/ranks/stack.py 160000 -o stack-160k.json

With --implicit it is a scene for the implicit integrator, in steps of 1/256 s.
"""
import argparse
import json
import math
import sys

CELLS = 100        # of a cloth, along each side, at most
SPACING = 0.01     # m, of a cloth's vertices
THICKNESS = 0.002  # m
GAP = 0.0023       # m, from cloth to cloth
STEP = 1 / 256     # s, of the implicit integrator


def scene(vertices, end, most_cells=CELLS, side=None, implicit=False):
    cells = min(most_cells, max(2, round(math.sqrt(vertices / 2)) - 1))
    cloths = max(1, round(vertices / (cells + 1) ** 2))
    side = side or min(4, max(1, math.isqrt(cloths)))
    size, pitch = cells * SPACING, 1.5 * cells * SPACING
    bodies = [{"name": "plate", "fixed": True, "position": [0, -GAP, 0],
               "mesh": {"kind": "grid", "size": [1.6 * side * size] * 2, "cells": [4 * side, 4 * side]}}]
    for k in range(cloths):
        pile, level = k % side ** 2, k // side ** 2
        x, z = (pile % side - (side - 1) / 2) * pitch, (pile // side - (side - 1) / 2) * pitch
        bodies.append({"name": f"cloth-{pile}-{level}", "material": "cloth", "velocity": [0, -0.2 * (1 + level % 2), 0],
                       "position": [round(x, 9), round(level * GAP, 9), round(z, 9)], "rotation": [0, 7 * (level % 3), 0],
                       "mesh": {"kind": "grid", "size": [size, size], "cells": [cells, cells]}})
    how = {"integrator": {"kind": "implicit", "step_s": STEP}} if implicit else {}
    bounce = {} if implicit else {"stiffness": 20, "restitution": 0}
    return {
        "format": "tactus-scene/1",
        "name": f"{cloths} cloths of {cells} x {cells} cells in {side ** 2} piles",
        "time": {"end": end, "frame": end},
        **how,
        "gravity": [0, -9.81, 0],
        "contact": {"thickness": THICKNESS, **bounce},
        "materials": {"cloth": {"density": 0.15, "stretch": {"model": "cst", "stiffness": 50, "poisson": 0.3},
                                "bend": {"model": "hinge", "stiffness": 1e-5}}},
        "bodies": bodies,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vertices", type=int)
    parser.add_argument("--end", type=float, default=0.0078125, help="simulated time, s (%(default)s)")
    parser.add_argument("--cells", type=int, default=CELLS, metavar="N", help="of a cloth, along each side, at most (%(default)s)")
    parser.add_argument("--side", type=int, metavar="N", help="piles along each side (at most 4): for weak scaling, a pile for so many ranks")
    parser.add_argument("--implicit", action="store_true", help="for the implicit integrator")
    parser.add_argument("-o", metavar="FILE", help="default: standard output")
    arguments = parser.parse_args()
    if arguments.vertices < 18 or not 0 < arguments.end < 128:
        parser.error("at least 18 vertices, and an end above 0 and under 128 s")
    if arguments.cells < 2 or (arguments.side or 1) < 1:
        parser.error("at least 2 cells, and a pile")
    text = json.dumps(scene(arguments.vertices, arguments.end, arguments.cells, arguments.side, arguments.implicit), indent=1) + "\n"
    if arguments.o:
        with open(arguments.o, "w") as file:
            file.write(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
