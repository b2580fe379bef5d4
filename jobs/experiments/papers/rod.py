"""The rod that twists in cloth, as rod-in-cloth and rod_in_cloth_ranks.py have it.

Ni, Kale and Tamstorf (2015) tell neither its geometry nor its material. Guesses: a cloth of 24 x 36 cm lies over a rod of 1 cm in
radius, its middle line held by the rod, and the rod turns four times in 3 s; material and contact are those of jobs/curtain.json,
friction .3.
"""
from papers import shipped

RADIUS, SIZE, END, TURNS = .01, (.24, .36), 3, 4  # m, m, s


def scene(cells, around, end, turns, frames, thickness):
    """cells: of the cloth, along the rod and across it; around: sides of the rod; thickness: eta(1), m."""
    nx, nz = cells
    curtain = shipped("curtain")
    turn = {"axis": [1, 0, 0], "center": [0, 0, 0], "path": [[0, 0], [end, 360 * turns]]}
    middle = [nz // 2 * (nx + 1) + i for i in range(nx + 1)]
    return {"format": "tactus-scene/1", "name": "a rod twists in cloth", "time": {"end": end, "frame": end / frames}, "gravity": [0, -9.81, 0],
            "contact": {**curtain["contact"], "thickness": thickness, "friction": .3}, "clocks": curtain["clocks"], "materials": curtain["materials"],
            "bodies": [{"name": "rod", "mesh": {"kind": "cylinder", "radius": RADIUS, "height": SIZE[0] + .04, "cells": [around, 4], "closed": True},
                        "rotation": [0, 0, 90]},
                       {"name": "cloth", "material": "cloth", "mesh": {"kind": "grid", "size": SIZE, "cells": [nx, nz]},
                        "position": [0, RADIUS + 1.5 * thickness, 0]}],
            "motions": [{"body": "rod", "vertices": "all", "rotate": turn}, {"body": "cloth", "vertices": middle, "rotate": turn}]}
