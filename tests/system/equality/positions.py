#!/usr/bin/python3
"""positions.py: bodies that a file of positions moves (docs/reference/scene-format.md, Positions of an animation).

A sphere swells and breathes under a cloth that is pinned to it: the same bits on one, two and three ranks and across restarts, from every
format that holds the same numbers, with both integrators; the sphere is where the file says; the audit proves that nothing passed.  What
cannot be followed is refused by name.  If it failed, an animated character would move differently on two machines, or through its garment."""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import h5py
import numpy as np

TACTUS, SOURCE = os.path.abspath(os.environ["TACTUS"]), os.environ["TACTUS_SOURCE"]
sys.path.insert(0, os.path.join(SOURCE, "src/python"))
failures = []


def expect(condition, *what):
    if not condition:
        failures.append(what)
        print("FAILS:", *what, file=sys.stderr)


def tactus(*words, ranks=1, code=0):
    done = subprocess.run((["mpirun", "-n", str(ranks)] if ranks > 1 else []) + [TACTUS, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    expect(done.returncode == code, words, "ended with", done.returncode, done.stdout[-600:])
    return done.stdout


def write(name, t, x):
    if name.endswith(".npz"):
        np.savez(name, time=t, position=x)
    elif name.endswith(".mdd"):
        with open(name, "wb") as f:
            f.write(np.array([len(t), x.shape[1]], ">i4").tobytes() + t.astype(">f4").tobytes() + x.astype(">f4").tobytes())
    else:
        with h5py.File(name, "w") as f:
            f.create_dataset("time", data=t)
            f.create_dataset("position", data=x, **({"chunks": (1, *x.shape[1:]), "compression": 4} if "packed" in name else {}))


def scene(file, implicit=False, **more):
    made = {"format": "tactus-scene/1", "time": {"end": .1, "frame": .025}, "gravity": [0, -9.81, 0], "contact": {"thickness": .01, "stiffness": 100, "friction": .3},
            "materials": {"cloth": {"density": .15, "stretch": {"model": "cst", "stiffness": 30, "poisson": .3}}}, "output": {"checkpoint_every_t": .025},
            "bodies": [{"name": "sheet", "material": "cloth", "position": [0, .162, 0], "mesh": {"kind": "grid", "size": [.3, .3], "cells": [8, 8]}},
                       {"name": "ball", "mesh": {"kind": "sphere", "radius": .15, "level": 2}}],
            "motions": [{"body": "ball", "positions": {"file": file}}, {"body": "sheet", "vertices": [40], "follow": {"body": "ball", "vertex": TOP}}]}
    made.update(more)
    if implicit:
        made["integrator"] = {"kind": "implicit", "step_s": .0125}
    return made


def put(name, made):
    with open(name, "w") as f:
        json.dump(made, f)
    return name


def same(a, b, what):
    expect("equal" in tactus("diff", a, b), what)


def check_places(folder, t, x, first):
    """The ball's vertices come after the sheet's."""
    with h5py.File(folder + "/frames.h5") as f:
        pressed = 0
        for name in f["frames"]:
            now, at = f["frames"][name]["time"][()], f["frames"][name]["position"][()][first:]
            wanted = np.array([np.interp(now, t, x[:, i, c]) for i in range(x.shape[1]) for c in range(3)]).reshape(-1, 3)
            expect(abs(at - wanted).max() < 1e-12, folder, name, "the ball is off the file by", abs(at - wanted).max())
            pressed = max(pressed, abs(f["frames"][name]["contact_force"][()]).max())
        expect(pressed > 1e-3, folder, "nothing touches, so this tests little")


def runs(t, x):
    for kind in ("events", "implicit"):
        name = put(kind + ".json", scene("breath.h5", kind == "implicit"))
        for ranks in (1, 2, 3):
            tactus("run", name, "-o", f"{kind}{ranks}", "--record", "--quiet", ranks=ranks)
        same(kind + "1", kind + "2", kind + " on 2 ranks")
        same(kind + "1", kind + "3", kind + " on 3 ranks")
        check_places(kind + "1", t, x, 81)
        expect("proven: nothing passed through anything" in tactus("audit", kind + "2"), kind, "is not proven")
        # A restart on other ranks, between two knots; once from the scene, once from the checkpoint alone.
        tactus("run", name, "-o", kind + "r", "--quiet", "--until", ".05", ranks=2)
        tactus("run", name, "-o", kind + "r", "--quiet", "--restart", kind + "r", ranks=3)
        same(kind + "1", kind + "r", kind + " restarted")
        tactus("run", "-o", kind + "b", "--quiet", "--restart", kind + "1/checkpoint-000003.h5")
        same(kind + "1", kind + "b", kind + " branched")
        np.savez_compressed("pressed.npz", time=t, position=x)
        for other in ("breath.npz", "packed.h5", "pressed.npz"):
            tactus("run", put("other.json", scene(other, kind == "implicit")), "-o", "other", "--overwrite", "--quiet")
            same(kind + "1", "other", kind + " from " + other)
    tactus("run", "events.json", "-o", "kds", "--quiet", "--discover", "kds")
    same("events1", "kds", "kds")
    # Single precision: two formats with the same numbers.
    hashes = [json.loads(tactus("check", put("single.json", scene(file)), "--json"))["sha256"] for file in ("single.h5", "single.mdd")]
    expect(hashes[0] == hashes[1], "one content, two hashes")


def changed_file(t, x):
    """A restart from a file that is another one by now."""
    write("later.h5", t, x)
    tactus("run", put("later.json", scene("later.h5")), "-o", "later", "--quiet", "--until", ".05")
    x = x.copy()
    x[-1, 0, 0] += 1e-9
    write("later.h5", t, x)
    for words in (["later.json"], []):
        said = tactus("run", *words, "-o", "later", "--quiet", "--restart", "later", code=2)
        expect("sha256" in said, "a changed file is taken:", said)
    os.remove("later.h5")
    expect("cannot be opened" in tactus("run", "-o", "later", "--quiet", "--restart", "later", code=2), "a lost file")


def refusals(t, x):
    def refused(pattern, file=None, t=t, x=x, ranks=1, **more):
        if file is None:
            file = "bad.h5"
            write(file, t, x)
        said = tactus("run", put("bad.json", scene(file, **more)), "-o", "bad", "--overwrite", "--quiet", ranks=ranks, code=2)
        expect(re.search(pattern, said), "wanted", pattern, "got", said)

    def motion(**keys):
        return {"motions": [{"body": "ball", "positions": {"file": "breath.h5"}}, {"body": "sheet", "vertices": [40], **keys}]}

    far = x.copy()
    far[0, 7] += 1e-6
    nan = x.copy()
    nan[3, 5, 1] = np.nan
    fast = x.copy()
    fast[6, 9, 2] = 1e9
    crossed = x.copy()
    crossed[5, TOP] -= 2.2 * (x[5, TOP] - x[5].mean(axis=0))  # a vertex goes through the other side
    for ranks in (1, 2, 3):
        refused(r"\"ball\" crosses itself at knot 5 \(t = 0\.05 s\) of .*bad\.h5: .*near \(.*give the body \"self\": false", x=crossed, ranks=ranks)
    write("bad.h5", t, crossed)
    allowed = scene("bad.h5")
    allowed["bodies"][-1]["self"] = False
    tactus("check", put("bad.json", allowed))
    for ranks in (1, 3):
        refused(r"positions\.file: its first knot lies up to 1\.73e-06 m off the placed mesh of \"ball\"", x=far, ranks=ranks)
        refused(r"vertex 5 at knot 3 \(t = 0\.03 s\) is not finite", x=nan, ranks=ranks)
        refused(r"vertex 9 of \"ball\" reaches knot 6 \(t = 0\.06 s\) at 1e\+11 m/s", x=fast, ranks=ranks)
        refused(r"has 161 vertices, but \"ball\" has 162", x=x[:, 1:], ranks=ranks)
        refused(r"knot 4 lies at 0\.03 s after 0\.03 s", t=np.array([0, .01, .02, .03, .03, .05, .06, .07, .08]), ranks=ranks)
    with open("pressed.npz", "rb") as whole, open("damaged.npz", "wb") as damaged:
        content = bytearray(whole.read())
        content[len(content) // 2] ^= 16
        damaged.write(content)
    refused("`position` is damaged: it cannot be unpacked, or its checksum differs", "damaged.npz")
    with open("breath.h5", "rb") as whole, open("cut.h5", "wb") as cut, open("breath.npz", "rb") as archive, open("cut.npz", "wb") as short:
        cut.write(whole.read()[:9000])
        short.write(archive.read()[:9000])
    refused("cut.h5", "cut.h5")
    refused("has no array `position`", "cut.npz")
    refused("cannot be opened", "nowhere.h5")
    refused("names vertex 0, which the positions of motions|follow.body: is \"sheet\", which no motion with \"positions\" moves", "breath.h5",
            **motion(follow={"body": "sheet", "vertex": 0}))
    refused(r"weights: add up to 1\.5", "breath.h5", **motion(follow={"body": "ball", "triangle": 0, "weights": [.5, .5, .5]}))
    refused("cannot release its vertices", "breath.h5", motions=[{"body": "ball", "release": True, "positions": {"file": "breath.h5"}}])
    refused("must have either \"path\" or \"rotate\", not both; and neither with", "breath.h5", **motion(path=[[0, [0, 0, 0]]], follow={"body": "ball", "vertex": 0}))


def from_python(t, x):
    """Arrays from Python: the same hash and bits, in memory, in a run and in a saved scene; and a change while it runs."""
    if "--no-python" in sys.argv:  # a library with sanitizers does not load into Python
        return
    libraries = glob.glob(os.path.join(os.path.dirname(TACTUS), "libtactus.so*"))
    if not libraries:  # a build without shared libraries has none for Python
        return
    os.environ.setdefault("TACTUS_LIBRARY", min(libraries, key=len))
    import tactus as package
    made = package.Scene.from_json({**scene("breath.h5"), "motions": []}, os.getcwd())
    made.motion("ball", positions=(t, x))
    made.motion("sheet", vertices=[40], follow={"body": "ball", "vertex": TOP})
    expect(made.sha256 == json.loads(tactus("check", "events.json", "--json"))["sha256"], "Python's arrays give another hash")
    os.makedirs("saved", exist_ok=True)
    made.save("saved/scene.json")
    expect(package.Scene.load("saved/scene.json").sha256 == made.sha256, "a saved scene has another hash")
    with package.Simulation(made) as sim:
        sim.advance(.05)
        sim.set("gravity", [0, -1, 0])
        sim.advance(.07)
        expect(abs(sim.positions[sim.of("ball")] - x[7]).max() < 1e-12, "a change has moved the ball")


def triangle(t, x):
    """A vertex that follows a triangle stays where it was beside it."""
    corners = [3, 40, 100]
    made = scene("breath.h5")
    with tempfile.TemporaryDirectory() as folder:
        tactus("mesh", "sphere", "--radius", ".15", "--level", "2", "-o", folder + "/s.obj")
        rows = [line.split() for line in open(folder + "/s.obj")]
        corners = [int(v) - 1 for v in [r for r in rows if r[0] == "f"][11][1:]]
    weights = [.5, .3, .2]
    made["motions"][1]["follow"] = {"body": "ball", "triangle": 11, "weights": weights}
    made["bodies"][0]["position"] = [0, 1, 0]
    made["contact"] = {"thickness": 0}
    tactus("run", put("triangle.json", made), "-o", "triangle", "--quiet")
    with h5py.File("triangle/frames.h5") as f:
        end = f["frames"]["000004"]
        shift = sum(w * (x[-1, c] - x[0, c]) for w, c in zip(weights, corners))
        expect(abs(end["position"][40] - f["frames"]["000000"]["position"][40] - shift).max() < 1e-12, "the pin left its triangle")


with tempfile.TemporaryDirectory() as home:
    os.chdir(home)
    subprocess.run([TACTUS, "mesh", "sphere", "--radius", ".15", "--level", "2", "-o", "ball.obj"], check=True, stdout=subprocess.DEVNULL)
    start = np.array([[float(v) for v in line.split()[1:]] for line in open("ball.obj") if line.startswith("v ")])
    TOP = int(np.argmax(start[:, 1]))
    times = np.array([.01 * k for k in range(9)])
    places = np.array([start * (1 + .08 * np.sin(50 * s)) + [.05 * s, 0, 0] for s in times])
    for file in ("breath.h5", "packed.h5", "breath.npz"):
        write(file, times, places)
    for file in ("single.h5", "single.mdd"):
        write(file, times.astype("f4").astype("f8"), places.astype("f4"))
    runs(times, places)
    changed_file(times, places)
    refusals(times, places)
    from_python(times, places)
    triangle(times, places)
print("positions.py: %d failures" % len(failures))
sys.exit(1 if failures else 0)
