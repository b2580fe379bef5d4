#!/usr/bin/python3
"""log.py: run.log, the table that people read, of both integrators.

Its columns are those that output.log names, they line up under their names and units, and their values are those of energy.csv and steps.csv: also
after a restart, on two ranks, and in other units.  What steps count is summed between two rows.  Names that do not exist are refused with the list of
those that do.  A failure means that somebody watches a run by wrong numbers, or does not see that it goes wrong."""
import csv
import json
import os
import pty
import re
import subprocess
import sys
import tempfile

import numpy as np

TACTUS, SOURCE = os.environ["TACTUS"], os.environ["TACTUS_SOURCE"]
with open(os.path.join(SOURCE, "docs", "scene.schema.json")) as file:
    ALL = json.load(file)["properties"]["output"]["properties"]["log"]["items"]["enum"]
STEPS = ["step", "newton", "linear", "parts", "share_min", "kappa", "residual", "lag_residual"]
IMPACT = ["reflections", "rounds", "rows", "jammed"]
TICKS = ["deepest_layer", "rollbacks", "ticks_per_s", "window_s"]


def must(true, text):
    if not true:
        sys.exit(text)


def tactus(*arguments, ranks=1, code=0):
    words = ([] if ranks == 1 else ["mpirun", "-q", "--bind-to", "none", "-n", str(ranks)]) + [TACTUS, *arguments]
    done = subprocess.run(words, capture_output=True, text=True)
    must(done.returncode == code, "%s: %d instead of %d\n%s" % (arguments, done.returncode, code, done.stderr))
    return done.stderr


def write(name, **more):
    scene = {"format": "tactus-scene/1", "time": {"end": 0.3, "frame": 0.01}, "gravity": [0, -9.81, 0], "contact": {"thickness": 0.004, "stiffness": 50},
             "materials": {"cloth": {"density": 0.2, "stretch": {"model": "cst", "stiffness": 60, "poisson": 0.3}}},
             "bodies": [{"name": "sheet", "material": "cloth", "position": [0, 0.125, 0], "mesh": {"kind": "grid", "size": [0.2, 0.2], "cells": [3, 3]}},
                        {"name": "ball", "fixed": True, "mesh": {"kind": "sphere", "radius": 0.12, "level": 1}}], **more}
    with open(name, "w") as f:
        json.dump(scene, f)


def read(folder):
    """Names, units, rows of numbers; every line has its columns at the same places."""
    with open(folder + "/run.log") as f:
        lines = f.read().split("\n")
    must(lines.pop() == "", "%s: the last line is not ended" % folder)
    heads = [i for i, line in enumerate(lines) if re.match(r"# *(frame|time) ", line)]
    must(heads and heads[0] == 1, "%s: it does not begin with a header" % folder)
    head, units = lines[heads[0]], lines[heads[0] + 1]
    must(all((lines[i], lines[i + 1]) == (head, units) for i in heads), "%s: its headers differ" % folder)
    ends = [m.end() for m in re.finditer(r"[^ #]+", head)]
    rows = [line for line in lines if not line.startswith("#")]
    for line in rows:
        must([m.end() for m in re.finditer(r"[^ ]+", line)] == ends, "%s: this row does not stand under the header:\n%s\n%s" % (folder, head, line))
    must(len(units) == len(head) and all(units[e - 1] != " " for e in ends), "%s: units do not stand under the names" % folder)
    must(np.array_equal(np.loadtxt(folder + "/run.log", ndmin=2), [[float(w) for w in line.split()] for line in rows], equal_nan=True), "numpy.loadtxt")
    return head[1:].split(), units, np.array([[float(w) for w in line.split()] for line in rows]), lines, len(heads)


def table(folder, name):
    with open(folder + "/" + name) as f:
        return list(csv.DictReader(f))


def near(a, b, what):
    must(np.allclose(a, b, rtol=6e-5, atol=0, equal_nan=True), "%s: %s instead of %s" % (what, a, b))


