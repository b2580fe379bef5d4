#!/usr/bin/python3
"""pressure.py: contact_pressure is right on both sides of a contact, however coarse one of them is, and the same on 3 ranks.

A block of rubber rests on a plate of 1, 2 and 6 cells, fixed; pressure times area is its weight on either side. If it fails, the pressure on
a coarse plate is the force over areas that nothing touches."""
import json
import os
import sys
import tempfile

import h5py
import numpy

from program import call, check, failures

WEIGHT_PA = 1000 * 10 * 0.1


def scene(cells):
    return {"format": "tactus-scene/1", "time": {"end": 4, "frame": 4}, "gravity": [0, -10, 0], "contact": {"thickness": 0.002},
            "integrator": {"kind": "implicit", "step_s": 0.1, "newton": {"velocity_tol": 1e-7}, "solver": {"tolerance": 1e-8}},
            "materials": {"gel": {"density": 1000, "solid": {"model": "neo-hookean", "youngs": 1e6, "poisson": 0}}},
            "bodies": [{"name": "block", "material": "gel", "position": [0.017, 0.0521, 0.011], "mesh": {"kind": "box", "size": [0.1, 0.1, 0.1], "cells": [8, 2, 8], "fill": "tets"}},
                       {"name": "plate", "fixed": True, "mesh": {"kind": "grid", "size": [0.6, 0.6], "cells": [cells, cells]}}],
            "output": {"fields": ["contact_pressure"]}}


def main():
    with tempfile.TemporaryDirectory() as folder:
        for cells in (1, 2, 6):
            path, out, other = (os.path.join(folder, name) for name in ("scene.json", "run-%d" % cells, "three-%d" % cells))
            with open(path, "w") as file:
                json.dump(scene(cells), file)
            code, text = call("run", path, "-o", out, "--quiet")
            check(code == 0, "plate of %d cells: runs" % cells, text)
            with h5py.File(os.path.join(out, "frames.h5")) as file:
                frame, body = file["frames"]["000001"], file["mesh/body"][()]
                force, pressure = frame["contact_force"][()].astype(float), frame["contact_pressure"][()]
            size = numpy.linalg.norm(force, axis=1)
            side = (body == 1) & (numpy.abs(force[:, 1]) > 1e-3)
            mean = size[side].sum() / (size[side] / pressure[side]).sum()
            worst = pressure[side].max()
            check(side.sum() >= 4 and abs(force[body == 1, 1].sum() / (-0.01 * WEIGHT_PA) - 1) < 1e-3, "plate of %d cells: carries the weight" % cells)
            check(0.85 * WEIGHT_PA < mean < 1.15 * WEIGHT_PA and worst < 2 * WEIGHT_PA,
                  "plate of %d cells: pressure on it %.4g Pa in the mean, %.4g at most; %g" % (cells, mean, worst, WEIGHT_PA))
            side = (body == 0) & (force[:, 1] > 1e-3)
            mean = size[side].sum() / (size[side] / pressure[side]).sum()
            check(0.98 * WEIGHT_PA < mean < 1.02 * WEIGHT_PA, "plate of %d cells: pressure on the block %.4g Pa in the mean" % (cells, mean))
            if cells == 2:
                call("run", path, "-o", other, "--quiet", ranks=3)
                code, text = call("diff", out, other)
                with h5py.File(os.path.join(other, "frames.h5")) as file:
                    same = (file["frames"]["000001"]["contact_pressure"][()] == pressure).all()
                check(code == 0 and same, "the same bits on three ranks", text)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
