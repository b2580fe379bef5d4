#!/usr/bin/python3
"""schema.py: every key of docs/scene.schema.json can be set from Python, and a scene built in Python is its JSON's: the same hash.

The parameters of the package's functions are compared with the schema's keys.  Then scenes that together use every key (those of the tests of
the reader, and some of the repository) are built anew by these functions; what they say, and their hash, must be what the JSON has.  If it
failed, a key could not be used from Python, or would mean something else there.
"""
import copy
import inspect
import json
import os
import sys
import tempfile
import warnings

import numpy as np

from common import SOURCE, end, expect, program

import tactus

sys.path.insert(0, os.path.join(SOURCE, "tests/unit/scene"))
import scenes  # noqa: E402

warnings.simplefilter("ignore", tactus.TactusWarning)
NAMES = {"self": "self_contact", "from": "start", "to": "end"}  # words that Python has for itself
with open(os.path.join(SOURCE, "docs/scene.schema.json")) as file:
    SCHEMA = json.load(file)


def parameters(function):
    return {name for name, what in inspect.signature(function).parameters.items() if what.kind is not what.VAR_KEYWORD} - {"self"}


def same(keys, function, what, also=()):
    keys = {NAMES.get(key, key) for key in keys} | set(also)
    expect(keys == parameters(function), f"{what}: the schema and Python differ in {sorted(keys ^ parameters(function))}")


def signatures():
    top, of = SCHEMA["properties"], {name: set(part.get("properties", ())) for name, part in SCHEMA["definitions"].items()}
    same(set(top) - {"format", "time", "materials", "bodies", "motions", "loads", "joints"} | set(top["time"]["properties"]), tactus.Scene.__init__, "Scene()")
    same(of["material"] | {"name"}, tactus.Scene.material, "material()")
    same(of["body"], tactus.Scene.body, "body()")
    same(of["motion"], tactus.Scene.motion, "motion()")
    same(of["load"], tactus.Scene.add_load, "load()")
    same(of["joint"], tactus.Scene.joint, "joint()")
    for name, known in tactus.scene.KEYS.items():
        keys = set(top[name]["properties"]) if name in top else of[name] if name in of else set(SCHEMA["definitions"]["motion"]["properties"][name]["properties"])
        expect(keys == known, f"{name}: the schema and Python differ in {sorted(keys ^ known)}")
    same(set(top["contact"]["properties"]["pairs"]["items"]["properties"]) - {"materials"} | {"a", "b"}, tactus.Scene.pair, "pair()")
    for kind in SCHEMA["definitions"]["mesh"]["properties"]["kind"]["enum"]:
        keys = of[f"mesh_{kind}"] - {"kind"}
        if kind == "inline":
            same(keys, tactus.mesh, "mesh()", {"unused"})
        elif kind == "file":
            same(keys, tactus.mesh_file, "mesh_file()", {"folder"})
        else:
            same(keys, getattr(tactus, kind), f"{kind}()")


def mesh(spec):
    keys = {NAMES.get(key, key): value for key, value in spec.items() if key != "kind"}
    if spec["kind"] == "inline" and ("triangles" in keys or "edges" in keys):
        return tactus.mesh(np.array(keys["vertices"], float), keys.get("triangles"), keys.get("edges"), unused="drop", weld=keys.get("weld"))
    if spec["kind"] == "file":
        return tactus.mesh_file(**keys)
    if spec["kind"] == "inline":
        return tactus.Mesh("inline", **keys)
    return getattr(tactus, spec["kind"])(**keys)


def build(data):
    """The scene by the package's functions."""
    data = copy.deepcopy(data)
    top = {key: value for key, value in data.items() if key not in ("format", "time", "materials", "bodies", "motions", "loads", "joints")}
    pairs, ignore = (top.get("contact", {}).pop(key, None) for key in ("pairs", "ignore"))
    s = tactus.Scene(**data["time"], **top)
    for law in pairs or []:
        s.pair(*law.pop("materials"), **law)
    for a, b in ignore or []:
        s.ignore(a, b)
    for name, material in data.get("materials", {}).items():
        s.material(name, **material)
    for body in data["bodies"]:
        s.body(**{**{NAMES.get(key, key): value for key, value in body.items()}, "mesh": mesh(body["mesh"])})
    for motion in data.get("motions", []):
        s.motion(**motion)
    for load in data.get("loads", []):
        s.load(**load)
    for joint in data.get("joints", []):
        s.joint(**joint)
    return s


