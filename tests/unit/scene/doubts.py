#!/usr/bin/python3
"""doubts.py: `tactus check` and `tactus run` refuse by name what is too fast to be simulated, end a run whose motion is lost, and
warn of scenes that are hardly meant. If this failed, a start at 1e25 m/s would fill the memory, and a scene without contact would
run without a word.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

TACTUS = os.path.abspath(os.environ["TACTUS"])
HERE = tempfile.TemporaryDirectory(prefix="tactus-doubts-")
os.chdir(HERE.name)
MOST_MEMORY = 400 << 20 # bytes, of a run that has 30 MB to do
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)
        print("failed:", what, file=sys.stderr)


def tactus(command, scene, *arguments, ranks=1, settings=()):
    with open("scene.json", "w") as out:
        json.dump(scene, out)
    launch = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
    given = [word for s in settings for word in ("--set", s)]
    return subprocess.run([*launch, TACTUS, command, "scene.json", *map(str, arguments), *given], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, timeout=600)


def sentences(r):
    return [line for line in r.stderr.splitlines() if line.startswith("tactus: ") and not line.startswith("tactus: warning: ")]


def warnings(r):
    return [line for line in r.stderr.splitlines() if line.startswith("tactus: warning: ")]


CLOTH = {"density": .2, "stretch": {"model": "cst", "stiffness": 60}}


def scene(**more):
    return {"format": "tactus-scene/1", "time": {"end": 1, "frame": .03125}, "contact": {"thickness": .01}, "materials": {"cloth": CLOTH},
            "bodies": [{"name": "sheet", "material": "cloth", "mesh": {"kind": "grid", "size": [1, 1], "cells": [12, 12]}},
                       {"name": "floor", "fixed": True, "mesh": {"kind": "box", "size": [1, 1, 1], "cells": [1, 1, 1]}, "position": [0, -3, 0]}],
            **more}


# ---- what is too fast, by its key; the limit is a million sizes of the largest body in a millisecond: 1.7e9 m/s
PATH = '{"body":"sheet","%s}'
for setting, where in (
        ("bodies.sheet.velocity=[0,1e25,0]", r'bodies\[0\]\.velocity: "sheet" starts its vertex 0 at 1e\+25 m/s'),
        ("bodies.sheet.velocity=[0,2e9,0]", r"bodies\[0\]\.velocity: .*stay under 1.74e\+09 m/s"),
        ("bodies.sheet.angular_velocity=[0,1e12,0]", r'bodies\[0\]\.angular_velocity: "sheet" starts its vertex \d+ at'),
        ("bodies.sheet.random_speed=[1e12,1e12]", r'bodies\[0\]\.random_speed: "sheet" starts its vertex 0 at 1e\+12 m/s'),
        ("gravity=[0,1e25,0]", r"gravity: gives in a step 1e\+22 m/s"),
        ("motions=[" + PATH % 'path":[[0,[0,0,0]],[0.5,[0,1,0]],[0.6,[1e12,0,0]]]' + "]", r"motions\[0\]\.path\[2\]: is reached at 1e\+13 m/s"),
        ("motions=[" + PATH % 'rotate":{"axis":[0,1,0],"center":[1e12,0,0],"path":[[0,0],[0.5,90]]}' + "]",
         r"motions\[0\]\.rotate\.path\[1\]: is reached at 3\.14e\+12 m/s"),
        ("loads=[" + PATH % 'force":[1e25,0,0]' + "]", r"loads\[0\] on vertex 0 of body `sheet` accelerates by .* cannot be simulated"),
        ("loads=[" + PATH % 'wind":[1e12,0,0],"drag":1e-13' + "]", r"loads\[0\] on triangle 0 of body `sheet` blows with 1e\+12 m/s, which cannot be simulated")):
    for command, ranks in (("check", 1), ("run", 1)) + ((("run", 3),) if setting.endswith("[0,1e25,0]") else ()):
        r = tactus(command, scene(), ranks=ranks, settings=[setting])
        said = sentences(r)
        check(r.returncode == 2 and len(said) == 1 and re.search(where, said[0]) and not os.path.exists("scene.run"),
              "%s on %d ranks with %s: %d %s" % (command, ranks, setting, r.returncode, r.stderr[:600]))
for setting in ("bodies.sheet.velocity=[0,1e6,0]", "bodies.sheet.velocity=[0,1e9,0]", "gravity=[0,-1e9,0]", "bodies.sheet.velocity=[1000,0,0]",
                "motions=[" + PATH % 'path":[[0,[0,0,0]],[0.001,[1000,0,0]]]' + "]"):
    r = tactus("check", scene(), settings=[setting])
    check(r.returncode == 0, "%s is legal: %s" % (setting, r.stderr))
r = tactus("run", scene(), "-o", "shot", "--quiet", "--until", .01, settings=["bodies.sheet.velocity=[0,1000,0]", "bodies.sheet.angular_velocity=[0,1,0]"])
check(r.returncode == 0, "a fast scene: %s" % r.stderr)

# ---- what is lost on the way: it falls so fast that rounding would move it further than contacts reach. Each tick of gravity is a kick of
# 1e8 m/s, and far out proofs must not be short for fear of roundings that do not happen: else kds goes on for hours
lost = scene(gravity=[1e11, 0, 0])
lost["materials"]["cloth"] = {"stretch": CLOTH["stretch"]}
lost["bodies"][0]["mass"] = .001
reported = set()
for ranks, mode in ((1, "speculate"), (2, "speculate"), (1, "kds"), (2, "kds")):
    folder = "lost-%s-%d" % (mode, ranks)
    r = tactus("run", lost, "-o", folder, "--quiet", "--discover", mode, ranks=ranks)
    said = sentences(r)
    check(r.returncode == 3 and len(said) == 1 and re.search(r"vertex \d+ of body `sheet` left the range of numbers at t = 0\.\d+ s, or is so far away", said[0]),
          "lost, %s on %d ranks: %d %s" % (mode, ranks, r.returncode, r.stderr[:600]))
    with open(folder + "/status.json") as f:
        status = json.load(f)
    check(status["state"] == "failed" and "left the range" in status["error"], "its status: %s" % status)
    with open(folder + "/run.json") as f:
        peak = json.load(f)["peak_memory_bytes"]
    check("ASAN_OPTIONS" in os.environ or peak is None or peak < MOST_MEMORY, "its memory: %s" % peak)
    if mode == "speculate":
        reported.add(said[0] if said else None)
check(len(reported) == 1, "one sentence on any number of ranks: %s" % reported)


# ---- hardly meant
def doubts(what, contact, cloth):
    """Both commands warn of what they should, in text and --json, and of nothing else."""
    expected = [w for w, there in (("contact: has no thickness, so there is no contact", contact), ("nothing holds it together", cloth)) if there]
    r = tactus("check", what, "--json")
    check(r.returncode == 0, "check: %s" % r.stderr)
    report = json.loads(r.stdout)
    check(report["warnings"] == len(report["warned"]) == len(expected) and all(w in said for w, said in zip(expected, report["warned"])),
          "check --json: %s, not %s" % (report["warned"], expected))
    check([w.removeprefix("tactus: warning: ") for w in warnings(r)] == report["warned"], "check: %s" % r.stderr)
    r = tactus("run", what, "-o", "doubts", "--overwrite", "--until", .001)
    check(r.returncode == 0 and [w.removeprefix("tactus: warning: ") for w in warnings(r)] == report["warned"], "run: %s" % r.stderr)


def without(what, *keys):
    return {k: v for k, v in what.items() if k not in keys}


bodies = scene()["bodies"]
loose = {"materials": {"cloth": {"density": .2}}}
doubts(scene(), False, False)
doubts(without(scene(), "contact"), True, False)
doubts(scene(contact={"stiffness": 10}), True, False)
doubts(scene(contact={"thickness": 0}), False, False)
doubts(scene(**loose), False, True)
doubts(scene(**loose, contact={}), True, True)
doubts(without(scene(bodies=bodies[:1]), "contact"), True, False)
doubts(without(scene(bodies=[{**bodies[0], "self": False}]), "contact"), False, False)
doubts(without(scene(bodies=bodies[1:]), "contact"), False, False)
doubts(scene(bodies=[{**bodies[0], "fixed": True}, bodies[1]], **loose), False, False)
doubts(scene(motions=[{"body": "sheet", "path": [[0, [0, 0, 0]]]}], **loose), False, False)
doubts(without(scene(bodies=[{"name": "dot", "mass": 1, "mesh": {"kind": "points", "vertices": [[0, 0, 0]]}}]), "contact"), False, False)
r = tactus("run", without(scene(), "contact"), "-o", "three", "--until", .001, ranks=3)
check(len(warnings(r)) == 1, "once on three ranks: %s" % r.stderr)
r = subprocess.run([TACTUS, "run", "--restart", "three", "--until", "0.002"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
check(r.returncode == 0 and warnings(r) == [], "not again when it goes on: %s" % r.stderr)
print("%d failures" % len(failures))
sys.exit(1 if failures else 0)
