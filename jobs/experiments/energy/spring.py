#!/usr/bin/python3
"""AVCM 2011, section 8.1: a spring on a plane. Does its energy drift, and what is the defect made of?

    jobs/experiments/energy/spring.py [drift] [defect] [upright] [--jobs N] [--starts N]

A spring of unit length, stiffness and end masses falls from about 1 m on a plane, g = 1, eta = 0.1, k = 1000, restitution 1.
The period h(1) of the contact follows from clocks.contact_safety: 0.15 gives 2^-10 s, and so on in proportion.

drift    2000 s, 16 heights from 0.9 to 1.1 m: the mean energy of the last tenth against that of the first
defect   200 s, the same heights: the largest defect over the energy, for four pairs of periods
upright  drift of the spring that stands exactly upright, which pushes its ends through each other

Without a name: drift and defect. The spring leans by 5 degrees except in `upright`: its second end hits the first otherwise,
where a spring's force jumps (docs/results/energy.md).
"""
import argparse
import statistics

import runs

SAFETY_OF_2_10 = 0.15  # h(1) = 2^-10 s: contact_safety 0.15 allows 1.37e-3 s


def sizes(values):
    values = [abs(v) for v in values]
    return f"median {statistics.median(values):.1e}  worst {max(values):.1e}"


def bounce(height, contact, rest, end, frame, lean):
    """Periods are powers of two: h(1) = 2^-contact s, elastic and gravity 2^-rest s."""
    return runs.run("spring-on-plane.json", time__end=end, time__frame=frame, bodies__spring__position=[0, height, 0],
                    bodies__spring__rotation=[0, 0, lean], clocks__contact_safety=SAFETY_OF_2_10 * 2.0 ** (10 - contact),
                    clocks__elastic_s=2.0 ** -rest, clocks__gravity_s=2.0 ** -rest)


def table(args, pairs, end, frame, lean, wanted):
    heights = [0.9 + 0.2 * k / (args.starts - 1) for k in range(args.starts)]
    for contact, rest in pairs:
        done = runs.in_parallel(lambda y: bounce(y, contact, rest, end, frame, lean), heights, args.jobs)
        for line in wanted:
            print(f"h(1) = {2.0 ** -contact:.1e} s, rest {2.0 ** -rest:.1e} s   {line(done)}", flush=True)


def drift(done):
    return f"drift {sizes([r.drift() for r in done])}   book {max(r.info['book_residual'] for r in done):.0e}"


def defect(done):
    return f"defect {sizes([r.worst_defect() for r in done])}   ticks {statistics.median([r.ticks for r in done]):.2g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=["drift", "defect", "upright", []])
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (2)")
    parser.add_argument("--starts", type=int, default=16, help="heights (16)")
    args = parser.parse_args()
    what = args.what or ["drift", "defect"]
    if "drift" in what:
        print("# 2000 s: last tenth against first tenth")
        table(args, [(10, 10), (12, 10)], 2000, 1, 5, [drift, defect])
    if "defect" in what:
        print("# 200 s: largest defect over the energy")
        table(args, [(9, 10), (12, 10), (14, 12), (16, 14)], 200, 0.25, 5, [defect])
    if "upright" in what:
        print("# 2000 s, exactly upright")
        table(args, [(10, 10), (12, 10), (12, 12), (12, 14), (12, 16)], 2000, 1, 0, [drift])


if __name__ == "__main__":
    main()
