#!/usr/bin/python3
"""blender.py: the Blender script writes the caches of a run, and Blender shows the run's positions in every frame.

Without Blender (Debian: blender) the caches alone are compared with the run, and the test counts as skipped (77).  If it failed, what a user
renders would not be what was simulated.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

from common import SOURCE, end, expect, failures

import tactus

SCRIPT = os.path.join(SOURCE, "src/python/tactus/blender/import_tactus.py")
# In Blender: positions of every object's vertices, after modifiers, in some frames.
LOOK = """import bpy, json, sys
told = {}
for k in json.loads(sys.argv[-1]):
    bpy.context.scene.frame_set(k)
    graph = bpy.context.evaluated_depsgraph_get()
    for thing in (thing for thing in bpy.data.objects if thing.type == "MESH"):
        mesh = thing.evaluated_get(graph).to_mesh()
        told[f"{k} {thing.name}"] = [[len(mesh.polygons), len(mesh.edges)], [list(v.co) for v in mesh.vertices]]
scene = bpy.context.scene
told["scene"] = [scene.frame_start, scene.frame_end, scene.render.fps / scene.render.fps_base]
# The add-on: its operator brings the run in once more.
sys.path.insert(0, sys.argv[-3])
import import_tactus
import_tactus.register()
before = len(bpy.data.objects)
told["operator"] = [list(bpy.ops.import_scene.tactus_run(filepath=sys.argv[-2] + "/frames.h5")), len(bpy.data.objects) - before]
import_tactus.unregister()
print("TOLD " + json.dumps(told))
"""


def turned(x):
    return np.stack([x[:, 0], -x[:, 2], x[:, 1]], 1).astype(np.float32)


def compare_caches(run, folder):
    done = subprocess.run([sys.executable, SCRIPT, run.folder], capture_output=True, text=True)
    expect(done.returncode == 0 and "3 bodies, 5 frames" in done.stdout, f"caches: {done.stdout}{done.stderr}")
    for number, name in enumerate(run.mesh.names):
        with open(os.path.join(run.folder, f"blender/{number}.mdd"), "rb") as file:
            data = file.read()
        frames, points = np.frombuffer(data, ">i4", 2)
        body = run.body(name)
        want = np.stack([turned(body.positions(k)) for k in range(len(run))])
        expect((frames, points) == want.shape[:2], f"{name}: {frames} frames of {points} points")
        expect(np.array_equal(np.frombuffer(data, ">f4", frames, 8), run.times.astype(np.float32)), f"{name}: times")
        expect(np.array_equal(np.frombuffer(data, ">f4", offset=8 + 4 * frames).reshape(want.shape), want), f"{name}: positions")
    for words in ([folder], [os.path.join(folder, "nothing")]):
        done = subprocess.run([sys.executable, SCRIPT, *words], capture_output=True, text=True)
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and "no run of Tactus" in done.stderr, f"{words}: {done.stderr}")


def compare_blender(run, folder):
    look = os.path.join(folder, "look.py")
    with open(look, "w") as file:
        file.write(LOOK)
    saved = os.path.join(folder, "made.blend")
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    shutil.rmtree(os.path.join(run.folder, "blender"))
    done = subprocess.run(["blender", "-b", "--factory-startup", "--python-exit-code", "3", "--python", SCRIPT, "--", run.folder, "--save", saved],
                          capture_output=True, text=True, env=clean)
    if done.returncode != 0 or not os.path.exists(saved):
        sys.exit(f"blender: code {done.returncode}\n{done.stdout}{done.stderr}")
    done = subprocess.run(["blender", "-b", saved, "--python-exit-code", "3", "--python", look, "--", os.path.dirname(SCRIPT), run.folder, "[0, 2, 4]"], capture_output=True, text=True, env=clean)
    line = next((line for line in done.stdout.splitlines() if line.startswith("TOLD ")), None)
    if line is None:
        sys.exit(f"blender: code {done.returncode}\n{done.stdout}{done.stderr}")
    reported = json.loads(line[5:])
    expect(reported["scene"][:2] == [0, 4] and abs(reported["scene"][2] - 1 / run.times[1]) < 1e-3, f"frames and their rate: {reported['scene']}")
    expect(reported["operator"] == [["FINISHED"], 3], f"the add-on's operator: {reported['operator']}")
    for k in (0, 2, 4):
        for name in run.mesh.names:
            body = run.body(name)
            (polygons, edges), x = reported[f"{k} {name}"]
            expect(polygons == len(body.triangles) and (len(body.triangles) or edges == len(body.segments)), f"{name}: {polygons} polygons, {edges} edges")
            expect(np.abs(np.array(x, np.float32) - turned(body.positions(k))).max() < 1e-6, f"{name} is elsewhere in frame {k}")


with tempfile.TemporaryDirectory() as home:
    s = tactus.Scene(end=0.2, frame=0.05, gravity=[0, -9.81, 0], contact=dict(thickness=0))
    s.material("rubber", density=0.2, stretch=dict(model="spring", stiffness=10))
    s.body("ball \"1\"", tactus.sphere(radius=0.2, level=1), material="rubber", position=[0, 1, 0.5])
    s.body("a rope/thread", tactus.segments(start=[0, 0, 0], end=[1, 0, 0], cells=4), material="rubber")
    s.body("dust", tactus.points([[0, 3, 0], [1, 2, 3]]), mass=1)
    made = tactus.run(s, os.path.join(home, "it's a run"))
    compare_caches(made, home)
    if shutil.which("blender") is not None:
        compare_blender(made, home)
    elif not failures:
        print("blender is not installed")
        sys.exit(77)
end()
