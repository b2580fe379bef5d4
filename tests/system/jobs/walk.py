#!/usr/bin/python3
"""walk.py [--full]: every command line of README.md, of the tutorials and of docs/how-to/cluster-jobs.md is run, in their order, in a clean copy of the
repository's files; so are the tutorials' pieces of Python that read results, and the scenes that they tell to save.

Lines that submit or cancel a Slurm job are run with --dry-run, or told as left to slurm.py, which has a real Slurm; a line that this test does not know
makes it fail, so that no command of the documents goes untried.  The scenes are those of the pages, in the test with coarser cloths and shorter ends;
--full takes them as they stand, and builds the copy by jobs/quickstart first: that is for a clean Debian (as root: a container of debian:12 with this clone).

A failure means that somebody who copies from the documents gets an error."""
import json
import os
import re
import subprocess
import sys
import tempfile

PAGES = ["README.md", *("docs/tutorials/%s.md" % name for name in ("first-run", "cloth-on-a-sphere", "rubber-gasket", "cluster-job")), "docs/how-to/measure-forces.md", "docs/how-to/cluster-jobs.md"]
SOURCE, TACTUS = os.environ["TACTUS_SOURCE"], os.environ["TACTUS"]
FULL = "--full" in sys.argv[1:]
# Left out, and why.
ELSEWHERE = {
    r"jobs/quickstart\b": "builds and runs a scene: the first step of --full, and what continuous integration does",
    r"jobs/test\b": "runs this test",
    r"module load\b": "a site's own",
    r"cmake --preset\b": "the build that runs this test",
    r"scancel\b": "tests/system/jobs/slurm.py cancels a job",
    r"jobs/submit --again\b": "tests/system/jobs/slurm.py submits again",
    r"build/tactus diff scene.run elsewhere.run": "a second run of the reader",
    r".* two-sheets\.run$": "the result of jobs/quickstart",
}
# Commands whose exit code is not 0, by intention.
CODES = {"build/tactus diff rough.run smooth.run": 1}


def stop(text):
    sys.exit("walk.py: " + text)


def lines(path):
    """Command lines of the blocks without a language, and of tutorials the blocks of Python."""
    block = None  # the language of the block that the line is in
    code = ""
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        for line in file:
            if line.startswith("```"):
                if block == "python" and path.startswith("docs/tutorials/"):
                    yield path, code
                block, code = line[3:].strip() if block is None else None, ""
            elif block == "python":
                code += line
            elif block == "":
                line = re.sub(r"(^|\s+)#.*$", "", line).strip()
                if line:
                    yield path, line


def coarse(scene):
    """A scene of the pages, made small."""
    scene["time"]["end"] = 0.03125 if scene["time"]["frame"] == 0.015625 else 0.06
    scene["bodies"][0]["mesh"]["cells"] = [6, 6]
    scene["bodies"][1]["mesh"]["level"] = 1
    return scene


def prepare():
    """The files that git knows, and the build as the documents name it."""
    files = subprocess.run(["git", "-C", SOURCE, "ls-files", "-z"], capture_output=True, check=True).stdout
    subprocess.run("tar -C '%s' --null -T - -c | tar -x" % SOURCE.replace("'", "'\\''"), shell=True, input=files, check=True)
    if FULL:
        subprocess.run(["jobs/quickstart"], check=True)
    else:
        os.symlink(os.path.dirname(TACTUS), "build")
    for page, name in (("README.md", "scene.json"), ("docs/tutorials/cloth-on-a-sphere.md", "cloth.json")):
        with open(os.path.join(SOURCE, page), encoding="utf-8") as file:
            text = file.read()
        if page != "README.md" and f"Save this as `{name}`" not in text:
            stop(f"{page} does not say where to save its scene")
        scene = json.loads(re.search(r"^```json\n(.*?)^```", text, re.S | re.M)[1])
        with open(name, "w") as file:
            json.dump(scene if FULL else coarse(scene), file)


def main():
    prepare()
    ran = 0
    for path, line in [pair for page in PAGES for pair in lines(page)]:
        if "\n" in line:
            done = subprocess.run(["/usr/bin/python3", "-c", line], stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if done.returncode or not done.stdout:
                stop("%s: its Python ends with %d: %s" % (path, done.returncode, done.stdout + done.stderr))
            ran += 1
            continue
        reason = next((why for pattern, why in ELSEWHERE.items() if re.match(pattern, line)), None)
        if reason:
            print("%s: %s: left out: %s" % (path, line, reason))
            continue
        if not re.match(r"(build/tactus|jobs/(render|report|plot|submit|sweep-table)|mpirun -n \d+ (--oversubscribe )?build/tactus) ", line):
            stop("%s has a command that this test does not know: %s" % (path, line))
        if line.startswith("jobs/submit ") and "--dry-run" not in line:
            line += " --dry-run"
        if line.startswith("jobs/submit ") and "--sweep" not in line:
            subprocess.run("rm -rf submitted && mkdir submitted", shell=True, check=True)
            line += " -o submitted/" + str(ran) + ".run"
        if line.startswith("jobs/submit ") and "--sweep" in line:
            subprocess.run("rm -rf scene.sweep", shell=True, check=True)
        if line.startswith("build/tactus run --restart scene.run --branch"):
            line += " --set time.end=%g" % (2 if FULL else 0.1)  # a run that has ended has nothing left to branch to
        print("%s: %s" % (path, line), flush=True)
        done = subprocess.run(line, shell=True, stdin=subprocess.DEVNULL, capture_output=True, text=True, executable="/bin/bash")
        if done.returncode != CODES.get(line, 0):
            stop("%s: '%s' ends with %d: %s" % (path, line, done.returncode, (done.stdout + done.stderr)[-2000:]))
        ran += 1
    if ran < 20:
        stop("only %d commands were found" % ran)
    print("%d commands ran" % ran)


if __name__ == "__main__":
    # In a container the test is root, as README.md says.
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
