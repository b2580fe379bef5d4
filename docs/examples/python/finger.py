"""finger.py: a robot's finger presses a sheet of rubber with a wanted force: it reacts to the contact force in every step.

A controller reads the force on the finger every 2 ms and chooses the speed for the next 2 ms: down as long as it feels too little, up if it
feels too much.  Contacts tremble, so it smooths what it reads, as a real sensor does.  The motion is changed while the simulation goes on.
"""
import numpy as np

import tactus

WANTED = 0.1  # N
STEP, FASTEST, GAIN, SMOOTH = 0.002, 0.05, 0.8, 0.05  # s, m/s, (m/s)/N, share of a new reading

s = tactus.Scene(end=0.7, frame=0.01, contact=dict(thickness=0.004, stiffness=100))
s.material("rubber", density=0.5, stretch=dict(model="cst", stiffness=40, poisson=0.4, damping=0.02), bend=dict(model="hinge", stiffness=1e-4))
s.body("sheet", tactus.grid(size=[0.2, 0.2], cells=[8, 8]), material="rubber")
s.body("finger", tactus.sphere(radius=0.02, level=1), position=[0, 0.03, 0])
rim = np.abs(s.positions("sheet")[:, [0, 2]]).max(axis=1) > 0.099
s.motion("sheet", vertices=rim, path=[[0, [0, 0, 0]]])  # held at its rim
s.motion("finger", path=[[0, [0, 0, 0]], [2, [0, 0, 0]]])  # the controller's, motions.1

height, felt = 0.0, []
with tactus.Simulation(s) as sim:
    while sim.time < s.data["time"]["end"] - STEP / 2:
        force = sim.contact_force("finger")[1]
        felt.append(felt[-1] + SMOOTH * (force - felt[-1]) if felt else force)
        speed = np.clip(GAIN * (felt[-1] - WANTED), -FASTEST, FASTEST)
        height += speed * STEP
        sim.set("motions.1.path", [[sim.time + STEP, [0, height, 0]]])
        sim.advance(sim.time + STEP)
        if len(felt) % 60 == 0:
            print(f"{sim.time:.3f} s: the finger is at {1000 * height:+.2f} mm and feels {1000 * felt[-1]:.2f} mN")

held = np.mean(felt[-100:])
print(f"it holds {1000 * held:.1f} mN of the {1000 * WANTED:.1f} mN that are wanted")
