#!/usr/bin/python3
"""joint_ways.py: joints and motors, to the last bit by every way to run them.

A chain of four links hangs from the world by a hinge with a motor, its links by a ball, a hinge with limits and another
motor, and a weld; the last link holds a corner of a rag, and a block slides along the second one. A fan is driven on a post that is fixed. One run on one rank is the reference. Against it: all pairs, other
windows, two and three ranks that have parts of the scene from the start, two that hand vertices over after each pass, and a
run that is stopped and goes on on another number of ranks. A like scene goes in implicit steps. With TACTUS_OTHER, the program that another compiler built. The
reference is audited. If it fails, a joint or a motor follows from something that is not of the scene.
"""
import json
import os
import subprocess
import sys
import tempfile

TACTUS = os.environ["TACTUS"]
END = .04
failures = []


def link(i):
    return {"name": f"link {i}", "rigid": {"density": 500}, "position": [.05 + .1 * i, 0, 0], "velocity": [0, -1, 0],
            "mesh": {"kind": "box", "size": [.09, .02, .02], "cells": [1, 1, 1]}}


def joint(i, kind, **keys):
    return {"name": f"joint {i}", "kind": kind, "a": {"body": f"link {i}", "at": [.1 * i, 0, 0]},
            "b": {"body": f"link {i - 1}" if i > 0 else None}, "slack": .0005, **keys}


def scene():
    hinge = {"axis": [0, 0, 1], "span": .02}
    return {
        "format": "tactus-scene/1", "time": {"end": END, "frame": END / 4}, "gravity": [0, -9.81, 0],
        "contact": {"thickness": .001, "stiffness": 1000, "restitution": .5, "friction": .3},
        "materials": {"cloth": {"density": .2, "stretch": {"model": "spring", "stiffness": 20}}},
        "output": {"reactions": True},
        "bodies": [*map(link, range(4)),
                   {**link(1), "name": "block", "position": [.15, .03, 0], "mesh": {"kind": "box", "size": [.02, .02, .02], "cells": [1, 1, 1]}},
                   {"name": "rag", "material": "cloth", "position": [.45, -.005, 0], "mesh": {"kind": "grid", "size": [.08, .08], "cells": [3, 3]}},
                   {"name": "post", "fixed": True, "position": [.6, .5, 0], "mesh": {"kind": "box", "size": [.04, .3, .04], "cells": [1, 3, 1]}},
                   {"name": "fan", "rigid": {"density": 500}, "position": [.74, .6, 0], "mesh": {"kind": "box", "size": [.2, .04, .04], "cells": [3, 1, 1]}},
                   {"name": "floor", "fixed": True, "position": [0, -.03, 0], "mesh": {"kind": "grid", "size": [2, 2], "cells": [1, 1]}}],
        "joints": [joint(0, "hinge", **hinge, limits=[-60, 30], motor={"position": 10, "stiffness": 5, "most": 2}),
                   {"name": "drive", "kind": "hinge", "a": {"body": "fan", "at": [.63, .6, 0]}, "b": {"body": "post"}, "axis": [0, 0, 1], "span": .05,
                    "slack": .0005, "motor": {"position": 40, "stiffness": 2, "path": [[0, 0], [.02, 1]]}},
                   joint(1, "ball", restitution=1),
                   joint(2, "hinge", **hinge, limits=[-20, 20], motor={"speed": -4, "most": .05, "path": [[0, 0], [.02, 1]]}),
                   joint(3, "weld", axis=[1, 0, 0], span=.02),
                   {"name": "rail", "kind": "slider", "a": {"body": "block", "at": [.15, .03, 0]}, "b": {"body": "link 1"}, "axis": [1, .1, 0],
                    "span": .01, "slack": .0005, "limits": [-.02, .02]},
                   {"name": "tie", "kind": "ball", "a": {"body": "rag", "vertex": 0}, "b": {"body": "link 3", "at": [.41, -.005, -.04]},
                    "slack": .001}]}


