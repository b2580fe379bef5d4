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
    "stress": ("CELLS", "stress_max", None, "Cool to Warm", True, "largest principal stress [N/m]"),
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


def range_over_time(reader, where, array, component):
    """Least and greatest finite value in all frames."""
    from paraview import servermanager
    from vtkmodules.util.numpy_support import vtk_to_numpy
    import numpy as np
    low, high = np.inf, -np.inf
    now = pv.GetAnimationScene().AnimationTime
    for t in list(getattr(reader, "TimestepValues", None) or [now]):
        reader.UpdatePipeline(t)
        data = servermanager.Fetch(reader)
        for block in ([data.GetBlock(k) for k in range(data.GetNumberOfBlocks())] if data.IsA("vtkMultiBlockDataSet") else [data]):
            part = block and (block.GetPointData() if where == "POINTS" else block.GetCellData()).GetArray(array)
            if part:
                value = vtk_to_numpy(part).astype(float)
                value = np.linalg.norm(value, axis=1) if component == "Magnitude" else value
                value = value[np.isfinite(value)]
                if len(value):
                    low, high = min(low, value.min()), max(high, value.max())
    reader.UpdatePipeline(now)
    return (low, high) if low <= high else (0.0, 1.0)


def colour_by(reader, name, view=None):
    """Colours the run by one of colours_of(), with one range for all frames, and a legend."""
    where, array, component, palette, symmetric, title = COLOURS[name]
    view = view or pv.GetActiveViewOrCreate("RenderView")
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
