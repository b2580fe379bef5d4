"""Scenes: built in Python, loaded, checked, saved.

    >>> import tactus
    >>> s = tactus.Scene(end=0.5, frame=0.125, gravity=[0, -9.81, 0], contact=dict(thickness=0.01))
    >>> s.material("cloth", density=0.2, stretch=dict(model="cst", stiffness=60.0))
    >>> s.body("sheet", mesh=tactus.grid(size=[1, 1], cells=[4, 4]), material="cloth", position=[0, 1, 0])
    >>> s.motion("sheet", vertices=[0, 4], path=[[0, [0, 0, 0]]])
    >>> report = s.check()
    >>> report["vertices"]["all"], report["vertices"]["scripted"]
    (25, 2)

A scene holds exactly what its JSON text says (docs/reference/scene-format.md), so it has the same hash and the same bits.  What is
wrong with arrays is reported at once, all else by `check()`, `run` and `Simulation`, in the program's own words.
"""
import copy
import ctypes
import difflib
import hashlib
import json
import math
import numbers
import os
import re
import shutil
import subprocess
import tempfile
import weakref
from typing import Any, TypedDict

import numpy as np

from . import _c, _library
from .errors import InputError, RunError
from .mesh import Mesh, real_array

FORMAT = "tactus-scene/1"
INLINE_ROWS = 20_000  # a mesh of more rows goes into a file of its own when the scene is written to the disk


class Contact(TypedDict, total=False):
    """Keys of `contact` (docs/reference/scene-format.md, contact)."""
    thickness: float
    stiffness: float
    restitution: float
    friction: "float | dict"
    rolling: float
    twisting: float
    friction_model: str
    pairs: list
    ignore: list
    thickness_exponent: float
    stiffness_exponent: float
    min_period_s: float
    pairs_per_vertex: float
    rest_fraction: float


class Clocks(TypedDict, total=False):
    """Keys of `clocks`."""
    mode: str
    quantum_s: float
    accuracy: str
    elastic_safety: float
    elastic_s: float
    contact_safety: float
    contact_s: float
    gravity_s: float
    rigid_s: float
    turn: float


class Integrator(TypedDict, total=False):
    """Keys of `integrator`. All but kind are of the kinds implicit and impact alone."""
    kind: str
    step_s: float
    operator: str
    most: int
    scheme: str
    newton: dict
    barrier: dict
    friction: dict
    solver: dict


class Discovery(TypedDict, total=False):
    """Keys of `discovery`."""
    mode: str
    window_s: list
    structure: str
    queue: str
    kdop: int
    vagueness: float


class Output(TypedDict, total=False):
    """Keys of `output`."""
    checkpoint_every_s: float
    checkpoint_every_t: float
    checkpoint_keep: int
    fields: list
    contacts: bool
    reactions: bool
    histories: list
    log: list


class Stretch(TypedDict, total=False):
    """Keys of a material's `stretch`."""
    model: str
    stiffness: float
    poisson: float
    damping: float
    limit: float
    limit_principal: float


class Bend(TypedDict, total=False):
    """Keys of a material's `bend`."""
    model: str
    stiffness: float
    damping: float
    rest: str


class Solid(TypedDict, total=False):
    """Keys of a material's `solid`."""
    model: str
    youngs: float
    poisson: float
    damping: float


# A key that is a word of Python's own cannot be written in a class above.
KEYS = {"contact": set(Contact.__annotations__), "clocks": set(Clocks.__annotations__), "integrator": set(Integrator.__annotations__),
        "discovery": set(Discovery.__annotations__), "output": set(Output.__annotations__),
        "stretch": {*Stretch.__annotations__, "yield"}, "bend": {*Bend.__annotations__, "yield"},
        "solid": set(Solid.__annotations__),
        "rotate": {"axis", "center", "path"}}


