#!/usr/bin/python3
"""box.py: 900 balls in a box lose energy smoothly, the faster the smaller e is (ACM 2009, section 6.2, figures 4 and 10).

All of it jobs/box-900.json with the same periods for every e: contact.pairs_per_vertex is 64. (Without it 48 are taken at
e = 1, and 8 below, for which restitution.py has figures.)

bounce    The same balls in the same box, one at a time: off a wall, slanting, and off each other, at .3 to 20 m/s and any
          phase. `off`: the largest distance from e of the closing speed after over before, which is what is told.
energy    Kinetic energy over its start at times of the run, one row per e. Below e = 1 it falls from row to row, and is the
          less the smaller e, at all times; but e = .2 leaves 4 % of a bounce's energy, and is hardly another than 0, which
          is within a tenth of it. (What e < 1 takes from a pair that separates still counts as contact energy until it has
          separated, so the sum of both is no measure.) `rough`: how far a row lies at most from the cubic through its four
          neighbours, over the start's energy. At e = 1 the largest change of the total. `haff`: grains that collide in
          twos follow sqrt(E) = sqrt(E0) / (1 + t / tau) with 1 / tau in proportion to 1 - e^2 (Haff 1983): 1 / tau over it,
          1/s, while a tenth of the energy is left.
clusters  The pair correlation g of the balls' centres: pairs at a distance over those that there would be if no ball knew of
          the others. At contact: from 2 r to 2 r + eta. With e = 0 balls stay together: in every seed g at contact is half
          as much again as with e = 1.
"""
import json
import math
import os

import numpy as np
from physics import HERE, Experiment, table

RADIUS, WIDTH, ETA = .1, 3., .02


def box_scene(e, end, frame, name):
    with open(os.path.join(HERE, "../../box-900.json")) as file:
        s = json.load(file)
    ball = s["bodies"][1]
    assert s["bodies"][0]["mesh"]["size"] == [WIDTH] * 3 and (ball["radius"], s["contact"]["thickness"]) == (RADIUS, ETA)
    s["time"] = {"end": end, "frame": frame}
    s["contact"].update(restitution=e, pairs_per_vertex=64)
    s["name"] = f"{name} {e}"
    return s


# ---- one bounce ----

