#!/usr/bin/env pvpython
"""Opens a run in ParaView, or writes a picture of it: no state file is needed.

    TACTUS_RUN=drop.run TACTUS_COLOUR=strain paraview --script=jobs/paraview/view.py       # the window
    pvpython jobs/paraview/view.py drop.run --colour strain --frame -1 -o drop.png         # a picture
    pvpython jobs/paraview/view.py press.run --colour mises --hide top,bottom --clip z=0 -o press.png    # into a solid
"""
import argparse
import os
import sys

os.environ.setdefault("TACTUS_RUN", "-")  # macro.py is only read, and does nothing of its own
# A script of ParaView's window does not know its own name.
here = os.path.dirname(os.path.abspath(__file__)) if "__file__" in globals() else os.path.join(os.getcwd(), "jobs/paraview")
sys.path.insert(0, os.environ.get("TACTUS_PARAVIEW", here))
import macro  # noqa: E402
import paraview.simple as pv  # noqa: E402


def main(words):
    parser = argparse.ArgumentParser(prog="view.py", description="A run of Tactus in ParaView.")
    parser.add_argument("run", help="a run folder")
    parser.add_argument("--colour", "--color", choices=list(macro.COLOURS), help="by what; without it contact force, or speed where nothing touches")
    parser.add_argument("--hide", default="", metavar="NAME,...", help="bodies that are not shown")
    parser.add_argument("--clip", metavar="x=AT", help="cuts everything by a plane and shows what is under it: x=0.1, y=..., z=..., or what is over it: x=0.1,over")
    parser.add_argument("--frame", type=int, default=-1, help="which frame, from 0; -1 is the last")
    parser.add_argument("--size", default="1280x960", help="WIDTHxHEIGHT")
    parser.add_argument("-o", metavar="FILE", help="writes this picture (.png)")
    asked = parser.parse_args(words)
    try:
        width, height = (int(n) for n in asked.size.split("x"))
        reader = macro.open_run(asked.run)
        times = list(getattr(reader, "TimestepValues", None) or [0])
        if not -len(times) <= asked.frame < len(times):
            parser.error("there is no frame %d; the run has %d" % (asked.frame, len(times)))
        view = pv.GetActiveViewOrCreate("RenderView")
        view.ViewSize = [width, height]
        pv.GetAnimationScene().AnimationTime = times[asked.frame]
        macro.show(macro.prepared(reader, asked.run, [name for name in asked.hide.split(",") if name], asked.clip), asked.colour, view)
    except (OSError, ValueError, KeyError) as error:
        parser.error(str(error))
    if asked.o:
        pv.SaveScreenshot(asked.o, view, ImageResolution=[width, height])
    return reader, view


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1:])
    elif os.environ["TACTUS_RUN"] != "-":
        main([os.environ["TACTUS_RUN"], *(["--colour", os.environ["TACTUS_COLOUR"]] if os.environ.get("TACTUS_COLOUR") else [])])
    else:
        sys.exit("view.py: name a run folder, or set TACTUS_RUN")
