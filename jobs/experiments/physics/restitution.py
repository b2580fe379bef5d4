#!/usr/bin/python3
"""restitution.py: a body leaves a plane with e times its speed, and the book says where the energy went.

particle  1 g onto a fixed plate at .3 to 30 m/s; the starts differ by fractions of eta, so that the bounce falls between the
          ticks at any phase.
ball      A shell ball (a sphere of 18 vertices that lands on one of them, its centre straight above, so that it gets no
          spin; stiff against the layers, so that its vibrations take little of the speed). `speed` is its centre's.
lanes     Two particles of 1 kg meet at .25 to 160 m/s, in a row of lanes that differ only in the phase, with the defaults for e < 1 and
          with shorter periods: what a bounce gives back too much, as a mean and at most.
`speed` is the speed after over the one before, `off` its largest distance from e; `book` is the largest |defect| after the
bounce over the energy before, that is |energy lost - dissipated|.

What is left at e = 0 is what layers give back between the turn and their own next ticks: the tick that turns the motion pushes on beyond
that, by up to 2 s / sqrt(N_c) of the speed for one layer; and each slower layer looks back to before the turn and pushes once more in full.
So it grows with the number of periods among the layers that an impact presses, and falls with all of them: as the square root of
N_c (contact.pairs_per_vertex, 8 by default below e = 1), and as contact_safety s. And where a
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


def lanes(experiment, e, speed, contact, clocks, count, eta=.01):
    """Speeds after over before of `count` pairs of particles, and the deepest layer."""
    y, phase = .25 * np.arange(count), (.5 + np.arange(count) * .5 * (5 ** .5 - 1)) % 1
    end = 2.0 ** np.ceil(np.log2(12 * eta / speed / max(e, .02)))
    bodies = [{"name": name, "mass": 1, "velocity": [sign * speed / 2, 0, 0],
               "mesh": {"kind": "points", "vertices": np.stack([x, y, 0 * y], axis=1).tolist()}}
              for name, sign, x in (("left", 1, 0 * y), ("right", -1, eta * (1.2 + .5 * phase)))]
    result = experiment.run(scene(end, end / 4, bodies, name="lanes", clocks=clocks,
                                  contact={"thickness": eta, "stiffness": 1e4, "restitution": e, **contact}))
    v = result.frames("velocity")[1][-1, :, 0]
    return (v[count:] - v[:count]) / speed, int(np.max(result.energy["deepest_layer"]))


def lanes_table(experiment):
    """The bounds are of the residue, the speed after over the one before less e: of its mean and of its largest."""
    shorter = {"defaults": ({}, {}, 1), "pairs_per_vertex 48": ({"pairs_per_vertex": 48}, {}, 6 ** .5),
               "contact_safety / 4": ({}, {"contact_safety": .0375}, 4)}
    bounds = {0: (.15, .22), .2: (.045, .095), .5: (.02, .04), .9: (.005, .015)}
    rows, mean = [], {}
    for name, (contact, clocks, factor) in shorter.items():
        for e in (bounds if not experiment.quick else (0, .5)) if name == "defaults" else (0,):
            for speed in (.25, 40) if experiment.quick else (.25, 1, 4, 10, 40, 160):
                ratio, layer = lanes(experiment, e, speed, contact, clocks, 32 if experiment.quick else 256)
                off, worst = np.mean(ratio) - e, np.max(np.abs(ratio - e))
                mean[name, e, speed] = off
                good = -.001 < off < bounds[e][0] and worst < bounds[e][1]
                if name != "defaults":  # falls as the periods
                    good = good and .6 * factor < mean["defaults", 0, speed] / off < 1.6 * factor
                rows.append([name, e, speed, layer, np.min(ratio), np.mean(ratio), np.max(ratio), experiment.expect(
                    good, f"lanes, {name}, e = {e}, {speed} m/s: {off:.3g} off in the mean, {worst:.3g} at most")])
    # One layer alone gives back its own tick; many of different periods a tick each.
    experiment.expect(mean["defaults", 0, 40] > 2 * mean["defaults", 0, .25] > .06, f"lanes, e = 0: the residue grows with the layers: {mean}")
    table("lanes of two particles", ["", "e", "m/s", "layer", "least speed", "mean", "most", ""], rows)


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
    if experiment.wanted("lanes"):
        lanes_table(experiment)
    experiment.finish()


main()
