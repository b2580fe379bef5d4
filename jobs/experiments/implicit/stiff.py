"""stiff.py: the scenes of published.py with rigid bodies, after Ferguson 2023, chapter 4 and its table 4.1.

Numbers of bodies, vertices and faces, steps, thicknesses, friction and tolerances are those of the table; shapes and sizes are our own, for
they are not told. Every function makes the scene of its name, in small where it is asked to (some seconds). It is no program."""
import math
import os
import sys

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bodies"))
from icosphere import icosphere  # noqa: E402

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


def turntable(folder, small, friction, size=.2, velocity=1e-5, turns=True, part=1e-4):
    """A block on a disk of 1 m whose angular velocity grows by 1 rad/s each second up to 4 rad/s (turns: else it stands still)."""
    path = [[0, 0]] + [[t, math.degrees(.5 * t * t if t <= 4 else 8 + 4 * (t - 4))] for t in numpy.arange(.025, 6.01, .025).round(9).tolist()]
    bodies = [{"name": "table", "mesh": disk(1, .05), "position": [0, -.0255, 0]},
              {"name": "block", "rigid": {"density": 1000}, "mesh": {"kind": "box", "size": [size] * 3, "cells": [1, 1, 1]},
               "position": [.5, round(size / 2 + .005, 9), 0]}]
    return scene("a turntable, friction %g" % friction, .025, .25 if small else 6, 1e-3, bodies, 2, part, friction=friction, velocity=velocity, lags=0,
                 motions=[{"body": "table", "rotate": {"axis": [0, 1, 0], "center": [0, 0, 0], "path": [[t, turns * a] for t, a in path]}}])


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


# ---- round parts: several closed surfaces, APART from each other, make one body ----

APART = 1e-4  # m: so that the audit's question of the start, whether anything crosses, has one answer

def joined(*parts):
    """One mesh of several meshes."""
    vertices, triangles = [], []
    for part in parts:
        triangles += [[len(vertices) + k for k in t] for t in part["triangles"]]
        vertices += part["vertices"]
    return {"kind": "inline", "vertices": vertices, "triangles": triangles}


def moved(mesh, shift):
    return {**mesh, "vertices": (numpy.array(mesh["vertices"]) + shift).round(9).tolist()}


def lathe(profile, around):
    """A closed curve of (radius, z), none on the axis, turned about z: a ring."""
    n, turn = len(profile), 2 * numpy.pi * numpy.arange(around) / around
    x = [[r * math.cos(a), r * math.sin(a), z] for a in turn for r, z in profile]
    faces = []
    for i in range(around):
        for k in range(n):
            a, b, c, d = i * n + k, i * n + (k + 1) % n, (i + 1) % around * n + (k + 1) % n, (i + 1) % around * n + k
            faces += [[a, b, c], [a, c, d]]
    return closed(x, faces)


def plate(radius, low, high, around):
    """A cylinder about z."""
    mesh = disk(radius, high - low, around)
    return closed([[x, z, (low + high) / 2 + y] for x, y, z in mesh["vertices"]], mesh["triangles"])


def block(low, high):
    return hexahedron([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])


