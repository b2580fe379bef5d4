"""study.py [FOLDER]: a parameter study: a box on a slope of 20 degrees slides where friction is less than tan(20 degrees)."""
import math
import os
import sys

import matplotlib
import numpy as np

import tactus

folder = sys.argv[1] if len(sys.argv) > 1 else "."
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

SLOPE = math.radians(20)
G = 9.81

# Gravity is turned instead of the slope, so the box starts flat on the plane.
s = tactus.Scene(end=0.3, frame=0.025, gravity=[G * math.sin(SLOPE), -G * math.cos(SLOPE), 0], contact=dict(thickness=0.01, stiffness=200))
s.material("card", density=1, stretch=dict(model="cst", stiffness=300), bend=dict(model="hinge", stiffness=0.01))
s.body("box", tactus.box(size=[0.1, 0.05, 0.1], cells=[2, 1, 2]), material="card", position=[0, 0.034, 0])
s.body("slope", tactus.grid(size=[2, 1], cells=[1, 1]), fixed=True, position=[0.4, 0, 0])

frictions = [0, 0.1, 0.2, 0.3, 0.45, 0.6]
ways = []
for friction in frictions:
    with tactus.Simulation(s, set={"contact.friction": friction}) as sim:
        sim.advance(s.data["time"]["end"])
        ways.append(float(np.mean(sim.positions[sim.of("box"), 0])))
    print(f"friction {friction:.2f}: it slid {1000 * ways[-1]:7.2f} mm")

law = np.linspace(0, 0.6, 121)
slid = 0.5 * G * np.maximum(0, math.sin(SLOPE) - law * math.cos(SLOPE)) * s.data["time"]["end"] ** 2
figure, axes = plt.subplots(figsize=(6, 4))
axes.plot(law, 1000 * slid, color="#9aa1a8", label="a rigid box (Coulomb)")
axes.plot(frictions, 1000 * np.array(ways), "o", color="#cf5b3a", label="simulated")
axes.axvline(math.tan(SLOPE), color="#9aa1a8", linestyle=":")
axes.set_xlabel("coefficient of friction")
axes.set_ylabel("way after 0.3 s [mm]")
axes.legend(frameon=False)
figure.savefig(os.path.join(folder, "study.png"), dpi=120)
