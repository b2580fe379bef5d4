#!/usr/bin/python3
"""paraview.py: ParaView opens runs of one and four ranks, a restarted one and one with all fields, and has the values of frames.h5; the macro and the
scripts of jobs/paraview show them in colours.  Without ParaView and Xvfb (jobs/lib/install paraview: 400 packages, 1.5 GB) it counts as skipped (77).

A failure means that a user who opens a run in ParaView sees something else than was computed, or nothing."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

TACTUS, SOURCE = os.environ["TACTUS"], os.environ["TACTUS_SOURCE"]
JOBS = os.path.join(SOURCE, "jobs/paraview")

# In pvpython: values by every reader, against h5py's; then the macro, as the window would run it.
LOOK = """
import json, os, sys
import numpy as np, h5py
import paraview.simple as pv
from paraview import servermanager
from vtkmodules.util.numpy_support import vtk_to_numpy
jobs, run, picture = sys.argv[1:4]
path = os.path.abspath(run) + "/frames.xdmf"
with h5py.File(run + "/frames.h5") as file:
    frames = list(file["frames"].values())
    for make in (lambda: pv.Xdmf3ReaderS(FileName=[path]), lambda: pv.Xdmf3ReaderT(FileName=[path]), lambda: pv.XDMFReader(FileNames=[path])):
        reader = make()
        reader.UpdatePipelineInformation()
        assert np.array_equal(list(reader.TimestepValues), [f["time"][()] for f in frames]), "times"
        for f in frames:
            reader.UpdatePipeline(f["time"][()])
            grid = servermanager.Fetch(reader)
            assert np.array_equal(vtk_to_numpy(grid.GetPoints().GetData()), f["position"][:]), "positions"
            mesh = file["mesh"]
            cells = [len(mesh[n]) for n in ("triangles", "segments", "points")]
            assert grid.GetNumberOfCells() == sum(cells), "cells"
            for c, v in list(enumerate(mesh["triangles"][:]))[::7]:
                assert [grid.GetCell(c).GetPointId(k) for k in range(3)] == list(v), "triangles"
            for name in f:
                if name in ("position", "time") or name.startswith("contacts_"):
                    continue
                data = grid.GetPointData() if len(f[name]) == len(f["position"]) and name not in ("strain_max",) else grid.GetCellData()
                got = vtk_to_numpy(data.GetArray(name))
                assert got.shape == f[name].shape and np.array_equal(got, f[name][:], equal_nan=True), name
        pv.Delete(reader)
# The macro: a copy of the file alone, and the run opened as a user does.
reader = pv.Xdmf3ReaderS(FileName=[path])
pv.SetActiveSource(reader)
view = pv.GetActiveViewOrCreate("RenderView")
view.ViewSize = [640, 480]
pv.GetAnimationScene().UpdateAnimationUsingDataTimeSteps()
pv.GetAnimationScene().GoToLast()
exec(compile(open(jobs + "/macro.py").read(), "macro", "exec"), {"__name__": "__main__"})
pv.SaveScreenshot(picture, view, ImageResolution=[640, 480])
print("LOOKED")
"""


def must(true, text):
    if not true:
        sys.exit(text)


def call(*words, code=0, ranks=1, **more):
    command = ([] if ranks == 1 else ["mpirun", "-q", "--bind-to", "none", "-n", str(ranks)]) + [str(w) for w in words]
    done = subprocess.run(command, capture_output=True, text=True, **more)
    must(done.returncode == code, "%s: %d instead of %d\n%s" % (command, done.returncode, code, (done.stdout + done.stderr)[-3000:]))
    return done.stdout + done.stderr


def colours(path, crop=None):
    """How many pixels differ from the background, and how many colours there are."""
    import matplotlib.image
    import numpy as np
    pixels = (matplotlib.image.imread(path)[:, :, :3] * 255).round().astype(int)
    other = np.abs(pixels - pixels[2, 2]).sum(axis=2) > 30
    return int(other.sum()), len(np.unique(pixels[other] // 16, axis=0)), pixels


def display():
    """A display of our own; its number comes when it is ready, so that nobody waits for seconds or takes another's."""
    read, write = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x1024x24", "+extension", "GLX", "-noreset"], pass_fds=[write],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as pipe:
        number = pipe.readline().strip()
    must(number, "Xvfb does not start")
    os.environ["DISPLAY"] = ":" + number
    return server


