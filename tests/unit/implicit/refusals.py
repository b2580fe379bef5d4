#!/usr/bin/python3
"""refusals.py: what the implicit integrator cannot do is refused by name, in one sentence, with exit code 2; a step that has no solution
ends the run with 3, and what it has written until then stays proven.

If it fails, a key is ignored without a word, or a run goes on that cannot be right."""

import json
import os
import re
import subprocess
import sys
import tempfile

from program import TACTUS, check, failures

SCENE = {"format": "tactus-scene/1", "time": {"end": 0.4, "frame": 0.04}, "gravity": [0, -9.81, 0],
         "contact": {"thickness": 0.004, "friction": 0.3}, "integrator": {"kind": "implicit", "step_s": 0.02},
         "materials": {"cloth": {"density": 0.1, "stretch": {"model": "cst", "stiffness": 100}, "bend": {"model": "hinge", "stiffness": 1e-5}}},
         "bodies": [{"name": "sheet", "material": "cloth", "position": [0, 0.05, 0],
                     "mesh": {"kind": "grid", "size": [0.2, 0.2], "cells": [3, 3]}},
                    {"name": "floor", "mesh": {"kind": "grid", "size": [1, 1], "cells": [1, 1]}, "fixed": True},
                    {"name": "plate", "mesh": {"kind": "grid", "size": [0.3, 0.3], "cells": [2, 2]}, "position": [0, 0.1, 0]}],
         "motions": [{"body": "plate", "path": [[0, [0, 0, 0]], [0.4, [0, 0, 0]]]}]}

# Assignments, and what the sentence must say.
REFUSED = [
    (["integrator.kind=implicits"], r"integrator\.kind: \"implicits\": is no known value; did you mean \"implicit\"\?"),
    (["integrator.step_s=0"], r"integrator\.step_s: is 0; it must be greater than 0"),
    (["integrator.step_s=0.03"], r"integrator\.step_s: is 0\.03 s, and time\.frame 0\.04 s is no multiple of it"),
    (["integrator.step_s=0.08"], r"integrator\.step_s: is 0\.08 s, and time\.frame 0\.04 s is no multiple of it"),
    (["integrator.step_s=1e-9"], r"integrator\.step_s: is 1e-09 s; .* it must be at least"),
    (["time.end=0.41"], r"integrator\.step_s: is 0\.02 s, and time\.end 0\.41 s is no multiple of it"),
    (["output.checkpoint_every_t=0.05"], r"output\.checkpoint_every_t: is 0\.05 s, which is no multiple of integrator\.step_s"),
    (['output.histories=[{"name":"all","body":"sheet","every":0.04},{"name":"rim","body":"sheet","every":0.03}]'],
     r"output\.histories\[1\]\.every: is 0\.03 s, which is no multiple of integrator\.step_s, 0\.02 s"),
    (["integrator.scheme=leapfrog"], r"integrator\.scheme: .*is no known value; known: euler, newmark, bdf2"),
    (["integrator.newton.most=0"], r"integrator\.newton\.most: is 0; it must be"),
    (["integrator.newton.velocity_tol=-1"], r"velocity_tol: is -1; it must be greater than 0"),
    (["integrator.barrier.stiffness=0"], r"integrator\.barrier\.stiffness: is 0; it must be greater than 0"),
    (["integrator.barrier.stiffness=soft"], r"integrator\.barrier\.stiffness: .*is no known value; known: adaptive"),
    (["integrator.friction.lags=-1"], r"integrator\.friction\.lags: is -1; it must be"),
    (["integrator.solver.kind=pets"], r"integrator\.solver\.kind: .*is no known value; did you mean \"petsc\"\?"),
    (["integrator.solver.options=-pc_type gamg"], r"integrator\.solver\.options: are for the kind \"petsc\""),
    (["integrator.barrier.weights=area"], r"integrator\.barrier\.weights: is \"area\", and integrator\.barrier\.stiffness is adaptive"),
    (["integrator.barrier.weights=volume"], r"integrator\.barrier\.weights: .*is no known value; known: pairs, area"),
    (["integrator.solver.tolerance=2"], r"integrator\.solver\.tolerance: is 2; it must be"),
    (["contact.restitution=0.5"], r"contact\.restitution: is 0\.5, which the implicit integrator cannot promise"),
    (['contact.pairs=[{"materials":["cloth","cloth"],"restitution":1}]'], r"contact\.pairs\[0\]\.restitution: is 1, which"),
    (["contact.friction_model=kinetic"], r"contact\.friction_model: is \"kinetic\", which"),
    (["discovery.mode=kds"], r"discovery\.mode: .* implicit integrator has one mode of discovery only"),
    (["clocks.mode=free"], r"clocks\.mode: is \"free\""),
    (["contact.thickness=1e-51"], r"contact\.thickness: is 1e-51 m; the implicit integrator needs 0 or at least 1e-50 m"),
    (["materials.cloth.stretch.limit_principal=0.1", "bodies.sheet.mesh={\"kind\":\"cube\",\"edge\":0.05}"],
     r"materials\.cloth\.stretch\.limit_principal is 0\.1, but at vertex 0 the rest shape of body `sheet` turns by 90 degrees"),
    (["integrator.kind=asynchronous"], r"integrator\.step_s: is no known key"),
]


def call(*words):
    done = subprocess.run([TACTUS, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stdout + done.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "scene.json"), os.path.join(folder, "out")
        with open(path, "w") as file:
            json.dump(SCENE, file)
        for assignments, sentence in REFUSED:
            code, text = call("check", path, *[word for a in assignments for word in ("--set", a)])
            lines = [line for line in text.splitlines() if line.startswith("tactus: ") and ": warning: " not in line]
            check(code == 2 and len(lines) == 1 and re.search(sentence, text), "refused: " + assignments[0], text)
        code, text = call("check", path)
        check(code == 0 and "20 of 0.02 s, implicit Euler\n" in text, "check: a sound scene", text)
        code, text = call("run", path, "-o", out, "--quiet", "--until", "0.05")
        check(code == 2 and "use a multiple of integrator.step_s" in text and not os.path.exists(out + "/energy.csv"),
              "refused: an end between two steps", text)
        # The plate is driven into the floor, with the sheet in between.
        code, text = call("run", path, "-o", out, "--quiet", "--record", "--overwrite", "--set", "motions.0.path=[[0,[0,0,0]],[0.4,[0,-0.11,0]]]",
                          "--set", "integrator.newton.most=60")
        check(code == 3 and re.search(r"^tactus: the step from t = .* cannot bring what is scripted to its place: after 60 Newton "
                                      r"iterations .* the smallest gap is .* m, of ", text, re.M), "fails: a plate driven into the floor", text)
        with open(os.path.join(out, "status.json")) as file:
            status = json.load(file)
        check(status["state"] == "failed" and 0.2 < status["time"] < 0.4, "status.json says so", json.dumps(status))
        code, text = call("audit", out, "--until", repr(status["time"]))
        check("0 crossing, 0 open" in text and code == 0, "what was run is proven", text)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
