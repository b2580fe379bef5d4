#!/usr/bin/python3
"""A run with kinetic structures stops, goes on from its checkpoint on another number of ranks and with another way of
discovery, and ends as one without a stop.  Too many pairs for a structure are refused in one sentence, exit code 2."""
import os
import subprocess
import sys
import tempfile

TACTUS = os.environ["TACTUS"]
SCENE = os.path.join(os.environ["TACTUS_SOURCE"], "tests/system/equality/scenes/cloth-over-sphere.json")


def call(*words):
    done = subprocess.run([str(w) for w in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    return done.returncode, done.stdout


def expect(what, code, output, wanted, *parts):
    if code != wanted or any(part not in output for part in parts):
        sys.exit(f"{what}: exit code {code}, not {wanted}:\n{output}")


def ranks(n):
    return ["mpirun", "-n", n]


with tempfile.TemporaryDirectory() as home:
    code, output = call(TACTUS, "run", os.path.join(os.environ["TACTUS_SOURCE"], "jobs/two-sheets.json"), "-o", f"{home}/many", "--discover",
                        "kds", "--set", "discovery.structure=pairs", "--quiet")
    expect("too many pairs", code, output, 2, "more than 1e6 pairs", "k-dop")
    whole, parts = f"{home}/whole", f"{home}/parts"
    kds = ["--discover", "kds", "--quiet"]
    expect("whole", *call(TACTUS, "run", SCENE, "-o", whole, *kds), 0)
    # There and back: a checkpoint of either way of discovery is one of the other.
    expect("begun", *call(TACTUS, "run", SCENE, "-o", parts, *kds, "--until", "0.02"), 0)
    expect("gone on", *call(TACTUS, "run", SCENE, "-o", parts, "--restart", parts, "--quiet", "--until", "0.03"), 0)
    expect("two ranks", *call(*ranks(2), TACTUS, "run", "--restart", parts, *kds, "--until", "0.033"), 0)
    expect("three ranks", *call(*ranks(3), TACTUS, "run", "--restart", parts, *kds, "--until", "0.036"), 0)
    expect("ended", *call(TACTUS, "run", SCENE, "-o", parts, "--restart", parts, *kds), 0)
    expect("compared", *call(TACTUS, "diff", "--all-frames", whole, parts), 0, "equal")
print("one run in five parts, on one, two and three ranks, is the same as one in one")
