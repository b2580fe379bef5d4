#!/usr/bin/python3
"""sludge.py: grains at rest in a box lose its right wall, and the more friction, the slower they flow (ACM 2009, section 6.3, figure 11).

Discs of two sizes in 2D, e = 0. They come to rest without friction in a box whose floor has the tangent .5; from there, with the
wall gone and a steeper slope in its place, one run for each mu. `past` is the share of the mass whose middle is beyond the
box' edge; with more friction it must be less at every time. As in the paper grains do not turn, so friction holds more than it
would of real ones: on a level floor mu = .3 stops the flow at a twentieth of the mass.
`--plot FILE` draws it over time, and the grains after a second.
"""
import numpy as np
from physics import Experiment, scene, table

RADII, MASSES, ETA = np.array([.05, .035]), np.array([.05, .025]), .01
SPACING = 2 * RADII[0] + 1.5 * ETA
LEAN, FRAME = np.array([2, 1]) / 5 ** .5, 2.0 ** -5  # cosine and sine of what floor and, once more, slope lean by; s


def line(points):
    return {"kind": "segments", "vertices": [[float(x), float(y), 0] for x, y in points]}


def grains(place, size, **keys):
    return [{"name": f"grains {k}", "mass": MASSES[k], "radius": RADII[k], **keys,
             "mesh": {"kind": "points", "vertices": [[float(x), float(y), 0] for x, y in place[size == k]]}} for k in range(2)]


def run(experiment, walls, place, size, mu, end, **keys):
    """Result, times (F), places (F, grains, 2) in the order of `place`."""
    s = scene(end, FRAME, [{"name": "walls", "fixed": True, "mesh": line(walls)}, *grains(place, size, **keys)],
              gravity=[9.81 * LEAN[1], -9.81 * LEAN[0], 0], name=f"sludge {mu}", contact={"thickness": ETA, "stiffness": 2000, "friction": mu})
    result = experiment.run(s)
    t, x = result.frames()
    y = np.empty((len(t), len(size), 2))
    for k in range(2):
        y[:, size == k] = x[:, result.mesh()[2] == k + 1, :2]
    return result, t, y


def lattice(count):
    """Width of the box that just holds it; places and sizes of grains that do not touch yet."""
    i, j = (q.ravel() for q in np.meshgrid(np.arange(count[0]), np.arange(count[1])))
    place = np.stack([(i + .5) * SPACING + ETA, (j + .5) * SPACING + ETA], axis=1)
    return count[0] * SPACING + 2 * ETA, place, np.random.default_rng(2009).integers(2, size=len(i))


def settled(experiment, count):
    """Width of the box; places and sizes of the grains at rest; what is left of kinetic energy per mass, J/kg."""
    width, place, size = lattice(count)
    top = 2 * count[1] * SPACING
    result, t, x = run(experiment, [(0, top), (0, 0), (width, 0), (width, top)], place, size, 0, 3, random_speed=[0, 1], seed=2009)
    return width, x[-1], size, result.energy["kinetic"][-1] / MASSES[size].sum()


def flow(experiment, width, place, size, mu, end):
    walls = [(0, 2 * width), (0, 0), (width, 0), (width + 40, -20)]
    result, t, x = run(experiment, walls, place, size, mu, end)
    past = (x[:, :, 0] > width) @ MASSES[size] / MASSES[size].sum()
    return {"mu": mu, "t": t, "past": past, "x": x, "result": result}


def plot(path, width, size, flows):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure = pyplot.figure(figsize=(8, 6))
    grid = figure.add_gridspec(2, len(flows), height_ratios=[1, .8])
    curves = figure.add_subplot(grid[0, :])
    for f in flows:
        curves.plot(f["t"], f["past"], label=f"mu = {f['mu']:g}")
    curves.set(xlim=(0, flows[0]["t"][-1]), ylim=(0, None), xlabel="s since the wall went", ylabel="share of the mass past the edge")
    curves.legend()
    for k, f in enumerate(flows):
        axes, at = figure.add_subplot(grid[1, k]), np.searchsorted(f["t"], 1)
        turn = np.array([[LEAN[0], -LEAN[1]], [LEAN[1], LEAN[0]]])  # of row vectors: the floor leans to the right
        axes.plot(*(np.array([[0, .6], [0, 0], [1, 0], [2, -.5]]) * width @ turn).T, "k", lw=1)
        axes.add_collection(matplotlib.collections.EllipseCollection(2 * RADII[size], 2 * RADII[size], 0, units="xy", color=f"C{k}",
                                                                     offsets=f["x"][at] @ turn, transOffset=axes.transData))
        axes.set(xlim=(-.1 * width, 1.9 * width), ylim=(-1.4 * width, .6 * width), aspect="equal", title=f"mu = {f['mu']:g}, after 1 s")
        axes.axis("off")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main():
    experiment = Experiment(__doc__, {"--plot": {"metavar": "FILE"}})
    count, end = ((14, 7), 1) if experiment.quick else ((30, 16), 2.5)
    width, place, size, quiet = settled(experiment, count)
    # At rest: less is left than a fall by a hundredth of the smaller radius gives.
    table(f"{len(size)} grains at rest", ["J/kg", ""], [[quiet, experiment.expect(quiet < 9.81 * .01 * RADII[1], f"still {quiet:.3g} J/kg")]])
    flows = [flow(experiment, width, place, size, mu, end) for mu in (0, .3, .8)]
    times = [f * end for f in (.2, .4, .6, .8, 1)]
    rows, before = [], None
    for f in flows:
        past = np.array([f["past"][np.searchsorted(f["t"], t)] for t in times])
        info, energy = f["result"].info, f["result"].energy
        good = info["book_residual"] < 1e-12 and f["past"][0] == 0 and (before is None or np.all(past < before))
        good = good and past[-1] > (.5 if f["mu"] < .5 else 0)
        before = past
        rows.append([f["mu"], *past, int(energy["deepest_layer"].max()), info["book_residual"], info["wall_s"],
                     experiment.expect(good, f"sludge at mu = {f['mu']}: past {past}")])
    table("share of the mass past the edge", ["mu"] + [f"{t:g} s" for t in times] + ["deepest", "book", "wall s", ""], rows)
    if experiment.options.plot:
        plot(experiment.options.plot, width, size, flows)
    experiment.finish()


if __name__ == "__main__":
    main()