class Folder:
    """What scenes.good() needs of a probe."""

    def __init__(self, path):
        self.path = path

    write = scenes.Probe.write


def hashes(folder):
    declared, used, noter = scenes.keys_of(SCHEMA)
    seen = set()
    for k, data in enumerate(scenes.good(Folder(folder))):
        path = os.path.join(folder, f"scene-{k}.json")
        with open(path, "w") as out:
            json.dump(data, out)
        here = os.getcwd()
        os.chdir(folder)
        made, read = build(data), tactus.Scene.load(path)
        list(noter.iter_errors(made.to_json()))
        of_made, of_read = made.sha256, read.sha256
        os.chdir(here)
        expect(of_made == of_read, f"scene {k}, built in Python, has another hash than its JSON: {json.dumps(data)[:300]}")
        seen.add(of_made)
        # What is written says the same.
        made.folder = folder
        again = tactus.Scene.from_json(json.loads(json.dumps(made.to_json())))
        expect(again.sha256 == of_made, f"scene {k} has another hash when it was written and read again")
        if k % 8 == 0:
            expect(json.loads(program("check", path, "--json"))["sha256"] == of_made, f"scene {k}: the program has another hash")
    expect(len(seen) > 20, f"only {len(seen)} different scenes were compared")
    for where, key in sorted(declared - used):
        expect(False, f"no scene of this test sets {where}/{key} from Python")


def repository():
    """Scenes of the repository; and what `check()` tells is what the program tells."""
    for name in ("docs/examples/drop.json", "tests/system/equality/scenes/let-go.json", "tests/system/equality/scenes/sail.json", "tests/system/equality/scenes/pushed.json",
                 "tests/system/equality/scenes/turning-obstacle.json", "jobs/two-sheets.json", "jobs/balloon.json", "jobs/reef-knot.json"):
        path = os.path.join(SOURCE, name)
        with open(path) as scene_file:
            data = json.load(scene_file)
        here = os.getcwd()
        os.chdir(os.path.dirname(path))
        expect(build(data).sha256 == tactus.Scene.load(path).sha256, f"{name}, built in Python, has another hash")
        os.chdir(here)
    path = os.path.join(SOURCE, "docs/examples/drop.json")
    reported, mine = json.loads(program("check", path, "--json")), tactus.Scene.load(path).check()
    for report in (reported, mine):
        report.pop("scene", None)
    expect(reported == mine, f"check() tells something else than the program: {sorted(key for key in {*reported, *mine} if reported.get(key) != mine.get(key))}")
    ran = tactus.Scene.load(path).check(pilot=.2)
    pilot = ran["forecast"].pop("pilot")
    expect(pilot["seconds"] == .2 and 0 < pilot["to"] and pilot["ranks"] == 1 and ran["forecast"]["wall_s"]["likely"] > 0, f"check(pilot=.2): {pilot}")
    expect(all(ran[key] == mine[key] for key in mine if key != "forecast"), "check(pilot=.2) describes another scene")
    for wrong in (0, -1, float("nan"), "5", True):
        try:
            tactus.Scene.load(path).check(pilot=wrong)
            expect(False, f"check(pilot={wrong!r}) is taken")
        except tactus.InputError as error:
            expect("pilot" in str(error), f"check(pilot={wrong!r}): {error}")


def changes():
    """set() finds keys as --set does."""
    path = os.path.join(SOURCE, "docs/examples/drop.json")
    for change in ("contact.friction=0.25", "gravity=[0, -1, 0]", "bodies.ball.position.1=2", "bodies.1.mesh.size.0=3", "materials.rubber.density=0.5", "clocks.accuracy=fine"):
        key, _, value = change.partition("=")
        s = tactus.Scene.load(path)
        s.set(key, json.loads(value) if value[0] in "[0123456789" else value)
        reported = json.loads(program("check", path, "--json", "--set", change))["sha256"]
        expect(s.sha256 == reported, f"set({change}) gives another scene than --set")
    for key in ("bodies.bell.position", "loads.7.force", "gravity.5", ""):
        try:
            tactus.Scene.load(path).set(key, 1)
            expect(False, f"set({key!r}) is taken")
        except tactus.InputError:
            pass


signatures()
with tempfile.TemporaryDirectory() as home:
    hashes(home)
repository()
changes()
end()
