#!/usr/bin/python3
"""fabrics.py [--table]: every material of docs/how-to/choose-fabric.md is one that `tactus check` takes, and the page's table of costs and looks is what
check and the formulas say.  --table prints the table, to be put into the page.  If it fails, users copy a material that is refused, or plan with
costs of another version.
"""
import json
import math
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.environ.get("TACTUS_SOURCE") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
TACTUS = os.environ.get("TACTUS", os.path.join(ROOT, "build", "tactus"))
ALONE = {"OMPI_MCA_ess_singleton_isolated": "1", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self", "OMPI_MCA_mtl": "^ofi,psm2",
         "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
PAGE, GRAVITY, HUNG, CELLS = os.path.join(ROOT, "docs/how-to/choose-fabric.md"), 9.81, 1., 20
NAMES = ("silk", "cotton", "denim", "rubber sheet", "paper", "steel foil", "rope", "chain mail", "plastic bag", "skin")


def cost(material, here):
    """Ticks per vertex and simulated second of elastic forces, dampers and gravity, on a grid (a rope) of 5 mm edges; what check warns of."""
    rope = material["stretch"]["model"] == "spring"
    mesh = ({"kind": "segments", "from": [0, 0, 0], "to": [1, 0, 0], "cells": 200} if rope
            else {"kind": "grid", "size": [.005 * CELLS] * 2, "cells": [CELLS] * 2})
    scene = {"format": "tactus-scene/1", "time": {"end": 1, "frame": .03125}, "gravity": [0, -GRAVITY, 0], "contact": {"thickness": .002, "stiffness": 50},
             "materials": {"m": material}, "bodies": [{"name": "b", "material": "m", "mesh": mesh}]}
    path = os.path.join(here, "scene.json")
    with open(path, "w") as file:
        json.dump(scene, file)
    done = subprocess.run([TACTUS, "check", path, "--json"], capture_output=True, text=True, env={**os.environ, **ALONE})
    if done.returncode:
        sys.exit(f"{material}: {done.stderr}")
    report = json.loads(done.stdout)
    ticks = report["forecast"]["ticks"]
    return (ticks["elastic"] + ticks["other"]) / report["vertices"]["all"], [w for w in report["warned"] if " days " not in w]


def looks(material):
    """Of a piece that hangs 1 m down: how much longer its own weight makes it, m; the length that bends by its own weight (Peirce), m."""
    weight = material["density"] * GRAVITY
    bend = material.get("bend")
    return weight * HUNG ** 2 / 2 / material["stretch"]["stiffness"], (3 * bend["stiffness"] / weight) ** (1 / 3) if bend else math.nan


def row(name, kind, material, ticks):
    longer, bends = looks(material)
    return [name, kind, f"{ticks:.2g}", f"{1000 * longer:.2g}", "" if math.isnan(bends) else f"{1000 * bends:.2g}"]


def main():
    with open(PAGE) as file:
        text = file.read()
    blocks = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", text, re.S)]
    told = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if re.match(r"\| .* \| (as it is|stand-in) \|", line)]
    failures, rows = [], []
    with tempfile.TemporaryDirectory(prefix="fabrics-") as here:
        for block in blocks:
            for name, material in block.items():
                ticks, warned = cost(material, here)
                kind = "stand-in" if name.endswith(" stand-in") else "as it is"
                rows.append(row(name.removesuffix(" stand-in"), kind, material, ticks))
                if warned:
                    failures.append(f"{name}: {warned}")
    names = [r[0] for r in rows if r[1] == "as it is"]
    if tuple(names) != NAMES or [r[0] for r in rows if r[1] == "stand-in"] != names:
        failures.append(f"the page has {[r[:2] for r in rows]}")
    for now in rows:
        if "--table" in sys.argv:
            print("| " + " | ".join(now) + " |")
        elif now not in told:
            failures.append(f"the page's table does not have {now}, but {[t for t in told if t[:2] == now[:2]]}")
    for failure in failures:
        print("FAILS: " + failure)
    print(f"{len(rows)} materials, {len(failures)} failures", file=sys.stderr)
    sys.exit(1 if failures or not rows else 0)


main()
