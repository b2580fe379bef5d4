#!/usr/bin/python3
"""pieces_ways.py: stones as the pieces of one mesh, to the last bit those of as many bodies, in both integrators.

Twelve stones fall on a floor and on one another. Against twelve bodies: one body with "pieces", on one rank; then that
one with all pairs, on three ranks, on two with vertices handed over after each pass, and stopped and gone on with on
other numbers of ranks. The audit proves that no stone passes through another. If it fails, a piece is not what a body is.
"""
import csv
import json
import os
import random
import subprocess
import sys
import tempfile

import h5py
import numpy

TACTUS = os.environ["TACTUS"]
END = .09
failures = []


def expect(good, what):
    print(("ok      " if good else "FAILED  ") + what)
    if not good:
        failures.append(what)


def stone(rng, size, at):
    """An icosahedron with corners that are moved, about `at`."""
    g = (1 + 5 ** .5) / 2
    corners = [(a, b * g, 0) for a in (-1, 1) for b in (-1, 1)]
    corners = [p[-k:] + p[:-k] for k in range(3) for p in corners]
    points = numpy.array([[c * rng.uniform(.8, 1.1) for c in p] for p in corners]) * size / 2
    triangles = []
    for i in range(12):
        for j in range(i + 1, 12):
            for k in range(j + 1, 12):
                p, q, r = (numpy.array(corners[v]) for v in (i, j, k))
                if max(abs(p - q).max(), abs(q - r).max(), abs(p - r).max()) < 2.1 and all(
                        abs(((a - b) ** 2).sum() - 4) < 1e-9 for a, b in ((p, q), (q, r), (p, r))):
                    out = numpy.dot(numpy.cross(q - p, r - p), p) > 0
                    triangles.append([i, j, k] if out else [i, k, j])
    assert len(triangles) == 20
    return (points + at).tolist(), triangles