def implicit_scene(scheme):
    """The same in implicit steps, and a driven arm on a plate that turns."""
    s = scene()
    s["time"] = {"end": .16, "frame": .04}
    s["integrator"] = {"kind": "implicit", "step_s": .01, "scheme": scheme}
    s["contact"] = {"thickness": .001, "friction": .3}
    s["bodies"] += [{"name": "plate", "position": [0, .3, -.3], "rotation": [90, 0, 0], "mesh": {"kind": "grid", "size": [.6, .6], "cells": [6, 6]}},
                    {"name": "arm", "rigid": {"mass": .2}, "position": [.3, .3, -.24], "mesh": {"kind": "box", "size": [.2, .04, .04], "cells": [1, 1, 1]}}]
    s["motions"] = [{"body": "plate", "rotate": {"axis": [0, 0, 1], "center": [0, .3, -.3], "path": [[0, 0], [.4, 20]]}}]
    s["joints"].append({"name": "driven", "kind": "hinge", "a": {"body": "arm", "at": [.2, .3, -.25]}, "b": {"body": "plate"}, "axis": [0, 0, 1],
                        "span": .05, "slack": .0005, "motor": {"position": 30, "stiffness": 20, "path": [[0, 0], [.3, 1]]}})
    return s


def run(folder, out, *arguments, ranks=1, program=TACTUS, **environment):
    command = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
    done = subprocess.run([*command, program, "run", "scene.json", "-o", out, "--quiet", *arguments], cwd=folder, text=True,
                          env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        failures.append(f"{out}: {done.returncode}: {done.stdout}")


def compare(folder, out):
    done = subprocess.run([TACTUS, "diff", "plain", out], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(f"{'equal' if done.returncode == 0 else 'DIFFERENT'}: {out}")
    if done.returncode:
        failures.append(f"{out}: {done.stdout}")


def implicit(folder, scheme):
    with open(os.path.join(folder, "scene.json"), "w") as file:
        json.dump(implicit_scene(scheme), file)
    run(folder, "plain", "--record", "--overwrite")
    with open(os.path.join(folder, "plain", "energy.csv")) as file:
        rows = file.read().splitlines()
    work = float(rows[-1].split(",")[rows[0].split(",").index("work")])
    assert abs(work) > .01, f"motors and the plate do {work} J"
    audit = subprocess.run([TACTUS, "audit", "plain"], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if audit.returncode:
        failures.append(audit.stdout)
    run(folder, "three", "--overwrite", ranks=3, TACTUS_TEST_DEAL="1")
    compare(folder, "three")
    run(folder, "stopped", "--overwrite", "--until", ".07", ranks=2, TACTUS_TEST_MIGRATE="3")
    run(folder, "stopped", "--restart", "stopped")
    compare(folder, "stopped")


def main():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "scene.json"), "w") as file:
            json.dump(scene(), file)
        run(folder, "plain", "--record")
        with open(os.path.join(folder, "plain", "run.json")) as file:
            counters = json.load(file)["counters"]
        assert counters["rigid_plans"] > 2000 and counters["committed"]["limit"] > 8000 and counters["committed"]["penalty"] > 1000, counters
        audit = subprocess.run([TACTUS, "audit", "plain"], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if audit.returncode:
            failures.append(audit.stdout)
        ways = {"pairs": (["--discover", "all-pairs"], {}), "windows": (["--set", f"discovery.window_s=[{END / 600},{END / 600}]"], {}),
                "two": ([], {"ranks": 2, "TACTUS_TEST_DEAL": "1"}), "three": ([], {"ranks": 3, "TACTUS_TEST_DEAL": "1"}),
                "handed": ([], {"ranks": 2, "TACTUS_TEST_MIGRATE": "7"})}
        if os.environ.get("TACTUS_OTHER"):
            ways["other"] = ([], {"program": os.environ["TACTUS_OTHER"]})
        for out, (arguments, more) in ways.items():
            run(folder, out, *arguments, **more)
            compare(folder, out)
        run(folder, "stopped", "--until", str(.37 * END), ranks=2, TACTUS_TEST_DEAL="1")
        run(folder, "stopped", "--restart", "stopped")
        compare(folder, "stopped")
        for scheme in "euler", "bdf2":
            implicit(folder, scheme)
    print("\n".join(failures))
    sys.exit(1 if failures else 0)


main()
