#!/usr/bin/python3
"""stress.py [--delays N] [--failures N] : ranks that are late, and ranks that fail.

TACTUS_TEST_DELAY=seed,max_us makes every rank sleep now and then before its messages: the bits stay.
TACTUS_TEST_FAIL=rank,n makes the n-th thing of a rank that can fail do so: all ranks end with exit code 3 and one sentence,
within a time limit.  If this fails, a run on a busy or a broken machine hangs, or comes out differently.
"""
import argparse
import os
import random
import shutil
import sys
import tempfile
import time

import launch


def delays(scenes, options, draw, home):
    wrong = []
    for number in range(options.delays):
        name, path, reference = scenes[number % len(scenes)]
        ranks, setting = draw.choice(options.ranks), "%d,%d" % (draw.randrange(1 << 30), draw.choice([50, 500, 3000]))
        folder = os.path.join(home, "late.run")
        more = {"TACTUS_TEST_MIGRATE": str(number + 1)} if number % 3 == 2 else {}
        r = launch.tactus(ranks, "run", path, "-o", folder, "--overwrite", "--quiet",
                          environment={"TACTUS_TEST_DELAY": setting, **more}, limit=options.limit)
        differs = str(r) if r.code != 0 or r.crashed else launch.difference(reference, folder)
        print("delays %-16s %-10s %d ranks %6.2f s %s" % (setting, name, ranks, r.seconds, differs), flush=True)
        wrong += [differs] if differs else []
    return wrong


def failures(scenes, options, draw, home):
    """Things that fail, counted from the first on; beyond the last a run goes through."""
    wrong, failed, through = [], 0, 0
    for number in range(options.failures):
        name, path, reference = scenes[number % len(scenes)]
        ranks = draw.choice([n for n in options.ranks if n > 1] or options.ranks)
        setting = "%d,%d" % (draw.randrange(ranks), 1 + int(draw.random() ** 4 * 400))
        folder = os.path.join(home, "failed.run")
        way = ("speculate", "kds")[number // len(scenes) % 2]
        r = launch.tactus(ranks, "run", path, "-o", folder, "--overwrite", "--quiet", "--discover", way,
                          environment={"TACTUS_TEST_FAIL": setting}, limit=options.limit)
        if r.code == 0 and not r.crashed:
            through += 1
            what = launch.difference(reference, folder)
        elif r.code == 3 and not r.crashed and len(r.sentences) == 1:
            failed += 1
            what = ""
        else:
            what = "%s %s, %d sentences" % (r.crashed or "", r, len(r.sentences))
        print("failure %-8s %-10s %-9s %d ranks %6.2f s %s" % (setting, name, way, ranks, r.seconds, what or str(r)), flush=True)
        wrong += [what] if what else []
    if options.failures and not failed:
        wrong.append("nothing ever failed")
    return wrong, failed, through


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scene", nargs="*", default=[os.path.join(launch.SCENES, n) for n in ("corner.json", "moving.json", "across.json", "few.json")])
    parser.add_argument("--delays", type=int, default=20)
    parser.add_argument("--failures", type=int, default=40)
    parser.add_argument("--ranks", type=lambda t: [int(n) for n in t.split(",")], default=[2, 3, 4], help="with commas (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=120, help="seconds that a run may take (%(default)s)")
    options = parser.parse_args()
    launch.program()
    draw, home, begin = random.Random(options.seed), tempfile.mkdtemp(prefix="ranks-stress-"), time.monotonic()
    try:
        scenes = []
        for path in options.scene:
            name = os.path.basename(path).removesuffix(".json")
            scenes.append((name, path, os.path.join(home, name + ".run")))
            r = launch.tactus(1, "run", path, "-o", scenes[-1][2], "--quiet", limit=options.limit)
            if r.code != 0:
                sys.exit("%s: %s" % (name, r))
        wrong = delays(scenes, options, draw, home)
        more, failed, through = failures(scenes, options, draw, home)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    print("%d runs with delays, %d with a failure (%d failed as they should, %d ended before it) in %.0f s: %d differ, hang or crash" %
          (options.delays, options.failures, failed, through, time.monotonic() - begin, len(wrong + more)))
    sys.exit(1 if wrong or more else 0)


if __name__ == "__main__":
    main()
