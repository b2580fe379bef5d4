#!/usr/bin/python3
"""salvage.py: frames.h5 and record.h5 that are damaged in part are never put aside whole: a restart, on any number of ranks, copies
what can be read of them into new ones, and says what is lost, also with --quiet.  If this fails, one bad sector costs all frames of a
job.  And `tactus pack`: one file of all frames; of a damaged one, of those that are sound."""
import os
import shutil

import h5py

from record import RANKS, check, finish, launch, path, read, run, same

SCENE = RANKS + "moving.json"
EVERY = ["--set", "output.checkpoint_every_t=0.02"]
MORE = ["--until", ".2"]


def frames(file):
    with h5py.File(file, "r") as f:
        return {int(k): {n: g[n][()].tobytes() for n in g} for k, g in f["frames"].items()}


def spoil(file, dataset, chunk=0):
    """One bit of one chunk."""
    with h5py.File(file, "r") as f:
        at = f[dataset].id.get_chunk_info(chunk).byte_offset if f[dataset].chunks else f[dataset].id.get_offset()
    with open(file, "r+b") as f:
        f.seek(at + 10)
        byte = f.read(1)[0]
        f.seek(at + 10)
        f.write(bytes([byte ^ 16]))


def remove(file, *names):
    with h5py.File(file, "r+") as f:
        for name in names:
            if "@" in name:
                del f[name.split("@")[0]].attrs[name.split("@")[1]]
            else:
                del f[name]


run(1, SCENE, "whole", *EVERY)
run(2, SCENE, "begun", *EVERY, "--until", ".15")
whole, record = frames(path("whole/frames.h5")), read("whole")

# ---- what is damaged is one list that every reader asks for: all frames are saved; or frames too: the others are
for name, ranks, lost, damage in (("mesh", 1, [], ["mesh/radius"]), ("some", 2, [1, 3], ["mesh/radius", "frames/000003/velocity"])):
    shutil.copytree(path("begun"), path(name), symlinks=True)
    remove(path(name + "/frames.h5"), *damage)
    if 1 in lost:
        spoil(path(name + "/frames.h5"), "frames/000001/position")
    r = run(ranks, None, None, "--restart", path(name), "--quiet")
    check("frames.h5.damaged" in r.output, "%s: it is said where the damaged file is: %s" % (name, r.output))
    check(("lost: frames 1, 3;" in r.output) == bool(lost), "%s: it is said what is lost: %s" % (name, r.output))
    got = frames(path(name + "/frames.h5"))
    check(sorted(got) == [k for k in sorted(whole) if k not in lost], "%s: frames %s" % (name, sorted(got)))
    check(all(got[k] == whole[k] for k in got), "%s: frames are what they were" % name)
    index = open(path(name + "/frames.xdmf")).read()
    check([k for k in sorted(whole) if 'frames.h5:/frames/%06d/position' % k in index] == sorted(got), "%s: the index" % name)
    r = launch.tactus(1, "pack", path(name), "-o", path(name + ".h5"))
    check(r.code == 0 and frames(path(name + ".h5")) == got, "%s: packed: %s" % (name, r))

# ---- the record: intervals that can be read, and the one under way
shutil.copytree(path("begun"), path("record"), symlinks=True)
remove(path("record/record.h5"), "record@quantum_s", "record/000002/start")
r = run(3, None, None, "--restart", path("record"), "--quiet")
check("lost: intervals 2" in r.output and "record.h5.damaged" in r.output, "what is lost of the record: " + r.output)
got = read("record")
check(sorted(got) == [k for k in sorted(record) if k != 2], "intervals %s of %s" % (sorted(got), sorted(record)))
check(all(same(a, b) for k in got for a, b in zip(got[k], record[k])), "intervals are what they were")

# ---- without --record a damaged one stays where it is
shutil.copytree(path("begun"), path("without"), symlinks=True)
remove(path("without/record.h5"), "record@quantum_s")
kept = open(path("without/record.h5"), "rb").read()
r = run(1, None, None, "--restart", path("without"), "--quiet", record=False)
check("stays as it is" in r.output and open(path("without/record.h5"), "rb").read() == kept, "left alone: " + r.output)

# ---- pack: the run folder stays, another file is not written over, a damaged frame is left out
names = {n: os.stat(path("whole/" + n)).st_mtime_ns for n in os.listdir(path("whole"))}
r = launch.tactus(1, "pack", path("whole"), "-o", path("all.h5"))
check(r.code == 0 and frames(path("all.h5")) == whole, "packed: %s" % r)
check({n: os.stat(path("whole/" + n)).st_mtime_ns for n in os.listdir(path("whole"))} == names, "the folder stays as it is")
check(open(path("all.xdmf")).read().count("all.h5:/frames/") == open(path("whole/frames.xdmf")).read().count("frames.h5:/frames/"), "index")
check("frames.h5:" not in open(path("all.xdmf")).read(), "the index names the packed file")
check(launch.tactus(1, "diff", path("whole"), path("all.h5"), "--all-frames").code == 0, "diff reads it")
for words, code, part in ((["-o", path("all.h5")], 2, "exists"), (["-o", path("whole/frames.h5"), "--overwrite"], 2, "to be packed"),
                          (["-o", path("whole")], 2, "is a folder"), ([], 2, "needs a file"), (["-o", path("all.h5"), "--overwrite"], 0, "")):
    r = launch.tactus(1, "pack", path("whole"), *words)
    check(r.code == code and part in r.output, "pack %s: %s" % (words, r))
shutil.copytree(path("whole"), path("flipped"), symlinks=True)
spoil(path("flipped/frames.h5"), "frames/000002/velocity")
r = launch.tactus(1, "pack", path("flipped"), "-o", path("flipped.h5"))
check(r.code == 1 and "frame 2 could not be read" in r.output, "a damaged frame: %s" % r)
check(frames(path("flipped.h5")) == {k: v for k, v in whole.items() if k != 2}, "the others are packed")
finish()
