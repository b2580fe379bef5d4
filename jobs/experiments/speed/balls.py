#!/usr/bin/python3
"""balls.py N [--repeats R] [--keep DIR]: N balls in a box, in Tactus and in LAMMPS's granular package, in turn on one core each.

The balls are those of jobs/box-900.json (1 kg, radius 0.1 m, thickness 0.02 m, restitution 1, speeds up to 10 m/s) in a box that leaves
each of them as much room; contact stiffness 1e5 N/m. N is a cube: 4096, 27000. Both programs get the same places and speeds.

In LAMMPS (Debian's `lammps`, atom_style sphere, pair_style gran/hooke without damping or tangential forces, fix wall/gran) a ball has
half a thickness more of radius, and the walls lie half a thickness further in, so that balls push each other and the walls from the same
distances, with the same first stiffness. There, that is all; Tactus has layers below, and finds the contacts by itself.

Prints wall and processor seconds of the whole programs (medians), and how many balls were lost: gone, or outside the box at the end.
The machine may be busy with other work: only the ratios of runs that took turns say something, and processor time more than wall time.
"""
import argparse
import json
import math
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
PROGRAM = os.path.abspath(os.environ.get("TACTUS", os.path.join(ROOT, "build", "tactus")))
ALONE = {"OMPI_MCA_ess_singleton_isolated": "1", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self", "OMPI_MCA_mtl": "^ofi,psm2",
         "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1"}
STIFFNESS, END, STEP = 1e5, .2, 4e-5  # N/m, s, s
SPACING = .28                         # m, of the balls at the start


def scene(count, end=END):
    """The scene of so many balls; count is a cube."""
    side = round(count ** (1 / 3))
    if side ** 3 != count or side < 2:
        raise SystemExit(f"balls.py: {count} is not the cube of a whole number over 1")
    with open(os.path.join(ROOT, "jobs", "box-900.json")) as file:
        made = json.load(file)
    made["name"] = f"{count} balls in a box, no energy lost"
    made["time"] = {"end": end, "frame": end}
    made["contact"]["stiffness"] = STIFFNESS
    walls, balls = made["bodies"]
    walls["mesh"]["size"] = [round((side + .5) * SPACING, 6)] * 3
    balls["mesh"]["lattice"] = {"count": [side] * 3, "spacing": SPACING}
    return made


def timed(command, folder):
    """Output, wall and processor seconds of a command that must succeed."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, cwd=folder, env={**os.environ, **ALONE}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    wall, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}: {done.stdout[-2000:]}")
    return done.stdout, wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def state(folder, last):
    """Places and velocities of the balls in the first or last frame."""
    import h5py
    with h5py.File(os.path.join(folder, "balls.run", "frames.h5"), "r") as file:
        frame = file["frames"][sorted(file["frames"])[-1 if last else 0]]
        moving = file["mesh/body"][()] == 1
        return frame["position"][()][moving], frame["velocity"][()][moving]


def tactus(folder):
    _, wall, cpu = timed([PROGRAM, "run", "balls.json", "-o", "balls.run", "--overwrite", "--quiet"], folder)
    return wall, cpu


def lost_by_tactus(folder, half):
    places, _ = state(folder, True)
    return int((abs(places) > half).any(axis=1).sum())


def write_lammps(folder, made, step):
    """balls.data and balls.in, from the scene and frame 0 of a run of it."""
    places, speeds = state(folder, False)
    walls, balls = made["bodies"]
    half, eta, end = walls["mesh"]["size"][0] / 2, made["contact"]["thickness"], made["time"]["end"]
    radius = balls["radius"] + eta / 2
    density = balls["mass"] / (4 / 3 * math.pi * radius ** 3)
    with open(os.path.join(folder, "balls.data"), "w") as file:
        file.write(f"balls\n\n{len(places)} atoms\n1 atom types\n\n")
        for axis in "xyz":
            file.write(f"{-half!r} {half!r} {axis}lo {axis}hi\n")
        file.write("\nAtoms # sphere\n\n")
        for k, x in enumerate(places.tolist(), 1):
            file.write(f"{k} 1 {2 * radius!r} {density!r} {x[0]!r} {x[1]!r} {x[2]!r}\n")
        file.write("\nVelocities\n\n")
        for k, v in enumerate(speeds.tolist(), 1):
            file.write(f"{k} {v[0]!r} {v[1]!r} {v[2]!r} 0 0 0\n")
    law = f"{STIFFNESS!r} 0 0 0 0 0"
    wall = "\n".join(f"fix wall_{axis} all wall/gran hooke {law} {axis}plane {eta / 2 - half!r} {half - eta / 2!r}" for axis in "xyz")
    with open(os.path.join(folder, "balls.in"), "w") as file:
        file.write(f"""units si
