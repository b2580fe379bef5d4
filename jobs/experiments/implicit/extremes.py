#!/usr/bin/python3
"""extremes.py FROM TO [--seconds S] [--ranks N]: the implicit integrator on random scenes that are hard for it.

Each seed is a scene of one of eight kinds: soups of triangles, needles, closing plates, stiffness ratios up to 1e8, places 1e5 m away, a
thickness of 1e-6 m, soft and stiff solids that meet fast, and a mixture. Each is run with --record (under all schemes in turn, on N
ranks, 2, every seventh) and must be done, or end with one sentence and exit code 3, or 2 where the start is refused; what was run must
be proven by the audit, and no number of frames.h5 may be other than finite. Prints a line per scene and counts; exit code 1 if one
fails. S: seconds a run may take (120), after which it is stopped and goes on from its checkpoint on one rank, ten times as long: then it
must have ended. If it fails, a step was accepted that is none, or a run does not end."""
import argparse
import collections
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import time

import h5py
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.abspath(os.environ.get("TACTUS", os.path.join(HERE, "..", "..", "..", "build", "tactus")))


def cloth(r, stiffness, density=0.15):
    return {"density": density, "stretch": {"model": "cst", "stiffness": stiffness, "poisson": 0.3},
            "bend": {"model": "hinge", "stiffness": stiffness * 10 ** r.uniform(-9, -6)}}


def solid(youngs, model):
    return {"density": 1000, "solid": {"model": model, "youngs": youngs, "poisson": 0.4}}


def soup(r):
    """Triangles of any shape, thrown at each other."""
    bodies = []
    for k in range(r.randint(6, 16)):
        centre = [r.uniform(-0.3, 0.3) for c in range(3)]
        corners = [[centre[c] + r.uniform(-0.15, 0.15) for c in range(3)] for i in range(3)]
        bodies.append({"name": "t%d" % k, "material": "cloth", "mesh": {"kind": "inline", "vertices": corners, "triangles": [[0, 1, 2]]},
                       "velocity": [-10 * x for x in centre]})
    return {"materials": {"cloth": cloth(r, 10 ** r.uniform(1, 5))}, "bodies": bodies}, 0.01


