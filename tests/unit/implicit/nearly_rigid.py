#!/usr/bin/python3
"""nearly_rigid.py: rigid bodies in the implicit integrator, whose unknowns are four nodes.

flight    A thrown box that turns: its centre falls as the scheme says, to rounding; angular momentum is kept to the
          scheme's order; its shape is; newmark keeps its energy.
rest      A box falls and rests: it comes to rest, the floor carries its weight, and its shape gives by about 1e-7.
slope     On a slope of 26.565 degrees (tangent .5) a block stays with friction .5, and slides with .49 by
          g (sin - mu cos).
loads     A force moves a block by F/m; on one corner it turns it, too.
cloth     Rigid boxes, a shell of four vertices and a wire of two fall onto a cloth: the audit proves that nothing passed
          through anything; the same bits on two and three ranks, with vertices that are handed over, and across a
          restart on another number of ranks.
static    A rigid plate is pressed on a soft block by a force: the floor carries it.

skins     Two bodies are thrown at the walls of a vessel: the same bits whatever the skin of the list of candidates is, and
          across a restart. (A direction with turns that contact shortens is another way than the one that the list is
          for.)

If it fails, rigid bodies deform, lose momentum, slide as no block does, or depend on the ranks.
"""
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

import h5py
import numpy

from program import TACTUS, check, failures