def plain(value, where):
    """Returns value in types of JSON: numpy's numbers and arrays become Python's, to the last bit; NaN and the like are refused."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist(), where)
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise InputError(f"{where} has the key {key!r}; keys are texts")
        return {key: plain(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        if value and all(type(item) is float for item in value):
            bad = next((k for k, item in enumerate(value) if not math.isfinite(item)), None)
            if bad is None:
                return list(value)
        return [plain(item, f"{where}[{k}]") for k, item in enumerate(value)]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, (numbers.Real, np.floating)):
        if isinstance(value, np.floating) and value.dtype.itemsize > 8 and np.longdouble(float(value)) != value:
            raise InputError(f"{where} is {value}, which float64 cannot hold without loss")
        if not math.isfinite(value):
            raise InputError(f"{where} is {float(value)}; it must be finite")
        return float(value)
    if isinstance(value, (str, os.PathLike)):
        text = os.fspath(value)
        if isinstance(text, bytes) or "\0" in text or any(0xD800 <= ord(c) <= 0xDFFF for c in text):
            raise InputError(f"{where} is {text!r}, which JSON cannot hold; use a text of Unicode without zero bytes")
        return text
    if value is None and re.search(r"joint.*\.b\.body$", where):
        return None  # the world
    if value is None:
        raise InputError(f"{where} is None; leave it out, or give it a value")
    raise InputError(f"{where} is a {type(value).__name__}; a number, text, list, dict or numpy array is needed")


def section(name, value, also=()):
    """Returns a dict of keys that are known by name; typing errors are reported at once."""
    if not isinstance(value, dict):
        raise InputError(f"{name} is a {type(value).__name__}; a dict is needed")
    known = KEYS[name] | set(also)
    for key in value:
        if key not in known:
            near = difflib.get_close_matches(str(key), sorted(known), 1)
            raise InputError(f"{name} has no key {key!r}" + (f"; did you mean {near[0]!r}?" if near else f"; its keys are {', '.join(sorted(known))}"))
    return plain(value, name)


def given(**keys):
    return {key: value for key, value in keys.items() if value is not None}


class _Folder:
    """A folder for a scene's own files; copies of the scene share it, and the last one removes it."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="tactus-positions-")
        weakref.finalize(self, shutil.rmtree, self.path, True)

    def __deepcopy__(self, memo):
        return self


class Geometry:
    """A scene's placed meshes, all bodies after one another, as the simulation starts.

    Attributes:
        positions: (V, 3) float64, m
        velocities: (V, 3) float64, m/s; 0 for vertices that are never free
        mass: (V) float64, kg; 0 for fixed vertices
        free: (V) bool: at some time the vertex is free
        body: (V) int32: which body, in the order of the scene
        triangles: (T, 3) int64
        segments: (S, 2) int64
        names: the bodies' names
    """

    def __init__(self, library, scene, names):
        mesh = library.struct["tac_local_mesh"].from_address(scene.mesh)

        def array(address, columns, kind, count=mesh.vertex_count):
            out = np.empty((count, columns) if columns > 1 else count, kind)
            if count:
                ctypes.memmove(out.ctypes.data, address, out.nbytes)
            return out
        self.positions, self.velocities = array(mesh.x, 3, np.float64), array(mesh.v, 3, np.float64)
        self.mass, self.free = array(mesh.mass, 1, np.float64), array(mesh.ever_free, 1, np.uint8).astype(bool)
        self.body, self.names = array(mesh.vertex_body, 1, np.int32), names
        self.triangles = array(mesh.triangle, 3, np.int32, mesh.triangle_count).astype(np.int64)
        self.segments = array(mesh.segment, 2, np.int32, mesh.segment_count).astype(np.int64)

    def vertices(self, name):
        """The body's vertices as a slice of all."""
        if name not in self.names:
            raise InputError(f"there is no body {name!r}; the bodies are {', '.join(map(repr, self.names))}")
        at = np.flatnonzero(self.body == self.names.index(name))
        return slice(int(at[0]), int(at[-1]) + 1) if len(at) else slice(0, 0)


class _Load:
    """The name `load` of scenes: `Scene.load(path)` is from_file(), and `scene.load("sheet", force=...)` is add_load()."""

    def __get__(self, scene, kind):
        return kind.from_file if scene is None else scene.add_load


