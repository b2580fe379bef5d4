#!/usr/bin/env python3
"""stepping.py STEPPER: steps of any size give the bits of `tactus run`, on any number of ranks, and checkpoints go to and fro.

A failure means that a host program that steps a scene would see another trajectory than the program's own."""
import glob
import os
import re
import struct
import subprocess
import sys
import tempfile

STEPPER = sys.argv[1]
TACTUS = os.environ["TACTUS"]
SOURCE = os.environ["TACTUS_SOURCE"]
MPIRUN = ["mpirun", "-q", "--bind-to", "none", "-n"]


def run(command, ranks=1, code=0, **environment):
    command = [str(word) for word in command]
    if ranks > 1:
        command = MPIRUN + [str(ranks)] + command
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode != code:
        sys.exit("%s: code %d\n%s%s" % (" ".join(command), done.returncode, done.stdout, done.stderr))
    return done.stdout + done.stderr


def state(name):
    """By vertex, what `dump` wrote: the bits of position and velocity."""
    data = b"".join(open(part, "rb").read() for part in glob.glob(name + ".[0-9]*"))
    return {struct.unpack_from("<q", data, k)[0]: data[k + 8:k + 56] for k in range(0, len(data), 56)}


def expect_equal(a, b, what):
    if not a or a != b:
        sys.exit("%s: %d of %d vertices differ" % (what, sum(a[i] != b.get(i) for i in a), len(a)))


def expect_match(text, contacts, what):
    found = re.search(r"match frames (\d+) contacts (\d+) differ (\d+)", text)
    if not found or int(found[1]) < 4 or int(found[3]) or (contacts and int(found[2]) == 0):
        sys.exit("%s: %s" % (what, text))


def main():
    sheets = SOURCE + "/jobs/two-sheets.json"
    cloth = SOURCE + "/tests/system/equality/scenes/let-go.json"
    run([TACTUS, "run", sheets, "-o", "sheets.run", "--until", 0.003, "--set", "time.frame=0.0009765625", "--quiet"])
    run([TACTUS, "run", cloth, "-o", "cloth.run", "--until", 0.02, "--quiet"])
    kds = ["--set", "discovery.mode=kds"]
    expect_match(run([STEPPER, sheets, "match", "sheets.run"]), False, "two sheets, 1 rank")
    expect_match(run([STEPPER, sheets, "match", "sheets.run"], 3), False, "two sheets, 3 ranks")
    expect_match(run([STEPPER, cloth, "match", "cloth.run"]), True, "cloth, 1 rank")
    expect_match(run([STEPPER, cloth] + kds + ["match", "cloth.run"], 2, TACTUS_TEST_MIGRATE="3"), True, "cloth, 2 ranks")

    # A checkpoint of the library, gone on from by the library and by the program; and one of the program.
    run([STEPPER, cloth, "random", 5, 0.0101, "save", "saved", "random", 6, 0.0181, "dump", "a"], 2)
    run([STEPPER, "@saved", "random", 8, 0.0181, "dump", "b"])
    expect_equal(state("a"), state("b"), "restored by the library")
    run([TACTUS, "run", "--restart", "saved", "-o", "gone.run", "--until", 0.02, "--quiet"], 2)
    run([TACTUS, "diff", "cloth.run", "gone.run"])
    run([STEPPER, "@cloth.run/checkpoint-000001.h5", "random", 9, 0.021, "save", "again", "dump", "c"])
    run([STEPPER, cloth, "to", 0.021, "dump", "d"])
    expect_equal(state("c"), state("d"), "the program's checkpoint, by the library")
    print("stepping: equal")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
