#!/usr/bin/python3
"""constants.py [SOURCE]: numbers of the code that documents cite are those of the code.

A document marks each such number, in the same paragraph and after it, by a comment that no reader sees:

    looked at every 32 passes <!-- const: "32 passes" = PASSES_PER_LOOK -->

Left: words of the paragraph with one number in them (32, 2^-50, 25 %, sixteen, a quarter, twice, million). Right: arithmetic over numbers,
names, and pieces of code. A name is a macro, an enumerator or a static const of src/ or include/, wherever its file lies; one that several
files have is written FILE.c:NAME. A piece of code, for a number without a name, is `...` with # for the number and must be there once. Several
marks in one comment are separated by semicolons.
"""
import ast
import operator
import os
import re
import sys
import tempfile

# All pages of docs/reference are read; these must mark constants.
PAGES = ["engine.md", "kinetic.md", "ranks.md"]
WORDS = {"half": .5, "quarter": .25, "twice": 2, "million": 1e6, "fifth": .2}
WORDS.update({word: k for k, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())})
WORDS["sixteen"] = 16
NUMBER = r"0x[0-9a-f.]+(?:p[+-]?\d+)?|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?"
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow,
             ast.LShift: operator.lshift, ast.USub: operator.neg}


class Wrong(Exception):
    pass


def value_of(text, name):
    """Arithmetic; name(word) tells what a name is worth."""
    def walk(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        if isinstance(node, ast.Name):
            return name(node.id)
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](walk(node.left), walk(node.right))
        if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](walk(node.operand))
        raise Wrong(f"'{text}' is no arithmetic")

    text = re.sub(r"\b0x[0-9a-fA-F.]+p[+-]?\d+", lambda m: repr(float.fromhex(m[0])), text)
    text = re.sub(r"\((?:u?int\d+_t|double|size_t|tac_\w+)\)", "", text)
    text = re.sub(r"\b(0x[0-9a-f]+|\d+)(?:u?l{0,2})\b", r"\1", text, flags=re.I)
    text = re.sub(r"(?<![\w.])(\d+\.)(?!\d)", r"\g<1>0", text)
    try:
        return walk(ast.parse(text.strip(), mode="eval").body)
    except SyntaxError as error:
        raise Wrong(f"'{text}' is no arithmetic") from error


class Code:
    """The C sources below a folder: their constants by name, and their text."""

    def __init__(self, source):
        self.text, self.defined = {}, {}
        for folder in ("src", "include"):
            for home, _, names in os.walk(os.path.join(source, folder)):
                for name in names:
                    if name.endswith((".c", ".h")):
                        self.read(os.path.join(home, name))

    def read(self, path):
        with open(path) as file:
            text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", file.read(), flags=re.S)
        self.text[path] = " ".join(text.split())
        for name, value in re.findall(r"^\s*#\s*define\s+([A-Z]\w*)[ \t]+(\S.*)$", text, re.M):
            self.define(name, path, value)
        for body in re.findall(r"\benum\b[^{};()]*\{([^}]*)\}", text):
            before = "-1"
            for entry in filter(str.strip, body.split(",")):
                name, _, value = entry.partition("=")
                before = value.strip() or f"{before} + 1"
                self.define(name.strip(), path, before)
        for line in re.findall(r"\bstatic const \w+ ([^;{}()\[\]]*=[^;{}]*);", text):
            for name, value in re.findall(r"(\w+)\s*=\s*([^,]+)", line):
                self.define(name, path, value)

    def define(self, name, path, value):
        self.defined.setdefault(name, []).append((path, value))

    def value(self, name, where=None, near=None):
        """Of a constant: in the file called `where`; rather in the file `near` than in another."""
        found = [(path, text) for path, text in self.defined.get(name, []) if where is None or os.path.basename(path) == where]
        if near and len(found) > 1:
            found = [f for f in found if f[0] == near] or found
        if len(found) != 1:
            files = ", ".join(sorted({os.path.basename(path) for path, _ in found})) or "no file"
            raise Wrong(f"{where + ':' if where else ''}{name} is defined {len(found)} times: {files}")
        path, text = found[0]
        return value_of(text, lambda word: self.value(word, near=path))

    def piece(self, text):
        """The number in the place of # in a piece of code that is there once."""
        pattern = r"\s*".join(re.escape(part) if part != "#" else f"({NUMBER})" for part in re.findall(r"#|\w+|[^\w\s#]", text))
        pattern = (r"(?<!\w)" if text[0].isalnum() else "") + pattern
        found = [m for code in self.text.values() for m in re.findall(pattern, code, re.I)]
        if len(found) != 1:
            raise Wrong(f"`{text}` is {len(found)} times in the code")
        return value_of(found[0], lambda word: 0)

    def evaluate(self, text):
        names = {}

        def keep(number):
            names[f"_{len(names)}"] = number
            return f"_{len(names) - 1}"

        text = re.sub(r"`([^`]+)`", lambda m: keep(self.piece(m[1])), text)
        text = re.sub(r"(?:([\w-]+\.[ch]):)?\b([A-Z][A-Z0-9_]+)\b", lambda m: keep(self.value(m[2], m[1])), text)
        return value_of(text, lambda word: names[word])


