#!/usr/bin/python3
"""doctests.py: the examples in the docstrings and in docs/python.md print what they say.  If it failed, the documents would mislead."""
import doctest
import importlib
import os
import tempfile

from common import SOURCE, end, expect

with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    tried = 0
    for name in ("", ".mesh", ".scene", ".simulation", ".reader"):
        done = doctest.testmod(importlib.import_module("tactus" + name))
        tried += done.attempted
        expect(done.failed == 0, f"tactus{name}: {done.failed} examples print something else")
        expect(done.attempted > 0, f"tactus{name} has no examples")
    done = doctest.testfile(os.path.join(SOURCE, "docs/python.md"), module_relative=False)
    expect(done.failed == 0 and done.attempted > 20, f"docs/python.md: {done.failed} of {done.attempted} examples print something else")
end()
