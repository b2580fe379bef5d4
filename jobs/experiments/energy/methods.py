#!/usr/bin/python3
"""AVCM figure 2: the same bouncing spring by three methods, and what its energy does.

    jobs/experiments/energy/methods.py [-o PICTURE.png] [--end SECONDS] [--period SECONDS]

tactus      every layer ticks at the multiples of its period, whenever it was touched
re-phased   a layer's clock starts anew at the instant at which it is touched (in this file)
reflecting  no layers: the velocity is reflected at the instant of contact (in this file)

The spring is that of tests/unit/events/scenes/spring-on-plane.json. Gravity and the spring tick every --period (2^-9 s), the
first layer at the next power of two under what it may (2^-10 s). The program in this file with regular clocks is
compared with tactus first, so that nothing but the clock is different. Prints the relative error of the energy at five times.
"""
import argparse
import json
import math
import os

import runs

SCENE = os.path.join(runs.SCENES, "spring-on-plane.json")
SAFETY, PAIRS = 0.15, 48  # of the contact's periods, as in the scene's defaults


class Spring:
    """Two unit masses, a unit spring, gravity 1, a floor at y = 0; positions and velocities [x0, y0, x1, y1]."""

    def __init__(self, period):
        with open(SCENE) as file:
            scene = json.load(file)
        contact, body = scene["contact"], scene["bodies"][0]
        lean = math.radians(body["rotation"][2])
        _, y, _ = body["position"]
        self.x = [0.0, y, -math.sin(lean), y + math.cos(lean)]
        self.v = [0.0] * 4
        self.h = period
        self.t = 0.0
        self.eta, self.r, self.h_layer = [], [], []
        total = 0.0
        for layer in range(1, 13):
            self.eta.append(contact["thickness"] * layer ** -0.25)
            self.r.append(contact["stiffness"] * layer ** 3)
            total += self.r[-1]
            self.h_layer.append(2.0 ** math.floor(math.log2(2 * SAFETY * math.sqrt(1 / (PAIRS * total)))))

    def move(self, t):
        for k in range(4):
            self.x[k] += (t - self.t) * self.v[k]
        self.t = t

    def force(self):
        dx, dy = self.x[2] - self.x[0], self.x[3] - self.x[1]
        length = math.hypot(dx, dy)
        f = (length - 1) / length
        return [f * dx, f * dy - 1, -f * dx, -f * dy - 1]

    def kick(self):
        for k, f in enumerate(self.force()):
            self.v[k] += self.h * f

    def energy(self, v):
        length = math.hypot(self.x[2] - self.x[0], self.x[3] - self.x[1])
        layers = sum(0.5 * r * min(0.0, self.x[end] - eta) ** 2 for eta, r in zip(self.eta, self.r) for end in (1, 3))
        return 0.5 * sum(w * w for w in v) + self.x[1] + self.x[3] + 0.5 * (length - 1) ** 2 + layers


