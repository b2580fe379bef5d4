#!/usr/bin/python3
"""What do the periods cost, and what defect do they leave?  The measured table behind the defaults (docs/results/energy.md).

    jobs/experiments/energy/defaults.py [spring] [ball] [sheets] [gravity] [--jobs N]

spring   a spring of ACM's pogo experiment bounces on a plane for 200 s
ball     a shell ball (42 vertices, membrane and bending) bounces on a floor four times
sheets   two sheets of cloth (256 vertices each) meet at 5 m/s, once
gravity  the spring and the ball against clocks.gravity_s

Each scene from several starts, restitution 1. peak: rms over the starts of the largest defect over the energy; lasting: of
the mean defect of the last tenth of the time. Medians of the committed ticks, in thousands, and of the seconds of the run.
For the first three clocks.elastic_s is out of the way (1 s) and clocks.gravity_s 2^-13 s (the spring: 2^-10 s).
"""
import argparse
import itertools
import statistics

import runs

ELASTIC = [0.5, 0.25, 0.1, 0.05]
CONTACT = [0.3, 0.15, 0.075]
PAIRS = [8, 48]
GRAVITY = [2.0 ** -k for k in (6, 8, 10, 12, 14)]

# path of the scene and, for each start, settings that make it another throw of the same dice
SCENES = {
    "spring": ("spring-on-plane.json",
               [{"bodies__spring__position": [0, y, 0], "time__end": 200, "time__frame": 0.25} for y in (0.91, 0.97, 1.03, 1.09)]),
    "ball": ("ball-on-floor.json",
             [{"bodies__ball__position": [0.013, y, 0.021], "bodies__ball__rotation": [10, 20, a]}
              for y, a in ((0.3, 30), (0.29, 70), (0.31, 100))]),
    "sheets": ("sheets.json",
               [{"bodies__upper__rotation": [2, a, 3], "bodies__upper__position": [0.003, 0.012, z]}
                for a, z in ((25, 0.004), (40, 0.001), (10, -0.003), (60, 0))]),
}


def measure(name, settings, jobs):
    path, starts = SCENES[name]
    done = runs.in_parallel(lambda start: runs.run(path, **start, **settings), starts, jobs)
    peak = statistics.fmean(r.worst_defect() ** 2 for r in done) ** 0.5
    lasting = statistics.fmean(r.lasting_defect() ** 2 for r in done) ** 0.5
    return peak, lasting, statistics.median(r.ticks for r in done) / 1e3, statistics.median(r.work_s for r in done)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", help="of spring, ball, sheets, gravity (all)")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (2)")
    args = parser.parse_args()
    what = args.what or ["spring", "ball", "sheets", "gravity"]
    for name in what:
        if name == "gravity":
            print("scene   gravity_s      peak   lasting     kticks  seconds")
            for scene, h in itertools.product(("spring", "ball"), GRAVITY):
                print("%-7s %-9.2g %9.1e %9.1e %10.0f %8.2f" % (scene, h, *measure(scene, {"clocks__gravity_s": h}, args.jobs)), flush=True)
            continue
        print("scene   elastic contact pairs      peak   lasting     kticks  seconds")
        for e, c, n in itertools.product(ELASTIC, CONTACT, PAIRS):
            settings = {"clocks__elastic_safety": e, "clocks__contact_safety": c, "contact__pairs_per_vertex": n,
                        "clocks__elastic_s": 1, "clocks__gravity_s": 2.0 ** (-10 if name == "spring" else -13)}
            print("%-7s %7g %7g %5d %9.1e %9.1e %10.0f %8.2f" % (name, e, c, n, *measure(name, settings, args.jobs)), flush=True)


if __name__ == "__main__":
    main()
