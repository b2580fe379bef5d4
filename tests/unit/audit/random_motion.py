#!/usr/bin/python3
"""random_motion.py [COUNT [SEED]]: random soups that move at random, against a plain solver.

For each pair and each piece of time the instants at which four vertices lie in a plane are the roots of a cubic; whether they
meet there follows from the weights.  That is floating point: cases it is not sure of are left out on either side.
"""
import itertools
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

from handmade import QUANTUM, Body, Folder

TACTUS = os.environ["TACTUS"]
COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 60
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
T = 1 << 16
SURE = 1e-7


def soup(rng):
    """Bodies: an open strip of triangles, a chain of segments, loose triangles, particles."""
    bodies = []
    for b in range(rng.integers(2, 4)):
        kind = rng.integers(0, 3)
        x = rng.uniform(-1, 1, 3) + 0.5 * rng.uniform(-1, 1, (rng.integers(3, 6), 3))
        n = len(x)
        if kind == 0:
            bodies.append(Body("strip%d" % b, x, triangles=[[i, i + 1, i + 2] for i in range(n - 2)]))
        elif kind == 1:
            bodies.append(Body("chain%d" % b, x, segments=[[i, i + 1] for i in range(n - 1)], radius=float(rng.choice([0, 0.01]))))
        else:
            bodies.append(Body("dust%d" % b, x, radius=0.02))
    return bodies


def paths(rng, f, speed):
    result = []
    for x in f.x:
        t = np.unique(np.concatenate([[0, T], rng.integers(1, T, rng.integers(0, 6))]))
        result.append([(int(a), x + (0 if k == 0 else speed * rng.uniform(-1, 1, 3))) for k, a in enumerate(t)])
    return result


class Scene:
    def __init__(self, f, p):
        self.body = np.concatenate([[i] * len(b.x) for i, b in enumerate(f.bodies)])
        self.radius = np.concatenate([[b.radius] * len(b.x) for b in f.bodies])
        offset = np.cumsum([0] + [len(b.x) for b in f.bodies])
        self.triangles = [tuple(t + o) for b, o in zip(f.bodies, offset) for t in b.triangles]
        self.segments = [tuple(t + o) for b, o in zip(f.bodies, offset) for t in b.segments]
        self.edges = sorted({tuple(sorted(e)) for t in self.triangles for e in ((t[0], t[1]), (t[1], t[2]), (t[0], t[2]))} |
                            {tuple(sorted(s)) for s in self.segments})
        used = {v for e in self.edges for v in e}
        self.particles = [v for v in range(len(f.x)) if v not in used]
        self.times = sorted({t for path in p for t, _ in path})
        self.x = np.array([[[np.interp(t, [a for a, _ in path], [y[k] for _, y in path]) for k in range(3)] for path in p]
                           for t in self.times])

    def pairs(self):
        for v in range(len(self.body)):
            for t in self.triangles:
                if v not in t:
                    yield "vertex", "triangle", (v,), t
            for s in self.segments:
                if v not in s:
                    yield "vertex", "edge", (v,), s
        for e, g in itertools.combinations(self.edges, 2):
            if not set(e) & set(g):
                yield "edge", "edge", e, g
        for a, b in itertools.combinations(self.particles, 2):
            yield "vertex", "vertex", (a,), (b,)

    def kept(self, a, b):
        one_mesh = self.body[a[0]] == self.body[b[0]] and a[0] not in self.particles
        return 0.0 if one_mesh else self.radius[a[0]] + self.radius[b[0]]


def closest_on_segment(p, a, b):
    t = np.clip(np.dot(p - a, b - a) / np.dot(b - a, b - a), 0, 1)
    return np.linalg.norm(p - a - t * (b - a))


