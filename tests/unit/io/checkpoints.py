#!/usr/bin/python3
"""Checkpoints: any number of ranks writes and any other reads the same bits; a damaged one is never read, and never takes a
program down; a full or broken disk costs the new one only.  If this fails, a run that was stopped is lost, or goes on wrong."""
import json
import random
import shutil
import struct
import zlib

import h5py
import numpy as np

from common import *

random.seed(5)
SLOW = 30 if "ASAN_OPTIONS" in os.environ else 0  # trials with random damage, with sanitizers


def all_of(commands, ranks=1, **options):
    words = []
    for command in commands:
        words += [*command, "--"]
    return call(*(["mpirun", "-n", ranks] if ranks > 1 else []), WRITER, *words[:-1], **options)


def must(commands, ranks=1, **options):
    r = all_of(commands, ranks, **options)
    check(r.code == 0, "%s on %d ranks: %s %s" % (commands, ranks, r.out, r.err))


def tried(names):
    """What reading each of these files comes to, (code, sentence): one process reads them all, for its start is what costs."""
    r = call(WRITER, "try", *names)
    lines = [line.split(" ", 1) for line in r.out.splitlines()]
    check(r.code == 0 and len(lines) == len(names) and "HDF5-DIAG" not in r.err and "Sanitizer" not in r.err,
          "%d of %d read: %d %r" % (len(lines), len(names), r.code, r.err[-500:]))
    return [(int(code), sentence) for code, sentence in lines]


SIZES = ("small", "empty", "large")

# Written by some, read by others.
must([("write", "1-" + s, 1, s) for s in SIZES])
must([("read", "1-" + s, 1, s) for s in SIZES])
for ranks in (2, 3):
    must([(c, folder, 1, s) for s in SIZES for c, folder in (("read", "1-" + s), ("write", "%d-%s" % (ranks, s)), ("read", "%d-%s" % (ranks, s)))], ranks)
must([("read", "%d-%s" % (r, s), 1, s) for s in SIZES for r in (2, 3)])
for s in SIZES:
    for ranks in (2, 3):
        r = tactus("diff", "1-%s/checkpoint-000001.h5" % s, "%d-%s/checkpoint.h5" % (ranks, s))
        check(r.code == 0 and r.out.endswith("equal\n"), "diff: " + r.out + r.err)

# info tells what it is.
o = json.loads(tactus("info", "--json", "3-small/checkpoint.h5").out)
check((o["kind"], o["vertices"], o["triangles"], o["segments"], o["scripted"], o["pairs"], o["ranks"], o["restarts"]) ==
      ("checkpoint", 50, 40, 30, 12, 25, 3, 3), "info: %s" % o)
check(o["time"] == o["quanta"] / 2**46 and o["scene_sha256"] == "c" * 64 and o["name"] == "made \u00fcp", "info: %s" % o)
check([b["vertices"] for b in o["bodies"]] == [5, 45] and o["bodies"][1]["name"] == "b\u00f6x", "info: %s" % o)
r = tactus("info", "3-small/checkpoint.h5")
check(r.code == 0 and "written    by 3 ranks" in r.out and "'made \u00fcp'" in r.out, "info: " + r.out)

# Only the newest are kept, and only whole ones count.
must([("write", "keep", seed, "small", 3) for seed in range(5)])
check(sorted(os.listdir("keep")) == ["checkpoint-000003.h5", "checkpoint-000004.h5", "checkpoint-000005.h5", "checkpoint.h5"], "keep: %s" % os.listdir("keep"))
check(os.readlink("keep/checkpoint.h5") == "checkpoint-000005.h5", "the link")
os.truncate("keep/checkpoint-000005.h5", 5000)
os.symlink("checkpoint-000004.h5", "keep/checkpoint.h5.tmp")  # what a kill between two steps leaves
r = all_of([("read", "keep", 3, "small")])
check(r.code == 0 and "checkpoint-000005.h5' is not used: it is damaged" in r.err, "an older one is used: " + r.err)
must([("write", "keep", 6, "small", 2)])
check(sorted(os.listdir("keep")) == ["checkpoint-000004.h5", "checkpoint-000005.h5", "checkpoint-000006.h5", "checkpoint.h5"], "keep: %s" % os.listdir("keep"))
must([("read", "keep/checkpoint-000004.h5", 3, "small"), ("read", "keep", 6, "small")])

