"""What the scripts of this folder and of tests/system/matrix share: starting the program on some ranks, and what it said.

TACTUS names the program, TACTUS_MPIRUN what starts it on several ranks (mpirun). Each run gets a folder of its own for what MPI leaves behind.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SCENES = os.path.join(HERE, "scenes")
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "system", "equality"))

# One rank does without the daemon and the network of mpirun: it starts in 10 ms instead of 400.
ALONE = {"OMPI_MCA_ess_singleton_isolated": "1", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self", "OMPI_MCA_mtl": "^ofi,psm2"}
# More ranks than cores, as root, in a container; leaks are looked for in runs of one process.
MANY = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_pml": "ob1"}

# A hang is told after ten minutes: a busy machine may take some for what takes seconds on a quiet one.
PATIENCE_S = 600


def program():
    if "TACTUS" not in os.environ:
        sys.exit("set TACTUS to the program, such as TACTUS=build/tactus")
    return os.path.abspath(os.environ["TACTUS"])


def injector():
    """The library of tests/faults/inject.c. By its whole path: one that the loader does not find is left out without an error."""
    path = os.path.abspath(os.environ.get("TACTUS_INJECT", ""))
    if not os.path.isfile(path):
        sys.exit("set TACTUS_INJECT to the library made of tests/faults/inject.c, such as TACTUS_INJECT=build/tests/faults/libfaults_inject.so")
    return path


class Result:
    """code: the exit code; None: it was stopped at its time limit, or by kill()."""

    def __init__(self, code, output, seconds):
        self.code, self.output, self.seconds = code, output, seconds

    @property
    def sentences(self):
        """What the program said, less warnings and mpirun's remarks. On several ranks the output of some may come
        twice in a line."""
        return [line.strip() for line in re.split(r"[\r\n]+", self.output)
                if line.startswith("tactus: ") and not line.startswith("tactus: warning: ")]

    @property
    def warnings(self):
        return [line for line in re.split(r"[\r\n]+", self.output) if line.startswith("tactus: warning: ")]

    @property
    def crashed(self):
        """A sign of a crash in the output, or None."""
        found = re.search(r"Signal: .*|Segmentation fault|AddressSanitizer.*|runtime error.*|HDF5-DIAG.*|internal error at.*"
                          r"|double free.*|MPI_ABORT was invoked.*", self.output)
        return found.group(0) if found else None

    def __str__(self):
        said = self.sentences or [line for line in self.output.splitlines() if line.strip()][-1:]
        return "%s %s" % ("no end" if self.code is None else "exit code %d" % self.code, " | ".join(said))


def catches(pid, number):
    with open("/proc/%d/status" % pid) as file:
        caught = next(line for line in file if line.startswith("SigCgt:"))
    return int(caught.split()[1], 16) >> (number - 1) & 1


class Process:
    """The program on `ranks` ranks, running: arguments as on the command line."""

    def __init__(self, ranks, arguments, environment=None):
        self.temporary = tempfile.mkdtemp(prefix="tactus-mpi-")
        self.output = tempfile.TemporaryFile()
        command = [program()] + [str(a) for a in arguments]
        env = {**os.environ, "OMPI_MCA_orte_tmpdir_base": self.temporary, **MANY}
        if ranks > 1:
            command = os.environ.get("TACTUS_MPIRUN", "mpirun").split() + ["-n", str(ranks)] + command
        else:
            env.update(ALONE)
        env.update(environment or {})
        self.ranks, self.start, self.end = ranks, time.monotonic(), None
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=self.output,
                                        stderr=subprocess.STDOUT, start_new_session=True)

    def rank_ids(self):
        """Process ids of the ranks; empty before they have started."""
        if self.ranks == 1:
            return [self.process.pid]
        try:
            with open("/proc/%d/task/%d/children" % (self.process.pid, self.process.pid)) as file:
                children = [int(pid) for pid in file.read().split()]
            return [pid for pid in children if os.path.samefile("/proc/%d/exe" % pid, program())]
        except OSError:
            return []

    def signal(self, number):
        """Once every rank listens: before, it would die of it."""
        end = time.monotonic() + PATIENCE_S
        while self.process.poll() is None and time.monotonic() < end and not self.listens(number):
            time.sleep(0.002)
        if self.process.poll() is None:
            self.process.send_signal(number)

    def listens(self, number):
        pids = self.rank_ids()
        try:
            return len(pids) == self.ranks and all(catches(pid, number) for pid in pids)
        except OSError:
            return False

    def kill(self):
        """mpirun and its ranks. What was started here, and nothing else."""
        for pid in self.rank_ids():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def wait(self, limit):
        try:
            code = self.process.wait(max(0.1, limit))
        except subprocess.TimeoutExpired:
            self.kill()
            code = None
        seconds = time.monotonic() - self.start
        self.output.seek(0)
        text = self.output.read().decode("utf-8", "replace")
        self.output.close()
        shutil.rmtree(self.temporary, ignore_errors=True)
        return Result(code, text, seconds)


def tactus(ranks, *arguments, environment=None, limit=PATIENCE_S):
    return Process(ranks, arguments, environment).wait(limit)


def difference(a, b, limit=PATIENCE_S):
    """What `tactus diff` has to say of two folders; empty where nothing differs."""
    r = tactus(1, "diff", a, b, "--all-frames", limit=limit)
    if r.code == 0:
        return ""
    lines = [" ".join(line.split()) for line in r.output.splitlines()]
    return "; ".join([line for line in lines if "largest" in line] or lines) or "tactus diff: %s" % r


def ending(result, folder):
    """The sentence that a run ended with, less its folder's name and the place."""
    said = result.sentences[-1] if result.sentences else ""
    return re.sub(r" near \([^)]*\)", "", said.replace(folder, "DIR"))


def load(word):
    """(name, scene) of each scene that a word stands for: a file, or KIND:SEED, or KIND:FIRST..LAST, or experiment:NAME,..."""
    import experiment_scenes
    import random_scene
    kind, colon, seeds = word.partition(":")
    if not colon or os.path.exists(word):
        with open(word) as file:
            yield os.path.basename(word).removesuffix(".json"), json.load(file)
        return
    if kind == "experiment":
        yield from experiment_scenes.scenes(seeds)
        return
    first, _, last = seeds.partition("..")
    for seed in range(int(first), int(last or first) + 1):
        yield "%s:%d" % (kind, seed), random_scene.make(seed, None if kind == "seed" else kind)