def cards(folder, small):
    """A house of 15 cards, three storeys, on which two cubes fall. His cards are two triangles without thickness; a flat body has no inertia about
    some axis for our four nodes, so ours are boxes of .5 mm."""
    wide, long, thick, gap = .064, .1, .0005, 5e-4
    lean = math.radians(20)
    rise, half = long * math.cos(lean), long * math.sin(lean) / 2
    bodies, y = [floor(0, 2)], gap

    def card(place, angle, length):
        c, s = math.cos(angle), math.sin(angle)
        box_ = block([-length / 2, -thick / 2, -wide / 2], [length / 2, thick / 2, wide / 2])
        x = [[place[0] + c * a - s * b, place[1] + s * a + c * b, z] for a, b, z in box_["vertices"]]
        bodies.append({"name": "card%d" % len(bodies), "rigid": {"density": 800}, "mesh": closed(x, box_["triangles"])})
    drop = thick / 2 * math.sin(lean)  # a leaning card's corners lie lower and higher than the ends of its middle
    for storey in range(3):
        tents = 3 - storey
        apart = 2 * (2 * half + thick / math.cos(lean) + 2 * gap)
        for k in range(tents):
            middle = (k - (tents - 1) / 2) * apart
            for side in (-1, 1):
                away = half + thick / 2 / math.cos(lean) + gap / 2
                card([middle + side * away, y + drop + rise / 2, 0], math.pi / 2 + side * lean, long)
        y += rise + 2 * drop + gap
        for k in range(tents - 1):
            card([(k - (tents - 2) / 2) * apart, y + thick / 2, 0], 0, apart - gap)
        y += thick + gap if tents > 1 else 0
    for k in range(2):
        bodies.append({"name": "cube%d" % k, "rigid": {"density": 200}, "position": [.01 * k, y + .15 + .1 * k, 0], "rotation": [20, 30 * k, 10],
                       "mesh": {"kind": "box", "size": [.04, .04, .04], "cells": [1, 1, 1]}})
    return scene("a rigid house of cards", .01, .05 if small else 1, 1e-3, bodies, .5, 1e-2, friction=.9, velocity=1e-5)


def piston(folder, small, around=48):
    """A crank that turns once in a second, a rod with two eyes, and a piston in a guide; pins in holes, and no joint but contact."""
    arm, rod, pin, play, deep = .05, .15, .012, .0008, .02
    eye = [(pin + play, .0008), (pin + play + .01, .0008), (pin + play + .01, deep - .0008), (pin + play, deep - .0008)]
    def peg(x):
        return [moved(plate(pin, APART, deep, around), [x, 0, 0]), moved(plate(pin + .006, deep + APART, deep + .004, around), [x, 0, 0])]
    crank = joined(plate(arm + .02, -.02, 0, around), *peg(arm))
    bar = joined(lathe(eye, around), moved(lathe(eye, around), [rod, 0, 0]), block([pin + play + .01 + APART, -.006, .004], [rod - pin - play - .01 - APART, .006, deep - .004]))
    head = joined(block([-.03, -.03, -.02], [.03, .03, 0]), *peg(0))
    low, high, thick, free = arm + .02 + rod - 2 * arm - .04, arm + rod + .05, .01, .0008
    guide = joined(*[block(a, b) for a, b in (
        ([low, -.03 - free - thick, -.02], [high, -.03 - free, free - APART]), ([low, .03 + free, -.02], [high, .03 + free + thick, free - APART]),
        ([low, -.03, -.02 - free - thick], [high, .03, -.02 - free]),
        ([arm + rod - .05, -.03 - free - thick, free], [high, -.0245, free + thick]),
        ([arm + rod - .05, .0245, free], [high, .03 + free + thick, free + thick]))])
    bodies = [{"name": "crank", "mesh": crank}, {"name": "rod", "rigid": {"density": 2700}, "position": [arm, 0, 0], "mesh": bar},
              {"name": "piston", "rigid": {"density": 2700}, "position": [arm + rod, 0, 0], "mesh": head}, {"name": "guide", "fixed": True, "mesh": guide}]
    return scene("a piston", .01, .05 if small else 1, 1e-3, bodies, .35, 1e-2,
                 motions=[{"body": "crank", "rotate": {"axis": [0, 0, 1], "center": [0, 0, 0], "path": [[0, 0], [2, 720]]}}])


def links(count, start, way, big, tube, cells, gap):
    """A chain of rings, alternately square to each other, from a point along a unit vector; the last one's place too."""
    way, made, spacing = numpy.array(way, float), [], 2 * (big - tube) - gap
    side = numpy.cross(way, [0, 0, 1.])
    side /= numpy.linalg.norm(side)
    up = numpy.cross(way, side)
    for k in range(count):
        axes = [way, side, up] if k % 2 == 0 else [way, up, side]
        m, n = cells
        x, faces = [], []
        for i in range(m):
            for j in range(n):
                a, b = 2 * math.pi * i / m, 2 * math.pi * j / n
                r = big + tube * math.cos(b)
                x.append(numpy.array(start) + way * spacing * k + axes[0] * r * math.cos(a) + axes[1] * r * math.sin(a) + axes[2] * tube * math.sin(b))
                p, q = i * n + j, i * n + (j + 1) % n
                r_, s_ = (i + 1) % m * n + (j + 1) % n, (i + 1) % m * n + j
                faces += [[p, q, r_], [p, r_, s_]]
        made.append(closed(numpy.array(x).round(9), faces))
    return made, numpy.array(start) + way * spacing * count