def scene(pieces, **more):
    rng = random.Random(7)
    stones = [stone(rng, .06, numpy.array([.03 * (i % 2) + rng.uniform(-.02, .02), .06 + .125 * (i // 2), .11 * (i % 2)]))
              for i in range(12)]
    bodies = [{"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [1, 1], "cells": [1, 1]}}]
    keys = {"rigid": {"density": 2000}, "velocity": [0, -2, 0]}
    if pieces:
        vertices = [v for points, _ in stones for v in points]
        triangles = [[12 * i + v for v in t] for i, (_, list_of) in enumerate(stones) for t in list_of]
        bodies.append({**keys, "name": "stones", "rigid": {"density": 2000, "pieces": True},
                       "mesh": {"kind": "inline", "vertices": vertices, "triangles": triangles}})
    else:
        bodies += [{**keys, "name": f"stone{i}", "mesh": {"kind": "inline", "vertices": points, "triangles": triangles}}
                   for i, (points, triangles) in enumerate(stones)]
    return {"format": "tactus-scene/1", "time": {"end": END, "frame": END / 4}, "gravity": [0, -9.81, 0],
            "output": {"fields": ["pose"]}, "bodies": bodies,
            **{"contact": {"thickness": .002, "stiffness": 2000, "restitution": .2, "friction": .4}, **more}}


def call(folder, *arguments, ranks=1, **environment):
    command = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
    return subprocess.run([*command, TACTUS, *arguments], cwd=folder, text=True, env={**os.environ, **environment},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def run(folder, name, out, *arguments, **more):
    done = call(folder, "run", name, "-o", out, "--quiet", *arguments, **more)
    expect(done.returncode == 0, f"{out} runs {done.stdout if done.returncode else ''}")


def write(folder, name, made):
    with open(os.path.join(folder, name), "w") as file:
        json.dump(made, file)


def same_frames(folder, a, b):
    """Positions and poses of all frames, bit by bit: the two scenes have other hashes, so `diff` does not compare them."""
    with h5py.File(os.path.join(folder, a, "frames.h5")) as p, h5py.File(os.path.join(folder, b, "frames.h5")) as q:
        keys = ["position", "velocity", "rigid_center", "rigid_rotation", "rigid_velocity", "rigid_spin"]
        count = len(p["frames"])
        same = sorted(p["frames"]) == sorted(q["frames"]) and all(
            numpy.array_equal(p["frames"][f][k], q["frames"][f][k]) for f in p["frames"] for k in keys if k in p["frames"][f])
        rows = p["frames"][max(p["frames"])]["rigid_center"].shape[0]
    expect(same and count >= 4 and rows == 12, f"{a} and {b}: {count} frames of {rows} pieces are the same")


def equal(folder, a, b):
    done = call(folder, "diff", a, b)
    expect(done.returncode == 0, f"{a} and {b} are equal {done.stdout if done.returncode else ''}")


def asynchronous(folder):
    run(folder, "bodies.json", "bodies", "--record")
    run(folder, "pieces.json", "pieces", "--record")
    with open(os.path.join(folder, "pieces", "run.json")) as file:
        counters = json.load(file)["counters"]
    expect(counters["committed"]["penalty"] > 10000, f"{counters['committed']['penalty']} contact ticks")
    same_frames(folder, "bodies", "pieces")
    audit = call(folder, "audit", "pieces")
    expect(audit.returncode == 0, f"audit {audit.stdout if audit.returncode else ''}")
    run(folder, "pieces.json", "pairs", "--discover", "all-pairs")
    run(folder, "pieces.json", "three", ranks=3, TACTUS_TEST_DEAL="1")
    run(folder, "pieces.json", "handed", ranks=2, TACTUS_TEST_MIGRATE="7")
    for out in ("pairs", "three", "handed"):
        equal(folder, "pieces", out)
    run(folder, "pieces.json", "again", "--until", "0.0356")
    run(folder, "pieces.json", "again", "--restart", "again", "--until", "0.0676", ranks=2, TACTUS_TEST_DEAL="1")
    run(folder, "pieces.json", "again", "--restart", "again", ranks=3)
    equal(folder, "pieces", "again")
    equal(folder, "pieces/checkpoint.h5", "again/checkpoint.h5")


def implicit(folder):
    # force_tol is of the forces on a body, and these are other bodies.
    more = {"time": {"end": .12, "frame": .03}, "integrator": {"kind": "implicit", "step_s": .01, "newton": {"force_tol": 0, "velocity_tol": 1e-3}},
            "contact": {"thickness": .002, "stiffness": 2000, "restitution": 0, "friction": .4}}
    write(folder, "implicit_bodies.json", scene(False, **more))
    write(folder, "implicit_pieces.json", scene(True, **more))
    run(folder, "implicit_bodies.json", "implicit_bodies")
    run(folder, "implicit_pieces.json", "implicit_pieces")
    same_frames(folder, "implicit_bodies", "implicit_pieces")
    run(folder, "implicit_pieces.json", "implicit_again", "--until", "0.05")
    run(folder, "implicit_pieces.json", "implicit_again", "--restart", "implicit_again", ranks=3)
    equal(folder, "implicit_pieces", "implicit_again")


def start(folder):
    """Stones that start as parts of one body have its mass, momenta and energy; `mass` is that of all of them."""
    first = {}
    for pieces in (False, True):
        made = scene(True, gravity=[0, 0, 0], time={"end": .001, "frame": .001}, contact={"thickness": 0})
        made["bodies"][1].update(rigid={"mass": 3, "pieces": pieces}, angular_velocity=[3, 5, -2])
        write(folder, "start.json", made)
        run(folder, "start.json", f"start{pieces:d}")
        with open(os.path.join(folder, f"start{pieces:d}", "energy.csv")) as file:
            first[pieces] = {key: float(value) for key, value in next(csv.DictReader(file)).items()}
    for key in ("kinetic", *(f"{what}_{axis}" for what in ("momentum", "angular_momentum") for axis in "xyz")):
        a, b = first[False][key], first[True][key]
        expect(abs(a - b) < 1e-12 * first[False]["kinetic"], f"start: {key} {a:.9g}, of pieces {b:.9g}")
    expect(abs(first[True]["momentum_y"] + 6) < 1e-12, "start: 3 kg at 2 m/s")


def main():
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "bodies.json", scene(False))
        write(folder, "pieces.json", scene(True))
        start(folder)
        if sys.argv[1:] != ["implicit"]:
            asynchronous(folder)
        implicit(folder)
    print("\n".join(failures))
    sys.exit(1 if failures else 0)


main()
