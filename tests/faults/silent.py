#!/usr/bin/python3
"""silent.py SILENT : a run whose ranks do not hear each other when MPI has started ends with one sentence and exit code 3.

SILENT (silent.c) is one of three ranks, and sends nothing. If this fails, a job waits for ever where Open MPI starts although a process has no
memory for what processes of a machine share, and messages to it are lost.
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "ranks"))
import launch  # noqa: E402

scene = os.path.join(launch.SCENES, "few.json")
with tempfile.TemporaryDirectory() as home:
    run = [launch.program(), "run", scene, "-o", os.path.join(home, "a.run"), "--quiet"]
    command = ["mpirun", "-n", "2", *run, ":", "-n", "1", sys.argv[1]]
    env = {**os.environ, **launch.MANY, "OMPI_MCA_orte_tmpdir_base": home, "TACTUS_TEST_PATIENCE_S": ".2"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=launch.PATIENCE_S)
said = [line for line in re.split(r"[\r\n]+", done.stderr) if line.startswith("tactus: ")]
if done.returncode != 3 or len(said) != 1 or not re.search(r"rank \d+ has heard nothing of other ranks", said[0]):
    sys.exit("exit code %d\n%s" % (done.returncode, done.stderr))
