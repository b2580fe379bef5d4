#!/usr/bin/python3
"""plot.py: jobs/plot finds the columns of all tables of a run, draws them as PNG and in the terminal, over time or over another column, and refuses
in one sentence what it does not know, with the list of what there is.  A failure means that somebody sees another curve than the run's, or none."""
import csv
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

TACTUS, SOURCE = os.environ["TACTUS"], os.environ["TACTUS_SOURCE"]
NAME = "it's $a$ \"sheet\""
SCENE = {"format": "tactus-scene/1", "time": {"end": 0.1, "frame": 0.01}, "gravity": [0, -9.81, 0], "contact": {"thickness": 0.004, "stiffness": 50},
         "units": {"length": "mm", "mass": "t", "time": "s"}, "integrator": {"kind": "implicit", "step_s": 0.005},
         "materials": {"cloth": {"density": 0.2, "stretch": {"model": "cst", "stiffness": 60, "poisson": 0.3}}},
         "bodies": [{"name": NAME, "material": "cloth", "position": [0, 0.125, 0], "mesh": {"kind": "grid", "size": [0.2, 0.2], "cells": [3, 3]}},
                    {"name": "drop", "mass": 0.001, "radius": 0.01, "position": [0.5, 0.02, 0], "mesh": {"kind": "points", "vertices": [[0, 0, 0]]}}],
         "motions": [{"body": NAME, "vertices": [0], "path": [[0, [0, 0, 0]], [0.1, [0, 0.01, 0]]]}],
         "output": {"reactions": True, "histories": [{"name": "press", "kind": "reaction", "body": NAME, "every": 0.01}, {"name": "all", "body": NAME, "every": 0.01},
                                                     {"name": "two", "body": NAME, "vertices": [3, 1], "each": True, "every": 0.02},
                                                     {"name": "out", "kind": "flux", "bodies": ["drop"], "every": 0.01, "plane": {"point": [0, 0, 0], "normal": [0, -1, 0]}}]}}


def must(true, text):
    if not true:
        sys.exit(text)


def plot(*arguments, code=0):
    done = subprocess.run([SOURCE + "/jobs/plot", *arguments], capture_output=True, text=True, env={**os.environ, "COLUMNS": "90", "LINES": "24"})
    must(done.returncode == code and (code == 0 or len(done.stderr.strip().split("\n")) == 1), "%s: %d\n%s%s" % (arguments, done.returncode, done.stdout, done.stderr))
    return done.stdout if code == 0 else done.stderr


def column(table, of, **where):
    with open("run/" + table) as file:
        return [float(row[of]) for row in csv.DictReader(file) if all(row[k] == v for k, v in where.items())]


def colours(path):
    """How many points of a picture are neither white nor grey."""
    pixels = np.asarray(Image.open(path).convert("RGB")).astype(int)
    return int((np.ptp(pixels, axis=2) > 60).sum()), pixels.shape


os.chdir(tempfile.mkdtemp(prefix="tactus-plot-"))
with open("scene.json", "w") as file:
    json.dump(SCENE, file)
subprocess.run([TACTUS, "run", "scene.json", "-o", "run", "--quiet"], check=True)  # a flux, reactions, histories, steps

# Keys and values: those of the tables.
sys.path.insert(0, SOURCE + "/jobs/lib")
spec = importlib.util.spec_from_file_location("plot", SOURCE + "/jobs/lib/plot.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
curves, units = module.read_run("run"), module.read_units("run")
must(plot("run", "--list").split("\n")[:-1] == list(curves), "--list")
for key, name, of, where in (("total", "energy.csv", "total", {}), ("steps.newton", "steps.csv", "newton", {}), ("reactions.%s.force_y" % NAME, "reactions.csv", "force_y", {"name": NAME}),
                             ("histories.press.stroke", "histories.csv", "stroke", {"name": "press"}), ("histories.two.3.position_y", "histories.csv", "position_y", {"name": "two", "vertex": "3"}),
                             ("histories.out.mass_forward", "histories.csv", "mass_forward", {"name": "out"})):
    must(curves[key] == (column(name, "time", **where), column(name, of, **where)) and len(curves[key][1]) > 5, "the curve of " + key)
must(max(curves["histories.out.mass_forward"][1]) == 0.001 and max(curves["histories.press.stroke"][1]) > 0.009, "nothing falls, or nothing moves")
must("histories.all.stroke" not in curves, "a column without numbers is there")
must([module.unit_of(k, units) for k in ("total", "steps.seconds", "histories.press.stroke", "reactions.a.moment_x", "contacts", "histories.out.mass_back", "momentum_y", "histories.a.velocity_x")]
     == [units["energy"], "s of wall time", "mm", units["force"] + " mm", "", "t", "t mm/s", "mm/s"], "units")
must(module.word_keys("histories", curves)[:3] == ["histories.press.force_" + c for c in "xyz"] and len(module.word_keys("histories", curves)) == 12, "histories: %s" % module.word_keys("histories", curves))
must(module.chosen(["dissipated*", "dissipated"], curves)[0] == "dissipated" and len(set(module.chosen([], curves))) == len(module.chosen([], curves)), "patterns")

# PNG: everything, then one column; more curves have more colour and more height.
must(plot("run") == "run/plot.png\n", "it does not say where the picture is")
plot("run", "kinetic", "-o", "one.png")
everything, one = colours("run/plot.png"), colours("one.png")
must(everything[0] > one[0] > 300 and everything[1][0] > 2 * one[1][0], "pictures: %s, %s" % (everything, one))
plot("run", "histories.press.force_y", "-x", "histories.press.stroke", "-o", "over.png")
must(colours("over.png")[0] > 300, "force over stroke")

# The terminal.
if shutil.which("gnuplot"):
    text = plot("run", "energies", "histories.out.mass_forward", "reactions.*.force_y", "--terminal")
    must(all(word in text for word in ("kinetic", "gravity", "histories.out.mass_forward", "[%s]" % units["energy"], "[t]", "time [s]", NAME)), text)
    must(text.count("***") > 5 and all(len(line) <= 90 for line in text.split("\n")), "curves:\n" + text)
done = subprocess.run([sys.executable, SOURCE + "/jobs/lib/plot.py", "run", "kinetic", "--terminal"], capture_output=True, text=True, env={"PATH": "/nowhere"})
must(done.returncode == 2 and "install gnuplot-nox" in done.stderr, "without gnuplot: " + done.stderr)

# What it does not know.
told = plot("run", "knetic", code=2)
must("'knetic' is no key of this run; it has kinetic, gravity" in told and "histories.press.stroke" in told and "flux" in told, told)
must("'nothing' is no key" in plot("run", "kinetic", "-x", "nothing", code=2), "-x")
must("at the same times" in plot("run", "steps.newton", "-x", "kinetic", code=2), "-x of another table")
must("no run folder" in plot(".", code=2) and "cannot write" in plot("run", "-o", "no/such/folder.png", code=3), "folders")
shutil.copytree("run", "half")
os.unlink("half/histories.csv")
must("the run has no flux" in plot("half", "flux", code=2), "a run without flux")
with open("half/energy.csv") as file:
    text = file.read()
with open("half/energy.csv", "w") as file:
    file.write(text[:-10])
must(len(module.read_run("half")["total"][1]) == len(curves["total"][1]) - 1, "a row that is not finished is drawn")
with open("half/energy.csv", "w") as file:
    file.write(text.replace("\n0,", "\nnaught,", 1))
must("'naught' is no number" in plot("half", code=2), "damage")
