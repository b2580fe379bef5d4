#!/usr/bin/python3
"""schema.py PROBE [N]: holds the scene reader against docs/scene.schema.json, in both directions.

If it fails, reader and schema disagree on a scene: an editor that uses the schema would mislead, or a key was added in
one place only. Scenes that together use every key of the schema are taken by both; then each of their values is removed,
retyped, renamed or moved out of range, one at a time, and both must still agree, except for what JSON Schema cannot say.  N: only every Nth of these (a slow build).
"""

import copy
import json
import os
import re
import sys

import jsonschema
import scenes

# Sentences of the reader about what no schema can express: relations between keys, files, geometry.
ONLY_READER = {
    r"is no (body|material) of the scene": "names must exist",
    r"is the name of bodies\[\d+\] already": "names are unique",
    r"has two entries for": "pairs are unique",
    r"can move freely but has no mass": "mass or density, seen over two objects",
    r"must be a power of two": "a number theory",
    r"times of knots must ascend": "order in a list",
    r"the first must not exceed the second": "order of two numbers",
    r"has its low . = .* above its high": "order of two numbers",
    r"holds no vertex of": "geometry",
    r"\.vertices\[\d+\]: is \d+; it must be from 0 to \d+": "indices within the body",
    r"moves vertex \d+ of .* already": "one motion per vertex",
    r"is used twice; names of histories": "names in a list",
    r"which is fixed": "fixed with a motion or a load",
    r"selects no whole (triangle|segment) of": "geometry",
    r"2\^16 quanta, so it must be at least": "frames and the quantum",
    r"over 2\^53 quanta": "times and the quantum",
    r"places vertex \d+ at coordinate": "geometry",
    r"vertex \d+ does not exist|names a vertex that does not exist": "indices within the mesh",
    r"names vertex \d+ twice|the same vertices|degenerate|no length|no area|so thin|coincide|duplicate": "geometry",
    r"every element collapses": "geometry",
    r"which nothing holds": "a body and its motions, seen over two objects",
    r"No such file|cannot be opened|cannot open|not a mesh": "files",
    r"or the torus cuts itself": "a relation of two numbers",
    r"cannot be simulated; stay under": "speeds, by sizes and steps",
    r"does not fit between spikes": "a relation of numbers",
    r"with the body's scale|but the mesh is a (ball|capsule) of radius": "a product of numbers, seen over two objects",
    r"under .kinetic. ": "order of two numbers",
    r"is of grains that roll|is of particles with a radius|is of bodies that move|where .friction. is 0": "seen over two keys",
    r"has no tetrahedra|the body.s material has no .solid": "meshes and materials of solids, seen over two objects",
    r"is no multiple of": "a relation of two numbers",
    r"reach beyond 1e9 times the slack": "a relation of two numbers",
    r"add up to .*; they must add up to 1": "a sum",
    r"is the name of another joint": "names are unique",
    r"starts with its sides|starts at the end of its .limits|joins .* with itself|ties a vertex to the world": "geometry, and two sides",
    r"is not rigid; give a vertex|is rigid; give the place|has vertex \d+, but|b: needs .at.": "a body, seen over two objects",
    r"has .pieces., but .* has neither triangles": "what the mesh has",
    r"is not what the file.s velocities have": "what a file has",
    r"let the hinge turn by|motor: needs a period of": "relations of numbers",
    r"follow\.(vertex|triangle): is \S+; it must be from 0 to": "indices within the body",
}

OTHER_TYPES = ["text", -1, 0, 0.5, 1e60, True, None, [], {}, [1, 2, 3], [[0, 0, 0]]]


