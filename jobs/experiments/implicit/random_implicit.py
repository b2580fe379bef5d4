#!/usr/bin/python3
"""random_implicit.py [FROM TO] [--seconds S] [--ranks 2,3,4,7] [--keep DIR] [--scene SEED]: random scenes of all that the implicit integrator knows, by every way to run them.

Each seed draws its unit of length (1e-3 to 1e3 m), a scheme, a step, tolerances, barriers and friction, and two to six bodies: solids of all models,
sheets, ropes, nets, grains, capsules, rigid bodies, obstacles, what motions carry or turn; some meshes are odd (one triangle, needles, edges with
three triangles, parts that share a corner or nothing, vertices that nothing uses), some are read from files, some begin strained. Motions, loads,
winds, pressures, dampers, yield, limits of stretch, joints with motors, pairs of materials, fields, histories and reactions are drawn for them. Some
scenes are 2D, some static. Each is run on one rank with --record for S seconds of processor time at most (20) and audited; then on another number of
ranks, with vertices that change ranks at steps, or with another skin; in two pieces on two numbers of ranks; and, for some, as a branch from one
checkpoint on two numbers of ranks. Bits must be equal (`tactus diff`), and a run that ends with code 3 must say the same on all ranks. A run
on several ranks that takes over four times S is not judged, and counted.

Prints a row for each seed and a summary; exit code 1 if one is wrong. --keep: folders of wrong seeds are left there. --scene prints a scene. What it
shows: whether the implicit integrator keeps its promises for combinations that nobody has thought of."""
import argparse
import collections
import json
import os
import random
import re
import shutil
import sys
import tempfile
import time

import h5py
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import random_scenes as everyday  # noqa: E402
sys.path.insert(0, os.path.join(HERE, "..", "bodies"))
del sys.modules["random_scenes"]
import random_scenes as bodies  # noqa: E402

SOLIDS = [("share a face", [[0, 1, 2, 3], [1, 2, 3, 4]], [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [.8, .8, .8]]),
          ("share an edge", [[0, 1, 2, 3], [0, 1, 4, 5]], [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, -1, 0], [0, 0, -1]]),
          ("share a corner", [[0, 1, 2, 3], [0, 4, 5, 6]], [[0, 0, 0], [.7, 0, 0], [0, .7, 0], [0, 0, .7], [-.7, 0, 0], [0, 0, -.7], [0, -.7, 0]]),
          ("are apart", [[0, 1, 2, 3], [4, 5, 6, 7]], [[.1, 0, 0], [.8, 0, 0], [.1, .7, 0], [.1, 0, .7], [-.1, 0, 0], [-.8, 0, 0], [-.1, 0, .7], [-.1, .7, 0]]),
          ("is a needle", [[0, 1, 2, 3]], [[-.9, 0, 0], [.9, 0, 0], [0, .02, 0], [0, 0, .02]])]
SHEETS = [("one triangle", [[0, 1, 2]], [], [[0, 0, 0], [1, 0, 0], [0, 0, 1]]),
          ("a needle", [[0, 1, 2], [1, 0, 3]], [], [[-.9, 0, 0], [.9, 0, 0], [0, 0, .003], [0, 0, -.6]]),
          ("three on an edge", [[0, 1, 2], [1, 0, 3], [0, 1, 4]], [], [[-.6, 0, 0], [.6, 0, 0], [0, .1, .7], [0, .1, -.7], [0, .8, 0]]),
          ("two that share a corner", [[0, 1, 2], [0, 3, 4]], [], [[0, 0, 0], [.7, 0, -.3], [.7, 0, .3], [-.7, 0, .3], [-.7, 0, -.3]]),
          ("parts and a tail", [[0, 1, 2], [3, 4, 5]], [[0, 6], [6, 7]],
           [[.1, 0, 0], [.8, 0, -.3], [.8, 0, .3], [-.1, 0, 0], [-.8, 0, .3], [-.8, 0, -.3], [0, .3, 0], [0, .5, 0]])]