# diff says what differs, and where.
must([("write", "other", 2, "small")])
r = tactus("diff", "1-small/checkpoint.h5", "other")
check(r.code == 1 and r.out.endswith("different\n"), "diff: " + r.out + r.err)
refused(tactus("diff", "1-small/checkpoint.h5", "1-empty/checkpoint.h5"), 2, "50 and 7 vertices")
refused(tactus("diff", "1-small/checkpoint.h5", "nowhere"), 2, "nowhere.*No such file")

# docs/reference/file-formats.md names everything in it.
text = open(os.environ["TACTUS_SOURCE"] + "/docs/reference/file-formats.md", encoding="utf-8").read()
with h5py.File("1-small/checkpoint.h5", "r") as f:
    for name in list(f) + list(f.attrs):
        check("`%s`" % re.sub("^(element_.*_)[0-9]+$", "\\1K", name) in text, "docs/reference/file-formats.md does not name " + name)

whole = open("1-small/checkpoint.h5", "rb").read()


def stamp(data):
    """The head that belongs to the contents, as docs/reference/file-formats.md describes it."""
    body = bytes(data[512:])
    head = b"TACTUSCP" + struct.pack("<IIq", 2, zlib.crc32(body), len(body))
    return head + bytes(512 - len(head)) + body


check(stamp(whole) == whole, "the head")


def changed(name, change):
    """A copy, changed through h5py, with a new CRC."""
    open(name, "wb").write(whole)
    with h5py.File(name, "r+") as f:
        change(f)
    data = open(name, "rb").read()
    open(name, "wb").write(stamp(data))
    return name


def put(path, at, value):
    def change(f):
        f[path][at] = value
    return change


# One bit of each kind: found, named by body, vertex and axis, and told with its size.
bit = lambda f: f["x"].__setitem__((7, 2), np.nextafter(f["x"][7, 2], 1))
for change, part in ((bit, "position .*1 differs.*body 'b\u00f6x', vertex 2 \\(7 of the scene\\), z"), (put("v", (3, 0), 0), "velocity .*body 'rag', vertex 3 .*, x"),
                     (put("t", 9, 1), "clock .*vertex 4"), (put("impulse", (1, 1), 2), "impulse .*1 differs"), (put("mass", 1, 2), "mass .*1 differs"),
                     (put("triangles", (3, 1), 49), "topology .*triangles\\[3\\]"), (put("pair_depth", 3, 999), "contacts .*1 differs"), (put("last", 3, 1e-9), "last .*1 differs"),
                     (put("script_v", (5, 0), 9), "motion .*1 differs"),
                     (put("element_last_9", (2, 5), 3), "elements .*1 differs"), (put("element_rest_2", (3, 0), 3), "elements .*1 differs"), (put("sums", 30, 77), "sums .*1 differs.*dissipated"), (put("integers", 1, 8), "time .*next frame")):
    r = tactus("diff", "1-small/checkpoint.h5", changed("bit.h5", change))
    check(r.code == 1 and re.search(part, r.out), "%s: %s %s" % (part, r.out, r.err))
r = tactus("diff", "--json", "1-small/checkpoint.h5", changed("bit.h5", bit))
o = json.loads(r.out)
check(not o["equal"] and o["position"]["largest"]["vertex"] == 7 and o["position"]["largest"]["component"] == "z" and o["velocity"]["differing"] == 0, "json: %s" % o)
# What does not count: wall time, counters, restarts.
r = tactus("diff", "1-small/checkpoint.h5", changed("bit.h5", lambda f: (f["reals"].__setitem__(3, 5.), f["counters"].__setitem__(4, 5), f["ticks"].__setitem__((4, 0), 5), f["integers"].__setitem__(3, 9))))
check(r.code == 0, "not counted: " + r.out + r.err)

# Every flipped bit is found, wherever it is; and every cut.
names = []
for trial in range(200):
    data = bytearray(whole)
    at = random.randrange(len(data) if trial % 4 else 512)
    data[at] ^= 1 << random.randrange(8)
    names.append("flipped-%d.h5" % trial)
    open(names[-1], "wb").write(data)
for length in [0, 1, 8, 511, 512, 513, len(whole) - 1] + [random.randrange(len(whole)) for _ in range(20)]:
    names.append("cut-%d.h5" % length)
    open(names[-1], "wb").write(whole[:length])
for name, (code, sentence) in zip(names, tried(names)):
    check(code == 2 and name + "' is no whole checkpoint" in sentence, "%s: %d %s" % (name, code, sentence))
for name in names[:3] + names[-3:]:  # the command says the same
    refused(tactus("info", name), 2, name + "' is no whole checkpoint")
