#!/usr/bin/python3
"""joints.py: joints and motors of rigid bodies against closed forms.

weight    A box of 1 kg hangs on a ball joint with a slack of 1 mm: it opens by .43 of it, and under 1000 times its weight
          not by all of it.
pendulum  The same box swings: its period is that of a physical pendulum within 1e-3, or a tenth of that with a tenth of the
          slack, and with restitution 1 its energy stays.
top       A heavy symmetric top on a ball joint precesses steadily, as its equation says.
free      Two spinning bodies that are joined keep momentum and angular momentum to rounding.
motors    A torque does the work T times the angle, which is the energy that comes in; a speed and a position are reached;
          limits hold.
moved     A plate that a motion turns carries an arm that is welded to it, and one whose hinge has a motor; the same on 1 and 3 ranks.

If it fails, joints open, lose momentum, or motors do another work than they book.
"""
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np

TACTUS = os.environ["TACTUS"]
G = 9.81
failures = []


def expect(good, what):
    print(("ok      " if good else "FAILED  ") + what)
    if not good:
        failures.append(what)


def run(folder, bodies, joints, end, frame=.01, gravity=(0, -G, 0), motions=(), ranks=1, **contact):
    scene = {"motions": list(motions), "format": "tactus-scene/1", "time": {"end": end, "frame": frame}, "gravity": list(gravity),
             "contact": {"thickness": .0005, "stiffness": 1000, "restitution": 1, **contact}, "output": {"reactions": True},
             "bodies": bodies, "joints": joints}
    path = os.path.join(folder, "scene.json")
    with open(path, "w") as file:
        json.dump(scene, file)
    out = os.path.join(folder, "out")
    done = subprocess.run((["mpirun", "-n", str(ranks)] if ranks > 1 else []) + [TACTUS, "run", path, "-o", out, "--overwrite", "--quiet"], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
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


def hang(slack, restitution):
    return {"name": "hang", "kind": "ball", "a": {"body": "box", "at": [0, 0, 0]}, "b": {"body": None}, "slack": slack,
            "restitution": restitution}


def opening(force, slack, stiffness):
    """By which part of the slack a joint opens if a weight is let go: there its layers have stored the weight's work."""
    low, high = 0.0, 1.0
    for _ in range(60):
        part, stored, layer = (low + high) / 2, 0.0, 1
        while (reach := 1 - (1 - 2.0 ** -10) * layer ** -.25) < part:
            stored += .5 * stiffness * layer ** 3 * (slack * (part - reach)) ** 2
            layer += 1
        low, high = (part, high) if stored < force * slack * part else (low, part)
    return low


def weight(folder):
    for times, end in (1, .5), (1000, .02):
        _, x, _, reactions = run(folder, [box()], [hang(.001, 0)], end, end / 50, (0, -G * times, 0))
        opens = np.linalg.norm(x[:, 8] - x[:, 9], axis=1) / .001
        wanted = opening(G * times, .001, 1000)
        expect(abs(opens.max() - wanted) < (.03 if times == 1 else .06), f"weight: {times} times it opens by {opens.max():.3f} of the slack at most, "
                                                f"wanted {wanted:.3f}")
        if times > 1:
            return
        force = np.mean([float(row["force_y"]) for row in reactions[25:]])
        expect(abs(force / (G * times) - 1) < .02, f"weight: its reaction is {force:.4g} N, the weight {G * times:.4g} N")


def swing(folder, slack, restitution, bar):
    amplitude, arm = .3, .1
    t, x, rows, _ = run(folder, [box(amplitude)], [hang(slack, restitution)], 4)
    centre = x[:, :8].mean(axis=1)
    angle = np.arctan2(centre[:, 0], -centre[:, 1])
    zero = [t[i] - angle[i] * (t[i + 1] - t[i]) / (angle[i + 1] - angle[i]) for i in range(len(t) - 1) if angle[i] * angle[i + 1] < 0]
    period = 2 * (zero[-1] - zero[0]) / (len(zero) - 1)
    k = math.sin(amplitude / 2)
    wanted = 2 * math.pi * math.sqrt(((.1 ** 2 + .2 ** 2) / 12 + arm ** 2) / (G * arm)) * (1 + k * k / 4 + 9 * k ** 4 / 64)
    expect(abs(period / wanted - 1) < bar, f"pendulum: slack {slack}, restitution {restitution}: period {period:.6f} s, closed form "
                                           f"{wanted:.6f} s ({period / wanted - 1:+.1e})")
    off = abs(rows[-1]["total"] - rows[0]["total"]) / (G * arm * (1 - math.cos(amplitude)))
    if restitution == 1 and slack == .001:
        expect(off < .02, f"pendulum: its energy stays within {100 * off:.2f} % of that of the swing")


def top(folder):
    tilt, turn, arm, side = .5, 3.0, .05, .1
    about, across = side ** 2 / 6, (side ** 2 + .02 ** 2) / 12 + arm ** 2  # kg m^2: about the axis; across it at the joint
    spin = (across * turn ** 2 * math.cos(tilt) + G * arm) / (about * turn)
    axis = np.array([-math.sin(tilt), math.cos(tilt), 0])
    centre = arm * axis
    w = turn * (np.array([0, 1, 0]) - math.cos(tilt) * axis) + spin * axis
    body = {"name": "top", "rigid": {"mass": 1}, "position": centre.tolist(), "rotation": [0, 0, math.degrees(tilt)],
            "velocity": np.cross(w, centre).tolist(), "angular_velocity": w.tolist(),
            "mesh": {"kind": "box", "size": [side, .02, side], "cells": [1, 1, 1]}}
    joint = {**hang(.0002, 0), "a": {"body": "top", "at": [0, 0, 0]}}
    t, x, _, _ = run(folder, [body], [joint], 1)
    along = x[:, :8].mean(axis=1) - x[:, 8]
    along /= np.linalg.norm(along, axis=1)[:, None]
    azimuth = np.unwrap(np.arctan2(-along[:, 2], along[:, 0])) - math.pi
    rate = (azimuth[-1] - azimuth[0]) / t[-1]
    lean = np.arccos(along[:, 1])
    expect(abs(rate / turn - 1) < .02, f"top: precesses by {rate:.4f} rad/s, wanted {turn} rad/s, spins by {spin:.1f} rad/s")
    expect(np.abs(lean - tilt).max() < .02, f"top: its lean stays within {np.abs(lean - tilt).max():.4f} rad")


def free(folder):
    bodies = [box(angular_velocity=[3, -2, 5], velocity=[.2, .1, 0]),
              {"name": "plate", "rigid": {"mass": .3}, "position": [0, .06, 0], "angular_velocity": [-4, 1, 2],
               "mesh": {"kind": "box", "size": [.15, .1, .05], "cells": [1, 1, 1]}}]
    joint = {**hang(.001, .5), "b": {"body": "plate", "at": [0, .0005, 0]}}
    _, _, rows, _ = run(folder, bodies, [joint], .5, gravity=(0, 0, 0))
    keys = [f"{what}_{c}" for what in ("momentum", "angular_momentum") for c in "xyz"]
    off = max(abs(rows[-1][key] - rows[0][key]) for key in keys)
    expect(off < 1e-13, f"free: momentum and angular momentum stay within {off:.1e}")


def arm(folder, motor, gravity=0.0, end=.5, restitution=0.0, **keys):
    body = {"name": "arm", "rigid": {"mass": 1}, "position": [.1, 0, 0], "mesh": {"kind": "box", "size": [.2, .04, .04], "cells": [1, 1, 1]}}
    joint = {"name": "hinge", "kind": "hinge", "a": {"body": "arm", "at": [0, 0, 0]}, "b": {"body": None}, "axis": [0, 0, 1], "span": .1,
             "slack": .0005, "stiffness": 1e4, "restitution": restitution, "motor": motor, **keys}
    t, x, rows, _ = run(folder, [body], [joint], end, gravity=(0, -gravity, 0))
    along = x[:, 10] - x[:, 8]
    angle = np.unwrap(np.arctan2(along[:, 1], along[:, 0]))
    return t, angle - angle[0], rows


def motors(folder):
    torque = .05
    inertia = (.2 ** 2 + .04 ** 2) / 12 + .1 ** 2
    t, angle, rows = arm(folder, {"torque": torque}, restitution=1)
    work, gained = rows[-1]["work"], rows[-1]["total"] - rows[0]["total"]
    expect(abs(work / (torque * angle[-1]) - 1) < 1e-4, f"motors: a torque does {work:.6e} J, torque times angle is {torque * angle[-1]:.6e} J")
    expect(abs(gained / work - 1) < 1e-4, f"motors: and {gained:.6e} J come in")
    expect(abs(angle[-1] / (.5 * torque / inertia * t[-1] ** 2) - 1) < .01, f"motors: it turns by {angle[-1]:.4f} rad")
    t, angle, _ = arm(folder, {"speed": 3, "most": 5}, gravity=G)
    rate = (angle[-1] - angle[-20]) / (t[-1] - t[-20])
    expect(abs(rate / 3 - 1) < .1, f"motors: a speed of 3 rad/s is {rate:.3f} rad/s against a weight")
    _, angle, _ = arm(folder, {"position": 40, "stiffness": 40, "path": [[0, 0], [.3, 1]]}, gravity=G, end=1)
    aim = math.radians(40) - G * .1 * math.cos(angle[-1]) / 40  # it gives way to the weight
    expect(abs(angle[-1] - aim) < .01, f"motors: a position of 40 degrees is {math.degrees(angle[-1]):.2f}, wanted {math.degrees(aim):.2f}")
    _, angle, _ = arm(folder, {"torque": .1}, gravity=G, limits=[-20, 30])
    least, last = math.degrees(angle.min()), math.degrees(angle[-1])
    play = math.degrees(2 * .0005 / .1)
    expect(-20 - play < least and last < -18, f"motors: limits of -20 degrees hold ({least:.2f} at least, {last:.2f} at the end)")


def moved(folder):
    plate = {"name": "plate", "mesh": {"kind": "grid", "size": [.6, .6], "cells": [6, 6]}, "rotation": [90, 0, 0], "position": [0, 0, -.05]}
    arms = [{"name": name, "rigid": {"mass": 1}, "position": [x, 0, 0], "mesh": {"kind": "box", "size": [.2, .04, .04], "cells": [1, 1, 1]}}
            for name, x in (("welded", .3), ("driven", -.3))]
    common = {"axis": [0, 0, 1], "span": .05, "slack": .0005, "stiffness": 1e4}
    joints = [{"name": "weld", "kind": "weld", "a": {"body": "welded", "at": [.25, 0, 0]}, "b": {"body": "plate"}, **common},
              {"name": "hinge", "kind": "hinge", "a": {"body": "driven", "at": [-.25, 0, 0]}, "b": {"body": "plate"}, **common,
               "motor": {"position": 30, "stiffness": 20, "path": [[0, 0], [.3, 1]]}}]
    turn = {"body": "plate", "rotate": {"axis": [0, 0, 1], "center": [0, 0, 0], "path": [[0, 0], [.4, 60]]}}
    _, x, rows, _ = run(folder, [plate, *arms], joints, .6, gravity=(0, 0, 0), motions=[turn])
    bodies = [x[:, 49 + 3 + 3:], x[:, 49 + 3 + 3 + 8 + 3:]]  # the plate has 49 vertices, and three points of each joint

    def angle(arm):
        corner = arm[0, :8]
        low = int(np.argmin(corner.sum(axis=1)))
        high = int(np.argmin(np.abs(corner - corner[low] - [.2, 0, 0]).sum(axis=1)))
        along = arm[-1, high] - arm[-1, low]
        return math.degrees(math.atan2(along[1], along[0]))
    expect(abs(angle(bodies[0]) % 360 - 60) < 2, f"moved: a welded arm turns by {angle(bodies[0]):.2f} degrees with a plate that turns by 60")
    expect(abs(angle(bodies[1]) % 360 - 90) < 2, f"moved: one with a motor by {angle(bodies[1]):.2f}, 30 more")
    middle = bodies[0][-1, :8].mean(axis=0)
    expect(np.linalg.norm(middle - [.3 * math.cos(math.pi / 3), .3 * math.sin(math.pi / 3), 0]) < .005, f"moved: and is at {middle.round(4)}")
    _, other, more, _ = run(folder, [plate, *arms], joints, .6, gravity=(0, 0, 0), motions=[turn], ranks=3)
    expect(np.array_equal(x, other) and str(rows) == str(more), "moved: to the last bit the same on 3 ranks")


def main():
    with tempfile.TemporaryDirectory() as folder:
        weight(folder)
        swing(folder, .001, 0, 1.1e-3)
        swing(folder, .001, 1, 1e-3)
        swing(folder, .0001, 1, 1e-4)
        top(folder)
        free(folder)
        motors(folder)
        moved(folder)
    sys.exit(1 if failures else 0)


main()
