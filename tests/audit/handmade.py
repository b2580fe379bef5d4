"""Run folders made by hand: a mesh, what bodies may do, and paths; written like those of a run.

A Folder has bodies (name, vertices, triangles, segments, radius, fixed, self) and gets paths: for every interval and vertex
a list of (time in quanta, position).
"""
import json
import os
import shutil

import h5py
import numpy as np

QUANTUM = 2.0 ** -20


class Body:
    def __init__(self, name, x, triangles=(), segments=(), radius=0.0, fixed=False, self_contact=True):
        self.name, self.x = name, np.array(x, float).reshape(-1, 3)
        self.triangles, self.segments = np.array(triangles, int).reshape(-1, 3), np.array(segments, int).reshape(-1, 2)
        self.radius, self.fixed, self.self_contact = radius, fixed, self_contact


class Folder:
    def __init__(self, path, bodies, ignore=(), thickness=0.01, free=None):
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        self.path, self.bodies = path, bodies
        self.x = np.concatenate([b.x for b in bodies])
        self.frames_written = 0
        scene = {
            "format": "tactus-scene/1",
            "contact": {"thickness": thickness, "ignore": [list(pair) for pair in ignore]},
            "bodies": [{"name": b.name, "fixed": b.fixed, "self": b.self_contact, "radius": b.radius} for b in bodies],
        }
        with open(path + "/scene.json", "w") as out:
            json.dump(scene, out)
        offset = np.cumsum([0] + [len(b.x) for b in bodies])
        with h5py.File(path + "/frames.h5", "w") as f:
            f.attrs["format"] = np.bytes_("tactus-frames/1")
            mesh = f.create_group("mesh")
            f.create_group("frames")
            mesh["triangles"] = np.concatenate([b.triangles + o for b, o in zip(bodies, offset)]).astype("i8")
            mesh["segments"] = np.concatenate([b.segments + o for b, o in zip(bodies, offset)]).astype("i8")
            points = [np.arange(len(b.x)) + o for b, o in zip(bodies, offset) if len(b.triangles) + len(b.segments) == 0]
            mesh["points"] = np.concatenate(points + [np.zeros(0)]).astype("i8")
            mesh["body"] = np.concatenate([np.full(len(b.x), i) for i, b in enumerate(bodies)]).astype("i4")
            mesh["body_names"] = np.array([b.name.encode() for b in bodies], "S32")
            mesh["radius"] = np.concatenate([np.full(len(b.x), b.radius) for b in bodies]).astype("f8")
            if free is not None:
                mesh["free"] = np.array(free, "u1")

    def frame(self, time, x=None):
        x = self.x if x is None else np.array(x, float)
        with h5py.File(self.path + "/frames.h5", "a") as f:
            group = f["frames"].create_group("%06d" % self.frames_written)
            group["position"] = x
            group["velocity"] = np.zeros_like(x)
            group["contact_force"] = np.zeros_like(x).astype("f4")
            group["time"] = np.float64(time)
        self.frames_written += 1

    def interval(self, index, paths, group="record"):
        """paths: one list of (quanta, position) for each vertex."""
        with h5py.File(self.path + "/record.h5", "a") as f:
            f.attrs["format"] = np.bytes_("tactus-record/1")
            record = f.require_group("record")
            record.attrs["quantum_s"] = QUANTUM
            g = f.require_group(group).create_group("%06d" % index)
            g["start"] = np.cumsum([0] + [len(p) for p in paths]).astype("i8")
            g["time"] = np.array([t for p in paths for t, _ in p], "i8")
            g["position"] = np.array([x for p in paths for _, x in p], float)

    def still(self, t0, t1):
        return [[(t0, x), (t1, x)] for x in self.x]
