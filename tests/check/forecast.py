#!/usr/bin/python3
"""forecast.py: the forecast of `tactus check` against short runs, and against itself with other values of the scene's keys.

Ticks of elastic forces are those of a run, ticks of contact within the stated factor; what a saving says is what check says of the scene with that
value; each level of clocks.accuracy is what the scene with that level has; a run of days is warned of in one sentence that names the key.
If it fails, users plan with wrong numbers. (Whole scenes of the repository: jobs/experiments/speed/forecast.py.)
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
CARD = {"card": {"density": 1, "stretch": {"model": "cst", "stiffness": 1000}, "bend": {"model": "hinge", "stiffness": .02}}}
GRAINS = {"name": "grains", "mass": .001, "radius": .005, "position": [0, .05, 0], "mesh": {"kind": "points", "lattice": {"count": [4, 4, 4], "spacing": .012}}}
RUNS = {"sheet": scene([SHEET], thickness=.004, stiffness=50, friction=.2), "box": scene([BOX], materials=CARD, thickness=.002, stiffness=1000),
        "grains": scene([GRAINS], .4, thickness=.002, stiffness=200)}


def main():
    with tempfile.TemporaryDirectory(prefix="forecast-") as here:
        path = os.path.join(here, "scene.json")

        def tactus(*words):
            return subprocess.run([TACTUS, *words], capture_output=True, text=True, env={**os.environ, **ALONE})

        def forecast(what, *words, settings=()):
            with open(path, "w") as file:
                json.dump(what, file)
            done = tactus("check", path, "--json", *words, *(w for s in settings for w in ("--set", s)))
            if done.returncode:
                raise SystemExit(f"check: {done.stderr}")
            report = json.loads(done.stdout)
            return report["forecast"], report["warned"]

        for name, what in RUNS.items():
            told, warned = forecast(what)
            folder = os.path.join(here, name + ".run")
            done = tactus("run", path, "-o", folder, "--quiet")
            expect(done.returncode == 0, done.stderr)
            with open(os.path.join(folder, "run.json")) as file:
                ticks = json.load(file)["counters"]["committed"]
            elastic, t = ticks["spring"] + ticks["cst"] + ticks["hinge"], told["ticks"]
            expect(t["elastic"] == elastic, f"{name}: {t['elastic']} elastic ticks, and the run has {elastic}")
            expect(t["contact_least"] <= ticks["penalty"] <= t["contact_most"], f"{name}: {t}, and the run has {ticks['penalty']}")
            expect(not told["speed"]["measured"] and not any("days" in w for w in warned), f"{name}: {told['speed']}, {warned}")

        # Savings and levels are what the scene with those values would be told.
        sheet = RUNS["sheet"]
        told, _ = forecast(sheet)
        keys = [s["key"] for s in told["savings"]]
        expect(set(keys) >= {"materials.cloth.stretch.stiffness", "materials.cloth.bend.stiffness", "clocks.elastic_safety", "clocks.contact_safety"}, f"{keys}")
        expect(told["costs_most"] == keys[0] and [s["saves"] for s in told["savings"]] == sorted((s["saves"] for s in told["savings"]), reverse=True), f"{told}")
        plain = [s for s in told["savings"] if s["key"] in ("materials.cloth.bend.stiffness", "clocks.contact_safety", "clocks.elastic_safety")]
        for s in plain:
            other, _ = forecast(sheet, settings=[f"{s['key']}={s['instead']}"])
            expect(other["ticks"]["elastic"] == s["elastic"], f"{s} and {other['ticks']}")
            if s["key"] != "clocks.elastic_safety":  # where the measured quotient of contact is in it, too
                expect(abs(other["ticks"]["contact"] - s["contact"]) <= 1e-9 * s["contact"], f"{s} and {other['ticks']}")
        for level in told["accuracy"]:
            other, _ = forecast(sheet, settings=[f"clocks.accuracy={level['level']}"])
            expect(other["ticks"]["elastic"] == level["elastic"] and level["cost_least"] <= level["cost"] <= level["cost_most"], f"{level} and {other['ticks']}")
        expect([level["level"] for level in told["accuracy"]] == ["draft", "standard", "fine"] and abs(told["accuracy"][1]["cost"] - 1) < 1e-9, f"{told['accuracy']}")
        # A limit of stretch has ticks; no contact, none; nothing beneath, none.
        limited, _ = forecast(sheet, settings=["materials.cloth.stretch.limit=0.1"])
        expect(limited["ticks"]["contact"] > 2 * told["ticks"]["contact"], "a limit costs nothing")
        expect(forecast(sheet, settings=["contact.thickness=0"])[0]["ticks"]["contact"] == 0, "contact off")
        expect(forecast({**sheet, "bodies": [SHEET]})[0]["ticks"]["contact"] == 0, "a sheet that falls alone")

        # Where nothing ticks nothing is saved, and everything costs the same.
        still, _ = forecast(scene([], thickness=.004))
        costs = [level[key] for level in still["accuracy"] for key in ("cost", "cost_least", "cost_most")]
        expect(still["wall_s"]["likely"] == 0 and still["savings"] and all(s["saves"] == 0 for s in still["savings"]) and set(costs) == {1}, f"{still}")
        expect("nan" not in tactus("check", path, "--details").stdout, "a floor alone: a number that is none")

        # Weight on deep layers has its price, and the thickness that would save it is told.
        stone = {"name": "stone", "mass": 2, "position": [.013, .012, .05], "mesh": {"kind": "points", "vertices": [[0, 0, 0]]}}
        heavy, _ = forecast(scene([stone], thickness=.01, stiffness=200, friction=.5))
        light, _ = forecast(scene([{**stone, "mass": .05}], thickness=.01, stiffness=200, friction=.5))
        deep = [s for s in heavy["savings"] if s["key"] == "contact.thickness"]
        expect(len(deep) == 1 and heavy["costs_most"] == "contact.thickness" and deep[0]["instead"] > .01 and deep[0]["saves"] > .5, f"{heavy['savings']}")
        expect(not any(s["key"] == "contact.thickness" for s in light["savings"]), f"{light['savings']}")
        done = tactus("run", path, "-o", os.path.join(here, "stone.run"), "--set", "bodies.stone.mass=2", "--quiet")
        with open(os.path.join(here, "stone.run", "run.json")) as file:
            ticks = json.load(file)["counters"]["committed"]["penalty"]
        expect(done.returncode == 0 and heavy["ticks"]["contact_least"] <= ticks <= heavy["ticks"]["contact_most"], f"stone: {heavy['ticks']}, and {ticks}")

        # Twice the time: twice the ticks; a run of days is warned of, with the key that costs most.
        long, warned = forecast(sheet, "--no-calibrate", settings=["time.end=3000000", "time.frame=100"])
        expect(abs(long["ticks"]["elastic"] / told["ticks"]["elastic"] / (3000000 / .25) - 1) < 1e-9, "ticks do not grow with time.end")
        days = [w for w in warned if " days " in w]
        expect(len(days) == 1 and long["costs_most"] in days[0] and "\n" not in days[0], f"{warned}")

        # Calibration: asked for, not for short runs, for long ones unless it is refused.
        measured, _ = forecast(sheet, "--calibrate")
        expect(measured["speed"]["measured"] and measured["speed"]["elastic_ns"] > 0 and measured["speed"]["contact_ns"] > 0, f"{measured['speed']}")
        expect(measured["ticks"] == told["ticks"], "ticks depend on the machine")
        expect(not long["speed"]["measured"] and forecast(sheet, settings=["time.end=1000", "time.frame=1"])[0]["speed"]["measured"], "calibration of long runs")
        done = tactus("check", path, "--calibrate", "--no-calibrate")
        expect(done.returncode == 2 and "not both" in done.stderr, done.stderr)
        text = tactus("check", path, "--details").stdout
        for line in ("forecast ", "wall ", "memory ", "disk ", "savings ", "accuracy "):
            expect(f"\n{line}" in text, f"no line '{line}' in\n{text}")
    print(f"{checks} checks, {len(failures)} failed")
    sys.exit(1 if failures or not checks else 0)


main()
