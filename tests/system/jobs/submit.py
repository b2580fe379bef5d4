#!/usr/bin/python3
"""jobs/submit without Slurm: what it refuses, what it writes, that no name of a file gets out of its quotes, that shellcheck is content, and
how sweeps are taken apart.  If this fails, a job waits for a day in a queue and then dies of a typing error, or runs what a file name says."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

TACTUS, SOURCE = os.environ["TACTUS"], os.environ["TACTUS_SOURCE"]
sys.path.insert(0, SOURCE + "/jobs/lib")
import slurm
import sweeps

failures = 0
work = os.path.realpath(tempfile.mkdtemp(prefix="tactus-submit-"))
os.chdir(work)
ODD = "a b 'c' \"d\" $(touch ran) `touch ran` \\ %j ; #\né"
SCENE = {"format": "tactus-scene/1", "time": {"end": .01, "frame": .005}, "contact": {"friction": .1}, "bodies": [
    {"name": "ball", "mass": 1, "mesh": {"kind": "points", "vertices": [[0, 0, 0]]}}]}


def check(true, text):
    global failures
    if not true:
        failures += 1
        print("failed: " + text)


def submit(*arguments, path=None):
    environment = dict(os.environ)
    if path is not None:
        environment["PATH"] = path
    return subprocess.run([SOURCE + "/jobs/submit", "--program", TACTUS] + list(arguments), env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def refused(words, *arguments, path=None):
    done = submit(*arguments, path=path)
    said = done.stderr.strip()
    check(done.returncode == 2 and words in said and "\n" not in said and said.startswith("submit: ") and done.stdout == "",
          "%s: code %d, %r expected in %r" % (arguments, done.returncode, words, done.stdout + said))


def shellcheck(path):
    if shutil.which("shellcheck") is None:
        check(os.environ.get("CI") != "true", "shellcheck is missing: jobs/lib/install test")
        print("skipped: shellcheck is not installed")
        return
    done = subprocess.run(["shellcheck", "--shell=bash", path], stdout=subprocess.PIPE, text=True)
    check(done.returncode == 0, "shellcheck of %s: %s" % (path, done.stdout))


with open("scene.json", "w") as file:
    json.dump(SCENE, file)
shutil.copy("scene.json", ODD + ".json")
with open("broken.json", "w") as file:
    json.dump(dict(SCENE, gravity="down"), file)

# Options that are wrong: one sentence, and no folder.
for words, arguments in (
        ("needs a scene", []), ("cannot read the scene 'none.json'", ["none.json"]), ("unexpected argument 'b.json'", ["scene.json", "b.json"]),
        ("did you mean '--ntasks'", ["scene.json", "--ntask", "3"]), ("--nodes needs a whole number", ["scene.json", "--nodes", "two"]),
        ("--ntasks needs a whole number", ["scene.json", "--ntasks", "0"]), ("less than --nodes", ["scene.json", "--nodes", "4", "--ntasks", "2"]),
        ("--time needs a time", ["scene.json", "--time", "soon"]), ("shortest is one minute", ["scene.json", "--time", "0:30"]),
        ("leaves no time to run", ["scene.json", "--time", "1", "--warn", "60"]), ("--partition needs a name", ["scene.json", "--partition", "a b"]),
        ("--account needs a name", ["scene.json", "--account", "x;y"]), ("--qos needs a name", ["scene.json", "--qos", "$x"]),
        ("--mem needs an amount", ["scene.json", "--mem", "much"]), ("exclude each other", ["scene.json", "--mem", "1G", "--mem-per-cpu", "1G"]),
        ("--job-name needs a name", ["scene.json", "--job-name", "a\nb"]), ("without blanks", ["scene.json", "--sbatch", "--gres=a b"]),
        ("has --time itself", ["scene.json", "--sbatch=--time=3"]), ("sets --signal itself", ["scene.json", "--sbatch=--signal=USR1"]),
        ("--tries needs", ["scene.json", "--tries", "0"]), ("--until needs", ["scene.json", "--until", "nan"]),
        ("--until needs", ["scene.json", "--until", "-1"]), ("--pilot needs a whole number", ["scene.json", "--pilot", "1.5"]), ("--until needs", ["scene.json", "--until", "0"]), ("--until needs", ["scene.json", "--until", "1_0"]),
        ("invalid choice", ["scene.json", "--launcher", "ssh"]), ("path=value", ["scene.json", "--set", "gravity"]),
        ("no program", ["scene.json", "--program", "scene.json"]), ("does not understand --setup", ["scene.json", "--dry-run", "-o", "syntax", "--setup", "if then"]),
        ("gravity", ["broken.json"]), ("with contact.friction=-1", ["scene.json", "--sweep", "contact.friction=0.1,-1"]),
        ("twice", ["scene.json", "--sweep", "contact.friction=0.1,1e-1"]), ("twice", ["scene.json", "--sweep", "a=1,2", "--sweep", "a=3"]),
        ("by --set and by --sweep", ["scene.json", "--sweep", "a=1,2", "--set", "a=1"]), ("empty value", ["scene.json", "--sweep", "a=1,,2"]),
        ("does not close", ["scene.json", "--sweep", "a=[1,2"]), ("needs a key", ["scene.json", "--sweep", "=1"]), ("--at-once is for a sweep", ["scene.json", "--at-once", "2"]),
        ("are the most", ["scene.json", "--sweep", "a=" + ",".join(map(str, range(200))), "--sweep", "b=" + ",".join(map(str, range(200)))]),
        ("has no job.json", ["--again", "."]), ("stay as they were", ["--again", ".", "--set", "a=1"])):
    before = set(os.listdir())
    refused(words, *arguments)
    check(set(os.listdir()) <= before | {"syntax"}, "%s leaves %s" % (arguments, set(os.listdir()) - before))
os.mkdir("bin")
for tool in ("bash", "python3", "dirname", "env"):
    os.symlink("/usr/bin/python3" if tool == "python3" else shutil.which(tool), "bin/" + tool)
refused("no login node", "scene.json", "-o", "unsubmitted", path=work + "/bin")

# A script: shellcheck is content with it whatever the names are, and the same text comes out of the shell that went in.
folder = os.path.join(work, ODD + ".run")
done = submit(ODD + ".json", "--dry-run", "--set", "name=" + ODD, "--set", "contact.friction=0.3", "--ntasks", "3", "--nodes", "2", "--time", "90", "--partition", "a,b",
              "--exclusive", "--sbatch=--gres=tmp:10G", "--record", "--until", "0.5",
              "--no-check")
script = os.path.join(folder, "job.sbatch")
check(done.returncode == 0 and done.stdout == open(script).read() and "nothing was submitted" in done.stderr, "a dry run: %s%s" % (done.stdout, done.stderr))
shellcheck(script)
for line in ("--ntasks=3", "--nodes=2", "--time=01:30:00", "--partition=a,b", "--exclusive", "--gres=tmp:10G", "--signal=B:USR1@300", "--requeue"):
    check("\n#SBATCH %s\n" % line in done.stdout, "%s is missing" % line)
check(done.stdout.index("#SBATCH --requeue") < done.stdout.index("\nprogram="), "options come after the first command")
reported = subprocess.run(["bash", "-c", '. <(sed "/^setup$/,\\$d" "$1"); printf "%s\\0" "$program" "$scene" "$folder" "${settings[@]}" "${options[@]}"', "-", script],
                      stdout=subprocess.PIPE, text=True).stdout.split("\0")
check(reported == [os.path.realpath(TACTUS), os.path.join(work, ODD + ".json"), folder, "--set", "name=" + ODD, "--set", "contact.friction=0.3", "--record", "--until=0.5", ""]
      or reported[1:] == [os.path.join(work, ODD + ".json"), folder, "--set", "name=" + ODD, "--set", "contact.friction=0.3", "--record", "--until=0.5", ""], "quoting: %s" % reported)
check(not os.path.exists("ran"), "a file's name was run as a command")
check(submit(ODD + ".json", "--dry-run", "--no-check").returncode == 0, "a dry run can be repeated")
for options in (["--sweep", "contact.friction=0.1,0.2", "--sweep", "gravity=[0,-9.81,0],[0,0,0]"], ["--sweep", 'name="a, b",%s' % "it's"]):
    name = "s%d" % len(options)
    done = submit("scene.json", "--dry-run", "-o", name, "--at-once", "2", *options)
    check(done.returncode == 0 and "%2\n" in done.stdout, "a sweep: " + done.stderr)
    shellcheck(name + "/job.sbatch")
job = json.load(open("s4/job.json"))
check([run["values"] for run in job["sweep"]["runs"]] == [["0.1", "[0,-9.81,0]"], ["0.1", "[0,0,0]"], ["0.2", "[0,-9.81,0]"], ["0.2", "[0,0,0]"]], "the product: %s" % job)

# Where --time is not given a pilot run suggests one; it leaves nothing, and it can be left out.
before = set(os.listdir())
for words, options in (("--time 00:01:00 would do", []), ("--time 00:01:00 would do", ["--until", ".008"]), ("at least", ["--set", "contact.thickness=0.001", "--set", "time.end=1e6"]),
                       ("", ["--pilot", "0"]), ("", ["--time", "10"]), ("", ["--no-check"])):
    done = submit("scene.json", "--dry-run", "-o", "asked", *([] if "--pilot" in options else ["--pilot", "1"]), *options)
    reported = [line for line in done.stderr.splitlines() if "pilot run" in line]
    check(done.returncode == 0 and (len(reported) == 1 and words in reported[0] if words else reported == []), "%s: %s" % (options, done.stderr))
    check(set(os.listdir()) == before | {"asked"}, "a pilot run leaves %s" % (set(os.listdir()) - before))
    shutil.rmtree("asked")

# Values of a sweep.
for text, values in (("1,2", ["1", "2"]), (" 1 , 2 ", ["1", "2"]), ("[1,2],[3,[4,5]]", ["[1,2]", "[3,[4,5]]"]), ('{"a":[1,2],"b":3},4', ['{"a":[1,2],"b":3}', "4"]),
                     ('"a,b","c\\",d"', ['"a,b"', '"c\\",d"']), ("speculate,kds", ["speculate", "kds"]), ("1", ["1"])):
    check(sweeps.split(text) == values, "%s is taken apart as %s" % (text, sweeps.split(text)))
for text, seconds in (("1", 60), ("90", 5400), ("1:30", 90), ("1:02:03", 3723), ("2-0", 172800), ("1-2:3", 93780), ("1-2:3:4", 93784)):
    check(slurm.seconds(text) == seconds, "--time %s is %d s" % (text, slurm.seconds(text)))

# Folders that hold something are left alone.
os.mkdir("taken")
open("taken/status.json", "w").write("{}")
refused("holds a run already", "scene.json", "-o", "taken")
open("file", "w").close()
refused("is no folder", "scene.json", "-o", "file")
os.mkdir("foreign")
open("foreign/job.sbatch", "w").close()
refused("not of jobs/submit", "scene.json", "-o", "foreign")
job = json.load(open("s4/job.json"))
json.dump(dict(job, job="17"), open("s4/job.json", "w"))
refused("has job 17 already", "scene.json", "-o", "s4")
open("s4/job.json", "w").write("[]")
refused("damaged", "scene.json", "-o", "s4")
table = subprocess.run([SOURCE + "/jobs/sweep-table", "s2"], stdout=subprocess.PIPE, text=True)
check(table.returncode == 0 and "pending" in table.stdout and "a, b" in table.stdout and "it's" in table.stdout, "sweep-table before the start: " + table.stdout)
for wrong in (["taken"], [], ["s2", "--cvs"]):
    table = subprocess.run([SOURCE + "/jobs/sweep-table"] + wrong, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    check(table.returncode == 2 and table.stderr.count("\n") == 1, "sweep-table %s: %s" % (wrong, table.stderr))
for path in ("jobs/submit", "jobs/sweep-table"):
    shellcheck(os.path.join(SOURCE, path))

os.chdir("/")
shutil.rmtree(work)
print("%d failures" % failures)
sys.exit(failures > 0)
