"""What the experiments of this folder share: running a scene, reading what came out, printing tables.

TACTUS names the program (default: build/tactus of this tree). Runs go to a temporary folder that is removed; a machine
with /dev/shm keeps it there, since hundreds of small runs would mostly wait for the disk.
"""
import csv
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
PROGRAM = os.environ.get("TACTUS", os.path.join(ROOT, "build", "tactus"))
SCENES = os.path.join(ROOT, "tests", "unit", "events", "scenes")


class Run:
    """A finished run: `rows` of energy.csv (a list of floats per column) and run.json."""

    def __init__(self, folder):
        with open(os.path.join(folder, "energy.csv"), newline="") as file:
            lines = list(csv.reader(file))
        self.rows = {name: [float(line[k]) for line in lines[1:]] for k, name in enumerate(lines[0])}
        with open(os.path.join(folder, "run.json")) as file:
            self.info = json.load(file)

    @property
    def ticks(self):
        return sum(self.info["counters"]["committed"].values())

    @property
    def work_s(self):
        """Seconds of the run less those of writing it."""
        return self.info["wall_s"] - self.info["counters"]["seconds"]["output"]

    def worst_defect(self):
        """Largest defect over the energy at the start."""
        return max(map(abs, self.rows["defect"])) / self.rows["total"][0]

    def lasting_defect(self):
        """Mean defect of the last tenth over the energy at the start: what was not just borrowed during a contact."""
        defect = self.rows["defect"]
        return statistics.fmean(defect[-max(1, len(defect) // 10):]) / self.rows["total"][0]

    def drift(self):
        """Mean energy of the last tenth less that of the first tenth, over the energy at the start."""
        total = self.rows["total"]
        tenth = len(total) // 10
        return (statistics.fmean(total[-tenth:]) - statistics.fmean(total[:tenth])) / total[0]


def run(scene, **settings):
    """Runs a scene (a path, or one of tests/unit/events/scenes) with settings ("a.b" written a__b) and returns its Run."""
    path = scene if os.path.sep in scene else os.path.join(SCENES, scene)
    keep = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = tempfile.mkdtemp(prefix="tactus-energy-", dir=keep)
    command = [PROGRAM, "run", path, "-o", os.path.join(folder, "run"), "--quiet"]
    for key, value in settings.items():
        command += ["--set", f"{key.replace('__', '.')}={json.dumps(value)}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\nended with {done.returncode}: {done.stderr.strip()}")
        return Run(os.path.join(folder, "run"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def in_parallel(function, items, jobs):
    """[function(item), ...], `jobs` at a time."""
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(function, items))
