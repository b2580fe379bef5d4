"""What all the jobs in Python say and look for alike."""
import os
import shutil


class Problem(Exception):
    """One sentence for the user: what, where, what to do."""


def standard_program():
    """The program tactus: build/tactus, or that of the PATH, or None."""
    beside = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "build", "tactus")
    return beside if os.access(beside, os.X_OK) else shutil.which("tactus")
