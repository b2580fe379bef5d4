"""drape.py [FOLDER]: a table cloth falls on a round table; its energies, a picture and a movie of it."""
import os
import sys

import tactus

folder = sys.argv[1] if len(sys.argv) > 1 else "."
s = tactus.Scene(end=0.4, frame=0.025, gravity=[0, -9.81, 0], contact=dict(thickness=0.004, stiffness=50, friction=0.3))
s.material("cotton", density=0.2, stretch=dict(model="cst", stiffness=60, poisson=0.3), bend=dict(model="hinge", stiffness=1e-6))
s.body("table", tactus.cylinder(radius=0.25, height=0.04, cells=[32, 1], closed=True), fixed=True)
s.body("cloth", tactus.grid(size=[0.8, 0.8], cells=[12, 12]), material="cotton", position=[0, 0.03, 0])

run = tactus.run(s, os.path.join(folder, "drape.run"), overwrite=True)

cloth = run.body("cloth")
for k in range(0, len(run), 4):
    x = cloth.positions(k)
    print(f"{run.time(k):.2f} s: the lowest corner is at {x[:, 1].min():+.3f} m, {run.energy['contacts'][k]} contacts")
lost = run.energy["dissipated"][-1] / (run.energy["gravity"][0] - run.energy["gravity"][-1])
print(f"contacts took {100 * lost:.0f} % of the energy that gravity gave")

run.plot_energy(os.path.join(folder, "drape-energy.png"))
run.show(-1, os.path.join(folder, "drape.png"), width=320, height=240)
run.movie(os.path.join(folder, "drape.webp"), frames=range(0, len(run), 4), width=160, height=120)
