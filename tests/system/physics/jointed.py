"""jointed.py: what joints.py and implicit_joints.py share: running a scene with joints, its bodies, closed forms. It is no program."""
import csv
import json
import math
import os
import subprocess

import h5py
import numpy as np

TACTUS = os.environ["TACTUS"]
G = 9.81
failures = []


def expect(good, what):
    print(("ok      " if good else "FAILED  ") + what)
    if not good:
        failures.append(what)


def run(folder, scene, ranks=1):
    """Times, positions (frames, V, 3), rows of the energy, and of the reactions of joints."""
    scene = {"format": "tactus-scene/1", "output": {"reactions": True}, **scene}
    path, out = os.path.join(folder, "scene.json"), os.path.join(folder, "out")
    with open(path, "w") as file:
        json.dump(scene, file)
    done = subprocess.run((["mpirun", "-n", str(ranks)] if ranks > 1 else []) + [TACTUS, "run", path, "-o", out, "--overwrite", "--quiet"],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise SystemExit(f"tactus run: {done.returncode}: {done.stderr}")
    with open(os.path.join(out, "energy.csv")) as file:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
    with h5py.File(os.path.join(out, "frames.h5")) as file:
        frames = [(file["frames"][k]["time"][()], file["frames"][k]["position"][:]) for k in sorted(file["frames"])]
    with open(os.path.join(out, "reactions.csv")) as file:
        reactions = [row for row in csv.DictReader(file) if int(row["body"]) < 0]
    return np.array([t for t, _ in frames]), np.array([x for _, x in frames]), rows, reactions


def box(tilt=0.0, **keys):
    """1 kg, .1 x .2 x .1 m, hung at the middle of its top at the origin."""
    return {"name": "box", "rigid": {"mass": 1}, "position": [.1 * math.sin(tilt), -.1 * math.cos(tilt), 0],
            "rotation": [0, 0, math.degrees(tilt)], "mesh": {"kind": "box", "size": [.1, .2, .1], "cells": [1, 1, 1]}, **keys}


def hang(slack, **keys):
    """The box on a ball joint at the origin."""
    return {"name": "hang", "kind": "ball", "a": {"body": "box", "at": [0, 0, 0]}, "b": {"body": None}, "slack": slack, **keys}


def periods(t, x, amplitude):
    """The period with which the box swings, and that of a physical pendulum with this amplitude."""
    arm = .1
    centre = x[:, :8].mean(axis=1)
    angle = np.arctan2(centre[:, 0], -centre[:, 1])
    zero = [t[i] - angle[i] * (t[i + 1] - t[i]) / (angle[i + 1] - angle[i]) for i in range(len(t) - 1) if angle[i] * angle[i + 1] < 0]
    k = math.sin(amplitude / 2)
    return (2 * (zero[-1] - zero[0]) / (len(zero) - 1),
            2 * math.pi * math.sqrt(((.1 ** 2 + .2 ** 2) / 12 + arm ** 2) / (G * arm)) * (1 + k * k / 4 + 9 * k ** 4 / 64))


def rod():
    """An arm of 1 kg, .2 m along x, that begins at the origin."""
    return {"name": "arm", "rigid": {"mass": 1}, "position": [.1, 0, 0], "mesh": {"kind": "box", "size": [.2, .04, .04], "cells": [1, 1, 1]}}


def hinge(motor, **keys):
    """The arm on a hinge about z at the origin."""
    return {"name": "hinge", "kind": "hinge", "a": {"body": "arm", "at": [0, 0, 0]}, "b": {"body": None}, "axis": [0, 0, 1], "span": .1,
            "slack": .0005, "stiffness": 1e4, "motor": motor, **keys}


def turned(x):
    """By how much the arm has turned in each frame, rad."""
    along = x[:, 10] - x[:, 8]
    angle = np.unwrap(np.arctan2(along[:, 1], along[:, 0]))
    return angle - angle[0]


def torque_works(t, angle, rows, torque, work_bar, gain_bar):
    """A torque does its work, which comes in, and turns the arm as its inertia lets it."""
    inertia = (.2 ** 2 + .04 ** 2) / 12 + .1 ** 2
    work, gained = rows[-1]["work"], rows[-1]["total"] - rows[0]["total"]
    expect(abs(work / (torque * angle[-1]) - 1) < work_bar, f"motors: a torque does {work:.6e} J, torque times angle is {torque * angle[-1]:.6e} J")
    expect(abs(gained / work - 1) < gain_bar, f"motors: and {gained:.6e} J come in")
    expect(abs(angle[-1] / (.5 * torque / inertia * t[-1] ** 2) - 1) < .01, f"motors: it turns by {angle[-1]:.4f} rad")


def gives_way(angle):
    """Where a position of 40 degrees with 40 N m/rad is against the arm's weight, rad."""
    return math.radians(40) - G * .1 * math.cos(angle) / 40


def limits_hold(angle, bar):
    """The arm's weight turns it onto its limit of -20 degrees."""
    least, last = math.degrees(angle.min()), math.degrees(angle[-1])
    play = math.degrees(2 * .0005 / .1)
    expect(-20 - play < least and last < bar, f"motors: limits of -20 degrees hold ({least:.2f} at least, {last:.2f} at the end)")


def on_rail(**keys):
    """The box on a slider that goes down along (1, -1, 0) from -.1 to 1 m."""
    return {"name": "rail", "kind": "slider", "a": {"body": "box", "at": [0, 0, 0]}, "b": {"body": None}, "axis": [1, -1, 0], "span": .1,
            "slack": .0005, "stiffness": 1e4, "limits": [-.1, 1], **keys}


def slides(t, x, reactions, bar):
    """A box of 1 kg slides down its rail by its weight until the rail ends. x: the box has the first 8 vertices."""
    down, pull = np.array([1, -1, 0]) / math.sqrt(2), G / math.sqrt(2)
    way = x[:, :8].mean(axis=1)
    along, k = way @ down, int(np.searchsorted(t, .5))
    aside = np.linalg.norm(way - along[:, None] * down, axis=1).max()
    edges = x[:, 1:8] - x[:, :1]
    turned_by = np.abs(edges - edges[0]).max() / .1
    expect(abs(along[k] / (.5 * pull * t[k] ** 2) - 1) < bar, f"slider: goes by {along[k]:.5f} m in {t[k]:g} s, wanted {.5 * pull * t[k] ** 2:.5f}")
    expect(aside < .0005 and turned_by < .02, f"slider: {aside:.1e} m aside at most, turned by {turned_by:.1e}")
    expect(.98 < along.max() < 1.0005, f"slider: is stopped at {along.max():.5f} m, where its way ends at 1")
    push = np.mean([[float(row["force_" + c]) for c in "xy"] for row in reactions[10:k]], axis=0)
    expect(np.abs(push / (pull / math.sqrt(2)) - 1).max() < .02, f"slider: its rail pushes by {push.round(3)} N, wanted {pull / math.sqrt(2):.3f} N each")
