#!/usr/bin/python3
"""Histories of kinds `flux`, `reaction` and `pose`: what crosses a plane is counted once, each way, as the positions of the rows say;
a reaction's means are since the row before, its stroke is the motion's; a pose is what frames have; both integrators; the same on any number of ranks and
after any restart.  What makes no sense is refused by key."""
import csv
import json
import os
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


def tactus(*words, ranks=1, code=0):
    ran = subprocess.run((["mpirun", "-n", str(ranks)] if ranks > 1 else []) + [TACTUS, "run", *words, "--quiet"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    err = ran.stderr.decode()
    check(ran.returncode == code, words, ran.returncode, err)
    return err


def write(name, scene):
    with open(name, "w") as f:
        json.dump(scene, f)
    return name


def rows(folder, name):
    with open(folder + "/histories.csv") as f:
        return [row for row in csv.DictReader(f) if row["name"] == name]


def column(found, key):
    return np.array([float(row[key]) for row in found])


def gas(implicit):
    """Particles that fall through a plane on a floor and come back, and others that stay away; masses of two bodies differ."""
    # An implicit contact takes what is left of a bounce: there some of them are thrown up instead.
    scene = {"format": "tactus-scene/1", "time": {"end": 0.9, "frame": 0.05}, "gravity": [0, -9.8125, 0],
             "contact": {"thickness": 0.02, "stiffness": 1000, "restitution": 1},
             "bodies": [{"name": "light", "mass": 0.1, "mesh": {"kind": "points", "lattice": {"count": [4, 3, 4], "spacing": 0.125}}, "position": [0, 1, 0]},
                        {"name": "other", "mass": 7, "mesh": {"kind": "points", "lattice": {"count": [1, 2, 1], "spacing": 0.25}}, "position": [3, 0.5, 0]},
                        {"name": "heavy", "mass": 0.3, "velocity": [0, 4, 0], "mesh": {"kind": "points", "lattice": {"count": [2, 2, 1], "spacing": 0.3}}, "position": [0.5, 0.25, 1]},
                        {"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [4, 4], "cells": [2, 2]}}],
             "output": {"histories": [{"name": "every", "kind": "flux", "bodies": ["heavy", "light"], "plane": {"point": [0, 0.5, 0], "normal": [0, 2, 0]}, "every": 0.05},
                                      {"name": "mean", "body": "light", "every": 0.1},
                                      {"name": 'a "fine" one', "kind": "flux", "bodies": ["light"], "plane": {"point": [0, 0.5, 0], "normal": [0.25, 1, 0]}, "every": 0.01}]}}
    if implicit:
        scene["integrator"] = {"kind": "implicit", "step_s": 0.01}
        scene["contact"]["restitution"] = 0
    return scene


def flux(implicit):
    scene = write("gas.json", gas(implicit))
    tactus(scene, "-o", "whole")
    with h5py.File("whole/frames.h5") as f:
        body = f["mesh/body"][()]
        frames = [f["frames"][k]["position"][()] for k in sorted(f["frames"])]
    chosen = (body == 0) | (body == 2)
    front = [(x[chosen, 1] - 0.5) > 0 for x in frames]
    mass = np.where(body[chosen] == 0, 0.1, 0.3)
    ways = [np.array([(b & ~a) for a, b in zip(front, front[1:])]), np.array([(a & ~b) for a, b in zip(front, front[1:])])]
    found = rows("whole", "every")
    check(len(found) == len(frames) and found[0]["vertices"] == "52", "rows", implicit, len(found))
    for name, way in zip(("forward", "back"), ways):
        count = np.concatenate([[0], np.cumsum(way.sum(axis=1))])
        check(np.array_equal(column(found, "count_" + name), count), "counts", implicit, name)
        weight = np.concatenate([[0], np.cumsum(way @ mass)])
        check(np.allclose(column(found, "mass_" + name), weight, rtol=1e-14, atol=0), "masses", implicit, name)
        check(count[-1] > 0, "nothing crosses", implicit, name)
    check(all(row["count_forward"] == "nan" for row in rows("whole", "mean")), "a mean has no counts")
    check(len(rows("whole", 'a "fine" one')) == 91, "the fine one", implicit)
    with h5py.File("whole/histories.h5") as f:
        group = f["histories/000000"]
        check(group.attrs["kind"] in (b"flux", "flux") and np.array_equal(group["mass_back"][()], column(found, "mass_back")), "histories.h5", implicit)
        check(np.array_equal(f["histories/000001/position"][()][:, 1], column(rows("whole", "mean"), "position_y")), "a mean in histories.h5")
    tactus(scene, "-o", "ranks", ranks=3)
    tactus(scene, "-o", "parts", "--until", "0.47")
    tactus("--restart", "parts", "--until", "0.63", ranks=2)
    tactus("--restart", "parts", "--set", "time.end=0.9")
    for other in ("ranks", "parts"):
        with open("whole/histories.csv", "rb") as a, open(other + "/histories.csv", "rb") as b:
            check(a.read() == b.read(), "differs", implicit, other)
    # One that the checkpoint does not know begins with it; another plane is another history.
    tactus("--restart", "parts/checkpoint-000001.h5" if os.path.exists("parts/checkpoint-000001.h5") else "parts", "-o", "late", "--set", "time.end=1.2",
           "--set", "output.histories.0.plane.point.1=0.1")
    check(column(rows("late", "every"), "count_back")[0] == 0, "a new plane begins with 0")


def press(implicit):
    """A plate goes down into a block and back; another one turns."""
    scene = {"format": "tactus-scene/1", "time": {"end": 0.2, "frame": 0.05}, "contact": {"thickness": 0.004, "stiffness": 2000},
             "materials": {"rubber": {"density": 1000, "solid": {"model": "neo-hookean", "youngs": 2e4, "poisson": 0.3, "damping": 0.01}}},
             "bodies": [{"name": "block", "material": "rubber", "mesh": {"kind": "box", "size": [0.1, 0.1, 0.1], "cells": [2, 2, 2], "fill": "tets"}},
                        {"name": "top", "position": [0, 0.056, 0], "mesh": {"kind": "grid", "size": [0.2, 0.2], "cells": [1, 1]}},
                        {"name": "bottom", "position": [0, -0.056, 0], "fixed": True, "mesh": {"kind": "grid", "size": [0.2, 0.2], "cells": [1, 1]}},
                        {"name": "wheel", "position": [0, 1, 0], "mesh": {"kind": "grid", "size": [0.2, 0.2], "cells": [1, 1]}}],
             "motions": [{"body": "top", "path": [[0, [0, 0, 0]], [0.125, [0.0078125, -0.015625, 0]], [0.25, [0, 0, 0]]]},
                         {"body": "wheel", "rotate": {"axis": [0, 1, 0], "center": [0.5, 1, 0], "path": [[0, 0], [0.2, 90]]}}],
             "output": {"reactions": True,
                        "histories": [{"name": "press", "kind": "reaction", "body": "top", "every": 0.0125}, {"name": "under", "kind": "reaction", "body": "bottom", "every": 0.025},
                                      {"name": "corner", "kind": "reaction", "body": "top", "vertices": [0], "every": 0.05}, {"name": "turn", "kind": "reaction", "body": "wheel", "every": 0.2}]}}
    if implicit:
        scene["integrator"] = {"kind": "implicit", "step_s": 0.00625}
    name = write("press.json", scene)
    tactus(name, "-o", "press")
    found, under = rows("press", "press"), rows("press", "under")
    t = column(found, "time")
    gone = np.interp(t, [0, 0.125, 0.25], [0, 1, 0])
    check(len(t) == 17 and np.allclose(column(found, "stroke"), gone * np.hypot(0.0078125, 0.015625), rtol=1e-9, atol=1e-15), "stroke", implicit, column(found, "stroke"))
    check(np.allclose(column(found, "displacement_y"), -0.015625 * gone, rtol=1e-9, atol=1e-15), "displacement", implicit)
    check(np.all(column(under, "stroke") == 0) and np.all(column(under, "vertices") == 4), "a fixed body has no stroke", implicit)
    check(rows("press", "corner")[0]["vertices"] == "1", "chosen vertices", implicit)
    check(np.isclose(column(rows("press", "turn"), "stroke")[-1], 0.5 * np.sqrt(2), rtol=1e-3), "stroke of a turn", implicit, rows("press", "turn"))
    # The rows of a frame's interval have its impulse together.
    with open("press/reactions.csv") as f:
        reported = [row for row in csv.DictReader(f) if row["name"] == "top"]
    for axis in "xyz":
        contact = column(found, "contact_force_" + axis)
        for k, row in enumerate(reported[1:], 1):
            there = (t > 0.05 * (k - 1) + 1e-6) & (t < 0.05 * k + 1e-6)
            check(there.sum() == 4 and np.isclose(np.average(contact[there], weights=np.diff(t, prepend=0)[there]), float(row["contact_force_" + axis]), rtol=1e-9, atol=1e-9), "impulse", implicit, axis, k, contact[there].mean(), row["contact_force_" + axis], there.sum())
        check(np.allclose(column(found, "force_" + axis), -contact - column(found, "elastic_force_" + axis), rtol=1e-12, atol=1e-12), "force", implicit, axis)
    force = column(found, "force_y")
    check(force[0] == 0 and abs(force[8:12]).min() > 1 and np.all(force < 1e-9), "the plate is held down", implicit, force)
    # Held by nothing but the two: forces of plates agree where the block is slow.
    check(np.isclose(column(found, "contact_force_y")[::2][4], -column(under, "contact_force_y")[4], rtol=0.5), "both plates", implicit, column(found, "contact_force_y"), column(under, "contact_force_y"))
    tactus(name, "-o", "press3", ranks=3)
    tactus(name, "-o", "press2", "--until", "0.11875")
    tactus("--restart", "press2", ranks=2)
    for other in ("press3", "press2"):
        with open("press/histories.csv", "rb") as a, open(other + "/histories.csv", "rb") as b:
            check(a.read() == b.read(), "differs", implicit, other)


def pose(implicit):
    """A box falls on its edge, and three pieces of one body fly by: rows are what frames say, and the energy is that of the book."""
    corner = np.array([[x, y, z] for x in (0, .02) for y in (0, .02) for z in (0, .02)])
    faces = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
    stones = {"kind": "inline", "vertices": np.concatenate([corner + [.05 * k, 0, 0] for k in range(3)]).tolist(),
              "triangles": np.concatenate([np.array(faces) + 8 * k for k in range(3)]).tolist()}
    scene = {"format": "tactus-scene/1", "time": {"end": 0.25, "frame": 0.0625}, "gravity": [0, -9.8125, 0], "contact": {"thickness": 0.001, "stiffness": 1000},
             "bodies": [{"name": "floor", "fixed": True, "mesh": {"kind": "plane", "size": [1, 1]}},
                        {"name": "box", "rigid": {"density": 1000}, "mesh": {"kind": "box", "size": [0.03, 0.02, 0.04], "cells": [1, 1, 1]}, "position": [0, 0.04, 0],
                         "rotation": [10, 20, 30], "angular_velocity": [3, -2, 1]},
                        {"name": "stones", "rigid": {"density": 2000, "pieces": True}, "mesh": stones, "position": [0.2, 2, 0], "velocity": [1, 0, 0], "angular_velocity": [0, 2, 0]}],
             "output": {"fields": ["pose"], "histories": [{"name": "box", "kind": "pose", "body": "box", "every": 0.03125}, {"name": "stones", "kind": "pose", "body": "stones", "every": 0.0625}]}}
    if implicit:
        scene["integrator"] = {"kind": "implicit", "step_s": 0.0078125}
    name = write("pose.json", scene)
    tactus(name, "-o", "pose")
    box, flying = rows("pose", "box"), rows("pose", "stones")
    check(len(box) == 9 and {row["vertex"] for row in box} == {"-1"} and [row["vertex"] for row in flying[:3]] == ["0", "8", "16"], "rows of poses", implicit)
    columns = {"center": "position_", "velocity": "velocity_", "rotation": "rotation_", "spin": "spin_"}
    with h5py.File("pose/frames.h5") as f:
        for k, key in enumerate(sorted(f["frames"])):
            for set_, column_ in columns.items():
                for c, axis in enumerate("wxyz" if set_ == "rotation" else "xyz"):
                    there = f["frames"][key]["rigid_" + set_][:, c]
                    mine = [float(row[column_ + axis]) for row in [box[2 * k], *flying[3 * k:3 * k + 3]]]
                    check(np.array_equal(there, mine), "pose", implicit, k, set_, axis, there, mine)
    # Free flight: kinetic energy changes with the speed of the centre alone, but for what implicit steps damp of the turning.
    energy, speed = column(flying[::3], "kinetic"), np.array([column(flying[::3], "velocity_" + axis) for axis in "xyz"])
    mass = float(flying[0]["mass"])
    check(np.isclose(mass, 2000 * .02 ** 3) and np.isclose(energy[0], .5 * mass * (1 + .1 ** 2) + .5 * mass * .02 ** 2 / 6 * 4), "kinetic energy", implicit, energy[0])
    check(np.allclose(energy - energy[0], .5 * mass * ((speed ** 2).sum(axis=0) - (speed[:, 0] ** 2).sum()), atol=1e-6 if implicit else 1e-15), "energy of a fall", implicit, energy, speed)
    check(column(box, "contact_force_y").max() > 9.8125 * float(box[0]["mass"]), "a blow", implicit, column(box, "contact_force_y"))
    with h5py.File("pose/histories.h5") as f:
        check(np.array_equal(f["histories/000000/rotation"][:, 2], column(box, "rotation_y")), "rotation in histories.h5", implicit)
        check(f["histories/000001/spin"].shape == (5, 3, 3) and list(f["histories/000001/vertex"]) == [0, 8, 16], "pieces in histories.h5", implicit)
    tactus(name, "-o", "pose3", ranks=3)
    tactus(name, "-o", "pose2", "--until", "0.125")
    tactus("--restart", "pose2", ranks=2)
    for other in ("pose3", "pose2"):
        with open("pose/histories.csv", "rb") as a, open(other + "/histories.csv", "rb") as b:
            check(a.read() == b.read(), "differs", implicit, other)


def refusals():
    def refused(change, sentence):
        scene = gas(False)
        change(scene["output"]["histories"][0], scene)
        check(sentence in tactus(write("bad.json", scene), "-o", "bad", code=2), sentence)
    refused(lambda h, s: h.update(kind="fluks"), "output.histories[0].kind")
    refused(lambda h, s: s["output"]["histories"].__setitem__(0, {"name": "n", "kind": "pose", "body": "light", "every": 1}), 'names "light", which is not rigid')
    refused(lambda h, s: s["output"]["histories"].__setitem__(0, {"name": "n", "kind": "pose", "body": "light", "each": True, "every": 1}), "output.histories[0].each")
    refused(lambda h, s: h.update(vertices="all"), 'output.histories[0].vertices')
    refused(lambda h, s: h.pop("plane"), "output.histories[0].plane: is missing")
    refused(lambda h, s: h["plane"].update(normal=[0, 0, 0]), "output.histories[0].plane.normal: is [0, 0, 0]")
    refused(lambda h, s: h.update(bodies=[]), "output.histories[0].bodies: is empty")
    refused(lambda h, s: h.update(bodies=["light", "light"]), '"light" is there twice')
    refused(lambda h, s: h.update(bodies=["ligth"]), 'did you mean "light"')
    refused(lambda h, s: s["output"]["histories"].__setitem__(0, {"name": "n", "kind": "reaction", "body": "light", "every": 1}), "which nothing holds")
    refused(lambda h, s: s["output"]["histories"].__setitem__(0, {"name": "n", "kind": "reaction", "body": "floor", "each": True, "every": 1}), "output.histories[0].each")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    refusals()
    for kind in (False, True):
        for part in (flux, press, pose):
            os.mkdir("%s%d" % (part.__name__, kind))
            os.chdir("%s%d" % (part.__name__, kind))
            try:
                part(kind)
            except (OSError, KeyError) as error:
                check(False, part.__name__, kind, repr(error))
            os.chdir(folder)
for failure in failures:
    print(*failure)
print("follow.py: %d failures" % len(failures))
sys.exit(1 if failures else 0)
