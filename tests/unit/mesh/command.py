#!/usr/bin/python3
"""tactus mesh as a user types it: counts, the files it writes, values as words and as JSON, help, and mistakes."""
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import h5py

TACTUS = os.environ["TACTUS"]
os.environ["OMPI_MCA_ess_singleton_isolated"] = "1"  # no helper process per launch: half the time
failures = []


def run(*words, cwd=None):
    ran = subprocess.run([TACTUS, "mesh"] + list(words), cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return ran.returncode, ran.stdout.decode(), ran.stderr.decode()


def run_all(lines, cwd):
    """Starting MPI is mostly waiting: many at once."""
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(lambda words: run(*words, cwd=cwd), lines))


def check(condition, *what):
    if not condition:
        failures.append(what)


KINDS = {
    "grid": ("--size 2,1 --cells 4,3", (20, 24, 0)),
    "ribbon": ("--curve 0,0,0;1,0,0;1,1,0 --width 0.1 --cells 10,2 --up 0,0,-1", (33, 40, 0)),
    "sphere": ("--radius .5 --level 2", (162, 320, 0)),
    "torus": ("--radii 1,.25 --cells 12,6", (72, 144, 0)),
    "cylinder": ("--radius 1 --height 2 --cells 8,2 --closed", (26, 48, 0)),
    "cone": ("--radius 1 --height=2 --cells 8,2", (17, 24, 0)),
    "box": ("--size 1,2,3 --cells 1,2,3", (24, 44, 0)),
    "ball": ("--radius 1", (1, 0, 0)),
    "capsule": ("--radius .1 --length 2", (2, 0, 1)),
    "plane": ("--size 2,1", (4, 2, 0)),
    "tetrahedron": ("--edge 1", (4, 4, 0)),
    "cube": ("--edge 1 --level 1", (26, 48, 0)),
    "octahedron": ("--edge 1e-3", (6, 8, 0)),
    "dodecahedron": ("--edge 1", (20, 36, 0)),
    "icosahedron": ("--edge 1", (12, 20, 0)),
    "spikes": ("--size 20,20 --count 6,6 --height 7.8 --base .94", (301, 576, 0)),
    "segments": ("--from 0,0,0 --to -1,0,0 --cells 9", (10, 0, 9)),
    "points": ("--lattice.count 2,3,4 --lattice.spacing 1", (24, 0, 0)),
    "inline": ("--vertices 0,0,0;1,0,0;0,1,0;-1,-1,-1 --triangles 0,1,2; --edges 3,0", (4, 1, 1)),
    "file": ("--path sphere.obj", (162, 320, 0)),
}

MISTAKES = [
    ("", 2, "tactus mesh needs the kind of mesh first"),
    ("--radius 1", 2, "tactus mesh needs the kind of mesh first"),
    ("spheer -o a.obj", 2, "there is no mesh kind 'spheer'; did you mean 'sphere'?"),
    ("sphere --radius 1", 2, "-o is missing; tactus mesh needs the file to write: -o sphere.obj"),
    ("sphere -o a.obj", 2, "--radius: is missing; a sphere needs it"),
    ("sphere --raduis 1 -o a.obj", 2, "unknown option '--raduis' of tactus mesh sphere; did you mean '--radius'?"),
    ("sphere --radius -1 -o a.obj", 2, "--radius: must be a number over 0, not -1"),
    ("sphere --radius one -o a.obj", 2, "--radius: 'one' cannot be read as numbers; give N or a JSON value"),
    ("sphere --radius 0x10 -o a.obj", 2, "--radius: '0x10' cannot be read as numbers"),
    ("sphere --radius nan -o a.obj", 2, "--radius: 'nan' cannot be read as numbers"),
    ("sphere --radius 1e999 -o a.obj", 2, "--radius: '1e999' cannot be read as numbers"),
    ("sphere --radius 1 --level 2.5 -o a.obj", 2, "--level: must be a whole number from 0"),
    ("sphere --radius", 2, "--radius needs a value"),
    ("sphere 3 --radius 1 -o a.obj", 2, "unexpected argument '3'"),
    ("grid --size 1 --cells 1,1 -o a.obj", 2, "--size: must be 2 numbers [.., ..], not [1]"),
    ("grid --size 1,,2 --cells 1,1 -o a.obj", 2, "--size: '1,,2' cannot be read as numbers; give A,B or a JSON value"),
    ("grid --size 1;2 --cells 1,1 -o a.obj", 2, "--size: '1;2' cannot be read as numbers"),
    ("grid --size [1,2 --cells 1,1 -o a.obj", 2, "--size: '[1,2' is no JSON: "),
    ("grid --size [1,-2] --cells 1,1 -o a.obj", 2, "--size[1]: must be a number over 0, not -2"),
    ("inline --vertices 0,0,0;1,0,0;0,1,0 --triangles 0,1,3 -o a.obj", 2, "--triangles[0][2]: vertex 3 does not exist"),
    ("inline --vertices 0,0,0;1,0,0;2,0,0 --triangles 0,1,2 -o a.obj", 2, "inline: triangle 0 (vertices 0, 1, 2) near"),
    ("points -o a.obj", 2, "points need exactly one of 'vertices', 'path' and 'lattice', not none"),
    ("points --lattice.count 1,1,1 -o a.obj", 2, "--lattice.spacing: is missing"),
    ("points --lattice {\"count\":[1,1,1]} --lattice.count 1,1,1 -o a.obj", 2, "--lattice.count: is given twice"),
    ("file --path none.obj -o a.obj", 2, "--path: cannot read the mesh file 'none.obj': No such file or directory"),
    ("sphere --radius 1 -o a.vtk", 2, "a.vtk: the name must end in .obj, .ply, .stl, .msh or .h5"),
    ("sphere --radius 1 -o none/a.obj", 2, "none/a.obj: cannot be made: No such file or directory"),
    ("segments --from 0,0,0 --to 1,0,0 -o a.stl", 2, "a.stl: STL holds triangles only"),
]

