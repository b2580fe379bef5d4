"""runs.py: what the scripts of this folder share: calls of the program, checks, and what a run has written."""

import csv
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "implicit"))
from program import TACTUS, call, check, failures  # noqa: E402, F401


def table(folder, name):
    """The rows of energy.csv or steps.csv, by columns."""
    with open(os.path.join(folder, name)) as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
