#!/usr/bin/python3
"""chatter.py: what lies still trembles with its clocks, and what that does to the energy, as a power.

A body at rest at e < 1 is held by a force that comes and goes from tick to tick. Where the forces on it tick at several periods, their
kicks put in a power that restitution, friction and damping take out again: `total` stays, `dissipated` and `defect` grow alike.
flat      Without friction on a level plane.
slope     Held by mu = .6 on a slope of tangent .5 (at e = 1 only the box, whose damping ends the hopping).
Bodies: a particle of 100 g that rests on its first layer; the same on a softer plane (layer 4); a damped shell of a box.
`power` is the slope of the defect; `of m g g h` is over what the weight does at the speed that gravity gives in the longest period h, for
the coarsest periods. `total` is the slope of the total energy, in the same measure. All periods are halved each time; `order` is that of the power.
"""
import numpy as np
import friction
from physics import Experiment, scene, slope, table

G = 9.81
BODIES = {  # body, mass, contact
    "particle": (friction.particle, .1, {"thickness": .01, "stiffness": 2000}),
    "deep": (friction.particle, .1, {"thickness": .01, "stiffness": 200}),
    "box": (friction.box, .3, {"thickness": .002, "stiffness": 2000}),
}


def at_rest(experiment, name, tilted, e, halvings, end):
    """Powers, W: of the defect, of dissipated, of the total; the longest period, s; the book."""
    body, _, contact = BODIES[name]
    pull = [G * friction.SIN, -G * friction.COS, 0] if tilted else [0, -G, 0]
    part = .5 ** halvings
    s = scene(end, 2.0 ** -4, [friction.plane(), body()], gravity=pull, materials={"shell": friction.SHELL}, name=f"rest {name}",
              contact={**contact, "restitution": e, "friction": .6 if tilted else 0},
              clocks={"contact_safety": .15 * part, "gravity_s": 2.0 ** -10 * part, "elastic_safety": .1 * part, "elastic_s": 2.0 ** -10 * part})
    result = experiment.run(s)
    energy, w = result.energy, result.energy["time"] >= .5 * end
    return [np.polyfit(energy["time"][w], energy[key][w], 1)[0] for key in ("defect", "dissipated", "total")] + [
        2.0 ** -10 * part, result.info["book_residual"]]


def main():
    experiment = Experiment(__doc__)
    count, end = (3, 2) if experiment.quick else (4, 16)
    for part, tilted in (("flat", False), ("slope", True)):
        if not experiment.wanted(part):
            continue
        rows = []
        for name in ("box" if tilted else "deep",) if experiment.quick else BODIES:
            for e in (0, .5) if experiment.quick else (0, .5, 1):
                if tilted and e == 1 and name != "box":
                    continue
                power, lost, total, h, book = np.array([at_rest(experiment, name, tilted, e, k, end) for k in range(count)]).T
                unit = BODIES[name][1] * G * G * h
                order = slope(h, np.abs(power))
                # A particle on its first layer, and e = 1: next to nothing, of either sign.
                none = name == "particle" or (e == 1 and name == "deep")
                good = np.all(np.abs(total) < 1e-2 * unit) and book.max() < 1e-12 and np.all(np.abs(power - lost - total) < 1e-6 * unit)
                good = good and (np.all(np.abs(power) < 1e-4 * unit) if none else np.all(np.abs(power) < .5 * unit) and order > .7)
                rows.append([name, e, power[0], power[0] / unit[0], power[-1], "" if none else order, np.max(np.abs(total) / unit), book.max(),
                             experiment.expect(good, f"{part}, {name}, e = {e}: powers {power}, totals {total}, book {book.max():.3g}")])
        table(f"at rest, {part}", ["body", "e", "power, W", "of m g g h", f"at h/{2 ** (count - 1)}, W", "order", "total", "book", ""], rows)
    experiment.finish()


if __name__ == "__main__":
    main()
