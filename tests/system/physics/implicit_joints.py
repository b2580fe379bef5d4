#!/usr/bin/python3
"""implicit_joints.py: joints and motors of the implicit integrator against closed forms.

weight    A box hangs on a ball joint: its reaction is the weight, also 1000 times it, and the joint opens as far as its
          stiffness says, or ten times that of the box's inertia in a step where that is more.
pendulum  It swings with the period of a physical pendulum.
weld      An arm that is welded to the world carries itself and what falls on it.
motors    A torque does the work T times the angle, and what it does comes in; a speed and a position are reached, against
          a weight; limits hold.
thrown    A box that is welded to the world is thrown and spins by many slacks in a step: it is stopped in few iterations.
slider    A box slides down a rail until it ends.
chain     Twelve links hang on each other from the world and hold a weight of a hundred of them.

If it fails, joints open, or motors do another work than they book.
"""
import csv
import math
import os
import sys
import tempfile

import jointed
import numpy as np
from jointed import G, box, expect, failures, gives_way, hinge, limits_hold, on_rail, periods, rod, slides, torque_works, turned


def run(folder, bodies, joints, end, gravity=G, scheme="bdf2", step=.005):
    return jointed.run(folder, {"time": {"end": end, "frame": .01}, "gravity": [0, -gravity, 0],
                                "integrator": {"kind": "implicit", "step_s": step, "scheme": scheme}, "contact": {"thickness": .0005},
                                "bodies": bodies, "joints": joints})


def iterations(folder, before=math.inf):
    """Newton iterations of the last run's steps that end before this time."""
    with open(os.path.join(folder, "out", "steps.csv")) as file:
        return [int(row["newton"]) for row in csv.DictReader(file) if float(row["time"]) < before]


def hang(slack, stiffness=1000.0):
    return jointed.hang(slack, stiffness=stiffness)


def opening(force, stiffness, slack):
    """The share of the slack by which a pair that pulls with this force is open, by bisection of its law."""
    low, high = 0.0, 1.0
    for _ in range(100):
        y = (low + high) / 2
        low, high = (y, high) if stiffness * slack / 2 * y * (y / (1 - y) - 2 * math.log1p(-y)) < force else (low, y)
    return low


def weight(folder):
    step, slack = .005, .001
    for times, stiffness in (1, 1000), (1000, 1000), (1, 1e8):
        _, x, _, reactions = run(folder, [box()], [hang(slack, stiffness)], .3, times * G, "euler", step)
        opens = np.linalg.norm(x[:, 8] - x[:, 9], axis=1) / slack
        force = float(reactions[-1]["force_y"]) / (times * G)
        wanted = opening(times * G, max(stiffness, 10 * 1 / step ** 2), slack)
        expect(opens.max() < 1 and abs(opens[-1] / wanted - 1) < 1e-4 and abs(force - 1) < 1e-4,
               f"weight: {times} times it with {stiffness:g} N/m it opens by {opens[-1]:.5f} of the slack, wanted {wanted:.5f}; its reaction is "
               f"{force:.6f} of the weight")


def pendulum(folder):
    amplitude, arm = .3, .1
    t, x, rows, _ = run(folder, [box(amplitude)], [hang(.0002)], 3)
    period, wanted = periods(t, x, amplitude)
    expect(abs(period / wanted - 1) < 2e-3, f"pendulum: period {period:.6f} s, closed form {wanted:.6f} s ({period / wanted - 1:+.1e})")
    expect(np.linalg.norm(x[:, 8] - x[:, 9], axis=1).max() < .0002, "pendulum: its joint never opens by its slack")
    swing = G * arm * (1 - math.cos(amplitude))
    lost = (rows[0]["total"] - rows[-1]["total"]) / swing
    expect(0 <= lost < .12, f"pendulum: in 3 s it loses {100 * lost:.1f} % of the energy of its swing")


def weld(folder):
    arm = rod()
    brick = {"name": "brick", "rigid": {"mass": 2}, "position": [.15, .06, 0], "mesh": {"kind": "box", "size": [.04, .04, .04], "cells": [1, 1, 1]}}
    joint = {"name": "weld", "kind": "weld", "a": {"body": "arm", "at": [0, 0, 0]}, "b": {"body": None}, "axis": [1, 0, 0], "span": .04,
             "slack": .0002, "stiffness": 1e4}
    _, x, _, reactions = run(folder, [arm, brick], [joint], .3, scheme="euler")
    fall = (x[0, 4:8, 1] - x[-1, 4:8, 1]).max()
    expect(0 < fall < 2 * .0002 * .2 / .03, f"weld: the arm's end sinks by {1e3 * fall:.3f} mm, as far as the slack lets it")
    force = float(reactions[-1]["force_y"])
    expect(abs(force / (3 * G) - 1) < 1e-2, f"weld: it carries {force:.4f} N of {3 * G:.4f}")


