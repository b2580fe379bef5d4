#!/usr/bin/python3
"""The script of a job (jobs/lib/job.sh) without Slurm: a program and a Slurm that do as a plan says, and tactus status of the folder.  What is
tried again, what is not, what is queued again, how often, and what the job and the status say of it.  If this fails, a job is tried for ever,
or a run of weeks ends because one node failed once."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TACTUS, SOURCE = os.environ["TACTUS"], os.environ["TACTUS_SOURCE"]
PATIENCE_S = 120
failures = 0
work = os.path.realpath(tempfile.mkdtemp(prefix="tactus-job-"))
os.chdir(work)

# Each call of the program takes the first line of the plan: its exit code, what it does before (c: a checkpoint; t=1: its time; w: waits for a
# signal, u: does not say that the run has ended), and its last words.
PROGRAM = r"""#!/usr/bin/python3
import os, signal, sys, time
caught = []
signal.signal(signal.SIGUSR1, lambda *a: caught.append("USR1"))
folder, plan = os.environ["PLAN_FOLDER"], os.environ["PLAN"]
lines = open(plan).read().split("\n")
open(plan, "w").write("\n".join(lines[1:]))
code, does, words = (lines[0].split("|") + ["", ""])[:3]
open(plan + ".calls", "a").write(repr(sys.argv[1:]) + "\n")
os.makedirs(folder, exist_ok=True)
state = {"0": "finished", "75": "stopped", "3": "failed"}.get(code, "running")
t = [d[2:] for d in does.split() if d.startswith("t=")]
def status(s):
    open(folder + "/status.json", "w").write('{\n  "format": "tactus-status/1",\n  "state": "%s",\n  "time": %s,\n  "updated": %d,\n  "error": null\n}\n' % (s, t[0] if t else "0", time.time()))
if code != "2":
    status("running")
if "c" in does.split():
    n = len([f for f in os.listdir(folder) if f.startswith("checkpoint-")]) + 1
    open(folder + "/checkpoint-%06d.h5" % n, "w").close()
if "w" in does.split():
    open(plan + ".waits", "w").close()
    while not caught:
        time.sleep(.01)
if code != "2" and "u" not in does.split():
    status(state)
if words:
    print("tactus: " + words, file=sys.stderr)
sys.stderr.flush()
if code == "kill":
    os.kill(os.getpid(), 9)
