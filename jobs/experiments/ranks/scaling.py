#!/usr/bin/python3
"""scaling.py SCENE [--ranks 1,2,4,8] [--discover speculate,kds] : strong scaling of one scene, as a table in Markdown.

    jobs/experiments/ranks/stack.py 160000 -o stack.json
    jobs/experiments/ranks/scaling.py stack.json --ranks 1,2 --repeats 3
    jobs/experiments/ranks/scaling.py jobs/box-900.json --until .2 --discover speculate,kds

Runs the scene on each number of ranks, and in each mode of discovery, in turn, as often as --repeats says, and prints medians: wall time of the stepping
(the run's less that of writing and of reading the scene), how much faster than the first, where the time of the average rank
went, what was sent per second of simulated time, and the largest rank's memory. All runs must end with the same bits.
TACTUS names the program (default: build/tactus of this tree).
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PROGRAM = os.path.abspath(os.environ.get("TACTUS", os.path.join(ROOT, "build", "tactus")))
MANY = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


def run(scene, ranks, folder, arguments):
    """run.json of a run on so many ranks; seconds from start to end."""
    env = {**os.environ, **MANY}
    if ranks > (os.cpu_count() or 1):  # those that wait give way
        env["OMPI_MCA_mpi_yield_when_idle"] = "1"
    command = ["mpirun", "-n", str(ranks), PROGRAM, "run", scene, "-o", folder, "--overwrite", "--quiet", *arguments]
    begin = time.monotonic()
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}: {done.stderr.strip()}")
    seconds = time.monotonic() - begin
    with open(os.path.join(folder, "run.json")) as file:
        return json.load(file), seconds


def stepping(info):
    """Seconds of the steps of a run, without files and setting up."""
    seconds = info["counters"]["seconds"]
    return sum(seconds.values()) - seconds["output"]


def figures(info, whole):
    """What a row shows, of one run."""
    counters, seconds, all_s = info["counters"], info["counters"]["seconds"], stepping(info)
    # Seconds of a run may be sums over ranks or one rank's: shares hold for either.
    committed, executed = sum(counters["committed"].values()), sum(counters["executed"].values())
    t = info["time"]
    return {
        "whole": whole, "wall": info["wall_s"], "ticks": committed / info["wall_s"],
        "forces": (seconds["forces"] + seconds["contact"]) / all_s, "discovery": seconds["discovery"] / all_s,
        "waiting": seconds["waiting"] / all_s, "exchange": seconds["exchange"] / all_s,
        "repeated": counters["repeated_ticks"] / executed if executed else 0,
        "messages": counters["messages_sent"] / t, "bytes": counters["bytes_sent"] / t,
        "windows": counters["windows"], "migrations": counters["migrations"], "memory": info["peak_memory_bytes"] or float("nan"),
    }


def number(value):
    """Three digits, with a letter for thousands."""
    for letter in ("", "k", "M", "G", "T"):
        if abs(value) < 1000:
            return f"{value:.3g}{letter}"
        value /= 1000
    return f"{value:.3g}P"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scene")
    parser.add_argument("--ranks", type=lambda t: [int(n) for n in t.split(",")], default=[1, 2], help="with commas (%(default)s)")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--discover", type=lambda t: t.split(","), default=[""], metavar="MODES", help="with commas; otherwise the scene's")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="passed to tactus run")
    parser.add_argument("--until", metavar="T", help="passed to tactus run")
    parser.add_argument("--no-diff", action="store_true", help="do not compare the runs' bits")
    options = parser.parse_args()
    arguments = [word for setting in options.set for word in ("--set", setting)] + (["--until", options.until] if options.until else [])
    home = tempfile.mkdtemp(prefix="tactus-ranks-")
    ways = [(mode, ranks) for mode in options.discover for ranks in options.ranks]
    runs = {way: [] for way in ways}
    folders = {way: os.path.join(home, "-".join(map(str, way)) + ".run") for way in ways}
    try:
        for repeat in range(options.repeats):
            for way in ways:  # in turn: what else the machine does falls on all
                mode, ranks = way
                info, whole = run(options.scene, ranks, folders[way], arguments + (["--discover", mode] if mode else []))
                runs[way].append(figures(info, whole))
                print(f"{mode} {ranks} ranks: {info['wall_s']:.2f} s".strip(), file=sys.stderr)
        if not options.no_diff:
            for way in ways[1:]:
                done = subprocess.run([PROGRAM, "diff", folders[ways[0]], folders[way], "--all-frames"], env={**os.environ, **MANY},
                                      capture_output=True, text=True)
                if done.returncode != 0:
                    sys.exit(f"{way} differs from {ways[0]}: {done.stdout}{done.stderr}")
    finally:
        shutil.rmtree(home, ignore_errors=True)
    print(f"{os.path.basename(options.scene)}, {os.cpu_count()} cores, medians of {options.repeats}"
          + ("" if options.no_diff else "; all runs end with the same bits"))
    print()
    modes = options.discover != [""]
    print(("| discovery " if modes else "") + "| ranks | wall s (least..most) | speed-up | ticks/s | forces | discovery | waiting | exchange | repeated ticks"
          " | windows | messages/sim. s | bytes/sim. s | migrated | memory of the largest rank | of one rank's |")
    print("|---" * (15 + modes) + "|")
    first = None
    for way in ways:
        mode, ranks = way
        row = {key: statistics.median(f[key] for f in runs[way]) for key in runs[way][0]}
        first = first or row
        walls = [f["wall"] for f in runs[way]]
        print((f"| {mode} " if modes else "") + f"| {ranks} | {row['wall']:.2f} ({min(walls):.2f}..{max(walls):.2f}) | {first['wall'] / row['wall']:.2f} | {number(row['ticks'])} "
              f"| {row['forces']:.1%} | {row['discovery']:.1%} | {row['waiting']:.1%} | {row['exchange']:.1%} | {row['repeated']:.1%} | {row['windows']:.0f} "
              f"| {number(row['messages'])} | {number(row['bytes'])} | {number(row['migrations'])} "
              f"| {row['memory'] / 2 ** 20:.0f} MiB | {row['memory'] / first['memory']:.2f} |")


if __name__ == "__main__":
    main()
