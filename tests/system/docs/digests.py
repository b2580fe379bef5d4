#!/usr/bin/python3
"""digests.py: `tactus info --digest` is the SHA-256 that anybody computes from frames.h5, on any number of ranks, and the five scenes of
docs/explanation/invariance.md have the digests of the page.

If it fails, the trajectory of a scene is no longer what the program has promised (then see docs/developers/release.md), or the digest is
of something else than it says."""
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

import h5py
import numpy

TACTUS, SOURCE = os.environ["TACTUS"], os.environ["TACTUS_SOURCE"]
failures = []


def expect(condition, text):
    if not condition:
        failures.append(text)
        print("FAILS:", text)


def call(*words, code=0, ranks=1):
    done = subprocess.run((["mpirun", "-q", "--bind-to", "none", "-n", str(ranks)] if ranks > 1 else []) + [TACTUS, *words], capture_output=True, text=True)
    expect(done.returncode == code, f"tactus {' '.join(words)} ends with {done.returncode}: {done.stderr}")
    return done


def by_hand(path):
    """The page's recipe."""
    digest = hashlib.sha256()
    with h5py.File(path, "r") as file:
        for frame in file["frames"].values():
            digest.update(frame["position"][:].astype("<f8").tobytes())
            digest.update(frame["velocity"][:].astype("<f8").tobytes())
        return len(file["frames"]), digest.hexdigest()


def digest_of(path):
    told = call("info", "--digest", path).stdout
    match = re.fullmatch(r"([0-9a-f]{64})  (.*): (\d+) frames?\n", told)
    expect(match is not None and match[2] == path, f"info --digest prints {told!r}")
    asked = json.loads(call("info", "--digest", "--json", path).stdout)
    expect(match is None or asked == {"kind": "digest", "path": path, "frames": int(match[3]), "sha256": match[1]}, f"--json tells {asked}, and the text {told!r}")
    return (int(match[3]), match[1]) if match else (0, "")


def main():
    with open(os.path.join(SOURCE, "docs/explanation/invariance.md"), encoding="utf-8") as file:
        text = file.read()
    rows = re.findall(r"^\| `([\w/.-]+\.json)` \| ([\d.]+) \| (\d+) \| `([0-9a-f]{64})` \|$", text, re.M)
    expect(len(rows) == 5, f"the page has {len(rows)} digests")
    for k, (scene, until, frames, wanted) in enumerate(rows):
        folder = f"{k}.run"
        call("run", os.path.join(SOURCE, scene), "--until", until, "-o", folder, "--quiet", ranks=1 + k % 2)
        found = digest_of(folder)
        expect(found == by_hand(folder + "/frames.h5"), f"{scene}: info tells {found}, and by hand it is {by_hand(folder + '/frames.h5')}")
        expect(found == (int(frames), wanted), f"{scene} until {until}: {found}, and the page has {frames} frames, {wanted}")
    # One bit of one velocity in the middle.
    with h5py.File("0.run/frames.h5", "r+") as file:
        frame = file["frames/000003/velocity"]
        row = frame[7]
        row.view("u8")[1] ^= numpy.uint64(1)
        frame[7] = row
    expect(digest_of("0.run/frames.h5") == by_hand("0.run/frames.h5") != (int(rows[0][2]), rows[0][3]), "a bit that differs does not change the digest")
    with open("a.obj", "w") as file:
        file.write("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    done = call("info", "--digest", "a.obj", code=2)
    expect(done.stdout == "" and done.stderr.count("\n") == 1, f"a mesh has no frames: {done.stderr!r}")
    print(f"{len(rows)} scenes, {len(failures)} failures")
    return 1 if failures else 0


with tempfile.TemporaryDirectory() as home:
    os.chdir(home)
    sys.exit(main())
