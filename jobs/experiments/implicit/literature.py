"""literature.py: the scenes of published.py, after Ferguson 2023, chapter 2, appendices A to C.

Every function makes the scene of its name, in small where it is asked to (some seconds). Shapes of our own are told in docs/reference/implicit.md.
It is no program."""
import math
import os

import numpy

import shapes


def solid(youngs, density=1000, poisson=0.4):
    return {"density": density, "solid": {"model": "neo-hookean", "youngs": youngs, "poisson": poisson}}


def box(size, cells):
    return {"kind": "box", "size": size, "cells": cells, "fill": "tets"}


def scene(name, step, end, thickness, youngs, bodies, steps_per_frame=1, gravity=-9.81, **more):
    frame = step * steps_per_frame
    return {"format": "tactus-scene/1", "name": name, "time": {"end": round(end / frame) * frame, "frame": frame}, "gravity": [0, gravity, 0],
            "contact": {"thickness": thickness, **more.pop("contact", {})},
            "integrator": {"kind": "implicit", "step_s": step, **more.pop("integrator", {})},
            "materials": {"gel": more.pop("material", solid(youngs))}, "bodies": bodies, "output": {"contacts": True}, **more}


def floor(y=0.0, size=4):
    return {"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [size, size], "cells": [2, 2]}, "position": [0, y, 0]}


def tolerance(diagonal, part=1e-2):
    """velocity_tol for the diagonal of what moves: obstacles that are larger than needed do not make it coarser."""
    return {"newton": {"velocity_tol": part * diagonal}}


def two_tets(folder, small):
    """A tetrahedron falls with its corner first onto one that is fixed, off its middle, slides off and falls on."""
    corner = numpy.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) * 0.1 / math.sqrt(8)
    x, tets = shapes.upright(corner, numpy.array([[0, 1, 2, 3]]))
    mesh = {"kind": "inline", "vertices": x.tolist(), "tetrahedra": tets.tolist()}
    bodies = [{"name": "lower", "fixed": True, "material": "gel", "mesh": mesh},
              {"name": "upper", "material": "gel", "mesh": mesh, "position": [0.02, 0.15, 0.01], "rotation": [50, 20, 30]}]
    return scene("two tetrahedra", 0.025, 0.25 if small else 2.5, 3e-4, 1e5, bodies, integrator=tolerance(0.3))


def corner(folder, small):
    """A tetrahedron falls with its right-angled corner first into the corner of three fixed boxes. 28 nodes, 19 tetrahedra and 40 faces are told:
    those of three boxes and a tetrahedron. Its three faces come to lie on the boxes' at a thickness of 1e-6 of the diagonal."""
    y = numpy.ones(3) / math.sqrt(3)  # of the corner: what is up
    x = numpy.array([1, -1, 0]) / math.sqrt(2)
    up = numpy.array([x, y, numpy.cross(x, y)])
    side, thick, wide = 0.1, 0.05, 0.15
    bodies = []
    for axis in range(3):
        low, high = numpy.full(3, 1e-4), numpy.full(3, wide)
        low[axis], high[axis] = -thick, 0
        at, tets = shapes.upright(numpy.array([[(low, high)[c >> k & 1][k] for k in range(3)] for c in range(8)]) @ up.T, numpy.array(shapes.KUHN))
        bodies.append({"name": "box%d" % axis, "fixed": True, "material": "gel",
                       "mesh": {"kind": "inline", "vertices": at.tolist(), "tetrahedra": tets.tolist()}})
    at, tets = shapes.upright((numpy.concatenate([numpy.zeros((1, 3)), side * numpy.eye(3)]) + 0.05 * y) @ up.T, numpy.array([[0, 1, 2, 3]]))
    bodies.append({"name": "tetrahedron", "material": "gel", "mesh": {"kind": "inline", "vertices": at.tolist(), "tetrahedra": tets.tolist()}})
    diagonal = (wide + thick) * math.sqrt(3)
    return scene("a tetrahedron in a corner", 0.025, 0.25 if small else 2.5, 1e-6 * diagonal, 1e5, bodies, integrator=tolerance(diagonal))


def cubes(folder, small):
    bodies = [floor(0, 2)]
    for k in range(5):
        bodies.append({"name": "cube%d" % k, "material": "gel", "mesh": box([0.2, 0.2, 0.2], [1, 1, 1]), "position": [0, 0.11 + 0.21 * k, 0]})
    return scene("five cubes", 0.025, 0.25 if small else 2.5, 2e-3, 1e5, bodies)


def knives(folder, small):
    """A mat of 3K nodes falls onto the edges of four upright triangles."""
    n = 8 if small else 32
    bodies = [{"name": "mat", "material": "gel", "mesh": box([1, 0.05, 1], [n, 2, n]), "position": [0, 0.1, 0]}]
    for k in range(4):
        x = -0.3 + 0.2 * k
        bodies.append({"name": "knife%d" % k, "fixed": True,
                       "mesh": {"kind": "inline", "vertices": [[x, 0, -0.6], [x, 0, 0.6], [x, -0.4, 0]], "triangles": [[0, 1, 2]]}})
    return scene("a mat on knives", 0.04, 0.4 if small else 2, 1.5e-3, 2e4, bodies)


