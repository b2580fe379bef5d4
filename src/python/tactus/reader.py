"""Reads run folders, also while the run goes on. Data is read when it is used.

    >>> import tactus, tempfile, os
    >>> s = tactus.Scene(end=0.25, frame=0.125, gravity=[0, -9.81, 0])
    >>> s.body("stone", mesh=tactus.points([[0, 10, 0]]), mass=1)
    >>> run = tactus.run(s, os.path.join(tempfile.mkdtemp(), "fall.run"), progress=False)
    >>> run.state, len(run), run.times.tolist()
    ('finished', 3, [0.0, 0.125, 0.25])
    >>> run.positions(-1).round(3).tolist()
    [[0.0, 9.695, 0.0]]
    >>> run.energy["kinetic"].round(2).tolist()
    [0.0, 0.75, 3.0]
"""
import contextlib
import functools
import json
import os
import socket
import time
import warnings
from typing import NamedTuple

import numpy as np

from .errors import InputError, ReadError, TactusWarning

SI = {"length": "m", "mass": "kg", "time": "s", "force": "N", "pressure": "Pa", "energy": "J"}
PATIENCE_S = 2.  # how long to try again while a frame is being written


def this_machine():
    """This machine and its last boot, as status.json has it."""
    boot = ""
    with contextlib.suppress(OSError), open_text("/proc/sys/kernel/random/boot_id") as file:
        boot = file.read().split("\n")[0]
    return "".join(c if " " <= c <= "~" else "?" for c in f"{socket.gethostname()} {boot}")


def open_text(path):
    import builtins
    return builtins.open(path, encoding="utf-8")


class RunMesh(NamedTuple):
    """The mesh of a run: V vertices of all bodies, in the scene's order."""
    triangles: np.ndarray  #: (T, 3) int64
    segments: np.ndarray  #: (S, 2) int64
    points: np.ndarray  #: (P) int64: vertices of bodies that have neither
    body: np.ndarray  #: (V) int32: which body, a place in `names`
    names: "list[str]"  #: of the bodies
    radius: np.ndarray  #: (V) float64, m
    free: np.ndarray  #: (V) bool: free at some time
    tetrahedra: np.ndarray = np.zeros((0, 4), np.int64)  #: (K, 4) int64: of solids