def main():
    scene = {"format": "tactus-scene/1", "time": {"end": 0.05, "frame": 0.01}, "gravity": [0, -9.81, 0], "contact": {"thickness": 0.004, "stiffness": 50, "friction": 0.3},
             "materials": {"cloth": {"density": 0.2, "stretch": {"model": "cst", "stiffness": 60, "yield": 0.01}, "bend": {"model": "hinge", "stiffness": 1e-6}}},
             "bodies": [{"name": "sheet", "material": "cloth", "position": [0, 0.125, 0], "mesh": {"kind": "grid", "size": [0.3, 0.3], "cells": [12, 12]}},
                        {"name": "ball", "fixed": True, "mesh": {"kind": "sphere", "radius": 0.12, "level": 2}},
                        {"name": "rope", "mass": 0.001, "position": [0, 0.2, 0], "mesh": {"kind": "segments", "from": [-0.1, 0, 0], "to": [0.1, 0, 0], "cells": 4}},
                        {"name": "gas", "mass": 0.0001, "radius": 0.004, "mesh": {"kind": "points", "vertices": [[0.2, 0, 0], [0.22, 0, 0]]}}]}
    with open("scene.json", "w") as file:
        json.dump(scene, file)
    everything = "output.fields=[\"strain\",\"stress\",\"bending_angle\",\"plastic_strain\",\"contact_pressure\",\"rank\"]"
    call(TACTUS, "run", "scene.json", "-o", "one $HOME.run", "--quiet")
    call(TACTUS, "run", "scene.json", "-o", "four.run", "--quiet", "--until", "0.033", "--set", everything, ranks=4)
    call(TACTUS, "run", "--restart", "four.run", "--quiet", "--set", everything, ranks=2)
    for run in ("one $HOME.run", "four.run"):
        must("LOOKED" in call("pvpython", "look.py", JOBS, run, "macro.png"), "pvpython says nothing")
        if os.environ.get("TACTUS_TEST_KEEP"):
            shutil.copy("macro.png", os.environ["TACTUS_TEST_KEEP"])
        shown, kinds, pixels = colours("macro.png")
        must(shown > 640 * 480 * 0.08 and kinds > 20, "%s: the macro shows %d pixels in %d colours" % (run, shown, kinds))
        if os.environ.get("TACTUS_TEST_KEEP"):
            shutil.copy("macro.png", os.environ["TACTUS_TEST_KEEP"])
    for name in ("speed", "strain", "contact", "rank"):
        call("pvpython", JOBS + "/view.py", "four.run", "--colour", name, "--size", "320x240", "-o", name + ".png")
        must(colours(name + ".png")[0] > 320 * 240 * 0.05, "view.py --colour %s shows nothing" % name)
    must((colours("strain.png")[2] != colours("speed.png")[2]).any(), "strain looks like speed")
    # A solid's surface and an obstacle have no stress: they must not hide what has some; and one can look inside.
    solid = {"format": "tactus-scene/1", "time": {"end": 0.02, "frame": 0.01}, "contact": {"thickness": 0.004, "stiffness": 50}, "output": {"fields": ["stress"]},
             "materials": {"jelly": {"density": 1000, "solid": {"model": "neo-hookean", "youngs": 2e4, "poisson": 0.3}}},
             "bodies": [{"name": "block", "material": "jelly", "velocity": [0, -1, 0], "position": [0, 0.06, 0], "mesh": {"kind": "box", "size": [0.1, 0.1, 0.1], "cells": [3, 3, 3], "fill": "tets"}},
                        {"name": "cover", "fixed": True, "mesh": {"kind": "sphere", "radius": 0.3, "level": 2}},
                        {"name": "floor", "fixed": True, "mesh": {"kind": "grid", "size": [0.3, 0.3], "cells": [2, 2]}}]}
    with open("solid.json", "w") as file:
        json.dump(solid, file)
    call(TACTUS, "run", "solid.json", "-o", "solid.run", "--quiet")
    seen = {}
    for key, words in (("all", []), ("hidden", ["--hide", "cover,floor"]), ("cut", ["--hide", "cover", "--clip", "y=0.06"]), ("over", ["--hide", "cover,floor", "--clip", "y=0.06,over"])):
        call("pvpython", JOBS + "/view.py", "solid.run", "--colour", "mises", "--size", "320x240", "-o", key + ".png", *words)
        seen[key] = colours(key + ".png")
        must(seen[key][0] > 320 * 240 * 0.03 and seen[key][1] > 10, "view.py %s: %d pixels of %d colours" % (words, *seen[key][:2]))
    must(all((seen[a][2] != seen[b][2]).any() for a, b in (("all", "hidden"), ("hidden", "cut"), ("cut", "over"))), "--hide and --clip change nothing")
    unit = "import sys; sys.path.insert(0, sys.argv[1]); import os; os.environ['TACTUS_RUN'] = '-'; import macro; print('UNIT', macro.unit_of_stress(macro.open_run(sys.argv[2])))"
    for run, wanted in (("solid.run", "Pa"), ("four.run", "N/m")):
        with open("unit.py", "w") as file:
            file.write(unit)
        must("UNIT %s\n" % wanted in call("pvpython", "unit.py", JOBS, run), "the unit of %s" % run)
    must("there is no body 'bloc' to hide" in call("pvpython", JOBS + "/view.py", "solid.run", "--hide", "bloc", "-o", "no.png", code=2), "a body that is not there")
    must("has no 'strain' to colour by; it has" in call("pvpython", JOBS + "/view.py", "one $HOME.run", "--colour", "strain", "-o", "no.png", code=2), "a field that is not there")
    must("there is no " in call("pvpython", JOBS + "/view.py", "nothing.run", "-o", "no.png", code=2), "a run that is not there")
    must("a.png: 6 frames" in call("pvbatch", JOBS + "/animate.py", "four.run", "--size", "160x120", "-o", "a.png"), "an animation")
    pictures = [colours("a.%04d.png" % k) for k in range(6)]
    must(all(p[0] > 160 * 120 * 0.04 for p in pictures) and (pictures[0][2] != pictures[-1][2]).any(), "pictures of the animation")


if __name__ == "__main__":
    if not all(map(shutil.which, ("pvpython", "pvbatch", "Xvfb"))):
        print("ParaView or Xvfb is not installed: jobs/lib/install paraview")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("look.py", "w") as file:
            file.write(LOOK)
        server = display()
        try:
            main()
        finally:
            server.terminate()
