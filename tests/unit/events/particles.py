"""particles.py: what the scripts share that run particles on a plane beside closed forms: the plane, calls of the program, and checks that are
printed one by one."""

import json
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np

TACTUS = os.environ["TACTUS"]
MPI = ["mpirun", "--oversubscribe", "-n"]
G, MASS = 9.81, 0.1
PLANE = {"name": "plane", "fixed": True,
         "mesh": {"kind": "inline", "vertices": [[-40, 0, -40], [40, 0, -40], [0, 0, 60]], "triangles": [[0, 2, 1]]}}
failures = []


def check(condition, what):
    print("%s  %s" % ("   " if condition else "BAD", what))
    if not condition:
        failures.append(what)


def tactus(*words, ranks=1):
    launch = [*MPI, str(ranks)] if ranks > 1 else []
    return subprocess.run([*launch, TACTUS, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)


def expect(what, *words, ranks=1):
    """Runs the program, which must end with code 0."""
    r = tactus(*words, ranks=ranks)
    check(r.returncode == 0, what + " " + r.stderr)


def write(name, scene):
    with open(name + ".json", "w") as out:
        json.dump({"format": "tactus-scene/1", "gravity": [0, -G, 0], **scene}, out)


def run(name, scene):
    """(times; positions and velocities of all vertices, (times, vertices, 3)) of a scene's run, which goes into NAME.run."""
    write(name, scene)
    expect(name + " runs", "run", name + ".json", "-o", name + ".run", "--quiet", "--overwrite")
    with h5py.File(name + ".run/frames.h5", "r") as f:
        frames = [f["frames"][k] for k in sorted(f["frames"])]
        return tuple(np.array([frame[key][()] for frame in frames]) for key in ("time", "position", "velocity"))


def same(a, b):
    r = tactus("diff", a, b)
    check(r.returncode == 0, "%s and %s have the same bits %s" % (a, b, "" if r.returncode == 0 else r.stdout + r.stderr))


def main(*parts):
    """Runs the parts in a folder that is removed, prints the number of failures, and ends the program."""
    with tempfile.TemporaryDirectory(prefix="tactus-particles-") as here:
        os.chdir(here)
        for part in parts:
            part()
        os.chdir("/")
    print("%d failures" % len(failures))
    sys.exit(1 if failures else 0)
