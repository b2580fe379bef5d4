#!/usr/bin/python3
"""full_disk.py [--ranks N] : the disk fills up while a run writes frames and checkpoints, on a small file system in memory.

Exit code 3, one sentence, the older checkpoints stand; once there is room again the run goes on from them to the
undisturbed run's last bit.  Exit code 77 (skipped) where nobody may mount.  If this fails, a full quota costs a run.
"""
import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

import launch

SKIPPED = 77


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    options = parser.parse_args()
    home = tempfile.mkdtemp(prefix="ranks-disk-")
    disk, mounted, failures = os.path.join(home, "disk"), False, []
    try:
        os.mkdir(disk)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", disk], capture_output=True, text=True)
        if done.returncode != 0:
            print("skipped: %s" % (done.stderr.strip() or "no mounting here"))
            return SKIPPED
        mounted = True
        with open(os.path.join(launch.SCENES, "corner.json")) as file:
            scene = json.load(file)
        scene["time"]["frame"] /= 8
        scene["output"] = {"checkpoint_every_t": scene["time"]["end"] / 16}
        path, whole, folder = os.path.join(home, "scene.json"), os.path.join(home, "whole.run"), os.path.join(disk, "full.run")
        with open(path, "w") as file:
            json.dump(scene, file)
        first = launch.tactus(1, "run", path, "-o", whole, "--quiet")
        if first.code != 0:
            failures.append("undisturbed: %s" % first)
        full = launch.tactus(options.ranks, "run", path, "-o", folder, "--quiet")
        if full.code != 3 or full.crashed or len(full.sentences) != 1 or "space" not in full.sentences[0].lower():
            failures.append("a full disk: one sentence and exit code 3 expected: %s %r" % (full.crashed, full.output[-600:]))
        if not glob.glob(os.path.join(folder, "checkpoint-*.h5")):
            failures.append("no checkpoint is left")
        subprocess.run(["mount", "-o", "remount,size=100m", disk], check=True)
        more = launch.tactus(options.ranks + 1, "run", "--restart", folder, "--quiet")
        if more.code != 0:
            failures.append("with room again: %s" % more)
        elif launch.difference(whole, folder):
            failures.append("other bits: %s" % launch.difference(whole, folder))
        print("%s; with room again: %s" % (full, more))
    finally:
        if mounted:
            subprocess.run(["umount", disk])
        shutil.rmtree(home, ignore_errors=True)
    for failure in failures:
        print("failed:", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
