#!/usr/bin/python3
"""The memory of a recorded run does not grow with the number of its frame intervals.  It once did, by 32 MiB with each: blocks
that came and went left holes between what stayed.  If this fails, a long recorded run dies of it."""
import resource

from record import check, finish, report, run

SCENE = {"format": "tactus-scene/1", "gravity": [0, -9.81, 0],
         "bodies": [{"name": "grain", "mass": 1, "mesh": {"kind": "points", "vertices": [[0, 0, 0]]}}]}
INTERVALS = (40, 2000)
# HDF5 keeps the structures of a file in memory, up to 32 MiB of them: of frames.h5 and of record.h5.
MOST_MIB = 2 * 32 + 8

# A program that grows is told so by its system, and does not take the machine with it.
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
peak = []
for n in INTERVALS:
    run(1, dict(SCENE, time={"end": n / 4096, "frame": 1 / 4096}), str(n), "--quiet")
    peak.append((report(str(n))["peak_memory_bytes"] or 0) / 2**20)
print("MiB with %d intervals: %.1f; with %d: %.1f" % (INTERVALS[0], peak[0], INTERVALS[1], peak[1]))
check(0 < peak[0] < peak[1] < peak[0] + MOST_MIB, "%g MiB became %g MiB" % tuple(peak))
finish()
