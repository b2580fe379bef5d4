#!/usr/bin/python3
"""faults.py: what goes wrong is one clear exception, and never a crash or a hang.

Simulations that are closed, two at once, used by two threads, after a fork, without a library; Ctrl-C; runs that are refused, killed or
stopped.  If it failed, a notebook would lose its kernel, or a user would wait for ever.
"""
import gc
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings

import numpy as np

from common import DROP, end, expect, raises

import tactus

LONG = {"time.end": 100, "output.checkpoint_every_t": 0.5}


def closed():
    sim = tactus.Simulation(DROP)
    sim.advance(0.2)
    x, v, ids = sim.positions, sim.velocities, sim.ids
    part, kept = x[3:9, 1], x.copy()
    sim.advance(0.3)
    expect((x == kept).all() and (part == kept[3:9, 1]).all(), "an array changes when the simulation goes on")
    expect(sim.positions is not x and not (sim.positions == kept).all(), "the next step makes a new array")
    sim.close()
    sim.close()
    for use in (lambda: sim.time, lambda: sim.positions, lambda: sim.velocities, lambda: sim.ids, lambda: sim.advance(1), lambda: sim.contacts(), lambda: sim.energy(),
                lambda: sim.set("gravity", [0, 0, 0]), lambda: sim.save("x"), lambda: sim.scene, lambda: sim.bodies, lambda: sim.frame_time(1), lambda: sim.contact_force("ball"),
                lambda: sim.gather(), lambda: sim.of("ball"), lambda: list(sim.frames())):
        with raises(tactus.ClosedError, "was closed"):
            use()
    del sim
    gc.collect()
    expect((x == kept).all() and (part == kept[3:9, 1]).all() and v.shape == (len(ids), 3), "an array changes when the simulation is gone")
    with raises(ValueError, "read-only"):
        x[0] = 1
    tactus.Simulation(DROP)  # nobody keeps it
    gc.collect()


def refused():
    for scene, words in (("no-such-scene.json", ["no-such-scene.json"]), (3, ["scene is a int"]), (tactus.Scene(end=1, frame=1), ["bodies"]), ("a\0b", ["zero byte"])):
        with raises(tactus.InputError, *words):
            tactus.Simulation(scene)
    with raises(tactus.InputError, "frictoin", "friction"):
        tactus.Simulation(DROP, set={"contact.frictoin": 1})
    with raises(tactus.InputError, "set is"):
        tactus.Simulation(DROP, set="contact.friction=1")
    with raises(tactus.InputError, "comm is a int"):
        tactus.Simulation(DROP, comm=3)
    with raises(tactus.InputError, "no-such.h5"):
        tactus.Simulation.restore("no-such.h5")
    with tactus.Simulation(DROP) as sim:
        sim.advance(0.1)
        with raises(tactus.InputError, "already"):
            sim.advance(0.05)
        with raises(tactus.InputError, "nan"):
            sim.advance(float("nan"))
        with raises(tactus.InputError, "2^53"):
            sim.advance(1e30)
        with raises(tactus.InputError, "no body 'bell'", "'ball', 'floor'"):
            sim.of("bell")
        for path in ("time.end", "contact.thickness", "nothing", "a=b", ""):
            with raises(tactus.InputError):
                sim.set(path, 1)
        expect(sim.time > 0.09 and len(sim.positions) == len(sim.ids), "the simulation is as it was")
    # A scene that cannot go on: the simulation is of no more use, and Python goes on.
    s = tactus.Scene(end=1, frame=0.125, contact=dict(thickness=0.02, min_period_s=1e-6))
    s.body("dot", tactus.points([[0, 0, 0]]), mass=0.01)
    s.body("low", tactus.grid([1, 1], [1, 1]), fixed=True, position=[0, -0.05, 0])
    s.body("high", tactus.grid([1, 1], [1, 1]), mass=1, position=[0, 0.05, 0])
    s.motion("high", path=[[0, [0, 0, 0]], [0.1, [0, -0.2, 0]]])
    sim = tactus.Simulation(s)
    with raises(tactus.RunError, "cannot go on"):
        sim.advance(1)
    with raises(tactus.RunError, "failed before"):
        sim.advance(2)
    sim.close()


