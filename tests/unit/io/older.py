#!/usr/bin/python3
"""Checkpoints that an older program wrote (tests/unit/io/older: version 0.1.0, commits 946fbce5c1b2 and 04d0c1c, of tests/ranks/scenes, stopped before their
ends) are gone on with, on one rank and on two, to the bits of a run of today's program: frames, and energy.csv but for two columns, SUMMED.
These go on from the sums of the older program, which had entered each loss by itself; today's program first sums the losses of a vertex at an
instant, which rounds otherwise. So they may differ from the whole run's by rounding (ROUNDING), and are the same on one rank and on two. A
checkpoint of a format that this program does not know is refused by one sentence that names both. If this fails, an update costs users their
runs."""
import csv
import json
from common import *

SUMMED = {"dissipated": "total", "defect": "total"}  # and the column that tells their size
ROUNDING = 1e-14


def rows(folder):
    with open(os.path.join(folder, "energy.csv")) as f:
        return {row["time"]: row for row in csv.DictReader(f)}


def energies(what, whole, rest):
    for time, row in rows(rest).items():
        for column, text in row.items():
            other = rows(whole)[time][column]
            bound = ROUNDING * abs(float(row[SUMMED[column]])) if column in SUMMED else 0
            check(text == other if bound == 0 else abs(float(text) - float(other)) <= bound, "%s: column %s at %s s: %s and %s" % (what, column, time, text, other))


FOLDER = os.path.join(os.environ["TACTUS_SOURCE"], "tests/unit/io/older")
for name in sorted(os.listdir(FOLDER)):
    old, scene = os.path.join(FOLDER, name), os.path.join(os.environ["TACTUS_SOURCE"], "tests/ranks/scenes", name[:-3] + ".json")
    r = tactus("run", scene, "-o", "whole", "--quiet", "--overwrite")
    check(r.code == 0, "a whole run of %s: %s" % (name, r.err))
    for ranks in (1, 2):
        start = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
        shutil.rmtree("rest", ignore_errors=True)
        r = call(*start, TACTUS, "run", "--restart", old, "-o", "rest", "--quiet")
        check(r.code == 0, "%s on %d ranks: exit code %d, %s" % (name, ranks, r.code, r.err))
        what = "%s on %d ranks" % (name, ranks)
        r = tactus("diff", "whole", "rest", "--json")
        reported = json.loads(r.out)
        check(r.code in (0, 1) and reported["frames"] > 0 and reported["frames_only_b"] == 0 and reported["rows"] > 0 and reported["rows_only_b"] == 0, what + ": " + r.out)
        for part in ("position", "velocity", "contact_force", "topology"):
            check(reported[part]["compared"] > 0 and reported[part]["differing"] == 0, "%s: %s: %s" % (what, part, reported[part]))
        energies(what, "whole", "rest")
        if ranks == 1:
            one = rows("rest")
        check(rows("rest") == one, what + ": energy.csv differs from that on one rank")
    with open(old, "rb") as f:
        data = f.read()
    with open("newer.h5", "wb") as f: # bytes 8 to 11: the number of the format
        f.write(data[:8] + (1000).to_bytes(4, "little") + data[12:])
    r = tactus("run", "--restart", "newer.h5", "-o", "none", "--quiet")
    check(r.code == 2 and len(r.sentences) == 1 and "its format is 1000, but this version" in r.err and not os.path.exists("none"),
          "a format of the future: exit code %d, %s" % (r.code, r.err))
finish()
