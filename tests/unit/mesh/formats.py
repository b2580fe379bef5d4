#!/usr/bin/python3
"""Mesh files made by hand, one for every variant of every format, read by `describe` (argv[1]); then broken ones, each
with the sentence it must give; then random damage, which must give a mesh or a sentence and never anything else."""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

import h5py
import numpy as np

V = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 0.5, 1), (0.1, 0.2, -3)]
QUAD = (0, 1, 2, 3)
FACES = [QUAD, (0, 1, 4), (1, 2, 4)]
TRIANGLES = [(0, 1, 2), (0, 2, 3), (0, 1, 4), (1, 2, 4)]
SEGMENTS = [(4, 5), (5, 0)]
WHOLE = (V, TRIANGLES, SEGMENTS)

good = {}  # file name -> (bytes, expected mesh)
bad = {}  # file name -> (bytes, part of the sentence)


def text(lines, end="\n"):
    return (end.join(lines) + end).encode()


# OBJ
head = ["# a mesh", "o thing"] + ["v %r %r %r" % v for v in V]
plain = head + ["s off", "f 1 2 3 4", "f 1 2 5", "f 2 3 5", "l 5 6 1"]
good["plain.obj"] = text(plain), WHOLE
good["crlf.obj"] = text(plain, "\r\n"), WHOLE
good["bom.OBJ"] = b"\xef\xbb\xbf" + text(plain), WHOLE
good["no_extension"] = text(plain), WHOLE
good["noeol.obj"] = text(plain)[:-1], WHOLE
good["corners.obj"] = text(head + ["vt 0 0", "vn 0 0 1", "f 1/1 2/1 3/1 4/1", "f 1//1 2//1 5//1 # here",
                                   "f 2/1/1 3/1/1 5/1/1", "l 5/1 6/1", "l 6 1", "p 1 2"]), WHOLE
good["backward.obj"] = text(head + ["f -6 -5 -4 -3", "f -6 -5 -2", "f -5 -4 -2", "l -2 -1 -6"]), WHOLE
good["forward.obj"] = text(["f 1 2 3 4", "f 1 2 5", "\tf   2 3\t5  ", "l 5 6 1"] + head), WHOLE
good["joined.obj"] = text(head + ["f 1 \\", "2 3\\", " 4", "f 1 2 5", "f 2 3 5", "l 5 6 1"]), WHOLE
good["colour.obj"] = text(["v %r %r %r 1 0.5 0" % v for v in V] + plain[-4:]), WHOLE
good["cloud.obj"] = text(head), (V, [], [])
good["unused.obj"] = text(["v 9 9 9"] + head + ["f 2 3 4 5", "f 2 3 6", "f 3 4 6", "l 6 7 2"]), WHOLE


def bad_obj(name, lines, sentence, where):
    bad[name + ".obj"] = text(head + lines), "%s.obj%s" % (name, ", line %d: " % (9 + where) if where >= 0 else "") + sentence


bad_obj("zero", ["f 0 1 2"], "there is no vertex 0; OBJ counts vertices from 1", 0)
bad_obj("past", ["f 1 2 3", "f 1 2 7"], "triangle 1 names a vertex that does not exist; the mesh has 6 vertices", 1)
bad_obj("before", ["f 1 2 -7"], "vertex -7 is before the first; 6 vertices stand above this line", 0)
bad_obj("huge", ["f 1 2 99999999999999999999"], "the vertex of a corner must be a whole number of at most 64 bits", 0)
bad_obj("large", ["f 1 2 9999999999"], "triangle 0 names a vertex that does not exist", 0)
bad_obj("word", ["f 1 2 x"], "the vertex of a corner must be a whole number, not 'x'", 0)
bad_obj("junk", ["f 1 2 3/q"], "'3/q' is no corner", 0)
bad_obj("two", ["f 1 2"], "a face needs at least 3 corners, not 2", 0)
bad_obj("one", ["l 1"], "a line needs at least 2 corners, not 1", 0)
bad_obj("twice", ["f 1 2 2"], "triangle 0 names vertex 1 twice", 0)
bad_obj("flat", ["v 2 0 0", "f 1 2 7"], "triangle 0 (vertices 0, 1, 6) near (0, 0, 0) has no area", 1)
bad_obj("again", ["f 1 2 3", "f 4 5 6", "f 3 1 2"], "triangle 2 has the same vertices as triangle 0", 2)
bad_obj("lineagain", ["l 1 2", "l 2 1"], "segment 1 has the same vertices as segment 0", 1)
bad_obj("short", ["v 1 2"], "z of a vertex is missing; expected a number", 0)
bad_obj("nan", ["v 1 2 nan"], "z of a vertex must be a number, not 'nan'", 0)
bad_obj("hex", ["v 1 2 0x10"], "z of a vertex must be a number, not '0x10'", 0)
bad_obj("inf", ["v 1 2 1e999"], "z of a vertex must be a number that a double can hold", 0)
bad_obj("big", ["v 1 2 1e101"], ": the z coordinate of vertex 6 is 1e+101", -1)
bad_obj("surf", ["surf 0 1 0 1 1 2 3"], "'surf' is not read from OBJ files", 0)
bad_obj("control", ["f\x01 1 2 3"], "'f?' is not read from OBJ files", 0)
bad["nothing.obj"] = text(["# nothing"]), "nothing.obj: has no vertices"
bad["empty.obj"] = b"", "it is empty"
bad["page.html"] = b"<html></html>\n", "is no mesh file that is known here"
bad["zeros.dat"] = bytes(200), "is no mesh file that is known here"


