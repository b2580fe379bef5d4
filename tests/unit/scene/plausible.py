#!/usr/bin/python3
"""plausible.py: numbers and meshes that are valid and hardly meant are told in one line each, by `check` and at a run's start, on any
number of ranks alike; and none of the scenes of jobs/ and docs/examples is doubted.  If this failed, a wrong unit would cost a first
user an afternoon, or warnings would be read by nobody."""
import copy
import glob
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

os.environ["OMPI_MCA_ess_singleton_isolated"] = "1"
TACTUS, SOURCE = os.path.abspath(os.environ["TACTUS"]), os.environ["TACTUS_SOURCE"]
failures = []


def expect(condition, *what):
    if not condition:
        failures.append(what)
        print("FAILS:", *what, file=sys.stderr)


def warned(command, *words, ranks=1):
    done = subprocess.run((["mpirun", "-n", str(ranks)] if ranks > 1 else []) + [TACTUS, command, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    expect(done.returncode == 0, command, words, done.returncode, done.stderr)
    return [line.removeprefix("tactus: warning: ") for line in done.stderr.splitlines() if line.startswith("tactus: warning: ")]


SHEET = {"format": "tactus-scene/1", "time": {"end": 1e-4, "frame": 1e-4}, "gravity": [0, -9.81, 0], "contact": {"thickness": .004},
         "materials": {"m": {"density": .15, "stretch": {"model": "cst", "stiffness": 60}}},
         "bodies": [{"name": "thing", "material": "m", "mesh": {"kind": "grid", "size": [.5, .5], "cells": [12, 12]}}]}
SOLID = {**SHEET, "materials": {"m": {"density": 1100, "solid": {"model": "neo-hookean", "youngs": 5e6, "poisson": .45}}},
         "bodies": [{"name": "thing", "material": "m", "mesh": {"kind": "box", "size": [.1, .1, .1], "cells": [2, 2, 2], "fill": "tets"}}]}
ROPE = {**SHEET, "materials": {"m": {"density": .05, "stretch": {"model": "spring", "stiffness": 1e4}}},
        "bodies": [{"name": "thing", "material": "m", "mesh": {"kind": "segments", "from": [0, 0, 0], "to": [1, 0, 0], "cells": 20}}]}
IMPLICIT = {"integrator": {"kind": "implicit", "step_s": 1e-4}}
BALL = {"kind": "sphere", "radius": .1, "level": 2}


def changed(scene, path, value):
    scene = copy.deepcopy(scene)
    at = scene
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return scene


def mesh(spec):
    """Vertices and triangles as the program makes them."""
    with open("m.json", "w") as f:
        json.dump(spec, f)
    words = [w for key, value in spec.items() if key != "kind" for w in ("--" + key, json.dumps(value))]
    subprocess.run([TACTUS, "mesh", spec["kind"], *words, "-o", "m.obj"], check=True, stdout=subprocess.DEVNULL)
    rows = [line.split() for line in open("m.obj")]
    return [[float(v) for v in r[1:]] for r in rows if r[0] == "v"], [[int(v) - 1 for v in r[1:]] for r in rows if r[0] == "f"]


def soup(spec, noise):
    """Each triangle with vertices of its own, which differ by some noise: an STL of a careless program."""
    x, triangles = mesh(spec)
    rng = np.random.default_rng(3)
    apart = [list(map(float, np.array(x[i]) + noise * rng.uniform(-1, 1, 3))) for t in triangles for i in t]
    return {"kind": "inline", "vertices": apart, "triangles": [[3 * k, 3 * k + 1, 3 * k + 2] for k in range(len(triangles))]}


def turned(spec, which):
    x, triangles = mesh(spec)
    return {"kind": "inline", "vertices": x, "triangles": [[t[0], t[2], t[1]] if which(k) else t for k, t in enumerate(triangles)]}


def balloon(spec, pascal=10):
    return {**changed(SHEET, ["bodies", 0, "mesh"], spec), "loads": [{"body": "thing", "pressure": pascal}]}


MM = {"units": {"length": "mm", "mass": "t", "time": "s"}}
IN_MM = {**SOLID, **MM, "gravity": [0, -9810, 0], "contact": {"thickness": .4}, "materials": {"m": {"density": 1.1e-9, "solid": {"model": "neo-hookean", "youngs": 5, "poisson": .45}}},
         "bodies": [{"name": "thing", "material": "m", "mesh": {"kind": "box", "size": [100, 100, 100], "cells": [2, 2, 2], "fill": "tets"}}]}
DENSITY, STIFF, YOUNGS = ["materials", "m", "density"], ["materials", "m", "stretch", "stiffness"], ["materials", "m", "solid", "youngs"]
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    cases = [
        # With units numbers are judged in SI: the same solid in mm, t, s; a cloth of 150 kg; gravity of metres in a scene of millimetres.
        (IN_MM, None), ({**SHEET, "units": "SI"}, None),
        (changed(IN_MM, DENSITY, 1.1e-12), "is 1.1e-12 in mm, t and s, which is 1.1 kg/m^3: no solid is that light"),
        (changed(IN_MM, YOUNGS, 5e-5), "is 5e-05 in mm, t and s, which is 50 Pa: nothing that keeps its shape is that soft"),
        (changed({**SHEET, "units": "SI"}, DENSITY, 150), "is 1.5e+02 kg/m^2, but of triangles it is in kg/m^2"),
        (changed(SHEET, DENSITY, 150), None),
        (changed(IN_MM, ["gravity", 1], -9.81), "gravity: is 9.81 mm/s^2, which is 0.00981 m/s^2; the Earth's 9.81 m/s^2 would be 9810"),
        (changed(changed(IN_MM, ["bodies", 0, "mesh", "size"], [1e9] * 3), ["contact", "thickness"], 1), 'units.length: is "mm", so the scene is 1e+06 m wide'),
        (SHEET, None), (SOLID, None), (ROPE, None), ({**SHEET, **IMPLICIT}, None), ({**SOLID, **IMPLICIT}, None),
        (changed({**SOLID, **IMPLICIT}, YOUNGS, 5), "materials.m.solid.youngs: is 5 Pa"),
        (changed({**SOLID, **IMPLICIT}, YOUNGS, 1000), None),
        (changed(SOLID, DENSITY, 1), "materials.m.density: is 1 kg/m^3: no solid is that light"),
        (changed(SOLID, DENSITY, 1e5), "no solid is that heavy"),
        (changed(SOLID, DENSITY, 20), None),
        (changed(SHEET, DENSITY, 1000), "materials.m.density: is 1e+03, but of triangles it is in kg/m^2"),
        (changed({**SHEET, **IMPLICIT}, STIFF, 1e9), "materials.m.stretch.stiffness: is 1e+09 N/m with a density of 0.15"),
        (changed(changed({**SHEET, **IMPLICIT}, STIFF, 2e8), DENSITY, 7.8), "lampshade"),  # steel of a millimetre is no cloth, but it is possible
        (changed({**ROPE, **IMPLICIT}, STIFF, 1e9), "materials.m.stretch.stiffness: is 1e+09 N with a density of 0.05"),
        (changed(SHEET, ["contact", "thickness"], .025), 'contact.thickness: is 0.025 m, over half of the edges of "thing"'),
        (changed(SHEET, ["contact"], {"thickness": .025, "rest_fraction": .5}), None),
        (changed({**SHEET, **IMPLICIT}, STIFF, 1e4), "lampshade"),
        (changed(changed({**SHEET, **IMPLICIT}, STIFF, 1e4), ["bodies", 0, "mesh", "cells"], [30, 30]), None),
        (changed(changed({**SHEET, **IMPLICIT}, STIFF, 1e4), ["gravity"], [0, 0, 0]), None),
        (balloon(BALL), None), (balloon(turned(BALL, lambda k: False)), None),
        (balloon(turned(BALL, lambda k: True)), 'loads[0].pressure: presses "thing" together'),
        (balloon(turned(BALL, lambda k: True), -10), None),
        (changed(SHEET, ["bodies", 0, "mesh"], turned(BALL, lambda k: k in (7, 100))), "bodies[0].mesh: has 6 edges at which one of the two triangles"),
        (changed(SHEET, ["bodies", 0], {"name": "thing", "fixed": True, "mesh": turned(BALL, lambda k: k == 7)}), None),
        (changed({**SHEET, "contact": {"thickness": 0}}, ["bodies", 0, "mesh"], soup(BALL, 1e-9)), "bodies[0].mesh: has 798 vertices of 960 that lie within"),
        (changed(SHEET, ["bodies", 0, "mesh"], {**soup(BALL, 1e-9), "weld": 1e-7}), "weld: 798 of 960 vertices"),
    ]
    for k, (scene, sentence) in enumerate(cases):
        with open("scene.json", "w") as f:
            json.dump(scene, f)
        said = warned("check", "scene.json")
        expect((said == []) if sentence is None else (len([s for s in said if sentence in s]) == 1), k, sentence, said)
        expect(len(said) == (sentence is not None) or "lampshade" in " ".join(said), k, sentence, said)
        # The sentences are of the same code: a run of each kind of doubt is enough.
        if k - 8 in (-3, 0, 16, 23, 25):
            for ranks in (1, 3) if k == 31 else (3,):
                expect(warned("run", "scene.json", "-o", "out", "--overwrite", "--until", "1e-4", ranks=ranks) == said, k, "a run on", ranks, "tells otherwise", said)
    with open("scene.json", "w") as f:
        json.dump(SHEET, f)
    said = warned("run", "scene.json", "-o", "out", "--overwrite", "--until", "1e-4", ranks=4)
    expect(len(said) == 1 and "has 169 vertices that move, which are few for 4 ranks" in said[0], "few vertices", said)
    for path in sorted(glob.glob(SOURCE + "/jobs/*.json") + glob.glob(SOURCE + "/docs/examples/*.json") + glob.glob(SOURCE + "/jobs/experiments/*/*.json")):
        with open(path) as f:
            if isinstance(json.load(f), dict):
                expect(warned("check", path) == [], path, "is doubted")
print("plausible.py: %d scenes, %d failures" % (len(cases), len(failures)))
sys.exit(1 if failures else 0)
