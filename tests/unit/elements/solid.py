#!/usr/bin/python3
"""solid.py SCENE [short]: three solids of tetrahedra, one of each model, that turn and collide, by the whole program.

If this failed, solids would gain momentum or energy, inner vertices would touch something or be lost on some rank, or the bits
would depend on ranks, the way of discovery, or stops; or what ParaView reads of a volume would be wrong.
`short`: a few frames on three ranks and a restart, for slow builds.
"""
import csv
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np

SCENE, SHORT, PROGRAM = sys.argv[1], sys.argv[2:] == ["short"], os.environ["TACTUS"]
wrong = []


def check(condition, text):
    if not condition:
        wrong.append(text)


def call(*arguments, ranks=1, code=0):
    launch = ["mpirun", "-q", "--bind-to", "none", "-n", str(ranks)] if ranks > 1 else []
    done = subprocess.run(launch + [PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    check(done.returncode == code, "%s: exit code %d instead of %d: %s" % (" ".join(arguments), done.returncode, code, done.stdout[-600:]))
    return done.stdout


def energies(folder):
    with open(os.path.join(folder, "energy.csv")) as f:
        rows = list(csv.DictReader(f))
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}


def volumes(x, tetrahedra):
    a, b, c, d = (x[tetrahedra[:, k]] for k in range(4))
    return np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) / 6


def test_conserved(folder):
    """Momenta to round-off and energy through collisions at restitution 1."""
    e = energies(folder)
    scale = e["kinetic"].max()
    moved = {word: max(np.ptp(e[word + "_" + axis]) for axis in "xyz") for word in ("momentum", "angular_momentum")}
    defect = np.abs(e["defect"]).max() / scale
    print("kinetic %.3g J, in solids up to %.3g J, in contact up to %.3g J; defect %.2g of it; momentum moves by %.2g, angular by %.2g"
          % (scale, e["stretch"].max(), e["contact"].max(), defect, moved["momentum"], moved["angular_momentum"]))
    check(e["contact"].max() > 0 and e["stretch"].max() > .05 * scale, "the solids do not meet")
    check(defect < 2e-3, "defect %g" % defect)
    check(e["dissipated"][-1] > 1e-3 * scale and np.all(np.diff(e["dissipated"]) > -1e-6 * scale), "damping takes no energy")
    check(moved["momentum"] < 1e-12 and moved["angular_momentum"] < 1e-13, "momenta move by %s" % moved)


def test_frames(folder):
    """The file has the tetrahedra; their faces that only one has are the triangles; all stay the right way round; nothing
    inside is ever touched."""
    with h5py.File(os.path.join(folder, "frames.h5")) as f:
        tetrahedra, triangles, cells = (f["mesh"][name][()] for name in ("tetrahedra", "triangles", "cells"))
        check(len(f["mesh"]["points"]) == 0, "vertices inside are told as points")
        faces = np.sort(tetrahedra[:, [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]]].reshape(-1, 3), axis=1)
        outer, count = np.unique(faces, axis=0, return_counts=True)
        check(np.array_equal(outer[count == 1], np.unique(np.sort(triangles, axis=1), axis=0)), "the triangles are not the surface")
        volume_cells = cells[4 * len(triangles):].reshape(-1, 5)
        check(np.all(volume_cells[:, 0] == 6) and np.array_equal(volume_cells[:, 1:], tetrahedra), "the cells for ParaView")
        inside = np.setdiff1d(np.arange(len(f["mesh"]["body"])), triangles)
        check(len(inside) >= 7, "there are %d vertices inside" % len(inside))
        start = volumes(f["frames/000000/position"][()], tetrahedra)
        for frame in f["frames"].values():
            now = volumes(frame["position"][()], tetrahedra)
            check(np.all(now > .1 * start), "a tetrahedron is crushed to %.2g of its volume" % (now / start).min())
            check(not np.any(frame["contact_force"][()][inside]), "a vertex inside is touched")
        check(start.min() > 0, "a tetrahedron is inverted from the start")
    with open(os.path.join(folder, "frames.xdmf")) as f:
        check('NumberOfElements="%d"' % (len(triangles) + len(tetrahedra)) in f.read(), "XDMF does not tell of the tetrahedra")


