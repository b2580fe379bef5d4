#!/usr/bin/python3
"""What status.json and run.json tell of contacts, speed and times, on one rank and on two, before and after a restart:
contacts are those of energy.csv, ticks per second those of this sitting, wall time this sitting's and all of it, and the
time in contact is told whatever finds contacts.  If this fails, a user who looks how a run gets on is told something else
than what happens."""
import json

from common import *

SCENE = {
    "format": "tactus-scene/1", "time": {"end": 32, "frame": 32}, "gravity": [0, -9.81, 0],
    "contact": {"thickness": 0.01, "stiffness": 200, "contact_s": 2e-5}, "output": {"checkpoint_keep": 100},
    "materials": {"cloth": {"density": 0.15, "stretch": {"model": "cst", "stiffness": 50}}},
    "bodies": [{"name": "sheet", "material": "cloth", "position": [0, 0.015, 0], "velocity": [0, -1, 0],
                "mesh": {"kind": "grid", "size": [0.5, 0.5], "cells": [10, 10]}},
               {"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [1, 1], "cells": [4, 4]}}]}
SCENE["clocks"] = {"contact_s": SCENE["contact"].pop("contact_s")}  # slow enough to be stopped before the next frame
json.dump(SCENE, open("drop.json", "w"))


def run(*arguments, ranks, code=0):
    launch = ["mpirun", "-n", ranks] if ranks > 1 else []
    r = call(*launch, TACTUS, "run", *arguments, "--quiet")
    check(r.code == code, "%s on %d: %d %s" % (arguments, ranks, r.code, r.err))


def read(folder, name):
    with open("%s/%s.json" % (folder, name)) as file:
        return json.load(file)


def rows(folder):
    lines = open(folder + "/energy.csv").read().splitlines()
    return [dict(zip(lines[0].split(","), map(float, line.split(",")))) for line in lines[1:]]


def ticks(o):
    return sum(o["counters"]["committed"].values())


def about(a, b):
    return abs(a - b) <= 1e-6 * abs(b)


for ranks in (1, 2):
    folder = "%d.run" % ranks
    run("drop.json", "-o", folder, "--until", 0.012, ranks=ranks)
    first, reported, last = read(folder, "run"), read(folder, "status"), rows(folder)[-1]
    check(last["time"] > 0.0119 and last["contacts"] > 10, "the scene has contacts: %s" % last)
    check(reported["contacts"] == last["contacts"], "%s: contacts %s, energy.csv has %s" % (folder, reported["contacts"], last["contacts"]))
    check(about(reported["ticks_per_s"] * reported["wall_s"], ticks(first)), "%s: %s ticks/s in %s s, of %s" % (folder, reported["ticks_per_s"], reported["wall_s"], ticks(first)))
    check(first.get("wall_total_s") == first["wall_s"] > 0, "%s: wall time: %s" % (folder, first))
    seconds = first["counters"]["seconds"]
    check(seconds["contact"] > 0 and seconds["forces"] > 0, "%s: seconds: %s" % (folder, seconds))
    check(seconds["contact"] + seconds["forces"] + seconds["discovery"] < first["wall_s"], "%s: seconds: %s" % (folder, seconds))

    # Goes on, on the other number of ranks, and is stopped long before the next row.
    r = tactus("info", folder + "/checkpoint.h5", "--json")
    before_s = json.loads(r.out)["wall_s"]
    check(before_s > 0, "the checkpoint's wall time: " + r.out[:200])
    run("--restart", folder, "--wall-limit", "00:00:01", ranks=3 - ranks, code=75)
    second, now = read(folder, "run"), read(folder, "status")
    check(len(rows(folder)) == 1 and now["time"] < 32, "it has come no further than to the next row: %s" % now)
    check(now["contacts"] == last["contacts"], "%s: contacts %s; at the checkpoint there were %s" % (folder, now["contacts"], last["contacts"]))
    check(ticks(second) > ticks(first), "counters count all sittings")
    check(about(now["ticks_per_s"] * now["wall_s"], ticks(second) - ticks(first)),
          "%s: %s ticks/s in %s s, of %s" % (folder, now["ticks_per_s"], now["wall_s"], ticks(second) - ticks(first)))
    check(second["wall_s"] > 0 and about(second.get("wall_total_s", 0), before_s + second["wall_s"]),
          "%s: wall time %s and %s, %s before" % (folder, second["wall_s"], second.get("wall_total_s"), before_s))
r = tactus("info", "1.run")
check(re.search(r"wall time \d+:\d\d", r.out), "info: " + r.out)

# Every way of finding contacts tells it.
for mode in ("kds", "all-pairs"):
    run("drop.json", "-o", mode + ".run", "--until", 0.0005, "--discover", mode, ranks=1)
    check(read(mode + ".run", "run")["counters"]["seconds"]["contact"] > 0, mode + ": seconds in contact")
finish()
