#!/usr/bin/python3
"""impact_equality.py [FROM TO [particles|bodies]]: the integrator for impact gives the same bits on 1, 2, 3 and 4 ranks, after restarts on another number of them,
where all ranks solve an island that one would solve, with another skin of the candidates, and built by another compiler (TACTUS_OTHER); and every run is proven by the audit.
So do a pile of 1296 discs, whose problems have so many unknowns that an interior point solves them, and a wall of boxes.

Random small scenes of particles, and of rigid bodies and particles, with fixed and scripted bodies, restitution and friction, each told by
its seed.  If it fails, a run
cannot be repeated on another machine, or something passed through something."""

import json
import os
import random
import sys
import tempfile

from runs import call, table


def make(seed):
    r = random.Random(seed)
    grains = {"name": "grains", "material": "sand", "mass": 0.01, "radius": 0.02, "random_speed": [0, 1.5], "seed": seed, "position": [0, 0.15, 0],
              "mesh": {"kind": "points", "lattice": {"count": [3, 4, 3], "spacing": 0.045}}}
    big = {"name": "big", "mass": 0.5, "radius": 0.05, "velocity": [0, r.uniform(-2, 0), 0], "position": [0.02, 0.4, 0],
           "mesh": {"kind": "points", "vertices": [[0, 0, 0], [0.11, 0.01, 0]]}}
    cup = {"name": "cup", "fixed": True, "mesh": {"kind": "box", "size": [0.32, 1, 0.3], "cells": [3, 4, 2]}, "position": [0.03, 0.5, 0]}
    rod = {"name": "rod", "mesh": {"kind": "capsule", "radius": 0.03, "length": 0.12}, "rotation": [90, 0, 0], "position": [-0.08, 0.75, 0]}
    paddle = {"name": "paddle", "mesh": {"kind": "grid", "size": [0.1, 0.1], "cells": [1, 1]}, "position": [0.05, 0.7, 0]}
    return {"format": "tactus-scene/1", "time": {"end": 0.4, "frame": 0.08}, "gravity": [0, -9.81, 0],
            "contact": {"thickness": 0.002, "restitution": r.choice([0, 0.5, 1]), "friction": r.choice([0, 0.4]),
                        "pairs": [{"materials": ["sand", "sand"], "restitution": r.choice([0.2, 0.9])}]},
            "integrator": {"kind": "impact", "step_s": 0.01}, "materials": {"sand": {}}, "bodies": [grains, big, cup, rod, paddle],
            "motions": [{"body": "rod", "path": [[0, [0, 0, 0]], [0.4, [0.1, -0.35, 0]]]},
                        {"body": "paddle", "rotate": {"axis": [1, 0, 0], "center": [0.05, 0.7, 0], "path": [[0, 0], [0.4, 60]]}},
                        {"body": "big", "vertices": [1], "path": [[0.1, [0, 0, 0]], [0.2, [-0.01, -0.03, 0]]], "release": True}],
            "loads": [{"body": "grains", "vertices": [0, 7], "force": [0.05, 0, 0], "path": [[0, 0], [0.3, 1]]}],
            "output": {"contacts": True, "reactions": True}}


def make_bodies(seed):
    """Boxes, balls, a stick, two open sheets, a chain of segments, pieces of one mesh, and grains in a cup with a paddle."""
    r = random.Random(seed)
    shapes = [{"kind": "box", "size": [.1, .1, .1], "cells": [1, 1, 1]}, {"kind": "box", "size": [.16, .06, .1], "cells": [2, 1, 1]},
              {"kind": "sphere", "radius": .05, "level": 1}, {"kind": "box", "size": [.05, .2, .05], "cells": [1, 2, 1]}]
    bodies = []
    for k in range(5):
        bodies.append({"name": "body%d" % k, "rigid": {"density": r.choice([500, 1000, 2000])}, "mesh": r.choice(shapes),
                       "position": [r.uniform(-.1, .1), .25 + .22 * k, r.uniform(-.1, .1)], "rotation": [r.uniform(-90, 90) for _ in range(3)],
                       "velocity": [r.uniform(-1, 1), r.uniform(-2, 0), r.uniform(-1, 1)], "angular_velocity": [r.uniform(-8, 8) for _ in range(3)]})
    bodies.append({"name": "sheet", "material": "sheet", "rigid": True, "mesh": {"kind": "grid", "size": [.15, .1], "cells": [2, 2]},
                   "position": [0, 1.4, 0], "rotation": [20, 0, 30]})
    bodies.append({"name": "bent", "material": "wire", "rigid": True, "position": [0, 1.55, 0],
                   "mesh": {"kind": "segments", "vertices": [[0, 0, 0], [.1, 0, 0], [.1, .05, .05], [0, .05, .1]]}})
    stones = [[x + .12 * k, y, z] for k in range(2) for x, y, z in ((0, 0, 0), (.08, 0, 0), (0, .08, 0), (0, 0, .08))]
    bodies.append({"name": "stones", "rigid": {"density": 1500, "pieces": True}, "position": [-.1, 1.7, 0],
                   "mesh": {"kind": "inline", "vertices": stones,
                            "triangles": [[4 * k + i for i in t] for k in range(2) for t in ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))]}})
    bodies.append({"name": "grains", "mass": .05, "radius": .02, "position": [0, .07, 0], "mesh": {"kind": "points", "lattice": {"count": [3, 2, 3], "spacing": .06}}})
    bodies.append({"name": "cup", "fixed": True, "mesh": {"kind": "box", "size": [.6, 4, .6], "cells": [2, 2, 2]}, "position": [0, 2, 0]})
    bodies.append({"name": "paddle", "mesh": {"kind": "grid", "size": [.1, .1], "cells": [1, 1]}, "position": [.22, .03, .02]})
    return {"format": "tactus-scene/1", "time": {"end": .56, "frame": .08}, "gravity": [0, -9.81, 0],
            "contact": {"thickness": .002, "restitution": r.choice([0, .5, .9, 1]), "friction": r.choice([0, .3, .8])},
            "integrator": {"kind": "impact", "step_s": .01}, "materials": {"sheet": {"density": 3}, "wire": {"density": 1}}, "bodies": bodies,
            "motions": [{"body": "paddle", "rotate": {"axis": [0, 0, 1], "center": [.22, .03, .02], "path": [[0, 0], [.8, 30]]}}],
            "loads": [{"body": "body1", "vertices": [0], "force": [.5, 0, .2], "path": [[0, 0], [.6, 1]]}],
            "output": {"contacts": True, "reactions": True, "fields": ["pose"]}}


