#!/usr/bin/python3
"""impossible.py: scenes that cannot go on stop, say where, and do so at one instant however contacts are found.

vice     A particle midway between two walls that close at 2 x .25 m/s (2D), for several contact.min_period_s. The layer stack
         ends where its layers' periods would be shorter; the walls then stand 2 eta(L + 1) apart, which gives the
         time. `instant` is the run's end less that time, in ticks of the deepest layer.
ways     Every scene below is run with all pairs, with speculation, and with speculation in windows of a millionth of the
         run (quick: 1e-5), of all of it, and of a hundredth, and with four times as many frames: exit code 3 and the same sentence, to
         the last digit. It names the two elements, the place and the time.
           vice       the particle
           ball       a shell ball between two closing plates
           rope       a rope between two closing segments (2D), friction off, e = 0
           stack      two sheets between two closing plates
           turning    a sheet between a plate and a box that turns down through it
"""
import re

import numpy as np
from physics import Experiment, scene, table


def wall(name, y, turn=0):
    return {"name": name, "mesh": {"kind": "grid", "size": [.6, .6], "cells": [2, 2]}, "position": [0, y, 0],
            "rotation": [0, turn, 0]}


def closing(low, high, distance, seconds):
    return [{"body": low, "path": [[0, [0, 0, 0]], [seconds, [0, distance, 0]]]},
            {"body": high, "path": [[0, [0, 0, 0]], [seconds, [0, -distance, 0]]]}]


def line(name, y):
    return {"name": name, "mesh": {"kind": "segments", "from": [-.3, y, 0], "to": [.3, y, 0], "cells": 1}}


def contact(min_period, e, **keys):
    return {"thickness": .01, "stiffness": 100, "restitution": e, "min_period_s": min_period, **keys}


def vice(min_period):
    particle = {"name": "particle", "mass": .01, "mesh": {"kind": "points", "vertices": [[.03, 0, 0]]}}
    return scene(.3, .0625, [line("low", -.05), line("high", .05), particle], name="vice",
                 contact=contact(min_period, 0), motions=closing("low", "high", .0625, .25))


SHELL = {"shell": {"density": .3, "stretch": {"model": "spring", "stiffness": 2},
                   "bend": {"model": "hinge", "stiffness": 1e-4}}}


def ball(min_period):
    body = {"name": "ball", "material": "shell", "mesh": {"kind": "sphere", "radius": .04, "level": 1},
            "rotation": [10, 20, 30]}
    return scene(.3, .0625, [wall("low", -.06), wall("high", .06, 20), body], name="ball", materials=SHELL,
                 contact=contact(min_period, .3), motions=closing("low", "high", .0625, .25))


def rope(min_period):
    body = {"name": "rope", "material": "rope", "velocity": [.1, 0, 0],
            "mesh": {"kind": "segments", "vertices": [[.04 * k - .1, .01 * (k % 3), 0] for k in range(6)]}}
    return scene(.3, .0625, [line("low", -.05), line("high", .06), body], name="rope",
                 materials={"rope": {"density": .1, "stretch": {"model": "spring", "stiffness": 1}}},
                 contact=contact(min_period, 0), motions=closing("low", "high", .0625, .25))


def stack(min_period):
    sheets = [{"name": name, "material": "shell", "mesh": {"kind": "grid", "size": [.2, .2], "cells": [3, 3]},
               "position": [0, y, 0], "rotation": [0, turn, 0]} for name, y, turn in (("first", -.015, 5), ("second", .01, 28))]
    return scene(.3, .0625, [wall("low", -.06), wall("high", .06, 20), *sheets], name="stack", materials=SHELL,
                 contact=contact(min_period, .5), motions=closing("low", "high", .0625, .25))


