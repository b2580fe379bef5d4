#!/usr/bin/python3
"""formats.py: docs/reference/compatibility.md names every format that the sources write, with its number, and the trajectory generation of today;
CITATION.cff and CHANGELOG.md know the version.  If it fails, the page promises something about files of another version."""
import os
import re
import sys

SOURCE = os.environ["TACTUS_SOURCE"]


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()


def main():
    wrong = []
    page = read("docs/reference/compatibility.md")
    used = set()
    for top in ("src", "include"):
        for home, _, names in os.walk(os.path.join(SOURCE, top)):
            for name in names:
                if name.endswith((".c", ".h", ".py")):
                    used.update(re.findall(r'"(tactus-[a-z]+/\d+)"', read(os.path.join(home, name))))
    told = set(re.findall(r"`(tactus-[a-z]+/\d+)`", page))
    wrong += [f"the sources have the format {name}, and the page does not" for name in sorted(used - told)]
    wrong += [f"the page has the format {name}, and the sources do not" for name in sorted(told - used)]
    generation = re.search(r"#define TAC_TRAJECTORY_GENERATION (\d+)", read("include/tactus/base.h"))[1]
    table = re.findall(r"^\| (\d+) \|", page.split("## Trajectory generation")[1].split("\n## ")[0], re.M)
    if not table or table[-1] != generation:
        wrong.append(f"the page's last generation is {table[-1:]}, the program's {generation}")
    if f"trajectory generation {generation}" not in read("docs/explanation/invariance.md"):
        wrong.append(f"docs/explanation/invariance.md has digests of another trajectory generation than {generation}")
    version = re.search(r"project\(tactus VERSION ([\d.]+)", read("CMakeLists.txt"))[1]
    if not re.search(rf"^version: {re.escape(version)}$", read("CITATION.cff"), re.M):
        wrong.append(f"CITATION.cff is not of version {version}")
    if not re.search(rf"^## {re.escape(version)}(,|$)", read("CHANGELOG.md"), re.M):
        wrong.append(f"CHANGELOG.md has no section {version}")
    print("\n".join(wrong + [f"{len(used)} formats, {len(wrong)} failures"]))
    return 1 if wrong or len(used) < 5 else 0


sys.exit(main())