sys.exit(int(code or 0))
"""
FAKES = {"srun": 'case $1 in --mpi=list) echo "MPI plugin types are... ${PLUGINS-pmix none}";; *) echo "srun $*" >>"$PLAN.slurm"; while [ "${1#--}" != "$1" ]; do shift; done; exec "$@";; esac',
         "mpirun": 'echo "mpirun $1 $2" >>"$PLAN.slurm"; shift 2; exec "$@"',
         "scontrol": 'echo "scontrol $*" >>"$PLAN.slurm"; [ -z "${NO_REQUEUE-}" ] || { echo "Job requeue is disabled" >&2; exit 1; }',
         "sbatch": 'echo "sbatch $*" >>"$PLAN.slurm"; [ -n "${SBATCH-}" ] || exit 1; echo "$SBATCH"',
         "squeue": 'case "$*" in *%e*) echo "${ENDS-}";; *) cat "$PLAN.queue" 2>/dev/null || exit 1; [ ! -e "$PLAN.ends" ] || mv "$PLAN.ends" "$PLAN_FOLDER/job-state.json";; esac'}
os.mkdir("bin")
for name, body in list(FAKES.items()) + [("tactus", None)]:
    with open("bin/" + name, "w") as file:
        file.write(PROGRAM if body is None else "#!/bin/bash\n%s\n" % body)
    os.chmod("bin/" + name, 0o755)
with open("scene.json", "w") as file:
    file.write("{}")


def check(true, text):
    global failures
    if not true:
        failures += 1
        print("failed: " + text)


class Job:
    count = 0

    def __init__(self, *plan, options=(), number="7", **more):
        """Makes the job's folder; plan: a line for each call of the program."""
        Job.count += 1
        self.folder, self.plan, self.number = "%s/f %d'\n$x" % (work, Job.count), "%s/plan-%d" % (work, Job.count), number
        self.environment = dict(os.environ, PATH=work + "/bin:" + os.environ["PATH"], PLAN=self.plan, PLAN_FOLDER=self.folder, SLURM_JOB_ID=number, **more)
        with open(self.plan, "w") as file:
            file.write("\n".join(plan))
        done = subprocess.run([SOURCE + "/jobs/submit", "scene.json", "-o", self.folder, "--no-check", "--program", work + "/bin/tactus", "--retry-wait", "0", "--dry-run"]
                              + list(options), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        check(done.returncode == 0, "submit: " + done.stderr)

    def start(self):
        self.process = subprocess.Popen(["bash", self.folder + "/job.sbatch"], env=self.environment, stdin=subprocess.DEVNULL,
                                        stdout=open(self.folder + "/slurm-7.out", "a"), stderr=subprocess.STDOUT)
        return self

    def end(self):
        code = self.process.wait(PATIENCE_S)
        return code, self.state()

    def run(self):
        return self.start().end()

    def state(self):
        with open(self.folder + "/job-state.json") as file:
            return json.load(file)

    def wait_file(self, ending):
        limit = time.monotonic() + PATIENCE_S
        while not os.path.exists(self.plan + ending) and time.monotonic() < limit:
            time.sleep(.02)
        os.remove(self.plan + ending)

    def said(self, ending):
        return open(self.plan + ending).read() if os.path.exists(self.plan + ending) else ""

    def calls(self):
        return self.said(".calls").splitlines()

    def status(self, queue=None):
        """tactus status, with what squeue says; None: no squeue."""
        environment = dict(self.environment)
        if queue is None:
            environment["PATH"] = "/nowhere"
        else:
            with open(self.plan + ".queue", "w") as file:
                file.write(queue)
        done = subprocess.run([TACTUS, "status", "--json", self.folder], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        check(done.returncode == 0, "status: " + done.stderr)
        return json.loads(done.stdout)


def expect(job, code, state, tries, words=""):
    got, s = job.run()
    check(got == code and s["state"] == state and s["tries"] == tries and words in s["reason"],
          "code %d, %s; expected %d, %s after %d tries, %r" % (got, s, code, state, tries, words))
    return s


# To the end, at once; and with a failure and a kill on the way. From the newest checkpoint, if there is one.
job = Job("0||")
expect(job, 0, "finished", 1)
check(job.calls()[0].startswith("['run', '%s/scene.json', '-o'" % work) and job.status()["condition"] == "finished", "the first start: %s" % job.calls())
job = Job("kill||", "kill|c|", "134|c|", "0||", options=["--set", "name=a b$x", "--record"])
expect(job, 0, "finished", 4)
calls = [eval(call) for call in job.calls()]
check(calls[0] == ["run", work + "/scene.json", "-o", job.folder, "--set", "name=a b$x", "--record"] and "--overwrite" in calls[1]
      and calls[2] == calls[3] == ["run", "--restart", job.folder, "--record"], "starts and restarts: %s" % calls)

# A launcher's code 0 is no end of a run that has not said so itself: a node has failed under it.
s = expect(Job("0|u c|", "0|u|", "0||"), 0, "finished", 3)
check(s["failures"] == 2, "failures after a launcher's code 0: %s" % s)
expect(Job(*["0|u|"] * 9, options=["--tries", "3"]), 1, "failed", 3, "before the run's end")

# Failures without a new checkpoint are bounded; a new one begins the count anew.
expect(Job(*["kill||"] * 9, options=["--tries", "3"]), 1, "failed", 3, "tried 3 times from the start")
expect(Job("kill||", "kill|c|", "kill||", *["kill||"] * 9, options=["--tries", "3"]), 1, "failed", 4, "from checkpoint-000001.h5")

# What would happen again is not tried again, and says why.
for code, words in ((2, "scene.json: gravity needs three numbers"), (3, "cannot write f/frames.h5: No space left on device (12.3 MiB more are needed)"),
                    (3, "vertex 7 is not finite at t = 0.5 s")):
    s = expect(Job("%d||%s" % (code, words)), code, "failed", 1, words)
    check("the same would happen again" in s["reason"], "why: %s" % s)
expect(Job("3||MPI failed on rank 1: unreachable", "0||"), 0, "finished", 2)
expect(Job("3||cannot write f: Input/output error", "0||"), 0, "finished", 2)
expect(Job("2||a run is still writing to 'f'; stop it first", "0||"), 0, "finished", 2)
odd = expect(Job('2||"quoted" \\ back\tslash'), 2, "failed", 1)
check('"quoted" \\ back?slash' in odd["reason"], "a sentence with quotes: %s" % odd)

# The warning: a checkpoint, and the queue again. What was pending, requeued and finished is told, with Slurm and without.
job = Job("75|c t=1 w|", "0|t=2|")
check(job.status()["condition"] == "pending", "before: %s" % job.status())
job.start()
job.wait_file(".waits")
check(job.status("7|RUNNING|None\n")["condition"] == "running", "while it runs: %s" % job.status("7|RUNNING|None\n"))
job.process.send_signal(signal.SIGUSR1)
code, s = job.end()
check(code == 75 and s["state"] == "requeued" and "time limit" in s["reason"] and job.said(".slurm") == "scontrol requeue 7\n", "the warning: %d %s %s" % (code, s, job.said(".slurm")))
for queue, condition, why in ((None, "requeued", "time limit"), ("7|PENDING|BeginTime\n", "requeued", "BeginTime: "), ("slurm_load_jobs error: Invalid job id specified\n", "gone", "job 7"),
                              ("7|TIMEOUT|TimeLimit\n", "gone", "timeout"), ("7|CANCELLED|None\n", "stopped", "--again"), ("7|PENDING|Odd\n", "requeued", "Odd")):
    reported = job.status(queue)
    check(reported["condition"] == condition and why in (reported["why"] or ""), "%r: %s" % (queue, reported))
os.remove(job.plan + ".queue")
expect(job, 0, "finished", 2)
check(job.state()["sittings"] == 2, "sittings: %s" % job.state())

# A cancelled job is not queued again.
job = Job("75|c t=1 w|")
job.start()
job.wait_file(".waits")
job.process.send_signal(signal.SIGTERM)
code, s = job.end()
check(code == 75 and s["state"] == "stopped" and "--again" in s["reason"] and job.said(".slurm") == "", "cancelled: %d %s" % (code, s))
check(job.status("slurm_load_jobs error: Invalid job id specified\n")["condition"] == "stopped", "cancelled: %s" % job.status("x"))
# A warning that comes before the ranks listen is not lost.
job = Job("75|c t=1 w|", "0||", options=["--setup", "kill -s USR1 $$"])
code, s = job.run()
check(code == 75 and s["state"] == "requeued" and s["tries"] == 0, "an early warning: %d %s" % (code, s))
# At the limit Slurm sends SIGTERM too: that is no cancelling.
job = Job("75|c t=1 w|", ENDS=time.strftime("%Y-%m-%dT%H:%M:%S"))
job.start()
job.wait_file(".waits")
job.process.send_signal(signal.SIGTERM)
code, s = job.end()
check(code == 75 and s["state"] == "requeued", "SIGTERM at the limit: %d %s" % (code, s))
# Stopped by somebody's signal to the program itself.
expect(Job("75|c t=1|stopped by User defined signal 1 at t = 1 s"), 75, "stopped", 1, "--again")


def warn(job):
    job.start()
    job.wait_file(".waits")
    job.process.send_signal(signal.SIGUSR1)
    return job.end()


# Sittings without progress, and sittings without end.
job = Job(*["75|c t=1 w|"] * 9, options=["--tries", "2"])
states = [warn(job)[1]["state"] for _ in range(3)]
check(states == ["requeued", "requeued", "failed"] and "without any progress" in job.state()["reason"], "no progress: %s %s" % (states, job.state()))
job = Job(*["75|c t=%d w|" % k for k in range(1, 9)], options=["--sittings", "3"])
states = [warn(job)[1]["state"] for _ in range(3)]
check(states == ["requeued", "requeued", "stopped"] and "--sittings" in job.state()["reason"], "no end: %s %s" % (states, job.state()))
# A site that forbids to requeue: a new job; or what to type.
job = Job("75|c t=1 w|", NO_REQUEUE="1", SBATCH="9;cluster")
code, s = warn(job)
check(s["state"] == "requeued" and s["job"] == "9" and "--chdir=" in job.said(".slurm"), "a new job: %s %s" % (s, job.said(".slurm")))
check(job.status("9|PENDING|Priority\n")["condition"] == "requeued", "the new job's state")
job = Job("75|c t=1 w|", NO_REQUEUE="1")
code, s = warn(job)
check(code == 1 and s["state"] == "stopped" and "--again" in s["reason"] and "disabled" in s["reason"], "no requeue at all: %s" % s)

# Slurm starts it again after a node's failure, of which the script heard nothing: bounded, too.
job = Job("0||", options=["--tries", "2"])
for failed, state in ((0, "running"), (1, "failed")):
    with open(job.folder + "/job-state.json", "w") as file:
        file.write('{\n  "format": "tactus-job-state/1",\n  "job": "7",\n  "state": "running",\n  "reason": "",\n  "tries": 3,\n  "failures": %d,\n  "sittings": 4,\n  "from": "",\n'
                   '  "stopped_at": "",\n  "node": "n",\n  "updated": 5\n}\n' % failed)
    code, s = job.run()
    check(s["state"] == ("finished" if failed == 0 else "failed") and s["sittings"] == 5, "after a node's failure: %s" % s)

# It ends between the reading of its files and Slurm's answer: its own word counts.
for queue in ("7|FAILED|NonZeroExitCode\n", "slurm_load_jobs error: Invalid job id specified\n"):
    job = Job("kill||", options=["--tries", "1"])
    ended = expect(job, 1, "failed", 1)
    with open(job.folder + "/job-state.json", "w") as file:
        file.write(json.dumps(dict(ended, state="running")))
    with open(job.plan + ".ends", "w") as file:
        file.write(json.dumps(ended))
    reported = job.status(queue)
    check(reported["condition"] == "failed" and reported["why"] == ended["reason"], "an end beside %r: %s" % (queue, reported))

# Launchers.
for options, more, begins in ((["--ntasks", "2"], {}, "srun --mpi=pmix --kill-on-bad-exit=0 --wait=10 --ntasks=2"), (["--ntasks", "2"], {"PLUGINS": "none pmi2"}, "mpirun -n 2"),
                              (["--launcher", "srun"], {}, "srun --mpi=pmix"), (["--ntasks", "2", "--launcher", "mpirun"], {}, "mpirun -n 2"), ([], {}, "")):
    job = Job("0||", options=options, **more)
    expect(job, 0, "finished", 1)
    check(job.said(".slurm").startswith(begins) and bool(job.said(".slurm")) == bool(begins), "%s: %s" % (options, job.said(".slurm")))

# Several folders: a table; a folder that is no run's hides nothing. --watch ends when all have ended.
job.environment["PATH"] = "/nowhere"
done = subprocess.run([TACTUS, "status", job.folder, "nowhere", job.folder], env=job.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
check(done.returncode == 2 and done.stdout.count("finished") == 2 and "nowhere" in done.stderr, "a table: %s%s" % (done.stdout, done.stderr))
done = subprocess.run([TACTUS, "status", "--watch", job.folder], env=job.environment, stdout=subprocess.PIPE, text=True, timeout=PATIENCE_S)
check(done.returncode == 0 and "finished" in done.stdout, "--watch: " + done.stdout)
done = subprocess.run([TACTUS, "status", "--watch", "--json", job.folder], stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S)
check(done.returncode == 2 and "exclude each other" in done.stderr, "--watch --json: " + done.stderr)
for name in ("job.json", "job-state.json"):
    kept = open(job.folder + "/" + name).read()
    open(job.folder + "/" + name, "w").write("{")
    done = subprocess.run([TACTUS, "status", job.folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    check(done.returncode == 2 and name in done.stderr and "damaged" in done.stderr, "a damaged %s: %s" % (name, done.stderr))
    open(job.folder + "/" + name, "w").write(kept)

os.chdir("/")
shutil.rmtree(work)
print("%d failures" % failures)
sys.exit(failures > 0)
