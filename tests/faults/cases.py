"""What is run with faults: commands, what they start from, and what they leave."""
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)

# All that the reader of scenes knows is in one of these: files of every format, motions, several kinds of bodies and forces.
CLOTH = {"density": 0.5, "stretch": {"model": "cst", "stiffness": 10, "poisson": 0.1}, "bend": {"model": "hinge", "stiffness": 1e-4}}
SMALL = {
    "format": "tactus-scene/1", "name": "a cloth on a ball", "time": {"end": 0.0625, "frame": 0.015625},
    "gravity": [0, -9.8, 0], "contact": {"thickness": 0.02, "stiffness": 50, "restitution": 0.5}, "materials": {"cloth": CLOTH},
    "clocks": {"quantum_s": 9.094947017729282e-13}, "output": {"checkpoint_every_t": 0.03125},
    "bodies": [{"name": "cloth", "material": "cloth", "mesh": {"kind": "grid", "size": [0.2, 0.2], "cells": [3, 3]}, "position": [0, 0.13, 0],
                "velocity": [0, -1, 0]},
               {"name": "ball", "fixed": True, "mesh": {"kind": "icosahedron", "edge": 0.1}}]}
MIXED = {
    "format": "tactus-scene/1", "name": "a cloth, a chain, dust, and a floor that moves", "time": {"end": 0.03125, "frame": 0.015625},
    "gravity": [0, -30, 0], "contact": {"thickness": 0.02, "stiffness": 30, "restitution": 1},
    "materials": {"cloth": CLOTH, "cord": {"density": 0.1, "stretch": {"model": "spring", "stiffness": 5}}},
    "clocks": {"quantum_s": 9.094947017729282e-13},
    "bodies": [{"name": "cloth", "material": "cloth", "mesh": {"kind": "file", "path": "cloth.obj"}, "position": [0, 0.1, 0]},
               {"name": "chain", "material": "cord", "mesh": {"kind": "segments", "from": [-0.1, 0, 0], "to": [0.1, 0, 0], "cells": 4},
                "position": [0, 0.2, 0]},
               {"name": "dust", "mass": 0.01, "radius": 0.01, "mesh": {"kind": "points", "lattice": {"count": [2, 1, 2], "spacing": 0.05}},
                "position": [0, 0.3, 0]},
               {"name": "floor", "mesh": {"kind": "box", "size": [1, 0.1, 1], "cells": [1, 1, 1]}, "position": [0, -0.06, 0], "fixed": True}],
    "motions": [{"body": "cloth", "vertices": [0, 1], "path": [[0.01, [0, 0, 0]], [0.02, [0.01, 0.01, 0]]], "release": True},
                {"body": "floor", "path": [[0, [0, 0, 0]], [0.02, [0, 0.01, 0]]]}]}
