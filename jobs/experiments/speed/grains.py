#!/usr/bin/python3
"""grains.py grains|column|stones N [--end S] [--rest S] [--friction MU] [--restitution E] [--keep DIR]: grains that roll, or stones, in Tactus and in LAMMPS, in turn on one core each.

    jobs/experiments/speed/grains.py grains 27000
    jobs/experiments/speed/grains.py stones 10000
    jobs/experiments/speed/grains.py stones 1000 --end .5 --rest .1

grains  N (a cube) grains of 10 mm and 2500 kg/m^3 stand in a cubic lattice in a box, just out of contact's reach of each other, move by chance with
        up to .2 m/s, and collapse under gravity; friction .5, restitution .5, stiffness 2000 N/m. In LAMMPS (Debian's `lammps`)
        atom_style sphere, pair_style gran/hooke/history: friction with history, which turns grains, as friction turns ours.
column  N grains that stand on each other, without any motion sideways: how it is pressed, and how it swings.
stones  The N stones of jobs/experiments/bodies/stones.py pour into a box. In Tactus each has 20 triangles; in LAMMPS each is a clump of twelve
        spheres, one in each corner of the stone, moved by fix rigid/small (spheres in place of triangles, so work for work they are not the same).

In LAMMPS a radius is half a thickness more and walls are half a thickness further in, so that grains push each other from the same distance
with the same first stiffness. Its step is the period of our outermost layer of the fastest pair, so a contact is computed there as often as
here while the outermost layer does; what lies deeper costs us more. Processor seconds of the whole programs, beside other work of the machine; contacts at
the end; and how far the middle has sunk, and the kinetic energy, at the end, which say whether both did about the same. Grains must not start nearer to
each other than `thickness` over `rest_fraction`, or their pairs keep a smaller thickness for ever, which LAMMPS knows nothing of.

With --rest both go on from --end for so many seconds, and what that takes is told in the place of what the way there took: how the programs
compare where everything lies still. Its processor seconds are those of the restarted run here, and LAMMPS's second loop there."""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile

import h5py
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "bodies"))
import balls  # noqa: E402
import stones  # noqa: E402

RADIUS, DENSITY, THICKNESS, STIFFNESS, FRICTION, RESTITUTION, REST_FRACTION = .005, 2500, .0005, 2000., .5, .5, .9
MASS = 4 / 3 * math.pi * RADIUS ** 3 * DENSITY


def grains_scene(count, end):
    side = round(count ** (1 / 3))
    if side ** 3 != count or side < 2:
        sys.exit(f"grains.py: {count} is not the cube of a whole number over 1")
    spacing = 2 * RADIUS + 1.01 * THICKNESS / REST_FRACTION
    wide, high = side * spacing + .002, 1.2 * side * spacing
    return {"format": "tactus-scene/1", "time": {"end": end, "frame": end}, "gravity": [0, -9.81, 0],
            "contact": {"thickness": THICKNESS, "stiffness": STIFFNESS, "restitution": RESTITUTION, "friction": FRICTION, "rest_fraction": REST_FRACTION},
            "bodies": [{"name": "box", "fixed": True, "position": [0, round(high / 2, 6), 0],
                        "mesh": {"kind": "box", "size": [round(wide, 6), round(high, 6), round(wide, 6)], "cells": [1, 1, 1]}},
                       {"name": "grains", "mass": MASS, "radius": RADIUS, "rolls": True, "random_speed": [0, .2], "seed": 1,
                        "position": [0, round(side * spacing / 2 + .0005, 6), 0],
                        "mesh": {"kind": "points", "lattice": {"count": [side] * 3, "spacing": spacing}}}]}


def column_scene(count, end):
    spacing = 2 * RADIUS + 1.01 * THICKNESS / REST_FRACTION
    high = 1.2 * (count + 1) * spacing
    made = grains_scene(8, end)
    made["bodies"][0] |= {"position": [0, round(high / 2, 6), 0], "mesh": {"kind": "box", "size": [.04, round(high, 6), .04], "cells": [1, 1, 1]}}
    made["bodies"][1] |= {"position": [0, round((count - 1) / 2 * spacing + RADIUS + 1.01 * THICKNESS / REST_FRACTION, 9), 0],
                          "mesh": {"kind": "points", "lattice": {"count": [1, count, 1], "spacing": spacing}}}
    del made["bodies"][1]["random_speed"], made["bodies"][1]["seed"]
    return made


def of_law(stiffness, restitution, mass):
    """LAMMPS's damping of the normal force for a restitution: the spring loses it in half an oscillation of a pair."""
    beta = -math.log(restitution) / math.hypot(math.pi, math.log(restitution))
    return 2 * beta * math.sqrt(stiffness / (mass / 2))


def header(low, high, law, walls, more):
    lines = ["units si", "atom_style sphere", "boundary f f f", "newton off", "atom_modify map array", "comm_modify vel yes cutoff 0.025", *more[0],
             f"pair_style gran/hooke/history {law}", "pair_coeff * *", *more[1], "fix weight all gravity 9.81 vector 0 -1 0"]
    for axis, a, b in walls:
        lines.append(f"fix wall_{axis} all wall/gran hooke/history {law} {axis}plane {a!r} {b!r}")
    return lines


