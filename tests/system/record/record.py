"""What the scripts of this folder share: running scenes with --record, and reading record.h5."""
import atexit
import json
import os
import shutil
import sys
import tempfile

import h5py
import numpy as np

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, SOURCE + "/tests/ranks")
import launch  # noqa: E402

HERE = tempfile.mkdtemp(prefix="tactus-record-")
atexit.register(shutil.rmtree, HERE, ignore_errors=True)
EQUALITY = SOURCE + "/tests/system/equality/scenes/"
RANKS = SOURCE + "/tests/ranks/scenes/"
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)
        print("failed:", what, file=sys.stderr)


def finish():
    print("%d failures" % len(failures))
    sys.exit(1 if failures else 0)


def path(name):
    return os.path.join(HERE, name)


def run(ranks, scene, folder, *more, code=0, record=True, **environment):
    """Runs a scene, which may be a dict, into a new folder; the result of launch.tactus()."""
    if isinstance(scene, dict):
        with open(path("scene.json"), "w") as f:
            json.dump(scene, f)
        scene = path("scene.json")
    arguments = [scene] if scene else []
    arguments += ["-o", path(folder)] if folder else []
    r = launch.tactus(ranks, "run", *arguments, *(["--record"] if record else []), *more,
                      environment={k: str(v) for k, v in environment.items()}, limit=600)
    check(r.code == code, "exit code %d of %s %s on %d ranks: %s" % (code, scene, more, ranks, r.output[-800:]))
    check(not r.crashed, "no crash: %s" % r.crashed)
    return r


def read(folder, group="record"):
    """{interval: (start, time, position)}"""
    with h5py.File(path(folder) + "/record.h5", "r") as f:
        return {int(k): tuple(g[n][()] for n in ("start", "time", "position")) for k, g in f.get(group, {}).items()}


def quantum(folder):
    with h5py.File(path(folder) + "/record.h5", "r") as f:
        return f["record"].attrs["quantum_s"]


def frames(folder):
    """[(time, position, velocity)], and which vertices are free at some time."""
    with h5py.File(path(folder) + "/frames.h5", "r") as f:
        return [tuple(g[n][()] for n in ("time", "position", "velocity")) for g in f["frames"].values()], f["mesh/free"][()] == 1


def report(folder):
    with open(path(folder) + "/run.json") as f:
        return json.load(f)


def same(a, b):
    """To the last bit."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def equal(a, b, what):
    """The records of two folders."""
    x, y = read(a), read(b)
    check(list(x) == list(y), "%s: intervals %s, %s" % (what, list(x), list(y)))
    for k in x:
        for n, u, v in zip(("start", "time", "position"), x[k], y.get(k, (None,) * 3)):
            check(v is not None and same(u, v), "%s: %s of interval %d differs" % (what, n, k))
