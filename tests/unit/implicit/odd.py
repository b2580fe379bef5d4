#!/usr/bin/python3
"""odd.py: scenes that nobody should make, or that ask for what double precision does not have: each ends done, or with one sentence that says
what is wrong and the right exit code, the same on one rank and on two; what was run is the same to the last bit, has no infinite number, and is
proven by the audit.

If it fails, a mistake in a scene ends in nonsense, in a sentence that leads nowhere, or in one that depends on the ranks."""

import csv
import json
import os
import re
import subprocess
import sys
import tempfile

from program import call, check, failures

MATERIALS = {"cloth": {"density": 0.1, "stretch": {"model": "cst", "stiffness": 100, "poisson": 0.3}, "bend": {"model": "hinge", "stiffness": 1e-5}},
             "gel": {"density": 500, "solid": {"model": "neo-hookean", "youngs": 1e4, "poisson": 0.3}},
             "diamond": {"density": 500, "solid": {"model": "stvk", "youngs": 1e50, "poisson": 0.3}},
             "rope": {"density": 0.05, "stretch": {"model": "spring", "stiffness": 200}},
             "sail": {"density": 0.1, "stretch": {"model": "cst", "stiffness": 100, "limit": 0.02}},
             "tape": {"density": 0.05, "stretch": {"model": "spring", "stiffness": 200, "limit": 0.05}}}
FLOOR = {"name": "floor", "mesh": {"kind": "grid", "size": [1, 1], "cells": [1, 1]}, "fixed": True}
CORNERS = [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]


def sheet(name="sheet", **keys):
    return {"name": name, "material": "cloth", "position": [0.01, 0.05, 0.02], "mesh": {"kind": "grid", "size": [0.2, 0.2], "cells": [3, 3]}, **keys}


def block(name="block", **keys):
    return {"name": name, "material": "gel", "position": [0, 0.1, 0], "mesh": {"kind": "box", "size": [0.1, 0.1, 0.1], "cells": [1, 1, 1], "fill": "tets"}, **keys}


def cloth(vertices, triangles):
    return {"name": "cloth", "material": "cloth", "position": [0, 0.1, 0], "mesh": {"kind": "inline", "vertices": vertices, "triangles": triangles}}


def point(name, at, **keys):
    return {"name": name, "mass": 0.001, "position": at, "mesh": {"kind": "points", "vertices": [[0, 0, 0]]}, **keys}


def tets(vertices, corners):
    """A body, and the text of its .msh file, which main() writes."""
    text = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n" % len(vertices)
    text += "".join("%d %r %r %r\n" % (i + 1, *x) for i, x in enumerate(vertices))
    text += "$EndNodes\n$Elements\n%d\n" % len(corners)
    text += "".join("%d 4 0 %s\n" % (i + 1, " ".join(str(v + 1) for v in c)) for i, c in enumerate(corners)) + "$EndElements\n"
    return {"name": "tets", "material": "gel", "position": [0, 0.1, 0], "mesh": {"kind": "file", "path": "tets.msh"}}, text


def scene(*bodies, end=0.1, h=0.02, **keys):
    used = {body.get("material") for body in bodies}
    made = {"format": "tactus-scene/1", "time": {"end": end, "frame": h}, "gravity": [0, -9.81, 0], "contact": {"thickness": 0.004, "friction": 0.3},
            "integrator": {"kind": "implicit", "step_s": h, "newton": {"most": 100}},
            "materials": {name: value for name, value in MATERIALS.items() if name in used}, "bodies": list(bodies)}
    for key, value in keys.items():
        made[key] = {**made[key], **value} if isinstance(made.get(key), dict) else value
    return made


def straight(body, way, over=0.1, **keys):
    return {"body": body, "path": [[0, [0, 0, 0]], [over, way]], **keys}


RIGID = r"cannot be computed: its linear system is not positive at vertex \d+ of body `\w+`"
MIXED = scene(sheet(position=[0, 0.15, 0]), block(position=[0, 0.25, 0], rotation=[20, 30, 0]),
              {"name": "rope", "material": "rope", "radius": 0.003, "position": [0, 0.2, 0.06],
               "mesh": {"kind": "segments", "from": [-0.1, 0, 0], "to": [0.1, 0.01, 0], "cells": 5}},
              {"name": "dust", "mass": 0.001, "radius": 0.004, "position": [0.05, 0.12, 0], "velocity": [0, -1, 0],
               "mesh": {"kind": "points", "lattice": {"count": [2, 2, 2], "spacing": 0.012}}},
              {"name": "wire", "fixed": True, "radius": 0.002, "mesh": {"kind": "segments", "from": [-0.3, 0.08, 0], "to": [0.3, 0.08, 0.01]}},
              {"name": "pins", "fixed": True, "mesh": {"kind": "points", "vertices": [[0, 0.05, 0], [0.05, 0.05, 0.05], [-0.06, 0.05, -0.06]]}}, FLOOR, end=0.2)
