#!/usr/bin/python3
"""formats.py: tactus export --format vtu, vtp and gltf: what is in the files is what frames.h5 has, read back by a strict reader of VTK's XML and of
glTF 2.0 written here from the formats' definitions, and where it is installed by VTK itself (python3-vtk9), which ParaView is made of.
A failure means that ParaView, Blender or a browser shows other shapes or values than were computed, or nothing."""
import json
import os
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
import zlib

import h5py
import numpy as np

try:
    import vtkmodules.vtkIOXML as vtk_xml
    from vtkmodules.util.numpy_support import vtk_to_numpy
except ImportError:
    vtk_xml = None

TACTUS = os.environ["TACTUS"]
KINDS = {"Float32": "<f4", "Float64": "<f8", "Int32": "<i4", "Int64": "<i8", "UInt8": "u1"}


def must(true, text):
    if not true:
        sys.exit(text)


def tactus(*words, code=0):
    done = subprocess.run([TACTUS, *map(str, words)], capture_output=True, text=True)
    must(done.returncode == code, "%s: %d instead of %d\n%s" % (words, done.returncode, code, done.stdout + done.stderr))
    return done.stdout + done.stderr


def read_vtk(path):
    """All arrays by section and name, and the numbers of the piece."""
    data = open(path, "rb").read()
    at = data.index(b'<AppendedData encoding="raw">')
    body = data[data.index(b"_", at) + 1:]
    root = ElementTree.fromstring(data[:at] + b"</VTKFile>")
    must(root.attrib["compressor"] == "vtkZLibDataCompressor" and root.attrib["header_type"] == "UInt64" and root.attrib["byte_order"] == "LittleEndian", "head")
    piece, arrays, used = root[0].find("Piece"), {}, 0
    for section in [root[0].find("FieldData"), *piece]:
        for a in section:
            offset = int(a.attrib["offset"])
            blocks, size, last = struct.unpack_from("<3Q", body, offset)
            packed = struct.unpack_from("<%dQ" % blocks, body, offset + 24)
            at, raw = offset + 24 + 8 * blocks, b""
            for k, length in enumerate(packed):
                block = zlib.decompress(body[at:at + length])
                must(len(block) == (last if k == blocks - 1 and last else size), "a block of %s has %d bytes" % (a.attrib["Name"], len(block)))
                raw, at = raw + block, at + length
            used = max(used, at)
            value = np.frombuffer(raw, KINDS[a.attrib["type"]])
            columns = int(a.attrib.get("NumberOfComponents", 1))
            arrays[section.tag, a.attrib["Name"]] = value.reshape(-1, columns) if columns > 1 else value
    must(body[used:].strip() == b"</AppendedData>\n</VTKFile>", "what comes after the arrays")
    return arrays, {k: int(v) for k, v in piece.attrib.items()}


def same(a, b, what):
    must(np.shape(a) == np.shape(b) and np.asarray(a).tobytes() == np.asarray(b).astype(np.asarray(a).dtype).tobytes(), "%s differs: %s and %s" % (what, np.shape(a), np.shape(b)))


def check_vtk(folder, kind):
    tactus("export", "a b.run", "-o", folder, "--format", kind)
    pvd = ElementTree.parse(folder + "/frames.pvd").getroot()
    with h5py.File("a b.run/frames.h5") as file:
        mesh = file["mesh"]
        t, s, p = (mesh[name][:] for name in ("triangles", "segments", "points"))
        order = np.arange(len(t) + len(s) + len(p))
        if kind == "vtp":
            order = np.r_[order[len(t) + len(s):], order[len(t):len(t) + len(s)], order[:len(t)]]
        must([(e.attrib["file"], float(e.attrib["timestep"])) for e in pvd[0]] == [("frame-%s.%s" % (k, kind), file["frames"][k]["time"][()]) for k in file["frames"]], "the list")
        for k, frame in file["frames"].items():
            path = "%s/frame-%s.%s" % (folder, k, kind)
            got, piece = read_vtk(path)
            same(got["FieldData", "TimeValue"], [frame["time"][()]], "time")
            same(got["Points", "Points"], frame["position"], "points")
            for name in ("velocity", "contact_force", "contact_pressure", "rank"):
                same(got["PointData", name], frame[name], name)
            same(got["PointData", "body"], mesh["body"], "body")
            same(got["PointData", "radius"], mesh["radius"], "radius")
            cells = [name for name in frame if len(frame[name].shape) == 1 and len(frame[name]) == len(order)]
            must(len(cells) == 8 and {n for part, n in got if part == "CellData"} == set(cells), "fields on cells: %s" % cells)
            for name in cells:
                same(got["CellData", name], frame[name][:][order], name)
            parts = {"Verts": p[:, None], "Lines": s, "Polys": t}
            if kind == "vtu":
                parts = {"Cells": None}
                same(got["Cells", "connectivity"], np.r_[t.ravel(), s.ravel(), p], "connectivity")
                same(got["Cells", "offsets"], np.r_[3 * np.arange(1, len(t) + 1), 3 * len(t) + 2 * np.arange(1, len(s) + 1), 3 * len(t) + 2 * len(s) + np.arange(1, len(p) + 1)], "offsets")
                same(got["Cells", "types"], np.r_[[5] * len(t), [3] * len(s), [1] * len(p)], "types")
                must(piece["NumberOfCells"] == len(order), "number of cells")
            else:
                for part, rows in parts.items():
                    must(piece["NumberOf" + part] == len(rows), part)
                    same(got[part, "connectivity"], rows.ravel(), part)
                    same(got[part, "offsets"], rows.shape[1] * np.arange(1, len(rows) + 1), part)
            if vtk_xml:
                reader = (vtk_xml.vtkXMLUnstructuredGridReader if kind == "vtu" else vtk_xml.vtkXMLPolyDataReader)()
                reader.SetFileName(path)
                reader.Update()
                grid = reader.GetOutput()
                must(grid.GetNumberOfCells() == len(order), "VTK finds %d cells" % grid.GetNumberOfCells())
                same(vtk_to_numpy(grid.GetPoints().GetData()), frame["position"], "points by VTK")
                for data, names in ((grid.GetPointData(), ("velocity", "contact_pressure", "rank")), (grid.GetCellData(), cells)):
                    for name in names:
                        same(vtk_to_numpy(data.GetArray(name)), frame[name][:][order] if name in cells else frame[name], name + " by VTK")


