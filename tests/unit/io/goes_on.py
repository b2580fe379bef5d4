#!/usr/bin/python3
"""The program's side of stopping and going on: signals and the wall limit end a run with a checkpoint and exit code 75, also
the moment it has begun; --restart goes on to the same bits with or without the scene and its meshes, on other numbers of
ranks; and what does not fit is refused, by name.  If this fails, jobs in a queue lose their work or go on with something else."""
import json
import signal
import time

from common import *

ALONE = dict(os.environ, OMPI_MCA_ess_singleton_isolated="1", OMPI_MCA_pml="ob1", OMPI_MCA_btl="self")
open("post.obj", "w").write("v -0.1 -0.3 -0.1\nv 0.1 -0.3 -0.1\nv 0 -0.3 0.1\nv 0 -0.1 0\nf 1 2 3\nf 1 4 2\nf 2 4 3\nf 3 4 1\n")
SCENE = {
    "format": "tactus-scene/1", "time": {"end": 0.5, "frame": 0.03125}, "gravity": [0, -9.81, 0],
    "contact": {"thickness": 0.01, "stiffness": 200},
    "clocks": {"contact_s": 2e-5, "elastic_safety": .05},  # slow enough to be stopped in the middle
    "materials": {"cloth": {"density": 0.15, "stretch": {"model": "cst", "stiffness": 50}}},
    "bodies": [{"name": "sheet", "material": "cloth", "mesh": {"kind": "grid", "size": [0.5, 0.5], "cells": [12, 12]}},
               {"name": "post", "fixed": True, "mesh": {"kind": "file", "path": "post.obj"}}]}
json.dump(SCENE, open("drop.json", "w"))


def run(*arguments, ranks=1, **options):
    launch = ["mpirun", "-n", ranks] if ranks > 1 else []
    return call(*launch, TACTUS, "run", *arguments, env=None if ranks > 1 else ALONE, **options)