def callbacks():
    class Mine(Exception):
        pass
    seen = []

    def tell(sim, k):
        seen.append(k)
        if k == 2:
            raise Mine("enough")

    def meddle(sim, k):
        sim.advance(sim.time + 1)
    sim = tactus.Simulation(DROP)
    sim.on_frame(tell)
    with raises(Mine, "enough"):
        sim.advance(0.7)
    expect(seen == [1, 2] and sim.time == sim.frame_time(2), "an exception in a callback ends the step at its frame")
    sim.advance(0.4)
    expect(seen == [1, 2, 3], "the simulation goes on afterwards")
    sim.close()


def when_it_steps(function):
    """Calls the function in a thread of its own, once a step is under way: then Ctrl-C is the simulation's."""
    def wait():
        while signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            time.sleep(0.01)
        time.sleep(0.05)
        function()
    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def interrupted():
    sim = tactus.Simulation(DROP)
    when_it_steps(lambda: os.kill(os.getpid(), signal.SIGINT))
    with raises(KeyboardInterrupt, "goes on from here"):
        sim.advance(100)
    at = sim.time
    expect(0 < at < 100, f"Ctrl-C stopped it at {at} s")
    expect(signal.getsignal(signal.SIGINT) is signal.default_int_handler, "Python's own handler is there again")
    sim.advance(at + 0.01)
    other = tactus.Simulation(DROP)  # the bits are those of one that was not stopped
    other.advance(sim.time)
    expect(sim.positions.tobytes() == other.positions.tobytes(), "Ctrl-C changes the trajectory")

    reported = []

    def use():
        for call in (lambda: sim.advance(110), lambda: sim._copy(1)):
            try:
                call()
            except tactus.ClosedError as error:
                reported.append(str(error))
        os.kill(os.getpid(), signal.SIGINT)
    thread = when_it_steps(use)
    with raises(KeyboardInterrupt):
        sim.advance(120)
    thread.join()
    expect(len(reported) == 2 and all("another thread" in text for text in reported), f"two threads at once: {reported}")


def forked():
    sim = tactus.Simulation(DROP)
    sim.advance(0.1)
    x = sim.positions
    child = os.fork()
    if child == 0:
        good = 0
        for use in (lambda: sim.advance(0.2), lambda: sim.positions, lambda: sim.contacts(), lambda: sim.time, lambda: tactus.Simulation(DROP)):
            try:
                use()
            except tactus.ClosedError as error:
                good += "forked process" in str(error)
        sim.close()  # does nothing, and does not disturb the parent's
        good += np.isfinite(x).all()
        del sim
        gc.collect()
        os._exit(7 * 10 + good)
    status = os.waitpid(child, 0)[1]
    expect(os.waitstatus_to_exitcode(status) == 76, f"a forked child ends with {os.waitstatus_to_exitcode(status)}, and not with 76")
    sim.advance(0.2)
    sim.close()
    # A child that ends as Python's usually do, with everything that runs at exit.
    child = subprocess.run([sys.executable, "-c", "import tactus, os, sys\nsim = tactus.Simulation(sys.argv[1])\npid = os.fork()\n"
                            "if pid: sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\nsys.exit(5)", DROP])
    expect(child.returncode == 5, f"a process that forks ends with {child.returncode}")


