#!/usr/bin/python3
"""Frame times as a user meets them: a run to 0.6 s with frames of 0.02 s has 31 of them in every file, the last like the
others; runs with other frames and other ends have the same times; checkpoints by simulated time lie on them; and the
checkpoint that an older version left a few quanta past the grid goes on.  And a scene of more than 128 s runs, with a
larger quantum, which restarts keep.  If this fails, a run ends with a frame too many, without contact forces, and nothing
that another run has matches it; or long scenes are refused."""
import json
import struct
import zlib

import h5py

from common import *

GRAIN = 65536
SCENE = {"format": "tactus-scene/1", "time": {"end": 0.6, "frame": 0.02}, "gravity": [0, -9.81, 0],
         "contact": {"thickness": 0.1, "stiffness": 1000, "restitution": 1},
         "bodies": [{"name": "ball", "mass": 1, "mesh": {"kind": "points", "vertices": [[0, 0.09, 0]]}},  # bounces, the last time at 0.59 s
                    {"name": "floor", "fixed": True, "mesh": {"kind": "inline", "vertices": [[-1, 0, -1], [1, 0, -1], [0, 0, 1]],
                                                              "triangles": [[0, 2, 1]]}}]}
json.dump(SCENE, open("rest.json", "w"))


def run(*arguments):
    r = tactus("run", *arguments, "--quiet")
    check(r.code == 0, "%s: %s" % (arguments, r.err))


def frames(folder):
    with h5py.File(folder + "/frames.h5", "r") as f:
        return [(float(g["time"][()]), g["contact_force"][:]) for g in f["frames"].values()]


def rows(folder):
    return [float(line.split(",")[0]) for line in open(folder + "/energy.csv").readlines()[1:]]


def alike(a, b, *options):
    r = tactus("diff", a, b, "--json", *options)
    check(r.code == 0, "%s %s: %s%s" % (a, b, r.out, r.err))
    return json.loads(r.out) if r.out else {}


# One run, in all its files.
run("rest.json", "-o", "whole.run")
got = frames("whole.run")
grid = [(k * 2 * 2 ** 30 + 50) // 100 * 2 ** -30 for k in range(31)]  # 0.02 k, in whole numbers
check([t for t, _ in got] == grid and rows("whole.run") == grid, "times: %s, %s" % ([t for t, _ in got], rows("whole.run")))
reported = [float(t) for t in re.findall(r'<Time Value="([^"]*)"', open("whole.run/frames.xdmf").read())]
check(reported == grid, "frames.xdmf: %s" % reported)
check(got[-1][1][0][1] > 10, "the last contact_force: %s" % got[-1][1][0])
status = json.load(open("whole.run/status.json"))
check(status["time"] == status["end"] == grid[-1] and status["share"] == 1, "status: %s" % status)
r = tactus("check", "rest.json", "--json")
check(json.loads(r.out)["time"]["frames"] == 31, "check: " + r.out[:500])

# Other frames and ends of the same scene: times that both have are the same to the last bit.
run("rest.json", "-o", "coarse.run", "--set", "time.frame=0.04")
d = alike("whole.run", "coarse.run")
check(d["frames"] == 16, "every frame of 0.04 s is one of 0.02 s: %s" % d)
run("rest.json", "-o", "longer.run", "--until", 0.7)
d = alike("whole.run", "longer.run")
check(d["frames"] == 31, "every frame of a run to 0.6 s is one of a run to 0.7 s: %s" % d)

# Stopped at a frame and gone on with: that frame stays.
run("rest.json", "-o", "parts.run", "--until", 0.3)
check(rows("parts.run") == grid[:16], "until 0.3 s: %s" % rows("parts.run"))
run("--restart", "parts.run")
alike("whole.run", "parts.run", "--all-frames")

# Checkpoints by simulated time, and what an older version left.
run("rest.json", "-o", "saved.run", "--set", "output.checkpoint_every_t=0.1", "--set", "output.checkpoint_keep=100")
times = []
for k in range(1, 7):
    with h5py.File("saved.run/checkpoint-%06d.h5" % k, "r") as f:
        times.append(int(f["integers"][0]) * 2.0 ** -46)
check(times == grid[5::5], "checkpoints every 0.1 s: %s" % times)
os.mkdir("older.run")
for name in ("frames.h5", "energy.csv", "scene.json", "status.json"):
    shutil.copy("whole.run/" + name, "older.run/" + name)
shutil.copy("whole.run/checkpoint-000001.h5", "older.run/checkpoint-000001.h5")
os.symlink("checkpoint-000001.h5", "older.run/checkpoint.h5")
with h5py.File("older.run/checkpoint.h5", "r+") as f:
    integers = f["integers"][:]
    check(list(integers[:3]) == [int(grid[-1] * 2 ** 46), 31, int(grid[-1] * 2 ** 46)], "a checkpoint's numbers: %s" % integers[:3])
    integers[0] = round(0.6 * 2 ** 46)  # where it ended, 0.4 of 2^16 quanta past its last frame but one
    f["integers"][:] = integers
body = open("older.run/checkpoint.h5", "rb").read()[512:]
head = b"TACTUSCP" + struct.pack("<IIq", 2, zlib.crc32(body), len(body))
open("older.run/checkpoint.h5", "wb").write(head.ljust(512, b"\0") + body)
r = tactus("run", "--restart", "older.run")
check(r.code == 0 and json.load(open("older.run/status.json"))["state"] == "finished", "an older run that is at its end: %r" % r.err)
run("--restart", "older.run", "--until", 0.7)
alike("longer.run", "older.run", "--all-frames")
refused(tactus("run", "--restart", "older.run", "--until", 0.6), 2, "after the end, 0.6 s")

# Beyond 128 s.
json.dump(dict(SCENE, time={"end": 200, "frame": 2}, contact={}, clocks={"gravity_s": 0.1}), open("long.json", "w"))
r = tactus("check", "long.json", "--details")
check(r.code == 0 and "quantum 2.84217e-14 s (2^-45)" in r.out, "check of 200 s: %s%s" % (r.out[:300], r.err))
run("long.json", "-o", "long.run")
check(rows("long.run") == [2 * k for k in range(101)], "frames of 200 s: %s" % rows("long.run")[-3:])
run("long.json", "-o", "first.run", "--until", 60)
quantum = json.load(open("first.run/scene.json"))["clocks"]["quantum_s"]
check(quantum == 2.0 ** -45, "--until does not change the quantum: %s" % quantum)
run("long.json", "--restart", "first.run", "--set", "time.end=100")  # whose own quantum would be 2^-46
run("long.json", "--restart", "first.run", "--set", "time.end=120")
run("long.json", "--restart", "first.run")
alike("long.run", "first.run", "--all-frames")
refused(tactus("run", "--restart", "first.run", "--until", 301), 2, "--until is 301 s, over 2.53 quanta of .*end at 256 s or sooner")
run("long.json", "-o", "short.run", "--set", "time.end=100", "--until", 1)
for scene in ([], ["long.json"]):
    refused(tactus("run", *scene, "--restart", "short.run", "--set", "time.end=201"), 2,
            "time.end: is 201 s, .* that the checkpoint counts time in; end at 128 s or sooner, or start again")
for mode in ("speculate", "kds", "all-pairs"):
    run("rest.json", "-o", mode + ".run", "--set", "time.end=1000", "--until", 0.3, "--discover", mode)
    alike("speculate.run", mode + ".run", "--all-frames")
finish()
