#!/usr/bin/python3
"""How many reflections and contacts do discs take that fall, and how long?  (Smith et al. 2012, Table 2.)

    jobs/experiments/impact/discs.py drop|drum|gas|heap|pile [--side N] [--end S] [--step S] [--limit S] [--ranks N] [--set PATH=VALUE ...]

drop   a square of N x N discs at rest falls into a round drum of segments, as in the paper, with restitution 1
drum   the same in a drum that they nearly fill
gas    N x N discs far from each other, without gravity
heap   the drop with restitution .5 and friction .3, until the discs rest
pile   N rows of N discs in a box, as near as they can be packed but for a hundredth of a radius, with the law of the heap

--limit stops a run after so many seconds of wall time.  Prints the mean and the largest number, over the steps, of reflections, rows and iterations, the seconds of the impact operators,
and the largest defect of the energy over its range.  --set is for the scene, as that of tactus run.
"""
import argparse
import csv
import json
import math
import os
import subprocess
import tempfile

TACTUS = os.environ.get("TACTUS", "tactus")


def pile(n):
    """Discs in rows that lie in the gaps of those below, and a box of segments around them."""
    where = [[2.02 * i + 1.01 * (j % 2), 1.75 * j, 0] for j in range(n) for i in range(n)]
    left, right, top = -1.03, 2.02 * (n - .5) + 1.03, 1.75 * n + 5
    return where, [[left, top, 0], [left, -1.03, 0], [right, -1.03, 0], [right, top, 0]]


def make(kind, n, end, step, spacing=None):
    """spacing: of the discs in their grid; with 2.02 or less they touch from the start."""
    spacing = spacing or {"gas": 4.}.get(kind, 2.04)
    half = (n - 1) / 2
    where = [[(i - half) * spacing, (j - half) * spacing, 0] for i in range(n) for j in range(n)]
    far = {"drop": 1.3, "gas": 1.2}.get(kind, 1.1) * (half + 1) * spacing * math.sqrt(2)
    sides = max(64, int(far))
    drum = [[far * math.sin(2 * math.pi * k / sides), -far * math.cos(2 * math.pi * k / sides), 0] for k in range(sides)]
    if kind == "pile":
        where, drum = pile(n)
    discs = {"name": "discs", "mass": 1, "radius": 1, "mesh": {"kind": "points", "vertices": where}}
    if kind == "gas":
        discs.update(random_speed=[0, 20], seed=1)
    contact = {"thickness": 0.02, "restitution": 1}
    if kind in ("heap", "pile"):
        contact.update(restitution=.5, friction=.3)
    return {"format": "tactus-scene/1", "time": {"end": end, "frame": step * max(1, round(end / step / 20))},
            "gravity": [0, 0 if kind == "gas" else -9.81, 0], "contact": contact, "integrator": {"kind": "impact", "step_s": step},
            "bodies": [discs, {"name": "drum", "fixed": True, "mesh": {"kind": "segments", "vertices": drum, "closed": kind != "pile"}}]}


def tell(folder):
    with open(os.path.join(folder, "steps.csv")) as file:
        steps = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]
    with open(os.path.join(folder, "energy.csv")) as file:
        energy = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]
    print("%d steps, to t = %g s" % (len(steps), steps[-1]["time"]))
    print("%-18s %12s %12s" % ("of a step", "mean", "largest"))
    for name in ("reflections", "rounds", "rows", "island", "iterations", "seconds_operator", "seconds"):
        values = [row[name] for row in steps]
        print("%-18s %12.6g %12.6g" % (name, sum(values) / len(values), max(values)))
    print("corrections %d, jammed %d, halvings %d" % tuple(sum(row[k] for row in steps) for k in ("corrections", "jammed", "halvings")))
    scale = max(max(abs(row["kinetic"]), abs(row["gravity"])) for row in energy)
    print("defect %.3g of the energy; kinetic energy at the end %.3g J of %.3g J" %
          (max(abs(row["defect"]) for row in energy) / scale, energy[-1]["kinetic"], scale))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("drop", "drum", "gas", "heap", "pile"))
    parser.add_argument("--side", type=int, default=101)
    parser.add_argument("--end", type=float, default=5)
    parser.add_argument("--step", type=float, default=.01)
    parser.add_argument("--limit", type=float)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--set", action="append", default=[])
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scene, out = os.path.join(folder, "scene.json"), os.path.join(folder, "out")
        with open(scene, "w") as file:
            json.dump(make(words.kind, words.side, words.end, words.step), file)
        start = ["mpirun", "-n", str(words.ranks)] if words.ranks > 1 else []
        sets = [part for assignment in words.set for part in ("--set", assignment)]
        run = subprocess.Popen(start + [TACTUS, "run", scene, "-o", out, "--quiet", *sets])
        try:
            run.wait(words.limit)
        except subprocess.TimeoutExpired:
            run.terminate()
            run.wait()
        print("%s, %d discs, %g s by %g s, exit code %d" % (words.kind, words.side ** 2, words.end, words.step, run.returncode))
        tell(out)


if __name__ == "__main__":
    main()
