#!/usr/bin/python3
"""starts.py: `tactus repair` finds starts without overlaps: cloth across a fixed sphere, pinned too; a garment that a closed figure
pokes through; layers at distance 0 and nearer than their radii; soft solids in each other; a rope through a ball; a cloth across a
rigid block.  Each result is accepted by `tactus check` and runs; obstacles and pins are where they were, files are of the right
bodies, and a result has nothing left to repair.  What cannot be repaired is code 1 with one sentence, and leaves no file."""
import json
import math
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np

TACTUS = os.environ["TACTUS"]
failures = []
MATERIALS = {"cloth": {"density": 0.2, "stretch": {"model": "cst", "stiffness": 60}, "bend": {"model": "hinge", "stiffness": 1e-5}},
             "jelly": {"density": 1000, "solid": {"model": "neo-hookean", "youngs": 20000, "poisson": 0.3}},
             "rope": {"density": 0.05, "stretch": {"model": "spring", "stiffness": 300}}}
GRID = {"kind": "grid", "size": [0.2, 0.2], "cells": [8, 8]}
WIDE = {"kind": "grid", "size": [0.4, 0.4], "cells": [10, 10]}
BALL = {"name": "ball", "fixed": True, "mesh": {"kind": "sphere", "radius": 0.1, "level": 2}}
SOFT = {"kind": "sphere", "radius": 0.05, "level": 1, "fill": "tets"}
CLOTH = {"name": "cloth", "material": "cloth", "mesh": WIDE, "rotation": [90, 0, 0]}


def check(condition, *what):
    if not condition:
        failures.append(what)


