"""runs.py: what the scripts of this folder share: calls of the program, checks, and what a run has written."""

import csv
import json
import os
import sys

import h5py

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "implicit"))
from program import TACTUS, call, check, failures  # noqa: E402, F401


def table(folder, name):
    """The rows of energy.csv or steps.csv, by columns."""
    with open(os.path.join(folder, name)) as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


class Run:
    """A run of a scene, proven by the audit, and what it has written: x, v and, of rigid bodies, center, velocity and spin, frame by frame."""

    def __init__(self, folder, what):
        path, self.folder = os.path.join(folder, "scene.json"), os.path.join(folder, "out")
        with open(path, "w") as file:
            json.dump(what, file)
        code, text = call("run", path, "-o", self.folder, "--quiet", "--record", "--overwrite")
        check(code == 0, "runs", text)
        code, text = call("audit", self.folder)
        check(code == 0, "is proven", text)
        self.energy, self.steps = table(self.folder, "energy.csv"), table(self.folder, "steps.csv")
        with h5py.File(os.path.join(self.folder, "frames.h5")) as frames:
            frame = [frames["frames"][name] for name in sorted(frames["frames"])]
            self.x, self.v, self.center, self.velocity, self.spin = (
                [f[field][()] for f in frame if field in f] for field in ("position", "velocity", "rigid_center", "rigid_velocity", "rigid_spin"))

    def keeps_energy(self, part):
        most = max(abs(row["kinetic"]) + abs(row["gravity"]) for row in self.energy)
        return max(abs(row["defect"]) for row in self.energy) <= part * most
