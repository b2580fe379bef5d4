#!/usr/bin/python3
"""Kinetic structures on several ranks are refused by one sentence, exit code 2, and nothing is left; a run with them
stops, goes on from its checkpoint, and ends as one without a stop."""
import os
import subprocess
import sys
import tempfile

TACTUS = os.environ["TACTUS"]
SCENE = os.path.join(os.environ["TACTUS_SOURCE"], "tests/equality/scenes/cloth-over-sphere.json")


def call(*words):
    done = subprocess.run([str(w) for w in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    return done.returncode, done.stdout


def expect(what, code, output, wanted, *parts):
    if code != wanted or any(part not in output for part in parts):
        sys.exit(f"{what}: exit code {code}, not {wanted}:\n{output}")


with tempfile.TemporaryDirectory() as home:
    code, output = call("mpirun", "-n", 2, TACTUS, "run", SCENE, "-o", f"{home}/two", "--discover", "kds", "--quiet")
    expect("two ranks", code, output, 2, "--discover kds runs on one rank", "here are 2", "--discover speculate")
    code, output = call(TACTUS, "run", os.path.join(os.environ["TACTUS_SOURCE"], "jobs/two-sheets.json"), "-o", f"{home}/many", "--discover",
                        "kds", "--set", "discovery.structure=pairs", "--quiet")
    expect("too many pairs", code, output, 2, "more than 1e6 pairs", "k-dop")
    whole, parts = f"{home}/whole", f"{home}/parts"
    kds = ["--discover", "kds", "--quiet"]
    expect("whole", *call(TACTUS, "run", SCENE, "-o", whole, *kds), 0)
    # There and back: a checkpoint of either way of discovery is one of the other.
    expect("begun", *call(TACTUS, "run", SCENE, "-o", parts, *kds, "--until", "0.02"), 0)
    expect("gone on", *call(TACTUS, "run", SCENE, "-o", parts, "--restart", parts, "--quiet", "--until", "0.03"), 0)
    expect("ended", *call(TACTUS, "run", SCENE, "-o", parts, "--restart", parts, *kds), 0)
    expect("compared", *call(TACTUS, "diff", "--all-frames", whole, parts), 0, "equal")
print("refused on two ranks; one run in three parts is the same as one in one")
