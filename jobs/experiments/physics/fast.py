#!/usr/bin/python3
"""fast.py: nothing passes, at any speed.

particle   A particle crosses a hundred thicknesses of a thin sheet (.1 mm) in every frame. The sheet is free; it is hit in
           the middle of a triangle, on an edge, on a vertex. It must come off on its own side, and momentum and energy are
           kept (e = 1). `side` is its height over the plane of the triangle nearest to it, in thicknesses, at the end.
cloths     Two cloths fly into each other, one turned, at v each, by e = 1 and e = .5, until they have crossed 6 mm or been
           turned back. In every frame every edge is tested against every triangle, by a test that shares nothing with the
           program; and every vertex of the upper cloth is over the lower cloth where there is one under it.
layers     `layer` is the deepest one that acted. Without contact (the last column) both must pass, or the test tests nothing.
"""
import numpy as np
from crossings import of_frames
from physics import Experiment, grid, scene, table

THIN = 1e-4


def over(x, triangles, p):
    """Height of p over the triangle whose shadow along y it stands in, or None."""
    a, b, c = (x[triangles[:, k]][:, [0, 2]] for k in range(3))
    q = p[[0, 2]]
    cross = lambda u, v: u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]
    areas = np.stack([cross(b - a, q - a), cross(c - b, q - b), cross(a - c, q - c)])
    inside = np.all(areas >= 0, axis=0) | np.all(areas <= 0, axis=0)
    if not inside.any():
        return None
    k = np.argmax(inside)
    w = np.roll(areas[:, k], -1) / areas[:, k].sum()
    return p[1] - x[triangles[k]][:, 1] @ w


def shoot(experiment, speed, where, contact=True):
    """A particle at a sheet, from frame to frame a hundred thicknesses."""
    frame = 100 * THIN / speed
    frames = 12
    x, triangles = grid([.3, .3], [4, 4])
    aim = {"face": x[triangles[13]].mean(axis=0),
           "edge": x[triangles[13]][:2].mean(axis=0), "vertex": x[12]}[where]
    direction = np.array([.1, -1, .05])
    start = aim - direction * 100 * THIN * 3.37
    sheet = {"name": "sheet", "material": "sheet", "mesh": {"kind": "grid", "size": [.3, .3], "cells": [4, 4]}}
    particle = {"name": "particle", "mass": 3e-4, "mesh": {"kind": "points", "vertices": [start.tolist()]},
                "velocity": (speed * direction).tolist()}
    s = scene(frames * frame, frame, [sheet, particle], name=f"particle {speed} {where}",
              materials={"sheet": {"density": .1, "stretch": {"model": "spring", "stiffness": 10}}},
              contact={"thickness": THIN if contact else 0, "stiffness": 20000, "restitution": 1},
              clocks={"quantum_s": 2.0 ** -54})
    result = experiment.run(s)
    position = result.frames()[1]
    heights = [over(f[:25], triangles, f[25]) for f in position]
    e = result.energy
    momentum = max(np.max(np.abs(e[k] - e[k][0])) for k in ("momentum_x", "momentum_y", "momentum_z"))
    return {"side": heights[-1], "least": min(heights), "defect": np.max(np.abs(e["defect"])) / e["total"][0],
            "momentum": momentum / (3e-4 * speed), "layer": int(np.max(e["deepest_layer"])), "wall": result.info["wall_s"],
            "path": speed * frame / THIN}


def particles(experiment):
    rows = []
    for speed in [1, 100, 10000] if experiment.quick else [1, 10, 100, 1000, 10000]:
        for where in ("face", "edge", "vertex"):
            got = shoot(experiment, speed, where)
            through = shoot(experiment, speed, where, contact=False)["side"] < 0
            rows.append([speed, where, got["path"], got["layer"], got["side"] / THIN, got["momentum"], got["defect"], got["wall"],
                         through, experiment.expect(
                             got["least"] > 0 and through and got["momentum"] < 1e-12 and got["defect"] < .08,
                             f"particle at {speed} m/s onto a {where}: {got}")])
    table("particle: a hundred thicknesses per frame; defect within .08",
          ["m/s", "onto", "thicknesses/frame", "layer", "side", "momentum", "defect", "wall [s]", "passes without", ""], rows)


def collide(experiment, speed, e, cells, contact=True):
    eta = 1e-3
    cloth = {"material": "cloth", "mesh": {"kind": "grid", "size": [.1, .1], "cells": [cells, cells]}}
    low = {"name": "low", "position": [0, -.0012, 0], "velocity": [0, speed, 0], **cloth}
    high = {"name": "high", "position": [.007, .0012, -.004], "rotation": [1, 25, .5], "velocity": [0, -speed, 0], **cloth}
    end = .006 / speed
    s = scene(end, end / 16, [low, high], name=f"cloths {speed} {e}",
              materials={"cloth": {"density": .2, "stretch": {"model": "spring", "stiffness": 10},
                                   "bend": {"model": "hinge", "stiffness": 1e-5}}},
              contact={"thickness": eta if contact else 0, "stiffness": 1000, "restitution": e},
              clocks={"quantum_s": 2.0 ** -54})
    result = experiment.run(s)
    triangles, _, body, _ = result.mesh()
    lower = triangles[body[triangles[:, 0]] == 0]
    frames = result.frames()[1]
    heights = [h for f in frames for p in f[body == 1] if (h := over(f, lower, p)) is not None]
    rows = result.energy
    count, looked = of_frames(result)
    momentum = max(np.max(np.abs(rows[k] - rows[k][0])) for k in ("momentum_x", "momentum_y", "momentum_z"))
    return {"crossings": count, "least": min(heights), "layer": int(np.max(rows["deepest_layer"])), "frames": looked,
            "momentum": momentum / (.2 * .01 * speed), "energy": rows["total"][-1] / rows["total"][0], "wall": result.info["wall_s"],
            "defect": np.max(np.abs(rows["defect"])) / rows["total"][0]}


def cloths(experiment):
    rows = []
    for e in ([1] if experiment.quick else [1, .5]):
        for speed in [1, 100] if experiment.quick else [1, 10, 100, 1000, 10000]:
            got = collide(experiment, speed, e, 3 if experiment.quick else 6)
            through = collide(experiment, speed, e, 3 if experiment.quick else 6, contact=False)
            passes = through["least"] < 0 and through["crossings"] > 0
            rows.append([e, speed, got["frames"], got["layer"], got["crossings"], got["least"] / 1e-3, got["momentum"], got["energy"],
                         got["defect"], got["wall"], passes, experiment.expect(
                             got["crossings"] == 0 and got["least"] > 0 and passes and got["momentum"] < 1e-12,
                             f"cloths at {speed} m/s, e = {e}: {got}")])
    table("cloths: two sheets at v each", ["e", "m/s", "frames", "layer", "crossings", "least height", "momentum", "energy left", "defect",
                                           "wall [s]", "pass without", ""], rows)


def main():
    experiment = Experiment(__doc__)
    if experiment.wanted("particle"):
        particles(experiment)
    if experiment.wanted("cloths"):
        cloths(experiment)
    experiment.finish()


main()