def test_bits(one, place):
    for name, ranks, more in (("kds", 1, ["--discover", "kds"]), ("pairs", 2, ["--discover", "all-pairs"]), ("three", 3, [])):
        folder = os.path.join(place, name)
        call("run", SCENE, "-o", folder, "--quiet", *more, ranks=ranks)
        call("diff", one, folder, "--all-frames")
    folder = os.path.join(place, "stopped")
    call("run", SCENE, "-o", folder, "--quiet", "--until", "0.078125", ranks=2)
    call("run", "--restart", folder, "--quiet")  # the scene that the checkpoint holds, geometry included
    call("diff", one, folder, "--all-frames")
    # A solid may also be a file, its mesh read on restart or taken from the checkpoint.
    mesh, folder = os.path.join(place, "ball.h5"), os.path.join(place, "file")
    call("mesh", "sphere", "--radius", "0.1", "--level", "1", "--fill", "tets", "-o", mesh)
    call("run", SCENE, "-o", folder, "--quiet", "--set", 'bodies.ball.mesh={"kind": "file", "path": "%s"}' % mesh, ranks=2)
    call("diff", one, folder, "--all-frames")


def test_short(place):
    one, folder = os.path.join(place, "one"), os.path.join(place, "three")
    call("run", SCENE, "-o", one, "--quiet", "--until", "0.03125")
    call("run", SCENE, "-o", folder, "--quiet", "--until", "0.015625", ranks=3)
    call("run", "--restart", folder, "--quiet", "--until", "0.03125", ranks=2)
    call("diff", one, folder, "--all-frames")


def test_audit(place):
    folder = os.path.join(place, "recorded")
    call("run", SCENE, "-o", folder, "--quiet", "--record", "--until", "0.0625")
    check("proven" in call("audit", folder), "audit proves nothing")


def test_refused():
    """What is no solid, in one sentence."""
    for setting, words in (("materials.rubber.solid.poisson=0.5", "less than 0.5"),
                           ("materials.rubber.solid.youngs=0", "greater than 0"),
                           ("materials.rubber.solid.model=rubber", "neo-hookean"),
                           ("materials.rubber.solid.damping=-1", "at least 0"),
                           ('bodies.ball.mesh={"kind": "sphere", "radius": 0.1}', "has no tetrahedra"),
                           ("bodies.ball.mesh.fill=cells", 'must be "tets"'),
                           ('materials.rubber={"density": 1}', 'has no "solid"'),
                           ('bodies.brick.mesh.tetrahedra=[[0, 1, 2, 4], [1, 2, 0, 4]]', "has the same vertices as"),
                           ('bodies.brick.mesh.tetrahedra=[[0, 1, 2, 4], [3, 2, 1, 7], [1, 2, 7, 4]]', "is inverted"),
                           ('bodies.brick.mesh.tetrahedra=[[0, 1, 2, 9]]', "vertex 9 does not exist"),
                           ('bodies.brick.mesh.tetrahedra=[[0, 1, 2, 3]]', "is flat")):
        text = call("check", SCENE, "--set", setting, code=2)
        check(words in text and text.count("\n") <= 2, "%s: %s" % (setting, text))


def test_crushed(place):
    """Bodies that are thrown at each other far too hard: tetrahedra are inverted, and nothing becomes NaN.  Vertices inside come
    near the surface from within, and do not touch it by any way of discovery."""
    for model in "neo-hookean", "stvk", "corotated":
        folder = os.path.join(place, "crushed-" + model)
        call("run", SCENE, "-o", folder, "--quiet", "--until", "0.03125", "--set", "bodies.ball.velocity=[12, 0, 0]",
             "--set", "materials.rubber.solid.model=" + model, "--set", "materials.jelly.solid.model=" + model)
        with h5py.File(os.path.join(folder, "frames.h5")) as f:
            check(all(np.all(np.isfinite(frame["position"][()])) for frame in f["frames"].values()), model + ": not a number")
            inside = np.setdiff1d(np.arange(len(f["mesh"]["body"])), f["mesh"]["triangles"])
            check(not any(np.any(frame["contact_force"][()][inside]) for frame in f["frames"].values()), model + ": touched inside")
        if model != "neo-hookean":  # once is enough of what takes the longest
            continue
        call("run", SCENE, "-o", folder + "-pairs", "--quiet", "--until", "0.03125", "--set", "bodies.ball.velocity=[12, 0, 0]", "--set",
             "materials.rubber.solid.model=" + model, "--set", "materials.jelly.solid.model=" + model, "--discover", "all-pairs")
        call("diff", folder, folder + "-pairs", "--all-frames")


with tempfile.TemporaryDirectory(prefix="tactus-solid-") as where:
    first = os.path.join(where, "one")
    if SHORT:
        test_short(where)
    else:
        call("run", SCENE, "-o", first, "--quiet")
    if not wrong and not SHORT:
        test_conserved(first)
        test_frames(first)
        test_bits(first, where)
        test_audit(where)
        test_refused()
        test_crushed(where)
for line in wrong:
    print("failed:", line)
sys.exit(1 if wrong else 0)
