#!/usr/bin/python3
"""static_friction.py: static friction apart from kinetic, in both integrators, beside closed forms.

slope      Gravity leans slowly to a slope's: a body stays below the static limit, and above it goes with g (tan - kinetic), the normal
           gravity being g throughout.
stick-slip A body that a spring pulls at speed v: it lies still until the spring pulls with mu_s N, then slides by kinetic friction until
           it has the floor's speed again: the least force is (2 mu_k - mu_s) N, the period 2 A / v + (2 pi - 2 atan(A w / v)) / w, where
           A = (mu_s - mu_k) N / k and w^2 = k / m.
bits       Particles that begin to slide one after the other, on 1, 2 and 3 ranks, found by all pairs, and from a checkpoint.
branch     A checkpoint goes on with friction that is one number, or two others.
If it fails, what lies still and what slides are not held as docs/reference/engine.md says.  It prints its figures."""

import json
import math

import h5py
import numpy as np

from particles import G, MASS, PLANE, check, expect, main, run, same, write

STATIC, KINETIC = 0.5, 0.4
MU = {"static": STATIC, "kinetic": KINETIC}


def how(implicit, stiffness=2000, step_s=2.0**-9):
    if implicit:
        return {"contact": {"thickness": 0.01, "friction": MU},
                "integrator": {"kind": "implicit", "step_s": step_s, "friction": {"velocity": 1e-4}, "newton": {"velocity_tol": 1e-7}}}
    return {"contact": {"thickness": 0.01, "stiffness": stiffness, "friction": MU}}


def lean(body, slope, since=0.5, full=1):
    return {"body": body, "acceleration": [slope * G, 0, 0], "path": [[0, 0], [since, 0], [full, 1], [3, 1]]}


def slope(implicit):
    for tangent in (0.45, 0.49, 0.51, 0.55, 0.7):
        t, x, v = run("slope", {"time": {"end": 3, "frame": 2.0**-6}, **how(implicit), "loads": [lean("body", tangent)],
                                "bodies": [{"name": "body", "mass": MASS, "mesh": {"kind": "points", "vertices": [[0, 0.0092, 0]]}}, PLANE]})
        since = t.searchsorted(2)
        rate, way = (v[-1, 0, 0] - v[since, 0, 0]) / (t[-1] - t[since]), x[-1, 0, 0] - x[t.searchsorted(1.1), 0, 0]
        if tangent < STATIC:
            most = 1e-4 * 2 if implicit else 1e-9  # the implicit one creeps at less than friction.velocity
            check(abs(way) < most, "implicit %d, slope %.2f: stays: %.2g m in 1.9 s" % (implicit, tangent, way))
        else:
            exact = G * (tangent - KINETIC)
            check(abs(rate / exact - 1) < 2e-3, "implicit %d, slope %.2f: goes with %.5f m/s^2, exactly %.5f" % (implicit, tangent, rate, exact))


def stick_slip(implicit, stiffness, tolerance):
    """tolerance: of the forces, over mu_s N."""
    v, k, end, normal = 0.02, 10.0, 8, MASS * G
    t, x, _ = run("slip", {"time": {"end": end, "frame": 2.0**-7}, **how(implicit, stiffness),
                           "materials": {"spring": {"stretch": {"model": "spring", "stiffness": k}}},
                           "bodies": [{"name": "body", "mass": MASS, "material": "spring",
                                       "mesh": {"kind": "segments", "from": [0, 0.0092, 0], "to": [1, 0.0092, 0]}}, PLANE],
                           "motions": [{"body": "body", "vertices": [1], "path": [[0, [0, 0, 0]], [0.5, [0, 0, 0]], [end, [v * (end - 0.5), 0, 0]]]}]})
    force = k * (x[:, 1, 0] - x[:, 0, 0] - 1) / normal
    w, a = math.sqrt(k / MASS), (STATIC - KINETIC) * normal / k
    period = 2 * a / v + (2 * math.pi - 2 * math.atan(a * w / v)) / w
    falls = [t[i] for i in range(1, len(t)) if t[i] > 1 and force[i - 1] >= KINETIC > force[i]]
    late = t > falls[0]
    found = (falls[-1] - falls[0]) / (len(falls) - 1)
    check(len(falls) > 2, "it sticks and slips again and again: %d times" % len(falls))
    what = "implicit %d%s" % (implicit, "" if implicit else ", r(1) = %g N/m" % stiffness)
    check(abs(force[late].max() / STATIC - 1) < tolerance, "%s: breaks loose at %.4f N, exactly %.1f" % (what, force[late].max(), STATIC))
    least = 2 * KINETIC - STATIC
    check(abs(force[late].min() - least) < tolerance * STATIC, "%s: comes to rest at %.4f N, exactly %.1f" % (what, force[late].min(), least))
    check(abs(found / period - 1) < 4 * tolerance, "%s: period %.4f s, exactly %.4f" % (what, found, period))


