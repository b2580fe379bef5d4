#!/usr/bin/python3
"""implicit_joints.py: joints and motors of the implicit integrator against closed forms.

weight    A box hangs on a ball joint: its reaction is the weight, also 1000 times it, and the joint never opens by its slack.
pendulum  It swings with the period of a physical pendulum.
weld      An arm that is welded to the world carries itself and what falls on it.
motors    A torque does the work T times the angle, and what it does comes in; a speed and a position are reached, against
          a weight; limits hold.
chain     Twelve links hang on each other from the world and hold a weight of a hundred of them.

If it fails, joints open, or motors do another work than they book.
"""
import math
import sys
import tempfile

import jointed
import numpy as np
from jointed import G, box, expect, failures, gives_way, hinge, limits_hold, periods, rod, torque_works, turned


def run(folder, bodies, joints, end, gravity=G, scheme="bdf2", step=.005):
    return jointed.run(folder, {"time": {"end": end, "frame": .01}, "gravity": [0, -gravity, 0],
                                "integrator": {"kind": "implicit", "step_s": step, "scheme": scheme}, "contact": {"thickness": .0005},
                                "bodies": bodies, "joints": joints})


def hang(slack):
    return jointed.hang(slack, stiffness=1000)


def weight(folder):
    for times in 1, 1000:
        _, x, _, reactions = run(folder, [box()], [hang(.001)], .3, times * G, "euler")
        opens = np.linalg.norm(x[:, 8] - x[:, 9], axis=1).max() / .001
        force = float(reactions[-1]["force_y"]) / (times * G)
        expect(.5 < opens < 1 and abs(force - 1) < 1e-4, f"weight: {times} times it opens by {opens:.5f} of the slack; its "
                                                          f"reaction is {force:.6f} of the weight")


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


def main():
    with tempfile.TemporaryDirectory() as folder:
        for test in weight, pendulum, weld, motors, chain:
            test(folder)
    print("\n".join(failures))
    sys.exit(1 if failures else 0)


main()
