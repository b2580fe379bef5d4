#!/usr/bin/python3
"""run_ranks.py SCENE... : the same trajectory, to the last bit, on any number of ranks (invariance law).

Each scene is run on one rank, and then on others, in some of these ways; `tactus diff --all-frames` compares, energy.csv
included.

    speculate   as it is
    shipped     on ranks as the program is shipped: a small scene begins on one of them; the other ways share it out
                where TACTUS_TEST_DEAL=1
    all-pairs   contacts found by all pairs at all instants; all-pairs-moving: with that as well
    kds         by kinetic data structures; kds-moving, kds-delays, kds-pairs: with that as well
    moving      a new partition at every commit
    delays      ranks that sleep now and then
    until       stopped at ten random times (--until), each time to go on on another number of ranks
    stops       stopped at ten random moments (SIGUSR1), each time to go on on another number of ranks

    TACTUS=build/tactus TACTUS_TEST_DEAL=1 tests/ranks/run_ranks.py --ranks 2,3,4 --ways speculate,moving tests/ranks/scenes/*.json soup:1..10

A SCENE is a file, or KIND:SEED or KIND:FIRST..LAST for scenes of tests/system/equality/random_scene.py, or experiment:NAME,...
(or all) for those of experiment_scenes.py there. With --some each scene takes one number of ranks for each way, in turn. A
run that stops because the scene cannot go on must do so in every way, with the same sentence. Where two runs differ, or
one fails or hangs, their folders are kept and named, and the exit code is 1.
"""
import argparse
import csv
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import launch

STOPS = 10
WAYS = {
    "speculate": ([], {}),
    "shipped": ([], {"TACTUS_TEST_DEAL": "0"}),
    "all-pairs": (["--discover", "all-pairs"], {}),
    "all-pairs-moving": (["--discover", "all-pairs"], {"TACTUS_TEST_MIGRATE": "{seed}"}),
    "kds": (["--discover", "kds"], {}),
    "kds-pairs": (["--discover", "kds", "--set", "discovery.structure=pairs", "--set", "discovery.kdop=6"], {}),
    "kds-moving": (["--discover", "kds"], {"TACTUS_TEST_MIGRATE": "{seed}"}),
    "kds-delays": (["--discover", "kds"], {"TACTUS_TEST_DELAY": "{seed},300"}),
    "moving": ([], {"TACTUS_TEST_MIGRATE": "{seed}"}),
    "delays": ([], {"TACTUS_TEST_DELAY": "{seed},300"}),
    "until": ([], {}),
    "stops": ([], {}),
}


class Count:
    """Runs so far."""
    runs = 0
    stops = 0
    migrations = 0


def start(ranks, path, folder, way, draw, more, limit):
    arguments, environment = WAYS[way]
    environment = {key: value.format(seed=draw.randrange(1, 1 << 30)) for key, value in environment.items()}
    Count.runs += 1
    return launch.tactus(ranks, "run", path, "-o", folder, "--quiet", *arguments, *more, environment=environment, limit=limit)


def in_pieces(scene, path, folder, draw, choice, limit):
    """Stopped at random times of the simulation, to go on on other numbers of ranks."""
    end = scene["time"]["end"]
    times = sorted(draw.uniform(0, end) for _ in range(STOPS)) + [None]
    ranks = draw.choice(choice)
    result = None
    for k, t in enumerate(times):
        where = [path, "-o", folder] if k == 0 else ["--restart", folder]
        until = [] if t is None else ["--until", repr(t)]
        Count.runs += 1
        result = launch.tactus(ranks, "run", *where, "--quiet", *until, limit=limit)
        if result.code != 0:
            return result
        Count.stops += t is not None
        ranks = draw.choice([n for n in choice if n != ranks] or choice)
    return result


def modified(folder):
    """When status.json was; None: there is none."""
    try:
        return os.stat(os.path.join(folder, "status.json")).st_mtime_ns
    except OSError:
        return None


def with_stops(path, folder, draw, choice, limit, seconds):
    """Stopped by a signal at random moments of wall time. `seconds`: that a run of one rank takes."""
    ranks = draw.choice(choice)
    stops = 0
    while True:
        where = [path, "-o", folder] if not os.path.exists(os.path.join(folder, "checkpoint.h5")) \
            else ["--restart", folder]
        overwrite = ["--overwrite"] if where[0] == path and os.path.exists(folder) else []
        Count.runs += 1
        since = modified(folder)
        process = launch.Process(ranks, ["run", *where, *overwrite, "--quiet"])
        if stops < STOPS:
            begin = time.monotonic()
            while process.process.poll() is None and time.monotonic() < begin + launch.PATIENCE_S and modified(folder) == since:
                time.sleep(0.005)  # a signal to mpirun before the ranks are there is lost
            time.sleep(draw.uniform(0, 1) * seconds / 3)
            process.signal(signal.SIGUSR1)
        result = process.wait(limit)
        if result.code != 75:
            return result
        Count.stops += 1
        stops += 1
        ranks = draw.choice([n for n in choice if n != ranks] or choice)


class Outcome:
    def __init__(self, name):
        self.name, self.cells, self.trouble, self.seconds, self.stopped = name, [], [], 0.0, False