def elsewhere(**changes):
    """What a new Python says with another environment."""
    environment = {**os.environ, **changes}
    environment = {name: value for name, value in environment.items() if value is not None}
    code = "import tactus\ntry:\n    print(tactus.Scene.load(%r).sha256)\nexcept tactus.LibraryError as error:\n    print('LibraryError', error)" % DROP
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    expect(done.returncode == 0 and done.stdout.count("\n") == 1, f"{changes}: code {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def library(folder):
    expect("TACTUS_LIBRARY names /no/such.so" in elsewhere(TACTUS_LIBRARY="/no/such.so"), "a library that is not there")
    text = os.path.join(folder, "text.so")
    with open(text, "w") as file:
        file.write("no library")
    expect("cannot be loaded" in elsewhere(TACTUS_LIBRARY=text), "a file that is no library")
    import ctypes.util
    expect("no library of Tactus" in elsewhere(TACTUS_LIBRARY=ctypes.util.find_library("z")), "another library")
    reported = elsewhere(TACTUS_LIBRARY=None, PATH="/nowhere", HOME=folder)
    expect("was not found" in reported and "TACTUS_LIBRARY" in reported or len(reported) == 65, f"no library: {reported}")


def runs(folder):
    at = lambda name: os.path.join(folder, name)  # noqa: E731
    with raises(tactus.InputError, "no-such.json"):
        tactus.run("no-such.json", at("a.run"))
    with raises(tactus.InputError, "needs the name"):
        tactus.run(tactus.Scene.load(DROP))
    with raises(tactus.InputError, "ranks is 0"):
        tactus.run(DROP, at("a.run"), ranks=0)
    with raises(tactus.LibraryError, "/no/mpirun"):
        tactus.run(DROP, at("a.run"), ranks=2, mpirun=["/no/mpirun"])
    with raises(tactus.InputError, "the scene: contact.thickness"):
        s = tactus.Scene.load(DROP)
        s.data["contact"]["thickness"] = -1
        tactus.run(s, at("a.run"))
    expect(not os.path.exists(at("a.run")), "a run that was refused leaves a folder")

    name = at("a run's \"folder\" $HOME")
    process = tactus.start(DROP, name, set=LONG)
    while not process.status().get("checkpoint"):
        time.sleep(0.02)
    live = tactus.open(name)
    before = len(live)
    expect(live.live and before > 1 and live.positions(-1).shape == (46, 3), "a run can be read while it goes on")
    while len(live) == before or len(live.energy) <= before:
        time.sleep(0.02)
    times = live.times
    expect(len(times) > before and times[-1] == live.time(len(times) - 1) and (np.diff(times) > 0).all(), "its frames become more")
    os.kill(process.pid, signal.SIGKILL)
    with raises(tactus.RunError, "killed (SIGKILL)", "restart="):
        process.wait()
    expect(live.state == "killed" and not live.live, "a run whose process is gone is not live")
    with warnings.catch_warnings(record=True) as reported:
        warnings.simplefilter("always")
        tactus.open(name)
    expect(len(reported) == 1 and "goes on from its last checkpoint" in str(reported[0].message), "open() warns of a run that was killed")

    seen = []

    def interrupt(status):
        seen.append(status["time"])
        if len(seen) == 1:
            os.kill(os.getpid(), signal.SIGINT)
    with raises(KeyboardInterrupt, "checkpoint", "goes on"):
        tactus.run(restart=name, progress=interrupt)
    expect(live.state == "stopped" and live.status["restarts"] == 1, "Ctrl-C stops a run with a checkpoint")
    process = tactus.start(restart=name)
    while not process.status():
        time.sleep(0.02)
    with raises(tactus.InputError, "still writing"):
        tactus.run(DROP, name, overwrite=True)
    os.kill(process.pid, signal.SIGTERM)  # somebody else's request
    with raises(tactus.Stopped, "stopped"):
        process.wait()
    process = tactus.start(restart=name)
    while not process.status():
        time.sleep(0.02)
    process.stop()
    expect(process.wait().state == "stopped", "stop() ends it in good order")
    # Two ranks: one of them is killed.
    if not os.environ.get("LD_PRELOAD"):
        process = tactus.start(DROP, at("two.run"), ranks=2, mpirun="mpirun -q --bind-to none -n 2", set=LONG)
        while not process.status():
            time.sleep(0.02)
        live = tactus.open(at("two.run"))
        with raises(tactus.ReadError, "2 processes"):
            live.positions(0)
        os.kill(live.status["pid"], signal.SIGKILL)
        with raises(tactus.RunError):
            process.wait()


closed()
refused()
callbacks()
interrupted()
forked()
with tempfile.TemporaryDirectory() as home:
    library(home)
    runs(home)
end()
