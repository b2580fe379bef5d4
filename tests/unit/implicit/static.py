#!/usr/bin/python3
"""static.py: the static scheme: increments without inertia end where forces balance. Closed forms, the book of energy, the press of presses.py with
the same forces as with inertia, what is refused, the work of loads with other schemes, and the same bits on any number of ranks and across a restart. If this
fails, an engineer's curve of force over displacement is wrong, or a run that cannot balance does not say so."""
import csv
import json
import math
import os
import sys
import tempfile

import presses
from program import call, check, failures

HOME = tempfile.mkdtemp(prefix="tactus-static-")
STATIC = {"kind": "implicit", "scheme": "static", "step_s": 0.125}
CLOTH = {"c": {"density": 0.2, "stretch": {"model": "cst", "stiffness": 500, "poisson": 0.3}, "bend": {"model": "hinge", "stiffness": 1e-4}}}
FLOOR = {"name": "floor", "fixed": True, "position": [0, -0.6, 0], "mesh": {"kind": "grid", "size": [3, 3], "cells": [2, 2]}}


def solid(youngs=1e5, poisson=0.0, model="neo-hookean"):
    return {"m": {"density": 1000, "solid": {"model": model, "youngs": youngs, "poisson": poisson}}}


def block(size, cells, **more):
    return {"name": "body", "material": "m", "mesh": {"kind": "box", "size": size, "cells": cells, "fill": "tets"}, **more}


def table(name, file):
    path = os.path.join(HOME, name + ".run", file)
    if not os.path.exists(path):
        return []
    with open(path) as f:
        return list(csv.DictReader(f))


def run(name, scene, *more, ranks=1, **environment):
    scene = {"format": "tactus-scene/1", "time": {"end": 1, "frame": 0.25}, "integrator": STATIC, "output": {"reactions": True}, **scene}
    path = os.path.join(HOME, name + ".json")
    with open(path, "w") as f:
        json.dump(scene, f)
    return call("run", path, "-o", os.path.join(HOME, name + ".run"), "--quiet", *more, ranks=ranks, **environment)


def last(name, *columns):
    rows = table(name, "energy.csv")
    return [float(rows[-1][c]) if rows else math.nan for c in columns]


def bottom_moves(name, y):
    """How far the vertices that began at height y have sunk, m, from the frames as OBJ."""
    out = os.path.join(HOME, name + "-obj")
    call("export", os.path.join(HOME, name + ".run"), "--frames", "0,-1", "--format", "obj", "-o", out)
    both = []
    for file in sorted(os.listdir(out)):
        with open(os.path.join(out, file)) as f:
            both.append([[float(n) for n in line.split()[1:]] for line in f if line.startswith("v ")])
    sunk = [a[1] - b[1] for a, b in zip(*both) if abs(a[1] - y) < 1e-9]
    return sum(sunk) / len(sunk)


# ---- a bar hangs by its weight, which grows: it becomes longer by rho g L^2 / 2E
PIN = {"body": "body", "vertices": {"box": [[-1, 0.49, -1], [1, 0.51, 1]]}, "path": [[0, [0, 0, 0]]]}
RAMP = [{"body": "body", "acceleration": [0, -9.81, 0], "path": [[0, 0], [1, 1]]}]
code, text = run("bar", {"materials": solid(1e7), "bodies": [block([0.1, 1, 0.1], [2, 16, 2])], "motions": [PIN], "loads": RAMP})
exact = 1000 * 9.81 / 2e7
got = bottom_moves("bar", -0.5) if code == 0 else math.nan
check(abs(got / exact - 1) < 0.02, "a hanging bar grows by %.5g m, of %.5g" % (got, exact), text)
kinetic, total, work, defect = last("bar", "kinetic", "total", "work", "defect")
check(kinetic == 0 and work > 0 and abs(defect) < 1e-3 * work, "what its weight works, %.4g J, is in it; defect %.2g J, kinetic %g J" % (work, defect, kinetic))
check(all(float(r["momentum_y"]) == 0 for r in table("bar", "energy.csv")), "nothing has a momentum")

