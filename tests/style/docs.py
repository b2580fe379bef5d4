#!/usr/bin/python3
"""docs.py [SOURCE]: the documents are laid out for reading, and what they point to exists.  docs.py --seal: seals new lab notes.

Documents are README.md and the other pages beside it, docs/**/*.md and every README below tests/, jobs/ and src/.  The test fails on

* a line of more than 110 characters that is not part of a table, a code block, a heading or a URL;
* a row of a table that does not stand in one line, or has another number of columns than the first; a quote that some lines leave;
* a link to a file that does not exist, or to a heading that does not exist;
* a path below src/, include/, tests/, jobs/ or docs/ that does not exist, or a C or Python file between backquotes that no folder has;
* a name tac_... or TAC_... between backquotes that the C sources do not have;
* a page of docs/ that docs/index.md does not link to (a lab note: docs/lab/index.md);
* a page of explanation with more than 2000 words;
* what was tried in vain, outside of docs/lab; a mark of a constant, outside of docs/reference;
* a lab note without date in its name, commit, Question, Method, Result or Decision; one that links out of the laboratory, because it is
  never edited; one that differs from docs/lab/SHA256SUMS;
* a page of docs/ that a source, a test or a job names and that is not there.

Lab notes keep the paths and names of their day.  A path may have a star, or NAME in the place of a name.  A program of the build
(build/tests/...) exists if CMakeLists.txt of its folder names it, with or without what precedes the first underscore.  If this test failed,
a reader would be sent to something that has been moved or renamed, or would take a diary for a promise."""
import fnmatch
import hashlib
import os
import re
import sys
import tempfile

WIDTH = 110
FOLDERS = ("src", "include", "tests", "jobs", "docs")
# Files of the reader's own, in examples.
EXAMPLES = {"mine.c", "mine.py"}
# Beside README.md. CHANGELOG.md tells of what was, so its paths may be old.
BESIDE = {"README.md", "CONTRIBUTING.md", "SECURITY.md"}
MOST_WORDS = 2000
NOTE = ["Question", "Method", "Result", "Decision"]
# Pages that jobs/docs makes, for the site alone.
MADE = {"docs/reference/c-headers.md", "docs/reference/python-modules.md"}


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
    return sorted(f for f in files if f in BESIDE or re.fullmatch(r"docs/.*\.md", f) or re.fullmatch(r"(tests|jobs|src)/(.*/)?README[^/]*", f))


def is_note(page):
    return page.startswith("docs/lab/") and page != "docs/lab/index.md"


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


def broken_blocks(text):
    """Tables and quotes whose lines were filled like those of a paragraph."""
    columns, before = 0, ""
    for number, line in prose(text):
        line = line or ""
        if line.startswith("|"):
            found = len(re.findall(r"(?<!\\)\|", line))
            if not line.rstrip().endswith("|") or columns and found != columns:
                yield number, "is no row of its table; write each row in one line, with as many columns as the first"
            columns = columns or found
        elif before.startswith("|") and line.strip() or before.startswith(">") and line.strip() and not line.startswith(">"):
            yield number, "continues a table or a quote without its mark; begin each of its lines with it"
            columns = 0
        else:
            columns = 0
        before = line


def bad_links(source, page, text, files):
    kept = "\n".join("" if line is None else re.sub(r"`[^`]*`", "", line) for _, line in prose(text))
    for match in re.finditer(r"\]\(\s*([^)\s]+)[^)]*\)", kept):
        if re.match(r"[a-z]+:", match[1]):
            continue
        number = kept.count("\n", 0, match.start()) + 1
        path, _, anchor = match[1].partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if is_note(page) and not target.startswith(("docs/lab/", "docs/pictures/")):
            yield number, f"links to {match[1]}; a lab note names what lies outside of the laboratory, without a link"
        elif target in MADE:
            continue
        elif target not in files:
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


