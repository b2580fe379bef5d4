#!/usr/bin/python3
"""Pictures of the kinetic structures at work, from what a run holds (build/tests/unit/kds/kds_look): docs/reference/kinetic.md.

    jobs/experiments/kds/pictures.py [slabs] [lists] [layers] -o FOLDER

slabs: a spring falls on a plane; slabs and flight plans of one end over time.  lists: a rope falls over two pegs; k-DOPs and
the separation list.  layers: certificates alive in the compactor, by the layer that they keep silent.
"""
import argparse
import json
import os
import subprocess
import sys

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from runs import ALONE, SOURCE

LOOK = os.environ.get("KDS_LOOK", os.path.join(SOURCE, "build/tests/unit/kds/kds_look"))
APART, SPLIT, OPEN = 1, 2, 3


def look(scene, samples, end, what, *more):
    command = [LOOK, os.path.join(SOURCE, scene), str(samples), repr(end), what, *more]
    done = subprocess.run(command, env={**os.environ, **ALONE}, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def draw_slabs(axis, colours, begin, end, settings):
    """One end of a spring over a floor: height over time, its plans as cones, its slabs as bands."""
    vertex = 2
    samples = look("jobs/spring-on-plane.json", 5000, end, "all", "materials.spring.stretch.stiffness=400", *settings)
    plans, bands = {}, {}
    for s in samples:
        plans[s["plans"][vertex]["t"]] = s["plans"][vertex]
        for b in s["slabs"]:
            if b["v"][0] == vertex and b["n"][1] > .9:
                bands.setdefault((b["laid"], b["depth"], b["upper"]), [b, s["t"]])[1] = s["t"]
    filed = sorted(plans) + [end]
    for a, b in zip(filed, filed[1:]):
        p = plans[a]
        low, high = ([p["x"][1], p["x"][1] + (p["v"][1] + sign * p["reach"]) * (b - a)] for sign in (-1, 1))
        axis.fill_between([a, b], low, high, color="tab:orange", alpha=.3, lw=0)
        axis.plot([a], [p["x"][1]], ".", color="tab:red", ms=4)
    for band, last in bands.values():
        span = np.array([band["laid"], min(last, band["until"])])
        shift = band["speed"] * (span - band["laid"])
        colour = colours[min(band["depth"], len(colours) - 1)]
        axis.fill_between(span, band["lower"] + shift, band["upper"] + shift, color=colour, alpha=.5, lw=0)
        axis.plot(span, band["upper"] + shift, color=colour, lw=.8)
    axis.plot([s["t"] for s in samples], [s["plans"][vertex]["now"][1] for s in samples], "k", lw=1.2)
    axis.axhline(0, color="saddlebrown", lw=3)
    axis.set_xlim(begin, end)
    axis.set_ylim(-.005, .25)
    axis.set_xlabel("time, s")
    return sum(t > begin for t in plans), sum(last > begin for _, last in bands.values())


def slabs(folder):
    figure, axes = plt.subplots(1, 2, figsize=(12, 4.8), sharey=True)
    colours = plt.cm.viridis(np.linspace(0, .9, 6))
    ways = {"eps as each vertex chooses it": [], "eps = 0.3 m/s": ["discovery.vagueness=0.3"]}
    for axis, (name, settings) in zip(axes, ways.items()):
        counts = draw_slabs(axis, colours, 1.3, 1.75, settings)
        axis.set_title(f"{name}: {counts[0]} plans, {counts[1]} slabs", fontsize=10)
        print(f"kds-slabs.png: {name}: {counts[0]} plans, {counts[1]} slabs")
    for depth, colour in enumerate(colours):
        axes[0].fill_between([], [], [], color=colour, alpha=.5, label=f"slab that keeps layer {depth + 1} silent" +
                             (" or a deeper one" if depth == 5 else ""))
    axes[0].fill_between([], [], [], color="tab:orange", alpha=.3, label="flight plan: where the vertex may be")
    axes[0].set_ylabel("height, m")
    axes[0].legend(fontsize=8, loc="upper left")
    figure.tight_layout()
    figure.savefig(os.path.join(folder, "kds-slabs.png"), dpi=100)


def dop(axes, node):
    """Corners of a k-DOP's section with z = 0: the half planes are cut one after another."""
    polygon = [np.array(c, float) for c in ((-9, -9), (9, -9), (9, 9), (-9, 9))]
    for axis, lo, hi in zip(axes, node["lo"], node["hi"]):
        if axis[2] != 0:
            continue
        for sign, bound in ((1, hi), (-1, -lo)):
            n, out = sign * np.array(axis[:2]), []
            for p, q in zip(polygon, polygon[1:] + polygon[:1]):
                a, b = n @ p - bound, n @ q - bound
                if a <= 0:
                    out.append(p)
                if (a < 0) != (b < 0) and a != b:
                    out.append(p + (q - p) * a / (a - b))
            polygon = out
    return np.array(polygon)


def lists(folder):
    """The rope: nodes that certificates rest on, certificates as lines, open tests."""
    samples = look("jobs/experiments/kds/rope.json", 20, .4, "all", "discovery.kdop=18")
    with open(os.path.join(SOURCE, "jobs/experiments/kds/rope.json")) as file:
        pegs = [b["mesh"]["vertices"] for b in json.load(file)["bodies"] if b["mesh"]["kind"] == "inline"]
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.6), sharey=True)
    for axis, s in zip(axes, (samples[3], samples[9], samples[17])):
        outline = [dop(s["axes"], node) for node in s["nodes"]]
        depth = []
        for node in s["nodes"]:  # parents lie before their children
            depth.append(0 if node["up"] < 0 else depth[node["up"]] + 1)
        resting = {n for test in s["tests"] if test["state"] == APART for n in test["node"]}
        for i in sorted(resting, key=lambda n: depth[n]):
            leaf = s["nodes"][i]["left"] < 0
            colour = plt.cm.cool(depth[i] / max(depth))
            axis.fill(*outline[i].T, facecolor=(*colour[:3], .05), edgecolor=colour, lw=.6 if leaf else 1.2)
        for test in s["tests"]:
            a, b = (outline[n].mean(axis=0) for n in test["node"])
            if test["state"] == APART and s["nodes"][test["node"][0]]["body"] != s["nodes"][test["node"][1]]["body"]:
                axis.plot(*zip(a, b), color="tab:green", lw=.7)
            if test["state"] == OPEN:
                for n in test["node"]:
                    axis.fill(*outline[n].T, facecolor="tab:red", alpha=.25, lw=0)
        for peg in pegs:
            axis.plot(*np.array(peg + peg[:1])[:, :2].T, "k", lw=1.2)
        rope = np.array([p["now"] for p in s["plans"][sum(map(len, pegs)):]])
        axis.plot(rope[:, 0], rope[:, 1], "k.-", lw=1.2, ms=3)
        axis.set_title(f"t = {s['t']:.2f} s: {s['apart']} certificates, {s['open']} tests of leaves open,\n{sum(s['layers'])} slabs, "
                       f"{s['split']} tests split", fontsize=9)
        axis.set_aspect("equal")
        axis.set_xlim(-.72, .72)
        axis.set_ylim(-.45, .45)
    figure.tight_layout()
    figure.savefig(os.path.join(folder, "kds-lists.png"), dpi=110)
    print("kds-lists.png: " + "; ".join(f"{s['t']:.2f} s: {s['apart']} apart, {s['open']} open, {sum(s['layers'])} slabs"
                                        for s in (samples[3], samples[9], samples[17])))


