"""A simulation that is stepped in this process.

    >>> import tactus
    >>> s = tactus.Scene(end=1, frame=0.25, gravity=[0, -9.81, 0])
    >>> s.body("stone", mesh=tactus.points([[0, 100, 0]]), mass=1)
    >>> sim = tactus.Simulation(s)
    >>> fallen = []
    >>> sim.on_frame(lambda sim, k: fallen.append((k, round(100 - sim.positions[0, 1], 2))))
    >>> sim.advance(0.5)
    >>> fallen
    [(1, 0.31), (2, 1.22)]
    >>> sim.close()
    >>> sim.positions
    Traceback (most recent call last):
    ...
    tactus.errors.ClosedError: the simulation was closed; make a new one

The trajectory is that of `tactus run` on the scene, to the last bit, for any steps and any number of ranks.
"""
import atexit
import contextlib
import ctypes
import json
import os
import shutil
import sys
import tempfile
import threading
import traceback
import weakref

import numpy as np

from . import _c, _library
from .errors import ClosedError, InputError, Interrupted, LibraryError, RankError, RunError, Stopped
from .scene import Scene, plain

ENERGY_DTYPE = np.dtype(
    [(name, "f8") for name in ("time", "kinetic", "gravity", "stretch", "bend", "contact", "total", "dissipated", "work", "defect")]
    + [(f"{name}_{axis}", "f8") for name in ("momentum", "angular_momentum", "friction_couple") for axis in "xyz"]
    + [("contacts", "i8"), ("deepest_layer", "i8"), ("min_distance", "f8")]
    + [(f"dissipated_{cause}", "f8") for cause in ("friction", "restitution", "damping", "plasticity")])

CONTACT_KINDS = ("vertex-triangle", "edge-edge", "vertex-segment", "vertex-vertex")
CONTACT_DTYPE = np.dtype([("kind", "i4"), ("primitive", "i8", 2), ("body", "i4", 2), ("vertex_count", "i4"), ("first_count", "i4"),
                          ("vertex", "i8", 4), ("place", "f8", 3), ("normal", "f8", 3), ("gap", "f8"), ("force", "f8"), ("weight", "f8", 4)])

_open = weakref.WeakSet()  # simulations that were not closed
_mpi = None  # of this process, once it is needed


