#!/usr/bin/python3
"""slurm.py SLOW_LIBRARY: jobs of jobs/submit under a real Slurm, started here (cluster.py): a time limit that is hit three times, scancel, a
node that dies, a rank that is killed, an array of four, a requeue while pending, and jobs that can never succeed.  Each ends with the bits
of a run that nothing happened to, or says what it needs; none is tried for ever.  Exit code 77: Slurm cannot be started here.  If this
fails, somebody's job of two weeks is lost on a Sunday."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

from cluster import Cluster, PATIENCE_S, Unavailable

TACTUS, SOURCE, SLOW = os.environ["TACTUS"], os.environ["TACTUS_SOURCE"], os.path.abspath(sys.argv[1])
SUBMIT = SOURCE + "/jobs/submit"
SCENE = {
    "format": "tactus-scene/1", "time": {"end": .25, "frame": 1 / 256}, "gravity": [0, -9.81, 0],
    "contact": {"thickness": .004, "stiffness": 50, "friction": .2}, "output": {"checkpoint_every_t": 1 / 256},
    "materials": {"cloth": {"density": .2, "stretch": {"model": "cst", "stiffness": 20, "poisson": .3}, "bend": {"model": "hinge", "stiffness": 1e-6}}},
    "bodies": [{"name": "sheet", "material": "cloth", "position": [0, .13, 0], "mesh": {"kind": "grid", "size": [.3, .3], "cells": [6, 6]}},
               {"name": "ball", "fixed": True, "mesh": {"kind": "sphere", "radius": .12, "level": 1}}]}
work = tempfile.mkdtemp(prefix="tactus-slurm-")
failures = []
begin = time.monotonic()


def say(text):
    print("%5.1f s  %s" % (time.monotonic() - begin, text), flush=True)


class Failed(Exception):
    pass


def must(true, text):
    if not true:
        raise Failed(text)


def read(path):
    """A JSON file, or {} while there is none."""
    try:
        with open(path) as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


class Job:
    """One scenario's job, on one node, and not on the one that dies; its folder has an odd name (Slurm expands %j in some paths); its gate,
    while it is there, holds the run up at every frame."""

    def __init__(self, name, *options, scene="a scene.json", gate=True, nodes="one"):
        self.folder, self.gate = os.path.join(work, "%s $HOME 'x' \"y\"\nz" % name + ("%j" if name in ("cancel", "rank") else "")), os.path.join(work, name + ".gate")
        if gate:
            open(self.gate, "w").close()
        more = dict(TACTUS_TEST_GATE=self.gate)
        done = cluster.call(SUBMIT, os.path.join(work, scene), "-o", self.folder, "--program", TACTUS, "--setup", "export LD_PRELOAD=%s" % SLOW,
                            "--sbatch=--nodelist=" + nodes, *options, **more)
        must(done.returncode == 0, "submit: %s%s" % (done.stdout, done.stderr))
        self.id = done.stdout.split("submitted job ")[1].split(":")[0]

    def open(self):
        os.remove(self.gate)

    def state(self):
        return read(self.folder + "/job-state.json")

    def status(self):
        done = cluster.call(TACTUS, "status", "--json", self.folder)
        must(done.returncode == 0, "status: " + done.stderr)
        return json.loads(done.stdout)

    def wait(self, what, ready):
        limit = time.monotonic() + PATIENCE_S
        while not ready():
            s = self.state()
            must(time.monotonic() < limit, "%s has not come: %s; %s" % (what, s, self.log()[-3000:]))
            must(s.get("state") != "failed" or "fail" in what, "waiting for %s: %s; %s" % (what, s, self.log()[-3000:]))
            time.sleep(.2)
        say("%s: %s" % (os.path.basename(self.folder).split()[0], what))

    def wait_condition(self, word):
        seen = {}

        def ready():
            seen.update(self.status())
            must(word == "gone" or seen["condition"] != "gone", "waiting for %s: %s" % (word, seen))
            return seen["condition"] == word

        self.wait(word, ready)
        return seen

    def log(self):
        names = [n for n in os.listdir(self.folder) if n.startswith("slurm-") and n.endswith(".out")] if os.path.isdir(self.folder) else []
        return "".join(open(os.path.join(self.folder, n), errors="replace").read() for n in sorted(names))

    def wait_checkpoint(self):
        self.wait("a checkpoint", lambda: read(self.folder + "/status.json").get("checkpoint") is not None)

    def must_equal(self, reference="reference.run"):
        same(self.folder, os.path.join(work, reference))

    def must_rest(self):
        """Slurm has nothing of the job in its queue any more."""
        self.wait("an empty queue", lambda: not cluster.ask("squeue", "-h", "-j", self.id, "-o", "%T").strip())


def same(folder, reference):
    done = cluster.call(TACTUS, "diff", "--all-frames", folder, reference)
    must(done.returncode == 0, "%s differs: %s%s" % (folder, done.stdout, done.stderr))


def limit():
    """The time limit comes three times, to a rank under srun."""
    job = Job("limit", "--time", "1", "--warn", "50", "--launcher", "srun")
    for sitting in (2, 3, 4):
        job.wait("sitting %d" % sitting, lambda: job.state().get("sittings") == sitting and job.state().get("state") == "running")
    must("the time limit was near" in job.log(), "the log does not tell of the limit: " + job.log())
    job.open()
    job.wait_condition("finished")
    restarts = read(job.folder + "/run.json")["restarts"]
    must(restarts >= 3, "%d restarts" % restarts)
    job.must_equal()
    job.must_rest()


def cancel():
    """scancel of a run under mpirun: a checkpoint, what to type, nothing more; and then it goes on."""
    job = Job("cancel", "--launcher", "mpirun")
    job.wait_checkpoint()
    job.wait_condition("running")
    again = cluster.call(SUBMIT, "--again", job.folder)
    must(again.returncode == 2 and "still in the queue" in again.stderr, "a second job beside the first: " + again.stdout + again.stderr)
    cluster.call("scancel", job.id)
    s = job.wait_condition("stopped")
    must("--again" in s["why"] and s["state"] == "stopped", "what to type: %s" % s)
    job.must_rest()
    must(job.status()["condition"] == "stopped", "it does not stay stopped: %s" % job.status())
    job.open()
    again = cluster.call(SUBMIT, "--again", job.folder, TACTUS_TEST_GATE=job.gate)
    must(again.returncode == 0, "again: " + again.stderr)
    job.wait_condition("finished")
    job.must_equal()


def node():
    """A node dies with all that runs on it, and with one of the two ranks of a job whose script is on another node; Slurm queues both jobs
    again when it notices."""
    jobs = [Job("node", "--retry-wait", "1", nodes="two"),
            Job("nodes", "--retry-wait", "1", "--ntasks", "2", "--nodes", "2", "--launcher", "mpirun", nodes="one,two")]
    for job in jobs:
        job.wait_checkpoint()
    killed = [pid for job in jobs for pid in cluster.processes(SLURM_JOB_ID=job.id, SLURMD_NODENAME="two")]
    cluster.daemons["slurmd-two"].kill()
    for pid in sorted({step for step in map(stepd_of, killed) if step}) + killed: # first those of Slurm: they must not tell of an end
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass # mpirun's or srun's own processes end each other
    for job in jobs:
        s = job.wait_condition("requeued")
        must(s["why"], "why it waits: %s" % s)
    cluster.daemons["slurmd-two"].wait()
    cluster.start_node("two")
    for job in jobs:
        job.open()
    for job in jobs:
        job.wait_condition("finished")
        job.must_equal()
        must(job.state()["tries"] >= 2 and job.state()["sittings"] >= 2, "tries: %s" % job.state())


def stepd_of(pid):
    """The number of the slurmstepd that has started a process; None: there is none."""
    try:
        while pid > 1:
            with open("/proc/%d/cmdline" % pid, "rb") as file:
                if file.read().startswith(b"slurmstepd: ["):
                    return pid
            with open("/proc/%d/stat" % pid) as file:
                pid = int(file.read().rsplit(")", 1)[1].split()[1])
    except OSError:
        pass
    return None


def rank():
    """One of two ranks is killed: the job goes on in the same sitting."""
    job = Job("rank", "--ntasks", "2", "--retry-wait", "1")
    job.wait_checkpoint()
    victims = [pid for pid in cluster.processes(SLURM_JOB_ID=job.id, SLURM_PROCID="1", PMIX_RANK="1") if os.readlink("/proc/%d/exe" % pid) == os.path.realpath(TACTUS)]
    must(len(victims) == 1, "the rank to kill: %s" % victims)
    os.kill(victims[0], signal.SIGKILL)
    job.wait("the second try", lambda: job.state()["tries"] == 2)
    job.open()
    job.wait_condition("finished")
    must(job.state()["sittings"] == 1 and "tried again in 1 s" in job.log(), "a second sitting: %s" % job.state())
    job.must_equal()


def array():
    """A sweep of four."""
    job = Job("array", "--sweep", "contact.friction=0.1,0.4", "--sweep", "gravity=[0,-9.81,0],[0,-5,0]", gate=False)
    names = ["%04d" % k for k in range(4)]
    job.wait("four runs", lambda: all(read(os.path.join(job.folder, n, "job-state.json")).get("state") == "finished" for n in names))
    table = cluster.call(TACTUS, "status", job.folder)
    must(table.returncode == 0 and table.stdout.count("finished") == 4, "the table: " + table.stdout + table.stderr)
    k = 0
    for friction in ("0.1", "0.4"):
        for gravity in ("[0,-9.81,0]", "[0,-5,0]"):
            reference = os.path.join(work, "reference-%d.run" % k)
            run(reference, "--set", "contact.friction=" + friction, "--set", "gravity=" + gravity)
            same(os.path.join(job.folder, names[k]), reference)
            k += 1
    rows = cluster.call(SOURCE + "/jobs/sweep-table", job.folder, "--csv", "--program", TACTUS).stdout.splitlines()
    must(len(rows) == 5 and rows[0].startswith("folder,contact.friction,gravity,state,") and rows[4].startswith('0003,0.4,"[0,-5,0]",finished,'), "sweep-table: %s" % rows)


def pending():
    """A requeue while the job is pending harms nothing; why it waits is told."""
    job = Job("pending", "--sbatch=--hold", gate=False)
    s = job.wait_condition("pending")
    must("JobHeldUser" in s["why"] and "scontrol release" in s["why"], "why it is pending: %s" % s)
    cluster.call("scontrol", "requeue", job.id)
    cluster.call("scontrol", "release", job.id)
    job.wait_condition("finished")
    job.must_equal()


def hopeless():
    """A program that dies at once, a scene that is wrong, and a launcher that is not there: each ends, and says why."""
    program = os.path.join(work, "dies")
    with open(program, "w") as file:
        file.write("#!/bin/sh\nkill -9 $$\n")
    os.chmod(program, 0o755)
    with open(os.path.join(work, "wrong.json"), "w") as file:
        file.write(json.dumps(dict(SCENE, gravity="down")))
    dies = Job("dies", "--program", program, "--no-check", "--tries", "3", "--retry-wait", "0", gate=False)
    wrong = Job("wrong", "--no-check", scene="wrong.json", gate=False)
    s = dies.wait_condition("failed")
    must(s["job_state"]["tries"] == 3 and "code 137" in s["why"], "a program that dies: %s" % s)
    s = wrong.wait_condition("failed")
    must(s["job_state"]["tries"] == 1 and "gravity" in s["why"] and "same would happen again" in s["why"], "a scene that is wrong: %s" % s)
    dies.must_rest()
    wrong.must_rest()


def run(folder, *options):
    done = subprocess.run([TACTUS, "run", os.path.join(work, "a scene.json"), "-o", folder, "--quiet"] + list(options), stdin=subprocess.DEVNULL)
    must(done.returncode == 0, "the reference failed")


def attempt(scenario):
    try:
        scenario()
        say("%s: passed" % scenario.__name__)
    except BaseException as error:
        say("%s: FAILED" % scenario.__name__)
        failures.append("%s: %s" % (scenario.__name__, error if isinstance(error, Failed) else traceback.format_exc()))


def main():
    with open(os.path.join(work, "a scene.json"), "w") as file:
        json.dump(SCENE, file)
    run(os.path.join(work, "reference.run"))
    chosen = [s for s in (limit, cancel, node, rank, array, pending, hopeless) if len(sys.argv) < 3 or s.__name__ in sys.argv[2:]]
    threads = [threading.Thread(target=attempt, args=(s,)) for s in chosen]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("\n".join(failures + ["%d of %d scenarios failed" % (len(failures), len(chosen))]))
    return 1 if failures else 0


code = 1
try:
    cluster = Cluster(os.path.join(work, "cluster"))
except Unavailable as reason:
    print("skipped: Slurm cannot be started here: %s" % reason)
    code = 77
else:
    try:
        code = main()
    finally:
        cluster.stop()
finally:
    shutil.rmtree(work, ignore_errors=True)
sys.exit(code)
