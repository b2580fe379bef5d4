"""Run folders made by hand: a mesh, what bodies may do, and paths; written like those of a run.

A Folder has bodies (name, vertices, triangles, segments, radius, fixed, self) and gets paths: for every interval and vertex
a list of (time in quanta, position).
"""
import hashlib
import json
import os
import shutil
import struct

import h5py
import numpy as np

QUANTUM = 2.0 ** -20


class Body:
    def __init__(self, name, x, triangles=(), segments=(), radius=0.0, fixed=False, self_contact=True):
        self.name, self.x = name, np.array(x, float).reshape(-1, 3)
        self.triangles, self.segments = np.array(triangles, int).reshape(-1, 3), np.array(segments, int).reshape(-1, 2)
        self.radius, self.fixed, self.self_contact = radius, fixed, self_contact


def scene_hash(bodies, ignore, thickness, free, motion):
    """The hash of such a scene, by src/scene/hash.c: little endian, eight bytes a value."""
    def tag(text):
        return struct.pack("<%dq" % (1 + len(text)), len(text), *text.encode())

    def chunks(rows):
        return b"".join(hashlib.sha256(b"".join(rows[k:k + 4096])).digest() for k in range(0, len(rows), 4096))

    out = tag("tactus-scene-hash/2") + struct.pack("<4d", QUANTUM, 0, 0, 0) + tag("contact")
    out += struct.pack("<8d", thickness, 1000, 0, 0, 0.25, 3, 0, 0) + struct.pack("<q", len(ignore))
    names = [b.name for b in bodies]
    out += b"".join(struct.pack("<2q", *pair) for pair in sorted(sorted(map(names.index, pair)) for pair in ignore))
    out += tag("clocks") + struct.pack("<q5d", 0, 0.1, 0.001, 0.15, np.inf, 0.001) + tag("bodies") + struct.pack("<q", len(bodies))
    ends, mesh, at = np.zeros(3, int), b"", 0
    for b in bodies:
        ends += [len(b.x), len(b.triangles), len(b.segments)]
        out += struct.pack("<3qd2qq4dq3dq", *ends, b.radius, b.fixed, b.self_contact, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        mesh += chunks([struct.pack("<7d2q", *x, 0, 0, 0, 0 if b.fixed else 1, free[at + i], motion[at + i]) for i, x in enumerate(b.x)])
        mesh += chunks([struct.pack("<3q", *(t + at)) for t in b.triangles]) + chunks([struct.pack("<2q", *(t + at)) for t in b.segments])
        at += len(b.x)
    pins = max(motion) + 1
    out += tag("motions") + struct.pack("<q", pins) + struct.pack("<4q3d", 0, 1, 0, 0, 0, 0, 0) * pins
    return hashlib.sha256(out + tag("mesh") + mesh).hexdigest()


class Folder:
    """What a finished run leaves: interval() adds the frames at its two ends, unless they are there, and so the run ends."""
    def __init__(self, path, bodies, ignore=(), thickness=0.01, free=None):
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        self.path, self.bodies = path, bodies
        self.x = np.concatenate([b.x for b in bodies])
        self.of_body = np.concatenate([np.full(len(b.x), i) for i, b in enumerate(bodies)])
        offset = np.cumsum([0] + [len(b.x) for b in bodies])
        fixed = np.array([b.fixed for b in bodies])[self.of_body]
        free = np.array(~fixed if free is None else free, "u1")
        motions, motion = [], np.full(len(self.x), -1)
        for i, b in enumerate(bodies):
            pinned = [v for v in range(len(b.x)) if not b.fixed and not free[offset[i] + v]]
            if pinned:
                motion[offset[i] + np.array(pinned)] = len(motions)
                motions.append({"body": b.name, "vertices": pinned, "path": [[0, [0, 0, 0]]]})
        self.sha256 = scene_hash(bodies, ignore, thickness, free, motion)
        with open(path + "/scene.json", "w") as out:
            json.dump({
                "format": "tactus-scene/1", "time": {"end": 1.0, "frame": 2.0 ** -4}, "clocks": {"quantum_s": QUANTUM},
                "contact": {"thickness": thickness, "ignore": [list(pair) for pair in ignore]}, "motions": motions,
                "bodies": [{"name": b.name, "self": b.self_contact, "radius": b.radius,
                            "position": [0, 0, 0], "rotation": [0, 0, 0], "scale": 1, **({"fixed": True} if b.fixed else {"mass": 1}),
                            "mesh": {"kind": "inline", "vertices": b.x.tolist(), "triangles": b.triangles.tolist(), "edges": b.segments.tolist()}}
                           for b in bodies]}, out)
        with h5py.File(path + "/frames.h5", "w") as f:
            f.attrs["format"] = np.bytes_("tactus-frames/1")
            f.attrs["scene_sha256"] = np.bytes_(self.sha256)
            mesh = f.create_group("mesh")
            f.create_group("frames")
            mesh["triangles"] = np.concatenate([b.triangles + o for b, o in zip(bodies, offset)]).astype("i8")
            mesh["segments"] = np.concatenate([b.segments + o for b, o in zip(bodies, offset)]).astype("i8")
            points = [np.arange(len(b.x)) + o for b, o in zip(bodies, offset) if len(b.triangles) + len(b.segments) == 0]
            mesh["points"] = np.concatenate(points + [np.zeros(0)]).astype("i8")
            mesh["body"] = self.of_body.astype("i4")
            mesh["body_names"] = np.array([b.name.encode() for b in bodies], "S32")
            mesh["radius"] = np.concatenate([np.full(len(b.x), b.radius) for b in bodies]).astype("f8")
            mesh["free"] = free

    def ended(self, time, state="finished"):
        with open(self.path + "/run.json", "w") as out:
            json.dump({"format": "tactus-run/1", "state": state, "time": time, "scene_sha256": self.sha256}, out)

    def frame(self, time, x=None, index=None):
        """The next frame of a run that ends with it."""
        x = self.x if x is None else np.array(x, float)
        with h5py.File(self.path + "/frames.h5", "a") as f:
            group = f["frames"].create_group("%06d" % (len(f["frames"]) if index is None else index))
            group["position"] = x
            group["velocity"] = np.zeros_like(x)
            group["contact_force"] = np.zeros_like(x).astype("f4")
            group["time"] = np.float64(time)
        self.ended(time)

    def interval(self, index, paths, group="record", framed=True):
        """paths: one list of (quanta, position) for each vertex."""
        with h5py.File(self.path + "/record.h5", "a") as f:
            f.attrs["format"] = np.bytes_("tactus-record/1")
            f.attrs["scene_sha256"] = np.bytes_(self.sha256)
            record = f.require_group("record")
            record.attrs["quantum_s"] = QUANTUM
            g = f.require_group(group).create_group("%06d" % index)
            g["start"] = np.cumsum([0] + [len(p) for p in paths]).astype("i8")
            g["time"] = np.array([t for p in paths for t, _ in p], "i8")
            g["position"] = np.array([x for p in paths for _, x in p], float)
        for place in (0, -1)[:2 if group == "record" else 1] if framed else ():
            with h5py.File(self.path + "/frames.h5", "r") as f:
                there = "%06d" % (index - place) in f["frames"]
            if not there:
                self.frame(paths[0][place][0] * QUANTUM, [p[place][1] for p in paths], index - place)
        if group != "record":
            self.ended(paths[0][-1][0] * QUANTUM, "stopped")

    def still(self, t0, t1):
        return [[(t0, x), (t1, x)] for x in self.x]
