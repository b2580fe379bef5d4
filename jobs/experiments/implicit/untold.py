#!/usr/bin/python3
"""untold.py [bolt] [turntable]: by how much what is not told of two rigid scenes of the literature changes their iterations and contacts.

The turntable and the bolt of published.py take other numbers of Newton iterations and contacts than the published ones, whose shapes,
sizes and lengths of time are not told. Here each is run with other ones: a block of half the size, friction smoothed over more, a table that
stands still; a bolt that fits tighter, or weighs less and so goes slower. Prints Newton iterations per step, those of steps in which something
touches and of the others, iterations in each fifth of the steps, and distinct contacts (mean, most). --small: some steps; --only: cases with a text in their names. If it fails (code 1), a run ended early."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import published
import stiff

CASES = {
    "turntable": [("friction %g, a block of %g m" % (friction, size), {"friction": friction, "size": size}) for friction in (0, .1, .5, 1) for size in (.2, .1)] +
                 [("friction 1, smoothed under %g m/s" % velocity, {"friction": 1, "velocity": velocity}) for velocity in (1e-4, 1e-3, 1e-2)] +
                 [("friction 1, tolerance a hundred times as large", {"friction": 1, "part": 1e-2}), ("friction 1, the table stands still", {"friction": 1, "turns": False})],
    "bolt": [("play of %g mm" % (1e3 * play), {"play": play}) for play in (4e-4, 3e-4, 2e-4, 1e-4)] +
            [("gravity times 1/%d" % (1 / weight), {"weight": weight}) for weight in (1 / 4, 1 / 16)],
}
MAKE = {"turntable": stiff.turntable, "bolt": stiff.bolt}


def mean(of):
    return "%.2f" % (sum(of) / len(of)) if of else "none"


def measure(folder, name, what, keys, small):
    path, out = os.path.join(folder, "scene.json"), os.path.join(folder, "run")
    with open(path, "w") as file:
        json.dump(MAKE[name](folder, small, **keys), file)
    done = subprocess.run([published.PROGRAM, "run", path, "-o", out, "--overwrite", "--quiet"])
    steps = published.rows(os.path.join(out, "steps.csv"))
    counted = published.frames(out)[2]
    newton, touches = [int(s["newton"]) for s in steps], [int(s["contacts"]) > 0 for s in steps]
    n = len(newton)
    fifths = ", ".join(mean(newton[k * n // 5:(k + 1) * n // 5]) for k in range(5))
    print("| %s, %s | %s | %s, %s | %d of %d | %s | %s, %d |" % (
        name, what, mean(newton), mean([k for k, on in zip(newton, touches) if on]), mean([k for k, on in zip(newton, touches) if not on]), sum(touches), n,
        fifths, mean(counted), max(counted)), flush=True)
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scene", nargs="*", choices=[[], *CASES], default=[])
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--only", default="", help="cases with this text in their names")
    given = parser.parse_args()
    print("| scene | Newton per step | touching, free | steps that touch | each fifth | distinct contacts: mean, most |\n|" + "---|" * 6)
    with tempfile.TemporaryDirectory() as folder:
        return not all([measure(folder, name, *case, given.small) for name in given.scene or CASES for case in CASES[name]
                        if given.only in case[0]])


if __name__ == "__main__":
    sys.exit(main())
