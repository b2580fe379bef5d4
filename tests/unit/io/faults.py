#!/usr/bin/python3
"""What happens when the world does not play along: a full disk, a limit on file sizes, a disk that breaks, a folder that
goes away, a folder with other people's files.  If this fails, a run loses its results, or somebody else's."""
import resource
import shutil
import signal
import time

import h5py

from common import *

BIG = ["--vertices", 9000, "--kind", "triangles", "--frames", 40]  # about 500 kB a frame


def frames_in(folder):
    """Reads all of them, and gives their number."""
    with h5py.File(folder + "/frames.h5", "r") as f:
        for g in f["frames"].values():
            for d in g.values():
                d[()]
        return len(f["frames"])


def failed(folder, r, *parts, ranks=1):
    refused(r, 3, *parts)
    status = open(folder + "/status.json").read()
    check('"state": "failed"' in status and '"error": null' not in status, "status.json says that it failed: " + status[:300])
    done = r.out.count("frame ")
    check(frames_in(folder) == done, "%d frames are whole, %d were written" % (frames_in(folder), done))
    text = open(folder + "/energy.csv").read()
    check(text.endswith("\n") and text.count("\n") in (done, done + 1, done + 2), "energy.csv ends with a whole row")
    check(not [n for n in os.listdir(folder) if n.endswith(".tmp")], "a temporary file is left over: %s" % os.listdir(folder))
    t = tactus("info", folder)
    check(t.code == 0, "tactus info reads what is left: " + t.err)