# What it is, scene (with a mesh' text, if it has one), exit code, what the sentence must say.
CASES = [
    ("a tetrahedron that is inside out", tets(CORNERS, [[0, 2, 1, 3]]), 0, None),
    ("a flat tetrahedron", tets(CORNERS[:3] + [[0.1, 0.1, 0]], [[0, 1, 2, 3]]), 2, "line 13: tetrahedron 0 .*is flat"),
    ("tetrahedra that overlap", tets(CORNERS + [[0.03, 0.03, 0.03]], [[0, 1, 2, 3], [0, 1, 2, 4]]), 2, "both the tetrahedra 0 and 1, which lie on the same side"),
    ("a triangle of 1e-9 m", scene(cloth([[0, 0, 0], [0.1, 0, 0], [0.05, 0, 1e-9]], [[0, 2, 1]]), FLOOR, end=0.2), 0, None),
    ("vertices that are doubled", scene(cloth([[0, 0, 0], [0.1, 0, 0], [0, 0, 0.1], [0.1, 0, 0], [0.1, 0, 0.1], [0, 0, 0.1]], [[0, 2, 1], [3, 5, 4]])), 2,
     "surfaces overlap in"),
    ("a body in a body", scene({"name": "ball", "material": "cloth", "position": [0, 0.3, 0], "mesh": {"kind": "sphere", "radius": 0.2, "level": 1}},
                               block(position=[0, 0.3, 0]), FLOOR, end=0.2), 0, None),
    ("the same body twice", scene(sheet("one"), sheet("other"), FLOOR), 2, "surfaces overlap in"),
    ("a script through the floor", scene(sheet(), point("dust", [0, 0.2, 0], radius=0.004), FLOOR, motions=[straight("sheet", [0, -0.2, 0])]), 0, None),
    ("a script that goes around what is free", scene(sheet(), point("dust", [0, 0.02, 0], radius=0.004), FLOOR, motions=[straight("sheet", [0, -0.2, 0])]), 3,
     "cannot bring what is scripted to its place"),
    ("pressure on an open surface", scene(sheet(), FLOOR, loads=[{"body": "sheet", "pressure": 1000}]), 0, None),
    ("a force of 1e12 N", scene(sheet(), FLOOR, loads=[{"body": "sheet", "force": [0, -1e12, 0]}]), 3, RIGID),
    ("a step of 1e-9 s", scene(sheet(position=[0, 0.0041, 0]), FLOOR, end=1e-8, h=1e-9, clocks={"quantum_s": 2.0 ** -60}), 0, None),
    ("a step of 10 s", scene(sheet(), block(position=[0.3, 0.2, 0]), FLOOR, end=50, h=10), 0, None),
    ("no body", scene(), 2, "bodies: is empty"),
    ("nothing that moves", scene(FLOOR), 0, None),
    ("everything at once", MIXED, 0, None),
    ("a speed of 1e6 m/s", scene(sheet(velocity=[0, -1e6, 0]), FLOOR), 0, None),
    ("a thickness of 1e-20 m", scene(sheet(), FLOOR, contact={"thickness": 1e-20}), 3, RIGID),
    ("a barrier of 1e300", scene(sheet(position=[0, 0.0045, 0]), FLOOR, integrator={"barrier": {"stiffness": 1e300}}), 3, "does not converge: .* of vertex"),
    ("friction below 1e-300 m/s", scene(sheet(velocity=[1, 0, 0]), FLOOR, end=0.2, integrator={"friction": {"velocity": 1e-300}}), 3, RIGID),
    ("a rope that is pulled over its limit",
     scene({"name": "tape", "material": "tape", "position": [0, 0.5, 0], "mesh": {"kind": "segments", "from": [0, 0, 0], "to": [0.3, 0, 0], "cells": 3}},
           motions=[straight("tape", [0, 0, 0], vertices=[0]), straight("tape", [0.1, 0, 0], vertices=[3])]), 3, "cannot bring what is scripted to its place"),
    ("a sail that is pulled over its limit",
     scene(sheet(material="sail"), motions=[straight("sheet", [0.5, 0, 0], vertices=[0, 1]), straight("sheet", [0, 0, 0], vertices=[15])]), 3,
     RIGID + ".*a limit of stretch keeps what is scripted from its place"),
    ("1e9 m from the origin", scene(sheet(position=[1e9, 0.05, 0]), {**FLOOR, "position": [1e9, 0, 0]}), 0, None),
    ("masses of 1e-30 and 1e10 kg", scene(sheet("light", mass=1e-30), sheet("heavy", mass=1e10, position=[0, 0.1, 0]), FLOOR), 0, None),
    ("a modulus of 1e50 Pa", scene(block(material="diamond"), FLOOR), 0, None),
    ("points 1e-60 m apart", scene(point("a", [0, 0, 0], velocity=[0, -1, 0]), point("b", [0, -1e-60, 0]), {**FLOOR, "position": [0, -1, 0]}), 3, "does not converge"),
]