def must(ok, what, text):
    if not ok:
        print("FAILED  %s\n%s" % (what, text))
        sys.exit(1)


def case(folder, seed, kind):
    scene = os.path.join(folder, "scene.json")
    with open(scene, "w") as file:
        json.dump((make if kind == "particles" else make_bodies)(seed), file)

    def run(name, *words, **how):
        code, text = call("run", *words, "-o", os.path.join(folder, name), "--quiet", "--record", **how)
        must(code == 0, "seed %d, %s: exit code %d" % (seed, name, code), text)

    def same(name, one="one"):
        code, text = call("diff", os.path.join(folder, one), os.path.join(folder, name))
        must(code == 0, "seed %d: one rank and %s differ" % (seed, name), text)

    def proven(name):
        code, text = call("audit", os.path.join(folder, name))
        must(code == 0, "seed %d, %s: the audit does not prove it" % (seed, name), text)

    run("one", scene, "--overwrite")
    proven("one")
    ranks = 2 + seed % 3
    run("ranks", scene, "--overwrite", ranks=ranks)
    same("ranks")
    proven("ranks")
    stop, other = random.Random(seed).choice(["0.08", "0.15", "0.24"]), 1 + seed % 2
    run("restarted", scene, "--overwrite", "--until", stop, ranks=ranks)
    code, text = call("run", "--restart", os.path.join(folder, "restarted"), "--quiet", "--record", ranks=other)
    must(code == 0, "seed %d: restart: exit code %d" % (seed, code), text)
    same("restarted")
    short = ("--set", "time.end=0.16", "--overwrite")
    run("short", scene, *short)
    run("giants", scene, *short, ranks=max(2, 5 - ranks), TACTUS_TEST_GIANT=random.Random(seed).choice(["9", "40"]))
    same("giants", "short")
    if os.environ.get("TACTUS_OTHER"):
        run("other", scene, "--overwrite", TACTUS=os.environ["TACTUS_OTHER"])
        same("other")
    run("skins", scene, "--overwrite", TACTUS_TEST_SKIN=random.Random(seed).choice(["0.3", "4"]))
    same("skins")
    print("ok      %s, seed %d: 1 and %d ranks, stopped at %s s and gone on with on %d" % (kind, seed, ranks, stop, other))


def make_pile(n):
    """Discs in rows that lie in the gaps of those below, in a box; all that are near count as touching from the start."""
    discs = [[2.02 * i + 1.01 * (j % 2), 1.75 * j, 0] for j in range(n) for i in range(n)]
    left, right, top = -1.03, 2.02 * (n - .5) + 1.03, 1.75 * n + 5
    return {"format": "tactus-scene/1", "time": {"end": .02, "frame": .01}, "gravity": [0, -9.81, 0],
            "contact": {"thickness": .05, "restitution": .5, "friction": .3}, "integrator": {"kind": "impact", "step_s": .01},
            "bodies": [{"name": "discs", "mass": 1, "radius": 1, "mesh": {"kind": "points", "vertices": discs}},
                       {"name": "box", "fixed": True, "mesh": {"kind": "segments", "vertices": [[left, top, 0], [left, -1.03, 0], [right, -1.03, 0], [right, top, 0]]}}]}


