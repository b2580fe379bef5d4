#!/usr/bin/python3
"""damage.py: a restart finds every damage of what its checkpoint tells of, names the file and the line, and changes nothing.

One digit is changed in 50 places of reactions.csv, histories.csv, steps.csv, the header of energy.csv and /mesh/tetrahedra; lines are cut and
added.  All that is later than the checkpoint may be damaged: it is written anew.  tactus diff tells where the tables of two runs differ.
A failure means that a damaged run goes on as if nothing had happened, or that whole ones are refused."""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

import h5py

TACTUS = os.environ["TACTUS"]
TABLES = ["reactions.csv", "histories.csv", "steps.csv"]
SCENE = {"format": "tactus-scene/1", "time": {"end": 0.06, "frame": 0.01}, "gravity": [0, -9.81, 0],
         "integrator": {"kind": "implicit", "step_s": 0.005}, "contact": {"thickness": 0.01},
         "materials": {"gel": {"density": 1000, "solid": {"model": "neo-hookean", "youngs": 5000, "poisson": 0.3}}},
         "bodies": [{"name": "block", "material": "gel", "mesh": {"kind": "box", "size": [0.1, 0.1, 0.1], "cells": [2, 2, 2], "fill": "tets"}}],
         "motions": [{"body": "block", "vertices": [0, 1, 2], "path": [[0, [0, 0, 0]]]}],
         "output": {"reactions": True, "checkpoint_every_t": 0.02, "checkpoint_keep": 9,
                    "histories": [{"name": "h", "body": "block", "vertices": [3, 4, 5], "every": 0.005, "each": True}]}}


def must(true, text):
    if not true:
        sys.exit(text)


def tactus(*arguments, code=(0,)):
    done = subprocess.run([TACTUS, *arguments], capture_output=True, text=True)
    must(done.returncode in code, "%s: %d instead of %s\n%s%s" % (arguments, done.returncode, code, done.stdout, done.stderr))
    return done


def read(path):
    with open(path, "rb") as file:
        return file.read()


def put(path, data):
    with open(path, "wb") as file:
        file.write(data)


def fresh():
    shutil.rmtree("x.run", ignore_errors=True)
    shutil.copytree("half.run", "x.run", symlinks=True)


def refused(name, line):
    """The restart names the file, and the line if there is one; the folder stays as it is."""
    before = {n: read("x.run/" + n) for n in os.listdir("x.run")}
    done = tactus("run", "--restart", "x.run", "--quiet", code=(2,))
    must(name in done.stderr and "damaged" in done.stderr, "%s: %s" % (name, done.stderr))
    must(line is None or re.search(r"line %d\b" % line, done.stderr), "%s, line %s: %s" % (name, line, done.stderr))
    must({n: read("x.run/" + n) for n in os.listdir("x.run")} == before, "%s: the folder was changed" % name)


def change_digit(data, begin, end, dice):
    """Another digit or letter in [begin, end); where it was."""
    at = dice.choice([i for i in range(begin, end) if chr(data[i]).isalnum()])
    new = dice.choice([c for c in (b"0123456789" if chr(data[at]).isdigit() else b"abcdefgh") if c != data[at]])
    return data[:at] + bytes([new]) + data[at + 1:], data[:at].count(b"\n") + 1


