"""Whole runs: the program in a process of its own, on one rank or by mpirun on many.

    run = tactus.run(scene, "out.run", ranks=4)        # waits, with a progress bar
    process = tactus.start(scene, "out.run")           # does not wait
    tactus.open("out.run").energy                      # what there is so far
    run = process.wait()

Ctrl-C stops the run in good order, with a checkpoint, and raises `tactus.Interrupted`; `tactus.run(restart="out.run")`
goes on from there.
"""
import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings

from . import _library
from .errors import InputError, Interrupted, LibraryError, RunError, Stopped, TactusWarning
from .reader import Run
from .scene import Scene
from .simulation import assignments

EVERY_S = 0.25  # how often status.json is looked at
STOPPED = 75


class RunProcess:
    """A run that goes on in a process of its own.

    Attributes:
        folder: the run folder
        command: the command line
        pid: of the process (of mpirun, on several ranks)
    """

    def __init__(self, command, folder, temporary, before, limited):
        self.folder, self.command, self._launched = folder, command, command[1:2] != ["run"]
        self._temporary, self._before, self._limited = temporary, before, limited
        self._reported, self._stop_asked = [], False
        try:
            # A group of its own: Ctrl-C in the terminal comes to Python alone, which then stops the run in good order.
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                             env=_library.fresh_environment(), start_new_session=True)
        except OSError as error:
            self._clean()
            raise LibraryError(f"{command[0]} cannot be started: {error.strerror}") from None
        self.pid = self._process.pid
        self._reader = threading.Thread(target=self._listen, daemon=True)
        self._reader.start()

    def __repr__(self):
        return f"<tactus run into {self.folder!r}, process {self.pid}>"

    def _listen(self):
        with self._process.stderr as pipe:
            for line in pipe:
                self._reported.append(line.decode(errors="replace").rstrip("\n"))

    def _clean(self):
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    @property
    def run(self) -> Run:
        """The run folder; ReadError as long as it is not there."""
        return Run(self.folder)

    def status(self) -> dict:
        """status.json of this run; empty until it has begun."""
        with contextlib.suppress(Exception):
            status = Run(self.folder).status
            if status.get("updated", 0) >= int(self._before) and (self._launched or status.get("pid") == self.pid):
                return status
        return {}

    def stop(self) -> None:
        """Requests the run to stop in good order, with a checkpoint; `wait()` returns when it has stopped."""
        self._stop_asked = True
        self._signal(signal.SIGUSR1)  # mpirun passes it on; on SIGINT it would kill the ranks after a second

    def kill(self) -> None:
        """Ends the run at once, without a checkpoint."""
        self._signal(signal.SIGTERM if self._launched else signal.SIGKILL)

    def _signal(self, number):
        if self.running:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(number)

    def wait(self, progress=None) -> Run:
        """Waits for the end, and returns the run.

        Args:
            progress: True: a bar on stderr; None: only in a terminal or a notebook; or a function of the status
        Raises:
            InputError, RunError, Stopped: what the program says
            Interrupted: Ctrl-C; the run has stopped with a checkpoint
        """
        tell = _bar(progress)
        interrupted = 0
        while True:
            try:
                while self.running:
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        self._process.wait(EVERY_S)
                    tell(self.status())
                self._reader.join()
                break
            except KeyboardInterrupt:
                interrupted += 1
                self.stop() if interrupted == 1 else self.kill()
        tell(self.status(), True)
        self._clean()
        return self._judge(interrupted)

    def _judge(self, interrupted):
        code, said = self._process.returncode, self._sentence()
        for line in self._reported:
            if line.startswith("tactus: warning: "):
                warnings.warn(self._name_scene(line[len("tactus: warning: "):]), TactusWarning, stacklevel=3)
        if interrupted:
            saved = self.status().get("checkpoint")
            raise Interrupted(f"the run stopped at a checkpoint; tactus.run(restart={self.folder!r}) goes on from it" if code == STOPPED and saved
                              else f"the run was ended (code {code}): {said}")
        if code == 0 or code == STOPPED and (self._limited or self._stop_asked):
            return Run(self.folder)
        if code == 2:
            raise InputError(said)
        if code == STOPPED:
            raise Stopped(said or f"the run stopped early with a checkpoint; tactus.run(restart={self.folder!r}) goes on from it")
        if code < 0 or code >= 128 + 1:
            number = -code if code < 0 else code - 128
            name = signal.Signals(number).name if number in signal.Signals.__members__.values() else f"signal {number}"
            raise RunError(f"the run was killed ({name}); what it had written is in {self.folder}, and tactus.run(restart={self.folder!r}) goes on "
                           "from its last checkpoint, if it has one", code)
        raise RunError(said or f"{self.command[0]} failed with code {code} and said nothing", code)

    def _sentence(self):
        """Returns the last line of the program that is no warning and no progress; of mpirun, the first line."""
        said = [line for line in self._reported if line.strip() and not line.startswith("tactus: warning: ") and not re.match(r"t \S+ of ", line)]
        mine = [line[len("tactus: "):] for line in said if line.startswith("tactus: ")]
        if mine:
            return self._name_scene(mine[-1])
        return " ".join(line.strip() for line in said[:12] if not re.fullmatch(r"[-=*\s]*", line))

    def _name_scene(self, line):
        return line.replace(self._temporary_scene + ": ", "the scene: ").replace(self._temporary_scene, "the scene") if self._temporary_scene else line

    _temporary_scene = ""


