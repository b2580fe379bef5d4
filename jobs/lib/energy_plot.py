"""The energies of a run over time: energy.csv as one picture."""
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator

from run_units import read_units
from rundir import read_energy

INK, PALE = "#3b4148", "#d9dce0"
LINES = [  # column, name, colour, style, width
    ("kinetic", "kinetic", "#cf5b3a", "-", 1.8),
    ("gravity", "gravity (above its lowest)", "#4b7cc0", "-", 1.8),
    ("stretch", "stretch", "#2d7f89", "-", 1.8),
    ("bend", "bend", "#7da24c", "-", 1.8),
    ("contact", "contact", "#c2517f", "-", 1.8),
    ("dissipated", "dissipated so far", "#8d6b50", "--", 1.8),
    ("work", "work put in so far", "#6b5b9e", "--", 1.8),
    ("total", "total", "#1f2328", "-", 2.4),
]


def scaled(largest, unit):
    """A factor and a unit with prefix so that `largest` reads as 1 to 1000."""
    if not np.isfinite(largest) or largest <= 0 or unit not in ("s", "m", "J"):
        return 1.0, unit
    power = int(np.clip(np.floor(np.log10(largest) / 3), -5, 3))
    prefix = {-5: "f", -4: "p", -3: "n", -2: "µ", -1: "m", 0: "", 1: "k", 2: "M", 3: "G"}[power]
    return 10.0 ** (-3 * power), prefix + unit


def dress(axes):
    axes.grid(True, color=PALE, linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color("#9aa1a8")
    axes.tick_params(colors=INK, labelsize=9)
    axes.yaxis.label.set_color(INK)
    axes.xaxis.label.set_color(INK)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, min_n_ticks=3))


def draw_energy(folder, path):
    """Writes the plot of folder/energy.csv to path (PNG)."""
    data, units = read_energy(folder), read_units(folder)
    t = data["time"]
    factor_t, unit_t = scaled(float(np.nanmax(t)) if len(t) else 1, units["time"]) if np.nanmax(t) < 1 else (1.0, units["time"])
    lowest = np.nanmin(data["gravity"])
    shown = {name: data[name] - (lowest if name in ("gravity", "total") else 0) for name, *_ in LINES}
    largest = max(np.nanmax(np.abs(v)) for v in shown.values())
    factor, unit = scaled(largest, units["energy"])

    figure, (top, middle, bottom) = plt.subplots(
        3, 1, figsize=(9, 7.2), dpi=130, sharex=True, gridspec_kw={"height_ratios": [5, 1.3, 1.3], "hspace": 0.16})
    figure.patch.set_facecolor("white")
    mark = "o" if len(t) < 3 else None
    for name, label, colour, style, width in LINES:
        if name != "total" and np.nanmax(np.abs(shown[name])) == 0:
            continue  # what the scene does not have
        top.plot(t * factor_t, shown[name] * factor, style, color=colour, linewidth=width, label=label, marker=mark, zorder=3 if name == "total" else 2)
    top.set_ylabel(f"energy [{unit}]")
    top.legend(loc="upper left", bbox_to_anchor=(1.01, 1), fontsize=9, frameon=False, labelcolor=INK, handlelength=1.8)

    defect = data["defect"]
    factor_d, unit_d = scaled(np.nanmax(np.abs(defect)), units["energy"])
    middle.axhline(0, color="#9aa1a8", linewidth=0.8)
    middle.plot(t * factor_t, defect * factor_d, color=INK, linewidth=1.4, marker=mark)
    middle.set_ylabel(f"defect [{unit_d}]")
    share = np.nanmax(np.abs(defect)) / largest if largest > 0 else 0
    middle.text(1.02, 0.5, f"what the book\nleaves over:\nat most {share:.1e}\nof the largest\nenergy", transform=middle.transAxes, fontsize=8.5, color=INK, va="center")

    bottom.fill_between(t * factor_t, data["contacts"], color="#dfa93a", alpha=0.35, linewidth=0)
    bottom.plot(t * factor_t, data["contacts"], color="#b07d14", linewidth=1.4, marker=mark)
    bottom.set_ylabel("contacts")
    bottom.set_ylim(bottom=0)
    bottom.set_xlabel(f"time [{unit_t}]")
    deepest = int(np.nanmax(data["deepest_layer"]))
    closest = data["min_distance"][np.isfinite(data["min_distance"])]
    note = f"deepest layer: {deepest}"
    if len(closest):
        factor_m, unit_m = scaled(float(closest.min()), units["length"])
        note += f"\nleast distance:\n{closest.min() * factor_m:.3g} {unit_m}"
    bottom.text(1.02, 0.5, note, transform=bottom.transAxes, fontsize=8.5, color=INK, va="center")

    for axes in (top, middle, bottom):
        dress(axes)
        axes.margins(x=0.01)
    figure.align_ylabels()
    figure.savefig(path, bbox_inches="tight", pad_inches=0.2)
    plt.close(figure)
