"""stiff.py: the scenes of published.py with rigid bodies, after Ferguson 2023, chapter 4 and its table 4.1.

Numbers of bodies, vertices and faces, steps, thicknesses, friction and tolerances are those of the table; shapes and sizes are our own, for
they are not told. Every function makes the scene of its name, in small where it is asked to (some seconds). It is no program."""
import math

import numpy

FACES = [[0, 2, 3], [0, 3, 1], [4, 5, 7], [4, 7, 6], [0, 1, 5], [0, 5, 4], [2, 6, 7], [2, 7, 3], [0, 4, 6], [0, 6, 2], [1, 3, 7], [1, 7, 5]]


def volume(x, faces):
    return sum(numpy.dot(x[a], numpy.cross(x[b], x[c])) for a, b, c in faces) / 6


def closed(x, faces):
    """A surface whose triangles face outwards."""
    x = numpy.asarray(x, float)
    middle = x.mean(axis=0)
    if volume(x - middle, faces) < 0:
        faces = [[a, c, b] for a, b, c in faces]
    return {"kind": "inline", "vertices": x.tolist(), "triangles": [list(map(int, f)) for f in faces]}


def hexahedron(corners):
    """Corners numbered by bits."""
    return closed(corners, FACES)


def prism(outline, triangles, depth):
    """A plane outline (N, 2), with its triangles, from -depth/2 to depth/2 along z."""
    n = len(outline)
    x = [[*p, z] for z in (-depth / 2, depth / 2) for p in outline]
    faces = [[a, c, b] for a, b, c in triangles] + [[n + a, n + b, n + c] for a, b, c in triangles]
    faces += [f for i in range(n) for j in [(i + 1) % n] for f in ([i, j, n + j], [i, n + j, n + i])]
    return closed(x, faces)


def disk(radius, high, around=64):
    """About the y axis, with a vertex in the middle of each side: 130 vertices, 256 faces."""
    turn = 2 * numpy.pi * numpy.arange(around) / around
    x = [[radius * math.cos(a), y, radius * math.sin(a)] for y in (-high / 2, high / 2) for a in turn] + [[0, -high / 2, 0], [0, high / 2, 0]]
    low, top = 2 * around, 2 * around + 1
    faces = []
    for i in range(around):
        j = (i + 1) % around
        faces += [[low, i, j], [top, around + j, around + i], [i, around + i, j], [j, around + i, around + j]]
    return closed(x, faces)


