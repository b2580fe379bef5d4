#!/usr/bin/python3
"""friction.py: what lies on a slope stays or slides as Coulomb says, and an oblique impact loses mu times what it loses.

The slope has tangent .5: gravity leans, the plane lies level. At mu = .51 a body must hold, at .49 slide with
g (sin - mu cos).

particle  100 g. `drift` is how far the mean place of the last tenth is from that of a tenth that begins after the first second, over
          eta(1); with e = 1 the particle never stops to hop on the spot (it starts above the layers, and nothing takes its
          energy), so its mean is what can hold. `slide` is the acceleration over the exact one.
deep      The same on a softer plane: the weight rests on layer `deepest`.
coarse    The same with gravity ticking less often than the layers.
box       A shell of 8 vertices and 12 triangles, damped: one that rings for ever hops, and creeps. `drift` is how far its middle has
          ever been, after the first second, from where it was then, over its edge. Gravity ticks as often as the first layers.
worse     What the box needs, taken away at mu = .51 (the full form only): gravity once a millisecond; a shell stiffer than its layers, whose
          damping does not reach the bouncing; no damping, and that with all periods halved.
impact    A particle at 45 degrees: the tangential impulse over mu times the normal one, where it slides throughout.
kinetic   The papers' form: it slides alike, and creeps.
"""
import numpy as np
from physics import Experiment, scene, table

G, COS, SIN = 9.81, 2 / 5 ** .5, 1 / 5 ** .5
# So soft, and damped so much, that the bouncing as a whole is damped too.
SHELL = {"density": 5, "stretch": {"model": "spring", "stiffness": 1000, "damping": 3e-3},
         "bend": {"model": "hinge", "stiffness": 2, "damping": 3e-3}}


BOX = {"thickness": .002, "stiffness": 2000}


def plane():
    return {"name": "plane", "fixed": True,
            "mesh": {"kind": "inline", "vertices": [[-400, 0, -400], [400, 0, -400], [0, 0, 600]], "triangles": [[0, 2, 1]]}}


def particle(height=.0112, speed=(0, 0, 0)):
    return {"name": "body", "mass": .1, "velocity": list(speed), "mesh": {"kind": "points", "vertices": [[0, height, 0]]}}


def box(edge=.1):
    return {"name": "body", "material": "shell", "position": [0, edge / 2 + .0025, 0],
            "mesh": {"kind": "box", "size": [edge] * 3, "cells": [1, 1, 1]}}


def on_slope(experiment, body, mu, e, end, contact=(), **keys):
    contact = {"thickness": .01, "stiffness": 2000, "restitution": e, "friction": mu, **dict(contact)}
    s = scene(end, 2.0 ** -6, [plane(), body], gravity=[G * SIN, -G * COS, 0], contact=contact,
              name=f"slope {mu}", **keys)
    result = experiment.run(s)
    t, x = result.frames()
    return result, t, x[:, 3:].mean(axis=1)[:, 0]


def drift(t, x):
    early, late = (t > 1) & (t < 1 + .1 * t[-1]), t > .9 * t[-1]
    return abs(x[late].mean() - x[early].mean())


def farthest(t, x):
    return np.abs(x[t >= 1] - x[t >= 1][0]).max()


def sliding(t, x, mu):
    w = t > .5
    return 2 * np.polyfit(t[w], x[w], 2)[0] / (G * (SIN - mu * COS))


def pair(experiment, name, e, end, bound, unit, body, contact=(), away=drift, **keys):
    held, t, x = on_slope(experiment, body(), .51, e, end, contact, **keys)
    away = away(t, x) / unit
    _, t, x = on_slope(experiment, body(), .49, e, min(end, 10), contact, **keys)
    a = sliding(t, x, .49)
    row = [name, e, int(held.energy["deepest_layer"].max()), away, a, held.info["book_residual"]]
    row.append(experiment.expect(away < bound and abs(a - 1) < .02, f"{name}, e = {e}: drift {away:.3g}, slide {a:.4f}"))
    return row