open("checkpoint-000001.h5", "wb").write(whole + b"\0")
refused(tactus("info", "checkpoint-000001.h5"), 2, "damaged")
open("checkpoint-000001.h5", "wb").write(whole[:8] + b"\3" + whole[9:])
refused(tactus("info", "checkpoint-000001.h5"), 2, "its format is 3, but this version .* reads 1 to 2")
refused(all_of([("read", "checkpoint-000001.h5", 1, "small")], 2), 2, "its format is 3")
os.mkfifo("checkpoint-000009.h5")
refused(tactus("info", "checkpoint-000009.h5"), 2, "it is no file")
os.mkdir("none")
refused(all_of([("read", "none", 1, "small")]), 2, "there is no checkpoint in 'none'")

# Well-formed, with a good CRC, and nonsense.
def replace(path, **how):
    def change(f):
        del f[path]
        f.create_dataset(path, **how)
    return change


def swap(path, i, j):
    def change(f):
        f[path][i], f[path][j] = f[path][j].copy(), f[path][i].copy()
    return change


NONSENSE = (
    (put("x", (3, 1), np.nan), "state of a vertex"), (put("v", (3, 1), np.inf), "state of a vertex"), (put("start", (0, 0), np.nan), "state of a vertex"),
    (put("mass", 3, -1), "state of a vertex"), (put("t", 3, -1), "state of a vertex"), (put("t", 3, 2**62), "state of a vertex"),
    (put("triangles", (2, 1), 50), "an element"), (put("segments", (2, 1), -1), "an element"), (lambda f: f["triangles"].__setitem__((2, 0), f["triangles"][2, 1]), "an element"),
    (swap("script_vertex", 2, 3), "a motion"), (put("script_vertex", 11, 50), "a motion"), (put("script_next", 1, -1), "a motion"),
    (put("script_next", 1, 2**40), "a motion"), (put("script_flags", (1, 0), 7), "a motion"), (put("script_x", (1, 0), np.nan), "a motion"),
    (put("pair_vertex", (3, 0), 50), "a contact"), (put("pair_vertex", (3, 0), -1), "a contact"), (put("pair_layer_groups", 3, 0), "a contact"),
    (put("pair_layer_groups", 3, 2**40), "a contact"), (put("pair_layer_groups", 3, 1000), "a contact|last"), (put("pair_depth", 3, 2**40), "a contact"), (put("pair_key", 3, 2**62 * -1), "a contact"),
    (swap("pair_key", 3, 4), "a contact|last|whatever"),
    (put("element_id_2", 4, -1), "an element remembers"), (put("element_vertex_2", (4, 0), 50), "an element remembers"),
    (put("element_vertex_9", (4, 0), -1), "an element remembers"), (put("element_has_2", 4, 0), "an element remembers"),
    (put("element_has_2", 4, 4), "an element remembers"), (put("element_rest_1", (4, 0), np.nan), "an element remembers"),
    (put("element_last_9", (4, 5), np.inf), "an element remembers"), (swap("element_vertex_3", 1, 3), "an element remembers"),
    (lambda f: f.__delitem__("element_rest_3"), "'element_rest_3'"), (replace("element_has_1", data=np.ones(4, "i8")), "'element_has_1'"),
    (replace("element_vertex_9", data=np.zeros((5, 9), "i8")), "'element_vertex_9'"), (replace("element_last_9", data=np.zeros((5, 7))), "'element_last_9'"),
    *((put("element_kinds", (2, k), bad), "'element_") for k, bad in
      ((0, 0), (0, 2), (0, 13), (0, 2**40), (1, 0), (1, 4), (1, 2**40), (2, 0), (2, 5), (2, 2**40), (3, 0), (3, 2), (3, 2**33))),
    (lambda f: f.__delitem__("element_kinds"), "'element_kinds'"), (replace("element_kinds", data=np.zeros((14, 4), "i8")), "'element_kinds'"),
    (replace("element_kinds", data=np.zeros((4, 3), "i8")), "'element_kinds'"),
    (lambda f: f.__delitem__("friction_key"), "'friction_key'"), (lambda f: f.move("pair_layer_groups", "pair_rungs"), "'pair_layer_groups'"),
    (put("counters", 3, -1), "numbers"), (put("ticks", (4, 1), -1), "numbers"), (lambda f: f.__delitem__("ticks"), "'ticks'"),
    (replace("ticks", data=np.zeros((99, 2), "i8")), "not known"), (replace("counters", data=np.zeros(64, "i8")), "'counters'"),
    (replace("integers", data=np.zeros(64, "i8")), "'integers'"), (lambda f: f.attrs.modify("format", np.bytes_("tactus-checkpoint/1")), "'integers'"),
    (lambda f: f.attrs.modify("format", np.bytes_("tactus-checkpoint/3")), "what it is"),
    (put("last", 3, np.nan), "last distance"), (put("sums", 3, 2**62), "sums"), (put("integers", 0, -5), "numbers"), (put("integers", 6, 2**40), "numbers"),
    (put("integers", 6, 49), "table"), (put("integers", 1, 2**61), "numbers"), (put("reals", 0, np.nan), "numbers"),
    (replace("scene", data=np.frombuffer(b"{nonsense", "u1")), "scene"), (replace("scene", data=np.frombuffer(b"[1]", "u1")), "scene"),
    (replace("scene", data=np.frombuffer(b"[" * 100000, "u1")), "scene"),
    (replace("x", data=np.zeros((50, 2))), "'x'"), (replace("x", data=np.zeros((50, 3), "f4")), "'x'"), (lambda f: f.__delitem__("last"), "'last'"),
    (replace("mass", shape=(50,), dtype="f8", external=[("/etc/passwd", 0, 400)]), "'mass'"),
    (replace("pair_key", shape=(2**31 - 1,), dtype="i8", chunks=(1 << 20,)), "'pair_"),
    (lambda f: f.attrs.modify("format", np.bytes_("tactus-frames/1")), "what it is"), (lambda f: f.attrs.__delitem__("scene_sha256"), "hash"),
    (lambda f: f.attrs.modify("scene_sha256", np.bytes_("x" * 64)), "hash"), (lambda f: f.attrs.__delitem__("ranks"), "how many ranks"))
