#!/usr/bin/python3
"""run_audit.py [--all] [SCENE...]: records real runs on 1 and on 4 ranks, and has them audited.

The two records must be the same to the last bit, the audits of them (on 1 and on 2 ranks) say the same, and all must be proven;
where there are not too many pieces, also by continuous collision detection of every single one.
Without scenes: a few small ones; with --all those of tests/system/equality, tests/unit/events, tests/ranks and jobs, the long ones shortened,
and those of tests/system/equality/experiment_scenes.py, which are called experiment:NAME,... (or experiment:all) here.

    TACTUS=build/tactus tests/unit/audit/run_audit.py --all
"""
import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import h5py

TACTUS = os.environ["TACTUS"]
SOURCE = os.environ.get("TACTUS_SOURCE", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
# Until when those run that take longer than some seconds, s.
SHORTENED = {
    "energy/ball-between-walls": 40, "energy/spring-on-plane": 60, "energy/ball-on-floor": 0.5, "jobs/two-sheets": 0.125,
    "jobs/reef-knot": 0.015, "jobs/box-900": 0.375, "jobs/curtain": 0.125, "jobs/ball-between-walls": 20, "jobs/spring-on-plane": 20,
}
SAMPLE = ["equality/crossing-ribbons", "equality/particles-in-box", "equality/particle-at-sheet", "equality/turning-obstacle"]
MOST_QUERIES = 10000000
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}


def name_of(path):
    parts = os.path.abspath(path).split(os.sep)
    return "%s/%s" % (parts[-3] if parts[-2] == "scenes" else parts[-2], parts[-1][:-5])


def path_of(name):
    folder, scene = name.split("/")
    home = {"jobs": ["jobs"], "equality": ["tests", "system", folder, "scenes"], "ranks": ["tests", folder, "scenes"]}.get(folder, ["tests", "unit", folder, "scenes"])
    return os.path.join(SOURCE, *home, scene + ".json")