class Draw:
    """A scene that is being drawn: lengths are u metres, masses and times as in SI, so what is soft in one unit is as soft in another."""

    def __init__(self, seed, folder):
        self.r, self.folder = random.Random(f"implicit {seed}"), folder
        r = self.r
        self.u = r.choice([1, 1, 1, 1, 1e-3, 30, 1e3])
        self.plane = r.random() < .1
        self.scheme = r.choice(["euler", "euler", "bdf2", "newmark", "static"])
        self.step = r.choice([2 ** -5, 2 ** -6, 2 ** -8, .01, .004])
        self.steps = r.randint(4, 12)
        self.end = self.steps * self.step
        self.materials, self.bodies, self.motions, self.loads, self.joints, self.size = {}, [], [], [], [], r.uniform(.12, .22) * self.u
        self.friction = r.choice([0, 0, .3, 1, {"static": .6, "kinetic": .3}] if self.scheme != "static" else [0, .3])
        self.thickness = 10 ** r.uniform(-4, -1.7) * self.u

    def material(self, name, kind):
        r, u = self.r, self.u
        still = self.scheme == "static"
        if kind == "solid":
            made = everyday.solid(r, 3, 7)
            made["density"], made["solid"]["youngs"] = made["density"] / u ** 3, made["solid"]["youngs"] / u
            if r.random() < .15:
                made["stretch"] = {"model": "cst", "stiffness": 10 ** r.uniform(0, 3)}
        else:
            made = everyday.cloth(r) if kind == "cloth" else everyday.rope(r)
            made["density"] /= u ** (2 if kind == "cloth" else 1)
            if kind == "cloth":
                made["bend"]["stiffness"] *= u ** 2
                if r.random() < .15:
                    made["stretch"]["model"] = "spring"
                    made["stretch"].pop("poisson")
                if r.random() < .2:
                    made["bend"]["rest"] = "flat"
                if r.random() < .2:
                    made["bend"]["yield"] = r.uniform(.02, .5)
                if r.random() < .2:
                    made["bend"]["damping"] = 10 ** r.uniform(-4, -1)
            if made["stretch"]["model"] == "spring":
                made["stretch"]["stiffness"] *= u
            for key, low, high in (("damping", -4, -1), ("yield", -3, -1), ("limit", -2, -.5), ("limit_principal", -2, -.5)):
                if r.random() < .2 and (key != "limit_principal" or kind == "cloth"):
                    made["stretch"][key] = 10 ** r.uniform(low, high)
        if still:
            for part in ("stretch", "bend", "solid"):
                made.get(part, {}).pop("damping", None)
        self.materials[name] = made
        return name

    def odd(self, kind):
        """A mesh that is odd, in place or in a file, and the places of its vertices before the body is placed."""
        r = self.r
        if kind == "solid":
            name, tets, places = r.choice(SOLIDS)
            triangles, edges = [], []
        else:
            name, triangles, edges, places = r.choice(SHEETS)
            tets = []
        places = [[.8 * self.size * c for c in x] for x in places]
        if r.random() < .3:  # nothing uses the last one
            places.append([0, .3 * self.size, 0])
        if r.random() < .5:
            mesh = {"kind": "inline", "vertices": places}
            for key, value in (("triangles", triangles), ("edges", edges), ("tetrahedra", tets)):
                if value:
                    mesh[key] = value
            return mesh
        path = os.path.join(self.folder, f"mesh{len(self.bodies)}.h5")
        with h5py.File(path, "w") as file:
            file["vertices"] = numpy.array(places)
            for key, value in (("triangles", triangles), ("segments", edges), ("tetrahedra", tets)):
                if value:
                    file[key] = numpy.array(value, dtype="i4")
        return {"kind": "file", "path": path}

    def mesh(self, kind):
        r, s = self.r, self.size
        if kind == "solid":
            if r.random() < .35:
                return self.odd(kind)
            return r.choice([{"kind": "box", "size": [s, .7 * s, .8 * s], "cells": [r.randint(1, 3), r.randint(1, 2), 1], "fill": "tets"},
                             {"kind": "sphere", "radius": .8 * s, "level": r.randint(0, 1), "fill": "tets"}])
        if kind == "cloth":
            if r.random() < .35:
                return self.odd(kind)
            return r.choice([{"kind": "grid", "size": [1.3 * s, 1.1 * s], "cells": [r.randint(1, 7), r.randint(1, 5)]},
                             {"kind": "sphere", "radius": .8 * s, "level": r.randint(0, 1)},
                             {"kind": "torus", "radii": [.6 * s, .25 * s], "cells": [r.randint(4, 8), r.randint(3, 5)]},
                             {"kind": "ribbon", "curve": [[-.8 * s, 0, 0], [0, .4 * s, 0], [.8 * s, 0, 0]], "width": .3 * s, "cells": [r.randint(2, 8), r.randint(1, 2)]}])
        return r.choice([{"kind": "segments", "from": [-.8 * s, 0, 0], "to": [.8 * s, 0, 0], "cells": r.randint(1, 12)},
                         {"kind": "segments", "vertices": [[.8 * s, 0, 0], [0, 0, .8 * s], [-.8 * s, 0, 0], [0, 0, -.8 * s]], "closed": True},
                         {"kind": "segments", "vertices": [[0, 0, 0], [s, 0, 0], [0, s, 0], [0, 0, s], [0, -s, 0]], "edges": [[0, 1], [0, 2], [0, 3], [0, 4]]}])

    def body(self, name, at):
        r, s, u = self.r, self.size, self.u
        kind = r.choice(["solid", "solid", "cloth", "cloth", "rope", "grains", "rigid", "rigid", "scripted", "fixed", "walker"])
        made = {"name": name, "position": at, "rotation": [r.uniform(-180, 180) for k in range(3)]}
        still = self.scheme == "static"
        if kind in ("solid", "cloth", "rope"):
            made.update(material=self.material(name, kind), mesh=self.mesh(kind))
            if made["mesh"]["kind"] in ("inline", "file") and r.random() < .9:
                self.materials[name].pop("bend", None)
            if kind == "rope" and r.random() < .5 or r.random() < .1:
                made["radius"] = 10 ** r.uniform(-3, -1.3) * s
            if r.random() < .1:
                made["self"] = False
            if r.random() < (.9 if still else .35):
                self.hold(name, kind, r.random())
        elif kind == "grains":
            if r.random() < .4:
                made.update(mesh={"kind": "points", "lattice": {"count": [r.randint(1, 3) for k in range(3)], "spacing": .4 * s}}, mass=10 ** r.uniform(-3, 0))
                if r.random() < .7:
                    made["radius"] = .1 * s
            elif r.random() < .5:
                made.update(mesh={"kind": "ball", "radius": .5 * s}, mass=10 ** r.uniform(-3, 0))
            else:
                made.update(mesh={"kind": "capsule", "radius": .2 * s, "length": s}, material=self.material(name, "rope"))
        elif kind == "rigid":
            shape = bodies.mesh(r, s)
            made.update(mesh=shape, rigid=r.choice([{"density": 10 ** r.uniform(1.5, 4) / u ** 3}, {"mass": 10 ** r.uniform(-2, 1)}]))
            if r.random() < .2:
                made["rigid"]["frequency"] = 10 ** r.uniform(3, 5)
            if r.random() < .2:
                corners, faces = ((0, 0, 0), (.3, 0, 0), (0, .3, 0), (0, 0, .3)), ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
                n = r.randint(2, 4)
                made["mesh"] = {"kind": "inline", "vertices": [[(x + .45 * k - .8) * s, y * s, z * s] for k in range(n) for x, y, z in corners],
                                "triangles": [[4 * k + i for i in face] for k in range(n) for face in faces]}
                made["rigid"]["pieces"] = True
            if r.random() < .15:
                made.update(rigid=True, mass=.05, mesh=r.choice([{"kind": "points", "vertices": [[0, 0, 0], [.5 * s, 0, 0], [0, .5 * s, 0], [0, 0, .6 * s]]},
                                                                 {"kind": "grid", "size": [s, s], "cells": [2, 1]}]))
            if not still:
                made["angular_velocity"] = [r.uniform(-1, 1) * 10 ** r.uniform(0, 1.5) for k in range(3)]
        elif kind == "fixed":
            made.update(fixed=True, mesh=bodies.mesh(r, s))
        elif kind == "scripted":
            made["mesh"] = r.choice([bodies.mesh(r, s), {"kind": "grid", "size": [1.3 * s, 1.3 * s], "cells": [1, 1]}])
            self.carry(name, at)
        else:
            self.walk(made, at)
        if not still and not made.get("fixed") and not any(m["body"] == name and "vertices" not in m and not m.get("release") for m in self.motions):
            made["velocity"] = [r.uniform(-1, 1) * 10 ** r.uniform(-1, .7) * u for k in range(3)]
            if "rigid" not in made and r.random() < .1:
                made.update(random_speed=[0, u], seed=r.randint(0, 9))
        self.bodies.append(made)

    def times(self):
        t0 = self.r.choice([0, 0, self.step, .3 * self.end])
        return [t0, t0 + self.r.uniform(.2, .6) * self.end, self.end * self.r.choice([1, 1, 2])]

    def hold(self, name, kind, dice):
        """Vertices of a body are held, led or turned, and perhaps let go."""
        r, s = self.r, self.size
        motion = {"body": name, "vertices": r.choice([[0], [0, 1]] + [[0, 1, 2], [2]] * (kind != "rope"))}
        t = self.times()
        if dice < .3:
            motion["path"] = [[0, [0, 0, 0]]]
        elif dice < .8:
            motion["path"] = [[t[0], [0, 0, 0]]] + [[k, [r.uniform(-.5, .5) * s for c in range(3)]] for k in sorted(set(t[1:])) if k > t[0]]
        else:
            motion["rotate"] = {"axis": [r.uniform(-1, 1), 1, 0], "center": [0, 0, 0], "path": [[t[0], 0], [t[1], r.uniform(-40, 40)]]}
        if len(motion.get("path", [0, 0])) > 1 and r.random() < .4:
            motion["release"] = True
        self.motions.append(motion)

    def carry(self, name, at):
        r, s = self.r, self.size
        t = self.times()
        if r.random() < .5:
            self.motions.append({"body": name, "path": [[t[0], [0, 0, 0]], [t[1], [r.uniform(-1, 1) * s for c in range(3)]]]})
        else:
            self.motions.append({"body": name, "rotate": {"axis": [r.uniform(-1, 1), 1, 0], "center": at, "path": [[t[0], 0], [t[1], r.uniform(-180, 180)]]}})

    def walk(self, made, at):
        """A body whose places are those of a file."""
        r, s = self.r, self.size
        corners = numpy.array([[0, 0, 0], [s, 0, 0], [0, s, 0], [0, 0, s]])
        made.update(rotation=[0, 0, 0], mesh={"kind": "inline", "vertices": corners.tolist(), "triangles": [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]})
        t = [0, self.r.uniform(.2, .6) * self.end, self.end]
        places = [corners + numpy.array(at)]
        for k in t[1:]:
            places.append(places[-1] + numpy.array([[r.uniform(-.1, .1) * s for c in range(3)] for v in corners]))
        path = os.path.join(self.folder, f"walk{len(self.bodies)}.npz")
        numpy.savez(path, time=numpy.array(t), position=numpy.array(places))
        self.motions.append({"body": made["name"], "positions": {"file": path}})

    def more_motions(self):
        """What follows a walker; and bodies that begin strained."""
        r = self.r
        walkers = [m["body"] for m in self.motions if "positions" in m]
        free = [b for b in self.bodies if b.get("material") and not any(m["body"] == b["name"] for m in self.motions)]
        if walkers and free and r.random() < .7:
            self.motions.append({"body": r.choice(free)["name"], "vertices": [0],
                                 "follow": r.choice([{"body": walkers[0], "vertex": 1}, {"body": walkers[0], "triangle": 2, "weights": [.2, .5, .3]}])})
        for k, b in enumerate(self.bodies):
            if b["mesh"]["kind"] == "segments" and "from" in b["mesh"] and "material" in b and "rigid" not in b and r.random() < .3:
                n, path = b["mesh"]["cells"] + 1, os.path.join(self.folder, f"start{k}.h5")
                with h5py.File(path, "w") as file:
                    along = numpy.linspace(-.6, .6, n)[:, None] * self.size
                    file["position"] = numpy.array(b["position"]) + along * numpy.array([[.8, .6, 0]])
                    if self.scheme != "static":
                        file["velocity"] = numpy.array([[r.uniform(-1, 1) * self.u for c in range(3)] for v in range(n)])
                b["start"] = {"file": path}

    def load(self):
        r, u = self.r, self.u
        held = {m["body"] for m in self.motions if "vertices" not in m}
        able = [b for b in self.bodies if not b.get("fixed") and b["name"] not in held]
        if not able:
            return
        b = r.choice(able)
        load = {"body": b["name"]}
        kind = r.choice(["force", "acceleration"] + ["pressure", "wind"] * (b["mesh"]["kind"] not in ("segments", "points", "ball", "capsule")))
        if kind == "wind" and self.scheme == "static" or "rigid" in b and kind in ("acceleration", "wind"):
            kind = "force"
        if kind == "force":
            load["force"] = [r.uniform(-1, 1) * 10 ** r.uniform(-3, 0) * u for c in range(3)]
            if r.random() < .5:
                load["vertices"] = [0]
        elif kind == "acceleration":
            load["acceleration"] = [r.uniform(-20, 20) * u for c in range(3)]
        elif kind == "pressure":
            load["pressure"] = r.uniform(-100, 100) / u
        else:
            load["wind"], load["drag"] = [r.uniform(-5, 5) * u for c in range(3)], r.choice([.6, 1.2]) / u ** 3
        if r.random() < .6:
            load["path"] = [[0, 0], [r.uniform(.1, .9) * self.end, 1], [self.end, r.choice([1, 0, -1])]]
        self.loads.append(load)

    def join(self):
        """Joints between rigid bodies, the world, and vertices of others."""
        r, u, s = self.r, self.u, self.size
        rigid = [b for b in self.bodies if isinstance(b.get("rigid"), dict) and "pieces" not in b["rigid"]]
        if not rigid or self.scheme == "newmark":
            return
        for k in range(r.randint(1, 2)):
            a = r.choice(rigid)
            place = [c + r.uniform(-1, 1) * s for c in a["position"]]
            other = r.choice([None] + [b["name"] for b in self.bodies if b.get("rigid") in rigid or b.get("fixed")])
            joint = {"name": f"joint {k}", "kind": r.choice(["ball", "hinge", "weld", "slider"]), "a": {"body": a["name"], "at": place},
                     "b": {"body": other, "at": place}, "slack": 10 ** r.uniform(-3.3, -2) * u}
            ropes = [b for b in self.bodies if "from" in b["mesh"] and "rigid" not in b and "start" not in b]
            if ropes and r.random() < .4:  # at the first vertex of a rope
                rope = r.choice(ropes)
                rope["rotation"] = [0, 0, 0]
                joint.update(kind="ball", b={"body": rope["name"], "vertex": 0})
                joint["a"]["at"] = [a + b for a, b in zip(rope["position"], rope["mesh"]["from"])]
            if joint["kind"] != "ball":
                joint["span"] = r.uniform(.2, .8) * s
            if joint["kind"] in ("hinge", "slider"):
                joint["axis"] = r.choice([[1, 0, 0], [0, 1, 0], [1, 1, 0]])
            if joint["kind"] == "slider":
                joint["limits"] = [-r.uniform(.1, 1) * s, r.uniform(.1, 1) * s]
            if joint["kind"] == "hinge":
                if r.random() < .4:
                    joint["limits"] = [-r.uniform(2, 90), r.uniform(2, 90)]
                if r.random() < .6 and self.scheme != "static":
                    joint["motor"] = r.choice([{"torque": r.uniform(-.3, .3) * u ** 2}, {"speed": r.uniform(-6, 6), "most": u ** 2},
                                               {"position": r.uniform(-60, 60), "stiffness": 10 ** r.uniform(-2, 1) * u ** 2, "path": [[0, 0], [.5 * self.end, 1]]}])
            self.joints.append(joint)

    def flat(self):
        """A scene in a plane: loops, chains, grains and a floor of segments."""
        r, s, u = self.r, self.size, self.u
        self.bodies.append({"name": "floor", "fixed": True, "mesh": {"kind": "segments", "vertices": [[-5 * s, -4 * s, 0], [5 * s, -4 * s, 0]]}})
        for k in range(r.randint(2, 5)):
            name, at = f"body {k}", [r.uniform(-.5, .5) * s, (2.4 * k - 2.5) * s, 0]
            made = {"name": name, "position": at, "rotation": [0, 0, r.uniform(-180, 180)]}
            kind = r.choice(["loop", "chain", "grains"])
            if kind == "grains":
                made.update(mesh={"kind": "points", "lattice": {"count": [3, 2, 1], "spacing": .5 * s}}, mass=.1, radius=r.choice([0, .1 * s]))
            else:
                n = r.randint(3, 9)
                ring = [[s * c for c in (numpy.cos(6.28 * i / n), numpy.sin(6.28 * i / n), 0)] for i in range(n)]
                made.update(material=self.material(name, "rope"), mesh={"kind": "segments", "vertices": [[float(c) for c in x] for x in ring], "closed": kind == "loop"})
                if kind == "loop" and r.random() < .5:
                    self.loads.append({"body": name, "pressure": r.uniform(-10, 10)})
                if self.scheme == "static" or r.random() < .3:
                    self.motions.append({"body": name, "vertices": [0], "path": [[0, [0, 0, 0]], [self.end, [r.uniform(-1, 1) * s, 0, 0]]]})
            if self.scheme != "static":
                made["velocity"] = [r.uniform(-2, 2) * u, r.uniform(-4, 0) * u, 0]
            self.bodies.append(made)

    def output(self):
        r = self.r
        made = {"contacts": r.random() < .5, "reactions": r.random() < .6, "fields": r.sample(["strain", "stress", "bending_angle", "plastic_strain", "contact_pressure"], r.randint(0, 3))}
        rigid = [b["name"] for b in self.bodies if "rigid" in b]
        if rigid and r.random() < .5:
            made["fields"].append("pose")
        histories = []
        for k in range(r.randint(0, 3)):
            body, every = r.choice(self.bodies), self.step * r.randint(1, 2)
            name, held = body["name"], body.get("fixed") or any(m["body"] == body["name"] for m in self.motions)
            kinds = [{"kind": "reaction", "body": name}] * bool(held)
            kinds += [{"kind": "pose", "body": name}] if "rigid" in body else [{"body": name, "each": True}, {"body": name}, {"kind": "flux", "bodies": [name], "plane": {"point": [0, 0, 0], "normal": [1, 1, 0]}}]
            histories.append(r.choice(kinds) | {"name": f"history {k}", "every": every})
        made["histories"] = histories
        if r.random() < .5:
            made["checkpoint_every_t"] = self.step * r.randint(1, 4)
        return made

    def stop(self, r):
        """An instant within the run."""
        return self.step * r.randint(1, self.steps - 1)

    def way(self, r, seed):
        """Another way to run it, which gives the same bits: words of the command line, and hooks of tests."""
        return [], r.choice([{}, {"TACTUS_TEST_MIGRATE": str(1 + seed)}, {"TACTUS_TEST_SKIN": r.choice(["1e-3", ".3", "4"])}])

    def contact(self):
        r = self.r
        made = {"thickness": self.thickness, "friction": self.friction}
        if r.random() < .1 and self.materials:
            made["pairs"] = [{"materials": [r.choice(list(self.materials)), r.choice(list(self.materials))], "friction": .7}]
        if r.random() < .1:
            made["ignore"] = [[self.bodies[0]["name"], self.bodies[-1]["name"]]]
        return made

    def integrator(self):
        r, u = self.r, self.u
        made = {"kind": "implicit", "step_s": self.step, "scheme": self.scheme, "newton": {"most": r.choice([20, 60, 200])}}
        if r.random() < .4:
            made["newton"]["velocity_tol"] = 10 ** r.uniform(-6, -2) * u
        if r.random() < .3:
            made["newton"]["force_tol"] = r.choice([0, 0, 1e-3, .1])
        if r.random() < .3:
            made["barrier"] = r.choice([{"stiffness": 10 ** r.uniform(0, 6) / u ** 2}, {"stiffness": 10 ** r.uniform(2, 5) / u, "weights": "area"}])
        if r.random() < .4:
            made["friction"] = {"lags": r.choice([0, 1, 2])}
            if r.random() < .5:
                made["friction"]["slip" if self.scheme == "static" else "velocity"] = 10 ** r.uniform(-5, -2) * u
        if r.random() < .3:
            made["solver"] = {"tolerance": r.choice([1e-2, 1e-8])}
        return made

    def scene(self):
        r, u, s = self.r, self.u, self.size
        if self.plane:
            self.flat()
        else:
            places = []
            for k in range(r.randint(2, 6)):
                for attempt in range(50):
                    at = [r.uniform(-.5, .5) * u for c in range(3)]
                    if all(sum((a - b) ** 2 for a, b in zip(at, other)) > (2.1 * s) ** 2 for other in places):
                        places.append(at)
                        self.body(f"body {k}", at)
                        break
            if r.random() < .6:
                cells = r.choice([1, 1, 5])
                self.bodies.append({"name": "floor", "fixed": True, "position": [0, -.75 * u, 0], "mesh": {"kind": "grid", "size": [4 * u, 4 * u], "cells": [cells, cells]}})
            self.more_motions()
            for k in range(r.randint(0, 2)):
                self.load()
            if r.random() < .6:
                self.join()
        contact = self.contact()
        gravity = [0, 0, 0] if self.scheme == "static" and r.random() < .6 else r.choice([[0, -9.81 * u, 0], [0, -9.81 * u, 0], [0, 0, 0], [3 * u, -9 * u, 0]])
        made = {"format": "tactus-scene/1", "name": "odd", "time": {"end": self.end, "frame": self.step * r.randint(1, 3)}, "gravity": gravity,
                "contact": contact, "integrator": self.integrator(), "materials": self.materials, "bodies": self.bodies, "output": self.output()}
        for key in ("motions", "loads", "joints"):
            if getattr(self, key):
                made[key] = getattr(self, key)
        return made


