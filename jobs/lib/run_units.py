"""run_units.py: the names of a run's units, for scripts that draw with NumPy and without."""
import json
import os


def read_units(folder):
    """Names of the run's units; those of SI, if its scene does not tell."""
    units = {"length": "m", "mass": "kg", "time": "s", "force": "N", "pressure": "Pa", "energy": "J"}
    try:
        with open(os.path.join(folder, "status.json"), encoding="utf-8") as f:
            units.update(json.load(f).get("units") or {})
    except (OSError, ValueError, AttributeError):
        pass  # a run without a status is drawn all the same
    return units
