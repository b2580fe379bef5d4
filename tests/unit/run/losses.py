#!/usr/bin/env python3
"""losses.py: energy.csv tells what was dissipated by which cause.  A scene with one cause has all of it in that column; the four add up; other numbers
of ranks and a run that was killed and goes on have the same bits; a folder that an older version began keeps its columns.

A failure means that an engineer who asks where the energy went gets a wrong answer."""
import csv
import json
import os
import subprocess
import sys
import tempfile

TACTUS = os.environ["TACTUS"]
CAUSES = ("friction", "restitution", "damping", "plasticity")


def must(true, text):
    if not true:
        sys.exit(text)


def tactus(*words, ranks=1, code=0):
    command = ([] if ranks == 1 else ["mpirun", "-q", "--bind-to", "none", "-n", str(ranks)]) + [TACTUS] + [str(w) for w in words]
    done = subprocess.run(command, capture_output=True, text=True)
    must(done.returncode == code, "%s: %d instead of %d\n%s%s" % (" ".join(command), done.returncode, code, done.stdout, done.stderr))
    return done.stdout


def scene(name, friction=0, restitution=1, stretch={}, end=0.1):
    """A small cloth is pulled at two corners, over a plate it lies on."""
    value = {
        "format": "tactus-scene/1", "time": {"end": end, "frame": 0.01}, "gravity": [0, -9.81, 0],
        "contact": {"thickness": 0.004, "stiffness": 50, "friction": friction, "restitution": restitution},
        "materials": {"cloth": {"density": 0.2, "stretch": {"model": "cst", "stiffness": 60, "poisson": 0.3, **stretch}}},
        "bodies": [{"name": "sheet", "material": "cloth", "mesh": {"kind": "grid", "size": [0.1, 0.1], "cells": [5, 5]}, "position": [0, 0.006, 0]},
                   {"name": "plate", "fixed": True, "mesh": {"kind": "grid", "size": [0.3, 0.3], "cells": [2, 2]}}],
        "motions": [{"body": "sheet", "vertices": [0, 5], "path": [[0, [0, 0, 0]], [0.1, [0, 0, -0.02]]]}]}
    with open(name, "w") as file:
        json.dump(value, file)
    return name


def rows(folder):
    with open(folder + "/energy.csv") as file:
        return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]


def one_cause(cause, **options):
    tactus("run", scene(cause + ".json", **options), "-o", cause + ".run", "--quiet")
    last = rows(cause + ".run")[-1]
    must(last["dissipated"] != 0 and last["dissipated_" + cause] == last["dissipated"], "%s alone: %s" % (cause, last))
    must(all(last["dissipated_" + other] == 0 for other in CAUSES if other != cause), "%s alone, and another took something: %s" % (cause, last))


def main():
    one_cause("friction", friction=0.5)
    one_cause("restitution", restitution=0)
    one_cause("damping", stretch={"damping": 0.001})
    one_cause("plasticity", stretch={"yield": 0.01})

    everything = scene("all.json", friction=0.5, restitution=0, stretch={"damping": 0.001, "yield": 0.01})
    tactus("run", everything, "-o", "all.run", "--quiet")
    for row in rows("all.run")[1:]:
        parts = [row["dissipated_" + cause] for cause in CAUSES]
        must(abs(sum(parts) - row["dissipated"]) <= 1e-15 * sum(map(abs, parts)), "the causes do not add up: %s" % row)
    must(all(row["dissipated_" + cause] > 0 for cause in CAUSES), "a cause took nothing: %s" % row)

    # Three ranks; a stop in the middle of a frame, and on with two.
    tactus("run", everything, "-o", "three.run", "--quiet", "--until", "0.053", ranks=3)
    tactus("run", "--restart", "three.run", "--quiet", ranks=2)
    must("none differs" in tactus("diff", "all.run", "three.run", "--all-frames"), "ranks")
    # A last frame between two frames whose row the checkpoint alone knows.
    tactus("run", everything, "-o", "cut.run", "--quiet", "--until", "0.0537")
    with open("cut.run/energy.csv") as file:
        text = file.read()
    with open("cut.run/energy.csv", "w") as file:
        file.write(text[:text[:-1].rindex("\n") + 1])
    tactus("run", "--restart", "cut.run", "--quiet", "--until", "0.0537")
    must(open("cut.run/energy.csv").read() == text, "the row that a kill lost comes back different")
    # Rows whose new columns were cut off are damage, like any other.
    tactus("run", everything, "-o", "old.run", "--quiet", "--until", "0.05", "--set", "output.checkpoint_keep=1")
    with open("old.run/energy.csv") as file:
        lines = [line.split(",")[:22] for line in file.read().splitlines()]
    with open("old.run/energy.csv", "w") as file:
        file.write("".join(",".join(line) + "\n" for line in lines))
    reported = subprocess.run([TACTUS, "run", "--restart", "old.run", "--quiet"], capture_output=True, text=True)
    must(reported.returncode == 2 and "is not what was written" in reported.stderr, "a row that was cut is taken: %s" % reported.stderr)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
