#!/usr/bin/python3
"""Smith et al. 2012, 11.3 and 11.4, in a plane, and a pool break: what restitution does to many balls.

    jobs/experiments/impact/shaken.py demon|layer|break [-o PICTURE] [--end S] [--seed N] [--ranks N]

demon  Granular Maxwell's demon: two equal grids of 144 discs each, restitution .6, on both sides of a fence in a box whose floor
       goes up and down.  Prints how many are on the left at each eighth of the time.
layer  A layer of discs, five deep, on a floor that goes up and down with three times the acceleration of gravity.  Prints the height of the
       layer's middle over the floor and how much its surface varies along the floor, at the same phase of each period.
break  docs/examples/pool.json for .4 s.  Prints the balls' speeds at the end.

Prints what the steps took, too.  -o draws frames, for docs/pictures.  $TACTUS is the program.
"""
import argparse
import json
import math
import os
import subprocess
import tempfile

import h5py
import numpy as np

from discs import TACTUS, tell

HERE = os.path.dirname(os.path.abspath(__file__))
RADIUS = .005


def line(name, *where):
    return {"name": name, "fixed": True, "mesh": {"kind": "segments", "vertices": [[x, y, 0] for x, y in where]}}


def floor(left, right, amplitude, period, end):
    """A floor that goes up and down along a sine, in 16 straight pieces a period."""
    knots = int(16 * end / period) + 17
    path = [[k * period / 16, [0, amplitude * (1 - math.cos(2 * math.pi * k / 16)), 0]] for k in range(knots)]
    body = line("floor", (left, -RADIUS - .001), (right, -RADIUS - .001))
    del body["fixed"]
    return body, {"body": "floor", "path": path}


def scene(discs, walls, drive, end, step, frame, **contact):
    body, motion = drive
    return {"format": "tactus-scene/1", "time": {"end": end, "frame": frame}, "gravity": [0, -9.81, 0],
            "contact": {"thickness": .0005, **contact}, "integrator": {"kind": "impact", "step_s": step},
            "bodies": [discs, body, *walls], "motions": [motion]}


def discs(where, seed, speed):
    return {"name": "discs", "mass": 1, "radius": RADIUS, "random_speed": [0, speed], "seed": seed,
            "mesh": {"kind": "points", "vertices": [[x, y, 0] for x, y in where]}}


def demon(end, seed, amplitude=.003, f=40, fence=.08, wide=1.2):
    where = [(side * wide / 24 * (2 * i + 1), .02 + .02 * j) for side in (-1, 1) for i in range(12) for j in range(12)]
    walls = [line("walls", (-wide, 3), (-wide, -.05)), line("right", (wide, 3), (wide, -.05)), line("fence", (0, fence), (0, -.05))]
    return scene(discs(where, seed, .5), walls, floor(-wide - .01, wide + .01, amplitude, 1 / f, end), end, .004, .08, restitution=.6)


def layer(end, seed):
    count, depth, f = 120, 5, 12.5
    where = [(.0104 * i, .0104 * j) for i in range(count) for j in range(depth)]
    left, right = -.0062, .0104 * (count - 1) + .0062
    walls = [line("walls", (left, 1), (left, -.05)), line("right", (right, 1), (right, -.05))]
    drive = floor(left - .01, right + .01, 3 * 9.81 / (2 * math.pi * f) ** 2, 1 / f, end)
    return scene(discs(where, seed, .05), walls, drive, end, 1 / (64 * f), 1 / f, restitution=.7, friction=.3)


def pool(end, seed):
    with open(os.path.join(HERE, "../../../docs/examples/pool.json")) as file:
        what = json.load(file)
    what["time"] = {"end": end, "frame": .02}
    return what


KINDS = {"demon": (demon, 120), "layer": (layer, 1.6), "break": (pool, .4)}


def frames(folder):
    with h5py.File(os.path.join(folder, "frames.h5")) as file:
        all_frames = [file["frames"][name] for name in sorted(file["frames"])]
        return [(f["time"][()], f["position"][()], f["velocity"][()]) for f in all_frames]