def check_gltf(bodies):
    tactus("export", "a b.run", "-o", "gl", "--format", "gltf", "--frames", "1:")
    data = open("gl/animation.glb", "rb").read()
    magic, version, length, text, tag = struct.unpack_from("<4s3I4s", data)
    must((magic, version, length, tag) == (b"glTF", 2, len(data), b"JSON") and text % 4 == 0, "head of the glTF")
    root = json.loads(data[20:20 + text])
    size, tag = struct.unpack_from("<I4s", data, 20 + text)
    binary = data[28 + text:]
    must(tag == b"BIN\0" and size == len(binary) and 0 <= size - root["buffers"][0]["byteLength"] < 4, "the binary part")

    def accessor(k):
        a = root["accessors"][k]
        view = root["bufferViews"][a["bufferView"]]
        columns = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[a["type"]]
        kind = {5126: "<f4", 5125: "<u4"}[a["componentType"]]
        must(view["byteOffset"] % 4 == 0 and view["byteLength"] == 4 * columns * a["count"] and view["byteOffset"] + view["byteLength"] <= root["buffers"][0]["byteLength"], "a view")
        value = np.frombuffer(binary, kind, columns * a["count"], view["byteOffset"]).reshape(-1, columns)
        if "min" in a:
            must(np.array_equal(np.float32(a["min"]), value.min(axis=0)) and np.array_equal(np.float32(a["max"]), value.max(axis=0)), "bounds of an accessor")
        return value if columns > 1 else value[:, 0]

    with h5py.File("a b.run/frames.h5") as file:
        mesh, frames = file["mesh"], [f for f in file["frames"].values()][1:]
        x = [f["position"][:] for f in frames]
        times = np.array([f["time"][()] for f in frames])
        lists, of = {4: mesh["triangles"][:], 1: mesh["segments"][:], 0: mesh["points"][:][:, None]}, mesh["body"][:]
        shown, moves = set(), {}
        for channel in root["animations"][0]["channels"]:
            sampler = root["animations"][0]["samplers"][channel["sampler"]]
            must(np.allclose(accessor(sampler["input"]), times - times[0]), "times")
            moves[channel["target"]["node"], channel["target"]["path"]] = accessor(sampler["output"])
        must(root["scenes"][0]["nodes"] == list(range(len(root["nodes"]))), "nodes")
        for number, node in enumerate(root["nodes"]):
            primitives = root["meshes"][node["mesh"]]["primitives"]
            soft = "weights" in root["meshes"][node["mesh"]]
            # Every vertex of the node in every frame: morphed, or turned and moved.
            first = accessor(primitives[0]["attributes"]["POSITION"])
            places = [first] * len(x)
            if soft:
                targets = primitives[0]["targets"]
                must(len(targets) == len(x) - 1 == len(root["meshes"][node["mesh"]]["weights"]), "targets")
                places = [first, *[first + accessor(target["POSITION"]) for target in targets]]
                must(np.array_equal(moves[number, "weights"].reshape(len(x), -1), np.eye(len(x))[:, 1:]), "weights")
            else:
                there = moves.get((number, "translation"), np.repeat([node["translation"]], len(x), axis=0))
                turn = moves.get((number, "rotation"), np.repeat([[0., 0, 0, 1]], len(x), axis=0))
                must(np.allclose((turn ** 2).sum(axis=1), 1, atol=1e-6), "a rotation's size")
                places = [first + 2 * np.cross(q[:3], np.cross(q[:3], first) + q[3] * first) + t for q, t in zip(turn.astype(float), there)]
            for p in primitives:
                rows = lists[p["mode"]]
                rows = rows[of[rows[:, 0]] == p["material"]]
                index = accessor(p["indices"])
                must(p["attributes"]["POSITION"] == primitives[0]["attributes"]["POSITION"], "one list of places")
                must("min" in root["accessors"][p["attributes"]["POSITION"]], "bounds are missing")
                must(len(index) == rows.size and all(np.allclose(places[k][index], x[k][rows.ravel()], atol=1e-6) for k in range(len(x))), "body %d" % p["material"])
                must((p["material"], p["mode"]) not in shown, "a body twice")
                shown.add((p["material"], p["mode"]))
        must(shown == {(int(b), mode) for mode, rows in lists.items() for b in set(of[rows[:, 0]])}, "bodies are missing: %s" % shown)
        must([m["name"] for m in root["materials"]] == [n.decode() for n in mesh["body_names"]], "names")
        own = {node["name"]: number for number, node in enumerate(root["nodes"]) if "weights" not in root["meshes"][node["mesh"]]}
        must({scene_body["name"] for scene_body in bodies if scene_body.get("fixed") or "rigid" in scene_body} <= set(own), "fixed and rigid bodies are nodes: %s" % own)
        must(all((own[name], "rotation") in moves for name in ("arm", "stone")) and (own[bodies[0]["name"]], "rotation") not in moves, "what moves")
    tactus("export", "a b.run", "-o", "one", "--format", "gltf", "--frames", "last")  # a picture: no animation


