"""Pictures, movies and energy curves of runs.

Pictures are drawn by the same software rasteriser as those of jobs/render (in _picture/), which needs numpy alone.
"""
import functools
import importlib.util
import os
import shutil
import subprocess
import sys

import numpy as np

from .errors import InputError, RunError

LINES = [("kinetic", "#cf5b3a"), ("gravity", "#4b7cc0"), ("stretch", "#2d7f89"), ("bend", "#7da24c"), ("contact", "#c2517f"),
         ("dissipated", "#8d6b50"), ("work", "#6b5b9e"), ("total", "#1f2328")]


@functools.lru_cache(maxsize=None)
def _drawer():
    """The class Picture.  Its files import each other by plain names, which are hidden from other modules."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_picture")
    names, kept, made = ("raster", "shading", "picture"), {}, {}
    for name in names:
        kept[name] = sys.modules.get(name)
    try:
        for name in names:
            spec = importlib.util.spec_from_file_location(name, os.path.join(folder, name + ".py"))
            made[name] = sys.modules[name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(made[name])
    finally:
        for name in names:
            if kept[name] is not None:
                sys.modules[name] = kept[name]
            else:
                sys.modules.pop(name, None)
    return made["picture"].Picture


class _Scene:
    """A run in the form of the rasteriser."""

    def __init__(self, run):
        mesh, scene = run.mesh, {}
        if os.path.exists(os.path.join(run.folder, "scene.json")):
            scene = run.scene
        self.run, self.triangles, self.segments, self.points = run, mesh.triangles, mesh.segments, mesh.points
        self.body, self.radius, self.body_names = mesh.body.astype(np.int64), mesh.radius, mesh.names
        self.gravity = np.asarray(scene.get("gravity", [0, 0, 0]), float)
        fixed = {body.get("name") for body in scene.get("bodies", []) if body.get("fixed")}
        self.fixed = np.array([name in fixed for name in mesh.names])

    def frame(self, k):
        return self.run.time(k), self.run.positions(k)


def picture(run, frames, placing, width, height, view):
    """Frames as (height, width, 3) uint8, with one camera that shows the frames `placing`."""
    unknown = set(view) - {"azimuth", "elevation", "zoom", "up"}
    if unknown:
        raise InputError(f"a picture has no option {sorted(unknown)[0]!r}; it has azimuth, elevation, zoom and up")
    for name, value in (("width", width), ("height", height)):
        if not isinstance(value, (int, np.integer)) or not 16 <= value <= 8192:
            raise InputError(f"{name} is {value!r}; it must be a whole number from 16 to 8192")
    drawer = _drawer()(_Scene(run), placing, **view)
    return [drawer.draw(k, int(width), int(height)) for k in frames]


def show(run, k, path, width, height, viewer, view):
    if viewer not in (None, "pyvista", "picture"):
        raise InputError(f"viewer is {viewer!r}; it must be 'pyvista' or 'picture'")
    if viewer == "pyvista" or viewer is None and path is None and importlib.util.find_spec("pyvista") is not None:
        return _show_pyvista(run, k, path)
    kind = None if path is None else _format(os.fspath(path))  # before the work
    image = picture(run, [k], [k], width, height, view)[0]
    from PIL import Image
    made = Image.fromarray(image)
    if path is not None:
        return _save(lambda temporary: made.save(temporary, format=kind), os.fspath(path))
    if "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None:
        return made
    import matplotlib.pyplot as plt
    figure = plt.figure(figsize=(width / 100, height / 100))
    axes = figure.add_axes([0, 0, 1, 1])
    axes.imshow(image)
    axes.set_axis_off()
    plt.show()
    return None


def _show_pyvista(run, k, path):
    try:
        import pyvista
    except ImportError:
        raise InputError("viewer='pyvista' needs PyVista (pip install pyvista)") from None
    mesh, x = run.mesh, run.positions(k)
    plotter = pyvista.Plotter(off_screen=path is not None)
    colours = ["#cf5b3a", "#2d7f89", "#dfa93a", "#6b5b9e", "#7da24c", "#c2517f"]
    for number, name in enumerate(mesh.names):
        body = run.body(name)
        mine = np.asarray(x[body.vertices])
        colour = colours[number % len(colours)]
        if len(body.triangles):
            faces = np.column_stack([np.full(len(body.triangles), 3), body.triangles]).ravel()
            plotter.add_mesh(pyvista.PolyData(mine, faces), color=colour, smooth_shading=True, label=name)
        if len(body.segments):
            lines = np.column_stack([np.full(len(body.segments), 2), body.segments]).ravel()
            plotter.add_mesh(pyvista.PolyData(mine, lines=lines), color=colour, line_width=3, label=name)
        if not len(body.triangles) and not len(body.segments):
            plotter.add_points(mine, color=colour, render_points_as_spheres=True, point_size=10, label=name)
    return plotter.show(screenshot=None if path is None else os.fspath(path))


def _format(path):
    """Returns the picture format of a path's extension."""
    from PIL import Image
    Image.init()
    kind = Image.EXTENSION.get(os.path.splitext(path)[1].lower())
    if kind is None:
        raise InputError(f"{path}: pictures are written as .png, .jpg, .webp, .gif or .tif; give such a name")
    if not os.path.isdir(os.path.dirname(os.path.abspath(path))):
        raise InputError(f"{path} cannot be written: its folder is not there")
    return kind