def check_digits():
    dice, trials = random.Random(20261126), 0
    for name in TABLES:
        data = read("half.run/" + name)
        for _ in range(14):
            fresh()
            changed, line = change_digit(data, 0, len(data), dice)
            put("x.run/" + name, changed)
            refused(name, line)
            trials += 1
    data = read("half.run/energy.csv")
    for _ in range(5):
        fresh()
        put("x.run/energy.csv", change_digit(data, 0, data.index(b"\n"), dice)[0])
        refused("energy.csv", 1)
        trials += 1
    with h5py.File("half.run/frames.h5") as file:
        chunk = file["mesh/tetrahedra"].id.get_chunk_info(0)
        begin, size = chunk.byte_offset, chunk.size
    for k in range(3):
        fresh()
        frames = bytearray(read("x.run/frames.h5"))
        frames[begin + (2 * k + 1) * size // 7] ^= 1 << k
        put("x.run/frames.h5", bytes(frames))
        refused("tetrahedra", None)
        trials += 1
    must(trials == 50, "%d trials" % trials)


def check_lines():
    for name in TABLES:
        lines = read("half.run/" + name).splitlines(True)
        for what, line in ((lines[:-1], len(lines)), (lines[:4] + lines[5:], 5), (lines[:4] + lines[3:], 5), ([], 1), (lines[:1] + lines[2:], 2),
                           (lines[:-1] + [lines[-1][:-1]], len(lines)), ([lines[0][:-1] + b",more\n"] + lines[1:], 1)):
            fresh()
            put("x.run/" + name, b"".join(what))
            refused(name, line)


def check_whole():
    """What is later may be anything; what was moved away begins anew, and that is told; and goes on so."""
    fresh()
    for name in TABLES:
        with open("x.run/" + name, "ab") as file:
            file.write(b"7,rubbish")
    tactus("run", "--restart", "x.run", "--quiet")
    must("equal" in tactus("diff", "whole.run", "x.run", "--all-frames").stdout.split(), "rubbish at the end")
    for name in TABLES[:2]:
        must(read("x.run/" + name) == read("whole.run/" + name), name + " differs")
    fresh()
    for name in TABLES:
        os.unlink("x.run/" + name)
    done = tactus("run", "--restart", "x.run", "--until", "0.05")
    for name in TABLES:
        must(re.search(name + " has no rows from before", done.stderr), "%s: nothing is told: %s" % (name, done.stderr))
    tactus("run", "--restart", "x.run", "--quiet")
    for name in TABLES:
        must(0 < read("x.run/" + name).count(b"\n") < read("whole.run/" + name).count(b"\n"), name + " does not begin anew")
    # From an older checkpoint of a run that has gone on: the lines up to there.
    shutil.rmtree("x.run")
    shutil.copytree("whole.run", "x.run", symlinks=True)
    tactus("run", "--restart", "x.run/checkpoint-000001.h5", "--quiet")
    for name in TABLES[:2]:
        must(read("x.run/" + name) == read("whole.run/" + name), name + " differs")
    # A checkpoint that does not tell: as ever.
    fresh()
    for name in os.listdir("x.run"):
        if name.startswith("checkpoint-"):
            forget("x.run/" + name)
    put("x.run/reactions.csv", change_digit(read("x.run/reactions.csv"), 400, 500, random.Random(1))[0])
    tactus("run", "--restart", "x.run", "--quiet", "--until", "0.05")


def forget(path):
    """Takes the checksums of lines out of a checkpoint, as an older version wrote it."""
    import struct
    import zlib
    shutil.copy(path, "old.h5")
    with h5py.File("old.h5", "r+") as file:
        numbers = file["integers"][:]
        counts = [file[name].shape[0] for name in ("lines_reactions", "lines_histories", "lines_steps", "lines_energy")]
        for k in range(len(numbers) - 3):
            if list(numbers[k:k + 4]) == counts:
                numbers[k:k + 4] = 0
        file["integers"][:] = numbers
        for name in [n for n in file if n.startswith("lines_")]:
            del file[name]
    data = bytearray(read("old.h5"))
    data[12:16] = struct.pack("<I", zlib.crc32(bytes(data[512:])))
    data[16:24] = struct.pack("<q", len(data) - 512)
    put(path, bytes(data))


def check_diff():
    """diff: reactions, histories and steps without their seconds."""
    must("equal" in tactus("diff", "whole.run", "again.run", "--all-frames").stdout.split(), "two runs differ")
    for name in TABLES:
        shutil.rmtree("x.run")
        shutil.copytree("whole.run", "x.run", symlinks=True)
        lines = read("x.run/" + name).splitlines(True)
        field = lines[3].split(b",")
        field[5] = b"0.125"
        put("x.run/" + name, b"".join(lines[:3] + [b",".join(field)] + lines[4:]))
        said = tactus("diff", "whole.run", "x.run", code=(1,)).stdout
        must(re.search(re.escape(name) + " .* 1 differs.*" + lines[0].split(b",")[5].decode() + ".*0.125", said), "%s: %s" % (name, said))
        reported = json.loads(tactus("diff", "whole.run", "x.run", "--json", code=(1,)).stdout)
        must(reported[name]["differing"] == 1 and reported[name]["largest"]["where"] == lines[0].split(b",")[5].decode(), str(reported))
        put("x.run/" + name, b"".join(lines[:-1]))
        tactus("diff", "whole.run", "x.run")
        tactus("diff", "whole.run", "x.run", "--all-frames", code=(1,))
        os.unlink("x.run/" + name)
        must(name not in tactus("diff", "whole.run", "x.run").stdout, "compared where one has none")


def main():
    with open("scene.json", "w") as file:
        json.dump(SCENE, file)
    tactus("run", "scene.json", "-o", "half.run", "--quiet", "--until", "0.04")
    for name in ("whole.run", "again.run"):
        tactus("run", "scene.json", "-o", name, "--quiet")
    check_digits()
    check_lines()
    check_whole()
    check_diff()


with tempfile.TemporaryDirectory(prefix="tactus-damage-") as folder:
    os.chdir(folder)
    main()
    os.chdir("/")