# PLY
def ply(form, faces=FACES, vertex=V, real="double", index="int", length="uchar", face_name="vertex_indices", end="\n",
        extras=False, face_first=False, edges=SEGMENTS):
    code = {"char": "b", "uchar": "B", "short": "h", "ushort": "H", "int": "i", "uint": "I", "float": "f", "double": "d",
            "float32": "f", "float64": "d", "int32": "i", "uint8": "B", "uint16": "H"}
    order = ">" if "big" in form else "<"
    out = ["ply", "format %s 1.0" % form, "comment made by hand", "obj_info none"]
    body = {}

    def put(kind, value):
        return ("%r " % value).encode() if form == "ascii" else struct.pack(order + code[kind], value)

    line = b"\n" if form == "ascii" else b""
    vertex_head = ["element vertex %d" % len(vertex)] + ["property %s %s" % (real, c) for c in "xyz"]
    body["v"] = b""
    for v in vertex:
        if extras:
            body["v"] += put("uchar", 7)
        for c in v:
            body["v"] += put(real, float(c))
        if extras:
            body["v"] += put("ushort", 2) + put("float", 1.5) + put("float", 2.5)
        body["v"] += line
    if extras:
        vertex_head.insert(1, "property uchar red")
        vertex_head.append("property list ushort float weights")
    face_head = ["element face %d" % len(faces)]
    if extras:
        face_head.append("property double quality")
    face_head.append("property list %s %s %s" % (length, index, face_name))
    body["f"] = b""
    for f in faces:
        body["f"] += (put("double", 0.25) if extras else b"") + put(length, len(f)) + b"".join(put(index, i) for i in f) + line
    edge_head = ["element edge %d" % len(edges), "property int vertex1", "property int vertex2"]
    body["e"] = b"".join(put("int", a) + put("int", b) + line for a, b in edges)
    parts = [(vertex_head, body["v"]), (face_head, body["f"]), (edge_head, body["e"])]
    if face_first:
        parts.reverse()
    if extras:
        parts.insert(0, (["element camera 2", "property short id"], (put("short", 3) + line) * 2))
        parts.append((["element nothing 4000000000"], b""))
    for lines, _ in parts:
        out += lines
    return text(out + ["end_header"], end) + b"".join(data for _, data in parts)


V32 = [tuple(float(np.float32(c)) for c in v) for v in V]
for form in "ascii", "binary_little_endian", "binary_big_endian":
    short = form.split("_")[1] if "_" in form else form
    good["plain_%s.ply" % short] = ply(form), WHOLE
    good["crlf_%s.ply" % short] = ply(form, end="\r\n"), WHOLE
    good["extras_%s.ply" % short] = ply(form, extras=True), WHOLE
    good["first_%s.ply" % short] = ply(form, face_first=True, face_name="vertex_index"), WHOLE
    good["types_%s.ply" % short] = ply(form, index="uint16", length="uint8", real="float64"), WHOLE
    good["bytes_%s.ply" % short] = ply(form, index="uchar", length="int"), WHOLE
    good["named_%s" % short] = ply(form, index="uint"), WHOLE
    good["float_%s.ply" % short] = ply(form, real="float"), (V if form == "ascii" else V32, TRIANGLES, SEGMENTS)
    good["points_%s.ply" % short] = ply(form, faces=[], edges=[]), (V, [], [])
    place = "line 22" if form == "ascii" else "byte %d" % len(ply(form, faces=[(0, 1, 2)], edges=[]))
    bad["past_%s.ply" % short] = ply(form, faces=[(0, 1, 2), (0, 1, 9)]), \
        ", %s: triangle 1 names a vertex that does not exist" % place
    bad["negative_%s.ply" % short] = ply(form, faces=[(0, 1, -2)]), "a corner of a face cannot be -2"
    bad["pair_%s.ply" % short] = ply(form, faces=[(0, 1)]), "a face needs at least 3 corners"
    bad["cut_%s.ply" % short] = ply(form)[:-3 if form != "ascii" else -5], \
        "an end of an edge is missing" if form == "ascii" else "the file ends in the middle of an end of an edge"
    bad["length_%s.ply" % short] = ply(form, faces=[(0, 1, 2), (3,) * 3], length="int").replace(
        b"3 3 3 3 \n" if form == "ascii" else struct.pack((">" if "big" in form else "<") + "4i", 3, 3, 3, 3),
        b"-5 3 3 3 \n" if form == "ascii" else struct.pack((">" if "big" in form else "<") + "4i", -5, 3, 3, 3)), \
        "the number of corners of a face cannot be -5"
