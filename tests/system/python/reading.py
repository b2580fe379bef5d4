#!/usr/bin/python3
"""reading.py: run folders are read lazily and rightly: frames, times, energies, bodies, pictures; damaged and odd ones are told in one sentence.

How much is read is counted in bytes and datasets, not in seconds: the index of 100,000 frames costs some hundred bytes a frame, a frame or
a body its own data.  If it failed, big runs could not be looked at, or a reader would see other numbers than were written.
"""
import os
import shutil
import tempfile

import h5py
import numpy as np

from common import DROP, SOURCE, end, expect, program, raises

import tactus

FRAMES = 100_000
reads = []
_getitem = h5py.Dataset.__getitem__


def counting(self, args, *rest, **more):
    reads.append(self.name)
    return _getitem(self, args, *rest, **more)


h5py.Dataset.__getitem__ = counting


def read_bytes():
    """Bytes that this process has read so far, the page cache's included."""
    with open("/proc/self/io") as file:
        return int(file.read().split("rchar:")[1].split()[0])


class Cost:
    """How many bytes and datasets the block has read."""

    def __enter__(self):
        self.bytes, self.datasets = read_bytes(), len(reads)
        return self

    def __exit__(self, *_):
        self.bytes, self.datasets = read_bytes() - self.bytes, len(reads) - self.datasets


def right(folder):
    path = os.path.join(folder, "drop.run")
    program("run", DROP, "-o", path, "--quiet")
    run = tactus.open(path)
    with h5py.File(os.path.join(path, "frames.h5")) as file:
        frames = [file["frames"][name] for name in sorted(file["frames"])]
        expect(len(run) == len(frames) == 7, "the number of frames")
        expect(run.times.tolist() == [float(frame["time"][()]) for frame in frames], "times")
        for k, frame in enumerate(frames):
            for name, read in (("position", run.positions), ("velocity", run.velocities), ("contact_force", run.contact_force)):
                expect(read(k).tobytes() == frame[name][()].tobytes() and read(k - 7).tobytes() == read(k).tobytes(), f"{name} of frame {k}")
        expect(np.array_equal(run.mesh.triangles, file["mesh/triangles"][()]) and run.mesh.names == ["ball", "floor"], "the mesh")
    energy = np.genfromtxt(os.path.join(path, "energy.csv"), delimiter=",", names=True)
    expect(run.energy.dtype.names == energy.dtype.names and all(np.array_equal(run.energy[name], energy[name], equal_nan=True) for name in energy.dtype.names), "energies")
    ball = run.body("ball")
    expect(ball.positions(3).tobytes() == run.positions(3)[ball.vertices].tobytes() and ball.triangles.max() == 41 and len(ball.triangles) == 80, "a body")
    floor = run.body("floor")
    expect(floor.triangles.min() == 0 and floor.vertices == slice(42, 46) and (floor.positions(0) == floor.positions(6)).all(), "another body")
    expect(run.state == "finished" and not run.live and run.wait() == "finished" and run.info["ranks"] == 1 and run.scene["time"]["end"] == 0.75, "its state")
    expect(run.sha256 == tactus.Scene.load(DROP).sha256 == tactus.Scene.load(os.path.join(path, "scene.json")).sha256, "its hash, and that of its scene.json")
    for k, words in ((7, ["no frame 7", "0 to 6"]), (-8, ["no frame -8"]), (1.0, ["1.0 is no number"]), ("1", ["no number"])):
        with raises(tactus.InputError, *words):
            run.positions(k)
    with raises(tactus.InputError, "no body 'bell'", "'ball', 'floor'"):
        run.body("bell")
    try:
        import pandas
        expect(isinstance(run.dataframe(), pandas.DataFrame) and run.dataframe().index.name == "time", "energies as a DataFrame")
    except ImportError:
        with raises(tactus.InputError, "pandas"):
            run.dataframe()
    return path


