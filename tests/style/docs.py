#!/usr/bin/python3
"""docs.py [SOURCE]: the documents are laid out for reading, and what they point to exists.

Documents are README.md, CONTRIBUTING.md, docs/*.md and every README below tests/, jobs/ and src/.  The test fails on

* a line of more than 110 characters that is not part of a table, a code block, a heading or a URL;
* a link to a file that does not exist, or to a heading that does not exist;
* a path below src/, include/, tests/, jobs/ or docs/ that does not exist, or a C or Python file between backquotes that no folder has;
* a name tac_... or TAC_... between backquotes that the C sources do not have.

A path may have a star, or NAME in the place of a name.  A program of the build (build/tests/...) exists if CMakeLists.txt of its folder names
it, with or without what precedes the first underscore.  If this test failed, a reader would be sent to something that has been moved or renamed."""
import fnmatch
import os
import re
import sys
import tempfile

WIDTH = 110
FOLDERS = ("src", "include", "tests", "jobs", "docs")
# Files of the reader's own, in examples.
EXAMPLES = {"mine.c", "mine.py"}


def files_of(source):
    """Every file of the folders that documents speak of, and the folders themselves, relative to the source."""
    found = set(name for name in os.listdir(source) if os.path.isfile(os.path.join(source, name)))
    for top in FOLDERS:
        for home, folders, names in os.walk(os.path.join(source, top)):
            folders[:] = [name for name in folders if name != "__pycache__"]
            home = os.path.relpath(home, source)
            found.add(home)
            found.update(os.path.join(home, name) for name in names)
    return found


def documents(files):
    return sorted(f for f in files if f in ("README.md", "CONTRIBUTING.md") or re.fullmatch(r"docs/[^/]+\.md", f)
                  or re.fullmatch(r"(tests|jobs|src)/(.*/)?README[^/]*", f))


def prose(text):
    """(number, line) of the lines outside of code blocks, with a code block's lines replaced by None."""
    fence, before, item = False, "", False
    for number, line in enumerate(text.split("\n"), 1):
        code = fence
        if line.lstrip().startswith("```"):
            fence, code = not fence, True
        elif not fence:
            item = bool(re.match(r"\s*([*+-]|\d+\.)\s", line)) or item and (line[:1] in " " or line == "")
            # Indented by four after an empty line: code, but within a list the item goes on.
            code = line.startswith("    ") and not item and (before.strip() == "" or before == "code")
        before = "code" if code and not fence else line
        yield number, None if code else line


def anchors(text):
    """The names by which a page's headings are linked to."""
    seen = {}
    for _, line in prose(text):
        heading = re.match(r"#+\s+(.*?)\s*#*$", line or "")
        if heading:
            name = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower()).replace(" ", "-")
            count = seen.get(name, 0)
            seen[name] = count + 1
            yield name if count == 0 else f"{name}-{count}"


def long_lines(text):
    for number, line in prose(text):
        if line is None or len(line) <= WIDTH or re.match(r"\s*\||#+\s", line) or re.search(r"https?://\S", line):
            continue
        yield number, f"has {len(line)} characters; write at most {WIDTH}"


def bad_links(source, page, text, files):
    kept = "\n".join("" if line is None else re.sub(r"`[^`]*`", "", line) for _, line in prose(text))
    for match in re.finditer(r"\]\(\s*([^)\s]+)[^)]*\)", kept):
        if re.match(r"[a-z]+:", match[1]):
            continue
        number = kept.count("\n", 0, match.start()) + 1
        path, _, anchor = match[1].partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if target not in files:
            yield number, f"links to {match[1]}, which does not exist"
        elif anchor:
            with open(os.path.join(source, target), encoding="utf-8") as file:
                if anchor not in anchors(file.read()):
                    yield number, f"links to {match[1]}, and {target} has no such heading"


def exists(path, files):
    pattern = path.replace("NAME", "*")
    return path in files or "*" in pattern and any(fnmatch.fnmatchcase(file, pattern) for file in files)


def built(source, path):
    """Whether a folder's CMakeLists.txt makes a program or library of this name."""
    folder, name = os.path.split(path)
    name = re.sub(r"^lib(\w+)\.(so|a)$", r"\1", name)
    try:
        with open(os.path.join(source, folder, "CMakeLists.txt"), encoding="utf-8") as file:
            words = set(re.findall(r"\w+", file.read()))
    except OSError:
        return False
    return name in words or name.partition("_")[2] in words


