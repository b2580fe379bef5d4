#!/usr/bin/python3
"""Scenes that no rank reads whole: large grids and large HDF5 meshes run as on one rank, and scenes whose surfaces
overlap are refused with the same sentence and the same overlaps.obj on any number of ranks.

    TACTUS=build/tactus TACTUS_TEST_DEAL=1 tests/ranks/pieces.py
"""
import json
import os
import sys
import tempfile

import launch

trouble = []


def check(good, text):
    if not good:
        trouble.append(text)
        print(text, flush=True)


def scene(*bodies):
    return {"format": "tactus-scene/1", "name": "pieces", "time": {"end": 2e-4, "frame": 1e-4}, "gravity": [0, -9.81, 0],
            "contact": {"thickness": 0.004, "stiffness": 50, "restitution": 0},
            "materials": {"cloth": {"density": 0.2, "stretch": {"model": "cst", "stiffness": 20, "poisson": 0.3},
                                    "bend": {"model": "hinge", "stiffness": 1e-4}}}, "bodies": list(bodies)}


def body(name, mesh, position, **more):
    return {"name": name, "material": "cloth", "mesh": mesh, "position": position, **more}


def grid(cells):
    return {"kind": "grid", "size": [0.01 * cells, 0.01 * cells], "cells": [cells, cells]}


BALL = {"name": "ball", "mesh": {"kind": "sphere", "radius": 0.2, "level": 2}, "fixed": True, "position": [0, -0.202, 0]}
PARTICLES = {"name": "grains", "mass": 1e-3, "radius": 0.001,
             "mesh": {"kind": "points", "vertices": [[0.02 * i, 0.01, 0.03 * i] for i in range(20)]}}
LARGE = 210  # cells: 44521 vertices and 88200 triangles, over the size from which meshes are read or made by blocks
os.environ["TACTUS"] = launch.program()  # it is named from another folder below
home = tempfile.mkdtemp(prefix="pieces-")
os.chdir(home)
made = launch.tactus(1, "mesh", "grid", "--size", "2.1,2.1", "--cells", "%d,%d" % (LARGE, LARGE), "-o", "large.h5")
check(made.code == 0, "mesh: %s" % made)

runs = {"grid": scene(body("sheet", grid(LARGE), [0, 0.01, 0]), PARTICLES | {"position": [0, 0.05, 0]}, BALL),
        "file": scene(BALL, body("sheet", {"kind": "file", "path": "large.h5"}, [0, 0.01, 0], velocity=[0, -1, 0]))}
# Loads that overlap, borders of theirs in every rank's rows.
for what in runs.values():
    what["loads"] = [{"body": "sheet", "pressure": 5, "path": [[0, 0], [1e-4, 1]]},
                     {"body": "sheet", "vertices": {"box": [[-0.5, -1, -2], [0.7, 1, 2]]}, "wind": [1, 20, 0], "drag": 1},
                     {"body": "sheet", "vertices": list(range(100, 44000, 77)), "force": [0, 0, 1e-3]}]
runs["grid"]["loads"].append({"body": "grains", "force": [0, -1e-3, 0]})
for name, what in runs.items():
    with open(name + ".json", "w") as file:
        json.dump(what, file)
    one = launch.tactus(1, "run", name + ".json", "-o", name + "-1.run", "--quiet")
    check(one.code == 0, "%s, one rank: %s" % (name, one))
    for ranks in (3,):
        folder = "%s-%d.run" % (name, ranks)
        many = launch.tactus(ranks, "run", name + ".json", "-o", folder, "--quiet")
        check(many.code == 0, "%s, %d ranks: %s" % (name, ranks, many))
        if many.code == one.code == 0:
            differs = launch.difference(name + "-1.run", folder, 120)
            check(not differs, "%s, %d ranks: %s" % (name, ranks, differs))

# A few vertices, which rank 0 looks at; many, which all do; many of a mesh that no rank has.
tilted = {"rotation": [30, 0, 0]}
refused = {"few": scene(body("sheet", grid(8), [0, 0, 0]), body("other", grid(8), [0, 0, 0], **tilted)),
           "many": scene(body("sheet", grid(70), [0, 0, 0]), body("other", grid(70), [0.003, 0, 0.002], **tilted)),
           "large": scene(BALL | {"position": [0.3, 0, 0.3]}, PARTICLES | {"position": [0, -0.0095, 0]},
                          body("sheet", {"kind": "file", "path": "large.h5"}, [0, 0, 0]))}
for name, what in refused.items():
    with open(name + ".json", "w") as file:
        json.dump(what, file)
    seen = []
    for ranks in (1, 2, 3):
        result = launch.tactus(ranks, "run", name + ".json", "-o", name + ".run", "--quiet")
        check(result.code == 2 and len(set(result.sentences)) == 1 and "overlap in" in result.sentences[0],
              "%s, %d ranks: %s" % (name, ranks, result))
        with open(name + ".run/overlaps.obj") as file:
            seen.append((result.sentences[:1], file.read()))
        os.remove(name + ".run/overlaps.obj")
        check(seen[0][0] == seen[-1][0], "%s, %d ranks: %s; on one: %s" % (name, ranks, seen[-1][0], seen[0][0]))
        check(seen[0][1] == seen[-1][1], "%s, %d ranks: another overlaps.obj than on one" % (name, ranks))
    print("%s: %s" % (name, seen[0][0][0][:150]))
# A line of vertices, which makes no triangle.
line = {"body": "sheet", "vertices": {"box": [[0.096, -1, -2], [0.104, 1, 2]]}, "pressure": 5}
with open("line.json", "w") as file:
    json.dump(scene(body("sheet", grid(LARGE), [0, 0.01, 0])) | {"loads": [line]}, file)
for ranks in (1, 2, 3):
    result = launch.tactus(ranks, "run", "line.json", "-o", "line.run", "--quiet")
    check(result.code == 2 and len(set(result.sentences)) == 1 and "loads[0]: selects no whole triangle" in result.sentences[0],
          "line, %d ranks: %s" % (ranks, result))
if not trouble:
    for folder, _, files in os.walk(home, topdown=False):
        for file in files:
            os.remove(os.path.join(folder, file))
        os.rmdir(folder)
sys.exit(1 if trouble else 0)
