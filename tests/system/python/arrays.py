#!/usr/bin/python3
"""arrays.py: numpy arrays go into scenes without loss, and wrong ones are refused in one sentence before C sees them.

If it failed, a user's mesh would be simulated with other numbers than it has, or a wrong index would end Python with a crash.
"""
import json
import os
import sys
import tempfile
import warnings

import numpy as np

from common import end, expect, program, raises

import tactus

warnings.simplefilter("ignore", tactus.TactusWarning)  # of segments, which the material does not stretch
rng = np.random.default_rng(7)
GRID, TRIANGLES, _ = tactus.grid(size=[1, 1], cells=[6, 5]).arrays()
# Numbers whose shortest text has 17 digits, and some from the ends of the range.
VERTICES = GRID + 1e-3 * rng.standard_normal(GRID.shape)


def scene(mesh, **keys):
    s = tactus.Scene(end=0.1, frame=0.05, gravity=[0, -9.81, 0], contact=dict(thickness=0.001))
    s.material("cloth", density=0.2, stretch=dict(model="cst", stiffness=60))
    s.body("sheet", mesh, material="cloth", **keys)
    return s


def wrong():
    bad = VERTICES.copy()
    bad[3, 1] = np.nan
    infinite = VERTICES.copy()
    infinite[0, 0] = np.inf
    far = TRIANGLES.copy()
    far[2, 1] = len(VERTICES)
    negative = TRIANGLES.copy()
    negative[4, 0] = -1
    for vertices, triangles, words in (
            (VERTICES[:, :2], TRIANGLES, ["vertices has shape (42, 2)", "(n, 3)"]), (VERTICES.ravel(), TRIANGLES, ["vertices has shape (126,)"]),
            (VERTICES[None], TRIANGLES, ["vertices has shape (1, 42, 3)"]), (bad, TRIANGLES, ["vertices[3, 1] is nan"]), (infinite, TRIANGLES, ["vertices[0, 0] is inf"]),
            (VERTICES.astype(complex), TRIANGLES, ["complex128"]), (VERTICES.astype(str), TRIANGLES, ["dtype"]), (VERTICES > 0, TRIANGLES, ["bool"]),
            ([[0, 0, 0], [1, 0]], [[0, 1, 1]], ["vertices is no array"]), (np.zeros((0, 3)), TRIANGLES, ["empty"]), (np.array([[None] * 3]), TRIANGLES, ["object"]),
            (VERTICES.astype(np.longdouble), TRIANGLES, ["longdouble" if np.dtype(np.longdouble).name == "longdouble" else "float128", "without loss"]),
            (np.full((3, 3), 2**60 + 1), [[0, 1, 2]], ["2^53"]),
            (VERTICES, TRIANGLES.astype(float), ["triangles has dtype float64"]), (VERTICES, TRIANGLES[:, :2], ["triangles has shape (60, 2)"]),
            (VERTICES, far, ["triangles[2] names vertex 42", "0 to 41"]), (VERTICES, negative, ["triangles[4] names vertex -1"]), (VERTICES, TRIANGLES > 1, ["bool"]),
            (VERTICES, np.full((1, 3), 2**62), ["names vertex 4611686018427387904"]), (VERTICES, TRIANGLES[5:6], ["is in no triangle", "unused='drop'"]),
            ("sheet.obj", None, ["vertices is a str"]), (object(), None, ["vertices is a object"])):
        with raises(tactus.InputError, *words):
            tactus.mesh(vertices, triangles)
    with raises(tactus.InputError, "edges[0] names vertex 9"):
        tactus.mesh(VERTICES[:2], edges=[[0, 9]])
    with raises(tactus.InputError, "unused"):
        tactus.mesh(VERTICES, TRIANGLES, unused="maybe")

    s = scene(tactus.mesh(VERTICES, TRIANGLES))
    mask = np.zeros(42, bool)
    for vertices, words in ((mask[:-1], ["mask of shape (41,)", "(42,)"]), (mask, ["selects no vertex"]), ([0, 42], ["names vertex 42", "0 to 41"]), ([-1], ["names vertex -1"]),
                            ([0.5], ["dtype float64"]), ([[0, 1]], ["shape (1, 2)"]), ("rim", ["no vertex set 'rim'"])):
        with raises(tactus.InputError, "motions[0].vertices", *words):
            s.motion("sheet", vertices=vertices, path=[[0, [0, 0, 0]]])
    with raises(tactus.InputError, "no body 'shet'"):
        s.motion("shet", vertices=[0], path=[[0, [0, 0, 0]]])
    for value, words in ((np.nan, ["gravity", "[1] is nan"]), (None, ["None"]), (object(), ["object"]), (1 + 2j, ["complex"])):
        with raises(tactus.InputError, *words):
            tactus.Scene(end=1, frame=1, gravity=[0, value, 0])
    for key, words in (("contact", "frictoin"), ("clocks", "mood"), ("discovery", "que"), ("output", "keep"), ("integrator", "kin")):
        with raises(tactus.InputError, f"{key} has no key {words!r}"):
            tactus.Scene(end=1, frame=1, **{key: {words: 1}})
    with raises(tactus.InputError, "stretch has no key 'stifness'", "did you mean 'stiffness'"):
        s.material("x", stretch=dict(stifness=1))
    with raises(tactus.InputError, "a body 'sheet' already"):
        s.body("sheet", tactus.points([[0, 0, 0]]))
    with raises(tactus.InputError, "unknown_kind"):
        scene(tactus.Mesh("unknown_kind")).check()
    with raises(tactus.InputError, "material"):
        broken = scene(tactus.mesh(VERTICES, TRIANGLES))
        broken.data["bodies"][0]["material"] = "wool"
        broken.check()


