"""jobs/report: a run as one page of HTML that needs no network and no JavaScript. See --help."""
import argparse
import base64
import html
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import render
from energy_plot import INK, draw_energy, dress
from problem import Problem, standard_program
from run_units import read_units
from rundir import Run, read_energy

ABOUT = """\
Writes DIR/report.html: the run's state, scene and parameters, a picture and a short movie, energies and the book,
momentum, contacts and layers, cost, restarts, and what the audit says of its record. The page is one file, needs no
network and no JavaScript. Of a run that has not ended, has failed or is damaged it shows what there is, and says so."""
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #23282d; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; border-bottom: 1px solid #d9dce0; }
table { border-collapse: collapse; margin: .6rem 0; } td, th { padding: .15rem .9rem .15rem 0; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
td.number { font-variant-numeric: tabular-nums; } img, svg { max-width: 100%; height: auto; }
.state { display: inline-block; padding: .1rem .6rem; border-radius: .6rem; background: #e3e7ea; }
.finished, .proved { background: #cfe8cf; } .failed, .gone, .refuted { background: #f3cfca; } .note { background: #fbf1d0; padding: .4rem .8rem; }
"""
MOST_FRAMES, MOST_MOVIE_BYTES = 24, 4 << 20


def text(value):
    """Any value as text of the page."""
    if value is None:
        return "not known"
    if isinstance(value, float):
        return "%.6g" % value
    return html.escape(value if isinstance(value, str) else json.dumps(value))


def rows(pairs):
    return "<table>" + "".join("<tr><th>%s</th><td>%s</td></tr>" % (text(a), text(b)) for a, b in pairs) + "</table>"


def note(sentence):
    return '<p class="note">%s</p>' % text(sentence)


def embedded(data, kind, alternative):
    return '<p><img alt="%s" src="data:image/%s;base64,%s"></p>' % (text(alternative), kind, base64.b64encode(data).decode("ascii"))


def read_json(folder, name):
    try:
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            found = json.load(file)
        return found if isinstance(found, dict) else {}
    except (OSError, ValueError):
        return {}


MOST_KNOTS = 4  # of a path; of longer ones the first and the last are shown


def moved(scene, name):
    """How a body moves: of its motions, which of its vertices."""
    whole = [m.get("vertices", "all") == "all" for m in scene.get("motions", []) if m.get("body") == name]
    return "free" if not whole else "scripted" if all(whole) and not any(m.get("release") for m in scene["motions"] if m.get("body") == name) else "partly scripted"


def is_path(value):
    """Knots [[time, value], ...]."""
    return isinstance(value, list) and len(value) > MOST_KNOTS and all(isinstance(knot, list) and len(knot) == 2 and isinstance(knot[0], (int, float)) for knot in value)


def short(value):
    """A number, or a list of numbers, with six digits."""
    return "[%s]" % ", ".join(map(short, value)) if isinstance(value, list) else "%.6g" % value if isinstance(value, (int, float)) else json.dumps(value)


def flat(value, key):
    """(dotted key, value) of everything in a JSON value; lists of numbers and of words stay whole, long paths become one line."""
    if isinstance(value, dict) and value:
        for name, part in value.items():
            yield from flat(part, "%s.%s" % (key, name))
    elif is_path(value):
        yield key, "%d knots from %s s (%s) to %s s (%s)" % (len(value), short(value[0][0]), short(value[0][1]), short(value[-1][0]), short(value[-1][1]))
    elif isinstance(value, list) and any(isinstance(part, (dict, list)) for part in value):
        for k, part in enumerate(value):
            yield from flat(part, "%s[%d]" % (key, k))
    elif isinstance(value, list) and len(value) > 12:
        yield key, "%d values, %s to %s" % (len(value), json.dumps(value[0]), json.dumps(value[-1]))
    else:
        yield key, value


class Page:
    """The sections of a report; each can fail alone."""

    def __init__(self, options):
        self.folder, self.options = options.folder, options
        self.status, self.run, self.scene = (read_json(self.folder, n) for n in ("status.json", "run.json", "scene.json"))
        self.now = self.ask()

    def ask(self):
        """What tactus status tells, or nothing."""
        try:
            done = subprocess.run([self.options.program, "status", "--json", self.folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
            found = json.loads(done.stdout.decode("utf-8", "replace"))
            return found if isinstance(found, dict) else {}
        except (OSError, ValueError):
            return {}

    def html(self):
        name = self.status.get("name") or self.scene.get("name") or os.path.basename(os.path.abspath(self.folder))
        parts = ["<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>%s</title><style>%s</style></head><body><h1>%s</h1>" % (text(name), STYLE, text(name))]
        for title, section in (("State", self.state), ("Picture", self.picture), ("Scene", self.parameters), ("Energy and contacts", self.energy),
                               ("Momentum, layers, distances", self.momentum), ("Cost", self.cost), ("Ranks", self.ranks), ("Restarts and origin", self.restarts), ("Audit", self.audit)):
            try:
                body = section()
            except Exception as error:  # a damaged file ends its own section only
                body = note("This cannot be shown: %s" % (str(error) or type(error).__name__))
            parts.append("<h2>%s</h2>%s" % (title, body))
        parts.append("<p>Written by jobs/report on %s.</p></body></html>\n" % time.strftime("%Y-%m-%d %H:%M"))
        return "\n".join(parts)

    def state(self):
        s = self.now or self.status
        word = s.get("condition") or s.get("state") or "unknown"
        body = '<p><span class="state %s">%s</span> %s</p>' % (text(word), text(word), text(s.get("why") or s.get("error") or ""))
        if word != "finished":
            body += note("The run has not come to its end: what follows is of what it wrote so far.")
        if not self.status:
            return body + note("There is no status.json that can be read: the run has not begun, or the file is damaged.")
        return body + rows([("simulated time, s", self.status.get("time")), ("of, s", self.status.get("end")), ("share", self.status.get("share")),
                            ("wall time, s", self.status.get("wall_s")), ("version", self.status.get("version")), ("scene, SHA-256", self.status.get("scene_sha256"))])

    def picture(self):
        run = Run(self.folder)
        view = {"azimuth": None, "elevation": None, "zoom": 1.0, "up": None}
        chosen = sorted({round(k) for k in np.linspace(0, run.frames - 1, MOST_FRAMES)})
        size = self.options.size
        small = (max(16, size[0] * 2 // 5), max(16, size[1] * 2 // 5))
        images = render.draw_all(self.folder, chosen[:: max(1, len(chosen) // 12)] + [chosen[-1]], view,
                                 [(chosen[-1], *size)] + [(k, *small) for k in chosen], min(2, len(os.sched_getaffinity(0))))
        out = io.BytesIO()
        Image.fromarray(next(images)).save(out, format="PNG", optimize=True)
        body = embedded(out.getvalue(), "png", "the last frame") + "<p>Frame %d of %d, t = %s s.</p>" % (run.frames, run.frames, text(float(run.frame(run.frames - 1)[0])))
        drawn = [Image.fromarray(image) for image in images]
        while len(drawn) > 1:
            out = io.BytesIO()
            drawn[0].save(out, format="WEBP", save_all=True, append_images=drawn[1:], duration=80, loop=0, quality=70, method=2)
            if len(out.getvalue()) <= MOST_MOVIE_BYTES:
                return body + embedded(out.getvalue(), "webp", "the motion: %d frames" % len(drawn))
            drawn = drawn[::2]
        return body

    def parameters(self):
        if not self.scene:
            return note("There is no scene.json that can be read.")
        bodies = "".join("<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>" % (text(b.get("name")), text(b.get("mesh", {}).get("kind")), text(b.get("material") or "-"),
                                                                               "fixed" if b.get("fixed") else moved(self.scene, b.get("name"))) for b in self.scene.get("bodies", []))
        implicit = (self.scene.get("integrator") or {}).get("kind") in ("implicit", "impact")
        sections = ["units", "time", "gravity", "integrator", "contact", "materials", "motions", "loads"] + ([] if implicit else ["discovery", "clocks"])
        keys = [pair for section in sections if self.scene.get(section) for pair in flat(self.scene[section], section)]
        return "<table><tr><th>body</th><th>mesh</th><th>material</th><th>moves</th></tr>%s</table>%s" % (
            bodies, rows(keys).replace("<table>", "<table><tr><th>key</th><th>value</th></tr>", 1))

    def energy(self):
        home = tempfile.mkdtemp(prefix="tactus-report-")
        try:
            path = os.path.join(home, "energy.png")
            draw_energy(self.folder, path)
            with open(path, "rb") as file:
                picture = file.read()
        finally:
            shutil.rmtree(home)
        data, units = read_energy(self.folder), read_units(self.folder)
        last = [(name, float(data[name][-1])) for name in ("time", "kinetic", "gravity", "stretch", "bend", "contact", "total", "dissipated", "work", "defect",
                                                            "dissipated_friction", "dissipated_restitution", "dissipated_damping", "dissipated_plasticity") if name in data]
        return embedded(picture, "png", "energies over time") + "<p>In the last frame (%s; time in %s):</p>" % (text(units["energy"]), text(units["time"])) + rows(last + [("book residual", self.run.get("book_residual"))])

    def momentum(self):
        data, units = read_energy(self.folder), read_units(self.folder)
        figure, axes = plt.subplots(4, 1, figsize=(9, 8), sharex=True)
        mark = "o" if len(data["time"]) < 3 else None
        for part in "xyz":
            axes[0].plot(data["time"], data["momentum_" + part], label=part, marker=mark)
            axes[1].plot(data["time"], data["angular_momentum_" + part], label=part, marker=mark)
        axes[2].step(data["time"], data["deepest_layer"], color=INK, where="post", marker=mark)
        axes[3].plot(data["time"], data["min_distance"], color=INK, marker=mark)
        for axis, label in zip(axes, ("momentum [{force} {time}]", "angular m. [{force} {length} {time}]", "deepest layer", "least distance [{length}]")):
            axis.set_ylabel(label.format(**units))
            dress(axis)
        axes[0].legend(frameon=False, ncol=3, fontsize=9)
        axes[3].set_xlabel("time [%s]" % units["time"])
        out = io.StringIO()
        figure.savefig(out, format="svg", bbox_inches="tight")
        plt.close(figure)
        return "<p>" + out.getvalue()[out.getvalue().index("<svg"):] + "</p>"

    def cost(self):
        counters = self.run.get("counters") or self.status.get("counters") or {}
        if not counters:
            return note("There are no counters: neither run.json nor status.json can be read.")
        seconds = counters.get("seconds") or {}
        body = rows([("ranks", self.run.get("ranks")), ("wall time of all sittings, s", self.run.get("wall_total_s")), ("most memory of a process, bytes", self.run.get("peak_memory_bytes"))]
                    + [(name, value) for name, value in counters.items() if not isinstance(value, dict)])
        body += "<p>Force ticks of the trajectory:</p>" + rows(sorted((counters.get("committed") or {}).items()))
        return body + "<p>Seconds of wall time, means over the ranks:</p>" + rows(sorted(seconds.items()))

    def ranks(self):
        """Which share of the vertices each rank owned, frame by frame."""
        count = self.run.get("ranks") or self.status.get("ranks")
        if count == 1:
            return note("One rank computed the run.")
        run = Run(self.folder)
        frames = [(float(group["time"][()]), group["rank"][()]) for group in (run.file["frames"][name] for name in run.names) if "rank" in group]
        if not frames:
            return note('The frames do not tell which rank owned which vertex: ask for it in the scene, "output": {"fields": ["rank"]}, or by --set.')
        most = 1 + max(int(owner.max()) for _, owner in frames)
        shares = np.array([np.bincount(owner, minlength=most) / len(owner) for _, owner in frames])
        times = [t for t, _ in frames]
        figure, axis = plt.subplots(figsize=(9, 3))
        if len(times) > 1:
            axis.stackplot(times, 100 * shares.T, labels=["rank %d" % k for k in range(most)] if most <= 16 else None)
        else:
            axis.bar(range(most), 100 * shares[0])
        axis.set_ylabel("vertices [%]")
        axis.set_xlabel("time [%s]" % read_units(self.folder)["time"] if len(times) > 1 else "rank")
        dress(axis)
        if most <= 16 and len(times) > 1:
            axis.legend(frameon=False, ncol=8, fontsize=8)
        out = io.StringIO()
        figure.savefig(out, format="svg", bbox_inches="tight")
        plt.close(figure)
        body = "<p>" + out.getvalue()[out.getvalue().index("<svg"):] + "</p><p>Share of the vertices in the last frame, in %:</p>"
        return body + rows([("rank %d" % k, round(100 * float(share), 2)) for k, share in enumerate(shares[-1][:64])])

    def restarts(self):
        saved = sorted(n for n in os.listdir(self.folder) if n.startswith("checkpoint-") and n.endswith(".h5"))
        body = rows([("restarts", self.status.get("restarts")), ("checkpoints in the folder", ", ".join(saved) or "none"), ("command line", (self.run.get("options") or {}).get("arguments"))])
        branch = self.run.get("branch") or read_json(self.folder, "branch.json")
        if branch:
            body += "<p>Branched from another run:</p>" + rows([("checkpoint", branch.get("parent")), ("time, s", branch.get("time")), ("changes", branch.get("set"))])
        return body

    def audit(self):
        if not os.path.exists(os.path.join(self.folder, "record.h5")):
            return note("The run was not recorded (--record), so there is nothing to audit.")
        if self.options.no_audit:
            return note("The audit was left out (--no-audit).")
        done = subprocess.run([self.options.program, "audit", self.folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        verdict = {0: ("proved", "nothing passed through anything"), 1: ("refuted", "a crossing, or no proof")}.get(done.returncode, ("failed", "the audit could not be done"))
        return '<p><span class="state %s">%s</span></p><pre>%s</pre>' % (verdict[0], verdict[1], text(done.stdout.decode("utf-8", "replace")))


def main(argv):
    p = argparse.ArgumentParser(prog="jobs/report", description=ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    p.add_argument("folder", metavar="DIR", help="the run folder")
    p.add_argument("-o", dest="file", metavar="FILE", help="write to FILE instead of DIR/report.html")
    p.add_argument("--size", type=render.size, default=(800, 600), metavar="WxH", help="pixels of the picture (default 800x600); the movie has two fifths of that")
    p.add_argument("--no-audit", action="store_true", help="leave the audit of a recorded run out; it may take long")
    p.add_argument("--program", metavar="PATH", default=standard_program() or "tactus", help="the program tactus (default: build/tactus, or from the PATH)")
    options = p.parse_args(argv)
    try:
        if not os.path.isdir(options.folder) or not any(os.path.exists(os.path.join(options.folder, n)) for n in ("status.json", "frames.h5", "job.json")):
            raise Problem("'%s' is no run folder: it has none of status.json, frames.h5 and job.json" % options.folder)
        path = options.file or os.path.join(options.folder, "report.html")
        page = Page(options).html()
        with open(path + ".part", "w", encoding="utf-8", errors="replace") as file:
            file.write(page)
        os.replace(path + ".part", path)
    except Problem as problem:
        print("report: %s" % problem, file=sys.stderr)
        return 2
    except OSError as error:
        print("report: cannot write %s: %s" % (error.filename, error.strerror), file=sys.stderr)
        return 3
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
