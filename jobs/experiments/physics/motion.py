#!/usr/bin/python3
"""motion.py: scripted vertices do what their script says, to the last bit, and what they sweep gives way.

sweep    A box turns about an axis and runs through where a cloth hangs by two corners; a second one is shoved through a pile
         of shells. Every edge is tested against every triangle in every frame, by a test that shares nothing with the
         program; it finds crossings if contact is off.
pins     A cloth under gravity and contact, pinned by one knot: the pins' positions are those of frame 0, bit for bit, and
         their velocity is +0.
knots    Knots off the quantum's grid are rounded to it: positions between and after knots are predicted here, in the
         order of operations that docs promise (place of the knot + (t - t of the knot) x velocity), and must be equal bit
         for bit; so must the velocity with which a vertex is let go, from its last segment.
turning  A vertex on a turning body, at every frame, against the exact circle: pieces of at most one degree stay within
         r (1 - cos .5 degree) of it, and are on it at the knots.
plane    2D scenes of particles, ropes, contact, gravity, scripts: z is +0 in all frames, bit for bit.
"""
import numpy as np
from crossings import of_frames, self_test
from physics import Experiment, scene, table

QUANTUM = 2.0 ** -46
SHELL = {"density": .2, "stretch": {"model": "cst", "stiffness": 100, "poisson": .3}, "bend": {"model": "hinge", "stiffness": 1e-4}}


def same_bits(a, b):
    return np.array_equal(np.ascontiguousarray(a, dtype=float).view(np.uint64), np.ascontiguousarray(b, dtype=float).view(np.uint64))


def mill(cells, degrees, seconds):
    cloth = {"name": "cloth", "material": "shell", "mesh": {"kind": "grid", "size": [.6, .4], "cells": [cells, cells]},
             "rotation": [90, 0, 0], "position": [0, .3, .11]}
    box = {"name": "box", "mesh": {"kind": "box", "size": [.7, .06, .1], "cells": [4, 1, 1]}, "position": [0, .3, 0]}
    return scene(seconds, seconds / 64, [cloth, box], name="mill", gravity=[0, -9.81, 0], materials={"shell": SHELL},
                 contact={"thickness": .01, "stiffness": 500, "restitution": 0},
                 motions=[{"body": "cloth", "vertices": [0, cells], "path": [[0, [0, 0, 0]]]},
                          {"body": "box", "rotate": {"axis": [1, .2, .1], "center": [0, .28, 0], "path": [[0, 0], [seconds, degrees]]}}])


