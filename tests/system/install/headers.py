#!/usr/bin/python3
"""headers.py INCLUDE SOURCE CC CXX FLAGS: may others include the installed headers?

Each header of the folder INCLUDE compiles by itself, and all of them forwards and backwards, as C11 and as C++17, without a warning. What their comments
cite is there: documents in the source tree SOURCE, headers among the installed ones; and they give names from C to C++.
"""
import os
import re
import subprocess
import sys

WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only"]
LANGUAGES = {"C11": ["-x", "c", "-std=c11"], "C++17": ["-x", "c++", "-std=c++17"]}


def cited(text):
    """Documents and headers that comments name."""
    for comment in re.findall(r"/\*.*?\*/", text, re.S):
        yield from re.findall(r"[\w./-]+\.(?:md|h)\b", comment)
        yield from re.findall(r"\bdesign(?: page)? ?[\d:.]+", comment)


def main():
    folder, source, cc, cxx, flags = sys.argv[1:]
    flags = [re.sub(r"\\(.)", r"\1", flag) for flag in re.split(r"(?<!\\)\s+", flags.strip())]
    # What the libraries' own headers are like is not asked.
    include = os.path.dirname(os.path.abspath(folder))
    flags = ["-I", include] + [f"-isystem{flag[2:]}" for flag in flags if flag.startswith("-I") and flag[2:] != include]
    names = sorted(name for name in os.listdir(folder) if name.endswith(".h"))
    failures = []
    if "run.h" not in names:
        failures.append(f"{folder} has no run.h")
    several = [[name] for name in names] + [names, names[::-1]]  # so each comes after each other one
    for (language, options), compiler in zip(LANGUAGES.items(), (cc, cxx)):
        for order in several:
            text = "".join(f"#include <tactus/{name}>\n" for name in order)
            done = subprocess.run([compiler, *options, *WARNINGS, *flags, "-"], input=text, text=True, capture_output=True)
            if done.returncode != 0:
                failures.append(f"{', '.join(order)} as {language}: {done.stderr.strip().splitlines()[0]}")
    for name in names:
        with open(os.path.join(folder, name)) as file:
            text = file.read()
        if re.search(r"^\w.*\);$", text, re.M) and 'extern "C"' not in text:
            failures.append(f'{name} declares functions without extern "C"')
        for what in cited(text):
            there = os.path.join(include, what) if what.endswith(".h") else os.path.join(source, what)
            if not os.path.exists(there):
                failures.append(f"{name} cites {what}, which is not there")
    for failure in failures:
        print(f"FAILS: {failure}")
    print(f"{len(names)} headers, {2 * len(several)} compilations, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
