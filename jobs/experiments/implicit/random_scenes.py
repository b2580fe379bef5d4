#!/usr/bin/python3
"""random_scenes.py [FROM TO] [--seconds S] [--pool N] [--scene SEED]: the implicit integrator on random scenes of everyday use, with hard parameters.

Each seed is one of ten kinds: a solid in a press, solids that fall on a slope, cloth that is drawn over a ball, ropes over a turning pole, what
is twisted, a stiff solid that is thrown at a soft one, a sheet between rollers, walls that close on a mixture, a pendulum with small steps, a
tower. The scheme, the step, the tolerance, the barrier's stiffness and weights, friction and its velocity, the thickness and the distance from
the origin are drawn for each seed, too, often at the ends of what makes sense. A scene has 20 to 1200 vertices and 8 to 80 steps. It is run
with --record for S seconds of processor time at most (10), and the audit must prove what was run. The seeds are shared out to N processes (1).

Prints a line per seed, then how many ended with which code, how often each sentence was said (numbers and names replaced), and how many
crossings the audit found; exit code 1 if there was one, or if a run ended other than with code 0, 2 or 3 and one sentence, or at the limit
of time. --scene prints a seed's scene. --most: Newton iterations that a step may take (300). What it shows: how often a user is left
without a result, and with which sentence."""
import argparse
import collections
import json
import math
import multiprocessing
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time

import h5py

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.abspath(os.environ.get("TACTUS", os.path.join(HERE, "..", "..", "..", "build", "tactus")))
MODELS = ["neo-hookean", "stvk", "corotated"]


def solid(r, low=3, high=9):
    material = {"density": r.choice([300, 1000, 7800]),
                "solid": {"model": r.choice(MODELS), "youngs": 10 ** r.uniform(low, high), "poisson": r.choice([0, 0.3, 0.45, 0.49])}}
    if r.random() < 0.3:
        material["solid"]["damping"] = 10 ** r.uniform(-4, -1)
    return material


def cloth(r):
    stiffness = 10 ** r.uniform(1, 5)
    return {"density": r.uniform(0.05, 0.5), "stretch": {"model": "cst", "stiffness": stiffness, "poisson": r.choice([0, 0.3])},
            "bend": {"model": "hinge", "stiffness": stiffness * 10 ** r.uniform(-9, -5)}}


def rope(r):
    return {"density": r.uniform(0.01, 0.2), "stretch": {"model": "spring", "stiffness": 10 ** r.uniform(1, 5)}}


def box(size, cells):
    return {"kind": "box", "size": size, "cells": cells, "fill": "tets"}


def plate(size, cells=1):
    return {"kind": "grid", "size": [size, size], "cells": [cells, cells]}


def turned(r):
    return [r.uniform(-180, 180) for k in range(3)]


def ball_or_box(r):
    if r.random() < 0.5:
        return {"kind": "sphere", "radius": 0.1, "level": 1, "fill": "tets"}
    return box([0.2, 0.2, 0.2], [r.randint(1, 3)] * 3)


# Each kind gives materials, bodies, motions, and perhaps loads, for a run of T seconds: sizes are of some tenths of a metre.


def press(r, T):
    """Plates close on a solid that lies askew, and open again."""
    mesh, half = ball_or_box(r), 0.21
    way = r.choice([0.12, 0.16, 0.19])
    path = [[0, [0, 0, 0]], [T / 2, [0, way, 0]], [T, [0, 0, 0]]]
    cells = r.choice([1, 1, 4])
    return {"materials": {"one": solid(r)},
            "bodies": [{"name": "low", "mesh": plate(1, cells), "position": [0, -half, 0]}, {"name": "high", "mesh": plate(1, cells), "position": [0, half, 0]},
                       {"name": "one", "material": "one", "mesh": mesh, "rotation": turned(r)}],
            "motions": [{"body": "low", "path": path}, {"body": "high", "path": [[t, [0, -y, 0]] for t, (_, y, _) in path]}]}


