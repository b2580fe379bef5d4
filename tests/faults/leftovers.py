"""Is what a run left behind in order, whatever became of the run?"""
import json
import os
import re
import struct
import xml.etree.ElementTree
import zlib

import h5py

BLOCK = 512  # before the HDF5 part of a checkpoint


def checkpoint_whole(path):
    with open(path, "rb") as file:
        data = file.read()
    magic, version, crc, length = struct.unpack_from("<8sIIQ", data)
    return magic == b"TACTUSCP" and length == len(data) - BLOCK and zlib.crc32(data[BLOCK:]) == crc


def frames(path):
    """name -> its datasets' bytes, of frames that have a time: without one it is not finished."""
    with h5py.File(path, "r") as file:
        found = {}
        for name, group in file.get("frames", {}).items():
            if "time" in group:
                found[name] = {key: group[key][()].tobytes() for key in ("position", "velocity", "time")}
        return found


def read(folder, name):
    with open(os.path.join(folder, name)) as file:
        return file.read()


def load(path):
    with open(path) as file:
        return json.load(file)


def wrong(folder, sound, before, code, aborted):
    """None, or what is wrong with a run folder; sound: that of the run without faults; before: what it began with, or None."""
    if not os.path.isdir(folder):
        return None
    names = sorted(os.listdir(folder))
    temporary = [n for n in names if n.endswith(".tmp")]
    if temporary and not aborted:
        return "leaves %s" % temporary[0]
    try:
        text = {n: load(os.path.join(folder, n)) for n in names if n.endswith(".json")}
        if "frames.xdmf" in names:
            xml.etree.ElementTree.parse(os.path.join(folder, "frames.xdmf"))
    except (ValueError, xml.etree.ElementTree.ParseError) as e:
        return "half a file: %s" % e
    state = text["status.json"]["state"] if "status.json" in text else None
    if code in (2, 3) and state == "finished" and "run.json" not in text:
        return "status.json says finished"
    if code in (2, 3) and state == "running" and not aborted:
        return "status.json says running"
    for name in names:
        if re.fullmatch(r"checkpoint-\d+\.h5", name) and not checkpoint_whole(os.path.join(folder, name)):
            # It may have been so before; an undisturbed run removes it, when it has newer ones.
            others = [os.path.join(other, name) for other in (sound, before) if other]
            if not any(os.path.exists(path) and not checkpoint_whole(path) for path in others):
                return name + " is not whole"
    if os.path.islink(os.path.join(folder, "checkpoint.h5")) and not os.path.exists(os.path.join(folder, "checkpoint.h5")):
        return "checkpoint.h5 leads nowhere"
    if "energy.csv" in names and "energy.csv" in os.listdir(sound):
        rows, right = read(folder, "energy.csv"), read(sound, "energy.csv")
        if not right.startswith(rows) and not (before and read(before, "energy.csv").startswith(rows)) or (rows and not rows.endswith("\n")):
            return "energy.csv is no beginning of the right one"
    if "frames.h5" in names:
        try:
            found = frames(os.path.join(folder, "frames.h5"))
        except (OSError, RuntimeError, KeyError) as e:
            if state in ("running", "finished", "stopped") and not aborted:
                return "frames.h5 cannot be read: %s" % e
            return None if not os.path.exists(os.path.join(folder, "energy.csv")) else "frames.h5 cannot be read: %s" % e
        whole = frames(os.path.join(sound, "frames.h5"))
        old = frames(os.path.join(before, "frames.h5")) if before else {}
        for name, data in found.items():
            if data not in (whole.get(name), old.get(name)):
                return "frames.h5: frame %s is not the right one" % name
        # What seems damaged is put aside, and a new file begins.
        aside = [n for n in names if n.startswith("frames.h5.damaged")]
        if aside and before and frames(os.path.join(folder, aside[0])) not in (old, {k: v for k, v in old.items() if whole.get(k) == v}):
            return "frames.h5 was put aside, and lost frames"
        if code == 0 and len(found) != len(whole) and not aside:
            return "frames.h5 lacks frames"
    return None
