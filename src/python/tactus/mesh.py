"""Meshes: those that the program generates, and numpy arrays.

    >>> import tactus
    >>> sheet = tactus.grid(size=[1, 1], cells=[2, 2])
    >>> vertices, triangles, segments = sheet.arrays()
    >>> vertices.shape, triangles.shape
    ((9, 3), (8, 3))

Each function gives a `Mesh`, which is a scene's "mesh" object (docs/reference/meshes.md); a mesh is generated when its arrays
are used.  Arrays are checked at once:

    >>> tactus.mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 3]])
    Traceback (most recent call last):
    ...
    tactus.errors.InputError: triangles[0] names vertex 3; there are 3 vertices, 0 to 2
"""
import ctypes
import os

import numpy as np

from . import _library
from .errors import InputError

COUNTS = {"triangles": 3, "edges": 2, "tetrahedra": 4}


def real_array(value, where, columns=3):
    """value as (n, columns) float64, finite; one sentence for what it is not."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise InputError(f"{where} is no array: {error}") from None
    if array.dtype == object or array.dtype.kind not in "fiu":
        raise InputError(f"{where} has dtype {array.dtype}; real numbers (float64) are needed")
    if array.ndim != 2 or array.shape[1] != columns:
        raise InputError(f"{where} has shape {array.shape}; it must be (n, {columns})")
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        raise InputError(f"{where} has dtype {array.dtype}, which float64 cannot hold without loss; convert it yourself")
    if array.dtype.kind in "iu" and array.size and max(abs(int(array.max())), abs(int(array.min()))) > 2**53:
        raise InputError(f"{where} has whole numbers beyond 2^53, which float64 cannot hold without loss")
    array = np.array(array, dtype=np.float64, order="C")
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        raise InputError(f"{where}[{bad[0][0]}, {bad[0][1]}] is {array[tuple(bad[0])]}; all numbers must be finite")
    return array


def index_array(value, where, columns, vertices):
    """value as (n, columns) int64, all from 0 to vertices - 1."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise InputError(f"{where} is no array: {error}") from None
    if array.size == 0:
        return np.zeros((0, columns), np.int64)
    if array.dtype == object or array.dtype.kind not in "iu":
        raise InputError(f"{where} has dtype {array.dtype}; whole numbers are needed")
    if array.ndim != 2 or array.shape[1] != columns:
        raise InputError(f"{where} has shape {array.shape}; it must be (n, {columns})")
    bad = np.argwhere((array < 0) | (array >= vertices))
    if len(bad):
        raise InputError(f"{where}[{bad[0][0]}] names vertex {array[tuple(bad[0])]}; there are {vertices} vertices, "
                         f"0 to {vertices - 1}")
    return np.array(array, dtype=np.int64, order="C")


class Mesh:
    """A mesh: the keys of a scene's "mesh" object, with numpy arrays in the place of long lists.

    Attributes:
        kind: "grid", "inline", ... (docs/reference/meshes.md)
        keys: the other keys; arrays: `vertices` (V, 3) float64 in m, `triangles` (T, 3) int64, `edges` (S, 2) int64,
            `tetrahedra` (K, 4) int64
        folder: where relative paths start; None: in the current folder
    """

    def __init__(self, kind, folder=None, **keys):
        self.kind, self.folder = kind, folder
        self.keys = {key: value for key, value in keys.items() if value is not None}
        self._made = None
        if "vertices" in self.keys:
            self.keys["vertices"] = real_array(self.keys["vertices"], "vertices")
            if len(self.keys["vertices"]) == 0:
                raise InputError("vertices is empty; a mesh needs at least one")
        for key, columns in COUNTS.items():
            if key in self.keys:
                self.keys[key] = index_array(self.keys[key], key, columns, len(self.keys.get("vertices", ())))

    def __repr__(self):
        reported = ", ".join(f"{key}={value.shape if isinstance(value, np.ndarray) else value!r}" for key, value in self.keys.items())
        return f"Mesh({self.kind!r}, {reported})"

    @classmethod
    def from_json(cls, spec, folder=None):
        """A mesh of a scene's "mesh" object."""
        if not isinstance(spec, dict) or "kind" not in spec:
            raise InputError("a mesh is an object with the key 'kind'; see docs/reference/meshes.md")
        made = cls.__new__(cls)
        made.kind, made.folder, made._made = spec["kind"], folder, None
        made.keys = {key: value for key, value in spec.items() if key != "kind"}
        return made

    def to_json(self, absolute=False):
        """The "mesh" object; absolute: with absolute paths."""
        from .scene import plain
        spec = {"kind": self.kind}
        for key, value in self.keys.items():
            spec[key] = plain(value, f"mesh.{key}")
        if absolute and isinstance(spec.get("path"), str):
            spec["path"] = os.path.abspath(os.path.join(self.folder or "", spec["path"]))
        return spec

    @property
    def rows(self):
        """How many rows its arrays have together; 0 for a mesh that is generated or read from a file."""
        return sum(len(value) for value in self.keys.values() if isinstance(value, np.ndarray))

    def arrays(self):
        """(vertices (V, 3) float64 in m, triangles (T, 3) int64, segments (S, 2) int64), as the program makes them.

        Generated meshes are made by the library.  The arrays are the caller's.  InputError: what is wrong with it.
        """
        if self._made is None:
            library, context = _library.load(), _library.Context()
            spec, out = _library.give_json(library, self.to_json()), ctypes.c_void_p()
            with _library.turn():
                code = library.tac_mesh_create(context.address, spec, b"mesh", _library.encode(self.folder or "."), ctypes.byref(out))
            library.json_delete(spec)
            context.check(code)
            made = library.struct["tac_mesh"].from_address(out.value)
            self._made = tuple(_copy(address, count, columns, kind) for address, count, columns, kind in (
                (made.x, made.vertex_count, 3, np.float64), (made.triangle, made.triangle_count, 3, np.int32),
                (made.segment, made.segment_count, 2, np.int32), (made.tetrahedron, made.tetrahedron_count, 4, np.int32)))
            library.tac_mesh_destroy(ctypes.byref(out))
        vertices, triangles, segments, _ = self._made
        return vertices.copy(), triangles.astype(np.int64), segments.astype(np.int64)

    def tetrahedra(self):
        """(K, 4) int64, in numbers of the vertices of arrays(): a solid's tetrahedra; none of a surface."""
        self.arrays()
        return self._made[3].astype(np.int64)


