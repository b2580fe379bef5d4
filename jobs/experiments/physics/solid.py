#!/usr/bin/python3
"""solid.py: are bars and beams of tetrahedra as stiff as the theory says?

axial     A bar that is held at one end and hangs in a weak field along itself: it swings about its equilibrium.  The amplitude of
          its first mode, a quarter of a sine, has the frequency (pi/2) sqrt(E/rho)/L, that of a wave that runs four lengths.  `off`:
          what is missing to it.  For Poisson's ratio 0 this holds whatever the thickness; for .3 it holds for a thin bar.
damped    The same bar with `damping` d: its first mode dies with the damping ratio d omega/2.
beam      A cantilever under its own weight, let go at t = 0: its free end swings between 0 and twice the deflection at rest, which is
          w L^4/(8 E I) + w L^2/(2 k G A), w the weight per length, k = 5/6 (Timoshenko).  Tetrahedra with constant strain are too
          stiff where they bend, by what falls with the square of a cell.  The table has the deflection over the theory's for so many
          cells through the thickness; it grows with each, and `limit`, to which the stiffness of the last two goes, is that of the
          theory.
"""
import numpy as np
from physics import Experiment, frequency, scene, table

YOUNGS, DENSITY, LENGTH = 1e5, 1e3, 1.
SPEED = np.sqrt(YOUNGS / DENSITY)  # m/s, of a wave along a thin bar


def bar(model, poisson, cells, width, gravity, end, frames, name):
    body = {"name": "bar", "material": "solid", "mesh": {"kind": "box", "size": [LENGTH, width, width], "cells": cells, "fill": "tets"}}
    held = {"body": "bar", "vertices": {"box": [[-LENGTH / 2 - 1e-6, -9, -9], [-LENGTH / 2 + 1e-6, 9, 9]]}, "path": [[0, [0, 0, 0]]]}
    return scene(end, end / frames, [body], name=name, gravity=gravity, contact={"thickness": 0}, motions=[held],
                 materials={"solid": {"density": DENSITY, "solid": {"model": model, "youngs": YOUNGS, "poisson": poisson}}},
                 clocks={"elastic_safety": .4})


def axial(experiment, model, poisson, cells, bound):
    period = 4 * LENGTH / SPEED
    result = experiment.run(bar(model, poisson, cells, .1, [.01, 0, 0], 4 * period, 256, "axial"))
    t, x = result.frames()
    along = x[0, :, 0] / LENGTH + .5
    mode = np.sin(.5 * np.pi * along)
    q = (x[:, :, 0] - x[0, :, 0]) @ mode / (mode @ mode)
    theory = .5 * np.pi * SPEED / LENGTH
    off = frequency(t, q, theory) / theory - 1
    energy = result.energy
    defect = np.abs(energy["defect"]).max() / energy["kinetic"].max()
    return [model, poisson, "x".join(map(str, cells)), theory, off, defect,
            experiment.expect(abs(off) < bound and defect < .05, f"{model}, nu {poisson}: frequency off by {off:.3g}, defect {defect:.3g}")]


def damped(experiment, model, seconds, cells):
    period, omega = 4 * LENGTH / SPEED, .5 * np.pi * SPEED / LENGTH
    hung = bar(model, 0, cells, .1, [.01, 0, 0], 4 * period, 256, "damped")
    hung["materials"]["solid"]["solid"]["damping"] = seconds
    t, x = experiment.run(hung).frames()
    mode = np.sin(.5 * np.pi * (x[0, :, 0] / LENGTH + .5))
    q = (x[:, :, 0] - x[0, :, 0]) @ mode / (mode @ mode)

    def misfit(ratio):
        fast = omega * np.sqrt(1 - ratio ** 2)
        basis = np.stack([np.exp(-ratio * omega * t) * np.cos(fast * t), np.exp(-ratio * omega * t) * np.sin(fast * t), np.ones_like(t)], axis=1)
        return np.sum((q - basis @ np.linalg.lstsq(basis, q, rcond=None)[0]) ** 2)

    theory = seconds * omega / 2
    found = min(theory * np.linspace(.5, 1.5, 1001), key=misfit)
    return [model, seconds, theory, found, experiment.expect(abs(found / theory - 1) < .03, f"{model}: damping ratio {found:.4g}, not {theory:.4g}")]


def deflection(experiment, model, poisson, n, width, gravity):
    """Mean of the free end's deflection over a whole swing, over the theory's."""
    area, inertia, weight = width ** 2, width ** 4 / 12, DENSITY * width ** 2 * gravity
    shear = YOUNGS / (2 * (1 + poisson))
    theory = weight * LENGTH ** 4 / (8 * YOUNGS * inertia) + weight * LENGTH ** 2 / (2 * 5 / 6 * shear * area)
    period = 2 * np.pi / (3.516 * np.sqrt(YOUNGS * inertia / (DENSITY * area)) / LENGTH ** 2)
    cells = [round(n * LENGTH / width), n, n]
    result = experiment.run(bar(model, poisson, cells, width, [0, -gravity, 0], 1.5 * period, 192, "beam"))
    t, x = result.frames()
    tip = np.flatnonzero(x[0, :, 0] > LENGTH / 2 - 1e-6)
    fall = (x[0, tip, 1] - x[:, tip, 1]).mean(axis=1)
    omega = frequency(t, fall, 2 * np.pi / period)  # its higher modes are some hundredths of the first
    basis = np.stack([np.cos(omega * t), np.sin(omega * t), np.ones_like(t)], axis=1)
    return np.linalg.lstsq(basis, fall, rcond=None)[0][2] / theory


def beam(experiment, model, poisson, counts):
    ratios = [deflection(experiment, model, poisson, n, .25, .02) for n in counts]
    a, b = counts[-2] ** -2., counts[-1] ** -2.
    limit = (a - b) / (a / ratios[-1] - b / ratios[-2])
    good = all(low < high < 1.02 for low, high in zip(ratios, ratios[1:])) and abs(limit - 1) < .05
    return [model, poisson, *ratios, limit, experiment.expect(good, f"{model}: ratios {np.round(ratios, 3)}, in the limit {limit:.3f}")]


def main():
    experiment = Experiment(__doc__)
    models = ["neo-hookean", "stvk", "corotated"]
    if experiment.wanted("axial"):
        cells, bound = ([12, 1, 1], .01) if experiment.quick else ([48, 4, 4], .003)
        rows = [axial(experiment, model, 0, cells, bound) for model in models]
        rows += [axial(experiment, "neo-hookean", .3, cells, .02)]
        table("a bar in a field along itself", ["model", "Poisson", "cells", "theory, rad/s", "off", "defect", ""], rows)
    if experiment.wanted("damped"):
        table("the same bar, damped", ["model", "damping, s", "theory", "ratio", ""],
              [damped(experiment, model, .01, [12, 1, 1]) for model in (models[2:] if experiment.quick else models)])
    if experiment.wanted("beam"):
        counts = [1, 2, 3] if experiment.quick else [1, 2, 4, 6]
        rows = [beam(experiment, model, 0, counts) for model in (models[:1] if experiment.quick else models)]
        table("a cantilever under its own weight: ratio for so many cells through the thickness",
              ["model", "Poisson", *map(str, counts), "limit", ""], rows)
    experiment.finish()


main()
