"""program.py: what the scripts of this folder share: calls of the program, and checks that are told one by one."""

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
    """The exit code and the output of the program on so many ranks. TACTUS=...: of another one."""
    words = (["mpirun", "-n", str(ranks)] if ranks > 1 else []) + [environment.get("TACTUS", TACTUS), *words]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, **environment})
    return done.returncode, done.stdout