bad["nan.ply"] = ply("binary_little_endian", vertex=[(0, 0, float("nan"))] + V[1:]), "the z coordinate of vertex 0 is"
bad["half.ply"] = ply("ascii", faces=[(0, 1, 2.5)]), "a corner of a face cannot be 2.5"


def bad_header(name, lines, sentence, line):
    bad[name + ".ply"] = text(["ply"] + lines), "%s.ply, line %d: %s" % (name, line, sentence)


ascii1 = "format ascii 1.0"
xyz = ["element vertex 1", "property float x", "property float y", "property float z"]
bad_header("format", ["format utf8 1.0"], "the format must be ascii, binary_little_endian or binary_big_endian", 2)
bad_header("version", ["format ascii 2.0"], "the format's version must be 1.0, not '2.0'", 2)
bad_header("noformat", xyz + ["end_header"], "the header has no 'format' line", 6)
bad_header("noend", [ascii1] + xyz, "the header has no 'end_header'; the file is cut off", 7)
bad_header("novertex", [ascii1, "end_header"], "the header has no element 'vertex'", 3)
bad_header("noz", [ascii1] + xyz[:-1] + ["end_header", "0 0"], "element 'vertex' has no property 'z'", 6)
bad_header("xtwice", [ascii1] + xyz + ["property float x"], "property 'x' is declared twice", 7)
bad_header("twice", [ascii1] + xyz + ["element vertex 1"], "element 'vertex' is declared twice", 7)
bad_header("listx", [ascii1, "element vertex 1", "property list uchar float x"], "property 'x' must not be a list", 4)
bad_header("scalar", [ascii1] + xyz + ["element face 1", "property int vertex_indices"], "property 'vertex_indices' must be a list", 8)
bad_header("floatlist", [ascii1] + xyz + ["element face 1", "property list float int vertex_indices"],
           "the length of a list must be of a whole-number type, not 'float'", 8)
bad_header("type", [ascii1, "element vertex 1", "property real x"], "'real' is no type of PLY", 4)
bad_header("orphan", [ascii1, "property float x"], "a property must come after the element", 3)
bad_header("count", [ascii1, "element vertex many"], "the count of an element must be a whole number, not 'many'", 3)
bad_header("minus", [ascii1, "element vertex -1"], "element 'vertex' cannot have a count of -1", 3)
bad_header("strips", [ascii1] + xyz + ["element tristrips 1"], "triangle strips are not read; convert them", 7)
bad_header("keyword", [ascii1, "elephant 3"], "'elephant' is no keyword of a PLY header", 3)
bad_header("nofaces", [ascii1] + xyz + ["element face 1", "property int q", "end_header", "0 0 0", "1"],
           "element 'face' has no property 'vertex_indices'", 9)
bad_header("lies", [ascii1] + ["element vertex 9000000000000000000"] + xyz[1:] + ["end_header", "0 0 0"],
           "a coordinate of a vertex is missing", 9)
bad["liesb.ply"] = text(["ply", "format binary_little_endian 1.0", "element vertex 9000000000000000000"] + xyz[1:] +
                        ["end_header"]) + bytes(12), "the file ends in the middle of a coordinate of a vertex"
bad["list.ply"] = text(["ply", "format binary_little_endian 1.0"] + xyz + ["property list uint double q", "end_header"]) + \
    bytes(12) + b"\xff\xff\xff\xff", "the file ends in the middle of a property"
bad["noply.ply"] = b"plyers\n", "a PLY file begins with 'ply'; this is none"


# STL
def facets(triangles=TRIANGLES):
    return [[V[i] for i in t] for t in triangles]


STL_V = [V[i] for i in (0, 1, 2, 3, 4)]


def stl_text(name="a solid", fs=None, end="\n"):
    out = ["solid " + name]
    for f in facets() if fs is None else fs:
        out += ["  facet normal nan 0 1e-3", "    outer loop"] + ["      vertex %r %r %r" % tuple(v) for v in f]
        out += ["    endloop", "  endfacet"]
    return text(out + ["endsolid " + name], end)


def stl_binary(header=b"", fs=None, count=None, tail=b""):
    fs = facets() if fs is None else fs
    out = header.ljust(80, b" ") + struct.pack("<I", len(fs) if count is None else count)
    for f in fs:
        out += struct.pack("<12fH", 0, 0, 0, *[c for v in f for c in v], 0)
    return out + tail


