#!/usr/bin/python3
"""jobs/render on run folders made here: the pictures show what is there, and bad input gives one sentence and code 2.
Wrong would be: something out of the picture, a wall before what moves, a trace back on odd input, a half-written file."""
import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np
from PIL import Image

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ["TACTUS_SOURCE"], "jobs", "lib"))
from render import main

RENDER = os.path.join(os.environ["TACTUS_SOURCE"], "jobs", "render")
COLUMNS = ("time,kinetic,gravity,stretch,bend,contact,total,dissipated,work,defect,momentum_x,momentum_y,momentum_z,"
           "angular_momentum_x,angular_momentum_y,angular_momentum_z,friction_couple_x,friction_couple_y,friction_couple_z,"
           "contacts,deepest_layer,min_distance")
checks = 0


def check(ok, what):
    global checks
    checks += 1
    if not ok:
        sys.exit(f"render.py: {what}")


def write_run(folder, frames, triangles=(), segments=(), points=(), body=None, names=("thing",), fixed=(), radius=None, gravity=(0, -9.81, 0), energy=False):
    os.makedirs(folder)
    n = len(frames[0])
    with h5py.File(os.path.join(folder, "frames.h5"), "w") as f:
        m = f.create_group("mesh")
        m["triangles"] = np.array(triangles, "i8").reshape(-1, 3)
        m["segments"] = np.array(segments, "i8").reshape(-1, 2)
        m["points"] = np.array(points, "i8")
        m["body"] = np.zeros(n, "i4") if body is None else np.array(body, "i4")
        m["body_names"] = np.array([s.encode() for s in names])
        m["radius"] = np.zeros(n) if radius is None else np.array(radius, float)
        for k, x in enumerate(frames):
            g = f.create_group(f"frames/{k:06d}")
            g["position"], g["velocity"] = np.array(x, float), np.zeros((n, 3))
            g["contact_force"], g["time"] = np.zeros((n, 3), "f4"), 0.25 * k
    with open(os.path.join(folder, "scene.json"), "w") as f:
        json.dump({"gravity": list(gravity), "bodies": [{"name": s, "fixed": s in fixed} for s in names]}, f)
    if not energy:
        return folder
    with open(os.path.join(folder, "energy.csv"), "w") as f:
        f.write(COLUMNS + "\n")
        for k in range(len(frames)):
            f.write(",".join("%.17g" % (v * (k + 1)) for v in [0.25] + [0.01] * 18 + [3, 1]) + ",nan\n")
    return folder


def render(*args, code=0):
    """As the command would, in this process: starting Python forty times takes longer than all the pictures."""
    said, wrote = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(wrote):
        try:
            got = main(list(args))
        except SystemExit as e:  # of argparse
            got = e.code
    check(got == code, f"{args}: code {got} instead of {code}: {said.getvalue()}")
    if code:
        lines = said.getvalue().strip().splitlines()
        check(lines and len(lines[-1]) > 20, f"{args}: no sentence: {said.getvalue()}")
    return wrote.getvalue().split() if code == 0 else said.getvalue()


def command(*args):
    p = subprocess.run([RENDER, *args], capture_output=True, text=True)
    return p.returncode, p.stdout.split(), p.stderr


def image(path):
    return np.asarray(Image.open(path)).astype(int)


def is_orange(picture):
    """Pixels of the first moving body's colour."""
    return (picture[..., 0] > 1.5 * picture[..., 2]) & (picture[..., 0] > 40)


BOX = [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
BOX_TRIANGLES = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]


def a_ball_in_a_box(work):
    """The near walls of a closed box are left out, so the ball in it is seen; it is round and whole in every frame."""
    frames = [BOX + [[-0.6, 0.2, 0.1]], BOX + [[0.6, 0.2, 0.1]]]
    run = write_run(work + "/box", frames, BOX_TRIANGLES, points=[8], body=[0] * 8 + [1], names=("box", "ball"), fixed=("box",), radius=[0] * 8 + [0.3], energy=True)
    out = render(run, "--frames", "0,1", "--size", "240x180", "--sheet", "0")
    check([os.path.basename(p) for p in out] == ["frame-000000.png", "frame-000001.png", "energy.png"], f"files: {out}")
    places = []
    for path in out[:2]:
        p = image(path)
        check(p.shape == (180, 240, 3), f"a picture of {p.shape}")
        ball = np.argwhere(is_orange(p))
        check(len(ball) > 150, f"the ball covers {len(ball)} pixels")
        check(ball.min() > 0 and (ball.max(0) < [179, 239]).all(), "the ball is cut by the picture's edge")
        tall, wide = np.ptp(ball, axis=0) + 1
        check(abs(tall - wide) <= 4, f"the ball is {wide} x {tall}")
        places.append(ball.mean(0))
    check(places[1][1] - places[0][1] > 30, "the ball did not go to the right")
    check(not [n for n in os.listdir(run) if n.endswith(".part")], "a .part file is left")
    check(image(out[2]).shape[1] > 800, "the energy plot is small")
    before = open(out[0], "rb").read()
    os.remove(run + "/energy.csv")
    render(run, "--frames", "0,1", "--size", "240x180", "--sheet", "0")
    check(open(out[0], "rb").read() == before, "two pictures of the same frame differ")


