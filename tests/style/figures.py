#!/usr/bin/python3
"""figures.py [--source DIR]...: the figures by which the house is judged, as a table: one column for each source tree, by default this one.

    tests/style/figures.py --source ../older --source .

shows what has become of an older tree.  It reads the text of the sources and needs no build.  A figure that a tree does not have (an
older one has other rooms) is a dash.  What each row counts:

* lines of src: those of its C files and headers; the Python package and other files are not among them.
* rooms, arrows: what that tree's own tests/style/rooms.py allows and finds.  A circle is a set of rooms each of which includes, over
  others, all of the set.
* functions over 60 lines: from the first line of the signature to the closing brace.
* prototypes with the whole simulation: functions declared in headers of src with a parameter `struct tac_sim *`, `struct tac_implicit *`
  or `struct tac_simulation *`.
* pointers of the integrator table that are NULL: functions of `struct tac_integrator`, or of a part of it, that the table or the part of
  at least one integrator leaves out.  Parts that an integrator may lack are counted in a row of their own.
* doubled base names: names that two or more files of src have.
* getenv: calls in src.
* test lines of a room: lines of the files in tests/unit/ROOM, in an older tree in tests/ROOM.
* words of a page: words of its sentences and tables, without blocks of code.
* private words: whole words of comments, messages and documents, and whole parts of names between underscores.  Some of them are
  English words too ("still", "way", "deal", "told"), so the rows of names say more than those of sentences.
"""
import argparse
import os
import re
import subprocess
import sys

MOST_OF_FILE, MOST_OF_FUNCTION, MOST_OF_PAGE = 800, 60, 2000
WHOLE = ("sim", "implicit", "simulation")
PRIVATE = {"nap": "naps?|napped|napping", "overslept": "overslept|oversle[ee]ps?", "chatter": "chatters?", "deal": "deals?|dealt|dealing", "told": "told",
           "still": "still", "way": "ways?", "pace": "paces?", "wish": "wish|wishes|wished", "twins": "twins?", "glance": "glances?|glanced",
           "wander": "wanders?|wandered|wandering", "pair_rungs": "pair_rungs", "grip": "grips?|gripped"}
# Pages that explain, in a tree whose documents lie flat in docs/: those that say how and why, and neither list nor teach.
FLAT = ("audit", "ccd", "distribution", "elements", "energy", "engine", "forecast", "implicit", "kds", "method", "performance", "solver",
        "verification")


def read(path):
    with open(path, errors="replace") as f:
        return f.read()


def files_below(top, endings=None):
    """Paths of the files below a folder, sorted; of these endings alone."""
    found = []
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name != "__pycache__"]
        found += [os.path.join(folder, name) for name in names if endings is None or name.endswith(endings)]
    return sorted(found)


def without_comments(text, strings=True):
    """C without its comments and, with strings=False, without what stands between quotes, so that names remain."""
    def keep(match):
        found = match.group(0)
        if found[0] == "/":
            return re.sub(r"[^\n]+", " ", found)
        return found if strings else '""'
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', keep, text, flags=re.S)


def functions(text):
    """(name, lines) of every function that a C file defines, as jobs/format lays them out."""
    lines = without_comments(text).split("\n")
    for at, line in enumerate(lines):
        if line != "{":
            continue
        first = at
        while first > 0 and re.match(r"\S|\s+\S", lines[first - 1]) and not re.search(r"[;}]\s*$|^#", lines[first - 1]):
            first -= 1
        signature = " ".join(lines[first:at])
        name = re.search(r"(\w+)\s*\(", signature)
        if name and at + 1 < len(lines):
            last = next((n for n in range(at, len(lines)) if lines[n].startswith("}")), at)
            yield name.group(1), last - first + 1


def declared(text):
    """Statements of a header at the outermost level, each on a line; a body between braces is left out."""
    text = re.sub(r"^#[^\n]*(\\\n[^\n]*)*", "", without_comments(text), flags=re.M)
    while re.search(r"\{[^{}]*\}", text):
        text = re.sub(r"\{[^{}]*\}", ";", text)
    return [" ".join(s.split()) for s in text.split(";") if s.strip()]


