"""scenes.py: what the Python tests of the scene reader share: the probe, and scenes that together use every key."""

import copy
import hashlib
import json
import os
import struct
import subprocess
import tempfile

import h5py


class Probe:
    """Asks the probe program about many scenes at once; each is a dict, a string or bytes."""

    def __init__(self, program):
        self.program = program
        self.folder = tempfile.TemporaryDirectory()
        self.path = self.folder.name

    def write(self, name, content):
        path = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return path

    def ask(self, scenes, sets=None, resolved=False):
        questions = []
        for i, scene in enumerate(scenes):
            question = {"scene": os.path.join(self.path, "scene.json"), "set": sets[i] if sets else [], "resolved": resolved}
            if isinstance(scene, bytes):
                question["scene"] = self.write(f"{i}.json", scene)
            elif isinstance(scene, str) and scene.startswith("/"):
                question["scene"] = scene
            else:
                question["text"] = scene if isinstance(scene, str) else json.dumps(scene)
            questions.append(question)
        text = "".join(json.dumps(q) + "\n" for q in questions)
        done = subprocess.run([self.program], input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        replies = [json.loads(line) for line in done.stdout.split(b"\n")[:-1]]
        if done.returncode or len(replies) != len(questions):
            last = questions[len(replies)] if len(replies) < len(questions) else None
            raise SystemExit(f"probe ended with {done.returncode} on {str(last)[:3000]}\n{done.stderr.decode()[-3000:]}")
        return replies


def scene(**keys):
    """The smallest scene, with keys replaced."""
    result = {"format": "tactus-scene/1", "time": {"end": 1, "frame": 0.25},
              "bodies": [{"name": "a", "mass": 1, "mesh": {"kind": "points", "vertices": [[0, 0, 0], [1, 0, 0]]}}]}
    result.update(copy.deepcopy(keys))
    return result


TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def moving(positions):
    """A .mdd file: (K, V, 3) positions at t = 0, 1, ...; and the hash of the knots after the first."""
    flat = [[value for vertex in knot for value in vertex] for knot in positions]
    content = struct.pack(">2i", len(positions), len(positions[0])) + struct.pack(f">{len(positions)}f", *range(len(positions)))
    digest = bytes(32)
    for k, knot in enumerate(flat):
        content += struct.pack(f">{len(knot)}f", *knot)
        digest += hashlib.sha256(struct.pack(f"<{len(knot)}d", *knot)).digest() if k else b""
    return content, hashlib.sha256(digest).hexdigest()


def good(probe):
    """Scenes that the reader takes."""
    mesh = probe.write("meshes/tetrahedron.obj", TETRAHEDRON)
    probe.write("meshes/dust.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n")
    cloth = {"density": 0.15, "stretch": {"model": "cst", "stiffness": 500, "poisson": 0.3, "damping": 0.01, "yield": 0.1},
             "bend": {"model": "hinge", "stiffness": 1e-5, "damping": 0, "yield": 0.5, "rest": "flat"}}
    rope = {"density": 0.5, "stretch": {"model": "spring", "stiffness": 200}}
    yield scene()
    yield scene(
        name="everything", gravity=[0, -9.81, 0],
        contact={"thickness": 0.001, "stiffness": 1000, "restitution": 0.5, "friction": 0, "friction_model": "anchor",
                 "pairs": [], "ignore": [["sheet", "post"], ["rope", "sheet"]], "thickness_exponent": 0.25,
                 "stiffness_exponent": 3, "min_period_s": 1e-9, "pairs_per_vertex": 12,
                 "rest_fraction": 0.7},
        clocks={"mode": "nested", "quantum_s": 2.0 ** -46, "elastic_safety": 0.1, "elastic_s": 0.001,
                "contact_safety": 0.15, "contact_s": 0.001, "gravity_s": 0.001, "rigid_s": 0.002, "turn": 0.01},
        integrator={"kind": "asynchronous"}, discovery={"mode": "all-pairs", "window_s": [0.001, 0.1]},
        output={"checkpoint_every_s": 60, "checkpoint_every_t": 0.5, "checkpoint_keep": 3, "fields": ["strain", "rank"], "contacts": True, "reactions": True, "log": ["time", "newton", "wall_s"],
                "histories": [{"name": "h", "body": "sheet", "vertices": [0, 1], "every": 0.1, "each": True},
                              {"name": "r", "kind": "reaction", "body": "sheet", "vertices": "all", "every": 0.5},
                              {"name": "f", "kind": "flux", "bodies": ["sheet"], "plane": {"point": [0, 1, 0], "normal": [0, 0, 2]}, "every": 0.25}]},
        materials={"cloth": cloth, "rope": rope, "stuff": {"density": 1}},
        bodies=[{"name": "sheet", "material": "cloth", "mesh": {"kind": "grid", "size": [0.5, 0.15], "cells": [4, 2]},
                 "radius": 0.001, "position": [0, 0.2, 0], "rotation": [0, 30, 0], "scale": 2, "velocity": [0, -1, 0],
                 "angular_velocity": [0, 0, 1], "random_speed": [0, 0.5], "seed": 7, "fixed": False, "self": True},
                {"name": "post", "mesh": {"kind": "cube", "edge": 0.5}, "fixed": True},
                {"name": "rope", "material": "rope",
                 "mesh": {"kind": "segments", "vertices": [[0, 2, 0], [1, 2, 0], [1, 3, 0]], "closed": True}}],
        motions=[{"body": "sheet", "vertices": {"box": [[-1, -1, -1], [-0.3, 1, 1]]},
                  "path": [[0, [0, 0, 0]], [1, [0.1, 0, 0]]], "release": True},
                 {"body": "sheet", "vertices": [7, 8], "rotate": {"axis": [0, 1, 0], "center": [0, 1, 0],
                                                                  "path": [[0, 0], [0.5, 90]]}},
                 {"body": "rope", "vertices": "all", "path": [[0.5, [0, 0, 0]]]}],
        loads=[{"body": "sheet", "vertices": "all", "pressure": 20, "path": [[0, 0], [0.5, 1]]},
               {"body": "rope", "vertices": [0, 1], "force": [0, 1, 0]},
               {"body": "sheet", "vertices": {"box": [[-9, -9, -9], [9, 9, 9]]}, "wind": [3, 0, 1], "drag": 1.2}])
    yield scene(clocks={"mode": "free"}, discovery={"mode": "speculate"}, materials={"m": {}})
    yield scene(clocks={"accuracy": "fine", "contact_safety": 0.1}, units={"length": "mm", "mass": "t", "time": "s"})
    yield scene(gravity=[0, -9.81, 0], units="SI")
    yield scene(materials={"tin": {"density": 3}},
                bodies=[{"name": "die", "rigid": {"density": 1000}, "mesh": {"kind": "cube", "edge": 0.5}},
                        {"name": "ball", "rigid": {"mass": 2, "frequency": 5000}, "position": [2, 0, 0], "angular_velocity": [0, 5, 0],
                         "mesh": {"kind": "sphere", "radius": 0.4, "level": 1}},
                        {"name": "can", "rigid": True, "material": "tin", "position": [4, 0, 0],
                         "mesh": {"kind": "cube", "edge": 0.5}},
                        {"name": "plain", "rigid": False, "mass": 1, "position": [6, 0, 0],
                         "mesh": {"kind": "points", "vertices": [[0, 0, 0], [1, 0, 0]]}}])
    tetrahedra = {"kind": "inline", "vertices": [[x + k, y, z] for k in (0, 3) for x, y, z in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))],
                  "triangles": [[k + v for v in t] for k in (0, 4) for t in ([0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2])]}
    yield scene(bodies=[{"name": "stones", "rigid": {"frequency": 4000, "pieces": True}, "angular_velocity": [0, 5, 0],
                         "material": "tin", "mesh": tetrahedra}], materials={"tin": {"density": 3}})
    die = {"name": "die", "rigid": {"mass": 1}, "mesh": {"kind": "cube", "edge": 0.5}}
    hinge = {"kind": "hinge", "axis": [0, 0, 2], "span": 0.2, "slack": 0.01, "a": {"body": "die", "at": [0.25, 0, 0]}}
    yield scene(bodies=[die, {**die, "name": "other", "position": [1, 0, 0]}, {"name": "dust", "mass": 1, "mesh": {"kind": "points", "vertices": [[0, 2, 0]]}}],
                joints=[{"name": "knee", **hinge, "b": {"body": "other"}, "limits": [-10, 30], "stiffness": 100, "restitution": 0.5,
                         "motor": {"position": 20, "stiffness": 3, "damping": 0.1, "most": 2, "path": [[0, 0], [0.5, 1]]}},
                        {"name": "elbow", **hinge, "b": {"body": None}, "motor": {"speed": -3, "most": 1}},
                        {"name": "hip", **hinge, "b": {"body": None, "at": [0.25, 0.001, 0]}, "motor": {"torque": 1}},
                        {"name": "glue", "kind": "weld", "span": 0.1, "slack": 0.01, "a": {"body": "other", "at": [1, 0, 0]}, "b": {"body": "die"}},
                        {"name": "rail", **hinge, "kind": "slider", "b": {"body": None, "at": [0.25, 0, -0.5]}, "limits": [-1, 0.5]},
                        {"name": "leash", "kind": "ball", "slack": 0.01, "a": {"body": "dust", "vertex": 0}, "b": {"body": "die", "at": [0, 2, 0]}}])
    start = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    content, digest = moving([start, [[x, y + 0.25, z] for x, y, z in start]])
    probe.write("meshes/moving.mdd", content)
    yield scene(bodies=[{"name": "a", "mass": 1, "mesh": {"kind": "points", "vertices": [[5, 0, 0], [6, 0, 0], [7, 0, 0]]}},
                        {"name": "b", "mass": 1, "mesh": {"kind": "file", "path": mesh}}],
                motions=[{"body": "a", "vertices": [0], "follow": {"body": "b", "triangle": 0, "weights": [0.5, 0.25, 0.25]}},
                         {"body": "b", "positions": {"file": "meshes/moving.mdd", "sha256": digest}},
                         {"body": "a", "vertices": [1], "follow": {"body": "b", "vertex": 3}}])
    with h5py.File(probe.write("meshes/start.h5", b""), "w") as file:
        file["position"] = [[5, 1, 0], [6.5, 0, 0.25], [7, 0, 0]]
    yield scene(bodies=[{"name": "a", "mass": 1, "mesh": {"kind": "points", "vertices": [[5, 0, 0], [6, 0, 0], [7, 0, 0]]},
                         "start": {"file": "meshes/start.h5"}}])
    with h5py.File(probe.write("meshes/fast.h5", b""), "w") as file:
        file["velocity"] = [[5.0, 1, 0], [6.5, 0, 0.25], [7, 0, 0]]
        digest = hashlib.sha256(file["velocity"][()].tobytes()).hexdigest()
    yield scene(bodies=[{"name": "a", "mass": 1, "mesh": {"kind": "points", "vertices": [[5, 0, 0], [6, 0, 0], [7, 0, 0]]},
                         "start": {"file": "meshes/fast.h5", "sha256": digest, "holds": "velocity", "in_plane": False}}])
    yield scene(contact={"thickness": 0.01, "friction": 0.3},
                integrator={"kind": "implicit", "step_s": 0.25, "scheme": "euler", "newton": {"velocity_tol": 0.01, "force_tol": 0.01, "most": 100},
                            "barrier": {"stiffness": 10, "weights": "area"}, "friction": {"velocity": 0.001, "lags": 2},
                            "solver": {"kind": "invariant", "tolerance": 1e-6}})
    yield scene(contact={"thickness": 0.01, "friction": 0.3},
                integrator={"kind": "implicit", "step_s": 0.25, "scheme": "static", "friction": {"slip": 0.0001, "lags": 0}},
                motions=[{"body": "a", "vertices": [0], "path": [[0, [0, 0, 0]], [1, [0, 1, 0]]]}],
                loads=[{"body": "a", "vertices": "all", "acceleration": [0, -9.81, 0], "path": [[0, 0], [1, 1]]}])
    yield scene(loads=[{"body": "a", "vertices": [1], "acceleration": [0, 0, 1.5]}])
    yield scene(contact={"thickness": 0.01, "friction": 0.3, "restitution": 0.5},
                integrator={"kind": "impact", "step_s": 0.25, "operator": "lcp", "most": 10, "solver": {"tolerance": 1e-9}, "friction": {"passes": 2}})
    yield scene(integrator={"kind": "implicit", "step_s": 0.125, "barrier": {"stiffness": "adaptive"},
                            "solver": {"kind": "petsc", "options": "-pc_type gamg"}})
    yield scene(discovery={"mode": "kds", "vagueness": 0, "kdop": 26, "structure": "pairs", "queue": "binary"})
    for m in [{"kind": "ribbon", "curve": [[0, 0, 0], [1, 0, 0], [1, 1, 0]], "width": 0.2, "cells": [6, 2], "up": [0, 0, 1]},
              {"kind": "sphere", "radius": 0.5, "level": 1},
              {"kind": "torus", "radii": [1, 0.25], "cells": [6, 4]},
              {"kind": "cylinder", "radius": 0.5, "height": 2, "cells": [6, 2], "closed": True},
              {"kind": "cone", "radius": 0.5, "height": 2, "cells": [6, 2], "closed": True},
              {"kind": "box", "size": [1, 2, 3], "cells": [1, 2, 1]},
              {"kind": "tetrahedron", "edge": 1, "level": 1}, {"kind": "cube", "edge": 1, "level": 0},
              {"kind": "octahedron", "edge": 1, "level": 0}, {"kind": "dodecahedron", "edge": 1, "level": 0},
              {"kind": "icosahedron", "edge": 1, "level": 0}, {"kind": "file", "path": "meshes/tetrahedron.obj", "weld": 0.0001},
              {"kind": "spikes", "size": [1, 1], "count": [2, 2], "height": 0.2, "base": 0.1, "sides": 3},
              {"kind": "inline", "weld": 0.125, "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [2, 2, 2]], "triangles": [[0, 1, 2]],
               "edges": [[2, 3]]},
              {"kind": "file", "path": mesh}]:
        yield scene(materials={"m": cloth}, bodies=[{"name": "b", "material": "m", "mesh": m}])
    for model, m in (("stvk", {"kind": "sphere", "radius": 0.5, "fill": "tets"}),
                     ("corotated", {"kind": "box", "size": [1, 2, 3], "cells": [1, 1, 1], "fill": "tets"}),
                     ("neo-hookean", {"kind": "inline", "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
                                      "tetrahedra": [[0, 1, 2, 3]]})):
        yield scene(materials={"m": {"density": 900, "solid": {"model": model, "youngs": 1e4, "poisson": 0.3, "damping": 0.001}}},
                    bodies=[{"name": "b", "material": "m", "mesh": m}])
    for m in [{"kind": "segments", "from": [0, 0, 0], "to": [1, 0, 0], "cells": 3, "closed": False},
              {"kind": "segments", "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "edges": [[0, 1], [1, 2], [0, 2]], "weld": 0}]:
        yield scene(materials={"m": rope}, bodies=[{"name": "b", "material": "m", "mesh": m}])
    for m in [{"kind": "points", "path": "meshes/dust.obj"},
              {"kind": "points", "lattice": {"count": [2, 3, 1], "spacing": 0.5}}]:
        yield scene(bodies=[{"name": "b", "mass": 2, "mesh": m, "random_speed": [1, 2]}])
    for m in [{"kind": "ball", "radius": 0.1}, {"kind": "capsule", "radius": 0.1, "length": 1}, {"kind": "plane", "size": [1, 2]}]:
        yield scene(bodies=[{"name": "b", "mass": 2, "mesh": m, "scale": 0.5, "radius": 0.05}])
    yield scene(contact={"friction": {"static": 0.5, "kinetic": 0.4}, "pairs": [
        {"materials": ["m", "m"], "friction": {"static": 0.3, "kinetic": 0}}]}, materials={"m": {}})
    yield scene(contact={"thickness": 0.01, "friction": 0.3, "rolling": 0.1, "twisting": 0.1, "pairs": [
        {"materials": ["m", "m"], "rolling": 0.2, "twisting": 0.3}]}, materials={"m": {}}, bodies=[
            {"name": "b", "mass": 2, "radius": 0.1, "rolls": True, "spin": [1, 2, 3], "mesh": {"kind": "points", "vertices": [[0, 0, 0]]}}])
    yield scene(contact={"friction": 0.3, "friction_model": "kinetic"})
    yield scene(contact={"pairs": [{"materials": ["m", "m"], "stiffness": 1, "restitution": 0, "friction": 0},
                                   {"materials": ["n", "m"]}]}, materials={"m": {}, "n": {}})
    yield scene(materials={"m": {"stretch": {"model": "spring", "stiffness": 1, "limit": 0.1}}})
    yield scene(materials={"m": {"stretch": {"model": "cst", "stiffness": 1, "limit": 0.1, "limit_principal": 0.2}}})
    yield scene(discovery={"mode": "kds"})


def keys_of(schema):
    """(declared, used, noter): the keys that the schema declares, (place, key) each, and those that scenes have used, which
    noter.is_valid(scene) or noter.iter_errors(scene) adds to."""
    import jsonschema  # here, because most tests that share this file do without it

    declared, used = set(), set()

    def declare(node, where):
        if isinstance(node, dict):
            if node.get("additionalProperties") is False:
                declared.update((where, key) for key in node["properties"])
                node["x-where"] = where
            for key, item in node.items():
                declare(item, f"{where}/{key}")
        elif isinstance(node, list):
            for i, item in enumerate(node):
                declare(item, f"{where}/{i}")

    def note(_, properties, instance, node):
        if "x-where" in node and isinstance(instance, dict):
            used.update((node["x-where"], key) for key in instance)
        return jsonschema.Draft7Validator.VALIDATORS["properties"](noter, properties, instance, node)

    marked = copy.deepcopy(schema)
    declare(marked, "")
    noter = jsonschema.validators.extend(jsonschema.Draft7Validator, {"properties": note})(marked)
    return declared, used, noter
