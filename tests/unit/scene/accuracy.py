#!/usr/bin/python3
"""accuracy.py: `clocks.accuracy` stands for the safeties that are not given, and for nothing else.

If it fails, a level sets other safeties than it says, overrides one that the user gave, or changes the hash of a scene that does not
have the key, so that its checkpoints are refused.
"""
import json
import os
import subprocess
import sys
import tempfile

TACTUS = os.environ["TACTUS"]
ALONE = {"OMPI_MCA_ess_singleton_isolated": "1", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self", "OMPI_MCA_mtl": "^ofi,psm2"}
SCENE = {"format": "tactus-scene/1", "time": {"end": .03125, "frame": .015625}, "gravity": [0, -9, 0], "contact": {"thickness": .01, "stiffness": 100},
         "materials": {"m": {"density": .2, "stretch": {"model": "cst", "stiffness": 60}}},
         "bodies": [{"name": "a", "material": "m", "mesh": {"kind": "grid", "size": [1, 1], "cells": [3, 3]}}]}
# As in docs/reference/scene-format.md; that they are what was measured is tested by physics_accuracy.
LEVELS = {"draft": (.25, .3), "standard": (.1, .15), "fine": (.05, .075)}
failures, checks = [], 0


def expect(true, what):
    global checks
    checks += 1
    if not true:
        failures.append(what)
        print("FAILS: " + what)


def tactus(*arguments):
    return subprocess.run([TACTUS, *arguments], capture_output=True, text=True, env={**os.environ, **ALONE})


def main():
    with tempfile.TemporaryDirectory(prefix="accuracy-") as here:
        path = os.path.join(here, "scene.json")
        with open(path, "w") as file:
            json.dump(SCENE, file)

        def report(*settings):
            done = tactus("check", path, "--json", *(word for s in settings for word in ("--set", s)))
            if done.returncode:
                raise SystemExit(f"check {settings}: {done.stderr}")
            return json.loads(done.stdout)

        plain = report()
        hashes = set()
        for level, (elastic, contact) in LEVELS.items():
            reported = report(f"clocks.accuracy={level}")
            given = report(f"clocks.elastic_safety={elastic}", f"clocks.contact_safety={contact}")
            expect(reported["sha256"] == given["sha256"] and reported["periods"] == given["periods"] and reported["layer_stack"] == given["layer_stack"],
                   f"{level} is not elastic_safety {elastic} and contact_safety {contact}")
            expect(not reported["warned"], f"{level}: {reported['warned']}")
            hashes.add(reported["sha256"])
            for key, value in (("elastic_safety", .07), ("contact_safety", .09)):
                other, its = ("contact_safety", contact) if key == "elastic_safety" else ("elastic_safety", elastic)
                expect(report(f"clocks.accuracy={level}", f"clocks.{key}={value}")["sha256"] ==
                       report(f"clocks.{key}={value}", f"clocks.{other}={its}")["sha256"], f"{level}: {key} that is given does not win")
        expect(len(hashes) == 3, "levels are alike")
        expect(report("clocks.accuracy=standard")["sha256"] == plain["sha256"], "standard is not what a scene without the key has")

        both = report("clocks.accuracy=fine", "clocks.elastic_safety=0.07", "clocks.contact_safety=0.09")
        expect(len(both["warned"]) == 1 and "clocks.accuracy" in both["warned"][0] and "no effect" in both["warned"][0], f"both given: {both['warned']}")
        done = tactus("check", path, "--set", "clocks.accuracy=fin")
        expect(done.returncode == 2 and 'did you mean "fine"?' in done.stderr and "clocks.accuracy" in done.stderr, f"a wrong word: {done.stderr}")
        done = tactus("check", path, "--set", "clocks.accuracy=1")
        expect(done.returncode == 2 and "clocks.accuracy: must be a string" in done.stderr, f"a number: {done.stderr}")

        # The resolved scene has the safeties; a restart takes either scene.
        folder = os.path.join(here, "a.run")
        done = tactus("run", path, "--set", "clocks.accuracy=draft", "-o", folder, "--quiet", "--until", ".015625")
        expect(done.returncode == 0, done.stderr)
        with open(os.path.join(folder, "scene.json")) as file:
            clocks = json.load(file)["clocks"]
        expect("accuracy" not in clocks and (clocks["elastic_safety"], clocks["contact_safety"]) == LEVELS["draft"], f"resolved: {clocks}")
        done = tactus("run", path, "--set", "clocks.accuracy=fine", "--restart", folder, "--quiet")
        expect(done.returncode == 2 and "clocks.elastic_safety" in done.stderr, f"another accuracy: {done.stderr}")
        done = tactus("run", path, "--set", "clocks.accuracy=draft", "--restart", folder, "--quiet")
        expect(done.returncode == 0, f"restart: {done.stderr}")
    print(f"{checks} checks, {len(failures)} failed")
    sys.exit(1 if failures or not checks else 0)


main()
