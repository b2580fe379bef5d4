"""Finds and loads libtactus, finds the program, and calls the library: one at a time, errors as exceptions."""
import contextlib
import ctypes
import functools
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import warnings

from . import _c, _where
from .errors import ClosedError, InputError, LibraryError, RunError, Stopped, TactusWarning

SONAME = f"libtactus.so.{_c.VERSION}"
FOLDERS = ["/usr/local/lib", "/usr/local/lib64", "/usr/lib", "/usr/lib64", os.path.expanduser("~/.local/lib")]
HERE = os.path.dirname(os.path.abspath(__file__))

# Neither MPI (as it is started here) nor HDF5 allows two threads at once, whichever simulations they work on.
_turn = threading.RLock()


def _at(path):
    return os.path.join(HERE, path) if path else ""


def _from_pkg_config():
    """Folders that pkg-config knows the library to be in."""
    if shutil.which("pkg-config") is None:
        return []
    done = subprocess.run(["pkg-config", "--variable=libdir", "tactus"], capture_output=True, text=True)
    return shlex.split(done.stdout) if done.returncode == 0 else []  # spaces come with backslashes


def library_places():
    """Where the library may be, in the order in which it is looked for: paths, and at last names for the loader."""
    chosen = os.environ.get("TACTUS_LIBRARY")
    if chosen:
        return [chosen if not os.path.isdir(chosen) else os.path.join(chosen, SONAME)]
    found = [_at(_where.LIBRARY)] if _where.LIBRARY else []
    folders = _from_pkg_config() + FOLDERS + [os.path.join(sys.prefix, "lib")]
    return found + [os.path.join(folder, SONAME) for folder in folders] + [SONAME]


def _find_components():
    """A wheel that carries the library carries the components of its Open MPI, too, which are looked for by this name."""
    components = os.path.join(HERE, "_libs", "openmpi")
    if os.path.isdir(components) and not os.environ.get("TACTUS_LIBRARY"):
        os.environ.setdefault("OPAL_PKGLIBDIR", components)
        os.environ.setdefault("HWLOC_PLUGINS_PATH", components)  # none: a machine's own are of another version


def run_program():
    """The program `tactus` of a wheel: the command that pip installs."""
    _find_components()
    program = find_program()
    os.execv(program, ["tactus", *sys.argv[1:]])


def _open_library():
    _find_components()
    chosen = os.environ.get("TACTUS_LIBRARY")
    said = None
    for place in library_places():
        if os.sep in place and not os.path.exists(place):
            continue
        try:
            return ctypes.CDLL(place), place
        except OSError as error:
            said = said or f"{place} cannot be loaded: {error}"
    if said and ("/" in said.split(" ")[0]):
        raise LibraryError(f"{said}; set TACTUS_LIBRARY to a {SONAME} of this machine")
    if chosen:
        raise LibraryError(f"TACTUS_LIBRARY names {chosen}, and there is no such file; set it to the path of {SONAME}")
    raise LibraryError(f"{SONAME} was not found (looked for TACTUS_LIBRARY, pkg-config's tactus, and in the usual "
                       "folders for libraries): install Tactus (cmake --install), or set TACTUS_LIBRARY to its path")


@functools.lru_cache(maxsize=None)
def load():
    """The library, loaded and declared; its attribute `struct` has the ctypes structures by name."""
    library, place = _open_library()
    # Open MPI's communicators are pointers, those of the other MPI libraries are numbers.
    open_mpi = hasattr(library, "ompi_mpi_comm_world")
    mpi_comm = ctypes.c_void_p if open_mpi else ctypes.c_int
    try:
        version = library.tac_version
    except AttributeError:
        raise LibraryError(f"{place} is no library of Tactus; set TACTUS_LIBRARY to the path of {SONAME}") from None
    version.restype = ctypes.c_char_p
    reported = version().decode()
    if reported.rpartition(".")[0] != _c.VERSION:
        raise LibraryError(f"{place} is Tactus {reported}, and this package is for {_c.VERSION}; install both of one version")
    try:
        _c.declare(library, mpi_comm)
    except AttributeError as error:
        raise LibraryError(f"{place} is older than this package ({error}); install both of one version") from None
    library.struct = _c.structs(mpi_comm)
    library.mpi_comm = mpi_comm
    library.place = place
    return library


def find_program():
    """The path of the program `tactus`: TACTUS_PROGRAM, that which was installed with the package, or PATH's."""
    chosen = os.environ.get("TACTUS_PROGRAM")
    if chosen:
        if not os.access(chosen, os.X_OK):
            raise LibraryError(f"TACTUS_PROGRAM names {chosen}, which is no program; set it to the path of tactus")
        return chosen
    with contextlib.suppress(LibraryError):
        beside = os.path.dirname(os.path.realpath(load().place))
        for path in (_at(_where.PROGRAM), os.path.join(beside, "../bin/tactus"), os.path.join(beside, "../../bin/tactus"),
                     os.path.join(beside, "tactus")):
            if path and os.path.isfile(path) and os.access(path, os.X_OK):
                return os.path.normpath(path)
    found = shutil.which("tactus")
    if found is None:
        raise LibraryError("the program tactus was not found: install Tactus, put it into PATH, or set TACTUS_PROGRAM to its path")
    return found