def tunnel(folder, small, speed):
    """A ball of 0.1 m flies against a fixed board of 0.02 m."""
    n, cells = (3, 6) if small else (7, 24)
    bodies = [{"name": "ball", "material": "gel", "mesh": shapes.save(os.path.join(folder, "ball.h5"), shapes.ball(0.05, n)),
               "position": [0, 0.2, 0], "velocity": [0, -speed, 0]},
              {"name": "board", "fixed": True, "mesh": {"kind": "box", "size": [0.6, 0.02, 0.6], "cells": [cells, 1, cells]}}]
    return scene("a ball at %g m/s" % speed, 0.02, 0.1 if small else 0.4, 1e-3 * 0.9, 1e6, bodies, gravity=0, integrator=tolerance(0.9))


def chain(folder, small, links, youngs, density):
    """Rings hang in each other, the topmost is held; each falls by 0.032 m before it is caught."""
    mesh = shapes.save(os.path.join(folder, "ring.h5"), shapes.ring(0.125, 0.028, 10 if small else 20, 6 if small else 10))
    links = min(links, 5) if small else links
    bodies = [{"name": "link%d" % k, "mesh": mesh, "position": [0, -0.162 * k, 0], "rotation": [0, 90 * (k % 2), 0],
               **({"fixed": True} if k == 0 else {"material": "gel"})} for k in range(links)]
    diagonal = math.hypot(0.162 * (links - 1) + 0.306, 0.306, 0.306)
    return scene("a chain of %d links" % links, 0.04, 0.4 if small else 4, 1e-3 * diagonal, youngs, bodies,
                 material=solid(youngs, density), integrator=tolerance(diagonal))


def golf(folder, small):
    """A ball of 0.04 m flies against a wall at 67 m/s, with newmark."""
    radius, n = 0.02, 5 if small else 18
    bodies = [{"name": "ball", "material": "gel", "mesh": shapes.save(os.path.join(folder, "golf.h5"), shapes.ball(radius, n)),
               "position": [0, radius + 1e-3, 0], "velocity": [0, -67, 0]}, floor(0, 0.16)]
    diagonal = 2 * radius * math.sqrt(3)
    return scene("a golf ball at 67 m/s", 2e-5, 5e-4 if small else 2e-3, 1e-3 * diagonal, 1e7, bodies, gravity=0,
                 material=solid(1e7, 1150, 0.45), integrator={"scheme": "newmark", **tolerance(diagonal)})


def twist(folder, small, cells, seconds):
    """A mat whose two ends are turned against each other by 72 degrees a second."""
    cells, seconds = (8, 0.8) if small else (cells, seconds)
    n = cells + 1
    bodies = [{"name": "mat", "material": "gel", "mesh": box([1, 0.02, 1], [cells, 1, cells])}]
    return scene("a mat twisted, %d^2" % cells, 0.04, seconds, 1e-3 * math.sqrt(2), 2e4, bodies, gravity=0,
                 motions=turned("mat", [i for i in range(n * 2 * n) if i % n == 0], [i for i in range(n * 2 * n) if i % n == n - 1], seconds))


def turned(body, low, high, seconds):
    return [{"body": body, "vertices": at, "rotate": {"axis": [1, 0, 0], "path": [[0, 0], [seconds, 72 * sign * seconds]]}}
            for at, sign in ((low, 1), (high, -1))]


