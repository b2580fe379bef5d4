#!/usr/bin/python3
"""start.py: bodies that start elsewhere than their placed mesh (key `start`).  They begin at the file's positions, pull themselves
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


def put(name, x, dataset="position"):
    with h5py.File(name, "w") as f:
        f[dataset] = x


def frames(folder):
    with h5py.File(folder + "/frames.h5") as f:
        names = []
        f.visititems(lambda n, o: names.append(n) if isinstance(o, h5py.Dataset) and n.endswith("position") else None)
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
    inside = h5py.File("block.h5")["position"][()]
    inside[:, 0] *= -1
    put("block.h5", inside)
    check("is turned inside out at the start" in tactus("check", "implicit.json", code=2), "inside out")


os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
    os.chdir("/")
for failure in failures:
    print("FAIL", *failure)
sys.exit(bool(failures))
