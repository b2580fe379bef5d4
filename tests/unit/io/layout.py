#!/usr/bin/python3
"""The run folder as docs/reference/run-folder.md promises it, read back with h5py and plain Python.
If this fails, scripts and ParaView states that users wrote against the format break."""
import csv
import json
import math
import struct
import xml.etree.ElementTree as ElementTree

import h5py
import numpy as np

from common import *

HEADER = ("time,kinetic,gravity,stretch,bend,contact,total,dissipated,work,defect,momentum_x,momentum_y,momentum_z,"
          "angular_momentum_x,angular_momentum_y,angular_momentum_z,friction_couple_x,friction_couple_y,friction_couple_z,"
          "contacts,deepest_layer,min_distance,dissipated_friction,dissipated_restitution,dissipated_damping,"
          "dissipated_plasticity")




def dataset(group, name, kind, shape, units=None, chunked=True):
    d = group[name]
    check(d.dtype == np.dtype(kind), "%s has type %s" % (d.name, d.dtype))
    check(d.shape == shape, "%s has shape %s" % (d.name, d.shape))
    if units is not None:
        check(d.attrs["units"].decode() == units, "%s has units %s" % (d.name, d.attrs["units"]))
    if chunked and shape[0] > 0:
        check(d.shuffle and d.compression == "gzip" and d.fletcher32, "%s is not compressed with checksums" % d.name)
    return d[()]


def read(folder, kind, vertices, frames):
    third = vertices // 3 if kind == "mixed" else vertices
    sizes = [third if kind in ("mixed", k) else 0 for k in ("triangles", "segments", "points")]
    total = sum(sizes)
    with h5py.File(folder + "/frames.h5", "r") as f:
        check(sorted(f) == ["frames", "mesh"], "groups %s" % sorted(f))
        check(f.attrs["format"].decode() == "tactus-frames/1", "format")
        check(f.attrs["scene_sha256"].decode() == "a" * 64, "hash")
        check(f.attrs["name"].decode() == 'a <made-up> & "mixed" scene', "name")
        mesh = f["mesh"]
        names = ["body", "body_names", "free", "points", "radius", "segments", "triangles"] + (["cells"] if kind == "mixed" else [])
        check(sorted(mesh) == sorted(names), "mesh holds %s" % sorted(mesh))
        first = 0
        expected = {"triangles": np.empty((0, 3), "i8"), "segments": np.empty((0, 2), "i8"), "points": np.empty(0, "i8")}
        bodies = []
        for name, n in zip(("triangles", "segments", "points"), sizes):
            ids = np.arange(first, first + n)
            if n and name == "triangles":
                expected[name] = np.stack([ids[:-2], ids[1:-1], ids[2:]], 1)
            elif n and name == "segments":
                expected[name] = np.stack([ids[:-1], ids[1:]], 1)
            elif n:
                expected[name] = ids
            if n:
                bodies.append((name, n))
            first += n
        for name in expected:
            check(np.array_equal(dataset(mesh, name, "i8", expected[name].shape), expected[name]), name)
        check(np.array_equal(dataset(mesh, "body", "i4", (total,)), np.repeat(range(len(bodies)), [n for _, n in bodies])), "body")
        called = {"triangles": "sheet", "segments": "rope", "points": "gäs"}
        radius = {"triangles": 0, "segments": .01, "points": .02}
        check([n.decode() for n in mesh["body_names"][()]] == [called[k] for k, _ in bodies], "body names")
        check(np.array_equal(dataset(mesh, "radius", "f8", (total,), "m"), np.repeat([radius[k] for k, _ in bodies], [n for _, n in bodies])), "radius")
        free = np.concatenate([np.arange(n) % 3 != 1 for _, n in bodies] or [np.empty(0, bool)])
        check(np.array_equal(dataset(mesh, "free", "u1", (total,)), free), "free")
        check(list(f["frames"]) == ["%06d" % k for k in range(frames)], "frames %s" % list(f["frames"]))
        for k in range(frames):
            g = f["frames/%06d" % k]
            check(sorted(g) == ["contact_force", "position", "time", "velocity"], "a frame holds %s" % sorted(g))
            check(g["time"].dtype == np.dtype("f8") and g["time"].shape == () and g["time"][()] == .125 * k, "time")
            check(g["time"].attrs["units"].decode() == "s", "time's unit")
            x = dataset(g, "position", "f8", (total, 3), "m")
            v = dataset(g, "velocity", "f8", (total, 3), "m/s")
            force = dataset(g, "contact_force", "f4", (total, 3), "N")
            # Made-up motion: x = a + t, f = b + t with a and b fixed and in 0..1; v in -.5 .. .5 fixed.
            if k == 0:
                x0, v0 = x, v
                check((force == 0).all() and (0 <= x).all() and (x < 1).all() and len(np.unique(x)) == x.size, "first frame")
            check(np.array_equal(x, x0 + .125 * k) and np.array_equal(v, v0), "frame %d of %s" % (k, folder))
            if k > 0:
                fraction = force - np.float32(.125 * k)
                check((fraction >= -1e-6).all() and (fraction <= 1 + 1e-6).all() and np.ptp(force) > .5, "forces")
        return expected, total


