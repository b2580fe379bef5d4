#!/usr/bin/python3
"""Meshes of other programs: VTK .vtu in every way that its numbers are stored, Abaqus .inp, solids out as Gmsh .msh; and
`weld`, which joins the seams of files.  What is not read is refused by name."""
import base64
import os
import struct
import subprocess
import sys
import tempfile
import zlib

import h5py
import numpy as np

TACTUS = os.environ["TACTUS"]
os.environ["OMPI_MCA_ess_singleton_isolated"] = "1"
failures = []
X = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1.1)], float)
TETS = [(0, 1, 2, 3), (1, 2, 3, 4)]
TETS = [t if np.dot(np.cross(X[t[1]] - X[t[0]], X[t[2]] - X[t[0]]), X[t[3]] - X[t[0]]) > 0 else (t[0], t[2], t[1], t[3]) for t in TETS]


def check(condition, *what):
    if not condition:
        failures.append(what)


def convert(name, *words, to="out.h5"):
    if os.path.exists(to):
        os.remove(to)
    ran = subprocess.run([TACTUS, "mesh", "file", "--path", name, "-o", to, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return ran.returncode, ran.stderr.decode()


def read(name="out.h5"):
    with h5py.File(name) as f:
        return {key: f[key][()] for key in f}


def put(name, data):
    with open(name, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def good(name, data, vertices, triangles=None, segments=None, tetrahedra=None, words=(), says=""):
    put(name, data)
    code, err = convert(name, *words)
    check(code == 0 and says in err, name, code, err)
    if code:
        return
    got = read()
    check(np.array_equal(got["vertices"], np.asarray(vertices, float)), name, "vertices", got["vertices"])
    for key, wanted in (("triangles", triangles), ("segments", segments), ("tetrahedra", tetrahedra)):
        if wanted is not None:
            there = got.get(key)
            check(there is not None and np.array_equal(there, np.asarray(wanted)), name, key, there)


def bad(name, data, sentence, words=()):
    put(name, data)
    code, err = convert(name, *words)
    check(code == 2 and sentence in err and err.count("\n") == 1, name, code, err, sentence)


# ---- VTK ----

def b64(data):
    return base64.b64encode(data)


class Vtu:
    """Writes one; way: ascii, inline, appended (base64), raw; big: byte order; header: I or Q; packed: by zlib; joint: one
    piece of base64 for header and data, as some programs do it."""

    def __init__(self, way, big=False, header="I", packed=False, joint=False, block=40):
        self.way, self.mark, self.header, self.packed, self.joint, self.block = way, ">" if big else "<", header, packed, joint, block
        self.big, self.appended = big, b""

    def bytes_of(self, data):
        head = lambda *n: struct.pack(self.mark + "%d%s" % (len(n), self.header), *n)
        if not self.packed:
            return (head(len(data)), data)
        blocks = [data[k:k + self.block] for k in range(0, len(data), self.block)]
        small = [zlib.compress(b) for b in blocks]
        last = len(blocks[-1]) if blocks and len(blocks[-1]) < self.block else 0
        return (head(len(blocks), self.block, last, *map(len, small)), b"".join(small))

    def array(self, name, kind, code, values, columns=""):
        tag = '<DataArray type="%s" Name="%s" %s' % (kind, name, columns)
        if self.way == "ascii":
            return (tag + ' format="ascii">\n%s\n</DataArray>\n' % " ".join(map(repr, values))).encode()
        head, data = self.bytes_of(struct.pack(self.mark + "%d%s" % (len(values), code), *values))
        coded = head + data if self.way == "raw" else b64(head + data) if self.joint else b64(head) + b64(data)
        if self.way == "inline":
            return (tag + ' format="binary">\n  ').encode() + coded + b"\n</DataArray>\n"
        at = len(self.appended)
        self.appended += coded
        return (tag + ' format="appended" offset="%d"/>\n' % at).encode()

    def file(self, points, cells, wide=True):
        """cells: [(type, nodes)]"""
        flat = [n for _, nodes in cells for n in nodes]
        ends = list(np.cumsum([len(nodes) for _, nodes in cells]))
        body = b"<Points>" + self.array("Points", "Float64" if wide else "Float32", "d" if wide else "f", [float(v) for v in np.ravel(points)], 'NumberOfComponents="3"') + b"</Points><Cells>"
        body += self.array("connectivity", "Int64" if wide else "Int32", "q" if wide else "i", [int(n) for n in flat])
        body += self.array("offsets", "Int64" if wide else "UInt16", "q" if wide else "H", [int(n) for n in ends])
        body += self.array("types", "UInt8", "B", [t for t, _ in cells]) + b"</Cells>"
        out = b'<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" version="1.0" byte_order="%s" header_type="%s"%s>\n' % (
            b"BigEndian" if self.big else b"LittleEndian", b"UInt64" if self.header == "Q" else b"UInt32",
            b' compressor="vtkZLibDataCompressor"' if self.packed else b"")
        out += b'<UnstructuredGrid><Piece NumberOfPoints="%d" NumberOfCells="%d">\n' % (len(points), len(cells))
        out += b'<PointData><DataArray type="Float64" Name="u" format="ascii">1 2</DataArray></PointData>' + body + b"</Piece></UnstructuredGrid>\n"
        if self.appended:
            out += b'<AppendedData encoding="%s">\n  _' % (b"raw" if self.way == "raw" else b"base64") + self.appended + b"\n</AppendedData>\n"
        return out + b"</VTKFile>\n"


SOLID = [(10, t) for t in TETS]
MIXED = [(1, (0,)), (5, (0, 1, 2)), (9, (0, 1, 4, 3)), (3, (2, 3)), (4, (3, 4, 2))]
MIXED_TRIANGLES, MIXED_SEGMENTS = [(0, 1, 2), (0, 1, 4), (0, 4, 3)], [(2, 3), (3, 4), (4, 2)]
SMALL = X.astype(np.float32)


def vtk():
    for way in ("ascii", "inline", "appended", "raw"):
        for big, header, packed, joint in ((0, "I", 0, 0), (1, "Q", 0, 1), (0, "Q", 1, 0), (1, "I", 1, 0)):
            name = "%s-%d%s%d%d.vtu" % (way, big, header, packed, joint)
            good(name, Vtu(way, big, header, packed, joint).file(X, SOLID), X, tetrahedra=TETS)
            good("m-" + name, Vtu(way, big, header, packed, joint, 8).file(X, MIXED, False), X if way == "ascii" else SMALL, MIXED_TRIANGLES, MIXED_SEGMENTS)
    two = Vtu("ascii").file(X, SOLID)
    piece = two[two.index(b"<Piece"):two.index(b"</UnstructuredGrid>")]
    good("pieces.vtu", two.replace(piece, piece + piece.replace(b"0.0 0.0 0.0", b"-1.0 -1.0 -1.0", 1)), np.vstack([X, [(-1, -1, -1)], X[1:]]),
         tetrahedra=TETS + [tuple(5 + n for n in t) for t in TETS])
    good("pixel.vtu", Vtu("raw").file(X, [(8, (0, 1, 2, 4)), (6, (0, 1, 3, 4))]), X, [(0, 1, 4), (0, 4, 2), (0, 1, 3), (3, 1, 4)])
    whole = Vtu("raw", packed=True).file(X, SOLID)
    bad("cut.vtu", whole[:-60], "cut off")
    bad("nodata.vtu", whole[:whole.index(b"<AppendedData")], "XML is wrong")
    bad("lz4.vtu", whole.replace(b"vtkZLibData", b"vtkLZ4Data"), "vtkLZ4DataCompressor")
    bad("poly.vtu", whole.replace(b'type="UnstructuredGrid"', b'type="PolyData"'), "'PolyData'")
    bad("quadratic.vtu", Vtu("ascii").file(X, [(22, (0, 1, 2, 3, 4, 0))]), "cell 0 is of VTK's type 22")
    bad("node.vtu", Vtu("inline").file(X, [(5, (0, 1, 5))]), "names a point that does not exist")
    bad("count.vtu", Vtu("ascii").file(X, [(10, (0, 1, 2))]), "3 points instead of 4")
    bad("base64.vtu", Vtu("inline").file(X, SOLID).replace(b'format="binary">\n  ', b'format="binary">\n  *', 1), "is no base64")
    bad("bomb.vtu", b'<?xml version="1.0"?><!DOCTYPE VTKFile [<!ENTITY a "aaaa">]><VTKFile type="UnstructuredGrid"/>', "DOCTYPE")
    bad("huge.vtu", Vtu("ascii").file(X, SOLID).replace(b'NumberOfPoints="5"', b'NumberOfPoints="99999999999999"'), "NumberOfPoints")
    bad("short.vtu", Vtu("ascii").file(X, SOLID).replace(b'NumberOfPoints="5"', b'NumberOfPoints="6"'), "15 numbers instead of 18")
    bad("twice.vtu", Vtu("ascii").file(X, SOLID + SOLID[:1]), "the same vertices")


# ---- Abaqus ----

def inp_nodes(first=1, step=10):
    return "".join("%d, %r, %r,%r\n" % (first + step * k, *map(float, x)) for k, x in enumerate(X))


def tag(*nodes):
    return ", ".join(str(1 + 10 * n) for n in nodes)


def abaqus():
    nodes = "*Heading\n a block, of two\n** a comment\n*NODE, nset=all\n" + inp_nodes()
    solid = nodes + "*ELEMENT, TYPE=C3D4, ELSET=one\n1, %s\n*Element, type = C3D4 , elset=two\n** another\n2, 1\n".replace("1\n", "")
    solid = nodes + "*ELEMENT, TYPE=C3D4, ELSET=one\n1, %s\n*NSET, NSET=x\n1, 11\n*Element, type = C3D4 ,\n elset=two\n** another\n2, %s,\n %s\n*MATERIAL, NAME=m\n*ELASTIC\n1e6, .3\n" % (
        tag(*TETS[0]), tag(*TETS[1][:2]), tag(*TETS[1][2:]))
    good("solid.inp", solid, X, tetrahedra=TETS)
    good("crlf.inp", solid.replace("\n", "\r\n"), X, tetrahedra=TETS)
    good("no_extension", solid, X, tetrahedra=TETS)
    good("before.inp", "*ELEMENT, TYPE=S3\n7, %s\n*ELEMENT, TYPE=S4R\n8, %s\n*ELEMENT, TYPE=T3D2\n9, %s\n" % (tag(0, 1, 2), tag(0, 1, 4, 3), tag(2, 3)) + nodes,
         X, [(0, 1, 2), (0, 1, 4), (0, 4, 3)], [(2, 3)])
    good("flat.inp", "*NODE\n1, 0, 0\n2, 1,\n3, 0, 1.\n*ELEMENT, TYPE=CPS3\n1,1,2,3", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    good("cae.inp", "*Part, name=P\n" + nodes[nodes.index("*NODE"):] + "*Element, type=C3D4\n1, %s\n2, %s\n*End Part\n*Assembly, name=A\n*Instance, name=I, part=P\n*End Instance\n"
         "*Node\n1, 9, 9, 9\n*End Assembly\n*Step\n*Static\n1., 1.\n*End Step\n" % (tag(*TETS[0]), tag(*TETS[1])), X, tetrahedra=TETS)
    line = solid.count("\n", 0, solid.index("*ELEMENT")) + 1
    bad("c3d10.inp", solid.replace("TYPE=C3D4, ELSET=one", "TYPE=C3D10, ELSET=one"), "c3d10.inp, line %d: elements of TYPE=C3D10 are not read" % line)
    bad("hexa.inp", solid.replace("type = C3D4", "type=C3D8R"), "TYPE=C3D8R")
    bad("include.inp", solid + "*INCLUDE, INPUT=more.inp\n", "*INCLUDE of 'more.inp' is not followed")
    bad("other.inp", "*NODE, INPUT=nodes.txt\n" + solid, "'nodes.txt'")
    bad("moved.inp", solid + "*Assembly\n*Instance, name=I, part=P\n 1., 0., 0.\n", "the instance is moved by this line")
    bad("parts.inp", solid + "*Part, name=Q\n" + nodes, "a second part begins")
    bad("twice.inp", nodes + "*NODE\n1, 2, 3, 4\n", "node 1 is there twice")
    bad("missing.inp", nodes + "*ELEMENT, TYPE=S3\n1, 1, 11, 12\n", "names node 12, which does not exist")
    bad("few.inp", nodes + "*ELEMENT, TYPE=S3\n1, 1, 11\n", "has 2 nodes; its type has 3")
    bad("many.inp", nodes + "*ELEMENT, TYPE=S3\n1, 1, 11, 21, 31\n", "more nodes than its type has")
    bad("ngen.inp", nodes + "*NGEN\n1, 5\n", "*NGEN makes or moves nodes")
    bad("number.inp", "*NODE\n1, a, 0, 0\n", "line 2: x of a node must be a number, not 'a'")
    bad("none.inp", "*HEADING\n nothing\n", "has no *NODE")


# ---- weld ----

def weld():
    off = 1e-9
    seam = "".join("v %r %r %r\n" % tuple(map(float, x)) for x in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (1 + off, 0, 0), (off, 1, 0), (1, 1, 0)))
    seam += "f 1 2 3\nf 4 6 5\n"
    good("seam.obj", seam, [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1 + off, 0, 0), (off, 1, 0), (1, 1, 0)], [(0, 1, 2), (3, 5, 4)])
    good("seam.obj", seam, [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)], [(0, 1, 2), (1, 3, 2)], words=("--weld", "1e-8"), says="2 of 6 vertices")
    good("apart.obj", seam, [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1 + off, 0, 0), (off, 1, 0), (1, 1, 0)], [(0, 1, 2), (3, 5, 4)], words=("--weld", "1e-10"))
    good("collapse.obj", seam + "v 0.5 0.5 0\nf 1 2 7\nf 2 4 6\n".replace("f 1 2 7\n", "f 2 7 6\n"), [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (.5, .5, 0)],
         [(0, 1, 2), (1, 3, 2), (1, 4, 3)], words=("--weld", "1e-8"), says="1 elements have collapsed")
    # Chains do not pull: what stays lies at least that far apart, and nothing moves further.
    good("chain.obj", "v 0 0 0\nv .6 0 0\nv 1.2 0 0\nv 3 0 0\nv 0 5 0\nf 1 4 5\nf 2 4 5\nl 3 5\n".replace("f 2 4 5\n", ""), [(0, 0, 0), (1.2, 0, 0), (3, 0, 0), (0, 5, 0)],
         [(0, 2, 3)], [(1, 3)], words=("--weld", "1"))
    bad("all.obj", seam, "every element collapses", words=("--weld", "3"))
    bad("seam.obj", seam, "--weld: must be a length from 0", words=("--weld", "-1"))
    # Against the plain way: for every vertex, in order, the lowest one that stays and is nearer.
    rng = np.random.default_rng(7)
    x = np.round(rng.uniform(-1, 1, (400, 3)), 2)
    kept = []
    for p in x:
        if not any(np.sqrt((p - q) @ (p - q)) < .12 for q in kept):
            kept.append(p)
    put("cloud.obj", "".join("v %r %r %r\n" % tuple(map(float, p)) for p in x))
    code, err = convert("cloud.obj", "--weld", ".12")
    check(code == 0 and np.array_equal(read()["vertices"], np.array(kept)), "cloud", code, err, len(kept))


# ---- .msh out ----

def msh():
    for words in (["box", "--size", "1,2,3", "--cells", "2,2,3", "--fill", "tets"], ["sphere", "--radius", ".3", "--level", "2", "--fill", "tets"],
                  ["torus", "--radii", "1,.25", "--cells", "12,6"], ["segments", "--from", "0,0,0", "--to", "1,2,3", "--cells", "7"]):
        for name in ("a.msh", "a.h5"):
            ran = subprocess.run([TACTUS, "mesh", *words, "-o", name], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            check(ran.returncode == 0, words, name, ran.stderr)
        code, err = convert("a.msh")
        check(code == 0 and err == "", words, code, err)
        a, b = read("a.h5"), read()
        check(sorted(a) == sorted(b) and all(np.array_equal(a[k], b[k]) for k in a), words, "not the same through .msh")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for part in (vtk, abaqus, weld, msh):
        part()
for failure in failures:
    print(*failure)
print("exchange: %d failures" % len(failures))
sys.exit(1 if failures else 0)