STL_WHOLE = (STL_V, TRIANGLES, [])
good["text.stl"] = stl_text(), STL_WHOLE
good["crlf.stl"] = stl_text(end="\r\n"), STL_WHOLE
good["upper.stl"] = stl_text().upper().replace(b"1E-3", b"1e-3").replace(b"NAN", b"nan"), STL_WHOLE
good["two.stl"] = stl_text("one", facets(TRIANGLES[:2])) + stl_text("two", facets(TRIANGLES[2:])), STL_WHOLE
good["unnamed.stl"] = stl_text(""), STL_WHOLE
good["text_stl_without_extension"] = stl_text(), STL_WHOLE
good["binary.stl"] = stl_binary(), STL_WHOLE
good["solid.stl"] = stl_binary(b"solid \x02 of a program that lies"), STL_WHOLE
good["binary.obj"] = stl_binary(b"v 1 2 3"), STL_WHOLE
good["tail.stl"] = stl_binary(tail=b"more"), STL_WHOLE
good["zero.stl"] = stl_binary(fs=[[(-0.0, 0, 0), (1, 0, -0.0), (0, 1, 0)], [(0, -0.0, 0), (0, 1, 0), (-1, 0, 0)]]), \
    ([(0, 0, 0), (1, 0, 0), (0, 1, 0), (-1, 0, 0)], [(0, 1, 2), (0, 2, 3)], [])
bad["none.stl"] = stl_binary(fs=[]), "none.stl: has no vertices"
bad["textnone.stl"] = stl_text(fs=[]), "textnone.stl: has no vertices"
bad["cut.stl"] = stl_binary()[:-1], "4 facets need 200 more bytes, but 199 follow"
bad["many.stl"] = stl_binary(count=0xffffffff), "4294967295 facets need 214748364750 more bytes, but 200 follow"
bad["head.stl"] = b"\x01" * 60, "the file ends in the middle of the header of a binary STL file"
bad["flat.stl"] = stl_binary(fs=facets() + [[(0, 0, 0), (0, 0, 0), (1, 1, 1)]]), \
    "flat.stl, facet 4: triangle 4 names vertex 0 twice"
bad["line.stl"] = stl_binary(fs=[[(0, 0, 0), (2, 0, 0), (1, 0, 0)]]), "line.stl, facet 0: triangle 0 (vertices 0, 1, 2)"
bad["naninf.stl"] = stl_binary(fs=[[(0, 0, 0), (float("inf"), 0, 0), (0, 1, 0)]]), "the x coordinate of vertex 1 is inf"
bad["textcut.stl"] = b"\n".join(stl_text().split(b"\n")[:12]), "line 12: the file ends where 'vertex' should follow"
bad["textcut2.stl"] = b"\n".join(stl_text().split(b"\n")[:-2]), "the file ends without 'endsolid'"
bad["textword.stl"] = stl_text().replace(b"endloop", b"endlop", 1), "line 7: expected 'endloop', not 'endlop'"
bad["textcoord.stl"] = stl_text().replace(b"vertex 1 0 0", b"vertex 1 0 O", 1), \
    "line 5: z of a vertex must be a number, not 'O'"
bad["textmore.stl"] = stl_text() + b"facet\n", "expected 'solid', not 'facet'"


# Gmsh
def msh2(form="text", tags=None, tail="", types=True):
    tags = tags or [1, 2, 3, 4, 5, 6]
    order = {"little": "<", "big": ">"}.get(form)
    out = text(["$Comments", "by hand $Nodes", "$EndComments", "$MeshFormat", "2.2 %d 8" % (order is not None)])
    if order:
        out += struct.pack(order + "i", 1) + b"\n"
    out += text(["$EndMeshFormat", "$PhysicalNames", "1", '2 1 "skin"', "$EndPhysicalNames", "$Nodes", "%d" % len(V)])
    for tag, v in zip(tags, V):
        out += struct.pack(order + "i3d", tag, *v) if order else text(["%d %r %r %r" % ((tag,) + tuple(v))])
    elements = [(15, (5,)), (3, QUAD), (2, FACES[1]), (2, FACES[2]), (1, SEGMENTS[0]), (1, SEGMENTS[1])]
    if types:
        elements.append((4, (0, 1, 2, 4)))
    out += text(([""] if order else []) + ["$EndNodes", "$Elements", "%d" % len(elements)])
    if order:
        for kind in 15, 3, 2, 1, 4:
            block = [e for t, e in elements if t == kind]
            if block:
                out += struct.pack(order + "3i", kind, len(block), 2)
            for e in block:
                out += struct.pack(order + "%di" % (3 + len(e)), 77, 1, 1, *[tags[i] for i in e])
        out += b"\n"
    else:
        for n, (kind, e) in enumerate(elements):
            out += text(["%d %d %d %s%s" % (n + 1, kind, n % 3, "9 " * (n % 3), " ".join(str(tags[i]) for i in e))])
    return out + text(["$EndElements"]) + tail.encode()


