"""What the scripts of this folder share.  WRITER (the program io_writer) comes as their first argument."""
import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile

TACTUS = os.environ["TACTUS"]
WRITER = sys.argv[1]
HERE = tempfile.mkdtemp(prefix="tactus-io-")
atexit.register(shutil.rmtree, HERE, ignore_errors=True)
os.chdir(HERE)
# Open MPI gives all programs of a user that were started without mpirun one session folder, and the first that ends
# removes it: ours is our own.
os.mkdir("mpi")
os.environ["OMPI_MCA_orte_tmpdir_base"] = HERE + "/mpi"
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)
        print("failed:", what, file=sys.stderr)


def finish():
    print("%d failures" % len(failures))
    sys.exit(1 if failures else 0)


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err
        # What MPI's launcher says about an exit code is not ours.
        self.sentences = [line for line in err.splitlines() if line.startswith("tactus: ") and "warning: " not in line]


# A hang is told after ten minutes: a busy machine may take some for what takes seconds on a quiet one.
PATIENCE_S = 600


def call(*command, timeout=PATIENCE_S, **options):
    p = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, **options)
    return Result(p.returncode, p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace"))


def tactus(*arguments, **options):
    return call(TACTUS, *arguments, **options)


def write(*arguments, ranks=1, **options):
    launch = ["mpirun", "-n", ranks] if ranks > 1 else []
    return call(*launch, WRITER, *arguments, **options)


def must_write(*arguments, **options):
    r = write("--quiet", *arguments, **options)
    if r.code != 0:
        sys.exit("the writer failed: %s\n%s" % (arguments, r.err))


def must_write_all(runs, **options):
    """Many runs by one process, for starting MPI takes longer than writing: a list of lists of arguments."""
    arguments = []
    for run in runs:
        arguments += ["--quiet", *run, "--"]
    must_write(*arguments[:-1], **options)


def refused(r, code, *parts):
    """The exit code, and one sentence with these parts; nothing of HDF5, MPI or a crash beside it."""
    what = "%r %r" % (r.err[-500:], r.code)
    check(r.code == code, "exit code %d expected: %s" % (code, what))
    check(len(r.sentences) == 1, "one sentence expected: " + what)
    check("HDF5-DIAG" not in r.err and "Signal" not in r.err and "Sanitizer" not in r.err, "only a sentence: " + what)
    for part in parts:
        check(any(re.search(part, s) for s in r.sentences), "%r expected in %s" % (part, what))