def slope(r, T):
    """Solids fall on a slope, where friction may hold them."""
    angle = r.uniform(5, 40)
    bodies = [{"name": "slope", "fixed": True, "mesh": plate(3, r.choice([1, 6])), "rotation": [0, 0, angle]}]
    materials = {}
    for k in range(r.randint(1, 4)):
        materials["m%d" % k] = solid(r)
        bodies.append({"name": "b%d" % k, "material": "m%d" % k, "mesh": ball_or_box(r), "rotation": turned(r),
                       "position": [r.uniform(-0.1, 0.1), 0.35 + 0.45 * k, r.uniform(-0.1, 0.1)], "velocity": [0, -10 ** r.uniform(-1, 1.5), 0]})
    return {"materials": materials, "bodies": bodies}


def drape(r, T):
    """A sheet, two corners of which are led, is drawn over a ball."""
    n = r.randint(6, 14)
    path = [[0, [0, 0, 0]], [T / 2, [r.uniform(0, 0.6), -0.2, 0]], [T, [r.uniform(-0.6, 0.6), 0.2, 0]]]
    motions = [{"body": "sheet", "vertices": [0, n], "path": path}] if r.random() < 0.7 else []
    return {"materials": {"cloth": cloth(r)},
            "bodies": [{"name": "sheet", "material": "cloth", "mesh": plate(1, n), "rotation": [r.uniform(-5, 5), 10, 0]},
                       {"name": "ball", "fixed": True, "mesh": {"kind": "sphere", "radius": 0.2, "level": r.randint(1, 3)}, "position": [0.1, -0.3, 0]}],
            "motions": motions}


def ropes(r, T):
    """Ropes lie across a pole that turns."""
    bodies = [{"name": "pole", "mesh": {"kind": "cylinder", "radius": 0.1, "height": 1, "cells": [r.choice([8, 16]), 4], "closed": True}, "rotation": [90, 0, 0]}]
    for k in range(r.randint(1, 3)):
        bodies.append({"name": "rope%d" % k, "material": "rope", "radius": r.choice([0, 0.005]), "position": [0, 0.13 + 0.03 * k, 0.2 * k - 0.2],
                       "rotation": [0, r.uniform(-20, 20), 0], "mesh": {"kind": "segments", "from": [-0.6, 0, 0], "to": [0.6, 0, 0], "cells": r.randint(15, 40)}})
    return {"materials": {"rope": rope(r)}, "bodies": bodies,
            "motions": [{"body": "pole", "rotate": {"axis": [0, 0, 1], "path": [[0, 0], [T, r.choice([90, 720])]]}}]}


def twist(r, T):
    """Both ends of a band, or of a bar, are turned against each other."""
    if r.random() < 0.5:
        n = r.randint(4, 8)
        mesh, material = {"kind": "grid", "size": [1, 0.25], "cells": [4 * n, n]}, cloth(r)
    else:
        mesh, material = box([1, 0.1, 0.1], [10, 2, 2]), solid(r)
    turn = r.choice([180, 540, 1080])
    ends = [{"box": [[-0.51, -1, -1], [-0.499, 1, 1]]}, {"box": [[0.499, -1, -1], [0.51, 1, 1]]}]
    return {"materials": {"one": material}, "bodies": [{"name": "one", "material": "one", "mesh": mesh}],
            "motions": [{"body": "one", "vertices": end, "rotate": {"axis": [1, 0, 0], "path": [[0, 0], [T, sign * turn]]}} for end, sign in zip(ends, (1, -1))]}


def throw(r, T):
    """A stiff solid is thrown at a soft one that stands on a floor."""
    n = r.randint(2, 4)
    return {"materials": {"soft": solid(r, 3, 5), "stiff": solid(r, 8, 11)},
            "bodies": [{"name": "floor", "fixed": True, "mesh": plate(4), "position": [0, -0.16, 0]},
                       {"name": "soft", "material": "soft", "mesh": box([0.3, 0.3, 0.3], [n] * 3)},
                       {"name": "stiff", "material": "stiff", "mesh": ball_or_box(r), "rotation": turned(r), "position": [r.uniform(-0.1, 0.1), 0.4, 0],
                        "velocity": [0, -10 ** r.uniform(0, 2), 0]}]}


