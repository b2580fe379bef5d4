#!/usr/bin/python3
"""wheel.py: the wheel that packaging/wheel makes: pip installs it into a new virtual environment, where it runs, steps and reads a scene with the
build's bits, from the program too, and from a notebook; all libraries that it carries are loaded from there, also where the machine's Open MPI is hidden.

Skipped, with the reason, where patchelf, venv, numpy or h5py is missing; the notebook is left out without nbconvert.  A failure means that `pip
install` of the wheel gives a package that does not work, or that works only where Tactus' libraries are installed anyway."""
import base64
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

TACTUS, SOURCE, PYTHON = os.environ["TACTUS"], os.environ["TACTUS_SOURCE"], "/usr/bin/python3"
SCENE = '''
import json, os, re, sys
import tactus
s = tactus.Scene(end=0.02, frame=0.01, gravity=[0, -9.81, 0], contact=dict(thickness=0.004, stiffness=50))
s.material("cotton", density=0.2, stretch=dict(model="cst", stiffness=60, poisson=0.3))
s.body("cloth", tactus.grid(size=[0.2, 0.2], cells=[4, 4]), material="cotton", position=[0, 0.05, 0])
s.body("table", tactus.sphere(radius=0.048, level=1), fixed=True)
'''
STEPS = '''
run = tactus.run(s, "whole.run")
s.save("scene.json")
with tactus.Simulation(s) as sim:
    sim.advance(run.times[-1])
    same = (sim.positions == run.positions(-1)).all()
loaded = sorted({line.split()[-1] for line in open("/proc/self/maps") if ".so" in line and "/" in line})
print(json.dumps({"same": bool(same), "frames": len(run.times), "loaded": loaded, "package": tactus.__file__}))
'''


def must(true, text):
    if not true:
        sys.exit(text)


def skip(reason):
    print("skipped: " + reason)
    sys.exit(77)


def call(*words, code=0, **more):
    done = subprocess.run(words, capture_output=True, text=True, **more)
    must(done.returncode == code, "%s: %d\n%s%s" % (words, done.returncode, done.stdout, done.stderr))
    return done.stdout


for tool in ("patchelf", "objdump", "ldd"):
    if shutil.which(tool) is None:
        skip(tool + " is missing (jobs/lib/install wheel)")
os.chdir(tempfile.mkdtemp(prefix="tactus-wheel-"))
if subprocess.run([PYTHON, "-c", "import numpy, h5py"], capture_output=True).returncode != 0:
    skip("numpy or h5py is missing, and pip may have no network")
if subprocess.run([PYTHON, "-m", "venv", "--system-site-packages", "venv"], capture_output=True).returncode != 0:
    skip("python3-venv is missing")

wheel = call(SOURCE + "/packaging/wheel", "-o", "out", "--build", os.path.dirname(TACTUS)).strip()
must(re.fullmatch(r"out/tactus-[0-9.]+-py3-none-manylinux_\d+_\d+_\w+\.whl", wheel), "the name of the wheel: " + wheel)
with zipfile.ZipFile(wheel) as file:
    names = file.namelist()
    record, = (n for n in names if n.endswith(".dist-info/RECORD"))
    rows = [row.split(",") for row in file.read(record).decode().split()]
    must(sorted(row[0] for row in rows) == sorted(names), "RECORD does not list the wheel's files")
    for name, digest, size in rows[:-1]:
        data = file.read(name)
        must(len(data) == int(size) and digest == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(), "RECORD: " + name)
carried = {os.path.basename(n) for n in names if "/_libs/" in n and ".so" in n}
must(any(n.startswith("libtactus.so") for n in carried) and any(n.startswith("libhdf5") for n in carried) and any(n.startswith("libmpi.so") for n in carried) and not any(n.startswith("libc.so") for n in carried), "carried: %s" % carried)
call("venv/bin/pip", "install", "-q", "--no-index", "--no-deps", wheel)