def start(scene=None, folder=None, *, ranks: int = 1, overwrite: bool = False, until: "float | None" = None, restart=None,
          wall_limit: "float | None" = None, discover: "str | None" = None, record: bool = False, set=(), mpirun=None) -> RunProcess:
    """Starts a run and does not wait for it; arguments as of `run()`."""
    if isinstance(ranks, bool) or not isinstance(ranks, int) or ranks < 1:
        raise InputError(f"ranks is {ranks!r}; it must be a whole number from 1")
    program = _library.find_program()
    folder = None if folder is None else os.fspath(folder)
    words, temporary, temporary_scene = [], None, ""
    if isinstance(scene, Scene):
        if folder is None and restart is None:
            raise InputError("a scene that was built in Python needs the name of the run's folder: tactus.run(scene, 'out.run')")
        temporary = tempfile.TemporaryDirectory(prefix="tactus-scene-")
        temporary_scene = os.path.join(temporary.name, "scene.json")
        made = _write_scene(scene, temporary_scene, folder or _folder_of(os.fspath(restart)))
        words.append(temporary_scene)
    elif isinstance(scene, (str, os.PathLike)):
        made = None
        words.append(_as_word(os.fspath(scene)))
    elif scene is None and restart is not None:
        made = None
    else:
        raise InputError(f"scene is a {type(scene).__name__}; a tactus.Scene or the path of a scene's file is needed")
    if folder is None:
        folder = _folder_of(os.fspath(restart)) if restart is not None else os.path.splitext(os.path.basename(os.fspath(scene)))[0] + ".run"
    words += ["-o", _as_word(folder)]
    words += ["--overwrite"] * bool(overwrite) + ["--record"] * bool(record)
    for option, value in (("--until", until), ("--restart", restart), ("--discover", discover)):
        if value is not None:
            words += [option, _as_word(os.fspath(value)) if option == "--restart" else repr(float(value)) if option == "--until" else str(value)]
    if wall_limit is not None:
        words += ["--wall-limit", _clock(wall_limit)]
    for change in assignments(set):
        words += ["--set", change]
    command = [*_launcher(ranks, mpirun), program, "run", *words]
    process = RunProcess(command, folder, temporary, time.time(), wall_limit is not None)
    process._temporary_scene = temporary_scene
    process._made = made
    return process


