#!/usr/bin/python3
"""pilot.py: `tactus check --pilot` against whole runs: from a checkpoint at which the cloth has come to rest, the counts that the pilot extends to the
end are those of the run within a factor, of both integrators, on one rank and on several; a pilot that has seen no contact says so; it writes nothing,
also when it is killed.  If it fails, users book hours of a cluster by numbers that are wrong, or find folders that nobody made.

Only counts are compared: seconds depend on what else the machine does, and so does how far a pilot comes.  Pilots from the start that end at a given
simulated time: test_pilot_run.c.
"""
import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

TACTUS = os.environ["TACTUS"]
WITHIN = 2.  # the pilot's likely count against the run's
CLOTH = {"density": .2, "stretch": {"model": "cst", "stiffness": 60, "poisson": .3}, "bend": {"model": "hinge", "stiffness": 1e-6}}
FLOOR = {"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [4, 4], "cells": [1, 1]}}
SHEET = {"name": "sheet", "material": "cloth", "position": [.02, .16, 0], "mesh": {"kind": "grid", "size": [.2, .2], "cells": [8, 8]}}
BALL = {"name": "ball", "fixed": True, "position": [0, .1, 0], "mesh": {"kind": "sphere", "radius": .05, "level": 1}}
failures, checks = [], 0


def expect(true, *what):
    global checks
    checks += 1
    if not true:
        failures.append(what)
        print("FAILS:", *what)


def scene(end, bodies, **more):
    return {"format": "tactus-scene/1", "time": {"end": end, "frame": end / 64}, "gravity": [0, -9.81, 0],
            "contact": {"thickness": .004, "stiffness": 50, "friction": .5}, "materials": {"cloth": CLOTH}, "bodies": bodies, **more}


RESTING = scene(8, [FLOOR, BALL, SHEET])
DRAPING = scene(8, [FLOOR, BALL, SHEET], integrator={"kind": "implicit", "step_s": .0078125})
FALLING = scene(2, [FLOOR, {**SHEET, "position": [0, 15, 0]}])


def await_start(process, home):
    """Until MPI, which is started after the handlers of signals were put in place, has its folder, however slow the machine is."""
    while process.poll() is None and not any(name.startswith(("tactus-mpi-", "ompi.")) for name in os.listdir(home)):
        time.sleep(.01)
    time.sleep(.5)  # amid the pilot, most of the time; what is asked must hold at any moment


def main():
    with tempfile.TemporaryDirectory(prefix="pilot-") as here:
        home = os.path.join(here, "home")
        os.mkdir(home)
        environment = {**os.environ, "TMPDIR": home}
        for name, what in (("resting", RESTING), ("draping", DRAPING), ("falling", FALLING)):
            with open(os.path.join(home, name + ".json"), "w") as file:
                json.dump(what, file)
        given = sorted(os.listdir(home))

        def run(*words, ranks=1):
            mpirun = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
            return subprocess.run([*mpirun, TACTUS, *words], capture_output=True, text=True, cwd=home, env=environment)

        def pilot(name, seconds, *words, ranks=1):
            done = run("check", name + ".json", "--pilot", str(seconds), "--json", *words, ranks=ranks)
            expect(done.returncode == 0, name, words, done.stderr)
            expect(sorted(os.listdir(home)) == given, "a pilot leaves", os.listdir(home))
            return json.loads(done.stdout)["forecast"]

        def count(folder):
            """Ticks of contact of a whole run."""
            with open(os.path.join(here, folder, "run.json")) as file:
                return json.load(file)["counters"]["committed"]["penalty"]

        def near(what, told, is_):
            expect(is_ / WITHIN <= told <= is_ * WITHIN, f"{what}: {told:.4g} told, and the run has {is_:.4g}")
            print(f"{what}: {told:.4g} told, {is_:.4g} in the run")

        for name in ("resting", "draping"):
            done = run("run", name + ".json", "-o", os.path.join(here, name + ".run"), "--quiet")
            expect(done.returncode == 0, done.stderr)
            done = run("run", name + ".json", "-o", os.path.join(here, name + ".half"), "--quiet", "--until", "3")
            expect(done.returncode == 0, done.stderr)

        whole = count("resting.run")
        told = pilot("resting", .5)
        expect(0 < told["pilot"]["to"] and told["pilot"]["touched"] is not None and told["pilot"]["from"] == 0 and not told["pilot"]["whole"], told["pilot"])
        expect(told["ticks"]["contact_least"] <= told["ticks"]["contact"] <= told["ticks"]["contact_most"] and told["ticks"]["within"] >= 1, told["ticks"])
        expect(told["wall_s"]["least"] <= told["wall_s"]["likely"] <= told["wall_s"]["most"] and told["speed"]["measured"], told["wall_s"], told["speed"])
        expect(told["memory_span"]["least"] <= told["memory"] <= told["memory_span"]["most"], told["memory_span"])
        keys = {s["key"] for s in told["savings"]}
        expect(keys >= {"materials.cloth.stretch.stiffness", "materials.cloth.bend.stiffness", "contact.stiffness", "clocks.elastic_safety"}, keys)
        expect([s["saves"] for s in told["savings"]] == sorted((s["saves"] for s in told["savings"]), reverse=True), told["savings"])
        expect(abs(told["accuracy"][1]["cost"] - 1) < 1e-9 and [a["level"] for a in told["accuracy"]] == ["draft", "standard", "fine"], told["accuracy"])
        expect(told["accuracy"][2]["elastic"] > told["accuracy"][1]["elastic"] == told["ticks"]["elastic"], told["accuracy"])

        half = os.path.join(here, "resting.half")
        before = sorted(os.listdir(half))
        told = pilot("resting", .5, "--restart", half)
        near("resting, from 3 s", told["ticks"]["contact"], whole)
        expect(told["pilot"]["from"] == 3 and not told["pilot"]["whole"] and sorted(os.listdir(half)) == before, told["pilot"], os.listdir(half))
        done = run("check", "--restart", half, "--pilot", ".2", "--set", "time.end=7")
        expect(done.returncode == 0 and done.stdout.startswith("scene      " + half), "without a scene", done.stdout, done.stderr)
        done = run("check", "resting.json", "--restart", os.path.join(here, "resting.run"), "--pilot", "1")
        expect(done.returncode == 2 and "nothing to run" in done.stderr and done.stderr.count("\n") == 1, "at the end", done.stderr)
        told = pilot("resting", 1, "--restart", half, ranks=2)
        near("resting, from 3 s, two ranks", told["ticks"]["contact"], whole)
        expect(told["pilot"]["ranks"] == 2 and 0 <= told["pilot"]["waiting"] <= 1, told["pilot"])

        with open(os.path.join(here, "draping.run", "steps.csv")) as file:
            newton = sum(int(row["newton"]) for row in csv.DictReader(file) if float(row["time"]) > 3)
        for ranks in (1, 2):
            told = pilot("draping", .2 * ranks, "--restart", os.path.join(here, "draping.half"), ranks=ranks)
            near(f"draping, from 3 s, {ranks} ranks", told["newton"]["likely"] * told["steps"] * 5 / 8, newton)
            expect(told["steps"] == 1024 and told["pilot"]["from"] == 3 and not told["pilot"]["whole"] and told["pilot"]["touched"] is not None, told["pilot"])
            expect(told["disk"]["record"] > 0, told["disk"])

        # It falls for longer than the pilot looks; cut off at once the pilot has a pass at least.
        told = pilot("falling", .01, "--set", "time.end=200", "--set", "time.frame=50", "--set", "bodies.sheet.position.1=190000")
        expect(told["pilot"]["note"] == "no contact yet: a lower bound" and told["pilot"]["lower_bound"] and told["ticks"]["contact"] == 0, told["pilot"])
        expect(0 < told["pilot"]["to"] < 200, told["pilot"])
        text = run("check", "falling.json", "--pilot", ".01", "--details").stdout
        expect("on 1 rank" in text.split("\ncost ")[1].split("\n")[0] and "\npilot      from t = 0 s to " in text, text)
        # A short scene is run to its end: then the counts are those of the run.
        told = pilot("resting", 60, "--set", "time.end=0.5")
        done = run("run", "resting.json", "-o", os.path.join(here, "short.run"), "--quiet", "--set", "time.end=0.5")
        expect(done.returncode == 0 and told["pilot"]["whole"] and told["ticks"]["contact"] == count("short.run") == told["ticks"]["contact_most"], told)

        # Whatever ends it, nothing stays.
        for ranks, number in ((1, signal.SIGTERM), (1, signal.SIGINT), (2, signal.SIGTERM)):
            words = ["mpirun", "-n", "2"] if ranks == 2 else []
            process = subprocess.Popen([*words, TACTUS, "check", "resting.json", "--pilot", "60", "--set", "time.end=1000"], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True, cwd=home, env=environment)
            await_start(process, home)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
            expect(process.returncode != 0 and out == "", ranks, number, process.returncode, out)
            if ranks == 1:
                expect(process.returncode == 3 and "has left nothing" in err and err.count("\n") == 1, number, process.returncode, err)
            left = [name for name in sorted(os.listdir(home)) if name not in given and not name.startswith("ompi.")]
            expect(left == [], "a pilot that was stopped leaves", left)
        process = subprocess.Popen([TACTUS, "check", "resting.json", "--pilot", "60", "--set", "time.end=1000"], cwd=home, env=environment)
        await_start(process, home)
        process.kill()
        process.wait()
        left = [name for name in sorted(os.listdir(home)) if name not in given and not name.startswith("tactus-mpi-")]
        expect(left == [], "a pilot that was killed leaves", left)
        expect(run("check", "resting.json", "--pilot", ".1").returncode == 0 and sorted(os.listdir(home)) == given, "the next one removes MPI's folder")

        for words, said in ((["--pilot", "0"], "greater than 0"), (["--pilot", "-1"], "greater than 0"), (["--pilot", "soon"], "needs a number"),
                            (["--restart", "."], "give --pilot SECONDS too"), (["--pilot", "1", "--restart", "none"], "none")):
            done = run("check", "resting.json", *words)
            expect(done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1 and done.stdout == "", words, done.stderr)
        done = run("check", "resting.json", "--pilot", "1", "--set", "bodies.sheet.position.1=0")
        expect(done.returncode == 2 and done.stdout == "", "surfaces that overlap", done.stderr)
    print(f"{checks} checks, {len(failures)} failed")
    sys.exit(1 if failures or not checks else 0)


main()
