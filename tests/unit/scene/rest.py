#!/usr/bin/python3
"""rest.py: what `tactus check` tells of contact: laws, what materials do beyond elasticity, and how deep weight presses the layers.

The layer is held against runs: bodies come to rest, and the deepest layer of the last quarter is what check foretold, or, where
bodies lie on one another, within one of it. If this fails, scenes whose weight lies too deep are not warned of, or others are.
"""
import csv
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "system", "equality"))
import experiment_scenes

TACTUS = os.environ["TACTUS"]
ALONE = {"OMPI_MCA_ess_singleton_isolated": "1", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self", "OMPI_MCA_mtl": "^ofi,psm2"}
failures, checks = [], 0


def expect(true, what):
    global checks
    checks += 1
    if not true:
        failures.append(what)
        print("FAILS: " + what)


def tactus(*arguments):
    return subprocess.run([TACTUS, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                          env={**os.environ, **ALONE})


def write(scene, here):
    path = os.path.join(here, "scene.json")
    with open(path, "w") as file:
        json.dump(scene, file)
    return path


def foretold(scene, here, name):
    """The report, and whether it warns."""
    done = tactus("check", write(scene, here), "--json")
    if done.returncode:
        raise SystemExit(f"{name}: check ends with {done.returncode}: {done.stderr}")
    report, text = json.loads(done.stdout), tactus("check", os.path.join(here, "scene.json"), "--details").stdout
    rest, warns = report["rest"], "will rest on" in done.stderr
    deep = rest is not None and rest["layer"] > 2
    expect(warns == deep == any("will rest on" in w for w in report["warned"]), f"{name}: rest {rest}, standard error {done.stderr!r}")
    expect(("\nrest " in text) == (rest is not None), f"{name}: the text tells otherwise:\n{text}")
    if deep:
        expect("contact stiffness of the two" in done.stderr and "contact.thickness" in done.stderr, done.stderr)
    return report, done.stderr


def found(scene, here):
    """Deepest layer of the last quarter."""
    folder = os.path.join(here, "a.run")
    done = tactus("run", write(scene, here), "-o", folder, "--overwrite", "--quiet")
    if done.returncode:
        raise SystemExit(f"run ends with {done.returncode}: {done.stderr}")
    with open(os.path.join(folder, "energy.csv")) as file:
        rows = list(csv.DictReader(file))
    return max(int(row["deepest_layer"]) for row in rows[-len(rows) // 4:])


def plate():
    return {"name": "plate", "fixed": True, "mesh": {"kind": "grid", "size": [2, 2], "cells": [1, 1]}, "rotation": [0, 0, 20]}


def lying(bodies, end=1., **contact):
    """On a plate that gravity meets squarely, whatever their directions."""
    return {"format": "tactus-scene/1", "time": {"end": end, "frame": end / 16}, "gravity": [3.355202, -9.218285, 0],
            "contact": {"thickness": .01, "stiffness": 200, "restitution": 0, "friction": .5, **contact}, "bodies": [plate(), *bodies]}


def stone(mass, height=.0112):
    up = [-.34202014 * height, .93969262 * height, 0]
    return {"name": "stone", "mass": mass, "mesh": {"kind": "points", "vertices": [[up[0] + .013, up[1] + .0047, .05]]}}


def main():
    with tempfile.TemporaryDirectory(prefix="rest-") as here:
        layers = set()
        for mass in (.01, .05, .1, .17, .2, .4, .8, 2, 10):
            scene = lying([stone(mass)])
            reported, said = foretold(scene, here, f"{mass} kg")
            layer = found(scene, here)
            layers.add(layer)
            expect(reported["rest"]["layer"] == layer and reported["rest"]["body"] == "stone" and reported["rest"]["under"] == "plate",
                   f"{mass} kg: check says {reported['rest']}, the run layer {layer}")
            if layer > 2:  # what it asks for is enough, and not much more than enough
                for key, word in (("stiffness", "be "), ("thickness", "contact.thickness ")):
                    wanted = float(said.partition(word)[2].split()[0])
                    again, _ = foretold(lying([stone(mass)], **{key: wanted}), here, f"{mass} kg, {key} {wanted}")
                    less, _ = foretold(lying([stone(mass)], **{key: .85 * wanted}), here, f"{mass} kg, less {key}")
                    expect(again["rest"]["layer"] == 2 and less["rest"]["layer"] == 3, f"{mass} kg: {key} {wanted}")
        expect({1, 2, 3} <= layers and max(layers) > 5, f"layers {layers}: too little to tell")

        # One on another: those above count. The stack stands 10 s in cards.py; here it settles for a moment.
        for stiffness in (500, 30, 8):
            scene = experiment_scenes.make("plates")
            scene["time"] = {"end": .5, "frame": 2.0 ** -5}
            scene["contact"]["stiffness"] = stiffness
            reported, _ = foretold(scene, here, f"plates, {stiffness} N/m")
            layer = found(scene, here)
            expect(abs(reported["rest"]["layer"] - layer) <= 1, f"plates at {stiffness} N/m: check says {reported['rest']}, the run {layer}")
            weight = 5 * 1 * .1 * .1 * 9.81
            expect(.8 * weight < reported["rest"]["weight"] < 1.001 * weight, f"plates weigh {weight} N: {reported['rest']}")
        reported, _ = foretold(experiment_scenes.make("house"), here, "house")
        expect(reported["rest"]["under"] == "table" and reported["rest"]["layer"] in (2, 3, 4), f"house: {reported['rest']}")

        # Nothing rests: no gravity, nothing beneath, a hung cloth, bodies that may pass.
        hung = {"name": "cloth", "material": "m", "mesh": {"kind": "grid", "size": [1, 1], "cells": [2, 2]}, "position": [0, 1, 0]}
        for name, scene in (("no gravity", {**lying([stone(2)]), "gravity": [0, 0, 0]}),
                            ("beneath", lying([stone(2, -.5)])),
                            ("passes", lying([stone(2)], ignore=[["plate", "stone"]])),
                            ("hung", {**lying([hung]), "materials": {"m": {"density": 9}},
                                      "motions": [{"body": "cloth", "vertices": [0], "path": [[0, [0, 0, 0]]]}]})):
            reported, _ = foretold(scene, here, name)
            expect(reported["rest"] is None, f"{name}: {reported['rest']}")
        # More bodies than are asked for who is above whom.
        many = [{**stone(.01), "name": f"stone {k}", "position": [0, 0, 0] if k == 0 else [.02 * (k % 50) - .5, 2 + .02 * (k // 50), 0]}
                for k in range(2100)]
        reported, _ = foretold(lying(many), here, "many bodies")
        expect(reported["rest"]["weight"] < 1.01 * .01 * 9.82, f"many bodies: {reported['rest']}")

        # Laws and materials, in both reports.
        path = os.path.join(os.environ["TACTUS_SOURCE"], "tests", "unit", "events", "scenes", "every-force.json")
        reported, text = json.loads(tactus("check", path, "--json").stdout), tactus("check", path, "--details").stdout
        with open(path) as file:
            given = json.load(file)
        contact, laws = given["contact"], reported["contact"]["laws"]
        expect([law["materials"] for law in laws] in ([["stone", "tin"], ["tin", "tin"]], [["tin", "stone"], ["tin", "tin"]]), f"laws: {laws}")
        expect([(law["stiffness"], law["restitution"], law["friction"]) for law in laws] ==
               [(contact["stiffness"], contact["restitution"], .2), (contact["stiffness"], .8, contact["friction"])], f"laws: {laws}")
        expect(text.count("\nlaw  ") == 2 and "friction 0.2" in text and reported["contact"]["friction_model"] == "anchor", text)
        for m in reported["materials"]:
            want = given["materials"][m["name"]]
            for part in ("stretch", "bend"):
                expect({**m.get(part, {})} == {**({"rest": "mesh"} if part == "bend" and part in want else {}), **want.get(part, {})},
                       f"{m['name']}: {m.get(part)} of {want.get(part)}")
                for key in ("damping", "yield", "limit", "limit_principal"):
                    value = want.get(part, {}).get(key)
                    expect(value is None or f"{key} {value:g}" in text, f"{m['name']}: {key} is not told:\n{text}")
    print(f"{checks} checks, {len(failures)} failed")
    sys.exit(1 if failures or not checks else 0)


main()
