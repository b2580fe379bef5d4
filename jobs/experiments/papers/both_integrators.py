#!/usr/bin/python3
"""both_integrators.py [--quick | --full] : the reef knot and the draped sheets with both integrators: what each costs, how they differ

The scenes are those of reef-knot and two-sheets-draped. The asynchronous integrator runs them as they are and with r(1) ten times
as large, the implicit one with three lengths of a step; all runs are recorded and audited (with --full only their frames are). A row
tells what a run cost, and how far its last frame is from that of the asynchronous one: over all free vertices, root mean square and largest. A run that
differs from the first by its stiffness alone is the measure of what such a distance means.
"""
import copy
import csv
import importlib.machinery
import importlib.util
import os

import numpy as np
import sheets
from papers import HERE, Paper, table

STEPS = (2, 8, 32)  # of a frame


def knot(paper):
    loader = importlib.machinery.SourceFileLoader("reef_knot", os.path.join(HERE, "reef-knot"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("reef_knot", loader))
    loader.exec_module(module)
    return module.shipped("experiments/speed/papers-knot") if paper.options.full else module.small(paper, 1, 1)


def implicit(scene, steps):
    made = copy.deepcopy(scene)
    made["contact"] = {k: v for k, v in made["contact"].items() if k in ("thickness", "friction")}
    made.pop("clocks", None)
    made["integrator"] = {"kind": "implicit", "step_s": made["time"]["frame"] / steps}
    return made


def stiffer(scene):
    made = copy.deepcopy(scene)
    made["contact"]["stiffness"] *= 10
    return made


def iterations(result):
    """Newton iterations of an implicit run."""
    with open(os.path.join(result.folder, "steps.csv")) as file:
        return sum(int(row["newton"]) for row in csv.DictReader(file))


def compare(paper, name, scene):
    rows, first, free = [], None, None
    runs = [("asynchronous", scene), ("asynchronous, 10 r(1)", stiffer(scene))]
    runs += [(f"implicit, step {1e3 * scene['time']['frame'] / n:.3g} ms", implicit(scene, n)) for n in STEPS]
    for what, made in runs:
        result = paper.run(made, *([] if paper.options.full else ["--record"]))
        x, info, energy = result.frames()[1], result.info, result.energy
        if first is None:
            first, free = x[-1], np.linalg.norm(x - x[0], axis=2).max(axis=0) > 1e-9
        apart = np.linalg.norm(x[-1] - first, axis=1)[free]
        work = f"{iterations(result)} iterations" if "integrator" in made else f"{sum(info['counters']['committed'].values()) / 1e6:.3g} M ticks"
        rows.append([what, info["wall_s"], work, info["peak_memory_bytes"] / 1e6, f"{energy['contacts'][-1]:.0f}", f"{1e3 * energy['min_distance'][-1]:.3g}"
                     if "min_distance" in energy else "", f"{energy['kinetic'][-1]:.3g}", f"{1e3 * np.sqrt(np.mean(apart ** 2)):.3g}",
                     f"{1e3 * apart.max():.3g}",
                     paper.expect(paper.audit(result, *(["--frames"] if paper.options.full else []))[0], f"{name}, {what}: audit")])
    paper.row(f"{name}: wall of implicit over asynchronous, longest and shortest step", f"{rows[2][1] / rows[0][1]:.3g}, {rows[-1][1] / rows[0][1]:.3g}", "not told")
    moved = np.linalg.norm(first - result.frames()[1][0], axis=1)[free]
    table(f"{name}: {free.sum()} free vertices, {scene['time']['end']} s, which move by {1e3 * np.sqrt(np.mean(moved ** 2)):.3g} mm (root mean square)",
          ["integrator", "wall, s", "work", "memory, MB", "contacts", "gap, mm", "kinetic, J", "apart, mm: rms", "largest", "proof"], rows)


def main():
    paper = Paper(__doc__)
    if paper.wanted("knot"):
        compare(paper, "reef knot", knot(paper))
    if paper.wanted("sheets"):
        compare(paper, "draped sheets", sheets.scene(paper, False)[0])
    paper.finish()


if __name__ == "__main__":
    main()
