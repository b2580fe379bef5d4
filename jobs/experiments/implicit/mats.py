#!/usr/bin/python3
"""mats.py CELLS STEPS FILE: writes the scene of two mats of 6 CELLS^2 tetrahedra each that are twisted together, in contact from the start.

    jobs/experiments/implicit/mats.py 90 4 mats.json && tactus run mats.json -o mats.run --record && tactus audit mats.run
"""
import json
import math
import sys

import literature


def scene(cells, steps):
    n, gap, bodies, motions = cells + 1, 0.0016, [], []
    ends = [[i for i in range(n * 2 * n) if i % n == k] for k in (0, n - 1)]
    for k in range(2):
        name = "mat%d" % k
        bodies.append({"name": name, "material": "gel", "mesh": literature.box([1, 0.02, 1], [cells, 1, cells]),
                       "position": [0, (0.01 + gap / 2) * (1 - 2 * k), 0]})
        motions += literature.turned(name, *ends, steps * 0.04)
    return literature.scene("two mats twisted together", 0.04, steps * 0.04, 1e-3 * math.sqrt(2), 2e4, bodies, gravity=0, motions=motions)


def main():
    if len(sys.argv) != 4:
        sys.exit("mats.py: three words are needed: cells, steps and the file to write")
    with open(sys.argv[3], "w") as file:
        json.dump(scene(int(sys.argv[1]), int(sys.argv[2])), file)


if __name__ == "__main__":
    main()
