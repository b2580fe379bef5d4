#!/usr/bin/python3
"""left.py: an exception on one rank of `mpirun python` leaves no rank that waits for ever.

In a callback: the rank has its exception, the others a RankError that tells it, and all can go on.  In a with block: all leave it.  Outside of
both: the job ends when the others have been waited for (a minute; here two seconds).  If it failed, a job would hang until its time is over.
"""
import os
import subprocess
import sys

from common import DROP, MPIRUN, end, expect, ranks


def say(*words):
    sys.stdout.write(" ".join(map(str, words)) + "\n")  # at once: ranks share the terminal


def on_rank(how):
    from mpi4py import MPI
    import tactus
    last = MPI.COMM_WORLD.rank == MPI.COMM_WORLD.size - 1
    if how == "callback":
        sim = tactus.Simulation(DROP)

        def fail(sim, k):
            if k == 2 and last:
                raise ValueError("no more of this")
        sim.on_frame(fail)
        try:
            sim.advance(0.5)
            say("nothing was raised")
        except ValueError as error:
            say("own:", error, sim.time)
        except tactus.RankError as error:
            say("told:", error, sim.time)
        sim.advance(0.5)  # all go on
        say("went on to", sim.time)
    elif how in ("with", "with all"):
        try:
            with tactus.Simulation(DROP) as sim:
                sim.on_frame(lambda sim, k: None)
                sim.advance(0.2)
                if how == "with all":
                    sim.advance(0.1)  # refused on all ranks alike
                if last:
                    raise ValueError("out of the block")
        except ValueError as error:
            say("own:", error)
        except tactus.RankError as error:
            say("told:", error)
        MPI.COMM_WORLD.Barrier()
        say("went on")
    elif how == "waiting":
        with tactus.Simulation(DROP) as sim:
            if last:
                raise ValueError("others are in a step")
            sim.advance(0.5)
    elif how == "outside":
        sim = tactus.Simulation(DROP)
        if last:
            raise ValueError("nobody catches this")
        sim.advance(0.5)
    elif how == "exit":
        sim = tactus.Simulation(DROP)
        if last:
            sys.exit(0)
        sim.advance(0.5)
    sys.exit(0)


def dies(how, words):
    """The job ends by itself, with a code that is not 0."""
    command = [*MPIRUN, "2", sys.executable, os.path.abspath(__file__), how]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TACTUS_TEST_PATIENCE_S": "2"})
    expect(done.returncode != 0 and words in done.stderr, f"{how}: code {done.returncode}: {done.stdout}{done.stderr}")


if len(sys.argv) > 1:
    on_rank(sys.argv[1])
reported = ranks(3, os.path.abspath(__file__), "callback")
expect(reported.count("own: no more of this") == 1 and reported.count("told: rank 2 failed: ValueError: no more of this") == 2 and reported.count("went on to 0.5") == 3, f"callback: {reported}")
reported = ranks(2, os.path.abspath(__file__), "with")
expect(reported.count("own: out of the block") == 1 and reported.count("told: rank 1 failed: ValueError: out of the block") == 1 and reported.count("went on") == 2, f"with: {reported}")
reported = ranks(2, os.path.abspath(__file__), "with all")
expect(reported.count("own: cannot go to") == 2 and reported.count("went on") == 2, f"with, all ranks: {reported}")
dies("waiting", "others are in a step")
dies("outside", "nobody catches this")
dies("exit", "without closing")
end()