def distance(a, b):
    """Of two primitives, each a list of points."""
    if len(a) == 1 and len(b) == 1:
        return np.linalg.norm(a[0] - b[0])
    if len(a) == 1 and len(b) == 2:
        return closest_on_segment(a[0], *b)
    if len(a) == 1:
        best = min(closest_on_segment(a[0], b[i], b[(i + 1) % 3]) for i in range(3))
        n = np.cross(b[1] - b[0], b[2] - b[0])
        w = np.linalg.solve(np.array([b[1] - b[0], b[2] - b[0], n]).T, a[0] - b[0])
        return min(best, abs(w[2]) * np.linalg.norm(n)) if w[0] > 0 and w[1] > 0 and w[0] + w[1] < 1 else best
    best = min(closest_on_segment(a[0], *b), closest_on_segment(a[1], *b), closest_on_segment(b[0], *a), closest_on_segment(b[1], *a))
    n = np.cross(a[1] - a[0], b[1] - b[0])
    w = np.linalg.solve(np.array([a[1] - a[0], b[0] - b[1], n]).T, b[0] - a[0])
    return min(best, abs(w[2]) * np.linalg.norm(n)) if 0 < w[0] < 1 and 0 < w[1] < 1 else best


def meets(x0, x1, count_a):
    """The earliest time in [0, 1] at which four vertices surely meet, and whether any is in doubt."""
    def volume(t):
        x = x0 + t * (x1 - x0)
        return np.linalg.det(x[1:] - x[0])
    at = np.array([0.0, 1 / 3, 2 / 3, 1.0])
    roots = np.roots(np.polyfit(at, [volume(t) for t in at], 3))
    sure, doubt = None, False
    for r in sorted(r.real for r in roots if abs(r.imag) < 1e-6 and -1e-6 < r.real < 1 + 1e-6):
        x = x0 + r * (x1 - x0)
        if count_a == 1:
            m, rest = np.array([x[2] - x[1], x[3] - x[1]]).T, x[0] - x[1]
            w = np.linalg.lstsq(m, rest, rcond=None)[0]
            weights = [w[0], w[1], 1 - w[0] - w[1]]
        else:
            m, rest = np.array([x[1] - x[0], x[2] - x[3]]).T, x[2] - x[0]
            w = np.linalg.lstsq(m, rest, rcond=None)[0]
            weights = [w[0], 1 - w[0], w[1], 1 - w[1]]
        inside = min(weights)
        if inside > SURE and SURE < r < 1 - SURE and sure is None:
            sure = r
        doubt = doubt or inside > -SURE
    return sure, doubt


def look(scene):
    """Earliest sure meeting (pieces of time), and whether there is any in doubt."""
    earliest, doubt = np.inf, False
    for piece in range(len(scene.times) - 1):
        for _, _, a, b in scene.pairs():
            v = list(a) + list(b)
            x0, x1 = scene.x[piece][v], scene.x[piece + 1][v]
            keep = scene.kept(a, b)
            length = scene.times[piece + 1] - scene.times[piece]
            # Boxes of the whole motion that are farther apart tell at once that nothing comes near.
            one, other = (np.concatenate([x0[part], x1[part]]) for part in (slice(len(a)), slice(len(a), None)))
            if max((other.min(axis=0) - one.max(axis=0)).max(), (one.min(axis=0) - other.max(axis=0)).max()) > keep:
                continue
            if keep > 0 or len(v) < 4:
                # Sampled: surely too near if a sample is; in doubt if one could be between two samples.
                n = 40
                d = [distance((x0 + t * (x1 - x0))[:len(a)], (x0 + t * (x1 - x0))[len(a):]) for t in np.linspace(0, 1, n + 1)]
                move = 2 * np.max(np.linalg.norm(x1 - x0, axis=1)) / n
                if min(d) < keep - SURE:
                    earliest = min(earliest, scene.times[piece] + length * int(np.argmax(np.array(d) < keep - SURE)) / n)
                doubt = doubt or min(d) - move <= keep
                continue
            sure, maybe = meets(x0, x1, len(a))
            doubt = doubt or maybe
            if sure is not None:
                earliest = min(earliest, scene.times[piece] + length * sure)
    return earliest, doubt


