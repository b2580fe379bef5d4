"""Exceptions and warnings: one clear sentence each."""


class TactusError(Exception):
    """The base of all exceptions of the package."""


class LibraryError(TactusError, OSError):
    """The library libtactus, the program tactus or mpirun is not there, or is of another version."""


class InputError(TactusError, ValueError):
    """A scene, an array, a value or a path is wrong.  Nothing was run or changed."""


class RunError(TactusError, RuntimeError):
    """A run or a simulation failed: disk, memory, a scene that cannot go on, a process that was killed.

    Attributes:
        code: exit code of the program, or minus the number of the signal that killed it; None for a simulation
    """

    def __init__(self, sentence, code=None):
        super().__init__(sentence)
        self.code = code


class Stopped(TactusError):
    """A run or a step ended early, in good order, and can go on from where it is."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a run or a step in good order; a run has saved a checkpoint.

    It is a KeyboardInterrupt, so `except Exception` does not catch it.
    """


class ClosedError(TactusError, ValueError):
    """The simulation was closed, belongs to the process before a fork, or is being used by another thread."""


class RankError(TactusError, RuntimeError):
    """Another rank has failed; the sentence says which, and how."""


class ReadError(TactusError, OSError):
    """A run folder cannot be read: it is missing, damaged, or being written at this moment."""


class TactusWarning(UserWarning):
    """A warning of the program or the library; see what it says before you trust the result."""
