#!/usr/bin/python3
"""A run that goes on from a checkpoint leaves the folder that an undisturbed run leaves: nothing twice, nothing missing,
nothing of what came after the checkpoint; on any number of ranks, whatever the run before died of.  If this fails,
restarted runs have wrong or missing frames, or somebody's files are lost."""
import json
import random
import signal
import time

from common import *

# One rank without the daemon and the network of mpirun starts in hundredths of a second instead of tenths.
ALONE = dict(os.environ, OMPI_MCA_ess_singleton_isolated="1", OMPI_MCA_pml="ob1", OMPI_MCA_btl="self")
SIZE = ("--vertices", 300)
must_write("whole.run", *SIZE, "--frames", 10, env=ALONE)
open("checkpoint-elsewhere.h5", "w").close()


def status(folder):
    return json.load(open(folder + "/status.json"))


def text(*path):
    return open("/".join(path), errors="replace").read()


def resume(folder, first, *more, frames=None, ranks=1):
    return write(folder, *SIZE, "--resume", "--first", first, "--frames", 10 - first if frames is None else frames, *more, ranks=ranks,
                 env=ALONE if ranks == 1 else None)


def begun(*folders):
    """Runs with a checkpoint in their folders, by one process: lists of a folder and its options."""
    must_write_all([[folder, *SIZE, *more] for folder, *more in folders], env=ALONE)
    for folder, *_ in folders:
        open(folder + "/checkpoint-000001.h5", "w").close()


def resume_all(folders, first, *more, ranks=1):
    """One process goes on with them all."""
    arguments = []
    for folder in folders:
        arguments += [folder, *SIZE, "--resume", "--first", first, "--frames", 10 - first, *more, "--"]
    r = write(*arguments[:-1], ranks=ranks, env=ALONE if ranks == 1 else None)
    check(r.code == 0, "%s: %s" % (folders, r.err))
    return r.err


def same_as_whole(folder, what):
    r = tactus("diff", "whole.run", folder, "--all-frames")
    check(r.code == 0, "%s: diff: %s%s" % (what, r.out, r.err))
    for name in ("energy.csv", "frames.xdmf"):
        check(text("whole.run", name) == text(folder, name), "%s: %s differs" % (what, name))


# What is later goes, what is earlier stays; also where the run had ended between two frames; once more after that.
begun(*(["cut-%d.run" % n, "--frames", 7, "--late", .0625 if n > 1 else 0] for n in (1, 2, 3)), ["late.run", "--frames", 6, "--late", .0625])
for ranks in (1, 2, 3):
    folder = "cut-%d.run" % ranks
    r = resume(folder, 5, "--frames", 3, "--no-finish", ranks=ranks)
    check(r.code == 0 and "warning" not in r.err, "resumed on %d: %s" % (ranks, r.err))
    s = status(folder)
    check(s["state"] == "running" and s["restarts"] == 1 and s["checkpoint"] == "checkpoint-000001.h5", "status %s" % s)
    check(not os.path.exists(folder + "/run.json"), "the old run.json is gone")
    r = resume(folder, 7, ranks=4 - ranks)
    check(r.code == 0 and "warning" not in r.err, "resumed from %d on %d: %s" % (ranks, 4 - ranks, r.err))
    same_as_whole(folder, "%d ranks" % ranks)
    s, run = status(folder), json.load(open(folder + "/run.json"))
    check(s["state"] == "finished" and s["restarts"] == 2, "status %s" % s)
    check(run["restarts"] == 2 and run["ranks"] == 4 - ranks and run["checkpoints"] == 1, "run.json %s" % run)
    check(1e6 < run["peak_memory_bytes"] < 1e11, "peak memory %s" % run["peak_memory_bytes"])
    r = call("h5diff", "whole.run/frames.h5", folder + "/frames.h5")
    check(r.code == 0, "h5diff: " + r.out)
# The writer tells one second per frame: three frames of an eighth of a second since frame 6 just before.
check(abs(s["speed"] - (1.125 - .75) / 3) < 1e-4 and s["wall_s"] == 3, "speed since the restart: %s" % s)
r = tactus("status", "cut-1.run")
check("checkpoint-000001.h5" in r.out and "restarted 2 times" in r.out, "status tells: " + r.out)