def plough(cells, distance, seconds):
    balls = [{"name": f"ball {k}", "material": "shell", "mesh": {"kind": "icosahedron", "edge": .06},
              "position": [.14 * (k % 3) - .14, .07 + .13 * (k // 3), .01 * k], "rotation": [10 * k, 20, 5 * k]} for k in range(cells)]
    floor = {"name": "floor", "mesh": {"kind": "grid", "size": [2, 2], "cells": [2, 2]}, "fixed": True}
    blade = {"name": "blade", "mesh": {"kind": "box", "size": [.05, .3, .5], "cells": [1, 2, 2]}, "position": [-.35, .17, 0],
             "rotation": [0, 10, 0]}
    return scene(seconds, seconds / 64, [floor, blade, *balls], name="plough", gravity=[0, -9.81, 0], materials={"shell": SHELL},
                 contact={"thickness": .01, "stiffness": 500, "restitution": .3},
                 motions=[{"body": "blade", "path": [[0, [0, 0, 0]], [seconds, [distance, 0, 0]]]}])


def sweep(experiment):
    rows = []
    wrong, hits = self_test()
    rows.append(["(the test, on random edges)", 10000, hits, wrong, "", experiment.expect(wrong == 0, f"crossings.py is wrong {wrong} times")])
    plan = [mill(6, 300, .5), plough(3, .5, .25)] if experiment.quick else [mill(16, 720, 1), mill(16, 3600, 1), plough(9, .8, .4), plough(9, .8, .04)]
    for s in plan:
        result = experiment.run(s)
        hard = [body["name"] for body in s["bodies"] if "material" not in body]
        count, frames = of_frames(result, hard)
        without, _ = of_frames(experiment.run(s, "--set", "contact.thickness=0"), hard)
        rows.append([s["name"], frames, int(np.max(result.energy["deepest_layer"])), count, without,
                     experiment.expect(count == 0 and without > 0, f"{s['name']}: {count} crossings, {without} without contact")])
    table("sweep: edges that cross a triangle in some frame", ["scene", "frames", "layer", "crossings", "without contact", ""], rows)


def pins(experiment):
    cells = 6
    held = [0, 3, cells, 17, 40]
    cloth = {"name": "cloth", "material": "shell", "mesh": {"kind": "grid", "size": [.3, .3], "cells": [cells, cells]},
             "position": [.1, .2, .3], "rotation": [10, 20, 30], "velocity": [.3, .2, .1]}
    stone = {"name": "stone", "mass": .01, "radius": .02, "mesh": {"kind": "points", "vertices": [[.1, .25, .3]]}, "velocity": [0, -2, 0]}
    s = scene(.25, 2.0 ** -7, [cloth, stone], name="pins", gravity=[0, -9.81, 0], materials={"shell": SHELL},
              contact={"thickness": .01, "stiffness": 500, "restitution": .5},
              motions=[{"body": "cloth", "vertices": held, "path": [[.1, [0, 0, 0]]]}])
    result = experiment.run(s)
    _, x = result.frames()
    _, v = result.frames("velocity")
    held_x = same_bits(x[:, held], np.broadcast_to(x[0, held], x[:, held].shape))
    still = same_bits(v[:, held], 0 * v[:, held])
    moved = np.min(np.max(np.abs(np.delete(x[-1] - x[0], held, axis=0)), axis=1))
    return [["pins where they were", len(x), experiment.expect(held_x and moved > 1e-6, "pins moved")],
            ["pins' velocity +0", len(x), experiment.expect(still, "pins have a velocity")]]


def to_quanta(seconds):
    return int(np.floor(seconds / QUANTUM + .5))


def knots(experiment):
    """A particle let go at the end of its path and one that is held, at times that no power of two hits."""
    times = [.1, 1 / 3, .4000000000000001, .7]
    shifts = [[0, 0, 0], [.1, .3, -.2], [.1, .35, .1], [.7, -.2, 1 / 7]]
    start = np.array([.3, .1, -.2])
    path = [[t, list(p)] for t, p in zip(times, shifts)]
    bodies = [{"name": name, "mass": .1, "mesh": {"kind": "points", "vertices": [start.tolist()]}} for name in ("held", "gone")]
    s = scene(1, 2.0 ** -6, bodies, name="knots",
              motions=[{"body": "held", "path": path}, {"body": "gone", "path": path, "release": True}])
    result = experiment.run(s)
    t, x = result.frames()
    _, v = result.frames("velocity")
    q = np.array([to_quanta(k) for k in times])
    at = start + np.array(shifts)
    speed = (at[1:] - at[:-1]) / ((q[1:] - q[:-1]) * QUANTUM)[:, None]
    held_x, gone_x, held_v, gone_v = (np.zeros((len(t), 3)) for _ in range(4))
    for k, now in enumerate(t):
        piece = np.searchsorted(q, int(now / QUANTUM), side="right") - 1  # the last knot at or before
        if piece < 0:
            held_x[k] = gone_x[k] = start
        elif piece == len(q) - 1:
            held_x[k] = at[-1]
            gone_v[k] = speed[-1]
            gone_x[k] = at[-1] + (int(now / QUANTUM) - q[-1]) * QUANTUM * speed[-1]
        else:
            held_v[k] = gone_v[k] = speed[piece]
            held_x[k] = gone_x[k] = at[piece] + (int(now / QUANTUM) - q[piece]) * QUANTUM * speed[piece]
    between = sum(now / QUANTUM not in q for now in t)
    off = max(abs(k / QUANTUM - n) for k, n in zip(times, q))
    return [[f"{what} of a vertex {which}", between, experiment.expect(same_bits(got, expected) and off > .01, f"knots: {what} {which}")]
            for what, which, got, expected in (("place", "held", x[:, 0], held_x), ("velocity", "held", v[:, 0], held_v),
                                               ("place", "let go", x[:, 1], gone_x), ("velocity", "let go", v[:, 1], gone_v))]


def turning(experiment):
    axis, center = np.array([.3, 1, -.5]), np.array([.1, .2, .3])
    path = [[.0625, 0], [.3125, 77.7], [.375, 70], [.75, 700]]
    body = {"name": "body", "mesh": {"kind": "tetrahedron", "edge": .3}}
    result = experiment.run(scene(1, 2.0 ** -8, [body], name="turning",
                                  motions=[{"body": "body", "rotate": {"axis": axis.tolist(), "center": center.tolist(), "path": path}}]))
    t, x = result.frames()
    n = axis / np.linalg.norm(axis)
    angle = np.radians(np.interp(t, [k[0] for k in path], [k[1] for k in path]))
    r = x[0] - center
    along = np.outer(r @ n, n)
    across, third = r - along, np.cross(n, r)
    exact = center + along + np.cos(angle)[:, None, None] * across + np.sin(angle)[:, None, None] * third
    radius = np.linalg.norm(across, axis=1)
    chord = radius * (1 - np.cos(np.radians(.5)))
    off = np.linalg.norm(x - exact, axis=2)
    at_knots = [k for k, now in enumerate(t) if now in [p[0] for p in path] or now > path[-1][0]]
    return [["turning body, off the circle over its bound", len(t), experiment.expect(
        np.max(off / chord) < 1.001, f"turning: {np.max(off / chord):.4g} of its bound"), np.max(off / chord)],
            ["turning body at its knots, off [m]", len(at_knots), experiment.expect(
                np.max(off[at_knots]) < 1e-15, f"turning: {np.max(off[at_knots])} off at knots"), np.max(off[at_knots])]]


def plane(experiment):
    rope = {"name": "rope", "material": "rope", "mesh": {"kind": "segments", "vertices": [[.1 * k, .3 + .03 * (k % 2), 0] for k in range(8)]},
            "angular_velocity": [0, 0, 2]}
    dust = {"name": "dust", "mass": .01, "radius": .02, "random_speed": [.2, 1], "seed": 3,
            "mesh": {"kind": "points", "vertices": [[.13 * k, .6 + .07 * (k % 3), 0] for k in range(6)]}}
    ring = {"name": "ring", "mesh": {"kind": "segments", "closed": True, "vertices": [[-.3, 0, 0], [1.1, 0, 0], [1.1, 1, 0], [-.3, 1, 0]]},
            "fixed": True}
    bat = {"name": "bat", "mesh": {"kind": "segments", "from": [.1, .5, 0], "to": [.5, .52, 0], "cells": 2}}
    s = scene(1, 2.0 ** -6, [rope, dust, ring, bat], name="plane", gravity=[0, -9.81, 0],
              materials={"rope": {"density": .2, "stretch": {"model": "spring", "stiffness": 20}}},
              contact={"thickness": .01, "stiffness": 200, "restitution": .6},
              motions=[{"body": "bat", "rotate": {"axis": [0, 0, 1], "center": [.3, .5, 0], "path": [[0, 0], [.5, 170], [1, -40]]}}])
    result = experiment.run(s)
    bits = all(not result.frames(what)[1][:, :, 2].view(np.uint64).any() for what in ("position", "velocity"))
    deep = int(np.max(result.energy["deepest_layer"]))
    return [["z of a 2D scene +0", len(result.energy["time"]), experiment.expect(bits and deep > 0, "2D: z is not +0"), f"layer {deep}"]]


def main():
    experiment = Experiment(__doc__)
    if experiment.wanted("sweep"):
        sweep(experiment)
    rows = [row for part in (pins, knots, turning, plane) if experiment.wanted(part.__name__) for row in part(experiment)]
    if rows:
        table("scripts, to the last bit", ["what", "frames", "", "figure"], [row + [""] * (4 - len(row)) for row in rows])
    experiment.finish()


main()