def the_command(work):
    """The same through jobs/render itself."""
    run = write_run(work + "/command", [[[0, 0, 0]]], points=[0], gravity=(0, 0, 0), energy=True)
    code, out, said = command(run, "--size", "64x48")
    check(code == 0 and len(out) == 2 and all(os.path.getsize(p) > 100 for p in out), f"jobs/render: {code}, {out}, {said}")
    code, out, said = command(run, "--frames", "7")
    check(code == 2 and out == [] and said.count("\n") == 1 and "Traceback" not in said, f"jobs/render, wrong frame: {code}, {said}")


def odd_but_good(work):
    """Scenes with next to nothing in them; every output."""
    one = write_run(work + "/one", [[[0, 0, 0]]], points=[0], gravity=(0, 0, 0), energy=True)
    check(len(render(one, "--size", "64x48")) == 2, "one particle, one frame: a picture and the energy")
    chain = [[[0, 1.0 - t, 0], [0, 2.0 - t, 0], [-2, 0, 0], [2, 0, 0]] for t in (0, 0.3, 0.6)]
    flat = write_run(work + "/flat", chain, segments=[[0, 1], [2, 3]], body=[0, 0, 1, 1], names=("spring", "floor"), fixed=("floor",))
    out = render(flat, "--size", "96x72", "--movie", "-o", work + "/elsewhere")
    check(sorted(os.listdir(work + "/elsewhere")) == ["frame-000002.png", "movie.webp", "sheet.png"], f"files: {out}")
    with Image.open(work + "/elsewhere/movie.webp") as movie:
        check(movie.n_frames == 3, f"a movie of {movie.n_frames} frames")
    check(is_orange(image(work + "/elsewhere/frame-000002.png")).sum() > 30, "the spring is not in the picture")
    # Many frames: first:step:last, last, and all are understood.
    check(len(render(flat, "--size", "32x24", "--frames", "0:2:last", "--sheet", "0")) == 2, "0:2:last of three frames is two pictures")
    check(len(render(flat, "--size", "32x24", "--frames", "all", "--sheet", "0")) == 3, "all of three frames is three pictures")
    check(len(render(flat, "--size", "32x24", "--frames=-2:-1,0", "--sheet", "0")) == 3, "-2:-1 and 0 of three frames is three pictures")
    fallen = write_run(work + "/fallen", [[[0, 0, 0], [1, 0, 0], [0, 0, 1], [5, 5, 5]]], [[0, 1, 2], [0, 1, 1]], gravity=(0, 0, -9.81))
    render(fallen, "--size", "64x48", "--zoom", "0.5", "--azimuth", "200", "--elevation", "80", "--up", "0,0,1")
    # A close-up of one corner: the triangle there covers more of the picture, and what is far away is not in it.
    corner = write_run(work + "/corner", [[[0, 0, 0], [1, 0, 0], [0, 0, 1], [5, 5, 5]]], [[0, 1, 2]], gravity=(0, 0, -9.81), points=[3])
    covered = []
    for more in ((), ("--near=0.3,0,0.3,0.5",)):
        covered.append(is_orange(image(render(corner, "--size", "64x48", "--sheet", "0", *more)[0])).sum())
    check(covered[1] > 3 * covered[0], f"--near is no close-up: {covered} orange pixels")
    only_fixed = write_run(work + "/fixed", [BOX], BOX_TRIANGLES, names=("box",), fixed=("box",))
    render(only_fixed, "--size", "64x48")
    os.remove(one + "/scene.json")
    os.remove(one + "/energy.csv")
    check(len(render(one, "--size", "64x48")) == 1, "without scene.json and energy.csv a picture is drawn all the same")


