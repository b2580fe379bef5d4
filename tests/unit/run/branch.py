#!/usr/bin/env python3
"""branch.py STEPPER: a run that is branched from a checkpoint (--restart --branch --set) has the bits of a simulation that a program changes
there, on any number of ranks and across a restart of its own; what is refused leaves no folder; run.json tells where it is from.

A failure means that 'settle, then pull' gives something else on another number of ranks, or that nobody can say later what was run."""
import csv
import glob
import json
import os
import re
import shutil
import sys
import tempfile

from stepping import SOURCE, STEPPER, TACTUS, run

CHANGES = ["contact.friction=0", "gravity=[0,-5,1]", "motions.2.path=[[0.055,[0,0,0]],[0.07,[0,0.01,0]]]", "loads.1.drag=400"]
SET = [word for change in CHANGES for word in ("--set", change)]


def branch(folder, ranks=1, *options, code=0, parent="settled.run", sets=SET):
    return run([TACTUS, "run", "--restart", parent, "--branch", "-o", folder, "--quiet"] + sets + list(options), ranks, code=code)


def must(true, text):
    if not true:
        sys.exit(text)


def equal(a, b, *options):
    run([TACTUS, "diff", a, b] + list(options))


def read(path):
    with open(path) as file:
        return json.load(file)


def main():
    run([TACTUS, "run", SOURCE + "/tests/unit/run/scenes/changing.json", "-o", "settled.run", "--until", 0.05, "--quiet"])
    parent = read("settled.run/run.json")
    must(parent["branch"] is None, "a run without a branch tells of one")
    branch("one.run", 1, "--set", "time.end=0.1")
    for ranks, mode in ((2, "speculate"), (3, "kds")):
        branch("ranks-%d.run" % ranks, ranks, "--set", "time.end=0.1", "--discover", mode)
        equal("one.run", "ranks-%d.run" % ranks, "--all-frames")

    # A program that changes the same at the same time: the same state at the end.
    steps = [word for change in CHANGES for word in ("set", change)]
    run([STEPPER, "@settled.run"] + steps + ["to", 0.1, "save", "stepped"])
    text = run([TACTUS, "diff", "stepped/checkpoint-000001.h5", "one.run/checkpoint.h5"], code=1) # impulses since the last frame are summed otherwise
    for what in ("mass", "position", "velocity", "clock", "motion", "last", "elements", "friction", "sums"):
        must(re.search(r"^  %s +[1-9]\d* values, none differs$" % what, text, re.M), "%s differs from the program's: %s" % (what, text))
    # And without a change it is another one.
    run([TACTUS, "run", "--restart", "settled.run", "-o", "plain.run", "--set", "time.end=0.1", "--quiet"])
    run([TACTUS, "diff", "plain.run", "one.run"], code=1)

    # It is stopped and goes on like any run, and still knows where it is from.
    branch("stopped.run", 2, "--set", "time.end=0.1", "--until", "0.07", "--record")
    run([TACTUS, "run", "--restart", "stopped.run", "--quiet", "--record"])
    equal("one.run", "stopped.run", "--all-frames")
    for folder in ("one.run", "stopped.run"):
        reported = read(folder + "/run.json")["branch"]
        must(reported["parent"] == os.path.realpath("settled.run/checkpoint.h5") and reported["set"] == CHANGES and abs(reported["time"] - 0.05) < 1e-9
             and reported["parent_scene_sha256"] == parent["scene_sha256"] != read(folder + "/run.json")["scene_sha256"], "%s tells %s" % (folder, reported))
        must(read(folder + "/scene.json")["contact"]["friction"] == 0, "scene.json is of the old scene")
    rows = list(csv.DictReader(open("one.run/energy.csv")))
    must(float(rows[0]["time"]) > 0.05 and abs(float(rows[-1]["defect"])) < 0.02 * abs(float(rows[-1]["total"])), "the book of energy: %s" % rows[-1])
    # A branch of a branch; a plain run in its place is no branch.
    branch("second.run", 1, "--until", "0.075", parent="stopped.run/checkpoint-000001.h5", sets=["--set", "gravity=[0,0,0]"])
    must(read("second.run/run.json")["branch"]["set"] == ["gravity=[0,0,0]"], "a branch of a branch")
    run([TACTUS, "run", SOURCE + "/tests/unit/run/scenes/changing.json", "-o", "second.run", "--until", 0.01, "--quiet", "--overwrite"])
    must(read("second.run/run.json")["branch"] is None and not os.path.exists("second.run/branch.json"), "the old branch.json stays")

    # What is refused: one sentence, no folder.
    later = ["--set", "time.end=0.1"]
    for ranks, words, sets in ((2, "cannot change while", ["--set", "contact.thickness=1"] + later), (1, "changes nothing", later), (1, "where the scene ends", SET + ["--set", "time.end=0.05"]),
                               (3, "loads[0].pressure: must be", ["--set", "loads.0.pressure=soon"] + later)):
        said = branch("refused.run", ranks, code=2, sets=sets)
        must(words in said and not os.path.exists("refused.run"), "%s: %s" % (sets, said))
    said = branch("one.run", 1, code=2)
    must("already holds a run" in said, said)
    # From an earlier checkpoint than the newest only where it is named.
    shutil.copytree("settled.run", "damaged.run")
    whole = sorted(glob.glob("damaged.run/checkpoint-*.h5"))[-1]
    with open("damaged.run/checkpoint-900000.h5", "wb") as file:
        file.write(b"no checkpoint")
    for ranks in (1, 2):
        said = branch("refused.run", ranks, code=2, parent="damaged.run", sets=SET + later)
        must("name it: --restart '%s'" % whole in said and not os.path.exists("refused.run"), said)
    branch("named.run", parent=whole, sets=SET + later)
    said = run([TACTUS, "run", "--restart", "settled.run", "-o", "refused.run"] + SET + later, code=2)
    must("--branch" in said and not os.path.exists("refused.run"), "without --branch: " + said)
    for words in (["--branch", "-o", "x.run"] + SET, ["--restart", "settled.run", "--branch"] + SET, ["--restart", "settled.run", "--branch", "-o", "x.run"]):
        must("--branch needs" in run([TACTUS, "run"] + words, code=2), str(words))
    print("branch: equal")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