def _save(write, path):
    """Calls write(temporary path), then renames, so that no incomplete file has the final name."""
    try:
        write(path + ".part")
        os.replace(path + ".part", path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error}") from None
    return path


def movie(run, path, frames, width, height, fps, view):
    frames = list(range(len(run))) if frames is None else [int(k) for k in frames]
    if not frames:
        raise InputError("there are no frames to show")
    if not fps > 0:
        raise InputError(f"fps is {fps}; it must be more than 0")
    # The camera holds what the frames show; a sample of them is enough to place it.
    placing = sorted({frames[round(k)] for k in np.linspace(0, len(frames) - 1, 24)})
    images = (picture(run, [k], placing, width, height, view)[0] for k in frames)
    if os.path.splitext(path)[1].lower() in (".webp", ".gif"):
        from PIL import Image
        kind = _format(path)
        made = [Image.fromarray(image) for image in images]
        return _save(lambda temporary: made[0].save(temporary, format=kind, save_all=True, append_images=made[1:],
                                                    duration=max(1, round(1000 / fps)), loop=0), path)
    if shutil.which("ffmpeg") is None:
        raise InputError(f"{path}: ffmpeg writes such movies and is not installed; write a .webp or .gif, which need nothing")
    even = [width // 2 * 2, height // 2 * 2]
    images = (picture(run, [k], placing, *even, view)[0] for k in frames)
    process = subprocess.Popen(["ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", "%dx%d" % tuple(even), "-r", str(fps),
                                "-i", "-", "-pix_fmt", "yuv420p", "file:" + path], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        for image in images:
            process.stdin.write(image.tobytes())
    except BrokenPipeError:
        pass
    reported = process.communicate()[1]
    if process.returncode != 0:
        raise RunError(f"ffmpeg could not write {path}: {reported.decode(errors='replace').strip()}", process.returncode)
    return path


def energy(run, path, axes):
    """The energies over time."""
    rows = run.energy
    if len(rows) == 0:
        raise InputError(f"{run.folder} has no energies yet")
    from matplotlib.figure import Figure
    figure = None
    if axes is None and path is None:
        import matplotlib.pyplot as plt
        figure, axes = plt.subplots(figsize=(8, 4.5))
    elif axes is None:
        figure = Figure(figsize=(8, 4.5))
        axes = figure.subplots()
    lowest = np.nanmin(rows["gravity"])
    for name, colour in LINES:
        value = rows[name] - (lowest if name in ("gravity", "total") else 0)
        if name == "total" or np.nanmax(np.abs(value)) > 0:  # not what the scene does not have
            axes.plot(rows["time"], value, "--" if name in ("dissipated", "work") else "-", color=colour, linewidth=2.2 if name == "total" else 1.6,
                      label={"gravity": "gravity (above its lowest)"}.get(name, name), marker="o" if len(rows) < 3 else None)
    axes.set_xlabel(f"time [{run.units['time']}]")
    axes.set_ylabel(f"energy [{run.units['energy']}]")
    axes.grid(True, color="#d9dce0", linewidth=0.6)
    axes.legend(frameon=False, fontsize=9)
    if path is not None:
        axes.figure.savefig(os.fspath(path), dpi=130, bbox_inches="tight")
    return axes
