#!/usr/bin/python3
"""halves.py [short]: a step that Newton's method does not solve in one piece is done in halves, and the run goes on from the grid of step_s, with a
warning; the bits do not depend on the ranks, nor on a stop. Slow pulls are told to be work, by all schemes, to the second order. A checkpoint
of an older trajectory, or of none, is refused by a sentence that names both. short: one case of each kind, on one
rank, for builds in which it takes ten times as long. If it fails, runs end that could go on, or go on as other runs."""
import csv
import json
import os
import re
import sys
import tempfile
import zlib

import h5py

import equality
from program import call, check, failures

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "..", "..", "..", "include", "tactus", "base.h")) as base:
    GENERATION = int(re.search(r"#define TAC_TRAJECTORY_GENERATION (\d+)", base.read())[1])
SHORT = sys.argv[1:] == ["short"]


def rows(*path):
    with open(os.path.join(*path)) as file:
        return list(csv.DictReader(file))


def boards():
    """Two boards fall on a floor, with a barrier so soft that gaps would have to be smaller than rounding can tell to carry them."""
    box = {"kind": "box", "size": [0.5, 0.08, 0.3], "fill": "tets"}
    return {"format": "tactus-scene/1", "time": {"end": 0.5, "frame": 0.25}, "gravity": [0, -9.81, 0], "contact": {"thickness": 0.003},
            "integrator": {"kind": "implicit", "scheme": "euler", "step_s": 0.125, "barrier": {"stiffness": 0.01}},
            "materials": {"board": {"density": 1000, "solid": {"model": "stvk", "youngs": 1e7, "poisson": 0.3}}},
            "bodies": [{"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [4, 4], "cells": [1, 1]}, "position": [0, -0.05, 0]},
                       {"name": "lower", "material": "board", "mesh": {**box, "cells": [3, 1, 1]}, "position": [0, -0.0098, 0]},
                       {"name": "upper", "material": "board", "mesh": {**box, "cells": [2, 1, 1]}, "position": [0, 0.0704, 0], "rotation": [0, 90, 0]}]}


def soft(folder):
    halved(folder, boards(), "two boards on a barrier that is far too soft")
    gaps = [float(r["min_distance"]) for r in rows(folder, "one", "steps.csv")]
    check(min(gaps) > 1e-7, "the smallest gap at a step's end is %.2g m, over 1e-7" % min(gaps))


def seeded(folder, seed, most):
    made = equality.make(seed)
    made["integrator"]["newton"] = {"most": most}
    halved(folder, made, "seed %d, at most %d iterations (%s)" % (seed, most, made["integrator"]["scheme"]))


def halved(folder, made, name):
    scene, one = os.path.join(folder, "scene.json"), os.path.join(folder, "one")
    with open(scene, "w") as file:
        json.dump(made, file)
    code, text = call("run", scene, "-o", one, "--overwrite", "--record")
    parts = [int(r["parts"]) for r in rows(one, "steps.csv") if r.get("parts")] or [0]
    check(code == 0 and max(parts) > 1, "%s: ends well, with %d steps in up to %d parts" % (name, sum(p > 1 for p in parts), max(parts)), text)
    check("was done in" in text and "integrator.step_s /" in text, "%s: a warning names it" % name, text)
    code, text = call("audit", one)
    check(code == 0, "%s: the audit proves it" % name, text)
    if SHORT:
        return
    for ranks in (2, 3):
        call("run", scene, "-o", os.path.join(folder, "ranks"), "--overwrite", "--quiet", ranks=ranks)
        code, text = call("diff", one, os.path.join(folder, "ranks"))
        check(code == 0, "%s: the same on %d ranks" % (name, ranks), text)
    step, end, rest = made["integrator"]["step_s"], made["time"]["end"], os.path.join(folder, "rest")
    after = next((k + 1 for k, p in enumerate(parts) if p > 1), 1)  # a restart right behind a step that was halved
    call("run", scene, "-o", rest, "--overwrite", "--quiet", "--until", repr(min(after * step, end - step)))
    call("run", "--restart", rest, "--quiet", ranks=2)
    code, text = call("diff", one, rest)
    check(code == 0, "%s: the same when it goes on from step %d on 2 ranks" % (name, after), text)


def works(folder):
    """A rope is pulled slowly; what of its work is in `defect` falls with the step, and is little."""
    for scheme in ("bdf2",) if SHORT else ("euler", "bdf2", "newmark"):
        path, out = os.path.join(folder, "pull.json"), os.path.join(folder, "pull")
        with open(path, "w") as file:
            json.dump({"format": "tactus-scene/1", "time": {"end": 1, "frame": 0.1},
                       "integrator": {"kind": "implicit", "step_s": 0.02, "scheme": scheme, "newton": {"velocity_tol": 1e-8}},
                       "materials": {"rope": {"density": 0.05, "stretch": {"model": "spring", "stiffness": 200}}},
                       "bodies": [{"name": "rope", "material": "rope", "mesh": {"kind": "segments", "from": [0, 0, 0], "to": [1, 0, 0], "cells": 4}}],
                       "motions": [{"body": "rope", "vertices": [0], "path": [[0, [0, 0, 0]]]},
                                   {"body": "rope", "vertices": [4], "path": [[0, [0, 0, 0]], [1, [0.1, 0, 0]]]}]}, file)
        code, text = call("run", path, "-o", out, "--overwrite", "--quiet")
        last = rows(out, "energy.csv")[-1]
        share = abs(float(last["defect"])) / abs(float(last["work"]))
        check(code == 0 and share < 2e-3, "%s: %.2g of the work of a slow pull is in `defect`, at most 2e-3" % (scheme, share), text)


def tight(folder):
    """A weight swings on a stiff spring with small steps; a tolerance near what rounding allows must not end the run."""
    for tolerance in (1e-12,) if SHORT else (1e-9, 1e-12):
        path, out = os.path.join(folder, "pendulum.json"), os.path.join(folder, "pendulum")
        with open(path, "w") as file:
            json.dump({"format": "tactus-scene/1", "time": {"end": 0.1, "frame": 0.025}, "gravity": [0, -9.81, 0],
                       "integrator": {"kind": "implicit", "step_s": 0.00125, "newton": {"velocity_tol": tolerance}},
                       "materials": {"rope": {"density": 1, "stretch": {"model": "spring", "stiffness": 1e5}}},
                       "bodies": [{"name": "rope", "material": "rope", "mesh": {"kind": "segments", "from": [0, 0, 0], "to": [1, 0, 0], "cells": 1}}],
                       "motions": [{"body": "rope", "vertices": [0], "path": [[0, [0, 0, 0]]]}]}, file)
        code, text = call("run", path, "-o", out, "--overwrite", "--quiet")
        check(code == 0 and len(rows(out, "steps.csv")) == 80, "a pendulum with a tolerance of %g m/s ends well" % tolerance, text)


def snaps(folder):
    """The middle of two struts is drawn through their line by two long ropes, whose ends move slowly. It snaps over within one step, much farther than anything
    would move it, so this step is halved until inertia tells where it comes down."""
    path, out = os.path.join(folder, "snap.json"), os.path.join(folder, "snap")
    places = [[-1, 0, 0], [0, 0.3, 0], [1, 0, 0], [-10, 0.3, 0], [10, 0.3, 0]]
    with open(path, "w") as file:
        json.dump({"format": "tactus-scene/1", "time": {"end": 20, "frame": 0.1},
                   "integrator": {"kind": "implicit", "step_s": 0.1, "newton": {"velocity_tol": 1e-6}},
                   "materials": {"rope": {"density": 0.01, "stretch": {"model": "spring", "stiffness": 1e4}}},
                   "bodies": [{"name": "rope", "material": "rope",
                               "mesh": {"kind": "inline", "vertices": places, "edges": [[0, 1], [1, 2], [3, 1], [1, 4]]}}],
                   "motions": [{"body": "rope", "vertices": [0, 2], "path": [[0, [0, 0, 0]]]},
                               {"body": "rope", "vertices": [3, 4], "path": [[0, [0, 0, 0]], [20, [0, -4, 0]]]}]}, file)
    code, text = call("run", path, "-o", out, "--overwrite")
    parts = [int(r["parts"]) for r in rows(out, "steps.csv")]
    with h5py.File(os.path.join(out, "frames.h5")) as file:
        keys = sorted(file["frames"])
        first, last = (file["frames"][k]["position"][1][1] for k in (keys[0], keys[-1]))
    check(code == 0 and first > 0.1 and last < -0.1, "the middle is drawn from %.2g to %.2g m, through the line of its struts" % (first, last), text)
    check(max(parts) > 1 and "much farther than anything" in text, "the step in which it snaps is done in %d parts, and a warning tells why" % max(parts), text)


def older(folder):
    """A checkpoint whose generation is 0, as those have that do not tell it."""
    scene, out = os.path.join(folder, "scene.json"), os.path.join(folder, "old")
    with open(scene, "w") as file:
        json.dump(equality.make(2), file)
    call("run", scene, "-o", out, "--overwrite", "--quiet", "--until", "0.04")
    path = os.path.realpath(os.path.join(out, "checkpoint.h5"))
    with h5py.File(path, "r+") as file:
        whole = file["integers"][()]
        check(whole[14] == GENERATION, "the place of the generation among a checkpoint's integers (src/io/checkpoint/checkpoint.c)")
        whole[14] = 0
        file["integers"][...] = whole
    with open(path, "rb") as file:
        data = file.read()
    with open(path, "wb") as file:
        file.write(data[:12] + zlib.crc32(data[512:]).to_bytes(4, "little") + data[16:])
    code, text = call("run", "--restart", path, "-o", os.path.join(folder, "new"), "--quiet")
    check(code == 2 and "trajectory generation 0" in text and "generation %d" % GENERATION in text and text.count("tactus: ") == 1,
          "a checkpoint of generation 0 is refused, naming both", text)
    code, text = call("--version")
    check(code == 0 and "trajectory generation %d" % GENERATION in text, "--version names the generation", text)
    with open(os.path.join(out, "run.json")) as file:
        check(json.load(file).get("trajectory_generation") == GENERATION, "run.json has the generation")


def main():
    with tempfile.TemporaryDirectory() as folder:
        seeded(folder, 4, 12)
        if not SHORT:
            seeded(folder, 5, 12)
        soft(folder)
        works(folder)
        tight(folder)
        snaps(folder)
        older(folder)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