class Scene:
    """A scene.

    Args:
        end: when the simulation ends, s
        frame: time between frames, s
        name: of the scene
        units: "SI", or {"length": "mm", "mass": "t", "time": "s"}; nothing is converted
        gravity: (3) m/s^2
        contact, clocks, integrator, discovery, output: dicts with the keys of docs/reference/scene-format.md

    Attributes:
        data: what the scene's JSON says, except that bodies have `Mesh` objects; may be changed
        folder: where relative paths start; None: in the current folder
    """

    def __init__(self, end: float, frame: float, *, name: "str | None" = None, units: "str | dict | None" = None, gravity=None, contact: "Contact | None" = None,
                 clocks: "Clocks | None" = None, integrator: "Integrator | None" = None, discovery: "Discovery | None" = None,
                 output: "Output | None" = None):
        self.folder = None
        self._sets: "dict[tuple[str, str], Any]" = {}
        self._written = None
        self.data: "dict[str, Any]" = {"format": FORMAT}
        if name is not None:
            self.data["name"] = plain(name, "name")
        if units is not None:
            self.data["units"] = plain(units, "units")
        self.data["time"] = {"end": plain(end, "end"), "frame": plain(frame, "frame")}
        if gravity is not None:
            self.data["gravity"] = plain(gravity, "gravity")
        for key, value in given(contact=contact, clocks=clocks, integrator=integrator, discovery=discovery, output=output).items():
            self.data[key] = section(key, value)

    load = _Load()

    # ---- what is in it ----

    def material(self, name: str, *, density: "float | None" = None, stretch: "Stretch | None" = None, bend: "Bend | None" = None,
                 solid: "Solid | None" = None, **elements) -> None:
        """Adds a material, or replaces that of this name.

        Args:
            density: kg/m^2 on triangles, kg/m on segments; with `solid` kg/m^3
            stretch, bend, solid: dicts (docs/reference/scene-format.md, materials)
            elements: sections of elements that were added to the program (docs/reference/elements.md)
        """
        made = plain(given(density=density), f"materials.{name}")
        for key, value in given(stretch=stretch, bend=bend, solid=solid).items():
            made[key] = section(key, value)
        made.update(plain(elements, f"materials.{name}"))
        self.data.setdefault("materials", {})[plain(name, "material")] = made

    def body(self, name: str, mesh, *, material: "str | None" = None, mass: "float | None" = None, radius: "float | None" = None,
             position=None, rotation=None, scale: "float | None" = None, velocity=None, angular_velocity=None, random_speed=None,
             seed: "int | None" = None, fixed: "bool | None" = None, self_contact: "bool | None" = None, rolls: "bool | None" = None,
             spin=None, rigid=None, start=None) -> None:
        """Adds a body.

        Args:
            mesh: a `Mesh` (tactus.grid() and its like, tactus.mesh()), or an object of meshio or trimesh
            material: name of a material
            mass: kg of each vertex; overrides the density
            radius: m, offset of the surface
            position: (3) m
            rotation: (3) rotation vector in degrees
            scale: a factor
            velocity: (3) m/s
            angular_velocity: (3) rad/s about the centre of mass
            random_speed: [lo, hi] m/s, with `seed`
            fixed: never moves
            self_contact: contact with itself (the key "self")
            rolls: friction turns its particles
            spin: (3) rad/s of each of them
            rigid: True, dict(density=...) in kg/m^3 or dict(mass=...) in kg: it does not deform; the dict may
                have frequency=..., 1/s, how stiff its shape is in the implicit integrator, and pieces=True: each
                connected piece of the mesh is rigid by itself
            start: where its vertices are at t = 0, and how fast: (V, 3) positions, m; dict(position=..., velocity=...), one of them or
                both, (V, 3), m and m/s; or an HDF5 file with these. The placed mesh stays the rest shape
        """
        from .mesh import mesh as mesh_of
        keys = given(material=material, mass=mass, radius=radius, position=position, rotation=rotation, scale=scale, velocity=velocity,
                     angular_velocity=angular_velocity, random_speed=random_speed, seed=seed, fixed=fixed, rolls=rolls, spin=spin,
                     rigid=rigid)
        if start is not None:
            keys["start"] = start if isinstance(start, dict) and "file" in start else {"file": self._start_of(start)}
        if self_contact is not None:
            keys["self"] = self_contact
        bodies = self.data.setdefault("bodies", [])
        if any(b.get("name") == name for b in bodies):
            raise InputError(f"there is a body {name!r} already; names of bodies are unique")
        if isinstance(mesh, dict):
            mesh = Mesh.from_json(mesh, self.folder)
        made = {"name": plain(name, "name"), "mesh": mesh if isinstance(mesh, Mesh) else mesh_of(mesh)}
        made.update(plain(keys, f"body {name!r}"))
        bodies.append(made)

    def motion(self, body: str, *, vertices=None, path=None, rotate=None, positions=None, follow: "dict | None" = None,
               release: "bool | None" = None) -> None:
        """Moves vertices of a body by a script.

        Args:
            vertices: "all" (the default), a name given to `vertex_set()`, indices, a mask (V) of bool, or dict(box=[low, high])
            path: [[t in s, [x, y, z] in m], ...]: displacements
            rotate: dict(axis=(3), center=(3) in m, path=[[t in s, degrees], ...])
            positions: where every vertex of the body is: (times (K) in s, positions (K, V, 3) in m), or a file of them (HDF5, .npz, .mdd)
            follow: dict(body=..., vertex=...) or dict(body=..., triangle=..., weights=(3)): goes along with a body that has `positions`
            release: free outside of the path's knots
        """
        made = given(body=body, path=path, follow=follow, release=release)
        if positions is not None:
            made["positions"] = positions if isinstance(positions, dict) else {"file": self._file_of(positions)}
        if rotate is not None:
            made["rotate"] = section("rotate", rotate)
        self._add("motions", made, vertices)

    def _file_of(self, positions):
        """A file with the positions; arrays are written to one that lives as long as the scene."""
        if isinstance(positions, (str, os.PathLike)):
            return os.fspath(positions)
        try:
            t, x = (np.asarray(part, np.float64) for part in positions)
        except (TypeError, ValueError):
            raise InputError("positions must be a file, or two arrays: times (K) and positions (K, V, 3)") from None
        if t.ndim != 1 or x.ndim != 3 or x.shape[2] != 3 or len(t) != len(x):
            raise InputError(f"positions have shapes {t.shape} and {x.shape}; they must be (K) and (K, V, 3)")
        if not (np.isfinite(t).all() and np.isfinite(x).all()):
            raise InputError("positions and their times must be finite")
        if self._written is None:
            self._written = _Folder()
        name = os.path.join(self._written.path, hashlib.sha256(t.tobytes() + np.ascontiguousarray(x).tobytes()).hexdigest()[:16] + ".npz")
        np.savez(name, time=t, position=x)
        return name

    def _start_of(self, start):
        """A file with the start; arrays are written to one that lives as long as the scene."""
        if isinstance(start, (str, os.PathLike)):
            return os.fspath(start)
        given = start if isinstance(start, dict) else {"position": start}
        if not given or not set(given) <= {"position", "velocity"}:
            raise InputError("start must be a file, an array of positions (V, 3), or a dict with position, velocity, or both")
        sets, digest = {}, hashlib.sha256(b"start")
        for key in sorted(given):
            of = "start" if given is not start else f"start {key}"
            try:
                x = np.ascontiguousarray(given[key], np.float64)
            except (TypeError, ValueError):
                raise InputError(f"{of} must be " + ("a file, or " if given is not start else "") + "an array (V, 3)") from None
            if x.ndim != 2 or x.shape[1] != 3:
                raise InputError(f"{of} has shape {x.shape}; it must be (V, 3)")
            if not np.isfinite(x).all():
                raise InputError(f"{of} must be finite")
            sets[key] = x
            digest.update(key.encode() + x.tobytes())
        if self._written is None:
            self._written = _Folder()
        name = os.path.join(self._written.path, digest.hexdigest()[:16] + ".h5")
        if not os.path.exists(name):
            try:
                import h5py
            except ImportError:
                raise InputError("an array of the start is written to HDF5; install h5py, or give a file") from None
            with h5py.File(name, "w") as out:
                for key, x in sets.items():
                    out[key] = x
        return name

    def add_load(self, body: str, *, vertices=None, force=None, acceleration=None, pressure: "float | None" = None, wind=None, drag: "float | None" = None,
                 path=None) -> None:
        """Puts a load on vertices of a body: one of `force`, `acceleration`, `pressure` and `wind`.

        Args:
            vertices: as for `motion()`
            force: (3) N on each vertex
            acceleration: (3,) m/s^2: on each vertex its mass times this
            pressure: Pa on the triangles between them
            wind: (3) m/s, with `drag` in kg/m^3
            path: [[t in s, factor], ...]
        """
        self._add("loads", given(body=body, force=force, acceleration=acceleration, pressure=pressure, wind=wind, drag=drag, path=path), vertices)

    def _add(self, key, made, vertices):
        made = plain(made, key)
        if vertices is not None:
            made["vertices"] = self._select(made["body"], vertices, f"{key}[{len(self.data.get(key, []))}].vertices")
        self.data.setdefault(key, []).append(made)

    def joint(self, name: str, kind: str, a: dict, b: dict, *, slack: float, axis=None, span: "float | None" = None,
              stiffness: "float | None" = None, restitution: "float | None" = None, limits=None, motor: "dict | None" = None) -> None:
        """Joins two bodies, of which at least one is rigid (docs/reference/scene-format.md, joints).

        Args:
            kind: "ball", "hinge", "slider" or "weld"
            a: dict(body=..., at=(3) in m), or dict(body=..., vertex=...) of a body that is not rigid
            b: likewise; dict(body=None) is the world, and without at it is where a is
            slack: m; how far the joint may open
            axis: (3) direction of a hinge or slider
            span: m, between the points of a hinge, slider or weld
            stiffness: N/m, of the first layer
            restitution: 0 .. 1
            limits: [low, high] in degrees, of a hinge; in m, of a slider
            motor: dict(torque=...), dict(speed=..., most=...) or dict(position=..., stiffness=...), with a path
        """
        made = {"name": name, "kind": kind, "a": a, "b": b, "slack": slack,
                **given(axis=axis, span=span, stiffness=stiffness, restitution=restitution, limits=limits, motor=motor)}
        self.data.setdefault("joints", []).append(plain(made, f"joint {name!r}"))

    def ignore(self, a: str, b: str) -> None:
        """Lets two bodies pass through each other."""
        self.data.setdefault("contact", {}).setdefault("ignore", []).append(plain([a, b], "ignore"))

    def pair(self, a: str, b: str, *, stiffness: "float | None" = None, restitution: "float | None" = None,
             friction: "float | dict | None" = None, rolling: "float | None" = None, twisting: "float | None" = None) -> None:
        """Sets the contact law between two materials: stiffness in N/m, restitution, friction (one number, or
        dict(static=..., kinetic=...)), rolling and twisting friction of grains."""
        law = {"materials": [a, b], **given(stiffness=stiffness, restitution=restitution, friction=friction, rolling=rolling,
                                             twisting=twisting)}
        self.data.setdefault("contact", {}).setdefault("pairs", []).append(plain(law, "contact.pairs"))

    def vertex_set(self, body: str, name: str, vertices) -> None:
        """Names vertices of a body, for `vertices=` of motions and loads; in the scene's text their indices are written."""
        if name == "all":
            raise InputError("a vertex set cannot be called 'all', which means all vertices")
        self._sets[body, name] = self._select(body, vertices, f"the vertex set {name!r}")

    def set(self, path: str, value) -> None:
        """Changes a key, like the program's --set: `s.set("bodies.sheet.position.1", 0.4)`."""
        *steps, last = self._resolve(path)
        place = self.data
        for k, step in enumerate(steps):
            if isinstance(place, dict) and step not in place:
                place[step] = {}
            place = place.keys if isinstance(place, Mesh) else place
            try:
                place = place[step]
            except (KeyError, IndexError, TypeError):
                raise InputError(f"{path}: there is no {'.'.join(map(str, steps[:k + 1]))} in the scene") from None
        place = place.keys if isinstance(place, Mesh) else place
        try:
            place[last] = plain(value, path)
        except (IndexError, TypeError):
            raise InputError(f"{path}: there is no {path} in the scene") from None

    def _resolve(self, path):
        """The steps of a dotted path: keys, and indices of lists, also by name."""
        place, rest, steps = self.data, path, []
        while rest:
            step, _, after = rest.partition(".")
            place = place.keys if isinstance(place, Mesh) else place
            if isinstance(place, list):
                name = next((b["name"] for b in place if isinstance(b, dict) and "name" in b and (rest == b["name"] or rest.startswith(b["name"] + "."))), None)
                if name is not None:
                    step, after = next(k for k, b in enumerate(place) if b.get("name") == name), rest[len(name) + 1:]
                elif re.fullmatch(r"\d+", step):
                    step = int(step)
            elif isinstance(place, dict):
                whole = max((key for key in place if rest == key or rest.startswith(key + ".")), key=len, default=None)
                if whole is not None:
                    step, after = whole, rest[len(whole) + 1:]
            steps.append(step)
            try:
                place = place[step]
            except (KeyError, IndexError, TypeError):
                place = None
            rest = after
        if not steps:
            raise InputError("the path of the key to change is empty")
        return steps

    # ---- vertices ----

    def _mesh_of(self, name):
        for body in self.data.get("bodies", []):
            if body.get("name") == name:
                if not isinstance(body["mesh"], Mesh):
                    body["mesh"] = Mesh.from_json(body["mesh"], self.folder)
                return body["mesh"]
        raise InputError(f"there is no body {name!r}; add it first, by body()")

    def _count(self, name):
        mesh = self._mesh_of(name)
        if mesh.kind in ("inline", "points") and isinstance(mesh.keys.get("vertices"), np.ndarray):
            return len(mesh.keys["vertices"])
        return len(mesh.arrays()[0])

    def _select(self, body, vertices, where):
        """Returns the JSON of a choice of vertices."""
        if isinstance(vertices, str):
            if vertices == "all":
                return "all"
            if (body, vertices) not in self._sets:
                known = sorted(name for of, name in self._sets if of == body)
                raise InputError(f"{where}: the body {body!r} has no vertex set {vertices!r}; "
                                 + (f"it has {', '.join(map(repr, known))}" if known else "make one by vertex_set()"))
            return copy.deepcopy(self._sets[body, vertices])
        if isinstance(vertices, dict):
            return plain(vertices, where)
        try:
            array = np.asarray(vertices)
        except ValueError as error:
            raise InputError(f"{where} is no array: {error}") from None
        count = self._count(body)
        if array.dtype == bool:
            if array.shape != (count,):
                raise InputError(f"{where} is a mask of shape {array.shape}; the body {body!r} has {count} vertices, so it must be ({count},)")
            array = np.flatnonzero(array)
        if array.size == 0:
            raise InputError(f"{where} selects no vertex")
        if array.dtype.kind not in "iu" or array.ndim != 1:
            raise InputError(f"{where} has dtype {array.dtype} and shape {array.shape}; indices (n,) or a mask of bool ({count},) are needed")
        bad = np.flatnonzero((array < 0) | (array >= count))
        if len(bad):
            raise InputError(f"{where} names vertex {array[bad[0]]}; the body {body!r} has the vertices 0 to {count - 1}")
        return array.tolist()

    # ---- as text ----

    def to_json(self) -> dict:
        """Returns the scene in types of `json`: the contents of its file, all meshes written out, paths absolute."""
        return self._document(lambda name, mesh: mesh.to_json(absolute=True), lambda path: path)

    def _document(self, of_mesh, of_file):
        made = {key: value for key, value in self.data.items() if key not in ("bodies",)}
        made = plain(made, "scene")
        made["bodies"] = []
        for body in self.data.get("bodies", []):
            rest = plain({key: value for key, value in body.items() if key != "mesh"}, f"body {body.get('name')!r}")
            mesh = body.get("mesh")
            if mesh is not None:
                mesh = mesh if isinstance(mesh, Mesh) else Mesh.from_json(mesh, self.folder)
                rest["mesh"] = of_mesh(rest.get("name", "body"), mesh)
            made["bodies"].append(rest)
            start = rest.get("start")
            if isinstance(start, dict) and isinstance(start.get("file"), str):
                start["file"] = of_file(os.path.abspath(os.path.join(self.folder or "", start["file"])))
        for motion in made.get("motions", []):
            if isinstance(motion, dict) and isinstance(motion.get("positions"), dict) and isinstance(motion["positions"].get("file"), str):
                motion["positions"]["file"] = of_file(os.path.abspath(os.path.join(self.folder or "", motion["positions"]["file"])))
        order = ["format", "name", "units", "time", "gravity", "contact", "clocks", "integrator", "discovery", "output", "materials", "bodies", "motions", "loads", "joints"]
        return {key: made[key] for key in [*order, *made] if key in made}

    def text(self) -> str:
        """The scene's JSON text; numbers have as many digits as their bits need."""
        return json.dumps(self.to_json(), allow_nan=False)

    def save(self, path) -> None:
        """Writes the scene's file.

        A mesh of arrays with more than 20,000 rows goes into an HDF5 file of its own in the folder NAME.meshes beside
        it, smaller ones are written out in the text.  Nothing is lost in either form.
        """
        path = os.fspath(path)
        stem = os.path.splitext(os.path.basename(path))[0]
        folder = os.path.dirname(os.path.abspath(path))
        made = self._document(lambda name, mesh: _mesh_on_disk(mesh, name, folder, f"{stem}.meshes"), lambda path: self._keep(path, folder, f"{stem}.meshes"))
        _write_text(path, json.dumps(made, indent=1, allow_nan=False) + "\n")

    def write_for_run(self, path, mesh_folder):
        """The scene's file for a run: large meshes go into mesh_folder, by absolute paths."""
        made = self._document(lambda name, mesh: _mesh_on_disk(mesh, name, "", os.path.abspath(mesh_folder)),
                              lambda path: self._keep(path, "", os.path.abspath(mesh_folder)))
        _write_text(path, json.dumps(made, allow_nan=False))

    def _keep(self, path, base, folder):
        """A file that this scene wrote goes along into `folder`, seen from base."""
        if self._written is None or os.path.dirname(path) != self._written.path:
            return os.path.basename(path) if base and os.path.dirname(path) == base else path
        kept = os.path.join(folder, "positions-" + os.path.basename(path))
        os.makedirs(os.path.join(base, folder), exist_ok=True)
        shutil.copyfile(path, os.path.join(base, kept))
        return kept

    @classmethod
    def from_file(cls, path) -> "Scene":
        """Reads a scene's file.  InputError: it cannot be read, or is no JSON; `check()` examines its contents."""
        path = os.fspath(path)
        try:
            with open(path, encoding="utf-8") as file:
                data = json.load(file, object_pairs_hook=_once, parse_constant=_no_constant)
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}; check the path") from None
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path} is no JSON text: {error}") from None
        return cls.from_json(data, os.path.dirname(os.path.abspath(path)), path)

    @classmethod
    def from_json(cls, data: dict, folder=None, where="the scene") -> "Scene":
        """A scene of what its JSON says; folder: where relative paths start."""
        if not isinstance(data, dict):
            raise InputError(f"{where} is no scene: it holds a {type(data).__name__}, and not an object")
        made = cls.__new__(cls)
        made.folder, made._sets, made.data, made._written = folder, {}, copy.deepcopy(data), None
        bodies = made.data.get("bodies", [])
        if not isinstance(bodies, list) or not all(isinstance(b, dict) for b in bodies):
            raise InputError(f"{where}: bodies must be a list of objects")
        for body in bodies:
            if isinstance(body.get("mesh"), dict) and "kind" in body["mesh"]:
                body["mesh"] = Mesh.from_json(body["mesh"], folder)
        return made

    # ---- what the program makes of it ----

    def _read(self, use):
        library, context = _library.load(), _library.Context()
        scene = ctypes.c_void_p()
        with _library.turn():
            code = library.tac_scene_parse(context.address, self.text().encode(), None if self.folder is None else _library.encode(self.folder),
                                           None, 0, ctypes.byref(scene))
            context.check(code)
            try:
                return use(library, context, scene.value)
            finally:
                library.tac_scene_destroy(ctypes.byref(scene))

    def check(self, pilot=None) -> dict:
        """Returns the report of `tactus check --json`: sha256, vertices, periods, forecast, warnings, ...

        Args:
            pilot: run the scene for so many seconds, in memory, and estimate what the whole run will cost (docs/how-to/why-is-it-slow.md);
                under mpirun all ranks call it together
        Raises:
            InputError: the scene is wrong, or surfaces overlap at the start
            RunError: the pilot run fails
            KeyboardInterrupt: Ctrl-C has ended the pilot run
        """
        library, context = _library.load(), _library.Context()
        scene, report, warned, ran = ctypes.c_void_p(), library.json_object(), [], ctypes.c_void_p()
        folder = None if self.folder is None else _library.encode(self.folder)
        try:
            with _library.turn():
                code = library.tac_scene_parse(context.address, self.text().encode(), folder, None, 0, ctypes.byref(scene))
                code = code or library.tac_check_describe(context.address, scene.value, report, None)
                code = code or library.tac_check_engine(context.address, scene.value, None, report, None)
                code = code or library.tac_check_exempt(context.address, scene.value, report, None)
                if not code and pilot is not None:
                    self._run_pilot(library, pilot, ran)
                code = code or library.tac_check_forecast(context.address, scene.value, ran, report, None)
            warned, context.warned[:] = list(context.warned), []
            context.check(code)
            reported, report = _library.take_json(library, report), None
        finally:
            library.tac_pilot_destroy(ctypes.byref(ran))
            library.tac_scene_destroy(ctypes.byref(scene))
            if report:
                library.json_delete(report)
        reported["warnings"], reported["warned"] = len(warned), warned
        return reported

    def _run_pilot(self, library, seconds, out):
        """Runs the scene for so many seconds; out becomes the address of the library's result."""
        from . import simulation
        if isinstance(seconds, bool) or not isinstance(seconds, numbers.Real):
            raise InputError(f"pilot is {seconds!r}; a number of seconds is needed")
        simulation.start_mpi()
        context = _library.Context()
        library.tac_mpi_begin(context.address, ctypes.byref(ctypes.c_bool(False)))
        context.listen()
        source = library.struct["tac_scene_source"]()
        text = ctypes.create_string_buffer(self.text().encode())
        folder = None if self.folder is None else ctypes.create_string_buffer(_library.encode(self.folder))
        source.text = ctypes.addressof(text)
        source.folder = None if folder is None else ctypes.addressof(folder)
        options = library.struct["tac_pilot_options"]()
        options.seconds = seconds
        with _library.interrupts() as seen:
            watch = _c.WATCHER(lambda user: not seen)
            options.go_on = ctypes.cast(watch, ctypes.c_void_p)
            code = library.tac_pilot_run(context.address, ctypes.addressof(source), ctypes.addressof(options), ctypes.byref(out))
        if seen:
            raise KeyboardInterrupt
        if code:
            raise context.error(code)

    @property
    def sha256(self) -> str:
        """The hash of all that determines the trajectory, as in run.json."""
        def use(library, context, scene):
            settings = library.struct["tac_scene"].from_address(scene).settings
            return library.struct["tac_settings"].from_address(settings).sha256.decode()
        return self._read(use)

    def repair(self) -> "tuple[Scene, dict]":
        """Finds a start without overlaps, as `tactus repair` does (docs/how-to/repair.md).

        Returns the scene with it, which is a copy, and what was done: overlaps (how many there were), bodies (a list of name,
        vertices, moved, largest and mean in m, grown).

        Raises:
            InputError: the scene is wrong, or cannot be repaired; the sentence says why
            RunError: memory or the disk failed
        """
        import h5py
        made = copy.deepcopy(self)
        with tempfile.TemporaryDirectory(prefix="tactus-repair-") as folder:
            path, out = os.path.join(folder, "scene.json"), os.path.join(folder, "repaired.json")
            self.write_for_run(path, os.path.join(folder, "meshes"))
            ran = subprocess.run([_library.find_program(), "repair", path, "-o", out, "--json"], env=_library.fresh_environment(),
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            if ran.returncode:
                said = ran.stderr.strip().split("\n")[-1].replace("tactus: ", "", 1).replace(path + ": ", "")
                raise InputError(said) if ran.returncode in (1, 2) else RunError(said, ran.returncode)
            with open(out, encoding="utf-8") as file:
                starts = {body["name"]: body["start"]["file"] for body in json.load(file)["bodies"] if "start" in body}
            told = json.loads(ran.stdout)
            for body in made.data["bodies"]:
                if body["name"] in {b["name"] for b in told["bodies"] if b["moved"]}:
                    with h5py.File(os.path.join(folder, starts[body["name"]]), "r") as file:
                        body["start"] = {"file": made._start_of({key: file[key][()] for key in file})}
        return made, told

    def geometry(self) -> Geometry:
        """The placed meshes of all bodies at the start."""
        names = [body["name"] for body in self.data.get("bodies", [])]
        return self._read(lambda library, context, scene: Geometry(library, library.struct["tac_scene"].from_address(scene), names))

    def positions(self, body: str) -> np.ndarray:
        """Where a body's vertices start: (V, 3) float64, m.  For masks: `s.positions("sheet")[:, 0] < 0`.

        It needs the placed body alone, so the rest of the scene may still be missing.
        """
        alone = next((b for b in self.data.get("bodies", []) if b.get("name") == body), None)
        self._mesh_of(body)
        kept = {key: alone[key] for key in ("name", "mesh", "position", "rotation", "scale") if key in alone}
        made = Scene.from_json({"format": FORMAT, "time": {"end": 1, "frame": 1}, "bodies": []}, self.folder)
        made.data["bodies"] = [{**kept, "fixed": True}]
        return made.geometry().positions

    def __repr__(self):
        names = ", ".join(repr(body.get("name")) for body in self.data.get("bodies", []))
        return f"<tactus.Scene, bodies: {names or 'none yet'}>"


def _once(pairs):
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in names if names.count(key) > 1)!r} is given twice")
    return made