def make(seed, folder, draw=Draw):
    """The scene of a seed, the same with any version of the program; its files are written to the folder."""
    return draw(seed, folder).scene()


def fresh(folder, name):
    shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
    return os.path.join(folder, name)


def judge(folder, seed, draw, seconds, ranks):
    """What is wrong with this seed, as a list; the code of its run on one rank; what that said."""
    r, drawn = random.Random(f"ways {seed}"), draw(seed, folder)
    scene = drawn.scene()
    path, one = os.path.join(folder, "scene.json"), os.path.join(folder, "one")
    wrong, code, said = bodies.alone(folder, scene, seconds)
    stop = repr(drawn.stop(r))
    (words, way), n, m = drawn.way(r, seed), r.choice(ranks), r.choice(ranks + [1])
    late = []
    if code == "time":
        return wrong, code, said

    def call(what, words, n, expected=code, **hooks):
        got, text = bodies.call([*words, "--quiet"], n, 4 * seconds, spread=True, **hooks)
        if got == "time" and n > 1:  # ranks that share cores wait for each other
            late.append("on several ranks out of time")
            return got
        if got != expected:
            wrong.append(f"{what}, {n} ranks: code {got}: {text[-300:]}")
        elif expected and [s.replace(os.path.join(folder, "many"), one) for s in bodies.sentences(text)] != said:
            wrong.append(f"{what}, {n} ranks say {bodies.sentences(text)}, one says {said}")
        return got

    def same(what, one, other):
        differ, text = bodies.call(["diff", os.path.join(folder, one), os.path.join(folder, other), "--all-frames"])
        if differ != 0:
            wrong.append(f"{what}: {text.strip()[:300]}")

    def whole(what, words, n, **hooks):
        if call(what, ["run", path, "-o", fresh(folder, "many"), *words], n, **hooks) == code != 2:
            same(f"{what}, {n} ranks {hooks}", "one", "many")

    whole("whole", words + (["--record"] if r.random() < .3 else []), n, **way)
    if code != 0 or wrong:
        return wrong, code, said + late
    if call("first piece", ["run", path, "-o", fresh(folder, "pieces"), "--until", stop], m) == 0:
        shutil.copytree(os.path.join(folder, "pieces"), fresh(folder, "begin"))
        if call("second piece", ["run", "--restart", os.path.join(folder, "pieces")], n) == 0:
            same(f"stopped at {stop} on {m} ranks, went on on {n}", "one", "pieces")
        if r.random() < .4:
            changes = ["--set", f"gravity={json.dumps([0, 5.0 * r.choice([-1, 1]), 0])}"]
            codes = []
            for name, ranks_now in (("branch1", 1), ("branch2", n)):
                got, text = bodies.call(["run", "--restart", os.path.join(folder, "begin"), "--branch", *changes, "-o", fresh(folder, name), "--quiet"],
                                        ranks_now, 4 * seconds, spread=True)
                codes.append((got, [s.replace("branch2", "branch1") for s in bodies.sentences(text)]))
            if codes[1][0] == "time":
                late.append("on several ranks out of time")
            elif codes[0] != codes[1] or codes[0][0] not in (0, 2, 3):
                wrong.append(f"branches on 1 and {n} ranks: {codes}")
            elif codes[0][0] == 0:
                same(f"branches at {stop} on 1 and {n} ranks", "branch1", "branch2")
    return wrong, 0, late


