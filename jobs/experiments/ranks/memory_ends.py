#!/usr/bin/python3
"""memory_ends.py SCENE : how a run on three ranks ends when some of them may take no more memory.

    jobs/experiments/ranks/memory_ends.py press.json --limited 1 --at checkpoint.h5 --more 0:60:4

Without --at, ranks begin with `ulimit -v` of so many MB. With it, a rank may take so many tenths of a MB more than it has when that file of the run folder is
there (status.json: the run has begun). Prints a line for each limit: the exit code (-: still there after --patience, ended by this script), seconds, how many
sentences of the program there were, and the first. At the end: how many had enough, ended with one sentence, ended otherwise, hung.
"""
import argparse
import collections
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


def ranks_of(parent):
    """{rank: process} of the program's processes below mpirun."""
    found = {}
    children = subprocess.run(["pgrep", "-P", str(parent)], capture_output=True, text=True).stdout.split()
    for child in children:
        found.update(ranks_of(int(child)))
        try:
            with open("/proc/%s/comm" % child) as file:
                is_tactus = file.read().strip() == "tactus"
            with open("/proc/%s/environ" % child) as file:
                rank = re.search(r"OMPI_COMM_WORLD_RANK=(\d+)", file.read())
        except OSError:
            continue
        if is_tactus and rank:
            found[int(rank.group(1))] = int(child)
    return found


def limit_now(parent, limited, more):
    for rank, process in ranks_of(parent).items():
        if rank not in limited:
            continue
        try:
            with open("/proc/%d/status" % process) as file:
                bytes_now = 1024 * int(re.search(r"VmSize:\s*(\d+)", file.read()).group(1))
            resource.prlimit(process, resource.RLIMIT_AS, (bytes_now + more, bytes_now + more))
        except (OSError, AttributeError):
            pass  # it has ended


def run(options, amount, home):
    program = "exec %s run %s -o out.run --quiet" % (os.path.abspath(options.program), os.path.abspath(options.scene))
    ranks = " ".join(map(str, options.limited))
    shell = program if options.at else 'case " %s " in *" $OMPI_COMM_WORLD_RANK "*) ulimit -v %d;; esac; %s' % (ranks, 1024 * amount, program)
    begin = time.monotonic()
    with open(os.path.join(home, "err"), "w") as err:
        process = subprocess.Popen(["mpirun", "-n", str(options.ranks), "bash", "-c", shell], cwd=home, stdout=err, stderr=err, start_new_session=True,
                                   env={**os.environ, **MPI, "TACTUS_TEST_PATIENCE_S": str(options.patience / 6)})
        while options.at and process.poll() is None and not os.path.exists(os.path.join(home, "out.run", options.at)):
            time.sleep(.005)
        if options.at:
            limit_now(process.pid, options.limited, amount * 100000)
        try:
            code = process.wait(options.patience)
        except subprocess.TimeoutExpired:
            code = None
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()
    with open(os.path.join(home, "err")) as file:
        sentences = [line for line in re.split(r"[\r\n]+", file.read()) if line.startswith("tactus: ")]
    return code, time.monotonic() - begin, sentences


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scene")
    parser.add_argument("--ranks", type=int, default=3)
    parser.add_argument("--limited", type=lambda t: [int(r) for r in t.split(",")], default=[1], help="ranks, with commas (1)")
    parser.add_argument("--at", metavar="FILE", help="of the run folder")
    parser.add_argument("--more", default="0:200:10", metavar="A:B:STEP", help="limits (%(default)s)")
    parser.add_argument("--patience", type=float, default=60, help="s (%(default)s)")
    parser.add_argument("--program", default=os.path.join(TOP, "build", "tactus"))
    options = parser.parse_args()
    tally = collections.Counter()
    for amount in range(*map(int, options.more.split(":"))):
        with tempfile.TemporaryDirectory(prefix="tactus-memory-") as home:
            code, seconds, sentences = run(options, amount, home)
        tally["hung" if code is None else "enough" if code == 0 else "one sentence" if code == 3 and len(sentences) == 1 else "otherwise"] += 1
        print("%5d %4s %5.1f s %2d %s" % (amount, "-" if code is None else code, seconds, len(sentences), (sentences + [""])[0]), flush=True)
    print(", ".join("%s %d" % item for item in sorted(tally.items())))
    return 1 if tally["hung"] else 0


if __name__ == "__main__":
    sys.exit(main())
