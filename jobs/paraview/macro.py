"""A macro for ParaView: shows a run of Tactus, coloured by what it has most to tell about.

In ParaView: Macros, Import new macro..., this file.  Then open a run's frames.xdmf, and click the macro's name: each click takes the next of
the colours (speed, contact force, and what the run has of strain, stress, pressure, ...).  It needs no other file: ParaView copies it.
view.py and animate.py use the functions of this file.
"""
import os

import paraview.simple as pv

# From the grey of what is not touched to dark red: palettes that begin with black hide the shape of what has no force.
HEAT = [0, .80, .81, .82, .15, .98, .86, .55, .4, .96, .60, .26, .7, .82, .26, .18, 1, .45, .04, .15]

# name: (association, array, component, palette, symmetric about zero, title)
COLOURS = {
    "speed": ("POINTS", "velocity", "Magnitude", "Viridis (matplotlib)", False, "speed [m/s]"),
    "contact": ("POINTS", "contact_force", "Magnitude", None, False, "contact force [N]"),
    "pressure": ("POINTS", "contact_pressure", None, None, False, "contact pressure [Pa]"),
    "strain": ("CELLS", "strain_max", None, "Cool to Warm", True, "largest principal strain"),
    "compression": ("CELLS", "strain_min", None, "Cool to Warm", True, "least principal strain"),
    "stress": ("CELLS", "stress_max", None, "Cool to Warm", True, "largest principal stress"),
    "mises": ("CELLS", "stress_von_mises", None, "Viridis (matplotlib)", False, "von Mises stress"),
    "bending": ("CELLS", "bending_angle", None, "Cool to Warm", True, "bending angle [rad]"),
    "plastic": ("CELLS", "plastic_strain", None, "Plasma (matplotlib)", False, "plastic strain"),
    "body": ("POINTS", "body", None, "Rainbow Uniform", False, "body"),
    "rank": ("POINTS", "rank", None, "Rainbow Uniform", False, "rank"),
}


def frames_file(run):
    """The frames.xdmf of a run folder (or of that file itself), with its whole path, which ParaView's readers want."""
    path = os.path.abspath(os.fspath(run))
    if os.path.isdir(path):
        path = os.path.join(path, "frames.xdmf")
    if not os.path.isfile(path):
        raise FileNotFoundError("there is no %s; name a run folder" % path)
    return path


def open_run(run):
    """A reader of the run, at its last frame."""
    reader = pv.Xdmf3ReaderS(registrationName=os.path.basename(os.path.dirname(frames_file(run))), FileName=[frames_file(run)])
    reader.UpdatePipelineInformation()
    times = list(getattr(reader, "TimestepValues", None) or [0])
    scene = pv.GetAnimationScene()
    scene.UpdateAnimationUsingDataTimeSteps()
    scene.AnimationTime = times[-1]
    reader.UpdatePipeline(times[-1])
    return reader


def colours_of(reader):
    """The names of COLOURS that the run has."""
    there = {"POINTS": set(reader.PointData.keys()), "CELLS": set(reader.CellData.keys())}
    return [name for name, (where, array, *_) in COLOURS.items() if array in there[where]]


def fetched(source):
    """The data of now, as a list of its blocks."""
    from paraview import servermanager
    data = servermanager.Fetch(source)
    return [data.GetBlock(k) for k in range(data.GetNumberOfBlocks())] if data.IsA("vtkMultiBlockDataSet") else [data]


def unit_of_stress(source):
    """Stress is a force per width in cloth, per area in solids, and a force in ropes: the unit of the cells that have one."""
    kinds = set()
    for block in fetched(source):
        stress = block and block.GetCellData().GetArray("stress_max")
        for cell in range(block.GetNumberOfCells()) if stress else []:
            if stress.GetValue(cell) == stress.GetValue(cell):  # no nan
                kinds.add({5: "N/m", 10: "Pa", 3: "N"}.get(block.GetCellType(cell), ""))
    kinds.discard("")
    return sorted(kinds)[0] if len(kinds) == 1 else "Pa in solids, N/m in cloth, N in ropes"