def touches(folder):
    """Whether any layer acted in a run."""
    with open(os.path.join(folder, "energy.csv")) as file:
        return any(float(row["deepest_layer"]) > 0 for row in csv.DictReader(file))


def compare(reference, mine, folder, other, ranks, limit):
    if mine.crashed:
        return "crashed: %s" % mine.crashed
    if mine.code is None:
        return "no end within %d s" % limit
    if mine.code != reference.code or (mine.code != 0 and launch.ending(mine, other) != launch.ending(reference, folder)):
        return "%s; on one rank: %s" % (mine, reference)
    with open(os.path.join(other, "run.json")) as file:
        reported = json.load(file)
    Count.migrations += reported["counters"]["migrations"]
    if ranks is not None and reported["ranks"] != ranks:
        return "run.json tells of %d ranks" % reported["ranks"]
    return launch.difference(folder, other, limit)


def check(number, name, scene, options):
    """Runs a scene in all ways; leaves nothing behind unless something differs."""
    outcome = Outcome(name)
    home = tempfile.mkdtemp(prefix="ranks-", dir=options.keep)
    path, folder = os.path.join(home, "scene.json"), os.path.join(home, "one.run")
    with open(path, "w") as file:
        json.dump(scene, file, indent=1)
    draw = random.Random("%s %d" % (name, options.seed))
    reference = start(1, path, folder, "speculate", draw, [], options.limit)
    outcome.seconds, outcome.stopped = reference.seconds, reference.code == 3
    if reference.code not in (0, 3):
        outcome.trouble.append("one rank: %s" % reference)
    elif options.contact and not outcome.stopped and not touches(folder):
        outcome.trouble.append("nothing touches in this scene: it tests little")
    for turn, way in enumerate(options.ways if not outcome.trouble else []):
        if way.startswith("all-pairs") and reference.seconds > options.small:
            continue
        if way in ("until", "stops"):
            if outcome.stopped:
                continue
            choice = [None]
        elif options.some:
            choice = [options.ranks[(number + turn) % len(options.ranks)]]
        else:
            choice = options.ranks
        cells = []
        for ranks in choice:
            other = os.path.join(home, "%s-%s.run" % (way, ranks or "any"))
            if way == "until":
                mine = in_pieces(scene, path, other, draw, options.ranks, options.limit)
            elif way == "stops":
                mine = with_stops(path, other, draw, options.ranks, options.limit, reference.seconds)
            else:
                mine = start(ranks, path, other, way, draw, [], options.limit)
            differs = compare(reference, mine, folder, other, ranks, options.limit)
            cells.append("%s%s" % (ranks or "any", " DIFFERS" if differs else ""))
            if differs:
                outcome.trouble.append("%s, %s ranks: %s\n    %s %s" % (way, ranks or "other", differs, folder, other))
            else:
                shutil.rmtree(other)
        outcome.cells.append("%s: %s" % (way, " ".join(cells)))
    if not outcome.trouble:
        shutil.rmtree(home)
    return outcome


def words(text):
    return text.split(",")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scene", nargs="+")
    parser.add_argument("--ranks", type=lambda t: [int(n) for n in words(t)], default=[1, 2, 3, 4, 7, 8],
                        help="numbers of ranks, with commas (%(default)s)")
    parser.add_argument("--ways", type=words, default=["speculate"], help="of %s (speculate)" % ", ".join(WAYS))
    parser.add_argument("--some", action="store_true", help="one number of ranks for each way and scene, in turn")
    parser.add_argument("--contact", action="store_true", help="a scene in which nothing touches is a failure")
    parser.add_argument("--small", type=float, default=2, help="all pairs only where a run takes so many seconds (%(default)s)")
    parser.add_argument("--limit", type=float, default=launch.PATIENCE_S, help="seconds that a run may take (%(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="scenes at a time")
    parser.add_argument("--seed", type=int, default=1, help="of the moments at which runs are stopped")
    parser.add_argument("--keep", default=None, help="folder for what differs; default: the system's for temporary files")
    options = parser.parse_args()
    unknown = [way for way in options.ways if way not in WAYS]
    if unknown:
        parser.error("no way is called '%s'" % unknown[0])
    launch.program()
    begin, count, differ, stopped = time.monotonic(), 0, 0, 0
    scenes = [pair for word in options.scene for pair in launch.load(word)]
    with ThreadPoolExecutor(options.jobs) as pool:
        for outcome in pool.map(lambda job: check(job[0], *job[1], options), enumerate(scenes)):
            count += 1
            differ += bool(outcome.trouble)
            stopped += outcome.stopped
            print("%-24s %6.2f s%s  %s" % (outcome.name, outcome.seconds, "  cannot go on" if outcome.stopped else "",
                                           ", ".join(outcome.cells)), flush=True)
            for line in outcome.trouble:
                print("  " + line, flush=True)
    if any(way.endswith("moving") for way in options.ways) and max(options.ranks) > 1 and not Count.migrations:
        differ += 1
        print("no vertex ever went to another rank")
    print("%d scenes, %d runs in %.0f s (%d stopped and gone on, %d vertices migrated, %d scenes that cannot go on): "
          "%d differ or fail" % (count, Count.runs, time.monotonic() - begin, Count.stops, Count.migrations, stopped, differ))
    sys.exit(1 if differ or not count else 0)


if __name__ == "__main__":
    main()