def msh4(form="text", tags=None):
    tags = tags or [1, 2, 3, 4, 5, 6]
    order = {"little": "<", "big": ">"}.get(form)
    out = text(["$MeshFormat", "4.1 %d 8" % (order is not None)])
    if order:
        out += struct.pack(order + "i", 1) + b"\n"
    out += text(["$EndMeshFormat", "$Entities", "1 0 0 0", "1 0 0 0 0", "$EndEntities", "$Nodes"])

    def put(kinds, *values):
        if order:
            return struct.pack(order + kinds, *values)
        return text([" ".join("%r" % v for v in values)])

    # Two blocks; the first has a parameter per dimension.
    out += put("4Q", 2, len(V), min(tags), max(tags))
    out += put("3iQ", 2, 7, 1, 4) + b"".join(put("Q", t) for t in tags[:4])
    out += b"".join(put("5d", *[float(c) for c in v], 0.25, 0.75) for v in V[:4])
    out += put("3iQ", 0, 1, 0, 2) + b"".join(put("Q", t) for t in tags[4:])
    out += b"".join(put("3d", *[float(c) for c in v]) for v in V[4:])
    out += (b"\n" if order else b"") + text(["$EndNodes", "$Elements"])
    blocks = [(0, 15, [(5,)]), (2, 3, [QUAD]), (2, 2, FACES[1:]), (1, 1, SEGMENTS), (3, 4, [(0, 1, 2, 4)])]
    out += put("4Q", len(blocks), 7, 1, 7)
    number = 0
    for dim, kind, elements in blocks:
        out += put("3iQ", dim, 1, kind, len(elements))
        for e in elements:
            number += 1
            out += put("%dQ" % (1 + len(e)), number, *[tags[i] for i in e])
    return out + (b"\n" if order else b"") + text(["$EndElements"])


SPARSE = [70, 3, 1000000, 12, 2, 1]
for form in "text", "little", "big":
    good["two_%s.msh" % form] = msh2(form), WHOLE
    good["two_%s_msh" % form] = msh2(form, SPARSE), WHOLE
    good["four_%s.msh" % form] = msh4(form), WHOLE
    good["four_sparse_%s.msh" % form] = msh4(form, SPARSE), WHOLE
    bad["double_%s.msh" % form] = msh2(form, [1, 2, 3, 4, 5, 3]), "node 3 is there twice"
    bad["cut2_%s.msh" % form] = msh2(form)[:-40], ""
    bad["cut4_%s.msh" % form] = msh4(form)[:-40], ""
    bad["type_%s.msh" % form] = msh2(form).replace(b"\n7 4 0 ", b"\n7 200 0 ").replace(
        struct.pack("<3i", 4, 1, 2), struct.pack("<3i", 200, 1, 2)).replace(
        struct.pack(">3i", 4, 1, 2), struct.pack(">3i", 200, 1, 2)), "there is no element type 200 that is known here"
    bad["curved_%s.msh" % form] = msh2(form).replace(b"\n7 4 0 ", b"\n7 9 0 ").replace(
        struct.pack("<3i", 4, 1, 2), struct.pack("<3i", 9, 1, 2)).replace(
        struct.pack(">3i", 4, 1, 2), struct.pack(">3i", 9, 1, 2)), \
        "element type 9 is curved; save the mesh with elements of order 1"
good["crlf.msh"] = msh2().replace(b"\n", b"\r\n"), WHOLE
good["ends.msh"] = msh2(tail="$Unknown\nrubbish\n$EndUnknown\n"), WHOLE
bad["old.msh"] = text(["$MeshFormat", "4 0 8", "$EndMeshFormat"]), "line 2: version 4 of the format is not read; save as"
bad["older.msh"] = text(["$NOD", "1", "1 0 0 0", "$ENDNOD"]), "'$EndNOD' does not follow"
bad["width.msh"] = text(["$MeshFormat", "2.2 0 4", "$EndMeshFormat"]), "the data size 8, not 0 and 4"
bad["order.msh"] = text(["$MeshFormat", "2.2 1 8"]) + b"\x01\x02\x03\x04", "the mark of the byte order is 67305985, not 1"
bad["early.msh"] = msh2().replace(b"$Nodes\n6", b"$Other\n6").replace(b"$EndNodes", b"$EndOther"), \
    "section $Elements comes before $Nodes"
