#!/usr/bin/python3
"""round_bodies.py: balls, capsules and planes of a scene: extent, area and volume beside their closed forms, how near other bodies come,
and what is refused.

If it fails, a round body has another size than its scene says."""

import json
import math
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np

TACTUS = os.environ["TACTUS"]
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)
        print("failed:", what, file=sys.stderr)


def write(bodies, **keys):
    scene = {"format": "tactus-scene/1", "time": {"end": 0.25, "frame": 0.125}, "contact": {"thickness": 0.01}, "bodies": bodies, **keys}
    with open("scene.json", "w") as out:
        json.dump(scene, out)


def tactus(*words):
    return subprocess.run([TACTUS, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)


def sizes():
    turn, scale = 30, 2
    write([{"name": "ball", "mass": 1, "mesh": {"kind": "ball", "radius": 0.1}, "position": [1, 2, 3]},
           {"name": "capsule", "fixed": True, "mesh": {"kind": "capsule", "radius": 0.1, "length": 0.5}, "rotation": [0, 0, turn], "scale": scale},
           {"name": "plane", "fixed": True, "mesh": {"kind": "plane", "size": [2, 4]}, "position": [0, -3, 0]}])
    r = tactus("check", "scene.json", "--json")
    check(r.returncode == 0, r.stderr)
    ball, capsule, plane = json.loads(r.stdout)["bodies"]
    check(ball["radius"] == 0.1 and math.isclose(ball["volume"], 4 / 3 * math.pi * 1e-3, rel_tol=1e-14) and
          math.isclose(ball["area"], 4 * math.pi * 1e-2, rel_tol=1e-14), ball)
    check(np.allclose(ball["extent"], [[0.9, 1.9, 2.9], [1.1, 2.1, 3.1]], rtol=1e-15), ball)
    r, length = 0.1 * scale, 0.5 * scale
    check(capsule["radius"] == r and math.isclose(capsule["volume"], math.pi * r**2 * length + 4 / 3 * math.pi * r**3, rel_tol=1e-14) and
          math.isclose(capsule["area"], 2 * math.pi * r * length + 4 * math.pi * r**2, rel_tol=1e-14), capsule)
    half = [length / 2 * math.sin(math.radians(turn)) + r, length / 2 * math.cos(math.radians(turn)) + r, r]
    check(np.allclose(capsule["extent"], [[-h for h in half], half], rtol=1e-14), capsule)
    check(plane["triangles"] == 2 and plane["box"] == [[-1, -3, -2], [1, -3, 2]] and "volume" not in plane, plane)


def refusals():
    for body, sentence in (({"mesh": {"kind": "ball", "radius": 0.1}, "radius": 0.2}, "bodies[0].radius: is 0.2, but the mesh is a ball of radius 0.1 m; leave the key out"),
                           ({"mesh": {"kind": "ball", "radius": 1e30}, "scale": 1e30}, "bodies[0].radius: is 1e+60 m with the body's scale"),
                           ({"mesh": {"kind": "capsule", "radius": 0.1}}, "mesh.length: is missing; a capsule needs it"),
                           ({"mesh": {"kind": "ball", "radius": -1}}, "mesh.radius: must be a number over 0, not -1")):
        write([{"name": "b", "mass": 1, **body}])
        r = tactus("check", "scene.json")
        check(r.returncode == 2 and sentence in r.stderr, "%s: %s" % (sentence, r.stderr))


def contact():
    """A ball falls on a capsule that lies across its way, and stays off it by more than both radii; the audit proves it."""
    for name, integrator in (("events", {}), ("implicit", {"integrator": {"kind": "implicit", "step_s": 0.00390625}})):
        write([{"name": "ball", "mass": 0.1, "mesh": {"kind": "ball", "radius": 0.05}, "position": [0.1, 0.3, 0.2]},
               {"name": "bar", "fixed": True, "mesh": {"kind": "capsule", "radius": 0.1, "length": 1}, "rotation": [90, 0, 0]}],
              gravity=[0, -9.81, 0], time={"end": 0.5, "frame": 0.0078125}, **integrator)
        r = tactus("run", "scene.json", "-o", name + ".run", "--record", "--quiet")
        check(r.returncode == 0, name + ": " + r.stderr)
        again = tactus("run", name + ".run/scene.json", "-o", name + "-again.run", "--record", "--quiet")
        same = tactus("diff", name + ".run", name + "-again.run")
        check(again.returncode == 0 and same.returncode == 0, "the resolved scene is the same scene: " + again.stderr + same.stdout)
        r = tactus("audit", name + ".run")
        check(r.returncode == 0, name + ": " + r.stdout + r.stderr)
        with h5py.File(name + ".run/frames.h5", "r") as f:
            check(list(f["mesh/radius"][()].ravel()) == [0.05, 0.1, 0.1], "radii of the frames")
            x = np.array([f["frames"][k]["position"][0] for k in sorted(f["frames"])])
        off = np.hypot(x[:, 0], x[:, 1]) - 0.15
        check(off.min() > 0, "%s: the ball is %g m inside the capsule" % (name, -off.min()))
        check(off.min() < 0.01 and x[-1, 0] > 0.15 and abs(x[:, 2] - 0.2).max() < 1e-9, "%s: the ball touches it and rolls off: %s" % (name, x[-1]))


with tempfile.TemporaryDirectory(prefix="tactus-round-") as here:
    os.chdir(here)
    sizes()
    refusals()
    contact()
    os.chdir("/")
print("%d failures" % len(failures))
sys.exit(1 if failures else 0)
