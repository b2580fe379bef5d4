#!/usr/bin/python3
"""presses.py: slow presses, of which the forces are known from each other: opposite plates feel the same, an elastic body without friction
gives back on the way out what it took on the way in, and what the plates work is what the body has.

A rubber ring of 3456 tetrahedra between plates that close by 1.8 mm in 1 s and open again; a soft ball of 1 m between plates that close
by .022 m/s each. The ring again with a tight tolerance and a stiff barrier, and with weights of area, where it must not leave the press. If
it fails, an engineer reads wrong forces, and nothing tells him."""
import csv
import itertools
import json
import math
import os
import sys
import tempfile

from program import call, check, failures

AROUND, ACROSS, LEVELS = 48, 4, 3  # cells of the ring, six tetrahedra each


def ring(inner, outer, height):
    """A ring of rectangular section about the y axis."""
    def vertex(i, j, k):
        return (i % AROUND * (ACROSS + 1) + j) * (LEVELS + 1) + k

    places, tets = [], []
    for i, j, k in itertools.product(range(AROUND), range(ACROSS + 1), range(LEVELS + 1)):
        angle, r = 2 * math.pi * i / AROUND, inner + (outer - inner) * j / ACROSS
        places.append([r * math.cos(angle), height * (k / LEVELS - 0.5), r * math.sin(angle)])
    for cell in itertools.product(range(AROUND), range(ACROSS), range(LEVELS)):
        for order in itertools.permutations(range(3)):
            path = [[cell[axis] + (axis in order[:n]) for axis in range(3)] for n in range(4)]
            odd = order in ((0, 2, 1), (1, 0, 2), (2, 1, 0))
            tet = [vertex(*at) for at in path]
            tets.append(tet if odd else [tet[0], tet[2], tet[1], tet[3]])  # of positive volume
    return {"kind": "inline", "vertices": places, "tetrahedra": tets}


def plate(half, y):
    """Two triangles; the upper plate's are the lower one's, turned about the origin."""
    corners = [[-half, y, -half], [half, y, -half], [half, y, half], [-half, y, half]]
    return {"kind": "inline", "vertices": corners, "triangles": [[0, 2, 1], [0, 3, 2]] if y < 0 else [[0, 1, 3], [1, 2, 3]]}


def rubber_ring(integrator):
    return {"time": {"end": 2, "frame": 0.025}, "contact": {"thickness": 1e-4},
            "integrator": {"kind": "implicit", "step_s": 0.025, **integrator},
            "materials": {"m": {"density": 1100, "solid": {"model": "neo-hookean", "youngs": 5e6, "poisson": 0.45}}},
            "bodies": [{"name": "body", "material": "m", "mesh": ring(0.014, 0.02, 0.005)},
                       {"name": "low", "mesh": plate(0.03, -0.00265), "fixed": True}, {"name": "high", "mesh": plate(0.03, 0.00265)}],
            "motions": [{"body": "high", "path": [[0, [0, 0, 0]], [1, [0, -0.0018, 0]], [2, [0, 0, 0]]]}]}


def soft_ball(integrator):
    return {"time": {"end": 5, "frame": 0.1}, "contact": {"thickness": 0.004},
            "integrator": {"kind": "implicit", "step_s": 0.1, **integrator},
            "materials": {"m": {"density": 1000, "solid": {"model": "corotated", "youngs": 1e5, "poisson": 0.3}}},
            "bodies": [{"name": "body", "material": "m", "mesh": {"kind": "sphere", "radius": 1, "level": 2, "fill": "tets"}, "rotation": [0, 0, 31.717]},
                       {"name": "low", "mesh": plate(1.5, -1.01)}, {"name": "high", "mesh": plate(1.5, 1.01)}],
            "motions": [{"body": "low", "path": [[0, [0, 0, 0]], [5, [0, 0.11, 0]]]}, {"body": "high", "path": [[0, [0, 0, 0]], [5, [0, -0.11, 0]]]}]}


