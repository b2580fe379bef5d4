#!/usr/bin/python3
"""volume.py PROGRAM SCENE: an element that was added by one file and one line of a table (volume.c, with_volume.c).

PROGRAM has it, $TACTUS has not. If this failed, some part of the program would still know its elements by name: ticks,
periods, energies, ranks, restarts, kinetic structures, reports or keys of scenes.
"""
import csv
import json
import os
import subprocess
import sys
import tempfile

PROGRAM, SCENE = sys.argv[1:3]
wrong = []


def check(condition, text):
    if not condition:
        wrong.append(text)


def call(program, *arguments, ranks=1, code=0):
    launch = ["mpirun", "-q", "--bind-to", "none", "-n", str(ranks)] if ranks > 1 else []
    done = subprocess.run(launch + [program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=600)
    check(done.returncode == code, "%s: exit code %d instead of %d: %s"
          % (" ".join(arguments), done.returncode, code, done.stdout[-600:]))
    return done.stdout


def rows(folder):
    with open(os.path.join(folder, "energy.csv")) as f:
        return [{key: float(value or "nan") for key, value in row.items()} for row in csv.DictReader(f)]


def moved(table, names):
    return max(abs(row[name] - table[0][name]) for row in table for name in names)


def test_conserved(folder):
    """Energy is kept, momenta to round-off, through the collision; and the tetrahedra do take part."""
    table = rows(folder)
    axes = "xyz"
    momentum = moved(table, ["momentum_" + a for a in axes])
    angular = moved(table, ["angular_momentum_" + a for a in axes])
    total, contact = table[0]["total"], max(row["contact"] for row in table)
    defect = max(abs(row["defect"]) for row in table) / total
    stretch = max(row["stretch"] for row in table) / total
    print("energy %.4g J: defect %.2g of it, at most %.2g in stretch and volume; contact %.2g J; momentum moves by %.2g "
          "N s, angular by %.2g N m s" % (total, defect, stretch, contact, momentum, angular))
    check(contact > 0, "the balls do not touch")
    check(defect < 4e-4 and stretch > .2, "defect %g, stretch %g" % (defect, stretch))
    check(momentum < 1e-13 and angular < 1e-13, "momenta move by %g and %g" % (momentum, angular))
    with open(os.path.join(folder, "run.json")) as f:
        ticks = json.load(f)["counters"]["committed"]
    print("ticks:", ticks)
    check(list(ticks) == ["gravity", "spring", "cst", "hinge", "penalty", "limit", "damping", "load", "volume"],
          "names of kinds: %s" % list(ticks))
    check(ticks["volume"] > 1000 and ticks["cst"] > 1000 and ticks["hinge"] == 0, "ticks: %s" % ticks)
    return ticks


def test_same_bits(one, ticks, place):
    """The same trajectory on two ranks, by the other way of discovery, and gone on with on another number of ranks."""
    for name, ranks, more in (("kds", 1, ["--discover", "kds"]), ("two", 2, []), ("both", 2, ["--discover", "kds"])):
        folder = os.path.join(place, name)
        call(PROGRAM, "run", SCENE, "-o", folder, "--quiet", *more, ranks=ranks)
        call(PROGRAM, "diff", one, folder, "--all-frames")
        with open(os.path.join(folder, "run.json")) as f:
            check(json.load(f)["counters"]["committed"]["volume"] == ticks["volume"], "%s: other ticks" % name)
    folder = os.path.join(place, "stopped")
    call(PROGRAM, "run", SCENE, "-o", folder, "--quiet", "--until", "0.078125")
    call(PROGRAM, "run", SCENE, "--restart", folder, "--quiet", ranks=2)
    call(PROGRAM, "diff", one, folder, "--all-frames")
    with open(os.path.join(folder, "run.json")) as f:
        check(json.load(f)["counters"]["committed"]["volume"] == ticks["volume"], "ticks of a restart")


def test_pushes(one, place):
    """Almost without the element's stiffness the balls fly otherwise."""
    folder = os.path.join(place, "soft")
    call(PROGRAM, "run", SCENE, "-o", folder, "--quiet", "--set", "materials.ball.volume.stiffness=1")
    apart = max(abs(a["stretch"] - b["stretch"]) for a, b in zip(rows(one), rows(folder)))
    print("stretch and volume differ by up to %.3g J from what they are without its stiffness" % apart)
    check(apart > .01, "the element hardly pushes")


def test_keys(one, place):
    """`check` tells of it; keys that the table does not know are refused by name, and so is a checkpoint by a program
    without the element."""
    text = call(PROGRAM, "check", SCENE, "--details")
    check(" volume" in text, "check does not tell of it: %s" % text)
    text = call(PROGRAM, "check", SCENE, "--set", "materials.ball.volume.stifness=1", code=2)
    check("materials.ball.volume" in text and "stifness" in text and "stiffness" in text, text)
    text = call(PROGRAM, "check", SCENE, "--set", "materials.ball.volume.stiffness=0", code=2)
    check("materials.ball.volume.stiffness" in text and "greater than 0" in text, text)
    text = call(PROGRAM, "check", SCENE, "--set", "materials.ball.volumes.stiffness=1", code=2)
    check("volumes" in text and "volume" in text, text)
    text = call(os.environ["TACTUS"], "check", SCENE, code=2)
    check("materials.ball" in text and "volume" in text, text)
    text = call(os.environ["TACTUS"], "run", "--restart", one, "-o", os.path.join(place, "none"), "--quiet", code=2)
    check("volume" in text, text)
    # What it says is part of what makes the trajectory.
    sha = [json.loads(call(PROGRAM, "check", SCENE, "--json", *more))["sha256"]
           for more in ([], ["--set", "materials.ball.volume.stiffness=3e5"])]
    check(sha[0] != sha[1], "the scene's hash does not know of the element")


with tempfile.TemporaryDirectory(prefix="tactus-volume-") as where:
    first = os.path.join(where, "one")
    call(PROGRAM, "run", SCENE, "-o", first, "--quiet")
    if not wrong:
        counts = test_conserved(first)
        test_same_bits(first, counts, where)
        test_pushes(first, where)
        test_keys(first, where)
for line in wrong:
    print("failed:", line)
sys.exit(1 if wrong else 0)