def misplaced(page, text):
    """What belongs into another folder of docs/."""
    if page.startswith("docs/explanation/"):
        words = len(text.split())
        if words > MOST_WORDS:
            yield 1, f"has {words} words; a page of explanation has at most {MOST_WORDS}"
    for number, line in enumerate(text.split("\n"), 1):
        if re.search(r"\b[Tt]ried in vain\b", line) and page != "docs/developers/style.md":
            yield number, "tells what was tried in vain; that belongs into a note in docs/lab"
        if re.search(r"<!--\s*const:", line) and not page.startswith("docs/reference/"):
            yield number, "marks a constant; constants are cited in docs/reference alone"


def bad_note(source, page, text):
    """What a laboratory note lacks."""
    if not re.fullmatch(r"docs/lab/\d{4}-\d\d-\d\d-[a-z0-9-]+\.md", page):
        yield 1, "is not called YYYY-MM-DD-words.md"
    if not re.match(r"# [^\n]+\n\nCommit: \S", text):
        yield 1, "does not begin with a title and a line 'Commit: ...'"
    if re.findall(r"^## (.*)$", text, re.M) != NOTE:
        yield 1, "does not have the sections " + ", ".join(NOTE)
    if sealed(source).get(os.path.basename(page)) != hashlib.sha256(text.encode()).hexdigest():
        yield 1, "is not as docs/lab/SHA256SUMS has it: a lab note is never edited (a new one: tests/style/docs.py --seal)"


def sealed(source):
    try:
        with open(os.path.join(source, "docs/lab/SHA256SUMS"), encoding="utf-8") as file:
            return dict(reversed(line.split(None, 1)) for line in file.read().splitlines())
    except OSError:
        return {}


def seal(source):
    """Adds the digests of new notes; what is sealed stays."""
    folder = os.path.join(source, "docs/lab")
    digests = sealed(source)
    for name in os.listdir(folder):
        if name.endswith(".md") and name != "index.md" and name not in digests:
            with open(os.path.join(folder, name), "rb") as file:
                digests[name] = hashlib.sha256(file.read()).hexdigest()
    with open(os.path.join(folder, "SHA256SUMS"), "w", encoding="utf-8") as file:
        file.writelines(f"{digest}  {name}\n" for name, digest in sorted(digests.items()))


def unlinked(source, pages):
    """Pages that no index leads to."""
    for index, below in (("docs/index.md", "docs/"), ("docs/lab/index.md", "docs/lab/")):
        if index not in pages:
            continue
        with open(os.path.join(source, index), encoding="utf-8") as file:
            linked = {os.path.normpath(os.path.join(os.path.dirname(index), path)) for path in re.findall(r"\]\(([^)#]+)", file.read())}
        for page in pages:
            if page.startswith(below) and is_note(page) == (below == "docs/lab/") and page != index and page not in linked:
                yield f"{page}:1: is not linked from {index}"


def bad_mentions(source, files):
    """Pages that sources, tests and jobs name and that are not there."""
    for path in sorted(files):
        if not re.fullmatch(r"(CMakeLists\.txt|(src|include|tests|jobs)/.*(\.(c|h|py|sh|cmake)|CMakeLists\.txt|/[^./]+))", path) or path.startswith("tests/style/"):
            continue
        try:
            with open(os.path.join(source, path), encoding="utf-8") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError):
            continue
        for number, line in enumerate(text.split("\n"), 1):
            for page in re.findall(r"(?<![\w/.-])docs/[\w/-]+\.(?:md|json)", line):
                if page not in files:
                    yield f"{path}:{number}: names {page}, which does not exist"


def check(source):
    """Documents read, and what is wrong with them."""
    files, names, wrong = files_of(source), names_of(source), []
    pages = documents(files)
    for page in pages:
        with open(os.path.join(source, page), encoding="utf-8") as file:
            text = file.read()
        found = list(bad_links(source, page, text, files))
        if is_note(page):
            found += bad_note(source, page, text)
        else:
            found += [*long_lines(text), *broken_blocks(text), *bad_paths(source, text, files), *bad_names(text, names), *misplaced(page, text)]
        wrong += [f"{page}:{number}: {what}" for number, what in sorted(found)]
    return len(pages), wrong + list(unlinked(source, pages)) + list(bad_mentions(source, files))