def needles(r):
    """Thin triangles fall onto each other and a floor."""
    bodies = [{"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [1, 1], "cells": [2, 2]}, "position": [0, -0.2, 0]}]
    for k in range(r.randint(5, 12)):
        x, z = r.uniform(-0.2, 0.2), r.uniform(-0.2, 0.2)
        y, turn, thin = 0.06 * k, r.uniform(0, 2 * math.pi), 10 ** r.uniform(-4, -2)
        c, s = math.cos(turn), math.sin(turn)
        bodies.append({"name": "n%d" % k, "material": "cloth", "velocity": [0, -r.uniform(0, 20), 0],
                       "mesh": {"kind": "inline", "triangles": [[0, 1, 2]],
                                "vertices": [[x - 0.1 * c, y, z - 0.1 * s], [x + 0.1 * c, y + 0.01, z + 0.1 * s], [x - thin * s, y + 0.005, z + thin * c]]}})
    return {"materials": {"cloth": cloth(r, 10 ** r.uniform(2, 4))}, "bodies": bodies}, 0.01


def plates(r):
    """Two scripted plates close on a cloth; now and then they leave it no room."""
    gap = r.choice([0.03, 0.012, 0.004])
    way = 0.1 - gap / 2
    plate = {"kind": "grid", "size": [0.5, 0.5], "cells": [2, 2]}
    bodies = [{"name": "low", "mesh": plate, "position": [0, -0.1, 0]}, {"name": "high", "mesh": plate, "position": [0, 0.1, 0]},
              {"name": "cloth", "material": "cloth", "mesh": {"kind": "grid", "size": [0.3, 0.3], "cells": [5, 5]},
               "rotation": [r.uniform(-8, 8), 0, r.uniform(-8, 8)]}]
    motions = [{"body": "low", "path": [[0, [0, 0, 0]], [0.2, [0, way, 0]]]}, {"body": "high", "path": [[0, [0, 0, 0]], [0.2, [0, -way, 0]]]}]
    return {"materials": {"cloth": cloth(r, 10 ** r.uniform(1, 4))}, "bodies": bodies, "motions": motions}, 0.01


def ratios(r):
    """Beside each other what is softer and stiffer by eight decades."""
    soft, hard = 10 ** r.uniform(0, 1), 10 ** r.uniform(7, 8)
    bodies = [{"name": "soft", "material": "soft", "mesh": {"kind": "grid", "size": [0.4, 0.4], "cells": [5, 5]}},
              {"name": "hard", "material": "hard", "mesh": {"kind": "grid", "size": [0.3, 0.3], "cells": [4, 4]}, "position": [0, 0.05, 0],
               "velocity": [0, -3, 0]},
              {"name": "ball", "fixed": True, "mesh": {"kind": "sphere", "radius": 0.1, "level": 1}, "position": [0, -0.13, 0]}]
    return {"materials": {"soft": cloth(r, soft), "hard": cloth(r, hard)}, "bodies": bodies}, 0.01


def away(r):
    """The whole scene is 1e5 m from the origin."""
    scene, step = r.choice([needles, ratios, solids])(r)
    move = [r.choice([-1e5, 1e5, 3e4]), r.choice([0, 1e5]), r.choice([0, -1e5])]
    for body in scene["bodies"]:
        body["position"] = [a + b for a, b in zip(body.get("position", [0, 0, 0]), move)]
    return scene, step


def thin(r):
    """A thickness of 1e-6 m."""
    scene, step = r.choice([plates, ratios, solids])(r)
    scene["contact"] = {"thickness": 1e-6, "friction": r.choice([0, 0.5])}
    return scene, step


def solids(r):
    """Boxes of tetrahedra at up to 100 m/s."""
    model = r.choice(["neo-hookean", "stvk", "corotated"])
    box = {"kind": "box", "size": [0.1, 0.1, 0.1], "cells": [2, 2, 2], "fill": "tets"}
    bodies = [{"name": "a", "material": "one", "mesh": box, "position": [0, 0.15, 0], "rotation": [r.uniform(0, 90), r.uniform(0, 90), 0],
               "velocity": [0, -10 ** r.uniform(0, 2), 0]},
              {"name": "b", "material": "two", "mesh": box},
              {"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [2, 2], "cells": [1, 1]}, "position": [0, -0.1, 0]}]
    return {"materials": {"one": solid(10 ** r.uniform(3, 9), model), "two": solid(10 ** r.uniform(3, 9), model)}, "bodies": bodies}, 0.01


def mixture(r):
    scene, step = ratios(r)
    more, step = solids(r)
    for body in more["bodies"][:2]:
        body["position"] = [body.get("position", [0, 0, 0])[0], body.get("position", [0, 0, 0])[1] + 0.4, 0]
        scene["bodies"].append(body)
    scene["materials"].update(more["materials"])
    return scene, step


KINDS = [soup, needles, plates, ratios, away, thin, solids, mixture]


def make(seed):
    r = random.Random(seed)
    scene, step = KINDS[seed % len(KINDS)](r)
    scene = {"format": "tactus-scene/1", "time": {"end": 0.2, "frame": 0.02}, "gravity": [0, -9.81, 0],
             "contact": {"thickness": 0.002, "friction": r.choice([0, 0.4])}, **scene}
    scene["integrator"] = {"kind": "implicit", "step_s": step, "scheme": ["euler", "newmark", "bdf2"][seed // len(KINDS) % 3],
                           "newton": {"most": 200}}
    return scene


def finite(out):
    try:
        with h5py.File(os.path.join(out, "frames.h5")) as file:
            return all(numpy.isfinite(file["frames"][key][name][()]).all() for key in file["frames"] for name in ("position", "velocity"))
    except OSError:
        return True  # nothing was written


def clock(seconds):
    return "%02d:%02d:%02d" % (seconds // 3600, seconds // 60 % 60, seconds % 60)


def run(folder, seed, seconds, ranks):
    """What became of it, and whether that is as it must be."""
    path, out = os.path.join(folder, "scene.json"), os.path.join(folder, "run")
    with open(path, "w") as file:
        json.dump(make(seed), file)
    words = [PROGRAM, "run", path, "-o", out, "--overwrite", "--quiet", "--record", "--wall-limit", clock(seconds)]
    if seed % 7 == 3 and ranks > 1:
        words = ["mpirun", "-n", str(ranks)] + words
    subprocess.run(["rm", "-rf", out], check=True)
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=10 * seconds + 300)
        if done.returncode == 75:
            words = [PROGRAM, "run", "--restart", out, "--quiet", "--record", "--wall-limit", clock(10 * seconds)]
            done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=20 * seconds + 300)
    except subprocess.TimeoutExpired:
        return "hangs", "", False
    said = [line for line in done.stdout.splitlines() if line.startswith("tactus: ") and ": warning: " not in line]
    sentence = said[0] if said else ""
    if done.returncode == 2:  # of surfaces that cross already, or start too near for doubles to tell
        return "refused", sentence, len(said) == 1 and bool(re.search(r"cross|touch|apart|near", sentence))
    words = [PROGRAM, "audit", out]
    if done.returncode in (3, 75):
        with h5py.File(os.path.join(out, "frames.h5")) as file:  # a record ends with a frame
            until = max(float(file["frames"][key]["time"][()]) for key in file["frames"])
        if not until > 0:
            return "failed", sentence, done.returncode == 3 and len(said) == 1
        words += ["--until", repr(until)]
    audit = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    good = audit.returncode == 0 and finite(out)
    name = {0: "done", 3: "failed", 75: "stopped"}.get(done.returncode, "code %d" % done.returncode)
    if not good:
        sentence += " | " + audit.stdout.strip().replace("\n", " ")[-300:]
    return name, sentence, good and (done.returncode == 0 or (done.returncode == 3 and len(said) == 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("first", type=int)
    parser.add_argument("end", type=int)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--ranks", type=int, default=2)
    given = parser.parse_args()
    counts, wrong = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(given.first, given.end):
            begin = time.time()
            name, sentence, good = run(folder, seed, given.seconds, given.ranks)
            wrong += not good
            counts[name] += 1
            print("%s seed %d, %s: %s, %.0f s %s" % ("ok     " if good else "FAILED ", seed, KINDS[seed % len(KINDS)].__name__, name,
                                                     time.time() - begin, re.sub(r"\s+", " ", sentence)), flush=True)
    print("%d scenes: %s; %d wrong" % (given.end - given.first, ", ".join("%d %s" % (n, k) for k, n in counts.most_common()), wrong))
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
