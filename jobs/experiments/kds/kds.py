#!/usr/bin/python3
"""Kinetic data structures against speculative windows, and the papers' figures about them.

    jobs/experiments/kds/kds.py [--quick] [--repeats N] [--scene NAME ...] [--plot FILE.png] [--keep DIR]

Per scene, each way in turn and N times over: seconds of processor time (not wall time: a busy machine does not count),
their median, and the ratio to speculate; certificates per simulated second; the shares of the time as in ACM's breakdown (2009,
section 8); the gain from vague plans. All ways must end in the same bits, or the exit code is 1. --plot: how the steps of
the vertices of the first scene are distributed over time (ACM 2009, figure 2), from a recorded run. --quick is what a test
would run. The program is $TACTUS, or build/tactus of this source tree.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile

import h5py
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
ALONE = {"OMPI_MCA_ess_singleton_isolated": "1", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self", "OMPI_MCA_mtl": "^ofi,psm2",
         "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
KNOT = [word for side in ("left", "right") for word in ("--set", f"bodies.{side}.mesh.cells=[100,3]")]
for i, way in enumerate((-0.06, 0.06)):  # twice as fast as the scene has it: it tightens in half the time
    KNOT += ["--set", f"motions.{i}.path=[[0,[0,0,0]],[0.3,[{way},0,0]]]"]
# name: scene, more arguments, end, end of the quick version
SCENES = {
    "knot": ("jobs/reef-knot.json", KNOT, 0.25, 0.05),
    "compactor": ("jobs/experiments/kds/compactor.json", [], 0.25, 0.05),
    "sheets": ("jobs/two-sheets.json", [], 0.2, 0.11),
    "balls": ("jobs/box-900.json", [], 0.5, 0.05),
}
WAYS = {
    "speculate": ["--discover", "speculate"],
    "kds": ["--discover", "kds"],
    "kds, straight lines": ["--discover", "kds", "--set", "discovery.vagueness=0"],
}


def run(program, scene, way, folder, end, more=()):
    """Seconds of processor time of one run."""
    path, arguments = SCENES[scene][:2]
    command = [program, "run", os.path.join(SOURCE, path), "-o", folder, "--overwrite", "--quiet", "--until", repr(end)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command + arguments + WAYS[way] + list(more), env={**os.environ, **ALONE}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def info(folder):
    with open(os.path.join(folder, "run.json")) as file:
        return json.load(file)


def shares(folder):
    """ACM's breakdown, in per cent of forces and discovery."""
    s = info(folder)["counters"]["seconds"]
    whole = s["forces"] + s["discovery"]
    parts = {"forces": s["forces"], "slabs": s["slabs"], "slabs rescheduled": s["slabs_rescheduled"], "lists": s["lists"],
             "lists rescheduled": s["lists_rescheduled"], "plans checked": s["plans"]}
    parts["the rest"] = whole - sum(parts.values())
    return ", ".join(f"{name} {100 * value / whole:.1f} %" for name, value in parts.items())


def compare(program, name, end, repeats, ways, home):
    """One scene in all ways; False if some bits differ."""
    seconds = {way: [] for way in ways}
    folders = {way: os.path.join(home, f"{name}-{i}.run") for i, way in enumerate(ways)}
    for _ in range(repeats):
        for way in ways:
            seconds[way].append(run(program, name, way, folders[way], end))
    middle = {way: statistics.median(values) for way, values in seconds.items()}
    print(f"{name}, {end} s")
    alike = True
    for way, values in seconds.items():
        c = info(folders[way])["counters"]
        ticks = sum(c["executed"].values())
        print(f"  {way:20} {middle[way]:8.2f} s ({min(values):.2f}..{max(values):.2f}), {middle[way] / middle['speculate']:.2f} of "
              f"speculate; {ticks / 1e6:.1f} M ticks executed, {c['repeated_ticks'] / 1e6:.1f} M of them again, {c['silent'] / 1e6:.2f} M silent")
        if way != "speculate":
            print("    per simulated s: " + ", ".join(f"{c['certificates_' + what] / end:.3g} {what}" for what in
                                                     ("created", "failed", "reconfirmed", "rescheduled")) +
                  f"; {c['plans_filed'] / end:.3g} plans filed")
            print("    time: " + shares(folders[way]))
            done = subprocess.run([program, "diff", "--all-frames", folders["speculate"], folders[way]], env={**os.environ, **ALONE},
                                  stdout=subprocess.PIPE, text=True)
            if done.returncode != 0:
                alike = False
                print(f"    DIFFERS from speculate:\n{done.stdout}")
    if "kds, straight lines" in middle:
        gain = 1 - middle["kds"] / middle["kds, straight lines"]
        print(f"  vague plans save {100 * gain:.0f} % (the papers: about 30 % on reef knot and compactor)", flush=True)
    return alike


