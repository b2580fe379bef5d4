#!/usr/bin/python3
"""summary.py: `tactus check` begins with ten plain lines; --details tells the rest behind them, --json all; for an implicit scene they show
that integrator's numbers and none of the other's.  If it failed, a first user would have to find what is wrong among forty lines."""
import json
import os
import subprocess
import sys

TACTUS, SOURCE = os.environ["TACTUS"], os.environ["TACTUS_SOURCE"]
failures = []


def expect(condition, *what):
    if not condition:
        failures.append(what)
        print("FAILS:", *what, file=sys.stderr)


def tactus(*words, code=0):
    done = subprocess.run([TACTUS, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    expect(done.returncode == code, words, done.returncode, done.stderr)
    return done


LABELS = ["scene", "what", "size", "driven by", "contact", "time", "integrator", "wrong", "cost", "more"]
for name in ("two-sheets", "cotton", "soft-block", "box-900", "spring-on-plane", "balloon"):
    path = os.path.join(SOURCE, "jobs", name + ".json")
    done = tactus("check", path)
    lines = done.stdout.splitlines()
    expect([line[:11].rstrip() for line in lines] == LABELS, name, lines)
    expect(lines[7] == "wrong      nothing was found; no surfaces overlap at the start" and done.stderr == "", name, lines[7], done.stderr)
    implicit = "implicit" in open(path).read()
    expect(("implicit, by integrator.kind" in lines[6]) == implicit and ("asynchronous" in lines[6]) != implicit, name, lines[6])
    more = tactus("check", path, "--details").stdout
    expect(more.startswith(done.stdout + "\n") and "\nsha256     " in more and "\nmaterial   " in more or name.startswith("box"), name, "details")
    report = json.loads(tactus("check", path, "--json").stdout)
    expect(report["integrator"]["kind"] == ("implicit" if implicit else "asynchronous"), name, report["integrator"])
    foreign = ("clocks     ", "restitution", "N/m, ", "fastest pair", "discovery", "bounce") if implicit else ("newton  ", "barrier", "solver  ")
    contact = [line for line in more.splitlines() if not line.startswith("material")]
    expect(not any(word in line for line in contact for word in foreign), name, "the other integrator's numbers", [line for line in contact if any(word in line for word in foreign)])
    if implicit:
        expect("240 of 0.005 s, implicit Euler" in lines[6] and report["integrator"]["step_s"] == 0.005, name, lines[6])
        expect("\nnewton     at most 1000 iterations" in more and "\nbarrier    weights by pairs" in more and "\nsolver     invariant" in more, name, more)
        expect("velocity_tol 0.5 m/s" in tactus("check", path, "--details", "--set", "integrator.newton.velocity_tol=0.5").stdout, name, "velocity_tol")

# What is wrong is counted, and stands on stderr.
scene = os.path.join(SOURCE, "jobs", "two-sheets.json")
done = tactus("check", scene, "--set", "materials.cloth.stretch.stiffness=1e9")
said = done.stderr.count("tactus: warning: ")
expect(said >= 1 and ("wrong      %d thing" % said) in done.stdout, "a warning is counted", done.stdout, done.stderr)
done = tactus("check", scene, "--set", "bodies.1.position.1=0.1", code=2)
expect("wrong      nothing" not in done.stdout, "overlaps", done.stdout)
expect("solids" in tactus("-h").stdout.split("commands:")[0] and "implicit" in tactus("-h").stdout.split("commands:")[0], "tactus -h names solids and implicit")
with open(os.path.join(SOURCE, "README.md")) as f:
    first = " ".join(f.read().split("## ")[0].split())
expect("solids" in first and "implicit" in first, "README names solids and the implicit integrator before its first heading")
print("summary.py: %d failures" % len(failures))
sys.exit(1 if failures else 0)
