#!/usr/bin/python3
"""start.py: bodies that start elsewhere than their placed mesh, or with a velocity for each vertex (key `start`).  They begin at the file's positions, pull themselves
back to the mesh, which stays their rest shape, and give the same bits on any number of ranks and after a restart, in both
integrators; a file that is changed is another scene; files that do not fit are refused by one sentence, code 2."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

TACTUS = os.environ["TACTUS"]
failures = []


def check(condition, *what):
    if not condition:
        failures.append(what)


def tactus(*words, ranks=1, code=0, **environment):
    ran = subprocess.run((["mpirun", "-q", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)] if ranks > 1 else []) + [TACTUS, *words],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **environment})
    check(ran.returncode == code, words, ran.returncode, ran.stderr.decode())
    return ran.stdout.decode() + ran.stderr.decode()


def put(name, x, dataset="position", **more):
    with h5py.File(name, "w") as f:
        f[dataset] = x
        for key, value in more.items():
            f[key] = value


def frames(folder, what="position"):
    with h5py.File(folder + "/frames.h5") as f:
        names = []
        f.visititems(lambda n, o: names.append(n) if isinstance(o, h5py.Dataset) and n.endswith(what) else None)
        return [f[n][()] for n in sorted(names)]


def scene(name, implicit, more=(), **keys):
    """A cloth of 0.2 m that starts stretched and folded, and a block that starts sheared, over a floor."""
    data = {"format": "tactus-scene/1", "time": {"end": 0.02, "frame": 0.01}, "gravity": [0, 0, -9.81], "contact": {"thickness": 0.004, "stiffness": 100},
            "materials": {"cloth": {"density": 0.3, "stretch": {"model": "cst", "stiffness": 60}, "bend": {"model": "hinge", "stiffness": 1e-5}},
                          "jelly": {"density": 1000, "solid": {"model": "neo-hookean", "youngs": 5000, "poisson": 0.3}}},
            "bodies": [{"name": "cloth", "material": "cloth", "mesh": {"kind": "grid", "size": [0.2, 0.2], "cells": [5, 5]}, "rotation": [90, 0, 0],
                        "position": [0, 0, 0.3], "start": {"file": "cloth.h5"}, **keys},
                       {"name": "block", "material": "jelly", "mesh": {"kind": "box", "size": [0.1, 0.1, 0.1], "cells": [2, 2, 2], "fill": "tets"},
                        "position": [0, 0, 0.1], "start": {"file": "block.h5"}},
                       {"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [1, 1], "cells": [2, 2]}, "rotation": [90, 0, 0]}], **dict(more)}
    if implicit:
        data["integrator"] = {"kind": "implicit", "step_s": 0.005}
    with open(name, "w") as f:
        json.dump(data, f)
    return name


def rest_of():
    """Placed meshes of the two bodies, from the same scene without `start`."""
    data = json.load(open(scene("plain.json", True)))
    for body in data["bodies"]:
        body.pop("start", None)
    data["time"] = {"end": 0.01, "frame": 0.01}
    json.dump(data, open("plain.json", "w"))
    tactus("run", "plain.json", "-o", "plain.run", "--quiet")
    x = frames("plain.run")[0]
    return x[:36], x[36:-9]


def main():
    cloth, block = rest_of()
    check(np.isclose(cloth[:, 2].min(), cloth[:, 2].max()), "the cloth lies flat")
    put("cloth.h5", cloth * [1.1, 1, 1] + [0, 0, 0.02] + 0.01 * np.sin(30 * cloth[:, :1]) * [0, 0, 1])
    put("block.h5", block + (block[:, 2:] - 0.1) * [0.3, 0, 0])
    first = np.concatenate([h5py.File(n)["position"][()] for n in ("cloth.h5", "block.h5")])
    for implicit in (False, True):
        kind = "implicit" if implicit else "asynchronous"
        name = scene(kind + ".json", implicit)
        tactus("check", name)
        tactus("run", name, "-o", kind + ".run", "--quiet")
        x = frames(kind + ".run")
        check((x[0][:len(first)] == first).all(), kind, "starts at the file's positions")
        width = [np.ptp(k[:36, 0]) for k in x]
        check(width[-1] < width[0] - 0.001, kind, "goes back to its rest shape", width)
        # Each rank reads its rows of the scene, though it is small; vertices change their owners at random.
        for ranks, hook in ((2, {"TACTUS_TEST_MIGRATE": "7"}), (3, {"TACTUS_TEST_SPREAD": "1", "TACTUS_TEST_DEAL": "1"})):
            folder = f"{kind}-{ranks}.run"
            tactus("run", name, "-o", folder, "--quiet", ranks=ranks, **hook)
            check(all((a == b).all() for a, b in zip(x, frames(folder))), kind, ranks, "ranks differ")
        folder = kind + "-half.run"
        tactus("run", name, "-o", folder, "--quiet", "--set", "time.end=0.01", ranks=2)
        os.rename("cloth.h5", "away.h5")  # a restart has the positions in its checkpoint
        tactus("run", "--restart", folder, "--set", "time.end=0.02", "--quiet", ranks=3, TACTUS_TEST_SPREAD="1")
        os.rename("away.h5", "cloth.h5")
        check((frames(folder)[-1] == x[-1]).all(), kind, "a restart differs")
    json_of = lambda: json.loads(tactus("check", "implicit.json", "--json"))
    before = json_of()
    shutil.copy("cloth.h5", "kept.h5")
    put("cloth.h5", h5py.File("kept.h5")["position"][()] + [0, 0, 1e-3])
    check(before != json_of(), "a file that is changed is another scene")
    bad = h5py.File("kept.h5")["position"][()]
    for what, x, dataset, text in (("rows", bad[:-1], "position", "has 35 vertices, but \"cloth\" has 36"),
                                   ("nan", np.where(np.arange(36)[:, None] == 7, np.nan, bad), "position", "vertex 7 is not finite"),
                                   ("columns", bad[:, :2], "position", "must be of shape (V, 3)"), ("name", bad, "x", "has no dataset `position`"),
                                   ("flat", np.where(np.arange(36)[:, None] < 9, bad[0], bad), "position", "has no area at the start")):
        put("cloth.h5", x, dataset)
        said = tactus("check", "implicit.json", code=2)
        check(text in said and said.count("\n") <= 1, what, said)
    shutil.copy("kept.h5", "cloth.h5")
    for keys, text in (({"start": {"file": "none.h5"}}, "none.h5: cannot be opened"), ({"start": {"file": "implicit.json"}}, "is no HDF5 file"),
                       ({"start": 3}, "must be an object with a \"file\""), ({"start": {}}, "file"), ({"rigid": {"density": 100}}, "is rigid")):
        said = tactus("check", scene("bad.json", True, **keys), code=2)
        check(text in said and said.count("\n") <= 1, keys, said)
    for limit in ("limit", "limit_principal"):  # the cloth is 1.1 times as wide as at rest
        said = tactus("check", "implicit.json", "--set", f"materials.cloth.stretch.{limit}=0.05", code=2)
        check("at the start" in said and "1.05" in said and said.count("\n") <= 1, limit, said)
        tactus("check", "implicit.json", "--set", f"materials.cloth.stretch.{limit}=0.3")
    put("rope.h5", [[0.08, 0, 0], [0, 0, 0]])  # 0.8 times as long as at rest
    rope = {"name": "rope", "material": "rope", "mesh": {"kind": "segments", "from": [0, 0, 0], "to": [0.1, 0, 0]}, "start": {"file": "rope.h5"}}
    for limit, code in ((0.1, 2), (0.3, 0), (2, 0)):
        made = scene("rope.json", True, [("bodies", [rope]), ("materials", {"rope": {"density": 0.1, "stretch": {"model": "spring", "stiffness": 60, "limit": limit}}})])
        said = tactus("check", made, code=code)
        check(code == 0 or ("a segment of \"rope\" is 0.8 times as long at the start" in said and said.count("\n") <= 1), "pressed together", said)
    inside = h5py.File("block.h5")["position"][()]
    inside[:, 0] *= -1
    put("block.h5", inside)
    check("is turned inside out at the start" in tactus("check", "implicit.json", code=2), "inside out")
    put("block.h5", block)
    return cloth


def speeds(kind, name, x, **keys):
    """A body of vertices x starts with velocities of the file, in one integrator: bits of ranks and restarts."""
    v = np.stack([np.cos(20 * x[:, 0]), 0.1 - x[:, 1], 0.2 + x[:, 2]], axis=1)
    put("fast.h5", v, "velocity")
    tactus("run", name, "-o", kind + "-fast.run", "--quiet")
    first, at = frames(kind + "-fast.run", "velocity"), frames(kind + "-fast.run")
    expected = v + keys.get("velocity", [0, 0, 0])
    expected[keys.get("held", [])] = 0
    check((first[0][:len(x)] == expected).all(), kind, "starts with the file's velocities added", first[0][:len(x)] - expected)
    check(np.allclose(at[0][:len(x)], x, atol=1e-12) and abs(at[-1][:len(x)] - x).max() > 0.001, kind, "starts as its mesh, and moves")
    tactus("run", name, "-o", kind + "-fast-3.run", "--quiet", ranks=3, TACTUS_TEST_SPREAD="1", TACTUS_TEST_DEAL="1")
    check(all((a == b).all() for a, b in zip(at, frames(kind + "-fast-3.run"))), kind, "ranks differ")
    folder = kind + "-fast-half.run"
    tactus("run", name, "-o", folder, "--quiet", "--set", "time.end=0.01")
    os.rename("fast.h5", "away.h5")  # a restart has its own velocities
    tactus("run", "--restart", folder, "--set", "time.end=0.02", "--quiet")
    os.rename("away.h5", "fast.h5")
    check((frames(folder)[-1] == at[-1]).all(), kind, "a restart differs")
    return v


def faster(cloth):
    """Velocities of each vertex: without positions, with them, and what is refused."""
    still = {"body": "cloth", "vertices": [0, 5], "path": [[0, [0, 0, 0]]]}
    for implicit in (False, True):
        kind = "implicit" if implicit else "asynchronous"
        v = speeds(kind, scene("fast.json", implicit, {"motions": [still]}, start={"file": "fast.h5"}, velocity=[0, 1, 0]), cloth, velocity=[0, 1, 0], held=[0, 5])
    dust = np.array([[0.05 * i, 0.1, 0.04 * i * i] for i in range(5)])
    with open("dust.json", "w") as f:
        json.dump({"format": "tactus-scene/1", "time": {"end": 0.02, "frame": 0.01}, "contact": {"thickness": 0.002}, "integrator": {"kind": "impact", "step_s": 0.005}, "bodies": [
            {"name": "dust", "mass": 1, "radius": 0.01, "mesh": {"kind": "points", "vertices": dust.tolist()}, "start": {"file": "fast.h5"}}]}, f)
    speeds("impact", "dust.json", dust)
    put("fast.h5", cloth + [0, 0, 0.1], velocity=v)
    tactus("run", "fast.json", "-o", "both.run", "--quiet", "--overwrite")
    check((frames("both.run")[0][:36] == cloth + [0, 0, 0.1]).all() and (frames("both.run", "velocity")[0][6:11] == v[6:11] + [0, 1, 0]).all(), "positions and velocities")
    resolved = json.load(open("both.run/scene.json"))["bodies"][0]["start"]
    check(resolved["holds"] == "both" and resolved["in_plane"] is False and len(resolved["sha256"]) == 64, resolved)
    before = json.loads(tactus("check", "fast.json", "--json"))["sha256"]
    put("fast.h5", cloth + [0, 0, 0.1], velocity=v + [0, 0, 1e-9])
    check(before != json.loads(tactus("check", "fast.json", "--json"))["sha256"], "other velocities are another scene")
    said = tactus("check", "both.run/scene.json", code=2)
    check("start.sha256: is not what the file's velocities have" in said and said.count("\n") <= 1, said)
    for what, x, text in (("rows", v[:-1], "has 35 vertices, but \"cloth\" has 36"), ("nan", np.where(np.arange(36)[:, None] == 7, np.nan, v), "`velocity` of vertex 7 is not finite"),
                          ("columns", v[:, :2], "must be of shape (V, 3)"), ("fast", np.where(np.arange(36)[:, None] == 8, 1e20, v), "bodies[0].start: \"cloth\" starts its vertex 8 at 1.73e+20 m/s"),
                          ("far", np.where(np.arange(36)[:, None] == 8, 1e60, v), "vertex 8 is over 1e+50 m/s fast"), ("whole", v.astype(int), "must hold floating-point numbers")):
        put("fast.h5", x, "velocity")
        said = tactus("check", "fast.json", code=2)
        check(text in said and said.count("\n") <= 1, what, said)
    put("fast.h5", v, "velocity")
    said = tactus("check", scene("bad.json", True, start={"file": "fast.h5", "in_plane": True}), code=2)
    check("start.in_plane: is not what" in said and said.count("\n") <= 1, said)
    said = tactus("check", scene("bad.json", True, start={"file": "cloth.h5", "holds": "both"}), code=2)
    check("its file has no `velocity`" in said and said.count("\n") <= 1, said)
    said = tactus("check", scene("bad.json", True, start={"file": "fast.h5"}), "--set", "integrator.scheme=static", code=2)
    check("the start's velocities out" in said and said.count("\n") <= 1, said)
    said = tactus("check", scene("bad.json", True, start={"file": "fast.h5"}, fixed=True))
    check("its start velocities have no effect" in said, said)


os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    faster(main())
    os.chdir("/")
for failure in failures:
    print("FAIL", *failure)
sys.exit(bool(failures))