def bad_input(work):
    run = write_run(work + "/run", [BOX, BOX], BOX_TRIANGLES)
    for args, word in (
        ((work + "/none",), "none"),
        ((work,), "frames.h5"),
        ((run, "--frames", "7"), "0 to 1"),
        ((run, "--frames", "x"), "'x'"),
        ((run, "--frames", "1:0"), "1:0"),
        ((run, "--frames=-3"), "-3"),
        ((run, "--frames", "0:0:1"), "0:0:1"),
        ((run, "--size", "big"), "WIDTHxHEIGHT"),
        ((run, "--zoom", "nan"), "nan"),
        ((run, "--zoom", "0"), "--zoom"),
        ((run, "--sheet", "-1"), "--sheet"),
        ((run, "--up", "0,0,0"), "direction"),
        ((run, "--near", "0,0,0"), "radius"),
        ((run, "--near", "0,0,0,0"), "radius"),
        ((run, "--no-such"), "--no-such"),
        ((), "DIR"),
    ):
        said = render(*args, code=2)
        check(word in said, f"{args}: '{word}' is not in: {said}")
    broken = work + "/broken"
    os.makedirs(broken)
    whole = open(run + "/frames.h5", "rb").read()
    for text in (b"", b"no HDF5", whole[: len(whole) // 2]):
        open(broken + "/frames.h5", "wb").write(text)
        check("frames.h5" in render(broken, code=2), "a damaged frames.h5 is not named")
    with h5py.File(broken + "/frames.h5", "w") as f:
        f["other"] = 1
    check("not a frames file" in render(broken, code=2), "a foreign HDF5 file is not refused")
    bad = [list(map(list, BOX)), list(map(list, BOX))]
    bad[1][3][1] = float("nan")
    check("000001" in render(write_run(work + "/nan", bad, BOX_TRIANGLES), "--size", "32x24", code=2), "a frame with nan is not named")
    outside = [list(t) for t in BOX_TRIANGLES]
    outside[0][0] = 99
    check("vertices" in render(write_run(work + "/outside", [BOX], outside), code=2), "an index out of range is not named")
    open(run + "/scene.json", "w").write("{")
    check("scene.json" in render(run, code=2), "a damaged scene.json is not named")


def colours_and_movies(work):
    """Two squares side by side in 3D: one is at rest, the other moves and is pulled to twice its length."""
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]], float)
    rest = np.concatenate([square - [1.5, 0, 0], square + [0.5, 0, 0]])
    wide = np.concatenate([square - [1.5, 0, 0], square * [2, 1, 1] + [0.5, 0, 0]])
    faces = [(0, 1, 2), (0, 2, 3), (4, 5, 6), (4, 6, 7)]
    run = write_run(work + "/squares", [rest, wide, wide], faces, body=[0] * 4 + [1] * 4, names=("still", "moving"), gravity=(0, 0, 0))
    with h5py.File(run + "/frames.h5", "r+") as f:
        for name in ("velocity", "contact_force"):
            f["frames/000002"][name][4:] = 3.0
    for kind in ("speed", "contact", "strain", "thickness"):
        render(run, "--size", "320x240", "--sheet", "0", "--view", "above", "--colour", kind)
        picture = image(run + "/frame-000002.png").astype(int)
        middle = picture[90:150]  # without the legend
        warm, cold = (middle[:, :, 0] > middle[:, :, 2] + 60), (middle[:, :, 2] > middle[:, :, 0] + 60)
        check(warm.sum() > 300 and cold.sum() > 300, f"--colour {kind}: {warm.sum()} warm and {cold.sum()} cold pixels")
        left, right = np.flatnonzero(cold.any(0)), np.flatnonzero(warm.any(0))
        swapped = kind == "thickness"  # what is pulled becomes thinner
        check((np.median(left) < np.median(right)) != swapped, f"--colour {kind}: cold and warm are the wrong way round")
        check(len(np.unique(picture[200:, 200:].reshape(-1, 3) // 32, axis=0)) > 8, f"--colour {kind}: no legend")
    plain = image(run + "/frame-000002.png").astype(int)
    render(run, "--size", "320x240", "--sheet", "0", "--view", "above", "--colour", "thickness", "--wire")
    wired = image(run + "/frame-000002.png").astype(int)
    darker = (wired.sum(2) < plain.sum(2) - 100).sum()
    check(100 < darker < 0.2 * 320 * 240, f"--wire darkens {darker} pixels")
    movies = ["--gif"] + (["--mp4"] if shutil.which("ffmpeg") else [])
    render(run, "--size", "161x121", "--sheet", "0", *movies)
    with Image.open(run + "/movie.gif") as movie:
        check(movie.n_frames in (2, 3) and movie.size == (160, 120), f"movie.gif: {movie.n_frames} frames of {movie.size}")  # equal frames become one
    check("--mp4" not in movies or open(run + "/movie.mp4", "rb").read(12)[4:8] == b"ftyp", "movie.mp4 is none")
    late = write_run(work + "/late", [rest, wide], faces)
    with h5py.File(late + "/frames.h5", "r+") as f:
        del f["frames/000000"]
    check("frame 0" in render(late, "--colour", "strain", code=2), "lengths without a beginning")


with tempfile.TemporaryDirectory() as folder:
    a_ball_in_a_box(folder)
    colours_and_movies(folder)
    the_command(folder)
    odd_but_good(folder)
    bad_input(folder)
print(f"{checks} checks passed")