def call(ranks, *arguments):
    launch = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
    start = time.monotonic()
    r = subprocess.run([*launch, TACTUS, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                       timeout=3600, env=ENVIRONMENT)
    return r, time.monotonic() - start


def difference(a, b):
    """What differs between two records; None: not a bit."""
    with h5py.File(a + "/record.h5", "r") as f, h5py.File(b + "/record.h5", "r") as g:
        names = [[], []]
        f.visit(names[0].append)
        g.visit(names[1].append)
        if names[0] != names[1]:
            return "groups: %s" % (set(names[0]) ^ set(names[1]))
        for name in names[0]:
            if not isinstance(f[name], h5py.Dataset):
                continue
            if f[name].shape != g[name].shape or f[name].dtype != g[name].dtype:
                return name + ": shape"
            for begin in range(0, max(len(f[name]), 1), 1 << 20):
                if f[name][begin:begin + (1 << 20)].tobytes() != g[name][begin:begin + (1 << 20)].tobytes():
                    return name
    return None


class Failed(Exception):
    pass


def audit(folder, ranks, *options):
    r, seconds = call(ranks, "audit", folder, "--json", *options)
    if r.returncode not in (0, 1):
        raise Failed("audit on %d ranks: exit code %d: %s" % (ranks, r.returncode, r.stderr))
    report = json.loads(r.stdout)
    report["code"] = r.returncode
    del report["path"]
    return report, seconds


def try_scene(path, here):
    name = name_of(path)
    until = ["--until", str(SHORTENED[name])] if name in SHORTENED else []
    folders, codes, run_s = [], [], 0
    for ranks in (1, 4):
        folders.append(os.path.join(here, "%s-%d" % (name.replace("/", "-"), ranks)))
        r, seconds = call(ranks, "run", path, "-o", folders[-1], "--record", "--quiet", *until)
        codes.append(r.returncode)
        run_s = run_s or seconds
        if r.returncode not in (0, 3):  # 3: the layer stack ended, as some scenes are made to
            raise Failed("run on %d ranks: exit code %d: %s" % (ranks, r.returncode, r.stderr))
    if codes[0] != codes[1]:
        raise Failed("exit codes %s" % codes)
    apart = difference(*folders)
    if apart:
        raise Failed("the records of 1 and 4 ranks differ: " + apart)
    # Of a run that ended within an interval, up to there.
    with h5py.File(folders[0] + "/record.h5", "r") as f:
        last = f["record"][max(f["record"])]["time"][-1] * f["record"].attrs["quantum_s"]
    until = ["--until", repr(float(last))] if codes[0] == 3 else []
    one, audit_s = audit(folders[0], 1, *until)
    two, audit2_s = audit(folders[1], 2, *until)
    if one != two:
        raise Failed("the audits differ: %s\n%s" % (one, two))
    measured, bound = one["smallest"]["measured"], one["smallest"]["bound"]
    smallest = "> %.3g" % bound if measured is None else "%.5g >= %.5g at %.5g s" % (measured["gap"], bound, measured["time"])
    print("%-28s [%.4g, %.4g] s  %9d breakpoints  %10d pieces %s  %d crossing  %d open  smallest %s  run %.1f s, audit %.1f s, on 2 ranks %.1f s" % (
        name, one["spans"][0][0], one["spans"][-1][1], one["breakpoints"], one["pieces"]["total"],
        "proven" if one["proven"] else "NOT PROVEN", one["pieces"]["crossing"], one["pieces"]["open"], smallest, run_s, audit_s, audit2_s), flush=True)
    if not one["proven"]:
        raise Failed(one["sentence"] + "; first: %s" % one["places"][:3])
    if one["pieces"]["total"] <= MOST_QUERIES:
        asked, _ = audit(folders[0], 1, "--query-all", *until)
        if not asked["proven"] or asked["queries"] < one["pieces"]["total"]:
            raise Failed("with --query-all: " + asked["sentence"] + "; first: %s" % asked["places"][:3])
        one["asked"] = asked["queries"]
    for folder in folders:
        shutil.rmtree(folder)
    return one


def files(words, here):
    """Paths of scenes; those of experiments are written out first."""
    sys.path.insert(0, os.path.join(SOURCE, "tests", "system", "equality"))
    import experiment_scenes
    for word in words:
        if not word.startswith("experiment:"):
            yield word
            continue
        os.makedirs(os.path.join(here, "experiment"), exist_ok=True)
        for name, scene in experiment_scenes.scenes(word.partition(":")[2]):
            path = os.path.join(here, "experiment", name.partition(":")[2] + ".json")
            with open(path, "w") as file:
                json.dump(scene, file)
            yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("scene", nargs="*")
    options = parser.parse_args()
    scenes = options.scene or [path_of(name) for name in SAMPLE] + ["experiment:heap,slope-box"]
    if options.all:
        scenes = sorted(sum((glob.glob(os.path.join(SOURCE, *where)) for where in (
            ("tests", "system", "equality", "scenes", "*.json"), ("tests", "unit", "events", "scenes", "*.json"), ("tests", "ranks", "scenes", "*.json"),
            ("jobs", "*.json"))), [])) + ["experiment:all"]
    failed, total = [], {"pieces": 0, "crossing": 0, "open": 0, "start": 0, "breakpoints": 0, "asked": 0}
    with tempfile.TemporaryDirectory(prefix="tactus-audit-") as here:
        scenes = list(files(scenes, here))
        for path in scenes:
            try:
                report = try_scene(path, here)
            except Failed as trouble:
                failed.append(path)
                print("%s: %s" % (name_of(path), trouble), file=sys.stderr)
                continue
            total["pieces"] += report["pieces"]["total"]
            total["crossing"] += report["pieces"]["crossing"]
            total["open"] += report["pieces"]["open"]
            total["start"] += report["start_crossing"]
            total["breakpoints"] += report["breakpoints"]
            total["asked"] += report.get("asked", 0)
    print("%d scenes, the same records on 1 and 4 ranks: %d breakpoints, %d pair-pieces, %d crossing, %d open; %d queries with --query-all; "
          "%d failed" % (len(scenes) - len(failed), total["breakpoints"], total["pieces"], total["crossing"] + total["start"], total["open"],
                         total["asked"], len(failed)))
    if not failed and total["pieces"] < 100000:
        sys.exit("too few pair-pieces: these scenes prove little")
    sys.exit(1 if failed else 0)


main()