def main(draw=Draw, text=__doc__):
    parser = argparse.ArgumentParser(description=text.splitlines()[0])
    parser.add_argument("first", type=int, nargs="?", default=0)
    parser.add_argument("end", type=int, nargs="?", default=200)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--ranks", type=lambda t: [int(k) for k in t.split(",")], default=[2, 3, 4, 7])
    parser.add_argument("--keep")
    parser.add_argument("--scene", type=int)
    given = parser.parse_args()
    if given.scene is not None:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(make(given.scene, folder, draw), indent=1))
        return 0
    codes, told, bad = collections.Counter(), collections.Counter(), 0
    for seed in range(given.first, given.end):
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            wrong, code, said = judge(folder, seed, draw, given.seconds, given.ranks)
            if wrong and given.keep:
                shutil.copytree(folder, fresh(given.keep, str(seed)))
            with open(os.path.join(folder, "scene.json")) as file:
                scene = json.load(file)
        codes[code] += 1
        bad += bool(wrong)
        if said:
            told[code, everyday.same(said[0].replace(folder, ""))] += 1
        print(f"{'FAILED' if wrong else 'ok    '} seed {seed}, {scene.get('integrator', {}).get('scheme', 'asynchronous')}, {len(scene['bodies'])} bodies: {'out of time' if code == 'time' else f'code {code}'}, "
              f"{time.monotonic() - begin:.1f} s {re.sub(chr(10), ' ', '; '.join(wrong + said))}", flush=True)
    print(f"\n{given.end - given.first} scenes: " + ", ".join(f"{n} {'out of time' if c == 'time' else f'code {c}'}" for c, n in sorted(codes.items(), key=str)) + f"; {bad} wrong")
    for (code, sentence), n in told.most_common():
        print(f"{n:4d} times, code {code}: {sentence}")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
