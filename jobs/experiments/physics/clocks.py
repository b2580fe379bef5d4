#!/usr/bin/python3
"""clocks.py: free cloths keep their energy for 100 periods of their slowest mode, and local periods save ticks.

Three cloths, free, without contact, started so that many modes ring at once:
  even           a square grid, stiff in stretching and weak in bending, bent to a cylinder and every vertex given a random
                 velocity
  graded         a disc whose elements grow 32 times from its middle to its rim, treated the same way
  graded, flat   the same disc in its plane, without bending, spun up at a stroke: it breathes
The slowest mode comes from the eigenvalues of the flat cloth's assembled stiffness, made here from the formulas of the hinge
and of the triangle. The defect is the largest |defect| of energy.csv over all rows, over the energy that vibrates. `drift` is
the difference of its means over the last and the first quarter. `ticks` are the run's committed ticks over those that one
period for the whole cloth, the shortest that one of its elements needs, would have taken.
"""
import numpy as np
from physics import Experiment, hinges, lumped_mass, grid, power_of_two, scene, table

DENSITY, STRETCH, POISSON = .15, 500., .3


def bending_matrix(x, triangles, k):
    """Stiffness of a flat cloth in the x-z plane against displacements in y: theta is linear in them."""
    matrix = np.zeros((len(x), len(x)))
    for a, b, c, d in hinges(triangles):
        e = x[b] - x[a]
        ee = e @ e
        gradient, area = np.zeros(4), 0
        for i, o in ((2, c), (3, d)):  # the height of the opposite vertex over the edge
            r = x[o] - x[a]
            s = r @ e / ee
            height = np.linalg.norm(r - s * e)
            gradient[i] += 1 / height
            gradient[0] -= (1 - s) / height
            gradient[1] -= s / height
            area += np.sqrt(ee) * height / 2
        where = np.array([a, b, c, d])
        matrix[np.ix_(where, where)] += 2 * k * 3 * ee / area * np.outer(gradient, gradient)
    return matrix


def stretching_matrix(x, triangles):
    """Stiffness of a flat cloth in the x-z plane against displacements in x and z."""
    matrix = np.zeros((2 * len(x), 2 * len(x)))
    c = STRETCH / (1 - POISSON ** 2) * np.array([[1, POISSON, 0], [POISSON, 1, 0], [0, 0, (1 - POISSON) / 2]])
    for t in triangles:
        p = x[t][:, [0, 2]]
        area2 = (p[1, 0] - p[0, 0]) * (p[2, 1] - p[0, 1]) - (p[2, 0] - p[0, 0]) * (p[1, 1] - p[0, 1])
        b = np.zeros((3, 6))
        for i in range(3):
            u, v = p[(i + 1) % 3], p[(i + 2) % 3]
            gx, gz = (u[1] - v[1]) / area2, (v[0] - u[0]) / area2
            b[:, 2 * i:2 * i + 2] = [[gx, 0], [0, gz], [gz, gx]]
        where = np.stack([2 * t, 2 * t + 1], axis=1).ravel()
        matrix[np.ix_(where, where)] += abs(area2) / 2 * b.T @ c @ b
    return matrix


