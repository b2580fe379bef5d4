#!/usr/bin/python3
"""unit.py [--texts] [NAME ...] : deliberate faults that one test program must see by itself.

A fault (unit_mutants.py) is put into a copy of one source file, which is compiled as the build in TACTUS_BUILD does, and linked with its
test. The test must fail; that it passes without faults is CTest's business. Names are those of faults or of tests; without any, all.
With --texts nothing is compiled: only whether every fault can be put into its file.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

import run
import unit_mutants


class Test:
    """How a test program is linked, by Ninja."""

    def __init__(self, build, name):
        self.build = build
        done = subprocess.run(["ninja", "-C", build.folder, "-t", "commands", name], capture_output=True, text=True)
        self.link = [c for c in done.stdout.splitlines() if re.search(r" -o \S*/%s " % name, c)]
        if len(self.link) != 1:
            sys.exit("no way to link %s found among the build's commands" % name)

    def run(self, mutant, home):
        """What the test says of the fault, or an empty text."""
        name, _, path, changes, test, ranks = mutant
        source, wrong, program = (os.path.join(home, name + end) for end in (".c", ".o", ""))
        with open(source, "w") as file:
            file.write(changed(self.build.source, mutant))
        original = os.path.join(self.build.source, path)
        compiling = [c for c in self.build.commands if c.endswith(" -c " + original)]
        if len(compiling) != 1:
            sys.exit("no way to compile %s found among the build's commands" % path)
        words = compiling[0].split(" -MD ")[0] + " -Wno-error -w -iquote %s -o %s -c %s" % (os.path.dirname(original), wrong, source)
        # The linker takes from the library only what it lacks: this file's functions are here already.
        linking = re.sub(r" -o \S*/%s " % test, " -o %s %s " % (program, wrong), self.link[0])
        for command in (words, linking):
            done = subprocess.run(command, shell=True, cwd=self.build.folder, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit("fault %s: %s\n%s" % (name, command, done.stdout + done.stderr))
        command = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
        code, said = run.call(command + [program], home, {"TACTUS_SOURCE": self.build.source})
        lines = [line for line in said.splitlines() if "failed:" in line] or said.splitlines() or ["no word"]
        return "" if code == 0 else "no end" if code is None else lines[0].rpartition("/")[2][:120]


def changed(source, mutant):
    """The file with the fault."""
    name, _, path, changes, _, _ = mutant
    with open(os.path.join(source, path)) as file:
        text = file.read()
    for old, new in changes:
        if text.count(old) != 1:
            sys.exit("fault %s: %s has this text %d times, not once:\n%s" % (name, path, text.count(old), old))
        text = text.replace(old, new)
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="*", help="of faults or tests; without any, all faults")
    parser.add_argument("--texts", action="store_true")
    parser.add_argument("--build", default=os.environ.get("TACTUS_BUILD"), help="a build folder, made with Ninja")
    options = parser.parse_args()
    known = {word for mutant in unit_mutants.MUTANTS for word in (mutant[0], mutant[4])}
    unknown = [name for name in options.name if name not in known]
    if unknown:
        sys.exit("no such fault or test: %s; there are %s" % (unknown[0], ", ".join(sorted(known))))
    wanted = [m for m in unit_mutants.MUTANTS if not options.name or m[0] in options.name or m[4] in options.name]
    if options.texts:
        for mutant in wanted:
            changed(run.SOURCE, mutant)
        print("%d faults can be put into the sources" % len(wanted))
        return 0
    if not options.build or not os.path.exists(os.path.join(options.build, "build.ninja")):
        print("skipped: no build by Ninja (--build, TACTUS_BUILD)")
        return run.SKIPPED
    build, tests, missed = run.Build(options.build), {}, 0
    with tempfile.TemporaryDirectory(prefix="tactus-mutation-") as home:
        for mutant in wanted:
            if mutant[4] not in tests:
                tests[mutant[4]] = Test(build, mutant[4])
            said = tests[mutant[4]].run(mutant, home)
            missed += not said
            print("%-20s %-18s %s   %s" % (mutant[0], mutant[4], "caught" if said else "MISSED", said or mutant[1]), flush=True)
    print("%d faults, %d caught, %d missed" % (len(wanted), len(wanted) - missed, missed))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
