#!/usr/bin/python3
"""whole.py: files of a whole run: frames.vtkhdf in the run folder, and tactus export --format vtkhdf and usda.

frames.vtkhdf is read by the format's specification with h5py, step by step, and is the run to the last bit; VTK's own reader, where it is installed,
reads files of one step.  The file is small, also goes with its folder, and is anew after a restart.  USD is parsed again by an own parser that knows
the grammar of what is written; every vertex of every frame is found again, through the transforms of bodies that keep their shape.  A failure means
that ParaView or a program of films shows something else than the run, or nothing."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

TACTUS = os.environ["TACTUS"]
AWKWARD = "2. \"sheet\" \\ größe"
CLOTH = {"density": 0.2, "stretch": {"model": "cst", "stiffness": 60, "poisson": 0.3}}
FREE = {"format": "tactus-scene/1", "name": "bodies \"of\" all kinds", "time": {"end": 0.105, "frame": 0.01}, "gravity": [0, 0, -9.81], "contact": {"thickness": 0.004, "stiffness": 50},
        "units": {"length": "mm", "mass": "kg", "time": "ms"},
        "materials": {"cloth": CLOTH, "string": {"stretch": {"model": "spring", "stiffness": 5}}, "rubber": {"density": 1000, "solid": {"model": "neo-hookean", "youngs": 1e4, "poisson": 0.3}}},
        "bodies": [{"name": AWKWARD, "material": "cloth", "position": [0, 0.125, 0], "mesh": {"kind": "grid", "size": [0.2, 0.2], "cells": [3, 3]}},
                   {"name": "still", "fixed": True, "mesh": {"kind": "sphere", "radius": 0.05, "level": 1}, "position": [2, 0, 0]},
                   {"name": "die", "rigid": {"density": 1200}, "position": [3, 0, 0], "velocity": [0.1, 0.2, 0.3], "angular_velocity": [30, 10, 5], "mesh": {"kind": "cube", "edge": 0.02}},
                   {"name": "rope", "material": "string", "mass": 0.001, "radius": 0.002, "position": [4, 0.2, 0], "mesh": {"kind": "segments", "from": [-0.1, 0, 0], "to": [0.1, 0.01, 0], "cells": 3}},
                   {"name": "pill", "material": "string", "mass": 0.001, "position": [5, 0, 0], "velocity": [0, 1, 0], "mesh": {"kind": "capsule", "radius": 0.01, "length": 0.05}},
                   {"name": "marble", "mass": 0.001, "position": [6, 0, 0], "velocity": [0, 1, 0], "mesh": {"kind": "ball", "radius": 0.02}},
                   {"name": "sand", "mass": 0.0001, "radius": 0.004, "mesh": {"kind": "points", "vertices": [[7, 0, 0], [7, 0.02, 0]]}},
                   {"name": "dust", "mass": 0.0001, "mesh": {"kind": "points", "vertices": [[8, 0, 0], [8, 0.02, 0]]}},
                   {"name": "block", "material": "rubber", "position": [9, 0, 0], "mesh": {"kind": "box", "size": [0.1, 0.1, 0.1], "cells": [1, 1, 1], "fill": "tets"}}],
        "motions": [{"body": AWKWARD, "vertices": [0], "path": [[0, [0, 0, 0]], [0.05, [0.01, 0, 0.01]]]}],
        "output": {"fields": ["strain", "contact_pressure", "rank"], "contacts": True}}


def must(true, text):
    if not true:
        sys.exit(text)


def tactus(*arguments, ranks=1, code=0):
    words = ([] if ranks == 1 else ["mpirun", "-q", "--bind-to", "none", "-n", str(ranks)]) + [TACTUS, *arguments]
    done = subprocess.run(words, capture_output=True, text=True)
    must(done.returncode == code, "%s: %d instead of %d\n%s" % (arguments, done.returncode, code, done.stderr))
    return done.stderr


def write(name, scene):
    with open(name, "w") as file:
        json.dump(scene, file)


# ---- VTKHDF ----

def step_of(file, k):
    """Step k as the specification says: points, cells [(type, vertices)], fields on points and on cells."""
    root, steps = file["VTKHDF"], file["VTKHDF/Steps"]
    part = steps["PartOffsets"][k]
    must(steps["NumberOfParts"][k] == 1 and steps["CellOffsets"].shape == (steps.attrs["NSteps"], 1), "parts")
    points, cells, corners = (int(root[name][part]) for name in ("NumberOfPoints", "NumberOfCells", "NumberOfConnectivityIds"))
    at, cell, corner = int(steps["PointOffsets"][k]), int(steps["CellOffsets"][k, 0]), int(steps["ConnectivityIdOffsets"][k, 0])
    offsets = root["Offsets"][cell:cell + cells + 1]
    connectivity, types = root["Connectivity"][corner:corner + corners], root["Types"][cell:cell + cells]
    must(offsets[0] == 0 and offsets[-1] == corners and len(types) == cells, "offsets of cells")
    fields = []
    for data, starts, rows in (("PointData", "PointDataOffsets", points), ("CellData", "CellDataOffsets", cells)):
        fields.append({name: root[data][name][int(steps[starts][name][k]):][:rows] for name in root[data]})
    return root["Points"][at:at + points], [(t, tuple(connectivity[a:b])) for t, a, b in zip(types, offsets, offsets[1:])], *fields


def compare_vtkhdf(path, frames, chosen=None, fields=()):
    """The file against frames.h5, to the last bit."""
    with h5py.File(path) as file, h5py.File(frames) as run:
        root = file["VTKHDF"]
        must(root.attrs["Type"] == b"UnstructuredGrid" and root.attrs.get_id("Type").get_type().get_cset() == h5py.h5t.CSET_ASCII and list(root.attrs["Version"]) == [2, 0], path + ": attributes")
        names = [n for i, n in enumerate(sorted(run["frames"])) if chosen is None or i in chosen]
        must(root["Steps"].attrs["NSteps"] == len(names) and list(root["Steps/Values"]) == [run["frames"][n]["time"][()] for n in names], path + ": steps")
        mesh = run["mesh"]
        wanted = [(5, tuple(c)) for c in mesh["triangles"]] + [(3, tuple(c)) for c in mesh["segments"]] + [(1, (c,)) for c in mesh["points"]]
        wanted += [(10, tuple(c)) for c in mesh["tetrahedra"]] if "tetrahedra" in mesh else []
        for k, name in enumerate(names):
            x, cells, on_points, on_cells = step_of(file, k)
            frame = run["frames"][name]
            must(np.array_equal(x, frame["position"]) and cells == wanted, "%s: points or cells of step %d" % (path, k))
            must(set(on_points) | set(on_cells) == {"velocity", "contact_force", "body", "radius", *fields}, "%s: fields %s" % (path, sorted({*on_points, *on_cells})))
            for field, values in [*on_points.items(), *on_cells.items()]:
                there = mesh[field] if field in ("body", "radius") else frame[field]
                must(values.dtype == there.dtype and np.array_equal(values, there, equal_nan=True), "%s: %s of step %d" % (path, field, k))


def compare_vtk(path, frames):
    """VTK's own reader, which may know no steps: a file of one step."""
    try:
        from vtkmodules.vtkIOHDF import vtkHDFReader
        from vtkmodules.util.numpy_support import vtk_to_numpy
    except ImportError:
        print("VTK is not installed (Debian: python3-vtk9): its reader is left out")
        return
    reader = vtkHDFReader()
    reader.SetFileName(os.path.abspath(path))
    must(reader.CanReadFile(os.path.abspath(path)), "VTK does not know the file")
    reader.Update()
    grid = reader.GetOutput()
    with h5py.File(frames) as run, h5py.File(path) as file:
        frame, mesh = run["frames"][sorted(run["frames"])[0]], run["mesh"]
        must(np.array_equal(vtk_to_numpy(grid.GetPoints().GetData()), frame["position"]), "VTK: points")
        must(np.array_equal(vtk_to_numpy(grid.GetPointData().GetArray("velocity")), frame["velocity"]), "VTK: velocity")
        must(np.array_equal(vtk_to_numpy(grid.GetPointData().GetArray("radius")), mesh["radius"]), "VTK: radius")
        must(np.array_equal(vtk_to_numpy(grid.GetCellData().GetArray("strain_max")), frame["strain_max"], equal_nan=True), "VTK: strain_max")
        cells = [tuple(grid.GetCell(i).GetPointIds().GetId(j) for j in range(grid.GetCell(i).GetNumberOfPoints())) for i in range(grid.GetNumberOfCells())]
        must(list(zip(vtk_to_numpy(grid.GetCellTypesArray()), cells)) == step_of(file, 0)[1], "VTK: cells")


