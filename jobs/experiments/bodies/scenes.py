#!/usr/bin/python3
"""scenes.py write|figures NAME [RUN]: makes jobs/scenes/NAME.json, or says what a run of it shows beside what mechanics wants.

    jobs/experiments/bodies/scenes.py write cradle
    build/tactus run jobs/cradle.json && jobs/experiments/bodies/scenes.py figures cradle cradle.run

cradle         Five steel balls on wires: the first, let go at 40 degrees, throws the last one.
gears          12 teeth, with a motor, drive 18 teeth, with a load.
wrecking-ball  A ball on a chain swings into a wall of bricks.
gripper        Three fingers with motors close on a cup, and lift it by friction alone.
cloth-boxes    A cloth is thrown over boxes.

Meshes that no kind of mesh makes (teeth, a cup, balls on wires) are written down in the scene. `figures` ends with code 1 if
what it asks for does not hold."""
import json
import math
import os
import sys

import h5py
import numpy

from icosphere import icosphere

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", "..", ".."))
FALL = [0, -9.81, 0]


# ---- meshes ----

def inline(vertices, triangles, digits=7):
    return {"kind": "inline", "vertices": [[round(float(x), digits) for x in v] for v in vertices],
            "triangles": [[int(k) for k in t] for t in triangles]}


def joined(*parts):
    """One mesh of several closed surfaces: (vertices, triangles) each."""
    vertices, triangles, first = [], [], 0
    for x, faces in parts:
        vertices += list(x)
        triangles += [[first + k for k in face] for face in faces]
        first += len(x)
    return vertices, triangles


def box(size, centre=(0, 0, 0)):
    x = numpy.array([[sx, sy, sz] for sx in (-.5, .5) for sy in (-.5, .5) for sz in (-.5, .5)]) * size + centre
    quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    return x, [[q[a], q[b], q[c]] for q in quads for a, b, c in ((0, 1, 2), (0, 2, 3))]


def rod(a, b, thick):
    """A square rod between two points."""
    a, b = numpy.array(a, float), numpy.array(b, float)
    along = (b - a) / numpy.linalg.norm(b - a)
    side = numpy.cross(along, [1., 0, 0])
    side /= numpy.linalg.norm(side)
    up = numpy.cross(side, along)
    x, faces = box([numpy.linalg.norm(b - a), thick, thick])
    return (a + b) / 2 + x @ numpy.array([along, up, side]), faces


def ball(radius, level):
    """A sphere with a triangle square to x on either side: an icosahedron whose faces are cut in four, level times."""
    x, faces = icosphere(level)
    normal = x[faces[-1]].mean(axis=0)
    normal /= numpy.linalg.norm(normal)
    side = numpy.cross(normal, [0, 0, 1.])
    side /= numpy.linalg.norm(side)
    return radius * x @ numpy.array([normal, side, numpy.cross(normal, side)]).T, faces


