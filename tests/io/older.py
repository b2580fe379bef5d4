#!/usr/bin/python3
"""Checkpoints that an older program wrote (tests/io/older: version 0.1.0, commits 946fbce5c1b2 and 04d0c1c, of tests/ranks/scenes, stopped before their ends) are gone
on with, on one rank and on two, to the bits of a run of today's program; one of a format that this program does not know is refused by one
sentence that names both. If this fails, an update costs users their runs."""
from common import *

FOLDER = os.path.join(os.environ["TACTUS_SOURCE"], "tests/io/older")
for name in sorted(os.listdir(FOLDER)):
    old, scene = os.path.join(FOLDER, name), os.path.join(os.environ["TACTUS_SOURCE"], "tests/ranks/scenes", name[:-3] + ".json")
    r = tactus("run", scene, "-o", "whole", "--quiet", "--overwrite")
    check(r.code == 0, "a whole run of %s: %s" % (name, r.err))
    for ranks in (1, 2):
        start = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
        shutil.rmtree("rest", ignore_errors=True)
        r = call(*start, TACTUS, "run", "--restart", old, "-o", "rest", "--quiet")
        check(r.code == 0, "%s on %d ranks: exit code %d, %s" % (name, ranks, r.code, r.err))
        r = tactus("diff", "whole", "rest")
        check(r.code == 0 and r.out.endswith("equal\n") and "compared 0 frames" not in r.out, "%s on %d ranks: %s%s" % (name, ranks, r.out, r.err))
    with open(old, "rb") as f:
        data = f.read()
    with open("newer.h5", "wb") as f: # bytes 8 to 11: the number of the format
        f.write(data[:8] + (1000).to_bytes(4, "little") + data[12:])
    r = tactus("run", "--restart", "newer.h5", "-o", "none", "--quiet")
    check(r.code == 2 and len(r.sentences) == 1 and "its format is 1000, but this version" in r.err and not os.path.exists("none"),
          "a format of the future: exit code %d, %s" % (r.code, r.err))
finish()