names = [changed("bad-%d.h5" % k, change) for k, (change, _) in enumerate(NONSENSE)]
for name, (_, part), (code, sentence) in zip(names, NONSENSE, tried(names)):
    if "whatever" not in part or code != 0:
        check(code == 2 and re.search(part, sentence), "%s: %r expected: %d %s" % (name, part, code, sentence))
for k in range(0, len(names), 9):  # the command says the same
    if "whatever" not in NONSENSE[k][1]:
        refused(tactus("info", names[k]), 2, NONSENSE[k][1])

# Random damage with a good CRC: HDF5 itself breaks down on some; the program does not.
codes = []
for trial in range(SLOW or 60):
    data = bytearray(whole)
    for _ in range(random.choice((1, 4, 30))):
        data[random.randrange(512, len(data) if trial % 2 else 6000)] = random.choice((0, 255, random.randrange(256)))
    open("fuzz.h5", "wb").write(stamp(data))
    try:
        r = tactus(*(("info", "fuzz.h5"), ("diff", "fuzz.h5", "1-small"))[trial % 2])
        bad = [l for l in r.err.splitlines() if not l.startswith("tactus: ")]
        check(r.code in (0, 1, 2) and not bad and len(r.sentences) == (r.code == 2), "fuzz %d: %d %r" % (trial, r.code, r.err[-500:]))
        codes.append(r.code)
    except subprocess.TimeoutExpired:
        check(False, "fuzz %d: no end" % trial)
check(codes.count(2) > len(codes) / 3, "most damage is seen: %s" % codes)

# Disks that break, memory that is short.
must([("disk", "faults1", 1, "small"), ("memory", "faults1", 3, "small")])
must([("memory", "faults2", 1, "small")], 2)

# A full disk.
os.mkdir("tiny")
if call("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", "tiny").code == 0:
    try:
        must([("write", "tiny/run", 1, "small")])
        with open("tiny/filler", "wb") as f:
            f.write(b"x" * (3 << 20))
        for ranks in (1, 2):
            refused(all_of([("write", "tiny/run", 1, "large")], ranks), 3, "cannot write tiny/run/checkpoint.h5.tmp: No space left on device.*free some space")
            check(sorted(os.listdir("tiny/run")) == ["checkpoint-000001.h5", "checkpoint.h5"], "full: %s" % os.listdir("tiny/run"))
            must([("read", "tiny/run", 1, "small")])
        os.remove("tiny/filler")
        must([("write", "tiny/run", 2, "small"), ("read", "tiny/run", 2, "small")], 2)
    finally:
        call("umount", "tiny")
else:
    print("SKIPPED: a full disk, for that takes the right to mount a tmpfs (root)")
shutil.rmtree("1-small")
refused(all_of([("write", "file/below", 1, "small")]), 3, "cannot create file/below/checkpoint.h5.tmp")
finish()
