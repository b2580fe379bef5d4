#!/usr/bin/python3
"""rod_in_cloth.py [--ranks 30,384] : what the rod that twists in 90,000 vertices of cloth costs on many ranks, beside Charm++'s ACM.

Ni, Kale and Tamstorf (2015, Scalable Asynchronous Contact Mechanics using Charm++) tell 9 h on 30 cores and 46 min on 384 for 3 s.
Their scene is guessed (../papers/rod.py). All of it on 384 ranks is more than one machine can simulate, so intervals are run:

1. The scene with a cloth of 75 x 77 vertices is run to its end on one rank (--coarse RUN: it has been).
2. At each of --times, every triangle of that cloth is cut into 16 alike: 90,585 vertices that lie on the surface as it was then, with
   its velocities. Its rest shape is flat, its layers are half as thick.
3. This starts there and runs for --length seconds: on one rank of this machine, and on a simulated cluster (simulated/simulate) on
   each of --ranks, with what a tick costs here, by the time and the counts of the coarse run, or with --cost. The first two thirds
   are not counted: the parts of the ranks have found their balance by then.
4. The cost of the whole is the sum of trapezoids over the times, linearly from one to the next.

Needs what simulate needs.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../papers")]
import rod  # noqa: E402
import scaling  # noqa: E402

CELLS, AROUND, PARTS, THICKNESS = (74, 76), 64, 4, .0005
TEST = 12.2  # ns of a test of boxes, by simulated/simulate without --cost
THEIRS = {30: 9., 384: 46 / 60}  # h


def subdivided(x, triangles, parts):
    """Vertices (N, 3) and triangles (parts^2 T, 3), each triangle of (V, 3) and (T, 3) cut into parts^2; common ones once."""
    weights = np.array([(i, j, parts - i - j) for i in range(parts + 1) for j in range(parts + 1 - i)])
    number = {tuple(w[:2]): k for k, w in enumerate(weights)}
    cut = [[number[i, j], number[i + 1, j], number[i, j + 1]] for i in range(parts) for j in range(parts - i)]
    cut += [[number[i + 1, j], number[i + 1, j + 1], number[i, j + 1]] for i in range(parts) for j in range(parts - 1 - i)]
    names, faces = {}, []
    for t in triangles:
        # A point is known by the corners that it is between, and by how much it is of each.
        mine = [names.setdefault(tuple(sorted((int(v), int(w)) for v, w in zip(t, row) if w)), len(names)) for row in weights]
        faces += [[mine[k] for k in c] for c in cut]
    points = np.zeros((len(names), x.shape[1]))
    for name, k in names.items():
        points[k] = sum(w * x[v] for v, w in name) / parts
    return points, np.array(faces)


def fine_scene(coarse, time, length, folder):
    """Writes the scene of 90,585 vertices that starts as the coarse run was at `time`; its path and its number of vertices."""
    with h5py.File(os.path.join(coarse, "frames.h5")) as file:
        frame = min(file["frames"].values(), key=lambda f: abs(f["time"][()] - time))
        if abs(frame["time"][()] - time) > 1e-6:
            sys.exit("%s has no frame at %g s" % (coarse, time))
        cloth = np.flatnonzero(file["mesh/body"][()] == 1)
        first, triangles = cloth[0], file["mesh/triangles"][()]
        triangles = triangles[triangles[:, 0] >= first] - first
        flat, now, speed = file["frames/000000/position"][()][cloth], frame["position"][()][cloth], frame["velocity"][()][cloth]
    both, faces = subdivided(np.hstack([flat, now, speed]), triangles, PARTS)
    rest = both[:, :3]
    with open(os.path.join(folder, "cloth.obj"), "w") as file:
        file.writelines("v %r %r %r\n" % tuple(map(float, p)) for p in rest)
        file.writelines("f %d %d %d\n" % tuple(f + 1) for f in faces)
    with h5py.File(os.path.join(folder, "start.h5"), "w") as file:
        file["position"], file["velocity"] = both[:, 3:6], both[:, 6:]
    scene = rod.scene(CELLS, AROUND, rod.END, rod.TURNS, 1, THICKNESS)
    scene["time"] = {"end": length, "frame": length}
    scene["contact"]["rest_fraction"] = .9  # layers of one mesh lie on each other at the start
    scene["bodies"][1].update(mesh={"kind": "file", "path": "cloth.obj"}, position=[0, 0, 0], start={"file": "start.h5"})
    turn = {"axis": [1, 0, 0], "center": [0, 0, 0], "path": [[0, 0], [rod.END, 360 * rod.TURNS]]}
    middle = flat[CELLS[1] // 2 * (CELLS[0] + 1), 2]
    scene["motions"] = [{"body": "rod", "vertices": "all", "rotate": turn},
                        {"body": "cloth", "vertices": [int(i) for i in np.flatnonzero(rest[:, 2] == middle)], "rotate": turn}]
    path = os.path.join(folder, "rod-%g.json" % time)
    with open(path, "w") as file:
        json.dump(scene, file)
    return path, len(rest)


def cost(coarse):
    """ns of a force tick, a contact tick and a test of boxes. Seconds of short runs are shared out by too few instants."""
    with open(os.path.join(coarse, "run.json")) as file:
        counters = json.load(file)["counters"]
    executed = dict(counters["executed"])
    contact = executed.pop("penalty") + executed.pop("limit")
    return 1e9 * counters["seconds"]["forces"] / sum(executed.values()), 1e9 * counters["seconds"]["contact"] / contact, TEST


def interval(options, coarse, time, home):
    """Seconds on one rank, and on each number of simulated ranks, for a second of simulated time from `time` on."""
    folder = os.path.join(home, "%g" % time)
    os.makedirs(folder)
    path, vertices = fine_scene(coarse, time, options.length, folder)
    begin = 2 * options.length / 3
    infos = [scaling.run(path, 1, os.path.join(folder, "one-%d.run" % k), ["--until", repr(t)])[0] for k, t in enumerate((begin, options.length))]
    spent = scaling.stepping(infos[1]) - scaling.stepping(infos[0])
    ticks = [infos[1]["counters"]["executed"][k] - infos[0]["counters"]["executed"][k] for k in infos[1]["counters"]["executed"]]
    told = os.path.join(folder, "simulated.jsonl")
    done = subprocess.run([os.path.join(HERE, "simulated/simulate"), path, "--ranks", ",".join(map(str, options.ranks)), "--from", repr(begin), "--json", told, "--network", "delays",
                           "--build", options.build, "--cost", ",".join("%g" % c for c in options.cost or cost(coarse))], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(done.stdout)
    print(done.stdout, end="", flush=True)
    with open(told) as file:
        rows = {row["ranks"]: row["wall_s"] for row in map(json.loads, file)}
    span = options.length - begin
    print("| %g | %d | %d | %.3g G | %.4g | %s |" % (time, vertices, infos[1]["counters"]["contacts_found"], sum(ticks) / span / 1e9, spent / span,
                                                  " | ".join("%.4g" % (rows[n] / span) for n in options.ranks)), flush=True)
    return [spent / span] + [rows[n] / span for n in options.ranks]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=lambda t: [int(n) for n in t.split(",")], default=[30, 384], help="with commas (30,384)")
    parser.add_argument("--times", type=lambda t: [float(n) for n in t.split(",")], default=[0, .75, 1.5, 2.25, 3],
                        help="s, at which the rod has gone round whole times (0,.75,1.5,2.25,3)")
    parser.add_argument("--cost", type=lambda t: [float(x) for x in t.split(",")], metavar="F,C,D",
                        help="ns of a force tick, a contact tick and a test of boxes (by the coarse run, which is to have a core of its own)")
    parser.add_argument("--length", type=float, default=.0018, help="of an interval, s (%(default)s)")
    parser.add_argument("--coarse", metavar="RUN", help="the run folder of the coarse scene, which is run if there is none")
    parser.add_argument("--build", default=os.path.join(scaling.ROOT, "build-simulated"), help="folder of the simulated program (%(default)s)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rod-in-cloth-") as home:
        coarse = options.coarse or os.path.join(home, "coarse.run")
        if not os.path.isdir(coarse):
            with open(os.path.join(home, "coarse.json"), "w") as file:
                json.dump(rod.scene(CELLS, AROUND, rod.END, rod.TURNS, 24, 2 * THICKNESS), file)
            scaling.run(file.name, 1, coarse, [])
        print("| from, s | vertices of the cloth | contacts found | ticks of one rank in a s | s for a s: one rank | %s |" %
              " | ".join("%d simulated" % n for n in options.ranks))
        rows = [interval(options, coarse, t, home) for t in options.times]
    for k, n in enumerate([1] + options.ranks):
        whole = sum((b - a) * (rows[i][k] + rows[i + 1][k]) / 2 for i, (a, b) in enumerate(zip(options.times, options.times[1:])))
        theirs = "; theirs %.3g h, %.0f core-hours" % (THEIRS[n], n * THEIRS[n]) if n in THEIRS else ""
        print("%d ranks: %.4g h for %g to %g s, %.4g core-hours%s" % (n, whole / 3600, options.times[0], options.times[-1], n * whole / 3600, theirs))


if __name__ == "__main__":
    main()