def turned(v, degrees):
    """About z."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return [c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]]


def places(v, digits=7):
    return [round(float(x), digits) + 0. for x in v]


def floor(size, name="floor"):
    return {"name": name, "fixed": True, "mesh": {"kind": "plane", "size": size}}


# ---- the scenes ----

LEVEL = 2
CRADLE = {"radius": .02, "long": .2, "gap": 1e-4, "count": 5, "raised": 40}


def cradle():
    """Balls with wires, each on a hinge; they hang one gap apart, so that they meet in turn."""
    radius, long, gap, count, raised = CRADLE.values()
    wires = [rod([0, radius * 1.02, side * radius * .2], [0, long - .002, side * .06], .0008) for side in (-1, 1)]
    mesh = inline(*joined(ball(radius, LEVEL), *wires))
    bodies, joints = [], []
    for k in range(count):
        pivot = [(k - (count - 1) / 2) * (2 * radius * FLAT + gap), .25, 0]
        angle = -raised if k == 0 else 0
        place = numpy.array(pivot) + turned([0, -long, 0], angle)
        bodies.append({"name": f"ball {k + 1}", "rigid": {"density": 7800}, "position": places(place), "rotation": [0, 0, angle], "mesh": mesh})
        joints.append({"name": f"hinge {k + 1}", "kind": "hinge", "a": {"body": f"ball {k + 1}", "at": places(pivot)}, "b": {"body": None},
                       "axis": [0, 0, 1], "span": .1, "slack": .0001, "stiffness": 1e5})
    bodies += [{"name": f"beam {side}", "fixed": True, "position": [0, .254, z], "mesh": {"kind": "box", "size": [.24, .008, .008], "cells": [1, 1, 1]}}
               for side, z in (("left", -.06), ("right", .06))]
    return {"time": {"end": 2, "frame": 1 / 64}, "gravity": FALL,
            "contact": {"thickness": 5e-5, "stiffness": 1e6, "restitution": 1}, "bodies": bodies, "joints": joints, "output": {"fields": ["pose"]}}


FLAT = float(ball(1, LEVEL)[0][:, 0].max())  # how far a ball's flat triangles lie from its middle, in radii
MODULE, TEETH, PRESSURE = .004, (12, 18), math.radians(25)
LOAD, SPEED, RAMP = .05, 6., .125


def gear(teeth, turn):
    """The outline of a gear with involute teeth, one of which points to x, turned by an angle; counterclockwise."""
    pitch = MODULE * teeth / 2
    base, top, root = pitch * math.cos(PRESSURE), pitch + .9 * MODULE, pitch - 1.15 * MODULE
    half = (math.pi / 2 - .03) / teeth  # of a tooth at the pitch circle, with some backlash

    def involute(r):
        a = math.acos(min(1, base / r))
        return math.tan(a) - a
    radii = [max(base, root + 1e-4) + (top - max(base, root + 1e-4)) * k / 4 for k in range(5)]
    flank = [(r, half + involute(pitch) - involute(r)) for r in radii]
    points = []
    for k in range(teeth):
        middle = turn + 2 * math.pi * k / teeth
        side = [(root, flank[0][1] + .01)] + flank
        points += [(r, middle - a) for r, a in side] + [(r, middle + a) for r, a in side[::-1]]
    return [(r * math.cos(a), r * math.sin(a)) for r, a in points]


def gears():
    from collisions import prism
    apart = MODULE * sum(TEETH) / 2
    bodies, joints = [], []
    for k, teeth in enumerate(TEETH):
        outline = gear(teeth, 0 if k == 0 else math.pi + math.pi / teeth)
        mesh = prism(outline, .012)
        name, place = ("driver", "wheel")[k], [k * apart, 0, 0]
        bodies.append({"name": name, "rigid": {"density": 7800}, "position": place, "mesh": inline(mesh["vertices"], mesh["triangles"])})
        motor = {"speed": SPEED, "most": 1, "path": [[0, 0], [RAMP, 1]]} if k == 0 else {"torque": LOAD}
        joints.append({"name": f"axle of the {name}", "kind": "hinge", "a": {"body": name, "at": place}, "b": {"body": None}, "axis": [0, 0, 1],
                       "span": .03, "slack": 5e-5, "stiffness": 1e5, "motor": motor})
    return {"time": {"end": .5, "frame": 1 / 64}, "contact": {"thickness": 1.5e-4, "stiffness": 1e4, "restitution": 0, "friction": .1},
            "bodies": bodies, "joints": joints, "output": {"fields": ["pose"], "reactions": True}}


def wrecking_ball():
    links, pitch, angle, brick = 9, .03, -65, (.08, .04, .04)
    pivot, bodies, joints = numpy.array([0, .4, 0]), [], []
    radius = .05

    def along(s):
        return places(pivot + turned([0, -s, 0], angle))
    for k in range(links):
        bodies.append({"name": f"link {k + 1}", "rigid": {"density": 7800}, "position": along((k + .5) * pitch), "rotation": [0, 0, angle],
                       "mesh": {"kind": "box", "size": [[.012, .026, .004], [.004, .026, .012]][k % 2], "cells": [1, 1, 1]}})
        joints.append({"name": f"joint {k + 1}", "kind": "ball", "a": {"body": f"link {k + 1}", "at": along(k * pitch)},
                       "b": {"body": f"link {k}" if k else None}, "slack": .0004})
    bodies.append({"name": "ball", "rigid": {"density": 7800}, "position": along(links * pitch + radius), "rotation": [0, 0, angle],
                   "mesh": {"kind": "sphere", "radius": radius, "level": 2}})
    joints.append({"name": "eye", "kind": "ball", "a": {"body": "ball", "at": along(links * pitch)}, "b": {"body": f"link {links}"}, "slack": .0004})
    ignore = [[f"link {k}", f"link {k + 1}"] for k in range(1, links)] + [[f"link {links}", "ball"], ["ball", "ground"]]
    gap = .0011
    for row in range(6):
        shift = .5 if row % 2 else 0
        for k in range(5 - row % 2):
            z = (k - 2 + shift) * (brick[0] + gap)
            bodies.append({"name": f"brick {row + 1}.{k + 1}", "rigid": {"density": 1000}, "position": places([.08, (row + .5) * brick[1] + (row + 1) * gap, z]),
                           "mesh": {"kind": "box", "size": [brick[2], brick[1], brick[0]], "cells": [1, 1, 1]}})
    bodies.append(floor([4, 3], "ground"))  # which the ball on its chain cannot reach
    return {"time": {"end": 1.25, "frame": 1 / 64}, "gravity": FALL,
            "contact": {"thickness": .001, "stiffness": 5000, "restitution": .2, "friction": .5, "ignore": ignore}, "bodies": bodies, "joints": joints}


CUP = {"low": .029, "high": .031, "tall": .08, "wall": .003}


def cup(around=16):
    """An open cup that widens upwards, about y, from y = 0: the outer side, the rim, the inner side and both bottoms."""
    low, high, tall, wall = CUP.values()
    rings = [(low, 0), (high, tall), (high - wall, tall), (low - wall, wall)]
    x = [[r * math.cos(2 * math.pi * k / around), y, r * math.sin(2 * math.pi * k / around)] for r, y in rings for k in range(around)]
    faces = []
    for ring in range(3):
        for k in range(around):
            a, b = ring * around + k, ring * around + (k + 1) % around
            faces += [[a, a + around, b], [b, a + around, b + around]]
    x += [[0, 0, 0], [0, wall, 0]]
    for k in range(around):
        j = (k + 1) % around
        faces += [[4 * around, k, j], [4 * around + 1, 3 * around + j, 3 * around + k]]
    return x, faces


def gripper():
    """A palm hangs at three corners of a plate that a motion lifts; its fingers have a hinge each."""
    reach, high, thick = .052, .163, .012
    corners = [places([x, 0, y]) for x, y, _ in (turned([.03, 0, 0], 120 * k) for k in range(3))]
    bodies = [{"name": "cup", "rigid": {"density": 1200}, "position": [0, .0006, 0], "mesh": inline(*cup())},
              {"name": "lift", "position": [0, high + .03, 0], "mesh": {"kind": "inline", "triangles": [[0, 1, 2]], "vertices": corners}},
              {"name": "palm", "rigid": {"density": 1200}, "position": [0, high + .008, 0],
               "mesh": {"kind": "cylinder", "radius": reach + .006, "height": .01, "cells": [24, 1], "closed": True}}]
    joints = [{"name": f"corner {k + 1}", "kind": "ball", "a": {"body": "palm", "at": places(numpy.add(corners[k], bodies[1]["position"]))},
               "b": {"body": "lift", "vertex": k}, "slack": .0003} for k in range(3)]
    for k in range(3):
        angle = 120 * k + 30
        out = turned([1, 0, 0], angle)
        out = [out[0], 0, out[1]]
        # A finger is a rod that hangs down; about y by minus the angle brings x to `out`.
        bodies.append({"name": f"finger {k + 1}", "rigid": {"density": 1200}, "position": places([reach * out[0], high - .055, reach * out[2]]),
                       "rotation": [0, -angle, 0], "mesh": {"kind": "box", "size": [thick, .1, .016], "cells": [1, 1, 1]}})
        axis = [-out[2], 0, out[0]]
        joints.append({"name": f"knuckle {k + 1}", "kind": "hinge", "a": {"body": f"finger {k + 1}", "at": places([reach * out[0], high - .004, reach * out[2]])},
                       "b": {"body": "palm"}, "axis": places(axis), "span": .012, "slack": .0002, "limits": [-60, 25],
                       "motor": {"torque": -.2, "path": [[0, 0], [.1, 0], [.25, 1]]}})
    bodies.append(floor([.6, .6], "table"))
    # With the usual clock of gravity the fingers tremble within their knuckles' slack so much that the cup creeps up between them.
    return {"time": {"end": 1, "frame": 1 / 64}, "gravity": FALL, "clocks": {"gravity_s": 2 ** -12},
            "contact": {"thickness": .0005, "stiffness": 2000, "restitution": 0, "friction": .6,
                        "ignore": [["palm", "lift"]] + [["palm", f"finger {k + 1}"] for k in range(3)]},
            "bodies": bodies, "joints": joints, "motions": [{"body": "lift", "path": [[0, [0, 0, 0]], [.4, [0, 0, 0]], [.8, [0, .08, 0]], [1, [0, .08, 0]]]}],
            "output": {"fields": ["pose"], "reactions": True}}


def cloth_boxes():
    boxes = [("crate", (.16, .12, .14), [0, 0, 0], 12), ("book", (.1, .04, .14), [.16, 0, .03], -20), ("tin", (.07, .09, .07), [-.02, .12, .01], 35),
             ("brick", (.08, .06, .16), [-.16, 0, -.02], 8)]
    gap = .0025
    bodies = [{"name": name, "rigid": {"density": 35}, "position": places([p[0], p[1] + size[1] / 2 + gap * (2 if p[1] else 1), p[2]]),
               "rotation": [0, turn, 0], "mesh": {"kind": "box", "size": list(size), "cells": [1, 1, 1]}} for name, size, p, turn in boxes]
    bodies.append({"name": "cloth", "material": "cotton", "position": [-.3, .42, 0], "rotation": [0, 0, 25], "velocity": [.75, .6, 0],
                   "angular_velocity": [0, 0, -1.5], "mesh": {"kind": "grid", "size": [.7, .6], "cells": [35, 30]}})
    bodies.append(floor([3, 3]))
    return {"time": {"end": 1, "frame": 1 / 64}, "gravity": FALL,
            "contact": {"thickness": .003, "stiffness": 250, "restitution": 0, "friction": .4},
            "materials": {"cotton": {"density": .2, "stretch": {"model": "cst", "stiffness": 60, "poisson": .3}, "bend": {"model": "hinge", "stiffness": 1e-6}}},
            "bodies": bodies}


# ---- what a run shows ----

class Run:
    """A run of NAME: its frames, and places, velocities and spins of the rigid bodies (output.fields has pose)."""

    def __init__(self, name, folder):
        self.folder = folder
        with open(os.path.join(ROOT, "jobs", "scenes", name + ".json")) as file:
            self.scene = json.load(file)
        rigid = [body["name"] for body in self.scene["bodies"] if body.get("rigid")]
        with h5py.File(os.path.join(folder, "frames.h5")) as file:
            frames = list(file["frames"].values())
            self.t = numpy.array([f["time"][()] for f in frames])
            self.x = numpy.array([f["position"][:] for f in frames])
            names = [name.decode().rstrip("\0") for name in file["mesh/body_names"][:]]
            body = file["mesh/body"][:]
            self.of = {name: body == k for k, name in enumerate(names)}
            self.pose = {key: {name: numpy.array([f["rigid_" + key][k] for f in frames]) for k, name in enumerate(rigid)}
                         for key in ("center", "velocity", "spin") if "rigid_" + key in frames[0]}

    def middle(self, body):
        return self.x[:, self.of[body]].mean(axis=1)

    def table(self, name):
        return numpy.genfromtxt(os.path.join(self.folder, name), delimiter=",", names=True, dtype=None, encoding=None)


def expect(good, what):
    print(("ok      " if good else "FAILED  ") + what)
    return good


SCENES = {"cradle": cradle, "gears": gears, "wrecking-ball": wrecking_ball, "gripper": gripper, "cloth-boxes": cloth_boxes}


def cradle_figures(run):
    """How far the balls at the ends swing out, and so how fast the blows let them go: a pendulum's speed below goes with sin(angle/2)."""
    good, last = True, CRADLE["count"] - 1
    angle = numpy.array([numpy.arctan2(c[:, 0] - PIVOTS[k], .25 - c[:, 1]) for k, c in enumerate(run.pose["center"].values())])
    start = math.sin(math.radians(CRADLE["raised"]) / 2)
    for number, way, begin, end in ((last, 1, .25, .7), (0, -1, .7, 1.15), (last, 1, 1.2, 1.6)):
        during = (run.t >= begin) & (run.t <= end)
        top = numpy.flatnonzero(during)[numpy.argmax(way * angle[number][during])]
        near = slice(top - 2, top + 3)
        fit = numpy.polyfit(run.t[near] - run.t[top], way * angle[number][near], 2)
        share = math.sin((fit[2] - fit[1] ** 2 / (4 * fit[0])) / 2) / start
        rest = numpy.delete(numpy.abs(angle[:, during]), number, axis=0).max()
        good &= expect(abs(share - 1) < .01, f"{begin:g} to {end:g} s: ball {number + 1} leaves with {share:.4f} of the first one's speed; "
                                             f"the others stay within {math.degrees(rest):.2f} degrees")
    return good


