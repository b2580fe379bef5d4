#!/usr/bin/python3
"""convergence.py: frequencies against closed forms, the error falling with refinement.

chain     A rope of springs hangs from a pinned end and swings in its first mode: omega = j/2 sqrt(g/L), j the first zero
          of J0. It starts at rest in that mode's shape, with a swing so small that the pendulum is linear.
membrane  A rectangular membrane (constant-strain triangles, Poisson's ratio .3), stretched by the same factor both ways:
          every vertex is scripted from the mesh to the stretched place and let go, its edge excepted, with the velocity of
          the first mode. The second Piola tension is S = Y/(1 - nu) (lambda^2 - 1)/2, and the motion across is a wave of
          speed sqrt(S/rho) in the unstretched lengths: omega = pi sqrt(S/rho) sqrt(1/a^2 + 1/b^2).
strip     A free strip of one row of cells of `grid`, bending along x, let go flat with the velocity of the first mode of a
          free beam: omega = (z/L)^2 sqrt(D/rho), z the first positive zero of cos z cosh z - 1. A hinge stiffness k gives
          D = 6 k if lines across the strip stay straight. They do not quite: where diagonals alternate, the hinges across
          the strip see the curvature at every second vertex only, and the others give way by u (-1)^(i+j). The least energy
          over u leaves D = 6 k c/(1 + c), c = (1 + (dx/dz)^2)^2: 4.8 k for square cells, 6 k for cells much longer than wide.
The frequency is that of a sinusoid fitted to the mode's coordinate in the frames. `order` compares a row with the one
before it.
"""
import numpy as np
from physics import Experiment, frequency, grid, lumped_mass, power_of_two, root, scene, table


def j0(x):
    """The Bessel function, by its series: for small x."""
    term, total, k = 1., 0., 0
    while abs(term) > 1e-18 * abs(total) or k < 4:
        total += term
        k += 1
        term *= -(x / (2 * k)) ** 2
    return total


def let_go(name, rest, place, velocity, held, seconds):
    """A motion per vertex: from its rest place to `place`, and off with `velocity`; those held stay at `place`."""
    motions = []
    for i, (a, b, v) in enumerate(zip(rest, place, velocity)):
        path = [[0, [0, 0, 0]], [seconds, (b - a - v * seconds).tolist()], [2 * seconds, (b - a).tolist()]]
        motions.append({"body": name, "vertices": [i], "path": path[:2] if held[i] else path, "release": not held[i]})
    return motions


def mode_frequency(result, body_from, shape, guess, axis, start):
    """From the coordinate of a mode whose shape, times the masses, is given."""
    t, x = result.frames()
    q = x[:, body_from:body_from + len(shape), axis] @ shape
    keep = t >= start
    return frequency(t[keep], q[keep], guess)


def chain(experiment, n):
    length, g, density = 1., 9.81, .1
    zero = root(j0, 2, 3)
    exact = zero / 2 * np.sqrt(g / length)
    above = length * (1 - np.arange(n + 1) / n)  # height over the free end
    shape = np.array([j0(2 * exact * np.sqrt(s / g)) for s in above])
    shape[0] = 0
    s = 1e-3 * shape
    mesh = {"kind": "segments", "vertices": np.stack([s, above - length, 0 * s], axis=1).tolist(),
            "edges": [[k, k + 1] for k in range(n)]}
    period = 2 * np.pi / exact
    weight = density * g * length
    sc = scene(3 * period, power_of_two(period / 32), [{"name": "rope", "material": "rope", "mesh": mesh}], name=f"chain {n}",
               gravity=[0, -g, 0], materials={"rope": {"density": density, "stretch": {"model": "spring",
                                                                                    "stiffness": 2e5 * weight}}},
               motions=[{"body": "rope", "vertices": [0], "path": [[0, [0, 0, 0]]]}],
               clocks={"elastic_safety": .4, "gravity_s": 2.0 ** -12})
    result = experiment.run(sc)
    mass = np.ones(n + 1)
    mass[[0, n]] = .5
    return mode_frequency(result, 0, mass * shape, exact, 0, 0), exact, result