def rates(matrix, mass):
    """Angular frequencies, ascending, without the three rigid motions."""
    root = np.sqrt(np.repeat(mass, len(matrix) // len(mass)))
    return np.sqrt(np.maximum(np.linalg.eigvalsh(matrix / np.outer(root, root)), 0))[3:]


def disc(rings, sectors, growth, inner):
    """A ring of triangles whose edges grow `growth` times from each circle to the next."""
    angle = 2 * np.pi * (np.arange(sectors) + .5 * (np.arange(rings)[:, None] % 2)) / sectors
    radius = inner * growth ** np.arange(rings)[:, None]
    x = np.stack([radius * np.cos(angle), 0 * angle, radius * np.sin(angle)], axis=2).reshape(-1, 3)
    triangles = []
    for r in range(rings - 1):
        for s in range(sectors):
            a, b = r * sectors + s, r * sectors + (s + 1) % sectors
            c, d = a + sectors, b + sectors
            triangles += [[a, c, d], [a, d, b]] if r % 2 else [[a, c, b], [b, c, d]]
    return x, np.array(triangles)


def edges(x, triangles):
    return np.concatenate([np.linalg.norm(x[triangles[:, k]] - x[triangles[:, k - 1]], axis=1) for k in range(3)])


def crumple(x, radius):
    """Bent to a cylinder, without stretch."""
    return np.stack([radius * np.sin(x[:, 0] / radius), radius * (1 - np.cos(x[:, 0] / radius)), x[:, 2]], axis=1)


def cloth_scene(name, x, triangles, bend, periods, safety):
    """The scene, and what its modes are: period of the slowest, fastest over slowest, stretching over bending."""
    mass = lumped_mass(x, triangles, DENSITY)
    fast = rates(stretching_matrix(x, triangles), mass)
    slow = rates(bending_matrix(x, triangles, bend), mass) if bend else fast
    modes = {"period": 2 * np.pi / min(slow[0], fast[0]), "spread": max(slow[-1], fast[-1]) / min(slow[0], fast[0]),
             "stiff": fast[-1] / slow[-1]}
    material = {"density": DENSITY, "stretch": {"model": "cst", "stiffness": STRETCH, "poisson": POISSON}}
    body = {"name": "cloth", "material": "cloth", "mesh": {"kind": "inline", "triangles": triangles.tolist()}}
    speed = .01 * np.sqrt(STRETCH / DENSITY)
    extent = np.ptp(x[:, 0])
    if bend:
        material["bend"] = {"model": "hinge", "stiffness": bend, "rest": "flat"}
        body.update(random_speed=[0, speed], seed=1)
        body["mesh"]["vertices"] = crumple(x, extent).tolist()
    else:
        body.update(angular_velocity=[0, 10 * speed / extent, 0])
        body["mesh"]["vertices"] = x.tolist()
    return scene(periods * modes["period"], power_of_two(modes["period"] / 4), [body], name=name,
                 materials={"cloth": material}, clocks={"elastic_safety": safety, "quantum_s": 2.0 ** -40}), modes


def global_period(experiment, s, count):
    """The longest power of two that every element ticks at when it is the bound: the shortest that one of them needs."""
    until = s["time"]["frame"] / 4
    bound = until / 4
    while True:
        got = experiment.run(s, "--set", f"clocks.elastic_s={bound!r}", "--until", repr(until), name="global period").info
        if sum(got["counters"]["committed"].values()) == count * round(until / bound):
            return bound
        bound /= 2


def vibrate(experiment, name, x, triangles, bend, periods, safety, bound):
    s, modes = cloth_scene(name, x, triangles, bend, periods, safety)
    result = experiment.run(s)
    e, info = result.energy, result.info
    count = len(triangles) + (len(hinges(triangles)) if bend else 0)
    period = global_period(experiment, s, count)
    ticks = sum(info["counters"]["committed"].values()) / (count * int(s["time"]["end"] / period))
    moving = e["total"][0] if bend else np.max(e["stretch"])
    quarter = len(e["defect"]) // 4
    defect = np.max(np.abs(e["defect"])) / moving
    drift = (np.mean(e["defect"][-quarter:]) - np.mean(e["defect"][:quarter])) / moving
    size = edges(x, triangles)
    verdict = experiment.expect(defect < bound and abs(drift) < bound / 4,
                                f"{name}: defect {defect:.3g} (bound {bound}), drift {drift:.3g} (bound {bound / 4})")
    if np.max(size) > 31.9 * np.min(size):
        verdict = experiment.expect(ticks < .5, f"{name}: {ticks:.3g} of the ticks of one period for all") and verdict
    return [name, len(x), np.max(size) / np.min(size), safety, periods, modes["period"], modes["spread"], modes["stiff"],
            len(e["defect"]), defect, drift, info["book_residual"], ticks, info["wall_s"], bound, verdict]


def main():
    experiment = Experiment(__doc__)
    rows = []
    plan = [  # name, mesh, bending, periods, safeties, bound of the defect
        ("even", grid([.3, .3], [3, 3] if experiment.quick else [8, 8]), 1e-4, 100, [.4] if experiment.quick else [.1, .4, .9]),
        ("graded", disc(6, 6, 2, .01), 1e-4, 5 if experiment.quick else 100, [.4] if experiment.quick else [.1, .4, .9]),
        ("graded, flat", disc(6, 6, 2, .01), 0, 100, [.4] if experiment.quick else [.1, .4, .9]),
    ]
    for name, (x, triangles), bend, periods, safeties in plan:
        for safety in safeties if experiment.wanted(name) else []:
            rows.append(vibrate(experiment, name, x, triangles, bend, periods, safety, .02))
    table("Free cloths, vibrating", ["cloth", "vertices", "sizes 1:", "safety", "periods", "period [s]", "fastest/slowest",
                                     "stretch/bend", "rows", "defect", "drift", "book", "ticks", "wall [s]", "bound", ""], rows)
    experiment.finish()


main()
