#!/usr/bin/python3
"""kill -9 at any moment leaves a frames.h5 with all frames that were told, an energy.csv with their rows, small files that
are whole, and a status that `tactus status` sees through.  If this fails, a killed job loses hours."""
import json
import random
import shutil
import time
import xml.etree.ElementTree as ElementTree

import h5py

from common import *

random.seed(5)
for trial in range(12):
    shutil.rmtree("k.run", ignore_errors=True)
    # Hardly any time goes by without a write, so most kills hit one.
    p = subprocess.Popen([WRITER, "k.run", "--quiet", "--frames", "100000", "--vertices", random.choice(["3", "300", "40000"])],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    said = p.stdout.readline()
    time.sleep(random.uniform(0, .25))
    p.kill()
    said += p.stdout.read()
    p.wait()
    reported = said.count(b"\n")
    check(said == b"".join(b"frame %d\n" % k for k in range(reported)), "trial %d: said %r" % (trial, said))
    try:
        with h5py.File("k.run/frames.h5", "r") as f:
            names = sorted(f["frames"])
            for name in names[:reported]:
                check(set(f["frames"][name]) == {"position", "velocity", "contact_force", "time"}, "a frame is whole")
                for d in f["frames"][name].values():
                    d[()]
        check(reported <= len(names) <= reported + 1, "trial %d: %d frames were told, %d are there" % (trial, reported, len(names)))
    except OSError as e:
        check(False, "trial %d: frames.h5 cannot be read: %s" % (trial, e))
    rows = open("k.run/energy.csv").read().split("\n")
    check(len(rows) >= reported + 1 and all(r.count(",") == 25 for r in rows[:-1]), "rows")
    grids = len(ElementTree.parse("k.run/frames.xdmf").findall(".//Time"))
    check(grids >= min(reported, 256), "the index has %d of %d frames" % (grids, reported))
    check(json.load(open("k.run/status.json"))["state"] == "running", "status.json is whole")
    json.load(open("k.run/scene.json"))
    if trial < 2:
        r = tactus("status", "k.run")
        check(r.code == 0 and "ended without saying so (its process %d is gone)" % p.pid in r.out, "status: " + r.out + r.err)
        r = tactus("info", "k.run", "--json")
        check(r.code == 0 and json.loads(r.out)["frames"]["frames"] >= reported, "info: " + r.err)
        r = tactus("diff", "k.run", "k.run")
        check(r.code == 0, "diff: " + r.err)
finish()
