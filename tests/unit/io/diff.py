#!/usr/bin/python3
"""tactus diff in all its cases.  It is the oracle of the invariance law: a diff that misses a bit, or sees one where there
is none, makes every equality test worthless."""
import json
import shutil

import h5py
import numpy as np

from common import *

FRAMES, VERTICES = 5, 300
VARIANTS = {
    "a": "", "same": "", "bit-position": "--change position,4,299,bit", "bit-velocity": "--change velocity,0,0,bit",
    "bit-contact_force": "--change contact_force,3,150,bit", "zero": "--change velocity,2,7,zero",
    "minus-zero": "--change velocity,2,7,minus-zero", "nan": "--change velocity,2,7,nan",
    "minus-nan": "--change velocity,2,7,minus-nan", "infinity": "--change velocity,2,7,infinity",
    "quarter": "--change position,1,3,0.25", "seed": "--seed 1", "energy": "--change energy,2,1e-3",
    "coarse": "--frames 3 --every 2", "short": "--frames 2",
    "late": "--first 2 --frames 3 --change contact_force,2,5,bit", "later": "--first 2 --frames 3 --change contact_force,3,5,bit",
    "rope": "--kind segments", "fewer": "--vertices 297", "end": "--first 7 --frames 1", "none": "--frames 0"}
must_write_all([[name + ".run", *options.split()] for name, options in VARIANTS.items()])


def diff(a, b, *options):
    """Text and JSON must say the same; returns the exit code and the JSON."""
    r, j = tactus("diff", a, b, *options), tactus("diff", a, b, "--json", *options)
    check(r.code == j.code, "text and JSON exit alike: %d %d" % (r.code, j.code))
    if r.code == 2:
        refused(r, 2)
        return r, None
    check(r.out.splitlines()[-1] == ("equal" if r.code == 0 else "different"), "verdict: " + r.out)
    check(r.err == "", "nothing on stderr: " + r.err)
    o = json.loads(j.out)
    check(o["equal"] == (r.code == 0), "verdict in JSON")
    return r, o


def differs_only(o, **counts):
    for field in ("position", "velocity", "contact_force", "topology", "energy.csv"):
        if field in o:
            key = field.replace(".csv", "")
            check(o[field]["differing"] == counts.get(key, 0), "%s: %s" % (field, o[field]))


# The same, twice; and what was compared.
r, o = diff("a.run", "same.run")
check(r.code == 0 and o["frames"] == FRAMES and o["rows"] == FRAMES, "equal runs")
check(o["position"]["compared"] == FRAMES * VERTICES * 3 == o["contact_force"]["compared"], "what was compared")
check(o["energy.csv"]["compared"] == FRAMES * 26, "energies compared")
differs_only(o)