def circles(arrows):
    """Sets of two or more rooms that reach each other."""
    reached = {}
    for start in {a for arrow in arrows for a in arrow}:
        seen, todo = set(), [start]
        while todo:
            here = todo.pop()
            for a, b in arrows:
                if a == here and b not in seen:
                    seen.add(b)
                    todo.append(b)
        reached[start] = seen
    return {frozenset(b for b in reached[a] if a in reached[b]) for a in reached if a in reached[a]}


def table_of_integrators(source):
    """(functions of the table and of its parts, those that at least one integrator leaves out, parts that it may lack)."""
    structs, missing, lacked = {}, set(), set()
    paths = files_below(os.path.join(source, "src"), (".c", ".h"))
    for path in paths:
        if os.path.basename(path) == "integrator.h":
            for name, body in re.findall(r"^struct (tac_integrator\w*) \{\n(.*?)^\};", without_comments(read(path)), re.M | re.S):
                structs[name] = (set(re.findall(r"\(\*(\w+)\)\(", body)), set(re.findall(r"struct tac_integrator_\w+ \*(\w+);", body)))
    for path in paths:
        text = without_comments(read(path))
        for name, body in re.findall(r"const struct (tac_integrator\w*) \w+ = \{(.*?)\};", text, re.S):
            given = set(re.findall(r"\.(\w+) =", body)) - set(re.findall(r"\.(\w+) = NULL", body))
            if name in structs and given:
                missing |= {(name, pointer) for pointer in structs[name][0] - given}
                lacked |= structs[name][1] - given
    if "tac_integrator" not in structs:
        sys.exit("figures.py: no integrator.h below %s/src has a struct tac_integrator; table_of_integrators() must be told where it is now" % source)
    return sum(len(pointers) for pointers, _ in structs.values()), len(missing), len(lacked)


def prose_words(text):
    """Words of a page: what stands between blocks of code, without marks of Markdown that are no words."""
    return sum(1 for word in re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S).split() if re.search(r"\w", word))


def explanation(source):
    """Pages of explanation, by name."""
    home = os.path.join(source, "docs", "explanation")
    if os.path.isdir(home):
        return {os.path.splitext(os.path.basename(p))[0]: p for p in files_below(home, ".md")}
    return {name: p for name in FLAT for p in [os.path.join(source, "docs", name + ".md")] if os.path.exists(p)}


def private_words(source):
    """{(word, "names" or "sentences"): how often} in src and include; and in documents."""
    counts = {}
    code = files_below(os.path.join(source, "src"), (".c", ".h", ".py")) + files_below(os.path.join(source, "include"), ".h")
    pages = [os.path.join(source, name) for name in os.listdir(source) if name.endswith(".md")] + files_below(os.path.join(source, "docs"), ".md")
    patterns = {word: re.compile(r"(?<![A-Za-z0-9])(?:%s)(?![A-Za-z0-9])" % pattern, re.I) for word, pattern in PRIVATE.items()}
    for path in code + pages:
        text = read(path)
        bare = without_comments(text, strings=False) if path.endswith((".c", ".h")) else ""
        for word, pattern in patterns.items():
            there, named = len(pattern.findall(text)), len(pattern.findall(bare))
            where = "documents" if path in pages else "comments and messages"
            counts[word, "names"] = counts.get((word, "names"), 0) + named
            counts[word, where] = counts.get((word, where), 0) + there - named
    return counts