# Implicit steps, whose directions are tried with negative curvature: memory that fails in a trial is no answer to it.
GEL = {
    "format": "tactus-scene/1", "name": "a block on a floor", "time": {"end": 0.12, "frame": 0.04}, "gravity": [0, -9.8, 0],
    "contact": {"thickness": 0.01, "friction": 0.2}, "integrator": {"kind": "implicit", "step_s": 0.02}, "output": {"checkpoint_every_t": 0.04},
    "materials": {"gel": {"density": 500, "solid": {"model": "neo-hookean", "youngs": 2e3, "poisson": 0.3}}},
    "bodies": [{"name": "block", "material": "gel", "mesh": {"kind": "box", "size": [0.1, 0.1, 0.1], "cells": [1, 2, 1], "fill": "tets"},
                "position": [0, 0.07, 0], "rotation": [20, 0, 30], "velocity": [0, -3, 0]},
               {"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [1, 1], "cells": [1, 1]}, "position": [0, -0.05, 0]}]}
# A block in a press, of several subdomains of the linear solver, most of them with nodes of more than one rank.
PRESS = {
    "format": "tactus-scene/1", "name": "a block in a press", "time": {"end": 0.06, "frame": 0.02}, "contact": {"thickness": 0.004, "friction": 0.2},
    "integrator": {"kind": "implicit", "step_s": 0.02}, "output": {"checkpoint_every_t": 0.04},
    "materials": {"rubber": {"density": 1100, "solid": {"model": "neo-hookean", "youngs": 1e5, "poisson": 0.4}}},
    "bodies": [{"name": "block", "material": "rubber", "mesh": {"kind": "box", "size": [0.2, 0.1, 0.1], "cells": [10, 6, 6], "fill": "tets"}},
               {"name": "top", "mesh": {"kind": "grid", "size": [0.3, 0.2], "cells": [2, 2]}, "position": [0, 0.055, 0]},
               {"name": "bottom", "fixed": True, "mesh": {"kind": "grid", "size": [0.3, 0.2], "cells": [2, 2]}, "position": [0, -0.055, 0]}],
    "motions": [{"body": "top", "path": [[0, [0, 0, 0]], [0.06, [0, -0.006, 0]]]}]}
# The press goes so far in its step that its plate is an unknown for some iterations: its owner gets pairs from other ranks.
DEEP = json.loads(json.dumps(PRESS))
DEEP["time"] = {"end": 0.02, "frame": 0.02}
DEEP["motions"][0]["path"] = [[0, [0, 0, 0]], [0.02, [0, -0.015, 0]]]
DEEP["bodies"][0]["mesh"]["cells"] = [6, 4, 4]
CROSSING = {
    "format": "tactus-scene/1", "time": {"end": 1, "frame": 0.5}, "contact": {"thickness": 0.01},
    "bodies": [{"name": name, "mesh": {"kind": "grid", "size": [1, 1], "cells": [1, 1]}, "mass": 1, "rotation": [angle, 0, 0]}
               for name, angle in (("a", 0), ("b", 90))]}
MESHES = {"cloth.obj": ["grid", "--size", "0.2,0.2", "--cells", "3,2"], "cloth.ply": ["grid", "--size", "0.2,0.2", "--cells", "3,2"],
          "cloth.stl": ["grid", "--size", "0.2,0.2", "--cells", "3,2"], "cloth.h5": ["grid", "--size", "0.2,0.2", "--cells", "3,2"]}
GMSH = """$MeshFormat
%s 0 8
$EndMeshFormat
%s"""
GMSH2 = GMSH % ("2.2", "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 0 1\n4 1 0 1\n$EndNodes\n"
                "$Elements\n2\n1 2 2 0 1 1 3 2\n2 2 2 0 1 2 3 4\n$EndElements\n")
GMSH4 = GMSH % ("4.1", "$Nodes\n1 4 1 4\n2 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n0 0 1\n1 0 1\n$EndNodes\n"
                "$Elements\n1 2 1 2\n2 1 2 2\n1 1 3 2\n2 2 3 4\n$EndElements\n")


class Case:
    """arguments: of the program, in a folder that holds `needs`. run: the run folder that it writes, which has to be in order
    whatever happens. makes: files that are whole or not there. words: a fault that does no harm changes no word on stdout.
    hooks: more of the environment."""

    def __init__(self, name, arguments, ranks=1, needs=(), run=None, makes=(), weight=1.0, words=True, hooks=()):
        self.hooks = dict(hooks)
        self.name, self.arguments, self.ranks, self.needs, self.run, self.makes = name, arguments.split(), ranks, list(needs), run, list(makes)
        self.weight, self.words = weight, words


def run_of(scene, ranks, extra="", name=""):
    label = "%s-%d%s" % (scene.removesuffix(".json"), ranks, name)
    return Case("run-" + label, "run %s -o out.run --quiet %s" % (scene, extra), ranks, [scene, "cloth.obj"], "out.run")


def cases():
    mesh = [Case("mesh-" + name.rsplit(".")[-1], "mesh file --path cloth.%s -o out.%s" % (name, to), 1, ["cloth." + name], makes=["out." + to])
            for name, to in (("obj", "ply"), ("ply", "stl"), ("stl", "h5"), ("h5", "obj"))]
    mesh += [Case("mesh-msh2", "mesh file --path two.msh -o out.obj", 1, ["two.msh"], makes=["out.obj"]),
             Case("mesh-msh4", "mesh file --path four.msh -o out.h5", 1, ["four.msh"], makes=["out.h5"]),
             Case("mesh-ribbon", "mesh ribbon --curve 0,0,0;1,0,0;1,0,1 --width .1 --cells 4,2 -o out.ply", 1, makes=["out.ply"]),
             Case("mesh-ranks", "mesh grid --size 1,1 --cells 6,6 -o out.h5", 2, makes=["out.h5"], weight=.5)]
    check = [Case("check-small", "check small.json", 1, ["small.json"]),
             Case("check-mixed", "check mixed.json --json", 1, ["mixed.json", "cloth.obj"]),
             Case("check-crossing", "check crossing.json -o out", 1, ["crossing.json"], makes=["out/overlaps.obj"])]
    info = [Case("info-run", "info done.run", 1, ["done.run"]), Case("info-frames", "info done.run/frames.h5 --json", 1, ["done.run"]),
            Case("info-checkpoint", "info done.run/checkpoint.h5", 1, ["done.run"]), Case("info-mesh", "info cloth.ply", 1, ["cloth.ply"])]
    diff = [Case("diff-same", "diff done.run same.run --all-frames", 1, ["done.run", "same.run"]),
            Case("diff-other", "diff done.run other.run", 1, ["done.run", "other.run"]),
            Case("diff-checkpoints", "diff done.run/checkpoint.h5 same.run --json", 1, ["done.run", "same.run"])]
    export = [Case("export-ply", "export done.run -o pictures", 1, ["done.run"], makes=["pictures/frame-%06d.ply" % k for k in range(5)]),
              Case("export-obj", "export done.run -o pictures --format obj --frames last", 1, ["done.run"], makes=["pictures/frame-000004.obj"])]
    # Whether its process lives may remain unknown.
    status = [Case("status" + option, "status done.run %s" % option, 1, ["done.run"], words=False) for option in ("", "--json")]
    run = [run_of("small.json", 1), run_of("mixed.json", 1), run_of("crossing.json", 1), run_of("small.json", 1, "--discover all-pairs", "-all"),
           Case("run-progress", "run small.json -o out.run --until .03", 1, ["small.json"], "out.run"),
           Case("run-again", "run small.json -o done.run --overwrite --quiet", 1, ["small.json", "done.run"], "done.run"),
           Case("restart", "run --restart half.run --quiet", 1, ["half.run"], "half.run"),
           Case("restart-torn", "run --restart torn.run --quiet", 1, ["torn.run"], "torn.run")]
    run += [run_of("gel.json", 1)]
    run += [run_of("small.json", 1, "--discover kds", "-kds"), run_of("mixed.json", 1, "--discover kds", "-kds")]
    run += [run_of("small.json", 1, "--record", "-record"), Case("restart-record", "run --restart begun.run --quiet --record", 1, ["begun.run"], "begun.run")]
    branch = "run --restart half.run --branch --set gravity=[0,-8,0] -o out.run --quiet"
    run.append(Case("branch", branch, 1, ["half.run"], "out.run"))
    for case in run:
        case.weight = 3
    audit = [Case("audit", "audit recorded.run", 1, ["recorded.run"], weight=2), Case("audit-frames", "audit recorded.run --frames", 1, ["recorded.run"])]
    ranks = [run_of("small.json", 2), run_of("small.json", 4), run_of("mixed.json", 2), run_of("crossing.json", 2),
             Case("restart-2", "run --restart half.run --quiet", 2, ["half.run"], "half.run")]
    ranks += [run_of("small.json", 2, "--discover kds", "-kds"), run_of("small.json", 4, "--discover kds", "-kds"), run_of("mixed.json", 2, "--discover kds", "-kds")]
    # The vertices are distributed at random, anew after each step.
    ranks += [run_of("gel.json", 2), Case("run-press-3", "run press.json -o out.run --quiet", 3, ["press.json"], "out.run", hooks={"TACTUS_TEST_MIGRATE": "5"})]
    ranks += [Case("run-deep-3", "run deep.json -o out.run --quiet", 3, ["deep.json"], "out.run", hooks={"TACTUS_TEST_DEAL": "1"})]
    ranks += [Case("branch-2", branch, 2, ["half.run"], "out.run")]
    ranks += [run_of("small.json", 2, "--record", "-record"), Case("audit-2", "audit recorded.run", 2, ["recorded.run"])]
    return mesh + check + info + diff + export + status + audit + run + ranks


def prepare(home, launch):
    """The things that cases need, in the folder `home`. launch(arguments): the program, without faults."""
    def put(name, text):
        with open(os.path.join(home, name), "w") as file:
            file.write(text)
    for name, scene in (("small.json", SMALL), ("mixed.json", MIXED), ("gel.json", GEL), ("press.json", PRESS), ("deep.json", DEEP), ("crossing.json", CROSSING)):
        put(name, json.dumps(scene, indent=1))
    put("two.msh", GMSH2)
    put("four.msh", GMSH4)
    for name, words in MESHES.items():
        launch(["mesh", *words, "-o", name])
    for name in ("done.run", "same.run"):
        launch(["run", "small.json", "-o", name, "--quiet"])
    launch(["run", "small.json", "-o", "other.run", "--quiet", "--set", "gravity=[0,-9,0]"])
    for name in ("half.run", "torn.run"):
        launch(["run", "small.json", "-o", name, "--quiet", "--until", "0.04"])
    launch(["run", "small.json", "-o", "recorded.run", "--quiet", "--record"])
    launch(["run", "small.json", "-o", "begun.run", "--quiet", "--record", "--until", "0.04"])
    # A restart changes the end back; the newest checkpoint of one is damaged.
    newest = os.path.realpath(os.path.join(home, "torn.run", "checkpoint.h5"))
    with open(newest, "r+b") as file:
        file.seek(2000)
        file.write(b"damaged")
