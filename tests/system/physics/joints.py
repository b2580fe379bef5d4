#!/usr/bin/python3
"""joints.py: joints and motors of rigid bodies against closed forms.

weight    A box of 1 kg hangs on a ball joint with a slack of 1 mm: it opens by .43 of it, and under 1000 times its weight
          not by all of it.
pendulum  The same box swings: its period is that of a physical pendulum within 1e-3, or a tenth of that with a tenth of the
          slack, and with restitution 1 its energy stays.
top       A heavy symmetric top on a ball joint precesses steadily, as its equation says.
free      Two spinning bodies that are joined, by a ball and by a slider, keep momentum and angular momentum to rounding.
motors    A torque does the work T times the angle, which is the energy that comes in; a speed and a position are reached;
          limits hold.
slider    A box slides down a rail as its weight pulls it, and its rail pushes as it must, until the rail ends.
moved     A plate that a motion turns carries an arm that is welded to it, and one whose hinge has a motor; the same on 1 and 3 ranks.

If it fails, joints open, lose momentum, or motors do another work than they book.
"""
import math
import sys
import tempfile

import jointed
import numpy as np
from jointed import G, box, expect, failures, gives_way, hinge, limits_hold, on_rail, periods, rod, slides, torque_works, turned


def run(folder, bodies, joints, end, frame=.01, gravity=(0, -G, 0), motions=(), ranks=1, **contact):
    return jointed.run(folder, {"motions": list(motions), "time": {"end": end, "frame": frame}, "gravity": list(gravity),
                                "contact": {"thickness": .0005, "stiffness": 1000, "restitution": 1, **contact},
                                "bodies": bodies, "joints": joints}, ranks)


def hang(slack, restitution):
    return jointed.hang(slack, restitution=restitution)


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
    period, wanted = periods(t, x, amplitude)
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
    ball = {**hang(.001, .5), "b": {"body": "plate", "at": [0, .0005, 0]}}
    for joint in ball, on_rail(restitution=.5, b={"body": "plate", "at": [0, .0002, 0]}, limits=[-.05, .05], axis=[0, 1, 1]):
        _, _, rows, _ = run(folder, bodies, [joint], .5, gravity=(0, 0, 0))
        keys = [f"{what}_{c}" for what in ("momentum", "angular_momentum") for c in "xyz"]
        off = max(abs(rows[-1][key] - rows[0][key]) for key in keys)
        expect(off < 1e-13, f"free: momentum and angular momentum of a {joint['kind']} stay within {off:.1e}")


def slider(folder):
    t, x, _, reactions = run(folder, [{**box(), "position": [0, 0, 0]}], [on_rail(restitution=0)], .8)
    slides(t, x, reactions, 3e-3)


def arm(folder, motor, gravity=0.0, end=.5, restitution=0.0, **keys):
    t, x, rows, _ = run(folder, [rod()], [hinge(motor, restitution=restitution, **keys)], end, gravity=(0, -gravity, 0))
    return t, turned(x), rows


def motors(folder):
    torque = .05
    t, angle, rows = arm(folder, {"torque": torque}, restitution=1)
    torque_works(t, angle, rows, torque, 1e-4, 1e-4)
    t, angle, _ = arm(folder, {"speed": 3, "most": 5}, gravity=G)
    rate = (angle[-1] - angle[-20]) / (t[-1] - t[-20])
    expect(abs(rate / 3 - 1) < .1, f"motors: a speed of 3 rad/s is {rate:.3f} rad/s against a weight")
    _, angle, _ = arm(folder, {"position": 40, "stiffness": 40, "path": [[0, 0], [.3, 1]]}, gravity=G, end=1)
    aim = gives_way(angle[-1])
    expect(abs(angle[-1] - aim) < .01, f"motors: a position of 40 degrees is {math.degrees(angle[-1]):.2f}, wanted {math.degrees(aim):.2f}")
    _, angle, _ = arm(folder, {"torque": .1}, gravity=G, limits=[-20, 30])
    limits_hold(angle, -18)


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
        slider(folder)
        moved(folder)
    sys.exit(1 if failures else 0)


main()
