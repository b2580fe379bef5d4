#!/usr/bin/python3
"""tactus status and the progress line, while a run lives and after it.  If this fails, a user of a long job sees nothing,
or garbage."""
import json
import pty
import re
import select
import time

from common import *

# While it runs.
p = subprocess.Popen([WRITER, "a.run", "--frames", "1000", "--pause", ".05"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
p.stdout.readline()
ages, patience = [], time.monotonic() + PATIENCE_S
while len(ages) < 2 or (ages[-1] == ages[0] and time.monotonic() < patience):
    r = tactus("status", "a.run", "--json")
    s = json.loads(r.out)
    check(r.code == 0 and s["state"] == "running" and s["alive"] is True and s["pid"] == p.pid, "running: %s" % s)
    check(s["end"] == 1 and 0 <= s["share"] <= 1 and s["wall_left_s"] == 3725 and s["counters"]["rollbacks"] == 2, "running: %s" % s)
    ages.append(s["time"])
    time.sleep(.1)
check(ages[0] < ages[-1], "the heartbeat beats: %s" % ages)
r = tactus("status", "a.run")
for part in ("a.run: running", "left        1:02:05", "deepest layer 3", "2 rollbacks", "last sign   0:0"):
    check(part in r.out, "%r in %s" % (part, r.out))
r = tactus("info", "a.run")
check(r.code == 0 and "a.run: run, running" in r.out, "info while it runs: " + r.out + r.err)
p.terminate()
p.communicate()

# As a log: a plain line at the end, none of them redrawn, and not one per frame.
begin = time.monotonic()
r = write("log.run", "--frames", 40)
lines = r.err.splitlines()
check(r.code == 0 and 1 <= len(lines) <= 1 + (time.monotonic() - begin) / 10 and "\r" not in r.err and "\033" not in r.err, "a log: %r" % r.err)
PARTS = ("t 4.875 of 1 s", r"100\.0 %", r"left 1:02:05", r"1\.5e\+06 ticks/s", "12 contacts", "layer 3", r"window 0\.001 s", "2 rollbacks")
for part in PARTS:
    check(re.search(part, lines[-1] if lines else ""), "%r in %r" % (part, r.err))
check(write("--quiet", "quiet.run").err == "", "quiet")

# On a terminal: one line, redrawn, cut to its width, ended.
try:
    master, slave = pty.openpty()
except OSError as error:  # a bare chroot has no /dev/pts
    print("skipped: the progress line on a terminal (%s)" % error)
    master = None
import fcntl, struct, termios
for columns in (200, 40) if master is not None else ():
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    p = subprocess.Popen([WRITER, "tty%d.run" % columns, "--frames", "30", "--pause", ".05"], stdout=subprocess.DEVNULL, stderr=slave)
    text, begin = b"", time.monotonic()
    while p.poll() is None or select.select([master], [], [], .2)[0]:
        if select.select([master], [], [], .1)[0]:
            text += os.read(master, 65536)
    drawn = [d for d in text.decode().split("\r") if d.strip()]
    check(2 <= len(drawn) <= 3 + (time.monotonic() - begin) / .5, "redrawn a few times: %r" % text)
    check(text.count(b"\n") == 1 and text.rstrip(b"\r").endswith(b"\n"), "one line, ended: %r" % text)
    check(all(len(d.replace("\033[K", "").strip("\n")) < columns for d in drawn), "within the width: %r" % drawn)
    if columns == 200:
        for part in PARTS[1:]:
            check(re.search(part.replace("100", ".*"), drawn[-1]), "%r in %r" % (part, drawn[-1]))
if master is not None:
    check(write("tty40.run", "--overwrite", "--frames", 1).code == 0, "and again")

# Ends of other kinds.
must_write_all([["stopped.run", "--state", "stopped"], ["failed.run", "--state", "failed"]])
for state in ("stopped", "failed"):
    r = tactus("status", state + ".run")
    check(r.code == 0 and "%s.run: %s" % (state, state) in r.out and "left" not in r.out, r.out)

# No run there.
os.mkdir("empty")
open("file", "w").write("{}")
refused(tactus("status"), 2, "needs a run folder")
refused(tactus("status", "nowhere"), 2, "nowhere.*No such file")
refused(tactus("status", "empty"), 2, "no status.json")
refused(tactus("status", "file"), 2, "no folder")
for text in ("", "{", "[1]", '{"format": 3}', '{"format": "other"}', "\0"):
    open("empty/status.json", "w").write(text)
    refused(tactus("status", "empty"), 2, "empty/status.json")
open("empty/status.json", "w").write('{"format": "tactus-status/1", "time": "soon", "pid": -5, "counters": 7}')
r = tactus("status", "empty")
check(r.code == 0 and "Signal" not in r.err, "odd values do no harm: %s" % r.err)
finish()