def tactus(*words, code=0):
    ran = subprocess.run([TACTUS, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check(ran.returncode == code, words, ran.returncode, ran.stderr.decode())
    return ran.stdout.decode(), ran.stderr.decode()


def write(name, *bodies, **keys):
    with open(name, "w") as f:
        json.dump({"format": "tactus-scene/1", "time": {"end": 0.01, "frame": 0.01}, "gravity": [0, 0, -9.81], "contact": {"thickness": 0.005, "stiffness": 100},
                   **{"materials": MATERIALS, "bodies": bodies, **keys}}, f)
    return name


def lathe(profile, n, ends):
    """A surface of revolution about z: rings of (radius, height), closed at its ends."""
    v = [[r * math.cos(2 * math.pi * k / n), r * math.sin(2 * math.pi * k / n), z] for r, z in profile for k in range(n)]
    t = []
    for i in range(len(profile) - 1):
        for k in range(n):
            a, b = i * n + k, i * n + (k + 1) % n
            t += [[a, b, b + n], [a, b + n, a + n]]
    if ends:
        v += [[0, 0, profile[0][1]], [0, 0, profile[-1][1]]]
        for k in range(n):
            t += [[len(v) - 2, (k + 1) % n, k], [len(v) - 1, len(v) - 2 - n + k, len(v) - 2 - n + (k + 1) % n]]
    return {"kind": "inline", "vertices": v, "triangles": t}


def repaired(name, moves, most, grows=(), run=True):
    """Repairs; returns the positions of what moved, which must be these bodies, by at most `most` m."""
    check("overlap in" in tactus("check", name, code=2)[1], name, "does not overlap at all")
    out = "done-" + name
    told = json.loads(tactus("repair", name, "-o", out, "--json")[0])
    moved = {b["name"]: b for b in told["bodies"] if b["moved"]}
    check(told["proven"] and told["overlaps"] > 0 and set(moved) == set(moves), name, told)
    check(all(0 < b["mean"] <= b["largest"] <= most for b in moved.values()), name, told)
    check({b["name"] for b in told["bodies"] if b["grown"]} == set(grows), name, told)
    data, x = json.load(open(out)), {}
    for body in data["bodies"]:
        check(("start" in body) == (body["name"] in moved), name, body["name"], "has a start, or none")
        if "start" in body:
            x[body["name"]] = h5py.File(body["start"]["file"])["position"][()]
    tactus("check", out)
    if run:
        tactus("run", out, "-o", name + ".run", "--quiet")
    check("found      0 places" in tactus("repair", out, "-o", "again.json")[0], name, "is to be repaired again")
    check(not [n for n in os.listdir(".") if n.startswith(".tactus")], name, "leaves its folder")
    return x


def refused(name, text, code=1, out="no.json"):
    before = sorted(os.listdir("."))
    said = tactus("repair", name, "-o", out, code=code)[1]
    check(text in said and said.count("\n") == 1, name, said)
    check(sorted(os.listdir(".")) == before, name, "leaves files", os.listdir("."))


def main():
    ball = write("ball.json", {**CLOTH, "position": [0.01, 0.02, 0.09]}, BALL)
    x = repaired(ball, ["cloth"], 0.03, ["ball"])["cloth"]
    check((np.linalg.norm(x, axis=1) > 0.095).all(), "the cloth is outside of the ball", np.linalg.norm(x, axis=1).min())
    pins = write("pins.json", {**CLOTH, "position": [0.01, 0.02, 0.06]}, BALL, motions=[{"body": "cloth", "vertices": [0, 10], "path": [[0, [0, 0, 0]]]}])
    x = repaired(pins, ["cloth"], 0.1, ["ball"])["cloth"]
    check(np.isclose(x[[0, 10], 2], 0.06, atol=1e-12).all() and (abs(x[:, 2] - 0.06) > 0.01).any(), "pins stay", x[[0, 10]])
    tube = lathe([(0.135, 0.05 * k) for k in range(-2, 4)], 24, False)
    figure = lathe([(.05, -.35), (.11, -.3), (.16, -.15), (.12, 0), (.15, .12), (.13, .22), (.05, .27), (.05, .3), (.08, .36), (.06, .43)], 20, True)
    shirt = {"name": "a shirt/1", "material": "cloth", "mesh": tube, "position": [0.01, 0, 0]}
    x = repaired(write("figure.json", shirt, {"name": "figure", "fixed": True, "mesh": figure}), ["a shirt/1"], 0.06, ["figure"])["a shirt/1"]
    check(np.hypot(x[:, 0], x[:, 1]).max() < 0.25 and np.hypot(x[:, 0], x[:, 1]).min() > 0.1, "the shirt is around the figure")
    one, two = ({"name": name, "material": "cloth", "mesh": GRID} for name in ("one", "two"))
    x = repaired(write("layers.json", one, two), ["one", "two"], 0.001)
    check(np.allclose(x["one"][:, [0, 2]], x["two"][:, [0, 2]]) and np.ptp(x["one"][:, 1]) < 1e-9, "layers stay flat")
    repaired(write("radii.json", {**one, "radius": 0.001}, {**two, "radius": 0.001, "position": [0.003, 0.002, 0.001]}), ["one", "two"], 0.002)
    write("soft.json", {"name": "left", "material": "jelly", "mesh": SOFT}, {"name": "right", "material": "jelly", "mesh": SOFT, "position": [0.08, 0.01, 0.005]})
    repaired("soft.json", ["right"], 0.06, ["left"])
    write("rope.json", {"name": "rope", "material": "rope", "radius": 0.004, "mesh": {"kind": "segments", "vertices": [[0.02 * i - 0.3, 0.01, 0.07] for i in range(31)]}}, BALL)
    repaired("rope.json", ["rope"], 0.12, ["ball"])
    block = {"name": "block", "rigid": {"density": 500}, "mesh": {"kind": "box", "size": [0.1, 0.1, 0.1], "cells": [3, 3, 3]}}
    repaired(write("block.json", {**CLOTH, "position": [0.01, 0.02, 0.03]}, block), ["cloth"], 0.06, ["block"])
    # To another folder, from one of its own, whose files it still finds.
    os.makedirs("in/meshes"), os.makedirs("out")
    tactus("mesh", "grid", "--size", "0.4,0.4", "--cells", "10,10", "-o", "in/meshes/cloth.obj")
    write("in/files.json", {**CLOTH, "mesh": {"kind": "file", "path": "meshes/cloth.obj"}, "position": [0.01, 0.02, 0.09]}, BALL)
    tactus("repair", "in/files.json", "-o", "out/files.json")
    tactus("check", "out/files.json")
    check(sorted(os.listdir("out")) == ["files-cloth.h5", "files.json"], os.listdir("out"))
    # What it cannot do.
    refused(write("rigid.json", block, {**block, "name": "other", "position": [0.05, 0.03, 0.02]}), "neither can give way")
    refused(write("wall.json", CLOTH, {"name": "wall", "fixed": True, "mesh": WIDE, "position": [0.003, 0.002, 0.001]}), "no closed surface")
    stiff = json.loads(json.dumps(MATERIALS))
    stiff["cloth"]["stretch"]["limit"] = 0.05
    refused(write("stiff.json", shirt, {"name": "figure", "fixed": True, "mesh": figure}, materials=stiff), "stretch.limit allows less than 1.05")
    # What is wrong.
    refused("none.json", "cannot be opened", code=2)
    refused(ball, "is the scene itself", code=2, out="./ball.json")
    refused(ball, "cannot be written", code=2, out="no/such/folder.json")
    tactus("repair", ball, code=2)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
    os.chdir("/")
for failure in failures:
    print("FAIL", *failure)
sys.exit(bool(failures))