PIVOTS = [(k - (CRADLE["count"] - 1) / 2) * (2 * CRADLE["radius"] * FLAT + CRADLE["gap"]) for k in range(CRADLE["count"])]


def gears_figures(run):
    turned_by, steady = [], run.t >= 2 * RAMP
    for k, name in enumerate(("driver", "wheel")):
        arm = run.x[:, run.of[name]][:, 0] - [k * MODULE * sum(TEETH) / 2, 0, 0]
        turned_by.append(numpy.unwrap(numpy.arctan2(arm[:, 1], arm[:, 0])))
    first, second = ((angle[-1] - angle[steady][0]) / (run.t[-1] - run.t[steady][0]) for angle in turned_by)
    good = expect(abs(first / SPEED - 1) < .01, f"the driver turns by {first:.4f} rad/s of {SPEED:g}")
    good &= expect(abs(-second / first * TEETH[1] / TEETH[0] - 1) < .01, f"the wheel by {second:.4f}: {-second / first:.4f}, by the teeth {TEETH[0] / TEETH[1]:.4f}")
    energy = run.table("energy.csv")
    late = energy["time"] >= 2 * RAMP
    spent = energy["dissipated"][late][-1] - energy["dissipated"][late][0]
    given = energy["work"][late][-1] - energy["work"][late][0]
    load = LOAD * (turned_by[1][-1] - turned_by[1][steady][0])
    good &= expect(load < 0 and -.5 * load > spent > 0,
                   f"the motor gives {given - load:.4f} J, the load takes {-load:.4f} J, teeth and axles {spent:.4f} J")
    return good


