"""What the experiments of this folder share: running a scene, reading its results, tables, and the verdict.

Each experiment is a program of its own:

    jobs/experiments/physics/clocks.py [--quick] [--keep DIR]

It prints a table per question and exits with 1 if a figure is not within the bound printed beside it. --quick is what the
test suite runs: fewer points, the same bounds. The program is $TACTUS, or build/tactus of this source tree. Scenes and run
folders go to a temporary folder, or, with --keep, stay in DIR.
"""
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
# One rank does without the daemon and the network of mpirun: it starts in 10 ms instead of 300.
ALONE = {"OMPI_MCA_ess_singleton_isolated": "1", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self", "OMPI_MCA_mtl": "^ofi,psm2",
         "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Result:
    """A run that has ended: exit code, last sentence, and what its folder holds."""

    def __init__(self, folder, code, output):
        self.folder, self.code = folder, code
        lines = [line for line in output.replace(folder, "DIR").splitlines() if line.strip()]
        self.sentence = lines[-1] if lines else ""
        self._frames = None

    @property
    def info(self):
        with open(os.path.join(self.folder, "run.json")) as file:
            return json.load(file)

    @property
    def energy(self):
        """Columns of energy.csv, as arrays."""
        return self.columns("energy.csv")

    @property
    def steps(self):
        """Columns of steps.csv, of the implicit integrator and that for impact."""
        return self.columns("steps.csv")

    def columns(self, name):
        with open(os.path.join(self.folder, name)) as file:
            rows = list(csv.DictReader(file))
        return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}

    def frames(self, what="position"):
        """times (F), values (F, V, 3)."""
        with h5py.File(os.path.join(self.folder, "frames.h5"), "r") as file:
            names = sorted(file["frames"])
            times = np.array([file["frames"][n]["time"][()] for n in names])
            return times, np.array([file["frames"][n][what][()] for n in names])

    def mesh(self):
        """triangles (T, 3), segments (S, 2), body of each vertex (V), names of bodies."""
        with h5py.File(os.path.join(self.folder, "frames.h5"), "r") as file:
            m = file["mesh"]
            names = [n.decode() if isinstance(n, bytes) else n for n in m["body_names"][()]]
            return m["triangles"][()], m["segments"][()], m["body"][()], names


