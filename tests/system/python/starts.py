#!/usr/bin/python3
"""starts.py: bodies start at arrays of positions (`start=`), also from scenes that were saved and moved; `Scene.repair()` returns a scene
without overlaps, and raises one sentence where there is none.

If it failed, what Python calls the start would not be where the simulation begins.
"""
import os
import shutil
import tempfile

import numpy as np

from common import end, expect, raises

import tactus


def scene(**start):
    s = tactus.Scene(end=0.1, frame=0.05, gravity=[0, 0, 0], contact=dict(thickness=0.005))
    s.material("cloth", density=0.2, stretch=dict(model="cst", stiffness=60))
    s.body("sheet", tactus.grid(size=[0.4, 0.4], cells=[8, 8]), material="cloth", position=[0.01, 0.07, 0.02], **start)
    s.body("ball", tactus.sphere(radius=0.1, level=2), fixed=True)
    return s


def starts():
    placed = scene().positions("sheet")
    x = placed * 1.25 + [0, 0.1, 0]
    s = scene(start=x)
    expect((s.geometry().positions[:len(x)] == x).all(), "the geometry begins at the array")
    expect((s.positions("sheet") == placed).all(), "positions() are of the placed mesh, which masks select by")
    expect(abs(s.geometry().mass.sum() - scene().geometry().mass.sum()) < 1e-15, "masses are those of the placed mesh")
    with tactus.Simulation(s) as sim:
        expect((sim.positions[:len(x)] == x).all(), "the simulation begins at the array")
        sim.advance(0.05)
        expect(np.ptp(sim.positions[:len(x), 0]) < np.ptp(x[:, 0]) - 1e-3, "the sheet pulls itself together")
    with tempfile.TemporaryDirectory() as folder:
        s.save(os.path.join(folder, "s.json"))
        whole, moved = s.sha256, os.path.join(folder, "moved")
        del s
        os.mkdir(moved)
        for name in ("s.json", "s.meshes"):
            shutil.move(os.path.join(folder, name), moved)
        expect(tactus.Scene.load(os.path.join(moved, "s.json")).sha256 == whole, "a saved scene has its positions beside it")
    for wrong, words in ((x[:, :2], "must be (V, 3)"), (np.where(x > 0, np.nan, x), "must be finite"), ("no", "cannot be opened"), (x[1:], "has 80 vertices")):
        with raises(tactus.InputError, words):
            scene(start=wrong).check()


def velocities():
    placed = scene().positions("sheet")
    v = np.stack([np.sin(9 * placed[:, 0]), placed[:, 2], np.zeros(len(placed))], axis=1)
    s = scene(start=dict(velocity=v), velocity=[0, 1, 0])
    s.data["bodies"][0]["position"] = [0, 0.2, 0]
    with tactus.Simulation(s) as sim:
        expect((sim.positions[:len(v)] == s.positions("sheet")).all() and (sim.velocities[:len(v)] == v + [0, 1, 0]).all(), "a start has velocities alone")
    with tactus.Simulation(scene(start=dict(position=placed + [0, 0.1, 0], velocity=v))) as sim:
        expect((sim.positions[:len(v), 1] == placed[:, 1] + 0.1).all() and (sim.velocities[:len(v)] == v).all(), "and both")
    for wrong, words in ((dict(velocity=v[:, :2]), "must be (V, 3)"), (dict(velocity=v * np.nan), "must be finite"), (dict(speed=v), "position, velocity, or both"), ({}, "a file")):
        with raises(tactus.InputError, words):
            scene(start=wrong).check()


def repairs():
    s = scene(start=dict(velocity=np.ones((81, 3))))
    before = s.text()
    with raises(tactus.InputError, "overlap"):
        s.check()
    made, told = s.repair()
    expect(s.text() == before, "the scene itself is as it was")
    made.check()
    expect([b["name"] for b in told["bodies"] if b["moved"]] == ["sheet"] and told["overlaps"] > 0, told)
    with tactus.Simulation(made) as sim:
        expect((sim.velocities[:81] == 1).all(), "a repaired start keeps its velocities")
    far = np.linalg.norm(made.geometry().positions[:81] - s.geometry().positions[:81], axis=1)
    expect(abs(far.max() - told["bodies"][0]["largest"]) < 1e-12 and 0 < far.max() < 0.1, (far.max(), told))
    del s.data["bodies"][0]["material"], s.data["bodies"][0]["start"]
    s.data["bodies"][0].update(fixed=False, rigid={"density": 3}, mesh=tactus.box(size=[0.1, 0.1, 0.1], cells=[1, 1, 1]))
    s.data["bodies"][1].update(fixed=False, rigid={"density": 3})
    with raises(tactus.InputError, "cannot be repaired", "neither can give way"):
        s.repair()


starts()
velocities()
repairs()
end()