def exact(folder):
    """What C has of an array is what the array has, by every way.  (The reader of scenes makes -0 to 0, of every scene.)"""
    extreme = VERTICES.copy()
    extreme[0] = [-1.2345678901234567e-3, -0.0, np.nextafter(-0.5, -1)]
    for vertices in (VERTICES, extreme, VERTICES.astype(np.float32), np.asfortranarray(VERTICES), VERTICES[::1].tolist(), np.repeat(VERTICES, 2, 0)[::2]):
        s = scene(tactus.mesh(vertices, TRIANGLES.astype(np.uint16)))
        want = np.asarray(vertices, np.float64)
        geometry = s.geometry()
        expect(s.data["bodies"][0]["mesh"].arrays()[0].tobytes() == (want + 0.).tobytes(), "a mesh changes on its way into C")
        expect((geometry.positions == want).all(), "a mesh changes when it is placed where it is")
        expect((geometry.triangles == TRIANGLES).all() and (geometry.body == 0).all() and geometry.free.all(), "its triangles change")
        path = os.path.join(folder, "it's a \"scene\" $HOME\n.json")
        s.save(path)
        expect(tactus.Scene.load(path).sha256 == s.sha256, "a saved scene has another hash")
        expect(json.loads(program("check", path, "--json"))["sha256"] == s.sha256, "the program sees another scene")
    # A large one goes into a file of its own, and is the same scene.
    before = tactus.scene.INLINE_ROWS
    small = scene(tactus.mesh(VERTICES, TRIANGLES, edges=[[0, 1]]))
    dots = tactus.points(VERTICES + [0, 1, 0])
    small.body("a/b dots", dots, mass=1, radius=1e-4)
    try:
        tactus.scene.INLINE_ROWS = 10
        path = os.path.join(folder, "large.json")
        small.save(path)
    finally:
        tactus.scene.INLINE_ROWS = before
    files = sorted(os.listdir(os.path.join(folder, "large.meshes")))
    expect(len(files) == 2 and all(name.endswith(".h5") for name in files), f"two meshes have files of their own: {files}")
    expect(os.path.getsize(path) < 2000, "the text of a scene with large meshes is short")
    expect(tactus.Scene.load(path).sha256 == small.sha256, "a scene with meshes in files has another hash")
    os.makedirs(os.path.join(folder, "moved"))
    for name in ("large.json", "large.meshes"):
        os.rename(os.path.join(folder, name), os.path.join(folder, "moved", name))
    expect(json.loads(program("check", os.path.join(folder, "moved/large.json"), "--json"))["sha256"] == small.sha256, "a scene moves with its meshes")
    tactus.run(small, os.path.join(folder, "inline.run"), until=0.001)
    try:
        tactus.scene.INLINE_ROWS = 10
        made = tactus.run(small, os.path.join(folder, "files.run"), until=0.001)
        with raises(tactus.InputError, "already holds a run"):
            tactus.run(small, os.path.join(folder, "files.run"))
        broken = scene(tactus.mesh(VERTICES, TRIANGLES))
        broken.data["gravity"] = 3
        with raises(tactus.InputError, "gravity"):
            tactus.run(broken, os.path.join(folder, "refused.run"))
        expect(not os.path.exists(os.path.join(folder, "refused.run")), "a run that was refused leaves a folder")
    finally:
        tactus.scene.INLINE_ROWS = before
    program("diff", os.path.join(folder, "inline.run"), os.path.join(folder, "files.run"))
    expect(tactus.Scene.load(os.path.join(folder, "files.run/scene.json")).sha256 == made.sha256, "a run's scene.json is the scene, with its meshes")