class _Mpi:
    """MPI as this process has it: started by mpi4py, by the host, or here."""

    def __init__(self):
        self.pid, self.library = os.getpid(), _library.load()
        self.started, self.folder, self.owner = False, None, None
        mpi4py = sys.modules.get("mpi4py.MPI")
        if mpi4py is not None:
            self._compare(mpi4py)
        runs = ctypes.c_int(0)
        self.library.MPI_Initialized(ctypes.byref(runs))
        if not runs.value:
            self._start()
        atexit.register(self.end)

    def _compare(self, mpi4py):
        """Checks that mpi4py was built with the same MPI library as libtactus."""
        text, size = ctypes.create_string_buffer(8192), ctypes.c_int(0)
        self.library.MPI_Get_library_version(ctypes.cast(text, ctypes.c_void_p), ctypes.byref(size))
        mine, theirs = text.value.decode(errors="replace").rstrip("\0"), mpi4py.Get_library_version().rstrip("\0")
        if mine.split(",")[0] != theirs.split(",")[0] or mpi4py._sizeof(mpi4py.Comm) != ctypes.sizeof(self.library.mpi_comm):
            raise LibraryError(f"mpi4py uses {theirs.split(',')[0]}, and libtactus {mine.split(',')[0]}; install an mpi4py for the same MPI library")

    def _start(self):
        context = _library.Context()
        alone = not _library.launched_together()
        kept = dict(os.environ)
        if alone:
            self._settle_alone()
        began = ctypes.c_bool(False)
        try:
            code = self.library.tac_mpi_begin(context.address, ctypes.byref(began))
        finally:
            # What was set for this process alone would mislead programs that it starts.
            for name in set(os.environ) - set(kept):
                del os.environ[name]
        context.check(code)
        self.started = began.value

    def _settle_alone(self):
        """A process that was started without mpirun has a folder of its own for MPI, and needs no network."""
        for name, value in (("OMPI_MCA_ess_singleton_isolated", "1"), ("OMPI_MCA_pml", "ob1"), ("OMPI_MCA_btl", "self")):
            os.environ.setdefault(name, value)
        if "OMPI_MCA_orte_tmpdir_base" in os.environ:
            return
        with contextlib.suppress(OSError):
            self.folder = tempfile.mkdtemp(prefix="tactus-mpi-")
            os.environ["OMPI_MCA_orte_tmpdir_base"] = self.folder
            self._own()

    def _own(self):
        """As in the program, a process that starts later removes the folder of a process that was killed."""
        import fcntl
        self.owner = os.open(os.path.join(self.folder, "owner"), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(self.owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
        from .reader import this_machine
        os.write(self.owner, this_machine().encode())

    def end(self):
        if self.pid != os.getpid():
            return
        _leave_none_waiting(RunError("it ended without closing its simulation"))
        for sim in list(_open):
            if sim.size == 1:
                sim.close()
        self.library.tac_mpi_end(self.started)
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)


def start_mpi():
    """MPI of this process, which is started by the first call."""
    global _mpi
    if _mpi is None:
        _mpi = _Mpi()
        previous = sys.excepthook

        def hook(kind, value, trace):
            previous(kind, value, trace)
            _leave_none_waiting(value)
        sys.excepthook = hook
    _library.same_process(_mpi.pid, "MPI")
    return _mpi


def _leave_none_waiting(error):
    """Ends all ranks after an exception that was not caught, because other ranks may wait for this one in a collective call for ever."""
    for sim in list(_open):
        if sim.size > 1 and sim._pid == os.getpid():
            sys.stderr.flush()
            _open.discard(sim)
            with contextlib.suppress(BaseException):
                sim._agree(error)
            return


class Simulation:
    """A scene that is stepped.

    Args:
        scene: a `Scene`, or the path of a scene's file
        comm: a communicator of mpi4py, all of whose ranks make the simulation together; None: all ranks of the job
        set: {"path": value} or ["path=value"], changes to the scene as by --set

    Collective methods are called by all ranks, with the same arguments: making one, `advance`, `contacts`, `energy`,
    `set`, `save`, `close`, `gather`, and leaving a `with` block.

    Arrays are read-only and belong to Python: the next step makes new ones, and those that were taken before keep the
    values of their time, also when the simulation is closed.  The library evaluates positions straight into the array;
    there is no second copy.
    """

    def __init__(self, scene, *, comm=None, set=()):
        self._begin(comm)
        source = self.library.struct["tac_scene_source"]()
        keep = self._source(source, scene, set)
        self._make(lambda out: self.library.tac_simulation_create(self._context.address, ctypes.addressof(source), out))
        del keep

    @classmethod
    def restore(cls, checkpoint, scene=None, *, comm=None, set=()) -> "Simulation":
        """Goes on from a checkpoint, or from the newest whole one in a folder, with the bits of one that never stopped.

        Args:
            checkpoint: of `save()` or of a run: the file or the folder
            scene: path of a scene's file, which must be the same scene; None: the checkpoint's own
        """
        made = cls.__new__(cls)
        made._begin(comm)
        if isinstance(scene, Scene):
            raise InputError("a checkpoint goes on with the scene that it holds, or with that of a file; give the path, or leave it out")
        source = made.library.struct["tac_scene_source"]()
        keep = made._source(source, scene, set)
        path = _library.encode(checkpoint)
        made._make(lambda out: made.library.tac_simulation_restore(made._context.address, path, ctypes.addressof(source), out))
        del keep
        return made

    # ---- making ----

    def _begin(self, comm):
        self._sim = ctypes.c_void_p()
        self._callbacks, self._mutex, self._owner = [], threading.Lock(), None
        self._stored = self._sizes = None
        self._closed_why = "the simulation was not made"
        self._forget()
        self.library = _library.load()
        mpi = start_mpi()
        self._pid = mpi.pid
        self._context = _library.Context()
        if comm is None and "mpi4py.MPI" in sys.modules:
            comm = sys.modules["mpi4py.MPI"].COMM_WORLD
        self.comm = comm
        self._comm = self.library.mpi_comm()
        if comm is None:
            started = ctypes.c_bool(False)
            self.library.tac_mpi_begin(self._context.address, ctypes.byref(started))
            handle = self._context.struct.comm
        else:
            handle = self._handle(comm)
        # A communicator of our own: what ranks tell each other here never meets the host's messages.
        if self.library.MPI_Comm_dup(handle, ctypes.addressof(self._comm)) != 0:
            raise RunError("MPI could not copy the communicator")
        self.library.tac_ctx_init(self._context.address, self._comm)
        self._context.listen()
        self.rank, self.size = self._context.struct.rank, self._context.struct.size

    def _handle(self, comm):
        mpi4py = sys.modules.get("mpi4py.MPI")
        if mpi4py is None or not isinstance(comm, mpi4py.Comm):
            raise InputError(f"comm is a {type(comm).__name__}; a communicator of mpi4py is needed")
        if comm == mpi4py.COMM_NULL:
            raise InputError("comm is COMM_NULL; only ranks of the communicator make the simulation")
        return self.library.mpi_comm.from_address(mpi4py._addressof(comm)).value

    def _source(self, source, scene, changes):
        """Fills a struct tac_scene_source; what it points to lives as long as what is returned."""
        keep = []
        if isinstance(scene, Scene):
            text = ctypes.create_string_buffer(scene.text().encode())
            source.text = ctypes.addressof(text)
            keep.append(text)
            if scene.folder is not None:
                folder = ctypes.create_string_buffer(_library.encode(scene.folder))
                source.folder = ctypes.addressof(folder)
                keep.append(folder)
        elif isinstance(scene, (str, os.PathLike)):
            path = ctypes.create_string_buffer(_library.encode(scene))
            source.path = ctypes.addressof(path)
            keep.append(path)
        elif scene is not None:
            raise InputError(f"scene is a {type(scene).__name__}; a tactus.Scene or the path of a scene's file is needed")
        words = assignments(changes)
        if words:
            source.set, kept = _library.strings(words)
            source.set_count = len(words)
            keep.append(kept)
        return keep

    def _make(self, create):
        try:
            with _library.turn():
                code = create(ctypes.addressof(self._sim))
            self._context.check(code)
        except BaseException:
            self._free_comm()
            raise
        self._closed_why = ""
        self._watch = _c.WATCHER(self._go_on)
        self.library.tac_simulation_watch(self._sim, self._watch, None)
        _open.add(self)
        self._describe()

    def _describe(self):
        """Returns the present text of the scene."""
        scene = self.library.struct["tac_scene"].from_address(self.library.tac_simulation_scene(self._sim))
        settings = self.library.struct["tac_settings"].from_address(scene.settings)
        self._scene_address = ctypes.addressof(scene)
        self.sha256, self.quantum = settings.sha256.decode(), settings.quantum_s
        self._stored = None

    def _free_comm(self):
        over = ctypes.c_int(0)
        self.library.MPI_Finalized(ctypes.byref(over))
        if not over.value and self._comm:
            self.library.MPI_Comm_free(ctypes.addressof(self._comm))
        self._comm = None

    # ---- guards ----

    @contextlib.contextmanager
    def _call(self):
        """Around every call of the library: this process, not closed, one thread, not out of a callback."""
        self._usable()
        if not self._mutex.acquire(blocking=False):
            what = "it is at work, and cannot be called before it has ended" if self._owner == threading.get_ident() else "another thread is using it"
            raise ClosedError(f"the simulation is busy: {what}")
        self._owner = threading.get_ident()
        try:
            with _library.turn():
                yield
        finally:
            self._mutex.release()

    def _usable(self):
        _library.same_process(self._pid, "simulation")
        if self._closed_why:
            raise ClosedError(self._closed_why)

    def _go_on(self, user):
        """Called by the library between two windows, where Python also looks for signals."""
        return not self._interrupted

    @contextlib.contextmanager
    def _interruptible(self):
        """Ctrl-C ends the step between two windows, and raises KeyboardInterrupt when the library has returned."""
        with _library.interrupts() as self._interrupted:
            yield

    def _agree(self, error=None):
        """Collective. An exception on some rank is one on all: its own there, RankError on the others."""
        if self.size == 1 or self._comm is None:
            if error is not None:
                raise error
            return
        if isinstance(error, RankError) or getattr(error, "tactus_agreed", False):
            raise error  # all know of it
        code = _c.CONSTANTS["TAC_OK"]
        self._context.struct.error = b""
        if error is not None:
            code = _c.CONSTANTS["TAC_ERR_RUN"]
            text = "".join(traceback.format_exception_only(type(error), error)).strip().replace("\n", " ")
            self._context.struct.error = f"rank {self.rank} failed: {text}".encode()[:2000]
        with _library.turn():
            code = self.library.tac_agree(self._context.address, code)
        if error is not None:
            error.tactus_agreed = True
            raise error
        if code != _c.CONSTANTS["TAC_OK"]:
            raise RankError(self._context.sentence())

    # ---- life ----

    @property
    def closed(self) -> bool:
        return bool(self._closed_why)

    def close(self) -> None:
        """Frees the simulation.  Arrays that were taken stay.  Closing twice is allowed; after a fork it does nothing."""
        if self._closed_why or self._pid != os.getpid():
            return
        with self._call():
            self._closed_why = "the simulation was closed; make a new one"
            over = ctypes.c_int(0)
            self.library.MPI_Finalized(ctypes.byref(over))
            if not over.value:
                self.library.tac_simulation_destroy(ctypes.byref(self._sim))
                self._free_comm()
        _open.discard(self)
        self._forget()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if self._closed_why or self._pid != os.getpid():
            return
        try:
            if self.size > 1:
                try:
                    self._agree(error)
                except BaseException as raised:
                    if raised is not error:
                        raise
        finally:
            self.close()

    def __del__(self):
        # On several ranks memory is collected at other times, and freeing the communicator is collective.
        if not getattr(self, "_closed_why", "unmade") and self.size == 1:
            with contextlib.suppress(Exception):
                self.close()

    def __repr__(self):
        return f"<tactus.Simulation, {self._closed_why or f't = {self.time:.9g} s, rank {self.rank} of {self.size}'}>"

    # ---- time ----

    @property
    def time(self) -> float:
        """The time reached, s."""
        with self._call():
            return self.library.tac_simulation_time(self._sim)

    def advance(self, t: float) -> None:
        """Collective.  Goes on to t, s, rounded to the scene's quantum; callbacks of frames before t are called.

        Raises:
            InputError: t lies before now, or is no time
            RunError: the scene cannot go on
            KeyboardInterrupt, Stopped: Ctrl-C on this rank, on another one; the simulation stands between, and can go on
            RankError: a callback failed on another rank
        """
        t = float(t)
        if not self._callbacks:
            self._advance(t)
            return
        k = self._next_frame()
        while (at := self.frame_time(k)) is not None and at <= t:
            self._advance(at)
            self._tell(k)
            k += 1
        self._advance(t)

    def _advance(self, t):
        with self._call(), self._interruptible():
            self._forget()
            code = self.library.tac_simulation_advance(self._sim, t)
            self._forget()
        if self._interrupted:
            raise Interrupted(f"interrupted at t = {self.time:.9g} s; advance() goes on from here")
        self._context.check(code)

    def _tell(self, k):
        error = None
        try:
            for function in list(self._callbacks):
                function(self, k)
        except BaseException as raised:
            error = raised
        self._agree(error)

    def on_frame(self, function) -> None:
        """Has function(sim, k) called whenever `advance` comes to frame k, on every rank.

        It may look at the simulation and change it (`set`), but not advance or close it.  An exception in it ends
        `advance`, on all ranks: with the exception itself where it was raised, with RankError on the others.
        """
        self._callbacks.append(function)

    def frame_time(self, k: int) -> "float | None":
        """The time of frame k, s, as in a run of the scene; None beyond the last."""
        with self._call():
            if k > 0 and self.library.tac_scene_frame_time(self._scene_address, k) == self.library.tac_scene_frame_time(self._scene_address, k - 1):
                return None
            return self.library.tac_scene_frame_time(self._scene_address, k) * self.quantum

    def _next_frame(self):
        """The first frame after now."""
        now, low, high = self.time, 0, 1
        while (at := self.frame_time(high)) is not None and at <= now:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            at = self.frame_time(middle)
            low, high = (middle, high) if at is not None and at <= now else (low, middle)
        return high

    def frames(self, until: "float | None" = None):
        """Collective.  Advances from frame to frame: `for k in sim.frames(): ...`; the first is now, if now is one.

        Args:
            until: s; None: the scene's end
        """
        k = self._next_frame() - 1
        if self.frame_time(k) != self.time:
            k += 1
        while (at := self.frame_time(k)) is not None and (until is None or at <= until):
            if at > self.time:
                self.advance(at)
            yield k
            k += 1

    # ---- what is there ----

    def _forget(self):
        self._positions = self._velocities = self._ids = None

    def _copy(self, which):
        with self._call():
            n = self.library.tac_simulation_vertices(self._sim)
            array = np.empty(n, np.int64) if which == 0 else np.empty((n, 3), np.float64)
            places = [array.ctypes.data if which == k else None for k in range(3)]
            self._context.check(self.library.tac_simulation_copy(self._sim, n, *places))
        array.flags.writeable = False
        return array

    @property
    def ids(self) -> np.ndarray:
        """(n) int64: global numbers of this rank's vertices, ascending: places in the scene's order."""
        self._usable()
        if self._ids is None:
            self._ids = self._copy(0)
        return self._ids

    @property
    def positions(self) -> np.ndarray:
        """(n, 3) float64, m, read-only: of this rank's vertices, now."""
        self._usable()
        if self._positions is None:
            self._positions = self._copy(1)
        return self._positions

    @property
    def velocities(self) -> np.ndarray:
        """(n, 3) float64, m/s, read-only: of this rank's vertices, now."""
        self._usable()
        if self._velocities is None:
            self._velocities = self._copy(2)
        return self._velocities

    @property
    def scene(self) -> dict:
        """The resolved scene with all changes so far: every default filled in, paths absolute."""
        with self._call():
            if self._stored is None:
                self._stored = _library.take_json(self.library, self.library.tac_scene_stored_json(self._scene_address))
                counts = np.cumsum([0] + self._stored.pop("geometry")["vertices"]).tolist()
                names = [body["name"] for body in self._stored["bodies"]]
                self._sizes = {name: slice(counts[k], counts[k + 1]) for k, name in enumerate(names)}
        return self._stored

    @property
    def bodies(self) -> "list[str]":
        """The bodies' names, in the scene's order; places in it are the numbers in contacts."""
        self._usable()
        if self._sizes is None:
            self.scene
        return list(self._sizes)

    def vertices(self, body: str) -> slice:
        """The body's vertices, as a slice of global numbers."""
        names = self.bodies
        if body not in names:
            raise InputError(f"there is no body {body!r}; the bodies are {', '.join(map(repr, names))}")
        return self._sizes[body]

    def of(self, body: str) -> slice:
        """The body's vertices on this rank, as a slice of `ids`, `positions` and `velocities`."""
        wanted = self.vertices(body)
        return slice(*np.searchsorted(self.ids, [wanted.start, wanted.stop]).tolist())

    def contacts(self) -> np.ndarray:
        """Collective.  The present contacts, structured: each is on one rank, that of its first vertex that can move.

        Fields: kind (0 vertex-triangle, 1 edge-edge, 2 vertex-segment, 3 vertex-vertex), primitive (2) and vertex (4)
        global numbers, -1 unused, body (2) places in `bodies`, vertex_count, first_count, place (3) m, normal (3) from
        the second primitive to the first, gap in m, force in N along the normal, without friction and restitution,
        weight (4) of the vertices: of the first primitive's nearest point, and minus that of the second's.
        """
        with self._call():
            address, count = ctypes.c_void_p(), ctypes.c_size_t()
            self._context.check(self.library.tac_simulation_contacts(self._sim, ctypes.addressof(address), ctypes.addressof(count)))
            made = np.empty(count.value, CONTACT_DTYPE)
            if count.value:
                kind = self.library.struct["tac_contact"]
                layout = np.dtype({"names": CONTACT_DTYPE.names, "formats": [CONTACT_DTYPE[name] for name in CONTACT_DTYPE.names],
                                   "offsets": [getattr(kind, name).offset for name in CONTACT_DTYPE.names], "itemsize": ctypes.sizeof(kind)})
                raw = np.frombuffer((ctypes.c_char * (count.value * ctypes.sizeof(kind))).from_address(address.value), layout)
                for name in CONTACT_DTYPE.names:
                    made[name] = raw[name]
        return made

    def contact_force(self, body: str, by: "str | None" = None) -> np.ndarray:
        """Collective.  The contact force (3) on a body now, N, summed over all ranks: of all others, or of one.

        Several ranks need mpi4py.
        """
        names, found = self.bodies, self.contacts()
        for name in filter(None, (body, by)):
            self.vertices(name)
        me, other = names.index(body), None if by is None else names.index(by)
        push = found["force"][:, None] * found["normal"]
        total = np.zeros(3)
        for side, sign in ((0, 1), (1, -1)):
            counts = (found["body"][:, side] == me) & (found["body"][:, 1 - side] != me)
            if other is not None:
                counts &= found["body"][:, 1 - side] == other
            total += sign * push[counts].sum(0)
        return total if self.size == 1 else self._communicator().allreduce(total)

    def energy(self) -> np.void:
        """Collective.  The row of energy.csv for now, with its columns as fields, the same on all ranks.

        `deepest_layer` is that since the last call.
        """
        with self._call():
            row = self.library.struct["tac_energy_row"]()
            self._context.check(self.library.tac_simulation_energy(self._sim, ctypes.addressof(row)))
        values = []
        for name, _ in row._fields_:
            value = getattr(row, name)
            values += list(value) if isinstance(value, ctypes.Array) else [value]
        return np.array([tuple(values)], ENERGY_DTYPE)[0]

    def gather(self, what: str = "positions", root: "int | None" = 0) -> "np.ndarray | None":
        """Collective.  Positions or velocities (V, 3) of all ranks' vertices in the scene's order, on rank `root`.

        Args:
            what: "positions" or "velocities"
            root: the rank that gets them; None: all do.  The others get None
        """
        if what not in ("positions", "velocities"):
            raise InputError(f"what is {what!r}; it must be 'positions' or 'velocities'")
        mine = getattr(self, what)
        if self.size == 1:
            return mine
        comm = self._communicator()
        parts = comm.allgather((self.ids, mine)) if root is None else comm.gather((self.ids, mine), root)
        if parts is None:
            return None
        ids, rows = (np.concatenate([part[k] for part in parts]) for k in range(2))
        made = np.empty_like(rows)
        made[ids] = rows
        made.flags.writeable = False
        return made

    def _communicator(self):
        if self.comm is None:
            raise LibraryError("sums over several ranks need mpi4py: import it before the simulation is made (Debian: python3-mpi4py)")
        return self.comm

    # ---- changes, and the disk ----

    def set(self, path: str, value) -> None:
        """Collective.  Changes the scene from now on: `sim.set("gravity", [0, 0, -9.81])`.

        What can be changed is in tactus/simulation.h (tac_simulation_set_control()): gravity, contact.friction,
        contact.restitution, contact.pairs.K.friction, loads.K.force (.pressure, .wind, .drag, .path), motions.K.path,
        motions.K.rotate.path.  InputError: it cannot be changed, or the value is wrong; nothing is changed then.
        """
        word = _library.encode(assignment(path, value))
        with self._call():
            self._forget()
            self._context.check(self.library.tac_simulation_set_control(self._sim, word))
            self._describe()

    def save(self, folder) -> str:
        """Collective.  Writes a checkpoint of now into a folder, which is made, and returns the checkpoint's path."""
        name = ctypes.create_string_buffer(256)
        with self._call():
            self._context.check(self.library.tac_simulation_save(self._sim, _library.encode(folder), ctypes.addressof(name), len(name)))
        return os.path.join(os.fspath(folder), os.fsdecode(name.value))


def assignment(path, value):
    """Returns "path=value" in the form of the library."""
    if not isinstance(path, str) or not path or "=" in path:
        raise InputError(f"{path!r} is no path of a key; write it like 'loads.0.force'")
    return f"{path}={json.dumps(plain(value, path), allow_nan=False)}"


def assignments(changes):
    """A dict or a list of "path=value" as a list of them."""
    if isinstance(changes, dict):
        return [assignment(path, value) for path, value in changes.items()]
    if isinstance(changes, str) or not all(isinstance(word, str) for word in changes):
        raise InputError("set is a dict {path: value}, or a list of texts 'path=value'")
    return list(changes)


__all__ = ["Simulation", "Stopped", "ENERGY_DTYPE", "CONTACT_DTYPE", "CONTACT_KINDS"]