def rows(*path):
    with open(os.path.join(*path)) as file:
        return list(csv.DictReader(file))


class Press:
    """A run, and the forces of both plates along y, N, by frame."""

    def __init__(self, folder, name, scene):
        self.name, path, out = name, os.path.join(folder, name + ".json"), os.path.join(folder, name + ".run")
        scene = {"format": "tactus-scene/1", "output": {"reactions": True}, **scene}
        with open(path, "w") as file:
            json.dump(scene, file)
        self.code, self.text = call("run", path, "-o", out, "--quiet")
        self.steps, self.energy = rows(out, "steps.csv"), rows(out, "energy.csv")
        self.whole = len(self.energy) == round(scene["time"]["end"] / scene["time"]["frame"]) + 1
        both = {plate: [float(r["contact_force_y"]) for r in rows(out, "reactions.csv") if r["name"] == plate] for plate in ("low", "high")}
        self.low, self.high = both["low"], both["high"]
        self.peak = max(map(abs, self.low + self.high))

    def check(self, ok, what):
        check(self.code == 0 and self.whole and ok, "%s: %s" % (self.name, what), self.text)

    def ended(self, most):
        count = sum(int(s["newton"]) for s in self.steps)
        self.check(count <= most, "ends well after %d iterations, at most %d" % (count, most))

    def agrees(self, share):
        """Plates with each other, wherever they feel a twentieth of the peak."""
        worst = max(abs(a + b) / max(abs(a), abs(b)) for a, b in zip(self.low, self.high) if max(abs(a), abs(b)) > 0.05 * self.peak)
        self.check(worst < share, "plates differ by %.2g of their force, at most %g; the peak is %.4g N" % (worst, share, self.peak))

    def returns(self, share):
        """Out as in, at equal strokes."""
        there, back = self.high[:len(self.high) // 2], self.high[:len(self.high) // 2:-1]
        pairs = [(a, b) for a, b in zip(there, back) if max(abs(a), abs(b)) > 0.05 * self.peak]
        worst = max(abs(a - b) / max(abs(a), abs(b)) for a, b in pairs)
        self.check(len(pairs) > 20 and worst < share, "loading and unloading differ by %.2g of the force at %d strokes, at most %g" % (worst, len(pairs), share))

    def balances(self, share):
        work, defect = (max(abs(float(r[column])) for r in self.energy) for column in ("work", "defect"))
        self.check(work > 0 and defect < share * work, "%.2g of %.3g J of work is in `defect`, at most %g" % (defect / work, work, share))


def main():
    with tempfile.TemporaryDirectory() as folder:
        press = Press(folder, "ring", rubber_ring({}))
        press.ended(200)
        press.agrees(0.005)
        press.returns(0.01)
        press.balances(0.02)
        stiff = Press(folder, "ring, kappa 1e9, tolerance 1e-6", rubber_ring({"barrier": {"stiffness": 1e9}, "newton": {"velocity_tol": 1e-6}}))
        stiff.ended(400)
        stiff.agrees(0.005)
        stiff.returns(0.01)
        stiff.balances(0.02)
        area = Press(folder, "ring, weights of area", rubber_ring({"barrier": {"stiffness": 1e6, "weights": "area"}}))
        area.ended(200)
        area.agrees(0.005)
        area.returns(0.01)
        area.balances(0.02)
        ball = Press(folder, "ball", soft_ball({}))
        ball.ended(150)
        ball.agrees(0.005)
        ball.balances(0.02)
        tight = Press(folder, "ball, tight", soft_ball({"newton": {"velocity_tol": 1e-7, "force_tol": 1e-8}}))
        tight.ended(500)
        off = max(abs(a - b) for a, b in zip(tight.high, ball.high)) / tight.peak
        ball.check(off < 0.005, "a tight tolerance changes forces by %.2g of the peak, at most 0.005" % off)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
