#!/usr/bin/python3
"""exempt.py: pairs of bodies of which no vertex is ever free are named by `check` and by `audit`, with where they cross.

A scripted ball goes through a fixed floor, another one stays off; with either integrator, on 1 and 3 ranks. If it fails, a run in which
something passed through something is called proven without a word."""
import json
import os
import subprocess
import sys
import tempfile

TACTUS = os.environ["TACTUS"]
failures = []


def check(ok, what):
    print(("ok      " if ok else "FAILED  ") + what)
    if not ok:
        failures.append(what)


def call(*words, ranks=1):
    return subprocess.run((["mpirun", "-n", str(ranks)] if ranks > 1 else []) + [TACTUS, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def scene(integrator, **contact):
    return {"format": "tactus-scene/1", "time": {"end": 1, "frame": 0.0625}, "contact": {"thickness": 0.01, **contact}, **integrator,
            "bodies": [{"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [2, 2], "cells": [4, 4]}},
                       {"name": "ball", "mesh": {"kind": "sphere", "radius": 0.2, "level": 2}, "position": [0, 0.5, 0]},
                       {"name": "far", "mesh": {"kind": "sphere", "radius": 0.2, "level": 1}, "position": [0, 3.5, 0]},
                       {"name": "p", "mass": 1, "mesh": {"kind": "points", "vertices": [[5, 5, 5]]}}],
            "motions": [{"body": "ball", "path": [[0, [0, 0, 0]], [1, [0.1, -1, 0]]]}, {"body": "far", "path": [[0, [0, 0, 0]], [1, [0, -1, 0]]]}]}


def rows(report):
    return {(row["a"], row["b"]): row for row in report["exempt"]["list"]}


def look(what, exempt, slack):
    """The ball's surface is in the floor's plane from t = 0.3 to 0.7 s, and seen to be at instants that lie `slack` apart."""
    row = rows({"exempt": exempt})
    ball = row.get(("floor", "ball"), {"crossing": 0, "time": [0, 0]})
    check(exempt["pairs"] == 3 and exempt["crossing"] == 1 and set(row) == {("floor", "ball"), ("floor", "far"), ("ball", "far")},
          "%s: names the three pairs, of which one crosses" % what)
    check(ball["crossing"] >= 8 and 0.3 <= ball["time"][0] <= 0.3 + slack and 0.7 - slack <= ball["time"][1] <= 0.7,
          "%s: `floor` and `ball` cross from %s s, in %d places" % (what, ball["time"], ball["crossing"]))


def main():
    for name, integrator in (("asynchronous", {}), ("implicit", {"integrator": {"kind": "implicit", "step_s": 0.0625}})):
        with tempfile.TemporaryDirectory() as folder:
            path, out = os.path.join(folder, "scene.json"), os.path.join(folder, "run")
            with open(path, "w") as file:
                json.dump(scene(integrator), file)
            reported = call("check", path, "--json")
            report = json.loads(reported.stdout)
            look(name + ", check", report["exempt"], 0.02)
            check(reported.returncode == 0 and any('"floor" and "ball"' in w for w in report["warned"]), "%s, check: warns of them" % name)
            check('"floor" and "ball" cross' in call("check", path).stdout, "%s, check: says so in its text" % name)
            check(call("run", path, "-o", out, "--record", "--quiet").returncode == 0, name + ": it runs")
            one, three = call("audit", out, "--json"), call("audit", out, "--json", ranks=3)
            check(one.returncode == 0 and one.stdout == three.stdout, "%s, audit: proven, and the same on three ranks" % name)
            report = json.loads(one.stdout)
            look(name + ", audit", report["exempt"], 0.0626)
            check("exempt" in report["sentence"], "%s, audit: %s" % (name, report["sentence"]))
            with open(path, "w") as file:
                json.dump(scene(integrator, ignore=[["floor", "ball"]]), file)
            report = json.loads(call("check", path, "--json").stdout)
            check(report["exempt"]["crossing"] == 0 and ("floor", "ball") not in rows(report), "%s: what may pass by contact.ignore is not named" % name)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
