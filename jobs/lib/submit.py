"""jobs/submit: makes a run folder, writes the script of a Slurm job into it, and submits it. See --help."""
import argparse
import difflib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import time

import slurm
import sweeps
from problem import Problem, standard_program

ABOUT = """\
Runs SCENE as a Slurm job: makes the run folder, writes a readable batch script into it (job.sbatch), and submits it.
The job saves a checkpoint before its time limit and queues itself again until the scene's end. When a rank or a node
fails it goes on from the newest whole checkpoint, a few times and with a pause. It is not tried again where the same
would happen again. 'tactus status DIR' tells how far it is. docs/how-to/cluster-jobs.md describes all of it."""


class Parser(argparse.ArgumentParser):
    """One sentence where argparse would print the usage too."""

    def error(self, message):
        raise Problem(message + "; 'jobs/submit --help' lists the options")


def parser():
    p = Parser(prog="jobs/submit", usage="jobs/submit SCENE [-o DIR] [option ...]\n       jobs/submit --again DIR [option ...]",
               description=ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    p.add_argument("scene", nargs="?", metavar="SCENE", help="the scene's file")
    p.add_argument("-o", dest="dir", metavar="DIR", help="the run folder (default: <scene's name>.run in the current folder; of a sweep: .sweep)")
    p.add_argument("--again", metavar="DIR", help="go on with the job of this folder, which was cancelled, stopped or failed; options given are changed")
    p.add_argument("--dry-run", action="store_true", help="write and show the script, and submit nothing")
    g = p.add_argument_group("the run (as of tactus run)")
    g.add_argument("--set", action="append", default=[], metavar="path=value", help="change a key of the scene")
    g.add_argument("--record", action="store_true", help="keep every breakpoint, for an audit")
    g.add_argument("--discover", choices=["speculate", "kds", "all-pairs"], metavar="MODE", help="how contacts are found: speculate, kds, all-pairs")
    g.add_argument("--until", metavar="T", help="end at T seconds instead of the scene's time.end")
    g = p.add_argument_group("many runs")
    g.add_argument("--sweep", action="append", default=[], metavar="path=a,b,c", help="one run for each value; given several times: for each combination. "
                   "A comma within [], {} or double quotes belongs to the value")
    g.add_argument("--at-once", metavar="N", help="of a sweep, at most so many at a time")
    g = p.add_argument_group("what Slurm gives (as of sbatch)")
    for key, _, metavar, text in slurm.PASSED:
        g.add_argument("--" + key, metavar=metavar, help=text)
    g.add_argument("--exclusive", action="store_true", help="nodes that no other job uses")
    g.add_argument("--job-name", metavar="NAME", help="the job's name in the queue (default: the scene's)")
    g.add_argument("--sbatch", action="append", default=[], metavar="OPTION", help="another option of sbatch, e.g. --sbatch=--gres=tmp:10G")
    g.add_argument("--pilot", metavar="S", help="where --time is not given: run the scene for S seconds here, to suggest one (default: 20; 0: do not)")
    g = p.add_argument_group("how it survives")
    g.add_argument("--warn", metavar="S", help="save the checkpoint S seconds before the time limit (default: 300, or a quarter of --time where that is less)")
    g.add_argument("--tries", metavar="N", help="give up after N tries from the same checkpoint (default: 4)")
    g.add_argument("--retry-wait", metavar="S", help="wait S seconds before the second try, then twice as long each time (default: 30)")
    g.add_argument("--sittings", metavar="N", help="give up after N sittings (default: 200)")
    g = p.add_argument_group("how it starts")
    g.add_argument("--launcher", choices=["auto", "srun", "mpirun"], default=None, metavar="L", help="auto (srun where Slurm has PMIx, else mpirun), srun or mpirun")
    g.add_argument("--setup", action="append", default=[], metavar="COMMAND", help="a command of the shell before the run, e.g. 'module load openmpi'")
    g.add_argument("--program", metavar="PATH", help="the program tactus (default: build/tactus beside jobs/, else from the PATH)")
    g.add_argument("--no-check", action="store_true", help="do not examine the scene first by tactus check")
    return p


def known_option(p, argument):
    names = [name for action in p._actions for name in action.option_strings]
    near = difflib.get_close_matches(argument.split("=")[0], names, 1)
    return "; did you mean '%s'?" % near[0] if near else "; 'jobs/submit --help' lists the options"


def parse(arguments):
    p = parser()
    a, rest = p.parse_known_args(arguments)
    if rest:
        option = next((r for r in rest if r.startswith("-")), None)
        if option is not None:
            raise Problem("unknown option '%s'%s" % (option.split("=")[0], known_option(p, option)))
        raise Problem("unexpected argument '%s'; one scene at a time" % rest[0])
    return a


def utf8(what, path):
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        raise Problem("the name of %s (%r) is no UTF-8, so it cannot be kept in job.json; rename it" % (what, path)) from None
    return path


def find_program(given):
    path = given or standard_program()
    if path is None:
        raise Problem("the program tactus is neither in build/ nor in the PATH; build it (jobs/quickstart) or give it with --program")
    if not os.path.isfile(path) or not os.access(path, os.X_OK):
        raise Problem("--program '%s' is no program that can be started" % path)
    return utf8("the program", os.path.abspath(path))


def examine(job, quiet):
    """What cannot be run is told before it waits in a queue."""
    for k, run in enumerate(job["sweep"]["runs"] if job["sweep"] else [{"set": []}]):
        command = [job["program"], "check", job["scene"], "-o", job["home"]] + slurm.set_options(job["set"] + run["set"])
        try:
            done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        except OSError as error:
            raise Problem("'%s' cannot be started: %s" % (job["program"], error.strerror)) from None
        said = done.stderr.decode("utf-8", "replace").strip().split("\n")
        for line in said[:-1] if done.returncode else said:
            if line and not quiet and k == 0:
                print(line, file=sys.stderr)
        if done.returncode:
            where = " (with %s)" % ", ".join(run["set"]) if run["set"] else ""
            raise Problem("the scene cannot be run%s: %s" % (where, re.sub(r"^tactus: ", "", said[-1]) or "tactus check ended with code %d" % done.returncode))


def suggest_time(job, seconds, until):
    """A pilot run here tells how long the run will take, on one rank; a job may well be shorter, for it goes on in its next sitting."""
    first = job["sweep"]["runs"][0]["set"] if job["sweep"] else []
    end = ["time.end=%r" % float(until)] if until is not None else []
    command = [job["program"], "check", job["scene"], "--json", "--pilot=%d" % seconds] + slurm.set_options(job["set"] + first + end)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    try:
        told = json.loads(done.stdout.decode("utf-8", "replace"))["forecast"]
        wall, pilot = told["wall_s"], told["pilot"]
        most = slurm.clock(max(60, 60 * math.ceil(1.25 * wall["most"] / 60)))
    except (ValueError, KeyError, TypeError, OverflowError):
        said = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
        return "the pilot run ended with code %d, so no --time is suggested: %s" % (done.returncode, re.sub(r"^tactus: ", "", said))
    if pilot["note"]:
        return "by a pilot run of %d s it takes %s %s on one rank (%s); --time is not given, so the partition's limit holds" % (
            seconds, "at least" if pilot["lower_bound"] else "about", slurm.clock(math.ceil(wall["likely"])), pilot["note"])
    return "by a pilot run of %d s it takes about %s on one rank (%s to %s): --time %s would do in one sitting" % (
        seconds, *(slurm.clock(math.ceil(wall[key])) for key in ("likely", "least", "most")), most)


def slurm_values(a, before):
    values = dict(before)
    for key, check, _, _ in slurm.PASSED:
        text = getattr(a, key.replace("-", "_"))
        if text is not None:
            values[key] = check(text)
    if a.exclusive:
        values["exclusive"] = True
    values.setdefault("ntasks", "1")
    if "nodes" in values and int(values["ntasks"]) < int(values["nodes"]):
        raise Problem("--ntasks %s is less than --nodes %s, so some nodes would have nothing to do" % (values["ntasks"], values["nodes"]))
    if "mem" in values and "mem-per-cpu" in values:
        if a.mem is None or a.mem_per_cpu is None:  # the one from before makes room
            del values["mem" if a.mem is None else "mem-per-cpu"]
        else:
            raise Problem("--mem and --mem-per-cpu exclude each other; give one of them")
    return values


def warn_seconds(a, values, before):
    limit = slurm.seconds(values["time"]) if "time" in values else None
    if a.warn is not None:
        warn = slurm.number("--warn", a.warn, 1, 65535)
    elif before is not None and a.time is None:
        warn = before
    else:
        warn = 300 if limit is None else max(1, min(300, limit // 4))
    if limit is not None and warn >= limit:
        raise Problem("--warn %d leaves no time to run: --time is %d seconds" % (warn, limit))
    return warn


def seconds(text):
    """As --until of the program takes them: a job that waits for its turn and is refused then would come too late."""
    try:
        value = float(text.replace("_", "x"))  # Python alone reads 1_000
    except ValueError:
        value = float("nan")
    if not 0 < value < float("inf"):
        raise Problem("--until needs a number of seconds greater than 0, not '%s'" % text)
    return text


def name_of(a, scene):
    if a.job_name is not None:
        return slurm.name("--job-name", a.job_name)
    stem = os.path.splitext(os.path.basename(scene))[0]
    return re.sub(r"[^A-Za-z0-9_.+-]", "-", stem).lstrip("-")[:64] or "tactus"


def assignments(given):
    for text in given:
        if "=" not in text.lstrip("="):
            raise Problem("--set needs path=value, such as --set contact.friction=0.4, not '%s'" % text)
    return given


def new_job(a):
    """What the command line asks for."""
    if a.scene is None:
        raise Problem("jobs/submit needs a scene: jobs/submit SCENE; 'jobs/submit --help' tells the rest")
    if not os.path.isfile(a.scene) or not os.access(a.scene, os.R_OK):
        raise Problem("cannot read the scene '%s'; give the path of a scene's file" % a.scene)
    stem = os.path.splitext(os.path.basename(a.scene))[0]
    home = utf8("the run folder", os.path.abspath(a.dir or stem + (".sweep" if a.sweep else ".run")))
    job = {"format": "tactus-job/1", "scene": utf8("the scene", os.path.abspath(a.scene)), "program": find_program(a.program), "home": home,
           "set": [utf8("--set", text) for text in assignments(a.set)], "options": [], "sweep": None, "at_once": None}
    if a.at_once is not None:
        if not a.sweep:
            raise Problem("--at-once is for a sweep; give --sweep too, or leave it out")
        job["at_once"] = slurm.number("--at-once", a.at_once, 1, 1000000)
    if a.record:
        job["options"].append("--record")
    if a.discover:
        job["options"].append("--discover=" + a.discover)
    if a.until is not None:
        job["options"].append("--until=" + seconds(a.until))
    if a.sweep:
        fixed = {text.partition("=")[0].strip() for text in a.set}
        keys, runs = sweeps.product([utf8("--sweep", text) for text in a.sweep], fixed)
        job["sweep"] = {"parameters": keys,
                        "runs": [{"folder": "%04d" % k, "values": list(values), "set": ["%s=%s" % pair for pair in zip(keys, values)]}
                                 for k, values in enumerate(runs)]}
    return settle(job, a)


def settle(job, a):
    """Puts the options into a job that concern Slurm and survival; those not given stay as they were."""
    job["slurm"] = slurm_values(a, job.get("slurm", {}))
    job["other"] = [slurm.other(text) for text in a.sbatch] or job.get("other", [])
    job["name"] = name_of(a, job["scene"]) if a.job_name is not None or "name" not in job else job["name"]
    job["warn_s"] = warn_seconds(a, job["slurm"], job.get("warn_s"))
    for key, option, text, least, most, usual in (("tries", "--tries", a.tries, 1, 1000, 4), ("retry_wait_s", "--retry-wait", a.retry_wait, 0, 86400, 30),
                                                  ("sittings", "--sittings", a.sittings, 1, 100000, 200)):
        job[key] = job.get(key, usual) if text is None else slurm.number(option, text, least, most)
    job["launcher"] = a.launcher or job.get("launcher", "auto")
    job["setup"] = [utf8("--setup", text) for text in a.setup] or job.get("setup", [])
    job["again"] = slurm.words([os.path.join(os.path.dirname(slurm.HERE), "submit"), "--again", job["home"]])
    return job


def old_job(a):
    """The job of a folder, with what the command line changes."""
    if a.scene is not None or a.dir is not None or a.sweep or a.set or a.record or a.discover or a.until is not None or a.at_once is not None:
        raise Problem("--again goes on with the job of its folder: SCENE, -o, --set, --sweep, --record, --discover, --until and --at-once stay as they were")
    home = os.path.abspath(a.again)
    job = read_json(os.path.join(home, "job.json"), "tactus-job/")
    if job is None:
        raise Problem("'%s' has no job.json, so no job was made for it; a run that you started yourself goes on with tactus run --restart" % a.again)
    if a.program:
        job["program"] = find_program(a.program)
    job["home"] = utf8("the run folder", home)
    refuse_queued(job, a.again)
    return settle(job, a)


def read_json(path, kind):
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise Problem("cannot read '%s': %s" % (path, error)) from None
    if not isinstance(found, dict) or not str(found.get("format")).startswith(kind):
        raise Problem("'%s' was not written by jobs/submit, or it is damaged" % path)
    return found


def refuse_queued(job, folder):
    """Two jobs must not write to one folder."""
    ids = [job["job"]] if job.get("job") else []
    state = read_json(os.path.join(job["home"], "job-state.json"), "tactus-job-state/") or {}
    ids += [state["job"]] if isinstance(state.get("job"), str) and re.fullmatch(r"\d+(_\d+)?", state["job"]) else []
    if not ids or not shutil.which("squeue"):
        return
    try:
        listed = subprocess.run(["squeue", "--noheader", "--format=%i %T", "--jobs=" + ",".join(ids)], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=60).stdout.decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        raise Problem("squeue does not answer, so it is not known whether job %s is still queued; try again later" % ids[-1]) from None
    if listed.strip():
        raise Problem("job %s of '%s' is still in the queue (%s); cancel it first: scancel %s" % (ids[-1], folder, " ".join(listed.split()[1:2]).lower(), ids[-1]))


def refuse_folder(job, given):
    """A folder with a run or a job in it stays as it is."""
    home = job["home"]
    if os.path.lexists(home) and not os.path.isdir(home):
        raise Problem("'%s' is there and is no folder; choose another with -o" % home)
    if os.path.exists(os.path.join(home, "status.json")):
        raise Problem("'%s' holds a run already; go on with it by --again if it is a job's, or choose another folder with -o" % home)
    before = read_json(os.path.join(home, "job.json"), "tactus-job/")
    if before is not None and before.get("job"):
        raise Problem("'%s' has job %s already; go on with it by --again, or choose another folder with -o" % (home, before["job"]))
    if before is None and os.path.exists(os.path.join(home, "job.sbatch")):
        raise Problem("'%s' has a job.sbatch that is not of jobs/submit; choose another folder with -o" % home)


def write(path, text):
    """Replaced by rename: a reader sees the old one or the new one."""
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".tmp", path)


def write_job(job, number_of=None, cluster=None):
    """job.json into the folder, and into each of a sweep's. number_of: the job's id once it has one."""
    job = dict(job, job=number_of, cluster=cluster, submitted=int(time.time()) if number_of else None)
    write(os.path.join(job["home"], "job.json"), json.dumps(job, indent=2) + "\n")
    for k, run in enumerate(job["sweep"]["runs"] if job["sweep"] else []):
        folder = os.path.join(job["home"], run["folder"])
        os.makedirs(folder, exist_ok=True)
        one = {"format": job["format"], "scene": job["scene"], "again": job["again"], "set": job["set"] + run["set"], "sweep_folder": True,
               "job": "%s_%d" % (number_of, k) if number_of else None, "cluster": cluster, "submitted": job["submitted"]}
        write(os.path.join(folder, "job.json"), json.dumps(one, indent=2) + "\n")


def forget_states(job):
    """Tries are counted from the submission on."""
    for folder in [job["home"]] + [os.path.join(job["home"], run["folder"]) for run in (job["sweep"]["runs"] if job["sweep"] else [])]:
        for name in ("job-state.json", "job-state.json.tmp"):
            if os.path.exists(os.path.join(folder, name)):
                os.remove(os.path.join(folder, name))


def make_folder(job):
    try:
        os.makedirs(job["home"], exist_ok=True)
        write_job(job)
        path = os.path.join(job["home"], "job.sbatch")
        text = slurm.script(job)
        write(path, text)
    except OSError as error:
        raise Problem("cannot write to the folder '%s': %s; choose another with -o" % (job["home"], error.strerror)) from None
    done = subprocess.run(["bash", "-n", path], stderr=subprocess.PIPE)
    if done.returncode:
        raise Problem("the shell does not understand --setup: %s" % done.stderr.decode("utf-8", "replace").strip().split("\n")[0])
    return text


def submit(job):
    if shutil.which("sbatch") is None:
        raise Problem("sbatch is not there, so this is no login node of a Slurm cluster; the script is written: %s" % os.path.join(job["home"], "job.sbatch"))
    forget_states(job)
    done = subprocess.run(slurm.submit_command(job), stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    said = done.stdout.decode("utf-8", "replace").strip().split("\n")[-1]
    match = re.fullmatch(r"(\d+)(?:;(.+))?", said)
    if done.returncode or not match:
        why = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1] or said
        raise Problem("Slurm refused the job: %s" % re.sub(r"^sbatch: (error: )?", "", why))
    write_job(job, match[1], match[2])
    return match[1]


def tell(job, number_of):
    status = slurm.words([job["program"], "status", job["home"]])
    log = "%04d/slurm-" + number_of + "_%d.out" if job["sweep"] else "slurm-" + number_of + ".out"
    if job["sweep"]:
        log = log % (0, 0)
    values, runs = job["slurm"], "%d runs, " % len(job["sweep"]["runs"]) if job["sweep"] else ""
    print("submitted job %s: %s%s rank%s%s" % (number_of, runs, values["ntasks"], "" if values["ntasks"] == "1" else "s",
                                               ", %s a sitting" % values["time"] if "time" in values else ""))
    print("its folder             %s" % slurm.word(job["home"]))
    print("how far it is          %s" % status)
    if job["sweep"]:
        print("the sweep as a table   %s" % slurm.words([os.path.join(os.path.dirname(slurm.HERE), "sweep-table"), job["home"]]))
    print("what it says           tail -f %s" % slurm.word(os.path.join(job["home"], log)))
    print("stop it                scancel %s   (a checkpoint is saved)" % number_of)
    print("go on after a stop     %s" % job["again"])


def main(arguments):
    a = parse(arguments)
    job = old_job(a) if a.again is not None else new_job(a)
    pilot = 20 if a.pilot is None else slurm.number("--pilot", a.pilot, 0, 86400)
    if a.no_check or a.again is not None:
        pilot = 0
    if a.again is None:
        refuse_folder(job, a.dir)
    if not a.no_check and a.again is None:
        examine(job, False)
    text = make_folder(job)
    if pilot > 0 and "time" not in job["slurm"] and (a.dry_run or shutil.which("sbatch")):
        print("jobs/submit: " + suggest_time(job, pilot, a.until), file=sys.stderr)
    if a.dry_run:
        sys.stdout.write(text)
        print("jobs/submit: nothing was submitted; the script is %s, and you can submit it with: %s"
              % (slurm.word(os.path.join(job["home"], "job.sbatch")), slurm.words(slurm.submit_command(job))), file=sys.stderr)
        return 0
    tell(job, submit(job))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Problem as problem:
        print("submit: %s" % re.sub(r"[\x00-\x1f\x7f]", "?", str(problem)), file=sys.stderr)
        sys.exit(2)