class Run:
    """A run folder.  Only its status is read at once, all other data when it is used.

    Frames are counted from 0 in the order of the file; k < 0 counts from the end.  `len(run)` is how many there are now.
    """

    def __init__(self, folder):
        self.folder = os.fspath(folder)
        if not os.path.isdir(self.folder):
            raise ReadError(f"{self.folder} is no folder; give the run folder that `tactus run` wrote")
        if not os.path.exists(self._path("frames.h5")) and not os.path.exists(self._path("status.json")):
            raise ReadError(f"{self.folder} holds no run: neither frames.h5 nor status.json is there")
        self._file = self._key = self._listed = None
        self._names, self._rows = [], _Rows(self._path("energy.csv"))

    def _path(self, name):
        return os.path.join(self.folder, name)

    def __repr__(self):
        with contextlib.suppress(ReadError):
            return f"<tactus.Run {self.folder!r}, {self.state}>"
        return f"<tactus.Run {self.folder!r}>"

    # ---- how far it is ----

    def _json(self, name, missing=None):
        try:
            with open_text(self._path(name)) as file:
                return json.load(file)
        except FileNotFoundError:
            if missing is not None:
                return missing
            raise ReadError(f"{self.folder} holds no {name}") from None
        except (OSError, ValueError) as error:
            raise ReadError(f"{self._path(name)} cannot be read: {error}") from None

    @property
    def status(self) -> dict:
        """status.json as it is now: `state`, `time`, `share`, `speed`, `wall_left_s`, ... (docs/reference/run-folder.md)."""
        return self._json("status.json", {})

    @property
    def info(self) -> dict:
        """run.json: what ran, and counters; empty until the run has ended."""
        return self._json("run.json", {})

    @property
    def scene(self) -> dict:
        """scene.json: the scene as it was run, every default filled in."""
        return self._json("scene.json")

    @property
    def state(self) -> str:
        """"running", "finished", "stopped", "failed"; "killed": it says running, and its process is gone."""
        status = self.status
        state = status.get("state", "unknown")
        return "killed" if state == "running" and is_gone(status) else state

    @property
    def live(self) -> bool:
        """Whether the run goes on."""
        return self.state == "running"

    @property
    def units(self) -> dict:
        """Names of the run's units: `length`, `mass`, `time`, `force`, `pressure`, `energy`.  Those of SI, if the scene has no units."""
        return {**SI, **(self.status.get("units") or {})}

    @property
    def sha256(self) -> str:
        """The hash of the scene."""
        return self.status.get("scene_sha256") or self.info.get("scene_sha256", "")

    def wait(self, timeout: "float | None" = None, every: float = 0.2) -> str:
        """Waits until the run has ended, at most `timeout` s, and returns its state."""
        until = None if timeout is None else time.monotonic() + timeout
        while self.live and (until is None or time.monotonic() < until):
            time.sleep(every)
        return self.state

    # ---- frames.h5 ----

    def _open(self):
        """The file, opened anew if it has changed."""
        import h5py
        key = None
        with contextlib.suppress(FileNotFoundError):
            st = os.stat(self._path("frames.h5"))
            key = st.st_ino, st.st_size, st.st_mtime_ns
        if self._file is None or key != self._key:
            self.close()
            status = self.status
            if status.get("state") == "running" and not is_gone(status) and status.get("ranks", 1) > 1:
                raise ReadError(f"{self._path('frames.h5')} is being written by {status['ranks']} processes, and cannot be read before the run has "
                                "ended or stopped; status and energy can be read now")
            os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")  # who looks at a run shall not stop it
            self._file = h5py.File(self._path("frames.h5"), "r")
            self._key = key
        return self._file

    def close(self) -> None:
        """Closes frames.h5; it is opened again when it is needed."""
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def _read(self, what, read):
        """read(file), again if the file is written at that moment."""
        until = time.monotonic() + PATIENCE_S
        while True:
            try:
                return read(self._open())
            except (OSError, KeyError, RuntimeError, ValueError) as error:
                if isinstance(error, (ReadError, InputError)):
                    raise
                self.close()
                if not self.live or time.monotonic() > until:
                    reported = "is not there" if isinstance(error, FileNotFoundError) else "is being written at this moment; try again" if self.live else f"is damaged or was not finished: {error}"
                    raise ReadError(f"{self._path('frames.h5')}, {what}, {reported}") from None
                time.sleep(0.02)

    def _list(self, file):
        """Names of the frames, in ascending order; new ones are looked up by their names."""
        if self._listed == self._key:
            return self._names
        frames = file["frames"]
        count = len(frames)
        first = int(self._names[0]) if self._names else 0
        while self._names and len(self._names) < count and f"{first + len(self._names):06d}" in frames:
            self._names.append(f"{first + len(self._names):06d}")
        if len(self._names) != count or count and self._names[-1] not in frames:
            self._names = sorted((name for name in frames if name.isdigit()), key=int)
        # A frame that a kill has cut short lacks datasets.
        while self._names and not {"time", "position", "velocity", "contact_force"} <= set(frames[self._names[-1]]):
            self._names.pop()
        self._listed = self._key
        return self._names

    def __len__(self):
        return len(self._read("frames", self._list))

    def _name(self, file, k):
        names = self._list(file)
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)):
            raise InputError(f"{k!r} is no number of a frame")
        if not -len(names) <= k < len(names):
            raise InputError(f"there is no frame {k}; the run has {len(names)} frames, 0 to {len(names) - 1}")
        return names[k]

    def _rows_of(self, k, name, body=None):
        rows = slice(None) if body is None else body

        def read(file):
            return file["frames"][self._name(file, k)][name][rows]
        return self._read(f"frame {k}, {name}", read)

    def time(self, k: int) -> float:
        """The time of frame k, s."""
        return float(self._read(f"frame {k}, time", lambda file: file["frames"][self._name(file, k)]["time"][()]))

    def positions(self, k: int) -> np.ndarray:
        """(V, 3) float64, m, in frame k."""
        return self._rows_of(k, "position")

    def velocities(self, k: int) -> np.ndarray:
        """(V, 3) float64, m/s, in frame k."""
        return self._rows_of(k, "velocity")

    def contact_force(self, k: int) -> np.ndarray:
        """(V, 3) float32, N: impulse of contact since the frame before, over the time between."""
        return self._rows_of(k, "contact_force")

    def fields(self, k: int) -> list:
        """Names of what frame k has beside positions, velocities and contact forces (output.fields, output.contacts)."""
        def read(file):
            return sorted(set(file["frames"][self._name(file, k)]) - {"position", "velocity", "contact_force", "time"})
        return self._read(f"frame {k}", read)

    def field(self, k: int, name: str) -> np.ndarray:
        """What frame k has on request (docs/reference/run-folder.md): (C) or (V) float32, or of contacts_... (N), (N, 3), (N, 4)."""
        if name not in self.fields(k):
            raise InputError(f"frame {k} of {self.folder!r} has no {name!r}; it has {', '.join(self.fields(k)) or 'none'}; ask for it by output.fields")
        return self._rows_of(k, name)

    def _csv(self, name, key):
        import csv
        try:
            with open_text(self._path(name)) as file:
                header, *rows = csv.reader(line for line in file if line.endswith("\n"))
            kind = [(key, "i8" if key in ("body", "history", "vertex", "vertices") else "O" if key == "name" else "f8") for key in header]
            return np.array([tuple(text if key == "name" else float(text) for key, text in zip(header, row, strict=True)) for row in rows], kind)
        except FileNotFoundError:
            raise InputError(f"{self.folder!r} has no {name}; ask for it by {key}") from None
        except (OSError, ValueError) as error:
            raise ReadError(f"{self._path(name)} cannot be read: {error}") from None

    @property
    def reactions(self) -> np.ndarray:
        """(rows) structured: the columns of reactions.csv (output.reactions)."""
        return self._csv("reactions.csv", "output.reactions")

    @property
    def histories(self) -> np.ndarray:
        """(rows) structured: the columns of histories.csv (output.histories); a history has those with its `name`."""
        return self._csv("histories.csv", "output.histories")

    @property
    def times(self) -> np.ndarray:
        """(frames) float64, s: of all frames there are now."""
        def read(file):
            names = list(self._list(file))
            if not names:
                return np.zeros(0)
            # energy.csv has the same times in one column.  The first and the last frame must agree with it.
            first, last = (float(file["frames"][names[k]]["time"][()]) for k in (0, -1))
            rows = self._rows.times()
            at = np.searchsorted(rows, first)
            if int(names[-1]) - int(names[0]) == len(names) - 1 and at + len(names) <= len(rows):
                found = rows[at:at + len(names)]
                if found[0] == first and found[-1] == last:
                    return found.copy()
            return np.array([float(file["frames"][name]["time"][()]) for name in names])
        return self._read("times", read)

    @functools.cached_property
    def mesh(self) -> RunMesh:
        """The mesh: triangles, segments, tetrahedra, bodies."""
        def read(file):
            mesh = file["mesh"]
            names = [name.decode() if isinstance(name, bytes) else str(name) for name in np.atleast_1d(mesh["body_names"][()])]
            body = mesh["body"][()].ravel()
            free = mesh["free"][()].astype(bool).ravel() if "free" in mesh else np.ones(len(body), bool)
            return RunMesh(mesh["triangles"][()].reshape(-1, 3), mesh["segments"][()].reshape(-1, 2), mesh["points"][()].ravel(),
                           body, names, mesh["radius"][()].ravel(), free,
                           mesh["tetrahedra"][()].reshape(-1, 4) if "tetrahedra" in mesh else np.zeros((0, 4), np.int64))
        return self._read("the mesh", read)

    def body(self, name: str) -> "RunBody":
        """One body of the run."""
        return RunBody(self, name)

    # ---- energy.csv ----

    @property
    def energy(self) -> np.ndarray:
        """(rows) structured: the columns of energy.csv as fields; of all rows there are now."""
        return self._rows.table()

    def dataframe(self):
        """The energies as a DataFrame of pandas, by time."""
        try:
            import pandas
        except ImportError:
            raise InputError("dataframe() needs pandas (Debian: python3-pandas); run.energy is a numpy array with the same columns") from None
        return pandas.DataFrame(self.energy).set_index("time")

    # ---- pictures ----

    def plot_energy(self, path=None, axes=None):
        """Draws the energies over time with matplotlib; into a file, or into `axes`.  Returns the axes."""
        from . import plot
        return plot.energy(self, path, axes)

    def picture(self, k: int = -1, width: int = 800, height: int = 600, **view) -> np.ndarray:
        """(height, width, 3) uint8: frame k as a picture.

        Args:
            view: azimuth and elevation in degrees, zoom, up (3), as for jobs/render
        """
        from . import plot
        return plot.picture(self, [k], [k], width, height, view)[0]

    def show(self, k: int = -1, path=None, width: int = 800, height: int = 600, viewer: "str | None" = None, **view):
        """Shows frame k: in a notebook or a window, or writes it into a file (PNG, JPEG, ... by its name).

        Args:
            viewer: "pyvista" (which can be turned by the mouse), "picture", or None: PyVista if it is installed and no
                path is given
            view: as for `picture()`
        """
        from . import plot
        return plot.show(self, k, path, width, height, viewer, view)

    def movie(self, path="movie.webp", frames=None, width: int = 640, height: int = 480, fps: float = 20, **view) -> str:
        """Writes a movie of the frames: .webp or .gif, or what ffmpeg makes (.mp4, .webm) if it is installed.

        Args:
            frames: their numbers; None: all there are
        """
        from . import plot
        return plot.movie(self, os.fspath(path), frames, width, height, fps, view)


