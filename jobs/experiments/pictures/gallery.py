#!/usr/bin/python3
"""gallery.py [-o FOLDER] [--runs FOLDER] [SCENE ...]: the pictures of README's gallery, docs/pictures/scene-*.png, and rows of what the runs cost.

Runs each scene of jobs/ (some minutes in all; runs that --runs already holds are used), and draws one frame close up by jobs/render. The two scenes in
a plane are drawn as plots: a particle and a spring are no more than a dot and a line at any one time.  $TACTUS is the program, else build/tactus."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import h5py
import matplotlib
import numpy as np
from PIL import Image

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
TACTUS = os.environ.get("TACTUS", os.path.join(ROOT, "build/tactus"))
SIZE = (640, 480)
# Frame, and how the camera looks at it.
VIEWS = {
    "two-sheets": ("last", "--zoom", "1.2", "--azimuth", "55", "--elevation", "18"),
    "reef-knot": ("66", "--near=0,0,0,0.018", "--elevation", "40"),
    "curtain": ("24", "--zoom", "1.15"),
    "cotton": ("last", "--zoom", "1.0", "--azimuth", "10", "--elevation", "14"),
    "balloon": ("40", "--zoom", "1.1", "--azimuth", "10"),
    "soft-block": ("40", "--zoom", "1.3"),
    "stairs": ("20", "--zoom", "0.95"),
    "dominoes": ("24", "--near=-0.05,0.02,0,0.11", "--azimuth", "25", "--elevation", "22"),
    "chain": ("24", "--near=0.06,0.2,0,0.16", "--azimuth", "12", "--elevation", "14"),
    "finger": ("16", "--near=0.035,0.04,0,0.06", "--azimuth", "20", "--elevation", "15"),
    "cradle": ("20", "--near=0.02,0.14,0,0.15", "--azimuth", "20", "--elevation", "10"),
    "gears": ("16", "--near=0.033,0,0,0.062", "--azimuth", "14", "--elevation", "25"),
    "wrecking-ball": ("38", "--near=0.07,0.15,0,0.22", "--azimuth", "20", "--elevation", "12"),
    "gripper": ("44", "--near=0,0.11,0,0.13", "--azimuth", "20", "--elevation", "10"),
    "cloth-boxes": ("18", "--near=0,0.08,0,0.32", "--azimuth", "20", "--elevation", "25"),
    "box-900": ("10", "--zoom", "1.1"),
    "bridge-bearing": ("last", "--near=0,0,0,0.27", "--azimuth", "15", "--elevation", "8"),
}
# Scenes that are for clusters are drawn with fewer cells.
SMALLER = {"bridge-bearing": ("--set", "bodies.pad.mesh.cells=[24,6,24]")}
INK, WALL, HOT, COLD = "#3b4148", "#8b9198", "#cf5b3a", "#2d7f89"


def run(scene, folder, *more):
    if not os.path.exists(os.path.join(folder, "run.json")):
        subprocess.run([TACTUS, "run", os.path.join(ROOT, "jobs", scene + ".json"), "-o", folder, "--overwrite", "--quiet", *more], check=True)
    with open(os.path.join(folder, "run.json")) as file:
        return json.load(file)


def small(image, path):
    """At most 256 colours, so that the file is small."""
    image.convert("RGB").quantize(256, dither=Image.Dither.FLOYDSTEINBERG).save(path + ".part", format="PNG", optimize=True)
    os.replace(path + ".part", path)


def places(folder):
    with h5py.File(os.path.join(folder, "frames.h5")) as file:
        frames = list(file["frames"].values())
        return np.array([f["time"][()] for f in frames]), np.array([f["position"][:] for f in frames])


def figure():
    matplotlib.rcParams.update({"font.size": 9, "axes.edgecolor": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK, "axes.linewidth": 0.8})
    return pyplot.figure(figsize=(SIZE[0] / 100, SIZE[1] / 100), dpi=100, layout="constrained")


def save(drawing, path):
    with tempfile.NamedTemporaryFile(suffix=".png") as file:
        drawing.savefig(file.name)
        pyplot.close(drawing)
        small(Image.open(file.name), path)


def ball(folder, path):
    """The way of the ball, and the layers that it meets: thickness .1 m, layer l begins at .1 l^(-1/4)."""
    run("ball-between-walls", folder, "--set", "time.frame=0.015625")
    t, x = places(folder)
    drawing = figure()
    plot = drawing.subplots()
    for side in (-1, 1):
        plot.axhspan(side * 0.5, side * 0.62, color=WALL)
        for layer in (1, 2, 4, 8, 16):
            plot.axhspan(side * 0.5, side * (0.5 - 0.1 * layer ** -0.25), color=COLD, alpha=0.13, lw=0)
    plot.plot(x[:, -1, 0], x[:, -1, 1], color=HOT, lw=1)
    plot.plot(*x[-1, -1, :2], "o", color=HOT, ms=7)
    plot.set(xlabel="m", ylabel="m", xlim=(-0.3, 9.3), ylim=(-0.62, 0.62), title=f"the way of the ball in {t[-1]:.0f} s; between the walls and the ball the outer layers")
    plot.title.set_size(9)
    save(drawing, path)


def spring(folder, path):
    """Heights of both ends, and the error of the energy."""
    run("spring-on-plane", folder, "--set", "time.frame=0.0625")
    t, x = places(folder)
    table = np.genfromtxt(os.path.join(folder, "energy.csv"), delimiter=",", names=True)
    drawing = figure()
    above, below = drawing.subplots(2, 1, height_ratios=(2, 1))
    early = t <= 24
    for k, colour in ((-2, COLD), (-1, HOT)):
        above.plot(t[early], x[early, k, 1], color=colour, lw=1.2)
    above.axhspan(-0.15, 0, color=WALL)
    above.set(xlabel="s", ylabel="height of both ends, m", xlim=(0, 24), ylim=(-0.15, 2.1))
    below.plot(table["time"], (table["total"] - table["total"][0]) / table["total"][0], color=INK, lw=0.6)
    below.set(xlabel="s", ylabel="error of the\nenergy, of all", xlim=(0, 200))
    save(drawing, path)


def main():
    p = argparse.ArgumentParser(prog="gallery.py", description="Makes the pictures of README's gallery.")
    p.add_argument("scene", nargs="*", help="default: all")
    p.add_argument("-o", default=os.path.join(ROOT, "docs/pictures"), help="where the pictures go")
    p.add_argument("--runs", default=None, help="where the runs are, or go (default: they are not kept)")
    o = p.parse_args()
    with tempfile.TemporaryDirectory() as home:
        for scene in o.scene or [*VIEWS, "spring-on-plane", "ball-between-walls"]:
            folder = os.path.join(o.runs or home, scene + ".run")
            path = os.path.join(o.o, f"scene-{scene}.png")
            if scene == "ball-between-walls":
                ball(os.path.join(home, scene), path)
            elif scene == "spring-on-plane":
                spring(os.path.join(home, scene), path)
            else:
                run(scene, folder, *SMALLER.get(scene, ()))
                frame, *view = VIEWS[scene]
                subprocess.run([os.path.join(ROOT, "jobs/render"), folder, "--frames", frame, "--sheet", "0", "--size", "%dx%d" % SIZE, "-o", home, *view], check=True, stdout=subprocess.DEVNULL)
                picture = [name for name in os.listdir(home) if name.startswith("frame-")][0]
                small(Image.open(os.path.join(home, picture)), path)
                os.remove(os.path.join(home, picture))
            about = run(scene, folder)
            _, x = places(folder)
            ticks = sum(about["counters"]["executed"].values())
            print(f"{scene}: {x.shape[1]} vertices, {about['time']:.3g} s, {ticks:.3g} ticks, {about['wall_s']:.0f} s of wall time on {about['ranks']} rank, {os.path.getsize(path)} bytes")


if __name__ == "__main__":
    sys.exit(main())
