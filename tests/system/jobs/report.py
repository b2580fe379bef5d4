#!/usr/bin/python3
"""jobs/report: the page of a whole run, of a branched one, of one that was killed, of damaged ones and of one that has not begun.  The page is
one well-formed file without scripts and without anything from a network, its pictures show something, its numbers are the run's.  If this
fails, the page lies, or there is none just when somebody wants to know why a run has failed."""
import base64
import csv
import html.parser
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

TACTUS, SOURCE = os.environ["TACTUS"], os.environ["TACTUS_SOURCE"]
NAME = "a <b> & \"c\" 'd'"
SCENE = {"format": "tactus-scene/1", "name": NAME, "time": {"end": .02, "frame": .01}, "gravity": [0, -9.81, 0], "contact": {"thickness": .004, "stiffness": 50},
         "materials": {"cloth": {"density": .2, "stretch": {"model": "cst", "stiffness": 20, "poisson": .3}}},
         "bodies": [{"name": "<i>sheet", "material": "cloth", "position": [0, .123, 0], "mesh": {"kind": "grid", "size": [.1, .1], "cells": [2, 2]}},
                    {"name": "ball", "fixed": True, "mesh": {"kind": "sphere", "radius": .12, "level": 1}}]}
failures = 0


def check(true, what):
    global failures
    if not true:
        failures += 1
        print("failed: " + what)


class Page(html.parser.HTMLParser):
    """Tags that are opened and closed, pictures, text."""

    def __init__(self, path):
        super().__init__()
        self.open, self.pictures, self.text, self.wrong = [], [], "", []
        self.source = open(path, encoding="utf-8").read()
        self.feed(self.source)
        self.wrong += self.open

    def handle_starttag(self, tag, attributes):
        if tag in ("script", "link", "iframe", "object"):
            self.wrong.append(tag)
        for name, value in attributes:
            if name == "src":
                self.pictures.append(value)
            if name in ("src", "href", "xlink:href") and not value.startswith(("data:image/", "#")) or name.startswith("on"):
                self.wrong.append("%s=%s" % (name, value[:60]))
        if tag not in ("meta", "img", "br", "path", "use", "rect"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if self.open and self.open[-1] == tag:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag in ("path", "use", "rect"):
            return
        if not self.open or self.open.pop() != tag:
            self.wrong.append("</%s>" % tag)

    def handle_data(self, data):
        self.text += data


def report(folder, *options, code=0):
    done = subprocess.run([SOURCE + "/jobs/report", folder, "--program", TACTUS, "--size", "120x90"] + list(options), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    check(done.returncode == code, "%s: code %d, %s%s" % (folder, done.returncode, done.stdout, done.stderr))
    if code:
        check(done.stderr.count("\n") == 1 and done.stderr.startswith("report: "), "one sentence: " + done.stderr)
        return None
    path = os.path.join(folder, "report.html")
    page = Page(path)
    check(not page.wrong, "%s: %s" % (folder, page.wrong[:5]))
    check(os.path.getsize(path) < 10e6 and not os.path.exists(path + ".part"), "%s: its size" % folder)
    for picture in page.pictures:
        pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(picture.partition(",")[2]))).convert("RGB"))
        check(pixels.std() > 5, "%s: a picture shows nothing" % folder)
    return page