class RunBody:
    """One body of a run.

    Attributes:
        name: its name
        vertices: slice of the run's vertices
        triangles, segments, tetrahedra: (T, 3), (S, 2), (K, 4) int64, in numbers of the body's own vertices
    """

    def __init__(self, run, name):
        mesh = run.mesh
        if name not in mesh.names:
            raise InputError(f"there is no body {name!r}; the bodies are {', '.join(map(repr, mesh.names))}")
        at = np.flatnonzero(mesh.body == mesh.names.index(name))
        self.run, self.name = run, name
        self.vertices = slice(int(at[0]), int(at[-1]) + 1) if len(at) else slice(0, 0)
        self.triangles, self.segments, self.tetrahedra = (rows[(rows[:, 0] >= self.vertices.start) & (rows[:, 0] < self.vertices.stop)] - self.vertices.start
                                         for rows in (mesh.triangles, mesh.segments, mesh.tetrahedra))

    def __repr__(self):
        return f"<body {self.name!r} of {self.run.folder!r}, {self.vertices.stop - self.vertices.start} vertices>"

    def positions(self, k: int) -> np.ndarray:
        """(n, 3) float64, m, in frame k; nothing else of the frame is read."""
        return self.run._rows_of(k, "position", self.vertices)

    def velocities(self, k: int) -> np.ndarray:
        """(n, 3) float64, m/s, in frame k."""
        return self.run._rows_of(k, "velocity", self.vertices)

    def contact_force(self, k: int) -> np.ndarray:
        """(n, 3) float32, N, in frame k, as `Run.contact_force()`."""
        return self.run._rows_of(k, "contact_force", self.vertices)