def rollers(r, T):
    """Two rollers turn and draw a sheet between them."""
    gap, cells = r.choice([0.004, 0.01, 0.03]), [r.choice([12, 24]), 2]
    roller = {"kind": "cylinder", "radius": 0.1, "height": 0.6, "cells": cells, "closed": True}
    angle = r.choice([60, 180])
    bodies = [{"name": name, "mesh": roller, "rotation": [90, 0, 0], "position": [0.3, sign * (0.1 + gap), 0]} for name, sign in (("low", -1), ("high", 1))]
    bodies.append({"name": "sheet", "material": "cloth", "mesh": {"kind": "grid", "size": [0.6, 0.4], "cells": [12, 8]}})
    return {"materials": {"cloth": cloth(r)}, "bodies": bodies,
            "motions": [{"body": name, "rotate": {"axis": [0, 0, 1], "center": [0.3, sign * (0.1 + gap), 0], "path": [[0, 0], [T, -sign * angle]]}}
                        for name, sign in (("low", -1), ("high", 1))]}


def compactor(r, T):
    """Four walls close on a sheet, a rope and a solid, which lie one over the other."""
    way = r.uniform(0.1, 0.28)
    bodies, motions = [], []
    for k, (angle, place) in enumerate((([0, 0, 0], [0, -0.45, 0]), ([0, 0, 0], [0, 0.45, 0]), ([0, 0, 90], [-0.45, 0, 0]), ([0, 0, 90], [0.45, 0, 0]))):
        bodies.append({"name": "wall%d" % k, "mesh": plate(1.5), "rotation": angle, "position": place})
        motions.append({"body": "wall%d" % k, "path": [[0, [0, 0, 0]], [T, [-way * x / 0.45 for x in place]]]})
    bodies += [{"name": "sheet", "material": "cloth", "mesh": plate(0.6, 8), "rotation": [r.uniform(-20, 20), 0, 10], "position": [0, -0.15, 0]},
               {"name": "rope", "material": "rope", "radius": 0.005, "position": [0, 0.3, 0.05],
                "mesh": {"kind": "segments", "from": [-0.35, 0, 0], "to": [0.35, 0, 0], "cells": 20}},
               {"name": "one", "material": "one", "mesh": ball_or_box(r), "position": [0, 0.12, 0], "rotation": turned(r)}]
    return {"materials": {"cloth": cloth(r), "rope": rope(r), "one": solid(r)}, "bodies": bodies, "motions": motions}


def pendulum(r, T):
    """A rope of stiff springs with a weight swings against a post."""
    n = r.randint(1, 12)
    return {"materials": {"rope": {"stretch": {"model": "spring", "stiffness": 10 ** r.uniform(2, 6)}}},
            "bodies": [{"name": "rope", "material": "rope", "mass": 10 ** r.uniform(-3, 0), "mesh": {"kind": "segments", "from": [0, 0, 0], "to": [1, 0, 0], "cells": n}},
                       {"name": "post", "fixed": True, "mesh": {"kind": "cylinder", "radius": 0.05, "height": 1, "cells": [8, 1], "closed": True},
                        "rotation": [90, 0, 0], "position": [r.uniform(0, 0.3), -0.6, 0]}],
            "motions": [{"body": "rope", "vertices": [0], "path": [[0, [0, 0, 0]]]}]}


