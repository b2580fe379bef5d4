#!/usr/bin/python3
"""limits.py: stretch stays under its limit s at any speed, and bending stays free.

chain     21 vertices, both ends held, hit by a ball of 4 times the chain's mass at `speed`. `longest`, `shortest`: of any
          edge in any frame, over its rest length; neither may leave 1 +- s.
cloth     A triangle cloth held at two sides, likewise; only its longest edge is limited. `principal`: the largest stretch of
          any triangle in any direction. Edges alone leave it free across an edge that shortens: where that one is down to
          nothing the other two span sqrt(2) (1 + s) in a grid's triangles.
triangles The same cloth with limit_principal instead: `principal` may not leave 1 + s either; both: with both limits.
rolled    A sheet rolled to three quarters of a cylinder and held: its bending energy at rest, with either limit and without.
"""
import math

import numpy as np
from physics import Experiment, grid, scene, table


def edges_of(result):
    triangles, segments, _, _ = result.mesh()
    if len(triangles):
        segments = np.vstack([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    return np.unique(np.sort(segments, axis=1), axis=0)


def principal(result, x):
    """Largest stretch of any triangle in any direction, in any frame; x: (F, V, 3), at rest in the first."""
    triangles = result.mesh()[0]
    if not len(triangles):
        return ""
    e = np.stack([x[:, triangles[:, k]] - x[:, triangles[:, 0]] for k in (1, 2)], axis=-1)  # (F, T, 3, 2)
    metric = np.swapaxes(e, -1, -2) @ e
    return np.sqrt(np.linalg.eigvals(np.linalg.inv(metric[0]) @ metric).real.max())


def hit_scene(kind, speed, limit, edges=True, triangles=False):
    span = .5 if speed < 1 else .5 / speed
    if kind == "chain":
        material = {"density": .005, "stretch": {"model": "spring", "stiffness": 100, "limit": limit}}
        body = {"mesh": {"kind": "segments", "from": [-.5, 0, 0], "to": [.5, 0, 0], "cells": 20}}
        held = [{"body": "body", "vertices": [0, 20], "path": [[0, [0, 0, 0]]]}]
    else:
        limits = {**({"limit": limit} if edges else {}), **({"limit_principal": limit} if triangles else {})}
        material = {"density": .1, "stretch": {"model": "cst", "stiffness": 100, "poisson": .3, **limits},
                    "bend": {"model": "hinge", "stiffness": 1e-5}}
        body = {"mesh": {"kind": "grid", "size": [.4, .4], "cells": [8, 8]}}
        held = [{"body": "body", "vertices": {"box": [[lo, -1, -1], [hi, 1, 1]]}, "path": [[0, [0, 0, 0]]]}
                for lo, hi in ((-1, -.199), (.199, 1))]
    ball = {"name": "ball", "mass": .02, "velocity": [0, -speed, 0],
            "mesh": {"kind": "points", "vertices": [[.013, .008, .0 if kind == "chain" else .017]]}}
    return scene(span, span / 64, [{"name": "body", "material": "m", **body}, ball], materials={"m": material}, motions=held,
                 contact={"thickness": .004, "stiffness": 1000}, name=kind)


def hit(experiment, kind, speed, limit, edges=True, triangles=False):
    result = experiment.run(hit_scene(kind, speed, limit, edges, triangles))
    _, x = result.frames()
    edge = edges_of(result)
    length = np.linalg.norm(x[:, edge[:, 0]] - x[:, edge[:, 1]], axis=2)
    ratio = length / length[0]
    widest = principal(result, x)
    good = ratio.max() < 1 + limit and (kind == "cloth" or ratio.min() > 1 - limit) and not (triangles and widest >= 1 + limit)
    name = kind if not triangles else "both" if edges else "triangles"
    return [name, speed, limit, ratio.max(), ratio.min(), widest, result.info["counters"]["committed"]["limit"], result.info["book_residual"],
            experiment.expect(good, f"{name} at {speed} m/s: {ratio.min():.4f} to {ratio.max():.4f}, in any direction {widest}")]


def rolled(experiment, limit, key="limit"):
    """A sheet that would be flat, rolled to three quarters of a cylinder and held by its two ends: its bending energy once
    it is at rest."""
    radius, cells = .05, (24, 6)
    x, triangles = grid((2 * math.pi * radius * .75, .06), cells)
    angle = x[:, 0] / radius
    x = np.stack([radius * np.sin(angle), radius * np.cos(angle), x[:, 2]], axis=1)
    stretch = {"model": "cst", "stiffness": 500, "poisson": .3, "damping": 5e-5, **({key: limit} if limit else {})}
    material = {"density": .2, "stretch": stretch, "bend": {"model": "hinge", "stiffness": 1e-4, "rest": "flat", "damping": 5e-4}}
    body = {"name": "sheet", "material": "m", "mesh": {"kind": "inline", "vertices": x.tolist(), "triangles": triangles.tolist()}}
    ends = [i for i in range(len(x)) if i % (cells[0] + 1) in (0, cells[0])]
    s = scene(.25, 2.0 ** -6, [body], materials={"m": material}, name="rolled",
              motions=[{"body": "sheet", "vertices": ends, "path": [[0, [0, 0, 0]]]}])
    rows = experiment.run(s).energy
    return rows["bend"][-1], rows["kinetic"][-1]


def main():
    experiment = Experiment(__doc__)
    rows = []
    for name, kind, limit, which in (("chain", "chain", .02, {}), ("cloth", "cloth", .05, {}),
                                     ("triangles", "cloth", .05, {"edges": False, "triangles": True}),
                                     ("both", "cloth", .05, {"triangles": True})):
        if experiment.wanted(name) and not (experiment.quick and name == "both"):
            for speed in ((100,) if experiment.quick and which else (1, 100) if experiment.quick else (1, 10, 100, 1000)):
                rows.append(hit(experiment, kind, speed, limit, **which))
    if rows:
        table("hit by a ball", ["body", "speed", "s", "longest", "shortest", "principal", "ticks", "book", ""], rows)
    if experiment.wanted("rolled") and not experiment.quick:
        free, rest = rolled(experiment, None)
        lines = []
        for key in ("limit", "limit_principal"):
            limited, _ = rolled(experiment, .05, key)
            off = limited / free - 1
            lines.append([key, free, rest, limited, off, experiment.expect(abs(off) < .01 and rest < .1 * free,
                                                                           f"a rolled sheet's bending energy is off by {off:.3g}")])
        table("a rolled sheet at rest", ["", "bend, J", "kinetic, J", "bend with the limit, J", "off", ""], lines)
    experiment.finish()


if __name__ == "__main__":
    main()
