#!/usr/bin/python3
"""one_hop.py [SOURCE]: a newcomer who looks for a concept in src/ by its word finds the file where it is done at once.

The table "Found in one hop" of docs/developers/tour.md says for each concept which word to look for, and what that finds: a file, or a
function in a file.

* A function: it is defined in that file and in no other, its name has the word, and at most three functions of src/ have the word in their
  names, or the file's name has the word too.
* A file alone: of all C files of src/ it has the most lines with the word (grep -ric WORD src), or it is the only one whose name has it.

Every other name of the tour in code's type that has an underscore (`tac_pass_rollback`) stands in src/ or include/ too.

If this test failed, a newcomer would be sent to a file that no longer does what the table says, or that the word no longer finds."""
import os
import re
import sys
import tempfile

HEADING = "### Found in one hop"
WANTED = {"rollback", "restitution", "ghost", "writing a checkpoint", "line search", "friction's law", "birth of a candidate", "partition of the vertices"}
DEFINED = re.compile(r"^(?:[A-Za-z_][\w ()]*?[ *])(\w+)\((?:[^;{}]*?)\)\n\{", re.M)


def sources(source):
    """{path below the source: text} of all C files of src/."""
    found = {}
    for home, _, names in os.walk(os.path.join(source, "src")):
        for name in names:
            if name.endswith(".c"):
                path = os.path.join(home, name)
                with open(path, encoding="utf-8") as file:
                    found[os.path.relpath(path, source)] = file.read()
    return found


def rows(source):
    """(concept, word, function or "", file) of the table."""
    with open(os.path.join(source, "docs/developers/tour.md"), encoding="utf-8") as file:
        text = file.read()
    part = text.split(HEADING + "\n", 1)[1] if HEADING + "\n" in text else ""
    part = re.split(r"^#", part, flags=re.M)[0]
    for concept, word, finds in re.findall(r"^\| ([^|]+?) \| `([^`|]+)` \| ([^|]+?) \|$", part, re.M):
        function = re.search(r"`(\w+)\(\)`", finds)
        path = re.search(r"`(src/[\w/]+\.c)`", finds)
        yield concept, word, function[1] if function else "", path[1] if path else ""


def fault(texts, word, function, path):
    """What is wrong with a row, or ""."""
    if path not in texts:
        return f"no file {path or 'is named'}"
    named = [name for name in texts if word in os.path.basename(name)]
    if function:
        if word not in function:
            return f"the name {function} has no '{word}'"
        homes = [name for name, text in texts.items() if function in DEFINED.findall(text)]
        if homes != [path]:
            return f"{function}() is defined in {' and '.join(homes) or 'no file'}"
        others = {other for text in texts.values() for other in DEFINED.findall(text) if word in other}
        if len(others) > 3 and path not in named:
            return f"{len(others)} functions have '{word}' in their names"
        return ""
    if named == [path]:
        return ""
    lines = {name: sum(word.lower() in line.lower() for line in text.split("\n")) for name, text in texts.items()}
    first = max(lines, key=lambda name: (lines[name], name))
    if lines[first] == 0 or lines[path] < lines[first]:
        return f"'{word}' is most often in {first}"
    return ""


def unknown_names(source):
    """Names of the tour, in code's type and with an underscore, that no file of src/ or include/ has, in its text or as its name."""
    known = set()
    for top in ("src", "include"):
        for home, _, names in os.walk(os.path.join(source, top)):
            known.update(re.sub(r"\.\w+$", "", name) for name in names)
            for name in names:
                if name.endswith((".c", ".h", ".py")):
                    with open(os.path.join(home, name), encoding="utf-8") as file:
                        known.update(re.findall(r"\w+", file.read()))
    with open(os.path.join(source, "docs/developers/tour.md"), encoding="utf-8") as file:
        return sorted({name for name in re.findall(r"`(\w*_\w*?)(?:\(\))?`", file.read()) if name not in known})


def check(source, wanted):
    """How many rows there are, and what is wrong with them."""
    texts, seen = sources(source), set()
    wrong = [f"docs/developers/tour.md: src/ has no {name}" for name in unknown_names(source)]
    for concept, word, function, path in rows(source):
        seen.add(concept)
        bad = fault(texts, word, function, path)
        if bad:
            wrong.append(f"docs/developers/tour.md, {HEADING[4:]}: {concept}: {bad}")
    return len(seen), wrong + [f"docs/developers/tour.md, {HEADING[4:]}: no row for {concept}" for concept in sorted(wanted - seen)]


def try_itself():
    """A row without a fault is accepted, and each fault by itself is seen."""
    one, two = "/* one.c: undoes. */\n/* undo undo */\nstatic void undo_all(int a,\n                     int b)\n{\n}\n", "/* two.c: asks. */\n/* undo */\nint ask(void)\n{\n}\n"
    good = ["| x | `undo` | `src/one.c` |", "| x | `undo` | `undo_all()` in `src/one.c` |", "| x | `two` | `src/two.c` |\n\n`undo_all()` undoes."]
    bad = ["| x | `undo` | `src/two.c` |", "| x | `undo` | `undo_all()` in `src/two.c` |", "| x | `ask` | `undo_all()` in `src/one.c` |",
           "| x | `none` | `src/one.c` |", "| x | `undo` | `src/three.c` |", "| y | `undo` | `src/one.c` |", "| x | `two` | `src/two.c` |\n\n`undo_none` undoes."]
    with tempfile.TemporaryDirectory() as home:
        for folder in ("src", "docs/developers"):
            os.makedirs(os.path.join(home, folder))
        for name, text in (("src/one.c", one), ("src/two.c", two)):
            with open(os.path.join(home, name), "w", encoding="utf-8") as file:
                file.write(text)
        for wanted, lines in ((0, good), (1, bad)):
            for line in lines:
                with open(os.path.join(home, "docs/developers/tour.md"), "w", encoding="utf-8") as file:
                    file.write(f"# A tour\n\n{HEADING}\n\n| concept | word | finds |\n|---|---|---|\n{line}\n\n## More\n")
                if len(check(home, {"x"})[1]) != wanted:
                    sys.exit(f"one_hop.py does not judge rightly: {line!r}: {check(home, {'x'})}")


def main():
    try_itself()
    count, wrong = check(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("TACTUS_SOURCE", "."), WANTED)
    print("\n".join(wrong + [f"{count} concepts, {len(wrong)} faults"]))
    return 1 if wrong else 0


sys.exit(main())
