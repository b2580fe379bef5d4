#!/usr/bin/python3
"""browser.py: a real browser (Debian's chromium, without a window) shows the page of jobs/report: no error on its console, every picture and plot has
pixels, and the page stays under 10 MB; of a run on three ranks with the ranks' shares, of one that was stopped, and of one whose files are broken.
Skipped (77) where chromium is not installed.

A failure means that a user gets a page with holes, or one that a browser complains about."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import matplotlib.image
import numpy as np

TACTUS, SOURCE = os.environ["TACTUS"], os.environ["TACTUS_SOURCE"]


def must(true, text):
    if not true:
        sys.exit(text)


def call(*words, code=0, ranks=1):
    command = ([] if ranks == 1 else ["mpirun", "-q", "--bind-to", "none", "-n", str(ranks)]) + [str(w) for w in words]
    done = subprocess.run(command, capture_output=True, text=True)
    must(done.returncode == code, "%s: %d instead of %d\n%s" % (command, done.returncode, code, (done.stdout + done.stderr)[-2000:]))


def browse(page, width=1000, height=900):
    """The page as pixels, and what the console said."""
    done = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--user-data-dir=" + os.path.abspath("profile"),
                           "--enable-logging=stderr", "--window-size=%d,%d" % (width, height), "--screenshot=" + os.path.abspath("shot.png"),
                           "file://" + os.path.abspath(page)], capture_output=True, text=True)
    must(os.path.exists("shot.png"), "chromium made no picture: " + done.stderr[-2000:])
    pixels = (matplotlib.image.imread("shot.png")[:, :, :3] * 255).astype(int)
    os.remove("shot.png")
    return pixels, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def report(folder, plots):
    """plots: how many pictures and plots there must be at least."""
    call(SOURCE + "/jobs/report", folder, "--size", "320x240", "--program", TACTUS)
    path = folder + "/report.html"
    must(os.path.getsize(path) < 10e6, "%s has %d bytes" % (path, os.path.getsize(path)))
    with open(path, encoding="utf-8") as file:
        html = file.read()
    pixels, console = browse(path)
    must(not console, "%s: the console says %s" % (path, console))
    must((np.abs(pixels - pixels[0, 0]).sum(axis=2) > 60).mean() > 0.01, "%s: the page is blank" % path)
    style = re.search(r"<style>.*?</style>", html, re.S)[0]
    found = re.findall(r"<img.*?>|<svg.*?</svg>", html, re.S)
    must(len(found) >= plots, "%s has %d pictures and plots instead of %d" % (path, len(found), plots))
    for k, part in enumerate(found):
        with open("part.html", "w", encoding="utf-8") as file:
            file.write("<!DOCTYPE html><html><head><meta charset='utf-8'>%s</head><body>%s</body></html>" % (style, part))
        pixels, console = browse("part.html")
        drawn = np.abs(pixels - pixels[-1, -1]).sum(axis=2) > 60
        must(not console and drawn.sum() > 2000 and drawn.any(axis=0).sum() > 100 and drawn.any(axis=1).sum() > 60, "%s: plot %d shows %d pixels; %s" % (path, k, drawn.sum(), console))
    return html


def main():
    scene = {"format": "tactus-scene/1", "name": "a <b>\"sheet\" & 'co'", "time": {"end": 0.04, "frame": 0.01}, "gravity": [0, -9.81, 0], "contact": {"thickness": 0.004, "friction": 0.3},
             "materials": {"cloth": {"density": 0.2, "stretch": {"model": "cst", "stiffness": 60}}},
             "bodies": [{"name": "<script>x</script>", "material": "cloth", "position": [0, 0.125, 0], "mesh": {"kind": "grid", "size": [0.2, 0.2], "cells": [8, 8]}},
                        {"name": "ball", "fixed": True, "mesh": {"kind": "sphere", "radius": 0.12, "level": 1}}], "output": {"fields": ["rank"]}}
    with open("scene.json", "w") as file:
        json.dump(scene, file)
    call(TACTUS, "run", "scene.json", "-o", "three.run", "--quiet", ranks=3)
    html = report("three.run", 5)
    must("rank 2" in html and "dissipated_friction" in html, "the ranks' shares, or the causes of what was dissipated, are missing")
    call(TACTUS, "run", "scene.json", "-o", "stopped.run", "--quiet", "--wall-limit", "00:00:01", "--set", "time.end=1000", code=75)
    must("has not come to its end" in report("stopped.run", 1), "a run that was stopped looks finished")
    shutil.copytree("three.run", "broken.run")
    for name in ("energy.csv", "run.json", "frames.h5"):
        with open("broken.run/" + name, "r+b") as file:
            file.truncate(os.path.getsize("broken.run/" + name) // 3)
    must("cannot be" in report("broken.run", 0), "a broken run is shown as whole")


if __name__ == "__main__":
    if shutil.which("chromium") is None:
        print("chromium is not installed: jobs/lib/install browser")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
