#!/usr/bin/python3
"""drape.py [--cells N ...] [--stiffness K ...]: what the implicit integrator costs: a cloth of 1 m falls onto a sphere.

A grid of N x N cells (0.15 kg/m^2, stretch K N/m, bend 1e-5 N m) starts 5 mm over a sphere of radius 0.3 m; 1 s, steps of 0.04 s,
thickness 3 mm, friction 0.2, on one core, recorded. Prints processor seconds, Newton and linear iterations, contacts, the smallest
distance, and whether the audit proves the run. The figures of docs/reference/implicit.md are its own. If they grow, steps have become dearer, or
converge worse."""
import argparse
import csv
import json
import os
import resource
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.abspath(os.environ.get("TACTUS", os.path.join(HERE, "..", "..", "..", "build", "tactus")))


def scene(cells, stiffness):
    return {"format": "tactus-scene/1", "name": "a cloth over a sphere", "time": {"end": 1, "frame": 0.04}, "gravity": [0, -9.81, 0],
            "contact": {"thickness": 0.003, "friction": 0.2}, "integrator": {"kind": "implicit", "step_s": 0.04},
            "materials": {"cloth": {"density": 0.15, "stretch": {"model": "cst", "stiffness": stiffness, "poisson": 0.3},
                                    "bend": {"model": "hinge", "stiffness": 1e-5}}},
            "bodies": [{"name": "cloth", "material": "cloth", "position": [0, 0.305, 0],
                        "mesh": {"kind": "grid", "size": [1, 1], "cells": [cells, cells]}},
                       {"name": "sphere", "fixed": True, "mesh": {"kind": "sphere", "radius": 0.3, "level": 4}}]}


def measure(folder, cells, stiffness):
    path, out = os.path.join(folder, "drape.json"), os.path.join(folder, "drape.run")
    with open(path, "w") as file:
        json.dump(scene(cells, stiffness), file)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([PROGRAM, "run", path, "-o", out, "--overwrite", "--quiet", "--record"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(os.path.join(out, "steps.csv")) as file:
        steps = list(csv.DictReader(file))
    audit = subprocess.run([PROGRAM, "audit", out], stdout=subprocess.DEVNULL)
    newton, linear = (sum(int(s[key]) for s in steps) for key in ("newton", "linear"))
    contacts = [int(s["contacts"]) for s in steps]
    least = min(float(s["min_distance"]) for s in steps if s["min_distance"] != "nan")
    print("| %d | %g | %.0f | %.1f | %.0f | %d (%d) | %.2g | %s |" % (
        (cells + 1) ** 2, stiffness, after.ru_utime - before.ru_utime, newton / len(steps), linear / newton,
        sum(contacts) / len(contacts), max(contacts), least, "proven" if audit.returncode == 0 else "NOT PROVEN"), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, nargs="+", default=[39, 79])
    parser.add_argument("--stiffness", type=float, nargs="+", default=[500, 1e4])
    given = parser.parse_args()
    print("| vertices | stretch, N/m | processor s | Newton per step | linear per Newton | contacts: mean (most) | smallest distance, m | audit |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for cells in given.cells:
            for stiffness in given.stiffness:
                measure(folder, cells, stiffness)


if __name__ == "__main__":
    main()