def with_layers(period, end, step, rephase, spring=None, states=None):
    """Energies at the multiples of `step`: layers that tick at multiples of their periods, or from the touch on. Of the scene's
    spring or of another one; `states` is a list that takes its positions and velocities then."""
    s = spring or Spring(period)
    energies = [s.energy(s.v)]
    ticks = {}  # (end of the spring, layer): its next tick, if it is active
    tick = 1
    while tick * period <= end:
        due = min(min(ticks.values(), default=math.inf), tick * period)
        if rephase:
            # The first touch of a layer that is not active, before anything else is due.
            touches = [((eta - s.x[side]) / s.v[side] + s.t, side, layer) for side in (1, 3) if s.v[side] < 0
                       for layer, eta in enumerate(s.eta) if (side, layer) not in ticks and s.x[side] > eta]
            t, side, layer = min(touches, default=(math.inf, 0, 0))
            if t < due:
                s.move(t)
                s.x[side] = s.eta[layer]
                ticks[side, layer] = t + s.h_layer[layer]
                continue
        else:
            # Watched before it is touched: from a tenth of the thickness above it.
            for side in (1, 3):
                for layer, eta in enumerate(s.eta):
                    if (side, layer) not in ticks and s.x[side] + (due - s.t) * s.v[side] < eta + 0.01:
                        h = s.h_layer[layer]
                        ticks[side, layer] = (math.floor(s.t / h) + 1) * h
            due = min(due, min(ticks.values(), default=math.inf))
        s.move(due)
        before = list(s.v)
        if due == tick * period:
            s.kick()
        for (side, layer), t in list(ticks.items()):
            if t != due:
                continue
            gap = s.x[side] - s.eta[layer]
            if gap < 0:
                s.v[side] -= s.h_layer[layer] * s.r[layer] * gap
            if gap < 0 or (not rephase and gap < 0.02):
                ticks[side, layer] = t + s.h_layer[layer]
            else:
                del ticks[side, layer]
        if due == tick * period:
            if due % step == 0:
                energies.append(s.energy([0.5 * (a + b) for a, b in zip(before, s.v)]))
                if states is not None:
                    states.append((list(s.x), list(s.v)))
            tick += 1
    return energies


def reflecting(period, end, step):
    """Energies at the multiples of `step`: no layers, the velocity is turned around where an end reaches the floor."""
    s = Spring(period)
    s.eta = []
    energies = [s.energy(s.v)]
    for tick in range(1, int(end / period) + 1):
        due = tick * period
        while True:
            hits = [(s.t - s.x[side] / s.v[side], side) for side in (1, 3) if s.v[side] < 0]
            t, side = min(hits, default=(math.inf, 0))
            if t >= due:
                break
            s.move(t)
            s.x[side] = 0.0
            s.v[side] = -s.v[side]
        s.move(due)
        before = list(s.v)
        s.kick()
        if due % step == 0:
            energies.append(s.energy([0.5 * (a + b) for a, b in zip(before, s.v)]))
    return energies


def plot(path, step, curves):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, axis = plt.subplots(figsize=(7, 3.6), dpi=110)
    colors = {"re-phased": "#a03030", "reflecting": "#4060c0", "tactus": "#208040"}
    for name, error in curves.items():
        axis.plot([k * step for k in range(len(error))], [100 * e for e in error], color=colors[name], label=name,
                  linewidth=1.6 if name == "tactus" else 0.9)
    axis.set_xlabel("time, s")
    axis.set_ylabel("error of the energy, %")
    axis.axhline(0, color="black", linewidth=0.5)
    axis.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", metavar="PICTURE", default="spring-methods.png")
    parser.add_argument("--end", type=float, default=1000, help="seconds (1000)")
    parser.add_argument("--period", type=float, default=2.0 ** -9, help="of gravity and the spring, a power of two (2^-9)")
    args = parser.parse_args()
    step = 0.25
    done = runs.run(SCENE, time__end=args.end, time__frame=step, clocks__elastic_s=args.period, clocks__gravity_s=args.period,
                    clocks__contact_safety=SAFETY)
    tactus = done.rows["total"]
    regular = with_layers(args.period, min(20, args.end), step, False)
    print(f"tactus against this file's program with regular clocks, {len(regular)} rows: largest difference "
          f"{max(abs(a - b) for a, b in zip(regular, tactus)) / tactus[0]:.1e} of the energy")
    curves = {"re-phased": with_layers(args.period, args.end, step, True),
              "reflecting": reflecting(args.period, args.end, step), "tactus": tactus}
    curves = {name: [e / energy[0] - 1 for e in energy] for name, energy in curves.items()}
    for name, error in curves.items():
        at = [error[min(len(error) - 1, round(k * args.end / 5 / step))] for k in range(1, 6)]
        print(f"{name:10}  " + "  ".join(f"{e:+.1e}" for e in at) + f"   largest {max(map(abs, error)):.1e}")
    plot(args.o, step, curves)
    print(f"wrote {args.o}")


if __name__ == "__main__":
    main()
