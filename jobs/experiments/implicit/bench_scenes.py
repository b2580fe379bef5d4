"""bench_scenes.py: the scenes of benchmarks.py: meshes, bodies, scripts, and what is measured. It is no program.

Each benchmark is a function (folder, level, weights) that gives a scene and a function that takes its Outcome and gives rows: (figure, value,
what it must be, unit). A figure that must be nothing has 0 there; one that only a finer mesh tells has None."""
import itertools
import math
import os

import numpy

import shapes

KUHN = [[tuple(int(axis in order[:k]) for axis in range(3)) for k in range(4)] for order in itertools.permutations(range(3))]


def grid(xs, ys, zs, keep=None):
    """Tetrahedra of a grid with these coordinates, six a cell; keep(x, y, z): of cells, by their centres."""
    n = [len(a) for a in (xs, ys, zs)]
    x = numpy.stack(numpy.meshgrid(xs, ys, zs, indexing="ij"), axis=-1).reshape(-1, 3)
    tets = []
    for i, j, k in itertools.product(*(range(m - 1) for m in n)):
        centre = [0.5 * (a[q] + a[q + 1]) for a, q in ((xs, i), (ys, j), (zs, k))]
        if keep is None or keep(*centre):
            tets += [[((i + a) * n[1] + j + b) * n[2] + k + c for a, b, c in path] for path in KUHN]
    used, tets = numpy.unique(numpy.array(tets), return_inverse=True)
    return shapes.upright(x[used], tets.reshape(-1, 4))


def graded(fine, within, growth, far):
    """Coordinates from 0 to far: steps of `fine` up to `within`, then each longer by `growth`."""
    at, step = [0.0], fine
    while at[-1] < far:
        step = step if at[-1] < within - 1e-12 else step * growth
        at.append(at[-1] + step)
    return numpy.array(at) * far / at[-1] if at[-1] > far and len(at) < 4 else numpy.array(at[:-1] + [max(far, at[-2] + step / 2)])


def both_sides(at):
    return numpy.concatenate([-at[:0:-1], at])


def rubber(youngs, poisson, density=1000):
    return {"density": density, "solid": {"model": "neo-hookean", "youngs": youngs, "poisson": poisson}}


def scene(end, step, thickness, weights, kappa, **more):
    """kappa: the pressure of the barrier, Pa, where pairs have weights of area."""
    integrator = {"kind": "implicit", "step_s": step, **more.pop("integrator", {})}
    if weights == "area":
        integrator["barrier"] = {"stiffness": kappa, "weights": "area"}
    return {"format": "tactus-scene/1", "time": {"end": end, "frame": step}, "contact": {"thickness": thickness, "friction": more.pop("friction", 0)},
            "integrator": integrator, "output": {"reactions": True, "fields": ["contact_pressure"]}, **more}


# ---- a rigid sphere on a half space ----

RADIUS, REACH, YOUNGS, POISSON, RUB = 1.0, 0.1, 1e6, 0.3, 0.3
DEPTH = REACH ** 2 / RADIUS
CONTACT_E = YOUNGS / (1 - POISSON ** 2)
SHEAR = YOUNGS / (2 * (1 + POISSON))


def cap(fine):
    """A cap of the sphere, twice as wide as the contact, its lowest point at the origin: a lattice of equilateral triangles, lifted."""
    n, number, x, triangles = math.ceil(2 * REACH / fine), {}, [], []
    for i, j in itertools.product(range(-n, n + 1), repeat=2):
        a, b = fine * (i + j / 2), fine * j * math.sqrt(3) / 2
        if math.hypot(a, b) <= 2 * REACH:
            number[i, j] = len(x)
            x.append([a, RADIUS - math.sqrt(RADIUS ** 2 - a * a - b * b), b])
    for i, j in number:
        for corners in (((i, j), (i, j + 1), (i + 1, j)), ((i + 1, j), (i, j + 1), (i + 1, j + 1))):
            if all(corner in number for corner in corners):
                triangles.append([number[corner] for corner in corners])
    used = sorted({v for t in triangles for v in t})
    return {"kind": "inline", "vertices": [x[v] for v in used], "triangles": [[used.index(v) for v in t] for t in triangles]}


