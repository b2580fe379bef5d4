#!/usr/bin/python3
"""petsc.py: the solver "petsc" gives the same motion as "invariant" within a stated tolerance, on one rank and on two; its runs are proven by the
audit, run.json says that its bits depend on the ranks, other options of PETSc do it too, and wrong ones end in one sentence.

Skipped (77) where the program was built without PETSc (docs/how-to/use-petsc.md). If it fails, a linear system is solved to something else."""

import json
import os
import sys
import tempfile

from program import call, check, failures

SCENE = {"format": "tactus-scene/1", "time": {"end": 0.12, "frame": 0.04}, "gravity": [0, -9.81, 0], "contact": {"thickness": 0.004, "friction": 0.2},
         "integrator": {"kind": "implicit", "step_s": 0.02, "newton": {"velocity_tol": 1e-8}, "solver": {"tolerance": 1e-10}},
         "materials": {"cloth": {"density": 0.1, "stretch": {"model": "cst", "stiffness": 1000}, "bend": {"model": "hinge", "stiffness": 1e-5}}},
         "bodies": [{"name": "sheet", "material": "cloth", "position": [0, 0.045, 0], "rotation": [3, 20, 5],
                     "mesh": {"kind": "grid", "size": [0.3, 0.3], "cells": [6, 6]}},
                    {"name": "floor", "mesh": {"kind": "grid", "size": [1, 1], "cells": [1, 1]}, "fixed": True}],
         "motions": [{"body": "sheet", "vertices": [0], "path": [[0, [0, 0, 0]], [0.12, [0.01, 0.02, 0]]]}]}
TOLERANCE = "1e-7"  # of places, m, and of all that is compared


def main():
    with tempfile.TemporaryDirectory() as folder:
        def run(name, ranks=1, **solver):
            scene = json.loads(json.dumps(SCENE))
            scene["integrator"]["solver"].update(solver)
            path = os.path.join(folder, name + ".json")
            with open(path, "w") as file:
                json.dump(scene, file)
            return call("run", path, "-o", os.path.join(folder, name), "--quiet", "--record", ranks=ranks)

        code, text = run("probe", kind="petsc")
        if code == 2 and 'there is no linear solver "petsc" in this build' in text:
            check(text.count("\n") == 1, "without PETSc: one sentence", text)
            print("skipped: this program was built without PETSc; docs/how-to/use-petsc.md says how to build it with it")
            sys.exit(1 if failures else 77)
        run("invariant")
        for name, ranks, options in (("mumps", 1, ""), ("mumps2", 2, ""), ("jacobi", 2, "-pc_type bjacobi -sub_pc_type icc"), ("gamg", 1, "-pc_type gamg")):
            code, text = run(name, ranks, kind="petsc", options=options)
            check(code == 0, "%s: %d ranks, options '%s'" % (name, ranks, options), text)
            code, text = call("diff", os.path.join(folder, "invariant"), os.path.join(folder, name), "--tol", TOLERANCE)
            check(code == 0, "%s: the same motion within %s" % (name, TOLERANCE), text)
            code, text = call("audit", os.path.join(folder, name))
            check(code == 0, "%s: the audit proves it" % name, text)
            with open(os.path.join(folder, name, "run.json")) as file:
                check(json.load(file)["options"]["invariant"] is False, "%s: run.json says that the bits depend on the ranks" % name)
        with open(os.path.join(folder, "invariant", "run.json")) as file:
            check(json.load(file)["options"]["invariant"] is True, "invariant: run.json says so")
        code, text = run("wrong", kind="petsc", options="-pc_type nonsense")
        check(code == 3 and text.count("tactus: ") == 1 and "PETSc failed while" in text, "wrong options: code 3 and one sentence", "%d %s" % (code, text))
        code, text = run("wrong2", kind="petsc", options="-pc_type bjacobi -sub_pc_type nonsense")
        check(code == 3 and "PETSc failed while" in text, "wrong options of the blocks' solvers are seen, too", "%d %s" % (code, text))
        for ranks in (1, 2):
            code, text = run("unknown%d" % ranks, ranks, kind="petsc", options="-pc_type bjacobi -sub_pc_tpye icc")
            check(code == 3 and text.count("tactus: ") == 1 and 'PETSc has no use for "-sub_pc_tpye"' in text,
                  "an option that PETSc does not know, %d ranks: code 3 and one sentence" % ranks, "%d %s" % (code, text))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