def try_one(case, rng, here):
    f = Folder(os.path.join(here, "soup"), soup(rng), thickness=float(rng.choice([0, 0.05])))
    p = paths(rng, f, rng.choice([0.02, 0.1, 0.3]))
    f.interval(0, p)
    r = subprocess.run([TACTUS, "audit", f.path, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if r.returncode not in (0, 1):
        return "exit code %d: %s" % (r.returncode, r.stderr), None
    report = json.loads(r.stdout)
    scene = Scene(f, p)
    earliest, doubt = look(scene)
    pieces = report["pieces"]
    clean = pieces["crossing"] + pieces["open"] == 0
    # Bounds and collision detection are two proofs of the same.
    r = subprocess.run([TACTUS, "audit", f.path, "--query-all", "--json"], stdout=subprocess.PIPE, universal_newlines=True)
    asked = json.loads(r.stdout)
    if clean != (asked["pieces"]["crossing"] + asked["pieces"]["open"] == 0) or asked["queries"] < pieces["total"]:
        return "with --query-all %s, without %s" % (asked["pieces"], pieces), None
    if clean and earliest < np.inf:
        return "something passes at %g quanta and was not found" % earliest, None
    if not clean and not doubt:
        return "nothing passes, but %s" % report["places"][0], None
    if earliest < np.inf and report["places"][-1]["time"] < np.inf and len(report["places"]) < 20:
        first = min([q["time"] for q in report["places"] if q["verdict"] != "start"])
        if first > earliest * QUANTUM + 1e-6:
            return "the first meeting is at %g s, found at %g s" % (earliest * QUANTUM, first), None
    # No distance at any time is under the bound; and what was measured is there.
    smallest = report["smallest"]
    offset = np.cumsum([0] + [len(b.x) for b in f.bodies])
    index = {b.name: i for i, b in enumerate(f.bodies)}
    measured = smallest["measured"]
    if measured is not None:
        t = measured["time"] / QUANTUM
        x = np.array([[np.interp(t, scene.times, scene.x[:, v, k]) for k in range(3)] for v in range(len(scene.body))])
        side = [[x[v + offset[index[measured[s]["body"]]]] for v in measured[s]["vertices"]] for s in ("a", "b")]
        ids = [[v + offset[index[measured[s]["body"]]] for v in measured[s]["vertices"]] for s in ("a", "b")]
        gap = distance(*side) - scene.kept(*ids)
        if abs(gap - measured["gap"]) > 1e-9:
            return "the smallest gap is told as %g, and is %g" % (measured["gap"], gap), None
        if smallest["bound"] > measured["gap"]:
            return "bound above what was measured: %s" % smallest, None
        if clean and measured["gap"] > 1e-4 and smallest["bound"] < 0.97 * measured["gap"]:
            return "the bound is far from what was measured: %s" % smallest, None
    for t in rng.uniform(0, T, 10):
        x = np.array([[np.interp(t, scene.times, scene.x[:, v, k]) for k in range(3)] for v in range(len(scene.body))])
        for _, _, a, b in scene.pairs():
            gap = distance(x[list(a)], x[list(b)]) - scene.kept(a, b)
            if gap < smallest["bound"] - 1e-12:
                return "at %g the gap of %s and %s is %g, under the bound %g" % (t, a, b, gap, smallest["bound"]), None
    return None, "clean" if clean else "passes"


def main():
    failed, kinds = 0, {"clean": 0, "passes": 0}
    with tempfile.TemporaryDirectory(prefix="tactus-audit-") as here:
        for case in range(COUNT):
            trouble, kind = try_one(case, np.random.default_rng([SEED, case]), here)
            if trouble:
                failed += 1
                print("case %d of seed %d: %s" % (case, SEED, trouble), file=sys.stderr)
            else:
                kinds[kind] += 1
    print("%d cases: %s; %d failures" % (COUNT, kinds, failed))
    if failed == 0 and COUNT >= 20 and min(kinds.values()) < COUNT // 10:
        sys.exit("too few of one kind: the test tries too little")
    sys.exit(1 if failed else 0)


main()
