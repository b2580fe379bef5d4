#!/usr/bin/python3
"""Damaged and foreign files given to the commands that read runs: a sentence and exit code 2, or the right answer, and
never a crash, HDF5's error stack, or an endless wait.  libhdf5 itself crashes on some of these."""
import random
import shutil

import h5py
import numpy as np

from common import *

random.seed(3)
must_write_all([["a.run", "--vertices", 60, "--frames", 3], ["big.run", "--vertices", 40000, "--frames", 1]])
whole = open("a.run/frames.h5", "rb").read()


def survives(r, what):
    bad = [l for l in r.err.splitlines() if not l.startswith("tactus: ")]
    check(r.code in (0, 1, 2) and not bad and len(r.sentences) == (r.code == 2), "%s: %d %r" % (what, r.code, r.err[-1000:]))
    return r.code


def made(name, change):
    """A copy of frames.h5, changed through h5py."""
    shutil.copy("a.run/frames.h5", name)
    with h5py.File(name, "r+") as f:
        change(f)
    return name


def replace(path, **how):
    def change(f):
        del f[path]
        f.create_dataset(path, **how)
    return change


def external(f):
    del f["mesh/radius"]
    f.create_dataset("mesh/radius", shape=(60,), dtype="f8", external=[("/etc/passwd", 0, 480)])


def put(path, at, value):
    def change(f):
        f[path][at] = value
    return change


# Foreign and nonsensical, each with its sentence.
for name, change, part in (
        ("format", lambda f: f.attrs.modify("format", np.bytes_("tactus-frames/9")), "tactus-frames/9.*reads 'tactus-frames/1'"),
        ("no-format", lambda f: f.attrs.__delitem__("format"), "no attribute 'format'|no mesh|no /vertices|vertices"),
        ("no-mesh", lambda f: f.__delitem__("mesh"), "no /mesh or no /frames"),
        ("no-frames", lambda f: f.__delitem__("frames"), "no /mesh or no /frames"),
        ("no-body", lambda f: f.__delitem__("mesh/body"), "/mesh/body is missing"),
        ("wide", replace("mesh/triangles", data=np.zeros((3, 4), "i8")), "/mesh/triangles is missing or not"),
        ("narrow-ids", replace("mesh/triangles", data=np.zeros((3, 3), "i2")), "/mesh/triangles is missing or not"),
        ("float-ids", replace("mesh/segments", data=np.zeros((3, 2))), "/mesh/segments is missing or not"),
        ("radius", replace("mesh/radius", data=np.zeros(59)), "differ in length"),
        ("outside", put("mesh/triangles", (2, 1), 60), "/mesh/triangles holds 60, outside 0 .. 59"),
        ("negative", put("mesh/segments", (2, 1), -1), "/mesh/segments holds -1"),
        ("body", put("mesh/body", 5, 3), "/mesh/body holds 3"),
        ("names", replace("mesh/body_names", data=["a", "b", "c"], dtype=h5py.string_dtype()), "body_names"),
        ("vertices", replace("frames/000001/position", data=np.zeros((61, 3))), "/frames/000001 is not whole"),
        ("floats", replace("frames/000000/velocity", data=np.zeros((60, 3), "f4")), "/frames/000000 is not whole"),
        ("time", put("frames/000001/time", (), 7), "time of /frames/000002 is not after"),
        ("time-nan", put("frames/000001/time", (), np.nan), "/frames/000001 is not whole"),
        ("huge", replace("mesh/body", shape=(2**31 - 1,), dtype="i4", chunks=(1 << 20,)), "/mesh/body is missing or not"),
        ("external", external, "/mesh/radius is missing or not"),
        ("filter", replace("mesh/radius", data=np.zeros(60), compression="lzf"), "/mesh/radius is missing or not")):
    name = made(name + ".h5", change)
    r = tactus("info", name)
    refused(r, 2, part)
    check(name in r.err, "the file is named: " + r.err)

# Passed over: what a later version may add; and a last frame that was not finished.
name = made("more.h5", lambda f: (f.create_dataset("frames/000001/stress", data=[1.]), f.create_group("extra"), f.create_group("frames/notes")))
check(tactus("diff", name, "a.run", "--all-frames").code == 0, "additions are passed over")
for field in ("time", "velocity"):
    r = tactus("diff", made("cut.h5", lambda f: f.__delitem__("frames/000002/" + field)), "a.run")
    check(r.code == 0 and "compared 2 frames" in r.out and "was not finished and is left out" in r.err, "an unfinished frame: " + r.out + r.err)

# A checksum that does not hold: no value is made up.
with h5py.File("big.run/frames.h5", "r") as f:
    chunk = f["frames/000000/velocity"].id.get_chunk_info(1)
shutil.copy("big.run/frames.h5", "sum.h5")
with open("sum.h5", "r+b") as f:
    f.seek(chunk.byte_offset + chunk.size // 2)
    byte = f.read(1)
    f.seek(-1, 1)
    f.write(bytes([byte[0] ^ 16]))
refused(tactus("diff", "sum.h5", "big.run"), 2, "sum.h5.*cannot read /frames/000000/velocity")

# Random damage: bytes flipped, runs of bytes overwritten, the file cut; mostly in the first kilobytes, where the structure is.
codes = []
for trial in range(60):
    data = bytearray(whole)
    kind = trial % 4
    if kind == 0:
        data = data[:random.randrange(len(data))]
    else:
        for _ in range(random.choice((1, 4, 30))):
            at = random.randrange(len(data) if kind == 1 else 20000)
            for i in range(at, min(len(data), at + (1 if kind < 3 else 16))):
                data[i] = random.choice((data[i] ^ (1 << random.randrange(8)), 0, 255, random.randrange(256)))
    open("d.h5", "wb").write(data)
    command = (("info", "d.h5"), ("diff", "d.h5", "a.run"), ("info", "d.h5", "--json"),
               ("export", "d.h5", "-o", "out", "--overwrite"))[random.randrange(4)]
    try:
        codes.append(survives(tactus(*command), "damage %d, %s" % (trial, command[0])))
    except subprocess.TimeoutExpired:
        check(False, "damage %d: no end" % trial)
check(codes.count(2) > 20, "most damage is seen: %s" % codes)

# Not HDF5 at all; and things that are no files.
for name, data in (("empty.h5", b""), ("text.h5", b"hello\n"), ("magic.h5", whole[:8]), ("short.h5", whole[:100])):
    open(name, "wb").write(data)
    check(survives(tactus("info", name), name) == 2, name)
    check(survives(tactus("diff", name, "a.run"), name) == 2, name)
os.mkdir("dir.run")
os.mkfifo("pipe")
for name in ("dir.run", "pipe", "/dev/null", "/dev/zero", "nowhere", "a.run/energy.csv"):
    for command in ("info", "diff"):
        r = tactus(command, name, *(["a.run"] if command == "diff" else []))
        check(survives(r, command + " " + name) == 2, "%s %s: %s" % (command, name, r.err))
finish()
