#!/usr/bin/python3
"""silent.py SCENE... : a pair that was once deep does not tick in vain for ever after.

Layers go deep in these scenes, to periods thousands of times shorter than a window. Such a rung acts some ten times, and
each tick more is silent. Counted, not timed: silent ticks for each one that acted; and, where --messages says how many are
too many, messages for each window: ranks that share a deep pair tell each other of each of its ticks; and, where --twice says so,
contact ticks on several ranks for each on the first number of them: what two ranks share is evaluated by both, and what never
moves shares nothing; and, where --lists says so, lists of candidates for each there: a vertex that leaves its bound near a cut
does not end the lists of all; and, where --windows says so, windows for each there: what bounces near a cut does not make the
windows of all short; and, where --repeated says so, ticks computed again for each there: a pass is repeated as often; and, where --moved says so,
vertices that several ranks have distributed anew: a scene that one of them began with is shared out (--stay: that is not worth what it takes). A SCENE is as for run_ranks.py.

    TACTUS=build/tactus TACTUS_TEST_DEAL=1 tests/ranks/silent.py --ranks 1,2 tests/ranks/scenes/chain.json
"""
import argparse
import json
import os
import sys
import tempfile

import launch


def counters(ranks, scene, folder, discover, limit):
    path = os.path.join(folder, "scene.json")
    with open(path, "w") as file:
        json.dump(scene, file)
    run = os.path.join(folder, "%d.run" % ranks)
    result = launch.tactus(ranks, "run", path, "-o", run, "--quiet", "--discover", discover, limit=limit)
    if result.code != 0:
        return None, str(result)
    with open(os.path.join(run, "run.json")) as file:
        return json.load(file)["counters"], ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scene", nargs="+")
    parser.add_argument("--ranks", type=lambda t: [int(n) for n in t.split(",")], default=[1])
    parser.add_argument("--most", type=float, default=20, help="silent ticks for one that acted (%(default)s)")
    parser.add_argument("--messages", type=float, default=float("inf"), help="most messages for each window (any number)")
    parser.add_argument("--twice", type=float, default=float("inf"), help="most contact ticks for each on the first number of ranks")
    parser.add_argument("--lists", type=float, default=float("inf"), help="most lists for each on the first number of ranks")
    parser.add_argument("--windows", type=float, default=float("inf"), help="most windows for each on the first number of ranks")
    parser.add_argument("--repeated", type=float, default=float("inf"), help="most ticks computed again for each on the first number of ranks")
    parser.add_argument("--moved", type=int, default=0, help="least vertices distributed anew on several ranks")
    parser.add_argument("--stay", type=int, default=sys.maxsize, help="most vertices distributed anew on several ranks")
    parser.add_argument("--discover", default="speculate", help="the way to find contacts (%(default)s)")
    parser.add_argument("--limit", type=float, default=120)
    options = parser.parse_args()
    wrong = 0
    for name, scene in (pair for word in options.scene for pair in launch.load(word)):
        first = None
        for ranks in options.ranks:
            with tempfile.TemporaryDirectory() as folder:
                c, trouble = counters(ranks, scene, folder, options.discover, options.limit)
            if c is not None:
                acted = c["committed"]["penalty"] + c["committed"]["limit"] - c["silent"]
                ratio = c["silent"] / acted if acted else float("inf")
                reported = c["messages_sent"] / max(1, c["windows"])
                print("%-12s %d ranks: %d ticks acted, %d silent (%.1f), %d windows, %d rollbacks, layer %d, %d messages (%.0f)"
                      % (name, ranks, acted, c["silent"], ratio, c["windows"], c["rollbacks"], c["deepest_layer"],
                         c["messages_sent"], reported))
                trouble = "" if ratio <= options.most else "more than %g silent ticks for each that acted" % options.most
                ticks = c["committed"]["penalty"] + c["committed"]["limit"]
                lists = c["candidate_builds"]
                first = first or (ticks, lists, c["windows"], c["repeated_ticks"])
                if ticks > options.twice * first[0]:
                    trouble = "%d contact ticks, more than %g times those on %d" % (ticks, options.twice, options.ranks[0])
                if lists > options.lists * first[1]:
                    trouble = "%d lists, more than %g times those on %d" % (lists, options.lists, options.ranks[0])
                if c["windows"] > options.windows * first[2]:
                    trouble = "%d windows, more than %g times those on %d" % (c["windows"], options.windows, options.ranks[0])
                if c["repeated_ticks"] > options.repeated * first[3]:
                    trouble = "%d ticks computed again, more than %g times those on %d" % (
                        c["repeated_ticks"], options.repeated, options.ranks[0])
                if ranks > 1 and c["migrations"] < options.moved:
                    trouble = "%d vertices distributed anew, fewer than %d" % (c["migrations"], options.moved)
                if ranks > 1 and c["migrations"] > options.stay:
                    trouble = "%d vertices distributed anew, more than %d" % (c["migrations"], options.stay)
                if reported > options.messages:
                    trouble = "more than %g messages a window" % options.messages
            if trouble:
                wrong += 1
                print("  %s on %d ranks: %s" % (name, ranks, trouble))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
