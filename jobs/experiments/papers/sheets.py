"""The two sheets of cloth on the bed of nails, as two-sheets-draped and two-sheets-pulled have them.

Usual and quick size: jobs/two-sheets.json with fewer cells. --full: AVCM's 1994 vertices each (here 80 x 25, 2000), 15 x 50 cm,
their material (500 g/s^2, bending .1, damping 1, density .001 g/cm^2) and contact (r(1) = 1000 g/s^2, eta(1) = .1 cm, COR 0), SI.
--fine: ACM 2009's 15,982 vertices in all (here 2 x 160 x 50, 16,000), so too, for the usual time, and with --full for the papers'.
"""
import sys

from papers import body, shipped

DRAPED, PULLED = 3.95, 3.83  # s, of the papers
FINE = {"--fine": {"action": "store_true", "help": "8000 vertices each, for the usual time, or with --full for the paper's"}}


def is_large(paper):
    """Whether it has the papers' material and the run is not recorded: a record of all breakpoints would take 50 GB and more."""
    return paper.options.full or paper.options.fine


def scene(paper, pulled):
    if paper.options.fine and paper.quick:
        sys.exit("--fine and --quick are two sizes: give one")
    made = shipped("two-sheets")
    rest = paper.size(.12, .6, DRAPED)
    end = rest + (paper.size(.06, .4, PULLED) if pulled else 0)
    made["time"] = {"end": end, "frame": rest / paper.size(8, 16, 64)}
    if is_large(paper):
        made["contact"].update(stiffness=1, restitution=0)
        made["materials"]["cloth"] = {"density": .01, "stretch": {"model": "cst", "stiffness": .5, "poisson": .3, "damping": 1 / 500},
                                      "bend": {"model": "hinge", "stiffness": 1e-8, "rest": "flat"}}
    long, short = (159, 49) if paper.options.fine else paper.size((20, 6), (40, 12), (79, 24))
    body(made, "lower")["mesh"]["cells"], body(made, "upper")["mesh"]["cells"] = [long, short], [short, long]
    if paper.quick:  # nearer to the spikes, so that they are met at once
        body(made, "lower")["position"][1], body(made, "upper")["position"][1] = .092, .118
    if pulled:
        speed = paper.size(.5, .3, .1)
        made["motions"] = [{"body": "lower", "vertices": [i * (long + 1) + long for i in range(short + 1)], "release": True,
                            "path": [[rest, [0, 0, 0]], [end, [speed * (end - rest), 0, 0]]]}]
    return made, rest
