#!/usr/bin/python3
"""openings.py [SOURCE]: every C file says at its top what it does, and comments cite works that a reader can find.

* Each .c file below src/ begins with a comment "NAME.c: what it does".  A file that follows a paper says which, and which section.
* A comment of src/ or include/ does not speak of "the paper", "the design" or a page of it: it names a work of docs/reference/bibliography.md, or a page
  of docs/.  The page exists, and so do its headings that the comment names (docs/explanation/method.md, Friction).

If this test failed, a newcomer would have to read a whole file to learn what it is for, or would look for a text that is not there."""
import os
import re
import sys
import tempfile

NAMELESS = r"\b(?:[Tt]he paper\b(?!s)|[Tt]he design\b|\(?design:|page \d+(?:\.\d+)* of the design|design(?: page)? \d)"


def sections(path):
    """Headings of a page, and the words in bold that begin its paragraphs."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return {name.strip(" .").replace("`", "") for name in re.findall(r"^#+ (.*)$", text, re.M) + re.findall(r"^(?:\* )?\*\*([^*]+)\*\*", text, re.M)}


def bad_citations(source, comment):
    """What a comment cites of docs/ and is not there."""
    for cited in re.finditer(r"\b(docs/[\w/-]+\.md)((?:, (?:and )?[A-Z][\w` ]+)*)", comment):
        path = os.path.join(source, cited[1])
        if not os.path.exists(path):
            yield cited[1]
            continue
        known = sections(path)
        for name in re.split(r", (?:and )?", cited[2])[1:]:
            name = name.strip().replace("`", "")
            if name not in known and not all(part in known for part in name.split(" and ")):
                yield f"{cited[1]}, {name}"


def check(source):
    """C files read, and what is wrong with them."""
    count, wrong = 0, []
    for top in ("src", "include"):
        for home, _, names in os.walk(os.path.join(source, top)):
            for name in sorted(names):
                if not name.endswith((".c", ".h")):
                    continue
                path = os.path.join(home, name)
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                path = os.path.relpath(path, source)
                count += name.endswith(".c")
                if name.endswith(".c") and not re.match(r"/\* %s: [^*]*\w{3}" % re.escape(name), text):
                    wrong.append(f"{path}:1: does not begin with a comment \"/* {name}: what it does\"")
                for comment in re.finditer(r"/\*.*?\*/|//[^\n]*", text, re.S):
                    words = " ".join(re.sub(r"\n\s*(\*|//)", " ", comment[0]).split())
                    line = text.count("\n", 0, comment.start()) + 1
                    found = re.search(NAMELESS, words)
                    if found:
                        wrong.append(f"{path}:{line}: speaks of \"{found[0]}\"; name a work of docs/reference/bibliography.md or a page of docs/")
                    wrong += [f"{path}:{line}: cites {cited}, which does not exist" for cited in bad_citations(source, words)]
    return count, sorted(wrong)


def try_itself():
    """Files without a fault are accepted, and each fault by itself is seen."""
    good = ["/* one.c: sorts. */\n", "/* one.c: sorts\n * ids (docs/page.md; ACM 2009, section 3). */\nint design;\n", "/* one.c: after the papers. */\n",
            "/* one.c: sorts (docs/page.md, The `page`, One and two, and\n * Three and Four; ACM 2009). */\n"]
    bad = ["", "int one;\n/* one.c: sorts. */\n", "/* Sorts. */\n", "/* two.c: sorts. */\n", "/* one.c: */\n", "/* one.c: sorts. */\n/* As in the\n * paper. */\n",
           "/* one.c: sorts (design: sorting). */\n", "/* one.c: sorts. */\n// page 1.3 of the design\n",
           "/* one.c: sorts (docs/none.md). */\n", "/* one.c: sorts (docs/page.md, Three, Five). */\n"]
    with tempfile.TemporaryDirectory() as home:
        for folder in ("src/a", "docs"):
            os.makedirs(os.path.join(home, folder))
        with open(os.path.join(home, "docs/page.md"), "w", encoding="utf-8") as file:
            file.write("# The `page`\n\n## One and two\n\n**Three.** Words.\n\n## Four\n")
        for wanted, texts in ((0, good), (1, bad)):
            for text in texts:
                with open(os.path.join(home, "src/a/one.c"), "w", encoding="utf-8") as file:
                    file.write(text)
                if len(check(home)[1]) != wanted:
                    sys.exit(f"openings.py does not judge rightly: {text!r}: {check(home)}")


def main():
    try_itself()
    count, wrong = check(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("TACTUS_SOURCE", "."))
    print("\n".join(wrong + [f"{count} C files, {len(wrong)} faults"]))
    return 1 if wrong or count < 100 else 0


sys.exit(main())