def tower(r, T):
    """Boards lie on each other, some turned, with gaps of little more than nothing; a ball hits the tower or it is left alone."""
    bodies = [{"name": "floor", "fixed": True, "mesh": plate(4), "position": [0, -0.05, 0]}]
    gap, y = 10 ** r.uniform(-5, -2), 0.0
    for k in range(r.randint(2, 7)):
        bodies.append({"name": "board%d" % k, "material": "board", "mesh": box([0.5, 0.08, 0.3], [r.randint(1, 3), 1, 1]), "position": [0, y + gap - 0.01, 0],
                       "rotation": [0, 90 * (k % 2), 0]})
        y += 0.08 + gap
    if r.random() < 0.5:
        bodies.append({"name": "ball", "material": "ball", "mesh": {"kind": "sphere", "radius": 0.1, "level": 1, "fill": "tets"}, "position": [0.6, 0.1, 0],
                       "velocity": [-10 ** r.uniform(0, 1.5), 0, 0]})
    return {"materials": {"board": solid(r, 5, 10), "ball": solid(r)}, "bodies": bodies}


KINDS = [press, slope, drape, ropes, twist, throw, rollers, compactor, pendulum, tower]


def integrator(r, step, most):
    settings = {"kind": "implicit", "step_s": step, "scheme": r.choice(["euler", "newmark", "bdf2"]), "newton": {"most": most}}
    if r.random() < 0.5:
        settings["newton"]["velocity_tol"] = 10 ** r.uniform(-9, -2)
        settings["solver"] = {"tolerance": r.choice([1e-4, 1e-8])}
    if r.random() < 0.25:
        settings["barrier"] = {"stiffness": 10 ** r.uniform(-2, 9)}
    elif r.random() < 0.25:
        settings["barrier"] = {"stiffness": 10 ** r.uniform(2, 7), "weights": "area"}
    if r.random() < 0.4:
        settings["friction"] = {"velocity": 10 ** r.uniform(-6, -1), "lags": r.choice([0, 1, 2])}
    return settings


def make(seed, most):
    """The scene of a seed, the same with any version of the program."""
    r = random.Random(seed)
    kind = KINDS[seed % len(KINDS)]
    steps, step = r.choice([8, 16, 40]), 2.0 ** -r.randint(2, 9)
    if kind is pendulum:
        steps, step = 80, step / 8
    T = steps * step
    scene = {"format": "tactus-scene/1", "name": "%s %d" % (kind.__name__, seed), "time": {"end": T, "frame": T / 4},
             "gravity": r.choice([[0, 0, 0], [0, -9.81, 0]]) if kind is press else [0, -9.81, 0],
             "contact": {"thickness": r.choice([1e-5, 1e-4, 1e-3, 3e-3, 3e-3]), "friction": r.choice([0, 0, 0.2, 0.5, 1.0])}, **kind(r, T)}
    scene["integrator"] = integrator(r, step, most)
    if r.random() < 0.1:
        move = [r.choice([0, 1e3, -1e5]) for k in range(3)]
        for body in scene["bodies"]:
            body["position"] = [a + b for a, b in zip(body.get("position", [0, 0, 0]), move)]
        for motion in scene.get("motions", []):
            if "rotate" in motion:
                motion["rotate"]["center"] = [a + b for a, b in zip(motion["rotate"].get("center", [0, 0, 0]), move)]
            elif isinstance(motion.get("vertices"), dict):
                motion["vertices"]["box"] = [[a + b for a, b in zip(corner, move)] for corner in motion["vertices"]["box"]]
        for motion in scene.get("motions", []):
            if "rotate" in motion and isinstance(motion.get("vertices"), dict):
                motion["vertices"]["box"] = [[a + b for a, b in zip(corner, move)] for corner in motion["vertices"]["box"]]
    return kind.__name__, scene


def bounded(seconds):
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    return limit