def speeds(name):
    with h5py.File(name + "/frames.h5", "r") as f:
        return np.abs(f["frames"][max(f["frames"])]["velocity"][:-3, 0])


def branch(name, friction, holds, what):
    expect(name, "run", "--restart", "half.run", "--branch", "--set", "contact.friction=" + json.dumps(friction), "-o", name, "--quiet")
    speed = speeds(name)
    check(holds(speed), "branch with friction %s: %s: %s m/s" % (friction, what, speed.round(3)))


def bits(implicit):
    # d is made to slide, and then leans between the kinetic and the static limit: it slides on only if it is known to slide.
    loads = [lean(body, slope, 0.0625, 0.25) for body, slope in (("a", 0.52), ("b", 0.48), ("c", 1.2))]
    loads.append({"body": "d", "acceleration": [G, 0, 0], "path": [[0, 0], [0.0625, 0], [0.1875, 0.6], [0.21875, 0.45], [3, 0.45]]})
    scene = {"time": {"end": 0.5, "frame": 0.125}, **how(implicit, step_s=2.0**-7), "loads": loads,
             "bodies": [{"name": name, "mass": MASS, "position": [0.3 * i, 0.0092, 0.5 * i],
                         "mesh": {"kind": "points", "lattice": {"count": [3, 1, 2], "spacing": 0.1}}} for i, name in enumerate("abcd")] + [PLANE]}
    write("bits", scene)
    for ranks in (1, 2, 3):
        expect("bits on %d ranks" % ranks, "run", "bits.json", "-o", "bits-%d.run" % ranks, "--quiet", "--overwrite", ranks=ranks)
        if ranks > 1:
            same("bits-1.run", "bits-%d.run" % ranks)
    speed = speeds("bits-1.run").reshape(4, -1)
    check((speed[[0, 3]] > 0.01).all() and (speed[1] < 0.01).all() and (speed[2] > 1).all(),
          "the steepest slide fast, the next begin to, others stay, and what slid slides on: %s" % speed.round(3))
    expect("until a checkpoint", "run", "bits.json", "-o", "half.run", "--quiet", "--overwrite", "--until", "0.25")
    branch("held-%d.run" % implicit, 5, lambda speed: (speed < 0.01).all(), "everything is held")
    branch("less-%d.run" % implicit, {"static": 5, "kinetic": 0.01}, lambda speed: (speed > 1).any() and (speed < 0.01).any(), "what slides slides on")
    expect("on from there", "run", "--restart", "half.run", "--quiet", ranks=2)
    same("bits-1.run", "half.run")
    if not implicit:
        for mode in ("all-pairs", "kds"):
            expect(mode, "run", "bits.json", "-o", mode + ".run", "--quiet", "--overwrite", "--discover", mode)
            same("bits-1.run", mode + ".run")


def all_parts():
    for implicit in (False, True):
        slope(implicit)
    stick_slip(False, 2000, 0.06)
    stick_slip(False, 20000, 0.03)
    stick_slip(True, 0, 0.006)
    bits(False)
    bits(True)


main(all_parts)
