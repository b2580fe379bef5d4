#!/usr/bin/python3
"""A restart looks at what it goes on from.  Frames and rows that are not what was written are named in one sentence and not
extended, and the folder stays as it is; what only tells of a run may be damaged; what is missing of a run that has ended is
made, or named.  If this fails, damage is hidden under hours of new frames, or somebody who has nothing to fear is refused."""
import json
import shutil
import struct
import zlib

import h5py

from common import *

ALONE = dict(os.environ, OMPI_MCA_ess_singleton_isolated="1", OMPI_MCA_pml="ob1", OMPI_MCA_btl="self")
# The end is between two frames, at an instant of the forces; so are the checkpoints.
SCENE = {
    "format": "tactus-scene/1", "time": {"end": 0.2265625, "frame": 0.03125}, "gravity": [0, -9.81, 0],
    "contact": {"thickness": 0.02, "stiffness": 200, "restitution": 0.5},
    "output": {"checkpoint_every_t": 0.1171875, "checkpoint_keep": 5},
    "materials": {"cloth": {"density": 0.15, "stretch": {"model": "spring", "stiffness": 50}}},
    "bodies": [{"name": "sheet", "material": "cloth", "mesh": {"kind": "grid", "size": [0.5, 0.5], "cells": [4, 4]}},
               {"name": "floor", "fixed": True, "position": [0, -0.02, 0], "mesh": {"kind": "grid", "size": [1, 1], "cells": [1, 1]}}]}
json.dump(SCENE, open("drop.json", "w"))
HAS_ROW, ENTRIES = 10, 16  # places among a checkpoint's integers (src/io/checkpoint/checkpoint.c)


def run(*arguments, ranks=1):
    launch = ["mpirun", "-n", ranks] if ranks > 1 else []
    return call(*launch, TACTUS, "run", *arguments, env=None if ranks > 1 else ALONE)


def bytes_of(folder):
    return {n: open(folder + "/" + n, "rb").read() for n in sorted(os.listdir(folder))}


def text(folder, name):
    """Empty: it is not there."""
    return open(folder + "/" + name).read() if os.path.exists(folder + "/" + name) else ""


def status(folder):
    return json.loads(text(folder, "status.json") or "{}")


def copy(folder, name="try.run"):
    shutil.rmtree(name, ignore_errors=True)
    shutil.copytree(folder, name, symlinks=True)
    return name


def same(folder, what):
    r = tactus("diff", "whole.run", folder, "--all-frames")
    check(r.code == 0, "%s: %s%s" % (what, r.out, r.err))
    for name in ("energy.csv", "frames.xdmf", "scene.json"):
        check(text("whole.run", name) == text(folder, name), "%s: %s" % (what, name))
    for name in ("status.json", "run.json"):
        try:
            report, whole = json.loads(text(folder, name) or "{}"), json.loads(text("whole.run", name))
            check(all(report.get(k) == whole[k] for k in ("state", "time", "scene_sha256")), "%s: %s" % (what, name))
        except ValueError as e:
            check(False, "%s: %s: %s" % (what, name, e))
    check(not any(n.endswith(".tmp") for n in os.listdir(folder)), what + ": no temporaries")


