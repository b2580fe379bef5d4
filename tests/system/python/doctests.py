#!/usr/bin/python3
"""doctests.py: the examples in the docstrings, in docs/tutorials/python.md and, going on from there, in docs/reference/python-api.md print what
they say.  If it failed, the documents would mislead."""
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
    names = {}
    for page in ("tutorials/python.md", "reference/python-api.md"):
        parser = doctest.DocTestParser()
        with open(os.path.join(SOURCE, "docs", page), encoding="utf-8") as file:
            test = parser.get_doctest(file.read(), names, page, page, 0)
        runner = doctest.DocTestRunner()
        runner.run(test, clear_globs=False)
        names = test.globs
        done = runner.summarize(verbose=False)
        expect(done.failed == 0 and done.attempted > 5, f"docs/{page}: {done.failed} of {done.attempted} examples print something else")
end()
