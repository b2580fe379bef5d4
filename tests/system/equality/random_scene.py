#!/usr/bin/python3
"""random_scene.py SEED [--kind KIND] -o FILE: a small random scene, the same for the same seed.

For tests of equality: the scenes need to be varied and quick, not beautiful. One to three groups of bodies (soups of
closed shells, cloth over an obstacle, particles in a box, ropes, ribbons, closing walls, a turning obstacle, curtains
that are let go; or all of it in 2D) fly into one another. They may be damped, yield, rub, be pushed and blown at. Nothing
overlaps at the start: bodies are kept apart by their bounding spheres, or by construction.

Everything follows from a length (the scenes are about 1 m) and a tick h: stiffness is chosen so that elastic and contact
periods come out near h, the end is some hundred h, and speeds are such that things meet within it. So a scene with a
tiny h is one with high speeds.
"""
import argparse
import json
import math
import random
import sys


class Draw:
    """Random numbers by random() alone: the same in every Python."""

    def __init__(self, seed, kind):
        self.random = random.Random(f"{kind} {seed}").random

    def uniform(self, lo, hi):
        return lo + (hi - lo) * self.random()

    def power(self, lo, hi):
        """Log-uniform."""
        return math.exp(self.uniform(math.log(lo), math.log(hi)))

    def whole(self, lo, hi):
        """lo..hi, both included."""
        return lo + int((hi - lo + 1) * self.random())

    def choice(self, items):
        return items[int(len(items) * self.random())]

    def chance(self, p):
        return self.random() < p

    def direction(self, flat=False):
        while True:
            v = [self.uniform(-1, 1), self.uniform(-1, 1), 0 if flat else self.uniform(-1, 1)]
            n = math.sqrt(sum(c * c for c in v))
            if 0.1 < n <= 1:
                return [c / n for c in v]


def rounded(value):
    """Numbers as one would write them: six digits; nested lists too."""
    if isinstance(value, list):
        return [rounded(v) for v in value]
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    if isinstance(value, float):
        return float(f"{value:.6g}")
    return value


class Group:
    """Bodies that are placed together, about the origin, within a sphere."""

    def __init__(self, reach):
        self.reach = reach
        self.bodies = []
        self.motions = []
        self.movable = True  # may be given a velocity as a whole

    def add(self, name, mesh, **keys):
        self.bodies.append(dict(name=name, mesh=mesh, **keys))
        return self.bodies[-1]

    def shift(self, by):
        for body in self.bodies:
            body["position"] = [a + b for a, b in zip(body.get("position", [0, 0, 0]), by)]
        for motion in self.motions:
            if "rotate" in motion:
                center = motion["rotate"]["center"]
                motion["rotate"]["center"] = [a + b for a, b in zip(center, by)]


