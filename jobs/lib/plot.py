"""jobs/plot: curves of a run's tables, as PNG or in the terminal. See --help."""
import argparse
import csv
import fnmatch
import math
import os
import shutil
import subprocess
import sys

from problem import Problem
from run_units import read_units

ABOUT = """\
Draws columns of energy.csv, steps.csv, reactions.csv and histories.csv over time. A KEY is a column of energy.csv
(kinetic, contacts), or steps.COLUMN, reactions.BODY.COLUMN, histories.NAME.COLUMN; of a history with a row for each
vertex histories.NAME.VERTEX.COLUMN. * stands for anything: 'dissipated*', 'histories.*.force_y'. These words stand for
the columns that one mostly wants: energies, steps, histories, reactions, flux. Without a KEY all of these are drawn that
the run has. --list names all keys of the run. Columns without a single number are left out."""
WORDS = ("energies", "steps", "histories", "reactions", "flux")
ENERGIES = ("kinetic", "gravity", "stretch", "bend", "contact", "total", "dissipated", "work")
SECONDS = "s of wall time"


def read_table(path):
    """Names and rows of texts; an unfinished last line is left out. None: there is no such file."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.reader(line for line in file if line.endswith("\n")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, csv.Error) as error:
        raise Problem("%s cannot be read: %s" % (path, error)) from None
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise Problem("%s is damaged: it has no header, or a row has another number of columns than the header" % path)
    return rows[0], rows[1:]


def curves_of(path, prefix):
    """{key: (times, values)} of one table; rows with different names (of bodies, histories) are different curves."""
    table, found = read_table(path), {}
    if table is None:
        return found
    names, rows = table
    number, place = {name: k for k, name in enumerate(names)}, number_of(path)
    parts = {}
    for row in rows:
        own = prefix + (row[number["name"]] + "." if "name" in number else "")
        if "vertex" in number and row[number["vertex"]] != "-1":
            own += row[number["vertex"]] + "."
        parts.setdefault(own, []).append(row)
    for own, part in parts.items():
        time = [place(row[number["time"]]) for row in part]
        for name, k in number.items():
            if name in ("time", "name", "body", "history", "vertex", "step"):
                continue
            values = [place(row[k]) for row in part]
            if any(math.isfinite(value) for value in values):
                found[own + name] = (time, values)
    return found


def number_of(path):
    def number(text):
        try:
            return float(text)
        except ValueError:
            raise Problem("%s is damaged: '%s' is no number" % (path, text[:40])) from None
    return number


def read_run(folder):
    """All curves of the run, by key, in the order of its tables."""
    if not os.path.isfile(os.path.join(folder, "energy.csv")):
        raise Problem("'%s' is no run folder: it has no energy.csv; give the folder that `tactus run` wrote" % folder)
    curves = {}
    for name, prefix in (("energy", ""), ("steps", "steps."), ("reactions", "reactions."), ("histories", "histories.")):
        curves.update(curves_of(os.path.join(folder, name + ".csv"), prefix))
    if not curves:
        raise Problem("%s has no rows yet" % os.path.join(folder, "energy.csv"))
    return curves


def unit_of(key, units):
    """The unit of a column, by its name; "": a plain number."""
    name = key.rsplit(".", 1)[-1]
    stem = name[:-2] if name[-2:] in ("_x", "_y", "_z") else name
    if key.startswith("steps.") and stem.startswith("seconds"):
        return SECONDS
    if stem in ENERGIES + ("defect",) or stem.startswith("dissipated"):
        return units["energy"]
    if stem in ("momentum", "angular_momentum", "friction_couple"):
        return "%s %s%s/%s" % (units["mass"], units["length"], "" if stem == "momentum" else "^2", units["time"])
    if stem == "moment":
        return "%s %s" % (units["force"], units["length"])
    if stem.endswith("force"):
        return units["force"]
    if stem in ("min_distance", "position", "stroke", "displacement"):
        return units["length"]
    if stem in ("velocity", "speed"):
        return "%s/%s" % (units["length"], units["time"])
    return units["mass"] if stem in ("mass", "mass_forward", "mass_back") else ""


def word_keys(word, curves):
    """The keys that a word stands for; those of energies and of steps that are zero all the time are left out."""
    found = []
    for key, (_, values) in curves.items():
        first, last = key.split(".")[0], key.rsplit(".", 1)[-1]
        of_reaction = key[:-len(last)] + "stroke" in curves
        wanted = {"energies": key in ENERGIES and any(values),
                  "steps": first == "steps" and last in ("newton", "linear", "seconds"),
                  "histories": first == "histories" and (last.startswith("force_") if of_reaction else last.startswith("position_")),
                  "reactions": first == "reactions" and last.startswith("force_"),
                  "flux": first == "histories" and last in ("mass_forward", "mass_back")}[word]
        if wanted:
            found.append(key)
    return found


def chosen(words, curves):
    """Keys in the order that they were asked for, each once."""
    found = []
    for word in words or WORDS:
        if word in curves:
            keys = [word]
        elif word in WORDS:
            keys = word_keys(word, curves)
            if words and not keys:
                raise Problem("the run has no %s; --list names what it has" % word)
        else:
            keys = fnmatch.filter(curves, word)
            if not keys:
                raise Problem("'%s' is no key of this run; it has %s, and the words %s" % (word, ", ".join(curves), ", ".join(WORDS)))
        found += [key for key in keys if key not in found]
    return found


def panels_of(keys, units):
    """Keys that share an axis: of one table and one unit."""
    panels = {}
    for key in keys:
        table = key.split(".")[0] if "." in key else ""
        panels.setdefault((table, unit_of(key, units)), []).append(key)
    return panels


def abscissa(key, curves, x):
    """What the curve is drawn over: time, or the column x, which must be of the same rows."""
    if x is None:
        return curves[key][0]
    if len(curves[x][1]) != len(curves[key][1]) or curves[x][0] != curves[key][0]:
        raise Problem("'%s' cannot be drawn over '%s': they are not known at the same times" % (key, x))
    return curves[x][1]


def draw_png(path, panels, curves, x, label, title):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(len(panels), 1, figsize=(9, 1 + 2.6 * len(panels)), dpi=110, squeeze=False, sharex=x is None, constrained_layout=True)
    for axis, ((_, unit), keys) in zip(axes[:, 0], panels.items()):
        for key in keys:
            axis.plot(abscissa(key, curves, x), curves[key][1], label=key.replace("$", r"\$"), marker="o" if len(curves[key][1]) < 3 else None, linewidth=1.4)
        axis.set_ylabel(unit or "1")
        axis.grid(True, color="#d9dce0", linewidth=0.6)
        axis.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    axes[-1, 0].set_xlabel(label.replace("$", r"\$"))
    figure.suptitle(title.replace("$", r"\$"), fontsize=10)
    figure.savefig(path + ".part", format="png")
    os.replace(path + ".part", path)


def quoted(text):
    """A string for gnuplot that it takes as it is."""
    return "'%s'" % text.replace("'", "''").replace("\n", " ")


def draw_terminal(panels, curves, x, label):
    program = shutil.which("gnuplot")
    if program is None:
        raise Problem("gnuplot is missing, which draws in the terminal; install gnuplot-nox (Debian), or leave --terminal out for a PNG")
    size = shutil.get_terminal_size((100, 30))
    for (_, unit), keys in panels.items():
        script = ["set terminal dumb noenhanced size %d,%d" % (max(60, size.columns - 1), max(15, min(30, size.lines - 2))), "set key outside below",
                  "set xlabel %s" % quoted(label), "set title %s" % quoted("[%s]" % (unit or "1"))]
        script.append("plot " + ", ".join("'-' with %s title %s" % ("points" if len(curves[key][1]) < 3 else "lines", quoted(key)) for key in keys))
        for key in keys:
            script += ["%.17g %.17g" % pair for pair in zip(abscissa(key, curves, x), curves[key][1]) if all(map(math.isfinite, pair))] + ["e"]
        done = subprocess.run([program], input="\n".join(script) + "\n", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8")
        if done.returncode != 0:
            raise Problem("gnuplot cannot draw this: %s" % done.stderr.strip().split("\n")[-1])
        print(done.stdout.strip("\f\n"), flush=True)


def main(argv):
    p = argparse.ArgumentParser(prog="jobs/plot", usage="jobs/plot RUN [KEY ...] [-x KEY] [-o FILE | --terminal | --list]", description=ABOUT,
                                formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    p.add_argument("folder", metavar="RUN", help="the run folder")
    p.add_argument("key", metavar="KEY", nargs="*", help="what is drawn")
    p.add_argument("-x", dest="x", metavar="KEY", help="draw over this column instead of time, such as histories.press.stroke")
    p.add_argument("-o", dest="file", metavar="FILE", help="write to FILE instead of RUN/plot.png")
    p.add_argument("--terminal", action="store_true", help="draw with characters in the terminal, by gnuplot")
    p.add_argument("--list", action="store_true", help="print all keys of the run")
    options = p.parse_args(argv)
    try:
        curves, units = read_run(options.folder), read_units(options.folder)
        if options.list:
            print("\n".join(curves))
            return 0
        if options.x is not None and options.x not in curves:
            chosen([options.x], {key: value for key, value in curves.items() if key == options.x} or curves)
            raise Problem("-x needs one key, not '%s'" % options.x)
        panels = panels_of(chosen(options.key, curves), units)
        unit = units["time"] if options.x is None else unit_of(options.x, units)
        label = "%s [%s]" % (options.x or "time", unit or "1")
        if options.terminal:
            draw_terminal(panels, curves, options.x, label)
        else:
            path = options.file or os.path.join(options.folder, "plot.png")
            draw_png(path, panels, curves, options.x, label, os.path.basename(os.path.abspath(options.folder)))
            print(path)
    except Problem as problem:
        print("plot: %s" % problem, file=sys.stderr)
        return 2
    except OSError as error:
        print("plot: cannot write %s: %s" % (error.filename, error.strerror), file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
