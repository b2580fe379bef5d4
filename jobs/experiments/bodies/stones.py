#!/usr/bin/python3
"""stones.py [N] [--seconds S] [--ranks R] [--keep DIR] [--audit] [--scene FILE]: pours N stones of 20 triangles, the pieces of one mesh, into a box.

    jobs/experiments/bodies/stones.py 200 --seconds .3 --keep DIR

A stone is an icosahedron of about 20 mm whose corners are moved and which is turned by chance (a seed of its own, so that the first stones of
a larger N are the same but for their places). They start on a lattice above an open box and fall; 2500 kg/m^3, friction .5, restitution .2.
Prints how long the run took per simulated second, its ticks, plans and contacts, and how high the stones lie at the end. With --audit
the run is recorded and audited. With --scene the scene is only written. Code 1 if the run, the audit, or a stone fails."""
import argparse
import json
import math
import os
import random
import resource
import subprocess
import sys
import tempfile
import time

import h5py
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
TACTUS = os.path.abspath(os.environ.get("TACTUS", os.path.join(HERE, "..", "..", "..", "build", "tactus")))
SIZE, PITCH = .02, .031  # m: of a stone, between two of them at the start; no stone reaches half of it from its middle
GOLDEN = (1 + 5 ** .5) / 2
CORNERS = numpy.array([(c[-k:] + c[:-k]) for k in range(3) for c in [(a, b * GOLDEN, 0.) for a in (-1., 1.) for b in (-1., 1.)]])


def faces():
    """The triangles of the icosahedron, outwards."""
    near = [[abs(((p - q) ** 2).sum() - 4) < 1e-9 for q in CORNERS] for p in CORNERS]
    found = []
    for i in range(12):
        for j in range(i + 1, 12):
            for k in range(j + 1, 12):
                if near[i][j] and near[j][k] and near[i][k]:
                    p, q, r = CORNERS[i], CORNERS[j], CORNERS[k]
                    found.append([i, j, k] if numpy.dot(numpy.cross(q - p, r - p), p) > 0 else [i, k, j])
    return numpy.array(found)


def turn(rng):
    q = numpy.array([rng.gauss(0, 1) for _ in range(4)])
    w, x, y, z = q / math.sqrt((q * q).sum())
    return numpy.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def stone(number):
    rng = random.Random(number)
    moved = CORNERS * numpy.array([rng.uniform(.75, 1.15) for _ in CORNERS])[:, None] * [rng.uniform(.7, 1.) for _ in range(3)]
    return moved @ turn(rng).T * (SIZE / 2 / math.sqrt(1 + GOLDEN * GOLDEN))


def scene(count, seconds):
    across = max(2, round((count / 2) ** (1 / 3)))
    side, high = across * PITCH, 1.2 * across * PITCH
    place = [((i % across) - (across - 1) / 2, i // across ** 2, (i // across) % across - (across - 1) / 2) for i in range(count)]
    vertices = numpy.concatenate([stone(i) + PITCH * numpy.array(p) + [0, .6 * PITCH, 0] for i, p in enumerate(place)])
    triangles = numpy.concatenate([faces() + 12 * i for i in range(count)])
    h = side / 2 + .1 * PITCH
    walls = [[x, y, z] for y in (0, high) for x, z in ((-h, -h), (h, -h), (h, h), (-h, h))]
    quads = [[0, 3, 2, 1]] + [[k, (k + 1) % 4, (k + 1) % 4 + 4, k + 4] for k in range(4)]
    return {"format": "tactus-scene/1", "time": {"end": seconds, "frame": seconds / 16}, "gravity": [0, -9.81, 0],
            "contact": {"thickness": .0005, "stiffness": 2000, "restitution": .2, "friction": .5},
            "bodies": [{"name": "box", "fixed": True, "mesh": {"kind": "inline", "vertices": walls, "triangles": [
                [q[a], q[b], q[c]] for q in quads for a, b, c in ((0, 1, 2), (0, 2, 3))]}},
                       {"name": "stones", "rigid": {"density": 2500, "pieces": True}, "velocity": [0, -.5, 0],
                        "mesh": {"kind": "inline", "vertices": vertices.round(9).tolist(), "triangles": triangles.tolist()}}]}, h


def tell(folder, count, seconds, wall, cpu, half):
    with open(os.path.join(folder, "out", "run.json")) as file:
        counters = json.load(file)["counters"]
    ticks = sum(counters["committed"].values())
    with h5py.File(os.path.join(folder, "out", "frames.h5")) as file:
        frames = file["frames"]
        x = frames[max(frames)]["position"][8:].reshape(count, 12, 3).mean(axis=1)
    lost = int((numpy.abs(x[:, [0, 2]]).max(axis=1) > half).sum() + (x[:, 1] < 0).sum())
    print(f"{count} stones, {20 * count} triangles: {wall:.1f} s ({cpu:.1f} s of the processor) for {seconds:g} s, {cpu / seconds:.0f} s of the processor per simulated second")
    print(f"ticks {ticks}, {ticks / cpu:.3g} per s of the processor; of contact {counters['committed']['penalty']}; plans {counters['rigid_plans']}; "
          f"contacts found {counters['contacts_found']}; deepest layer {counters['deepest_layer']}")
    print(f"middles from {1000 * x[:, 1].min():.1f} to {1000 * x[:, 1].max():.1f} mm, mean {1000 * x[:, 1].mean():.1f}; outside of the box: {lost}")
    return lost == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", nargs="?", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=.25)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--keep", metavar="DIR")
    parser.add_argument("--audit", action="store_true")
    parser.add_argument("--scene", metavar="FILE")
    args = parser.parse_args()
    made, half = scene(args.count, args.seconds)
    if args.scene:
        with open(args.scene, "w") as file:
            json.dump(made, file)
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or temporary
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "stones.json"), "w") as file:
            json.dump(made, file)
        command = (["mpirun", "-n", str(args.ranks)] if args.ranks > 1 else []) + [
            TACTUS, "run", "stones.json", "-o", "out", "--quiet", "--overwrite"] + (["--record"] if args.audit else [])
        start = time.time()
        code = subprocess.run(command, cwd=folder).returncode
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        good = code == 0 and tell(folder, args.count, args.seconds, time.time() - start, used.ru_utime + used.ru_stime, half)
        if code == 0 and args.audit:
            good = subprocess.run([TACTUS, "audit", "out"], cwd=folder).returncode == 0 and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