def compare(folder, columns):
    names, _, rows, lines, heads = read(folder)
    must(names == columns, "%s: columns %s instead of %s" % (folder, names, columns))
    energy = table(folder, "energy.csv")
    must(len(rows) == len(energy), "%s: %d rows, energy.csv has %d" % (folder, len(rows), len(energy)))
    for k, name in enumerate(names):
        if name in energy[0]:
            near(rows[:, k], [float(r[name]) for r in energy], "%s of %s" % (name, folder))
    must(heads == (len(rows) + 24) // 25, "%s: %d headers for %d rows" % (folder, heads, len(rows)))
    must(re.fullmatch(r"# finished at t = 0\.3 \S+ after [0-9.]+ s", lines[-1]), "%s ends with: %s" % (folder, lines[-1]))
    return dict(zip(names, rows.T))


def compare_steps(folder, log):
    at = np.array([float(r["time"]) for r in table(folder, "energy.csv")])
    steps = {n: np.array([float(r[n]) for r in table(folder, "steps.csv")]) for n in ["time"] + STEPS}
    for k in range(1, len(at)):
        among = (steps["time"] > at[k - 1] + 1e-9) & (steps["time"] < at[k] + 1e-9)
        for name, how in zip(STEPS, (np.max, np.sum, np.sum, np.max, np.min, lambda a: a[-1], np.max, np.max)):
            near(log[name][k], how(steps[name][among]), "%s of frame %d" % (name, k))
    must(log["newton"].sum() == steps["newton"].sum() > len(at), "Newton iterations are lost, or there are hardly any")


def has_terminals():
    """A bare folder that a system is put into may have none."""
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError:
        return False
    return True


def on_terminal(*arguments):
    """What the program prints where stderr is a terminal."""
    first, second = pty.openpty()
    process = subprocess.Popen([TACTUS, *arguments], stderr=second, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    os.close(second)
    text = b""
    try:
        while piece := os.read(first, 65536):
            text += piece
    except OSError:
        pass  # the other end is closed
    os.close(first)
    must(process.wait() == 0, "on a terminal the run failed:\n%s" % text.decode())
    return text.decode().replace("\r", "\n").replace("\x1b[K", "").split("\n")


os.chdir(tempfile.mkdtemp(prefix="tactus-log-"))
write("a.json")
write("b.json", integrator={"kind": "implicit", "step_s": 0.005})

# What is usual; the scene of the run names it, and none of the printing needs a terminal.
must("kinetic" not in tactus("run", "a.json"), "rows are printed although stderr is no terminal")
compare("a.run", ["time", "kinetic", "total", "defect", "contacts", "min_distance", "wall_s"])
with open("a.run/scene.json") as f:
    must(json.load(f)["output"]["log"] == read("a.run")[0], "scene.json does not name the columns")
tactus("run", "b.json", ranks=2)
compare("b.run", ["time", "step", "newton", "linear", "total", "contacts", "min_distance", "wall_s"])

# All columns that there are, in another order; those of the other integrator are left out.
every = json.dumps(ALL[:2] + ALL[:1:-1])
tactus("run", "b.json", "-o", "all", "--set", "output.log=" + every)
compare_steps("all", compare("all", [n for n in json.loads(every) if n not in TICKS + IMPACT]))
tactus("run", "a.json", "-o", "more", "--set", "output.log=" + every, ranks=2)
log = compare("more", [n for n in json.loads(every) if n not in STEPS + IMPACT])
must(list(log["frame"]) == list(range(len(log["frame"]))) and log["share"][0] == 0 and log["share"][-1] == 100, "frame, share")
must(all(np.diff(log["wall_s"]) >= 0) and log["speed"][-1] > 0 and log["deepest_layer"].max() > 0 and log["ticks_per_s"][-1] > 0, "clocks")
must(set(ALL) == set(log) | set(STEPS) | set(IMPACT), "the schema and the program differ")

# The integrator for impact has columns of its own, which come to what its steps.csv tells.
with open("c.json", "w") as file:
    json.dump({"format": "tactus-scene/1", "time": {"end": .3, "frame": .1}, "gravity": [0, -9.81, 0], "contact": {"thickness": .001, "restitution": 1},
               "integrator": {"kind": "impact", "step_s": .01},
               "bodies": [{"name": "floor", "fixed": True, "mesh": {"kind": "plane", "size": [1, 1]}},
                          {"name": "balls", "mass": 1, "radius": .05, "mesh": {"kind": "points", "vertices": [[0, .1, 0], [.02, .3, .01]]}}]}, file)
tactus("run", "c.json")
compare("c.run", ["time", "step", "reflections", "rows", "total", "contacts", "min_distance", "wall_s"])
tactus("run", "c.json", "-o", "struck", "--set", "output.log=" + every)
log = compare("struck", [n for n in json.loads(every) if n not in TICKS + STEPS[1:]])
steps = table("struck", "steps.csv")
must(log["reflections"].sum() == sum(float(s["reflections"]) for s in steps) > 0 and log["rows"].max() == max(float(s["rows"]) for s in steps), "reflections and rows")

# Units are the scene's.
tactus("run", "a.json", "-o", "units", "--set", 'units={"length": "mm", "mass": "g", "time": "ms"}', "--set", 'output.log=["time","momentum_y","min_distance","speed"]', "--quiet")
must(read("units")[1][1:].split() == ["ms", "g", "mm/ms", "mm", "ms/s"], "units: " + read("units")[1])

# A run in two parts: the log goes on, and a line that was cut short is ended.
tactus("run", "b.json", "-o", "parts", "--until", "0.1", "--quiet", "--set", "output.log=" + every)
with open("parts/run.log", "a") as f:
    f.write("  0.1")
tactus("run", "--restart", "parts", ranks=2)
with open("parts/run.log") as f:
    lines = f.read().split("\n")
must("# finished at t = 0.1 s after" in "\n".join(lines) and "# goes on from t = 0.1 s, restart 1, on 2 ranks" in lines and "  0.1" in lines, "the restart:\n" + "\n".join(lines))
got = [float(line.split()[1]) for line in lines if line and not line.startswith("#") and line != "  0.1"]
near(got, [float(r["time"]) for r in table("parts", "energy.csv")], "times of a run in two parts")

# No log; words that do not exist; a log that cannot be gone on with.
tactus("run", "a.json", "-o", "none", "--set", "output.log=[]", "--until", "0.02")
must(not os.path.exists("none/run.log"), "a log that nobody wants")
told = tactus("check", "a.json", "--set", 'output.log=["time", "knetic"]', code=2)
must('output.log[1]: "knetic": is no known value; did you mean "kinetic"?' in told, told)
must(all(n in told for n in ALL), "the sentence does not name all columns: " + told)
must('output.log: has "time" twice' in tactus("check", "a.json", "--set", 'output.log=["time", "time"]', code=2), "twice")
must("must be an array" in tactus("check", "a.json", "--set", "output.log=3", code=2), "no list")

# On a terminal: every row, above the line of progress.
if has_terminals():
    text = on_terminal("run", "a.json", "-o", "terminal", "--until", "0.1")
    shown = [line for line in text if re.match(r" +[0-9.e-]+ .* [0-9.]+$", line)]
    with open("terminal/run.log") as f:
        must(shown == [line.rstrip("\n") for line in f if not line.startswith("#")], "rows on the terminal:\n%s" % "\n".join(text))
    must(sum(line.startswith("#       time") for line in text) == 1 and "t 0.1 of 0.1 s" in "".join(text[-3:]), "the header, or the line of progress:\n%s" % "\n".join(text))
    must(all("kinetic" not in line for line in on_terminal("run", "a.json", "-o", "quiet", "--quiet", "--until", "0.02")), "--quiet prints rows")
else:
    print("not tried: what a terminal shows, for there is no pseudo-terminal here")
