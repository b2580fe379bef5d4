"""jobs/render: pictures of a run's frames and its energy curves. See --help."""
import argparse
import os
import sys

if __name__ == "__main__":
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # each process draws its own frame

import multiprocessing
import re
import shutil
import subprocess

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from colouring import TITLES, Colouring
from picture import Picture
from problem import Problem
from rundir import Run


def wanted_frames(text, count):
    """7, 0:100, 0:10:100 (first:step:last), a list of these, 'all', 'last'; negative numbers count from the end (as in
    `tactus export`) -> ascending indices."""

    def number(word):
        k = count - 1 if word == "last" else int(word)
        k = k + count if k < 0 else k
        if not 0 <= k < count:
            raise Problem(f"--frames {text}: there is no frame {word}; the run has the frames 0 to {count - 1}")
        return k

    found = set()
    for part in text.split(","):
        match = re.fullmatch(r"(-?\d+|last)(?::(?:(\d+):)?(-?\d+|last))?", part.strip())
        if part.strip() == "all":
            found.update(range(count))
        elif match and match[2] != "0":
            first = number(match[1])
            found.update(range(first, (number(match[3]) if match[3] else first) + 1, int(match[2] or 1)))
        else:
            raise Problem(f"--frames: '{part}' is none of a frame's number, first:last, first:step:last, last, all")
    if not found:
        raise Problem(f"--frames {text}: these are no frames; the last comes before the first")
    return sorted(found)


