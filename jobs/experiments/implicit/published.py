#!/usr/bin/python3
"""published.py [SCENE ...]: scenes of incremental potential contact's literature, built anew, beside its figures.

Scenes, steps, thicknesses and stiffnesses are those of Ferguson 2023, chapter 2; shapes are our own where his are not told (literature.py).
Those whose names begin with "rigid" are of his chapter 4 (stiff.py).
Prints Newton iterations per step and contacts (mean and most) of both, processor seconds per step on one core, and whether the audit
proves the run. Contacts are counted twice: as the program has them, every pair, and, as the literature counts, those with the same
nearest points once. --list: names; --small: meshes and times that take seconds; --most-steps N: end after N steps, and say so; --keep DIR:
keep the run folders there; --no-audit; --velocity-only: end a step by the velocity tolerance alone, as the literature does (force_tol 0), without
the balance of forces that this program asks for by default. The figures of docs/reference/implicit.md are its own. What it shows if it fails: a step converges worse than
the literature's, or a contact was let through."""
import argparse
import csv
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

import h5py

import literature as of
import shapes
import stiff

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.abspath(os.environ.get("TACTUS", os.path.join(HERE, "..", "..", "..", "build", "tactus")))
UNKNOWN = float("nan")


def with_step(h, *figures):
    return (lambda folder, small: of.rods(folder, small, h), *figures)


# name: (scene, iterations per step, contacts mean, most, seconds per step: of the literature)
SCENES = {
    "tets": (of.two_tets, 2.3, 0, 6, .0014),
    "corner": (of.corner, 3.9, 5, 21, .002),
    "cubes": (of.cubes, 3.25, 8, 69, .006),
    "knives": (of.knives, 5.5, 291, 472, 1.4),
    "chain5": (lambda d, s: of.chain(d, s, 5, 1e5, 1000), 4.3, 185, 260, .2),
    "chain35": (lambda d, s: of.chain(d, s, 35, 1e7, 1000), 2.6, 1700, 2500, 1.1),
    "chain100": (lambda d, s: of.chain(d, s, 100, 1e7, 500), 2.4, 40000, 53000, 4.0),
    "golf": (of.golf, 9.3, 1000, 4000, 12.1),
    "rods.002": with_step(.002, 2.12, 137, 430, .29),
    "rods.01": with_step(.01, 2.65, 269, 707, .38),
    "rods.025": with_step(.025, 2.69, 435, 1000, .38),
    "rods.1": with_step(.1, 4.75, 597, 1300, .73),
    "rods.5": with_step(.5, 100.58, 653, 1400, 11.39),
    "rods2": with_step(2, 522, 843, 1300, 52.02),
    "cards": (lambda d, s: of.cards(d, s, .2), 1.2, 1300, 1400, .4),
    "cards-fall": (lambda d, s: of.cards(d, s, .1), 8.9, 7000, 10000, 2.4),
    "octopus": (of.octopus, 16.9, 793, 34000, 12.8),
    "ball10": (lambda d, s: of.tunnel(d, s, 10), 12.1, 1, 62, 4.7),
    "ball100": (lambda d, s: of.tunnel(d, s, 100), 14.4, 4, 297, 6.2),
    "ball1000": (lambda d, s: of.tunnel(d, s, 1000), 19.5, 10, 876, 8.2),
    "twist20": (lambda d, s: of.twist(d, s, 20, 2), UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN),
    "twist40": (lambda d, s: of.twist(d, s, 40, 10), 7.6, 2000, 4600, 1.3),
    "twist100": (lambda d, s: of.twist(d, s, 100, 10), UNKNOWN, UNKNOWN, UNKNOWN, 9.6),
    "twist127": (lambda d, s: of.twist(d, s, 127, 10), UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN),
    "arch": (lambda d, s: of.arch(d, s, .5), 5.7, 101, 118, .05),
    "rigid-arch": (stiff.arch, 2.1, 649, 695, .21),
    "rigid-lewis": (stiff.lewis, 2.7, 50, 55, .02),
    "rigid-table0": (lambda d, s: stiff.turntable(d, s, 0), 2.3, 9, 15, .004),
    "rigid-table.1": (lambda d, s: stiff.turntable(d, s, .1), 2.9, 2, 13, .003),
    "rigid-table.5": (lambda d, s: stiff.turntable(d, s, .5), 5.9, 7, 14, .01),
    "rigid-table1": (lambda d, s: stiff.turntable(d, s, 1), 9.1, 10, 10, .01),
    "rigid-cards": (stiff.cards, 162, 78, 204, 3.2),
    "rigid-piston": (stiff.piston, 9.9, 370, 1000, 1.5),
    "rigid-wrecking": (stiff.wrecking_ball, 17.1, 4000, 14000, 4.8),
    "rigid-anchor": (stiff.anchor, 21.4, 267, 1000, 3.0),
    "rigid-bolt": (stiff.bolt, 8.3, 332, 759, 3.5),
    "rigid-net": (stiff.net, 130, 2000, 2000, 20.5),
    "rigid-coin": (stiff.coin, 3.8, 12, 84, .01),
    "arch-falls": (lambda d, s: of.arch(d, s, .2), UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN),
}