def bodies_with(source, where, array):
    """(numbers of all bodies, numbers of those that have finite values of a field now)."""
    from vtkmodules.util.numpy_support import vtk_to_numpy
    import numpy as np
    every, some = set(), set()
    for block in fetched(source):
        body = block and block.GetPointData().GetArray("body")
        if not body:
            continue
        body = vtk_to_numpy(body)
        every |= set(body.tolist())
        values = (block.GetPointData() if where == "POINTS" else block.GetCellData()).GetArray(array)
        if values is None:
            continue
        known = vtk_to_numpy(values)
        known = np.isfinite(known.reshape(len(known), -1)).all(axis=1)
        if where == "POINTS":
            some |= set(body[known].tolist())
        else:
            some |= {int(body[block.GetCell(int(c)).GetPointId(0)]) for c in np.flatnonzero(known)}
    return every, some


def only_bodies(source, numbers):
    """A filter that leaves the bodies of these numbers."""
    runs = []
    for n in sorted(numbers):
        if runs and runs[-1][1] == n - 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    parts = []
    for low, high in runs:
        part = pv.Threshold(Input=source)
        part.Scalars, part.LowerThreshold, part.UpperThreshold = ["POINTS", "body"], low, high
        parts.append(part)
    return parts[0] if len(parts) == 1 else pv.AppendDatasets(Input=parts)


def body_numbers(run, names):
    """Of names of bodies, as the run's scene.json has them."""
    import json
    with open(os.path.join(os.path.dirname(frames_file(run)), "scene.json")) as file:
        known = [body["name"] for body in json.load(file)["bodies"]]
    for name in names:
        if name not in known:
            raise ValueError("there is no body %r to hide; there are %s" % (name, ", ".join(known[:20])))
    return {known.index(name) for name in names}


def prepared(reader, run, hide=(), clip=None):
    """What is left to be shown: without the bodies of those names; cut by a plane, clip: "y=0.05" keeps what is under it, "y=0.05,over"
    what is over it."""
    source = reader
    if hide:
        every, _ = bodies_with(reader, "POINTS", "body")
        left = every - body_numbers(run, hide)
        if not left:
            raise ValueError("all bodies are hidden")
        source = only_bodies(source, left)
    if clip:
        axis, _, at = clip.partition("=")
        at, _, side = at.partition(",")
        if axis not in ("x", "y", "z") or side not in ("", "over"):
            raise ValueError("--clip takes x=0.1, y=0.1 or z=0.1, or x=0.1,over for the other side; not %r" % clip)
        sign = -1 if side else 1
        origin, normal = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
        origin["xyz".index(axis)], normal["xyz".index(axis)] = float(at), float(sign)
        cut = pv.Clip(Input=source)
        cut.ClipType.Origin, cut.ClipType.Normal, cut.Invert = origin, normal, 1
        source = cut
    source.UpdatePipeline(pv.GetAnimationScene().AnimationTime)
    return source


def range_over_time(reader, where, array, component):
    """Least and greatest finite value in all frames."""
    from vtkmodules.util.numpy_support import vtk_to_numpy
    import numpy as np
    low, high = np.inf, -np.inf
    now = pv.GetAnimationScene().AnimationTime
    for t in list(getattr(reader, "TimestepValues", None) or pv.GetTimeKeeper().TimestepValues or [now]):
        reader.UpdatePipeline(t)
        for block in fetched(reader):
            part = block and (block.GetPointData() if where == "POINTS" else block.GetCellData()).GetArray(array)
            if part:
                value = vtk_to_numpy(part).astype(float)
                value = np.linalg.norm(value, axis=1) if component == "Magnitude" else value
                value = value[np.isfinite(value)]
                if len(value):
                    low, high = min(low, value.min()), max(high, value.max())
    reader.UpdatePipeline(now)
    return (low, high) if low <= high else (0.0, 1.0)


def with_field(source, array, view):
    """The cells that have the field: others would hide them, as the surface of a solid hides its tetrahedra.  Bodies without it are shown
    as a faint grey."""
    every, some = bodies_with(source, "CELLS", array)
    if not some:
        return source
    cells = pv.Threshold(Input=source)
    cells.Scalars, cells.LowerThreshold, cells.UpperThreshold = ["CELLS", array], -1e300, 1e300
    if every - some:
        rest = pv.Show(only_bodies(source, every - some), view)
        pv.ColorBy(rest, None)
        rest.DiffuseColor, rest.Opacity = [0.6, 0.62, 0.65], 0.2
    return cells