def half_space(folder, level):
    fine, growth = ((REACH / 3, 1.6), (REACH / 4.5, 1.6), (REACH / 6.5, 1.6))[level]
    far = 25 * REACH
    side = graded(fine, 1.5 * REACH, growth, far)
    mesh = grid(both_sides(side), -graded(fine, REACH, growth, far)[::-1], both_sides(side))
    return fine, {"name": "half space", "material": "rubber", "mesh": shapes.save(os.path.join(folder, "half-space-%d.h5" % level), mesh)}


def sphere(folder, level, weights, path, steps, rub=0, **integrator):
    fine, body = half_space(folder, level)
    far, thickness = 25 * REACH, 0.04 * DEPTH
    edge = 1e-6
    walls = [[[-far - 1, -far - 1, -far - 1], [far + 1, -far + edge, far + 1]]]
    return scene(0.1 * steps, 0.1, thickness, weights, 3e5, friction=rub, integrator=integrator, materials={"rubber": rubber(YOUNGS, POISSON, 10)},
                 bodies=[body, {"name": "sphere", "mesh": cap(fine / 2), "position": [0, 1.01 * thickness, 0]}],
                 motions=[{"body": "half space", "vertices": {"box": walls[0]}, "path": [[0, [0, 0, 0]]]},
                          {"body": "sphere", "path": [[0.1 * t, [x, y - (1.01 * thickness if t else 0), 0]] for t, x, y in path]}])


def sunk(out, frame):
    """How far the surface has gone down in the middle, m: the stroke without the gap."""
    x0, x = out.position[0], out.position[frame]
    middle = numpy.argmin(numpy.where(out.body == 0, numpy.linalg.norm(x0, axis=1), numpy.inf))
    return x0[middle, 1] - x[middle, 1]


def hertz_force(depth):
    return 4 / 3 * CONTACT_E * math.sqrt(RADIUS) * depth ** 1.5


