"""runs.py: what the scripts of this folder share: calls of the program, checks, and what a run has written."""

import csv
import os
import subprocess

TACTUS = os.environ["TACTUS"]
failures = []


def check(ok, what, text=""):
    """Tells whether something is as it must be; text: of the program, told where it is not."""
    print(("ok      " if ok else "FAILED  ") + what + ("\n" + text if text and not ok else ""))
    if not ok:
        failures.append(what)


def call(*words, ranks=1, **environment):
    """The exit code and the output of the program on so many ranks."""
    words = (["mpirun", "-n", str(ranks)] if ranks > 1 else []) + [TACTUS, *words]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, **environment})
    return done.returncode, done.stdout


def table(folder, name):
    """The rows of energy.csv or steps.csv, by columns."""
    with open(os.path.join(folder, name)) as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