def floor(y, size):
    return {"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [size, size], "cells": [1, 1]}, "position": [0, y, 0]}


def scene(name, step, end, thickness, bodies, diagonal, part, friction=0, velocity=1e-3, lags=1, steps_per_frame=1, **more):
    frame = step * steps_per_frame
    contact = {"thickness": thickness, "friction": friction} if friction else {"thickness": thickness}
    integrator = {"kind": "implicit", "step_s": step, "newton": {"velocity_tol": part * diagonal}}
    if friction:
        integrator["friction"] = {"velocity": velocity, "lags": lags}
    return {"format": "tactus-scene/1", "name": name, "time": {"end": round(end / frame) * frame, "frame": frame}, "gravity": [0, -9.81, 0],
            "contact": contact, "integrator": integrator, "bodies": bodies, "output": {"contacts": True}, **more}


def arch(folder, small):
    """101 stones in half of a ring stand without mortar; each joint is half of the thickness wide."""
    stones, inner, outer, depth, thickness = 101, 8.5, 10.0, 1.5, 1e-3
    shift = .25 * thickness / inner
    bodies = [floor(-.5 * thickness, 60)]
    for k in range(stones):
        bodies.append({"name": "stone%d" % k, "rigid": {"density": 2300}, "mesh": hexahedron([
            [r * math.cos(a), r * math.sin(a), z] for a in (math.pi * k / stones + shift, math.pi * (k + 1) / stones - shift)
            for r in (inner, outer) for z in (-depth / 2, depth / 2)])})
    return scene("a rigid arch of 101 stones", .01, .05 if small else 1, thickness, bodies, 22, 1e-3, friction=.5)


def turntable(folder, small, friction):
    """A block on a disk of 1 m whose angular velocity grows by 1 rad/s each second up to 4 rad/s."""
    path = [[0, 0]] + [[t, math.degrees(.5 * t * t if t <= 4 else 8 + 4 * (t - 4))] for t in numpy.arange(.025, 6.01, .025).round(9).tolist()]
    bodies = [{"name": "table", "mesh": disk(1, .05), "position": [0, -.0255, 0]},
              {"name": "block", "rigid": {"density": 1000}, "mesh": {"kind": "box", "size": [.2, .2, .2], "cells": [1, 1, 1]},
               "position": [.5, .105, 0]}]
    return scene("a turntable, friction %g" % friction, .025, .25 if small else 6, 1e-3, bodies, 2, 1e-4, friction=friction, velocity=1e-5, lags=0,
                 motions=[{"body": "table", "rotate": {"axis": [0, 1, 0], "center": [0, 0, 0], "path": path}}])


def coin(folder, small):
    """A coin of 24 mm that is set down at 45 degrees, rolling round without slip as a disk on a circle does."""
    radius, high, tilt = .012, .0018, math.radians(45)
    fast = math.sqrt(4 * 9.81 / (radius * math.sin(tilt)))  # steady motion of Euler's disk
    place = [0, radius * math.sin(tilt) + high / 2 * math.cos(tilt) + 5e-5, 0]
    spin = [fast * math.sin(tilt) * math.cos(tilt), fast * math.sin(tilt) ** 2, 0]
    bodies = [floor(0, .4), {"name": "coin", "rigid": {"density": 8000}, "mesh": disk(radius, high), "position": place,
                             "rotation": [0, 0, math.degrees(tilt)], "angular_velocity": spin}]
    return scene("a coin that spins as it rolls", 1e-4, 2e-3 if small else .5, 1e-4, bodies, .025, 1e-4, friction=.2, velocity=1e-5, lags=0,
                 steps_per_frame=1 if small else 50)


def lewis(folder, small):
    """A wedge between two others in a notch that widens downwards is pulled up by .5 m/s, and a stone with it. Two small blocks lie beside it:
    seven bodies with the floor."""
    slope, gap = math.tan(math.radians(10)), 5e-4
    depth, open_half, deep = .1, .04, .1
    wide = open_half + slope * deep
    notch = [[-.15, 0], [.15, 0], [.15, .15], [open_half, .15], [wide, .05], [-wide, .05], [-open_half, .15], [-.15, .15]]
    triangles = [[0, 1, 4], [0, 4, 5], [1, 2, 4], [2, 3, 4], [0, 5, 7], [5, 6, 7]]
    low, high, side, core = .05 + gap, .16, .012, .02
    def wall(y, away):
        return open_half + slope * (.15 - y) - away
    left = [[s * wall(y, a), y] for s, y, a in ((1, low, gap), (1, high, gap), (1, high, gap + side), (1, low, gap + side))]
    middle = [[-wall(low, 2 * gap + side), low], [wall(low, 2 * gap + side), low], [wall(high, 2 * gap + side), high], [-wall(high, 2 * gap + side), high]]
    quad = [[0, 1, 2], [0, 2, 3]]
    bodies = [floor(-5e-4, 2), {"name": "stone", "rigid": {"density": 1000}, "mesh": prism(notch, triangles, depth)},
              {"name": "right", "rigid": {"density": 1000}, "mesh": prism(left, quad, depth)},
              {"name": "left", "rigid": {"density": 1000}, "mesh": prism([[-x, y] for x, y in left], quad, depth)},
              {"name": "core", "mesh": prism(middle, quad, depth)}]
    for i in range(2):
        bodies.append({"name": "beside%d" % i, "rigid": {"density": 1000}, "position": [.4 + .2 * i, .05, 0],
                       "mesh": {"kind": "box", "size": [.1, .1, .1], "cells": [1, 1, 1]}})
    return scene("a lewis", .01, .1 if small else 1, 1e-3, bodies, .7, 1e-2, friction=.3,
                 motions=[{"body": "core", "path": [[0, [0, 0, 0]], [.1, [0, 0, 0]], [1.1, [0, .5, 0]]]}])
