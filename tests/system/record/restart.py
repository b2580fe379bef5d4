#!/usr/bin/python3
"""restart.py: a recorded run that stops and goes on, within intervals and between them, on other numbers of ranks, has the
record of a run that was never stopped, to the last bit. If not, a checkpoint loses the part of the interval before it.
"""
import json
import os
import random
import shutil
import signal
import time

import h5py

from record import EQUALITY, RANKS, check, equal, finish, launch, path, quantum, read, run, same

draw = random.Random(4)


def names(folder):
    with h5py.File(path(folder) + "/record.h5", "r") as f:
        return list(f["record"]), list(f["partial"])


def warned(r, *words):
    check(len(r.warnings) == 1 and all(w in r.warnings[0] for w in words), "one warning with %s: %s" % (words, r.warnings))


# ---- where a run ends (--until), within an interval and at a frame, in turn on 1, 3, 2 ranks
for scene in (RANKS + "moving.json", EQUALITY + "let-go.json"):
    whole = os.path.basename(scene).removesuffix(".json")
    run(1, scene, whole)
    end = read(whole)[max(read(whole))][1][-1] * quantum(whole)
    folder = whole + "-until"
    stops = sorted(draw.uniform(0, end) for _ in range(4)) + [end]
    if whole == "moving":
        stops[1] = .0625 + .015625  # a frame
        stops = sorted(stops)
    run(1, scene, folder, "--until", stops[0])
    for k, t in enumerate(stops[1:]):
        r = run((3, 1, 2)[k % 3], None, None, "--restart", path(folder), *(["--until", t] if t < end else []),
                TACTUS_TEST_SPILL=4000 if k % 2 else 1 << 26)
        check(r.warnings == [], "no warning: %s" % r.warnings)
    equal(whole, folder, whole + ", --until")

# ---- checkpoints within intervals, and back to an older one of them: to one in the same interval, and to one before
run(2, RANKS + "moving.json", "back", "--set", "output.checkpoint_every_t=0.007", "--set", "output.checkpoint_keep=100")
equal("moving", "back", "with checkpoints on the way")
check(names("back")[1] == [], "the last interval is whole, and its part is gone")
checkpoints = sorted(f for f in os.listdir(path("back")) if f.startswith("checkpoint-"))
check(len(checkpoints) > 20, "checkpoints: %d" % len(checkpoints))
for k, ranks in ((17, 1), (16, 3), (9, 2)):
    # Away again after some windows, so that the next one finds what this one has left.
    run(ranks, None, None, "--restart", path("back/" + checkpoints[k]), "--until", .007 * (k + 1) + .009)
run(1, None, None, "--restart", path("back/" + checkpoints[9]))
equal("moving", "back", "from an older checkpoint")

# ---- stopped by a signal at any moment
def alive(folder):
    """Has a run begun there that is still alive?"""
    try:
        with open(path(folder) + "/status.json") as f:
            status = json.load(f)
        os.kill(status["pid"], 0)
        return status["state"] == "running"
    except (OSError, ValueError):
        return False


def stopped(folder, ranks, arguments):
    p = launch.Process(ranks, ["run", *arguments, "--record", "--quiet"], {"TACTUS_TEST_DELAY": "3,2000"} if ranks > 1 else None)
    end = time.monotonic() + 600
    while p.process.poll() is None and time.monotonic() < end and not alive(folder):
        time.sleep(.01)
    time.sleep(draw.uniform(.02, .2))
    p.signal(signal.SIGUSR1)
    return p.wait(600)


r = stopped("signal", 2, [RANKS + "moving.json", "-o", path("signal")])
count = 0
while r.code == 75 and count < 6:
    count += 1
    r = stopped("signal", (1, 3)[count % 2], ["--restart", path("signal")])
if r.code == 75:
    r = run(1, None, None, "--restart", path("signal"))
check(r.code == 0, "it ends: %s" % r)
equal("moving", "signal", "stopped %d times by a signal" % count)

# ---- a record begins where there is none, and ends where the run goes on without
r = run(1, RANKS + "moving.json", "late", "--until", .04, record=False)
r = run(2, None, None, "--restart", path("late"), "--until", .1)
warned(r, "has no breakpoints from t = 0 s to t = 0.04 s")
late, whole = read("late"), read("moving")
check(min(late) == 2 and max(late) == 6, "intervals of the late one: %s" % list(late))
check((abs(late[2][1][late[2][0][:-1]] * quantum("late") - .04) < 1e-12).all(), "it begins at the checkpoint")
for k in (3, 4, 5):
    check(all(same(a, b) for a, b in zip(late[k], whole[k])), "interval %d after a late beginning" % k)
shutil.copytree(path("late"), path("without"))
r = run(2, None, None, "--restart", path("without"), "--until", .15, record=False)
warned(r, "ends at t = 0.1 s", "--record")
check(names("without") == (["%06d" % k for k in range(2, 6)], ["000006"]), "what is later is gone: %s %s" % names("without"))
r = run(1, None, None, "--restart", path("without"))
warned(r, "has no breakpoints from t = 0.09375 s to t = 0.15 s")
r = run(1, None, None, "--restart", path("late"))
check(r.warnings == [], "no warning: %s" % r.warnings)
for k in range(3, 12):
    check(all(same(a, b) for a, b in zip(read("late")[k], whole[k])), "interval %d, gone on with" % k)

# ---- a record that cannot be read is put aside; one of another scene is refused
shutil.copytree(path("back"), path("damaged"))
with open(path("damaged/record.h5"), "r+b") as f:
    f.seek(700)
    f.write(b"\xff" * 4000)
r = run(2, None, None, "--restart", path("damaged/" + checkpoints[9]))
check(len(r.warnings) == 2 and "record.h5.damaged" in r.warnings[0] and "has no breakpoints" in r.warnings[1], "put aside: %s" % r.warnings)
check(os.path.exists(path("damaged/record.h5.damaged")), "kept as record.h5.damaged")
shutil.copy(path("let-go/record.h5"), path("back/record.h5"))
r = run(2, None, None, "--restart", path("back/" + checkpoints[9]), code=2)
check("of another scene" in r.sentences[0], "refused: %s" % r)

# ---- --overwrite removes it
run(1, EQUALITY + "let-go.json", "late", "--overwrite", record=False)
check(not os.path.exists(path("late/record.h5")), "the old record is gone")
finish()