def rows(path):
    with open(path) as file:
        return list(csv.DictReader(file))


def frames(out):
    """Vertices, tetrahedra, and the distinct contacts of each frame but the first."""
    with h5py.File(os.path.join(out, "frames.h5")) as file:
        keys = sorted(file["frames"])
        mesh = file["mesh"]
        tets = len(mesh["tetrahedra"]) if "tetrahedra" in mesh else 0
        return len(file["frames"][keys[0]]["position"]), tets, [shapes.distinct(file["frames"][k]) for k in keys[1:]] or [0]


def measure(folder, name, given):
    make, its, contacts, most, cost = SCENES[name]
    made = make(folder, given.small)
    if given.velocity_only:
        made["integrator"]["newton"] = {**made["integrator"].get("newton", {}), "force_tol": 0}
        made["name"] += ", by velocity alone"
    path, out = os.path.join(folder, name + ".json"), os.path.join(folder, name + ".run")
    with open(path, "w") as file:
        json.dump(made, file)
    until = min(made["time"]["end"], given.most_steps * made["integrator"]["step_s"])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([PROGRAM, "run", path, "-o", out, "--overwrite", "--quiet", "--record", "--until", repr(until)])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    steps = rows(os.path.join(out, "steps.csv"))
    if not steps:
        print("| %s | 0 | ended with code %d |" % (made["name"], done.returncode), flush=True)
        return False
    verdict, good = "not asked", True
    if not given.no_audit:
        words = [PROGRAM, "audit", out, "--until", repr(min(until, float(steps[-1]["time"])))]
        audit = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        good = audit.returncode == 0
        verdict = "proven" if good else "NOT PROVEN: " + re.sub(r"\s+", " ", audit.stdout)[-200:]
    vertices, tets, counted = frames(out)
    newton = [int(s["newton"]) for s in steps]
    touching = [int(s["contacts"]) for s in steps]
    print("| %s | %d/%d | %d to %.4g s | %.2f, %d (%.3g) | %.0f | %.0f, %d | %.0f, %d (%.4g, %.4g) | %.3g (%.3g) | %.2g | %s |" % (
        made["name"], vertices, tets, len(steps), float(steps[-1]["time"]), sum(newton) / len(steps), max(newton), its,
        sum(int(s["linear"]) for s in steps) / sum(newton), sum(touching) / len(steps), max(touching),
        sum(counted) / len(counted), max(counted), contacts, most, (after.ru_utime - before.ru_utime) / len(steps), cost,
        min([float(s["min_distance"]) for s in steps if float(s["min_distance"]) > 0], default=UNKNOWN),
        "ended with code %d, " % done.returncode * (done.returncode != 0) + verdict), flush=True)
    return done.returncode == 0 and good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scene", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--no-audit", action="store_true")
    parser.add_argument("--velocity-only", action="store_true")
    parser.add_argument("--keep")
    parser.add_argument("--most-steps", type=int, default=10 ** 9)
    given = parser.parse_args()
    if given.list:
        print("\n".join(SCENES))
        return 0
    print("| scene | nodes/tets | steps | Newton per step: mean, most (literature's) | linear per Newton | pairs: mean, most "
          "| distinct contacts: mean, most (literature's) | processor s per step | smallest distance, m | audit |")
    print("|---" * 10 + "|")
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.keep or scratch
        os.makedirs(folder, exist_ok=True)
        return not all([measure(folder, name, given) for name in given.scene or SCENES])


if __name__ == "__main__":
    sys.exit(main())