# ---- USD ----

class Usd:
    """A parser of USD's text, as much as is written: metadata, prims, attributes with values or samples."""
    TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[A-Za-z_][\w:.]*(?:\[\])?|-?\d[\d.e+-]*|[][(){}=:,])')

    def __init__(self, text):
        must(text.startswith("#usda 1.0\n"), "the first line of the USD file")
        self.tokens, at, text = [], 0, text[len("#usda 1.0\n"):]
        while text[at:].strip():
            found = self.TOKEN.match(text, at)
            must(found, "USD: cannot read: " + text[at:at + 60])
            self.tokens.append(found.group(1))
            at = found.end()
        self.at, self.prims = 0, {}
        self.meta = self.metadata()
        while self.at < len(self.tokens):
            self.prim(())

    def take(self, wanted=None):
        self.at += 1
        token = self.tokens[self.at - 1]
        must(wanted is None or token == wanted, "USD: %s instead of %s, behind %s" % (token, wanted, self.tokens[max(0, self.at - 6):self.at]))
        return token

    def value(self):
        token = self.take()
        if token in "([":
            end, items = {"(": ")", "[": "]"}[token], []
            while self.tokens[self.at] != end:
                items.append(self.value())
                if self.tokens[self.at] == ",":
                    self.take()
            self.take(end)
            return items
        return re.sub(r"\\(.)", r"\1", token[1:-1]) if token[0] == '"' else float(token)

    def samples(self):
        found = {}
        self.take("{")
        while self.tokens[self.at] != "}":
            code = float(self.take())
            self.take(":")
            found[code] = self.value()
            self.take(",")
        self.take("}")
        return found

    def metadata(self):
        found = {}
        self.take("(")
        while self.tokens[self.at] != ")":
            name = self.take()
            self.take("=")
            found[name] = self.value()
        self.take(")")
        return found

    def prim(self, above):
        self.take("def")
        kind, name, own = self.take(), self.value(), {}
        must(re.fullmatch(r"[A-Za-z_]\w*", name) and above + (name,) not in self.prims, "USD: the name " + name)
        self.prims[above + (name,)] = (kind, own)
        self.take("{")
        while self.tokens[self.at] != "}":
            if self.tokens[self.at] == "def":
                self.prim(above + (name,))
                continue
            words = [self.take()]
            while self.tokens[self.at] != "=":
                words.append(self.take())
            self.take("=")
            attribute = words[-1]
            own[attribute.removesuffix(".timeSamples")] = self.samples() if attribute.endswith(".timeSamples") else self.value()
            if self.tokens[self.at] == "(":
                own[attribute + "!"] = self.metadata()
        self.take("}")