def wrecking_ball(folder, small):
    """A ball on a chain of 12 rings swings into a wall of 560 boxes, 20 wide, 14 high and two deep."""
    big, tube, gap, size = .06, .012, 1e-3, .1
    wide, high = (4, 3) if small else (20, 14)
    top = numpy.array([-1.1, 1.9, 0.])
    way = numpy.array([-math.sin(math.radians(40)), -math.cos(math.radians(40)), 0])
    rings, last = links(12, top, way, big, tube, (20, 11), gap)
    bodies = [floor(0, 20)] + [{"name": "link%d" % k, **({"fixed": True} if k == 0 else {"rigid": {"density": 7800}}), "mesh": mesh} for k, mesh in enumerate(rings)]
    # The ball has an eye: a ring as the next link of the chain.
    eye, _ = links(13, top, way, big, tube, (20, 11), gap)
    middle = last + way * (big + tube + .2 + APART)
    x, faces = icosphere(3)
    sphere = closed(.2 * x, faces)
    bodies.append({"name": "ball", "rigid": {"density": 3000}, "mesh": joined(eye[12], moved(sphere, middle))})
    side = size + .5 * gap
    for row in range(high):
        for k in range(wide):
            for deep in range(2):
                bodies.append({"name": "box%d" % len(bodies), "rigid": {"density": 500},
                               "position": [round(-1.1 + .27 + deep * side, 9), round((row + .5) * side + .25 * gap, 9), round((k - (wide - 1) / 2) * side, 9)],
                               "mesh": {"kind": "box", "size": [size] * 3, "cells": [1, 1, 1]}})
    return scene("a wrecking ball and %d boxes" % (2 * wide * high), .01, .05 if small else 1, 1e-3, bodies, 3, 1e-2)


def anchor(folder, small):
    """A chain of 21 rings falls from a line along x, with an anchor at its end; its first ring hangs at a fixed bar."""
    big, tube, gap = .06, .012, 1e-3
    rings, last = links(21, [0, 0, 0], [1, 0, 0], big, tube, (20, 20), gap)
    eye, _ = links(22, [0, 0, 0], [1, 0, 0], big, tube, (20, 20), gap)
    stock = big + .3
    body = joined(eye[21], *[moved(block([-a, -b, -c], [a, b, c]), [last[0] + x, 0, z]) for x, z, (a, b, c) in (
        (.5 * (big + tube + stock), 0, (.5 * (stock - big - tube) - APART, .02, .02)), (stock + .03, 0, (.03, .03, .22)),
        (stock - .08, .19, (.08 - APART, .02, .02)), (stock - .08, -.19, (.08 - APART, .02, .02)))])
    # The first ring stands in the plane of x and y, and hangs at the bar.
    bar = block([-big + tube + .004, -.012, -.3], [-big + tube + .028, .012, .3])
    bodies = [{"name": "bar", "fixed": True, "mesh": bar}] + [{"name": "link%d" % k, "rigid": {"density": 7800}, "mesh": mesh} for k, mesh in enumerate(rings)]
    bodies.append({"name": "anchor", "rigid": {"density": 7800}, "mesh": body})
    return scene("an anchor on 21 links", .01, .05 if small else 1, 1e-3, bodies, 2.5, 1e-2)


def hoop(middle, radius, one, two, corners):
    """A ring of segments about a middle, in the plane of two directions."""
    angle = [2 * math.pi * (k + .5) / corners for k in range(corners)]
    x = [numpy.array(middle) + radius * (math.cos(a) * numpy.array(one) + math.sin(a) * numpy.array(two)) for a in angle]
    return {"kind": "inline", "vertices": [p.round(9).tolist() for p in x], "edges": [[k, (k + 1) % corners] for k in range(corners)]}