def finish(lines, step, end, folder, data, energies, rest=0.):
    """Writes LAMMPS's files. Returns the steps of each of its runs: to `end`, and of `rest` more."""
    steps = [round(time / step) for time in (end, rest) if time]
    lines += [*energies, "compute touch all contact/atom", "compute all_touch all reduce sum c_touch", "compute high all reduce ave y",
              "thermo_style custom step atoms c_straight c_round c_all_touch c_high", "thermo_modify lost ignore norm no", f"timestep {step!r}"]
    for count in steps:
        lines += [f"thermo {count}", f"run {count}"]
    with open(os.path.join(folder, "lammps.in"), "w") as file:
        file.write("\n".join(lines) + "\n")
    with open(os.path.join(folder, "lammps.data"), "w") as file:
        file.write(data)
    return steps


def data_of(places, speeds, radius, density, low, high):
    head = f"grains\n\n{len(places)} atoms\n1 atom types\n\n" + "".join(f"{low[k]!r} {high[k]!r} {'xyz'[k]}lo {'xyz'[k]}hi\n" for k in range(3))
    rows = [f"{k} 1 {2 * radius!r} {density!r} {x[0]!r} {x[1]!r} {x[2]!r}\n" for k, x in enumerate(places.tolist(), 1)]
    rows += ["\nVelocities\n\n"] + [f"{k} {v[0]!r} {v[1]!r} {v[2]!r} 0 0 0\n" for k, v in enumerate(speeds.tolist(), 1)]
    return head + "\nAtoms # sphere\n\n" + "".join(rows)


def first_frame(folder, body):
    with h5py.File(os.path.join(folder, "out", "frames.h5")) as file:
        frame = file["frames"][sorted(file["frames"])[0]]
        moving = file["mesh/body"][()] == body
        return frame["position"][()][moving], frame["velocity"][()][moving]


def grains_lammps(folder, made, step, end, rest):
    places, speeds = first_frame(folder, 1)
    wide, high, _ = made["bodies"][0]["mesh"]["size"]
    low, top, eta = [-wide / 2, 0., -wide / 2], [wide / 2, high, wide / 2], THICKNESS / 2
    radius = RADIUS + eta
    law = f"{STIFFNESS!r} NULL {of_law(STIFFNESS, RESTITUTION, MASS)!r} NULL {FRICTION!r} 1"
    lines = header(low, top, law, [("xyz"[k], low[k] + eta, top[k] - eta) for k in range(3)],
                   (["read_data lammps.data"], ["neighbor 0.001 bin", "neigh_modify delay 0 every 1 check yes", "fix move all nve/sphere"]))
    return finish(lines, step, end, folder, data_of(places, speeds, radius, MASS / (4 / 3 * math.pi * radius ** 3), low, top),
                  ["compute straight all ke", "compute round all erotate/sphere"], rest)


def stones_lammps(folder, made, step, end, rest):
    """Twelve spheres for each stone, as far inside of its corners as their radius; a sphere's mass is a twelfth of a stone's."""
    places, speeds = first_frame(folder, 1)
    count, law_of = len(places) // 12, made["contact"]
    radius, eta = .003, law_of["thickness"] / 2
    x = places.reshape(count, 12, 3)
    middle = x.mean(axis=1, keepdims=True)
    far = numpy.linalg.norm(x - middle, axis=2, keepdims=True)
    x = (middle + (x - middle) * (1 - radius / far)).reshape(-1, 3)
    volume = numpy.array([abs(sum(numpy.dot(p[a], numpy.cross(p[b], p[c])) for a, b, c in stones.faces())) / 6 for p in (places.reshape(count, 12, 3) - middle)[:50]])
    mass = 2500 * float(volume.mean()) / 12
    walls = numpy.array(made["bodies"][0]["mesh"]["vertices"])
    low, top = walls.min(axis=0).tolist(), walls.max(axis=0).tolist()
    top[1] = max(top[1], float(x[:, 1].max())) + .05
    law = f"{law_of['stiffness']!r} NULL {of_law(law_of['stiffness'], law_of['restitution'], 12 * mass)!r} NULL {law_of['friction']!r} 1"
    numbers = ["fix numbers all property/atom mol ghost yes", "read_data lammps.data fix numbers NULL Molecules"]
    rigid = ["neighbor 0.001 bin", "neigh_modify delay 0 every 1 check yes", "fix move all rigid/small molecule",
             "neigh_modify exclude molecule/intra all"]
    lines = header(low, top, law, [("x", low[0] + eta, top[0] - eta), ("y", low[1] + eta, None), ("z", low[2] + eta, top[2] - eta)],
                   (numbers, rigid))
    lines = [line.replace("None", "NULL") for line in lines]
    data = data_of(x, speeds, radius + eta, mass / (4 / 3 * math.pi * (radius + eta) ** 3), low, top)
    data += "\nMolecules\n\n" + "".join(f"{k + 1} {k // 12 + 1}\n" for k in range(12 * count))
    return finish(lines, step, end, folder, data, ["compute straight all ke/rigid move", "compute round all erotate/rigid move"], rest)


