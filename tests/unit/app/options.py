#!/usr/bin/python3
"""The program's front door: commands, options, help, exit codes, one sentence per error.  If this fails, users are told the
wrong thing, or scripts see the wrong exit code."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "io"))
from common import *

COMMANDS = ("run", "check", "mesh", "info", "diff", "audit", "status", "export")

for word in ("-h", "--help"):
    r = tactus(word)
    check(r.code == 0 and r.err == "" and all("\n  %s " % c in r.out for c in COMMANDS), "help: " + r.out)
r = tactus("--version")
check(r.code == 0 and re.match(r"tactus \d+\.\d+\.\d+ \(commit [0-9a-z-]+, trajectory generation \d+\)\ncompiler: (gcc|clang) \d[^\n]*\nMPI: \S[^\n]*\d[^\n]*\nHDF5: 1\.\d+\.\d+\n$", r.out), "version: " + r.out)
refused(tactus(), 2, "no command.*--help")
refused(tactus("rnu"), 2, "unknown command 'rnu'.*'run'")
refused(tactus("stats"), 2, "'status'")
refused(tactus("xyzzyxyzzy"), 2, "unknown command 'xyzzyxyzzy'.*--help")
refused(tactus("--json", "info"), 2, "unknown option '--json' instead of a command")
for command in COMMANDS:
    more = (("--nonsense", "-h"), ("a", "b", "c", "d", "--help")) if command != "mesh" else ()  # its options depend on the kind
    for words in (("-h",), ("--help",), *more):
        r = tactus(command, *words)
        check(r.code == 0 and r.err == "" and r.out.startswith("usage: tactus " + command), "%s %s: %r %r" % (command, words, r.out[:80], r.err))
    r = tactus(command, "--", "-h")
    check(r.code == 2, "after -- nothing is an option: " + r.err)

# How options are written, on `diff` and `status`.
must_write("a.run")
must_write("./-dash.run")
for words in (("a.run", "a.run", "--tol", "1e-3"), ("--tol=1e-3", "a.run", "a.run"), ("a.run", "--tol", "0", "--", "a.run"),
              ("--", "a.run", "-dash.run"), ("a.run", "a.run", "--tol", "1", "--tol", "2")):
    r = tactus("diff", *words)
    check(r.code == 0, "%s: %s" % (words, r.err))
for words, part in ((("--tool", "1"), "unknown option '--tool' of tactus diff; did you mean '--tol'"),
                    (("--jsn",), "did you mean '--json'"), (("-tol", "1"), "did you mean '--tol'"), (("--helpp",), "did you mean '--help'"),
                    (("--qqqqqqqqqqqqqq",), "tactus diff -h"), (("--json=1",), "--json takes no value"), (("--json=",), "--json takes no value"),
                    (("--tol",), "--tol needs a value"), (("--tol", "--json"), "--tol needs a value, but the option '--json' follows"),
                    (("--tol", "-5"), "must not be negative"), (("--tol=-.5",), "must not be negative"), (("--tol", "1x"), "needs a number, not '1x'"),
                    (("--tol", ""), "needs a number, not ''"), (("--tol=",), "needs a number"), (("--tol", "nan"), "finite"), (("--tol", "inf"), "finite"),
                    (("--tol", "1e999"), "finite"), (("--tol", " 1"), "needs a number"), (("more",), "unexpected argument 'more'"), (("-1",), "unexpected argument '-1'"),
                    (("-",), "unexpected argument '-'")):
    refused(tactus("diff", "a.run", "a.run", *words), 2, part)
refused(tactus("diff", "a" * 5000, "b" * 5000), 2, "File name too long")
refused(tactus("--" + "x" * 5000), 2, "unknown option")
refused(tactus("diff", "a.run", "a.run", "--" + "x" * 5000), 2, "unknown option")
r = call(TACTUS, "status", b"a\xff\n.run")
check(r.code == 2 and r.err.count("tactus: ") == 1, "odd bytes in a name: %r" % r.err)

# Nobody reads, or the disk is full behind stdout.
with open("/dev/full", "w") as full:
    p = subprocess.run([TACTUS, "--help"], stdout=full, stderr=subprocess.PIPE)
    check(p.returncode == 3 and b"cannot write to standard output" in p.stderr, "/dev/full: %r" % p.stderr)

# Under mpirun: said once, and one exit code.
r = call("mpirun", "-n", 2, TACTUS, "run", "scene.json")
check(r.code == 2 and r.err.count("tactus: ") == 1 and "scene.json: cannot be opened" in r.err, "run on two ranks: %r" % r.err)
r = call("mpirun", "-n", 2, TACTUS, "diff", "a.run", "a.run")
check(r.code == 0 and r.out.count("\nequal\n") == 1, "diff on two ranks: %r" % r.out)
r = call("mpirun", "-n", 2, TACTUS, "diff", "a.run", "nowhere")
check(r.code == 2 and r.err.count("tactus: ") == 1, "an error on two ranks: %r" % r.err)
r = call("mpirun", "-n", 3, TACTUS, "--version")
check(r.code == 0 and r.out.count("tactus ") == 1, "the version on three ranks: %r" % r.out)
finish()
