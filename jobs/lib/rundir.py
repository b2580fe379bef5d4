"""Reads a run folder: frames.h5 (mesh and frames), scene.json (what is fixed, which way is down), energy.csv."""
import csv
import json
import os

import h5py
import numpy as np

from problem import Problem


class Run:
    """frames: how many there are; see the attributes below. Positions are read frame by frame."""

    def __init__(self, folder):
        self.folder = folder
        path = os.path.join(folder, "frames.h5")
        if not os.path.isdir(folder):
            raise Problem(f"{folder} is no folder; give the run folder that `tactus run` wrote")
        if not os.path.isfile(path):
            raise Problem(f"{folder} holds no frames.h5; give the run folder that `tactus run` wrote")
        try:
            self.file = h5py.File(path, "r", locking=False) if "HDF5_USE_FILE_LOCKING" not in os.environ else h5py.File(path, "r")
        except (OSError, TypeError):
            try:
                self.file = h5py.File(path, "r")
            except OSError as e:
                raise Problem(f"{path} cannot be read as HDF5 ({e}); if the run is still going, try again in a moment") from None
        try:
            self._read_mesh()
        except (KeyError, ValueError, IndexError, OSError) as e:
            raise Problem(f"{path} is not a frames file of Tactus, or is damaged: {e}") from None
        self._read_scene()

    def _read_mesh(self):
        mesh = self.file["mesh"]
        self.triangles = mesh["triangles"][()].reshape(-1, 3)
        self.segments = mesh["segments"][()].reshape(-1, 2)
        self.points = mesh["points"][()].ravel()
        self.body = mesh["body"][()].astype(np.int64).ravel()
        self.radius = mesh["radius"][()].ravel()
        self.body_names = [n.decode() if isinstance(n, bytes) else str(n) for n in np.atleast_1d(mesh["body_names"][()])]
        self.names = sorted(n for n in self.file["frames"] if n.isdigit())
        if not self.names:
            raise ValueError("it has no frame")
        v = len(self.body)
        if len(self.radius) != v or any(len(a) and (a.min() < 0 or a.max() >= v) for a in (self.triangles, self.segments, self.points)):
            raise ValueError("its mesh names vertices that it does not have")
        if v == 0 or self.body.min() < 0 or self.body.max() >= len(self.body_names):
            raise ValueError("its vertices name bodies that it does not have")

    def _read_scene(self):
        """Bodies that are fixed, and gravity. A run without scene.json is drawn all the same."""
        scene = {}
        path = os.path.join(self.folder, "scene.json")
        if os.path.exists(path):
            try:
                with open(path, encoding="utf-8") as f:
                    scene = json.load(f)
            except (OSError, ValueError) as e:
                raise Problem(f"{path} cannot be read: {e}") from None
        self.gravity = np.asarray(scene.get("gravity", [0, 0, 0]), float)
        fixed = {b.get("name") for b in scene.get("bodies", []) if b.get("fixed")}
        self.fixed = np.array([n in fixed for n in self.body_names])

    @property
    def frames(self):
        return len(self.names)

    def frame(self, k):
        """(time in s, positions (V, 3) in m) of frame k."""
        group = self.file["frames"][self.names[k]]
        try:
            x = group["position"][()].reshape(-1, 3)
            t = float(group["time"][()])
        except (KeyError, OSError, ValueError) as e:
            raise Problem(f"frame {self.names[k]} of {self.folder} cannot be read: {e}") from None
        if len(x) != len(self.body) or not np.isfinite(x).all():
            raise Problem(f"frame {self.names[k]} of {self.folder} has missing or infinite positions; it cannot be drawn")
        return t, x


def read_energy(folder):
    """energy.csv as {column: array}; at least one row."""
    path = os.path.join(folder, "energy.csv")
    try:
        with open(path, newline="", encoding="utf-8") as f:
            rows = list(csv.reader(f))
        head, rows = rows[0], [r for r in rows[1:] if len(r) == len(rows[0])]
        table = np.array(rows, float)
    except (OSError, ValueError, IndexError) as e:
        raise Problem(f"{path} cannot be read: {e}") from None
    if len(table) == 0:
        raise Problem(f"{path} has no rows yet")
    return {name: table[:, k] for k, name in enumerate(head)}