def flip(dataset):
    """A bit of the values, where they are in the file."""
    def damage(folder):
        with h5py.File(folder + "/frames.h5", "r") as f:
            chunk = f[dataset].id.get_chunk_info(0)
        with open(folder + "/frames.h5", "r+b") as f:
            f.seek(chunk.byte_offset + chunk.size // 2)
            byte = f.read(1)[0]
            f.seek(-1, 1)
            f.write(bytes([byte ^ 16]))
    return damage


def frame_gone(folder):
    with h5py.File(folder + "/frames.h5", "r+") as f:
        del f["frames/000001"]


def rows(change):
    def damage(folder):
        lines = text(folder, "energy.csv").splitlines(True)
        open(folder + "/energy.csv", "w").write("".join(change(lines)))
    return damage


def digit(line):
    """The last digit of its second number."""
    fields = line.split(",")
    fields[1] = fields[1][:-1] + ("1" if fields[1][-1] != "1" else "2")
    return ",".join(fields)


def as_before(path):
    """A checkpoint of a program that did not tell of the folder."""
    with h5py.File(path, "r+") as f:
        for name in ("entry_index", "entry_frame", "entry_row", "row"):
            if name in f:
                del f[name]
        numbers = f["integers"][:]
        numbers[HAS_ROW] = numbers[ENTRIES] = 0
        f["integers"][:] = numbers
    data = bytearray(open(path, "rb").read())
    data[12:24] = struct.pack("<IQ", zlib.crc32(data[512:]), len(data) - 512)
    open(path, "wb").write(data)


r = run("drop.json", "-o", "whole.run", "--quiet")
check(r.code == 0, "the whole: " + r.err)
check(sorted(n for n in os.listdir("whole.run") if n.startswith("checkpoint-")) == ["checkpoint-000001.h5", "checkpoint-000002.h5"], "checkpoints")

# As if killed before the second checkpoint: frames 0 to 3 stay.
copy("whole.run", "half.run")
os.remove("half.run/checkpoint-000002.h5")
os.remove("half.run/run.json")
os.remove("half.run/checkpoint.h5")
os.symlink("checkpoint-000001.h5", "half.run/checkpoint.h5")
copy("half.run", "old.run")
as_before("old.run/checkpoint-000001.h5")
DAMAGE = (
    (flip("frames/000000/contact_force"), "contact_force of frame 0 "), (flip("frames/000001/position"), "position of frame 1 .t = 0.03125 s."),
    (flip("frames/000003/velocity"), "velocity of frame 3 "), (flip("mesh/triangles"), "/mesh/triangles"), (frame_gone, "lacks frame 1,"),
    (rows(lambda l: l[:2] + [digit(l[2])] + l[3:]), "the row of frame 1, line 3, is not what was written"),
    (rows(lambda l: l[:2] + ["rubbish\n"] + l[3:]), "its line 3 is no row"), (rows(lambda l: l[:2] + l[3:]), "lacks the row of frame 1;"),
    (rows(lambda l: l[:3]), "lacks the row of frame 2;"), (rows(lambda l: l[:3] + [l[3][:20]]), "lacks the row of frame 2;"),
    (rows(lambda l: l[:2] + [l[2].replace(",", ";", 1)] + l[3:]), "its line 3 is no row"),
    (rows(lambda l: l[:2] + ["0.04" + l[2][l[2].index(","):]] + l[3:]), "its line 3 is no row"))
for number, (damage, part) in enumerate(DAMAGE):
    folder = copy("half.run")
    damage(folder)
    before = bytes_of(folder)
    refused(run("--restart", folder, "--quiet", ranks=2 if number in (1, 3, 5) else 1), 2, part, "go on")
    check(bytes_of(folder) == before, "%s: the folder is left alone" % part)

# What the sentence advises: without the file, it goes on, and says what it lacks.
for name, lacks in (("frames.h5", "frames"), ("energy.csv", "rows")):
    folder = copy("half.run")
    os.remove(folder + "/" + name)
    r = run("--restart", folder)
    check(r.code == 0 and re.search(name + "'? has no %s from before" % lacks, r.err), "%s moved away: %s" % (name, r.err))

# A checkpoint that does not tell what its folder held: a sound folder goes on; what shows by itself is refused.
folder = copy("old.run")
r = run("--restart", folder)
check(r.code == 0 and "warning" not in r.err, "an older checkpoint: " + r.err)
same(folder, "an older checkpoint")
for damage, part in (DAMAGE[1], DAMAGE[6], DAMAGE[8], DAMAGE[9]):
    folder = copy("old.run")
    damage(folder)
    refused(run("--restart", folder, "--quiet"), 2, part if "lacks" not in part else "lacks the row of frame 3;", "go on")

# What only tells of a run.
for name, data in (("status.json", b"{"), ("status.json", b""), ("status.json", b"\xff\x00" * 99), ("run.json", b"{\"format\": 3"), ("run.json", b"\x00"),
                   ("frames.xdmf", b"<"), ("scene.json", b"[")):
    folder = copy("half.run")
    open(folder + "/" + name, "wb").write(data)
    r = run("--restart", folder)
    check(r.code == 0 and "warning" not in r.err, "%s is damaged: %s" % (name, r.err))
    same(folder, "%s is damaged" % name)
    check(status(folder).get("restarts") == 1, "restarts %s" % status(folder))

# A run that has ended: a whole folder is left alone, what is missing is made.
before = bytes_of("whole.run")
r = run("--restart", "whole.run")
check(r.code == 0 and "nothing left to run" in r.err and bytes_of("whole.run") == before, "a whole folder: " + r.err)


def no_last_frame(folder):
    with h5py.File(folder + "/frames.h5", "r+") as f:
        del f["frames/000008"]


def remove(*names):
    return lambda folder: [os.remove(folder + "/" + n) for n in names]


def unfinished(folder):
    s = status(folder)
    open(folder + "/status.json", "w").write(json.dumps(dict(s, state="running", pid=0)))


for number, damage in enumerate((remove("run.json"), remove("status.json", "run.json"), remove("frames.xdmf"), remove("scene.json"), remove("checkpoint.h5"),
                                 no_last_frame, rows(lambda l: l[:-1]), unfinished, lambda f: (no_last_frame(f), rows(lambda l: l[:-1])(f)),
                                 lambda f: open(f + "/run.json", "w").write("{"))):
    folder = copy("whole.run")
    damage(folder)
    r = run("--restart", folder, "--quiet", ranks=2 if number == 5 else 1)
    check(r.code == 0, "its end, damage %d: %s" % (number, r.err))
    same(folder, "its end, damage %d" % number)
    check(os.path.realpath(folder + "/checkpoint.h5").endswith(folder + "/checkpoint-000002.h5"), "checkpoint.h5 leads to the newest")

# A frame that the checkpoint is after cannot be made from it.
r = run("drop.json", "-o", "grid.run", "--until", ".125", "--quiet")
folder = copy("grid.run")
with h5py.File(folder + "/frames.h5", "r+") as f:
    del f["frames/000004"]
refused(run("--restart", folder, "--until", ".125", "--quiet"), 2, "lacks frame 4,", "older checkpoint")
r = run("--restart", folder + "/checkpoint-000001.h5", "--until", ".125", "--quiet")
check(r.code == 0, "from the older one: " + r.err)
r = tactus("diff", "grid.run", folder, "--all-frames")
check(r.code == 0 and text("grid.run", "energy.csv") == text(folder, "energy.csv"), "from the older one: " + r.out + r.err)
check(os.readlink(folder + "/checkpoint.h5") == "checkpoint-000004.h5", "the older one became the newest, 3; its run wrote 4")

# --until the time of a checkpoint between two frames: a last frame, its row, a checkpoint.
r = run("drop.json", "-o", "until.run", "--until", ".1171875", "--quiet")
for ranks in (1, 2):
    folder = copy("whole.run")
    r = run("--restart", folder + "/checkpoint-000001.h5", "--until", ".1171875", "--quiet", ranks=ranks)
    check(r.code == 0, "until a checkpoint: " + r.err)
    r = tactus("diff", "until.run", folder, "--all-frames")
    check(r.code == 0 and text("until.run", "energy.csv") == text(folder, "energy.csv"), "until a checkpoint: " + r.out + r.err)
    r = run("--restart", folder, "--quiet")
    check(r.code == 0, "and on: " + r.err)
    same(folder, "until a checkpoint, and on")
    r = run("--restart", "until.run", "--until", ".1171875", "-o", "elsewhere-%d.run" % ranks, "--quiet", ranks=ranks)
    folder = "elsewhere-%d.run" % ranks
    check(r.code == 0 and status(folder).get("state") == "finished" and os.path.exists(folder + "/checkpoint.h5"), "elsewhere: " + r.err)
    check(text(folder, "energy.csv").splitlines()[1:] == text("until.run", "energy.csv").splitlines()[-1:], "elsewhere: its row")

# One that does not tell its last row, which could not be told without.
folder = copy("whole.run")
as_before(folder + "/checkpoint-000002.h5")
os.remove(folder + "/run.json")
before = bytes_of(folder)
refused(run("--restart", folder, "--quiet"), 2, "does not hold the last row", "--until")
check(bytes_of(folder) == before, "and the folder is left alone")
finish()