# A full disk: told before HDF5 is in the middle of a write.
os.mkdir("small")
mounted = call("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", "small").code == 0
if mounted:
    try:
        for ranks in (1, 2):
            r = write("--quiet", "small/full.run", "--overwrite", *BIG, ranks=ranks)
            check(2 <= r.out.count("frame ") < 40, "some frames fit: %d" % r.out.count("frame "))
            failed("small/full.run", r, "small/full.run/frames.h5: No space left on device", "free some space")
        # The rest is filled up: now not even the small files fit, and what is there stays whole.
        with open("small/filler", "wb", buffering=0) as f:
            try:
                while True:
                    f.write(b"x" * 4096)
            except OSError:
                pass
        before = frames_in("small/full.run")
        refused(write("--quiet", "small/other.run", "--vertices", 30), 3, "No space left on device")
        check(not os.path.exists("small/other.run"), "a run that did not begin leaves nothing")
        check(frames_in("small/full.run") == before, "an old run is untouched")
        os.remove("small/filler")
        # The disk fills up while only small files are left to write.
        p = subprocess.Popen([WRITER, "small/late.run", "--quiet", "--vertices", "3", "--kind", "points", "--frames", "1000",
                              "--pause", ".002", "--overwrite"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        p.stdout.readline()
        with open("small/filler", "wb", buffering=0) as f:
            try:
                while True:
                    f.write(b"x" * 4096)
            except OSError:
                pass
        out, err = p.communicate(timeout=PATIENCE_S)
        check(p.returncode == 3 and err.count(b"tactus: ") == 1 and b"No space left" in err, "late: %d %s" % (p.returncode, err))
        check(frames_in("small/late.run") >= 1, "late: frames are whole")
        rows = open("small/late.run/energy.csv").read()
        check(rows.endswith("\n"), "late: energy.csv ends with a whole row")
    finally:
        call("umount", "small")
else:
    print("SKIPPED: a full disk, for that takes the right to mount a tmpfs (root)")

# The limit on the size of files (ulimit -f); Open MPI itself needs a few MB under it.
r = write("--quiet", "limit.run", "--vertices", 60000, "--kind", "triangles", "--frames", 20,
          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (12 << 20, 12 << 20)))
failed("limit.run", r, "limit on file sizes", "ulimit")

# Writes begin to fail inside HDF5: one sentence, no crash as the program ends, earlier frames are whole.
for at in (0, 2):
    r = write("--quiet", "broken%d.run" % at, "--break-at", at)
    failed("broken%d.run" % at, r, "cannot write .* to broken%d.run/frames.h5" % at)
r = write("--quiet", "broken.run", "--vertices", 50000, "--break-at", 1, "--overwrite")
failed("broken.run", r, "cannot write")

# The folder goes away.
p = subprocess.Popen([WRITER, "gone.run", "--quiet", "--frames", "1000", "--pause", ".01"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
p.stdout.readline()
shutil.rmtree("gone.run", ignore_errors=True)
shutil.rmtree("gone.run", ignore_errors=True)
out, err = p.communicate(timeout=PATIENCE_S)
refused(Result(p.returncode, out.decode(), err.decode()), 3, "gone.run", "removed while the run was writing")

# The folder is renamed: the run goes on in it.
p = subprocess.Popen([WRITER, "old.run", "--quiet", "--frames", "30", "--pause", ".01"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
p.stdout.readline()
os.rename("old.run", "new.run")
p.communicate(timeout=PATIENCE_S)
check(p.returncode == 0 and not os.path.exists("old.run") and frames_in("new.run") == 30, "a renamed folder")
check(open("new.run/energy.csv").read().count("\n") == 31 and os.path.exists("new.run/run.json"), "a renamed folder's small files")

# A folder that already holds a run: only with --overwrite, which removes that run's files and no others.
must_write("mine.run", "--seed", 1)
refused(write("--quiet", "mine.run"), 2, "already holds a run", "--overwrite")
for name in ("notes.txt", "checkpoint.txt", "checkpoint-12.h5", "energy.csv.bak", "my-frames.h5"):
    open("mine.run/" + name, "w").write("mine")
os.mkdir("mine.run/figures")
for name in ("checkpoint-000001.h5", "checkpoint-1234567.h5", "record.h5", "frames.h5.tmp", "status.json.tmp"):
    open("mine.run/" + name, "w").write("the run's")
os.symlink("checkpoint-000001.h5", "mine.run/checkpoint.h5")
must_write("mine.run", "--overwrite", "--frames", 1)
check(sorted(os.listdir("mine.run")) == sorted(["notes.txt", "checkpoint.txt", "checkpoint-12.h5", "energy.csv.bak", "my-frames.h5",
      "figures", "status.json", "run.json", "scene.json", "frames.h5", "frames.vtkhdf", "frames.xdmf", "energy.csv"]), "overwritten: %s" % os.listdir("mine.run"))
check(frames_in("mine.run") == 1 and open("mine.run/notes.txt").read() == "mine", "overwritten")

# Other people's files with our names: never removed, not even with --overwrite.
os.mkdir("foreign")
for name in ("scene.json", "energy.csv", "frames.h5", "checkpoint-000007.h5", "status.json"):
    open("foreign/" + name, "w").write('{"format": "something else"}')
    for options in ((), ("--overwrite",)):
        refused(write("--quiet", "foreign", *options), 2, "foreign", name)
        check(os.listdir("foreign") == [name], "%s is left alone: %s" % (name, os.listdir("foreign")))
    os.remove("foreign/" + name)
open("foreign/notes.txt", "w").write("mine")
must_write("foreign")
check(len(os.listdir("foreign")) == 8, "a folder with other files is fine")

# A refused try's overlaps.obj is no run, and goes when one begins there; somebody's own stays.
grid = '{"name": "%s", "mesh": {"kind": "grid", "size": [1, 1], "cells": [1, 1]}, "mass": 1, "rotation": [%d, 0, 0]}'
open("scene.json", "w").write('{"format": "tactus-scene/1", "time": {"end": 1, "frame": 0.5}, "contact": {"thickness": 0.01}, "bodies": [%s, %s]}'
                              % (grid % ("a", 0), grid % ("b", 90)))
r = tactus("run", "scene.json", "-o", "refused.run")
check(r.code == 2 and os.listdir("refused.run") == ["overlaps.obj"], "a refused run leaves overlaps.obj: %s" % r.err)
r = tactus("run", "scene.json", "-o", "refused.run")
check(r.code == 2 and "already holds" not in r.err, "and may be tried again: " + r.err)
r = tactus("run", "scene.json", "-o", "mine.run")
check(r.code == 2 and "already holds a run" in r.err, "a folder that is taken is told before the scene is prepared: " + r.err)
os.mkdir("own.run")
open("own.run/overlaps.obj", "w").write("# my own\nv 0 0 0\n")
must_write_all([["refused.run"], ["own.run"]])
check(not os.path.exists("refused.run/overlaps.obj") and os.path.exists("own.run/overlaps.obj"), "overlaps.obj")

# No folder can be there.
open("file", "w").write("mine")
refused(write("--quiet", "file"), 2, "'file' is a file, not a folder")
refused(write("--quiet", "file/below"), 2, "file/below.*Not a directory")
refused(write("--quiet", ""), 2, "name of the run folder is empty")
refused(write("--quiet", "/proc/here.run"), 2, "cannot make the folder '/proc/here.run'")
check(open("file").read() == "mine", "the file")

# A run that is still alive is not overwritten; a dead one is, whatever its status says.
p = subprocess.Popen([WRITER, "live.run", "--quiet", "--frames", "1000", "--pause", ".05"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
p.stdout.readline()
refused(write("--quiet", "live.run", "--overwrite"), 2, "still writing to 'live.run'", "process %d" % p.pid)
p.kill()
p.communicate()
must_write("live.run", "--overwrite", "--frames", 2)
check(frames_in("live.run") == 2, "a dead run is overwritten")
finish()