def compare(folder, name, what, ways):
    """One rank, which the audit proves, and other ways to run a scene."""
    scene = os.path.join(folder, name + ".json")
    with open(scene, "w") as file:
        json.dump(what, file)

    def run(way, *words, **how):
        code, text = call("run", scene, *words, "-o", os.path.join(folder, way), "--quiet", "--overwrite", **how)
        must(code == 0, "%s, %s: exit code %d" % (name, way, code), text)
        code, text = call("diff", os.path.join(folder, name), os.path.join(folder, way))
        must(code == 0, "%s: one rank and %s differ" % (name, way), text)

    run(name, "--record")
    code, text = call("audit", os.path.join(folder, name))
    must(code == 0, name + ": the audit does not prove it", text)
    for way, how in ways:
        run(way, **how)
    if os.environ.get("TACTUS_OTHER"):
        run("other", TACTUS=os.environ["TACTUS_OTHER"])


def make_wall(wide, high):
    """Boxes in a wall, each over a gap of the row below, and four that fly at it faster than they are long in a step."""
    def box(name, at, **more):
        return {"name": name, "rigid": {"density": 1000}, "mesh": {"kind": "box", "size": [.1, .06, .1], "cells": [1, 1, 1]}, "position": at, **more}

    bodies = [box("box%d" % (wide * j + i), [.101 * i + .05 * (j % 2), .031 + .061 * j, 0]) for j in range(high) for i in range(wide)]
    bodies += [box("thrown%d" % k, [.2 * k + .1, .1 + .12 * k, .25], velocity=[0, 0, -11 - k], angular_velocity=[5, 3 * k, 2]) for k in range(4)]
    floor = {"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [4, 4], "cells": [1, 1]}}
    return {"format": "tactus-scene/1", "time": {"end": .04, "frame": .02}, "gravity": [0, -9.81, 0], "contact": {"thickness": .002, "restitution": .3, "friction": .5},
            "integrator": {"kind": "impact", "step_s": .01}, "bodies": bodies + [floor], "output": {"fields": ["pose"]}}


def wall(folder):
    """An island of rigid bodies so large that its supports start from those before; long flights, for which only what has changed is searched again."""
    compare(folder, "wall", make_wall(8, 8), (("ranks", {"ranks": 3}), ("skins", {"TACTUS_TEST_SKIN": "4"})))
    steps = table(os.path.join(folder, "wall"), "steps.csv")
    must(min(row["island"] for row in steps) > 400 and max(row["rounds"] for row in steps) > 3, "wall: its island is not large, or nothing joins it", str(steps))
    print("ok      a wall of 64 boxes at which others fly: 1 and 3 ranks, another skin")


def make_row():
    """A ball that a wall stops, and balls far behind it that get other flights in the rounds after that.

    The list of pairs holds then at another share of its paths, on which the first ball has gone."""
    step, radius, balls, x = 1 / 64, .02, [], 0
    for name, mass, gap, speed in (("last", 1e9, 0, .00475 / step), ("b1", 1e6, .003, 0), ("b2", 1e3, .0102, 0), ("b3", 1, .0125, 0), ("b4", 1e-3, .025, 0),
                                   ("first", 1, .06, .1 / step)):
        x += 2 * radius + gap if balls else 0
        balls.append({"name": name, "mass": mass, "material": "soft" if name == "first" else "hard", "mesh": {"kind": "ball", "radius": radius},
                      "position": [x, 0, 0], "velocity": [speed, 0, 0]})
    wall = {"name": "wall", "fixed": True, "material": "wall", "mesh": {"kind": "grid", "size": [1, 1], "cells": [1, 1]}, "position": [x + radius + .05, 0, 0], "rotation": [0, 0, 90]}
    idle = [{"name": "idle%d" % k, "mass": 1, "material": "hard", "mesh": {"kind": "ball", "radius": radius}, "position": [.2 * k, 3, 0]} for k in range(20)]
    return {"format": "tactus-scene/1", "time": {"end": 8 * step, "frame": step}, "gravity": [0, 0, 0], "integrator": {"kind": "impact", "step_s": step},
            "contact": {"thickness": .01, "restitution": 1, "pairs": [{"materials": ["soft", "wall"], "restitution": 0}]},
            "materials": {name: {"density": 1} for name in ("hard", "soft", "wall")}, "bodies": balls + [wall] + idle}


def row(folder):
    compare(folder, "row", make_row(), (("ranks", {"ranks": 2}),))
    print("ok      a row of balls of which one is stopped: 1 and 2 ranks")


def pile(folder):
    compare(folder, "pile", make_pile(36), (("ranks", {"ranks": 3}), ("giants", {"ranks": 2, "TACTUS_TEST_GIANT": "1000"})))
    steps = table(os.path.join(folder, "pile"), "steps.csv")
    must(min(row["rows"] for row in steps) > 3500 and max(row["iterations"] for row in steps) < 1800, "pile: its problems are not large, or no interior point solves them", "")
    print("ok      a pile of %d discs: 1, 2 and 3 ranks" % 36 ** 2)


def main():
    seeds = range(int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else (1, 2)
    kinds = sys.argv[3:] or ("particles", "bodies")
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            for kind in kinds if len(sys.argv) > 2 or seed == 1 else ("particles",):
                case(folder, seed, kind)
        if len(sys.argv) <= 2:
            pile(folder)
            wall(folder)
            row(folder)


if __name__ == "__main__":
    main()
