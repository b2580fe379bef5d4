"""lazy.py [FOLDER]: looks at a run while it goes on, and then reads of all its frames what is needed and no more."""
import os
import sys
import time

import numpy as np

import tactus

folder = os.path.join(sys.argv[1] if len(sys.argv) > 1 else ".", "balls.run")
s = tactus.Scene(end=1.0, frame=0.005, gravity=[0, -9.81, 0], contact=dict(thickness=0.01, stiffness=200, restitution=0.8))
s.body("balls", tactus.points(lattice=dict(count=[5, 5, 5], spacing=0.1)), mass=0.01, radius=0.02, position=[0, 0.5, 0], random_speed=[0, 1], seed=3)
s.body("floor", tactus.grid(size=[6, 6], cells=[1, 1]), fixed=True)

process = tactus.start(s, folder, overwrite=True)
while process.running and not process.status():
    time.sleep(0.01)
seen = 0
while process.running:  # the run goes on, and is not disturbed
    run = tactus.open(folder)
    if run.live and len(run) > seen:
        seen = len(run)
        print(f"{seen} frames so far; the highest ball is at {run.body('balls').positions(-1)[:, 1].max():.3f} m")
    time.sleep(0.2)
run = process.wait()

# Of every tenth frame one body's positions, of which h5py reads the chunks that hold them; the energies as one table.
balls = run.body("balls")
times = run.times[::10]
heights = np.array([balls.positions(k)[:, 1].mean() for k in range(0, len(run), 10)])
print(f"{len(run)} frames; the balls are lowest at {times[heights.argmin()]:.2f} s, {heights.min():.3f} m in the mean")
print(f"the books are off by {np.abs(run.energy['defect']).max() / np.ptp(run.energy['gravity']):.1e} of the energy that was exchanged")