with tempfile.TemporaryDirectory() as folder:
    answers = run_all([[kind] + KINDS[kind][0].split() + ["-o", kind + ".obj"] for kind in KINDS if kind != "file"], folder)
    answers += run_all([["file", "--path", "sphere.obj", "-o", "file.obj"]], folder)
    for (kind, (_, counts)), answer in zip(KINDS.items(), answers):
        check(answer == (0, "%s.obj: %d vertices, %d triangles, %d segments\n" % ((kind,) + counts), ""), kind, answer)
        lines = open(os.path.join(folder, kind + ".obj")).read().splitlines()
        check(tuple(sum(line.startswith(c + " ") for line in lines) for c in "vfl") == counts, kind, "lines of the OBJ")
    in_h5 = ["inline", "torus", "segments", "points"]
    run_all([[kind] + KINDS[kind][0].split() + ["-o", kind + ".h5"] for kind in in_h5], folder)
    for kind in in_h5:
        lines = [line.split() for line in open(os.path.join(folder, kind + ".obj"))]
        with h5py.File(os.path.join(folder, kind + ".h5")) as h:
            check([h[n].dtype.str for n in ("vertices", "triangles", "segments")] == ["<f8", "<i8", "<i8"], kind, "types")
            check(h["vertices"][:].tolist() == [[float(c) for c in w[1:]] for w in lines if w[0] == "v"], kind, "v")
            check(h["triangles"][:].tolist() == [[int(i) - 1 for i in w[1:]] for w in lines if w[0] == "f"], kind, "f")
            check(h["segments"][:].tolist() == [[int(i) - 1 for i in w[1:]] for w in lines if w[0] == "l"], kind, "l")
            check([h[n].shape[1] for n in ("vertices", "triangles", "segments")] == [3, 3, 2], kind, "shapes")
    # Words and JSON mean the same.
    for words in (["--curve", "0, 0,0 ; 1,0,0;", "--cells", "3,1"], ["--curve", "[[0,0,0],[1,0,0]]", "--cells=[3,1]"]):
        run("ribbon", "--width", "1", *words, "-o", "a.obj", cwd=folder)
        os.rename(os.path.join(folder, "a.obj"), os.path.join(folder, words[1][0] + "w.obj"))
    texts = [open(os.path.join(folder, n), "rb").read() for n in ("0w.obj", "[w.obj")]
    check(texts[0] == texts[1] and len(texts[0]) > 100, "words and JSON", texts)
    code, out, err = run("points", "--lattice", json.dumps({"count": [2, 2, 1], "spacing": 1}), "-o", "a.ply", cwd=folder)
    check((code, out) == (0, "a.ply: 4 vertices, 0 triangles, 0 segments\n"), code, out, err)
    code, out, err = run("points", "--path", "sphere.obj", "-o", "a.ply", cwd=folder)
    check((code, out) == (0, "a.ply: 162 vertices, 0 triangles, 0 segments\n"), code, out, err)
    code, out, err = run("inline", "--vertices", "0,0,0;1,0,0;5,5,5", "--edges", "0,1", "-o", "b.obj", cwd=folder)
    check(code == 0 and "2 vertices" in out and err == "tactus: warning: inline: 1 of 3 vertices are in no element and are "
          "dropped; vertex numbers count the others\n", code, out, err)

    before = sorted(os.listdir(folder))
    for (line, expected, sentence), (code, out, err) in zip(MISTAKES, run_all([m[0].split() for m in MISTAKES], folder)):
        check(code == expected and out == "" and sentence in err and err.startswith("tactus: ") and err.count("\n") == 1,
              line, code, out, err)
    check(sorted(os.listdir(folder)) == before, "mistakes left files behind", os.listdir(folder))

    # Help: the kinds, and of each kind its options; every option of KINDS is in it.
    code, everything, err = run("-h")
    check(code == 0 and err == "" and run("--help")[1] == everything, "help", code, err)
    for kind, (words, _) in KINDS.items():
        check("\n  %s " % kind in everything, kind, "is not in the help")
        out = ""
        if kind in ("points", "cylinder"):
            code, out, err = run(kind, "-h")
            check(code == 0 and out.startswith("usage: tactus mesh %s " % kind), kind, code, out, err)
        for option in [w.split("=")[0] for w in words.split() if w.startswith("--")]:
            check(option + " " in everything and (out == "" or option + " " in out), kind, option, "is not in the help")
    for words in ("--fill WORD ", "--path FILE ", "--edges I,J;... ", "--triangles I,J,K;... ", "--tetrahedra I,J,K,L;... "):
        check("\n    " + words in everything, words, "is not in the help")

for failure in failures:
    print(*failure)
print("%d kinds, %d mistakes; %d failures" % (len(KINDS), len(MISTAKES), len(failures)))
sys.exit(bool(failures))
