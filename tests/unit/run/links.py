#!/usr/bin/python3
"""links.py: symbolic links in a run's folder never lead a run to files outside of it.

A folder may come from somebody else.  Under each name that a run makes or replaces lies a link to a file outside, then one to a file that does
not exist.  A restart and a run anew replace the link, or refuse the folder; what is outside stays as it is.  Files that a restart goes on with
(energy.csv ...) are refused as links.  Folders may be links.  A failure means that a restart writes over somebody's files."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

TACTUS = os.environ["TACTUS"]
# Names that a restart makes, or replaces by a rename.
MADE = ["scene.json.tmp", "status.json.tmp", "run.json.tmp", "frames.xdmf.tmp", "histories.h5.tmp", "frames.vtkhdf.tmp", "steps.csv.part", "steps.csv.tmp", "checkpoint.h5.tmp",
        "scene.json", "run.json", "frames.xdmf", "frames.vtkhdf", "histories.h5", "checkpoint.h5", "ranks.lock", "energy.csv.damaged", "reactions.csv.damaged",
        "frames.h5.damaged", "record.h5.damaged", "branch.json.tmp"]
EXTENDED = ["energy.csv", "reactions.csv", "histories.csv", "steps.csv", "run.log", "frames.h5", "record.h5"]
VICTIM = "what somebody wrote\n"
SCENE = {"format": "tactus-scene/1", "time": {"end": 0.04, "frame": 0.01}, "gravity": [0, -9.81, 0],
         "integrator": {"kind": "implicit", "step_s": 0.005}, "contact": {"thickness": 0.01},
         "materials": {"cloth": {"density": 0.2, "stretch": {"model": "cst", "stiffness": 100}}},
         "bodies": [{"name": "sheet", "material": "cloth", "mesh": {"kind": "grid", "size": [0.2, 0.2], "cells": [2, 2]}}],
         "motions": [{"body": "sheet", "vertices": [0, 2], "path": [[0, [0, 0, 0]]]}],
         "output": {"reactions": True, "histories": [{"name": "h", "body": "sheet", "every": 0.01}]}}


def must(true, text):
    if not true:
        sys.exit(text)


def tactus(*arguments, code=(0,)):
    done = subprocess.run([TACTUS, *arguments], capture_output=True, text=True)
    must(done.returncode in code, "%s: %d instead of %s\n%s" % (arguments, done.returncode, code, done.stderr))
    return done


def outside(name):
    path = os.path.join("outside", name)
    with open(path) as file:
        must(file.read() == VICTIM, "%s was written through a link" % name)
    must(not os.path.lexists(path + ".gone"), "%s was made through a link" % name)


def fresh(name, source):
    shutil.rmtree(name, ignore_errors=True)
    shutil.copytree(source, name, symlinks=True)


def put_link(folder, name, gone):
    path = os.path.join(folder, name)
    if os.path.lexists(path):
        os.unlink(path)
    with open(os.path.join("outside", name), "w") as file:
        file.write(VICTIM)
    os.symlink(os.path.abspath("outside/" + name) + (".gone" if gone else ""), path)


def main():
    os.mkdir("outside")
    for name, more in (("scene.json", {}), ("overlap.json", {"bodies": [SCENE["bodies"][0], dict(SCENE["bodies"][0], name="second", rotation=[90, 0, 0])], "motions": [], "output": {}})):
        with open(name, "w") as file:
            json.dump({**SCENE, **more}, file)
    tactus("run", "scene.json", "-o", "half.run", "--quiet", "--record", "--until", "0.02")
    tactus("run", "scene.json", "-o", "whole.run", "--quiet", "--record")
    # All names at once: each is used, or left alone.
    for gone in (False, True):
        fresh("x.run", "half.run")
        for name in MADE:
            put_link("x.run", name, gone)
        tactus("run", "--restart", "x.run", "--quiet", "--record")
        for name in MADE:
            outside(name)
        must("\nequal\n" in "\n" + tactus("diff", "whole.run", "x.run", "--all-frames").stdout, "the run went wrong")
        for name in ("scene.json", "run.json", "frames.xdmf", "histories.h5"):
            must(not os.path.islink("x.run/" + name), name + " is a link still")
        # And where the run begins anew.
        for name in MADE + EXTENDED:
            put_link("x.run", name, gone)
        tactus("run", "scene.json", "-o", "x.run", "--overwrite", "--quiet", "--record")
        for name in MADE + EXTENDED:
            outside(name)
    # Files that the run goes on with: the link is refused by name, and what it leads to stays.
    for name in EXTENDED:
        fresh("x.run", "half.run")
        shutil.move("x.run/" + name, "outside/" + name)
        with open("outside/" + name, "rb") as file:
            before = file.read()
        os.symlink(os.path.abspath("outside/" + name), "x.run/" + name)
        done = tactus("run", "--restart", "x.run", "--quiet", "--record", code=(2,))
        must("x.run/%s' is a symbolic link" % name in done.stderr, done.stderr)
        with open("outside/" + name, "rb") as file:
            must(file.read() == before, name + " was extended through a link")
    # The mark of a folder without a run.
    for gone in (False, True):
        shutil.rmtree("x.run")
        os.mkdir("x.run")
        put_link("x.run", "status.json.tmp", gone)
        tactus("run", "scene.json", "-o", "x.run", "--quiet")
        outside("status.json.tmp")
        shutil.rmtree("x.run")
        os.mkdir("x.run")
        put_link("x.run", "status.json", gone)
        tactus("run", "scene.json", "-o", "x.run", "--quiet", code=(2,))
        outside("status.json")
        # A refused scene, and files that are exported.
        put_link("x.run", "overlaps.obj", gone)
        put_link("x.run", "overlaps.obj.tmp", gone)
        os.unlink("x.run/status.json")
        tactus("run", "overlap.json", "-o", "x.run", "--quiet", code=(2,))
        outside("overlaps.obj")
        outside("overlaps.obj.tmp")
        os.makedirs("x.out", exist_ok=True)
        name = sorted(os.listdir("look.out"))[0] if os.path.isdir("look.out") else None
        if name is None:
            tactus("export", "whole.run", "--frames", "0", "--format", "obj", "-o", "look.out")
            name = sorted(os.listdir("look.out"))[0]
        put_link("x.out", name + ".tmp", gone)
        tactus("export", "whole.run", "--frames", "0", "--format", "obj", "-o", "x.out", "--overwrite")
        outside(name + ".tmp")
    # The folder, and one above it, as links.
    fresh("far.run", "half.run")
    os.mkdir("deep")
    os.symlink(os.path.abspath("far.run"), "deep/near.run")
    os.symlink("deep", "link")
    tactus("run", "--restart", "link/near.run", "--quiet", "--record")
    must("\nequal\n" in "\n" + tactus("diff", "whole.run", "far.run", "--all-frames").stdout, "a folder that is a link")


with tempfile.TemporaryDirectory(prefix="tactus-links-") as folder:
    os.chdir(folder)
    main()
    os.chdir("/")