def fresh_environment():
    """The environment for a program that is to start its own MPI, also where this process was started by mpirun."""
    mine = ("OMPI_COMM_", "OMPI_UNIVERSE", "OMPI_APP_CTX", "OMPI_FIRST_", "OMPI_NUM_", "OMPI_FILE_", "OMPI_ARGV", "OMPI_COMMAND",
            "OMPI_MCA_orte_", "OMPI_MCA_ess", "OMPI_MCA_pmix", "OMPI_MCA_plm", "OMPI_MCA_initial", "OMPI_MCA_shmem",
            "PMIX_", "PMI_", "HYDRA_", "MPIR_", "MPI_LOCALN")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(mine)}
    return kept if launched_together() else dict(os.environ)


def launched_together():
    """Whether this process was started by mpirun or the like."""
    return any(name in os.environ for name in ("OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMIX_NAMESPACE"))


class Context:
    """A struct tac_ctx, and calls with it.  comm None: no MPI, for functions that one process calls alone."""

    def __init__(self, quiet=True):
        self.library = load()
        self.struct = self.library.struct["tac_ctx"]()
        self.struct.size = 1
        self.struct.quiet = quiet
        self.warned = []
        self.listen()

    def listen(self):
        """Keeps warnings, on rank 0; tac_ctx_init() removes this function."""
        self._hear = _c.WARNED(lambda user, sentence: self.warned.append(sentence.decode(errors="replace")))
        self.struct.warned = ctypes.cast(self._hear, ctypes.c_void_p)
        self.struct.quiet = True

    @property
    def address(self):
        return ctypes.addressof(self.struct)

    def sentence(self):
        return self.struct.error.decode(errors="replace")

    def check(self, code):
        """Issues warnings, and raises the exception of a code."""
        reported, self.warned[:] = list(self.warned), []
        for sentence in reported:
            warnings.warn(sentence, TactusWarning, stacklevel=4)
        if code != _c.CONSTANTS["TAC_OK"]:
            raise self.error(code)

    def error(self, code):
        sentence = self.sentence() or f"the library failed with code {code}"
        if code == _c.CONSTANTS["TAC_ERR_INPUT"]:
            return InputError(sentence)
        if code == _c.CONSTANTS["TAC_ERR_STOPPED"]:
            return Stopped(sentence)
        return RunError(sentence)


@contextlib.contextmanager
def turn():
    """Lets only one thread at a time call the library."""
    _turn.acquire()
    try:
        yield
    finally:
        _turn.release()


@contextlib.contextmanager
def interrupts():
    """Gives a list that Ctrl-C adds to, instead of raising KeyboardInterrupt.  Nothing changes in other threads than the
    main one, and where the host handles the signal itself."""
    seen = []
    mine = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if mine:
        signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        yield seen
    finally:
        if mine:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def take_json(library, address):
    """A JSON value of the library's as Python's; it is released."""
    import json
    if not address:
        raise RunError("out of memory in the library")
    text = library.json_dumps(address, 0x200 | (17 << 11))  # JSON_ENCODE_ANY | JSON_REAL_PRECISION(17)
    library.json_delete(address)
    if not text:
        raise RunError("out of memory in the library")
    try:
        return json.loads(ctypes.string_at(text).decode())
    finally:
        _free(text)


def give_json(library, value):
    """Python's value as one of the library's, which the caller deletes."""
    import json
    address = library.json_loads(json.dumps(value, allow_nan=False).encode(), 0, None)
    if not address:
        raise InputError("the value is not JSON that the library reads")
    return address


def strings(words):
    """(address, keeper) of an array of C strings; keep the keeper as long as the array is used."""
    kept = [encode(word) for word in words]
    array = (ctypes.c_char_p * len(kept))(*kept)
    return ctypes.cast(array, ctypes.c_void_p).value, (array, kept)


def encode(text):
    """A str or path as bytes for C."""
    data = os.fsencode(text)
    if b"\0" in data:
        raise InputError(f"{text!r} has a zero byte, which no path and no scene may have")
    return data


_free = ctypes.CDLL(None).free
_free.argtypes, _free.restype = [ctypes.c_void_p], None


def same_process(pid, what):
    if pid != os.getpid():
        raise ClosedError(f"this {what} belongs to process {pid}, and a forked process cannot use it; start processes "
                          "by multiprocessing's 'spawn' or subprocess, and make simulations there")