def gripper_figures(run):
    cup_, palm = (run.pose["center"][name][:, 1] for name in ("cup", "palm"))
    held = run.t >= .4
    slip = (cup_ - palm)[held]
    mass = 1200 * abs(volume(*cup()))
    return expect(cup_[-1] - cup_[0] > .07, f"the cup of {1000 * mass:.0f} g is lifted by {1000 * (cup_[-1] - cup_[0]):.1f} mm of 80, "
                  f"and slips by {1000 * (slip.max() - slip.min()):.2f} mm")


def wrecking_ball_figures(run):
    x, bricks = run.middle("ball"), [name for name in run.of if name.startswith("brick")]
    blow = int(numpy.flatnonzero(numpy.abs(run.middle("brick 3.3") - run.middle("brick 3.3")[0]).max(axis=1) > .001)[0]) - 1
    speed = numpy.linalg.norm(x[blow] - x[blow - 1]) / (run.t[blow] - run.t[blow - 1])
    fall = math.sqrt(2 * 9.81 * (x[0, 1] - (x[blow, 1] + x[blow - 1, 1]) / 2))
    far = [float(numpy.linalg.norm((run.middle(name)[-1] - run.middle(name)[0])[[0, 2]])) for name in bricks]
    good = expect(abs(speed / fall - 1) < .02, f"the ball comes with {speed:.3f} m/s; free of losses it would with {fall:.3f}")
    good &= expect(min(run.x[-1, run.of[name]][:, 1].min() for name in bricks) > 0, "no brick is in the ground")
    return good & expect(sum(f > .04 for f in far) > len(far) / 3, f"{sum(f > .04 for f in far)} of {len(far)} bricks move by more than 40 mm, the farthest by {max(far):.2f} m")