class _Rows:
    """energy.csv: whole rows, read on from where the last reading ended."""

    def __init__(self, path):
        self.path, self.inode = path, None
        self._start_over()

    def _start_over(self):
        self.header, self.offset, self.lines, self.known, self.parsed = None, 0, [], np.zeros(0), None

    def _catch_up(self):
        import builtins
        try:
            with builtins.open(self.path, "rb") as file:
                st = os.fstat(file.fileno())
                if st.st_size < self.offset or st.st_ino != self.inode:  # a restart has removed rows, or another run has begun
                    self._start_over()
                    self.inode = st.st_ino
                file.seek(self.offset)
                data = file.read()
        except OSError as error:
            raise ReadError(f"{self.path}: {error.strerror}; there are no energies") from None
        end = data.rfind(b"\n") + 1
        self.offset += end
        lines = data[:end].split(b"\n")[:-1]
        if self.header is None and lines:
            self.header = lines.pop(0).decode(errors="replace").split(",")
        self.lines += lines
        if lines:
            self.parsed = None
        if self.header is not None and self.header[0] != "time":
            raise ReadError(f"{self.path} is no energy.csv: its first column is {self.header[0]!r}")

    def times(self):
        self._catch_up()
        if len(self.known) < len(self.lines):
            try:
                new = [float(line.split(b",", 1)[0]) for line in self.lines[len(self.known):]]
            except ValueError:
                raise ReadError(f"{self.path} is damaged: a time is no number") from None
            self.known = np.concatenate([self.known, new])
        return self.known

    def table(self):
        self._catch_up()
        if self.parsed is None:
            header = self.header or ["time"]
            kind = np.dtype([(name, "i8" if name in ("contacts", "deepest_layer") else "f8") for name in header])
            try:
                rows = [line.split(b",") for line in self.lines]
                made = np.empty(len(rows), kind)
                for k, name in enumerate(header):
                    made[name] = np.array([row[k] for row in rows], dtype="S32").astype("f8") if rows else 0
            except (ValueError, IndexError):
                bad = next((k for k, row in enumerate(rows) if len(row) != len(header)), None)
                raise ReadError(f"{self.path} is damaged" + (f": line {bad + 2} has {len(rows[bad])} columns and not {len(header)}" if bad is not None else "")) from None
            self.parsed = made
        return self.parsed.copy()


def is_gone(status):
    """Returns whether the process that a status.json names has ended; only the machine on which it ran can find that."""
    if status.get("machine") != this_machine() or not isinstance(status.get("pid"), int) or status["pid"] <= 0:
        return False
    try:
        with open_text(f"/proc/{status['pid']}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return True
    return fields[0] in "ZX" or status.get("pid_start") not in (None, -1, int(fields[19]))


def open(folder) -> Run:
    """Opens a run folder, also one whose run goes on.  ReadError: there is no run."""
    run = Run(folder)
    if run.state == "killed":
        warnings.warn(f"{run.folder}: the process that wrote it is gone; tactus.run(restart={run.folder!r}) goes on from its last checkpoint",
                      TactusWarning, stacklevel=2)
    return run