# ---- a beam bends by its weight: compared with what a damped motion comes to rest at
BEAM = {"materials": solid(1e6, 0.3, "corotated"), "bodies": [block([1, 0.1, 0.1], [16, 2, 2])],
        "motions": [{"body": "body", "vertices": {"box": [[-0.51, -1, -1], [-0.49, 1, 1]]}, "path": [[0, [0, 0, 0]]]}], "gravity": [0, -9.81, 0]}
code, text = run("beam", BEAM)
slow, said = run("slow", {**BEAM, "integrator": {"kind": "implicit", "step_s": 2}, "time": {"end": 120, "frame": 40}})
a, b = last("beam", "gravity")[0], last("slow", "gravity")[0]
check(code == 0 and slow == 0 and abs(a / b - 1) < 5e-3, "a beam hangs as one that has come to rest: %.5g and %.5g J" % (a, b), text + said)

# ---- the rubber ring between plates, as with inertia: figures, which are the same with sanitizers, where the others run this code in less time
if "ASAN_OPTIONS" not in os.environ:
    with tempfile.TemporaryDirectory() as folder:
        press = presses.Press(folder, "ring, static", presses.rubber_ring({"scheme": "static"}))
        press.ended(200)
        press.agrees(0.005)
        press.returns(0.01)
        press.balances(0.005)
        moving = presses.Press(folder, "ring, euler", presses.rubber_ring({}))
        press.check(abs(press.peak / moving.peak - 1) < 0.005, "the peak is %.5g N, with inertia %.5g N" % (press.peak, moving.peak))

# ---- a block that is drawn over a floor slides at mu times its weight and what presses it down
DRAWN = {"materials": solid(1e5), "contact": {"thickness": 0.01, "friction": 0.5}, "integrator": {**STATIC, "friction": {"lags": 0}},
         "bodies": [block([0.3, 0.3, 0.3], [3, 3, 3], position=[0, -0.4399, 0]), FLOOR],
         "motions": [{"body": "body", "vertices": {"box": [[-1, -0.3, -1], [1, -0.28, 1]]}, "path": [[0, [0, 0, 0]], [0.25, [0, -0.02, 0]], [1, [0.2, -0.02, 0]]]}]}
code, text = run("drawn", DRAWN)
rows = [r for r in table("drawn", "reactions.csv") if r["name"] == "floor"]
push = [(abs(float(r["contact_force_x"])), abs(float(r["contact_force_y"]))) for r in rows[2:]]
check(code == 0 and len(push) >= 3 and all(n > 10 and abs(f / n - 0.5) < 0.01 for f, n in push), "friction is half of the normal force: %s" % push, text)

# ---- a balloon is blown up: what the pressure works is what the skin has; its normals are those of the end
code, text = run("balloon", {"materials": CLOTH, "bodies": [{"name": "skin", "material": "c", "mesh": {"kind": "sphere", "radius": 0.12, "level": 2}}],
                             "loads": [{"body": "skin", "pressure": 300, "path": [[0, 0], [1, 1]]}], "motions": [{"body": "skin", "vertices": [0], "path": [[0, [0, 0, 0]]]}]})
work, defect = last("balloon", "work", "defect")
check(code == 0 and work > 0.01 and abs(defect) < 5e-3 * work, "a balloon: %.4g J of work, defect %.2g" % (work, defect), text)

# ---- what falls comes to rest in one increment; cloth and particles
code, text = run("fall", {"materials": solid(), "gravity": [0, -9.81, 0], "contact": {"thickness": 0.01}, "bodies": [block([0.3, 0.3, 0.3], [3, 3, 3]), FLOOR]})
rows = [r for r in table("fall", "reactions.csv") if r["name"] == "floor"]
check(code == 0 and all(abs(float(r["contact_force_y"]) / (-27 * 9.81) - 1) < 0.005 for r in rows[1:]), "the floor carries 27 kg: %s" % [r["contact_force_y"] for r in rows], text)
code, text = run("cloth", {"materials": CLOTH, "gravity": [0, -9.81, 0], "contact": {"thickness": 0.004},
                           "bodies": [{"name": "sheet", "material": "c", "position": [0, 0.13, 0], "mesh": {"kind": "grid", "size": [0.5, 0.5], "cells": [12, 12]}},
                                      {"name": "ball", "fixed": True, "mesh": {"kind": "sphere", "radius": 0.12, "level": 3}}],
                           "motions": [{"body": "sheet", "vertices": [0, 12, 156, 168], "path": [[0, [0, 0, 0]]]}]})
