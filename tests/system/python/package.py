#!/usr/bin/python3
"""package.py BUILD: the package can be installed, by CMake and by pip, and then used as its README says.

In both cases without the variables that the other tests set: the package must find the library and the program by itself.  The README's
table cloth has at most 15 lines and runs (with fewer cells, to its first frames) from a folder of its own.  If it failed, a new user could
not begin.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from common import DROP, SOURCE, end, expect

BUILD = sys.argv[1]
CLEAN = {name: value for name, value in os.environ.items() if name not in ("TACTUS_LIBRARY", "TACTUS_PROGRAM", "PYTHONPATH", "TACTUS", "PKG_CONFIG_PATH")}
WHERE = "import tactus, os\nfrom tactus import _library\nprint(os.path.realpath(tactus.__file__)); print(os.path.realpath(_library.load().place)); print(os.path.realpath(_library.find_program()))"


def call(*words, cwd=None, code=0, **environment):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, cwd=cwd, env={**CLEAN, **environment})
    if (done.returncode == 0) != (code == 0):
        sys.exit(f"{' '.join(map(str, words))}: code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout if code == 0 else done.stderr


def readme(folder, path):
    with open(os.path.join(SOURCE, "src/python/README.md")) as file:
        blocks = re.findall(r"```python\n(.*?)```", file.read(), re.S)
    lines = [line for line in blocks[0].splitlines() if line.strip()]
    expect(len(lines) <= 15 and len(blocks) == 2, f"the README's table cloth has {len(lines)} lines")
    with open(os.path.join(SOURCE, "README.md")) as file:
        expect(blocks[0] in file.read(), "README.md has another table cloth than the package's")
    code = "".join(blocks).replace("cells=[24, 24]", "cells=[8, 8]").replace("end=0.6", "end=0.06").replace('"cloth.png")', '"cloth.png", width=200, height=150)')
    expect(code != "".join(blocks), "the README's scene is another one")
    with open(os.path.join(folder, "cloth.py"), "w") as file:
        file.write(code)
    reported = call(sys.executable, "cloth.py", cwd=folder, PYTHONPATH=path)
    expect(reported.count("\n") >= 4 and "(81, 3)" in reported, f"the README's code prints {reported}")
    expect(os.path.getsize(os.path.join(folder, "cloth.png")) > 5_000, "the README's code makes a picture")


def by_cmake(folder):
    prefix = os.path.join(folder, "pre fix")
    call("cmake", "--install", BUILD, "--prefix", os.path.join(folder, "first"))
    os.rename(os.path.join(folder, "first"), prefix)  # a prefix can be moved
    path = os.path.join(prefix, "lib", f"python{sys.version_info.major}.{sys.version_info.minor}", "site-packages")
    package, library, program = call(sys.executable, "-c", WHERE, cwd=folder, PYTHONPATH=path).split("\n")[:3]
    expect(all(place.startswith(os.path.realpath(prefix)) for place in (package, library, program)), f"installed by CMake, it finds {package}, {library}, {program}")
    names = set(os.listdir(os.path.join(SOURCE, "src/python/tactus"))) - {"__pycache__"}
    expect(names <= set(os.listdir(os.path.join(path, "tactus"))), f"CMake installs not all of {sorted(names)}")
    expect(not os.path.islink(os.path.join(path, "tactus/_picture/raster.py")), "the drawer is installed, and not a link to the sources")
    readme(folder, path)
    return prefix


def by_pip(folder, prefix):
    source = os.path.join(folder, "a copy")  # setuptools writes beside what it builds
    shutil.copytree(os.path.join(SOURCE, "src/python"), source, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    pc = next(os.path.join(home, "") for home, _, names in os.walk(prefix) if "tactus.pc" in names)

    def install(name, **environment):
        target = os.path.join(folder, name)
        call(sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--no-index", "--target", target, ".", cwd=source,
             PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_CACHE_DIR="1", **environment)
        return target
    library = os.path.realpath(os.path.join(pc, "../libtactus.so.0.1"))
    # By pkg-config when it is built: nothing is needed when it is used.
    path = install("by pkg-config", PKG_CONFIG_PATH=pc)
    reported = call(sys.executable, "-c", WHERE, cwd=folder, PYTHONPATH=path).split("\n")
    expect(reported[0].startswith(os.path.realpath(path)) and reported[1] == library and reported[2] == os.path.realpath(os.path.join(prefix, "bin/tactus")), f"by pkg-config it finds {reported}")
    reported = call(sys.executable, "-c", f"import tactus; run = tactus.run({DROP!r}, 'pip.run', until=0.125, progress=False); print(len(run), run.picture(0, 64, 48).shape)",
                cwd=folder, PYTHONPATH=path)
    expect(reported == "2 (48, 64, 3)\n", f"installed by pip it prints {reported}")
    # Without a library it can be installed and read runs, and says in one sentence what is missing.
    path = install("without", PATH="/usr/bin:/bin", HOME=folder)
    reported = call(sys.executable, "-c", f"import tactus; print(len(tactus.open('pip.run')))\ntry: tactus.Simulation({DROP!r})\nexcept tactus.LibraryError as e: print(e)",
                cwd=folder, PYTHONPATH=path, PATH="/usr/bin:/bin", HOME=folder)
    expect(reported.startswith("2\n") and ("was not found" in reported and reported.count("\n") == 2 or os.path.exists("/usr/local/lib/libtactus.so.0.1")), f"without a library: {reported}")
    reported = call(sys.executable, "-c", WHERE, cwd=folder, PYTHONPATH=path, TACTUS_LIBRARY=library).split("\n")
    expect(reported[1] == library, f"by TACTUS_LIBRARY it finds {reported}")


with tempfile.TemporaryDirectory() as home:
    by_pip(home, by_cmake(home))
end()
