#!/usr/bin/env pvbatch
"""Writes an animation of a run with ParaView: pictures, or a movie where ffmpeg is installed.

    pvbatch jobs/paraview/animate.py drop.run --colour contact -o drop.mp4      # or pictures: -o drop.png gives drop.0000.png, ...

Without a display: xvfb-run -a -s "-screen 0 1280x1024x24 +extension GLX -noreset" pvbatch jobs/paraview/animate.py ...
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

os.environ.setdefault("TACTUS_RUN", "-")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import macro  # noqa: E402
import paraview.simple as pv  # noqa: E402


def main(words):
    parser = argparse.ArgumentParser(prog="animate.py", description="An animation of a run of Tactus, made by ParaView.")
    parser.add_argument("run", help="a run folder")
    parser.add_argument("--colour", "--color", choices=list(macro.COLOURS), help="by what; without it contact force, or speed where nothing touches")
    parser.add_argument("--size", default="1280x960", help="WIDTHxHEIGHT, even numbers")
    parser.add_argument("--fps", type=float, default=25, help="frames per second of a movie")
    parser.add_argument("-o", metavar="FILE", required=True, help=".png, or a movie that ffmpeg makes: .mp4, .webm, .gif")
    asked = parser.parse_args(words)
    movie = not asked.o.endswith(".png")
    if movie and shutil.which("ffmpeg") is None:
        parser.error("a movie needs ffmpeg (Debian: ffmpeg); write pictures with -o NAME.png")
    try:
        width, height = (int(n) for n in asked.size.split("x"))
        reader = macro.open_run(asked.run)
        view = pv.GetActiveViewOrCreate("RenderView")
        view.ViewSize = [width, height]
        macro.show(reader, asked.colour, view)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    frames = list(getattr(reader, "TimestepValues", None) or [0])
    with tempfile.TemporaryDirectory() as folder:
        stem = os.path.join(folder, "frame") if movie else asked.o[:-4]
        for k, t in enumerate(frames):  # one by one: SaveAnimation() drops frames whose times are not evenly spaced
            pv.GetAnimationScene().AnimationTime = t
            pv.SaveScreenshot("%s.%04d.png" % (stem, k), view, ImageResolution=[width, height])
        if movie:
            subprocess.run(["ffmpeg", "-y", "-loglevel", "error", "-framerate", str(asked.fps), "-i", stem + ".%04d.png",
                            *(["-pix_fmt", "yuv420p"] if asked.o.endswith(".mp4") else []), os.path.abspath(asked.o)], check=True)
    print("%s: %d frames" % (asked.o, len(frames)))


if __name__ == "__main__":
    main(sys.argv[1:])
