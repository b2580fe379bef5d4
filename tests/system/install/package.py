#!/usr/bin/python3
"""package.py BUILD: the Debian package is built, installed into an empty root by dpkg, and what it installed runs: the program, the Python package,
man pages and bash completion; these say what the program says today; the recipes for Spack and containers name what building needs.

A failure means that a package lacks a file, or that a man page tells of options that are no more."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE, BUILD = os.environ["TACTUS_SOURCE"], sys.argv[1]
PACKAGING = os.path.join(SOURCE, "packaging")


def must(true, text):
    if not true:
        sys.exit(text)


def call(*words, code=0, **more):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, stdin=subprocess.DEVNULL, **more)
    must(done.returncode == code, "%s: %d instead of %d\n%s" % (words, done.returncode, code, done.stdout + done.stderr))
    return done.stdout + done.stderr


def complete(script, *words):
    line = " ".join("'%s'" % w for w in words)
    return call("bash", "-c", 'source "$0"; COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tactus; printf "%%s\\n" "${COMPREPLY[@]}"' % line, script).split()


def conda():
    """The recipe for conda: YAML without templates, and it names what building needs."""
    with open(os.path.join(PACKAGING, "conda/meta.yaml")) as file:
        text = file.read()
    sections = re.findall(r"^(\w+):$", text, re.M)
    must(sections == ["package", "source", "build", "requirements", "test", "about"], "conda: sections %s" % sections)
    must(all(re.fullmatch(r"( *(- )?[\w]+:.*| *- .*|#.*|)", line) and "\t" not in line for line in text.splitlines()), "conda: a line is no YAML")
    with open(os.path.join(SOURCE, "include/tactus/base.h")) as file:
        version = re.search(r'TAC_VERSION "(.*)"', file.read()).group(1)
    must('version: "%s"' % version in text, "conda: another version than %s" % version)
    for name in ("openmpi", "hdf5", "metis", "jansson", "openssl", "zlib", "expat", "cmake", "pkg-config", "numpy", "h5py"):
        must(re.search(r"^ +- %s( |$)" % name, text, re.M), "the conda recipe does not name %s" % name)
    call("bash", "-n", os.path.join(PACKAGING, "conda/build.sh"))


def recipes():
    with open(os.path.join(PACKAGING, "spack/package.py")) as file:
        recipe = file.read()
    compile(recipe, "package.py", "exec")
    conda()
    with open(os.path.join(PACKAGING, "Containerfile")) as file:
        container = file.read()
    known = {"FROM", "RUN", "COPY", "ENV", "WORKDIR", "ENTRYPOINT"}
    for line in container.splitlines():
        word, _, rest = line.partition(" ")
        must(not line or line.startswith("#") or word in known, "Containerfile: %s" % line)
        if word == "RUN":
            call("bash", "-n", "-c", rest)
    with open(os.path.join(SOURCE, "jobs/lib/packages")) as file:
        build = [line.split()[1] for line in file if line.startswith("build ")]
    for package in build:
        must(re.search(r"\b%s\b" % re.escape(package), container), "the Containerfile does not install %s" % package)
    for name in ("mpi", "hdf5", "metis", "jansson", "openssl", "zlib", "expat"):
        must('depends_on("' + name in recipe, "the Spack recipe does not depend on %s" % name)


def main():
    call(PACKAGING + "/generate", "--check")
    recipes()
    if shutil.which("cpack") is None or shutil.which("dpkg-deb") is None:
        print("no cpack or dpkg here: the package is not built")
        return
    call("cpack", "-G", "DEB", "--config", os.path.join(BUILD, "CPackConfig.cmake"), "-B", os.path.abspath("out"), cwd=BUILD)
    package, = glob.glob("out/*.deb")
    reported = call("dpkg-deb", "-I", package)
    for word in ("openmpi-bin", "libhdf5-openmpi", "libjansson4", "libexpat1", "libmetis5", "libssl3"):
        must(word in reported, "the package does not depend on %s" % word)
    os.makedirs("root/var/lib/dpkg/updates")
    os.makedirs("root/var/lib/dpkg/info")
    open("root/var/lib/dpkg/status", "w").close()
    if os.geteuid() == 0:
        call("dpkg", "--root=" + os.path.abspath("root"), "--force-depends", "--force-script-chrootless", "--install", package)
    else:
        call("dpkg-deb", "-x", package, "root")
    program = os.path.abspath("root/usr/bin/tactus")
    must("tactus 0." in call(program, "--version"), "the installed program does not run")
    with open("scene.json", "w") as file:
        json.dump({"format": "tactus-scene/1", "time": {"end": 0.02, "frame": 0.01}, "gravity": [0, -9.81, 0],
                   "bodies": [{"name": "gas", "mass": 1, "mesh": {"kind": "points", "vertices": [[0, 0, 0]]}}]}, file)
    call(program, "run", "scene.json", "--quiet")
    found, = glob.glob("root/usr/lib/python3*/dist-packages")
    call("/usr/bin/python3", "-c", "import tactus; assert len(tactus.open('scene.run')) == 3", env={"PATH": os.environ["PATH"], "PYTHONPATH": os.path.abspath(found)})
    pages = {os.path.basename(path) for path in glob.glob("root/usr/share/man/man1/tactus*.1*")}
    must({"tactus.1", "tactus-run.1", "tactus-export.1"} <= pages, "man pages: %s" % pages)
    if shutil.which("man"):
        for path in glob.glob("root/usr/share/man/man1/*.1"):
            text = call("man", "--warnings", "-l", path, env={**os.environ, "MANPAGER": "cat", "LC_ALL": "C.UTF-8", "MANWIDTH": "200"})
            must(": warning:" not in text and " -h" in text, "%s: %s" % (path, text[:300]))
    script = "root/usr/share/bash-completion/completions/tactus"
    must(complete(script, "tactus", "ex") == ["export"], "completion of commands")
    must(complete(script, "tactus", "run", "--wa") == ["--wall-limit"], "completion of options")
    open("a b.json", "w").close()
    must("\n".join(complete(script, "tactus", "run", "a ")) == "a\nb.json", "completion of files")
    must("set -e" not in open(script).read(), "completion changes the shell")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
