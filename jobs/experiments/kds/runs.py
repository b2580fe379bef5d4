"""What the experiments about kinetic data structures share: the scenes, running them, and tables in Markdown.

A machine may be busy with other work, so what counts is processor time, runs that are compared take turns, and what is
told of several is the median. The program is $TACTUS, or build/tactus of this source tree.
"""
import json
import os
import resource
import statistics
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PROGRAM = os.path.abspath(os.environ.get("TACTUS", os.path.join(SOURCE, "build/tactus")))
ALONE = {"OMPI_MCA_ess_singleton_isolated": "1", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self", "OMPI_MCA_mtl": "^ofi,psm2",
         "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
KNOT = [word for side in ("left", "right") for word in ("--set", f"bodies.{side}.mesh.cells=[100,3]")]
for _i, _way in enumerate((-0.06, 0.06)):  # twice as fast as the scene has it: it tightens in half the time
    KNOT += ["--set", f"motions.{_i}.path=[[0,[0,0,0]],[0.3,[{_way},0,0]]]"]
# name: what it shows, scene, more arguments, end, end of the quick version
SCENES = {
    "knot": ("reef knot, tightened into contact", "jobs/reef-knot.json", KNOT, 0.3, 0.005),
    "compactor": ("compactor, pressing", "jobs/experiments/kds/compactor.json", [], 0.4, 0.01),
    "sheets": ("two sheets, draped on spikes", "jobs/two-sheets.json", [], 0.2, 0.002),
    "balls": ("900 balls", "jobs/box-900.json", [], 0.3, 0.02),
}
KDS = ["--discover", "kds"]


def run(scene, folder, arguments):
    """Seconds of processor time of one run; what it wrote lies in the folder."""
    command = [PROGRAM, "run", os.path.join(SOURCE, scene), "-o", folder, "--overwrite", "--quiet", *arguments]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env={**os.environ, **ALONE}, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def counters(folder):
    with open(os.path.join(folder, "run.json")) as file:
        return json.load(file)["counters"]


def same(one, other):
    """What is different between two runs; empty where no bit is."""
    done = subprocess.run([PROGRAM, "diff", "--all-frames", one, other], env={**os.environ, **ALONE}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return "" if done.returncode == 0 else done.stdout


class Runs:
    """One scene, run in several ways that take turns."""

    def __init__(self, scene, arguments, ways, repeats, home):
        """ways: name -> arguments; the first is what the others are held against."""
        self.seconds = {way: [] for way in ways}
        self.folder = {way: os.path.join(home, f"{i}.run") for i, way in enumerate(ways)}
        self.shares = {way: [] for way in ways}
        self.first = next(iter(ways))
        for _ in range(repeats):
            for way, more in ways.items():
                self.seconds[way].append(run(scene, self.folder[way], arguments + more))
                self.shares[way].append(breakdown(self.counters(way)))
        self.differs = []
        for way in ways:
            what = same(self.folder[self.first], self.folder[way])
            if what:
                self.differs.append(way)
                print(f"{scene}: {way} DIFFERS from {self.first}:\n{what}")

    def counters(self, way):
        return counters(self.folder[way])

    def median(self, way):
        return statistics.median(self.seconds[way])

    def ratio(self, way, to=None):
        """Of medians; and the least and greatest of the ratios of runs that followed one another."""
        to = to or self.first
        each = [a / b for a, b in zip(self.seconds[way], self.seconds[to])]
        return self.median(way) / self.median(to), min(each), max(each)

    def share(self, way, part):
        return statistics.median(s[part] for s in self.shares[way])


# Parts of the time: of the papers' reef knot (ACM 2009, section 8), per cent; None: not told apart there.
PAPER = {
    "elastic forces, gravity": 4.8, "penalty layers": .09, "slabs failed": .9, "slabs rescheduled": 1.0, "lists failed": 5.2,
    "lists rescheduled": 23.0, "plans checked": None, "the rest": None,
}


def breakdown(c):
    """ACM's breakdown, in per cent of forces and discovery. The queues are part of slabs and lists here; the rest: the first
    certificates, beginning and ending windows, finding the next instant, new plans."""
    s = c["seconds"]
    whole = s["forces"] + s["contact"] + s["discovery"]
    parts = [s["forces"], s["contact"], s["slabs"], s["slabs_rescheduled"], s["lists"], s["lists_rescheduled"], s["plans"]]
    parts.append(whole - sum(parts))
    return {name: 100 * value / whole if whole else 0 for name, value in zip(PAPER, parts)}


def table(title, head, rows):
    """A table in Markdown, on standard output."""
    print(f"\n{title}\n\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    sys.stdout.flush()


def figure(value):
    """A number with three digits, as one writes it."""
    if value == 0:
        return "0"
    return f"{value:.0f}" if 100 <= abs(value) < 10000 else f"{value:.3g}".replace("e+0", "e").replace("e-0", "e-")
