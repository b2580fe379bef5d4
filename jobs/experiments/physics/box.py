#!/usr/bin/python3
"""box.py: 900 balls in a box lose energy smoothly, the faster the smaller e is (ACM 2009, section 6.2, figures 4 and 10).

energy    Kinetic energy over its start at times of the run, one row per e; ordered by e at every time (to 10 %, which
          the paths' differences make of it: e = .2 leaves 4 % of a bounce's energy, and is hardly another than 0), and never growing by more than a
          thousandth from row to row. At e = 1 the largest change of the total.
clusters  Pairs of balls nearer than 1.1 diameters per ball at the end, e = 0 over e = 1, mean and deviation over seeds:
          with e = 0 balls stay together.
"""
import json
import os

import numpy as np
from physics import HERE, Experiment, table


def run(experiment, e, end, seed, frame):
    with open(os.path.join(HERE, "../../box-900.json")) as file:
        s = json.load(file)
    s["time"] = {"end": end, "frame": frame}
    s["contact"]["restitution"] = e
    s["bodies"][1]["seed"] = seed
    s["name"] = f"box {e}"
    return experiment.run(s)


def near_pairs(result, distance):
    _, x = result.frames()
    x = x[-1]
    body = result.mesh()[2]
    x = x[body == body.max()]
    d = np.linalg.norm(x[:, None] - x[None], axis=2)
    return (np.count_nonzero(d < distance) - len(x)) / len(x)


def main():
    experiment = Experiment(__doc__)
    end = .5 if experiment.quick else 2
    if experiment.wanted("energy"):
        rows, before, times = [], None, None
        for e in (1, .5, 0) if experiment.quick else (1, .9, .8, .7, .5, .2, 0):
            result = run(experiment, e, end, 2009, 2.0 ** -6)
            energy = result.energy
            share = (energy["kinetic"] + energy["contact"]) / energy["total"][0]
            times = [np.searchsorted(energy["time"], f * end) for f in (.125, .25, .5, 1)]
            good = np.all(np.diff(share) < 1e-3) if e < 1 else np.max(np.abs(share - 1)) < 1e-2
            if before is not None:
                good = good and np.all(share[8:] < 1.1 * before[8:])
            before = share
            rows.append([e] + [share[k] for k in times] + [np.max(np.abs(share - 1)) if e == 1 else "", result.info["wall_s"],
                                                           experiment.expect(good, f"energy at e = {e}")])
        table("kinetic and contact energy over the start's", ["e"] + [f"{f * end:g} s" for f in (.125, .25, .5, 1)] + ["change at 1", "wall s", ""], rows)
    if experiment.wanted("clusters"):
        seeds = range(1, 3 if experiment.quick else 11)
        count = {e: np.array([near_pairs(run(experiment, e, end, seed, end), .22) for seed in seeds]) for e in (1, 0)}
        ratio = count[0] / count[1]
        table("near pairs per ball", ["seeds", "e = 1", "e = 0", "ratio", "deviation", ""],
              [[len(ratio), count[1].mean(), count[0].mean(), ratio.mean(), ratio.std(),
                experiment.expect(ratio.min() > 1, "e = 0 has more near pairs in every seed")]])
    experiment.finish()


if __name__ == "__main__":
    main()
