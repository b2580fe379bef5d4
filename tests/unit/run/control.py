#!/usr/bin/env python3
"""control.py STEPPER: a scene that changes in mid-run gives the same bits on any number of ranks, by any way of finding contacts,
and across a checkpoint; what is refused changes nothing; the book of energy holds.

A failure means that what a host changes between steps is not a function of the changes alone."""
import os
import sys
import tempfile

from stepping import SOURCE, STEPPER, TACTUS, expect_equal, run, state

BEFORE = ["to", 0.03, "set", "gravity=[0,-3,1]", "to", 0.04,
          # pressures that cancel, but whose stiffness shortens the periods of elements and of their dampers
          "set", "loads.0.pressure=1005", "set", "loads.3.pressure=-1000", "random", 7, 0.05,
          "set", "motions.0.path=[[0.06,[0,-0.06,0.01]],[0.1,[0,-0.05,0]]]",
          "set", "motions.1.rotate.path=[[0.09,200],[0.12,190]]",
          "set", "motions.2.path=[[0.055,[0,0,0]],[0.07,[0,0.01,0]]]",
          # where gravity, springs and triangles tick
          "to", 0.0625, "row", "set", "gravity=[0,-5,1]", "row", "to", 0.065,
          "set", "contact.friction=0", "set", "contact.pairs.0.friction=0", "set", "contact.restitution=0.9",
          "set", "loads.1.drag=400", "contacts", "row"]
AFTER = ["to", 0.066, "set", "loads.1.drag=0.1", "set", "loads.0.pressure=5", "set", "loads.3.pressure=0", "to", 0.07,
         "set", "contact.friction=0.5", "contacts", "set", "loads.2.force=[0,0.01,0]", "set", "loads.0.path=[[0.08,1],[0.09,-1]]",
         "to", 0.1, "row", "hash"]
REFUSED = ["try", "loads.0.pressure=1e12", "try", "motions.0.path=[[0.01,[0,0,0]]]", "try", "contact.thickness=0.1",
           "try", "contact.restitution=1", "try", "loads.0.wind=[1,0,0]", "try", "motions.1.path=[[1,[0,0,0]]]", "try", "gravity=[0,-1e30,0]",
           "try", "motions.0.path=[[0.07,[0,0,0]],[0.07001,[1e8,0,0]]]", "try", "motions.1.rotate.path=[[0.07,0],[0.07001,1e12]]"]


def reported(text, word):
    return [line for line in text.splitlines() if line.startswith(word + " ")]


def main():
    scene = SOURCE + "/tests/unit/run/scenes/changing.json"
    whole = run([STEPPER, scene] + BEFORE + AFTER + ["dump", "one"])
    row = reported(whole, "row")[-1].split()
    defect, total = float(row[-1]), float(row[4])
    if abs(defect) > 0.02 * abs(total):
        sys.exit("the book of energy does not hold: " + " ".join(row))
    # A change books what it gives to the energy, at an instant of kicks too.
    before, after = ([float(x) for x in line.split()[2::2]] for line in reported(whole, "row")[:2])
    if before[0] != after[0] or abs(before[1] - after[1]) < 1e-3 or abs(before[-1] - after[-1]) > 1e-12:
        sys.exit("a change of gravity is not booked: %s, %s" % (before, after))
    if min(int(line.split()[1]) for line in reported(whole, "contacts")) == 0:
        sys.exit("the scene has no contacts to test with: " + whole)
    for ranks, mode, environment in ((2, "speculate", {"TACTUS_TEST_MIGRATE": "5"}), (3, "kds", {}), (1, "all-pairs", {})):
        name = "%s-%d" % (mode, ranks)
        text = run([STEPPER, scene, "--set", "discovery.mode=" + mode] + BEFORE + AFTER + ["dump", name], ranks, **environment)
        expect_equal(state("one"), state(name), name)
        for word in ("row", "hash", "contacts"):
            if reported(text, word) != reported(whole, word):
                sys.exit("%s: %s and not %s" % (name, reported(text, word), reported(whole, word)))

    # Across a checkpoint, from two ranks to one; with refusals on the way.
    run([STEPPER, scene] + BEFORE + REFUSED + ["save", "saved"], 2)
    for ranks in (1, 2):
        name = "restored-%d" % ranks
        text = run([STEPPER, "@saved"] + (REFUSED if ranks == 1 else []) + ["contacts"] + AFTER + ["dump", name], ranks)
        expect_equal(state("one"), state(name), name)
        for word, last in (("hash", 1), ("row", 1), ("contacts", 2)):
            if reported(text, word)[-last:] != reported(whole, word)[-last:]:
                sys.exit("%s: %s" % (name, text))
    # The old scene file is another scene than the checkpoint's.
    text = run([TACTUS, "run", scene, "--restart", "saved", "-o", "no.run", "--until", 0.1], code=2)
    if "in the scene that the checkpoint is of" not in text or os.path.exists("no.run"):
        sys.exit("the old scene was not refused by the key that differs: " + text)
    run([TACTUS, "run", "--restart", "saved", "-o", "yes.run", "--until", 0.07, "--quiet"])
    print("control: equal")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