def rods(folder, small, step, seconds=6):
    """Four rods side by side, their ends turned against each other by 72 degrees a second."""
    cells, width, gap = (20 if small else 69), 0.05, 0.004
    n, bodies, motions, seconds = cells + 1, [], [], max(1, step) if small else seconds
    for k in range(4):
        name = "rod%d" % k
        away = (width + gap) / 2
        bodies.append({"name": name, "material": "gel", "mesh": box([1, width, width], [cells, 2, 2]),
                       "position": [0, away * (1 - k % 2 * 2), away * (1 - k // 2 * 2)]})
        motions += turned(name, [i for i in range(9 * n) if i % n == 0], [i for i in range(9 * n) if i % n == n - 1], seconds)
    return scene("rods twisted, h = %g s" % step, step, seconds, 1e-3 * 1.01, 1e4, bodies, gravity=0, motions=motions)


def arch(folder, small, friction):
    """25 stones in half of a ring stand without mortar, or fall."""
    stones, inner, outer, depth = 25, 8.5, 10.0, 1.5
    bodies = [floor(-1e-5, 60)]
    shift = 2e-7
    for k in range(stones):
        corner = numpy.array([[r * math.cos(a), r * math.sin(a), z] for a in (math.pi * k / stones + shift, math.pi * (k + 1) / stones - shift)
                              for r in (inner, outer) for z in (-depth / 2, depth / 2)])
        x, tets = shapes.upright(corner, numpy.array(shapes.KUHN))
        bodies.append({"name": "stone%d" % k, "material": "gel",
                       "mesh": {"kind": "inline", "vertices": x.tolist(), "tetrahedra": tets.tolist()}})
    return scene("an arch, friction %g" % friction, 0.01, 0.05 if small else 1 if friction > .3 else .7, 1e-6, 2e10, bodies,
                 contact={"friction": friction}, material=solid(2e10, 2300, 0.2),
                 integrator={"newton": {"velocity_tol": 1e-4 * 22}, "friction": {"velocity": 1e-5 * 22, "lags": 0 if friction > .3 else 1}})


def cards(folder, small, friction):
    """Seven boards: two tents, a board across them, a tent on that. They lean by a slope of 0.22, so the lower ones need a friction of
    about 0.16 and the upper ones 0.11."""
    half, thick, lean, cells = 0.25, 0.004, math.atan(0.22), 4 if small else 19
    c, s = math.cos(lean), math.sin(lean)
    diagonal = math.hypot(1.02, 0.5, 0.75)
    gap = 0.0009
    bodies = [floor(0, 2)]

    def board(name, x, y, turn):
        bodies.append({"name": name, "material": "gel", "mesh": box([2 * half, thick, 2 * half], [cells, 1, cells]),
                       "position": [x, y, 0], "rotation": [0, 0, math.degrees(turn)]})

    def tent(name, x, ground):
        """Two boards whose upper inner edges are a gap apart, a gap above the ground."""
        rise = half * c + thick / 2 * s + gap
        away = gap / 2 + half * s + thick / 2 * c
        board(name + " left", x - away, ground + rise, math.pi / 2 - lean)
        board(name + " right", x + away, ground + rise, math.pi / 2 + lean)
        return ground + 2 * (half * c + thick / 2 * s) + gap

    top = tent("low", -0.13, 0)
    tent("lower", 0.13, 0)
    board("across", 0, top + gap + thick / 2, 0)
    tent("high", 0, top + gap + thick)
    return scene("a house of cards, friction %g" % friction, 0.025, 0.1 if small else 5, 1e-3 * diagonal, 1e8, bodies,
                 contact={"friction": friction},
                 integrator={**tolerance(diagonal), "friction": {"velocity": 1e-5 * diagonal, "lags": 0}})


def compactor(folder, small, bodies, low, room, seconds=1.0):
    """Six walls close in on what is between them until `room` is left in each direction, and open again."""
    high = -low
    motions = []
    for axis in range(3):
        for side in (-1, 1):
            name = "wall%d%d" % (axis, side > 0)
            place, way, turn = [0, 0, 0], [0, 0, 0], [0, 0, 0]
            place[axis], way[axis] = side * high, side * (room / 2 - high)
            turn[(2, 1, 0)[axis]] = 90 if axis != 1 else 0
            bodies.append({"name": name, "mesh": {"kind": "grid", "size": [2.4 * high, 2.4 * high], "cells": [4, 4]}, "position": place,
                           "rotation": turn})
            motions.append({"body": name, "path": [[0, [0, 0, 0]], [seconds, way], [2 * seconds, [0, 0, 0]]]})
    walls = [b["name"] for b in bodies if b["name"].startswith("wall")]
    ignore = [[a, b] for i, a in enumerate(walls) for b in walls[:i]]
    return scene("a compactor", 0.01, 0.1 if small else 2 * seconds, 1e-3 * 2 * high * math.sqrt(3), 1e4, bodies, gravity=0,
                 contact={"ignore": ignore}, motions=motions, integrator=tolerance(2 * high * math.sqrt(3)))


def octopus(folder, small):
    """A head and eight bent arms."""
    def inside(x, y, z):
        within = x * x + (y - 0.12) ** 2 + z * z <= 0.22 ** 2
        for k in range(8):
            a = 2 * math.pi * (k + 0.5) / 8
            u, v = math.cos(a), math.sin(a)
            way = [(0.1, 0.02), (0.28, -0.06), (0.34, -0.25), (0.42, -0.36)]
            for (r, h), (q, g) in zip(way, way[1:]):
                within |= shapes.near_line(x, y, z, (r * u, h, r * v), (q * u, g, q * v), 0.055)
        return within

    cell = 0.06 if small else 0.0295
    mesh = shapes.grown(inside, [-0.5] * 3, [0.5] * 3, cell)
    room = 1.15 * (len(mesh[1]) / 6 * cell ** 3) ** (1 / 3)
    made = compactor(folder, small, [{"name": "octopus", "material": "gel", "mesh": shapes.save(os.path.join(folder, "octopus.h5"), mesh)}],
                     -0.5, room)
    made["name"] = "an octopus in a compactor"
    return made
