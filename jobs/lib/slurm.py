"""What jobs/submit needs to know of Slurm and of shells: values that sbatch takes, times, quoting, the text of a job's script."""
import os
import re
import shlex

from problem import Problem

HERE = os.path.dirname(os.path.abspath(__file__))


def word(text):
    """A text as one word of a shell's command line, on one line."""
    if not re.search(r"[\x00-\x1f\x7f]", text):
        return shlex.quote(text)
    named = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\", "'": "\\'"}
    return "$'" + "".join(named.get(c) or ("\\%03o" % ord(c) if ord(c) < 32 or ord(c) == 127 else c) for c in text) + "'"


def words(items):
    return " ".join(word(item) for item in items)


def seconds(text):
    """A time as Slurm writes it (minutes, M:S, H:M:S, D-H, D-H:M, D-H:M:S) in seconds."""
    match = re.fullmatch(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?", text)
    if not match:
        raise Problem("--time needs a time as Slurm writes it, such as 90 (minutes), 12:00:00 or 2-00:00:00, not '%s'" % text)
    days, parts = match[1], [int(part) for part in match.groups()[1:] if part is not None]
    if days is not None:
        parts += [0] * (3 - len(parts))
    elif len(parts) < 3:  # minutes, or minutes and seconds
        parts = [0] + parts + [0] * (2 - len(parts))
    total = int(days or 0) * 86400 + parts[0] * 3600 + parts[1] * 60 + parts[2]
    if total < 60 or total > 3650 * 86400:
        raise Problem("--time %s is %d seconds; Slurm's shortest is one minute, and ten years are the longest here" % (text, total))
    return total


def clock(total):
    """Seconds as Slurm's D-HH:MM:SS."""
    days, rest = divmod(total, 86400)
    return ("%d-" % days if days else "") + "%02d:%02d:%02d" % (rest // 3600, rest // 60 % 60, rest % 60)


def number(option, text, least, most):
    if not re.fullmatch(r"\d{1,9}", text) or not least <= int(text) <= most:
        raise Problem("%s needs a whole number from %d to %d, not '%s'" % (option, least, most, text))
    return int(text)


def name(option, text, also=""):
    """A name that sbatch takes: of a partition, an account, and so on."""
    if not re.fullmatch(r"[A-Za-z0-9_.+%s-]+" % re.escape(also), text) or text.startswith("-"):
        allowed = "letters, digits and " + " ".join("_.+-" + also)
        raise Problem("%s needs a name of %s, not '%s'; 'sinfo' and 'sacctmgr show assoc' list what there is" % (option, allowed, text))
    return text


def memory(option, text):
    if not re.fullmatch(r"[1-9]\d{0,11}[KMGTkmgt]?|0", text):
        raise Problem("%s needs an amount such as 4000M or 16G, not '%s'" % (option, text))
    return text


def other(text):
    """An option of sbatch that jobs/submit does not have, as it is written after #SBATCH."""
    match = re.fullmatch(r"--([a-z][a-z-]*)(?:=([A-Za-z0-9_.,:+@%/*=()\[\]&|-]+))?", text)
    if not match:
        raise Problem("--sbatch needs an option as sbatch has it, without blanks and quotes, such as --sbatch=--gres=tmp:10G, not '%s'" % text)
    ours = ("nodes", "ntasks", "time", "partition", "account", "qos", "mem", "mem-per-cpu", "constraint", "reservation", "exclusive", "job-name")
    if match[1] in ours:
        raise Problem("--sbatch=%s: jobs/submit has --%s itself; give it without --sbatch" % (text, match[1]))
    if match[1] in ("output", "error", "open-mode", "chdir", "signal", "requeue", "no-requeue", "array", "wrap", "parsable", "export-file"):
        raise Problem("--sbatch=%s: jobs/submit sets --%s itself, because restarts depend on it" % (text, match[1]))
    return text


# Options of sbatch that jobs/submit passes on: name, how it is examined, help.
PASSED = [
    ("nodes", lambda t: str(number("--nodes", t, 1, 1000000)), "N", "nodes (default: as many as the ranks need)"),
    ("ntasks", lambda t: str(number("--ntasks", t, 1, 10000000)), "M", "ranks (default: 1)"),
    ("time", lambda t: clock(seconds(t)), "T", "the time limit of a sitting, e.g. 90 (minutes), 12:00:00, 2-00:00:00 (default: the partition's)"),
    ("partition", lambda t: name("--partition", t, ","), "P", "the partition, or several with commas"),
    ("account", lambda t: name("--account", t), "A", "the account that pays"),
    ("qos", lambda t: name("--qos", t), "Q", "the quality of service"),
    ("mem", lambda t: memory("--mem", t), "SIZE", "memory of each node, e.g. 16G"),
    ("mem-per-cpu", lambda t: memory("--mem-per-cpu", t), "SIZE", "memory of each rank, e.g. 2000M"),
    ("constraint", lambda t: name("--constraint", t, "&|*,()[]:"), "C", "features that the nodes must have"),
    ("reservation", lambda t: name("--reservation", t, ","), "R", "a reservation"),
]

HEADER = """#!/bin/bash
# {title}: a job of Slurm, written by jobs/submit. It is submitted by
#   {submit}
# It runs the scene into the folder below, and goes on from the newest checkpoint there each time that it starts.
"""


def array(values):
    return "(" + words(values) + ")"


def script(job):
    """The text of job.sbatch. job: what job.json or sweep.json holds; see submit.py."""
    sweep = job["sweep"]
    lines = [HEADER.format(title="job.sbatch", submit=words(submit_command(job))).rstrip("\n")]
    lines.append("#SBATCH --job-name=%s" % job["name"])
    for key, value in sorted(job["slurm"].items()):
        lines.append("#SBATCH --%s%s" % (key, "" if value is True else "=" + value))
    lines += ["#SBATCH " + text for text in job["other"]]
    if sweep:
        lines.append("#SBATCH --array=0-%d%s" % (len(sweep["runs"]) - 1, "%%%d" % job["at_once"] if job["at_once"] else ""))
    lines += ["#SBATCH --signal=B:USR1@%d" % job["warn_s"], "#SBATCH --requeue", "#SBATCH --open-mode=append"]
    if own_log(job):
        lines.append("#SBATCH --output=/dev/null")
    else:
        lines.append("#SBATCH --output=" + ("%4a/slurm-%A_%a.out" if sweep else "slurm-%j.out"))
    lines += ["", "# shellcheck disable=SC1003,SC2016,SC2034 # quoted dollars are meant so, and each variable is used below",
              "program=%s" % word(job["program"]), "scene=%s" % word(job["scene"]), "home=%s" % word(job["home"])]
    if sweep:
        lines += ['folder=$home/$(printf %04d "${SLURM_ARRAY_TASK_ID:?this is a job array: submit it with jobs/submit --again}")',
                  "case $SLURM_ARRAY_TASK_ID in"]
        for k, run in enumerate(sweep["runs"]):
            lines.append("%d) settings=%s ;;" % (k, array(set_options(job["set"] + run["set"]))))
        lines += ["*)", "    echo \"this array has the tasks 0 to %d\" >&2" % (len(sweep["runs"]) - 1), "    exit 2", "    ;;", "esac"]
    else:
        lines += ["folder=$home", "settings=%s" % array(set_options(job["set"]))]
    lines += ["options=%s" % array(job["options"]), "ntasks=%s" % job["slurm"].get("ntasks", "1"), "launcher=%s" % job["launcher"],
              "most_tries=%d most_sittings=%d retry_wait_s=%d" % (job["tries"], job["sittings"], job["retry_wait_s"]),
              "own_log=%s" % ("yes" if own_log(job) else "no"), "again=%s" % word(job["again"]), "",
              "setup() { # what --setup gave", "    :"] + job["setup"] + ["}", ""]
    with open(os.path.join(HERE, "job.sh"), encoding="utf-8") as file:
        return "\n".join(lines) + "\n" + file.read()


def set_options(assignments):
    return [part for assignment in assignments for part in ("--set", assignment)]


def own_log(job):
    """Slurm expands % in the path of the log, and takes \\ out of it: then the script opens the log."""
    return re.search(r"[%\\]", job["home"]) is not None


def submit_command(job):
    return ["sbatch", "--parsable", "--chdir=" + job["home"], os.path.join(job["home"], "job.sbatch")]