# One bit, in each field, in the last frame and the first: which, where, how much.
for field, frame, vertex in (("position", 4, 299), ("velocity", 0, 0), ("contact_force", 3, 150)):
    name = "bit-%s.run" % field
    r, o = diff("a.run", name)
    check(r.code == 1, "one bit differs")
    differs_only(o, **{field: 1})
    where = o[field]["largest"]
    with h5py.File("a.run/frames.h5", "r") as f, h5py.File(name + "/frames.h5", "r") as g:
        path = "frames/%06d/%s" % (frame, field)
        x, y = f[path][vertex, 1], g[path][vertex, 1]
    check((where["frame"], where["vertex"], where["component"], where["time"]) == (frame, vertex, "y", .125 * frame), "where: %s" % where)
    check(where["a"] == x and where["b"] == y and where["difference"] == abs(float(x) - float(y)), "how much: %s" % where)
    check(where["body"] == ["sheet", "rope", "gäs"][vertex // 100], "whose")
    check("frame %d" % frame in r.out and "vertex %d (%d of the scene)" % (vertex % 100, vertex) in r.out and
          "'" + where["body"] + "'" in r.out, "the text says where: " + r.out)
    check(diff("a.run", name, "--tol", "1e-6")[0].code == 0, "within tolerance")

# -0 and +0; NaN and NaN of another sign; NaN against a number; infinity.
r, o = diff("zero.run", "minus-zero.run")
check(r.code == 1 and o["velocity"]["largest"]["difference"] == 0, "-0 differs from +0 to the last bit")
check(diff("zero.run", "minus-zero.run", "--tol", "0")[0].code == 0, "-0 is +0 within 0")
check(diff("nan.run", "minus-nan.run")[0].code == 0, "NaN equals NaN")
check(diff("nan.run", "nan.run", "--tol", "1")[0].code == 0, "NaN equals NaN within a tolerance")
for other in ("zero.run", "infinity.run"):
    for options in ((), ("--tol", "1e300")):
        r, o = diff("nan.run", other, *options)
        check(r.code == 1, "NaN differs from a number")
        differs_only(o, velocity=1)
r, o = diff("infinity.run", "zero.run", "--tol", "1e308")
check(r.code == 1 and o["velocity"]["largest"]["a"] is None, "infinity differs from a number")
check(diff("infinity.run", "infinity.run", "--tol", "1")[0].code == 0, "infinity equals itself")

# A tolerance is absolute, per component; the largest difference is found among several.
check(diff("a.run", "quarter.run", "--tol", "0.24")[0].code == 1, "over the tolerance")
check(diff("a.run", "quarter.run", "--tol", "0.26")[0].code == 0, "under the tolerance")
r, o = diff("a.run", "seed.run")
with h5py.File("a.run/frames.h5", "r") as f, h5py.File("seed.run/frames.h5", "r") as g:
    worst = max(np.abs(f["frames/%06d/position" % k][()] - g["frames/%06d/position" % k][()]).max() for k in range(FRAMES))
check(o["position"]["largest"]["difference"] == worst, "the largest difference")
check(o["position"]["differing"] == FRAMES * VERTICES * 3, "how many")

# Energies: a value, and deepest_layer only where the row before is in both.
r, o = diff("a.run", "energy.run")
check(r.code == 1 and o["energy.csv"]["largest"]["where"] == "kinetic" and o["energy.csv"]["largest"]["time"] == .25, "energy: %s" % o)
differs_only(o, energy=1)
check(diff("a.run/frames.h5", "energy.run/frames.h5")[0].code == 0, "frames alone do not see energies")
check(diff("a.run", "energy.run/frames.h5")[0].code == 0, "a folder and a file")

# Every second frame: what looks back to the last frame is not compared; the rest is.
r, o = diff("a.run", "coarse.run")
check(r.code == 1 and o["frames"] == 3 and o["frames_only_a"] == 2 and o["frames_only_b"] == 0, "frames match by time: %s" % o)
check(o["contact_force"]["compared"] == VERTICES * 3, "contact_force is compared at t = 0 alone: %s" % o["contact_force"])
check(o["position"]["compared"] == 3 * VERTICES * 3, "position is compared at all")
check(o["position"]["differing"] == 0, "position is the same")
# The made-up contacts and layers count frames, not time: contacts differ at t = .25 and .5, min_distance (none at even
# frames) at .25; deepest_layer would too.
differs_only(o, energy=3)
check(o["energy.csv"]["compared"] == 26 + 2 * 25, "deepest_layer is left out twice: %s" % o["energy.csv"])
r, o = diff("a.run/frames.h5", "coarse.run/frames.h5")
check(r.code == 0, "without energies they are equal")
check(diff("a.run/frames.h5", "coarse.run/frames.h5", "--all-frames")[0].code == 1, "--all-frames minds the missing ones")
check(diff("coarse.run/frames.h5", "a.run/frames.h5", "--all-frames")[0].code == 1, "on either side")

# A run that was cut short: all it has is equal; a later start has forces that look back to what is not there.
r, o = diff("a.run", "short.run")
check(r.code == 0 and o["frames_only_a"] == 3 and o["rows_only_a"] == 3, "a run cut short")
check(diff("a.run", "short.run", "--all-frames")[0].code == 1, "--all-frames")
r, o = diff("a.run", "late.run")
check(r.code == 0 and o["contact_force"]["compared"] == 2 * VERTICES * 3, "the first force of a late start is not compared: %s" % o)
check(diff("a.run", "later.run")[0].code == 1, "the second is")

# Other topology with as many vertices is a difference; other vertices cannot be compared; nor can no common time.
r, o = diff("a.run", "rope.run")
check(r.code == 1 and o["topology"]["differing"] > 0, "topology: %s" % o)
differs_only(o, topology=o["topology"]["differing"])
shutil.copytree("a.run", "turned.run")
with h5py.File("turned.run/frames.h5", "r+") as f:
    f["mesh/triangles"][5] = f["mesh/triangles"][5][[1, 2, 0]]
r, o = diff("a.run", "turned.run", "--tol", "1000")
check(r.code == 1 and o["topology"]["differing"] == 3 and o["topology"]["largest"]["where"] == "triangles[5]", "a turned triangle, whatever the tolerance")
refused(diff("a.run", "fewer.run")[0], 2, "300 and 297 vertices")
refused(diff("a.run", "end.run")[0], 2, "no frame at the same time")
refused(diff("a.run", "none.run")[0], 2, "no frame at the same time")

# energy.csv: a new column at the end is passed over; a missing file or a damaged one is not.
shutil.copytree("a.run", "column.run")
lines = open("a.run/energy.csv").read().splitlines()
open("column.run/energy.csv", "w").write("\n".join([lines[0] + ",new"] + [l + ",1" for l in lines[1:]]) + "\n")
r, o = diff("a.run", "column.run")
check(r.code == 0 and "1 columns of energy.csv" in r.out, "a new column: " + r.out)
for name, text, part in (("word", lines[0] + "\n" + lines[1].replace("0.1", "zero", 1) + "\n", "line 2.*not a number"),
                         ("less", lines[0] + "\n" + lines[1].rsplit(",", 1)[0] + "\n", "line 2.*fewer"),
                         ("more", lines[0] + "\n" + lines[1] + ",1\n", "line 2.*more"),
                         ("order", "\n".join([lines[0], lines[2], lines[1]]) + "\n", "line 3.*time"),
                         ("void", "", "empty"), ("zero", lines[0] + "\n0,\0\n", "line 2.*zero byte")):
    shutil.rmtree("csv.run", ignore_errors=True)
    shutil.copytree("a.run", "csv.run")
    open("csv.run/energy.csv", "w").write(text)
    refused(diff("a.run", "csv.run")[0], 2, part)
os.remove("csv.run/energy.csv")
refused(diff("a.run", "csv.run")[0], 2, "csv.run/energy.csv.*No such file")

# The command line.
refused(tactus("diff", "a.run"), 2, "two run folders")
refused(tactus("diff", "a.run", "b.run", "c.run"), 2, "unexpected argument 'c.run'")
refused(tactus("diff", "a.run", "nowhere.run"), 2, "nowhere.run.*No such file")
refused(tactus("diff", "a.run", "a.run", "--tol", "-1"), 2, "--tol must not be negative")
refused(tactus("diff", "a.run", "a.run", "--tol", "much"), 2, "--tol needs a number")
refused(tactus("diff", "a.run", "a.run", "--tol"), 2, "--tol needs a value")
refused(tactus("diff", "a.run", "a.run", "--tolerance", "1"), 2, "unknown option '--tolerance'")
refused(tactus("diff", "a.run", "a.run/energy.csv"), 2, "not HDF5")
check(tactus("diff", "-h").code == 0, "help")
finish()
