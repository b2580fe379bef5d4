#!/usr/bin/python3
"""tactus export: which frames, and what is in the files, read back bit for bit by small readers written from the formats'
definitions and by tactus itself.  If this fails, pictures and further work are made from other shapes than were computed."""
import json

import h5py
import numpy as np

from common import *

must_write_all([["a.run", "--frames", 12], ["late.run", "--first", 5, "--frames", 3], ["points.run", "--kind", "points", "--frames", 1],
                ["ropes.run", "--kind", "segments", "--frames", 1], ["none.run", "--frames", 0]])


def export(*arguments):
    return tactus("export", *arguments)


def chosen(run, text):
    call("rm", "-rf", "o")
    r = export(run, "-o", "o", "--frames", text)
    if r.code:
        refused(r, 2)
        check(not os.path.exists("o"), "nothing is made")
        return None
    names = sorted(os.listdir("o"))
    check(all(n.startswith("frame-") and n.endswith(".ply") for n in names), "names: %s" % names)
    check(r.out == "o: %d ply files\n" % len(names), "told: " + r.out)
    return [int(n[6:-4]) for n in names]


every = list(range(12))
for text, frames in (("all", every), ("last", [11]), ("3", [3]), ("0:11", every), ("2:4", [2, 3, 4]), ("0:5:10", [0, 5, 10]), ("1:5:11", [1, 6, 11]),
                     ("0:10:100", [0, 10]), ("9:", [9, 10, 11]), (":1", [0, 1]), ("::4", [0, 1, 2, 3, 4]), (":4:", [0, 4, 8]), ("-1", [11]), ("-2:", [10, 11]),
                     ("1:-10", [1, 2]), ("0,4,-1", [0, 4, 11]), ("0:2,1:3", [0, 1, 2, 3]), (":", every)):
    check(chosen("a.run", text) == frames, "--frames %s gives %s" % (text, chosen("a.run", text)))
for text in ("12", "-13", "20:", "3:2", "0:0:5", "0:10:5", "0:-1:5", "a", "", ",", "1,", "1,,2", "1:2:3:4", "1.5", "99999999999999999999", "1 ", "all,1", "0x1"):
    check(chosen("a.run", text) is None, "--frames %r is refused" % text)
check(chosen("late.run", "5:2:7") == [5, 7] and chosen("late.run", "0:6") == [5, 6] and chosen("late.run", "-1") == [7], "frames are named by their index")
check(chosen("late.run", "0") is None and chosen("none.run", "all") is None, "frames that are not there")


def read_obj(path):
    x, elements, names = [], {"f": [], "l": [], "p": []}, []
    for line in open(path, encoding="utf-8"):
        word = line.split()
        if word[0] == "v":
            x.append([float(w) for w in word[1:]])
        elif word[0] == "o":
            names.append(word[1])
        elif word[0] in elements:
            elements[word[0]].append([int(w) - 1 for w in word[1:]])
    return np.array(x), elements, names


def read_ply(path):
    data = open(path, "rb").read()
    head, body = data.split(b"end_header\n", 1)
    head = head.decode().splitlines()
    check(head[0] == "ply" and head[1] == "format binary_little_endian 1.0", "head of %s" % path)
    sizes = {l.split()[1]: int(l.split()[2]) for l in head if l.startswith("element")}
    properties = [l.split()[1:] for l in head if l.startswith("property") and "list" not in l and "vertex1" not in l and "vertex2" not in l]
    vertex = np.dtype([(n, {"double": "<f8", "float": "<f4", "int": "<i4"}[t]) for t, n in properties])
    at = 0
    arrays = {}
    for name, kind in (("vertex", vertex), ("face", np.dtype([("n", "u1"), ("v", "<i4", 3)])), ("edge", np.dtype([("v", "<i4", 2)]))):
        arrays[name] = np.frombuffer(body, kind, sizes.get(name, 0), at)
        at += arrays[name].nbytes
    check(at == len(body), "no bytes are left in " + path)
    return arrays


for run in ("a.run", "points.run", "ropes.run"):
    for form in ("obj", "ply"):
        check(export(run, "-o", "all-" + run, "--format", form).code == 0, "export")
    with h5py.File(run + "/frames.h5", "r") as f:
        mesh = {k: f["mesh/" + k][()] for k in ("triangles", "segments", "points", "body")}
        for name, g in f["frames"].items():
            x, elements, names = read_obj("all-%s/frame-%s.obj" % (run, name))
            check(np.array_equal(x, g["position"][()]), "OBJ positions to the last bit")
            for letter, kind, width in (("f", "triangles", 3), ("l", "segments", 2), ("p", "points", 1)):
                check(np.array_equal(np.array(elements[letter], "i8").reshape(-1, width), mesh[kind].reshape(-1, width)), "OBJ " + kind)
            check(names == {"a.run": ["sheet", "rope", "gäs"], "points.run": ["gäs"], "ropes.run": ["rope"]}[run], "OBJ objects: %s" % names)
            a = read_ply("all-%s/frame-%s.ply" % (run, name))
            for fields, dataset in (("x y z", "position"), ("vx vy vz", "velocity"), ("fx fy fz", "contact_force")):
                check(np.array_equal(np.stack([a["vertex"][n] for n in fields.split()], 1), g[dataset][()]), "PLY " + dataset)
            check(np.array_equal(a["vertex"]["body"], mesh["body"]), "PLY body")
            check(np.array_equal(a["face"]["v"], mesh["triangles"]) and (a["face"]["n"] == 3).all(), "PLY triangles")
            check(np.array_equal(a["edge"]["v"], mesh["segments"]), "PLY segments")
for run in ("points.run", "ropes.run"):
    for form in ("obj", "ply"):
        r = tactus("info", "all-%s/frame-000000.%s" % (run, form), "--json")
        o = json.loads(r.out)
        with h5py.File(run + "/frames.h5", "r") as f:
            x = f["frames/000000/position"][()]
        check(o["vertices"] == 300 and o["segments"] == (299 if run == "ropes.run" else 0), "tactus reads it: %s %s" % (r.out, r.err))
        check(o["box"] == {"low": list(x.min(0)), "high": list(x.max(0))}, "to the last bit")

# The command line.
refused(export("a.run"), 2, "-o DIR2")
refused(export("-o", "x"), 2, "needs a run folder")
refused(export("a.run", "-o", "x", "--format", "stl"), 2, "obj, ply, vtu, vtp, gltf, usda or vtkhdf, not 'stl'")
refused(export("nowhere", "-o", "x"), 2, "nowhere")
check(not os.path.exists("x"), "nothing is made")
refused(export("a.run", "-o", "all-a.run"), 2, "all-a.run/frame-000000.ply' exists", "--overwrite")
check(export("a.run", "-o", "all-a.run", "--overwrite").code == 0, "--overwrite")
open("file", "w").write("mine")
refused(export("a.run", "-o", "file"), 2, "'file' is a file")
refused(export("a.run", "-o", "no/such/place"), 2, "no/such/place.*No such file")
finish()