def _copy(address, count, columns, kind):
    out = np.empty((count, columns), kind)
    if count:
        ctypes.memmove(out.ctypes.data, address, out.nbytes)
    return out


def grid(size, cells):
    """A rectangle in the x-z plane, centred, facing +y.  size: [x, z] in m; cells: [nx, nz]."""
    return Mesh("grid", size=size, cells=cells)


def ribbon(curve, width, cells, up=None):
    """A band along a curve.  curve: (n, 3) points in m; width in m; cells: [along, across]; up: where it faces."""
    return Mesh("ribbon", curve=curve, width=width, cells=cells, up=up)


def sphere(radius, level=None, fill=None):
    """An icosphere of `radius` in m, with 20 x 4^level triangles; fill="tets": a solid, with 20 x 8^level tetrahedra."""
    return Mesh("sphere", radius=radius, level=level, fill=fill)


def torus(radii, cells):
    """A ring about the y axis.  radii: [R, r] in m; cells: [around the ring, around the tube]."""
    return Mesh("torus", radii=radii, cells=cells)


def cylinder(radius, height, cells, closed=None):
    """A tube about the y axis, centred.  radius, height in m; cells: [around, along]; closed: with flat ends."""
    return Mesh("cylinder", radius=radius, height=height, cells=cells, closed=closed)


def cone(radius, height, cells, closed=None):
    """A cone about the y axis.  radius, height in m; cells: [around, along]; closed: with a flat end."""
    return Mesh("cone", radius=radius, height=height, cells=cells, closed=closed)


def box(size, cells, fill=None):
    """The surface of a box, centred.  size: [x, y, z] in m; cells: [nx, ny, nz]; fill="tets": a solid of tetrahedra."""
    return Mesh("box", size=size, cells=cells, fill=fill)


def ball(radius):
    """A ball of `radius` in m, exactly round: one particle.  The body gets its radius from it."""
    return Mesh("ball", radius=radius)


def capsule(radius, length):
    """All within `radius` of a line of `length` along the y axis, centred, in m; exactly round: one segment.  The body gets its
    radius from it."""
    return Mesh("capsule", radius=radius, length=length)


def plane(size):
    """Two triangles in the x-z plane, centred, facing +y.  size: [x, z] in m."""
    return Mesh("plane", size=size)


def tetrahedron(edge, level=None):
    """A regular tetrahedron with edges of `edge` m, each triangle cut in four `level` times."""
    return Mesh("tetrahedron", edge=edge, level=level)


def cube(edge, level=None):
    """A cube with edges of `edge` m, each triangle cut in four `level` times."""
    return Mesh("cube", edge=edge, level=level)


def octahedron(edge, level=None):
    """A regular octahedron with edges of `edge` m, each triangle cut in four `level` times."""
    return Mesh("octahedron", edge=edge, level=level)


def dodecahedron(edge, level=None):
    """A regular dodecahedron with edges of `edge` m, each triangle cut in four `level` times."""
    return Mesh("dodecahedron", edge=edge, level=level)


def icosahedron(edge, level=None):
    """A regular icosahedron with edges of `edge` m, each triangle cut in four `level` times."""
    return Mesh("icosahedron", edge=edge, level=level)


def spikes(size, count, height, base, sides=None):
    """A plate with spikes.  size: [x, z] in m; count: [i, j]; height, base in m; sides: of a spike (6)."""
    return Mesh("spikes", size=size, count=count, height=height, base=base, sides=sides)