def thrown(folder):
    step, slack = .01, .0014
    brick = box(velocity=[0, -3, 0], angular_velocity=[6, -20, 2])
    joint = {"name": "weld", "kind": "weld", "a": {"body": "box", "at": [-.1, -.11, -.05]}, "b": {"body": None}, "axis": [1, 0, 0], "span": .07,
             "slack": slack, "stiffness": 14}
    _, x, _, _ = run(folder, [brick], [joint], .02, scheme="euler", step=step)
    opens = max(np.linalg.norm(x[:, 8 + p] - x[:, 11 + p], axis=1).max() / slack for p in range(3))
    newton = iterations(folder)
    expect(opens < 1 and 3 * step > 10 * slack and max(newton) < 20, f"thrown: its weld opens by {opens:.4f} of the slack, and no step takes more than {max(newton)} iterations")


def arm(folder, motor, gravity=0.0, end=.5, **keys):
    t, x, rows, _ = run(folder, [rod()], [hinge(motor, **keys)], end, gravity)
    return t, turned(x), rows


def motors(folder):
    torque = .05
    t, angle, rows = arm(folder, {"torque": torque})
    torque_works(t, angle, rows, torque, 1e-3, 5e-3)
    t, angle, _ = arm(folder, {"speed": 3, "most": 5}, gravity=G)
    rate = (angle[-1] - angle[-20]) / (t[-1] - t[-20])
    expect(abs(rate / 3 - 1) < .02, f"motors: a speed of 3 rad/s is {rate:.3f} rad/s against a weight")
    t, angle, _ = arm(folder, {"speed": 3, "most": .5}, gravity=G)
    expect(angle[-1] < -.2, f"motors: with at most 0.5 N m it yields to the weight ({angle[-1]:.2f} rad)")
    _, angle, _ = arm(folder, {"position": 40, "stiffness": 40, "path": [[0, 0], [.3, 1]]}, gravity=G, end=1)
    aim = gives_way(angle[-1])
    expect(abs(angle[-1] - aim) < 1e-3, f"motors: a position of 40 degrees is {math.degrees(angle[-1]):.3f}, wanted {math.degrees(aim):.3f}")
    _, angle, _ = arm(folder, {"torque": .1}, gravity=G, limits=[-20, 30], end=1)
    limits_hold(angle, -17)


def chain(folder):
    links = 12
    bodies = [{"name": f"link {i}", "rigid": {"mass": .1}, "position": [.05 + .1 * i, 0, 0],
               "mesh": {"kind": "box", "size": [.09, .02, .02], "cells": [1, 1, 1]}} for i in range(links)]
    bodies.append({"name": "weight", "rigid": {"mass": 10}, "position": [.1 * links + .06, 0, 0],
                   "mesh": {"kind": "box", "size": [.1, .1, .1], "cells": [1, 1, 1]}})
    names = [body["name"] for body in bodies]
    joints = [{"name": f"joint {i}", "kind": "ball", "a": {"body": names[i], "at": [.1 * i, 0, 0]}, "slack": .0005,
               "b": {"body": names[i - 1] if i > 0 else None}} for i in range(links + 1)]
    joints[links]["a"]["at"] = joints[links]["b"]["at"] = [.1 * links + .002, 0, 0]
    _, x, rows, reactions = run(folder, bodies, joints, .5, scheme="euler", step=.01)
    # Behind the 8 vertices of a body: its point of the joint above, that of the joint below, and of the first one the world's.
    first = [0] + [11 + 10 * i for i in range(links)]
    opens = [np.linalg.norm(x[:, first[i] + 8] - x[:, first[i - 1] + 9 if i > 0 else 10], axis=1).max() / .0005 for i in range(links + 1)]
    expect(max(opens) < 1, f"chain: of {len(opens)} joints none opens by more than {max(opens):.4f} of its slack")
    expect(abs(rows[-1]["gravity"] - rows[0]["gravity"]) > 1, "chain: it swings")


def slider(folder):
    """Also with a slack of a hundredth of what it slides by in a step, and a rail as long as a hall."""
    for keys in {}, {"slack": 2e-5, "limits": [-.1, 100]}:
        end = .8 if not keys else .5
        t, x, rows, reactions = run(folder, [{**box(), "position": [0, 0, 0]}], [on_rail(**keys)], end)
        if not keys:
            slides(t, x, reactions, 1e-3)
        most = max(iterations(folder, .5))
        exact = .5 * (G / math.sqrt(2) * t[50]) ** 2
        expect(abs(rows[50]["kinetic"] / exact - 1) < .01 and most < 20,
               f"slider: {keys}: kinetic energy {rows[50]['kinetic']:.4f} J, wanted {exact:.4f} J, at most {most} iterations a step")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for test in weight, pendulum, weld, thrown, motors, slider, chain:
            test(folder)
    print("\n".join(failures))
    sys.exit(1 if failures else 0)


main()