def net(folder, small):
    """A ball falls on a net of hoops without thickness, edges only: 15 by 15 lie flat, and an upright one holds each two neighbours. Those at the
    rim are fixed."""
    side, pitch, flat, upright, corners = 4 if small else 15, .1, .04, .03, 33
    bodies, x, y, z = [], [1, 0, 0], [0, 1, 0], [0, 0, 1]
    for i in range(side):
        for k in range(side):
            at = [(i - (side - 1) / 2) * pitch, 0, (k - (side - 1) / 2) * pitch]
            held = {"fixed": True} if {i, k} & {0, side - 1} else {"rigid": True, "mass": .02 / corners}
            bodies.append({"name": "flat %d %d" % (i, k), **held, "mesh": hoop(at, flat, x, z, corners)})
            for name, along, there in (("x", x, i), ("z", z, k)):
                if there + 1 < side:
                    middle = [at[c] + .5 * pitch * along[c] for c in range(3)]
                    bodies.append({"name": "upright %s %d %d" % (name, i, k), "rigid": True, "mass": .015 / corners, "mesh": hoop(middle, upright, along, y, corners)})
    radius = .1 if small else .25
    points, faces = icosphere(2 if small else 3)
    bodies.append({"name": "ball", "rigid": {"density": 2000}, "position": [0, radius + upright + .02, 0], "velocity": [0, -1, 0], "mesh": closed(radius * points, faces)})
    return scene("a net of %d hoops, edges only, and a ball" % (len(bodies) - 1), .01, .1 if small else 1, 1e-3, bodies, 2, 1e-2)


def thread(low, high, rows, core, depth, pitch, around):
    """The places (around, rows, 3) of a screw's side: its radius is a wave of the height and of the turn about y."""
    angle = 2 * numpy.pi * numpy.arange(around) / around
    y = numpy.linspace(low, high, rows)
    r = core + depth * (1 - numpy.cos(2 * math.pi * y[None, :] / pitch - angle[:, None])) / 2
    return numpy.stack([r * numpy.cos(angle)[:, None], numpy.broadcast_to(y, r.shape), r * numpy.sin(angle)[:, None]], axis=2)


def bolt(folder, small, play=4e-4, weight=1.):
    """A bolt with a thread of three turns goes down in a fixed nut by its own weight, and turns; no friction. weight: times the usual gravity."""
    around, pitch, core, depth = 40, .04, .018, .005
    x = thread(0, .12, 41, core, depth, pitch, around)
    rows = x.shape[1]
    n = around * rows
    faces = []
    for i in range(around):
        j = (i + 1) % around
        for k in range(rows - 1):
            a, b, c, d = i * rows + k, i * rows + k + 1, j * rows + k + 1, j * rows + k
            faces += [[a, b, c], [a, c, d]]
        faces += [[n, i * rows, j * rows], [n + 1, j * rows + rows - 1, i * rows + rows - 1]]
    screw = closed([*x.reshape(-1, 3).tolist(), [0, 0, 0], [0, .12, 0]], faces)
    inner = thread(.03, .09, 21, core + play, depth, pitch, around)
    rows = inner.shape[1]
    outer = [[.04 * math.cos(2 * math.pi * i / around), y, .04 * math.sin(2 * math.pi * i / around)] for i in range(around) for y in (.09, .03)]
    wide = rows + 2  # of a profile: up the thread, then the outer side down
    profile = numpy.concatenate([inner, numpy.array(outer).reshape(around, 2, 3)], axis=1)
    faces = []
    for i in range(around):
        j = (i + 1) % around
        for k in range(wide):
            m = (k + 1) % wide
            a, b, c, d = i * wide + k, i * wide + m, j * wide + m, j * wide + k
            faces += [[a, b, c], [a, c, d]]
    nut = closed(profile.reshape(-1, 3), faces)
    bodies = [{"name": "nut", "fixed": True, "mesh": nut}, {"name": "bolt", "rigid": {"density": 7800}, "mesh": screw}]
    made = scene("a bolt in a nut", .01, .05 if small else .5, 1e-4, bodies, .15, 1e-2)
    return {**made, "gravity": [0, -9.81 * weight, 0]}