def turning(min_period):
    sheet = {"name": "sheet", "material": "shell", "mesh": {"kind": "grid", "size": [.2, .15], "cells": [4, 3]},
             "position": [.02, -.015, 0], "velocity": [0, -.1, 0]}
    box = {"name": "box", "mesh": {"kind": "box", "size": [.2, .02, .08], "cells": [1, 1, 1]}, "position": [0, .05, .003]}
    plate = {"name": "plate", "mesh": {"kind": "grid", "size": [.6, .6], "cells": [2, 2]}, "position": [0, -.03, 0],
             "fixed": True}
    turn = {"body": "box", "rotate": {"axis": [0, .1, 1], "center": [-.1, .05, 0], "path": [[0, 0], [.25, -60]]}}
    return scene(.3, .0625, [sheet, box, plate], name="turning", materials=SHELL, contact=contact(min_period, 0),
                 motions=[turn])


def deepest(mass, stiffness, min_period, e, safety=.15):
    """L of a particle on a segment: h(l) = 2 s sqrt(m / (N_c R(l))) >= min_period, and that h."""
    pairs = 48 if e == 1 else 8
    h, total, layer = np.inf, 0., 0
    while True:
        total += (layer + 1.) ** 3
        following = 2 * safety * np.sqrt(mass / (pairs * stiffness * total))
        if following < min_period:
            return layer, h
        h, layer = following, layer + 1


def closed_form(experiment):
    rows = []
    for k in (14, 16, 18) if experiment.quick else range(13, 22):
        bound = 2.0 ** -k
        result = experiment.run(vice(bound), expect=(3,))
        layer, h = deepest(.01, 100, bound, 0)
        expected = (.1 - 2 * .01 * (layer + 1) ** -.25) / .5
        time = float(re.search(r"t = (\S+) s", result.sentence).group(1))
        told = int(re.search(r"all (\d+) layers", result.sentence).group(1))
        tick = 2.0 ** np.floor(np.log2(h))
        late = (time - expected) / tick
        rows.append([f"2^-{k}", layer, told, expected, time, late, result.info["wall_s"], experiment.expect(
            layer == told and abs(late) < 2, f"vice at 2^-{k}: layer {told} for {layer}, {late:.3g} ticks late")])
    table("vice: the walls stop 2 eta(L + 1) apart, within 2 ticks",
          ["min_period_s", "L", "L told", "time expected", "time", "instant", "wall [s]", ""], rows)


def ways(experiment):
    rows = []
    for make in (vice, ball, rope, stack, turning):
        s = make(2.0 ** -(16 if experiment.quick else 18))
        told = {}
        end, frame = s["time"]["end"], s["time"]["frame"]
        windows = {"tiny": end * (1e-5 if experiment.quick else 1e-6), "hundredth": end / 100, "whole": end}
        plan = [("all pairs", ["--discover", "all-pairs"]), ("speculate", [])]
        plan += [(name, ["--set", f"discovery.window_s=[{w!r},{w!r}]"]) for name, w in windows.items()
                 if not (experiment.quick and name == "hundredth")]
        plan += [] if experiment.quick else [("frames", ["--set", f"time.frame={frame / 4!r}"])]
        for name, arguments in plan:
            result = experiment.run(s, *arguments, expect=(3,), limit=600)
            told[name] = result.sentence
        reference = told["all pairs"]
        differ = [name for name, sentence in told.items() if sentence != reference]
        names = re.search(r"body `\S+`.* and .*body `\S+`.* near \(.*\)", reference)
        rows.append([s["name"], len(plan), ", ".join(differ) or "none", experiment.expect(
            not differ and names, f"{s['name']}: " + "; ".join(f"{n}: {told[n]}" for n in ["all pairs", *differ]))])
        rows[-1].append(re.search(r"t = .*? are", reference).group(0))
    table("ways: what tells another sentence than all pairs", ["scene", "ways", "differ", "", "sentence"], rows)


def main():
    experiment = Experiment(__doc__)
    if experiment.wanted("vice"):
        closed_form(experiment)
    if experiment.wanted("ways"):
        ways(experiment)
    experiment.finish()


main()