def steps(folder):
    """Of all vertices that ever move: when a step ended, and how long it was, s."""
    ended, length = [], []
    with h5py.File(os.path.join(folder, "record.h5"), "r") as file:
        quantum = float(file["record"].attrs["quantum_s"])
        for group in file["record"].values():
            start, time = group["start"][:], group["time"][:]
            for i in np.flatnonzero(np.diff(start) > 2):  # the ends of an interval are no breakpoints
                t = time[start[i] + 1:start[i + 1] - 1]
                ended.append(t[1:] * quantum)
                length.append(np.diff(t) * quantum)
    return np.concatenate(ended), np.concatenate(length)


def share_under(h, percent):
    """The step that so many per cent of the vertices are in at any time, or in a shorter one: steps count by length."""
    h = np.sort(h)
    return h[min(np.searchsorted(np.cumsum(h), percent / 100 * h.sum()), len(h) - 1)]


def plot(program, name, end, home, path):
    """ACM figure 2."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    folder = os.path.join(home, "recorded.run")
    run(program, name, "kds", folder, end, ["--record"])
    t, h = steps(folder)
    shown = [(0, "least"), (5, "5 %"), (25, "25 %"), (50, "median"), (75, "75 %"), (100, "greatest")]
    edges = np.linspace(0, end, 61)
    figure, axes = plt.subplots(figsize=(9, 5))
    middles = .5 * (edges[1:] + edges[:-1])
    bins = [h[(t > a) & (t <= b)] for a, b in zip(edges, edges[1:])]
    for percent, label in shown:
        axes.semilogy(middles, [share_under(b, percent) if len(b) else np.nan for b in bins], label=label)
    axes.set_xlabel("time, s")
    axes.set_ylabel("step of a vertex, s")
    axes.set_title(f"{name}: how long vertices go between two kicks")
    axes.legend()
    figure.savefig(path, dpi=120, bbox_inches="tight")
    print(f"{path}: {len(h)} steps, from {h.min():.3g} to {h.max():.3g} s; at any time half of the vertices are in one "
          f"under {share_under(h, 50):.3g} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--scene", nargs="+", choices=list(SCENES), default=list(SCENES))
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    parser.add_argument("--plot", metavar="FILE")
    parser.add_argument("--keep", metavar="DIR")
    options = parser.parse_args()
    if not {"speculate", "kds"} <= set(options.ways):
        parser.error("--ways must name speculate and kds, which are compared")
    program = os.path.abspath(os.environ.get("TACTUS", os.path.join(SOURCE, "build/tactus")))
    with tempfile.TemporaryDirectory() as temporary:
        home = options.keep or temporary
        os.makedirs(home, exist_ok=True)
        end = {name: SCENES[name][3 if options.quick else 2] for name in options.scene}
        alike = [compare(program, name, end[name], options.repeats, options.ways, home) for name in options.scene]
        if options.plot:
            plot(program, options.scene[0], end[options.scene[0]], home, options.plot)
    sys.exit(0 if all(alike) else 1)


if __name__ == "__main__":
    main()
