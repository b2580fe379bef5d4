#!/usr/bin/python3
"""examples.py FOLDER TACTUS: the examples of docs/examples, built against an installed copy in FOLDER, print what they should.

The positions that step.c and step.cpp print are those of `tactus run`, to the last bit, on one rank and on two; the ball of
change.c goes where its force pushes it, and the stones of two.c fall as stones do.  If it failed, what the documents tell
others to write would not work."""
import json
import os
import re
import subprocess
import sys

import h5py

HERE = os.path.dirname(os.path.abspath(__file__))
SCENE = os.path.join(HERE, "../../../docs/examples/drop.json")
FOLDER, TACTUS = map(os.path.abspath, sys.argv[1:])
MPIRUN = ["mpirun", "-q", "--bind-to", "none", "-n", "2"]


def call(*command, code=0):
    done = subprocess.run([str(word) for word in command], cwd=FOLDER, capture_output=True, text=True)
    if done.returncode != code:
        sys.exit("%s: code %d\n%s%s" % (" ".join(map(str, command)), done.returncode, done.stdout, done.stderr))
    return done.stdout if code == 0 else done.stderr


def example(name, *words, ranks=1, code=0):
    return call(*(MPIRUN if ranks == 2 else []), os.path.join(FOLDER, name), *words, code=code)


def expect(good, what):
    if not good:
        sys.exit("FAILS: " + what)


def steps():
    call(TACTUS, "run", SCENE, "-o", "drop.run", "--overwrite", "--quiet")
    with h5py.File(os.path.join(FOLDER, "drop.run/frames.h5")) as file:
        frames = file["frames"]
        want = ["%.3f s: %.17g %.17g %.17g" % (frames[k]["time"][()], *frames[k]["position"][0]) for k in sorted(frames)]
    expect(len(want) == 7, "the run has %d frames" % len(want))
    for name in ("step", "step_cpp"):
        for ranks in (1, 2):
            reported = example(name, SCENE, ranks=ranks).splitlines()
            expect(reported == want, "%s on %d ranks tells %s and not %s" % (name, ranks, reported, want))
        reported = example(name, "no-such-scene.json", code=2)
        expect(reported.count("\n") == 1 and name + ": no-such-scene.json" in reported, "%s without a scene says: %s" % (name, reported))
    # It falls until it meets the floor, and then is thrown back.
    y = [float(line.split()[3]) for line in want]
    expect(y[:4] == sorted(y[:4], reverse=True) and y[4] > 0 and y[6] > y[5], "it falls and bounces: %s" % y)
    way = .5 * 9.81 * .25 ** 2
    expect(abs(y[0] - y[2] - way) < .01 * way, "it falls as things do: %s" % y)


def change():
    ball = json.loads(call(TACTUS, "check", SCENE, "--json"))["bodies"][0]
    for ranks in (1, 2):
        reported = [float(x) for x in re.findall(r"x = (\S+) m", example("change", SCENE, "saved-%d" % ranks, ranks=ranks))]
        # 0.01 N on each vertex for 1/8 s, and as long back.
        half = .5 * (.01 * ball["vertices"] / ball["mass"]) * .125 ** 2
        expect(len(reported) == 3 and abs(reported[0]) < 1e-9 and abs(reported[1] - half) < .02 * half and abs(reported[2] - 2 * half) < .02 * half,
               "change on %d ranks: %s and not 0, %g, %g" % (ranks, reported, half, 2 * half))


def two():
    for ranks in (1, 2):
        reported = example("two", ranks=ranks)
        fallen = {(name, float(t)): 100 - float(y) for t, name, y in re.findall(r"(\S+) s, (\w+): (\S+) m", reported)}
        expect(len(fallen) == 8, "two says: " + reported)
        for (name, t), way in fallen.items():
            want = .5 * {"Earth": 9.81, "Moon": 1.62}[name] * t ** 2
            expect(abs(way - want) < .005 * want + 1e-4, "%s at %g s: fell %g m and not %g" % (name, t, way, want))


os.environ["OMPI_MCA_rmaps_base_oversubscribe"] = "1"
steps()
change()
two()
print("examples: as they should be")