def sentences(text):
    return [line for line in text.splitlines() if line.startswith("tactus: ") and ": warning: " not in line]


def faults(folder, made, code, sentence):
    """What is wrong with a case, in words; nothing: ''."""
    path, out = os.path.join(folder, "scene.json"), os.path.join(folder, "out")
    if isinstance(made, tuple):
        with open(os.path.join(folder, "tets.msh"), "w") as file:
            file.write(made[1])
        made = scene(made[0], FLOOR)
    with open(path, "w") as file:
        json.dump(made, file)
    reported = []
    for ranks in (1, 2):
        subprocess.run(["rm", "-rf", out + str(ranks)], check=True)
        got, text = call("run", path, "-o", out + str(ranks), "--quiet", "--record", ranks=ranks)
        reported.append([line.replace(out + "2", out + "1") for line in sentences(text)])
        if got != code or len(reported[-1]) != (code != 0) or (sentence and not re.search(sentence, reported[-1][0])):
            return "%d ranks, code %d: %s" % (ranks, got, text)
    if reported[0] != reported[1]:
        return "one rank says %s, two say %s" % tuple(reported)
    if code == 2:
        return ""
    with open(os.path.join(out + "1", "energy.csv")) as file:
        for row in csv.DictReader(file):
            for key, value in row.items():
                if key != "min_distance" and value.strip("-")[:3] in ("nan", "inf"):
                    return "%s is %s" % (key, value)
    with open(os.path.join(out + "1", "status.json")) as file:
        reached = json.load(file)["time"]
    got, text = call("diff", "--all-frames", out + "1", out + "2")
    if not got and reached > 0:
        got, text = call("audit", out + "1", "--until", repr(reached))
    return text if got else ""


def other_step(folder):
    """Going on with another step is refused by the key's name."""
    path, out = os.path.join(folder, "scene.json"), os.path.join(folder, "begun")
    with open(path, "w") as file:
        json.dump(scene(sheet(), FLOOR), file)
    code, text = call("run", path, "-o", out, "--quiet", "--until", "0.04")
    for assignment, what in (("integrator.step_s=0.01", "integrator.step_s: is 0.01, but 0.02 in the scene that the checkpoint is of"),
                             ("integrator.scheme=bdf2", "integrator.scheme: is \"bdf2\", but \"euler\" in the scene"),
                             ("integrator.kind=asynchronous", "integrator.step_s: is no known key")):
        for ranks in (1, 2):
            code, text = call("run", "--restart", out, "--quiet", "--set", assignment, ranks=ranks)
            check(code == 2 and len(sentences(text)) == 1 and what in text, "%d ranks, gone on with %s: refused by name" % (ranks, assignment), "%d %s" % (code, text))


def ends_between_frames(folder):
    """An end at a step and between two frames is the step's: histories and checkpoints at that time find it, and what goes on has the same rows."""
    path, whole, parts = (os.path.join(folder, name) for name in ("scene.json", "whole", "parts"))
    history = {"name": "rim", "body": "sheet", "vertices": [0, 3], "every": 0.02}
    with open(path, "w") as file:
        json.dump(scene(sheet(), FLOOR, end=0.12, time={"frame": 0.04}, output={"histories": [history], "checkpoint_every_t": 0.02}), file)
    code, text = call("run", path, "-o", whole, "--quiet")
    check(code == 0, "a run with a history", text)
    code, text = call("run", path, "-o", parts, "--quiet", "--until", "0.02")
    check(code == 0, "its first step alone", text)
    for end in ("0.06", "0.1", "0.12"):
        code, text = call("run", "--restart", parts, "--quiet", "--until", end, ranks=2)
        check(code == 0, "on to %s s" % end, text)
    rows = []
    for out in (whole, parts):
        with open(os.path.join(out, "histories.csv")) as file:
            rows.append(file.read())
        with open(os.path.join(out, "steps.csv")) as file:
            rows[-1] += "".join(",".join(line.split(",")[:10]) + "\n" for line in file)
    code, text = call("diff", "--all-frames", whole, parts)
    check(code == 0 and rows[0] == rows[1], "the same frames, histories and steps", text + rows[0] + rows[1])


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, made, code, sentence in CASES:
            wrong = faults(folder, made, code, sentence)
            check(not wrong, "%s: code %d" % (name, code), wrong)
        other_step(folder)
        ends_between_frames(folder)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