def layers(folder):
    """Certificates alive."""
    end = .4
    samples = look("jobs/experiments/kds/compactor.json", 100, end, "counts")
    t = np.array([s["t"] for s in samples])
    figure, axis = plt.subplots(figsize=(10, 4.2))
    axis.semilogy(t, [s["apart"] for s in samples], "k", label="nodes apart")
    alive = np.array([s["layers"] for s in samples], float)
    deepest = int(np.flatnonzero(alive.sum(axis=0))[-1])
    for layer in range(min(deepest, 7) + 1):
        line = alive[:, layer] if layer < 7 else alive[:, 7:].sum(axis=1)
        axis.semilogy(t, np.where(line > 0, line, np.nan), color=plt.cm.viridis(layer / 7), label=f"slabs that keep layer {layer + 1} silent" +
                      (" or a deeper one" if layer == 7 else ""))
    axis.set_xlabel("time, s")
    axis.set_ylabel("certificates alive")
    axis.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    figure.tight_layout()
    figure.savefig(os.path.join(folder, "kds-layers.png"), dpi=110)
    print(f"kds-layers.png: at the end {samples[-1]['apart']} tests apart, {samples[-1]['open']} open, slabs by layer "
          f"{samples[-1]['layers'][:deepest + 1]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", nargs="*", choices=[[], "slabs", "lists", "layers"])
    parser.add_argument("-o", metavar="FOLDER", required=True)
    options = parser.parse_args()
    os.makedirs(options.o, exist_ok=True)
    for picture in (slabs, lists, layers):
        if not options.picture or picture.__name__ in options.picture:
            picture(options.o)


if __name__ == "__main__":
    main()
