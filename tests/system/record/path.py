#!/usr/bin/python3
"""path.py: what a record holds, worked out from elsewhere: positions at both ends of an interval are those of the
frames, to the last bit; between the last breakpoint and a frame a free vertex moves with the frame's velocity; a
particle has a breakpoint at each tick of gravity, a scripted vertex at each knot, a fixed one none.
"""
import numpy as np

from record import EQUALITY, RANKS, check, finish, frames, quantum, read, report, run, same


def look(name):
    """What holds for every record."""
    record, (frame, free), q = read(name), frames(name), quantum(name)
    check(sorted(record) == list(range(len(frame) - 1)), "%s: a group for each interval" % name)
    for k, (start, time, x) in record.items():
        (t0, x0, _), (t1, x1, v1) = frame[k], frame[k + 1]
        check(len(start) == len(x0) + 1 and start[0] == 0 and start[-1] == len(time) == len(x), "%s %d: lengths" % (name, k))
        first, last = start[:-1], start[1:] - 1
        check((last > first).all(), "%s %d: two points at least" % (name, k))
        check((time[first] * q == t0).all() and (time[last] * q == t1).all(), "%s %d: times of the ends" % (name, k))
        check(same(x[first], x0) and same(x[last], x1), "%s %d: positions of the ends" % (name, k))
        inside = np.ones(len(time) - 1, bool)
        inside[start[1:-1] - 1] = False
        check((np.diff(time)[inside] > 0).all(), "%s %d: times ascend" % (name, k))
        check(time.dtype == np.dtype("i8") and start.dtype == np.dtype("i8") and x.dtype == np.dtype("f8"), "%s: types" % name)
    return record, frame, free, q


# Frames that are no ticks: the last piece of a path is walked with the frame's velocity.
for scene in (RANKS + "moving.json", EQUALITY + "cloth-over-sphere.json"):
    name = scene.split("/")[-1] + "-off"
    run(1, scene, name, "--quiet", "--set", "time.frame=0.0117")
    record, frame, free, q = look(name)
    walked = 0
    for k, (start, time, x) in record.items():
        if k == max(record):
            continue  # the end is a tick
        before, last = start[1:] - 2, start[1:] - 1
        dt = (time[last] - time[before]) * q
        walked += free.sum()
        check(same((x[before] + dt[:, None] * frame[k + 1][2])[free], x[last][free]), "%s %d: the last piece" % (name, k))
    check(walked > 100, "%s: pieces were walked" % name)

for scene in ("let-go", "turning-obstacle", "closing-walls", "free-clocks"):
    run(1, EQUALITY + scene + ".json", scene, "--quiet")
    look(scene)

# A fixed vertex has its two ends, a scripted one its knots too.
record, frame, free, q = look("turning-obstacle")
pieces = 0
for start, time, x in record.values():
    pieces += start[1] - start[0] - 2
knots = np.arange(60 + 90 + 1) # a degree each, 60 up and 90 down; those at a frame are ends already
ends = np.array([f[0] for f in frame])
up, down = .125 * knots[1:61] / 60, .125 + .125 * knots[1:91] / 90
times = np.concatenate([up, down])
between = [t for t in times if np.abs(ends - t).min() > 1e-9]
check(pieces == len(between), "a breakpoint at each knot: %d, %d" % (pieces, len(between)))

# Particles under gravity, alone: one breakpoint per tick, one rank and three.
rain = {"format": "tactus-scene/1", "name": "rain", "time": {"end": .3, "frame": .1}, "gravity": [0, -9.81, 0],
        "contact": {"thickness": 0.001, "stiffness": 1000},
        "bodies": [{"name": "rain", "mass": 1, "mesh": {"kind": "points", "lattice": {"count": [3, 4, 5], "spacing": 1}}},
                   {"name": "stone", "mesh": {"kind": "octahedron", "edge": 1}, "position": [30, 0, 0], "fixed": True}]}
for ranks in (1, 3):
    name = "rain-%d" % ranks
    run(ranks, rain, name, "--quiet")
    record, frame, free, q = look(name)
    rows = sum(len(time) for _, time, _ in record.values())
    ticks = report(name)["counters"]["committed"]["gravity"]
    check(ticks == 60 * int(.3 * 1024) or ticks == 60 * int(.3 * 2048), "ticks of 2^-10 or 2^-11 s: %d" % ticks)
    check(free.sum() == 60 and rows == ticks + 2 * len(record) * len(free), "rows: %d, ticks: %d" % (rows, ticks))
    for start, time, x in record.values():
        check((np.diff(start)[~free] == 2).all(), "a fixed vertex has two breakpoints in an interval")
    start, time, x = record[1]
    t = time[start[7] + 1:start[8] - 1]
    check(len(t) > 50 and len(set(np.diff(t))) == 1 and (t % np.diff(t)[0] == 0).all(), "breakpoints at multiples of the period")
finish()
