#!/usr/bin/python3
"""rolling.py: grains that roll, beside closed forms: a slope, a throw, rolling and twisting friction, a collision; and their bits.

slope     A ball goes down with 5/7 g sin where friction suffices, and slides with g (sin - mu cos) where it does not.
throw     Thrown without spin at v it slides, and then rolls at 5/7 v; a ball that spins on the spot gets 2/7 r w.
rolling   A ball that rolls at v stops by rolling friction c after 7 v^2 / (10 c g), and stays.
twisting  A ball that spins about the normal stops by twisting friction c after 2 r w / (5 c g).
bits      Grains that fall on each other and on a plane, on 1, 2 and 3 ranks, found by all pairs and kds, and from a checkpoint.
book      Their energy, and the angular momentum of two that collide.
If it fails, friction does not turn grains as docs/reference/engine.md says.  It prints its figures."""

import csv
import math

import h5py
import numpy as np

import particles
from particles import G, MASS, PLANE, check, expect, same, write

R = 0.05


def run(name, scene):
    """(times; positions and velocities of all vertices; spins at the end; energy rows)"""
    t, x, v = particles.run(name, {"output": {"fields": ["spin"]}, **scene})
    with h5py.File(name + ".run/frames.h5", "r") as f:
        spin = f["frames"][max(f["frames"])]["spin"][()]
    with h5py.File(name + ".run/checkpoint.h5", "r") as f:
        check((f[find(f, "past")][:, 3:] == spin).all() and spin.shape == (x.shape[1], 3), "the checkpoint has the spin of the frame")
    with open(name + ".run/energy.csv") as file:
        rows = [{k: float(v or "nan") for k, v in row.items()} for row in csv.DictReader(file)]
    return t, x, v, spin, rows


def find(f, name):
    found = []
    f.visit(lambda path: found.append(path) if path.split("/")[-1] == name else None)
    return found[0]


def ball(**keys):
    return {"name": "ball", "mass": MASS, "rolls": True, "mesh": {"kind": "ball", "radius": R}, "position": [0, R + 0.0009, 0], **keys}


def scene(end, body, contact, gravity=(0, -G, 0), frame=2.0**-6):
    return {"time": {"end": end, "frame": frame}, "gravity": list(gravity),
            "contact": {"thickness": 0.001, "stiffness": 2000, **contact}, "bodies": [body, PLANE]}


def slope():
    for degrees, mu, e in ((20, 0.5, 0), (20, 0.5, 0.5), (60, 0.3, 0)):
        a = math.radians(degrees)
        t, x, v, spin, rows = run("slope", scene(1.5, ball(), {"friction": mu, "restitution": e}, [G * math.sin(a), -G * math.cos(a), 0]))
        since = t.searchsorted(0.5)
        rate = (v[-1, 0, 0] - v[since, 0, 0]) / (t[-1] - t[since])
        rolls = math.tan(a) < 3.5 * mu
        exact = 5 / 7 * G * math.sin(a) if rolls else G * (math.sin(a) - mu * math.cos(a))
        check(abs(rate / exact - 1) < 2e-3, "%d degrees, mu %.1f, e %.1f: goes with %.5f m/s^2, exactly %.5f" % (degrees, mu, e, rate, exact))
        if rolls:
            check(abs(-spin[0, 2] * R / v[-1, 0, 0] - 1) < 2e-3, "it rolls: r w / v = %.5f" % (-spin[0, 2] * R / v[-1, 0, 0]))


def throw():
    t, x, v, spin, rows = run("throw", scene(1.5, ball(velocity=[1, 0, 0]), {"friction": 0.2}))
    check(abs(v[-1, 0, 0] / (5 / 7) - 1) < 5e-3, "thrown at 1 m/s it rolls at %.5f, exactly %.5f" % (v[-1, 0, 0], 5 / 7))
    lost = rows[-1]["dissipated_friction"] / (0.5 * MASS * (1 - 5 / 7))
    check(abs(lost - 1) < 2e-2, "friction took %.4f of what it must" % lost)
    t, x, v, spin, rows = run("spun", scene(1.5, ball(spin=[0, 0, -20]), {"friction": 0.2}))
    check(abs(v[-1, 0, 0] / (2 / 7 * R * 20) - 1) < 5e-3, "spun with 20 rad/s it rolls at %.5f m/s, exactly %.5f" % (v[-1, 0, 0], 2 / 7 * R * 20))


