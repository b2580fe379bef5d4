#!/usr/bin/python3
"""Kinetic data structures against speculative windows, and the papers' figures about them, as tables in Markdown.

    jobs/experiments/kds/kds.py [--quick] [--repeats N] [--scene NAME ...] [--eps] [--plot FILE.png] [--keep DIR]

Per scene, the ways in turn and N times over: seconds of processor time (not wall time: a busy machine does not count),
their median, and the ratio to speculate; the shares of the time beside ACM's (2009, section 8); certificates per simulated
second; the gain from vague plans. --eps: more ways, one eps for all vertices, from exact to very vague. All ways must end
in the same bits, and vague plans must save half of the rescheduling, or the exit code is 1. --plot: how the steps of the vertices of the scenes are distributed over time
(ACM 2009, figure 2), from recorded runs. --quick is what the test suite runs: seconds.
"""
import argparse
import os
import shutil
import sys
import tempfile

import h5py
import numpy as np

from runs import KDS, PAPER, SCENES, Runs, figure, run, table

STRAIGHT = "kds, straight lines"
WAYS = {"speculate": ["--discover", "speculate"], "kds": KDS, STRAIGHT: KDS + ["--set", "discovery.vagueness=0"]}
EPS = (.001, .01, .1, 1)  # m/s


def report(all_runs, end):
    """The tables of runs that have been made."""
    names = list(all_runs)
    cost, per_second, gain = [], [], []
    for name, r in all_runs.items():
        ratio, low, high = r.ratio("kds")
        c, s = r.counters("kds"), r.counters("speculate")
        ticks, again = sum(s["executed"].values()), s["repeated_ticks"]
        cost.append([SCENES[name][0], f"{end[name]} s", figure(r.median("speculate")), figure(r.median("kds")),
                     f"{ratio:.2f} ({low:.2f}..{high:.2f})", f"{ticks / 1e6:.1f} M, {again / 1e6:.2f} M",
                     f"{sum(c['executed'].values()) / 1e6:.1f} M", f"{s['silent'] / 1e6:.2f} M, {c['silent'] / 1e6:.2f} M"])
        per_second.append([name] + [figure(c[key] / end[name]) for key in (
            "certificates_created", "certificates_failed", "certificates_reconfirmed", "plans_filed", "certificates_rescheduled")] +
            [figure(c["contacts_found"] / end[name])])
        if STRAIGHT in r.seconds:
            ratio, low, high = r.ratio("kds", STRAIGHT)
            straight = r.counters(STRAIGHT)
            kicks = max(1, straight["plans_filed"])  # with straight lines each kick files a plan
            gain.append([name, figure(r.median(STRAIGHT)), figure(r.median("kds")), f"{1 / ratio:.1f} ({1 / high:.1f}..{1 / low:.1f})",
                         f"{100 * (1 - ratio):.0f} %", f"{100 * c['plans_filed'] / kicks:.1f} %",
                         figure(straight["certificates_rescheduled"] / kicks), figure(c["certificates_rescheduled"] / kicks),
                         figure(straight["certificates_failed"] / kicks), figure(c["certificates_failed"] / kicks)])
    table("Seconds of processor time", ["scene", "until", "speculate", "kds", "kds / speculate", "ticks run by speculate, of these again",
                                        "by kds", "silent: speculate, kds"], cost)
    rows = []
    for part, paper in PAPER.items():
        rows.append([part, "65 together" if part == "plans checked" else "" if paper is None else f"{paper:g}"] +
                    [f"{all_runs[name].share('kds', part):.1f}" for name in names])
    table("Share of the time, per cent (the papers' rest: plans checked and the queue; here the queue is part of slabs and lists)",
          ["part", "ACM's reef knot"] + names, rows)
    table("Per simulated second", ["scene", "certificates made", "failed", "of these confirmed again", "plans filed", "certificates rescheduled",
                                   "layers watched"], per_second)
    if gain:
        table("Vague plans (the papers: about 30 % saved on reef knot and compactor)",
              ["scene", "straight lines, s", "vague, s", "times faster", "saved", "kicks that leave the plan",
               "rescheduled per kick: straight", "vague", "failed per kick: straight", "vague"], gain)


def sound(name, r):
    """The same bits in all ways, and vague plans are worth having."""
    if STRAIGHT in r.seconds:
        moved, straight = (r.counters(way)["certificates_rescheduled"] for way in ("kds", STRAIGHT))
        if 2 * moved > straight:
            print(f"{name}: {moved} certificates rescheduled with vague plans, {straight} with straight lines: no gain")
            return False
    return not r.differs


