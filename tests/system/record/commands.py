#!/usr/bin/python3
"""commands.py: tactus info tells what a record holds; tactus diff finds one bit that differs, a breakpoint that is missing,
and nothing where nothing differs; both refuse what is damaged with one sentence.
"""
import json
import shutil

import h5py
import numpy as np

from record import EQUALITY, RANKS, check, finish, launch, path, read, run

SCENE = EQUALITY + "edge-onto-edge.json"
run(1, SCENE, "a", "--until", .14)
run(2, SCENE, "b")
data = read("b")


def tactus(*arguments, code):
    r = launch.tactus(1, *arguments)
    check(r.code == code and not r.crashed, "exit code %d of %s: %s %s" % (code, arguments, r.code, r.output[-500:]))
    return r.output


# ---- info
text = tactus("info", path("b/record.h5"), code=0)
rows = sum(len(t) for _, t, _ in data.values())
check("8: 000000 to 000007, t = 0 to 0.25 s" in text and "breakpoints %d" % rows in text, "info: %s" % text)
reported = json.loads(tactus("info", path("b/record.h5"), "--json", code=0))
check(reported["kind"] == "record" and reported["breakpoints"] == rows and reported["partial"] is None, "info --json")
check([(g["interval"], g["breakpoints"]) for g in reported["intervals"]] == [(k, len(t)) for k, (_, t, _) in data.items()], "its intervals")
reported = json.loads(tactus("info", path("b"), "--json", code=0))
check(reported["record"]["breakpoints"] == rows, "info of the folder")
check("%d breakpoints" % rows in tactus("info", path("b"), code=0), "info of the folder, text")

# ---- diff
text = tactus("diff", path("a/record.h5"), path("b"), code=1)
check("000004" not in text and "interval 4, vertex" in text and "4 intervals are only in" not in text, "the last one is shorter: %s" % text)
tactus("diff", path("b/record.h5"), path("b/record.h5"), "--all-frames", code=0)


def change(name, edit):
    shutil.copy(path("b/record.h5"), path(name))
    with h5py.File(path(name), "r+") as f:
        edit(f["record/000003"])


def one_bit(g):
    x = g["position"][:]
    x[5, 2] = np.nextafter(x[5, 2], 1)
    g["position"][...] = x


def later(g):
    g["time"][2] += 1


def fewer(g):
    start, keep = g["start"][:], {n: g[n][:] for n in ("time", "position")}
    start[1:] -= 1
    for n, values in list(keep.items()) + [("start", start)]:
        values = values if n == "start" else np.delete(values, 1, axis=0)
        del g[n]
        g.create_dataset(n, data=values, chunks=(min(16384, len(values)),) + values.shape[1:], shuffle=True, compression=1, fletcher32=True)


change("bit.h5", one_bit)
text = tactus("diff", path("b/record.h5"), path("bit.h5"), code=1)
check("position" in text and "1 differs" in text and "interval 3, vertex 0, breakpoint 5, z" in text, "one bit: %s" % text)
tactus("diff", path("b/record.h5"), path("bit.h5"), "--tol", 1e-9, code=0)
reported = json.loads(tactus("diff", path("b/record.h5"), path("bit.h5"), "--json", code=1))
check(reported["position"]["differing"] == 1 and reported["time"]["differing"] == 0 and reported["intervals"] == 8 and not reported["equal"], "diff --json")
change("later.h5", later)
text = tactus("diff", path("b/record.h5"), path("later.h5"), "--tol", 1, code=1)
check("time" in text and "interval 3, vertex 0, breakpoint 2" in text, "one quantum: %s" % text)
change("fewer.h5", fewer)
text = tactus("diff", path("fewer.h5"), path("b/record.h5"), "--tol", 1, code=1)
check("breakpoints" in text and "interval 3, vertex 0:" in text, "one breakpoint less: %s" % text)
with h5py.File(path("fewer.h5"), "r+") as f:
    del f["record/000006"]
    del f["record/000003"]
tactus("diff", path("fewer.h5"), path("b/record.h5"), code=0)
text = tactus("diff", path("fewer.h5"), path("b/record.h5"), "--all-frames", code=1)
check("2 intervals are only in" in text, "intervals of one: %s" % text)
check("gap        t = 0.09375 to 0.125 s" in tactus("info", path("fewer.h5"), code=0), "a gap is told")

# ---- not finished, damaged, of other vertices, no record
shutil.copy(path("b/record.h5"), path("unfinished.h5"))
with h5py.File(path("unfinished.h5"), "r+") as f:
    del f["record/000007/start"]
check("unfinished 1 interval" in tactus("info", path("unfinished.h5"), code=0), "unfinished")
whole = open(path("b/record.h5"), "rb").read()
with open(path("damaged.h5"), "wb") as f:
    f.write(whole[:600] + b"\x55" * 3000 + whole[3600:])
for command in (["info", path("damaged.h5")], ["diff", path("damaged.h5"), path("b/record.h5")], ["diff", path("b/record.h5"), path("damaged.h5")]):
    text = tactus(*command, code=2)
    check(text.count("tactus: ") == 1 and "damaged" in text, "damaged: %s" % text)
with open(path("flipped.h5"), "wb") as f:
    with h5py.File(path("b/record.h5"), "r") as h:
        at = h["record/000002/position"].id.get_chunk_info(0)
    f.write(whole[:at.byte_offset + 20] + bytes([whole[at.byte_offset + 20] ^ 4]) + whole[at.byte_offset + 21:])
check("cannot be read" in tactus("diff", path("flipped.h5"), path("b/record.h5"), code=2), "a flipped bit is told")
run(1, RANKS + "few.json", "few", "--until", .2)
check("vertices" in tactus("diff", path("few/record.h5"), path("b"), code=2), "other vertices")
check("cannot read" in tactus("diff", path("b/record.h5"), path("nothing"), code=2), "nothing there")
shutil.copy(path("damaged.h5"), path("b/record.h5"))
check("record.h5  cannot be read" in tactus("info", path("b"), code=0), "a folder with a damaged record")
finish()
