#!/usr/bin/python3
"""The pages of reference on the run folder and on file formats name every file, dataset, column and key that a run makes, and the example of
docs/how-to/read-results.md works.  If this fails, the documents are out of date."""
import json

import h5py

from common import *



def page(name):
    with open(os.environ["TACTUS_SOURCE"] + "/docs/" + name, encoding="utf-8") as file:
        return file.read()


text, how = page("reference/run-folder.md") + page("reference/file-formats.md"), page("how-to/read-results.md")
must_write("drop.run")


def named(word):
    check("`%s`" % word in text, "neither docs/reference/run-folder.md nor file-formats.md names %s" % word)


def short(word, words):
    """Families are written once: `momentum_x`, `_y`, `_z`."""
    stem = word.rpartition("_")[0]
    return "`%s`" % word not in text and "`_%s`" % word.rpartition("_")[2] in text and any(w.startswith(stem) and "`%s`" % w in text for w in words)


for name in os.listdir("drop.run"):
    named(name)
with h5py.File("drop.run/frames.h5", "r") as f:
    for name in f["mesh"]:
        named("/mesh/" + name)
    for name in f["frames/000000"]:
        named("/frames/000000/" + name)
    for name in f.attrs:
        named(name)
columns = open("drop.run/energy.csv").readline().strip().split(",")
for file in ("status", "run"):
    o = json.load(open("drop.run/%s.json" % file))
    keys = list(o) + list(o["counters"]) + list(o.get("options", {})) + list(o["counters"]["committed"]) + list(o["counters"]["seconds"])
    for key in keys:
        if not short(key, keys):
            named(key)
for column in columns:
    if not short(column, columns):
        named(column)

code = how.split("```python\n")[1].split("```")[0]
r = call("/usr/bin/python3", "-c", code)
check(r.code == 0 and len(r.out.splitlines()) >= 6, "the example: " + r.out + r.err)
for line in how.split("```\ntactus status")[1].split("```")[0].splitlines():
    if line.startswith("tactus info") or line.startswith("tactus export"):
        words = line.split("#")[0].split()
        r = tactus(*words[1:])
        check(r.code == 0, "%s: %s" % (line, r.err))
finish()