def colour_by(reader, name, view=None):
    """Colours the run by one of colours_of(), with one range for all frames, and a legend."""
    where, array, component, palette, symmetric, title = COLOURS[name]
    view = view or pv.GetActiveViewOrCreate("RenderView")
    if name in ("stress", "mises"):
        title += " [%s]" % unit_of_stress(reader)
    if where == "CELLS":
        pv.Hide(reader, view)
        reader = with_field(reader, array, view)
    display = pv.Show(reader, view)
    pv.HideScalarBarIfNotNeeded(display.LookupTable, view) if display.LookupTable else None
    pv.ColorBy(display, (where, array, component) if component else (where, array))
    table = pv.GetColorTransferFunction(array)
    if palette:
        table.ApplyPreset(palette, True)
    else:
        table.ColorSpace, table.RGBPoints = "Lab", HEAT
    low, high = range_over_time(reader, where, array, component)
    if symmetric:
        low, high = -max(abs(low), abs(high)), max(abs(low), abs(high))
    elif name != "body" and name != "rank":
        low = min(low, 0.0)
    table.RescaleTransferFunction(low, high if high > low else low + 1)
    pv.HideUnusedScalarBars(view)
    bar = pv.GetScalarBar(table, view)
    bar.Title, bar.ComponentTitle, bar.Visibility = title, "", 1
    bar.TitleColor = bar.LabelColor = [0.1, 0.1, 0.1]
    return display


def show(reader, name=None, view=None):
    """The run in a view: smooth surfaces, thick lines, round points, a light background, a camera on all of it.  Returns the view."""
    view = view or pv.GetActiveViewOrCreate("RenderView")
    name = name or ("contact" if "contact" in colours_of(reader) and range_over_time(reader, *COLOURS["contact"][:3])[1] > 0 else "speed")
    if name not in colours_of(reader):
        raise ValueError("this run has no %r to colour by; it has %s (output.fields of the scene asks for more)" % (name, ", ".join(colours_of(reader))))
    display = colour_by(reader, name, view)
    display.Representation = "Surface"
    display.LineWidth, display.PointSize, display.RenderLinesAsTubes, display.RenderPointsAsSpheres = 4, 8, 1, 1
    view.UseColorPaletteForBackground = 0
    view.Background = [0.96, 0.96, 0.97]
    view.OrientationAxesVisibility = 1
    pv.SetActiveSource(reader)
    pv.ResetCamera(view)
    camera = view.GetActiveCamera()
    if camera.GetViewUp()[1] > 0.9:  # the camera that ParaView begins with looks along z: from above one sees more
        camera.Azimuth(30)
        camera.Elevation(25)
    pv.ResetCamera(view)
    pv.Render(view)
    return view


def next_colour(reader, display):
    """The one after the present one."""
    names = colours_of(reader)
    now = list(display.ColorArrayName or [None, None])
    at = [k for k, name in enumerate(names) if COLOURS[name][:2] == tuple(now)]
    return names[(at[0] + 1) % len(names)] if at else None


def run_macro():
    reader = pv.GetActiveSource()
    if reader is not None:
        reader.UpdatePipeline(pv.GetAnimationScene().AnimationTime)  # nobody may have pressed Apply yet
    if reader is None or not hasattr(reader, "PointData") or "contact_force" not in reader.PointData.keys():
        print("Tactus: open the frames.xdmf of a run first (File, Open), and select it in the pipeline.")
        return
    view = pv.GetActiveViewOrCreate("RenderView")
    known = pv.GetRepresentation(reader, view)
    name = next_colour(reader, known) if known is not None and getattr(known, "Visibility", 0) and getattr(view, "TactusShown", None) else None
    show(reader, name, view)
    try:
        view.add_attribute("TactusShown", True)  # from the second click on: the next colour
    except (AttributeError, TypeError):
        pass


if __name__ == "__main__" and not os.environ.get("TACTUS_RUN"):
    run_macro()