def size(text):
    match = re.fullmatch(r"(\d{2,4})x(\d{2,4})", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is not WIDTHxHEIGHT in pixels, like 1280x960")
    return int(match[1]), int(match[2])


def finite(text):
    value = float(text)
    if not np.isfinite(value):
        raise argparse.ArgumentTypeError(f"'{text}' is not a finite number")
    return value


def place(text):
    try:
        near = [finite(c) for c in text.split(",")]
    except (ValueError, argparse.ArgumentTypeError):
        near = []
    if len(near) != 4 or near[3] <= 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a place and a radius x,y,z,r")
    return near


def vector(text):
    try:
        up = [finite(c) for c in text.split(",")]
    except (ValueError, argparse.ArgumentTypeError):
        up = []
    if len(up) != 3 or not np.any(up):
        raise argparse.ArgumentTypeError(f"'{text}' is not a direction x,y,z")
    return up


_picture = _problem = None  # each worker process has its own


def _begin(folder, frames, view):
    """A worker's start. It may not raise: a pool starts workers that die anew for ever."""
    global _picture, _problem
    _picture = _problem = None
    try:
        run, view = Run(folder), dict(view)
        kind = view.pop("colour", None)
        _picture = Picture(run, frames, **view, colouring=Colouring(run, kind, frames) if kind else None)
    except Exception as e:
        _problem = e


def _draw(job):
    if _problem is not None:
        raise _problem
    k, width, height = job
    return _picture.draw(k, width, height)


def draw_all(folder, frames, view, jobs, processes):
    """Draws (frame, width, height) jobs with one camera that holds all `frames`; yields images in order."""
    if processes == 1 or len(jobs) == 1:
        _begin(folder, frames, view)
        yield from map(_draw, jobs)
        return
    with multiprocessing.Pool(min(processes, len(jobs)), _begin, (folder, frames, view)) as pool:
        yield from pool.imap(_draw, jobs)


def contact_sheet(images, times, columns):
    """Images side by side, each with its time below."""
    from matplotlib import font_manager  # here, as it takes longer to load than a small picture to draw

    height, width = images[0].shape[:2]
    margin, foot = max(8, width // 60), max(26, height // 12)
    rows = -(-len(images) // columns)
    sheet = Image.new("RGB", (columns * (width + margin) + margin, rows * (height + foot + margin) + margin), "white")
    pen = ImageDraw.Draw(sheet)
    font = ImageFont.truetype(font_manager.findfont("DejaVu Sans"), max(12, foot * 5 // 9))
    for i, (image, t) in enumerate(zip(images, times)):
        x, y = margin + (i % columns) * (width + margin), margin + (i // columns) * (height + foot + margin)
        sheet.paste(Image.fromarray(image), (x, y))
        pen.text((x + width / 2, y + height + foot / 2), f"{t:.4g} s", fill="#3b4148", font=font, anchor="mm")
    return sheet


VIEWS = {"front": (0, 0), "back": (180, 0), "left": (-90, 0), "right": (90, 0), "above": (0, 89), "corner": (32, 24), "low": (32, 6)}


def options(argv):
    p = argparse.ArgumentParser(
        prog="jobs/render", description="Draws a run: pictures of frames, a sheet of several, energy curves. All are PNG files in the run's folder.")
    p.add_argument("folder", metavar="DIR", help="the run folder")
    p.add_argument("--frames", metavar="LIST", help="frames to draw in full size: 7, 0:100, 0:10:100 (first:step:last), a list, 'all' or 'last' (default: last)")
    p.add_argument("--sheet", metavar="N", type=int, default=6, help="frames on the sheet, evenly over the run; 0: no sheet (default 6)")
    p.add_argument("--movie", action="store_true", help="also movie.webp of all frames (browsers show it), at a third of the size")
    p.add_argument("--mp4", action="store_true", help="also movie.mp4 of all frames in full size (ffmpeg makes it)")
    p.add_argument("--gif", action="store_true", help="also movie.gif of all frames in full size; choose a small --size")
    p.add_argument("--colour", "--color", choices=["body", *TITLES], default="body", help="what colours tell, with a legend: body (default), speed, contact force, strain, thickness")
    p.add_argument("--wire", action="store_true", help="show the edges of triangles")
    p.add_argument("--view", choices=list(VIEWS), help="where the camera stands; --azimuth and --elevation go before")
    p.add_argument("--size", type=size, default=(1280, 960), metavar="WxH", help="pixels of a full picture (default 1280x960)")
    p.add_argument("--azimuth", type=finite, metavar="DEG", help="camera round the vertical (default 32)")
    p.add_argument("--elevation", type=finite, metavar="DEG", help="camera above the horizon (default 24)")
    p.add_argument("--zoom", type=finite, default=1.0, help="above 1: closer (default 1)")
    p.add_argument("--near", type=place, metavar="X,Y,Z,R", help="a close-up: the camera holds what is within R of this place, not all that moves")
    p.add_argument("--up", type=vector, metavar="X,Y,Z", help="which way is up (default: against gravity, else y)")
    p.add_argument("-o", "--output", metavar="DIR2", help="where the pictures go (default: DIR)")
    o = p.parse_args(argv)
    if not 0.05 <= o.zoom <= 20:
        p.error("--zoom is between 0.05 and 20")
    if not 0 <= o.sheet <= 60:
        p.error("--sheet is between 0 and 60")
    return o


def save(image, path):
    """Through a temporary name, so that nothing half-written looks whole."""
    image.save(path + ".part", format="PNG", compress_level=6)
    os.replace(path + ".part", path)
    print(path, flush=True)


def run(argv):
    o = options(argv)
    run = Run(o.folder)
    out = o.output or o.folder
    os.makedirs(out, exist_ok=True)
    single = wanted_frames(o.frames or "last", run.frames)
    spread = sorted({round(k) for k in np.linspace(0, run.frames - 1, o.sheet)}) if o.sheet else []
    if o.frames and len(single) > 1 and o.sheet:
        spread = single[:60]
    movie = list(range(run.frames)) if o.movie else []
    large = list(range(run.frames)) if o.mp4 or o.gif else []
    if o.mp4 and shutil.which("ffmpeg") is None:
        raise Problem("--mp4 needs ffmpeg (Debian: apt-get install ffmpeg); --movie writes movie.webp without it")
    azimuth, elevation = VIEWS[o.view] if o.view else (None, None)
    view = {"azimuth": o.azimuth if o.azimuth is not None else azimuth, "elevation": o.elevation if o.elevation is not None else elevation,
            "zoom": o.zoom, "up": o.up, "near": o.near, "wire": o.wire, "colour": None if o.colour == "body" else o.colour}
    width, height = o.size
    even = (width // 2 * 2, height // 2 * 2)  # as MP4 wants it
    small = (max(16, width // 3), max(16, height // 3))
    every = sorted(set(single) | set(spread) | set(movie) | set(large))
    # The camera holds what the frames show; a sample of them is enough to place it.
    placing = sorted({every[round(k)] for k in np.linspace(0, len(every) - 1, 24)})
    sheet_size = (max(16, width // 2), max(16, height // 2))
    jobs = [(k, width, height) for k in single] + [(k, *sheet_size) for k in spread] + [(k, *small) for k in movie] + [(k, *even) for k in large]
    images = draw_all(o.folder, placing, view, jobs, len(os.sched_getaffinity(0)))
    for k in single:
        save(Image.fromarray(next(images)), os.path.join(out, f"frame-{run.names[k]}.png"))
    if len(spread) > 1:
        drawn = [next(images) for _ in spread]
        columns = 3 if len(spread) > 4 or len(spread) == 3 else 2
        save(contact_sheet(drawn, [run.frame(k)[0] for k in spread], columns), os.path.join(out, "sheet.png"))
    else:
        for _ in spread:
            next(images)
    if movie:
        save_movie([next(images) for _ in movie], os.path.join(out, "movie.webp"))
    if large:
        save_large((next(images) for _ in large), even, os.path.join(out, "movie"), o.mp4, o.gif)
    if os.path.exists(os.path.join(o.folder, "energy.csv")):
        path = os.path.join(out, "energy.png")
        from energy_plot import draw_energy

        draw_energy(o.folder, path)
        print(path)


def save_movie(images, path):
    frames = [Image.fromarray(i) for i in images]
    frames[0].save(path + ".part", format="WEBP", save_all=True, append_images=frames[1:], duration=50, loop=0, quality=80, method=3)
    os.replace(path + ".part", path)
    print(path, flush=True)


FPS = 20


def save_large(images, size, stem, mp4, gif):
    """movie.mp4 and movie.gif; pictures go to ffmpeg one by one, so that memory does not grow with their number."""
    ffmpeg, kept = None, []
    if mp4:
        command = ["ffmpeg", "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", "%dx%d" % size, "-r", str(FPS), "-i", "-",
                   "-c:v", "libx264", "-crf", "18", "-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4", stem + ".mp4.part"]
        ffmpeg = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    for image in images:
        if ffmpeg:
            try:
                ffmpeg.stdin.write(np.ascontiguousarray(image).tobytes())
            except BrokenPipeError:
                break
        if gif:
            kept.append(Image.fromarray(image).quantize(128, dither=Image.Dither.NONE))
    if ffmpeg:
        problem = ffmpeg.communicate()[1].decode(errors="replace").strip()
        if ffmpeg.returncode:
            raise Problem(f"ffmpeg made no movie: {problem.splitlines()[-1] if problem else 'it ended with code %d' % ffmpeg.returncode}")
        os.replace(stem + ".mp4.part", stem + ".mp4")
        print(stem + ".mp4", flush=True)
    if gif:
        kept[0].save(stem + ".gif.part", format="GIF", save_all=True, append_images=kept[1:], duration=1000 // FPS, loop=0)
        os.replace(stem + ".gif.part", stem + ".gif")
        print(stem + ".gif", flush=True)


def main(argv):
    try:
        run(argv)
    except Problem as e:
        print(f"render: {e}", file=sys.stderr)
        return 2
    except OSError as e:
        print(f"render: {e.strerror or e}: {e.filename or ''}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