def try_itself():
    """Pages without a fault are accepted, and each fault by itself is seen."""
    wide = "word " * 22 + "ends"
    good = ["# " + wide, "| " + wide + " |", "```\n" + wide + "\nsrc\n```", "Text:\n\n    " + wide + "\n\nmore", "See https://a.org/" + "a" * 120,
            "[x](two.md#a-b-c)", "[x](#here)\n\n# Here", "`src/a/*.c`, `src/a/one.c`, `one.c`, `a/one.c`, src/a/, `src/a/oNAME.c`", "build/src/a/x_one runs", "`mine.c`", "`struct tac_one`, `tac_<room>_<verb>`, `tac_one()`",
            "| a | b |\n|---|---|\n| c | `d \\| e` |\n\n> quote\n> more\n\nText"]
    bad = [wide, "* " + wide, "* item\n\n    " + wide, "```\ncode\n```\n" + wide, "[x](three.md)", "[x](two.md#a-b)", "[x](#here)", "`src/a/two.c`", "see src/b/one.c.",
           "`two.c`", "`b/one.c`", "src/a/two*.c", "build/src/a/x_two runs", "`struct tac_two`", "`TAC_TWO`", "| a | b |\n| c |", "| a | b\n", "| a | b |\nmore |", "> quote\nmore"]
    with tempfile.TemporaryDirectory() as home:
        for folder in ("docs/explanation", "docs/reference", "docs/lab", "src/a"):
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
        note = "# Title\n\nCommit: abc\n\n" + "\n".join(f"## {name}\n\nWords of src/gone.c, tried in vain. " + wide for name in NOTE) + "\n"
        for wanted, page, text in (
                (0, "page.md", "words"), (0, "explanation/page.md", "words\n" * 2000), (1, "explanation/page.md", "words\n" * 2001), (1, "page.md", "Tried in vain"),
                (0, "reference/page.md", "four <!-- const: x -->"), (1, "page.md", "four <!-- const: x -->"), (0, "lab/2026-01-02-a.md", note), (1, "lab/a.md", note),
                (1, "lab/2026-01-02-a.md", note + "[x](../two.md)\n"), (1, "lab/2026-01-02-a.md", note + "## More\n"), (1, "lab/2026-01-02-a.md", note[9:])):
            path = os.path.join(home, "docs", page)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            seal(home)
            if len(check(home)[1]) != wanted:
                sys.exit(f"docs.py does not judge rightly: {page}: {text[:40]!r}: {check(home)}")
            if "lab" in page and wanted == 0:
                with open(path, "a", encoding="utf-8") as file:
                    file.write("edited\n")
                if len(check(home)[1]) != 1:
                    sys.exit("docs.py does not see that a lab note was edited")
            os.remove(path)
            os.remove(os.path.join(home, "docs/lab/SHA256SUMS"))
        for wanted, text in ((0, "[two](two.md)"), (1, "nothing")):
            for name, words in (("index.md", text), ("page.md", "words")):
                with open(os.path.join(home, "docs", name), "w", encoding="utf-8") as file:
                    file.write(words + (" [page](page.md)\n" if name == "index.md" else "\n"))
            if len(check(home)[1]) != wanted:
                sys.exit(f"docs.py does not see which pages an index links to: {check(home)}")
        with open(os.path.join(home, "src/a/one.c"), "a", encoding="utf-8") as file:
            file.write("/* docs/gone.md */\n")
        if len(check(home)[1]) != 2:
            sys.exit("docs.py does not see that a source names a page that is not there")


def main():
    arguments = [a for a in sys.argv[1:] if a != "--seal"]
    source = arguments[0] if arguments else os.environ.get("TACTUS_SOURCE", ".")
    if "--seal" in sys.argv[1:]:
        seal(source)
        return 0
    try_itself()
    pages, wrong = check(source)
    print("\n".join(wrong + [f"{pages} documents, {len(wrong)} faults"]))
    return 1 if wrong or pages < 10 else 0


sys.exit(main())