def run(*arguments):
    done = subprocess.run([TACTUS, "run", "--quiet"] + list(arguments), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    check(done.returncode == 0, "run %s: %s" % (arguments, done.stderr))


def main():
    with open("scene.json", "w") as file:
        json.dump(SCENE, file)
    whole = NAME.replace("/", "") + ".run"
    run("scene.json", "-o", whole, "--record")
    page = report(whole)
    last = list(csv.DictReader(open(whole + "/energy.csv")))[-1]
    reported = json.load(open(whole + "/run.json"))
    for words in (NAME, "finished", "<i>sheet", "nothing passed through anything", "proven", "%.6g" % float(last["total"]), "%.6g" % float(last["defect"]),
                  str(reported["counters"]["windows"]), str(reported["peak_memory_bytes"]), reported["scene_sha256"]):
        check(words in page.text, "the page does not tell %s" % words)
    check(len(page.pictures) == 3 and "<svg" in page.source and page.source.count("<path") > 10, "pictures: %d" % len(page.pictures))
    check("cannot be shown" not in page.text and "has not come to its end" not in page.text, "a whole run's page complains")
    check("left out" in report(whole, "--no-audit").text, "--no-audit")

    # What moves how, a key for each line, and paths of many knots in one.
    knots = [[k / 10000, [k / 1e6, 0, 0]] for k in range(200)]
    scripted = dict(SCENE, bodies=SCENE["bodies"] + [{"name": "hand", "position": [0, 1, 0], "mesh": {"kind": "grid", "size": [.1, .1], "cells": [1, 1]}}],
                    motions=[{"body": "hand", "path": knots}, {"body": "<i>sheet", "vertices": [0], "path": [[0, [0, 0, 0]]]}])
    with open("scripted.json", "w") as file:
        json.dump(scripted, file)
    run("scripted.json", "-o", "scripted.run")
    page = report("scripted.run")
    part = page.source[page.source.index("<h2>Scene</h2>"):page.source.index("<h2>Energy and contacts</h2>")]
    check("<td>hand</td><td>grid</td><td>-</td><td>scripted</td>" in part and "<td>partly scripted</td>" in part and "<td>fixed</td>" in part, "what moves how: " + part[:900])
    check("<th>key</th><th>value</th>" in part and "<th>contact.stiffness</th><td>50</td>" in part and "<th>materials.cloth.stretch.stiffness</th><td>20</td>" in part, "a key in each line")
    check("200 knots from 0 s ([0, 0, 0]) to 0.0199 s ([0.000199, 0, 0])" in part and len(part) < 6000, "knots by the hundred: %d" % len(part))
    run("scene.json", "-o", "half.run", "--until", "0.015")
    run("--restart", "half.run", "--branch", "--set", "gravity=[0,0,0]", "-o", "branch.run")
    page = report("branch.run")
    check("Branched" in page.text and "half.run/checkpoint-000001.h5" in page.text and "gravity=[0,0,0]" in page.text, "a branch: " + page.text[-600:])

    # Killed: the status still says that it runs, and its process is gone.
    shutil.copytree("half.run", "killed.run")
    status = json.load(open("killed.run/status.json"))
    child = subprocess.Popen(["true"])
    child.wait()
    json.dump(dict(status, state="running", pid=child.pid), open("killed.run/status.json", "w"))
    os.remove("killed.run/run.json")
    page = report("killed.run")
    check("gone" in page.text and "has not come to its end" in page.text and str(status["counters"]["windows"]) in page.text, "a killed run: " + page.text[:400])
    # Damaged, file by file: the section says so, the others are there.
    for names in (("frames.h5", "run.json"), ("energy.csv", "scene.json"), ("status.json",)):
        shutil.copytree(whole, "damaged.run")
        for name in names:
            size = os.path.getsize("damaged.run/" + name)
            with open("damaged.run/" + name, "r+b") as file:
                file.truncate(size // 3)
                file.write(b"\0\xff<b>")
        page = report("damaged.run", "--no-audit")
        sections = re.findall(r"<h2>", page.source)
        check(len(sections) == 9 and re.search("cannot be|can be read", page.text), "damaged %s: %s" % (names, page.text[:300]))
        shutil.rmtree("damaged.run")
    os.mkdir("pending.run")
    json.dump({"format": "tactus-job/1", "job": None, "again": "x"}, open("pending.run/job.json", "w"))
    check("pending" in report("pending.run").text, "a job that has not begun")
    os.mkdir("empty")
    for wrong in ("empty", "nowhere", "scene.json"):
        report(wrong, code=2)


with tempfile.TemporaryDirectory() as home:
    os.chdir(home)
    main()
    os.chdir("/")
print("%d failures" % failures)
sys.exit(failures > 0)
