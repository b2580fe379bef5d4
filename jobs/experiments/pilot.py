#!/usr/bin/env python3
"""pilot.py: what `tactus check --pilot` tells of ten scenes, against their whole runs: time and memory.

    jobs/experiments/pilot.py [--pilot S] [--part P] [--only WORD] [--keep DIR]

Six scenes are run by the asynchronous integrator and four by the implicit one.  Some pilots begin at a checkpoint, which a run until then
has written; their whole run goes on from there, too.  `counts` are ticks of contact, or Newton iterations.
told/run    what the pilot says is likely, over what the run took.  Where the pilot says that it tells a lower bound, the run must not take
            less than 1/1.5 of it.  Where it says that it has seen little, nothing is asked of its time.  Everywhere else time and
            memory must be within 1.5, for four scenes in five.

Times are of the processor, because the machine does other things too: what the pilot tells is multiplied by the part of the
processor that the pilot had.  --part 4: pilots of a quarter of the seconds, and scenes that end earlier.
"""
import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TACTUS = os.path.abspath(os.environ.get("TACTUS", os.path.join(ROOT, "build", "tactus")))
WITHIN = 1.5
# name, scene, settings, start of the pilot, s (0: the scene's)
SCENES = (
    ("two sheets", "jobs/two-sheets.json", {}, 0),
    ("two sheets, later", "jobs/two-sheets.json", {}, .375),
    ("balloon", "jobs/balloon.json", {}, 0),
    ("curtain, finer", "jobs/curtain.json", {"bodies.curtain.mesh.cells": [80, 80]}, .75),
    ("900 balls", "jobs/box-900.json", {"time.end": 4}, 0),
    ("cloth on a sphere", "jobs/experiments/speed/sphere-cloth.json", {"bodies.cloth.mesh.cells": [32, 32]}, .5),
    ("cotton", "jobs/cotton.json", {}, 0),
    ("cotton, later", "jobs/cotton.json", {}, .6),
    ("two sheets, implicit", "jobs/two-sheets.json", {"integrator": {"kind": "implicit", "step_s": 2 ** -7}}, .375),
    ("soft block, implicit", "jobs/soft-block.json", {"integrator": {"kind": "implicit", "step_s": 2 ** -10}}, .5),
)


def timed(*words):
    """What the program prints, and the seconds that it took of the wall and of the processor."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([TACTUS, *words], capture_output=True, text=True)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - begin
    if done.returncode:
        sys.exit(f"tactus {' '.join(words)}: {done.stderr}")
    return done.stdout, wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def tactus(*words):
    return timed(*words)[0]


def count(folder, start):
    """Ticks of contact from the scene's start, or Newton iterations from the checkpoint's time on."""
    with open(os.path.join(folder, "run.json")) as file:
        ticks = json.load(file)["counters"]["committed"]
    if not os.path.exists(os.path.join(folder, "steps.csv")):
        return ticks["penalty"] + ticks["limit"]
    with open(os.path.join(folder, "steps.csv")) as file:
        return sum(int(row["newton"]) for row in csv.DictReader(file) if float(row["time"]) > start)


def run_scene(home, number, row, options):
    """What the pilot said, and what the run took: processor time, s; memory, bytes; counts.  Then all that the pilot told, and the end of the run, s."""
    _, path, settings, start = row
    path = os.path.join(ROOT, path)
    changes = [word for key, value in settings.items() for word in ("--set", f"{key}={json.dumps(value)}")]
    grid = json.loads(tactus("check", path, "--json", *changes))["time"]
    end, start = (max(1, round(t / options.part / grid["frame"])) * grid["frame"] if t else 0 for t in (grid["end"], start))
    changes += ["--set", f"time.end={end!r}"]
    whole, begun, there = os.path.join(home, f"{number}.run"), os.path.join(home, f"{number}.begun"), []
    if start:
        tactus("run", path, "-o", begun, "--quiet", "--until", repr(start), *changes)
        there = ["--restart", begun]
    report, wall, processor = timed("check", path, "--json", "--pilot", repr(options.pilot / options.part), *there, *changes)
    told = json.loads(report)["forecast"]
    took = timed("run", path, "-o", whole, "--quiet", *there, *changes)[2]
    with open(os.path.join(whole, "run.json")) as file:
        info = json.load(file)
    counts = told["ticks"]["contact"] if "ticks" in told else told["newton"]["likely"] * told["steps"] * (1 - start / end)
    return (told["wall_s"]["likely"] * processor / wall, told["memory"], counts), (took, info["peak_memory_bytes"], count(whole, start)), told, end


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pilot", type=float, default=20, metavar="S", help="seconds of each pilot (20)")
    parser.add_argument("--part", type=float, default=1, metavar="P", help="pilots and scenes shorter by this factor (1)")
    parser.add_argument("--only", metavar="WORD", help="only scenes whose name has WORD in it")
    parser.add_argument("--keep", metavar="DIR", help="leave the runs there")
    options = parser.parse_args()
    print("| scene | pilot, from s to s | end, s | time told, s | run, s | told/run | memory told, MB | run, MB | told/run | counts told/run | note |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    wrong, noted, number = [], 0, 0
    with tempfile.TemporaryDirectory(prefix="pilot-") as home:
        home = options.keep or home
        os.makedirs(home, exist_ok=True)
        for row in SCENES:
            if options.only and options.only not in row[0]:
                continue
            number += 1
            says, took, told, end = run_scene(home, number, row, options)
            pilot = told["pilot"]
            quotient = [a / b if b else 1 for a, b in zip(says, took)]
            print("| %s | %.3g to %.3g | %.3g | %.3g | %.3g | %.2f | %.0f | %.0f | %.2f | %.2f | %s |" % (
                row[0], pilot["from"], pilot["to"], end, says[0], took[0], quotient[0], says[1] / 1e6, took[1] / 1e6, quotient[1], quotient[2],
                pilot["note"]), flush=True)
            noted += pilot["note"] != ""
            for what, q in zip(("time", "memory"), quotient):
                good = 1 / WITHIN <= q <= WITHIN or (q <= WITHIN if pilot["lower_bound"] else what == "time" and pilot["note"] != "")
                if not good:
                    wrong.append(f"{row[0]}: {what} {q:.2f}")
    for line in wrong:
        print("beyond: " + line)
    print(f"{number} scenes, {noted} of which say that they have not seen enough, {len(wrong)} figures beyond a factor of {WITHIN}")
    sys.exit(1 if len(wrong) > number // 5 or not number else 0)


if __name__ == "__main__":
    main()