# An end between two frames is removed, and its row.
r = resume("late.run", 6, "--checkpoint", "checkpoint-elsewhere.h5")
check(r.code == 0, "an end between two frames: " + r.err)
names = text("late.run", "frames.xdmf")
check(names.count("<Time") == 9 and "000005" not in names, "the late frame is gone")
check("0.6875," not in text("late.run", "energy.csv"), "the late row is gone")
check("warning" in r.err and "no frames between 4 and 6" in r.err, "a gap is told: " + r.err)

# Another folder: a new one, an empty one, one with only the checkpoint.
for folder in ("new.run", "empty.run", "brought.run"):
    if folder != "new.run":
        os.mkdir(folder)
    where = ("--checkpoint", "checkpoint-elsewhere.h5")
    if folder == "brought.run":
        open("brought.run/checkpoint-000001.h5", "w").close()
        where = ()
    r = resume(folder, 4, *where, ranks=2 if folder == "new.run" else 1)
    check(r.code == 0 and "warning" not in r.err, "%s: %s" % (folder, r.err))
    check(text(folder, "frames.xdmf").count("<Time") == 6 and text(folder, "energy.csv").count("\n") == 7, folder + ": begins with 4")
    r = tactus("diff", "whole.run", folder)
    check(r.code == 0, "%s: %s" % (folder, r.out + r.err))
    check(status(folder)["restarts"] == 1, "%s: %s" % (folder, status(folder)))
r = resume("new.run", 8)
check(r.code == 0 and text("new.run", "frames.xdmf").count("<Time") == 6, "a new folder goes on: " + r.err)