def number_in(words):
    """The one number that some words have."""
    text = re.sub(r"(?<=\d) (?=\d{3}\b)", "", words.lower())
    found = []
    for m in re.finditer(r"(\d+)\^(-?\d+)|(%s)( ?%%)?|([a-z]+)" % NUMBER, text):
        if m[1]:
            found.append(float(m[1]) ** int(m[2]))
        elif m[3]:
            found.append(float.fromhex(m[3]) if m[3].startswith("0x") else float(m[3]) / (100 if m[4] else 1))
        elif m[5] in WORDS:
            found.append(float(WORDS[m[5]]))
    if len(found) != 1:
        raise Wrong(f'"{words}" has {len(found)} numbers')
    return found[0]


def check(path, code):
    """Marks of a document, failures."""
    with open(path) as file:
        text = file.read()
    count, failures = 0, []
    for paragraph in re.split(r"\n[ \t]*\n", text):
        for mark in re.finditer(r"<!--\s*const:(.*?)-->", paragraph, re.S):
            before = " ".join(re.sub(r"<!--.*?-->", " ", paragraph[:mark.start()], flags=re.S).split())
            for item in re.split(r";(?=\s*\")", mark[1]):
                count += 1
                try:
                    match = re.fullmatch(r'\s*"([^"]+)"\s*=\s*(\S.*?)\s*', item, re.S)
                    if match is None:
                        raise Wrong(f'{item.strip()}: not of the form "words" = CONSTANT')
                    words = " ".join(match[1].split())
                    if words not in before:
                        raise Wrong(f'the paragraph does not say "{words}" before its mark')
                    said, is_ = number_in(words), code.evaluate(" ".join(match[2].split()))
                    if abs(said - is_) > 1e-9 * abs(is_):
                        raise Wrong(f'it says "{words}", and the code has {match[2]} = {is_:.12g}')
                except Wrong as wrong:
                    failures.append(f"{os.path.relpath(path)}: {wrong}")
    return count, failures


def try_itself():
    """What is wrong must be told: each of these has one thing wrong."""
    with tempfile.TemporaryDirectory() as home:
        for folder in ("src/a", "src/b", "include"):
            os.makedirs(os.path.join(home, folder))
        for name, text in (("a/one.c", "enum { FIRST = 3, SECOND, THIRD = 1 << 4 }; static const double SHARE = .25, OTHER = 0x1p-3;\n#define DEEP (2 * THIRD)\n"),
                           ("b/two.c", "enum { FIRST = 5 }; int f(int x) { return x > 1.2 * y && x / 16 + 1; }\n")):
            with open(os.path.join(home, "src", name), "w") as file:
                file.write(text)
        code, page = Code(home), os.path.join(home, "page.md")
        good = ['four of them <!-- const: "four of" = SECOND -->', 'a quarter <!-- const: "quarter" = SHARE; "a quarter" = 2 * OTHER -->',
                '20 % above <!-- const: "20 %" = `x > # * y` - 1 -->', '32 and 5\nat once <!-- const: "32" = DEEP; "5 at" = two.c:FIRST -->', '2^-3 <!-- const: "2^-3" = OTHER -->']
        bad = ['five of them <!-- const: "five of" = SECOND -->', 'three <!-- const: "three" = FIRST -->', '3 <!-- const: "4" = SECOND -->',
               '4 <!-- const: "4" = GONE -->', '25 % <!-- const: "25 %" = `x > # * y` - 1 -->', '4 <!-- const: SECOND -->', '1 <!-- const: "1" = `#` -->']
        for wanted, texts in ((0, good), (1, bad)):
            for text in texts:
                with open(page, "w") as file:
                    file.write(text + "\n")
                if min(1, len(check(page, code)[1])) != wanted:
                    sys.exit(f"constants.py does not judge rightly: {text}: {check(page, code)}")


def main():
    try_itself()
    source = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("TACTUS_SOURCE", ".")
    code, total, failures = Code(source), 0, []
    folder = os.path.join(source, "docs/reference")
    for page in sorted(name for name in os.listdir(folder) if name.endswith(".md")):
        count, wrong = check(os.path.join(folder, page), code)
        if count == 0 and page in PAGES:
            wrong.append(f"docs/reference/{page} marks no constant")
        total += count
        failures += wrong
    for failure in failures:
        print(f"FAILS: {failure}")
    print(f"{total} constants, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
