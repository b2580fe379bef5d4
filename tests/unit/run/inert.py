#!/usr/bin/python3
"""inert.py: checkpoints of one instant are equal for `tactus diff`, however contacts were found and by however many ranks.

Which pairs are watched that never acted depends on that; they change nothing.  A failure means that a user takes two equal states for different
ones."""
import json
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np

TACTUS = os.environ["TACTUS"]
SCENE = {"format": "tactus-scene/1", "time": {"end": 0.5, "frame": 0.01}, "gravity": [0, -9.81, 0], "contact": {"thickness": 0.01},
         "materials": {"cloth": {"density": 0.2, "stretch": {"model": "cst", "stiffness": 100}}},
         "bodies": [{"name": "sheet", "material": "cloth", "mesh": {"kind": "grid", "size": [0.2, 0.2], "cells": [6, 6]}}],
         "motions": [{"body": "sheet", "vertices": [0, 2], "path": [[0, [0, 0, 0]]]}]}
RUNS = {"one": (1, []), "two": (2, []), "kds": (1, ["--discover", "kds"]), "all": (1, ["--discover", "all-pairs"])}


def must(true, text):
    if not true:
        sys.exit(text)


with tempfile.TemporaryDirectory(prefix="tactus-inert-") as folder:
    os.chdir(folder)
    with open("scene.json", "w") as file:
        json.dump(SCENE, file)
    inert = {}
    for name, (ranks, options) in RUNS.items():
        launch = ["mpirun", "-q", "--bind-to", "none", "-n", str(ranks)] if ranks > 1 else []
        subprocess.run(launch + [TACTUS, "run", "scene.json", "-o", name, "--quiet"] + options, check=True)
        with h5py.File(name + "/checkpoint.h5") as file:
            inert[name] = set(file["pair_key"][:][np.array([g > 0 for g in file["pair_layer_groups"][:]])]) if "pair_key" in file else set()
    must(len(set(map(frozenset, inert.values()))) > 1, "all runs watch the same pairs: this test looks at nothing")
    for name in RUNS:
        diff = subprocess.run([TACTUS, "diff", "one/checkpoint.h5", name + "/checkpoint.h5"], capture_output=True, text=True)
        must(diff.returncode == 0, name + ": " + diff.stdout + diff.stderr)
    os.chdir("/")
