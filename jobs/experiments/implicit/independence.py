#!/usr/bin/python3
"""independence.py [--until T] [--thickness M] [--steps N ...]: the implicit integrator with ever smaller steps against the asynchronous one without restitution.

Two sheets of cloth fall onto a plate of spikes (jobs/two-sheets.json, meshed coarser). Prints for each number of steps per second how far vertices
are from where the asynchronous integrator has them, in the mean and at most, and how far that is from the row above, with the factor by which
this falls where steps are halved: 2 for a method of first order. What is left in the end is the different contact, layers there and a barrier
here, and falls with the thickness; and what contacts give back follows from the step (docs/reference/implicit.md, How contact gives back), so the factor
falls under 2 after longer contact. What it shows if not: one of the two integrators solves other equations."""
import argparse
import json
import os
import resource
import subprocess
import tempfile

import h5py
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.abspath(os.environ.get("TACTUS", os.path.join(HERE, "..", "..", "..", "build", "tactus")))
FRAME = 1 / 64


def scene(until, steps, thickness):
    with open(os.path.join(HERE, "..", "..", "two-sheets.json")) as file:
        made = json.load(file)
    made["time"] = {"end": until, "frame": FRAME}
    for body in made["bodies"]:
        if body["name"] in ("lower", "upper"):
            body["mesh"]["cells"] = [c // 4 for c in body["mesh"]["cells"]]
    del made["clocks"]
    made["contact"]["thickness"] = thickness
    if steps:
        made["contact"] = {"thickness": thickness}
        made["integrator"] = {"kind": "implicit", "step_s": 1 / steps, "newton": {"velocity_tol": 1e-5}, "solver": {"tolerance": 1e-8}}
    else:
        made["contact"]["restitution"] = 0
    return made


def places(folder, until, steps, thickness):
    path, out = os.path.join(folder, "scene.json"), os.path.join(folder, "out.run")
    with open(path, "w") as file:
        json.dump(scene(until, steps, thickness), file)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([PROGRAM, "run", path, "-o", out, "--overwrite", "--quiet"], check=True, stderr=subprocess.DEVNULL)
    with h5py.File(os.path.join(out, "frames.h5")) as file:
        keys = sorted(file["frames"])
        return numpy.array([file["frames"][k]["position"][()] for k in keys]), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--until", type=float, default=8 * FRAME)
    parser.add_argument("--thickness", type=float, default=1e-3)
    parser.add_argument("--steps", type=int, nargs="+", default=[64, 128, 256, 512, 1024, 2048])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        exact, cost = places(folder, given.until, 0, given.thickness)
        way = numpy.linalg.norm(exact[-1] - exact[0], axis=1)
        moved = way > 0
        print("asynchronous, thickness %g m: %d vertices that move by %.3g m in the mean, %.2g s of one core" % (
            given.thickness, moved.sum(), way[moved].mean(), cost))
        print("| steps a second | off in the mean, m | at most, m | changed by, m | factor | processor s |\n|---|---|---|---|---|---|")
        before, change = exact, numpy.nan
        for steps in given.steps:
            found, cost = places(folder, given.until, steps, given.thickness)
            off, last = numpy.linalg.norm(found[-1] - exact[-1], axis=1)[moved], change
            change = numpy.linalg.norm(found[-1] - before[-1], axis=1)[moved].mean() if before is not exact else numpy.nan
            print("| %d | %.3g | %.3g | %.3g | %.2f | %.2g |" % (steps, off.mean(), off.max(), change, last / change, cost), flush=True)
            before = found


if __name__ == "__main__":
    main()
