#!/usr/bin/python3
"""A mesh that many ranks write together is the mesh that one rank writes; what is refused is refused with the same words,
and nothing is left lying about.  If this fails, scenes too large for one rank get other meshes, or none."""
import os
import subprocess
import sys
import tempfile

import h5py
import numpy

TACTUS = os.environ["TACTUS"]
failed = 0


def check(condition, what):
    global failed
    if not condition:
        failed += 1
        print("failed:", what)


def mesh(ranks, *words):
    """Exit code, what it printed, its error lines."""
    launch = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
    done = subprocess.run(launch + [TACTUS, "mesh", *words], capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout, [line for line in done.stderr.splitlines() if line.startswith("tactus: ")]


with tempfile.TemporaryDirectory(prefix="tactus-mesh-") as folder:
    os.chdir(folder)
    # Enough rows to be written together; few, and another format, which rank 0 writes.
    for words in (["grid", "--size", "1,2", "--cells", "211,213"], ["grid", "--size", "3,1", "--cells", "3,2"],
                  ["sphere", "--radius", "0.3", "--level", "2"]):
        for ranks in (1, 3):
            code, out, errors = mesh(ranks, *words, "-o", "%d.h5" % ranks)
            check(code == 0 and not errors, (words, ranks, code, errors))
            check(out.count("\n") == 1 and out.startswith("%d.h5: " % ranks), out)
        with h5py.File("1.h5") as one, h5py.File("3.h5") as many:
            check(set(one) == set(many) == {"vertices", "triangles", "segments"}, list(many))
            for name in one:
                check(one[name].dtype == many[name].dtype, name)
                check(numpy.array_equal(one[name][...].view("i8"), many[name][...].view("i8")), (words, name))
    code, out, errors = mesh(3, "grid", "--size", "1,1", "--cells", "4,4", "-o", "a.obj")
    check(code == 0 and os.path.exists("a.obj") and out.count("\n") == 1, out)
    for words in (["grid", "--size", "1e-120,1", "--cells", "300,300", "-o", "x.h5"],
                  ["grid", "--size", "1,1", "--cells", "300,300", "-o", "nowhere/x.h5"],
                  ["grid", "--size", "1,1", "--cells", "300,-1", "-o", "x.h5"],
                  ["grid", "--size", "1,1", "--cells", "20000,20000", "-o", "x.h5"],
                  ["grid", "--size", "1,1", "--cells", "300,300"], ["gird"]):
        one, many = mesh(1, *words), mesh(3, *words)
        check(one == many and many[0] == 2 and len(many[2]) == 1, (words, one, many))
    check(sorted(os.listdir(".")) == ["1.h5", "3.h5", "a.obj"], os.listdir("."))
print("%d failures" % failed)
sys.exit(failed > 0)