def segments(vertices=None, edges=None, start=None, end=None, cells=None, closed=None, weld=None):
    """Ropes and nets: `vertices` (V, 3) in m as a chain (closed: a ring) or with `edges` (S, 2), or from `start` to
    `end` (3) in m in `cells` parts.  (In a scene's text `start` and `end` are "from" and "to".)
    weld: vertices nearer to each other than this, m, become one."""
    return Mesh("segments", vertices=vertices, edges=edges, cells=cells, closed=closed, weld=weld, **{"from": start, "to": end})


def points(vertices=None, path=None, lattice=None):
    """Particles: `vertices` (V, 3) in m, a file's, or a lattice: dict(count=[i, j, k], spacing=m)."""
    return Mesh("points", os.getcwd(), vertices=vertices, path=None if path is None else os.fspath(path), lattice=lattice)


def mesh_file(path, folder=None, weld=None):
    """A mesh of a file: OBJ, PLY, STL, Gmsh .msh, VTK .vtu, Abaqus .inp, HDF5.  A relative path starts at `folder`, or at
    what is the current one now.  weld: vertices nearer to each other than this, m, become one: the seams of the file."""
    return Mesh("file", os.getcwd() if folder is None else os.fspath(folder), path=os.fspath(path), weld=weld)


def mesh(vertices, triangles=None, edges=None, unused="error", tetrahedra=None, weld=None):
    """A mesh of arrays, or of an object of meshio or trimesh.

    Args:
        vertices: (V, 3) float64, m; or the object, whose triangles and lines are taken (its other cells are refused)
        triangles: (T, 3) integers, 0 to V - 1
        edges: (S, 2) integers: segments, that is parts of ropes, not sides of triangles
        unused: what to do if the mesh has elements and a vertex is in none of them, which the program would
            drop: "error", or "drop" them here; the numbers of the others change then
        tetrahedra: (K, 4) integers: a solid; its triangles are then its surface, which the program finds
        weld: vertices nearer to each other than this, m, become one
    """
    if triangles is None and edges is None and tetrahedra is None and not isinstance(vertices, (np.ndarray, list, tuple)):
        vertices, triangles, edges, tetrahedra = _foreign(vertices)
        unused = "drop"
    if unused not in ("error", "drop"):
        raise InputError(f"unused is {unused!r}; it must be 'error' or 'drop'")
    if triangles is None and edges is None and tetrahedra is None:
        return Mesh("points", vertices=vertices)
    made = Mesh("inline", vertices=vertices, triangles=triangles, edges=edges, tetrahedra=tetrahedra, weld=weld)
    lists = [made.keys[key] for key in COUNTS if key in made.keys and len(made.keys[key])]
    if not lists:
        return made
    used = np.zeros(len(made.keys["vertices"]), bool)
    for rows in lists:
        used[rows] = True
    if not used.all():
        if unused == "error":
            raise InputError(f"vertices[{np.flatnonzero(~used)[0]}] is in no {'tetrahedron' if tetrahedra is not None else 'triangle and no edge'}; remove such vertices, "
                             "or have them dropped by unused='drop'")
        number = np.cumsum(used) - 1
        made.keys["vertices"] = made.keys["vertices"][used]
        for key in COUNTS:
            if key in made.keys:
                made.keys[key] = number[made.keys[key]]
    return made


def _foreign(thing):
    """(vertices, triangles, edges, tetrahedra) of an object of trimesh, meshio or PyVista; these need not be installed."""
    if hasattr(thing, "cells_dict") and hasattr(thing, "points"):  # meshio
        cells = {kind: np.asarray(rows) for kind, rows in thing.cells_dict.items() if kind != "vertex"}
        other = sorted(set(cells) - {"triangle", "line", "quad", "tetra"})
        if other:
            raise InputError(f"the mesh has cells of the kind {other[0]}; triangles, quads, lines and tetrahedra can be simulated")
        triangles = [cells[kind] for kind in ("triangle",) if kind in cells]
        if "quad" in cells:
            triangles += [cells["quad"][:, [0, 1, 2]], cells["quad"][:, [0, 2, 3]]]
        vertices = np.asarray(thing.points)
        if vertices.ndim == 2 and vertices.shape[1] == 2:
            vertices = np.column_stack([vertices, np.zeros(len(vertices))])
        if "tetra" in cells:  # a solid's triangles are its surface
            return vertices, None, None, cells["tetra"]
        return vertices, np.concatenate(triangles) if triangles else None, cells.get("line"), None
    if hasattr(thing, "faces") and hasattr(thing, "vertices"):  # trimesh
        return np.asarray(thing.vertices), np.asarray(thing.faces), None, None
    raise InputError(f"vertices is a {type(thing).__name__}; an array (V, 3), or a mesh of meshio or trimesh, is needed")