def pictures(path, folder):
    run = tactus.open(path)
    image = run.picture(-1, width=160, height=120)
    expect(image.shape == (120, 160, 3) and image.dtype == np.uint8 and len(np.unique(image.reshape(-1, 3), axis=0)) > 100, "a picture shows something")
    expect(not np.array_equal(image, run.picture(0, width=160, height=120)), "two frames look different")
    from PIL import Image
    name = os.path.join(folder, "it's $1.png")
    run.show(2, name, width=160, height=120, azimuth=90)
    expect(Image.open(name).size == (160, 120), "show() writes a picture")
    movie = run.movie(os.path.join(folder, "m.gif"), frames=range(3), width=80, height=60)
    expect(Image.open(movie).n_frames == 3, "movie() writes a movie")
    run.plot_energy(os.path.join(folder, "energy.png"))
    expect(Image.open(os.path.join(folder, "energy.png")).size[0] > 400, "plot_energy() writes a plot")
    for use, words in ((lambda: run.show(0, os.path.join(folder, "x.doc")), [".png"]), (lambda: run.picture(0, azimut=3), ["azimut"]), (lambda: run.picture(0, width=3), ["width is 3"]),
                       (lambda: run.movie(os.path.join(folder, "x.gif"), frames=[]), ["no frames"]), (lambda: run.show(0, viewer="paraview"), ["viewer"]),
                       (lambda: run.show(0, "/no/such/folder/x.png"), ["/no/such/folder/x.png"])):
        with raises(tactus.InputError, *words):
            use()
    import sys
    expect(not {"raster", "shading", "picture"} & set(sys.modules), "the drawer's files are nobody else's modules")


def odd(path, folder):
    """Folders that hold no whole run."""
    with raises(tactus.ReadError, "is no folder"):
        tactus.open(os.path.join(folder, "nothing"))
    os.makedirs(os.path.join(folder, "empty"))
    with raises(tactus.ReadError, "holds no run"):
        tactus.open(os.path.join(folder, "empty"))

    def copy(name):
        made = os.path.join(folder, name)
        shutil.copytree(path, made)
        return made
    bad = copy("no frames")
    os.unlink(os.path.join(bad, "frames.h5"))
    with raises(tactus.ReadError, "is not there"):
        tactus.open(bad).positions(0)
    bad = copy("cut short")
    os.truncate(os.path.join(bad, "frames.h5"), 4000)
    with raises(tactus.ReadError, "is damaged"):
        tactus.open(bad).positions(0)
    bad = copy("flipped")
    with h5py.File(os.path.join(bad, "frames.h5")) as file:
        place = file["frames/000003/position"].id.get_chunk_info(0).byte_offset
    with open(os.path.join(bad, "frames.h5"), "r+b") as file:
        file.seek(place + 40)
        byte = file.read(1)
        file.seek(place + 40)
        file.write(bytes([byte[0] ^ 16]))
    run = tactus.open(bad)
    with raises(tactus.ReadError, "frame 3", "damaged"):
        run.positions(3)
    expect(run.positions(2).shape == (46, 3), "the other frames can be read")
    bad = copy("unfinished frame")
    with h5py.File(os.path.join(bad, "frames.h5"), "r+") as file:
        del file["frames/000006/time"]
    run = tactus.open(bad)
    expect(len(run) == 6 and len(run.times) == 6 and run.positions(-1).tobytes() == tactus.open(path).positions(5).tobytes(), "a frame that was not finished is left out")
    bad = copy("csv")
    text = os.path.join(bad, "energy.csv")
    with open(text, "a") as file:
        file.write("0.875,1,2")  # a row that is being written
    run = tactus.open(bad)
    expect(len(run.energy) == 7, "half a row is no row")
    with open(text, "a") as file:
        file.write("\n")
    with raises(tactus.ReadError, "energy.csv is damaged", "line 9"):
        run.energy
    with open(text, "w") as file:
        file.write("time,kinetic\n9,1\n")  # another run's
    expect(run.times.tolist() == tactus.open(path).times.tolist(), "times are those of the frames, whatever energy.csv says")
    for name in ("status.json", "run.json"):
        bad = copy("bad " + name)
        with open(os.path.join(bad, name), "w") as file:
            file.write("{")
        with raises(tactus.ReadError, name):
            tactus.open(bad).info
    gone = copy("gone")
    os.unlink(os.path.join(gone, "status.json"))
    expect(tactus.open(gone).state == "unknown" and tactus.open(gone).positions(0).shape == (46, 3), "a run without status.json can be read")


