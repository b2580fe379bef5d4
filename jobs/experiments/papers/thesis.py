"""What the programs of Ferguson's dissertation (2023) share: a scene of ../implicit/published.py, run, audited, beside its figures.

Scenes, steps, thicknesses, stiffnesses and tolerances are those of the dissertation, shapes are told in ../implicit/literature.py and
stiff.py. Its seconds are those of a desktop processor with 4 to 8 cores, of chapter 4 with up to 16 threads.
"""
import math

import numpy as np
from papers import module

published = module("implicit/published.py")


def told(value):
    return "not told" if math.isnan(value) else f"{value:g}"


def case(paper, name, small, seconds=None, audit=(), made=None):
    """Runs a scene of published.py, small or of the dissertation's size, or one in its place, to its end or for so many seconds; its
    rows, and the result."""
    make, iterations, mean, most, cost = published.SCENES[name]
    made = made or make(paper.home, small)
    if seconds:
        made["time"]["end"] = round(seconds / made["time"]["frame"]) * made["time"]["frame"]
    return shown(paper, made, (iterations, mean, most, cost), audit)


def shown(paper, made, figures, audit=()):
    """figures: the dissertation's iterations and contacts of a step (mean and most), and its seconds."""
    iterations, mean, most, cost = figures
    result = paper.run(made, "--record")
    steps, title = result.steps, made["name"]
    vertices, tets, counted = published.frames(result.folder)
    paper.row(f"{title}: vertices, tetrahedra, steps", f"{vertices}, {tets}, {len(steps['time'])}", "")
    paper.row(f"{title}: Newton iterations of a step, mean (most)", f"{steps['newton'].mean():.3g} ({steps['newton'].max():.0f})", told(iterations))
    paper.row(f"{title}: distinct contacts, mean (most)", f"{np.mean(counted):.4g} ({max(counted)})", f"{told(mean)} ({told(most)})")
    paper.row(f"{title}: s of a step", f"{result.info['wall_s'] / len(steps['time']):.2g}", told(cost))
    paper.audited(result, title, *audit)
    return result


def middles(result):
    """{body: (frames, 3)}: the mean of its vertices."""
    x, (_, _, body, names) = result.frames()[1], result.mesh()
    return {name: x[:, body == k].mean(axis=1) for k, name in enumerate(names)}


def of(result, name, what="position"):
    """A body's vertices, (frames, vertices, 3)."""
    _, _, body, names = result.mesh()
    return result.frames(what)[1][:, body == names.index(name)]


def cost(paper):
    """The last rows."""
    paper.stepped()
    paper.finish()