def membrane(experiment, n):
    a, b, density, y, nu, stretch = .4, .3, .2, 300., .3, 1.02
    rest, triangles = grid([a, b], [n, n])
    tension = y / (1 - nu) * (stretch ** 2 - 1) / 2
    exact = np.pi * np.sqrt(tension / density) * np.sqrt(1 / a ** 2 + 1 / b ** 2)
    shape = np.cos(np.pi * rest[:, 0] / a) * np.cos(np.pi * rest[:, 2] / b)
    held = (np.abs(rest[:, 0]) > .4999 * a) | (np.abs(rest[:, 2]) > .4999 * b)
    shape[held] = 0
    velocity = np.zeros_like(rest)
    velocity[:, 1] = 1e-4 * a * exact * shape
    period = 2 * np.pi / exact
    begin = power_of_two(period / 64)
    sc = scene(2 * begin + 4 * period, power_of_two(period / 32),
               [{"name": "skin", "material": "skin", "mesh": {"kind": "grid", "size": [a, b], "cells": [n, n]}}],
               name=f"membrane {n}", motions=let_go("skin", rest, stretch * rest, velocity, held, begin),
               materials={"skin": {"density": density, "stretch": {"model": "cst", "stiffness": y, "poisson": nu}}},
               clocks={"elastic_safety": .2})
    result = experiment.run(sc)
    return mode_frequency(result, 0, shape * lumped_mass(rest, triangles, density), exact, 1, 2 * begin), exact, result


def strip(experiment, n, ratio):
    """n cells along, each `ratio` times as wide as long."""
    length, density, k = 1., .5, 1e-2
    size, cells = [length, ratio * length / n], [n, 1]
    rest, triangles = grid(size, cells)
    mass = lumped_mass(rest, triangles, density)
    z = root(lambda s: np.cos(s) * np.cosh(s) - 1, 4, 5.5)
    c = (1 + ratio ** -2) ** 2
    exact = (z / length) ** 2 * np.sqrt(6 * k * c / (1 + c) / density)
    s = rest[:, 0] / length * z  # even about the middle
    shape = np.cos(s) / np.cos(z / 2) + np.cosh(s) / np.cosh(z / 2)
    rigid = np.stack([np.ones(len(rest)), rest[:, 0], rest[:, 2]], axis=1)  # the strip does not drift or turn
    shape -= rigid @ np.linalg.solve(rigid.T * mass @ rigid, rigid.T * mass @ shape)
    velocity = np.zeros_like(rest)
    velocity[:, 1] = 1e-4 * length * exact * shape
    period = 2 * np.pi / exact
    begin = power_of_two(period / 64)
    sc = scene(2 * begin + 4 * period, power_of_two(period / 32),
               [{"name": "strip", "material": "strip", "mesh": {"kind": "grid", "size": size, "cells": cells}}],
               name=f"strip {n}", motions=let_go("strip", rest, rest, velocity, np.zeros(len(rest), bool), begin),
               materials={"strip": {"density": density, "stretch": {"model": "spring", "stiffness": 5},
                                    "bend": {"model": "hinge", "stiffness": k}}}, clocks={"elastic_safety": .2})
    result = experiment.run(sc)
    return mode_frequency(result, 0, shape * mass, exact, 1, 2 * begin), exact, result


def main():
    experiment = Experiment(__doc__)
    plan = [("chain", chain, "segments", [4, 8, 16] if experiment.quick else [4, 8, 16, 32, 64]),
            ("membrane", membrane, "cells each way", [4, 8] if experiment.quick else [4, 8, 16, 32]),
            *((f"strip of cells {w} times as wide as long", lambda e, n, w=w: strip(e, n, w), "cells along",
               [8, 16] if experiment.quick else [8, 16, 32, 64]) for w in ([.25, 1] if experiment.quick else [.25, 1, 4]))]
    for name, function, unit, sizes in plan:
        rows, errors = [], []
        for n in sizes if experiment.wanted(name) else []:
            omega, exact, result = function(experiment, n)
            errors.append(abs(omega / exact - 1))
            order = np.log2(errors[-2] / errors[-1]) if len(errors) > 1 else None
            rows.append([n, f"{omega:.8g}", f"{exact:.8g}", errors[-1], "" if order is None else order, result.info["wall_s"],
                         "" if order is None else experiment.expect(order > 1.7, f"{name}: order {order:.3g} at {n}")])
        if rows:
            table(f"{name}: first mode, orders from 1.7 up", [unit, "omega [1/s]", "closed form", "error", "order", "wall [s]", ""],
                  rows)
            experiment.expect(errors[-1] < .02, f"{name}: error {errors[-1]:.3g}")
    experiment.finish()


main()
