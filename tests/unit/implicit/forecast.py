#!/usr/bin/python3
"""forecast.py: what `tactus check` foretells of implicit runs, against the runs: steps exactly, Newton iterations, memory, frames and record
within the factors that docs/forecast.md states.

If it fails, users plan with numbers that are wrong."""

import csv
import json
import os
import subprocess
import sys
import tempfile

from program import TACTUS, check, failures

BASE = {"format": "tactus-scene/1", "time": {"end": 0.4, "frame": 0.04}, "gravity": [0, -9.81, 0], "contact": {"thickness": 0.004, "friction": 0.2},
        "integrator": {"kind": "implicit", "step_s": 0.02}}
CLOTH = {"materials": {"cloth": {"density": 0.15, "stretch": {"model": "cst", "stiffness": 1000, "poisson": 0.3}, "bend": {"model": "hinge", "stiffness": 1e-5}}},
         "bodies": [{"name": "cloth", "material": "cloth", "position": [0, 0.107, 0], "mesh": {"kind": "grid", "size": [0.5, 0.5], "cells": [16, 16]}},
                    {"name": "ball", "fixed": True, "mesh": {"kind": "sphere", "radius": 0.1, "level": 2}}]}
MAT = {"materials": {"gel": {"density": 1000, "solid": {"model": "neo-hookean", "youngs": 2e4, "poisson": 0.4}}},
       "bodies": [{"name": "mat", "material": "gel", "position": [0, 0.04, 0], "mesh": {"kind": "box", "size": [0.4, 0.05, 0.4], "cells": [12, 2, 12], "fill": "tets"}},
                  {"name": "knife", "fixed": True, "mesh": {"kind": "inline", "vertices": [[0, 0, -0.3], [0, 0, 0.3], [0, -0.3, 0]], "triangles": [[0, 1, 2]]}}]}


def solid(folder, name, scene):
    """Without a record memory is what the solid takes: with its 1014 tetrahedra and the program itself, within the factor that is stated."""
    path, out = os.path.join(folder, name + ".json"), os.path.join(folder, name + ".run")
    with open(path, "w") as file:
        json.dump(scene, file)
    told = json.loads(subprocess.run([TACTUS, "check", path, "--json"], stdout=subprocess.PIPE, check=True).stdout)["forecast"]["memory"]
    subprocess.run([TACTUS, "run", path, "-o", out, "--quiet"], check=True)
    with open(os.path.join(out, "run.json")) as file:
        memory = json.load(file)["peak_memory_bytes"]
    check(0.5 < memory / told < 2 or "ASAN_OPTIONS" in os.environ, "%s: %.0f MB, %.0f foretold: %.2f" % (name, memory / 1e6, told / 1e6, memory / told))


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, scene in (("cloth", CLOTH), ("mat", MAT)):
            path, out = os.path.join(folder, name + ".json"), os.path.join(folder, name + ".run")
            with open(path, "w") as file:
                json.dump({**BASE, **scene}, file)
            told = json.loads(subprocess.run([TACTUS, "check", path, "--json"], stdout=subprocess.PIPE, check=True).stdout)["forecast"]
            text = subprocess.run([TACTUS, "check", path, "--details"], stdout=subprocess.PIPE, check=True, text=True).stdout
            subprocess.run([TACTUS, "run", path, "-o", out, "--quiet", "--record"], check=True)
            with open(os.path.join(out, "steps.csv")) as file:
                steps = list(csv.DictReader(file))
            with open(os.path.join(out, "run.json")) as file:
                memory = json.load(file)["peak_memory_bytes"]
            newton = sum(int(s["newton"]) for s in steps) / len(steps)
            check(told["steps"] == len(steps) == 20 and "\nforecast   20 steps" in text, "%s: %d steps" % (name, len(steps)))
            check(told["newton"]["least"] <= newton <= told["newton"]["most"], "%s: %.1f Newton iterations a step, %g foretold" %
                  (name, newton, told["newton"]["likely"]))
            most = told["memory"] + told["memory_record"]
            check(0.5 < memory / most < 2 or "ASAN_OPTIONS" in os.environ, "%s: %.0f MB, %.0f foretold" % (name, memory / 1e6, most / 1e6))
            for what, file in (("frames", "frames.h5"), ("record", "record.h5")):
                size = os.path.getsize(os.path.join(out, file))
                check(0.2 < size / told["disk"][what] < 5, "%s: %s of %.0f kB, %.0f foretold" % (name, file, size / 1e3, told["disk"][what] / 1e3))
            check(told["wall_s"]["least"] < told["wall_s"]["likely"] < told["wall_s"]["most"], "%s: about %.2g s" % (name, told["wall_s"]["likely"]))
        mat = json.loads(json.dumps({**BASE, **MAT, "time": {"end": 0.1, "frame": 0.04}}))
        mat["bodies"][0]["mesh"]["cells"] = [13, 1, 13]
        solid(folder, "a solid that rests on an edge", mat)
        solid(folder, "a solid without contact", {**mat, "contact": {"thickness": 0}})
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