def main():
    scene = {"format": "tactus-scene/1", "time": {"end": 0.04, "frame": 0.01}, "gravity": [0, -9.81, 0], "contact": {"thickness": 0.004},
             "materials": {"cloth": {"density": 0.2, "stretch": {"model": "cst", "stiffness": 60, "yield": 0.01}, "bend": {"model": "hinge", "stiffness": 1e-6}}},
             "bodies": [{"name": "sheet \"a\", é", "material": "cloth", "position": [0, 0.11, 0], "mesh": {"kind": "grid", "size": [0.2, 0.2], "cells": [90, 90]}, "fixed": True},
                        {"name": "flag", "material": "cloth", "position": [0, 0.13, 0], "mesh": {"kind": "grid", "size": [0.1, 0.1], "cells": [4, 4]}},
                        {"name": "rope", "mass": 0.001, "position": [0, 0.2, 0], "mesh": {"kind": "segments", "from": [-0.1, 0, 0], "to": [0.1, 0, 0], "cells": 4}},
                        {"name": "gas", "mass": 0.0001, "radius": 0.004, "mesh": {"kind": "points", "vertices": [[0.3, 0, 0], [0.33, 0, 0]]}},
                       {"name": "arm", "rigid": {"mass": 0.1}, "position": [0.6, 0, 0], "mesh": {"kind": "box", "size": [0.2, 0.01, 0.01], "cells": [2, 1, 1]}},
                       {"name": "stone", "rigid": {"mass": 0.1}, "position": [1, 0, 0], "angular_velocity": [40, 90, -30], "mesh": {"kind": "icosahedron", "edge": 0.02}}],
             "joints": [{"name": "pin", "kind": "ball", "a": {"body": "arm", "at": [0.5, 0, 0]}, "b": {"body": None}, "slack": 0.001}],
             "output": {"fields": ["strain", "stress", "bending_angle", "plastic_strain", "contact_pressure", "rank"], "contacts": True}}
    with open("scene.json", "w") as file:
        json.dump(scene, file)
    tactus("run", "scene.json", "-o", "a b.run", "--quiet")
    for kind in ("vtu", "vtp"):
        check_vtk("out $HOME " + kind, kind)
    check_gltf(scene["bodies"])
    must("exists; give --overwrite" in tactus("export", "a b.run", "-o", "gl", "--format", "gltf", code=2), "a file is replaced unasked")
    must("frames.pvd' exists" in tactus("export", "a b.run", "-o", "out $HOME vtu", "--format", "vtp", code=2), "a list is replaced unasked")
    tactus("export", "a b.run", "-o", "gl", "--format", "gltf", "--overwrite")
    # A run without fields, and one with triangles alone.
    plain = {**scene, "output": {}, "joints": [], "bodies": scene["bodies"][1:2]}
    with open("plain.json", "w") as file:
        json.dump(plain, file)
    tactus("run", "plain.json", "-o", "plain.run", "--quiet")
    tactus("export", "plain.run", "-o", "plain", "--format", "vtu", "--frames", "last")
    got, piece = read_vtk("plain/frame-000004.vtu")
    must({name for part, name in got if part == "PointData"} == {"velocity", "contact_force", "body", "radius"} and piece["NumberOfCells"] == 32, "a run without fields")
    print("read back by VTK too" if vtk_xml else "VTK (python3-vtk9) is not installed: read back by the reader of this test alone")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
