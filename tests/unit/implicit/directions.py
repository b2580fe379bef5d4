#!/usr/bin/python3
"""directions.py: what barriers' negative curvature at a step's end, and directions that are made longer again and again, save.

If it fails, one of the two (docs/reference/implicit.md, Newton iterations) does not act any more where it should: results are as right as before, and slower.
"""

import csv
import json
import os
import sys
import tempfile

from program import call, check, failures

SAVED = 0.9  # at most this part of the iterations that it takes without


def scene(h, steps, solid, bodies, **keys):
    material = {"density": 1000, "solid": {"model": solid[0], "youngs": solid[1], "poisson": solid[2]}}
    return {"format": "tactus-scene/1", "time": {"end": h * steps, "frame": h * steps}, "integrator": {"kind": "implicit", "step_s": h},
            "materials": {"m": material}, "bodies": bodies, **keys}


def impact(model, mesh, turn):
    """A solid meets a floor at 30 m/s."""
    body = {"name": "b", "material": "m", "mesh": {**mesh, "fill": "tets"}, "position": [0, 0.023 if turn == [0, 0, 0] else 0.033, 0], "rotation": turn,
            "velocity": [0, -30, 0]}
    floor = {"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [0.2, 0.2], "cells": [1, 1]}}
    return scene(2e-4, 12, (model, 1e5, 0.4), [body, floor], contact={"thickness": 2e-3})


def column(model, h, way, pull):
    """A column is pressed by its ends, and buckles."""
    body = {"name": "b", "material": "m", "mesh": {"kind": "box", "size": [0.02, 0.2, 0.01], "cells": [2, 8, 1], "fill": "tets"}}
    top, foot = {"box": [[-1, 0.099, -1], [1, 1, 1]]}, {"box": [[-1, -1, -1], [1, -0.099, 1]]}
    return scene(h, 8, (model, 1e6, 0.3), [body], contact={"thickness": 1e-3}, gravity=[pull, 0, 0],
                 motions=[{"body": "b", "vertices": top, "path": [[0, [0, 0, 0]], [h * 8 * 0.7, [0, way, 0]]]},
                          {"body": "b", "vertices": foot, "path": [[0, [0, 0, 0]]]}])


BALL, BOX = {"kind": "sphere", "radius": 0.02, "level": 2}, {"kind": "box", "size": [0.03, 0.03, 0.03], "cells": [3, 3, 3]}
# Scenes, and the Newton iterations of each without what is held here: barriers that never have negative curvature; directions that are made twice as
# long once in an iteration.
IMPACTS = [(impact("neo-hookean", BALL, [0, 0, 0]), 118), (impact("stvk", BOX, [30, 0, 40]), 160), (impact("corotated", BOX, [30, 0, 40]), 137)]
COLUMNS = [(column("neo-hookean", 0.005, -0.1, 0), 68), (column("neo-hookean", 0.02, -0.03, 0), 42), (column("neo-hookean", 0.1, -0.03, -1e-3), 30),
           (column("corotated", 0.02, -0.1, -9.81), 56)]


def iterations(folder, made):
    path, out = os.path.join(folder, "scene.json"), os.path.join(folder, "out")
    with open(path, "w") as file:
        json.dump(made, file)
    code, text = call("run", path, "-o", out, "--quiet", "--overwrite")
    check(code == 0, "a scene runs", text)
    with open(os.path.join(out, "steps.csv")) as file:
        return sum(int(row["newton"]) for row in csv.DictReader(file))


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, scenes in (("impacts", IMPACTS), ("columns that buckle", COLUMNS)):
            taken = [iterations(folder, made) for made, _ in scenes]
            without = [count for _, count in scenes]
            check(sum(taken) <= SAVED * sum(without), "%s: %d iterations in the place of %d" % (name, sum(taken), sum(without)),
                  "%s in the place of %s" % (taken, without))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