def hertz(folder, level, weights):
    n = 4
    path = [(0, 0, 0), (n, 0, -DEPTH), (2 * n, 0, 0)]

    def measure(out):
        force = out.reaction("sphere", "contact_force")[:, 1]
        peak = (6 * force[n] * CONTACT_E ** 2 / (math.pi ** 3 * RADIUS ** 2)) ** (1 / 3)
        reach = (3 * force[n] * RADIUS / (4 * CONTACT_E)) ** (1 / 3)
        inner = (out.body == 0) & (abs(out.position[0][:, 1]) < 1e-9) & (numpy.hypot(*out.position[0][:, (0, 2)].T) < reach / 2)
        hertzian = peak * numpy.sqrt(1 - (out.position[0][inner][:, (0, 2)] ** 2).sum(axis=1) / reach ** 2)
        return [("force over the depth of the middle", force[n], hertz_force(sunk(out, n)), "N"),
                ("force over the stroke", force[n], hertz_force(DEPTH), "N"),
                ("pressure, mean of vertices within half of the contact", out.pressure(n)[inner].mean(), hertzian.mean(), "Pa"),
                ("unloading: force at half of the stroke", force[n + n // 2], force[n - n // 2], "N")]
    return sphere(folder, level, weights, path, 2 * n), measure


def mindlin(folder, level, weights):
    n, shift = 4, 2.2e-3
    path = [(0, 0, 0), (2, 0, -DEPTH), (3, 0, -DEPTH), (3 + n, shift, -DEPTH), (3 + 2 * n, 0, -DEPTH)]

    def measure(out):
        reaction = out.reaction("sphere", "contact_force")
        normal = reaction[3, 1]
        reach = (3 * normal * RADIUS / (4 * CONTACT_E)) ** (1 / 3)
        slides = 3 * RUB * normal * (2 - POISSON) / (16 * reach * SHEAR)  # the way at which all of it slides

        def loading(way):
            return RUB * normal * (1 - max(1 - way / slides, 0) ** 1.5)

        def unloading(way):
            return loading(shift) - 2 * RUB * normal * (1 - max(1 - (shift - way) / (2 * slides), 0) ** 1.5)
        tangential = -reaction[:, 0]
        return [("tangential force at half of the way", tangential[3 + n // 2], loading(shift / 2), "N"),
                ("at the end", tangential[3 + n], loading(shift), "N"),
                ("on the way back, at half", tangential[3 + n + n // 2], unloading(shift / 2), "N"),
                ("back where it began", tangential[3 + 2 * n], unloading(0), "N")]
    return sphere(folder, level, weights, path, 3 + 2 * n, RUB, friction={"velocity": 1e-4, "lags": 0}), measure


# ---- contact patch test ----

def patch(folder, level, weights):
    """Two blocks whose meshes do not match are pressed together; the state is uniform."""
    below, above, press, size = ((4, 3), (8, 6), (16, 12))[level], None, 1e4, 0.1
    bodies, meshes = [], []
    for name, n, low in (("below", below[0], -0.05), ("above", below[1], 0.0)):
        at = numpy.linspace(-size / 2, size / 2, n + 1)
        meshes.append(grid(at, numpy.linspace(low, low + 0.05, n // 2 + 1), at))
        bodies.append({"name": name, "material": "rubber", "position": [0, 0 if name == "below" else 5.1e-4, 0],
                       "mesh": shapes.save(os.path.join(folder, "%s-%d.h5" % (name, level)), meshes[-1])})

    def measure(out):
        force, pressure, x = out.force[-1], out.pressure(-1), out.position[0]
        rows = [("total force", -force[out.body == 0, 1].sum(), press * size ** 2, "N")]
        for b, name, face in ((0, "lower", 0.0), (1, "upper", 5.1e-4)):
            inner = (out.body == b) & (abs(x[:, 1] - face) < 1e-9) & (abs(x[:, (0, 2)]).max(axis=1) < size / 2 - 1e-9)
            rows.append(("pressure, %s face, mean" % name, pressure[inner].mean(), press, "Pa"))
            rows.append(("pressure, %s face, spread (rms)" % name, pressure[inner].std() / press, 0, ""))
        return rows
    return scene(10, 1, 5e-4, weights, 1e4, friction=0.3, materials={"rubber": rubber(1e6, 0)}, bodies=bodies,
                 motions=[{"body": "below", "vertices": {"box": [[-1, -1, -1], [1, -0.05 + 1e-6, 1]]}, "path": [[0, [0, 0, 0]]]}],
                 loads=[{"body": "above", "vertices": {"box": [[-1, 0.0505, -1], [1, 1, 1]]}, "pressure": -press, "path": [[0, 0], [4, 1]]}]), measure


# ---- belt ----

def belt(folder, level, weights):
    """A rope lies half around a fixed drum, with a weight at one end, and is pulled at the other."""
    cells, drum, hang, rub, pull = ((24, 32), (48, 64), (96, 128))[level], 0.1, 0.1, 0.3, 10.0
    off = drum + 1.1e-3
    arc = [[-off * math.cos(math.pi * k / cells[0]), off * math.sin(math.pi * k / cells[0]), 0] for k in range(cells[0] + 1)]
    tail = [hang * k / (cells[0] // 4) for k in range(1, cells[0] // 4 + 1)]
    x = [[-off, -y, 0] for y in tail[::-1]] + arc + [[off, -y, 0] for y in tail]

    def measure(out):
        held = out.reaction("rope", "force")[:, 1]
        return [("ratio of the two tensions", -held[-4:].mean() / pull, math.exp(rub * math.pi), "")]
    return scene(2, 0.1, 1e-3, weights, 1e4, friction=rub, integrator={"friction": {"velocity": 1e-4, "lags": 0}},
                 materials={"rope": {"density": 0.02, "stretch": {"model": "spring", "stiffness": 1e4}}},
                 bodies=[{"name": "rope", "material": "rope", "mesh": {"kind": "segments", "vertices": x}},
                         {"name": "drum", "fixed": True, "rotation": [90, 0, 0], "mesh": {"kind": "cylinder", "radius": drum, "height": 0.1, "cells": [cells[1], 1]}}],
                 motions=[{"body": "rope", "vertices": [len(x) - 1], "path": [[0, [0, 0, 0]], [2, [0, -0.04, 0]]]}],
                 loads=[{"body": "rope", "vertices": [0], "force": [0, -pull, 0], "path": [[0, 0], [0.3, 1]]}]), measure


# ---- a ring in a press ----

def ring(folder, level, weights):
    radial, around, high = ((2, 24, 3), (3, 36, 4), (4, 60, 6))[level]
    n, stroke = 12, 1.8e-3
    r, y = numpy.linspace(0.014, 0.02, radial + 1), numpy.linspace(-0.0025, 0.0025, high + 1)
    x = numpy.array([[a * math.cos(t), b, a * math.sin(t)] for a in r for b in y for t in 2 * math.pi * numpy.arange(around) / around])
    tets = [[((i + a) * (high + 1) + j + b) * around + (k + c) % around for a, b, c in path]
            for i in range(radial) for j in range(high) for k in range(around) for path in KUHN]
    mesh = shapes.save(os.path.join(folder, "ring-%d.h5" % level), shapes.upright(x, numpy.array(tets)))
    plate = {"kind": "grid", "size": [0.06, 0.06], "cells": [1, 1]}

    def measure(out):
        up, low = out.reaction("up", "contact_force")[:, 1], -out.reaction("low", "contact_force")[:, 1]
        work, lost = out.energy["work"][-1], out.energy["defect"]
        return [("force at 1.8 mm", up[n], None, "N"), ("force at 0.9 mm, closing", up[n // 2], None, "N"),
                ("the same, opening", up[n + n // 2], up[n // 2], "N"),
                ("the plates' difference, worst, over the largest force", abs(up - low).max() / up.max(), 0, ""),
                ("defect over the work put in", abs(lost).max() / max(abs(out.energy["work"]).max(), 1e-30), 0, ""),
                ("work of the whole cycle over the work put in", work / max(abs(out.energy["work"]).max(), 1e-30), 0, "")]
    return scene(2, 1 / n, 1e-4, weights, 1e6, materials={"rubber": rubber(5e6, 0.45, 1100)},
                 bodies=[{"name": "ring", "material": "rubber", "mesh": mesh}, {"name": "low", "fixed": True, "mesh": plate, "position": [0, -0.00265, 0]},
                         {"name": "up", "mesh": plate, "position": [0, 0.00265, 0]}],
                 motions=[{"body": "up", "path": [[0, [0, 0, 0]], [1, [0, -stroke, 0]], [2, [0, 0, 0]]]}]), measure


# ---- ironing ----

def ironing(folder, level, weights):
    """A stiff half round die is pressed into a block and drawn over it."""
    cells, rub = ((10, 3, 3), (20, 5, 4), (32, 8, 6))[level], 0.3
    press, draw = 4, 12
    mesh = grid(numpy.linspace(-0.1, 0.1, cells[0] + 1), numpy.linspace(-0.05, 0, cells[1] + 1), numpy.linspace(-0.03, 0.03, cells[2] + 1))
    gap = 5.1e-4

    def measure(out):
        force = out.reaction("die", "contact_force")
        steady = force[press + 4:press + draw + 1]
        return [("normal force, mean", steady[:, 1].mean(), None, "N"), ("its ripple (rms)", steady[:, 1].std() / steady[:, 1].mean(), 0, ""),
                ("tangential over normal force", -(steady[:, 0] / steady[:, 1]).mean(), rub, "")]
    return scene(1.6, 0.1, 5e-4, weights, 1e4, friction=rub, integrator={"friction": {"velocity": 1e-4, "lags": 0}}, materials={"rubber": rubber(1e5, 0.3)},
                 bodies=[{"name": "block", "material": "rubber", "mesh": shapes.save(os.path.join(folder, "block-%d.h5" % level), mesh)},
                         {"name": "die", "rotation": [90, 0, 0], "position": [-0.04, 0.03 + gap, 0],
                          "mesh": {"kind": "cylinder", "radius": 0.03, "height": 0.08, "cells": [64, 1], "closed": True}}],
                 motions=[{"body": "block", "vertices": {"box": [[-1, -1, -1], [1, -0.05 + 1e-6, 1]]}, "path": [[0, [0, 0, 0]]]},
                          {"body": "die", "path": [[0, [0, 0, 0]], [0.1 * press, [0, -0.005 - gap, 0]], [0.1 * (press + draw), [0.08, -0.005 - gap, 0]]]}]), measure


# ---- snap-fit ----

def prism(profile, z):
    """A closed prism over a convex polygon in the x-y plane, counterclockwise."""
    n = len(profile)
    x = [[a, b, -z] for a, b in profile] + [[a, b, z] for a, b in profile]
    triangles = [[0, k + 1, k] for k in range(1, n - 1)] + [[n, n + k, n + k + 1] for k in range(1, n - 1)]
    for k in range(n):
        a, b = k, (k + 1) % n
        triangles += [[a, b, n + b], [a, n + b, n + a]]
    return {"kind": "inline", "vertices": x, "triangles": triangles}


def snap(folder, level, weights):
    """A catch is pushed under the hook of a cantilever, lifts it by its ramp and lets it snap down behind it."""
    thick, length, hook, lift, rub, angle, youngs = 0.008, 0.08, 0.004, 0.003, 0.2, math.radians(30), 1e7
    n = (2, 3, 5)[level]
    step = thick / n
    xs = numpy.concatenate([numpy.linspace(0, length - 0.004, (19, 28, 47)[level] + 1), numpy.linspace(length - 0.004, length, (2, 2, 3)[level] + 1)[1:]])
    ys = numpy.concatenate([numpy.linspace(-hook, 0, (2, 2, 3)[level] + 1), numpy.linspace(step, thick, n)])
    mesh = grid(xs, ys, numpy.linspace(-0.005, 0.005, (1, 2, 3)[level] + 1), lambda x, y, z: y > 0 or x > length - 0.004)
    gap, ramp, flat = 1.2e-4, lift / math.tan(angle), 0.002
    # The ramp rises towards +x; it is driven towards -x. Its top is `lift` over the hook's lower face.
    catch = prism([(0, -0.002), (ramp + 2 * flat, -0.002), (ramp + flat, lift), (ramp, lift), (0, 0)], 0.008)
    way, time, steps = ramp + flat + 0.006, 4.0, 40

    def measure(out):
        force, tip = out.reaction("catch", "contact_force")[:, 0], out.position[:, :, 1]
        front = (out.body == 0) & (abs(out.position[0][:, 0] - length) < 1e-9)
        rises = (tip - tip[0])[:, front].mean(axis=1)
        slope, inertia = math.tan(angle + math.atan(rub)), 0.01 * thick ** 3 / 12
        arm = hook + thick / 2
        highest = rises[force.argmax()]
        bends = (length ** 3 / 3 - arm * slope * length ** 2 / 2) / (youngs * inertia)  # per newton, by Euler and Bernoulli
        exact = slope * highest / (bends + 1.2 * length / (youngs / 2 * 0.01 * thick))  # and by shear, Timoshenko
        return [("largest force that pushes it in", force.max(), exact, "N"), ("the hook's rise behind it", abs(rises[-1]), 0, "m")]
    return scene(time, time / steps, 1e-4, weights, 1e5, friction=rub, integrator={"friction": {"velocity": 1e-4, "lags": 0}}, materials={"beam": rubber(youngs, 0, 1000)},
                 bodies=[{"name": "beam", "material": "beam", "mesh": shapes.save(os.path.join(folder, "beam-%d.h5" % level), mesh)},
                         {"name": "catch", "mesh": catch, "position": [length + gap, -hook - gap, 0]}],
                 motions=[{"body": "beam", "vertices": {"box": [[-1, -1, -1], [1e-6, 1, 1]]}, "path": [[0, [0, 0, 0]]]},
                          {"body": "catch", "path": [[0, [0, 0, 0]], [time, [-way, 0, 0]]]}]), measure


# ---- a tube that buckles ----

def tube(folder, level, weights):
    """A long tube is pressed between two plates, on which its ends stand flat: Euler's column with both ends clamped."""
    cells, radius, length, stiffness = ((8, 40), (12, 60), (18, 90))[level], 0.05, 3.0, 1e4
    gap, push, steps = 1.1e-3, 0.03, 30
    side = 2 * radius * math.sin(math.pi / cells[0])
    inertia = sum(side * ((radius * math.cos(math.pi / cells[0])) ** 2 * math.cos(2 * math.pi * (k + 0.5) / cells[0]) ** 2 +
                          side ** 2 / 12 * math.sin(2 * math.pi * (k + 0.5) / cells[0]) ** 2) for k in range(cells[0]))

    def measure(out):
        force = out.reaction("up", "contact_force")[:, 1]
        return [("largest force", force.max(), 4 * math.pi ** 2 * stiffness * inertia / length ** 2, "N")]
    plate = {"kind": "grid", "size": [0.4, 0.4], "cells": [1, 1]}
    return scene(steps, 1, 1e-3, weights, 1e4, friction=0.5, integrator={"friction": {"velocity": 1e-5, "lags": 1}},
                 materials={"shell": {"density": 0.1, "stretch": {"model": "cst", "stiffness": stiffness, "poisson": 0}, "bend": {"model": "hinge", "stiffness": 0.02}}},
                 bodies=[{"name": "tube", "material": "shell", "mesh": {"kind": "cylinder", "radius": radius, "height": length, "cells": list(cells)}},
                         {"name": "low", "fixed": True, "mesh": plate, "position": [0, -length / 2 - gap, 0]},
                         {"name": "up", "mesh": plate, "position": [0, length / 2 + gap, 0]}],
                 motions=[{"body": "up", "path": [[0, [0, 0, 0]], [steps, [0, -push - 2 * gap, 0]]]}],
                 loads=[{"body": "tube", "vertices": {"box": [[-1, -0.1, -1], [1, 0.1, 1]]}, "force": [1e-4, 0, 0]}]), measure


# ---- stick and slip on a slope ----

def slope(folder, level, weights):
    """A block on a slope of 1/2 is pulled down by a force that grows and goes away again: it stays, slides, and stays."""
    n, rub, g, size = (2, 3, 5)[level], 0.8, 10.0, 0.1
    weight = 1000 * size ** 3 * g
    along, down = weight / math.sqrt(5), 2 * weight / math.sqrt(5)
    limit = rub * down - along
    rise, most, h = 0.5, 2 * limit, 0.01
    vertices = (n + 1) ** 3

    def exact(end):
        """Place and speed by small steps."""
        x = v = t = 0.0
        dt = 1e-5
        while t < end:
            load = most * (min(t, 2 * rise - t) / rise if t < 2 * rise else 0)
            a = (load - limit if v > 0 or load > limit else 0) / (weight / g)
            v = max(v + a * dt, 0)
            x += v * dt
            t += dt
        return x, v

    def measure(out):
        mean = out.position[:, out.body == 0, 0].mean(axis=1)
        at = [int(round((0.2 + t) / h)) for t in (0, 0.2, 0.5, 1.2, 1.7)]
        x = [mean[k] - mean[at[0]] for k in at]
        return [("slid before the force suffices", x[1], 0, "m"), ("slid when the force is largest", x[2], exact(0.5)[0], "m"),
                ("slid when it stands again", x[3], exact(1.2)[0], "m"), ("creeps then, in half a second", abs(x[4] - x[3]), 0, "m")]
    at = numpy.linspace(-size / 2, size / 2, n + 1)
    made = scene(2, h, 1e-3, weights, 1e3, friction=rub, gravity=[g / math.sqrt(5), -2 * g / math.sqrt(5), 0], integrator={"scheme": "bdf2", "friction": {"velocity": 1e-4, "lags": 0}},
                 materials={"rubber": rubber(1e6, 0.3)},
                 bodies=[{"name": "block", "material": "rubber", "position": [0, size / 2 + 1.01e-3, 0], "mesh": shapes.save(os.path.join(folder, "cube-%d.h5" % level), grid(at, at, at))},
                         {"name": "slope", "fixed": True, "mesh": {"kind": "grid", "size": [4, 1], "cells": [1, 1]}}],
                 loads=[{"body": "block", "force": [most / vertices, 0, 0], "path": [[0.2, 0], [0.2 + rise, 1], [0.2 + 2 * rise, 0]]}])
    return made, measure


SCENES = {"hertz": hertz, "mindlin": mindlin, "patch": patch, "belt": belt, "ring": ring, "ironing": ironing, "snap": snap, "tube": tube, "slope": slope}
