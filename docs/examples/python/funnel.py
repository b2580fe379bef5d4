"""Sand runs through a funnel, and the run counts what comes out.  Usage: python3 funnel.py [FOLDER]"""
import os
import sys

import numpy as np
import tactus

folder = sys.argv[1] if len(sys.argv) > 1 else "."

# A cone without its tip: two rings of points, joined by triangles.
n = 24
angle = 2 * np.pi * np.arange(n) / n
ring = lambda radius, y: np.column_stack([radius * np.cos(angle), np.full(n, y), radius * np.sin(angle)])
k = np.arange(n)
after = (k + 1) % n
triangles = np.vstack([np.column_stack([k, after, n + k]), np.column_stack([after, n + after, n + k])])

s = tactus.Scene(end=1, frame=0.02, gravity=[0, -9.81, 0],
                 contact=dict(thickness=0.002, stiffness=100, restitution=0.3, friction=0.2),
                 output=dict(histories=[dict(name="outlet", kind="flux", bodies=["sand"], every=0.02,
                                             plane=dict(point=[0, -0.005, 0], normal=[0, -1, 0]))]))
s.body("sand", tactus.points(lattice=dict(count=[8, 10, 8], spacing=0.009)), mass=0.001, radius=0.002,
       position=[0, 0.15, 0])
s.body("funnel", tactus.mesh(np.vstack([ring(0.1, 0.1), ring(0.02, 0)]), triangles), fixed=True)
s.body("floor", tactus.grid(size=[1, 1], cells=[1, 1]), position=[0, -0.2, 0], fixed=True)
run = tactus.run(s, os.path.join(folder, "funnel.run"))
print(run.histories["count_forward"])
