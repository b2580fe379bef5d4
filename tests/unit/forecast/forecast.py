#!/usr/bin/python3
"""forecast.py: what `tactus check` tells without a pilot run is exact: elastic ticks and steps are those of a run, frames and memory are bounds; and
what only a pilot can tell is null, and not guessed.  If it fails, users plan with wrong numbers.  (Pilot runs: pilot.py.)
"""
import json
import os
import subprocess
import sys
import tempfile

TACTUS = os.environ["TACTUS"]
ALONE = {"OMPI_MCA_ess_singleton_isolated": "1", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self", "OMPI_MCA_mtl": "^ofi,psm2"}
CLOTH = {"density": .2, "stretch": {"model": "cst", "stiffness": 60, "poisson": .3}, "bend": {"model": "hinge", "stiffness": 1e-6}}
FLOOR = {"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [4, 4], "cells": [1, 1]}}
failures, checks = [], 0


def expect(true, what):
    global checks
    checks += 1
    if not true:
        failures.append(what)
        print("FAILS: " + what)


def scene(bodies, end=.25, materials=None, **contact):
    return {"format": "tactus-scene/1", "time": {"end": end, "frame": end / 4}, "gravity": [0, -9.81, 0], "contact": contact,
            "materials": materials or {"cloth": CLOTH}, "bodies": [FLOOR, *bodies]}


SHEET = {"name": "sheet", "material": "cloth", "position": [0, .06, 0], "rotation": [10, 0, 5],
         "mesh": {"kind": "grid", "size": [.2, .2], "cells": [8, 8]}}
BOX = {"name": "box", "material": "card", "position": [0, .1, 0], "rotation": [20, 0, 30], "mesh": {"kind": "box", "size": [.1, .1, .1], "cells": [2, 2, 2]}}
CARD = {"card": {"density": 1, "stretch": {"model": "cst", "stiffness": 1000, "damping": 1e-5}, "bend": {"model": "hinge", "stiffness": .02}}}
GRAINS = {"name": "grains", "mass": .001, "radius": .005, "position": [0, .05, 0], "mesh": {"kind": "points", "lattice": {"count": [4, 4, 4], "spacing": .012}}}
RUNS = {"sheet": scene([SHEET], thickness=.004, stiffness=50, friction=.2), "box": scene([BOX], materials=CARD, thickness=.002, stiffness=1000),
        "grains": scene([GRAINS], .5, thickness=.002, stiffness=200),
        "implicit": {**scene([SHEET], .2, thickness=.004), "integrator": {"kind": "implicit", "step_s": .01}}}


def main():
    with tempfile.TemporaryDirectory(prefix="forecast-") as here:
        path = os.path.join(here, "scene.json")

        def tactus(*words):
            return subprocess.run([TACTUS, *words], capture_output=True, text=True, env={**os.environ, **ALONE})

        def forecast(what, *settings):
            with open(path, "w") as file:
                json.dump(what, file)
            done = tactus("check", path, "--json", *(w for s in settings for w in ("--set", s)))
            if done.returncode:
                raise SystemExit(f"check: {done.stderr}")
            return json.loads(done.stdout)["forecast"]

        for name, what in RUNS.items():
            reported, text = forecast(what), tactus("check", path, "--details").stdout
            folder = os.path.join(here, name + ".run")
            done = tactus("run", path, "-o", folder, "--quiet", "--record")
            expect(done.returncode == 0, done.stderr)
            with open(os.path.join(folder, "run.json")) as file:
                run = json.load(file)
            if name == "implicit":
                with open(os.path.join(folder, "steps.csv")) as file:
                    steps = len(file.readlines()) - 1
                expect(reported["steps"] == steps and reported["newton"] is None, f"{name}: {reported}, and the run has {steps} steps")
                expect(reported["disk"]["record"] is None and "\nforecast   20 steps; Newton iterations and time: tactus check --pilot 20" in text, f"{name}: {text}")
            else:
                ticks, t = run["counters"]["committed"], reported["ticks"]
                elastic, other = ticks["spring"] + ticks["cst"] + ticks["hinge"], ticks["gravity"] + ticks["damping"] + ticks["load"]
                expect(t["elastic"] == elastic and t["other"] == other, f"{name}: {t}, and the run has {elastic} and {other}")
                expect([t[key] for key in ("contact", "contact_least", "contact_most", "within")] == [None] * 4, f"{name}: {t}")
                expect(reported["speed"] is None and reported["costs_most"] is None and reported["savings"] == [] == reported["accuracy"], f"{name}: {reported}")
                expect("; contact and time: tactus check --pilot 20" in text, f"{name}: {text}")
            expect(reported["wall_s"] is None and reported["pilot"] is None and reported["memory_span"] is None, f"{name}: {reported}")
            size = sum(os.path.getsize(os.path.join(folder, f)) for f in ("frames.h5", "energy.csv"))
            expect(reported["disk"]["frames_least"] < reported["disk"]["frames"] == reported["disk"]["frames_most"] and size < reported["disk"]["frames"],
                   f"{name}: frames of {size} bytes, {reported['disk']}")
            # The process itself is most of it in so small a scene.
            memory = run["peak_memory_bytes"] / reported["memory"]
            expect(1 / 3 < memory < 3 or "ASAN_OPTIONS" in os.environ, f"{name}: {memory:.2f} times the memory told")
            for line in ("forecast ", "memory ", "disk "):
                expect(f"\n{line}" in text, f"{name}: no line '{line}' in\n{text}")
            expect("--pilot 20 estimates the time" in text.split("\nmore ")[0], f"{name}: the summary does not name --pilot: {text}")

        # Twice the time, twice the ticks; a floor alone has none.
        ticks = forecast(RUNS["sheet"])["ticks"]["elastic"]
        expect(forecast(RUNS["sheet"], "time.end=0.5")["ticks"]["elastic"] == 2 * ticks, "ticks do not grow with time.end")
        expect(forecast(scene([], thickness=.004))["ticks"]["elastic"] == 0, "a floor alone")
        expect("nan" not in tactus("check", path, "--details").stdout, "a floor alone: a number that is none")
        for gone in ("--calibrate", "--no-calibrate"):
            done = tactus("check", path, gone)
            expect(done.returncode == 2 and "unknown option" in done.stderr, f"{gone}: {done.stderr}")
    print(f"{checks} checks, {len(failures)} failed")
    sys.exit(1 if failures or not checks else 0)


main()
