#!/usr/bin/python3
"""Any number of ranks, owning vertices in any way (also none), writes the same data as one rank: part of the invariance
law.  If this fails, results depend on how many cores a run used."""
import json

from common import *

# Fewer vertices than ranks; one chunk; several chunks, so that several ranks write.
SCENES = ((2, "points"), (300, "mixed"), (50000, "mixed"), (40000, "triangles"))


def runs(start, owner, *more):
    return [["%s-%d.run" % (start, n), "--kind", kind, "--vertices", n, "--frames", 2, "--owner", owner, *more] for n, kind in SCENES]


must_write_all(runs("one", "blocks"))
# --pieces: no rank has the scene's elements, each has some of them.
for ranks, owner, more in ((2, "scattered", []), (3, "one", []), (3, "blocks", []), (2, "blocks", ["--pieces"]),
                           (3, "scattered", ["--pieces"])):
    start = "%d-%s%s" % (ranks, owner, "".join(more))
    must_write_all(runs(start, owner, *more), ranks=ranks)
    for n, _ in SCENES:
        a, b = "one-%d.run" % n, "%s-%d.run" % (start, n)
        r = tactus("diff", a, b, "--all-frames")
        check(r.code == 0 and r.out.endswith("equal\n"), "%s differs: %s %s" % (b, r.out, r.err))
        check(json.load(open(b + "/run.json"))["ranks"] == ranks, "ranks in run.json")
        r = call("h5diff", a + "/frames.h5", b + "/frames.h5")
        check(r.code == 0, "h5diff: " + r.out)
finish()
