#!/usr/bin/python3
"""rigid_ways.py [--random FIRST..LAST]: rigid bodies, cloth and particles together, to the last bit by every way to run them.

One run on one rank is the reference. Against it: all pairs, short windows, other frames, two and three ranks that have
parts of the scene from the start, two that hand vertices over after each pass, and a run that is stopped twice within
chords and goes on on other numbers of ranks; with TACTUS_OTHER, the program that another compiler built. If it fails, a plan of a rigid body follows from something that is not of the
scene. Then a scene in which a vertex is let go at the instant of a row, when a rigid body alone has an event.

With --random instead: random scenes of rigid solids, shells, wires and points among cloth and particles, each audited and
compared with all pairs and two ranks.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

TACTUS = os.environ["TACTUS"]
END = 0.3
failures = []


def scene():
    rng = random.Random(3)
    kinds = [{"kind": "box", "size": [.1, .1, .1], "cells": [1, 1, 1]}, {"kind": "box", "size": [.06, .2, .03], "cells": [1, 2, 1]},
             {"kind": "tetrahedron", "edge": .12}, {"kind": "octahedron", "edge": .1},
             {"kind": "torus", "radii": [.08, .025], "cells": [8, 5]}]
    bodies = [{"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [1, 1], "cells": [1, 1]}}]
    for i in range(6):
        bodies.append({"name": f"b{i}", "rigid": {"density": 700}, "mesh": kinds[i % 5],
                       "position": [rng.uniform(-.04, .04), .2 + .18 * i, rng.uniform(-.04, .04)],
                       "rotation": [rng.uniform(-90, 90) for _ in range(3)],
                       "angular_velocity": [rng.uniform(-5, 5) for _ in range(3)], "velocity": [0, -2, 0]})
    bodies.append({"name": "cloth", "material": "cloth", "position": [0, .06, 0],
                   "mesh": {"kind": "grid", "size": [.3, .3], "cells": [4, 4]}})
    bodies.append({"name": "dust", "mass": .01, "radius": .01, "position": [0, .035, 0],
                   "mesh": {"kind": "points", "lattice": {"count": [3, 1, 3], "spacing": .08}}})
    return {"format": "tactus-scene/1", "time": {"end": END, "frame": .05}, "gravity": [0, -9.81, 0],
            "output": {"fields": ["pose"]}, "contact": {"thickness": .002, "stiffness": 2000, "restitution": .2, "friction": .4},
            "materials": {"cloth": {"density": .3, "stretch": {"model": "cst", "stiffness": 300, "poisson": .3},
                                    "bend": {"model": "hinge", "stiffness": 1e-4}}}, "bodies": bodies,
            "loads": [{"body": "b1", "force": [.5, 0, 0], "vertices": [0, 3]}, {"body": "b0", "pressure": 20}]}


def run(folder, out, *arguments, ranks=1, program=TACTUS, **environment):
    command = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
    done = subprocess.run([*command, program, "run", "scene.json", "-o", out, "--quiet", *arguments], cwd=folder, text=True,
                          env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        failures.append(f"{out}: {done.returncode}: {done.stdout}")


def compare(folder, out, *arguments):
    done = subprocess.run([TACTUS, "diff", "plain", out, *arguments], cwd=folder, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    print(f"{'equal' if done.returncode == 0 else 'DIFFERENT'}: {out}")
    if done.returncode:
        failures.append(f"{out}: {done.stdout}")


def random_rigid(rng):
    solids = [{"kind": "box", "size": [.1, .1, .1], "cells": [1, 1, 1]}, {"kind": "box", "size": [.06, .2, .03], "cells": [1, 2, 1]},
              {"kind": "tetrahedron", "edge": .12}, {"kind": "octahedron", "edge": .1}, {"kind": "icosahedron", "edge": .06},
              {"kind": "torus", "radii": [.08, .025], "cells": [8, 5]}]
    kind = rng.random()
    if kind < .65:
        return {"rigid": rng.choice([{"density": rng.uniform(100, 3000)}, {"mass": rng.uniform(.05, 2)}]), "mesh": rng.choice(solids)}
    if kind < .8:
        sheet = {"kind": "grid", "size": [.15, .1], "cells": [2, 2]}
        return {"rigid": True, "material": "sheet", "mesh": rng.choice([solids[0], sheet])}
    if kind < .9:
        return {"rigid": True, "material": "wire", "mesh": {
            "kind": "segments", "vertices": [[-.08, 0, 0], [0, 0, 0], [0, .05, 0], [.05, 0, .06]], "edges": [[0, 1], [1, 2], [1, 3]]}}
    return {"rigid": True, "mass": .05, "mesh": {"kind": "points", "vertices": [[0, 0, 0], [.05, 0, 0], [0, .05, 0], [0, 0, .06]]}}


def random_scene(seed):
    rng = random.Random(seed)
    made = scene()
    bodies = [made["bodies"][0]]
    made["time"] = {"end": .3, "frame": .03}
    del made["loads"]
    made["contact"] = {"thickness": .002, "stiffness": rng.choice([500, 2000]), "restitution": rng.choice([0, .2, .7, 1]),
                       "friction": rng.choice([0, .3, .8])}
    made["materials"].update(sheet={"density": rng.choice([1, 4])}, wire={"density": .2})
    for i in range(rng.randint(3, 7)):
        if rng.random() < .75 or i == 0:
            body = {**random_rigid(rng), "rotation": [rng.uniform(-90, 90) for _ in range(3)],
                    "angular_velocity": [rng.uniform(-20, 20) for _ in range(3)]}
        else:
            body = rng.choice([{"material": "cloth", "mesh": {"kind": "grid", "size": [.25, .25], "cells": [4, 4]}},
                               {"mass": .01, "radius": 0, "mesh": {"kind": "points", "lattice": {"count": [3, 1, 3], "spacing": .06}}}])
        bodies.append({**body, "name": f"b{i}", "position": [rng.uniform(-.05, .05), .23 * (i + 1), rng.uniform(-.05, .05)],
                       "velocity": [rng.uniform(-.3, .3), rng.uniform(-3, 0), rng.uniform(-.3, .3)]})
    return {**made, "bodies": bodies}


def random_scenes(first, last):
    for seed in range(first, last + 1):
        before = len(failures)
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "scene.json"), "w") as file:
                json.dump(random_scene(seed), file)
            run(folder, "plain", "--record")
            if len(failures) == before:
                audit = subprocess.run([TACTUS, "audit", "plain"], cwd=folder, text=True, stdout=subprocess.PIPE)
                if audit.returncode:
                    failures.append(f"seed {seed}: {audit.stdout}")
                run(folder, "pairs", "--discover", "all-pairs")
                compare(folder, "pairs")
                run(folder, "two", ranks=2, TACTUS_TEST_DEAL="1")
                compare(folder, "two")
        print(f"seed {seed}: {len(failures) - before} failures", flush=True)


def let_go():
    """With free clocks hardly any force ticks at the instant of a row; a rigid body has an event then, and a vertex is let go."""
    return {"format": "tactus-scene/1", "time": {"end": .03125, "frame": .015625}, "gravity": [0, -9.81, 0], "clocks": {"mode": "free"}, "contact": {"thickness": .001},
            "materials": {"shell": {"density": .5, "stretch": {"model": "cst", "stiffness": 300, "poisson": 0}}},
            "bodies": [{"name": "ring", "material": "shell", "position": [0, 1, 0], "mesh": {"kind": "torus", "radii": [.2, .08], "cells": [5, 3]}},
                       {"name": "plate", "rigid": True, "mass": .05, "position": [1, 0, 0], "angular_velocity": [1, 2, -3], "mesh": {"kind": "grid", "size": [.3, .3], "cells": [2, 1]}}],
            "motions": [{"body": "ring", "vertices": [2], "path": [[0, [0, 0, 0]], [.015625, [.01, .01, 0]]], "release": True}]}


def main():
    if sys.argv[1:2] == ["--random"]:
        random_scenes(*map(int, sys.argv[2].split("..")))
        print("\n".join(failures))
        sys.exit(1 if failures else 0)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "scene.json"), "w") as file:
            json.dump(scene(), file)
        run(folder, "plain")
        with open(os.path.join(folder, "plain", "run.json")) as file:
            counters = json.load(file)["counters"]
        assert counters["rigid_plans"] > 10000 and counters["committed"]["penalty"] > 10000, counters
        ways = {"pairs": (["--discover", "all-pairs"], {}), "windows": (["--set", f"discovery.window_s=[{END / 600},{END / 600}]"], {}),
                "two": ([], {"ranks": 2, "TACTUS_TEST_DEAL": "1"}), "three": ([], {"ranks": 3, "TACTUS_TEST_DEAL": "1"}),
                "handed": ([], {"ranks": 2, "TACTUS_TEST_MIGRATE": "7"})}
        for out, (arguments, more) in ways.items():
            run(folder, out, *arguments, **more)
            compare(folder, out)
        if "TACTUS_OTHER" in os.environ:
            run(folder, "other", program=os.environ["TACTUS_OTHER"])
            compare(folder, "other")
        run(folder, "frames", "--set", "time.frame=0.0125")
        compare(folder, "frames")
        run(folder, "again", "--until", "0.1234")
        run(folder, "again", "--restart", "again", "--until", "0.2345", ranks=2, TACTUS_TEST_DEAL="1")
        run(folder, "again", "--restart", "again", ranks=3)
        compare(folder, "again")
        done = subprocess.run([TACTUS, "diff", "plain/checkpoint.h5", "again/checkpoint.h5"], cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            failures.append(done.stdout)
        with open(os.path.join(folder, "scene.json"), "w") as file:
            json.dump(let_go(), file)
        run(folder, "plain", "--overwrite")
        run(folder, "two", "--overwrite", ranks=2, TACTUS_TEST_DEAL="1")
        compare(folder, "two")
    print("\n".join(failures))
    sys.exit(1 if failures else 0)


main()
