#!/usr/bin/python3
"""scripts.py: the scenes and scripts by which speed is measured can be used.

* Every scene of scenes.py passes `tactus check` without a warning; papers-knot.json is what knot.py makes.
* `run` and `compare` tell what run.json and the checkpoint say; `compare` sees whether two programs compute the same bits.
* `instructions` refuses a ratio over its bound, on this machine and on one that it has no counts of, and keeps what is smaller.

If this test failed, a figure of speed could not be measured again, or was not what its column says.
"""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import scenes

TACTUS = os.path.abspath(os.environ["TACTUS"])
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)
        print("failed:", what)


def call(words, home, **environment):
    return subprocess.run(words, cwd=home, env={**scenes.environment(home), **environment}, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def script(name, home, *words):
    """Lines of a script's table and its lines of JSON."""
    done = call([os.path.join(scenes.HERE, name), *words], home)
    check(done.returncode == 0, f"{name} {' '.join(words)}: {done.stderr[-500:]}")
    lines = done.stdout.splitlines()
    return [line for line in lines if line.startswith("|")], [json.loads(line) for line in lines if line.startswith("{")]


def scenes_are_sound(home):
    for name in scenes.SCENES:
        # A sheet of a million vertices is no matter of a second.
        smaller = ["--set", "bodies.sheet.mesh.cells=[20,20]", "--set", "bodies.sheet.mesh.size=[0.06,0.06]"] if name == "sheet" else []
        done = call([TACTUS, "check", *scenes.arguments(name, home), *smaller, "--json", "-o", home], home)
        check(done.returncode == 0, f"{name}: {done.stderr}")
        if done.returncode == 0:
            reported = json.loads(done.stdout)
            check(reported["warnings"] == 0, f"{name}: {reported['warned']}")
    made = os.path.join(home, "knot.json")
    done = call([os.path.join(scenes.ROOT, scenes.SPEED, "knot.py"), "-o", made], home)
    check(done.returncode == 0 and "10,642 vertices" in done.stdout, f"knot.py: {done.stdout}{done.stderr}")
    with open(made) as mine, open(os.path.join(scenes.ROOT, scenes.SPEED, "papers-knot.json")) as kept:
        check(mine.read() == kept.read(), "knot.py makes another scene than papers-knot.json")
    done = call([os.path.join(scenes.ROOT, scenes.SPEED, "balls.py"), "1000", "--scene", "balls.json"], home)
    check(done.returncode == 0, f"balls.py: {done.stderr}")
    done = call([os.path.join(scenes.ROOT, scenes.SPEED, "balls.py"), "1001", "--scene", "none.json"], home)
    check(done.returncode != 0 and not os.path.exists(os.path.join(home, "none.json")), "balls.py takes a number that is no cube")


def runs_are_reported(home):
    until = .0625
    table, (row,) = script("run", home, "--until", str(until), "box-900")
    check(len(table) == 3 and len({line.count("|") for line in table}) == 1, f"the table of run: {table}")
    call([TACTUS, "run", os.path.join(scenes.ROOT, "jobs/box-900.json"), "--until", str(until), "-o", "own.run", "--quiet"], home)
    with open(os.path.join(home, "own.run", "run.json")) as file:
        counters = json.load(file)["counters"]
    said = call([TACTUS, "info", "own.run/checkpoint.h5"], home).stdout
    for key, value in (("contact_ticks", counters["committed"]["penalty"]), ("silent", counters["silent"]), ("windows", counters["windows"])):
        check(row[key] == value, f"run says {key} {row[key]}, and run.json {value}")
    check(row["until_s"] == until and row["user_s"] > 0 and row["bytes_per_vertex"] > 0, f"run says {row}")
    check(f" {row['watched']} pairs watched" in said and 0 < row["acting"] <= row["watched"], f"run says {row['watched']} pairs, info {said}")


def programs_are_compared(home):
    build = os.path.dirname(TACTUS)
    table, (row,) = script("compare", home, build, build, "--pairs", "2", "--until", ".03125", "box-900")
    check(row["same_bits"] == "yes" and len(row["ratios"]) == 2 and row["ratio"] > 0, f"compare of a build with itself: {table}")
    other = os.path.join(home, "other")
    os.mkdir(other)
    with open(os.path.join(other, "tactus"), "w") as file:
        file.write('#!/bin/sh\n[ "$1" = run ] && exec "%s" "$@" --set contact.stiffness=20001\nexec "%s" "$@"\n' % (TACTUS, TACTUS))
    os.chmod(os.path.join(other, "tactus"), 0o755)
    table, (row,) = script("compare", home, build, other, "--pairs", "1", "--until", ".03125", "box-900")
    check(row["same_bits"] == "no", f"compare does not see that bits differ: {table}")
    done = call([os.path.join(scenes.HERE, "compare"), build, "no-such-commit", "box-900"], home)
    check(done.returncode == 2 and "neither a folder nor a commit" in done.stderr, f"compare with nothing: {done.stderr}")


def misses_are_counted(home):
    if not shutil.which("valgrind"):
        return
    path = os.path.join(scenes.ROOT, "jobs/box-900.json")
    done = call([os.path.join(scenes.HERE, "misses"), path, "--until", ".002", "--build", os.path.dirname(TACTUS), "--lines", "4000"], home)
    rows = [line.split("|") for line in done.stdout.splitlines() if line.startswith("| ")][1:]
    check(done.returncode == 0 and sum(float(row[2]) for row in rows) > 0, f"misses: {done.stdout[-500:]}{done.stderr[-500:]}")
    check(any(row[1].strip() == "tac_pass_begin" for row in rows), "misses does not name the engine's functions")


def dearer_is_seen(home):
    loader = importlib.machinery.SourceFileLoader("instructions", os.path.join(scenes.HERE, "instructions"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("instructions", loader))
    loader.exec_module(module)
    with open(module.TABLE) as file:
        real = json.load(file)
    for machine, ratios in real["measured"].items():
        check(set(ratios) == set(real["cases"]), f"instructions.json has not one count for every case on {machine}")
    check(real["margin"] <= 1.05 and real["elsewhere"] <= 1.5, "the margins of instructions.json are no bounds")
    table = {"margin": 1.03, "elsewhere": 1.25, "cases": {}, "measured": {"here": {"one": 2, "two": 4}, "there": {"one": 3}}}
    check(module.bound(table, "here", "one") == (2.06, 2), "the bound of a machine with counts")
    check(module.bound(table, "nowhere", "one") == (3.75, 3), "the bound of a machine without counts")
    check(module.bound(table, "here", "three") == (None, None), "the bound of a case without counts")
    module.TABLE = os.path.join(home, "table.json")
    with open(module.TABLE, "w") as file:
        file.write('{\n  "margin": 1.03,\n  "measured": {}\n}\n')
    with contextlib.redirect_stdout(io.StringIO()) as reported:
        module.store(table, "here", {"one": {"ratio": 1.9}, "two": {"ratio": 5}}, False)
    with open(module.TABLE) as file:
        check(json.load(file)["measured"]["here"] == {"one": 1.9, "two": 4}, "--store keeps what is larger")
    check("two is dearer" in reported.getvalue(), "--store says nothing of what is dearer")


def main():
    for part in (scenes_are_sound, runs_are_reported, programs_are_compared, misses_are_counted, dearer_is_seen):
        with tempfile.TemporaryDirectory(prefix="tactus-bench-scripts-") as home:
            part(home)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