# Nothing of the build, and none of its variables, is known there.
environment = {k: v for k, v in os.environ.items() if not k.startswith(("TACTUS", "LD_", "PYTHON", "OMPI", "OPAL"))}
environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
with open("steps.py", "w") as file:
    file.write(SCENE + STEPS)


def compare(words, what):
    """What the script finds: its run has the bits of the build's program, and its libraries are the wheel's."""
    shutil.rmtree("whole.run", ignore_errors=True)
    told = json.loads(call(*words, "venv/bin/python", "steps.py", env=environment).strip().split("\n")[-1])
    home = os.path.realpath("venv")
    must(told["same"] and told["frames"] == 3 and os.path.realpath(told["package"]).startswith(home), "%s: same bits %s, %s frames, from %s" % (what, told["same"], told["frames"], told["package"]))
    mine = {os.path.basename(p) for p in told["loaded"] if os.path.realpath(p).startswith(home)}
    must(all(any(n.startswith(name) for n in mine) for name in ("libtactus", "libmpi.so", "libhdf5", "libjansson", "libmetis", "mca_pml_ob1")), "%s: loaded from the wheel: %s" % (what, sorted(mine)))
    foreign = [p for p in told["loaded"] if re.search(r"libtactus|libmpi|libopen-|libhdf5_openmpi|/mca_|libjansson|libmetis|libpmix|libhwloc", p) and not os.path.realpath(p).startswith(home)]
    must(not foreign, "%s: loaded from elsewhere: %s" % (what, foreign))
    shutil.rmtree("build.run", ignore_errors=True)
    call(TACTUS, "run", "scene.json", "-o", "build.run", "--quiet")
    call(TACTUS, "diff", "--all-frames", "whole.run", "build.run")


compare([], "in a virtual environment")
hidden = [d for d in (os.path.dirname(os.path.dirname(p)) for p in glob.glob("/usr/lib/*/openmpi/lib/libmpi.so*")) if os.path.isdir(d)][:1]
os.mkdir("empty")
hide = ["unshare", "-m", "bash", "-c", 'for d in %s; do mount --bind empty "$d" || exit 9; done; exec "$@"' % " ".join([*hidden, "/etc/openmpi", "/usr/share/openmpi"]), "bash"]
if hidden and subprocess.run([*hide, "true"], capture_output=True).returncode == 0:
    compare(hide, "with the machine's Open MPI hidden")
else:
    print("mount namespaces are not allowed: the machine's Open MPI is not hidden")

# The command, and a notebook.
must(call("venv/bin/tactus", "--version", env=environment) == call(TACTUS, "--version"), "--version of the wheel")
call("venv/bin/tactus", "run", "scene.json", "-o", "program.run", "--quiet", env=environment)
call(TACTUS, "diff", "--all-frames", "program.run", "build.run")
if subprocess.run(["venv/bin/python", "-c", "import nbconvert, ipykernel"], capture_output=True).returncode == 0:
    cells = [{"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": text} for text in (SCENE, "import shutil; shutil.rmtree('whole.run', ignore_errors=True)\n" + STEPS)]
    os.makedirs("jupyter/kernels/wheel")
    with open("jupyter/kernels/wheel/kernel.json", "w") as file:
        json.dump({"argv": [os.path.abspath("venv/bin/python"), "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "wheel", "language": "python"}, file)
    with open("try.ipynb", "w") as file:
        json.dump({"nbformat": 4, "nbformat_minor": 4, "metadata": {"kernelspec": {"name": "wheel", "display_name": "wheel", "language": "python"}}, "cells": cells}, file)
    call("venv/bin/python", "-m", "nbconvert", "--to", "notebook", "--execute", "try.ipynb", "--output", "done.ipynb", env={**environment, "JUPYTER_PATH": os.path.abspath("jupyter")})
    with open("done.ipynb") as file:
        text = "".join("".join(output.get("text", "")) for output in json.load(file)["cells"][1]["outputs"])
    must('"same": true' in text and os.path.abspath("venv") in text, "the notebook: " + text[-500:])
else:
    print("nbconvert is not installed: no notebook was run")
