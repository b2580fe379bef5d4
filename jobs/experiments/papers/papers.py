"""What the experiments of the papers share: the scenes of jobs/, three sizes, a row for each figure beside the paper's.

Each experiment is a program of its own:

    jobs/experiments/papers/NAME [--quick | --full] [-o PICTURE.png] [--keep DIR]

--quick is what the test suite runs, some seconds; without an option it takes minutes; --full is the paper's size, up to a
night. Each prints one table, what was measured, our figure and the paper's, and ends with 0 where every check holds. Running a
scene and the verdict are those of ../physics/physics.py. `docs/results/experiments.md` has the figures.
"""
import importlib.util
import json
import os
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, os.path.join(HERE, "../physics"))

from physics import ALONE, Experiment, table  # noqa: E402


class Paper(Experiment):
    """One experiment of a paper: its size, its rows, its cost."""

    def __init__(self, text, options=None):
        super().__init__(text, {"--full": {"action": "store_true", "help": "the paper's size, up to a night"},
                                "-o": {"metavar": "PICTURE", "dest": "picture", "help": "draws the paper's figure as a PNG"},
                                **(options or {})})
        if self.quick and self.options.full:
            sys.exit("--quick and --full are two sizes: give one")
        self.title = text.strip().splitlines()[0]
        self.rows, self.results = [], []

    def size(self, quick, usual, full):
        return quick if self.quick else full if self.options.full else usual

    def run(self, scene, *arguments, **keys):
        result = super().run(scene, *arguments, name=f"{len(self.results) + 1:02}", limit=600 if self.quick else 86400, **keys)
        self.results.append(result)
        return result

    def row(self, what, ours, paper, good=None):
        """A figure beside the paper's; `good`: whether the check of this row holds, None where it has none."""
        ours = ours if isinstance(ours, str) else f"{ours:.3g}"
        word = "" if good is None else self.expect(bool(good), f"{what}: {ours}")
        self.rows.append([what, ours, paper, word])

    def audit(self, result, *arguments):
        """The audit of a run that was recorded, with --frames of its frames alone: whether nothing passed, and what it told, or
        its sentence where it told nothing."""
        done = subprocess.run([self.program, "audit", result.folder, "--json", *arguments], env={**os.environ, **ALONE}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            told = json.loads(done.stdout)
        except ValueError:
            return False, done.stdout.strip()
        seen = told["clean"] and told["frames"] > 1 if "--frames" in arguments else told["proven"] and told["pieces"]["proven"] > 0
        return done.returncode == 0 and seen, told

    def audited(self, result, what, *arguments):
        """A row of that."""
        good, told = self.audit(result, *arguments)
        if isinstance(told, str):
            self.row(f"{what}: audit", told, "no penetration", False)
        elif "--frames" in arguments:
            self.row(f"{what}: audit of stored frames, clean", f"{told['frames'] - told['bad_frames']} of {told['frames']}", "no penetration", good)
        else:
            self.row(f"{what}: audit of all times, pieces proven", f"{told['proven'] and told['pieces']['proven']:,}", "no penetration", good)

    def cost(self, hours=None, name=""):
        """Rows of what all runs took; `hours` of the paper, on one core of 2006."""
        wall = sum(r.info["wall_s"] for r in self.results)
        ticks = sum(sum(r.info["counters"]["committed"].values()) for r in self.results)
        times = f"{hours} h at its size" + (f", {3600 * hours / wall:,.0f} times as long" if self.options.full else "") if hours else "not told"
        self.row(f"wall time of {len(self.results)} runs on one rank, s{name}", f"{wall:.3g}", times)
        self.row("ticks, millions", f"{ticks / 1e6:.3g}", "not told")
        self.memory()

    def memory(self):
        self.row("memory, MB", f"{max(r.info['peak_memory_bytes'] for r in self.results) / 1e6:.3g}", "not told")

    def steps(self, result, what, told="not told"):
        """Rows of what the steps of a run with impact took; `told`: the paper's reflections, seconds of them and rows."""
        s = result.steps
        self.row(f"{what}: {len(s['time'])} steps: reflections, their seconds, rows; mean (most)",
                 ", ".join(f"{s[key].mean():.3g} ({s[key].max():.3g})" for key in ("reflections", "seconds_operator", "rows")), told)

    def stepped(self):
        """Rows of what all runs in steps took."""
        self.row(f"wall time of {len(self.results)} runs on one rank, s", f"{sum(r.info['wall_s'] for r in self.results):.3g}", "not told")
        self.row("steps", str(sum(len(r.steps["time"]) for r in self.results)), "not told")
        self.memory()

    def finish(self):
        table(self.title, ["what", "here", "the paper", ""], self.rows)
        super().finish()


def shipped(name):
    """A scene of jobs/ or, with its path below it, of jobs/experiments."""
    with open(os.path.join(ROOT, "jobs", name + ".json")) as file:
        return json.load(file)


def module(path):
    """A script of a neighbouring folder as a module: its scenes are reused, not copied."""
    path = os.path.join(HERE, "..", path)
    if os.path.dirname(path) not in sys.path:
        sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def body(scene, name):
    return next(b for b in scene["bodies"] if b["name"] == name)


def drift(energy):
    """Mean total of the last tenth less that of the first tenth, over the start's."""
    total = energy["total"]
    tenth = max(1, len(total) // 10)
    return (np.mean(total[-tenth:]) - np.mean(total[:tenth])) / total[0]


def swing(energy):
    """Largest distance of the total from its start, over the start's."""
    return np.max(np.abs(energy["total"] / energy["total"][0] - 1))


def curves(path, named, xlabel, ylabel, **axes):
    """Draws named curves {name: (x, y)} as a PNG."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, axis = plt.subplots(figsize=(7, 3.6), dpi=110)
    for name, (x, y) in named.items():
        axis.plot(x, y, label=name, linewidth=1.1)
    axis.set(xlabel=xlabel, ylabel=ylabel, **axes)
    axis.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


def rendered(path, result):
    """Draws the last frame of a run."""
    home = os.path.join(result.folder, "pictures")
    subprocess.run([os.path.join(ROOT, "jobs/render"), result.folder, "--frames", "last", "--sheet", "0", "-o", home], check=True,
                   stdout=subprocess.DEVNULL)
    frames = sorted(f for f in os.listdir(home) if f.startswith("frame") and f.endswith(".png"))
    os.replace(os.path.join(home, frames[-1]), path)
