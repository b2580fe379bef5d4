#!/usr/bin/python3
"""limits.py: limits of the principal stretch that cannot be kept are refused, in the same words by one rank and by several, and
`tactus check` tells those that can.  If it fails, cloth locks without a word, or sound scenes are turned away."""

import json
import math
import os
import subprocess
import sys
import tempfile

TACTUS = os.environ["TACTUS"]


def sheet(x, triangles, name="sheet", **keys):
    return {"name": name, "material": "cloth", "mesh": {"kind": "inline", "vertices": x, "triangles": triangles}, **keys}


def folded(degrees, **keys):
    """Two triangles that turn by so much at their edge; a third one, flat, comes first."""
    a = math.radians(degrees)
    return [sheet([[5, 0, 0], [6, 0, 0], [5, 0, 1]], [[0, 1, 2]], "flat"),
            sheet([[0, 0, 0], [0, 0, 1], [1, 0, .5], [-math.cos(a), math.sin(a), .5]], [[0, 1, 2], [1, 0, 3]], **keys)]


def scene(bodies, limit, **stretch):
    return {"format": "tactus-scene/1", "time": {"end": .001, "frame": .0005}, "contact": {"thickness": 0}, "bodies": bodies,
            "materials": {"cloth": {"density": .1, "stretch": {"model": "cst", "stiffness": 10, "limit_principal": limit, **stretch}}}}


def main():
    failures = []
    here = tempfile.mkdtemp(prefix="tactus-limits-")

    def tactus(what, *arguments, ranks=1):
        path = os.path.join(here, "scene.json")
        with open(path, "w") as file:
            json.dump(what, file)
        start = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
        return subprocess.run([*start, TACTUS, arguments[0], path, *arguments[1:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def expect(true, what):
        if not true:
            failures.append(what)

    # (edge x curvature)^2/16 of a fold of 40 degrees is .030: under it a sentence, with ranks too.
    least = math.radians(40) ** 2 / 16
    wanted = f"materials.cloth.stretch.limit_principal is {.99 * least:g}, but at vertex 0 the rest shape of body `sheet` turns by 40 degrees"
    said = [tactus(scene(folded(40), .99 * least), "run", "-o", os.path.join(here, "r"), "--overwrite", "--quiet", ranks=n) for n in (1, 2)]
    for run in [*said, tactus(scene(folded(40), .99 * least), "check")]:
        expect(run.returncode == 2 and wanted in run.stderr and f"stretch by {least:.3g} ((edge x curvature)^2/16)" in run.stderr
               and run.stderr.count("tactus:") == 1, f"{run.returncode}: {run.stderr}")
    for what, good in (("above", scene(folded(40), 1.01 * least)), ("fixed", scene(folded(40, fixed=True), .01)), ("flat", scene(folded(0), 1e-3)),
                       ("another material", {**scene(folded(40, mass=1), .01), "bodies": [folded(0)[0], {**folded(40, mass=1)[1], "material": "paper"}],
                                             "materials": {**scene([], .01)["materials"], "paper": {}}})):
        run = tactus(good, "check")
        expect(run.returncode == 0, f"{what}: {run.stderr}")
    # Periods beyond the clocks.
    clocks = {"quantum_s": 2.0 ** -30, "contact_safety": 1e-4}
    run = tactus({**scene([sheet([[0, 9, 0], [1, 9, 0], [.5, 9, .1]], [[0, 1, 2]], "slender", mass=1), folded(0)[0]], .1), "clocks": clocks}, "check")
    expect(run.returncode == 2 and "triangle 0 of body `flat` needs a period of" in run.stderr, f"periods: {run.returncode} {run.stderr}")
    # What check tells, and that the hash of a scene depends on the limit, but not on one that is not given.
    good = scene(folded(0), .25)
    reported = json.loads(tactus(good, "check", "--json").stdout)
    expect(reported["materials"][0]["stretch"]["limit_principal"] == .25, f"{reported['materials']}")
    expect("limit_principal 0.25" in tactus(good, "check", "--details").stdout, "the text tells no limit")
    others = [json.loads(tactus(other, "check", "--json").stdout)["sha256"]
              for other in (scene(folded(0), .26), {**good, "materials": {"cloth": {"density": .1, "stretch": {"model": "cst", "stiffness": 10}}}})]
    expect(len({reported["sha256"], *others}) == 3, f"hashes {reported['sha256']} {others}")
    print("\n".join(failures) or "ok")
    return 1 if failures else 0


sys.exit(main())
