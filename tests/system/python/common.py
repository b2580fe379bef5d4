"""common.py: what the tests of the Python package share.

The package is that of the source tree, the library and the program those of the build (TACTUS_LIBRARY, TACTUS_PROGRAM).  In the build with
sanitizers their runtime must come before everything else: the script starts itself again with it (TACTUS_PRELOAD).
"""
import contextlib
import os
import subprocess
import sys

SOURCE = os.environ["TACTUS_SOURCE"]
MPIRUN = ["mpirun", "-q", "--bind-to", "none", "-n"]
DROP = os.path.join(SOURCE, "docs/examples/drop.json")

preload = os.environ.pop("TACTUS_PRELOAD", "")
if preload:
    os.environ["LD_PRELOAD"] = preload
    # Python keeps much of its memory to the end.
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0:verify_asan_link_order=0"
    os.execv(sys.executable, [sys.executable, *sys.argv])

failures = []


def expect(good, what):
    if not good:
        failures.append(what)
        print("FAILS:", what, flush=True)


@contextlib.contextmanager
def raises(kind, *words):
    """The block raises this kind of exception, in one sentence with these words."""
    try:
        yield
    except kind as error:
        text = str(error)
        lacking = [word for word in words if word not in text]
        expect(not lacking, f"{type(error).__name__} lacks {lacking}: {text}")
        expect(text and "\n" not in text.strip(), f"not one sentence: {text!r}")
    except BaseException as error:
        expect(False, f"{type(error).__name__} instead of {kind.__name__}: {error}")
    else:
        expect(False, f"nothing is raised instead of {kind.__name__} ({', '.join(words)})")


def ranks(count, *words, code=0, **environment):
    """Runs this Python on so many ranks; its output."""
    command = [*MPIRUN, str(count), sys.executable, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    if (done.returncode == 0) != (code == 0):
        sys.exit(f"{' '.join(command)}: code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def program(*words, code=0):
    done = subprocess.run([os.environ["TACTUS_PROGRAM"], *map(str, words)], capture_output=True, text=True)
    if done.returncode != code:
        sys.exit(f"tactus {' '.join(map(str, words))}: code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout if code == 0 else done.stderr


def end():
    print(f"{os.path.basename(sys.argv[0])}: {len(failures)} failures")
    sys.exit(1 if failures else 0)
