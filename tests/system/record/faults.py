#!/usr/bin/python3
"""faults.py: a recorded run that is killed leaves a record that can be read up to some interval, and goes on to the same
record; on a full disk it ends with one sentence, exit code 3 and no hang, also on several ranks, and the record is
whole up to an interval; nothing is left behind but the run's own files.
"""
import os
import signal
import subprocess
import sys
import time

from record import RANKS, check, equal, finish, launch, path, read, run, same

SCENE = RANKS + "moving.json"
# The same trajectory with more to write.
MANY = ["--set", "output.checkpoint_every_t=0.005"]


def left(folder):
    names = sorted(os.listdir(path(folder)))
    odd = [n for n in names if n.startswith("record.h5") and n not in ("record.h5", "record.h5.damaged")]
    check(odd == [], "temporary files: %s" % odd)


def killed(folder, ranks, arguments, seconds):
    """Killed so long after its first checkpoint."""
    p = launch.Process(ranks, ["run", *arguments, "--record", "--quiet", *MANY],
                       {"TACTUS_TEST_SPILL": "3000", **({"TACTUS_TEST_DELAY": "3,1500"} if ranks > 1 else {})})
    end = time.monotonic() + 600
    while not os.path.exists(path(folder) + "/checkpoint.h5") and time.monotonic() < end and p.process.poll() is None:
        time.sleep(.005)
    time.sleep(seconds)
    p.kill()
    p.wait(600)


run(1, SCENE, "whole", *MANY)
for ranks, seconds in ((1, .02), (1, .1), (2, .3)):
    folder = "killed-%d-%g" % (ranks, seconds)
    killed(folder, ranks, [SCENE, "-o", path(folder)], seconds)
    left(folder)
    launch.tactus(1, "info", path(folder) + "/record.h5")
    before = read(folder)
    whole = read("whole")
    for k in before:
        check(all(a.tobytes() == b.tobytes() for a, b in zip(before[k], whole[k])), "interval %d of a killed run" % k)
    r = run(3 - ranks, None, None, "--restart", path(folder), *MANY)
    check(not os.path.exists(path(folder) + "/record.h5.damaged"), "the file is whole at every moment: %s" % r.warnings)
    equal("whole", folder, "killed on %d ranks" % ranks)

# ---- a limit on file sizes, as a full disk
LIMIT = "import resource, os, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (%d, %d)); os.execvp(sys.argv[1], sys.argv[1:])"


def limited(folder, ranks, kib, *more, **environment):
    command = [sys.executable, "-c", LIMIT % (kib << 10, kib << 10), launch.program(), "run", SCENE, "-o", path(folder), "--record", "--quiet", *more]
    command = (["mpirun", "-n", str(ranks)] if ranks > 1 else []) + command
    env = {**os.environ, **(launch.MANY if ranks > 1 else launch.ALONE), "OMPI_MCA_orte_tmpdir_base": path("."), **environment}
    p = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    text = p.stdout.decode("utf-8", "replace")
    said = [line for line in text.splitlines() if line.startswith("tactus: ")]
    check(p.returncode == 3 and len(said) == 1, "exit code 3 and one sentence on %d ranks: %d %s" % (ranks, p.returncode, text[-600:]))
    left(folder)
    return said[0] if said else ""


for ranks in (1, 2):
    # The record itself grows too large; then a run on the way to it, with room in memory for next to nothing.
    check("record.h5" in limited("large-%d" % ranks, ranks, 500), "record.h5 is named")
    got, whole = read("large-%d" % ranks), read("whole")
    check(0 < len(got) < len(whole) and all(same(a, b) for k in got for a, b in zip(got[k], whole[k])), "what is there is whole")
    said = limited("spill-%d" % ranks, ranks, 400, "--set", "time.frame=0.1875", TACTUS_TEST_SPILL="2000")
    check("breakpoints" in said and "File too large" in said, "the temporary file is named: %s" % said)
finish()