def large(path, folder):
    """The index of many frames: groups that are one and the same, but the first and the last."""
    made = os.path.join(folder, "large.run")
    shutil.copytree(path, made)
    with h5py.File(os.path.join(made, "frames.h5"), "r+") as file:
        frames = file["frames"]
        for k in range(4, 7):
            del frames[f"{k:06d}"]
        for k in range(4, FRAMES - 1):
            frames.id.link(b"000003", b"%06d" % k)
        frames.copy("000002", f"{FRAMES - 1:06d}")
        frames[f"{FRAMES - 1:06d}/time"][()] = (FRAMES - 1) / 8
    with open(os.path.join(made, "energy.csv")) as file:
        header = file.readline()
    with open(os.path.join(made, "energy.csv"), "w") as file:
        file.write(header)
        file.writelines(f"{k / 8!r}" + ",0" * 21 + "\n" for k in range(FRAMES))
    with Cost() as opened:
        run = tactus.open(made)
    expect(opened.bytes < 50_000 and opened.datasets == 0, f"open() reads {opened.bytes} bytes, {opened.datasets} datasets")
    with Cost() as indexed:
        expect(len(run) == FRAMES, f"{len(run)} frames")
    expect(indexed.bytes < 400 * FRAMES and indexed.datasets == 0, f"the index takes {indexed.bytes} bytes, {indexed.datasets} datasets")
    with Cost() as timed:
        expect(np.array_equal(run.times, np.arange(FRAMES) / 8), "times of many frames")
    csv = os.path.getsize(os.path.join(made, "energy.csv"))
    expect(timed.bytes < csv + 500_000 and timed.datasets == 2, f"times take {timed.bytes} bytes, {timed.datasets} datasets")
    with Cost() as framed:
        run.positions(FRAMES // 2)
    expect(framed.bytes < 50_000 and framed.datasets == 1, f"a frame takes {framed.bytes} bytes, {framed.datasets} datasets")
    with Cost() as again:
        len(run), run.times, run.time(FRAMES - 2)
    expect(again.bytes < 50_000 and again.datasets <= 3, f"asking again takes {again.bytes} bytes, {again.datasets} datasets")


def bodies(folder):
    """A body is read without the rest of the frame: the chunks that hold it."""
    s = tactus.Scene(end=0.01, frame=0.01, contact=dict(thickness=0))
    s.body("many", tactus.points(lattice=dict(count=[60, 60, 60], spacing=1.0)), mass=1)
    s.body("few", tactus.points([[-9, 0, 0], [-8, 0, 0]]), mass=1)
    run = tactus.run(s, os.path.join(folder, "many.run"))
    whole = run.positions(1)
    few = run.body("few").positions(1)
    expect(few.tobytes() == whole[-2:].tobytes(), "the few vertices of a body")
    run.close()
    run = tactus.open(run.folder)
    body = run.body("few")
    with Cost() as all_of_it:
        run.positions(0)
    with Cost() as part:
        body.positions(1)
    expect(part.bytes < all_of_it.bytes / 3, f"a body of 2 vertices takes {part.bytes} bytes, the frame {all_of_it.bytes}")


with tempfile.TemporaryDirectory() as home:
    drop = right(home)
    pictures(drop, home)
    odd(drop, home)
    large(drop, home)
    bodies(home)
expect(os.path.exists(os.path.join(SOURCE, "src/python/tactus/_picture/raster.py")), "the drawer is in the source tree")
end()