def figures(source):
    """{row: figure} of a tree, in the order of the table."""
    src = os.path.join(source, "src")
    if not os.path.isdir(src) or not os.path.exists(os.path.join(source, "tests/style/rooms.py")):
        sys.exit("figures.py: %s is no source tree of Tactus: it has no src or no tests/style/rooms.py; give the tree's uppermost folder" % source)
    rows = {}
    paths = files_below(src, (".c", ".h"))
    texts = {path: read(path) for path in paths}
    rows["lines of src"] = sum(text.count("\n") for text in texts.values())
    rooms = subprocess.run([os.path.join(source, "tests/style/rooms.py"), "--graph"], env=dict(os.environ, TACTUS_SOURCE=os.path.abspath(source)),
                           stdout=subprocess.PIPE, text=True, check=True).stdout
    arrows = set(re.findall(r'"(\w+)" -> "(\w+)"', rooms))
    names = sorted({room for arrow in arrows for room in arrow})
    rows["rooms"] = len(names)
    rows["arrows between rooms"] = len(arrows)
    rows["circles of rooms"] = len(circles(arrows))
    rows["files over %d lines" % MOST_OF_FILE] = sum(text.count("\n") > MOST_OF_FILE for text in texts.values())
    found = [lines for path in paths for _, lines in functions(texts[path])]
    rows["functions"] = len(found)
    rows["functions over %d lines" % MOST_OF_FUNCTION] = sum(lines > MOST_OF_FUNCTION for lines in found)
    whole = re.compile(r"\(.*\bstruct tac_(?:%s) \*" % "|".join(WHOLE))
    rows["prototypes with the whole simulation"] = sum(bool(whole.search(s)) and not s.startswith(("typedef", "return"))
                                                       for path in paths if path.endswith(".h") for s in declared(texts[path]))
    pointers, missing, lacked = table_of_integrators(source)
    rows["pointers of the integrator table"] = pointers
    rows["  of them NULL in an integrator"] = missing
    rows["  parts that an integrator lacks"] = lacked
    base = [os.path.basename(path) for path in files_below(src, (".c", ".h"))]
    rows["doubled base names"] = sum(base.count(name) > 1 for name in set(base))
    rows["getenv"] = sum(len(re.findall(r"\bgetenv\(", without_comments(text))) for text in texts.values())
    for room in names:
        lines = [sum(read(p).count("\n") for p in files_below(os.path.join(source, home, room))) for home in ("tests/unit", "tests")
                 if os.path.isdir(os.path.join(source, home, room))]
        rows["test lines of " + room] = lines[0] if lines else 0
    pages = explanation(source)
    words = {name: prose_words(read(path)) for name, path in sorted(pages.items())}
    rows["pages of explanation"] = len(words)
    rows["  of them over %d words" % MOST_OF_PAGE] = sum(n > MOST_OF_PAGE for n in words.values())
    for name, n in words.items():
        rows["words of " + name] = n
    counts = private_words(source)
    for where in ("names", "comments and messages", "documents"):
        for word in PRIVATE:
            rows["'%s' in %s" % (word, where)] = counts.get((word, where), 0)
        rows["private words in " + where] = sum(n for (_, there), n in counts.items() if there == where)
    return rows


def merged(columns):
    """The rows of all columns: each that only one of them has comes after the row that it follows there."""
    order = []
    for column in columns:
        at = 0
        for row in column:
            if row in order:
                at = order.index(row) + 1
            else:
                order.insert(at, row)
                at += 1
    return order


def main():
    parser = argparse.ArgumentParser(description="The figures by which the house is judged, one column for each source tree.")
    parser.add_argument("--source", action="append", metavar="DIR", help="a source tree; may be given several times (default: this one)")
    sources = parser.parse_args().source or [os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))]
    columns = [figures(source) for source in sources]
    titles = [os.path.basename(os.path.abspath(source)) for source in sources]
    rows = merged(columns)
    width = max(len(row) for row in rows)
    print("| %-*s | %s |" % (width, "figure", " | ".join("%9s" % title for title in titles)))
    print("|%s|%s|" % ("-" * (width + 2), "|".join("-" * (max(9, len(title)) + 1) + ":" for title in titles)))
    for row in rows:
        print("| %-*s | %s |" % (width, row, " | ".join("%*s" % (max(9, len(title)), column.get(row, "-")) for column, title in zip(columns, titles))))
    return 0


sys.exit(main())
