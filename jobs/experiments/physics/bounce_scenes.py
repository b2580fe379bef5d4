"""Scenes of several bounces, of a few hundred vertices, on which the levels of clocks.accuracy were measured (accuracy.py)."""
import math

from physics import scene

CLOTH = {"density": .2, "stretch": {"model": "cst", "stiffness": 60, "poisson": .3}, "bend": {"model": "hinge", "stiffness": 1e-6}}
STIFF_CLOTH = {"density": .15, "stretch": {"model": "cst", "stiffness": 500, "poisson": .3}, "bend": {"model": "hinge", "stiffness": 1e-5}}
ROPE = {"density": .05, "stretch": {"model": "spring", "stiffness": 300}}


def shell(density, stretch, bend):
    return {"density": density, "stretch": {"model": "cst", "stiffness": stretch, "poisson": .3}, "bend": {"model": "hinge", "stiffness": bend}}


def body(name, material, mesh, position, rotation=(0, 0, 0), **keys):
    return {"name": name, "material": material, "mesh": mesh, "position": list(position), "rotation": list(rotation), **keys}


def fixed(name, mesh, position=(0, 0, 0)):
    return {"name": name, "fixed": True, "mesh": mesh, "position": list(position)}


def floor(height=0.):
    return fixed("floor", {"kind": "grid", "size": [4, 4], "cells": [1, 1]}, (0, height, 0))


def stairs(count, rise, going, width):
    return [fixed(f"step{k}", {"kind": "box", "size": [.999 * going, .99 * rise, width], "cells": [1, 1, 1]}, (going * (k + .5), -rise * (k + .5), 0))
            for k in range(count)]


def bent_tube(ring, radius, around, along):
    """Three quarters of a torus, open at both ends."""
    points, triangles = [], []
    for i in range(along + 1):
        a = 1.5 * math.pi * i / along
        for k in range(around):
            b = 2 * math.pi * k / around
            out = ring + radius * math.cos(b)
            points.append([out * math.cos(a), radius * math.sin(b), out * math.sin(a)])
    for i in range(along):
        for k in range(around):
            p, q, r, s = (n * around + m % around for n, m in ((i, k), (i, k + 1), (i + 1, k), (i + 1, k + 1)))
            triangles += [[p, q, s], [p, s, r]]
    return {"kind": "inline", "vertices": points, "triangles": triangles}


def square(side, cells):
    return {"kind": "grid", "size": [side, side], "cells": [cells, cells]}


def box(side, cells):
    return {"kind": "box", "size": [side] * 3, "cells": [cells] * 3}


def made(name, end, bodies, materials, **contact):
    # Frames on ticks of gravity: the rows in between tell of half a period more.
    return scene(end, 2.0 ** -6, bodies, name=name, gravity=[0, -9.81, 0], materials=materials, contact=contact)


def cloths():
    yield made("table", .6, [
        body("cloth", "cloth", square(.5, 18), (.013, .1, .007), (2, 20, 3)),
        fixed("table", {"kind": "cylinder", "radius": .15, "height": .05, "cells": [24, 1], "closed": True})],
        {"cloth": CLOTH}, thickness=.004, stiffness=50, friction=.2)
    yield made("sphere", .6, [
        body("cloth", "cloth", square(.5, 16), (.013, .25, .007), (2, 20, 3)), fixed("ball", {"kind": "sphere", "radius": .15, "level": 3})],
        {"cloth": STIFF_CLOTH}, thickness=.005, stiffness=1000, friction=.2)
    yield made("spikes", .4, [
        floor(-.002),
        fixed("plate", {"kind": "spikes", "size": [.2, .2], "count": [3, 3], "height": .06, "base": .0095, "sides": 6}),
        body("lower", "cloth", {"kind": "grid", "size": [.3, .15], "cells": [18, 9]}, (.01, .08, .005), (2, 0, 3)),
        body("upper", "cloth", {"kind": "grid", "size": [.15, .3], "cells": [9, 18]}, (-.005, .12, .01), (4, 6, -2))],
        {"cloth": CLOTH}, thickness=.002, stiffness=20)
    yield made("flag", .6, [
        body("sheet", "cloth", square(.3, 15), (-.1, .1, 0), (0, 0, 70), velocity=[3, 0, 0]), floor(-.3),
        fixed("post", {"kind": "cylinder", "radius": .03, "height": .6, "cells": [16, 6]}, (.15, 0, 0))],
        {"cloth": STIFF_CLOTH}, thickness=.004, stiffness=300, friction=.2)
    yield made("rope", .6, [
        floor(),
        body("rope", "rope", {"kind": "segments", "from": [-.4, 0, 0], "to": [.4, 0, 0], "cells": 80}, (0, .45, 0), (3, 0, 75), radius=.004)],
        {"rope": ROPE}, thickness=.002, stiffness=200, friction=.3)


def shells():
    yield made("tube", 1, [
        *stairs(4, .1, .15, .6), floor(-.42),
        body("tube", "shell", bent_tube(.08, .02, 8, 16), (.1, .12, .01), (10, 25, 30), velocity=[.8, 0, 0])],
        {"shell": shell(.5, 500, .001)}, thickness=.003, stiffness=300, friction=.2)
    yield made("can", 1, [
        *stairs(4, .1, .15, .6), floor(-.42),
        body("can", "shell", {"kind": "cylinder", "radius": .04, "height": .12, "cells": [12, 6], "closed": True}, (.08, .12, .01), (60, 25, 30),
             velocity=[.6, 0, 0])],
        {"shell": shell(.8, 800, .005)}, thickness=.003, stiffness=1000, friction=.2)
    for e in (.5, 0):
        yield made(f"box, e = {e}", 1, [
            floor(), body("box", "shell", box(.1, 5), (0, .3, 0), (10, 20, 30), velocity=[.5, 0, 0], angular_velocity=[0, 0, -4])],
            {"shell": shell(1, 1000, .02)}, thickness=.002, stiffness=2000, friction=.3, restitution=e)
    yield made("dice", .8, [
        *stairs(3, .08, .12, .4), floor(-.27),
        *(body(f"die{k}", "shell", box(.04, 2), (.05, .05 + .07 * k, .01 * k), (20 * k, 30, 10 + 10 * k), velocity=[.5, 0, 0]) for k in range(4))],
        {"shell": shell(2, 1500, .02)}, thickness=.002, stiffness=1500, friction=.3, restitution=.3)
    yield made("balls", .5, [
        floor(),
        *(body(f"ball{k}", "shell", {"kind": "sphere", "radius": .05, "level": 2}, (.013 * k, .08 + .13 * k, .005 * k * k), (10 * k, 20, 30))
          for k in range(3))],
        {"shell": shell(1, 1000, .02)}, thickness=.003, stiffness=1000, friction=.2, restitution=.5)
    yield made("torus", .8, [
        floor(), body("torus", "shell", {"kind": "torus", "radii": [.08, .03], "cells": [18, 9]}, (0, .3, 0), (30, 20, 50), velocity=[1, 0, 0])],
        {"shell": shell(.5, 600, .003)}, thickness=.003, stiffness=600, friction=.4, restitution=.2)


def particles():
    yield made("grains", .8, [
        floor(), {"name": "grains", "mass": .001, "radius": .005, "position": [0, .1, 0], "random_speed": [0, .3],
                  "mesh": {"kind": "points", "lattice": {"count": [6, 6, 6], "spacing": .014}}}],
        {}, thickness=.002, stiffness=200, friction=.3, restitution=.3)
