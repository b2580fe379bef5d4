#!/usr/bin/python3
"""Any number of ranks, owning vertices in any way (also none), writes the same data as one rank: part of the invariance
law.  If this fails, results depend on how many cores a run used."""
import json

from common import *

# Fewer vertices than ranks; one chunk; several chunks, so that several ranks write.
SCENES = ((2, "points"), (300, "mixed"), (50000, "mixed"))


def runs(start, owner):
    return [["%s-%d.run" % (start, n), "--kind", kind, "--vertices", n, "--frames", 2, "--owner", owner] for n, kind in SCENES]


must_write_all(runs("one", "blocks"))
for ranks, owner in ((2, "scattered"), (3, "one"), (3, "blocks")):
    start = "%d-%s" % (ranks, owner)
    must_write_all(runs(start, owner), ranks=ranks)
    for n, _ in SCENES:
        a, b = "one-%d.run" % n, "%s-%d.run" % (start, n)
        r = tactus("diff", a, b, "--all-frames")
        check(r.code == 0 and r.out.endswith("equal\n"), "%s differs: %s %s" % (b, r.out, r.err))
        check(json.load(open(b + "/run.json"))["ranks"] == ranks, "ranks in run.json")
        r = call("h5diff", a + "/frames.h5", b + "/frames.h5")
        check(r.code == 0, "h5diff: " + r.out)
finish()
