#!/usr/bin/python3
"""tied.py: tactus audit proves the record of the run that it lies beside, and of all of it. If it failed, a record of another
scene, one that is short, or one that frames.h5 or the mesh contradict would count as a proof.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import h5py
import numpy as np

TACTUS = os.path.abspath(os.environ["TACTUS"])
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SCENE = SOURCE + "/tests/system/equality/scenes/edge-onto-edge.json"
FRAME, LAST = 0.03125, 8
HERE = tempfile.TemporaryDirectory(prefix="tactus-tied-")
os.chdir(HERE.name)
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)
        print("failed:", what, file=sys.stderr)


def tactus(*arguments, ranks=1):
    launch = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
    return subprocess.run([*launch, TACTUS, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, timeout=600)


def run(*arguments, code=0):
    r = tactus("run", *arguments, "--quiet")
    check(r.returncode == code, "run %s: exit code %d: %s" % (arguments, r.returncode, r.stderr))


def audit(folder, *options, code, words=(), ranks=(1,)):
    """The report, which must be the same on all of the ranks; its sentence has the words."""
    first = None
    for n in ranks:
        r = tactus("audit", folder, "--json", *options, ranks=n)
        check(r.returncode == code, "%s %s on %d ranks: exit code %d, not %d: %s %s" % (folder, options, n, r.returncode, code, r.stdout, r.stderr))
        report = json.loads(r.stdout) if r.stdout else {"sentence": r.stderr}
        check(all(w in report["sentence"] for w in words), "%s %s: %s in: %s" % (folder, options, words, report["sentence"]))
        first = first or report
        check(n == 1 or report == first, "%s on %d ranks: %s, %s" % (folder, n, report, first))
    return first


def refused(folder, *words, options=(), ranks=(1,)):
    """Exit code 2, and one sentence."""
    for n in ranks:
        r = tactus("audit", folder, *options, ranks=n)
        lines = [line for line in r.stderr.splitlines() if line.startswith("tactus: ")]
        check(r.returncode == 2 and len(lines) == 1 and all(w in lines[0] for w in words) and r.stdout == "",
              "%s %s on %d ranks: %d %s %s" % (folder, options, n, r.returncode, r.stdout, r.stderr[:800]))


def copy(name, source="good"):
    shutil.copytree(source, name, symlinks=True)
    return name


def edited(name, file, edit, source="good"):
    with h5py.File(copy(name, source) + "/" + file, "r+") as f:
        edit(f)
    return name


def edit_json(name, file, **values):
    with open("%s/%s" % (name, file)) as f:
        reported = json.load(f)
    reported.update(values)
    with open("%s/%s" % (name, file), "w") as f:
        json.dump(reported, f)
    return name


def without(*names):
    def edit(f):
        for name in names:
            del f[name]
    return edit


def assign(name, change):
    def edit(f):
        value = f[name][...]
        f[name][...] = change(value)
    return edit


run(SCENE, "-o", "good", "--record")
r = audit("good", code=0, words=("proven", "all of the run"), ranks=(1, 3))
check(r["whole"] and r["asked"] is None and r["scene"]["made"] and r["run"] == {"state": "finished", "begin": 0, "end": FRAME * LAST},
      "what it tells of the run: %s" % r)
check(r["frames"] == {"compared": 8 * 2 * LAST, "differing": 0, "missing": 0, "off": 0, "first": None}, "positions compared: %s" % r["frames"])
check(audit("good", "--frames", code=0)["whole"], "the frames are whole")

# ---- of another scene, of none
run(SCENE, "-o", "other", "--record", "--set", "contact.stiffness=201")
shutil.copy("other/record.h5", copy("foreign") + "/record.h5")
refused("foreign", "record.h5", "another scene", ranks=(1, 3))
audit("foreign", "--frames", code=0)
shutil.copy("other/run.json", copy("foreign-run") + "/run.json")
refused("foreign-run", "frames.h5", "run.json")
refused("foreign-run", "frames.h5", "run.json", options=("--frames",))
for file in ("record.h5", "frames.h5"):
    def forget(f):
        del f.attrs["scene_sha256"]
    refused(edited("no-hash-" + file, file, forget), file, "does not say of which scene it is", "run the scene again")

# ---- the mesh and scene.json are what the hash was made of
def rolled(x):
    return np.concatenate([x[:1, [1, 2, 0]], x[1:]])


def smaller(q):
    q.attrs["quantum_s"] = q.attrs["quantum_s"] / 2


def turned(x):
    return x[::-1]


for name, edit, word in (("topology", assign("mesh/triangles", lambda t: t[[1, 0, 2, 3, 4, 5, 6, 7]]), "another one"),
                         ("turned", assign("mesh/triangles", rolled), "another one"),
                         ("radius", assign("mesh/radius", lambda x: np.concatenate([x[:4], x[4:] + .01])), "radius of body `upper`"),
                         ("free", assign("mesh/free", lambda x: np.concatenate([x[:1] * 0, x[1:]])), "/mesh/free"),
                         ("names", assign("mesh/body_names", turned), "/mesh/body_names"),
                         ("start", assign("frames/000000/position", lambda x: np.nextafter(x, 9)), "another one")):
    refused(edited("mesh-" + name, "frames.h5", edit), "frames.h5", word)
refused("mesh-radius", "radius", options=("--frames",), ranks=(1, 3))
refused(edited("quantum", "record.h5", lambda f: smaller(f["record"])), "quantum_s")
with open("good/scene.json") as f:
    reported = json.load(f)
edit_json(copy("ignore"), "scene.json", contact={**reported["contact"], "ignore": [["lower", "upper"]]})
refused("ignore", "scene.json", "another one")
edit_json(copy("self"), "scene.json", bodies=[{**reported["bodies"][0], "self": False}, reported["bodies"][1]])
refused("self", "scene.json", "another one")

# ---- shortened: a beginning, an end, a gap
short = edited("short", "record.h5", without("record/000005", "record/000006", "record/000007"))
r = audit(short, code=1, words=("not proven", "only a beginning of the run, which finished at t = 0.25 s; --until 0.15625"), ranks=(1, 3))
check(not r["whole"] and not r["proven"] and r["spans"] == [[0, 5 * FRAME]], "a beginning: %s" % r)
r = audit(short, "--until", 5 * FRAME, code=0, words=("proven", "as requested", "which finished at t = 0.25 s"), ranks=(1, 3))
check(not r["whole"] and r["asked"] == [None, 5 * FRAME] and r["proven"], "a beginning, asked for: %s" % r)
check(audit(short, "--until", 0.1, code=0)["spans"] == [[0, round(0.1 * 2**46) / 2**46]], "a part of it, to the quantum")
audit(short, "--until", 5.5 * FRAME, code=1, words=("was requested",))
audit(short, "--frames", code=0)
late = edited("late", "record.h5", without("record/000000", "record/000001"))
audit(late, code=1, words=("only an end of the run", "--from 0.0625 requests"))
audit(late, "--from", 2 * FRAME, code=0)
audit(late, "--from", FRAME, code=1, words=("was requested",))
r = audit(edited("middle", "record.h5", without("record/000003")), code=1, words=("gaps",))
check(len(r["spans"]) == 2, "a gap: %s" % r)
r = audit("middle", "--from", 4.5 * FRAME, "--until", 7.5 * FRAME, code=0)
check(r["spans"] == [[4.5 * FRAME, 7.5 * FRAME]], "behind the gap: %s" % r)
audit("middle", "--from", 2 * FRAME, "--until", 5 * FRAME, code=1, words=("gaps",))
for options in (("--until", "0"), ("--from", "-1"), ("--from", ".2", "--until", ".1")):
    refused("good", options[0], options=options)

# ---- frames.h5 contradicts the record
def bit(x):
    x[5, 2] = np.nextafter(x[5, 2], 9)
    return x


r = audit(edited("bit", "frames.h5", assign("frames/000003/position", bit)), code=1,
          words=("frames.h5 contradicts the record: 2 of 128 positions", "vertex 1 of body `upper`", "frame 000003"), ranks=(1, 3))
check(r["frames"]["differing"] == 2 and (r["frames"]["first"]["frame"], r["frames"]["first"]["body"], r["frames"]["first"]["vertex"]) == (3, "upper", 1) and
      r["pieces"]["crossing"] == 0, "a bit that differs: %s" % r["frames"])


def swapped(f):
    a, b = f["frames/000003/position"][...], f["frames/000004/position"][...]
    f["frames/000003/position"][...], f["frames/000004/position"][...] = b, a


check(audit(edited("order", "frames.h5", swapped), code=1)["frames"]["differing"] == 32, "frames in the wrong order")
audit(edited("gone", "frames.h5", without("frames/000003")), code=1, words=("no frame for 2 ends",))
audit("gone", "--frames", code=1, words=("lacks 1 frames",))


def joined(f):
    """Two intervals as one, which is no worse a path: but not from frame to frame."""
    parts = [[f["record/%06d" % k][n][...] for n in ("start", "time", "position")] for k in (2, 3)]
    start, time, x = [0], [], []
    for v in range(len(parts[0][0]) - 1):
        rows = [slice(p[0][v] + k, p[0][v + 1]) for k, p in enumerate(parts)]
        time += [p[1][s] for p, s in zip(parts, rows)]
        x += [p[2][s] for p, s in zip(parts, rows)]
        start.append(sum(map(len, time)))
    del f["record/000002"], f["record/000003"]
    for n, values in (("start", np.array(start)), ("time", np.concatenate(time)), ("position", np.concatenate(x))):
        f.create_dataset("record/000002/" + n, data=values, chunks=values.shape, shuffle=True, compression=1, fletcher32=True)


audit(edited("joined", "record.h5", joined), code=1, words=("1 of its intervals", "000002", "from frame to frame"))
audit(edited("renamed", "record.h5", lambda f: f.move("record/000007", "record/000009")), code=1)

# ---- how the run ended
audit(edit_json(copy("longer"), "run.json", time=0.5), code=1, words=("frames.h5 ends at t = 0.25 s, and the run at t = 0.5 s",))
audit("longer", "--frames", code=1, words=("frames.h5 ends",))
audit(edited("short-frames", "frames.h5", without("frames/000008")), code=1)
os.remove(copy("untold") + "/run.json")
os.remove("untold/status.json")
audit("untold", code=1, words=("folder says nothing",))
audit("untold", "--until", .25, code=0)
run(SCENE, "-o", "until", "--record", "--until", .1)
audit("until", code=0, words=("all of the run",))
copy("half", "until")
run("--restart", "until", "--until", .2) # the record stays where it was
audit("until", code=1, words=("a beginning",))
audit("until", "--until", .1, code=0)
run("--restart", "until/checkpoint-000001.h5", "--record")
audit("until", code=0, words=("all of the run",))

# A run that is under way, killed, gone on with and stopped, and then runs to its end.
process = subprocess.Popen([TACTUS, "run", SCENE, "-o", "live", "--record", "--set", "time.end=100",
                            "--set", "clocks.elastic_s=1e-5", "--set", "output.checkpoint_every_t=0.05"],
                           stderr=subprocess.PIPE, universal_newlines=True)
def at_least(frames):
    """Waits until so many frames are there."""
    while tactus("audit", "live", "--until", frames * FRAME).returncode != 0:
        if process.poll() is not None:
            sys.exit("the run has ended: %s" % process.stderr.read())


at_least(3)
process.send_signal(signal.SIGSTOP)
while tactus("audit", "live").returncode == 2 and process.poll() is None: # held in the middle of a write
    process.send_signal(signal.SIGCONT)
    process.send_signal(signal.SIGSTOP)
r = audit("live", code=1, words=("still running",))
check(r["run"]["state"] == "running" and r["run"]["end"] is None, "a run under way: %s" % r["run"])
audit("live", "--until", 2 * FRAME, code=0)
process.kill()
process.communicate()
audit("live", code=1, words=("which was killed",))
audit("live", "--frames", code=1, words=("which was killed",))
audit("live", "--until", 2 * FRAME, "--frames", code=0)
process = subprocess.Popen([TACTUS, "run", "--restart", "live", "--record"], stderr=subprocess.PIPE, universal_newlines=True)
at_least(5)
process.send_signal(signal.SIGUSR1)
process.communicate()
check(process.returncode == 75, "stopped: exit code %d" % process.returncode)
with open("live/run.json") as f:
    stopped = json.load(f)["time"]
r = audit("live", code=1, words=("a beginning of the run, which was stopped",), ranks=(1, 3))
check(r["spans"] == [[0, stopped]], "a stopped run's record: %s, %g" % (r["spans"], stopped))
run("--restart", "live", "--record", "--until", stopped + FRAME)
check(audit("live", code=0)["spans"] == [[0, stopped + FRAME]], "gone on with")
# In another folder: its frames begin later, and so its record.
run("--restart", "half", "--record", "-o", "elsewhere")
r = audit("elsewhere", code=0)
check(not r["scene"]["made"] and r["run"]["begin"] == 4 * FRAME and r["spans"] == [[round(0.1 * 2**46) / 2**46, .25]],
      "in another folder: %s" % r)
print("%d failures" % len(failures))
sys.exit(1 if failures else 0)