def foreign():
    """Objects of other packages, by what these packages promise of them."""
    class Trimesh:
        vertices, faces = VERTICES, TRIANGLES

    class Meshio:
        points = np.vstack([VERTICES, [[9, 9, 9]]])  # a vertex that no cell has, as Gmsh writes them
        cells_dict = {"triangle": TRIANGLES[:-2], "quad": np.array([[0, 1, 8, 7]]), "line": np.array([[0, 41]]), "vertex": np.array([[0]])}

    class Solid:
        points, cells_dict = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [5, 5, 5]]), {"tetra": np.array([[0, 1, 2, 3]]), "triangle": TRIANGLES[:1]}

    class Bricks:
        points, cells_dict = VERTICES, {"hexahedron": np.array([[0, 1, 2, 3, 4, 5, 6, 7]])}
    made = tactus.mesh(Trimesh())
    expect(made.keys["vertices"].tobytes() == VERTICES.tobytes() and (made.keys["triangles"] == TRIANGLES).all(), "trimesh")
    made = tactus.mesh(Meshio())
    expect(len(made.keys["triangles"]) == len(TRIANGLES) and len(made.keys["edges"]) == 1 and len(made.keys["vertices"]) == 42, f"meshio: {made}")
    solid = tactus.mesh(Solid())
    expect((solid.tetrahedra() == [[0, 1, 2, 3]]).all() and len(solid.arrays()[0]) == 4 and len(solid.arrays()[1]) == 4, f"a solid of meshio: {solid}")
    block = tactus.box([1, 1, 1], [2, 2, 2], fill="tets")
    expect(len(block.tetrahedra()) == 48 and len(block.arrays()[0]) == 27 and len(block.arrays()[1]) == 48, f"a block of tetrahedra: {block}")
    expect(len(tactus.sphere(1, 1).tetrahedra()) == 0, "a surface has tetrahedra")
    with raises(tactus.InputError, "hexahedron"):
        tactus.mesh(Bricks())
    dropped = tactus.mesh(np.vstack([[[5, 5, 5]], VERTICES]), TRIANGLES + 1, unused="drop")
    expect(dropped.keys["vertices"].tobytes() == VERTICES.tobytes() and (dropped.keys["triangles"] == TRIANGLES).all(), "unused vertices are dropped, the others renumbered")


def selections():
    """Vertices by mask, indices, name and box are the same vertices."""
    hashes = set()
    for vertices in (VERTICES[:, 0] < -0.4, np.flatnonzero(VERTICES[:, 0] < -0.4), "left", {"box": [[-9, -9, -9], [-0.4, 9, 9]]}):
        s = scene(tactus.mesh(VERTICES, TRIANGLES))
        s.vertex_set("sheet", "left", s.positions("sheet")[:, 0] < -0.4)
        s.motion("sheet", vertices=vertices, path=[[0, [0, 0, 0]]])
        hashes.add(s.sha256)
    expect(len(hashes) == 1, "four ways to select the same vertices give different scenes")
    placed = scene(tactus.grid(size=[1, 1], cells=[2, 2]), position=[1, 2, 3], scale=2.0)
    expect(np.allclose(placed.positions("sheet").mean(0), [1, 2, 3]) and np.ptp(placed.positions("sheet")[:, 0]) == 2, "positions() are of the placed body")


wrong()
with tempfile.TemporaryDirectory() as home:
    exact(home)
foreign()
selections()
expect("matplotlib" not in sys.modules and "mpi4py" not in sys.modules, "what is optional is imported without need")
end()
