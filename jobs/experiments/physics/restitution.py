#!/usr/bin/python3
"""restitution.py: a body leaves a plane with e times its speed, and the book says where the energy went.

particle  1 g onto a fixed plate at .3 to 30 m/s; the starts differ by fractions of eta, so that the bounce falls between the
          ticks at any phase.
ball      A shell ball (a sphere of 18 vertices that lands on one of them, its centre straight above, so that it gets no
          spin; stiff against the layers, so that its vibrations take little of the speed). `speed` is its centre's.
`speed` is the speed after over the one before, `off` its largest distance from e; `book` is the largest |defect| after the
bounce over the energy before, that is |energy lost - dissipated|.

What is left at e = 0 is what a layer gives back between the turn and its own next tick. So it falls with the layers' periods,
as the square root of N_c (contact.pairs_per_vertex, 8 by default below e = 1), and grows a little with depth. And where a
vertex swings on its neighbours faster than its layers tick, these cannot tell coming from going: the ball's layers are given
the periods of its shell (clocks.contact_s).
"""
import sys

import numpy as np
from physics import Experiment, scene, table


def plate():
    return {"name": "plate", "mesh": {"kind": "grid", "size": [2, 2], "cells": [3, 3]}, "position": [.05, 0, .04],
            "fixed": True}


def particle(experiment, e, speed, phase, contact, clocks, eta=1e-3):
    body = {"name": "particle", "mass": 1e-3, "mesh": {"kind": "points", "vertices": [[0, eta * (1.5 + phase), 0]]},
            "velocity": [.1 * speed, -speed, .05 * speed]}
    end = 2.0 ** np.ceil(np.log2(12 * eta / speed / max(e, .02)))
    s = scene(end, end / 16, [plate(), body], name="particle",
              clocks=clocks,
              contact={"thickness": eta, "stiffness": 1000, "restitution": e, **contact})
    return bounce(experiment, s)


def octasphere(radius):
    """An octahedron whose triangles are cut in four and blown up to the sphere; a vertex at the lowest point."""
    x = [np.array(v, float) for v in ([1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1])]
    triangles, middle = [], {}

    def between(a, b):
        key = min(a, b), max(a, b)
        if key not in middle:
            middle[key] = len(x)
            x.append((x[a] + x[b]) / np.linalg.norm(x[a] + x[b]))
        return middle[key]

    for a in (0, 1):
        for b in (2, 3):
            for c in (4, 5):
                p, q, r = (a, b, c) if (a + b + c) % 2 == 0 else (a, c, b)
                d, e, f = between(p, q), between(q, r), between(r, p)
                triangles += [[p, d, f], [d, q, e], [f, e, r], [d, e, f]]
    return radius * np.array(x), triangles


def ball(experiment, e, speed, phase, contact, clocks, eta=5e-3):
    x, triangles = octasphere(.1)
    body = {"name": "ball", "material": "shell", "position": [0, .1 + eta * (1.02 + .1 * phase), 0], "velocity": [0, -speed, 0],
            "mesh": {"kind": "inline", "vertices": x.tolist(), "triangles": triangles}}
    shell = {"density": .1, "stretch": {"model": "cst", "stiffness": 15000, "poisson": .3},
             "bend": {"model": "hinge", "stiffness": 5}}
    end = 2.0 ** np.ceil(np.log2(.3 + .3 * eta / speed / max(e, .03)))
    s = scene(end, end / 16, [plate(), body], name="ball", materials={"shell": shell},
              clocks={"elastic_safety": .3, **clocks},
              contact={"thickness": eta, "stiffness": 4, "restitution": e, **contact})
    return bounce(experiment, s)


def bounce(experiment, s):
    result = experiment.run(s)
    rows = result.energy
    if rows["contact"][-1] != 0 or rows["momentum_y"][-1] <= 0:
        sys.exit(f"{result.folder}: it has not left")
    return (rows["momentum_y"][-1] / -rows["momentum_y"][0], abs(rows["defect"][-1]) / rows["total"][0],
            rows["dissipated"][-1] / rows["total"][0], int(np.max(rows["deepest_layer"])))


def main():
    experiment = Experiment(__doc__)
    count = 3 if experiment.quick else 16
    fine = {"contact_s": 2.0 ** -14}
    plan = [  # name, function, speeds (the quick one last), contact, clocks, bounds of off, of off at e = 0, of book
        ("particle, N_c = 48", particle, [.3, 30, 3], {"pairs_per_vertex": 48}, {}, .03, .07, .01),
        ("ball, layers as quick as the shell", ball, [.01, .02, .05], {"pairs_per_vertex": 48}, fine, .03, .07, .01),
        ("particle, N_c = 8", particle, [.3, 30, 3], {}, {}, .06, .16, .05),
        ("ball, layers slower than the shell", ball, [.01, .02, .05], {}, {}, .6, .6, .05),
    ]
    for name, function, speeds, contact, clocks, bound, bound0, bound_book in plan[:2] if experiment.quick else plan:
        rows = []
        for e in [1, .9, .7, .5, .2, 0] if experiment.wanted(name) else []:
            for speed in speeds[-1:] if experiment.quick else sorted(speeds):
                got = [function(experiment, e, speed, phase, contact, clocks) for phase in np.arange(count) / count]
                ratio, book, lost, layer = (np.array([g[k] for g in got]) for k in range(4))
                off, limit = np.max(np.abs(ratio - e)), bound0 if e == 0 else bound
                limit += .02 if e == 0 and contact and np.max(layer) > 32 else 0
                rows.append([e, speed, len(got), np.min(ratio), np.max(ratio), off, limit, np.mean(lost), np.max(book),
                             np.max(layer), experiment.expect(
                                 off < limit and np.max(book) < bound_book,
                                 f"{name}, e = {e}, {speed} m/s: {off:.3g} off, book {np.max(book):.3g}")])
        if rows:
            table(name, ["e", "m/s", "runs", "least speed", "most", "off", "bound", "dissipated", "book", "layer", ""], rows)
    experiment.finish()


main()
