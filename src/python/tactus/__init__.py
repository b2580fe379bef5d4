"""Tactus from Python: build a scene, run it, step it, look at it (docs/reference/python-api.md).

    >>> import tactus
    >>> s = tactus.Scene(end=0.25, frame=0.125, gravity=[0, -9.81, 0])
    >>> s.body("stone", mesh=tactus.points([[0, 10, 0]]), mass=1)
    >>> with tactus.Simulation(s) as sim:
    ...     sim.advance(0.25)
    ...     print("%.3f m" % sim.positions[0, 1])
    9.695 m
"""
from .errors import (ClosedError, InputError, Interrupted, LibraryError, RankError, ReadError, RunError, Stopped, TactusError,
                     TactusWarning)
from .mesh import (Mesh, ball, box, capsule, cone, cube, cylinder, dodecahedron, grid, icosahedron, mesh, mesh_file, octahedron, plane,
                   points, ribbon, segments, sphere, spikes, tetrahedron, torus)
from .reader import Run, RunBody, open
from .running import RunProcess, run, start
from .scene import Geometry, Scene
from .simulation import Simulation

__version__ = "0.1.0"

__all__ = ["Scene", "Geometry", "Mesh", "mesh", "mesh_file", "grid", "ribbon", "sphere", "torus", "cylinder", "cone", "box", "ball",
           "capsule", "plane", "tetrahedron",
           "cube", "octahedron", "dodecahedron", "icosahedron", "spikes", "segments", "points", "run", "start", "RunProcess", "open",
           "Run", "RunBody", "Simulation", "TactusError", "LibraryError", "InputError", "RunError", "Stopped", "Interrupted",
           "ClosedError", "RankError", "ReadError", "TactusWarning"]
