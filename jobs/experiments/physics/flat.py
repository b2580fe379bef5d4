#!/usr/bin/python3
"""flat.py: is a floor a plane, whatever mesh it has?

slide     A box of .1 m (cells of its own within its faces) slides half a second at 2 m/s over a floor without friction, from off the lines of the floor's
          mesh. `kept` is the part of its speed along the floor that is left, `apart` how far it ends from where it ends on a floor of two
          triangles, m. It starts within the layers (gap .7 mm of 1 mm) or above them; restitution 0, .5, 1; floors of 1, 6, 24, 96 cells a side, and one
          that is turned in space with gravity.
stop      The same box with friction mu = .3: the way until it stops, beside v^2 / (2 mu g).
slab      It slides over a slab of cells that is a rigid body: what the box and the slab have of momentum in all.
rim       A ball slides over the rim of a floor and falls: where it is then, on floors of other meshes.
"""
import math

import numpy as np
from physics import Experiment, scene, table

G, SPEED, SIDE, MU = 9.81, 2., .1, .3


def rotate(angle, vector):
    x, y, z = vector
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    return [c * x - s * y, s * x + c * y, z]


def box(gap, cells, angle=0.):
    return {"name": "box", "rigid": {"mass": 1.}, "mesh": {"kind": "box", "size": [SIDE] * 3, "cells": [cells] * 3}, "rotation": [0, 0, angle],
            "position": rotate(angle, [-.47, SIDE / 2 + gap, .013]), "velocity": rotate(angle, [SPEED, 0, 0])}


def floor(cells, angle=0.):
    return {"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [3, 3], "cells": [cells] * 2}, "rotation": [0, 0, angle]}


def run(experiment, bodies, end, restitution, friction=0., angle=0.):
    """Times, the place of the first body, its velocity at the end, and the momentum along the floor at the end."""
    r = experiment.run(scene(end, end / 16, bodies, gravity=rotate(angle, [0, -G, 0]), name="flat",
                             contact={"thickness": 1e-3, "stiffness": 2000., "restitution": restitution, "friction": friction}))
    t, x = r.frames()
    v = r.frames("velocity")[1]
    first = r.mesh()[2] == 0
    e = r.energy
    along = rotate(angle, [1, 0, 0])
    momentum = sum(a * e["momentum_" + c][-1] for a, c in zip(along, "xyz"))
    return t, x[:, first].mean(axis=1) @ along, v[-1, first].mean(axis=0) @ along, momentum


def slide(experiment):
    rows = []
    floors = (1, 24) if experiment.quick else (1, 6, 24, 96)
    for gap in (.7e-3, 2.1e-3):
        for e in (0., 1.) if experiment.quick else (0., .5, 1.):
            ends = {}
            for cells, angle in [(n, 0.) for n in floors] + [(24, 17.)]:
                t, way, speed, _ = run(experiment, [box(gap, 2, angle), floor(cells, angle)], .5, e, angle=angle)
                ends[cells, angle] = way[-1]
                apart = abs(way[-1] - ends[1, 0.])
                rows.append([gap, e, cells, angle, speed / SPEED, apart, experiment.expect(
                    abs(speed / SPEED - 1) < 1e-4 and apart < 1e-5, f"gap {gap}, restitution {e}, {cells} cells, {angle} degrees: {speed / SPEED} of the speed is kept")])
    table("a box slides over a floor without friction", ["gap, m", "restitution", "cells", "degrees", "kept", "apart, m", ""], rows)


def stop(experiment):
    exact, rows = SPEED ** 2 / (2 * MU * G), []
    for e in (.5,) if experiment.quick else (0., .5):
        ways = []
        for cells in (1, 24) if experiment.quick else (1, 6, 24, 96):
            _, way, _, _ = run(experiment, [box(2.1e-3, 2), floor(cells)], .96, e, MU)
            ways.append(way[-1] - way[0])
            rows.append([e, cells, ways[-1], exact, ways[-1] / exact, experiment.expect(
                abs(ways[-1] / exact - 1) < 5e-3 and abs(ways[-1] / ways[0] - 1) < 2e-4, f"restitution {e}, {cells} cells: it stops after {ways[-1]} of {exact} m")])
    table(f"with friction {MU}, m", ["restitution", "cells", "way", "v^2/(2 mu g)", "ratio", ""], rows)


def slab(experiment):
    rows = []
    for cells in (6,) if experiment.quick else (1, 6, 24):
        bodies = [box(.1 + 2.1e-3, 2), {"name": "slab", "rigid": {"mass": 100.}, "mesh": {"kind": "box", "size": [1.4, .1, .6], "cells": [cells, 1, cells]},
                                        "position": [0, .0501, 0]}, floor(1)]
        _, _, speed, momentum = run(experiment, bodies, .4, 0.)
        rows.append([cells, speed / SPEED, momentum / SPEED, experiment.expect(
            abs(speed / SPEED - 1) < 1e-4 and abs(momentum / SPEED - 1) < 1e-5, f"slab of {cells} cells: {speed / SPEED} of the speed, {momentum / SPEED} of the momentum")])
    table("a box slides over a rigid slab that lies on the floor", ["cells", "kept", "momentum kept", ""], rows)


def rim(experiment):
    rows = []
    for cells in (1, 5) if experiment.quick else (1, 5, 24):
        plate = {"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [1, 1], "cells": [cells] * 2}}
        ball = {"name": "ball", "mass": .01, "radius": .01, "mesh": {"kind": "points", "vertices": [[.3, .012, .013]]}, "velocity": [1, 0, 0]}
        r = experiment.run(scene(.375, .0078125, [ball, plate], gravity=[0, -G, 0], name="rim", contact={"thickness": 1e-3, "stiffness": 1000., "restitution": 0.}))
        t, x = r.frames()
        y, along = x[:, 0, 1], x[:, 0, 0]
        left = t[along > .5][0]
        rows.append([cells, left, along[-1], y[-1], experiment.expect(
            abs(left - .2) < .01 and y[-1] < -.05 and y[along < .5].min() > .0105, f"{cells} cells: over the rim after {left} s, then at ({along[-1]}, {y[-1]})")])
    spread = np.ptp([row[2] for row in rows]), np.ptp([row[3] for row in rows])
    experiment.expect(max(spread) < 2e-4, f"floors of other meshes: {spread} m apart")
    table("a ball slides over the rim, s and m", ["cells", "over the rim", "x at the end", "y at the end", ""], rows)


def main():
    experiment = Experiment(__doc__)
    for part in (slide, stop, slab, rim):
        if experiment.wanted(part.__name__):
            part(experiment)
    experiment.finish()


main()
