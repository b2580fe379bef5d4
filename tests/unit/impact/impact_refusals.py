#!/usr/bin/python3
"""impact_refusals.py: what the integrator for impact cannot do is refused by name, in one sentence, with exit code 2; motions that bring surfaces
together end the run with 3, and what it has written until then stays proven.

If it fails, a key is ignored without a word, or a run goes on that cannot be right."""

import json
import os
import re
import sys
import tempfile

from runs import call, check, failures

SCENE = {"format": "tactus-scene/1", "time": {"end": 0.4, "frame": 0.04}, "gravity": [0, -9.81, 0],
         "contact": {"thickness": 0.004, "friction": 0.3, "restitution": 0.5}, "integrator": {"kind": "impact", "step_s": 0.02},
         "materials": {"cloth": {"density": 0.1, "stretch": {"model": "cst", "stiffness": 100}}},
         "bodies": [{"name": "grains", "mass": 0.01, "radius": 0.02, "position": [0, 0.3, 0], "mesh": {"kind": "points", "vertices": [[0, 0, 0], [0.1, 0, 0]]}},
                    {"name": "floor", "mesh": {"kind": "grid", "size": [1, 1], "cells": [1, 1]}, "fixed": True},
                    {"name": "plate", "mesh": {"kind": "grid", "size": [0.3, 0.3], "cells": [2, 2]}, "position": [0, 0.1, 0]}],
         "motions": [{"body": "plate", "path": [[0, [0, 0, 0]], [0.4, [0, 0, 0]]]}]}
SPHERE = '{"name":"ball","rigid":{"mass":1},"mesh":{"kind":"sphere","radius":0.05,"level":1},"position":[0,0.5,0]}'

# Assignments, and what the sentence must say.
REFUSED = [
    (["integrator.step_s=0"], r"integrator\.step_s: is 0; it must be greater than 0"),
    (["integrator.step_s=0.03"], r"integrator\.step_s: is 0\.03 s, and time\.frame 0\.04 s is no multiple of it"),
    (["output.checkpoint_every_t=0.05"], r"output\.checkpoint_every_t: is 0\.05 s, which is no multiple of integrator\.step_s"),
    (["integrator.operator=reflection"], r"integrator\.operator: .*is no known value; did you mean \"reflections\"\?"),
    (["integrator.scheme=euler"], r"integrator\.scheme: is no known key"),
    (["integrator.most=-1"], r"integrator\.most: is -1; it must be"),
    (["integrator.friction.passes=0"], r"integrator\.friction\.passes: is 0; it must be"),
    (["integrator.solver.tolerance=0.1"], r"integrator\.solver\.tolerance: is 0\.1; it must be"),
    (["contact.thickness=0"], r"contact\.thickness: is 0, so nothing would touch"),
    (["contact.friction_model=kinetic"], r"contact\.friction_model: is \"kinetic\", which"),
    (['contact.friction={"static":0.5,"kinetic":0.4}'], r"contact\.friction: tells static from kinetic friction"),
    (["discovery.mode=kds"], r"discovery\.mode: .* integrator for impact has one mode of discovery only"),
    (["clocks.mode=free"], r"clocks\.mode: is \"free\""),
    (["bodies.grains.rolls=true"], r"bodies: has \"rolls\" for \"grains\""),
    (['motions=[]', "bodies.plate.material=cloth"], r"bodies: has \"plate\", which moves freely and can change its shape"),
    (['loads=[{"body":"plate","pressure":3}]'], r"loads\[0\]: is a pressure, which acts on surfaces"),
    (["bodies.2=" + SPHERE, "motions=[]", 'joints=[{"kind":"ball","a":{"body":"ball","at":[0,0.5,0]}}]'],
     r"joints: are not possible with integrator\.kind impact;"),
    (["bodies.2=" + SPHERE, 'motions=[{"body":"ball","path":[[0,[0,0,0]],[1,[0,1,0]]]}]'], r"motions\[0\]: moves \"ball\", which is rigid"),
    (["bodies.2=" + SPHERE, "motions=[]", 'loads=[{"body":"ball","acceleration":[1,0,0]}]'], r"loads\[0\]: acts on \"ball\", which is rigid"),
    (["bodies.2=" + SPHERE, "motions=[]", 'loads=[{"body":"ball","pressure":3}]'], r"loads\[0\]: is a pressure, which acts on surfaces"),
]


def main():
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "scene.json"), os.path.join(folder, "out")
        with open(path, "w") as file:
            json.dump(SCENE, file)
        for assignments, sentence in REFUSED:
            code, text = call("check", path, *[word for a in assignments for word in ("--set", a)])
            lines = [line for line in text.splitlines() if line.startswith("tactus: ") and ": warning: " not in line]
            check(code == 2 and len(lines) == 1 and re.search(sentence, text), "refused: " + assignments[0], text)
        code, text = call("check", path, "--details")
        check(code == 0 and "20 of 0.02 s, generalised reflections\n" in text, "check: a sound scene", text)
        code, text = call("run", path, "-o", out, "--quiet", "--until", "0.05")
        check(code == 2 and "use a multiple of integrator.step_s" in text and not os.path.exists(out + "/energy.csv"),
              "refused: an end between two steps", text)
        code, text = call("run", path, "-o", out, "--quiet", "--overwrite", "--set", "motions.0.path=[[0,[0,0,0]],[0.4,[0,0.3,0]]]",
                          "--set", "bodies.floor.position=[0,0.35,0]")
        check(code == 3 and re.search(r"^tactus: no velocities that all contacts allow were found from t = .*, not even in integrator.step_s / 4096; the nearest pair is", text, re.M), "fails: grains between plates", text)
        code, text = call("run", path, "-o", out, "--quiet", "--overwrite", "--set", "contact.thickness=1e-9", "--set", "bodies.grains.velocity=[0,1000,0]")
        check(code == 3 and re.search(r"^tactus: vertex 0 of body `grains` leaves the range of numbers at t = .*; slow it down, or end the run before$", text, re.M),
              "fails: grains fly too far away", text)
        # A grain that a motion takes for some time into the floor.
        code, text = call("run", path, "-o", out, "--quiet", "--record", "--overwrite", "--set",
                          'motions=[{"body":"grains","vertices":[0],"path":[[0.01,[0,0,0]],[0.39,[0,-0.4,0]]],"release":true}]', "--set",
                          "bodies.plate.fixed=true", "--set", "bodies.plate.position=[3,0,0]")
        check(code == 3 and re.search(r"^tactus: motions bring surfaces together from t = .* the nearest pair is vertex 0 of body `grains`", text, re.M),
              "fails: a grain driven into the floor", text)
        with open(os.path.join(out, "status.json")) as file:
            status = json.load(file)
        check(status["state"] == "failed" and 0.2 < status["time"] < 0.4, "status.json says so", json.dumps(status))
        code, text = call("audit", out, "--until", "0.24")
        check("0 crossing, 0 open" in text and code == 0, "what was run is proven", text)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
