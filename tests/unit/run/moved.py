#!/usr/bin/python3
"""moved.py: a run goes on in its folder when that is renamed, its checkpoints too, on one and two ranks; the folder's old name is free then.

After its first checkpoint the folder of a long run is renamed, and another folder made under the old name; it goes on, is renamed once more, and
is asked to stop; then it goes on from there.  A failure means that whoever tidies up loses a run that took days."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

TACTUS = os.environ["TACTUS"]
SCENE = {"format": "tactus-scene/1", "time": {"end": 1000, "frame": 0.01}, "gravity": [0, -9.81, 0], "contact": {"thickness": 0.01},
         "materials": {"cloth": {"density": 0.2, "stretch": {"model": "cst", "stiffness": 100}}},
         "bodies": [{"name": "sheet", "material": "cloth", "mesh": {"kind": "grid", "size": [0.2, 0.2], "cells": [6, 6]}}],
         "motions": [{"body": "sheet", "vertices": [0, 2], "path": [[0, [0, 0, 0]]]}],
         "output": {"checkpoint_every_t": 0.005, "checkpoint_keep": 3, "reactions": True, "histories": [{"name": "h", "body": "sheet", "every": 0.01}]}}


def must(true, text):
    if not true:
        sys.exit(text)


def words(ranks, *arguments):
    return ([] if ranks == 1 else ["mpirun", "-q", "--bind-to", "none", "-n", str(ranks)]) + [TACTUS] + list(arguments)


def newest(folder):
    return max([n for n in os.listdir(folder) if n.startswith("checkpoint-")], default="") if os.path.isdir(folder) else ""


def wait_for_more(process, folder):
    """Until there is a newer checkpoint; None: the run is over."""
    before = newest(folder)
    while newest(folder) == before:
        if process.poll() is not None:
            return None
        time.sleep(0.002)
    return True


def check(ranks):
    first, second, third = ("%s-%d.run" % (n, ranks) for n in ("first", "second", "third"))
    process = subprocess.Popen(words(ranks, "run", "scene.json", "-o", first, "--quiet", "--record"), stderr=subprocess.PIPE, text=True)
    must(wait_for_more(process, first), "the run was over before its folder could be renamed")
    os.rename(first, second)
    os.mkdir(first)
    must(wait_for_more(process, second), "no checkpoint in the renamed folder: %s" % (process.communicate()[1] if process.poll() is not None else ""))
    os.rename(second, third)
    must(wait_for_more(process, third), "no checkpoint in the folder that was renamed twice: %s" % (process.communicate()[1] if process.poll() is not None else ""))
    process.send_signal(signal.SIGUSR1)
    said = process.communicate()[1]
    must(process.returncode == 75 and "is in %s/checkpoint-" % os.path.abspath(third) in said, "%d ranks: %d: %s" % (ranks, process.returncode, said))
    must(os.listdir(first) == [] and not os.path.exists(second), "%d ranks: something was written to the old name" % ranks)
    must(not os.path.exists(third + "/ranks.lock"), "the lock is left")
    with open(third + "/status.json") as file:
        t = json.load(file)["time"]
    subprocess.run(words(1, "run", "--restart", third, "--quiet", "--record", "--until", "%g" % (0.01 * (int(t / 0.01) + 2))), check=True)
    for a, b in (("whole.run", third), ("whole.run/record.h5", third + "/record.h5")):
        diff = subprocess.run([TACTUS, "diff", a, b], capture_output=True, text=True)
        must(diff.returncode == 0, diff.stdout + diff.stderr)


with tempfile.TemporaryDirectory(prefix="tactus-moved-") as folder:
    os.chdir(folder)
    with open("scene.json", "w") as file:
        json.dump(SCENE, file)
    subprocess.run(words(1, "run", "scene.json", "-o", "whole.run", "--quiet", "--record", "--until", "0.05"), check=True)
    check(1)
    check(2)
    os.chdir("/")