def _no_constant(word):
    raise ValueError(f"{word} is no number of JSON")


def _write_text(path, text):
    """Through a temporary name, so that no half-written file has the name."""
    folder = os.path.dirname(os.path.abspath(path))
    try:
        handle, temporary = tempfile.mkstemp(prefix=".tactus-", dir=folder)
        try:
            with open(handle, "w", encoding="utf-8") as file:
                file.write(text)
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(temporary, 0o666 & ~mask)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None


def _mesh_on_disk(mesh, name, base, folder):
    """The "mesh" object for a scene's file in `base`: large arrays go to an HDF5 file in `folder`, seen from base."""
    if mesh.rows <= INLINE_ROWS or mesh.kind not in ("inline", "points"):
        spec = mesh.to_json(absolute=True)
        if base and isinstance(spec.get("path"), str) and os.path.dirname(spec["path"]) == base:
            spec["path"] = os.path.basename(spec["path"])
        return spec
    import h5py
    arrays = {"vertices": mesh.keys["vertices"], "triangles": mesh.keys.get("triangles"), "segments": mesh.keys.get("edges"),
              "tetrahedra": mesh.keys.get("tetrahedra")}
    arrays = {key: value for key, value in arrays.items() if value is not None}
    digest = hashlib.sha256()
    for key, value in arrays.items():
        digest.update(f"{key}{value.shape}".encode() + np.ascontiguousarray(value).tobytes())
    file = re.sub(r"[^A-Za-z0-9._-]+", "-", name)[:40] + "-" + digest.hexdigest()[:12] + ".h5"
    path = os.path.join(folder, file)
    whole = os.path.join(base, path)
    try:
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with h5py.File(whole + ".part", "w") as out:
            for key, value in arrays.items():
                out[key] = value
        os.replace(whole + ".part", whole)
    except OSError as error:
        raise InputError(f"{whole} cannot be written: {error}") from None
    return {"kind": "file" if mesh.kind == "inline" else "points", "path": path}


__all__ = ["Scene", "Geometry", "Contact", "Clocks", "Integrator", "Discovery", "Output", "Stretch", "Bend", "Solid", "real_array"]