def impact(experiment, mu, e, speed):
    """Down at 45 degrees, no gravity: slides throughout while mu (1 + e) < 1."""
    s = scene(.02 * 10 / speed, .02 / speed, [plane(), particle(.0112, (speed, -speed, 0))], name="impact",
              contact={"thickness": .01, "stiffness": 2000, "restitution": e, "friction": mu})
    rows = experiment.run(s).energy
    normal = (rows["momentum_y"][-1] - rows["momentum_y"][0])
    tangential = rows["momentum_x"][0] - rows["momentum_x"][-1]
    ratio = tangential / (mu * normal)
    return [mu, e, speed, int(rows["deepest_layer"].max()), ratio,
            experiment.expect(abs(ratio - 1) < .01, f"impact at {speed} m/s, mu = {mu}, e = {e}: {ratio:.4f}")]


def main():
    experiment = Experiment(__doc__)
    end, quick = (20 if experiment.quick else 100), experiment.quick
    head = ["body", "e", "deepest", "drift", "slide", "book", ""]
    rows = []
    if experiment.wanted("particle"):
        for e in (0, .5, 1):
            # Hopping on the spot leaves a mean that is known to a hundredth of a hop.
            rows.append(pair(experiment, "particle", e, end, 1e-3 if e < 1 else .05, .01, particle))
    if experiment.wanted("deep"):
        for stiffness in (50,) if quick else (200, 50, 20):
            for e in (0, .5):
                rows.append(pair(experiment, "deep", e, 10 if quick else 50, 1e-3, .01, particle,
                                 contact={"stiffness": stiffness}))
    if experiment.wanted("coarse"):
        for e in (0, .5):
            rows.append(pair(experiment, "coarse", e, 10 if quick else 50, 1e-3, .01, particle, clocks={"gravity_s": .002}))
    if experiment.wanted("box"):
        for e in (0, .5, 1):
            rows.append(pair(experiment, "box", e, 4 if quick else 100, 1e-3, .1, box, BOX, farthest,
                             materials={"shell": SHELL}, clocks={"gravity_s": 2.0 ** -12}))
    if experiment.wanted("worse") and not quick:
        worse, half = [], {"contact_safety": .075, "elastic_safety": .05}
        for what, factor, damping, clocks in (("gravity", 1, 3e-3, {"gravity_s": 2.0 ** -10}), ("stiff", 4, 1e-3, {"gravity_s": 2.0 ** -12}),
                                              ("undamped", 1, 0, {"gravity_s": 2.0 ** -12}),
                                              ("undamped, half", 1, 0, {"gravity_s": 2.0 ** -13, **half})):
            shell = {"density": 5, "stretch": {"model": "spring", "stiffness": 1000 * factor, "damping": damping},
                     "bend": {"model": "hinge", "stiffness": 2, "damping": damping}}
            for e in (0, .5, 1):
                _, t, x = on_slope(experiment, box(), .51, e, 20, BOX, materials={"shell": shell}, clocks=clocks)
                away = farthest(t, x) / .1
                # Of an edge: by its ringing alone it goes far, by the rest it does not.
                worse.append([what, e, away, experiment.expect(away > .1 if damping == 0 else away < .02, f"{what}, e = {e}: {away:.3g}")])
        table("the box in 20 s without what it needs", ["", "e", "drift", ""], worse)
    if rows:
        table("on a slope of tangent .5: held at mu = .51, sliding at mu = .49", head, rows)
    if experiment.wanted("impact"):
        rows = [impact(experiment, mu, e, speed) for mu in (.1, .3) for e in (0, .5, 1)
                for speed in ((1,) if quick else (.3, 1, 10, 100))]
        table("impact at 45 degrees", ["mu", "e", "speed", "deepest", "lost / mu N", ""], rows)
    if experiment.wanted("kinetic"):
        result, t, x = on_slope(experiment, particle(), .49, 0, 5, {"friction_model": "kinetic"})
        a = sliding(t, x, .49)
        held, t, y = on_slope(experiment, particle(), .51, 0, 5, {"friction_model": "kinetic"})
        table("the papers' form", ["slide", "creep, m/s", ""],
              [[a, (y[-1] - y[t > 2][0]) / (t[-1] - 2), experiment.expect(abs(a - 1) < .02, f"kinetic slides with {a:.4f}")]])
    experiment.finish()


if __name__ == "__main__":
    main()
