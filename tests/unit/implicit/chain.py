#!/usr/bin/python3
"""chain.py: rings of a soft solid that hang in each other, the topmost held: a load that goes from body to body by contact alone.

Rings so thick that a whole ring is nearer to itself than the thickness are no pairs where they cannot touch.  The others
fall, are caught, come to rest, and stay linked: every two that follow each other still go through each other once, and the held one
carries the weight of all others.  If it fails, a ring was lost, or the forces that contact hands on do not add up."""

import csv
import json
import os
import subprocess
import sys
import tempfile

import h5py
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "jobs", "experiments", "implicit"))
import literature  # noqa: E402
import shapes  # noqa: E402

from program import TACTUS, check, failures

ALONG, AROUND, LINKS = 10, 6, 4


def linking(a, b):
    """How often the closed lines a and b (N, 3) go through each other: Gauss' integral over their fine pieces."""
    def fine(x):
        ends = numpy.roll(x, -1, axis=0)
        at = (numpy.arange(12) + 0.5) / 12
        middle = (x[:, None] + at[None, :, None] * (ends - x)[:, None]).reshape(-1, 3)
        return middle, numpy.repeat((ends - x) / 12, 12, axis=0)
    p, dp = fine(a)
    q, dq = fine(b)
    r = p[:, None] - q[None]
    volume = numpy.einsum("ijk,ijk->ij", r, numpy.cross(dp[:, None], dq[None]))
    return float((volume / numpy.linalg.norm(r, axis=2) ** 3).sum() / (4 * numpy.pi))


def thick(folder):
    """Pairs of one ring have a smaller thickness than the scene, so most of those within the scene's are no candidates."""
    scene = literature.chain(folder, False, 2, 1e6, 1000)
    scene["time"], scene["output"], scene["contact"]["thickness"] = {"end": 0.2, "frame": 0.04}, {}, 0.016
    path, out = os.path.join(folder, "thick.json"), os.path.join(folder, "thick.run")
    with open(path, "w") as file:
        json.dump(scene, file)
    subprocess.run([TACTUS, "run", path, "-o", out, "--quiet"], check=True)
    with open(os.path.join(out, "run.json")) as file:
        candidates = json.load(file)["counters"]["candidates"]
    check(0 < candidates < 45000, "two rings, a thickness of over half of their tubes' radius: %d candidates (55,693 by the scene's thickness)" % candidates)


def main():
    with tempfile.TemporaryDirectory() as folder:
        scene = literature.chain(folder, True, LINKS, 1e6, 1000)
        scene["time"] = {"end": 3, "frame": 0.2}
        scene["output"] = {"reactions": True}
        path, out = os.path.join(folder, "chain.json"), os.path.join(folder, "chain.run")
        with open(path, "w") as file:
            json.dump(scene, file)
        subprocess.run([TACTUS, "run", path, "-o", out, "--quiet", "--record"], check=True)
        audit = subprocess.run([TACTUS, "audit", out], stdout=subprocess.PIPE, text=True)
        check(audit.returncode == 0, "the audit proves it")
        with h5py.File(os.path.join(out, "frames.h5")) as file:
            frames = [file["frames"][key]["position"][()] for key in sorted(file["frames"])]
        with open(os.path.join(out, "reactions.csv")) as file:
            held = float([row for row in csv.DictReader(file) if row["name"] == "link0"][-1]["force_y"])
        lines = frames[-1].reshape(LINKS, ALONG, AROUND, 3).mean(axis=2)
        turns = [linking(lines[k], lines[k + 1]) for k in range(LINKS - 1)]
        check(all(abs(abs(n) - 1) < .1 for n in turns) and abs(linking(lines[0], lines[2])) < .1,
              "every two rings that follow each other are linked once: %s" % ", ".join("%.3f" % n for n in turns))
        fallen = (frames[0] - frames[-1])[:, 1].reshape(LINKS, -1).mean(axis=1)
        check(fallen[0] == 0 and (numpy.diff(fallen) > .01).all(), "each hangs lower than it began: %s m" % ", ".join("%.3f" % f for f in fallen))
        x, tets = shapes.ring(0.125, 0.028, ALONG, AROUND)
        a, b, c, d = (x[tets[:, k]] for k in range(4))
        weight = 9.81 * 1000 * (LINKS - 1) * numpy.einsum("ij,ij->", b - a, numpy.cross(c - a, d - a)) / 6
        check(abs(held / weight - 1) < .02, "the held one carries %.2f N, the weight of the others is %.2f N" % (held, weight))
        thick(folder)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