bad["twicenodes.msh"] = msh2() + text(["$Nodes", "0", "$EndNodes"]), "section $Nodes is there twice"
bad["nonodes.msh"] = text(["$MeshFormat", "2.2 0 8", "$EndMeshFormat"]), "the file has no $Nodes section"
bad["word.msh"] = text(["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "nodes"]), "line 4: expected a section such as $Nodes"
bad["missing.msh"] = msh2(types=False).replace(b" 9 1 2 5\n", b" 9 1 2 8\n"), "an element names node 8, which does not exist"
bad["fewer.msh"] = msh2().replace(b"$Nodes\n6", b"$Nodes\n5"), "expected '$EndNodes', not '6'"
bad["morenodes.msh"] = msh2().replace(b"$Nodes\n6", b"$Nodes\n7"), "the number of a node must be a whole number, not '$EndNo"
bad["negative.msh"] = msh2().replace(b"$Nodes\n6", b"$Nodes\n-6"), "the number of nodes cannot be -6"
bad["fewer4.msh"] = msh4().replace(b"$Nodes\n2 6", b"$Nodes\n2 7"), "the blocks do not hold as many nodes as announced, 7"
bad["elements4.msh"] = msh4().replace(b"$Elements\n5 7", b"$Elements\n5 8"), "do not hold as many elements as announced, 8"
bad["dimension.msh"] = msh4().replace(b"2 7 1 4\n", b"-2 7 1 4\n"), "the dimension of an entity is 0 to 3, not -2"
bad["count4.msh"] = msh4().replace(b"2 7 1 4\n", b"2 7 1 -4\n"), "a count cannot be -4"


# HDF5
def h5(make):
    with tempfile.NamedTemporaryFile() as f:
        with h5py.File(f.name, "w") as h:
            make(h)
        return open(f.name, "rb").read()


def h5_plain(h, real="<f8", whole="<i8", **how):
    h.create_dataset("vertices", data=np.array(V, real), **how)
    h.create_dataset("triangles", data=np.array(TRIANGLES, whole), **how)
    h.create_dataset("segments", data=np.array(SEGMENTS, whole), **how)


good["plain.h5"] = h5(h5_plain), WHOLE
good["renamed.obj"] = h5(h5_plain), WHOLE
good["big.h5"] = h5(lambda h: h5_plain(h, ">f8", ">i4")), WHOLE
good["small.hdf5"] = h5(lambda h: h5_plain(h, "<f4", "<u2")), (V32, TRIANGLES, SEGMENTS)
good["packed.h5"] = h5(lambda h: h5_plain(h, chunks=(2, 2), compression="gzip", shuffle=True, fletcher32=True)), WHOLE
good["points.h5"] = h5(lambda h: h.create_dataset("vertices", data=np.array(V))), (V, [], [])


# Solids, read as such for their names: a tetrahedron cut in four at a vertex inside; the surface in their order.
INSIDE = [(0, 0, 0), (2, 0, 0), (0, 2, 0), (0, 0, 2), (0.4, 0.4, 0.4)]
TETS = [(4, 1, 2, 3), (0, 4, 2, 3), (0, 1, 4, 3), (0, 1, 2, 4)]
SURFACE = [(1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1)]
SOLID = (INSIDE, SURFACE, [], TETS)


def gmsh_solid(version, form="text", x=None, tets=None, more=()):
    """Tetrahedra as Gmsh writes them; `more`: elements (type, vertices) before them."""
    x, order = INSIDE if x is None else x, {"little": "<", "big": ">"}.get(form)
    blocks = [(kind, [e for k, e in more if k == kind]) for kind in sorted({k for k, _ in more})]
    blocks.append((4, TETS if tets is None else tets))
    count = sum(len(b) for _, b in blocks)

    def put(kinds, *values):
        return struct.pack(order + kinds, *values) if order else text([" ".join("%r" % v for v in values)])

    out = text(["$MeshFormat", "%s %d 8" % (version, order is not None)])
    out += struct.pack(order + "i", 1) + b"\n" if order else b""
    out += text(["$EndMeshFormat", "$Nodes"])
    if version == "2.2":
        out += text(["%d" % len(x)]) + b"".join(put("i3d", n + 1, *map(float, v)) for n, v in enumerate(x))
        out += (b"\n" if order else b"") + text(["$EndNodes", "$Elements", "%d" % count])
        for kind, block in blocks:
            if order:
                out += struct.pack(order + "3i", kind, len(block), 2)
            for n, e in enumerate(block):
                out += put("%di" % (3 + len(e)), n + 1, 1, 1, *[i + 1 for i in e]) if order else \
                    put("", n + 1, kind, 2, 1, 1, *[i + 1 for i in e])
    else:
        out += put("4Q", 1, len(x), 1, len(x)) + put("3iQ", 3, 1, 0, len(x))
        out += b"".join(put("Q", n + 1) for n in range(len(x))) + b"".join(put("3d", *map(float, v)) for v in x)
        out += (b"\n" if order else b"") + text(["$EndNodes", "$Elements"]) + put("4Q", len(blocks), count, 1, count)
        for kind, block in blocks:
            out += put("3iQ", 3, 1, kind, len(block))
            out += b"".join(put("%dQ" % (1 + len(e)), n + 1, *[i + 1 for i in e]) for n, e in enumerate(block))
    return out + (b"\n" if order else b"") + text(["$EndElements"])


def h5_solid(h, x=None, tets=None):
    h.create_dataset("vertices", data=np.array(INSIDE if x is None else x, float))
    h.create_dataset("tetrahedra", data=np.array(TETS if tets is None else tets))


for version in "2.2", "4.1":
    for form in "text", "little", "big":
        name = "%s_%s.msh" % (version, form)
        good["tets_" + name] = gmsh_solid(version, form), SOLID
        # The surface that Gmsh writes too is left out of a solid, and is what others read.
        good["tets_skin_" + name] = gmsh_solid(version, form, more=[(2, (0, 2, 1)), (1, (0, 1)), (15, (3,))]), SOLID
        bad["tets_cut_" + name] = gmsh_solid(version, form)[:-60], ""
good["skin.msh"] = gmsh_solid("2.2", more=[(2, (0, 2, 1)), (1, (0, 1))]), (INSIDE[:3], [(0, 2, 1)], [(0, 1)])
good["alone.msh"] = gmsh_solid("4.1"), (INSIDE[:4], SURFACE, [])
good["tets_mirrored.msh"] = gmsh_solid("4.1", tets=[(a, b, d, c) for a, b, c, d in TETS]), SOLID  # all of them
good["tets_plain.h5"] = h5(h5_solid), SOLID
bad["tets_none.msh"] = gmsh_solid("2.2", tets=[], more=[(2, (0, 2, 1))]), "has no tetrahedra, and the body's material is"
bad["tets_flat.msh"] = gmsh_solid("2.2", x=INSIDE[:4] + [(1, 1, 0)]), "tetrahedron 0 near (1, 1, 0) is flat: it has no volume"
bad["tets_inverted.msh"] = gmsh_solid("2.2", tets=TETS[:2] + [(0, 4, 1, 3), TETS[3]]), "tetrahedron 2 near (0, 0, 0) is inverted"
bad["tets_twice.msh"] = gmsh_solid("2.2", tets=TETS + [(2, 4, 1, 3)]), "tetrahedron 4 has the same vertices as tetrahedron 0"
bad["tets_node.msh"] = gmsh_solid("2.2", tets=[(0, 1, 2, 8)]), "an element names node 9, which does not exist"
bad["tets_corner.msh"] = gmsh_solid("4.1", tets=[(0, 1, 2, 2)]), "tetrahedron 0 names vertex 2 twice"
bad["tets_three.msh"] = gmsh_solid("2.2", x=INSIDE + [(5, 5, 5)], tets=TETS[:1] + [(5, 2, 1, 3), (0, 1, 2, 3)]), \
    "belongs to more than two tetrahedra, among them the tetrahedra"
bad["tets_over.msh"] = gmsh_solid("2.2", x=INSIDE + [(0.5, 0.5, 0.5)], tets=TETS[:1] + [(5, 1, 2, 3)]), \
    "belongs to both the tetrahedra 0 and 1, which lie on the same side of it"


def bad_h5(name, make, sentence):
    bad[name + ".h5"] = h5(make), sentence


def h5_bad(table, data):
    def make(h):
        h5_plain(h)
        del h[table]
        if data is not None:
            h.create_dataset(table, data=data)
    return make


bad_h5("novertices", h5_bad("vertices", None), "has no dataset /vertices; a mesh in HDF5 needs")
bad_h5("shape", h5_bad("vertices", np.zeros((6, 2))), "/vertices must be of shape (rows, 3)")
bad_h5("rank", h5_bad("triangles", np.zeros(9, "i8")), "/triangles must be of shape (rows, 3)")
bad_h5("reals", h5_bad("triangles", np.zeros((3, 3))), "/triangles must hold integers")
bad_h5("text", h5_bad("vertices", np.array([[b"a"] * 3] * 6)), "/vertices must hold floating-point numbers")
bad_h5("minus", h5_bad("triangles", np.array([[0, 1, 2], [0, 1, -1]])), "triangle 1 names a vertex that does not exist")
bad_h5("past", h5_bad("triangles", np.array([[0, 1, 2], [0, 1, 2**62]])), "triangle 1 names a vertex that does not")
bad_h5("nan", h5_bad("vertices", np.full((6, 3), np.nan)), "the x coordinate of vertex 0 is")
bad_h5("tets_past", lambda h: h5_solid(h, tets=[(0, 1, 2, 77)]), "tetrahedron 0 names a vertex that does not exist")
bad_h5("tets_shape", lambda h: h5_solid(h, tets=[(0, 1, 2)]), "/tetrahedra must be of shape (rows, 4)")
bad_h5("tets_nan", lambda h: h5_solid(h, x=[(np.nan, 0, 0)] * 5), "the x coordinate of vertex 0 is")
bad_h5("group", lambda h: h.create_group("vertices"), "/vertices cannot be opened as a dataset")
bad_h5("empty", lambda h: h.create_dataset("vertices", data=np.zeros((0, 3))), "empty.h5: has no vertices")
bad_h5("claims", lambda h: h.create_dataset("vertices", (10**8, 3), "f8"), "/vertices is not stored whole in this file")
bad_h5("sparse", lambda h: h.create_dataset("vertices", (10**8, 3), "f8", chunks=(1000, 3)), "is not stored whole")
bad_h5("rows", lambda h: h.create_dataset("vertices", (2**40, 3), "f8", chunks=(1000, 3)), "more than one mesh may have")
bad_h5("outside", lambda h: h.create_dataset("vertices", (6, 3), "f8", external=[("/etc/passwd", 0, 144)]),
       "is not stored whole in this file")
bad["cut.h5"] = h5(h5_plain)[:-200], "cannot be opened as HDF5; the file is damaged"
bad["no.h5"] = b"hello\n", "is no HDF5 file, though its name says so"


def run(tool, folder, names):
    """One answer per file, all from one process; a crash names the file it stopped at."""
    paths = "".join(os.path.join(folder, n) + "\n" for n in names)
    ran = subprocess.run([tool], input=paths.encode(), stdout=subprocess.PIPE, timeout=600)
    lines = ran.stdout.decode().split("\n")[:-1]
    if ran.returncode != 0 or len(lines) != len(names):
        at = names[min(len(lines), len(names) - 1)]
        os.system("cp '%s' /tmp/crash-of-formats" % os.path.join(folder, at))
        sys.exit("describe ended with %d at %s, now in /tmp/crash-of-formats" % (ran.returncode, at))
    return [json.loads(line) for line in lines]


def damage(data, rng):
    """A few bytes changed, cut out, doubled, or the end lost."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        at, kind = rng.randrange(len(data)), rng.randrange(7)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at] = rng.choice(b"\x00\xff\x7f\x80 \n09-.e/$")
        elif kind == 2:
            del data[at:at + rng.randrange(1, 40)]
        elif kind == 3:
            data[at:at] = data[at:at + rng.randrange(1, 40)]
        elif kind == 4:
            data = data[:at]
        elif kind == 5:
            data[at:at + 4] = struct.pack("<i", rng.choice([-1, 0, 2**31 - 1, -2**31, 1000]))
        else:
            data[at:at] = rng.choice([b"999999999999999999999", b"-1", b"1e308", b"nan", b"\n", b" "])
        if not data:
            data = bytearray(b"\n")
    return bytes(data)


def main():
    tool, failures = sys.argv[1], []
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 25
    with tempfile.TemporaryDirectory() as folder:
        for name, (data, _) in list(good.items()) + list(bad.items()):
            with open(os.path.join(folder, name), "wb") as f:
                f.write(data)
        for name, reported in zip(good, run(tool, folder, list(good))):
            tables = (tuple(good[name][1]) + ([],))[:4]
            flat = [[c for row in table for c in row] for table in tables]
            if reported["code"] != 0 or [reported[k] for k in ("x", "triangles", "segments", "tetrahedra")] != flat:
                failures.append("%s: %s" % (name, reported))
        for name, reported in zip(bad, run(tool, folder, list(bad))):
            if reported["code"] != 2 or bad[name][1] not in reported["error"] or "\n" in reported["error"] or name not in reported["error"]:
                failures.append("%s:\n  expected %r\n  got %r" % (name, bad[name][1], reported["error"]))
        for name, sentence in (("missing.obj", "No such file or directory"), (".", "it is a folder"),
                               ("pipe", "it is not a regular file")):
            if name == "pipe":
                os.mkfifo(os.path.join(folder, name))
            reported = run(tool, folder, [name])[0]
            if reported["code"] != 2 or sentence not in reported["error"]:
                failures.append("%s: %s" % (name, reported))
        rng, names = random.Random(1), []
        for name, (data, _) in good.items():
            for n in range(rounds):
                names.append("%d-%s" % (n, name))
                with open(os.path.join(folder, names[-1]), "wb") as f:
                    f.write(damage(data, rng))
        answers = run(tool, folder, names)
        for name, reported in zip(names, answers):
            if reported["code"] not in (0, 2) or (reported["code"] == 2 and name not in reported["error"]):
                failures.append("%s: %s" % (name, reported))
        print("%d good files, %d bad ones, %d damaged ones of which %d were refused; %d failures" %
              (len(good), len(bad), len(names), sum(a["code"] == 2 for a in answers), len(failures)))
    for failure in failures:
        print(failure)
    sys.exit(bool(failures))


main()
