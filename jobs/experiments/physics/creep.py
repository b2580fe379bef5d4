#!/usr/bin/python3
"""creep.py: how far does a particle move that friction holds, on a slope of 30 degrees at mu = .7?

landing   Put a thickness above the slope, it falls first: a pair starts silent, its first layer at .9 of its distance at most. Then it slips
          until the layers bear it, for friction is mu times what they push. `fall` and `slip` are the ways along the slope in these, after 1/16 s;
          `Coulomb` is the way in all of a particle with the same normal force under Coulomb's law, integrated here in small steps.
          `later` is how far it goes from the first second to the second, over the thickness.
rest      The speed along the slope from the first second on, against the mass (so the layer on which the weight rests) and gravity's clock, in
          periods of the first layer: (layer) speed in m/s; below zero is uphill. `told` is where `tactus check` warns, of the
          clock (g) or of the layer (l).
"""
import json
import subprocess

import numpy as np
from physics import Experiment, power_of_two, scene, table

G, SIN, COS, MU = 9.81, .5, .75 ** .5, .7


def on_slope(experiment, thickness, stiffness, mass, e, end, start, **clocks):
    """The scene, times, the ways along the slope, the heights, and the deepest layer of the last quarter."""
    plane = {"name": "plane", "fixed": True, "mesh": {"kind": "grid", "size": [2, 2], "cells": [1, 1]}}
    body = {"name": "body", "mass": mass, "mesh": {"kind": "points", "vertices": [[.013, start, .05]]}}
    s = scene(end, 2.0 ** -6, [plane, body], gravity=[G * SIN, -G * COS, 0], clocks=clocks, name="creep",
              contact={"thickness": thickness, "stiffness": stiffness, "restitution": e, "friction": MU})
    result = experiment.run(s)
    t, x = result.frames()
    layer = result.energy["deepest_layer"]
    return s, t, x[:, -1, 0] - x[0, -1, 0], int(layer[-len(layer) // 4:].max())


def coulomb(thickness, stiffness, mass, start, end=2.0 ** -4, dt=4e-6):
    """The way along the slope of a particle at e = 0 that the layers push, rubbed by mu times that while it slides."""
    layer = np.arange(1, 21)
    reach, rate = min(thickness, .9 * start) * layer ** -.25, stiffness * layer ** 3.
    height, way, rise, speed = start, 0., 0., 0.
    for _ in range(int(end / dt)):
        height, way = height + dt * rise, way + dt * speed
        push = np.sum(rate * np.maximum(0, reach - height)) / mass if rise < 0 and height < reach[0] else 0
        rise += dt * (push - G * COS)
        speed = max(0., speed + dt * (G * SIN - MU * push))
    return way


def landing(experiment):
    rows = []
    plan = [(t, k, m) for t in (1e-3, 1e-2) for k in (1e3, 1e4) for m in (.01, .1, 1)]
    for thickness, stiffness, mass in [(1e-3, 1e4, .1), (1e-2, 1e4, .01)] if experiment.quick else plan:
        _, t, way, layer = on_slope(experiment, thickness, stiffness, mass, 0, 2, thickness)
        fall, at = .1 * thickness * SIN / COS, way[t == 2.0 ** -4][0]
        exact = coulomb(thickness, stiffness, mass, thickness)
        later = np.abs(way[t >= 1] - way[t >= 1][0]).max() / thickness
        rows.append([thickness, stiffness, mass, layer, fall, at - fall, exact, at / exact, later, experiment.expect(
            abs(at / exact - 1) < .12 and later < 1e-6,
            f"landing, thickness {thickness}, stiffness {stiffness}, {mass} kg: {at / exact:.4g} of Coulomb's way, then {later:.3g}")])
    table("what falls on a slope of 30 degrees at e = 0 and stays there, m",
          ["thickness", "stiffness", "mass", "layer", "fall", "slip", "Coulomb", "fall + slip over it", "later", ""], rows)


def warned(experiment, s):
    path = f"{experiment.home}/check.json"
    with open(path, "w") as file:
        json.dump(s, file)
    report = json.loads(subprocess.run([experiment.program, "check", path, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       check=True).stdout)
    return ("g" if report["shake"] else "") + ("l" if report["rest"]["layer"] > 2 else "")


def rest(experiment):
    thickness, stiffness = .01, 1000
    clocks = (1, 8) if experiment.quick else (.25, 1, 2, 4, 8)
    for e in (0,) if experiment.quick else (0, .5):
        rows = []
        for mass in (.02, 2) if experiment.quick else (.02, .05, .1, .2, .5, 1, 2, 5):
            first = power_of_two(.3 * (mass / 8 / stiffness) ** .5)
            row = [mass, first]
            for factor in clocks:
                s, t, way, layer = on_slope(experiment, thickness, stiffness, mass, e, 4, 1.2 * thickness, gravity_s=factor * first)
                speed, told = np.polyfit(t[t >= 1], way[t >= 1], 1)[0], warned(experiment, s)
                row.append(f"({layer}) {speed:.0e} {told or '-'}")
                # Layers that tick with gravity hold; so do the first two with any such clock; what creeps was foretold.
                good = abs(speed) < 1e-6 or (told and factor >= 4)
                experiment.expect(good, f"e = {e}, {mass} kg, gravity every {factor} periods: creeps {speed:.3g} m/s, warned: {told!r}")
                if mass == 2 and factor == 8:
                    experiment.expect(abs(speed) > 1e-3 and "g" in told and "l" in told, f"e = {e}: what shakes most creeps by {speed:.3g} m/s only")
            rows.append(row)
        table(f"at rest, thickness {thickness} m, {stiffness} N/m, e = {e}: (layer) speed, told",
              ["mass", "h(1)"] + [f"gravity {factor} h(1)" for factor in clocks], rows)


def main():
    experiment = Experiment(__doc__)
    for part in (landing, rest):
        if experiment.wanted(part.__name__):
            part(experiment)
    experiment.finish()


main()
