#!/usr/bin/python3
"""benchmarks.py [NAME ...] [--quick | --full] [--weights pairs|area] [--tight] [--set path=value ...] [--check]: figures that an engineer knows, with the implicit integrator.

hertz, mindlin: a rigid sphere on a half space, pressed and let go; drawn aside and back (Hertz; Cattaneo and Mindlin). patch: two blocks whose
meshes do not match. belt: a rope around a drum, Euler and Eytelwein's exp(mu phi). ring: a rubber ring in a press. ironing: a die that is drawn
over a block. snap: a catch that is pushed under a hook. tube: Euler's buckling load. slope: a block that sticks and slips.

Each is run on meshes ever finer (one with --quick, two, three with --full) and with barriers by pairs and by area. Prints a table in
Markdown: figure, what it must be (of what has no closed form, the finest mesh), error, cost: Newton iterations and processor seconds of the
run, which may take --seconds (120) of it. --tight: with a velocity_tol of 1e-5 m/s, not the program's own tolerances. --check: exit code 1 where an error is over the benchmark's own bound (BOUNDS), or a run does not end. --keep DIR keeps the run folders.
--set is given to `tactus run`. The table of docs/results/verification.md is its own. What it shows: forces of contact that are wrong."""
import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile

import h5py
import numpy

import bench_scenes as of

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.abspath(os.environ.get("TACTUS", os.path.join(HERE, "..", "..", "..", "build", "tactus")))


class Outcome:
    """What a run left."""
    def __init__(self, path):
        with h5py.File(os.path.join(path, "frames.h5")) as file:
            frames = [file["frames"][key] for key in sorted(file["frames"])]
            self.position = numpy.array([frame["position"][()] for frame in frames])
            self.force = numpy.array([frame["contact_force"][()] for frame in frames], float)
            self.pressures = numpy.array([frame["contact_pressure"][()] for frame in frames], float)
            self.body, self.names = file["mesh/body"][()], [name.decode() for name in file["mesh/body_names"][()]]
        with open(os.path.join(path, "reactions.csv")) as file:
            self.reactions = list(csv.DictReader(file))
        with open(os.path.join(path, "energy.csv")) as file:
            rows = list(csv.DictReader(file))
        self.energy = {key: numpy.array([float(row[key]) for row in rows]) for key in ("work", "defect")}
        with open(os.path.join(path, "steps.csv")) as file:
            self.newton = sum(int(row["newton"]) for row in csv.DictReader(file))

    def pressure(self, frame):
        return self.pressures[frame]

    def reaction(self, body, what):
        """(frames, 3), N: of contact on the body (`contact_force`), or what holds it (`force`)."""
        return numpy.array([[float(row["%s_%s" % (what, axis)]) for axis in "xyz"] for row in self.reactions if row["name"] == body])


def run(folder, name, level, weights, sets, limit=120):
    """(rows of figures or None, iterations, seconds, sentence); limit: processor seconds that it may take."""
    scene, measure = of.SCENES[name](folder, level, weights)
    path, out = os.path.join(folder, "%s.json" % name), os.path.join(folder, "%s-%d-%s" % (name, level, weights))
    with open(path, "w") as file:
        json.dump(scene, file)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = [PROGRAM, "run", path, "-o", out, "--quiet", "--overwrite"] + [word for s in sets for word in ("--set", s)]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5)))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        said = [line for line in done.stdout.splitlines() if "warning" not in line]
        return None, 0, 0, said[-1] if said else "has not ended in %d s" % limit
    outcome = Outcome(out)
    return measure(outcome), outcome.newton, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, ""


def error(value, exact):
    return abs(value) if exact == 0 else abs(value / exact - 1)


def tell(name, weights, runs):
    """Rows of the table; the finest mesh stands for what has no closed form. Returns the errors on the finest mesh, by figure."""
    finest, last = {}, {row[0]: row[1] for row in runs[-1][1]} if runs[-1][1] else {}
    for level, rows, newton, seconds, sentence in runs:
        if rows is None:
            print("| %s | %s | %d | %s | | | | |" % (name, weights, level, sentence))
            continue
        for k, (figure, value, exact, unit) in enumerate(rows):
            fine = exact is None
            exact = last.get(figure) if fine else exact
            off = error(value, exact) if exact is not None else float("nan")
            shown = "-" if fine and level == runs[-1][0] else ("%.3g" % off if exact == 0 else "%.2f %%" % (100 * off))
            cost = "%d, %.1f s" % (newton, seconds) if k == 0 else ""
            print("| %s | %s | %d | %s | %.4g %s | %s | %s | %s |" % (name, weights, level, figure, value, unit, "finest mesh" if fine else "%.4g" % exact, shown, cost), flush=True)
            if not fine:
                finest[figure] = off
    return finest


# The errors that --check allows on the mesh of --quick, by tolerance (False: the program's own), benchmark and figure.
BOUNDS = {
    False: {"ring": {"the same, opening": 0.01, "the plates' difference, worst, over the largest force": 0.005, "defect over the work put in": 0.02},
            "patch": {"total force": 1e-3, "pressure, lower face, mean": 0.1, "pressure, upper face, mean": 0.05},
            "hertz": {"force over the depth of the middle": 0.2, "unloading: force at half of the stroke": 0.1}},
    True: {"ring": {"the same, opening": 1e-3, "the plates' difference, worst, over the largest force": 5e-5, "defect over the work put in": 0.01},
           "patch": {"total force": 1e-3, "pressure, lower face, mean": 0.1, "pressure, upper face, mean": 0.1},
           "belt": {"ratio of the two tensions": 0.02},
           "ironing": {"tangential over normal force": 0.07, "its ripple (rms)": 0.1},
           "snap": {"largest force that pushes it in": 0.9, "the hook's rise behind it": 1e-5},
           "tube": {"largest force": 0.4},
           "slope": {"slid before the force suffices": 5e-4, "slid when the force is largest": 0.06, "slid when it stands again": 0.02, "creeps then, in half a second": 5e-4}},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--weights", choices=["pairs", "area"])
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--tight", action="store_true")
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--keep")
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in of.SCENES]
    if unknown:
        parser.error("there is no benchmark %s; there are %s" % (unknown[0], ", ".join(of.SCENES)))
    sets = ["integrator.newton.velocity_tol=1e-5"] * given.tight + given.set
    levels, wrong = range(1 if given.quick else 3 if given.full else 2), 0
    print("| benchmark | weights | mesh | figure | value | must be | error | Newton iterations, processor time |\n|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or temporary
        os.makedirs(folder, exist_ok=True)
        for name in given.names or of.SCENES:
            for weights in [given.weights] if given.weights else ["pairs", "area"]:
                errors = tell(name, weights, [(level, *run(folder, name, level, weights, sets, given.seconds)) for level in levels])
                bounds = BOUNDS[given.tight].get(name, {})
                for figure, bound in bounds.items():
                    if given.check and not errors.get(figure, float("inf")) <= bound:
                        print("FAILED: %s, %s: %s: error %.3g, allowed %.3g" % (name, weights, figure, errors.get(figure, float("inf")), bound))
                        wrong += 1
                if given.check and not errors:
                    wrong += 1
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
