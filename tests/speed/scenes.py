"""The scenes that tests/speed/run and tests/speed/compare measure, and one run of one of them.

A scene is a file of jobs/, or made by a script there, with changes as by --set; SHORT seconds of simulated time of it take seconds
to tens of seconds, and reach what the scene is about where that is possible.
"""
import importlib.util
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SPEED = "jobs/experiments/speed/"
ALONE = {"OMPI_MCA_ess_singleton_isolated": "1", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self", "OMPI_MCA_mtl": "^ofi,psm2",
         "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
COUNTED = "tac_sim_advance"  # all of the stepping, and nothing of MPI's start, reading and writing


def sphere_cloth(cells, stiffness):
    return {"bodies.cloth.mesh.cells": [cells, cells], "materials.cloth.stretch.stiffness": stiffness}


# name: (file, or number of balls; changes; SHORT, s)
SCENES = {
    "two-sheets": ("jobs/two-sheets.json", {}, .1),
    "reef-knot": ("jobs/reef-knot.json", {}, .1875),
    "stack": (SPEED + "stack.json", {}, .00625),
    "box-900": ("jobs/box-900.json", {}, .2),
    "curtain": ("jobs/curtain.json", {}, .25),
    "cloth-pile": (SPEED + "cloth-pile.json", {}, .0078125),
    "thin-strip": (SPEED + "thin-strip.json", {}, .0078125),
    "papers-knot": (SPEED + "papers-knot.json", {}, .03125),
    "sheet": (SPEED + "sheet.json", {}, .000125),
    "sphere-cloth-40-60": (SPEED + "sphere-cloth.json", sphere_cloth(40, 60), .25),
    "sphere-cloth-40-500": (SPEED + "sphere-cloth.json", sphere_cloth(40, 500), .125),
    "sphere-cloth-80-60": (SPEED + "sphere-cloth.json", sphere_cloth(80, 60), .0625),
    "sphere-cloth-80-500": (SPEED + "sphere-cloth.json", sphere_cloth(80, 500), .0625),
    "balls-4096": (4096, {}, .05),
    "balls-27000": (27000, {}, .02),
}


def module(path):
    """A script of jobs/, to ask it for its scene."""
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], os.path.join(ROOT, path))
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def chosen(names, parser):
    unknown = [name for name in names if name not in SCENES]
    if unknown:
        parser.error(f"there is no scene {unknown[0]}; there are {', '.join(SCENES)}")
    return names or list(SCENES)


def arguments(name, home):
    """The scene's file, written into `home` if a script makes it, and its changes: arguments of `tactus run` and `tactus check`."""
    source, changes, _ = SCENES[name]
    path = os.path.join(home, name + ".json") if isinstance(source, int) else os.path.join(ROOT, source)
    if isinstance(source, int):
        with open(path, "w") as file:
            json.dump(module(SPEED + "balls.py").scene(source), file)
    return [path] + [word for key, value in changes.items() for word in ("--set", f"{key}={json.dumps(value)}")]


def environment(home):
    # Ranks that were started without mpirun take each other's temporary files for their own.
    return {**os.environ, **ALONE, "OMPI_MCA_orte_tmpdir_base": home}


def call(command, home):
    """Output and the kernel's account (rusage) of a command that must succeed."""
    with open(os.path.join(home, "said"), "w+") as said:
        child = subprocess.Popen(command, cwd=home, env=environment(home), stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT)
        try:
            _, status, used = os.wait4(child.pid, 0)
        except BaseException:
            child.kill()
            child.wait()
            raise
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read()
    if child.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with {child.returncode}: {text[-2000:]}")
    return text, used


def end_arguments(name, short, until):
    end = until if until is not None else SCENES[name][2] if short else None
    return [] if end is None else ["--until", repr(end)]


def run(program, name, home, short, until=None, folder="run"):
    """One run, in `home`/`folder`: what is told of it, as a dictionary."""
    _, used = call([program, "run", *arguments(name, home), *end_arguments(name, short, until), "-o", folder, "--overwrite", "--quiet"], home)
    with open(os.path.join(home, folder, "run.json")) as file:
        info = json.load(file)
    with open(os.path.join(home, folder, "energy.csv")) as file:
        lines = file.read().splitlines()
    last = dict(zip(lines[0].split(","), lines[-1].split(",")))
    state = json.loads(call([program, "info", "--json", os.path.join(folder, "checkpoint.h5")], home)[0])
    counters = info["counters"]
    committed, contact = sum(counters["committed"].values()), counters["committed"]["penalty"]
    return {
        "scene": name, "commit": info["commit"], "until_s": info["time"], "user_s": round(used.ru_utime, 3), "vertices": state["vertices"],
        "ticks": committed, "contact_ticks": contact, "silent": counters["silent"], "repeated": counters["repeated_ticks"],
        "windows": counters["windows"], "rollbacks": counters["rollbacks"], "lists": counters["candidate_builds"],
        "candidates": counters["candidates"], "watched": state["pairs"], "acting": int(last["contacts"]),
        "deepest_layer": counters["deepest_layer"], "bytes_per_vertex": round((info["peak_memory_bytes"] or 0) / state["vertices"]),
        "seconds": {key: round(value, 3) for key, value in counters["seconds"].items() if value},
    }


def instructions(program, name, home, short, until=None):
    """Instructions of the stepping of one run under callgrind; of the whole program where it has no function of that name."""
    found = 0
    # Valgrind 3.19 fails on the line tables that clang 14 writes.
    subprocess.run(["strip", "--strip-debug", "-o", os.path.join(home, "counted-program"), program], check=True)
    for toggle in ([f"--toggle-collect={COUNTED}"], []):
        call(["valgrind", "--tool=callgrind", "--callgrind-out-file=counted", *toggle, "./counted-program", "run", *arguments(name, home),
              *end_arguments(name, short, until), "-o", "counted.run", "--overwrite", "--quiet"], home)
        with open(os.path.join(home, "counted")) as file:
            found = int(re.search(r"^totals: (\d+)", file.read(), re.M)[1])
        if found:
            break
    return found


def number(value):
    """Three digits, with a letter for thousands."""
    for letter in ("", "k", "M", "G", "T"):
        if abs(value) < 1000:
            return f"{value:.3g}{letter}"
        value /= 1000
    return f"{value:.3g}P"


def share(part, whole):
    return f"{part / whole:.0%}" if whole else "-"
