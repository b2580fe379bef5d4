#!/usr/bin/python3
"""sweep_table.py: jobs/sweep-table has columns of its own for each history of kind flux, with the numbers of its last row; runs without one have
empty cells.  If it failed, a sweep over the outlet of a funnel would have to be read folder by folder."""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile

TACTUS, SOURCE = os.environ["TACTUS"], os.environ["TACTUS_SOURCE"]
failures = []


def check(true, *what):
    if not true:
        failures.append(what)
        print("failed:", *what)


with tempfile.TemporaryDirectory() as home:
    os.chdir(home)
    scene = {"format": "tactus-scene/1", "time": {"end": 0.5, "frame": 0.25}, "gravity": [0, -10, 0],
             "bodies": [{"name": "sand", "mass": 0.25, "self": False, "mesh": {"kind": "points", "vertices": [[0, 1, 0], [0, 2, 0], [1, 3, 0]]}}],
             "output": {"histories": [{"name": "out, let", "kind": "flux", "bodies": ["sand"], "plane": {"point": [0, 0.5, 0], "normal": [0, -1, 0]}, "every": 0.05}]}}
    os.mkdir("sweep")
    runs = []
    for k, g in enumerate((-10, -20, 0)):
        if k == 2:
            del scene["output"]
        with open("scene.json", "w") as file:
            json.dump(scene, file)
        name = "%04d" % k
        done = subprocess.run([TACTUS, "run", "scene.json", "-o", "sweep/" + name, "--set", "gravity=[0,%d,0]" % g, "--quiet"], stderr=subprocess.PIPE, text=True)
        check(done.returncode == 0, done.stderr)
        runs.append({"folder": name, "values": [str(g)]})
    with open("sweep/job.json", "w") as file:
        json.dump({"format": "tactus-job/1", "program": TACTUS, "sweep": {"parameters": ["gravity.1"], "runs": runs}}, file)
    done = subprocess.run([SOURCE + "/jobs/sweep-table", "sweep", "--csv"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    check(done.returncode == 0 and len(rows) == 3, done.stderr)
    for row, crossed in zip(rows, (["1", "0", "0.25", "0"], ["2", "0", "0.5", "0"], [""] * 4)):
        reported = [row["out, let." + key] for key in ("count_forward", "count_back", "mass_forward", "mass_back")]
        check(reported == crossed, row["folder"], reported, crossed)
print("sweep_table.py: %d failures" % len(failures))
sys.exit(1 if failures else 0)
