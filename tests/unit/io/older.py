#!/usr/bin/python3
"""Checkpoints that older programs wrote, all of the format tactus-checkpoint/1, are read and gone on with.

tests/unit/io/older: version 0.1.0, commits 946fbce5c1b2 and 04d0c1c, of tests/ranks/scenes, stopped before their ends; a run goes on from them, on
one rank and on two, to the bits of a run of today's program: frames, and energy.csv but for two columns, SUMMED. These go on from the sums of
the older program, which had entered each loss by itself; today's program first sums the losses of a vertex at an instant, which rounds otherwise.
So they may differ from the whole run's by rounding (ROUNDING), and are the same on one rank and on two.

tests/unit/io/former: two commits of the time just before tactus-checkpoint/2 (see `make` there), on one rank, two and three, and all columns. Each of
them is equal, for `tactus diff`, to the checkpoint that today's program writes at that instant. One of another trajectory generation, implicit or of a
scene with flat parts, is refused by one sentence, but `info` and `diff` read it.

A checkpoint of a format that this program does not know is refused by one sentence that names both. If this fails, an update costs users their
runs."""
import csv
import json
import struct
import zlib

import h5py

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


SOURCE = os.environ["TACTUS_SOURCE"]
OLDER, FORMER = (os.path.join(SOURCE, "tests/unit/io", name) for name in ("older", "former"))


def run(*arguments, ranks=1):
    start = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
    r = call(*start, TACTUS, "run", *arguments, "--quiet")
    check(r.code == 0, "%s on %d ranks: exit code %d, %s" % (arguments, ranks, r.code, r.err))


def goes_on(old, ranks, bounded):
    """As the run of today's program in `whole`; bounded: the columns SUMMED but for rounding."""
    what = "%s on %d ranks" % (os.path.basename(old), ranks)
    shutil.rmtree("rest", ignore_errors=True)
    run("--restart", old, "-o", "rest", ranks=ranks)
    with h5py.File("rest/checkpoint.h5", "r") as file:
        check(file.attrs["format"] in (b"tactus-checkpoint/2", "tactus-checkpoint/2"), what + ": goes on in the new format")
    r = tactus("diff", "whole", "rest", "--json")
    reported = json.loads(r.out)
    check(r.code in (0, 1) and reported["frames"] > 0 and reported["frames_only_b"] == 0 and reported["rows"] > 0 and reported["rows_only_b"] == 0, what + ": " + r.out)
    for part in ("position", "velocity", "contact_force", "topology"):
        check(reported[part]["compared"] > 0 and reported[part]["differing"] == 0, "%s: %s: %s" % (what, part, reported[part]))
    if bounded:
        energies(what, "whole", "rest")
    else:
        check(all(rows("whole")[time] == row for time, row in rows("rest").items()), what + ": energy.csv")


def of_the_future(old):
    with open(old, "rb") as f:
        data = f.read()
    with open("newer.h5", "wb") as f:  # bytes 8 to 11: the number of the format
        f.write(data[:8] + (1000).to_bytes(4, "little") + data[12:])
    r = tactus("run", "--restart", "newer.h5", "-o", "none", "--quiet")
    check(r.code == 2 and len(r.sentences) == 1 and "its format is 1000, but this version" in r.err and not os.path.exists("none"),
          "a format of the future: exit code %d, %s" % (r.code, r.err))


def too_narrow(path):
    """A whole file whose triangles remember two numbers, where the scene's have three."""
    shutil.copy(path, "narrow.h5")
    with h5py.File("narrow.h5", "r+") as file:
        place = list(file["element_kinds"][:, 0]).index(2)
        check(file["element_kinds"][place, 3] == 3, "triangles remember three numbers")
        file["element_kinds"][place, 3] = 2
        for name in ("element_rest_2", "element_last_2"):
            values = file[name][:, :2]
            del file[name]
            file.create_dataset(name, data=values)
    with open("narrow.h5", "rb") as f:
        data = f.read()
    with open("narrow.h5", "wb") as f:
        f.write(data[:12] + struct.pack("<Iq", zlib.crc32(data[512:]), len(data) - 512) + data[24:])
    check(tactus("info", "narrow.h5").code == 0, "info reads it")
    refused(tactus("run", "--restart", "narrow.h5", "-o", "narrow", "--quiet"), 2, "has the memory of an element")


# Checkpoints of other trajectories than today's: of the implicit integrator, and of scenes with flat parts.
OF_OTHER_GENERATIONS = {"steps-7773bda.h5": 0, "steps-14fab3f.h5": 2, "rubs-7773bda.h5": 0, "rubs-14fab3f.h5": 2, "dented.h5": 0}


def refused_for_its_generation(old):
    refused(tactus("run", "--restart", old, "-o", "none", "--quiet"), 2, "trajectory generation %d" % OF_OTHER_GENERATIONS[os.path.basename(old)])
    check(not os.path.exists("none"), "no folder is made")


for name in sorted(os.listdir(OLDER)):
    if name in OF_OTHER_GENERATIONS:
        refused_for_its_generation(os.path.join(OLDER, name))
        continue
    run(os.path.join(SOURCE, "tests/ranks/scenes", name[:-3] + ".json"), "-o", "whole", "--overwrite")
    for ranks in (1, 2):
        goes_on(os.path.join(OLDER, name), ranks, True)
        if ranks == 1:
            one = rows("rest")
    check(rows("rest") == one, name + ": energy.csv differs from that on one rank")
    of_the_future(os.path.join(OLDER, name))

FORMERS = sorted(name for name in os.listdir(FORMER) if name.endswith(".h5"))
check(len(FORMERS) == 6, "three scenes of two commits: %s" % FORMERS)
for name in FORMERS:
    old, scene = os.path.join(FORMER, name), os.path.join(FORMER, name.split("-")[0] + ".json")
    r = tactus("info", "--json", old)
    reported = json.loads(r.out)
    check(r.code == 0 and reported["vertices"] > 0 and reported["damped_or_plastic_elements"] + reported["pairs"] > 0, name + ": " + r.out + r.err)
    run(scene, "-o", "now", "--until", "0.04", "--overwrite")
    r = tactus("diff", old, "now/checkpoint.h5")
    if name in OF_OTHER_GENERATIONS:
        check(r.code in (0, 1) and "compared checkpoints" in r.out, "diff reads %s: exit code %d, %s%s" % (name, r.code, r.out, r.err))
        refused_for_its_generation(old)
        continue
    check(r.code == 0 and r.out.endswith("equal\n"), "diff of %s: exit code %d, %s%s" % (name, r.code, r.out, r.err))
    run(scene, "-o", "whole", "--overwrite")
    for ranks in (1, 2, 3):
        goes_on(old, ranks, False)
    shutil.rmtree("branched", ignore_errors=True)
    run("--restart", old, "--branch", "--set", "gravity=[0,-1,0]", "-o", "branched")
    r = tactus("check", scene, "--pilot", "1", "--restart", old)
    check(r.code == 0, "a pilot from %s: %s%s" % (name, r.out, r.err))
    of_the_future(old)
    if name == "keeps-14fab3f.h5":
        too_narrow("now/checkpoint.h5")
finish()