def period(folder):
    """Of the outermost layer of the fastest pair, s."""
    done = subprocess.run([balls.PROGRAM, "check", "scene.json", "--json"], cwd=folder, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)["layer_stack"][0]["layer_groups"][0]["period"]


def committed(folder):
    """Ticks of contact since the start of the first run."""
    with open(os.path.join(folder, "out", "run.json")) as file:
        return json.load(file)["counters"]["committed"]["penalty"]


def main():
    global FRICTION, RESTITUTION
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("grains", "column", "stones"))
    parser.add_argument("count", type=int, metavar="N")
    parser.add_argument("--end", type=float, help="simulated time, s (grains .05, a column .1, stones .15)")
    parser.add_argument("--rest", type=float, default=0., help="simulated time after that which is told alone, s")
    parser.add_argument("--friction", type=float, default=FRICTION, help="of grains")
    parser.add_argument("--restitution", type=float, default=RESTITUTION, help="of grains")
    parser.add_argument("--step", type=float, help="of LAMMPS, s (the period of our outermost layer)")
    parser.add_argument("--keep", metavar="DIR", help="leave the scene, the runs and LAMMPS's files there")
    given = parser.parse_args()
    end = given.end or {"grains": .05, "column": .1, "stones": .15}[given.what]
    FRICTION, RESTITUTION = given.friction, given.restitution
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or temporary
        os.makedirs(folder, exist_ok=True)
        made = {"grains": grains_scene, "column": column_scene, "stones": lambda n, s: stones.scene(n, s)[0]}[given.what](given.count, end + given.rest)
        made["time"]["frame"] = given.rest or end
        with open(os.path.join(folder, "scene.json"), "w") as file:
            json.dump(made, file)
        words = ["run", "scene.json", "-o", "out", "--overwrite", "--quiet"]
        _, wall, cpu = balls.timed([balls.PROGRAM, *words, "--until", repr(end)], folder)
        before = committed(folder)
        if given.rest:
            _, wall, cpu = balls.timed([balls.PROGRAM, "run", "--restart", "out", "--quiet"], folder)
        step = given.step or period(folder)
        steps = (stones_lammps if given.what == "stones" else grains_lammps)(folder, made, step, end, given.rest)
        _, their_wall, their_cpu = balls.timed(["lmp", "-in", "lammps.in", "-log", "lammps.log"], folder)
        with open(os.path.join(folder, "lammps.log")) as file:
            log = file.read()
        rows = re.findall(r"^\s*(\d+)\s+(\d+)\s+([-+.\deE]+)\s+([-+.\deE]+)\s+([-+.\deE]+)\s+([-+.\deE]+)\s*$", log, re.M)
        loops = [(float(a), float(b)) for a, b in re.findall(r"Loop time of ([\d.]+).*?([\d.]+)% CPU use", log, re.S)]
        if given.rest:
            their_wall, their_cpu = loops[-1][0], loops[-1][0] * loops[-1][1] / 100
        with open(os.path.join(folder, "out", "energy.csv")) as file:
            names, *lines = file.read().split("\n")
        start, energy = (dict(zip(names.split(","), map(float, lines[k].split(",")))) for k in (0, -2))
        mass = made["bodies"][1]["mass"] * given.count if given.what != "stones" else None
        ticks = committed(folder) - (before if given.rest else 0)
    sunk = f"{1000 * (start['gravity'] - energy['gravity']) / (9.81 * mass):.3g}" if mass else ""
    told = f"{given.rest:g} s at rest after {end:g} s" if given.rest else f"{end:g} s"
    print(f"{given.count} {given.what}, {told}; LAMMPS's step {step:.4g} s, {steps[-1]} steps\n")
    print("| program | processor s | per step of LAMMPS, ms | contacts at the end | sunk, mm | kinetic energy at the end, J | ticks of contact |\n|---|---|---|---|---|---|---|")
    print(f"| Tactus | {cpu:.1f} | {1000 * cpu / steps[-1]:.2f} | {energy['contacts']:.0f} | {sunk} | {energy['kinetic']:.4g} | {ticks:.3g} |")
    print(f"| LAMMPS | {their_cpu:.1f} | {1000 * their_cpu / steps[-1]:.2f} | {float(rows[-1][4]) / 2:.0f} | {1000 * (float(rows[0][5]) - float(rows[-1][5])):.3g} | {float(rows[-1][2]) + float(rows[-1][3]):.4g} | |")
    print(f"| ratio | {cpu / their_cpu:.2f} | | | | | |\n\nWall: {wall:.1f} and {their_wall:.1f} s (LAMMPS's loop {loops[-1][0]:.1f} s); lost in LAMMPS: {int(rows[0][1]) - int(rows[-1][1])}")


if __name__ == "__main__":
    main()
