#!/usr/bin/python3
"""same.py: the record is a function of the scene alone: the same to the last bit on other numbers of ranks, with
vertices that change hands at every commit, found by all pairs, with other windows, and with a budget so small that
everything goes through many runs on disk.  If not, breakpoints are lost, kept twice, or of a pass that was thrown away.
"""
import os

from record import EQUALITY, RANKS, check, equal, finish, launch, path, read, report, run

# One scene in all ways, the others each in some: what they are there for stands beside them.
WAYS = {
    "budget": (1, [], {"TACTUS_TEST_SPILL": 3000}),
    "all-pairs": (1, ["--discover", "all-pairs"], {}),
    "windows": (1, ["--set", "discovery.window_s=[1e-5,1e-3]"], {"TACTUS_TEST_SPILL": 20000}),
    "kinetic": (1, ["--discover", "kds"], {}),
    "two": (2, [], {}),
    "four": (4, [], {"TACTUS_TEST_SPILL": 5000}),
    "pairs-three": (3, ["--discover", "all-pairs"], {}),
    "moving": (3, [], {"TACTUS_TEST_MIGRATE": 5}),
    "moving-budget": (4, [], {"TACTUS_TEST_MIGRATE": 7, "TACTUS_TEST_SPILL": 4000}),
}
SCENES = [
    (RANKS + "moving.json", list(WAYS)),                                     # rotating, let go, free: everything
    (EQUALITY + "let-go.json", ["kinetic", "moving-budget"]),                # caught late, and let go
    (EQUALITY + "free-clocks.json", ["all-pairs", "four"]),                  # a vertex in several classes
    (EQUALITY + "turning-obstacle.json", ["moving"]),                        # knots of pieces of one degree
    (RANKS + "few.json", ["four", "moving"]),                                # 2D; ranks without a vertex
]
if os.environ.get("TACTUS_TEST_SHORT"):
    SCENES = [(RANKS + "moving.json", ["budget", "all-pairs", "moving-budget"])]

for scene, ways in SCENES:
    name = os.path.basename(scene).removesuffix(".json")
    run(1, scene, name, "--quiet")
    check(len(read(name)) > 3, "%s: intervals" % name)
    for way in ways:
        ranks, options, environment = WAYS[way]
        run(ranks, scene, name + "-" + way, "--quiet", *options, **environment)
        equal(name, name + "-" + way, "%s, %s" % (name, way))

# That it was worth it: passes were thrown away, vertices changed hands.
check(report("moving")["counters"]["rollbacks"] > 0, "a pass is thrown away")
check(report("moving-moving-budget")["counters"]["migrations"] > 100, "vertices change hands")

# Without contact there are no passes to throw away, but long ones.
run(1, RANKS + "moving.json", "loose", "--quiet", "--set", "contact.thickness=0")
for ranks, spill in ((1, 2000), (3, 5000)):
    run(ranks, RANKS + "moving.json", "loose-%d" % ranks, "--quiet", "--set", "contact.thickness=0", TACTUS_TEST_SPILL=spill)
    equal("loose", "loose-%d" % ranks, "contact off, %d ranks" % ranks)

# Recording changes no bit of the run.
run(2, RANKS + "moving.json", "unrecorded", "--quiet", record=False)
check(launch.difference(path("moving"), path("unrecorded")) == "", "the run is that without --record")
check(not os.path.exists(path("unrecorded") + "/record.h5"), "no record without --record")
finish()
