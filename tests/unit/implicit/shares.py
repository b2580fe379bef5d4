#!/usr/bin/python3
"""shares.py: ranks of the implicit integrator share a scene: a block in a press, on 1, 3 and 4 ranks, some of the vertices' work shared anew
in mid-run, has the same bits, and the largest of 4 ranks needs much less memory than one rank alone.

If it failed, a scene would have to fit one rank, however many there are; or bits would depend on who has what."""

import json
import os
import sys
import tempfile

from program import call, check, failures

MOST = 0.5  # of one rank's memory; 0.32 with 82,000 tetrahedra


def scene(cells, steps):
    gel = {"density": 1000, "solid": {"model": "neo-hookean", "youngs": 2e4, "poisson": 0.4}}
    plate = {"kind": "grid", "size": [0.5, 0.5], "cells": [8, 8]}
    return {"format": "tactus-scene/1", "time": {"end": 0.01 * steps, "frame": 0.01 * steps}, "gravity": [0, -9.81, 0],
            "contact": {"thickness": 0.004, "friction": 0.3}, "integrator": {"kind": "implicit", "step_s": 0.01}, "materials": {"gel": gel},
            "bodies": [{"name": "block", "material": "gel", "position": [0, 0.1045, 0],
                        "mesh": {"kind": "box", "size": [0.3, 0.2, 0.2], "cells": cells, "fill": "tets"}},
                       {"name": "floor", "fixed": True, "mesh": plate},
                       {"name": "plate", "mass": 1, "position": [0, 0.2095, 0], "mesh": plate}],
            "motions": [{"body": "plate", "path": [[0, [0, 0, 0]], [0.1, [0, -0.03, 0]]]}], "output": {"fields": [], "reactions": True}}


def run(folder, name, words, ranks):
    path = os.path.join(folder, name + ".json")
    with open(path, "w") as file:
        json.dump(words, file)
    out = os.path.join(folder, "%s-%d" % (name, ranks))
    code, text = call("run", path, "-o", out, "--quiet", ranks=ranks)
    check(code == 0, "%s, %d ranks: exit code %d" % (name, ranks, code), text)
    with open(os.path.join(out, "run.json")) as file:
        return out, json.load(file)


with tempfile.TemporaryDirectory() as folder:
    one, _ = run(folder, "press", scene([12, 8, 8], 12), 1)
    for ranks in (3, 4):
        out, told = run(folder, "press", scene([12, 8, 8], 12), ranks)
        code, text = call("diff", one, out)
        check(code == 0, "the press on %d ranks has the bits of one" % ranks, text)
        with open(os.path.join(one, "reactions.csv")) as a, open(os.path.join(out, "reactions.csv")) as b:
            check(a.read() == b.read(), "the press on %d ranks has the reactions of one" % ranks)
        check(told["counters"]["migrations"] > 0, "vertices change their rank where contact makes work unequal (%d)" % told["counters"]["migrations"])
    needs = {}
    for ranks in (1, 4):
        empty = run(folder, "empty", scene([1, 1, 1], 1), ranks)[1]["peak_memory_bytes"]
        needs[ranks] = run(folder, "block", scene([27, 18, 18], 1), ranks)[1]["peak_memory_bytes"] - empty
    share = needs[4] / needs[1]
    check(share < MOST, "the largest of 4 ranks needs %.2f of one rank's memory, %.0f of %.0f MB" % (share, needs[4] / 1e6, needs[1] / 1e6))
sys.exit(1 if failures else 0)
