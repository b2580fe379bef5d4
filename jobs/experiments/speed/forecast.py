#!/usr/bin/python3
"""forecast.py: what `tactus check` forecasts of a run, against what the run took: ticks, memory, disk.

    jobs/experiments/speed/forecast.py [--keep DIR] [--measure]

--measure runs the scenes (some of them only as far as is said here) in DIR and writes what they took to forecast.json beside this script;
    runs that are in DIR already are read. Half an hour or more.
Without it, it compares the forecasts with that file, which is what the test suite does (test check_forecast): ticks of elastic forces must be
    right within 2 %, those of contact, memory and disk within the factors that are stated in src/check/forecast.h.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "../../.."))
FILE = os.path.join(HERE, "forecast.json")
TACTUS = os.environ.get("TACTUS", os.path.join(ROOT, "build", "tactus"))
ALONE = {"OMPI_MCA_ess_singleton_isolated": "1", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self", "OMPI_MCA_mtl": "^ofi,psm2",
         "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
# name, scene, end (None: its own), settings
SCENES = (("two-sheets", "jobs/two-sheets.json", None, {}), ("reef-knot", "jobs/reef-knot.json", None, {}),
          ("curtain", "jobs/curtain.json", None, {}), ("balloon", "jobs/balloon.json", None, {}), ("box-900", "jobs/box-900.json", None, {}),
          ("sphere-cloth", "jobs/experiments/speed/sphere-cloth.json", None, {"bodies.cloth.mesh.cells": [20, 20]}),
          ("cloth-pile", "jobs/experiments/speed/cloth-pile.json", .046875, {}), ("stack", "jobs/experiments/speed/stack.json", .0074005126953125, {}),
          ("thin-strip", "jobs/experiments/speed/thin-strip.json", .1, {}), ("papers-knot", "jobs/experiments/speed/papers-knot.json", .5, {}),
          ("sheet", "jobs/experiments/speed/sheet.json", .004, {"bodies.sheet.mesh.cells": [316, 316], "bodies.sheet.mesh.size": [.948, .948]}))


def arguments(settings):
    return [word for key, value in settings.items() for word in ("--set", f"{key}={json.dumps(value)}")]


def tactus(*words):
    done = subprocess.run([TACTUS, *words], capture_output=True, text=True, env={**os.environ, **ALONE})
    if done.returncode not in (0, 75):
        sys.exit(f"tactus {' '.join(words)}: {done.stderr}")
    return done.stdout


def measure(home):
    rows = []
    for name, path, end, settings in SCENES:
        folder = os.path.join(home, name + ".run")
        if not os.path.exists(os.path.join(folder, "run.json")):
            until = [] if end is None else ["--until", repr(end)]
            tactus("run", os.path.join(ROOT, path), "-o", folder, "--overwrite", "--quiet", *until, *arguments(settings))
        with open(os.path.join(folder, "run.json")) as file:
            info = json.load(file)
        ticks = info["counters"]["committed"]
        rows.append({"name": name, "time": info["time"], "elastic": ticks["spring"] + ticks["cst"] + ticks["hinge"],
                     "contact": ticks["penalty"] + ticks["limit"], "memory": info["peak_memory_bytes"],
                     "frames": sum(os.path.getsize(os.path.join(folder, f)) for f in ("frames.h5", "energy.csv")),
                     "checkpoints": sum(map(os.path.getsize, glob.glob(os.path.join(folder, "checkpoint-*.h5"))))})
    with open(FILE, "w") as file:
        file.write("[\n" + ",\n".join("  " + json.dumps(row) for row in rows) + "\n]\n")


def factor(name):
    with open(os.path.join(ROOT, "src/check/forecast.h")) as file:
        return float(re.search(name + r" ([\d.]+)", file.read())[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true", help="run the scenes, and write forecast.json")
    parser.add_argument("--keep", metavar="DIR", help="leave the runs there")
    options = parser.parse_args()
    if options.measure:
        with tempfile.TemporaryDirectory(prefix="forecast-") as home:
            measure(options.keep or home)
    with open(FILE) as file:
        rows = {row["name"]: row for row in json.load(file)}
    contact, memory, disk = factor("TAC_FORECAST_WITHIN"), factor("TAC_FORECAST_MEMORY_WITHIN"), factor("TAC_FORECAST_DISK_WITHIN")
    print("%-14s %34s %34s %24s %24s" % ("scene, end", "contact ticks: forecast, measured", "elastic", "memory, MB", "disk, MB"))
    failures = checks = 0
    for name, path, _, settings in SCENES:
        row = rows[name]
        report = json.loads(tactus("check", os.path.join(ROOT, path), "--json", "--no-calibrate", *arguments({**settings, "time.end": row["time"]})))
        f = report["forecast"]
        pairs = [(f["ticks"]["contact"], row["contact"], contact), (f["ticks"]["elastic"], row["elastic"], 1.02), (f["memory"], row["memory"], memory),
                 (f["disk"]["frames"] + f["disk"]["checkpoints"], row["frames"] + row["checkpoints"], disk)]
        good = [told == found if found == 0 else 1 / within <= told / found <= within for told, found, within in pairs]
        checks += len(good)
        failures += good.count(False)
        texts = ["%.3g %.3g%s" % (told / unit, found / unit, "" if g else " FAILS") for (told, found, _), g, unit in zip(pairs, good, (1, 1, 1e6, 1e6))]
        print("%-14s %34s %34s %24s %24s" % (f"{name} {row['time']:.3g}", *texts))
    print(f"{checks} checks, {failures} failed")
    sys.exit(1 if failures or not checks else 0)


if __name__ == "__main__":
    main()