def resistance():
    speed, c = 0.5, 0.05
    t, x, v, spin, rows = run("resist", scene(2.5, ball(velocity=[speed, 0, 0], spin=[0, 0, -speed / R]), {"friction": 0.5, "rolling": c}))
    way, exact = x[-1, 0, 0], 7 * speed**2 / (10 * c * G)
    check(abs(way / exact - 1) < 1e-2, "rolling friction stops it after %.5f m, exactly %.5f" % (way, exact))
    late = x[t > 2.0][:, 0, 0]
    check(np.ptp(late) < 1e-6, "and it stays: %.2g m" % np.ptp(late))
    omega, c = 20.0, 0.02
    stop = 2 * R * omega / (5 * c * G)
    t, x, v, spin, rows = run("twist", scene(stop / 2, ball(spin=[0, omega, 0]), {"friction": 0.5, "twisting": c}, frame=stop / 2))
    check(abs(spin[0, 1] / (omega / 2) - 1) < 2e-2, "twisting friction leaves %.4f rad/s after half of the time, exactly %.1f" % (spin[0, 1], omega / 2))
    t, x, v, spin, rows = run("twist", scene(1.5 * stop, ball(spin=[0, omega, 0]), {"friction": 0.5, "twisting": c}, frame=stop / 2))
    check(abs(spin[0, 1]) < 1e-3, "and then none: %.2g rad/s" % spin[0, 1])


def book():
    """Two grains collide beside their middles, in the void: they begin to turn, and together keep their angular momentum."""
    t, x, v, spin, rows = run("two", {"gravity": [0, 0, 0], "time": {"end": 0.25, "frame": 2.0**-7}, "contact": {"thickness": 0.001, "stiffness": 2000, "friction": 0.3},
                                      "bodies": [{"name": "a", "mass": MASS, "rolls": True, "mesh": {"kind": "ball", "radius": R}, "velocity": [1, 0, 0]},
                                                 {"name": "b", "mass": MASS / 2, "rolls": True, "mesh": {"kind": "ball", "radius": R / 2},
                                                  "position": [0.1, 0.03, 0.01]}]})
    first, last = rows[0], rows[-1]
    for axis in "xyz":
        key = "angular_momentum_" + axis
        off = last[key] - first[key] - last["friction_couple_" + axis]
        check(abs(off) < 1e-15, "angular momentum %s: %.3g off, by friction's couple across the gap %.3g" % (axis, off, last["friction_couple_" + axis]))
    check(np.abs(spin).max() > 1, "they turn: %s" % spin.tolist())
    check(abs(last["defect"]) < 2e-3 * first["kinetic"], "defect %.3g J of %.3g" % (last["defect"], first["kinetic"]))


def bits():
    heap = {"name": "heap", "mass": 0.01, "rolls": True, "radius": 0.02, "spin": [3, 2, 1], "velocity": [0.5, 0, 0.2], "position": [0, 0.09, 0],
            "rotation": [0, 20, 10], "mesh": {"kind": "points", "lattice": {"count": [3, 2, 3], "spacing": 0.05}}}
    write("bits", {"output": {"fields": ["spin", "rank"]}, "time": {"end": 0.25, "frame": 0.0625}, "gravity": [0, -G, 0], "bodies": [heap, PLANE],
                   "contact": {"thickness": 0.002, "stiffness": 500, "friction": {"static": 0.5, "kinetic": 0.3}, "rolling": 0.02, "twisting": 0.01}})
    for ranks in (1, 2, 3):
        expect("bits on %d ranks" % ranks, "run", "bits.json", "-o", "bits-%d.run" % ranks, "--quiet", ranks=ranks)
        if ranks > 1:
            same("bits-1.run", "bits-%d.run" % ranks)
            same("bits-1.run/checkpoint.h5", "bits-%d.run/checkpoint.h5" % ranks)
    for mode in ("all-pairs", "kds"):
        expect(mode, "run", "bits.json", "-o", mode + ".run", "--quiet", "--discover", mode)
        same("bits-1.run", mode + ".run")
    expect("until a checkpoint", "run", "bits.json", "-o", "half.run", "--quiet", "--until", "0.125")
    expect("on from there", "run", "--restart", "half.run", "--quiet", ranks=2)
    same("bits-1.run", "half.run")
    same("bits-1.run/checkpoint.h5", "half.run/checkpoint.h5")


particles.main(slope, throw, resistance, book, bits)