def scan(name, r, kicks):
    """One eps for all."""
    rows = []
    for way in r.seconds:
        if way == "speculate":
            continue
        c = r.counters(way)
        rows.append([way, figure(r.median(way)), f"{100 * (1 - r.ratio(way, STRAIGHT)[0]):.0f} %", f"{100 * c['plans_filed'] / kicks:.2f} %",
                     figure(c["certificates_rescheduled"] / kicks), figure(c["certificates_failed"] / kicks)])
    table(f"{name}: one eps for all vertices", ["eps", "s", "saved against straight lines", "kicks that leave the plan",
                                                "rescheduled per kick", "failed per kick"], rows)


def steps(folder):
    """Of all vertices that move, per frame interval: its middle, and the lengths of the steps that ended in it, s."""
    with h5py.File(os.path.join(folder, "record.h5"), "r") as file:
        quantum = float(file["record"].attrs["quantum_s"])
        for group in file["record"].values():
            start, time = group["start"][:], group["time"][:]
            length = np.diff(time)
            keep = np.ones(len(length), bool)  # the ends of an interval are no breakpoints
            for end in (start[1:-1] - 1, start[:-1], start[1:] - 2):
                keep[end[(end >= 0) & (end < len(length))]] = False
            yield .5 * (time.min() + time.max()) * quantum, length[keep] * quantum


def plot(names, end, home, path):
    """ACM figure 2."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    shown = [(0, "least"), (1, "1 %"), (5, "5 %"), (25, "25 %"), (50, "median"), (75, "75 %"), (100, "greatest")]
    figure_, axes = plt.subplots(len(names), 1, figsize=(8, 2.6 * len(names)), squeeze=False)
    for axis, name in zip(axes[:, 0], names):
        folder = os.path.join(home, "recorded.run")
        run(SCENES[name][1], folder, SCENES[name][2] + KDS + ["--until", repr(end[name]), "--record"])
        at, lines, count, least, most = [], [], 0, np.inf, 0
        for t, h in steps(folder):
            if not len(h):
                continue
            h = np.sort(h)
            share = np.cumsum(h) / h.sum()  # of the vertices, at any time: steps count by their length
            at.append(t)
            lines.append([h[min(np.searchsorted(share, percent / 100), len(h) - 1)] for percent, _ in shown])
            count, least, most = count + len(h), min(least, h[0]), max(most, h[-1])
        shutil.rmtree(folder)
        for (_, label), line in zip(shown, np.transpose(lines)):
            axis.semilogy(at, line, label=label, drawstyle="steps-mid")
        axis.set_ylabel("step of a vertex, s")
        axis.set_title(SCENES[name][0], fontsize=10)
        middle = np.median([line[4] for line in lines])
        print(f"{name}: {count} steps, from {least:.3g} to {most:.3g} s; at most times half of the vertices are in one of "
              f"{middle:.3g} s or less")
    axes[0, 0].legend(fontsize=8, ncol=4)
    axes[-1, 0].set_xlabel("time, s")
    figure_.tight_layout()
    figure_.savefig(path, dpi=110)
    print(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--scene", nargs="+", choices=list(SCENES), default=list(SCENES))
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    parser.add_argument("--end", type=float, metavar="SHARE", default=1, help="of each scene's length")
    parser.add_argument("--eps", action="store_true", help="one eps for all vertices too, from small to large")
    parser.add_argument("--plot", metavar="FILE")
    parser.add_argument("--keep", metavar="DIR")
    options = parser.parse_args()
    ways = {way: WAYS[way] for way in WAYS if way in options.ways}
    if not {"speculate", "kds"} <= set(ways) or (options.eps and STRAIGHT not in ways):
        parser.error("--ways must name speculate and kds, which are compared, and for --eps straight lines")
    if options.eps:
        ways.update({f"{eps} m/s": KDS + ["--set", f"discovery.vagueness={eps}"] for eps in EPS})
    end = {name: SCENES[name][4] if options.quick else options.end * SCENES[name][3] for name in options.scene}
    with tempfile.TemporaryDirectory() as temporary:
        home, done = options.keep or temporary, {}
        for name in [] if options.plot else options.scene:
            where = os.path.join(home, name)
            os.makedirs(where, exist_ok=True)
            _, path, more = SCENES[name][:3]
            done[name] = Runs(path, more + ["--until", repr(end[name])], ways, options.repeats, where)
        if options.plot:
            plot(options.scene, end, home, options.plot)
        else:
            report(done, end)
        for name in done if options.eps else []:
            scan(name, done[name], done[name].counters(STRAIGHT)["plans_filed"])
        fine = all([sound(name, r) for name, r in done.items()])
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