def at(attribute, code):
    return np.array(attribute[code] if isinstance(attribute, dict) else attribute, float)


def moved(prim, code, x):
    """Points of the prim's own system, in that of the run."""
    order = prim.get("xformOpOrder", [])
    if order == ["xformOp:translate"]:
        return x + at(prim["xformOp:translate"], code)
    if order == ["xformOp:transform"]:
        m = at(prim["xformOp:transform"], code)
        must(np.allclose(m[:3, :3] @ m[:3, :3].T, np.eye(3), atol=1e-6) and np.linalg.det(m[:3, :3]) > 0.99, "USD: no rotation")
        return (np.c_[x, np.ones(len(x))] @ m)[:, :3]
    must(not order, "USD: operations")
    return x


def compare_usd(path, frames, chosen):
    with open(path, encoding="utf-8") as file:
        usd = Usd(file.read())
    with h5py.File(frames) as run:
        names = [n for i, n in enumerate(sorted(run["frames"])) if i in chosen]
        x = np.array([run["frames"][n]["position"][:] for n in names])
        t = np.array([run["frames"][n]["time"][()] for n in names])
        mesh = {n: run["mesh"][n][()] for n in ("triangles", "segments", "points", "body", "radius")}
        bodies = [b.decode() for b in run["mesh/body_names"]]
    codes = [float("%.7g" % c) for c in t / (t[1] - t[0])]
    must(np.isclose(usd.meta["metersPerUnit"], 1e-3) and usd.meta["upAxis"] == "Z" and np.isclose(usd.meta["timeCodesPerSecond"], 1e3 / (t[1] - t[0]), rtol=1e-6) and usd.meta["endTimeCode"] == codes[-1], "USD: %s" % usd.meta)
    kinds = {}
    for (_, *rest), (kind, prim) in usd.prims.items():
        if not rest:
            continue
        b = bodies.index(prim["tactus:name"])
        ids = np.flatnonzero(mesh["body"] == b)
        kinds[bodies[b]] = kind
        span = 2e-7 * max(1, abs(x).max())
        for k, code in enumerate(codes):
            now = x[k][ids]
            if kind == "Mesh":
                corners = [c for c in mesh["triangles"] if mesh["body"][c[0]] == b]
                must(np.array_equal(np.reshape(prim["faceVertexIndices"], (-1, 3)) + ids[0], corners) and prim["faceVertexCounts"] == [3] * len(corners), "USD: triangles of " + bodies[b])
                points, wanted = at(prim["points"], code), now
            elif kind == "Points":
                points, wanted = at(prim["points"], code), now
            elif kind == "BasisCurves":
                points, wanted = at(prim["points"], code), x[k][np.array([c for c in mesh["segments"] if mesh["body"][c[0]] == b]).ravel()]
                must(prim["curveVertexCounts"] == [2] * (len(points) // 2), "USD: curves")
            elif kind == "Capsule":
                half = at(prim["height"], code) / 2
                points, wanted = np.array([[0, -half, 0], [0, half, 0]]), now
            else:
                must(kind == "Sphere", "USD: a prim of kind " + kind)
                points, wanted = np.zeros((1, 3)), now
            there = moved(prim, code, points)
            must(there.shape == wanted.shape and abs(there - wanted).max() < 30 * span, "USD: %s of %s at %g: off by %g" % (kind, bodies[b], code, abs(there - wanted).max() if there.shape == wanted.shape else np.inf))
            if "extent" in prim:
                r = mesh["radius"][ids[0]]
                own = points if "xformOpOrder" in prim else wanted
                must(np.allclose(at(prim["extent"], code), [own.min(0) - r, own.max(0) + r], atol=span), "USD: extent of " + bodies[b])
        r = mesh["radius"][ids[0]]
        must(np.allclose(prim.get("radius", prim.get("widths", [0])[0] / 2) if kind != "Mesh" else r, r), "USD: radius of " + bodies[b])
    return usd, kinds


os.chdir(tempfile.mkdtemp(prefix="tactus-whole-"))
write("a.json", FREE)
tactus("run", "a.json", "-o", "a", "--quiet", ranks=2)
FIELDS = ["strain_max", "strain_min", "contact_pressure", "rank"]
compare_vtkhdf("a/frames.vtkhdf", "a/frames.h5", fields=FIELDS)
os.rename("a", "moved")
compare_vtkhdf("moved/frames.vtkhdf", "moved/frames.h5", fields=FIELDS)
with h5py.File("moved/frames.vtkhdf") as file:
    must(file["VTKHDF/Points"].is_virtual and file["VTKHDF/PointData/velocity"].is_virtual, "positions are stored twice")

# Chosen frames, elsewhere; one step by VTK's reader.
tactus("export", "moved", "--format", "vtkhdf", "--frames", "0:3:9", "-o", "some")
compare_vtkhdf("some/frames.vtkhdf", "moved/frames.h5", chosen=(0, 3, 6, 9), fields=FIELDS)
tactus("export", "moved", "--format", "vtkhdf", "--frames", "0", "-o", "first")
compare_vtk("first/frames.vtkhdf", "moved/frames.h5")
must("exists; give --overwrite" in tactus("export", "moved", "--format", "vtkhdf", "-o", "some", code=2), "it replaces a file")

# A run in two parts: the second has fewer fields, and those that only some frames have are left out.
write("b.json", {**FREE, "bodies": FREE["bodies"][:2], "time": {"end": 0.08, "frame": 0.01}})
tactus("run", "b.json", "-o", "b", "--until", "0.035", "--quiet")
compare_vtkhdf("b/frames.vtkhdf", "b/frames.h5", fields=FIELDS)
tactus("run", "b.json", "--restart", "b", "--quiet", "--set", "output.fields=[\"rank\"]")
compare_vtkhdf("b/frames.vtkhdf", "b/frames.h5", fields=["rank"])

# USD.
tactus("export", "moved", "--format", "usda", "-o", "usd")
usd, kinds = compare_usd("usd/animation.usda", "moved/frames.h5", range(100))
must(kinds == {AWKWARD: "Mesh", "still": "Mesh", "die": "Mesh", "rope": "BasisCurves", "pill": "Capsule", "marble": "Sphere", "sand": "Points", "dust": "Points", "block": "Mesh"}, "USD: kinds %s" % kinds)
prims = {prim["tactus:name"]: prim for _, prim in usd.prims.values() if "tactus:name" in prim}
must(isinstance(prims[AWKWARD]["points"], dict) and not isinstance(prims["die"]["points"], dict) and isinstance(prims["die"]["xformOp:transform"], dict), "a rigid body is stored more than once")
must(not isinstance(prims["still"]["points"], dict) and "xformOpOrder" not in prims["still"], "what does not move has samples")
must("widths" not in prims["dust"] and usd.meta["doc"] == FREE["name"] and usd.meta["defaultPrim"] == "run", "dust, or the name")
turned = at(prims["die"]["xformOp:transform"], max(prims["die"]["xformOp:transform"]))[:3, :3]
must(np.trace(turned) < 2.9, "the die does not turn, so nothing is tested: %s" % turned)
tactus("export", "moved/frames.h5", "--format", "usda", "--frames", "2,7", "-o", "two")
with open("two/animation.usda", encoding="utf-8") as file:
    text = file.read()
must(Usd(text).meta["upAxis"] == "Y" and text.count("            0.4: ") == text.count("            1.4: ") > 3, "frames that are chosen from a file alone")