def run(scene=None, folder=None, *, ranks: int = 1, overwrite: bool = False, until: "float | None" = None, restart=None,
        wall_limit: "float | None" = None, discover: "str | None" = None, record: bool = False, set=(), mpirun=None, progress=None) -> Run:
    """Runs a scene into a run folder, waits for its end, and returns the run.

    Args:
        scene: a `Scene`, or the path of a scene's file; None with `restart`: the checkpoint's own
        folder: the run folder; None: NAME.run of the scene's file, or the checkpoint's folder
        ranks: number of processes; over 1 they are started by mpirun
        overwrite: replace a run that the folder holds
        until: end there, s, instead of at the scene's end
        restart: a checkpoint or a run folder to go on from
        wall_limit: stop after so many seconds of wall time, with a checkpoint; the run's state is "stopped" then
        discover: "speculate", "kds" or "all-pairs"
        record: keep every breakpoint, for `tactus audit`
        set: {"path": value} or ["path=value"], changes to the scene
        mpirun: how to start ranks, as a list or text: "srun --mpi=pmix -n 8"; None: mpirun -n ranks
        progress: True, False, None: a bar in a terminal or notebook; or a function that is called with the status
    Raises:
        InputError: the scene, an option or the folder is wrong; nothing was run
        RunError: it failed or was killed; `code` has the exit code
        Stopped: somebody else stopped it
        Interrupted: Ctrl-C; it has saved a checkpoint
    """
    process = start(scene, folder, ranks=ranks, overwrite=overwrite, until=until, restart=restart, wall_limit=wall_limit, discover=discover,
                    record=record, set=set, mpirun=mpirun)
    try:
        return process.wait(progress)
    except InputError:
        if process._made:  # the folder for meshes, of a run that did not begin
            shutil.rmtree(process._made, ignore_errors=True)
            with contextlib.suppress(OSError):
                os.rmdir(process.folder)
        raise


def _write_scene(scene, path, folder):
    """The scene's file for the program; large meshes in a folder of the run.  Returns that folder if it was made."""
    meshes = os.path.join(folder, "meshes")
    there = os.path.isdir(meshes)
    scene.write_for_run(path, meshes)
    return meshes if os.path.isdir(meshes) and not there else None


def _folder_of(restart):
    return restart if os.path.isdir(restart) else os.path.dirname(restart) or "."


def _as_word(path):
    """A path that is no option."""
    if "\0" in path:
        raise InputError(f"{path!r} has a zero byte, which no path may have")
    return os.path.join(".", path) if path.startswith("-") else path


def _clock(seconds):
    seconds = int(-(-float(seconds) // 1))
    if seconds < 1:
        raise InputError(f"wall_limit is {seconds}; it must be at least a second")
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def _launcher(ranks, mpirun):
    if mpirun is not None:
        return shlex.split(mpirun) if isinstance(mpirun, str) else [os.fspath(word) for word in mpirun]
    if ranks == 1:
        return []
    found = shutil.which("mpirun") or shutil.which("mpiexec")
    if found is None:
        raise LibraryError("mpirun was not found: install an MPI library (Debian: openmpi-bin), or say by mpirun=... how ranks are started")
    return [found, "-n", str(ranks)]


def _bar(progress):
    """A function of (status, last) that shows them."""
    if callable(progress):
        return lambda status, last=False: progress(status) if status else None
    if progress is None:
        progress = sys.stderr.isatty() or "IPython" in sys.modules and _in_notebook()
    if not progress:
        return lambda status, last=False: None
    shown = []

    def show(status, last=False):
        if not status:
            return
        width = 24
        full = int(width * status.get("share", 0))
        left = status.get("wall_left_s")
        text = (f"[{'#' * full}{'.' * (width - full)}] {100 * status.get('share', 0):5.1f} %  t {status.get('time', 0):.4g} of {status.get('end', 0):.4g} s  "
                + (f"{status.get('state')}" if last else f"left {_duration(left)}") + f"  {status.get('contacts', 0)} contacts")
        line = text[:max(20, shutil.get_terminal_size().columns - 1)]
        sys.stderr.write("\r" + line.ljust(len(shown[-1]) if shown else 0) + ("\n" if last else ""))
        sys.stderr.flush()
        shown.append(line)
    return show


def _in_notebook():
    from IPython import get_ipython
    shell = get_ipython()
    return shell is not None and shell.__class__.__name__ == "ZMQInteractiveShell"


def _duration(seconds):
    if seconds is None:
        return "?"
    seconds = int(seconds)
    return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}" if seconds >= 3600 else f"{seconds // 60}:{seconds % 60:02d}"