class Experiment:
    """Options, runs, tables and the verdict of one script."""

    def __init__(self, text, options=None):
        parser = argparse.ArgumentParser(description=text.strip().splitlines()[0])
        parser.add_argument("--quick", action="store_true", help="fewer points, as in the test suite")
        parser.add_argument("--keep", metavar="DIR", help="leave scenes and run folders there")
        parser.add_argument("--only", metavar="WORD", help="only the parts whose name has WORD in it")
        for name, keys in (options or {}).items():
            parser.add_argument(name, **keys)
        self.options = parser.parse_args()
        self.quick = self.options.quick
        self.program = os.path.abspath(os.environ.get("TACTUS", os.path.join(HERE, "../../../build/tactus")))
        if not os.access(self.program, os.X_OK):
            parser.error(f"there is no program {self.program}: build it, or set TACTUS to where it is")
        self._temporary = None if self.options.keep else tempfile.TemporaryDirectory(prefix="physics-")
        self.home = self.options.keep or self._temporary.name
        os.makedirs(self.home, exist_ok=True)
        self.failures, self.checks, self.runs = [], 0, 0

    def wanted(self, name):
        return not self.options.only or self.options.only in name

    def run(self, scene, *arguments, name=None, expect=(0,), limit=1200):
        """Runs a scene (a dictionary); a code that is not expected ends the experiment."""
        self.runs += 1
        name = name or f"{scene.get('name', 'run').replace(' ', '-')}-{self.runs:03}"
        path, folder = (os.path.join(self.home, name + end) for end in (".json", ".run"))
        with open(path, "w") as file:
            json.dump(scene, file)
        command = [self.program, "run", path, "-o", folder, "--overwrite", "--quiet", *arguments]
        try:
            done = subprocess.run(command, env={**os.environ, **ALONE, "TMPDIR": self.home}, timeout=limit, text=True, errors="replace",
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except subprocess.TimeoutExpired:
            sys.exit(f"{name}: no end within {limit} s")
        result = Result(folder, done.returncode, done.stdout)
        if done.returncode not in expect:
            sys.exit(f"{name}: exit code {done.returncode}: {done.stdout.strip()}")
        return result

    def expect(self, true, what):
        """Notes a failure unless `true`; returns the word for the table."""
        self.checks += 1
        if not true:
            self.failures.append(what)
        return "ok" if true else "FAILS"

    def finish(self):
        for failure in self.failures:
            print(f"FAILS: {failure}")
        print(f"{self.checks} checks, {len(self.failures)} failed, {self.runs} runs")
        sys.exit(1 if self.failures or not self.checks else 0)


def table(title, head, rows):
    """Prints rows of strings and numbers under a heading."""
    def text(value):
        if isinstance(value, (bool, np.bool_)):
            return "yes" if value else "no"
        if isinstance(value, (float, np.floating)):
            return f"{value:.4g}"
        return str(value)

    cells = [list(head)] + [[text(v) for v in row] for row in rows]
    widths = [max(len(row[k]) for row in cells) for k in range(len(head))]
    print(f"\n{title}")
    for row in cells:
        print("  " + "  ".join(c.rjust(w) for c, w in zip(row, widths)), flush=True)


def scene(end, frame, bodies, **keys):
    """A scene with its two times and its bodies; other sections by name."""
    return {"format": "tactus-scene/1", "time": {"end": end, "frame": frame}, "bodies": bodies, **keys}


def power_of_two(seconds):
    """The largest power of two that is not above."""
    return 2.0 ** np.floor(np.log2(seconds))


def lumped_mass(x, triangles, density):
    """Vertex masses: a third of each triangle."""
    e1, e2 = x[triangles[:, 1]] - x[triangles[:, 0]], x[triangles[:, 2]] - x[triangles[:, 0]]
    share = density * np.linalg.norm(np.cross(e1, e2), axis=1) / 6
    return np.bincount(triangles.ravel(), np.repeat(share, 3), len(x))


def grid(size, cells):
    """Vertices and triangles of `grid`: in the x-z plane, x fastest, diagonals alternating."""
    nx, nz = cells
    u, v = np.meshgrid(np.arange(nx + 1) / nx - .5, np.arange(nz + 1) / nz - .5)
    x = np.stack([size[0] * u.ravel(), 0 * u.ravel(), size[1] * v.ravel()], axis=1)
    triangles = []
    for j in range(nz):
        for i in range(nx):
            a, b, c, d = (k + i for k in (j * (nx + 1), j * (nx + 1) + 1, (j + 1) * (nx + 1), (j + 1) * (nx + 1) + 1))
            triangles += [[a, b, d], [a, d, c]] if (i + j) % 2 == 0 else [[a, b, c], [b, d, c]]
    return x, np.array(triangles)


def hinges(triangles):
    """(H, 4): the edge's two vertices, then the two opposite ones."""
    edge = {}
    found = []
    for t in triangles:
        for k in range(3):
            a, b, c = t[k], t[(k + 1) % 3], t[(k + 2) % 3]
            if (b, a) in edge:
                found.append([b, a, edge[(b, a)], c])
            edge[(a, b)] = c
    return np.array(found)


def slope(x, y):
    """Order of y in x by least squares of the logarithms."""
    return np.polyfit(np.log(x), np.log(y), 1)[0]


def root(f, lo, hi):
    """Where f changes sign, by bisection down to neighbouring numbers."""
    below = f(lo) < 0
    while lo < (mid := (lo + hi) / 2) < hi:
        lo, hi = (mid, hi) if (f(mid) < 0) == below else (lo, mid)
    return lo


def frequency(t, q, guess):
    """Angular frequency of a q(t) that is nearly one sinusoid, by least squares near `guess`."""
    def misfit(omega):
        basis = np.stack([np.cos(omega * t), np.sin(omega * t), np.ones_like(t)], axis=1)
        return np.sum((q - basis @ np.linalg.lstsq(basis, q, rcond=None)[0]) ** 2)

    step = .25 / (t[-1] - t[0])
    trial = [w for w in guess + step * np.arange(-80, 81) if w > 0]
    best = min(trial, key=misfit)
    while step > 1e-6 * best:  # a parabola through three points, in ever smaller steps
        low, mid, high = misfit(best - step), misfit(best), misfit(best + step)
        bend = low - 2 * mid + high
        best += step * np.clip(.5 * (low - high) / bend, -1, 1) if bend > 0 else 0
        step /= 8
    return best
