"""Builds the wheel: pyproject.toml says what is in it; here it learns where the installed libtactus is."""
import importlib.util
import os
import sys

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = os.path.dirname(os.path.abspath(__file__))


def installed():
    """(library, program) as the package itself would find them now; empty where there is none."""
    package = type(sys)("tactus")
    package.__path__ = [os.path.join(HERE, "tactus")]
    sys.modules["tactus"] = package  # its __init__ would import numpy, which an isolated build does not have
    spec = importlib.util.spec_from_file_location("tactus._library", os.path.join(HERE, "tactus", "_library.py"))
    finder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(finder)
    found = [place for place in finder.library_places() if os.path.isabs(place) and os.path.exists(place)]
    library = os.path.abspath(found[0]) if found else ""
    program = os.path.normpath(os.path.join(os.path.dirname(library), "../bin/tactus")) if library else ""
    return library, program if os.access(program, os.X_OK) else ""


class Build(build_py):
    def run(self):
        super().run()
        library, program = installed()
        print(f"libtactus: {library or 'not found now; the package will look for it when it is needed'}")
        with open(os.path.join(self.build_lib, "tactus", "_where.py"), "w", encoding="utf-8") as file:
            file.write('"""Where the library and the program were when the package was built."""\n'
                       f"LIBRARY = {library!r}\nPROGRAM = {program!r}\n")


setup(cmdclass={"build_py": Build})
