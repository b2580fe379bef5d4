#!/usr/bin/python3
"""layers.py: 48 pairs at once leave with their speed; a bar that rocks on a parallel edge has an error of second order.

apexes  Two cones of six triangles, apex to apex, one turned by 30 degrees about the axis: the two apexes are the nearest
        points of 6 + 6 vertex-triangle and 36 edge-edge pairs, none near parallel, so 48 pairs press on each of the two
        vertices at once. No other force acts, so every vertex is on its own: the apexes bounce, their rims fly on and are
        still apart when the run ends. `speed` is the relative speed of the apexes after over before.
patches The same, but flat: the apexes' 48 pairs and all those of the rims press together. `energy` is kinetic energy after
        over before.
bar     A bar of two vertices falls on a parallel edge, a little tilted, bounces (e = 1) and rocks for a second under
        gravity. In its plane the nearest point jumps from one end to the other whenever it becomes parallel. Rows are on
        ticks; the figure is the mean over starts of the largest |defect| in the run over the energy at the start, from
        the rail up. `order` is the order of the step before it.
"""
import numpy as np
from physics import Experiment, scene, slope, table


def patch(name, height, turn, y, speed):
    """Six triangles around vertex 0; its rim `height` above it (below, if negative)."""
    a = np.radians(60 * np.arange(6) + turn)
    vertices = [[0, 0, 0]] + np.stack([np.cos(a), 0 * a + height, np.sin(a)], axis=1).tolist()
    triangles = [[0, 1 + k, 1 + (k + 1) % 6] for k in range(6)]
    return {"name": name, "mass": 1e-3, "position": [0, y, 0], "velocity": [0, speed, 0],
            "mesh": {"kind": "inline", "vertices": vertices, "triangles": triangles}}


def meet(experiment, height, speed, phase, eta=1e-3):
    """Two patches at `speed` each towards the other. Returns speed ratio of the apexes, ratio of energies, layer, ticks."""
    gap = eta * (2 + phase)
    end = (gap + 8 * eta) / (2 * speed)
    s = scene(end, end / 16, [patch("low", -height, 0, -gap / 2, speed), patch("high", height, 30, gap / 2, -speed)],
              name="patches", contact={"thickness": eta, "stiffness": 1000, "restitution": 1},
              # a quantum that leaves the first layer 2^12 of them and the run's end enough
              clocks={"quantum_s": 2.0 ** -50})
    result = experiment.run(s)
    v = result.frames("velocity")[1]
    e = result.energy
    apex = np.array([0, 7])
    before, after = (v[k, apex, 1] @ [1, -1] for k in (0, -1))
    sideways = np.max(np.abs(v[-1, apex][:, [0, 2]]))
    momentum = max(np.max(np.abs(e[k] - e[k][0])) for k in ("momentum_x", "momentum_y", "momentum_z"))
    return {"ratio": -after / before, "energy": e["kinetic"][-1] / e["kinetic"][0], "layer": int(np.max(e["deepest_layer"])),
            "contact": e["contact"][-1], "sideways": sideways / speed, "pairs": int(np.max(e["contacts"])),
            "momentum": momentum / (14e-3 * speed), "ticks": result.info["counters"]["committed"]["penalty"]}


def patches(experiment):
    speeds = [1, 10, 100, 1000]
    phases = [0, .37] if experiment.quick else np.arange(16) / 16
    for name, height in (("apexes", .04), ("patches", 0)):
        rows = []
        for speed in speeds if experiment.wanted(name) else []:
            got = [meet(experiment, height, speed, phase) for phase in phases]
            key = "ratio" if height else "energy"
            worst = max(abs(g[key] - 1) for g in got)
            verdict = experiment.expect(worst < .08 and all(g["contact"] == 0 for g in got),
                                        f"{name} at {speed} m/s: {key} {worst + 1}")
            rows.append([speed, len(got), min(g[key] for g in got), max(g[key] for g in got), max(g["layer"] for g in got),
                         max(g["sideways"] for g in got), max(g["momentum"] for g in got), max(g["pairs"] for g in got),
                         max(g["ticks"] for g in got), verdict])
        if rows:
            table(f"{name}: r(1) = 1000 N/m, eta(1) = 1 mm, 1 g a vertex, bound .08",
                  ["m/s each", "runs", f"least {key}", "most", "layer", "sideways", "momentum", "pairs seen", "ticks", ""], rows)


def rock(experiment, tilt, halvings, seconds):
    """A bar on a rail, every period of the scene halved `halvings` times. The largest |defect| over the energy."""
    share = 2.0 ** -halvings
    half, height = .25, .05
    bar = {"name": "bar", "material": "bar", "mass": .1, "angular_velocity": [0, 0, .3],
           "mesh": {"kind": "segments", "vertices": [[-half, height - half * tilt, 0], [half, height + half * tilt, 0]],
                    "edges": [[0, 1]]}}
    rail = {"name": "rail", "mesh": {"kind": "segments", "vertices": [[-1, 0, 0], [1, 0, 0]], "edges": [[0, 1]]},
            "fixed": True}
    aside = {"name": "aside", "mesh": {"kind": "points", "vertices": [[0, -1, 1]]}, "fixed": True}  # makes it a 3D scene
    s = scene(seconds, 2.0 ** -8, [bar, rail, aside], name="bar", gravity=[0, -9.81, 0],
              materials={"bar": {"stretch": {"model": "spring", "stiffness": 1000}}},
              contact={"thickness": .01, "stiffness": 1000, "restitution": 1},
              clocks={"contact_safety": .3 * share, "elastic_safety": .1 * share, "elastic_s": 2.0 ** -11 * share,
                      "gravity_s": 2.0 ** -11 * share})
    result = experiment.run(s)
    e = result.energy
    t, x = result.frames()
    angle = np.arctan2(x[:, 1, 1] - x[:, 0, 1], x[:, 1, 0] - x[:, 0, 0])
    return {"defect": np.max(np.abs(e["defect"])) / e["total"][0], "parallel": int(np.sum(angle[1:] * angle[:-1] < 0)),
            "angle": np.max(np.abs(angle)), "layer": int(np.max(e["deepest_layer"])), "level": np.max(np.abs(x[:, :2, 2]))}


def bar(experiment):
    starts = np.linspace(.05, .15, 4 if experiment.quick else 24)
    halvings = range(3 if experiment.quick else 6)
    rows, means = [], []
    for k in halvings:
        got = [rock(experiment, tilt, k, 1) for tilt in starts]
        defects = [g["defect"] for g in got]
        means.append(np.exp(np.mean(np.log(defects))))
        rows.append([.3 * 2.0 ** -k, len(got), means[-1], np.max(defects), np.log2(means[-2] / means[-1]) if k else "",
                     sum(g["parallel"] for g in got), max(g["angle"] for g in got), max(g["layer"] for g in got)])
    table("bar: 48 pairs' period, e = 1, geometric mean over starts; all periods halve from row to row",
          ["safety", "runs", "defect", "worst", "order", "times parallel", "largest angle", "layer"], rows)
    order = slope(.5 ** np.array(halvings), means)
    print(f"  order by least squares {order:.3g}: {experiment.expect(1.6 < order, f'bar: order {order:.3g}')}")


def main():
    experiment = Experiment(__doc__)
    patches(experiment)
    if experiment.wanted("bar"):
        bar(experiment)
    experiment.finish()


main()
