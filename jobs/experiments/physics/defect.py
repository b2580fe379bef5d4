#!/usr/bin/python3
"""defect.py: with friction, damping and restitution the book closes, and what is left over falls when all periods halve.

slide     A damped shell of a box slides down a slope of tangent .5 at mu = .3, from rest.
throw     The same box thrown, tumbling, onto a level plane.
house     One storey of the house of cards falls at mu = .1.
rise      A particle dropped onto a plane at e = 0, pressed through two layers. Their energy must go while it rises, and what separates is
          not pushed: it rises by trembling, the slower the shorter the periods. So its defect does not fall; it is some part of the layers' energy.
`defect` is the largest in a run, the root of the mean square over several starts, over what was dissipated (`rise`: over the layers'
greatest energy) at the coarsest and the finest periods; `order` is that of its fall. Nothing moves along gravity at the
start: as nothing ticks at t = 0, that would leave a defect of half a period's weight times speed, for good. `book` is the largest.
"""
import numpy as np
import cards
import friction
from physics import Experiment, scene, slope, table

CONTACT = {"thickness": .002, "stiffness": 2000, "friction": .3}


def clocks(halvings, safety=.1):
    part = .5 ** halvings
    return {"contact_safety": .15 * part, "gravity_s": 2.0 ** -10 * part, "elastic_safety": safety * part, "elastic_s": 2.0 ** -10 * part}


def slide(e, halvings, start):
    body = friction.box()
    body["position"][1] += .001 * start
    return scene(1, 2.0 ** -6, [friction.plane(), body], gravity=[friction.G * friction.SIN, -friction.G * friction.COS, 0],
                 contact={**CONTACT, "restitution": e}, materials={"shell": friction.SHELL}, clocks=clocks(halvings))


def throw(e, halvings, start):
    body = {**friction.box(), "position": [0, .12, 0], "rotation": [10 + start, 20 - start, 30 + 2 * start],
            "velocity": [1.5, 0, .1 * start], "angular_velocity": [0, 0, -5]}
    return scene(1, 2.0 ** -6, [friction.plane(), body], gravity=[0, -friction.G, 0], contact={**CONTACT, "restitution": e},
                 materials={"shell": friction.SHELL}, clocks=clocks(halvings))


def house(e, halvings, start):
    bodies, _ = cards.house(1)
    return scene(.3, 2.0 ** -6, bodies, gravity=[0, -friction.G, 0], clocks=clocks(halvings, .5), materials={"card": cards.MATERIAL},
                 contact={"thickness": cards.ETA, "stiffness": 20, "friction": .1 + .01 * start, "restitution": e})


def rise(e, halvings, start):
    return scene(1, 2.0 ** -8, [friction.plane(), friction.particle(.0126 + .0002 * start)], gravity=[0, -friction.G, 0],
                 contact={"thickness": .01, "stiffness": 2000, "restitution": e}, clocks=clocks(halvings))


def measured(experiment, make, e, halvings, starts):
    """Root mean square of the largest defects, of what they are over; the largest book."""
    defect, scale, book = [], [], []
    for start in range(starts):
        result = experiment.run({**make(e, halvings, start), "name": make.__name__})
        energy = result.energy
        defect.append(np.abs(energy["defect"]).max())
        scale.append(energy["contact"].max() if make is rise else energy["dissipated"][-1])
        book.append(result.info["book_residual"])
    return np.sqrt(np.mean(np.square(defect))), np.sqrt(np.mean(np.square(scale))), max(book)


def main():
    experiment = Experiment(__doc__)
    count, starts, rows = (3, 1, []) if experiment.quick else (5, 4, [])
    several = (.5,) if experiment.quick else (0, .5, 1)
    for make, restitutions in ((slide, several), (throw, several), (house, (0,)), (rise, (0,))):
        if not experiment.wanted(make.__name__):
            continue
        for e in restitutions:
            defect, scale, book = np.array([measured(experiment, make, e, k, starts) for k in range(count)]).T
            order, falls = slope(.5 ** np.arange(count), defect), make is not rise
            # Of one start, and of two halvings, the order is no better known than to a third.
            good = book.max() < 1e-12 and (order > (.65 if experiment.quick else .9) if falls else np.all(defect < .02 * scale))
            rows.append([make.__name__, e, scale[0], defect[0] / scale[0], defect[-1] / scale[-1], order if falls else "", book.max(),
                         experiment.expect(good, f"{make.__name__}, e = {e}: defects {defect} of {scale}, order {order:.3g}, book {book.max():.3g}")])
    table("largest defect", ["scene", "e", "over, J", "defect", f"at h/{2 ** (count - 1)}", "order", "book", ""], rows)
    experiment.finish()


if __name__ == "__main__":
    main()