atom_style sphere
boundary f f f
newton off
comm_modify vel yes
read_data balls.data
pair_style gran/hooke {law}
pair_coeff * *
neighbor 0.06 bin
neigh_modify delay 0 every 1 check yes
fix move all nve/sphere
{wall}
thermo {round(end / step)}
thermo_style custom step atoms ke
thermo_modify lost ignore norm no
timestep {step!r}
run {round(end / step)}
""")


def lammps(folder, count):
    """Wall and processor seconds, balls lost, kinetic energy at the end over that at the start."""
    said, wall, cpu = timed(["lmp", "-in", "balls.in", "-log", "balls.log"], folder)
    with open(os.path.join(folder, "balls.log")) as file:
        rows = re.findall(r"^\s*(\d+)\s+(\d+)\s+([-+.\deE]+|nan)\s*$", file.read(), re.M)
    if len(rows) < 2:
        sys.exit(f"balls.py: LAMMPS printed no result in {folder}/balls.log: {said[-500:]}")
    return wall, cpu, count - int(rows[-1][1]), float(rows[-1][2]) / float(rows[0][2])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int, metavar="N")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--end", type=float, default=END, help="simulated time, s (%(default)s)")
    parser.add_argument("--step", type=float, default=STEP, help="of LAMMPS, s (%(default)s)")
    parser.add_argument("--scene", metavar="FILE", help="only write the scene")
    parser.add_argument("--keep", metavar="DIR", help="leave the scene, the runs and LAMMPS's files there")
    options = parser.parse_args()
    made = scene(options.count, options.end)
    if options.scene:
        with open(options.scene, "w") as file:
            file.write(json.dumps(made, indent=1) + "\n")
        return
    if shutil.which("lmp") is None:
        parser.error("there is no program lmp: install Debian's package lammps")
    home = options.keep or tempfile.mkdtemp(prefix="tactus-balls-")
    try:
        os.makedirs(home, exist_ok=True)
        with open(os.path.join(home, "balls.json"), "w") as file:
            json.dump(made, file)
        ours, theirs = [], []
        for repeat in range(options.repeats):
            ours.append(tactus(home))
            if repeat == 0:
                write_lammps(home, made, options.step)
            theirs.append(lammps(home, options.count))
        lost = lost_by_tactus(home, made["bodies"][0]["mesh"]["size"][0] / 2)
    finally:
        if not options.keep:
            shutil.rmtree(home, ignore_errors=True)
    wall, cpu = ([statistics.median(row[k] for row in rows) for rows in (ours, theirs)] for k in (0, 1))
    print(f"{options.count} balls, {options.end:g} s, stiffness {STIFFNESS:g} N/m; medians of {options.repeats} runs in turn\n")
    print("| program | wall s | processor s | balls lost |\n|---|---|---|---|")
    print(f"| Tactus | {wall[0]:.2f} | {cpu[0]:.2f} | {lost} |")
    print(f"| LAMMPS, step {options.step:g} s | {wall[1]:.2f} | {cpu[1]:.2f} | {theirs[-1][2]} |")
    print(f"| ratio | {wall[0] / wall[1]:.2f} | {cpu[0] / cpu[1]:.2f} | |\n")
    print(f"LAMMPS's kinetic energy at the end over that at the start: {theirs[-1][3]:.4f} (some of it is in contacts at that moment)")


if __name__ == "__main__":
    main()