def bounce(experiment, e, speed, seed):
    """Closing speeds after over before: nine balls off a wall, nine pairs of balls; each far from the others."""
    draw = np.random.default_rng(seed)
    turn, deepest = .022, min(speed / 140, .5 * ETA)  # s, m: half a swing of the first layer, how far it is pressed
    end = 1.5 * (2 * ETA / speed + min(turn, 2 * ETA / speed) + deepest / (max(e, .005) * speed))
    s = box_scene(e, end, .75 * end, "bounce")
    mass, s["bodies"] = s["bodies"][1]["mass"], s["bodies"][:1]
    starts, speeds, normals = [], [], []
    for k in range(18):
        gap, cell = ETA * (.05 + .9 * draw.random()), .85 * (np.array([k % 3, k // 3 % 3]) - 1)
        # Somewhere on the wall's triangles, slanting; pairs head on, at any angle against the axes.
        cell += .1 * (draw.random(2) - .5)
        slant = .3 * speed * (draw.random(2) - .5)
        normal = np.array([0, 1., 0])
        if k < 9:
            starts.append([cell[0], -WIDTH / 2 + RADIUS + ETA + gap, cell[1]])
            speeds.append([slant[0], -speed, slant[1]])
        else:
            normal[[0, 2]] = .6 * (draw.random(2) - .5)
            normal /= np.linalg.norm(normal)
            half, share = (RADIUS + ETA / 2 + gap / 2) * normal, .45 + .1 * draw.random()
            for side in (1, -1):
                starts.append([cell[0], .6, cell[1]] + side * half)
                speeds.append(-side * speed * (share if side > 0 else 1 - share) * normal)
        normals.append(normal)
    s["bodies"] += [{"name": f"ball {k}", "mass": mass, "radius": RADIUS, "velocity": list(v),
                     "mesh": {"kind": "points", "vertices": [list(x)]}} for k, (x, v) in enumerate(zip(starts, speeds))]
    result = experiment.run(s)
    earlier, v = (v[8:] for v in result.frames("velocity")[1][-2:])
    closing = np.array([v[k] if k < 9 else v[9 + 2 * (k - 9)] - v[10 + 2 * (k - 9)] for k in range(18)])
    before = np.array(speeds[:9] + [speeds[k] - speeds[k + 1] for k in range(9, 27, 2)])
    ratio = -np.sum(closing * normals, axis=1) / np.sum(before * normals, axis=1)
    if result.energy["contacts"][0] or np.any(v != earlier):
        raise SystemExit(f"{result.folder}: a ball is still pushed, or was at the start")
    return ratio, result.energy["deepest_layer"].max()


def bounces(experiment, values):
    rows = []
    for e in values:
        for speed in (2, 10) if experiment.quick else (.3, 1, 3, 10, 20):
            ratio, layer = bounce(experiment, e, speed, 2009)
            off, bound = np.max(np.abs(ratio - e)), .07 if e == 0 else .03
            rows.append([e, speed, ratio[:9].min(), ratio[:9].max(), ratio[9:].min(), ratio[9:].max(), off, bound, int(layer),
                         experiment.expect(off < bound, f"bounce at {speed} m/s, e = {e}: off by {off:.3g}")])
    table("single bounces, nine off a wall and nine off a ball", ["e", "m/s", "wall, least", "most", "ball, least", "most", "off", "bound",
                                                                "layer", ""], rows)


# ---- 900 balls ----

def haff(t, share, e):
    """1 / tau of Haff's law by least squares while most of the energy goes, over what it is to be proportional to."""
    w = share > .1
    return np.polyfit(t[w], share[w] ** -.5, 1)[0] / (1 - e * e)


def energies(experiment, values, end, picture):
    rows, before, curves = [], None, {}
    for e in values:
        result = experiment.run(box_scene(e, end, 2.0 ** -6, "box"))
        energy = result.energy
        t, share = energy["time"], energy["kinetic"] / energy["total"][0]
        at = [np.searchsorted(t, f * end) for f in (.125, .25, .5, 1)]
        rough, flat = np.max(np.abs(np.diff(share, 4))) / 6, np.max(np.abs(energy["total"] / energy["total"][0] - 1))
        good = rough < .02 and (np.all(np.diff(share) < 0) if e < 1 else flat < 1e-3)
        if before is not None:
            good = good and np.all(share[1:] < (1 if e else 1.1) * before[1:])
        before, curves[e] = share, (t, share)
        rows.append([e] + [share[k] for k in at] + [rough, flat if e == 1 else "", haff(t, share, e) if e < 1 else "",
                                                    result.info["wall_s"], experiment.expect(good, f"energy at e = {e}")])
    table("kinetic energy over the start's", ["e"] + [f"{f * end:g} s" for f in (.125, .25, .5, 1)] +
          ["rough", "change at 1", "haff", "wall s", ""], rows)
    if picture:
        draw(curves, picture)


def draw(curves, path):
    import sys
    sys.path.insert(0, os.path.join(HERE, "../../lib"))
    from energy_plot import dress
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(figsize=(8, 4.6), dpi=130)
    for k, (e, (t, share)) in enumerate(curves.items()):
        colour = plt.cm.viridis(.92 * k / max(1, len(curves) - 1))
        axes.plot(t, share, color=colour, linewidth=1.8)
        axes.annotate(f"e = {e:g}", (t[-1], share[-1]), (5, 0), textcoords="offset points", color=colour, fontsize=9, va="center")
    dress(axes)
    axes.set_yscale("log")
    axes.set_xlabel("time, s")
    axes.set_ylabel("kinetic energy over its start")
    axes.set_xlim(0, 1.09 * max(t[-1] for t, _ in curves.values()))
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


# ---- clusters ----

def pairs(x, y, edges):
    """Pairs of a ball of x and one of y by their distance: counts between edges."""
    d2 = np.sum(x * x, axis=1)[:, None] + np.sum(y * y, axis=1) - 2 * x @ y.T
    return np.histogram(np.sqrt(np.maximum(d2, 0)), edges)[0].astype(float)


MIRRORS = [np.array([a, b, c]) for a in (1, -1) for b in (1, -1) for c in (1, -1)]


def correlation(states, edges):
    """g between edges, per seed: a state's own pairs over those of its balls with the balls of other seeds, mirrored in all
    ways in which the box is the same. So the box' edges, and that balls crowd at its walls, are in both and leave no trace."""
    found = []
    for k, x in enumerate(states):
        others = [y * mirror for j, y in enumerate(states) if j != k for mirror in MIRRORS]
        free = sum(pairs(x, y, edges) for y in others) / len(others) * (1 - 1 / len(x))
        found.append(pairs(x, x, edges) / free)
    return np.array(found)


def clusters(experiment, seeds, end):
    edges = [2 * RADIUS, 2 * RADIUS + ETA, 2 * RADIUS + 2 * ETA, .3, .6, .8]
    got = {}
    for e in (1, 0):
        states = []
        for seed in seeds:
            s = box_scene(e, end, end, "clusters")
            s["bodies"][1]["seed"] = seed
            states.append(experiment.run(s).frames()[1][-1][8:])
        got[e] = correlation(states, edges)
    rows = []
    for e, g in got.items():
        far = g[:, -1].mean()
        rows.append([e, len(g)] + [f"{k.mean():.3f} +- {k.std():.3f}" for k in g.T] +
                    [experiment.expect(abs(far - 1) < .1, f"g is {far:.3g} where balls know nothing of each other, e = {e}")])
    table("pair correlation g, mean and deviation over seeds", ["e", "seeds", "at contact"] +
          [f"{a:g} .. {b:g} m" for a, b in zip(edges[1:], edges[2:])] + [""], rows)
    ratio = got[0][:, 0] / got[1][:, 0]
    table("g at contact, e = 0 over e = 1", ["mean", "least", "most", ""],
          [[ratio.mean(), ratio.min(), ratio.max(), experiment.expect(ratio.min() > 1.5, f"g at contact grows by {ratio.min():.3g} only")]])


def main():
    experiment = Experiment(__doc__, {"--picture": {"metavar": "FILE", "help": "plot of the energies"}})
    values = (1, .5, 0) if experiment.quick else (1, .9, .8, .7, .5, .2, 0)
    end = .25 if experiment.quick else 2
    if experiment.wanted("bounce"):
        bounces(experiment, values)
    if experiment.wanted("energy"):
        energies(experiment, values, end, experiment.options.picture)
    if experiment.wanted("clusters"):
        clusters(experiment, range(1, 3 if experiment.quick else 11), end)
    experiment.finish()


if __name__ == "__main__":
    main()