check(code == 0 and last("cloth", "contacts")[0] > 0, "a cloth that is held by its corners lies on a ball", text)

# ---- what nothing holds
code, text = run("free", {"materials": solid(), "gravity": [0, -9.81, 0], "bodies": [block([0.1, 0.1, 0.1], [1, 1, 1])]})
check(code == 2 and 'nothing holds "body"' in text, "refused at the start: a body that nothing can hold", text)
code, text = run("miss", {"materials": solid(), "gravity": [0, -9.81, 0], "contact": {"thickness": 0.01}, "bodies": [block([0.1, 0.1, 0.1], [1, 1, 1], position=[5, 0, 0]), FLOOR]})
check(code == 3 and 'nothing holds "body"' in text, "ends the run: a body that falls past the floor", text)

# ---- and with inertia: work of a load that grows is of the second order with the schemes that are
for scheme in ("bdf2", "newmark"):
    code, text = run(scheme, {"materials": solid(1e5, 0.3), "bodies": [block([0.1, 1, 0.1], [1, 5, 1])], "motions": [PIN],
                              "integrator": {"kind": "implicit", "step_s": 0.0125, "scheme": scheme, "newton": {"velocity_tol": 1e-6}},
                              "loads": [{"body": "body", "vertices": {"box": [[-1, -0.51, -1], [1, -0.49, 1]]}, "force": [0, -10, 0], "path": [[0, 0], [1, 1]]}]})
    work, defect = last(scheme, "work", "defect")
    check(code == 0 and work > 0.01 and abs(defect) < 2e-3 * work, "%s: of %.4g J that a load works %.2g are in defect" % (scheme, work, defect), text)

# ---- what has no meaning
for what, change, part in (
        ("damping", {"materials": {"m": {"density": 1000, "solid": {"model": "neo-hookean", "youngs": 1e5, "poisson": 0.3, "damping": 0.1}}}}, "materials.m.solid.damping"),
        ("a wind", {"loads": [{"body": "body", "wind": [1, 0, 0], "drag": 1}]}, "loads[0].wind"),
        ("a start velocity", {"bodies": [block([0.1, 0.1, 0.1], [1, 1, 1], velocity=[1, 0, 0])]}, "bodies.body"),
        ("friction.velocity", {"integrator": {**STATIC, "friction": {"velocity": 0.1}}}, "integrator.friction.velocity"),
        ("friction.slip with euler", {"integrator": {"kind": "implicit", "step_s": 0.125, "friction": {"slip": 0.1}}}, "integrator.friction.slip")):
    code, text = run("refused", {"materials": solid(), "bodies": [block([0.1, 0.1, 0.1], [1, 1, 1])], **change})
    check(code == 2 and part in text, "%s is refused by its key" % what, text)

# ---- the same bits on any ranks, and across a restart on others
whole = os.path.join(HOME, "drawn.run")
for ranks in (2, 3):
    name = "drawn-%d" % ranks
    first, text = run(name, DRAWN, "--until", "0.5", ranks=ranks)
    code, more = call("run", "--restart", os.path.join(HOME, name + ".run"), "--quiet", ranks=4 - ranks)
    same, reported = call("diff", whole, os.path.join(HOME, name + ".run"), "--all-frames")
    check(first == 0 and code == 0 and same == 0, "the same bits on %d ranks, and from the middle on %d" % (ranks, 4 - ranks), text + more + reported)
sys.exit(bool(failures))
