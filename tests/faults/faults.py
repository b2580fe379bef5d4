#!/usr/bin/python3
"""faults.py [--count N] [--cases PATTERN] [--kinds alloc,...] [--places FILE,...] : makes calls of the program fail, one a run, and looks how it ends.

Every run must end in time, without a signal, with one sentence and exit code 2 or 3, or as if nothing had happened; with its
memory, handles and files given back; and what it leaves must be whole or plainly failed. TACTUS names the program,
TACTUS_INJECT the library made of inject.c. Where a command makes more calls than it may have faults, calls from places
not yet seen come first. Exit code 1 if anything is wrong. If this fails, a full disk or a machine short of memory costs
somebody's results, or looks like a result.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import cases
import leftovers

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "ranks"))
from launch import MANY as MPI, injector, program  # noqa: E402

CRASH = re.compile(r"Signal: .*|Segmentation fault|AddressSanitizer.*|LeakSanitizer.*|runtime error.*|HDF5-DIAG.*|internal error at.*|double free.*"
                   r"|corrupted size.*|free\(\): .*|failed without saying why.*")


class Outcome:
    """One run: code (None: it did not end in time), what it printed, and what the injector saw on each rank."""

    def __init__(self, code, out, err, reports, folder):
        self.code, self.out, self.err, self.folder = code, out, err, folder
        self.reports = reports
        lines = [line.split() for report in reports.values() for line in report]
        self.faults = [line[1:] for line in lines if line[0] == "fault"]
        self.calls = [line[1:] for line in lines if line[0] == "call"]
        self.leaks = [tuple(line[1:]) for line in lines if line[0] == "leak"]
        self.open = [" ".join(line[1:]) for line in lines if line[0] == "open"]
        self.aborted = any(line[0] == "abort" for line in lines)

    def count(self, rank):
        return sum(int(line.split()[1]) for line in self.reports.get(rank, []) if line.startswith("count"))

    @property
    def sentences(self):
        return [line for line in re.split(r"[\r\n]+", self.err) if line.startswith("tactus: ") and not line.startswith("tactus: warning: ")]


def launch(case, home, setting, limit):
    """The case in a folder of its own, with the faults of `setting`."""
    folder = tempfile.mkdtemp(prefix=case.name + "-", dir=home)
    for name in case.needs:
        there = os.path.join(home, "needs", name)
        (shutil.copytree if os.path.isdir(there) else shutil.copy)(there, os.path.join(folder, name), **({"symlinks": True} if os.path.isdir(there) else {}))
    os.mkdir(os.path.join(folder, "temporary"))
    env = {**os.environ, **MPI, "TMPDIR": os.path.join(folder, "temporary")}
    faults = {"TACTUS_TEST_PATIENCE_S": "3", "TACTUS_FAULT_REPORT": os.path.join(folder, "report"), "LD_PRELOAD": injector(), **case.hooks, **{k: str(v) for k, v in setting.items()}}
    if case.ranks > 1:
        # mpirun itself is spared; its session folder is its own.
        words = ["mpirun", "-n", str(case.ranks)] + [w for k, v in faults.items() for w in ("-x", k + "=" + v)]
        env["OMPI_MCA_orte_tmpdir_base"] = os.path.join(folder, "temporary")
    else:
        words = []
        env.update(faults)
    words += [program()] + case.arguments
    with open(os.path.join(folder, "stdout"), "w+b") as out, open(os.path.join(folder, "stderr"), "w+b") as err:
        process = subprocess.Popen(words, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    texts = []
    for name in ("stdout", "stderr"):
        with open(os.path.join(folder, name), "rb") as file:
            texts.append(file.read().decode("utf-8", "replace").replace(folder, "HERE"))
    reports = {}
    for rank in range(case.ranks):
        try:
            with open(os.path.join(folder, "report.%d" % rank)) as file:
                reports[rank] = file.read().splitlines()
        except FileNotFoundError:
            reports[rank] = []
    return Outcome(code, texts[0], texts[1], reports, folder)


def digest(folder, names):
    """Of files that are the same in any two runs without faults; None: not there."""
    found = {}
    for name in names:
        try:
            with open(os.path.join(folder, name), "rb") as file:
                found[name] = hashlib.sha256(file.read()).hexdigest()
        except OSError:
            found[name] = None
    return found


def results(case):
    return case.makes + ([os.path.join(case.run, name) for name in ("frames.h5", "frames.xdmf", "energy.csv", "scene.json", "overlaps.obj")]
                         if case.run and case.ranks == 1 else [os.path.join(case.run, name) for name in ("frames.xdmf", "energy.csv", "scene.json")]
                         if case.run else [])


class Sound:
    """A case without faults: what there is to compare with."""

    def __init__(self, case, home, limit):
        first = launch(case, home, {"TACTUS_FAULT_LIST": 1}, limit)
        self.code, self.out, self.sentences, self.open = first.code, first.out, first.sentences, set(re.sub(r"\d+", "", n) for n in first.open)
        self.digest, self.folder = digest(first.folder, results(case)), first.folder
        self.leaks = collections.Counter(leak[2:] for leak in first.leaks)
        self.calls = {r: [line.split()[1:] for line in report if line.startswith("call ")] for r, report in first.reports.items()}
        if self.code is None or self.code not in (0, 1, 2) or first.aborted:
            sys.exit("%s without faults: exit code %s\n%s" % (case.name, first.code, first.err))


def is_kept_writer(r, leaks):
    """A checkpoint, or frames, whose H5Fclose() failed: HDF5 closes it when the process ends, and its driver then still notes failures in the writer. So
    that one block is kept on purpose (put_away() in checkpoint_write.c)."""
    return bool(r.faults) and r.faults[0][1] == "H5Fclose" and sum(leaks.values()) == 1 and any(writer in with_lines(list(leaks)[0]) for writer in ("io/checkpoint/checkpoint_write.c", "io/frames/frames.c"))


def judge(case, sound, r):
    """None: as it should be; else what is wrong."""
    if r.code is None:
        return "hangs"
    crash = CRASH.search(r.err) or CRASH.search(r.out)
    if crash:
        return "crashes: " + crash.group(0)[:200]
    if r.code < 0 or r.code > 128:
        return "ends by signal (%d)" % r.code
    other = [line for line in r.err.splitlines() if line.strip() and not line.startswith("tactus: ")]
    if case.ranks == 1 and other and "--quiet" in case.arguments and not r.aborted:
        return "noise on stderr: " + other[0][:200]
    if r.code == sound.code and r.sentences == sound.sentences:
        tells = re.search("cannot be read|cannot read|is damaged", r.out)  # a part, and goes on
        if r.out != sound.out and r.code < 2 and case.words and not tells:
            return "exit code %d, but other words on stdout" % r.code
        aside = case.run and os.path.exists(os.path.join(r.folder, case.run, "frames.h5.damaged"))
        differ = [name for name, value in digest(r.folder, results(case)).items()
                  if value != sound.digest[name] and not (aside and "frames" in name)]
        if differ:
            return "exit code %d, but %s differs" % (r.code, ", ".join(differ))
    elif r.code == 1 and "is not used: " in r.err:
        pass  # another checkpoint was looked at, and a warning tells
    elif r.code not in (2, 3):
        return "exit code %d" % r.code
    elif len(r.sentences) != 1:
        return "%d sentences: %s" % (len(r.sentences), " | ".join(r.sentences)[:400] or r.err[:200])
    half = [name for name, value in digest(r.folder, case.makes).items() if value not in (None, sound.digest[name])]
    if half:
        return "half a file: " + half[0]
    if not r.aborted:
        leaks = collections.Counter(leak[2:] for leak in r.leaks) - sound.leaks
        if leaks and not is_kept_writer(r, leaks):
            return "leaks %d times, such as %s" % (sum(leaks.values()), list(leaks)[0])
        files = [n for n in r.open if re.sub(r"\d+", "", n) not in sound.open and n.startswith("/") and not n.startswith(("/dev", "/proc"))]
        if files:
            return "leaves files open: " + files[0]
    # Without a folder of its own a process leaves MPI's, and one that cannot be removed stays.
    own = r.faults and r.faults[0][1] in ("mkdtemp", "nftw", "remove", "MPI_Init")
    left = [os.path.join(where, name) for where, folders, files in os.walk(os.path.join(r.folder, "temporary")) for name in files + folders]
    if left and case.ranks == 1 and not own:
        return "leaves %s behind" % left[0].replace(r.folder + "/", "")
    if case.run:
        before = os.path.join(os.path.dirname(r.folder), "needs", case.run)
        return leftovers.wrong(os.path.join(r.folder, case.run), os.path.join(sound.folder, case.run), before if os.path.isdir(before) else None,
                               r.code, r.aborted)
    return None


def choose(calls, most, draw):
    """Which of the calls fail: all, or of each place the first and the last, then any."""
    if len(calls) <= most:
        return list(range(1, len(calls) + 1))
    places = collections.OrderedDict()
    for n, call in enumerate(calls, 1):
        places.setdefault(tuple(call[:5]), []).append(n)
    chosen = [p[0] for p in places.values()]
    draw.shuffle(chosen)
    more = [p[-1] for p in places.values() if len(p) > 1]
    draw.shuffle(more)
    rest = list(range(1, len(calls) + 1))
    draw.shuffle(rest)
    return list(collections.OrderedDict.fromkeys(chosen + more + rest))[:most]


def source_lines(addresses):
    """Where in the source, of addresses of the program."""
    wanted = sorted(set(addresses))
    if not wanted:
        return {}
    done = subprocess.run(["addr2line", "-e", program()] + ["%x" % (int(a, 16) - 1) for a in wanted], capture_output=True, text=True)
    names = [re.sub(r".*/(src|include)/", "", line.split(" ")[0]) for line in done.stdout.splitlines()]
    return dict(zip(wanted, names)) if len(names) == len(wanted) else {}


def addresses_in(words):
    return [w for w in words if re.fullmatch(r"[0-9a-f]{4,8}", w)]


def with_lines(words):
    lines = source_lines(addresses_in(words))
    return " ".join(lines.get(w, w) for w in words)


def at_places(calls, places):
    """Numbers, from 1, of the calls that one of these source files makes, itself or through helpers of base/."""
    if not places:
        return list(range(1, len(calls) + 1))
    addresses = [addresses_in(call) for call in calls]
    lines = source_lines([a for some in addresses for a in some])
    files = [[lines.get(a, "").split(":")[0] for a in some] for some in addresses]
    callers = [next((f for f in some if not f.startswith("base/")), "") for some in files]
    return [n for n, caller in enumerate(callers, 1) if caller in places.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200, help="faults in all (%(default)s)")
    parser.add_argument("--cases", default="*", help="names of cases, a pattern; several with commas")
    parser.add_argument("--kinds", default="alloc,file,mpi,hdf5,json,other")
    parser.add_argument("--places", help="source files below src/, with commas: only calls that these make, themselves or through base/")
    parser.add_argument("--after", action="store_true", help="what fails is done all the same")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=60, help="seconds that a run may take (%(default)s)")
    parser.add_argument("--log", help="a line for each fault goes there")
    parser.add_argument("--only", help="CASE:RANK:N, one fault, whose folder is kept")
    options = parser.parse_args()
    program(), injector()  # before anything is run: are both there?
    begin, home, draw = time.monotonic(), tempfile.mkdtemp(prefix="tactus-faults-"), random.Random(options.seed)
    try:
        return campaign(options, home, draw, begin)
    finally:
        if not options.only:
            shutil.rmtree(home, ignore_errors=True)


def plan(options, home, draw):
    """[(case, sound, rank, n, call)]: shared out over cases by weight, first of all to those that make few calls."""
    os.mkdir(os.path.join(home, "needs"))

    def sound_launch(arguments):
        done = subprocess.run([program()] + arguments, cwd=os.path.join(home, "needs"), env={**os.environ, **MPI}, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit("tactus %s: %s" % (" ".join(arguments), done.stderr))
    cases.prepare(os.path.join(home, "needs"), sound_launch)
    # The needs end at a stop, and go on to the scene's end.
    work, kinds = [], options.kinds.split(",")
    chosen = [c for c in cases.cases() if any(fnmatch.fnmatch(c.name, p) for p in options.cases.split(","))]
    for case in chosen:
        sound = Sound(case, home, options.limit)
        for rank in sorted(sound.calls):
            calls = [c for c in sound.calls[rank] if c[0] in kinds]
            work.append((case, sound, rank, calls, at_places(calls, options.places)))
    left, out = options.count, []
    weights = sum(w[0].weight / w[0].ranks for w in work)
    for case, sound, rank, calls, numbers in sorted(work, key=lambda w: len(w[4]) / w[0].weight):
        share = case.weight / case.ranks
        most = max(1, round(left * share / weights)) if left > 0 else 0
        some = [numbers[k - 1] for k in choose([calls[n - 1] for n in numbers], most, draw)]
        left, weights = left - len(some), weights - share
        out += [(case, sound, rank, n, calls[n - 1]) for n in some]
    draw.shuffle(out)
    return out


def campaign(options, home, draw, begin):
    work = plan(options, home, draw)
    if options.only:
        name, rank, n = options.only.split(":")
        found = [w for w in work if w[0].name == name and w[2] == int(rank)][:1]
        work = [(case, sound, rank, int(n), None) for case, sound, rank, _, _ in found]
    lock, tally, wrong, places = threading.Lock(), collections.Counter(), [], set()
    log = open(options.log, "w") if options.log else None

    def one(item):
        case, sound, rank, n, _ = item
        setting = {"TACTUS_FAULT_AT": n, "TACTUS_FAULT_RANK": rank, "TACTUS_FAULT_KIND": options.kinds}
        if options.after:
            setting["TACTUS_FAULT_AFTER"] = 1
        r = launch(case, home, setting, options.limit)
        what = judge(case, sound, r)
        with lock:
            fault = r.faults[0] if r.faults else None
            if fault is None:
                tally["not reached"] += 1
            elif what:
                wrong.append((case.name, rank, n, fault, what))
                tally["wrong"] += 1
            else:
                tally["harmless" if r.code == sound.code and r.sentences == sound.sentences else "failed"] += 1
                tally["aborted"] += r.aborted
            if fault:
                tally["kind " + fault[0]] += 1
                tally["ranks %d" % case.ranks] += 1
                places.add(tuple(fault[:4]))
            if log:
                print(case.name, rank, n, r.code, "gives up" if r.aborted else "ends", " ".join(fault or ["-"]), "|", " ".join(r.sentences), "|", what or "", file=log, flush=True)
            if options.only:
                print("exit code %s, %s\n%s\n%s\nfault: %s" % (r.code, r.folder, r.err, what, with_lines(fault or [])))
        if not options.only:
            shutil.rmtree(r.folder, ignore_errors=True)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(one, work))
    reported = collections.OrderedDict()
    for name, rank, n, fault, what in sorted(wrong):
        reported.setdefault((tuple(fault[:4]), re.sub(r"\d+", "", what)[:40]), []).append((name, rank, n, fault, what))
    for group in reported.values():
        name, rank, n, fault, what = group[0]
        print("%s:%d:%d (%d like this): %s" % (name, rank, n, len(group), with_lines(re.split(r"[ ,()']+", what)) if "leaks" in what else what))
        print("    %s" % with_lines(fault))
    faults = tally["failed"] + tally["harmless"] + tally["wrong"]
    print("%d faults injected at %d places of the source: %d failed as they should (%d of them by giving up MPI), %d harmless; %d wrong; "
          "%d calls were not reached; %.0f s" % (faults, len(places), tally["failed"], tally["aborted"], tally["harmless"], tally["wrong"],
                                               tally["not reached"], time.monotonic() - begin))
    print(", ".join("%s %d" % (k, v) for k, v in sorted(tally.items()) if k.startswith(("kind", "ranks"))))
    return 1 if wrong or faults == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