def start(*arguments, ranks=1):
    """A run under way; on several ranks a slow one, since a signal takes its time through mpirun."""
    launch = ["mpirun", "-n", str(ranks), "-x", "TACTUS_TEST_DELAY=1,4000"] if ranks > 1 else []
    return subprocess.Popen([*launch, TACTUS, "run", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=ALONE if ranks == 1 else None)


def status(folder):
    return json.load(open(folder + "/status.json"))


def wait_until(folder, t):
    """Until the run has reached t, or ended."""
    for _ in range(3000):
        try:
            if status(folder)["time"] >= t or status(folder)["state"] != "running":
                return
        except (OSError, ValueError):
            pass
        time.sleep(.01)


def stopped(p, folder, said):
    out, err = p.communicate(timeout=PATIENCE_S)
    refused(Result(p.returncode, out.decode(), err.decode()), 75, said, "--restart")
    s = status(folder)
    check(s["state"] == "stopped" and s["checkpoint"] and os.path.exists(folder + "/" + s["checkpoint"]), "%s: %s" % (folder, s))
    check(os.path.realpath(folder + "/checkpoint.h5") == os.path.realpath(folder + "/" + s["checkpoint"]), folder + ": checkpoint.h5")


def same(folder):
    r = tactus("diff", "whole.run", folder, "--all-frames")
    check(r.code == 0, "%s: %s%s" % (folder, r.out, r.err))
    check(open("whole.run/energy.csv").read() == open(folder + "/energy.csv").read(), folder + ": energy.csv")
    check(status(folder)["state"] == "finished" and status(folder)["time"] == 0.5, "%s: %s" % (folder, status(folder)))


r = run("drop.json", "-o", "whole.run", "--quiet")
check(r.code == 0, "the whole: " + r.err)
check(status("whole.run")["checkpoint"] == "checkpoint-000001.h5", "a checkpoint at the end: %s" % status("whole.run"))
r = run("--restart", "whole.run")
check(r.code == 0 and "nothing left to run" in r.err, "a run that is at its end: " + r.err)

# Signals: to one process; to mpirun, which passes it on; straight to one of the ranks; before the run has begun.
for number, (ranks, name, to) in enumerate(((1, "INT", "run"), (1, "TERM", "run"), (1, "USR1", "run"), (2, "USR1", "mpirun"), (2, "TERM", "rank"))):
    folder = "signal-%d.run" % number
    p = start("drop.json", "-o", folder, "--quiet", ranks=ranks)
    wait_until(folder, .05 if ranks > 1 else 0)  # one process is through before a second heartbeat
    target = p.pid if to != "rank" else int(open("/proc/%d/task/%d/children" % (p.pid, p.pid)).read().split()[-1])
    os.kill(target, getattr(signal, "SIG" + name))
    stopped(p, folder, "stopped by")
    r = run("--restart", folder, "--quiet", ranks=1 + number % 3)
    check(r.code == 0, "%s: %s" % (folder, r.err))
    same(folder)
p = start("drop.json", "-o", "early.run", "--quiet")
time.sleep(.03)
os.kill(p.pid, signal.SIGUSR1)
out, err = p.communicate(timeout=PATIENCE_S)
# Before the program has got as far as its handlers it has nothing to save.
check(p.returncode in (75, -signal.SIGUSR1), "a signal at the start: %d %s" % (p.returncode, err))

# Several stops in a row, by the wall limit and by --until, between frames and on them, then on to the end; the scene named and not.
arguments, ends = ["drop.json", "-o", "parts.run"], (.04, .09375, .2)
for ranks, end in zip((2, 1, 3), ends):
    r = run(*arguments, "--until", end, "--quiet", ranks=ranks)
    check(r.code == 0 and abs(status("parts.run")["time"] - end) < 1e-12, "until %g: %s" % (end, r.err))
    check(json.load(open("parts.run/scene.json"))["time"]["end"] == .5, "--until is not of the scene")
    arguments = ["--restart", "parts.run"]
check(status("parts.run")["checkpoint"] == "checkpoint-000003.h5", "the newest checkpoint: %s" % status("parts.run"))
r = run("--restart", "parts.run/checkpoint.h5", "--wall-limit", "00:00:01", "--set", "output.checkpoint_keep=1")
check(r.code in (0, 75), "a wall limit: %d %s" % (r.code, r.err))
if r.code == 75:
    check("wall limit" in r.err and status("parts.run")["state"] == "stopped", "a wall limit: " + r.err)
    r = run("drop.json", "--restart", "parts.run", "--quiet", "-o", "parts.run", ranks=2)
    check(r.code == 0, "to the end: " + r.err)
same("parts.run")
check(json.load(open("parts.run/status.json"))["restarts"] in (3, 4), "restarts")

# Another folder begins with the next frame; a checkpoint may be brought elsewhere; its own folder stays.
before = sorted(os.listdir("whole.run"))
r = run("drop.json", "-o", "base.run", "--until", ".1", "--quiet")
os.mkdir("brought")
os.rename("base.run/checkpoint-000001.h5", "brought/checkpoint-000001.h5")
os.rename("post.obj", "gone.obj")
r = run("--restart", "brought/checkpoint-000001.h5", "-o", "next.run")
check(r.code == 0 and "warning" not in r.err, "no scene, no mesh: " + r.err)
r = run("drop.json", "--restart", "brought/checkpoint-000001.h5")
check(r.code == 0 and r.err.count("warning") == 1 and "post.obj" in r.err, "no mesh: " + r.err)
for folder in ("next.run", "brought"):
    r = tactus("diff", "whole.run", folder)
    check(r.code == 0, "%s: %s" % (folder, r.out + r.err))
    check("<Grid Name=\"000003\"" not in open(folder + "/frames.xdmf").read() and "<Grid Name=\"000004\"" in open(folder + "/frames.xdmf").read(), folder)
os.rename("gone.obj", "post.obj")

# Refused, by name.
CHECKPOINT = "brought/checkpoint-000001.h5"
json.dump(dict(SCENE, bodies=SCENE["bodies"][:1]), open("other.json", "w"))
for words, *parts in ((("drop.json", "--restart", CHECKPOINT, "--set", "contact.stiffness=300"), "contact.stiffness: is 300, but 200 "),
                      (("--restart", CHECKPOINT, "--set", "bodies.sheet.position=[0,1,0]"), r"bodies\[0\].position\[1\]: is 1, but 0 "),
                      (("other.json", "--restart", CHECKPOINT), "bodies: has 1 elements, but 2 "),
                      (("--restart", CHECKPOINT, "--overwrite"), "--restart and --overwrite exclude each other"),
                      (("--restart", CHECKPOINT, "--until", ".05"), "after the end, 0.05 s", "--until"),
                      (("--restart", CHECKPOINT, "--until", "1e9"), "2\\^53 quanta"),
                      (("--restart", CHECKPOINT, "--until", "-1"), "--until"),
                      (("drop.json", "nonsense.json"), "unexpected argument"), ((), "needs a scene"), (("--restart",), "--restart needs a value"),
                      (("--restart", "nowhere"), "nowhere"), (("--restart", "post.obj"), "post.obj"), (("--restart", ""), ""),
                      (("--restart", "drop.json"), "drop.json"), (("--restart", "whole.run/frames.h5"), "frames.h5"),
                      (("--restart", "base.run"), "base.run"),
                      *((("drop.json", "--wall-limit", limit), "HH:MM:SS|is 0") for limit in
                        ("1", "90", "1:2:3", "10:00", "00:60:00", "00:00:60", "-1:00:00", "1:00:00.5", "01:00:00 ", "::", "00:00:00", "aa:bb:cc", "1234567:00:00"))):
    refused(run(*words, "--quiet", "--discover", "speculate") if words != ("--restart",) else run(*words), 2, *parts)
check(sorted(os.listdir("whole.run")) == before, "an old run is untouched")
for word in ("-h", "--help"):
    r = run(word)
    check(r.code == 0 and "75" in r.out and "--restart" in r.out and "HH:MM:SS" in r.out, "help: " + r.out)
finish()