def call(words, seconds):
    """Exit code and output; code 'time' where the limit was met."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, preexec_fn=bounded(seconds))
    return ("time" if done.returncode in (-24, -9) else done.returncode), done.stdout


def same(sentence):
    """A sentence without its numbers and names, so that equal ones are counted together."""
    sentence = re.sub(r"'[^']*'|`[^`]*`", "_", sentence)
    sentence = re.sub(r"[-+]?\d[\d.]*(e[-+]?\d+)?", "#", sentence)
    return re.sub(r"\s+", " ", sentence)


def last_frame(out):
    try:
        with h5py.File(os.path.join(out, "frames.h5")) as file:
            return max([float(file["frames"][key]["time"][()]) for key in file["frames"]], default=0)
    except OSError:
        return 0


def run(job):
    """(seed, kind, code, sentence, warnings, crossings, open pieces, Newton iterations, seconds)."""
    seed, seconds, most = job
    kind, scene = make(seed, most)
    begin = time.time()
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "scene.json"), os.path.join(folder, "run")
        with open(path, "w") as file:
            json.dump(scene, file)
        code, text = call([PROGRAM, "run", path, "-o", out, "--quiet", "--record"], seconds)
        said = [line[8:] for line in text.splitlines() if line.startswith("tactus: ") and ": warning: " not in line]
        warned = [line[8:] for line in text.splitlines() if "was done in" in line]
        newton, until, crossing, open_pieces = 0, last_frame(out), 0, 0
        if os.path.exists(os.path.join(out, "steps.csv")):
            with open(os.path.join(out, "steps.csv")) as file:
                names = file.readline().split(",")
                newton = sum(int(line.split(",")[names.index("newton")]) for line in file)
        if until > 0 and code in (0, 3):
            proof, text = call([PROGRAM, "audit", out, "--json"] + ["--until", repr(until)] * (code != 0), 4 * seconds)
            told = json.loads(text[text.index("{"):]) if proof in (0, 1) else {"pieces": {"crossing": 0, "open": 1}, "start_crossing": 0}
            crossing, open_pieces = told["pieces"]["crossing"] + told["start_crossing"], told["pieces"]["open"]
    return seed, kind, code, said[0] if len(said) == 1 else " | ".join(said), len(warned), crossing, open_pieces, newton, time.time() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("first", type=int, nargs="?", default=0)
    parser.add_argument("end", type=int, nargs="?", default=200)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--pool", type=int, default=1)
    parser.add_argument("--most", type=int, default=300)
    parser.add_argument("--scene", type=int)
    given = parser.parse_args()
    if given.scene is not None:
        print(json.dumps(make(given.scene, given.most)[1], indent=1))
        return 0
    codes, sentences, wrong, crossings, opens, newton, halved = collections.Counter(), collections.Counter(), 0, 0, 0, 0, 0
    with multiprocessing.Pool(given.pool) as pool:
        for seed, kind, code, sentence, warned, crossing, piece, iterations, seconds in pool.imap(run, [(k, given.seconds, given.most) for k in range(given.first, given.end)]):
            bad = crossing > 0 or piece > 0 or code not in (0, 2, 3, "time") or (code in (2, 3) and (not sentence or " | " in sentence))
            wrong += bad
            codes[code] += 1
            crossings += crossing
            opens += piece
            newton += iterations
            halved += warned > 0
            if code in (2, 3):
                sentences[code, same(sentence)] += 1
            print("%s seed %d, %s: %s, %d iterations, %.1f s%s%s" % ("FAILED " if bad else "ok     ", seed, kind, "code %s" % code if code != "time" else "out of time",
                                                                  iterations, seconds, ", %d crossing, %d open" % (crossing, piece) if crossing + piece else "",
                                                                  ": " + re.sub(r"\s+", " ", sentence) if sentence else ""), flush=True)
    print("\n%d scenes: %s; %d Newton iterations; steps were halved in %d; %d crossings, %d open pieces; %d wrong" %
          (given.end - given.first, ", ".join("%d %s" % (n, "code %s" % c if c != "time" else "out of time") for c, n in sorted(codes.items(), key=str)),
           newton, halved, crossings, opens, wrong))
    for (code, sentence), n in sentences.most_common():
        print("%4d times, code %d: %s" % (n, code, sentence))
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
