#!/usr/bin/env python3
"""windows.py: windows of many balls become as short as is cheapest, whether frames cut them or not.

4096 balls meet all the time. In long windows nearly every one misses a pair and is run again; a third of all ticks were computed twice where
windows stayed as long as they began, which frames that were shorter than a window made them do. Counts, no seconds.

A failure means that a gas of particles costs twice what it must."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "speed"))
import scenes  # noqa: E402

TACTUS = os.environ["TACTUS"]
END, MOST = .0625, .2  # s; repeated ticks in those that were executed


def repeated(home, frame):
    scene = scenes.module(scenes.SPEED + "balls.py").scene(4096, END)
    scene["time"]["frame"] = frame
    with open(os.path.join(home, "balls.json"), "w") as file:
        json.dump(scene, file)
    subprocess.run([TACTUS, "run", "balls.json", "-o", "balls.run", "--quiet", "--overwrite"], cwd=home, check=True)
    with open(os.path.join(home, "balls.run", "run.json")) as file:
        counters = json.load(file)["counters"]
    return counters["repeated_ticks"] / sum(counters["executed"].values())


def main():
    with tempfile.TemporaryDirectory() as home:
        for frame in (END / 64, END):
            share = repeated(home, frame)
            print("a frame each %g s: %.3f of the ticks are repeated" % (frame, share))
            if share > MOST:
                sys.exit("over %g" % MOST)


main()
