#!/usr/bin/python3
"""rooms.py [--graph]: the rooms of src/ include only rooms below them, and no include goes round in a circle; no room, no file and no struct is too large;
no two files have one name; every room has a folder of tests of its own.

The order is that of ROOMS; a room may include itself and the rooms that are listed for it.  Reads every #include of src/,
public headers (<tactus/...>) counting as part of the room that implements them.  With --graph it prints the arrows in the
language of Graphviz: docs/pictures/rooms.dot, from which the picture of the tour is made.  If it failed, a change in one room could break one
that should not know of it."""
import os
import re
import sys

SOURCE = os.environ.get("TACTUS_SOURCE") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Every room, and the rooms that it may know besides those that they may know.  A room is listed after all that it may know.
ROOMS = {
    "base": [],
    "solve": ["base"],
    "geometry": ["base"],
    "mesh": ["geometry"],
    "scene": ["mesh"],
    "partition": ["scene"],
    "state": ["partition"],
    "integrators": ["scene"],
    "elements": ["state"],
    "contact": ["elements"],
    "broadphase": ["contact"],
    "io": ["state"],
    "inspect": ["io"],
    "overlap": ["contact", "io"],
    "audit": ["overlap"],
    "kds": ["broadphase"],
    "events": ["kds", "integrators"],
    "implicit": ["broadphase", "solve", "integrators"],
    "impact": ["broadphase", "solve", "integrators"],
    "run": ["implicit", "impact", "events", "overlap"],
    "forecast": ["run"],
    "repair": ["run"],
    "app": ["forecast", "audit", "inspect", "repair"],
}
PICTURE = "docs/pictures/rooms.dot"
# A table of functions, and no code: every test of a run goes through it.
UNTESTED = {"integrators"}
# Folders of tests/ that are not of one room: what they test is the whole program, or something else than the program.
WHOLE = {"": {"unit", "system", "ranks", "faults", "fuzz", "speed", "style"},
         "system": {"equality", "record", "physics", "jobs", "install", "python", "matrix", "mutation", "docs"}}
MOST_LINES = 6000  # of a room; a folder in a room counts for itself
MOST_OF_FILE = 800  # lines of a file, which is one subject
MOST_FIELDS = 40  # of a struct; one in it that has a name of its own counts for itself
# Public headers belong to the rooms that implement them.
PUBLIC = {"base": "base", "accum": "base", "math": "base", "process": "base", "mesh": "mesh", "mesh_kinds": "mesh",
          "scene": "scene", "counters": "scene", "contact": "contact", "output": "io", "reader": "io", "report": "io",
          "stored": "io", "table": "io", "compare": "inspect", "export": "inspect", "check": "forecast", "exempt": "overlap", "audit": "audit", "run": "run", "repair": "repair",
          "simulation": "run"}


def allowed():
    known = {}
    for room, below in ROOMS.items():
        known[room] = {room}.union(*(known[b] for b in below))
    return known


def includes(source):
    """(file, room, included header, its room) of every include of the project's own headers."""
    for folder, _, files in os.walk(os.path.join(source, "src")):
        for name in sorted(files):
            if not name.endswith((".c", ".h")):
                continue
            path = os.path.join(folder, name)
            room = os.path.relpath(path, os.path.join(source, "src")).split(os.sep)[0]
            with open(path) as f:
                for kind, header in re.findall(r'^#include ([<"])([^">]+)[">]', f.read(), re.M):
                    if kind == '"':
                        yield os.path.relpath(path, source), room, header, header.split("/")[0]
                    elif header.startswith("tactus/"):
                        yield os.path.relpath(path, source), room, header, PUBLIC.get(header[7:-2], header)


def sizes(source):
    """Lines of every folder of src/."""
    lines = {}
    for folder, _, files in os.walk(os.path.join(source, "src")):
        for name in files:
            if os.path.basename(folder) == "__pycache__":  # of Python, which another test may be running
                continue
            with open(os.path.join(folder, name)) as f:
                room = os.path.relpath(folder, source)
                lines[room] = lines.get(room, 0) + sum(1 for _ in f)
    return lines


def longest(source):
    """Lines of every C file of src/, and, by its name, where it lies."""
    lines, homes = {}, {}
    for folder, _, files in os.walk(os.path.join(source, "src")):
        for name in files:
            if name.endswith((".c", ".h")):
                path = os.path.relpath(os.path.join(folder, name), source)
                homes.setdefault(name, []).append(path)
                with open(os.path.join(source, path)) as f:
                    lines[path] = sum(1 for _ in f)
    return lines, homes


