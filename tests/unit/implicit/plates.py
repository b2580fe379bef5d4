#!/usr/bin/python3
"""plates.py: plates that a motion moves, and that what they press stops for some iterates, give the same bits on 1, 2, 3 and 5 ranks.

Two plates of two triangles each, of different owners on several ranks, press a block, a rope and a rigid ball together, with friction.
If it fails, the owner of a plate does not add what other ranks send it of the plate's pairs as one rank would."""

import csv
import json
import os
import sys
import tempfile

from program import call

SCENE = {
    "format": "tactus-scene/1", "time": {"end": 0.1, "frame": 0.02}, "gravity": [0, -9.81, 0],
    "contact": {"thickness": 0.004, "friction": 0.4},
    "integrator": {"kind": "implicit", "step_s": 0.02, "friction": {"lags": 1}},
    "materials": {"gel": {"density": 800, "solid": {"model": "neo-hookean", "youngs": 2e4, "poisson": 0.3}},
                  "rope": {"density": 0.05, "stretch": {"model": "spring", "stiffness": 200}}},
    "bodies": [
        {"name": "block", "material": "gel", "mesh": {"kind": "box", "size": [0.2, 0.1, 0.2], "cells": [5, 2, 5], "fill": "tets"}},
        {"name": "rope", "material": "rope", "position": [0.01, 0.056, -0.02], "rotation": [0, 30, 0],
         "mesh": {"kind": "segments", "from": [-0.08, 0, 0], "to": [0.08, 0, 0], "cells": 8}},
        {"name": "ball", "rigid": {"density": 500}, "position": [0.135, 0, 0.01], "mesh": {"kind": "sphere", "radius": 0.03, "level": 1}},
        {"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [0.5, 0.5], "cells": [1, 1]}, "position": [0, -0.055, 0]},
        {"name": "lid", "mesh": {"kind": "grid", "size": [0.3, 0.3], "cells": [1, 1]}, "position": [0, 0.065, 0]},
        {"name": "wall", "mesh": {"kind": "grid", "size": [0.06, 0.3], "cells": [1, 1]}, "position": [0.172, 0, 0], "rotation": [0, 0, 90]}],
    "motions": [{"body": "lid", "path": [[0, [0, 0, 0]], [0.1, [0.01, -0.03, 0]]]},
                {"body": "wall", "path": [[0, [0, 0, 0]], [0.1, [-0.03, 0, 0]]]}],
    "output": {"reactions": True, "contacts": True}}


def must(ok, what, text):
    if not ok:
        print("FAILED  %s\n%s" % (what, text))
        sys.exit(1)


def main():
    with tempfile.TemporaryDirectory() as folder:
        scene = os.path.join(folder, "scene.json")
        with open(scene, "w") as file:
            json.dump(SCENE, file)
        one = os.path.join(folder, "1")
        for ranks in (1, 2, 3, 5):
            # On 3 ranks vertices get random owners after each step, so that owners of plates have pairs of the plates themselves.
            how = {"TACTUS_TEST_MIGRATE": "1"} if ranks == 3 else {}
            code, text = call("run", scene, "-o", os.path.join(folder, str(ranks)), "--quiet", ranks=ranks, **how)
            must(code == 0, "%d ranks: exit code %d" % (ranks, code), text)
            code, text = call("diff", one, os.path.join(folder, str(ranks)))
            must(code == 0, "one rank and %d differ" % ranks, text)
            first, other = (open(os.path.join(folder, name, "reactions.csv")).read() for name in ("1", str(ranks)))
            must(first == other, "one rank and %d have other reactions" % ranks, other)
        with open(os.path.join(one, "steps.csv")) as file:
            rows = list(csv.DictReader(file))
        stopped = sum(float(row["share_min"]) < 1 for row in rows)
        must(stopped >= 3, "the plates are stopped in %d steps only" % stopped, str(rows))
        print("ok      plates are stopped in %d of %d steps; the same bits on 1, 2, 3 and 5 ranks" % (stopped, len(rows)))


if __name__ == "__main__":
    main()
