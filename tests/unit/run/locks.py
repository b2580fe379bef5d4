#!/usr/bin/python3
"""locks.py: who begins or goes on in a folder waits for ranks of an earlier run, says so, and gives up in the end; a folder in which a run had just
begun is free.

All ranks hold ranks.lock; one that outlives its mpirun is stopped here, and a restart is refused until it is gone.  A failure means that old ranks
write into a run that goes on, or that a folder is refused for ever."""
import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

TACTUS = os.environ["TACTUS"]
SCENE = {"format": "tactus-scene/1", "time": {"end": 1000, "frame": 0.01}, "gravity": [0, -9.81, 0],
         "bodies": [{"name": "p", "mass": 1, "mesh": {"kind": "grid", "size": [1, 1], "cells": [2, 2]}}], "output": {"checkpoint_every_t": 0.01}}
BRIEF = dict(os.environ, TACTUS_TEST_LOCK_S="0.2")


def must(true, text):
    if not true:
        sys.exit(text)


def run(*arguments, code, **options):
    done = subprocess.run([TACTUS, "run", *arguments], capture_output=True, text=True, env=BRIEF, **options)
    must(done.returncode == code, "%s: %d instead of %d: %s" % (arguments, done.returncode, code, done.stderr))
    return done.stderr


def ranks_of(process):
    with open("/proc/%d/task/%d/children" % (process.pid, process.pid)) as file:
        return [int(p) for p in file.read().split()]


def state(pid):
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return "X"


def main():
    with open("scene.json", "w") as file:
        json.dump(SCENE, file)
    # A file that somebody holds.
    run("scene.json", "-o", "a.run", "--until", "0.02", "--quiet", code=0)
    must(not os.path.exists("a.run/ranks.lock"), "the lock is left")
    for arguments in (["--restart", "a.run"], ["scene.json", "-o", "a.run", "--overwrite"]):
        with open("a.run/ranks.lock", "w") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            said = run(*arguments, "--until", "0.04", code=2)
            must("waiting for ranks" in said and "still alive in 'a.run'" in said, said)
        run(*arguments, "--until", "0.04", "--quiet", code=0)
    # A rank that outlives the others.
    process = subprocess.Popen(["mpirun", "-q", "--bind-to", "none", "-n", "2", TACTUS, "run", "scene.json", "-o", "b.run", "--quiet"], stderr=subprocess.DEVNULL)
    while not os.path.lexists("b.run/checkpoint.h5"):
        must(process.poll() is None, "the run ended")
        time.sleep(0.01)
    with open("b.run/status.json") as file:
        first = json.load(file)["pid"]
    other = [p for p in ranks_of(process) if p != first]
    must(len(other) == 1, "rank 1 is not found: %s, %d" % (other, first))
    # Stopped after mpirun is gone: a stopped process that loses its parent gets SIGHUP.
    process.kill()
    process.wait()
    try:
        os.kill(other[0], signal.SIGSTOP)
        os.kill(first, signal.SIGKILL)
        stopped = state(other[0]) in "Tt"
        must(not stopped or "still alive" in run("--restart", "b.run", "--until", "0.1", "--quiet", code=2), "an old rank is not seen")
    except ProcessLookupError:
        print("rank 1 was gone before it could be stopped: nothing to see")
    finally:
        for p in (first, other[0]):
            try:
                os.kill(p, signal.SIGKILL)
            except ProcessLookupError:
                pass
    with open("b.run/checkpoint.h5", "rb"):
        pass
    run("--restart", "b.run", "--quiet", "--set", "output.checkpoint_every_t=1", "--wall-limit", "00:00:01", code=75)
    # A run that was killed as it began: status.json was empty, or not there yet.
    for name in ("status.json", "status.json.tmp"):
        for text in ("", '{"format": "tactus-st') if name.endswith(".tmp") else ("",):
            os.makedirs("c.run")
            with open("c.run/" + name, "w") as file:
                file.write(text)
            run("scene.json", "-o", "c.run", "--until", "0.01", "--quiet", code=0)
            must(not os.path.exists("c.run/status.json.tmp"), "the unfinished mark is left")
            subprocess.run(["rm", "-r", "c.run"], check=True)


with tempfile.TemporaryDirectory(prefix="tactus-locks-") as folder:
    os.chdir(folder)
    main()
    os.chdir("/")
