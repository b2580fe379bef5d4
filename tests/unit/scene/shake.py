#!/usr/bin/python3
"""shake.py: `tactus check` says when gravity ticks less often than the first layers and friction must hold, and the period that it names
is the remedy.  If it fails, a scene whose bodies creep is called sound, or one that is well is called bad."""

import json
import os
import subprocess
import sys
import tempfile

SCENE = {"format": "tactus-scene/1", "time": {"end": 1, "frame": .125}, "gravity": [0, -9, 0],
         "contact": {"thickness": .01, "stiffness": 2000, "friction": .5},
         "materials": {"rope": {"density": 1, "stretch": {"model": "spring", "stiffness": 1e6, "limit": .01}}, "stone": {}},
         "bodies": [{"name": "dust", "mass": .01, "material": "stone", "mesh": {"kind": "points", "vertices": [[0, 1, 0]]}},
                    {"name": "floor", "fixed": True, "material": "stone", "mesh": {"kind": "grid", "size": [9, 9], "cells": [1, 1]}}]}
ROPE = {"name": "rope", "material": "rope", "position": [0, 2, 0], "mesh": {"kind": "segments", "from": [0, 0, 0], "to": [1, 0, 0], "cells": 4}}


def check(text, **changes):
    """The report, or with `text` what is printed."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({**SCENE, **changes}, file)
        file.flush()
        done = subprocess.run([os.environ["TACTUS"], "check", file.name] + (["--details"] if text else ["--json"]), stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout if text else json.loads(done.stdout)


def main():
    failures = []

    def expect(true, what):
        if not true:
            failures.append(what)

    shake = check(False)["shake"]
    expect(shake and shake["gravity"] > shake["first_layer"] > 0, f"coarse gravity: {shake}")
    expect("clocks.gravity_s" in check(True), "the text names the key")
    contact = SCENE["contact"]
    for what, changes in (("the remedy", {"clocks": {"gravity_s": shake["first_layer"]}}),
                          ("no friction", {"contact": {**contact, "friction": 0}}),
                          ("no gravity", {"gravity": [0, 0, 0]}), ("no contact", {"contact": {**contact, "thickness": 0}}),
                          ("coarse layers", {"contact": {**contact, "stiffness": 10}})):
        expect(check(False, **changes)["shake"] is None, f"{what}: {check(False, **changes)['shake']}")
    pair = {**contact, "friction": 0, "pairs": [{"materials": ["stone", "stone"], "friction": .1}]}
    expect(check(False, contact=pair)["shake"] == shake, "friction of one pair counts")
    # Limits of stretch are layers too, but nothing rests on them.
    stiff = check(False, bodies=[*SCENE["bodies"], ROPE])
    expect(stiff["shake"]["first_layer"] >= .5 * shake["first_layer"], f"limits do not count: {stiff['shake']}")
    print("\n".join(failures) or "ok")
    return 1 if failures else 0


sys.exit(main())
