#!/usr/bin/python3
"""cards.py: what only friction holds up: a house of cards, a stack of plates.

house   Three storeys of leaning cards (tents of two), 3, 2 and 1, with a long card as floor above each row. At mu = .6 it
        stands for 10 s (the top sinks by less than a tenth of the height), at mu = .1 it falls (over a half).
plates  Twenty square plates on one another; in 10 s none moves sideways by a thickness.
Layers that are too stiff for a card's weight (200 N/m here) are pressed by less than the trembling of the cards below, open,
and lose their hold: the topmost tent walks off and falls. `stiffness` is such that the weight presses them well in.
The papers leave both open (ACM 2009, section 6.3; AVCM, section 10). `sunk` is over the height.
"""
import math

import numpy as np
from physics import Experiment, grid, scene, table

LENGTH, WIDTH, LEAN, ETA = .09, .06, math.radians(20), 4e-4
GAP = 1.15 * ETA  # pairs closer than eta(1) / .9 are given thinner layers
MATERIAL = {"density": .3, "stretch": {"model": "cst", "stiffness": 300, "poisson": .3, "damping": 2e-5},
            "bend": {"model": "hinge", "stiffness": 2e-3, "damping": 2e-4}}


def card(x0, x1, y0, y1, cells, name, shift=0.):
    """A sheet from the line (x0, y0) to (x1, y1), WIDTH deep."""
    along, deep = cells
    u, v = np.meshgrid(np.arange(along + 1) / along, np.arange(deep + 1) / deep - .5)
    x = np.stack([x0 + (x1 - x0) * u.ravel(), y0 + (y1 - y0) * u.ravel(), WIDTH * v.ravel() + shift], axis=1)
    return {"name": name, "material": "card",
            "mesh": {"kind": "inline", "vertices": x.tolist(), "triangles": grid((1, 1), cells)[1].tolist()}}


def house(storeys, cells=(4, 3)):
    bodies = [{"name": "table", "fixed": True, "mesh": {"kind": "grid", "size": [2, 2], "cells": [1, 1]}}]
    half, rise = LENGTH * math.sin(LEAN), LENGTH * math.cos(LEAN)
    pitch, y = 2 * half + 4 * GAP, GAP
    for storey in range(storeys, 0, -1):
        for k in range(storey):
            x = (k - (storey - 1) / 2) * pitch
            # The right card leans on the left one's face, a little below its edge.
            bodies.append(card(x - half - GAP / 2, x - GAP / 2, y, y + rise, cells, f"left {storey} {k}"))
            bodies.append(card(x + half + GAP / 2, x + GAP / 2, y, y + rise, cells, f"right {storey} {k}", .003))
        y += rise + GAP
        if storey > 1:
            reach = storey / 2 * pitch
            bodies.append(card(-reach, reach, y, y, (4 * storey, cells[1]), f"floor {storey}"))
            y += GAP
    return bodies, y


def stand(experiment, mu, storeys, end):
    bodies, height = house(storeys)
    s = scene(end, 2.0 ** -5, bodies, gravity=[0, -9.81, 0], materials={"card": MATERIAL}, name=f"house {mu}",
              contact={"thickness": ETA, "stiffness": 20, "friction": mu}, clocks={"elastic_safety": .5})
    result = experiment.run(s)
    t, x = result.frames()
    top = x[:, :, 1].max(axis=1)
    return result, (top[0] - top) / height


def plates(experiment, count, mu, end):
    size, eta = .1, 2e-3
    bodies = [{"name": "table", "fixed": True, "mesh": {"kind": "grid", "size": [1, 1], "cells": [1, 1]}}]
    bodies += [{"name": f"plate {k}", "material": "plate", "position": [.002 * math.sin(k), 1.15 * eta * (k + 1), .002 * math.cos(2 * k)],
                "mesh": {"kind": "grid", "size": [size, size], "cells": [2, 2]}} for k in range(count)]
    material = {"density": 1, "stretch": {"model": "cst", "stiffness": 500, "poisson": .3, "damping": 1e-4},
                "bend": {"model": "hinge", "stiffness": 5e-3, "damping": 1e-3}}
    s = scene(end, 2.0 ** -4, bodies, gravity=[0, -9.81, 0], materials={"plate": material}, name="plates",
              contact={"thickness": eta, "stiffness": 500, "friction": mu}, clocks={"elastic_safety": .5})
    result = experiment.run(s)
    t, x = result.frames()
    moved = np.linalg.norm((x[:, 4:] - x[0, 4:])[:, :, [0, 2]], axis=2).max()
    return result, moved / eta


def main():
    experiment = Experiment(__doc__)
    end, storeys, rows = (1, 1, []) if experiment.quick else (10, 3, [])
    if experiment.wanted("house"):
        for mu in (.6, .1):
            result, sunk = stand(experiment, mu, storeys, end if mu == .6 else min(end, 3))
            good = sunk[-1] < .1 if mu == .6 else sunk[-1] > .5
            rows.append([mu, storeys, result.energy["time"][-1], sunk[-1], int(result.energy["deepest_layer"].max()), result.info["book_residual"],
                         result.info["wall_s"], experiment.expect(good, f"house at mu = {mu}: sunk {sunk[-1]:.3g}")])
        table("house of cards", ["mu", "storeys", "s", "sunk", "deepest", "book", "wall s", ""], rows)
    if experiment.wanted("plates"):
        count = 5 if experiment.quick else 20
        result, moved = plates(experiment, count, .4, end)
        table("stack of plates", ["plates", "mu", "s", "moved / eta", "wall s", ""],
              [[count, .4, end, moved, result.info["wall_s"], experiment.expect(moved < 1, f"plates moved by {moved:.3g} eta")]])
    experiment.finish()


if __name__ == "__main__":
    main()