def report(kind, balls, all_frames):
    if kind == "demon":
        for k in range(9):
            t, x, _ = all_frames[k * (len(all_frames) - 1) // 8]
            print("t = %5.1f s: %3d discs on the left, %3d on the right" % (t, (x[:balls, 0] < 0).sum(), (x[:balls, 0] >= 0).sum()))
    elif kind == "layer":
        for t, x, _ in all_frames[-8:]:
            along = np.floor(x[:balls, 0] / .03).astype(int)
            top = np.array([x[:balls, 1][along == k].max() for k in range(along.max() + 1)])
            print("t = %.4f s: middle at %.4f m, surface %.4f +- %.4f m" % (t, x[:balls, 1].mean(), top.mean(), top.std()))
    else:
        speed = np.linalg.norm(all_frames[-1][2][:balls], axis=1)
        print("speeds at the end, m/s: " + " ".join("%.3f" % s for s in sorted(speed)))


def draw(path, kind, what, all_frames):
    """kind: which frames and how much of the scene; `all`: all of it, of the first, a middle and the last frame."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.collections import EllipseCollection
    radius = np.concatenate([[b["radius"]] * len(b["mesh"]["vertices"]) for b in what["bodies"] if "radius" in b])
    balls, last = len(radius), len(all_frames) - 1
    picks = {"demon": [0, last // 3, 2 * last // 3, last], "layer": [last - 1, last], "break": [0, last // 4, last], "all": [0, last // 2, last]}[kind]
    figure, axes = pyplot.subplots(1, 3, figsize=(6.4, 1.6)) if kind in ("break", "all") else pyplot.subplots(len(picks), 1, figsize=(6.4, len(picks)))
    for axis, k in zip(axes, picks):
        t, x, v = all_frames[k]
        speed = np.linalg.norm(v[:balls], axis=1)
        size = 2 * radius
        axis.add_collection(EllipseCollection(size, size, np.zeros(balls), units="xy", offsets=x[:balls, :2], transOffset=axis.transData, array=speed,
                                              cmap="copper", clim=(0, max(speed.max(), 1e-9))))
        first = balls
        for b in what["bodies"]:
            if "radius" in b:
                continue
            n = len(b["mesh"]["vertices"])
            at = x[first:first + n, :2]
            if "edges" in b["mesh"]:
                axis.plot(*at[np.transpose(b["mesh"]["edges"])].transpose(2, 0, 1), color="#3b4148", lw=1)
            else:
                axis.plot(*(np.vstack([at, at[:1]]) if b["mesh"].get("closed") else at).T, color="#3b4148", lw=1)
            first += n
        low, high = {"demon": ((-1.22, -.02), (1.22, .3)), "layer": ((-.02, -.02), (1.26, .13)), "break": ((-.95, -.6), (.95, .6)),
                     "all": (.05 * np.ptp(x[:, :2], axis=0) * -1 + x[:, :2].min(axis=0), 1.05 * np.ptp(x[:, :2], axis=0) + x[:, :2].min(axis=0))}[kind]
        axis.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
        axis.set_title("%.2f s" % t, fontsize=7)
        axis.axis("off")
    figure.tight_layout(pad=.2)
    figure.savefig(path, dpi=110, bbox_inches="tight", pad_inches=.05)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("-o", "--output")
    parser.add_argument("--end", type=float)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ranks", type=int, default=1)
    words = parser.parse_args()
    make, end = KINDS[words.kind]
    what = make(words.end or end, words.seed)
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "scene.json"), os.path.join(folder, "out")
        with open(path, "w") as file:
            json.dump(what, file)
        start = ["mpirun", "-n", str(words.ranks)] if words.ranks > 1 else []
        subprocess.run(start + [TACTUS, "run", path, "-o", out, "--quiet"], check=True)
        tell(out)
        all_frames = frames(out)
        report(words.kind, sum(len(b["mesh"]["vertices"]) for b in what["bodies"] if "radius" in b), all_frames)
        if words.output:
            draw(words.output, words.kind, what, all_frames)


if __name__ == "__main__":
    main()
