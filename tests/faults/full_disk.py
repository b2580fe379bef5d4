#!/usr/bin/python3
"""full_disk.py: another program fills the disk before the n-th call of `tactus run` that changes a file, late in the run: on the last
frame, the last checkpoint, the files beside them.  The run ends with one sentence and exit code 3, or does not need the room;
when there is room again, --restart makes the folder that an undisturbed run makes.  If this fails, a disk that is full at a bad
moment loses the end of a run.

The disk is a tmpfs (which takes root).  The moments, and what they depend on, are those of kills.py.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

from kills import CASES, Case, launch

ROOM = 32 << 20


class Full(Case):
    disk, full = None, 0

    def folder(self, name):
        """On the disk: there is one run at a time."""
        folder = self.disk + "/out.run"
        if name in ("whole", "listed"):
            return super().folder(name)
        if self.before:
            shutil.copytree(os.path.join(self.home, self.name + "-before.run"), folder, symlinks=True)
        return folder

    def fill_at(self, n):
        folder, filler = self.folder("at-%d" % n), self.disk + "/filler"
        r = self.run(self.killed + ["--quiet"], folder, LD_PRELOAD=launch.injector(), TACTUS_FAULT_KIND="file",
                     TACTUS_FAULT_FILL=filler, TACTUS_FAULT_AT=str(n))
        os.remove(filler)
        if r.code != 0:
            self.full += 1
            if r.code != 3 or r.crashed or len(r.sentences) != 1 or "pace" not in r.output:
                self.fail("call %d: exit code 3 and one sentence about space: %s %s" % (n, r, r.output[-400:]))
            elif self.goes_on(n, folder):
                self.is_whole(n, folder)
        else:
            self.is_whole(n, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1, help="so many moments before the end of a run, besides those at its end")
    parser.add_argument("--stride", type=int, default=8)
    parser.add_argument("--most", type=int, default=0, help="so many moments of each case; 0: all of the above")
    parser.add_argument("cases", nargs="*", default=sorted(CASES))
    options = parser.parse_args()
    options.offset = 0
    home, failures, runs, full = tempfile.mkdtemp(prefix="tactus-full-"), [], 0, 0
    disk = home + "/disk"
    os.mkdir(disk)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%d" % ROOM, "tmpfs", disk], capture_output=True).returncode != 0:
        print("SKIPPED: a full disk, for that takes the right to mount a tmpfs (root)")
        shutil.rmtree(home)
        return 0
    try:
        for name in options.cases:
            case = Full(name, home, options)
            case.disk = disk
            case.prepare()
            for n in case.moments():
                case.fill_at(n)
                runs += 1
                shutil.rmtree(disk + "/out.run", ignore_errors=True)
            failures, full = failures + case.failures, full + case.full
    finally:
        subprocess.run(["umount", disk], check=False)
        shutil.rmtree(home, ignore_errors=True)
    print("%d moments, in %d of them the run ended for want of space, %d failures" % (runs, full, len(failures)))
    # If no run ever missed the room, nothing was tried.
    return 1 if failures or full == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
