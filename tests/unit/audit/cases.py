#!/usr/bin/python3
"""Records made by hand, of which it is known what passes through what: cases.py"""
import copy
import json
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np

from handmade import QUANTUM, Body, Folder

TACTUS = os.environ["TACTUS"]
HERE = tempfile.TemporaryDirectory(prefix="tactus-audit-")
os.chdir(HERE.name)
T = 1 << 16  # an interval
SLOW = "ASAN_OPTIONS" in os.environ
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)
        print("failed:", what, file=sys.stderr)


def call(arguments, ranks, command="audit"):
    launch = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
    return subprocess.run(launch + [TACTUS, command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, timeout=600)


def audit(folder, *options, ranks=1, code=None):
    r = call([folder.path, "--json", *options], ranks)
    if r.returncode not in (0, 1):
        check(False, "%s: exit code %d: %s" % (folder.path, r.returncode, r.stderr))
        return None
    report = json.loads(r.stdout)
    report["code"] = r.returncode
    check(r.returncode == (0 if report.get("proven", report.get("clean")) else 1), folder.path + ": exit code and report")
    if code is not None:
        check(r.returncode == code, "%s: exit code %d, not %d: %s" % (folder.path, r.returncode, code, r.stdout))
    return report


def both(folder, *options, code=None):
    """On one rank; three must say the same. With sanitizers, where ranks are slow, of every fourth."""
    both.calls += 1
    one = audit(folder, *options, code=code)
    if not SLOW or both.calls % 4 == 0:
        three = audit(folder, *options, ranks=3)
        check(one == three, "%s: 3 ranks say something else: %s, %s" % (folder.path, one, three))
    return one


both.calls = 0


def moved(x, *knots):
    """A path through x plus displacements at times: (quanta, displacement) ..."""
    return [(t, np.add(x, d)) for t, d in knots]


FLOOR = Body("floor", [[-1, 0, -1], [1, 0, -1], [0, 0, 1]], [[0, 1, 2]], fixed=True)
SMALL = [[0.0, 0.3, 0.0], [0.1, 0.31, 0.0], [0.0, 0.32, 0.1]]


def falling(name, *knots, **options):
    """A small triangle over the floor that is moved along knots."""
    f = Folder(name, [copy.deepcopy(FLOOR), Body("chip", SMALL, [[0, 1, 2]], **options)])
    p = f.still(knots[0][0], knots[-1][0])
    for i in range(3, 6):
        p[i] = moved(f.x[i], *knots)
    return f, p


def near(value, wanted, tolerance):
    return abs(value - wanted) <= tolerance


def passes_between_frames():
    f, p = falling("between", (0, [0, 0, 0]), (T // 4, [0, -0.6, 0]), (3 * T // 4, [0, -0.6, 0]), (T, [0, 0, 0]))
    f.frame(0)
    f.frame(T * QUANTUM)
    f.interval(0, p)
    frames = audit(f, "--frames", code=0)
    check(frames["bad_frames"] == 0 and frames["frames"] == 2, "between: the frames are clean")
    r = both(f, code=1)
    check(r["pieces"]["crossing"] >= 6 and r["pieces"]["open"] == 0, "between: three vertices pass twice: %s" % r["pieces"])
    first = r["places"][0]
    check(first["a"] == {"body": "chip", "kind": "vertex", "vertices": [0]} and first["b"]["body"] == "floor" and
          first["b"]["triangle"] == 0 and first["verdict"] == "crossing", "between: which passes first: %s" % first)
    check(near(first["time"], T / 8 * QUANTUM, 1e-9), "between: when: %r" % first["time"])


def near_misses():
    for gap in (1e-3, 1e-6, 1e-10):
        down = gap - 0.3
        f, p = falling("miss-%g" % gap, (0, [0, 0, 0]), (T // 4, [0, down, 0]), (T // 2, [0.5, down, 0.1]), (T, [0, 0, 0]))
        f.interval(0, p)
        r = both(f, code=0)
        measured, bound = r["smallest"]["measured"], r["smallest"]["bound"]
        check(near(measured["gap"], gap, 1e-12) and bound <= measured["gap"] and bound > 0.9 * gap,
              "a near miss of %g: %s" % (gap, r["smallest"]))
        check(measured["a"]["body"] == "chip" and measured["b"]["body"] == "floor", "who was nearest: %s" % measured)
    # A bar sweeps by the end of a rod; nearest in mid-piece.
    for gap, code in ((1e-7, 0), (-1e-7, 1)):
        rod = Body("rod", [[-1, 0, 0], [1, 0, 0]], segments=[[0, 1]])
        bar = Body("bar", [[1 + gap, 1, -1], [1 + gap, 1, 1]], segments=[[0, 1]])
        f = Folder("edges-%d" % code, [rod, bar])
        p = f.still(0, T)
        for i in (2, 3):
            p[i] = moved(f.x[i], (0, [0, 0, 0]), (T, [0, -2.1, 0]))
        f.interval(0, p)
        r = both(f, code=code)
        if code == 0:
            check(near(r["smallest"]["measured"]["gap"], gap, 2e-9) and 0.9 * gap < r["smallest"]["bound"] <= gap,
                  "edges that sweep by: %s" % r["smallest"])
        else:
            check(r["pieces"]["crossing"] >= 1 and r["pieces"]["open"] == 0, "edges that cross in mid-piece: %s" % r["pieces"])


def turning():
    """Two edges of 2 m, 1e-6 m apart and nearly parallel, whose common normal turns within one piece: a million boxes do not tell of
    all of it, but they do of its parts. From the run of a falling arch."""
    def places(*lines):
        return np.array([[float.fromhex(x) for x in line.split()] for line in lines])
    begin = places("0x1.d16fc2c689479p+2 0x1.3ae8c778a8fe8p+2 -0x1.7f25670c25c86p-1", "0x1.0d3ae5da77dep+3 0x1.793a73af45809p+2 -0x1.7f397c8fa01f9p-1",
                   "0x1.d16d78edc4056p+2 0x1.3ae6d90d2ff0bp+2 -0x1.7f273ee900feep-1", "0x1.0d39aee24e12dp+3 0x1.7938704d9d929p+2 -0x1.7f3a83089de61p-1")
    end = places("0x1.d16fc679ff492p+2 0x1.3ae8a8712aaf5p+2 -0x1.7f2b667d10f76p-1", "0x1.0d3adcebf39bap+3 0x1.793a70be779cep+2 -0x1.7f4185efae6e7p-1",
                 "0x1.d16da24286e4fp+2 0x1.3ae6d9ce2bd63p+2 -0x1.7f21a12db2bd4p-1", "0x1.0d39b646da5a7p+3 0x1.79388e5121d63p+2 -0x1.7f331d464e8b1p-1")
    f = Folder("turning", [Body("one", begin[:2], segments=[[0, 1]]), Body("other", begin[2:], segments=[[0, 1]])], thickness=1e-6)
    f.interval(0, [[(0, a), (T, b)] for a, b in zip(begin, end)])
    r = both(f, code=0)
    check(r["pieces"]["open"] == 0 and r["queries"] > 1, "edges that turn: %s, %d queries" % (r["pieces"], r["queries"]))


def close_and_turning():
    """A surface, and an edge, that turn by a right angle within one piece, 1e-7 m from a point or another edge: by fixed directions the
    bound would need a thousand million parts of the piece."""
    line = [[-1, 1, -1], [1, -1, -1], [0, 0, 1]]
    for name, body, other in (("face", Body("one", line, [[0, 1, 2]]), Body("point", [[0, 1e-7, -0.2]])),
                              ("edge", Body("one", line[:2], segments=[[0, 1]]), Body("point", [[0, 1e-7, -1]])),
                              ("edges", Body("one", line, [[0, 1, 2]]), Body("other", [[0, 1e-7, -2], [0, 1e-7, 0]], segments=[[0, 1]]))):
        f = Folder("turning-" + name, [body, other], thickness=1e-3)
        p = f.still(0, T)
        for i in range(len(body.x)):
            p[i] = moved(f.x[i], (0, [0, 0, 0]), (T, [0, 2 * f.x[i][0], 0]))
        f.interval(0, p)
        smallest = both(f, code=0)["smallest"]
        gap = smallest["measured"]["gap"]
        check(0.9 * 1e-7 / 2 ** 0.5 < gap <= 1e-7 and 0.97 * gap < smallest["bound"] <= gap, "%s that turns: %s" % (name, smallest))


def touching():
    f, p = falling("touch", (0, [0, 0, 0]), (T // 2, [0, -0.3, 0]), (T, [0, 0, 0]))
    f.interval(0, p)
    r = both(f, code=1)
    check(r["pieces"]["crossing"] + r["pieces"]["open"] >= 1, "touching is not proven: %s" % r["pieces"])


def breakpoints_of_others():
    """Between frames a sheet's corner makes room in time, or too late by 1 % of the interval: only breakpoints tell."""
    for late, code in ((0, 0), (T // 100, 1)):
        f, p = falling("room-%d" % code, (0, [0, 0, 0]), (T // 2, [0, -0.299, 0]), (T // 2 + 1000, [0, -0.35, 0]), (T, [0, -0.35, 0]))
        for i in range(3):
            p[i] = moved(f.x[i], (0, [0, 0, 0]), (T // 2 + late, [0, 0, 0]), (T // 2 + 500 + late, [0, -0.1, 0]), (T, [0, -0.1, 0]))
        f.interval(0, p)
        both(f, code=code)


def radii():
    for kept, code in ((1 + 1e-9, 0), (1 - 1e-9, 1)):
        r, d = 0.1, 0.2 * kept
        gas = Body("gas", [[0, 0, 0], [-1, d, 0]], radius=r)
        f = Folder("gas-%d" % code, [gas])
        f.interval(0, [[(0, [0, 0, 0]), (T, [0, 0, 0])], [(0, [-1, d, 0]), (T, [1, d, 0])]])
        report = both(f, code=code)
        check(near(report["smallest"]["measured"]["gap"], d - 0.2, 1e-9), "particles: %s" % report["smallest"])
        sheet = copy.deepcopy(FLOOR)
        sheet.radius = 0.05
        f = Folder("hail-%d" % code, [sheet, Body("hail", [[0, 1, 0]], radius=r)])
        p = f.still(0, T)
        p[3] = [(0, [0, 1, 0]), (T // 2, [0, 0.15 * kept, 0]), (T, [0, 0.15 * kept, 0])]
        f.interval(0, p)
        report = both(f, code=code)
        check(near(report["smallest"]["measured"]["gap"], 0.15 * (kept - 1), 1e-9), "a particle and a sheet: %s" % report["smallest"])
        frames = both(f, "--frames", code=code)
        check([k["near"] for k in frames["list"]] == [0, code], "frames of particles: %s" % frames)
    # Surfaces of two bodies keep their radii, too; a mesh keeps none from itself.
    for kept, code in ((1 + 1e-9, 0), (1 - 1e-9, 1)):
        f, p = falling("thick-%d" % code, (0, [0, 0, 0]), (T, [0, 0.1 * kept - 0.3, 0]), radius=0.1)
        f.interval(0, p)
        report = both(f, code=code)
        check(code == 1 or near(report["smallest"]["measured"]["gap"], 0.1 * (kept - 1), 1e-9), "a thick surface: %s" % report["smallest"])
        both(f, "--frames", code=code)


def rope_in_capsule():
    """A rope over a round obstacle, which is a segment with a radius.  Their middle lines never meet; yet where the radii overlap, the
    rope is inside the obstacle."""
    r, rope_r = 0.1, 0.01
    middle = [[0.3 * (i - 2), 1, 0] for i in range(5)]
    for depth, code in ((-1e-9, 0), (1e-9, 1), (0.05, 1), (0.1, 1)):
        obstacle = Body("capsule", [[0, 0, -0.5], [0, 0, 0.5]], segments=[[0, 1]], radius=r, fixed=True)
        rope = Body("rope", middle, segments=[[i, i + 1] for i in range(4)], radius=rope_r)
        f = Folder("capsule-%d-%g" % (code, depth), [obstacle, rope])
        p = f.still(0, T)
        down = r + rope_r - depth - 1
        for i in range(2, 7):
            p[i] = moved(f.x[i], (0, [0, 0, 0]), (T // 2, [0, down, 0]), (T, [0, 0, 0]))
        f.frame(0)
        f.frame(T * QUANTUM)
        f.interval(0, p)
        report = both(f, code=code)
        check(code == 1 or near(report["smallest"]["measured"]["gap"], -depth, 1e-9), "a rope over a capsule: %s" % report["smallest"])
        check((report["pieces"]["crossing"] > 0) == (code == 1) and report["pieces"]["open"] == 0,
              "a rope %g m inside a capsule: %s" % (depth, report["pieces"]))
        if code == 1:
            first = report["places"][0]
            check({first["a"]["body"], first["b"]["body"]} == {"capsule", "rope"} and first["verdict"] == "crossing" and
                  near(first["time"], T / 2 * QUANTUM * (1 - depth / -(down)), 1e-6), "who is inside the capsule: %s" % first)
        both(f, "--frames", code=0)
        # From the start to the end, in every frame.
        f = Folder("capsule-stays-%d-%g" % (code, depth), [obstacle, Body("rope", np.add(middle, [0, down, 0]), segments=rope.segments, radius=rope_r)])
        f.interval(0, f.still(0, T))
        both(f, code=code)
        both(f, "--frames", code=code)


def in_the_plane():
    wall = Body("wall", [[0, -1, 0], [0, 1, 0]], segments=[[0, 1]], fixed=True)
    rope = [[-1, 0, 0], [-0.5, 0.2, 0], [-0.5, -0.2, 0]]
    for far, code in ((-0.1, 0), (0.1, 1)):
        f = Folder("plane-%d" % code, [wall, Body("rope", rope, segments=[[0, 1], [0, 2]])])
        p = f.still(0, T)
        for i in (3, 4):
            p[i] = moved(f.x[i], (0, [0, 0, 0]), (T // 2, [0.5 + far, 0, 0]), (T, [0, 0, 0]))
        f.frame(0)
        f.frame(T * QUANTUM)
        f.interval(0, p)
        r = both(f, code=code)
        check((r["pieces"]["crossing"] > 0) == (code == 1), "in the plane: %s" % r["pieces"])
        check(r["start_crossing"] == 0, "in the plane: the start is sound")
        both(f, "--frames", code=0)
    # Crossing from the start: neither vertices nor ends meet anything, for nothing moves.
    f = Folder("plane-start", [wall, Body("rope", [[-1, 0, 0], [1, 0.1, 0]], segments=[[0, 1]])])
    f.frame(0)
    f.interval(0, f.still(0, T))
    r = both(f, code=1)
    check(r["start_crossing"] == 1 and r["pieces"]["crossing"] == 0, "crossing from the start: %s" % r)
    both(f, "--frames", code=1)
    # Out of the plane they pass each other.
    f = Folder("space", [wall, Body("rope", [[-1, 0, 0.01], [1, 0.1, 0.01]], segments=[[0, 1]])])
    f.interval(0, f.still(0, T))
    both(f, code=0)


def pierced_from_the_start():
    f = Folder("pierced", [FLOOR, Body("chip", [[0, 0.3, 0], [0.1, -0.2, 0], [0, -0.4, 0.1]], [[0, 1, 2]])])
    f.frame(0)
    f.interval(0, f.still(0, T))
    r = both(f, code=1)
    check(r["start_crossing"] >= 1 and r["pieces"]["crossing"] == 0 and r["places"][0]["verdict"] == "start", "pierced: %s" % r)
    both(f, "--frames", code=1)


def who_may_pass():
    knots = [(0, [0, 0, 0]), (T // 4, [0, -0.6, 0]), (T, [0, -0.31, 0])]

    def through(name, bodies, **options):
        f = Folder(name, bodies, **options)
        p = f.still(0, T)
        for i in range(3, 6):
            p[i] = moved(f.x[i], *knots)
        f.interval(0, p)
        return f

    chip, far = Body("chip", SMALL, [[0, 1, 2]]), Body("far", [[9, 9, 9]])
    for f, code in ((through("may", [FLOOR, chip], ignore=[("chip", "floor")]), 0),
                    (through("may-not", [FLOOR, chip, far], ignore=[("chip", "far")]), 1),
                    (through("never-free", [FLOOR, chip], free=[0, 0, 0, 0, 0, 0]), 0),
                    (through("one-free", [FLOOR, chip], free=[0, 0, 0, 0, 1, 0]), 1)):
        r = both(f, code=code)
        check((r["pairs"] == 0) == (code == 0), "%s: pairs: %s" % (f.path, r))
        both(f, "--frames", code=code)
    one = [*FLOOR.x, *SMALL]
    for self_contact, code in ((True, 1), (False, 0)):
        body = Body("both", one, [[0, 1, 2], [3, 4, 5]], self_contact=self_contact)
        both(through("self-%d" % code, [body]), code=code)


def spans():
    def still(name, *intervals):
        f, _ = falling(name, (0, [0, 0, 0]), (T, [0, 0, 0]))
        for k, index in enumerate(intervals):
            f.interval(index, f.still(index * T, (index + 1) * T))
        return f

    r = both(still("later", 5, 6, 7), code=0)
    check(r["spans"] == [[5 * T * QUANTUM, 8 * T * QUANTUM]] and not r["scene"]["made"], "a folder that begins later: %s" % r)
    r = both(still("gap", 0, 1, 3), code=1)
    check(r["spans"] == [[0, 2 * T * QUANTUM], [3 * T * QUANTUM, 4 * T * QUANTUM]] and "gap" in r["sentence"] and
          r["pieces"]["crossing"] == 0, "a record with a gap: %s" % r)
    # Where it is at an interval's end is where it is at the next one's start; if not, nobody knows how it came there.
    f = still("jump", 0)
    f.x[3:] -= [0, 0.6, 0]
    f.interval(1, f.still(T, 2 * T))
    r = both(f, code=1)
    check(len(r["spans"]) == 2, "a jump: %s" % r["spans"])
    # The writer was stopped in the middle of a group, wherever that was: the audit and `info` leave it out.
    for name in ("start", "time", "position", "000001", "rows"):
        f = still("unfinished-" + name, 0, 1)
        with h5py.File(f.path + "/record.h5", "a") as record:
            group = record["record/000001"]
            if name == "000001":
                group.clear()
            elif name == "rows":
                rows = group["position"][:-1]
                del group["position"]
                group["position"] = rows
            else:
                del group[name]
        r = audit(f, code=1)
        check(r["spans"] == [[0, T * QUANTUM]] and not r["whole"] and "a beginning" in r["sentence"], "an unfinished group: " + name)
        reported = call([f.path, "--until", str(T * QUANTUM)], 1)
        check(reported.returncode == 0 and "not finished" in reported.stderr and "ends at t = %.9g s" % (T * QUANTUM) in reported.stderr and
              "\nproven: nothing passed through anything in [0, %.17g] s, as requested; " % (T * QUANTUM) in reported.stdout,
              "up to when an unfinished record is proven: %s %s" % (reported.stdout, reported.stderr))
        reported = subprocess.run([TACTUS, "info", f.path + "/record.h5"], stdout=subprocess.PIPE, universal_newlines=True)
        check(reported.returncode == 0 and "unfinished 1 interval" in reported.stdout and "intervals  1:" in reported.stdout,
              "info of an unfinished record: " + reported.stdout)
        # Where others come after it, it is no kill that made it so.
        f.interval(2, f.still(2 * T, 3 * T))
        refused("unfinished, and not the last", [f.path], "record/000001", "damaged",
                ranks=(1, 3) if name == "start" else (1,))
        refused("info: unfinished, and not the last", [f.path + "/record.h5"], "record/000001", "damaged", command="info")
    # The interval under way when a run stopped.
    f = still("partial", 0, 1)
    p = f.still(2 * T, 2 * T + T // 2)
    f.interval(2, p, group="partial")
    r = both(f, code=1)
    check(r["spans"] == [[0, 2.5 * T * QUANTUM]] and "was stopped" in r["sentence"], "an interval under way: %s" % r)
    check(audit(f, "--until", str(2.5 * T * QUANTUM), code=0)["spans"] == r["spans"], "an interval under way, asked for")
    f.interval(2, f.still(2 * T, 3 * T))
    check(both(f, code=0)["spans"] == [[0, 3 * T * QUANTUM]], "an interval under way that is there as a whole too")
    f = still("partial-crossing", 0)
    p = f.still(T, 2 * T)
    for i in range(3, 6):
        p[i] = moved(f.x[i], (T, [0, 0, 0]), (2 * T, [0, -1, 0]))
    f.interval(1, p, group="partial")
    both(f, code=1)


def little_memory():
    """A record larger than what may be held is read in portions: more slabs, the same answers."""
    rng = np.random.default_rng(5)
    for depth, code in ((0.01, 0), (-0.01, 1)):
        f, p = falling("long-%d" % code, (0, [0, 0, 0]), (T, [0, 0, 0]))
        for i in range(3, 6):
            t = np.unique(np.concatenate([[0, T], rng.integers(1, T, 20000)]))
            y = (f.x[i][1] - depth) * (0.5 + 0.5 * np.cos(2 * np.pi * t / T)) + depth
            p[i] = [(int(a), [f.x[i][0], b, f.x[i][2]]) for a, b in zip(t, y)]
        f.interval(0, p)
        large, small = both(f, code=code), both(f, "--memory", "0.1", code=code)
        check(small["slabs"] > large["slabs"] and small["pieces"]["crossing"] == large["pieces"]["crossing"],
              "portions: %s, %s" % (large, small))
        check(large["pieces"]["total"] > 20000, "pieces: %s" % large["pieces"])


def refused(what, arguments, *words, ranks=(1,), command="audit"):
    for ranks in ranks:
        r = call(arguments, ranks, command)
        lines = [line for line in r.stderr.splitlines() if line.startswith("tactus: ")]
        check(r.returncode == 2 and len(lines) == 1 and all(w in lines[0] for w in words) and r.stdout == "",
              "%s on %d ranks: %d %s %s" % (what, ranks, r.returncode, r.stdout, r.stderr[:1000]))


def bad_input():
    f, p = falling("bad", (0, [0, 0, 0]), (T, [0, 0, 0]))
    refused("no record", ["bad"], "--record", "--frames", ranks=(1, 3))
    refused("no frames in it", ["bad", "--frames"], "no whole frame")
    refused("no folder", ["nowhere"], "nowhere")
    refused("no run folder", ["."], "frames.h5")
    refused("no argument", [], "run folder")
    refused("memory", ["bad", "--memory", "-1"], "--memory")
    f.interval(0, p)
    f.interval(1, f.still(T, 2 * T)) # of the last interval, some of what follows would be a kill's work
    good = open("bad/record.h5", "rb").read()

    def damaged(what, edit, *words):
        with open("bad/record.h5", "wb") as out:
            out.write(good)
        with h5py.File("bad/record.h5", "a") as record:
            edit(record)
        refused(what, ["bad"], *words)

    def replace(name, change):
        def edit(record):
            data = change(record["record/000000/" + name][()])
            del record["record/000000/" + name]
            record["record/000000/" + name] = data
        return edit

    def put(at, value):
        def change(data):
            data[at] = value
            return data
        return change

    def without(name):
        def edit(record):
            del record[name]
        return edit

    for name in ("start", "time", "position"):
        damaged("no " + name, without("record/000000/" + name), "record/000000/" + name, "later intervals")
        damaged("short " + name, replace(name, lambda d: d[:-1]), "record.h5")
        damaged("other type of " + name, replace(name, lambda d: d.astype("f4")), name)

    def without_any(record):
        record["record"].clear()

    damaged("no group", without_any, "no interval that is whole")
    damaged("no /record", without("record"), "/record")
    damaged("times that do not ascend", replace("time", put(1, 0)), "ascend")
    damaged("another start", replace("time", put(2, 5)), "first time")
    damaged("another end", replace("time", put(3, T + 5)), "last time")
    damaged("a negative time", replace("time", put(slice(0, None, 2), -5)), "ascend")
    damaged("no number", replace("position", put((3, 1), np.nan)), "no number", "floor")
    damaged("infinity", replace("position", put((7, 1), np.inf)), "no number", "chip")
    damaged("start not from 0", replace("start", put(0, 1)), "start")
    damaged("start falls", replace("start", put(2, 1)), "start")
    damaged("start beyond", replace("start", put(slice(3, None), 1 << 60)), "start")

    def no_quantum(record):
        del record["record"].attrs["quantum_s"]

    def odd_quantum(record):
        record["record"].attrs["quantum_s"] = -1.0

    damaged("no quantum", no_quantum, "quantum_s")
    damaged("an odd quantum", odd_quantum, "quantum_s")
    damaged("two that overlap", lambda record: record.copy("record/000000", "record/000002"), "before")


    def of_tomorrow(record):
        record.attrs["format"] = np.bytes_("tactus-record/9")

    def unfinished_alone(record):
        del record["record/000001"]
        del record["record/000000/start"]

    def of_other_vertices(record):
        record["record"].clear()
        g = record["record"].create_group("000000")
        g["start"], g["time"], g["position"] = np.array([0, 2]), np.array([0, T]), np.zeros((2, 3))

    damaged("another format", of_tomorrow, "tactus-record/9", "tactus-record/1")
    damaged("nothing finished", unfinished_alone, "no interval that is whole")
    damaged("other vertices", of_other_vertices, "of 1 vertices", "are of 6;")
    for size in (0, 5, 100, len(good) // 2, len(good) - 1):
        with open("bad/record.h5", "wb") as out:
            out.write(good[:size])
        refused("cut to %d bytes" % size, ["bad"], "record.h5")
    with open("bad/record.h5", "wb") as out:
        out.write(good)
    with open("bad/scene.json", "r") as text:
        scene = text.read()
    for text, word in ((scene[:-5], "scene.json"), (scene.replace('"ignore": []', '"ignore": [["chip", "ghost"]]'), "ignore"),
                       ('{"bodies": []}', "bodies")):
        with open("bad/scene.json", "w") as out:
            out.write(text)
        refused("scene.json: " + text[:20], ["bad"], word)
    os.remove("bad/scene.json")
    refused("no scene.json", ["bad"], "scene.json")


def no_contact_at_all():
    f, p = falling("alone", (0, [0, 0, 0]), (T, [0, 0, 0]))
    f.interval(0, p)
    r = both(f, code=0)
    check(r["smallest"]["measured"] is None and r["smallest"]["bound"] == r["smallest"]["watched"], "nothing near: %s" % r["smallest"])


passes_between_frames()
near_misses()
turning()
close_and_turning()
touching()
breakpoints_of_others()
radii()
rope_in_capsule()
in_the_plane()
pierced_from_the_start()
who_may_pass()
spans()
little_memory()
no_contact_at_all()
bad_input()
text = call(["between"], 1)
check("crossing" in text.stdout and "not proven: something passes" in text.stdout, "the report in words: " + text.stdout)
print("%d failures" % len(failures))
sys.exit(1 if failures else 0)