def structs(source):
    """(file, name, fields) of every named struct of src/ and include/. `double a, b;` is two fields; a nameless struct in another is one."""
    for top in ("src", "include"):
        for folder, _, files in os.walk(os.path.join(source, top)):
            for name in sorted(files):
                if not name.endswith((".c", ".h")):
                    continue
                with open(os.path.join(folder, name)) as f:
                    text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
                for struct, body in re.findall(r"^struct (\w+) \{\n(.*?)^\}", text, re.M | re.S):
                    while re.search(r"\{[^{}]*\}", body):
                        body = re.sub(r"\{[^{}]*\}", "", body)
                    count = sum(1 + (0 if "(" in d else d.count(",")) for d in body.split(";") if d.strip())
                    yield os.path.relpath(os.path.join(folder, name), source), struct, count


def folders(path):
    return {name for name in os.listdir(path) if os.path.isdir(os.path.join(path, name)) and name != "__pycache__"}


def layout(source):
    """What is wrong with the folders of tests/: unit has one for each room, with a test; the others are those of WHOLE."""
    tests = os.path.join(source, "tests")
    for room in sorted(set(ROOMS) - UNTESTED):
        home = "unit/" + room
        lists = os.path.join(tests, home, "CMakeLists.txt")
        registered = ""
        if os.path.exists(lists):
            with open(lists) as f:
                registered = f.read()
        if not re.search(r"^ *(tactus_test|tactus_script|add_test)\(", registered, re.M):
            yield "tests/%s registers no test of the room src/%s" % (home, room)
    for name in sorted(folders(os.path.join(tests, "unit")) - set(ROOMS)):
        yield "tests/unit/%s belongs to no room of src/" % name
    for home, names in WHOLE.items():
        there = folders(os.path.join(tests, home))
        for name in sorted(there ^ names):
            yield "%s is in only one of tests/ and WHOLE in tests/style/rooms.py" % os.path.join("tests", home, name)


def picture(arrows):
    lines = ['  "%s" -> "%s";' % arrow for arrow in sorted(arrows)]
    return "digraph rooms {\n  node [shape = box, fontname = Helvetica];\n%s\n}\n" % "\n".join(lines)


def main():
    known, wrong, arrows = allowed(), [], {}
    for file, room, header, other in includes(SOURCE):
        if room not in ROOMS:
            wrong.append("%s lies in src/%s, which is no room of this test" % (file, room))
        elif other not in ROOMS:
            wrong.append("%s includes %s, which belongs to no room" % (file, header))
        elif other not in known[room]:
            wrong.append("%s includes %s: `%s` may not know `%s`" % (file, header, room, other))
        if room != other:
            arrows[room, other] = arrows.get((room, other), 0) + 1
    wrong += ["%s has %d lines; over %d, a room is two" % (room, n, MOST_LINES) for room, n in sizes(SOURCE).items() if n > MOST_LINES]
    lines, homes = longest(SOURCE)
    wrong += ["%s has %d lines; over %d, it is several subjects" % (path, n, MOST_OF_FILE) for path, n in lines.items() if n > MOST_OF_FILE]
    wrong += ["%s have one name; nobody could tell which is meant" % " and ".join(sorted(paths)) for paths in homes.values() if len(paths) > 1]
    wrong += ["%s: struct %s has %d fields; over %d, it has several owners" % (file, name, n, MOST_FIELDS)
              for file, name, n in structs(SOURCE) if n > MOST_FIELDS]
    wrong += layout(SOURCE)
    graph = picture(arrows)
    if "--graph" in sys.argv:
        print(graph, end="")
        return 0
    with open(os.path.join(SOURCE, PICTURE)) as f:
        if f.read() != graph:
            wrong.append("%s is not of today: tests/style/rooms.py --graph >%s; tred %s | dot -Tsvg -o docs/pictures/rooms.svg" % (PICTURE, PICTURE, PICTURE))
    for line in sorted(set(wrong)):
        print(line)
    print("%d rooms, %d arrows between them, %d things wrong" % (len(ROOMS), len(arrows), len(set(wrong))))
    return 1 if wrong else 0


sys.exit(main())
