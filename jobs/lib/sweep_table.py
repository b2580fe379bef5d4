"""jobs/sweep-table: the runs of a sweep as a table. See --help."""
import argparse
import csv
import io
import json
import os
import re
import subprocess
import sys

from problem import Problem

ABOUT = """\
A row for each run of the sweep in the folder DIR (jobs/submit --sweep): its parameters, its state, the simulated time
that it has reached, the energies of its last frame (energy.csv), counters (status.json), why it waits or failed; and for
each history of kind "flux" what had crossed its plane in the last row: NAME.count_forward, and so on."""
ENERGIES = ["kinetic", "gravity", "stretch", "bend", "contact", "total", "dissipated", "work"]
CROSSED = ["count_forward", "count_back", "mass_forward", "mass_back"]
COUNTERS = ["windows", "rollbacks", "contacts_found", "silent"]


def parse(arguments):
    p = argparse.ArgumentParser(prog="jobs/sweep-table", usage="jobs/sweep-table DIR [--csv] [-o FILE]", description=ABOUT,
                                formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    p.error = lambda message: (_ for _ in ()).throw(Problem(message + "; 'jobs/sweep-table --help' lists the options"))
    p.add_argument("dir", metavar="DIR", help="the sweep's folder")
    p.add_argument("--csv", action="store_true", help="comma-separated values, with all digits")
    p.add_argument("-o", dest="file", metavar="FILE", help="write to FILE instead of standard output")
    p.add_argument("--program", metavar="PATH", help="the program tactus (default: that of the job)")
    return p.parse_args(arguments)


def read_sweep(folder):
    path = os.path.join(folder, "job.json")
    try:
        with open(path, encoding="utf-8") as file:
            job = json.load(file)
        runs = job["sweep"]["runs"]
        return job, job["sweep"]["parameters"], [(run["folder"], run["values"]) for run in runs]
    except (OSError, ValueError, KeyError, TypeError):
        raise Problem("'%s' is no sweep: it has no job.json of jobs/submit --sweep" % folder) from None


def statuses(program, folder):
    """What tactus status tells of each run, by the name of its folder."""
    try:
        done = subprocess.run([program, "status", "--json", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise Problem("'%s' cannot be started: %s; give another with --program" % (program, error.strerror)) from None
    try:
        return {os.path.basename(s["folder"]): s for s in json.loads(done.stdout.decode("utf-8"))}
    except ValueError:
        raise Problem("tactus status told nothing of '%s': %s" % (folder, done.stderr.decode("utf-8", "replace").strip())) from None


def last_row(path):
    """Column -> text of the last whole row of energy.csv."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            names = file.readline().strip().split(",")
            rows = [line for line in file if line.endswith("\n") and line.count(",") == len(names) - 1]
    except OSError:
        return {}
    return dict(zip(names, rows[-1].strip().split(","))) if rows else {}


def fluxes(path):
    """Name of a history of kind flux -> texts of CROSSED in its last whole row."""
    try:
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            found = {}
            for row in csv.DictReader(line for line in file if line.endswith("\n")):
                if row.get("count_forward", "nan") not in ("nan", None) and row.get(CROSSED[-1]) is not None:
                    found[row["name"]] = [row[key] for key in CROSSED]
            return found
    except (OSError, csv.Error):
        return {}


def value(found):
    return "" if found is None else repr(found) if isinstance(found, float) else str(found)


def table(folder, program):
    job, parameters, runs = read_sweep(folder)
    known = statuses(program or job["program"], folder)
    head = ["folder"] + parameters + ["state", "time", "share", "wall_s", "restarts"] + ENERGIES + ["contacts", "deepest_layer"] + COUNTERS + ["why"]
    crossed = {name: fluxes(os.path.join(folder, name, "histories.csv")) for name, _ in runs}
    planes = list(dict.fromkeys(plane for of in crossed.values() for plane in of))
    head += ["%s.%s" % (plane, key) for plane in planes for key in CROSSED]
    rows = []
    for name, values in runs:
        s, energy = known.get(name, {}), last_row(os.path.join(folder, name, "energy.csv"))
        row = [name] + values + [s.get("condition", "unknown")] + [value(s.get(key)) for key in ("time", "share", "wall_s", "restarts")]
        row += [energy.get(key, "") for key in ENERGIES + ["contacts", "deepest_layer"]]
        row += [value(s.get("counters", {}).get(key)) for key in COUNTERS] + [s.get("why") or ""]
        rows.append(row + [text for plane in planes for text in crossed[name].get(plane, [""] * len(CROSSED))])
    return head, rows


def shortened(text):
    """A number with six digits; other text on one line."""
    if re.fullmatch(r"-?\d+\.\d+(e[+-]?\d+)?|-?\d+e[+-]?\d+", text):
        return "%.6g" % float(text)
    return re.sub(r"[\x00-\x1f\x7f]", "?", text) or "-"


def as_text(head, rows):
    lines = [[shortened(cell) for cell in row] for row in [head] + rows]
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    return "".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() + "\n" for line in lines)


def as_csv(head, rows):
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([head] + rows)
    return out.getvalue()


def main(arguments):
    a = parse(arguments)
    text = (as_csv if a.csv else as_text)(*table(a.dir.rstrip("/") or "/", a.program))
    if a.file is None:
        sys.stdout.write(text)
        return 0
    try:
        with open(a.file, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise Problem("cannot write '%s': %s" % (a.file, error.strerror)) from None
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except Problem as problem:
        print("sweep-table: %s" % re.sub(r"[\x00-\x1f\x7f]", "?", str(problem)), file=sys.stderr)
        sys.exit(2)