# Refused, and nothing is touched: another scene's, another interval's, somebody else's folder, a run that lives.
must_write_all([["other.run", *SIZE, "--scene", "b"], ["interval.run", *SIZE, "--every", 2]], env=ALONE)
os.mkdir("foreign.run")
open("foreign.run/energy.csv", "w").write("mine")
os.mkdir("foreign-status.run")
open("foreign-status.run/status.json", "w").write("{}")
p = subprocess.Popen([WRITER, "live.run", "--quiet", *map(str, SIZE), "--frames", "1000", "--pause", ".05"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
p.stdout.readline()
for folder, part in (("other.run", "another scene"), ("interval.run", "time.frame"), ("foreign.run", "no status.json"),
                     ("foreign-status.run", "no status.json"), ("live.run", "still writing .*process %d" % p.pid), ("", "is empty"),
                     ("checkpoint-elsewhere.h5", "is a file")):
    before = {n: text(folder, n) for n in os.listdir(folder)} if os.path.isdir(folder) and folder != "live.run" else None
    for ranks in (1, 2) if folder == "other.run" else (1,):
        refused(resume(folder, 4, "--quiet", "--checkpoint", "checkpoint-elsewhere.h5", ranks=ranks), 2, part)
    if before is not None:
        check({n: text(folder, n) for n in os.listdir(folder)} == before, folder + " is left alone")
p.kill()
p.wait()
r = resume("live.run", 1)
check(r.code == 0, "after a kill: " + r.err)
same_as_whole("live.run", "after a kill")

# A rank is killed at any moment, mostly in the middle of a write; others go on from an early frame.
random.seed(11)
for trial in range(6):
    ranks, folder = 1 + trial % 3 // 2, "killed-%d.run" % trial
    launch = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
    p = subprocess.Popen([*launch, WRITER, folder, "--quiet", *map(str, SIZE), "--frames", "100000"], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, env=ALONE if ranks == 1 else None)
    for _ in range(9):
        p.stdout.readline()
    time.sleep(random.uniform(0, .3))
    ids = [p.pid] if ranks == 1 else open("/proc/%d/task/%d/children" % (p.pid, p.pid)).read().split()
    os.kill(int(random.choice(ids)), signal.SIGKILL)
    p.stdout.read()
    p.wait()
    open(folder + "/checkpoint-000001.h5", "w").close()
    r = resume(folder, random.randint(2, 9), ranks=2 if trial in (0, 2) else 1)
    check(r.code == 0, "killed on %d ranks: %s" % (ranks, r.err))
    if ranks == 1 or "damaged" not in r.err:
        same_as_whole(folder, "killed on %d ranks" % ranks)

# The disk is full: said, and what was there stays; with room again it goes on.
os.mkdir("small")
if call("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", "small").code == 0:
    try:
        BIG = ("--vertices", 9000, "--kind", "triangles")
        must_write("big.run", *BIG, "--frames", 4, env=ALONE)
        must_write("small/full.run", *BIG, "--frames", 3, env=ALONE)
        open("small/full.run/checkpoint-000001.h5", "w").close()
        with open("small/filler", "wb", buffering=0) as f:
            try:
                while True:
                    f.write(b"x" * 4096)
            except OSError:
                pass
        for ranks in (1, 2):
            r = write("small/full.run", "--quiet", *BIG, "--resume", "--first", 2, "--frames", 2, ranks=ranks)
            refused(r, 3, "No space left on device")
            if ranks > 1:
                continue
            r = write("small/new.run", "--quiet", *BIG, "--resume", "--first", 2, "--checkpoint", "small/full.run/checkpoint-000001.h5", ranks=ranks)
            refused(r, 3, "No space left on device")
            check(not os.path.exists("small/new.run"), "a new folder is left behind")
        os.remove("small/filler")
        r = write("small/full.run", "--quiet", *BIG, "--resume", "--first", 2, "--frames", 2)
        check(r.code == 0, "with room again: " + r.err)
        r = tactus("diff", "big.run", "small/full.run", "--all-frames")
        check(r.code == 0, "with room again: " + r.out + r.err)
    finally:
        call("umount", "small")
else:
    print("SKIPPED: a full disk, for that takes the right to mount a tmpfs (root)")

# Files that are damaged or gone: what can be kept is kept, nothing is thrown away, and it is said.
FRAMES = (lambda d: d[:len(d) // 2], lambda d: b"", lambda d: d[:64] + b"\xff" * 64 + d[128:], lambda d: b"no HDF5", None)
SMALL = (("energy.csv", lambda d: d[:-10], 11), ("energy.csv", lambda d: b"rubbish\n", 6), ("energy.csv", None, 6),
         ("status.json", lambda d: b"", 11), ("status.json", None, 11), ("frames.xdmf", None, 11), ("scene.json", None, 11))
# Rows from before the checkpoint, which were on the disk before it was: not cut off, but refused.
ROWS = ((lambda d: d[:d.index(b"\n0.25")] + b"\n0.2", "lacks the row of frame 4;"), (lambda d: d.replace(b"\n0.25,", b"\n0.25;"), "its line 4 is no row"))
damaged, small = ["damaged-%d.run" % i for i in range(len(FRAMES))], ["small-%d.run" % i for i in range(len(SMALL))]
wrong = ["rows-%d.run" % i for i in range(len(ROWS))]
begun(*([folder, "--frames", 7] for folder in damaged + small + wrong))
for folder, name, how in [(f, "frames.h5", how) for f, how in zip(damaged, FRAMES)] + [(f, name, how) for f, (name, how, _) in zip(small, SMALL)] + \
        [(f, "energy.csv", how) for f, (how, _) in zip(wrong, ROWS)]:
    data = open(folder + "/" + name, "rb").read()
    if how is None:
        os.remove(folder + "/" + name)
    else:
        open(folder + "/" + name, "wb").write(how(data))
for ranks in (1, 2):
    mine = damaged[ranks - 1::2]
    broken = {f: open(f + "/frames.h5", "rb").read() for f in mine if os.path.exists(f + "/frames.h5")}
    said = resume_all(mine, 5, "--no-finish", ranks=ranks)
    check(said.count("into a new frames.h5") == len(broken), "damage is told: " + said)
    said = resume_all(mine, 8, ranks=3 - ranks)
    check("warning" not in said, "and not told again: " + said)
    for folder, data in broken.items():
        check(open(folder + "/frames.h5.damaged", "rb").read() == data, folder + ": the damaged file is kept")
    for folder in mine:
        r = tactus("diff", "whole.run", folder)
        check(r.code == 0, "%s: %s" % (folder, r.out + r.err))
        check(text(folder, "energy.csv") == text("whole.run", "energy.csv"), folder + ": all rows are there")
for folder, (_, part) in zip(wrong, ROWS):
    before = {n: text(folder, n) for n in os.listdir(folder)}
    refused(resume(folder, 5, "--quiet"), 2, part)
    check({n: text(folder, n) for n in os.listdir(folder)} == before, folder + " is left alone")
resume_all(small, 5)
for folder, (_, _, rows) in zip(small, SMALL):
    check(text(folder, "energy.csv").count("\n") == rows, "%s: %s" % (folder, text(folder, "energy.csv")))
    if rows == 11:
        same_as_whole(folder, folder)
check(text("small-1.run", "energy.csv.damaged") == "rubbish\n", "what is no table is kept")
finish()