class Maker:
    def __init__(self, seed, kind):
        self.draw = Draw(seed, kind)
        self.tick = 2.0 ** -self.draw.uniform(8, 15)
        self.end = self.tick * self.draw.power(60, 250)
        self.thickness = self.draw.power(0.004, 0.05)
        self.restitution = self.draw.choice([0, 0, 1, 0.5, self.draw.uniform(0, 1)])
        self.deepest = None  # least contact period, in ticks
        self.materials = {}
        self.count = 0

    def name(self, stem):
        self.count += 1
        return f"{stem}-{self.count}"

    def material(self, edge, thread=False):
        """A material for elements of about this edge length (thread: of segments) whose clocks tick about every h."""
        draw, name = self.draw, self.name("stuff")
        density = draw.power(0.05, 2)
        mass = density * (edge if thread else edge * edge)
        rate = mass * (0.2 / self.tick) ** 2 * draw.power(0.01, 1)  # stiffness an edge may have, N/m
        material = {"density": density}
        if thread or draw.chance(0.4):
            material["stretch"] = {"model": "spring", "stiffness": rate / 8 * edge}
        elif draw.chance(0.9):
            material["stretch"] = {"model": "cst", "stiffness": rate / 12, "poisson": draw.choice([0, 0.3, 0.45])}
        if not thread and draw.chance(0.7):
            material["bend"] = {"model": "hinge", "stiffness": rate * edge * edge / 100 * draw.power(0.01, 1),
                                "rest": draw.choice(["mesh", "flat"])}
        self.materials[name] = material
        return name

    def speed(self, way):
        """A speed at which `way` metres take a part of the run."""
        return way / (self.end * self.draw.uniform(0.2, 0.9))

    def radius(self, most):
        return self.draw.choice([0, 0, self.draw.power(most / 30, most / 3)])

    def shell(self, size, level=None):
        """Mesh of a closed shell within radius `size`, with its edge length."""
        draw = self.draw
        kind = draw.choice(["tetrahedron", "cube", "octahedron", "icosahedron", "sphere", "box", "torus"])
        if kind == "sphere":
            level = draw.whole(0, 1) if level is None else level
            return {"kind": "sphere", "radius": size, "level": level}, size * (1.05 if level == 0 else 0.55)
        if kind == "box":
            return {"kind": "box", "size": [size, size * draw.uniform(0.3, 1), size], "cells": [draw.whole(1, 2), 1, 1]}, size
        if kind == "torus":
            return {"kind": "torus", "radii": [0.7 * size, 0.29 * size], "cells": [draw.whole(4, 6), 3]}, 0.6 * size
        edge = size * {"tetrahedron": 1.6, "cube": 1.15, "octahedron": 1.41, "icosahedron": 1.05}[kind]
        level = draw.whole(0, 1) if kind in ("tetrahedron", "octahedron") else 0
        return {"kind": kind, "edge": edge * 0.99, "level": level}, edge / 2 ** level

    def spin(self):
        """Angular velocity: up to about a turn in the run."""
        if self.draw.chance(0.5):
            return {}
        w = self.draw.uniform(0, 6) / self.end
        return {"angular_velocity": [w * c for c in self.draw.direction()]}

    def apart(self, count, size, box):
        """Centres of `count` spheres of radius `size` in a cube of half width `box`, as many as find room."""
        centres = []
        for _ in range(60 * count):
            c = [self.draw.uniform(-box, box) for _ in range(3)]
            if len(centres) < count and all(math.dist(c, d) > 2.02 * size for d in centres):
                centres.append(c)
        return centres

    # Groups: each returns a Group.

    def soup(self):
        draw, size = self.draw, self.draw.uniform(0.1, 0.2)
        radius = self.radius(0.2 * size)
        box = draw.uniform(1.3, 2.2) * size
        group = Group(math.sqrt(3) * box + size + radius)
        for centre in self.apart(draw.whole(2, 6), size + radius, box):
            mesh, edge = self.shell(size)
            inward = self.speed(0.5 * size)
            group.add(self.name("shell"), mesh, material=self.material(edge), position=centre, radius=radius,
                      rotation=[draw.uniform(-180, 180) for _ in range(3)],
                      velocity=[-inward * c / box + 0.3 * inward * d for c, d in zip(centre, draw.direction())],
                      **self.spin())
        return group

    def cloth(self):
        """A sheet above an obstacle or a shell; at times finer than the thickness."""
        draw, size, cells = self.draw, self.draw.uniform(0.25, 0.4), self.draw.whole(3, 7)
        radius = self.radius(0.02)
        ball = draw.uniform(0.3, 0.6) * size
        height = ball + 2.1 * radius + draw.uniform(0.1, 2) * self.thickness
        group = Group(2 * size + 2 * radius)
        mesh, edge = self.shell(ball, level=1)
        group.add(self.name("ball"), mesh, radius=radius, rotation=[draw.uniform(-180, 180) for _ in range(3)],
                  **({"fixed": True} if draw.chance(0.6) else {"material": self.material(edge)}))
        way = height - ball - 2 * radius + 0.3 * size
        group.add(self.name("sheet"), {"kind": "grid", "size": [2 * size / 1.5, size], "cells": [cells, draw.whole(2, cells)]},
                  material=self.material(size / cells), radius=radius, position=[0, height, 0],
                  rotation=[0, draw.uniform(-90, 90), 0], velocity=[0, -self.speed(way), 0])
        group.movable = False
        return group

    def gas(self):
        """Particles in a closed box."""
        draw, count = self.draw, [self.draw.whole(1, 4) for _ in range(3)]
        spacing = 0.12
        radius = draw.choice([0, 0.01, 0.05])
        size = [2 * (0.5 * n * spacing + draw.uniform(0.03, 0.1)) for n in count]
        group = Group(0.5 * math.hypot(*size) + 0.05)
        group.add(self.name("box"), {"kind": "box", "size": size, "cells": [1, 1, draw.whole(1, 2)]}, fixed=True,
                  radius=draw.choice([0, 0.005]))
        speed = self.speed(0.1)
        group.add(self.name("gas"), {"kind": "points", "lattice": {"count": count, "spacing": spacing}},
                  mass=draw.power(0.001, 0.1), radius=radius, random_speed=[0.1 * speed, 2 * speed],
                  seed=draw.whole(0, 10 ** 6))
        group.movable = False
        return group

    def ropes(self):
        """Chains across each other, at times over a bar."""
        draw, layers = self.draw, self.draw.whole(2, 4)
        radius = draw.choice([0, 0.005, 0.02])
        gap = 2.2 * radius + draw.uniform(0.2, 1.5) * self.thickness
        group = Group(0.5 + layers * gap)
        bar = draw.chance(0.4)
        for layer in range(layers):
            angle = draw.uniform(0, math.pi)
            cells = draw.whole(2, 9)
            c, s, y = 0.4 * math.cos(angle), 0.4 * math.sin(angle), (layer - 0.5 * layers) * gap
            body = group.add(self.name("rope"), {"kind": "segments", "from": [-c, y, -s], "to": [c, y, s], "cells": cells},
                             radius=radius)
            if bar and layer == 0:
                body["fixed"] = True
                continue
            body["material"] = self.material(0.8 / cells, thread=True)
            body["velocity"] = [0, (0.5 * layers - layer) * self.speed(gap), 0]
            if draw.chance(0.4):
                self.pin(group, body, draw.choice([[0], [cells], [0, cells]]))
        group.movable = False
        return group

    def ribbons(self):
        """Two bands, one across the other, that meet."""
        draw = self.draw
        radius = self.radius(0.02)
        gap = 2.1 * radius + draw.uniform(0.3, 2) * self.thickness
        group = Group(0.6 + gap)
        for side in (-1, 1):
            cells = [draw.whole(4, 9), draw.whole(1, 2)]
            bow = draw.uniform(0, 0.1)
            curve = [[-0.35, bow, 0], [0, 0, 0], [0.35, bow, 0]]
            curve = [[x, 0.5 * side * gap + side * y, 0] if side < 0 else [0, 0.5 * gap + y, x] for x, y, _ in curve]
            body = group.add(self.name("ribbon"), {"kind": "ribbon", "curve": curve, "width": draw.uniform(0.05, 0.15),
                                                   "cells": cells}, material=self.material(0.7 / cells[0]),
                             radius=radius, velocity=[0, -side * self.speed(gap + 0.05), 0])
            if draw.chance(0.4):
                self.pin(group, body, list(range(cells[1] + 1)))
        group.movable = False
        return group

    def pin(self, group, body, vertices):
        """Holds vertices, drags them, or lets them go in the run."""
        draw = self.draw
        if draw.chance(0.5):
            times = [draw.uniform(0, 0.2) * self.end]
            times.append(times[0] + draw.uniform(0.2, 0.5) * self.end)
            pull = draw.uniform(0, 0.05)
            path = [[times[0], [0, 0, 0]], [times[1], [pull * c for c in draw.direction()]]]
        else:
            path = [[0, [0, 0, 0]]]
        motion = {"body": body["name"], "vertices": vertices, "path": path}
        if draw.chance(0.6):
            motion["release"] = True
        group.motions.append(motion)

    def walls(self):
        """Two walls that close on shells, by less than the shells can give."""
        draw, size = self.draw, self.draw.uniform(0.1, 0.2)
        radius = self.radius(0.02)
        width = 2 * (size + 2.2 * radius) + draw.uniform(0.1, 3) * self.thickness
        group = Group(math.hypot(1.6 * size, width))
        for side in (-1, 1):
            wall = group.add(self.name("wall"), {"kind": "grid", "size": [3 * size, 3 * size], "cells": [draw.whole(1, 3)] * 2},
                             position=[side * width / 2, 0, 0], rotation=[0, 0, 90], radius=radius)
            step = -side * (0.5 * width - size - 2 * radius + draw.uniform(-0.1, 0.15) * size)
            path = [[draw.uniform(0, 0.1) * self.end, [0, 0, 0]],
                    [draw.uniform(0.3, 0.9) * self.end, [step, draw.uniform(-0.1, 0.1) * size, 0]]]
            group.motions.append({"body": wall["name"], "path": path})
        mesh, edge = self.shell(size)
        group.add(self.name("shell"), mesh, material=self.material(edge), radius=radius,
                  rotation=[draw.uniform(-180, 180) for _ in range(3)])
        group.movable = False
        return group

    def vice(self):
        """Walls that close further than any shell can give: the run ends early, in every way at the same instant."""
        group = self.walls()
        self.deepest = self.draw.power(1e-3, 0.1)
        for motion in group.motions:
            step = motion["path"][-1][1]
            step[0] = math.copysign(2 * group.reach, step[0])
        return group

    def mill(self):
        """An obstacle that turns among shells or particles."""
        draw, arm, size = self.draw, self.draw.uniform(0.15, 0.3), self.draw.uniform(0.06, 0.12)
        axis = draw.direction()
        group = Group(arm + 3.2 * size)
        blade = group.add(self.name("blade"), {"kind": "box", "size": [1.9 * arm, 0.3 * arm, 0.2 * arm],
                                               "cells": [draw.whole(1, 4), 1, 1]},
                          rotation=[draw.uniform(-180, 180) for _ in range(3)])
        turn = draw.choice([-1, 1]) * draw.uniform(30, 300)
        path = [[0, 0], [draw.uniform(0.3, 1) * self.end, turn]]
        if draw.chance(0.5):
            path.append([1.1 * self.end, 0.5 * turn])
        group.motions.append({"body": blade["name"], "rotate": {"axis": axis, "center": [0, 0, 0], "path": path}})
        for _ in range(draw.whole(1, 4)):
            out = draw.direction()
            centre = [(arm + 1.2 * size) * c for c in out]
            if any(math.dist(centre, body["position"]) < 2.1 * size for body in group.bodies[1:]):
                continue
            mesh, edge = self.shell(size)
            speed = self.speed(0.5 * arm)
            group.add(self.name("shell"), mesh, material=self.material(edge), position=centre,
                      velocity=[-speed * c for c in out], **self.spin())
        group.movable = False
        return group

    def curtain(self):
        """A hanging sheet that is let go or dragged, and a ball thrown at it."""
        draw, size, cells = self.draw, self.draw.uniform(0.2, 0.35), self.draw.whole(3, 7)
        ball = draw.uniform(0.05, 0.1)
        radius = self.radius(0.02)
        gap = 2.1 * radius + draw.uniform(0.5, 3) * self.thickness
        group = Group(size + 2 * ball + gap)
        sheet = group.add(self.name("curtain"), {"kind": "grid", "size": [size, size], "cells": [cells, cells]},
                          material=self.material(size / cells), radius=radius, rotation=[90, 0, 0])
        self.pin(group, sheet, [0, cells] if draw.chance(0.5) else list(range(cells + 1)))
        mesh, edge = self.shell(ball)
        group.add(self.name("ball"), mesh, material=self.material(edge), radius=radius,
                  position=[draw.uniform(-0.3, 0.3) * size, draw.uniform(-0.3, 0.3) * size, ball + gap],
                  velocity=[0, 0, -self.speed(gap + size * draw.uniform(0.1, 1))], **self.spin())
        group.movable = False
        return group

    def plane(self):
        """2D: rings, chains and discs in a frame of segments."""
        draw = self.draw
        group = Group(1)
        corners = [[-0.5, -0.5, 0], [0.5, -0.5, 0], [0.5, 0.5, 0], [-0.5, 0.5, 0]]
        frame = group.add(self.name("frame"), {"kind": "segments", "vertices": corners, "closed": True})
        if draw.chance(0.5):
            frame["fixed"] = True
        else:  # one side closes a bit
            group.motions.append({"body": frame["name"], "vertices": [0, 1],
                                  "path": [[0, [0, 0, 0]], [draw.uniform(0.3, 0.9) * self.end, [0, 0.1, 0]]]})
            group.motions.append({"body": frame["name"], "vertices": [2, 3], "path": [[0, [0, 0, 0]]]})
        size = draw.uniform(0.07, 0.12)
        centres = [[x, y] for x in (-0.24, 0, 0.24) for y in (-0.24, 0, 0.24)]
        for x, y in centres[:draw.whole(4, 9)]:
            radius = draw.choice([0, 0.1 * size])
            speed = self.speed(0.15)
            velocity = [speed * c for c in draw.direction(flat=True)]
            kind = draw.choice(["ring", "chain", "disc"])
            n = draw.whole(3, 8)
            if kind == "disc":
                group.add(self.name("disc"), {"kind": "points", "vertices": [[0, 0, 0]]}, mass=draw.power(0.001, 0.1),
                          radius=size * draw.uniform(0.3, 0.9), position=[x, y, 0], velocity=velocity)
                continue
            turns = [2 * math.pi * i / n for i in range(n)]
            if kind == "ring":
                points = [[size * 0.85 * math.cos(a), size * 0.85 * math.sin(a), 0] for a in turns]
            else:
                points = [[size * (-0.85 + 1.7 * i / (n - 1)), size * draw.uniform(-0.1, 0.1), 0] for i in range(n)]
            spin = {} if draw.chance(0.5) else {"angular_velocity": [0, 0, draw.uniform(-4, 4) / self.end]}
            group.add(self.name(kind), {"kind": "segments", "vertices": points, "closed": kind == "ring"},
                      material=self.material(size / n * 3, thread=True), radius=radius, position=[x, y, 0],
                      velocity=velocity, **spin)
        group.movable = False
        return group

    KINDS = ["soup", "cloth", "gas", "ropes", "ribbons", "walls", "mill", "curtain"]
    ALONE = ["plane", "vice"]  # in no mixture

    def groups(self, kind):
        """One group of the kind, or up to three of any kind that stand side by side, and may fly into each other."""
        if kind != "mixed":
            return [getattr(self, kind)()]
        draw = self.draw
        groups = [getattr(self, draw.choice(self.KINDS))() for _ in range(draw.choice([1, 1, 2, 2, 3]))]
        x = 0
        for i, group in enumerate(groups):
            x += 1.02 * group.reach if i else 0
            group.shift([x, 0, 0])
            x += 1.02 * group.reach
            if group.movable and i:
                push = self.speed(0.3 * group.reach)
                for body in group.bodies:
                    body["velocity"][0] -= push
        return groups

    def gravity(self, flat):
        draw = self.draw
        if draw.chance(0.3):
            return [0, 0, 0]
        strength = draw.choice([9.81, 9.81, draw.uniform(0.1, 0.5) / self.end ** 2])
        direction = [0, -1, 0] if draw.chance(0.7) else draw.direction(flat)
        return [strength * c for c in direction]

    def contact(self, groups):
        """r(1) such that the first layer of the lightest vertex ticks about every h."""
        draw = self.draw
        mass = min([b["mass"] for g in groups for b in g.bodies if "mass" in b] +
                   [m["density"] * 0.003 for m in self.materials.values()])
        contact = {"thickness": self.thickness, "restitution": self.restitution,
                   "stiffness": mass * (0.3 / self.tick) ** 2 / (4 * (48 if self.restitution == 1 else 8)) *
                   draw.power(0.1, 2)}
        if draw.chance(0.1):
            contact["thickness_exponent"] = draw.choice([0.3, 0.5])
        if draw.chance(0.1):
            contact["stiffness_exponent"] = draw.choice([2, 2.5])
        if self.deepest:
            contact["min_period_s"] = self.deepest * self.tick
        if draw.chance(0.15):
            contact["pairs_per_vertex"] = draw.choice([4, 16])
        return contact

    def clocks(self):
        draw = self.draw
        clocks = {"gravity_s": max(0.5 * self.tick, 2.0 ** -16)}
        if draw.chance(0.25):
            clocks["mode"] = "free"
        if draw.chance(0.3):
            clocks["quantum_s"] = 2.0 ** -draw.choice([40, 42, 50, 52])
        if draw.chance(0.3):
            clocks["elastic_safety"] = draw.choice([0.05, 0.2, 0.4])
        if draw.chance(0.2):
            clocks["contact_safety"] = draw.choice([0.1, 0.3])
        return clocks

    @staticmethod
    def rub(scene, draw):
        """Friction in half of the scenes, pairs of materials that are unlike the others, and limits of stretch."""
        contact, names = scene["contact"], sorted(scene["materials"])
        if draw.chance(0.5):
            contact["friction"] = draw.choice([0.1, 0.5, 1, draw.uniform(0, 2)])
            if draw.chance(0.25):
                contact["friction_model"] = "kinetic"
        pairs = {}
        while names and draw.chance(0.4):
            pair = {"materials": sorted([draw.choice(names), draw.choice(names)])}
            for key, value in (("friction", draw.uniform(0, 1)), ("restitution", draw.choice([0, 0.5, 1])),
                               ("stiffness", contact["stiffness"] * draw.uniform(0.3, 1))):
                if draw.chance(0.5):
                    pair[key] = value
            pairs[tuple(pair["materials"])] = pair
        if pairs:
            contact["pairs"] = list(pairs.values())
        for name in names:
            stretch = scene["materials"][name].get("stretch")
            if stretch and draw.chance(0.2):
                stretch["limit"] = draw.choice([0.03, 0.1, 0.3])

    def widen(self, draw, bodies):
        """Limits of triangles for some materials, as tight as the sharpest rest shape allows; drawn apart, as loads are."""
        least = {"grid": 0.02, "sphere": 0.05}
        for name in sorted(self.materials) if draw.chance(0.4) else []:
            stretch, chosen = self.materials[name].get("stretch"), draw.choice([1, 1, 3, 10])
            kinds = {body["mesh"]["kind"] for body in bodies if body.get("material") == name}
            if stretch and kinds and not kinds & {"segments", "points"}:
                stretch["limit_principal"] = min(0.7, chosen * max(least.get(kind, 0.7) for kind in kinds))

    def wear(self, draw):
        """Damping and yield of some materials; drawn apart, as loads are."""
        for name in sorted(self.materials) if draw.chance(0.4) else []:
            for part in ("stretch", "bend"):
                keys = self.materials[name].get(part)
                if keys is None:
                    continue
                if draw.chance(0.5):  # the fastest motion turns by about .2 a tick
                    keys["damping"] = self.tick * draw.power(0.02, 20)
                if draw.chance(0.4):
                    keys["yield"] = draw.power(0.002, 0.1) * (1 if part == "stretch" else 5)

    def loads(self, draw, bodies, flat):
        """Forces, pressures and winds that move their bodies some centimetres; drawn apart, so that the rest of a seed's
        scene does not depend on them."""
        movable = [body for body in bodies if not body.get("fixed") and ("mass" in body or "material" in body)]
        loads = []
        for _ in range(draw.whole(1, 3) if movable and draw.chance(0.4) else 0):
            body = draw.choice(movable)
            density = body.get("mass") or self.materials[body["material"]]["density"]
            kind, mesh = draw.choice(["force", "pressure", "wind"]), body["mesh"]["kind"]
            if mesh == "points" or (mesh == "segments" and not flat):
                kind = "force"
            push = draw.power(0.02, 0.5) / self.end ** 2  # m/s^2
            load = {"body": body["name"]}
            if kind == "force":
                share = 1 if "mass" in body else 0.003
                load["force"] = [density * share * push * c for c in draw.direction(flat)]
                if draw.chance(0.5):
                    load["vertices"] = [0]
            elif kind == "pressure":
                load["pressure"] = density * push * draw.choice([-0.3, 1, 3])
            else:
                speed = draw.power(0.05, 1) / self.end
                load["wind"] = [speed * c for c in draw.direction(flat)]
                load["drag"] = density * push / speed ** 2 * draw.power(1, 10)
            if draw.chance(0.5):
                times = sorted(draw.uniform(0, 1.2) * self.end for _ in range(draw.whole(1, 4)))
                load["path"] = [[t, draw.uniform(-0.5, 2)] for t in times]
            loads.append(load)
        return loads

    def scene(self, seed, kind):
        groups = self.groups(kind)
        bodies = [body for group in groups for body in group.bodies]
        scene = {
            "format": "tactus-scene/1",
            "name": f"{kind} {seed}",
            "time": {"end": self.end, "frame": 2.0 ** math.floor(math.log2(self.end / 6))},
            "gravity": self.gravity(kind == "plane"),
            "contact": self.contact(groups),
            "clocks": self.clocks(),
            "materials": self.materials,
            "bodies": bodies,
            "motions": [motion for group in groups for motion in group.motions],
        }
        if len(bodies) > 2 and self.draw.chance(0.1):
            scene["contact"]["ignore"] = [[bodies[-2]["name"], bodies[-1]["name"]]]
        if self.draw.chance(0.1):
            bodies[-1]["self"] = False
        self.rub(scene, Draw(seed, "friction " + kind))
        self.wear(Draw(seed, "wear " + kind))
        self.widen(Draw(seed, "widen " + kind), scene["bodies"])
        scene["loads"] = self.loads(Draw(seed, "loads"), bodies, kind == "plane")
        exact = {"frame": scene["time"]["frame"]}, dict(scene["clocks"])
        scene = rounded(scene)
        scene["time"].update(exact[0])  # powers of two stay exact
        scene["clocks"].update(exact[1])
        return scene


def make(seed, kind=None):
    """The scene of a seed, as a dictionary."""
    if kind is None:
        kind = Draw(seed, "kind").choice(Maker.KINDS + Maker.ALONE + ["mixed"] * 4)
    return Maker(seed, kind).scene(seed, kind)


def main():
    parser = argparse.ArgumentParser(description="Writes a small random scene.")
    parser.add_argument("seed", type=int)
    parser.add_argument("--kind", choices=Maker.KINDS + Maker.ALONE + ["mixed"], help="default: by the seed")
    parser.add_argument("-o", metavar="FILE", help="default: standard output")
    arguments = parser.parse_args()
    text = json.dumps(make(arguments.seed, arguments.kind), indent=1) + "\n"
    if arguments.o:
        with open(arguments.o, "w") as file:
            file.write(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