FLOOR = {"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [4, 4], "cells": [1, 1]}}
BOX = {"kind": "box", "size": [.1, .2, .3], "cells": [1, 1, 1]}


def run(folder, name, scene, *arguments, ranks=1, until=None, restart=None, **environment):
    path, out = os.path.join(folder, name + ".json"), os.path.join(folder, name)
    with open(path, "w") as file:
        json.dump({"format": "tactus-scene/1", **scene}, file)
    command = (["mpirun", "-n", str(ranks)] if ranks > 1 else []) + [TACTUS, "run"]
    command += ["--restart", os.path.join(folder, restart)] if restart else [path]
    command += ["-o", out, "--quiet", *arguments] + (["--until", str(until)] if until else [])
    done = subprocess.run(command, text=True, env={**os.environ, **environment}, timeout=200, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.returncode}: {done.stdout}")
    return out


def table(out, name="energy.csv"):
    with open(os.path.join(out, name)) as file:
        return [{key: float(value) if key not in ("body", "history") else value for key, value in row.items()}
                for row in csv.DictReader(file)]


def places(out, body):
    with h5py.File(os.path.join(out, "frames.h5")) as file:
        mine = file["mesh/body"][:] == body
        return [file["frames"][name]["position"][:][mine] for name in sorted(file["frames"])]


def strain(first, last):
    """The largest relative change of a distance between two vertices."""
    def distances(x):
        return numpy.linalg.norm(x[:, None] - x[None], axis=2)[numpy.triu_indices(len(x), 1)]
    return float(numpy.abs(distances(last) / distances(first) - 1).max())


def flight(folder):
    h, g, v, end = .01, 9.81, 3.0, .5
    body = {"name": "box", "rigid": {"density": 1000}, "mesh": BOX, "velocity": [2, v, 0], "angular_velocity": [1, 6, 2]}
    scene = {"time": {"end": end, "frame": end}, "gravity": [0, -g, 0], "bodies": [body]}
    out = run(folder, "flight", {**scene, "integrator": {"kind": "implicit", "step_s": h}})
    x = places(out, 0)
    steps = round(end / h)
    fallen = x[-1].mean(axis=0)[1] - (v * end - g * h * h * steps * (steps + 1) / 2)
    check(abs(fallen) < 1e-12, f"flight: the centre is {fallen:.1e} m off")
    check(1e-16 < strain(x[0], x[-1]) < 1e-5, f"flight: its shape changes by {strain(x[0], x[-1]):.1e}")
    lost = []
    for step in (.01, .005):
        out = run(folder, f"bdf2.{step}", {**scene, "gravity": [0, 0, 0], "integrator": {
            "kind": "implicit", "step_s": step, "scheme": "bdf2", "newton": {"velocity_tol": 1e-6}}})
        rows = table(out)
        first, last = ([row[f"angular_momentum_{a}"] for a in "xyz"] for row in (rows[0], rows[-1]))
        lost.append(math.dist(first, last) / math.hypot(*first))
        check(abs(rows[-1]["momentum_x"] - 12) < 1e-10, f"flight: momentum {rows[-1]['momentum_x']:.12g} kg m/s of 12")
    check(lost[1] < 5e-3 and lost[0] > 2.5 * lost[1],
          f"flight: bdf2 loses {lost[0]:.2e} and {lost[1]:.2e} of the angular momentum with .01 and .005 s")
    out = run(folder, "newmark", {**scene, "gravity": [0, 0, 0], "time": {"end": 2, "frame": 1}, "integrator": {
        "kind": "implicit", "step_s": .01, "scheme": "newmark", "newton": {"velocity_tol": 1e-5}}})
    rows = table(out)
    check(abs(rows[-1]["kinetic"] / rows[0]["kinetic"] - 1) < 1e-3,
          f"flight: newmark keeps the energy to {rows[-1]['kinetic'] / rows[0]['kinetic'] - 1:.1e} in 2 s")


def rest(folder):
    body = {"name": "box", "rigid": {"mass": 2}, "mesh": BOX, "position": [0, .14, 0]}
    out = run(folder, "rest", {"time": {"end": 1, "frame": .5}, "gravity": [0, -9.81, 0], "output": {"reactions": True},
                               "integrator": {"kind": "implicit", "step_s": .01, "newton": {"velocity_tol": 1e-5}},
                               "contact": {"thickness": .001, "friction": .3}, "bodies": [body, FLOOR]})
    rows, x = table(out), places(out, 0)
    check(rows[-1]["kinetic"] < 1e-9, f"rest: kinetic energy {rows[-1]['kinetic']:.1e} J")
    check(.1 < x[-1].mean(axis=0)[1] < .101, f"rest: its centre is {x[-1].mean(axis=0)[1]:.6g} m high")
    check(1e-9 < strain(x[0], x[-1]) < 5e-7, f"rest: its weight strains it by {strain(x[0], x[-1]):.1e}")
    with open(os.path.join(out, "reactions.csv")) as file:
        force = [row for row in csv.DictReader(file)][-1]
    carried = [float(value) for key, value in force.items() if key.endswith("force_y")]
    check(abs(abs(carried[0]) / (2 * 9.81) - 1) < 1e-3, f"rest: the floor carries {carried[0]:.6g} N of {2 * 9.81:.6g}")


def slope(folder, mu):
    angle = math.atan(.5)
    body = {"name": "block", "rigid": {"mass": 1}, "position": [-.5, .0309, 0],
            "mesh": {"kind": "box", "size": [.2, .06, .2], "cells": [2, 1, 2]}}
    out = run(folder, f"slope{mu}", {
        "time": {"end": .5, "frame": .25}, "gravity": [9.81 * math.sin(angle), -9.81 * math.cos(angle), 0],
        "integrator": {"kind": "implicit", "step_s": .01, "friction": {"lags": 4, "velocity": 1e-5}},
        "contact": {"thickness": .001, "friction": mu}, "bodies": [body, FLOOR]})
    rows = table(out)
    first, last = rows[1]["momentum_x"], rows[-1]["momentum_x"]
    if mu >= .5:
        check(abs(last - first) < 1e-6 and last < 5e-3, f"slope: with friction {mu} it stays ({last:.2g} m/s, {last - first:.1e} more in .25 s)")
    else:
        wanted = .25 * 9.81 * (math.sin(angle) - mu * math.cos(angle))
        check(abs((last - first) / wanted - 1) < .01, f"slope: with friction {mu} it gains {last - first:.5g} m/s, wanted {wanted:.5g}")


def loads(folder):
    scene = {"time": {"end": .1, "frame": .1}, "integrator": {"kind": "implicit", "step_s": .001},
             "bodies": [{"name": "box", "rigid": {"mass": 2}, "mesh": BOX}]}
    rows = table(run(folder, "push", {**scene, "loads": [{"body": "box", "force": [.5, 0, 0]}]}))
    check(abs(rows[-1]["momentum_x"] - .4) < 1e-12 and abs(rows[-1]["angular_momentum_y"]) < 1e-12,
          f"loads: a force of .5 N on each of 8 vertices gives {rows[-1]['momentum_x']:.12g} N s in .1 s")
    rows = table(run(folder, "turn", {**scene, "loads": [{"body": "box", "force": [1, 0, 0], "vertices": [0]}]}))
    corner = places(os.path.join(folder, "turn"), 0)[0][0]
    torque = numpy.cross(corner, [1, 0, 0]) * .1
    turned = [rows[-1][f"angular_momentum_{a}"] for a in "xyz"]
    check(abs(rows[-1]["momentum_x"] - .1) < 1e-12 and math.dist(torque, turned) < .05 * math.hypot(*torque),
          f"loads: on a corner it gives {turned}, about {torque.tolist()} N m s")


def cloth_scene():
    shapes = [BOX, {"kind": "box", "size": [.1, .1, .1], "cells": [1, 1, 1]}, {"kind": "tetrahedron", "edge": .12}]
    bodies = [FLOOR, {"name": "cloth", "material": "cloth", "position": [0, .05, 0],
                      "mesh": {"kind": "grid", "size": [.5, .5], "cells": [6, 6]}}]
    for i, mesh in enumerate(shapes):
        bodies.append({"name": f"b{i}", "rigid": {"density": 400}, "mesh": mesh, "position": [.03 * i, .25 + .25 * i, 0],
                       "rotation": [20 + 30 * i, 10, 50], "velocity": [0, -2, 0], "angular_velocity": [3, -4, 2 * i]})
    bodies.append({"name": "card", "rigid": True, "material": "card", "position": [-.15, .12, 0], "rotation": [0, 0, 20],
                   "mesh": {"kind": "grid", "size": [.1, .15], "cells": [1, 1]}})
    bodies.append({"name": "wire", "rigid": True, "material": "wire", "position": [.2, .12, 0],
                   "mesh": {"kind": "segments", "vertices": [[0, 0, 0], [.1, .02, .05]], "edges": [[0, 1]]}})
    return {"time": {"end": .2, "frame": .1}, "gravity": [0, -9.81, 0], "contact": {"thickness": .002, "friction": .3},
            "integrator": {"kind": "implicit", "step_s": .01, "scheme": "bdf2"}, "loads": [{"body": "b1", "force": [.2, 0, 0]}],
            "materials": {"cloth": {"density": .3, "stretch": {"model": "spring", "stiffness": 300}}, "card": {"density": 1},
                          "wire": {"density": .2}}, "bodies": bodies}


def cloth(folder):
    scene = cloth_scene()
    plain = run(folder, "plain", scene, "--record")
    check(max(row["contacts"] for row in table(plain)) > 20, "cloth: they touch")
    audit = subprocess.run([TACTUS, "audit", plain], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    check(audit.returncode == 0 and "proven" in audit.stdout, f"cloth: nothing passed through anything ({audit.stdout[-200:]})")
    ways = {"two": {"ranks": 2, "TACTUS_TEST_DEAL": "1"}, "three": {"ranks": 3, "TACTUS_TEST_DEAL": "1"},
            "handed": {"ranks": 2, "TACTUS_TEST_MIGRATE": "7"}}
    for name, more in ways.items():
        run(folder, name, scene, **more)
    run(folder, "half", scene, until=.08)
    run(folder, "again", scene, restart="half", ranks=2)
    for name in (*ways, "again"):
        done = subprocess.run([TACTUS, "diff", "plain/checkpoint.h5", name + "/checkpoint.h5"], cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        check(done.returncode == 0, f"cloth: the same bits, {name}" + ("" if done.returncode == 0 else done.stdout))


def static(folder):
    out = run(folder, "static", {
        "time": {"end": 1, "frame": .5}, "output": {"reactions": True}, "contact": {"thickness": .001, "friction": .3},
        "integrator": {"kind": "implicit", "scheme": "static", "step_s": .5},
        "materials": {"soft": {"density": 1000, "solid": {"model": "neo-hookean", "youngs": 1e5, "poisson": .3}}},
        "loads": [{"body": "plate", "force": [0, -1, 0], "path": [[0, 0], [1, 1]]}],
        "bodies": [{"name": "plate", "rigid": {"mass": 1}, "mesh": {"kind": "box", "size": [.2, .02, .2], "cells": [1, 1, 1]},
                    "position": [0, .1115, 0]},
                   {"name": "block", "material": "soft", "position": [0, .0505, 0],
                    "mesh": {"kind": "box", "size": [.1, .1, .1], "cells": [2, 2, 2], "fill": "tets"}}, FLOOR]})
    with open(os.path.join(out, "reactions.csv")) as file:
        force = [row for row in csv.DictReader(file)][-1]
    carried = [float(value) for key, value in force.items() if key.endswith("force_y")]
    check(abs(abs(carried[0]) / 8 - 1) < .01, f"static: the floor carries {carried[0]:.5g} N of 8")


def skins(folder):
    def octahedron(name, density, **keys):
        return {"name": name, "rigid": {"density": density}, "mesh": {"kind": "octahedron", "edge": .26159767799074307}, **keys}
    scene = {"time": {"end": .25, "frame": .0625}, "gravity": [0, -9.81, 0], "contact": {"thickness": .0008076322951808759},
             "integrator": {"kind": "implicit", "step_s": .0078125, "scheme": "newmark"},
             "bodies": [{"name": "vessel", "fixed": True, "mesh": {"kind": "box", "size": [1.6, 1.6, 1.6], "cells": [1, 1, 1]}},
                        octahedron("heavy", 1155.3655034434269, rotation=[-1.1988751770091994, -173.90768133705174, -30.675012275316675],
                                   velocity=[2.3025644438774093, 0.07457479882648975, -0.7373339627001556],
                                   angular_velocity=[-1.0202786041760883, 4.9072366974971064, 3.446984656787257],
                                   position=[0.2513409001543081, -0.029247424082309625, 0.5404830904151243]),
                        octahedron("light", 102.28058139803098, rotation=[-75.36532722723132, 61.33053674672209, -58.439580550108374],
                                   velocity=[-3.048824230516791, 0.0602504900719137, 0.5280851794028746],
                                   angular_velocity=[-2.587587693742416, 7.351271879348974, 0.29540594737192793],
                                   position=[-0.1430873836419539, -0.14592737297956765, 0.16499681218042705])]}
    out = run(folder, "thrown", scene)
    ways = [run(folder, f"skin {skin}", scene, TACTUS_TEST_SKIN=skin) for skin in ("1e-3", ".1")]
    run(folder, "stopped", scene, until=.125)
    ways.append(run(folder, "stopped", scene, restart="stopped"))
    for way in ways:
        done = subprocess.run([TACTUS, "diff", out, way, "--all-frames"], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        check(done.returncode == 0, f"skins: {os.path.basename(way)} has the same bits: {done.stdout}" if done.returncode else
              f"skins: {os.path.basename(way)} has the same bits")


def main():
    with tempfile.TemporaryDirectory() as folder:
        flight(folder)
        rest(folder)
        slope(folder, .5)
        slope(folder, .49)
        loads(folder)
        cloth(folder)
        static(folder)
        skins(folder)
    sys.exit(1 if failures else 0)


main()