def xdmf(folder, kind, expected, total, frames):
    root = ElementTree.parse(folder + "/frames.xdmf").getroot()
    collection = root.find("Domain/Grid")
    check(collection.get("CollectionType") == "Temporal" and collection.get("GridType") == "Collection", "a temporal collection")
    grids = collection.findall("Grid")
    check(len(grids) == frames, "%d grids" % len(grids))
    count = sum(len(e) for e in expected.values())
    with h5py.File(folder + "/frames.h5", "r") as f:
        for k, grid in enumerate(grids):
            check(float(grid.find("Time").get("Value")) == f["frames/%06d/time" % k][()], "time of a grid")
            topology = grid.find("Topology")
            check(int(topology.get("NumberOfElements")) == count, "elements")
            wanted = {"Geometry": "/frames/%06d/position" % k, "velocity": "/frames/%06d/velocity" % k,
                      "contact_force": "/frames/%06d/contact_force" % k, "body": "/mesh/body", "radius": "/mesh/radius"}
            found = {"Geometry": grid.find("Geometry/DataItem")}
            found.update((a.get("Name"), a.find("DataItem")) for a in grid.findall("Attribute"))
            check(set(found) == set(wanted), "attributes %s" % sorted(found))
            for name, item in list(found.items()) + [("topology", topology.find("DataItem"))]:
                file, path = item.text.split(":")
                check(file == "frames.h5" and path == wanted.get(name, path), "%s is %s" % (name, item.text))
                d = f[path]
                shape = tuple(int(n) for n in item.get("Dimensions").split())
                check(shape == d.shape or shape == d.shape + (1,), "%s: %s for %s" % (path, shape, d.shape))
                check(int(item.get("Precision")) == d.dtype.itemsize, "precision of " + path)
                check(item.get("NumberType") == {"f": "Float", "i": "Int"}[d.dtype.kind], "type of " + path)
        path = topology.find("DataItem").text.split(":")[1]
        if kind != "mixed":
            check(path == "/mesh/" + kind, "topology " + path)
            check(topology.get("TopologyType") == {"triangles": "Triangle", "segments": "Polyline", "points": "Polyvertex"}[kind], "type")
            return
        cells = f[path][()]
        at, got = 0, {"triangles": [], "segments": [], "points": []}
        while at < len(cells):  # XDMF's mixed topology: 4: triangle; 2 n: polyline; 1 n: polyvertex
            if cells[at] == 4:
                got["triangles"].append(cells[at + 1:at + 4])
                at += 4
            elif cells[at] == 2 and cells[at + 1] == 2:
                got["segments"].append(cells[at + 2:at + 4])
                at += 4
            elif cells[at] == 1 and cells[at + 1] == 1:
                got["points"].append(cells[at + 2])
                at += 3
            else:
                check(False, "odd cell %s" % cells[at:at + 4])
                break
        for name in got:
            check(np.array_equal(np.array(got[name]), expected[name]), "cells: " + name)


def small_files(folder, frames):
    text = open(folder + "/energy.csv").read()
    check(text.splitlines()[0] == HEADER, "header of energy.csv")
    check("-nan" not in text and text.endswith("\n"), "energy.csv ends its lines and has no -nan")
    rows = list(csv.DictReader(text.splitlines()))
    check(len(rows) == frames, "rows")
    for k, row in enumerate(rows):
        t = .125 * k
        check(float(row["time"]) == t and float(row["kinetic"]) == 1 / 3 + t, "row %d" % k)
        check(row["gravity"] == "-0" and float(row["momentum_y"]) == .2 and float(row["friction_couple_y"]) == -1e300, "row %d" % k)
        check(row["contacts"] == str(k) and row["deepest_layer"] == str(k % 3), "row %d" % k)
        check(row["min_distance"] == "nan" if k % 2 == 0 else float(row["min_distance"]) == 1e-3 / 3, "min_distance")
    run = json.load(open(folder + "/run.json"))
    for key in ("version", "commit", "scene_sha256", "ranks", "options", "counters", "wall_s", "book_residual"):
        check(key in run, "run.json has no " + key)
    check(run["counters"]["committed"]["penalty"] == 123456789012 and run["book_residual"] == 1e-15, "run.json")
    status = json.load(open(folder + "/status.json"))
    for key in ("state", "time", "end", "share", "speed", "wall_left_s", "restarts", "checkpoint", "error"):
        check(key in status, "status.json has no " + key)
    check(status["state"] == "finished" and status["time"] == .125 * (frames - 1) and status["end"] == 1, "status.json")
    check(json.load(open(folder + "/scene.json")) == {"format": "tactus-scene/1", "time": {"end": 1.0}}, "scene.json")
    left = [n for n in os.listdir(folder) if n not in
            ("status.json", "run.json", "scene.json", "frames.h5", "frames.xdmf", "frames.vtkhdf", "energy.csv")]
    check(left == [], "left over: %s" % left)


RUNS = (("mixed.run", "mixed", 300, 5), ("triangles.run", "triangles", 40000, 3), ("segments.run", "segments", 7, 2),
        ("deep/er/points.run", "points", 1, 1))
must_write_all([[folder, "--kind", kind, "--vertices", vertices, "--frames", frames] for folder, kind, vertices, frames in RUNS])
for folder, kind, vertices, frames in RUNS:
    expected, total = read(folder, kind, vertices, frames)
    xdmf(folder, kind, expected, total, frames)
    small_files(folder, frames)

# Long runs rewrite the index less often, but it is whole at the end.
must_write("long.run", "--vertices", 3, "--frames", 600, "--kind", "points")
check(open("long.run/frames.xdmf").read().count("<Time") == 600, "an index of 600 frames")
finish()