def bad_paths(source, text, files):
    for number, line in enumerate(text.split("\n"), 1):
        for match in re.finditer(r"(?<![\w./-])(build[\w-]*/)?((?:%s)/[\w./*-]*[\w*/])" % "|".join(FOLDERS), line):
            path = match[2].rstrip("/")
            if not exists(path, files) and not built(source, path):
                yield number, f"speaks of {match[0]}, which does not exist"
        for span in re.findall(r"`([^`]+)`", line):
            for name in re.findall(r"(?<![\w./*-])([\w*][\w./*-]*\.(?:c|h|py))(?![\w/*-])", span):
                if name.split("/")[0] not in FOLDERS and name not in EXAMPLES and not exists(name, files):
                    pattern = "*/" + name.replace("NAME", "*")
                    if not any(fnmatch.fnmatchcase("/" + file, pattern) for file in files):
                        yield number, f"speaks of {name}, and no file is called so"


def names_of(source):
    """Every word of the C sources that begins with tac_ or TAC_."""
    found = set()
    for top in ("src", "include"):
        for home, _, names in os.walk(os.path.join(source, top)):
            for name in names:
                if name.endswith((".c", ".h")):
                    with open(os.path.join(home, name), encoding="utf-8") as file:
                        found.update(re.findall(r"\b(?:tac|TAC)_\w+", file.read()))
    return found


def bad_names(text, known):
    for number, line in enumerate(text.split("\n"), 1):
        for span in re.findall(r"`([^`]+)`", line):
            for name in re.findall(r"\b(?:tac|TAC)_\w*\w\b", span):
                if name not in known and not name.endswith("_"):
                    yield number, f"speaks of {name}, which the code does not have"


def check(source):
    """Documents read, and what is wrong with them."""
    files, names, wrong = files_of(source), names_of(source), []
    pages = documents(files)
    for page in pages:
        with open(os.path.join(source, page), encoding="utf-8") as file:
            text = file.read()
        found = [*long_lines(text), *bad_links(source, page, text, files), *bad_paths(source, text, files), *bad_names(text, names)]
        wrong += [f"{page}:{number}: {what}" for number, what in sorted(found)]
    return len(pages), wrong


def try_itself():
    """Pages without a fault are accepted, and each fault by itself is seen."""
    wide = "word " * 22 + "ends"
    good = ["# " + wide, "| " + wide + " |", "```\n" + wide + "\nsrc\n```", "Text:\n\n    " + wide + "\n\nmore", "See https://a.org/" + "a" * 120,
            "[x](two.md#a-b-c)", "[x](#here)\n\n# Here", "`src/a/*.c`, `src/a/one.c`, `one.c`, `a/one.c`, src/a/, `src/a/oNAME.c`", "build/src/a/x_one runs", "`mine.c`", "`struct tac_one`, `tac_<room>_<verb>`, `tac_one()`"]
    bad = [wide, "* " + wide, "* item\n\n    " + wide, "```\ncode\n```\n" + wide, "[x](three.md)", "[x](two.md#a-b)", "[x](#here)", "`src/a/two.c`", "see src/b/one.c.",
           "`two.c`", "`b/one.c`", "src/a/two*.c", "build/src/a/x_two runs", "`struct tac_two`", "`TAC_TWO`"]
    with tempfile.TemporaryDirectory() as home:
        for folder in ("docs", "src/a"):
            os.makedirs(os.path.join(home, folder))
        for name, text in (("docs/two.md", "## A, b: `c`\n"), ("src/a/one.c", "struct tac_one;\n"), ("src/a/CMakeLists.txt", "add_executable(x_one one.c)\n")):
            with open(os.path.join(home, name), "w", encoding="utf-8") as file:
                file.write(text)
        for wanted, texts in ((0, good), (1, bad)):
            for text in texts:
                with open(os.path.join(home, "docs/page.md"), "w", encoding="utf-8") as file:
                    file.write(text + "\n")
                if len(check(home)[1]) != wanted:
                    sys.exit(f"docs.py does not judge rightly: {text!r}: {check(home)}")


def main():
    try_itself()
    pages, wrong = check(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("TACTUS_SOURCE", "."))
    print("\n".join(wrong + [f"{pages} documents, {len(wrong)} faults"]))
    return 1 if wrong or pages < 10 else 0


sys.exit(main())