def cloth_boxes_figures(run):
    x, covered = run.x[-1, run.of["cloth"]], {}
    for name in ("crate", "book", "tin", "brick"):
        corner = run.x[-1, run.of[name]]
        top = corner[corner[:, 1] > corner[:, 1].mean()].mean(axis=0)
        covered[name] = bool((numpy.linalg.norm((x - top)[:, [0, 2]], axis=1) < .03).any())
    total = run.table("energy.csv")["total"]
    good = expect(sum(covered.values()) >= 3, "cloth lies over " + ", ".join(name for name in covered if covered[name]))
    return good & expect(total.max() < total[0] + 1e-3 * (total[0] - total[-1]), f"energy falls from {total[0]:.4f} to {total[-1]:.4f} J, and is never more")


def volume(x, faces):
    x = numpy.array(x)
    return sum(numpy.dot(x[a], numpy.cross(x[b], x[c])) for a, b, c in faces) / 6


FIGURES = {"cradle": cradle_figures, "gears": gears_figures, "gripper": gripper_figures, "wrecking-ball": wrecking_ball_figures,
           "cloth-boxes": cloth_boxes_figures}


def write(name):
    """A line for each body and joint, so that a reader finds his way."""
    made = {"format": "tactus-scene/1", "name": name, **SCENES[name]()}
    lines = []
    for key, value in made.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            lines.append(f'  "{key}": [\n' + ",\n".join("    " + json.dumps(item) for item in value) + "\n  ]")
        else:
            lines.append(f'  "{key}": {json.dumps(value)}')
    with open(os.path.join(ROOT, "jobs", "scenes", name + ".json"), "w") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


def main():
    words = sys.argv[1:]
    if words[:1] == ["write"] and len(words) == 2 and words[1] in SCENES:
        write(words[1])
        return 0
    if words[:1] == ["figures"] and len(words) == 3 and words[1] in FIGURES:
        return 0 if FIGURES[words[1]](Run(words[1], words[2])) else 1
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main())