def places(value, path=()):
    """Every place in a JSON value, the whole first."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], path + (key,))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from places(item, path + (i,))


def at(value, path):
    for step in path:
        value = value[step]
    return value


def changed(value, path, change):
    """A copy in which change(parent, last step) was called."""
    result = copy.deepcopy(value)
    change(at(result, path[:-1]), path[-1])
    return result


def set_to(new):
    def change(parent, step):
        parent[step] = copy.deepcopy(new)
    return change


def remove(parent, step):
    del parent[step]


def rename(new):
    def change(parent, step):
        items = [(new if key == step else key, item) for key, item in parent.items()]
        parent.clear()
        parent.update(items)
    return change


def duplicate(parent, step):
    parent.insert(step, copy.deepcopy(parent[step]))


def role(value, path):
    """What a place is, whatever its scene: the path without indices, the kind of mesh it is in, the type it holds."""
    kinds = [part["kind"] for part in (at(value, path[:n]) for n in range(len(path))) if isinstance(part, dict) and "kind" in part]
    last = path[-1] if isinstance(path[-1], str) else min(path[-1], 2)
    return (*(step if isinstance(step, str) else "*" for step in path[:-1]), last, *kinds, type(at(value, path)))


def mutants(value, seen):
    """The scene with one value changed; places whose role was `seen` are left alone."""
    new_roles = set()
    for path in places(value):
        if not path or role(value, path) in seen:
            continue
        new_roles.add(role(value, path))
        old, step = at(value, path), path[-1]
        yield changed(value, path, remove)
        if isinstance(step, str):
            for new in (step + "s", step[1:] + step[0], step.upper()):
                yield changed(value, path, rename(new))
        else:
            yield changed(value, path, duplicate)
        if isinstance(step, int) and step > 1:
            continue  # like its neighbours
        for new in OTHER_TYPES if isinstance(step, str) or step == 0 else []:
            if type(new) is not type(old) or new != old:
                yield changed(value, path, set_to(new))
        if isinstance(old, (int, float)) and not isinstance(old, bool):
            for new in (-old, old + 1, old / 1024, 1 - old, -1e-9, 1e10):
                if new != old:
                    yield changed(value, path, set_to(new))
        if isinstance(old, str):
            for new in (old + "x", old[:-1], "", old + "\u0007"):
                yield changed(value, path, set_to(new))
        if isinstance(old, list) and old:
            yield changed(value, path, set_to(old + [old[0]]))
            yield changed(value, path, set_to(old[:-1]))
    seen |= new_roles


def main():
    probe = scenes.Probe(sys.argv[1])
    with open(os.path.join(os.environ["TACTUS_SOURCE"], "docs/scene.schema.json")) as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    failures = []

    declared, used, noter = scenes.keys_of(schema)

    good = list(scenes.good(probe))
    for scene in good:
        for error in validator.iter_errors(scene):
            failures.append(f"the schema refuses a good scene: {error.message[:200]} at {list(error.absolute_path)}")
        list(noter.iter_errors(scene))
    for where, key in sorted(declared - used):
        failures.append(f"no scene of this test uses the schema's {where}/{key}")
    replies = probe.ask(good, resolved=True)
    for scene, reply in zip(good, replies):
        if reply["code"]:
            failures.append(f"the reader refuses a good scene: {reply['error']}")
        else:
            for error in validator.iter_errors(reply["resolved"]):
                failures.append(f"the schema refuses a resolved scene: {error.message[:200]}")

    roles, texts, mutated = set(), set(), []
    for scene in good:
        for mutant in mutants(scene, roles):
            text = json.dumps(mutant)
            if text not in texts:
                texts.add(text)
                mutated.append(mutant)
    every = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    mutated = mutated[::every]
    excused = dict.fromkeys(ONLY_READER, 0)
    valid = 0
    for mutant, reply in zip(mutated, probe.ask(mutated)):
        by_schema, by_reader = validator.is_valid(mutant), reply["code"] == 0
        valid += by_reader
        if reply["code"] not in (0, 2) or (reply["code"] and not reply["error"].strip()):
            failures.append(f"code {reply['code']}, sentence '{reply['error']}' for {json.dumps(mutant)[:1500]}")
        if by_schema == by_reader:
            continue
        if by_reader:
            error = next(validator.iter_errors(mutant))
            failures.append(f"only the schema refuses ({error.message[:150]} at {list(error.absolute_path)})")
            continue
        reasons = [pattern for pattern in ONLY_READER if re.search(pattern, reply["error"])]
        if not reasons:
            failures.append(f"only the reader refuses: {reply['error'].split('.json: ')[-1]}")
        for pattern in reasons:
            excused[pattern] += 1

    for pattern in excused:
        if not excused[pattern] and every == 1:
            failures.append(f"no mutant needs the excuse '{pattern}': remove it")
    for failure in sorted(set(failures))[:60]:
        print(failure)
    print(f"{len(good)} good scenes, {len(declared)} keys, {len(mutated)} mutants, {valid} of them still good, "
          f"{sum(excused.values())} that only the reader can refuse, {len(set(failures))} failures")
    return 1 if failures or valid < 100 / every or len(mutated) < 1000 / every else 0


sys.exit(main())
