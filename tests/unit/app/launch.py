#!/usr/bin/python3
"""launch.py WRITER NO_MPI: how processes are started.  Commands that one process does work where MPI cannot be started
(NO_MPI, a library loaded before all others, ends whoever tries), whatever a batch system's variables say; a run that cannot
bring its processes together says what to type instead; one process of an allocation runs alone; and folders that killed
processes left are removed, those of living ones and of other machines not.  If it fails, `srun tactus check` ends in a page
of Open MPI's, or /tmp fills up."""
import json
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "io"))
from common import *

NO_MPI = sys.argv[2]
SCENE = {"format": "tactus-scene/1", "time": {"end": 0.1, "frame": 0.05}, "gravity": [0, -9.81, 0],
         "bodies": [{"name": "ball", "mass": 1, "mesh": {"kind": "points", "vertices": [[0, 1, 0]]}}]}
json.dump(SCENE, open("fall.json", "w"))
BASE = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "PMI", "OMPI_COMM_", "OMPI_MCA_ess_singleton"))}
JOB = {"SLURM_JOB_ID": "7", "SLURM_JOBID": "7", "SLURM_NODELIST": "here", "SLURM_NTASKS": "4"}
STEP = dict(JOB, SLURM_STEP_ID="0", SLURM_STEPID="0")


def step(tasks, rank=0):
    return dict(STEP, SLURM_STEP_NUM_TASKS=str(tasks), SLURM_PROCID=str(rank))


# One process, as it may find itself.
ALONE = {"by hand": {}, "in salloc": JOB, "in sbatch": dict(JOB, SLURM_PROCID="0"), "by srun": step(1),
         "by srun --mpi=pmi2": dict(step(1), PMI_RANK="0", PMI_SIZE="1"),
         "in an interactive step": dict(JOB, SLURM_STEP_ID="4294967290", SLURM_PROCID="0")}
LAUNCHED = {"by srun --mpi=pmix": dict(step(1), PMIX_NAMESPACE="slurm.pmix.7.0", PMIX_RANK="0"),
            "by mpirun": {"OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0"}}


def command(words, env, mpi):
    env = dict(BASE, **env)
    if not mpi:
        env["LD_PRELOAD"] = NO_MPI
        env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    return call(TACTUS, *words, env=env)


must_write("a.run")
MESH = ["mesh", "sphere", "--radius", "1", "--level", "1", "-o"]
COMMANDS = [["--version"], ["-h"], ["run", "-h"], ["check", "fall.json"], ["info", "a.run"], ["info", "a.run/frames.h5"],
            ["diff", "a.run", "a.run"], ["status", "a.run"], MESH + ["ball.obj"], MESH + ["ball.h5"], ["info", "ball.h5"],
            ["export", "a.run", "--frames", "0", "--format", "obj", "-o", "meshes"]]
for how, env in list(ALONE.items()) + list(LAUNCHED.items()) + [("several, the first", step(4))]:
    for words in COMMANDS:
        shutil.rmtree("meshes", ignore_errors=True)
        r = command(words, env, mpi=False)
        check(r.code == 0 and r.out + r.err != "" or words[0] == "mesh" and r.code == 0, "%s, %s: %d %s" % (how, words, r.code, r.err))
for words in COMMANDS:
    r = command(words, step(4, 2), mpi=False)
    check((r.code, r.out, r.err) == (0, "", ""), "several, the third: %s: %d %s%s" % (words, r.code, r.out, r.err))
check(command(["run", "fall.json"], {}, mpi=False).code == 99, "NO_MPI serves its purpose")

# A run of one process works wherever that is; several that cannot find each other are told what to type, once.
for how, env in ALONE.items():
    for words in (["run", "fall.json", "-o", "one.run", "--overwrite", "--quiet"], ["check", "fall.json", "--pilot", "1"]):
        r = command(words, env, mpi=True)
        check(r.code == 0, "%s %s: %d %s" % (words[0], how, r.code, r.err))
for how, env in {"by srun": step(4), "by srun --mpi=pmi2": dict(step(4), PMI_RANK="0", PMI_SIZE="4")}.items():
    for words in (["run", "fall.json"], ["audit", "a.run"], ["check", "fall.json", "--pilot=1"]):
        refused(command(words, env, mpi=False), 2, "^tactus: 4 processes .*'srun --mpi=pmix tactus %s ...'.*'mpirun tactus %s ...'" % (words[0], words[0]))
r = command(["run", "fall.json"], step(4, 3), mpi=False)
check((r.code, r.out, r.err) == (2, "", ""), "one sentence of all: %d %s" % (r.code, r.err))
other = {"PMI_SIZE": "2", "PMI_RANK": "0"}  # the mpiexec of another MPI
refused(command(["run", "fall.json", "-o", "two.run"], other, mpi=True), 2, "^tactus: 2 processes .*'mpirun tactus run")
r = command(["run", "fall.json", "-o", "two.run"], dict(other, PMI_RANK="1"), mpi=True)
check((r.code, r.err) == (2, "") and not os.path.exists("two.run"), "another MPI's second process: %d %s" % (r.code, r.err))

# What a killed process leaves.
os.mkdir("temporary")
OWN = dict(BASE, TMPDIR=HERE + "/temporary")
del OWN["OMPI_MCA_orte_tmpdir_base"]
json.dump(dict(SCENE, time={"end": 100, "frame": 100}, clocks={"gravity_s": 1e-7}), open("slow.json", "w"))


def begin(folder):
    """A run that has come to its folder, and so has started MPI."""
    p = subprocess.Popen([TACTUS, "run", "slow.json", "-o", folder, "--quiet"], env=OWN, stderr=subprocess.PIPE)
    while p.poll() is None and not os.path.exists(folder + "/status.json"):
        time.sleep(.01)
    check(p.poll() is None, "%s: ended early" % folder)
    return p


def kill(p):
    p.send_signal(signal.SIGKILL)
    p.communicate()


def left():
    return sorted(os.listdir("temporary"))


killed = begin("killed.run")
kill(killed)
check(len(left()) == 1, "a killed process leaves its folder: %s" % left())
gone = left()
living = begin("living.run")
check(len(left()) == 1 and left() != gone, "the next one removes it: %s, %s" % (gone, left()))
here = left()[0]
machine = open("temporary/%s/owner" % here).read()
check(machine == json.load(open("living.run/status.json"))["machine"], "whose it is: %r" % machine)
foreign = {"tactus-mpi-other1": "another machine", "tactus-mpi-empty1": "", "tactus-mpi-bare01": None}
for name, text in foreign.items():
    os.mkdir("temporary/" + name)
    if text is not None:
        open("temporary/%s/owner" % name, "w").write(text)
os.symlink(HERE + "/a.run", "temporary/tactus-mpi-link01")
open("a.run/owner", "w").write(machine)
r = call(TACTUS, "run", "fall.json", "-o", "third.run", "--quiet", env=OWN)
check(r.code == 0 and left() == sorted([here, "tactus-mpi-link01", *foreign]), "only what is left over goes: %s %s" % (r.err, left()))
check(os.path.exists("a.run/frames.h5"), "a link is not followed")
living.send_signal(signal.SIGTERM)
living.communicate()
check(living.returncode == 75 and here not in left(), "a run that ends removes its own: %s %s" % (living.returncode, left()))
finish()
