#!/usr/bin/python3
"""recipes.py: the scenes of docs/tutorials/rubber-gasket.md and docs/how-to/measure-forces.md do what the pages say: both plates of the press
feel the same force over the same stroke, and the capstan holds exp(0.3 pi) N.  If it failed, a new user's first scene would mislead."""
import csv
import math
import os
import subprocess
import sys
import tempfile

TACTUS, SOURCE = os.environ["TACTUS"], os.environ["TACTUS_SOURCE"]
failures = []


def expect(condition, *what):
    if not condition:
        failures.append(what)
        print("FAILS:", *what, file=sys.stderr)


def column(folder, name, key):
    with open(folder + "/histories.csv") as file:
        return [float(row[key]) for row in csv.DictReader(file) if row["name"] == name]


with tempfile.TemporaryDirectory() as home:
    os.chdir(home)
    for name in ("press", "capstan"):
        done = subprocess.run([TACTUS, "run", SOURCE + "/docs/examples/%s.json" % name, "-o", name + ".run", "--quiet"], stderr=subprocess.PIPE, text=True)
        expect(done.returncode == 0 and done.stderr == "", name, done.stderr)
    top, under, stroke = (column("press.run", *words) for words in (("press", "force_y"), ("under", "force_y"), ("press", "stroke")))
    middle = len(top) // 2
    expect(abs(stroke[middle] - 0.002) < 1e-12 and stroke[-1] == 0, "stroke", stroke[middle], stroke[-1])
    # E A strain, more for the rubber that cannot go sideways less what the gaps take: some 160 to 200 N.
    expect(150 < -top[middle] < 220 and abs(top[middle] + under[middle]) < 0.01 * under[middle], "the plates", top[middle], under[middle])
    pull = column("capstan.run", "pull", "force_y")
    expect(all(abs(-f / math.exp(0.3 * math.pi) - 1) < 0.01 for f in pull[5:]), "the capstan", pull)
print("recipes.py: %d failures; capstan %.4f N of %.4f, press %.1f N" % (len(failures), -pull[-1], math.exp(0.3 * math.pi), -top[middle]))
sys.exit(1 if failures else 0)
