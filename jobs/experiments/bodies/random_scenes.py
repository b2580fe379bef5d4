#!/usr/bin/python3
"""random_scenes.py [FROM TO] [--implicit | --impact] [--seconds S] [--ranks 2,3,4] [--jointed] [--sliders] [--once] [--scene SEED]: random scenes of rigid bodies, cloth, solids, particles and joints.

Each seed draws two to nine bodies of several kinds, their sizes, masses, speeds and attitudes, the contact's thickness, stiffness, restitution and
friction, gravity, and a floor, a box or nothing around them. They are apart at the start. Joints are drawn where the program knows them. Each is run
on one rank with --record for S seconds of processor time at most, and: ends with code 0, or with 2 or 3 and one sentence; `tactus audit` proves what
was run; the book of energy closes to 1e-9 of what moved; another number of ranks, and a run in two pieces on different ranks, give the same bits
(`tactus diff`); with --implicit another skin of the lists of candidates, too; with --impact the energy does not rise, but for 1e-3 of what moved where bodies turn. With --implicit they are run by the implicit integrator, without grains that roll and restitution, and in the scheme newmark without joints; with --impact by the integrator for impact, for a second, with what deforms made rigid or left out, scripted paddles, chains of particles that touch, and no joints. --jointed leaves out seeds without joints, --sliders has up to three sliders in the place of all joints, and --once runs each on one rank alone. Prints a row per seed and a summary; code 1 if one is wrong. What it shows: whether bodies keep the program's promises for parameters
that nobody has chosen with care."""
import argparse
import collections
import csv
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TACTUS = os.path.abspath(os.environ.get("TACTUS", os.path.join(HERE, "..", "..", "..", "build", "tactus")))
ALONE = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}


def mesh(r, size):
    """A closed surface within a sphere of this radius."""
    kind = r.choice(["box", "sphere", "tetrahedron", "cube", "torus", "cylinder", "octahedron"])
    if kind == "box":
        return {"kind": "box", "size": [size * r.uniform(.2, 1.1), size * r.uniform(.05, 1.1), size * r.uniform(.2, 1.1)], "cells": [r.randint(1, 2) for k in range(3)]}
    if kind == "sphere":
        return {"kind": "sphere", "radius": .9 * size, "level": r.randint(0, 1)}
    if kind == "torus":
        return {"kind": "torus", "radii": [.6 * size, .25 * size], "cells": [r.randint(4, 8), r.randint(3, 5)]}
    if kind == "cylinder":
        return {"kind": "cylinder", "radius": .5 * size, "height": size, "cells": [r.randint(3, 8), 1], "closed": True}
    return {"kind": kind, "edge": size * {"tetrahedron": 1.4, "cube": 1.1, "octahedron": 1.2}[kind], "level": 0}


def body(r, name, size, materials):
    kind = r.choice(["rigid", "rigid", "rigid", "rigid", "cloth", "solid", "grain", "rope"])
    common = {"name": name, "rotation": [r.uniform(-180, 180) for k in range(3)], "velocity": [r.uniform(-1, 1) * 10 ** r.uniform(-1, .7) for k in range(3)]}
    if kind == "rigid":
        return {**common, "rigid": {"density": 10 ** r.uniform(1.5, 4)}, "mesh": mesh(r, size), "angular_velocity": [r.uniform(-1, 1) * 10 ** r.uniform(0, 1.5) for k in range(3)]}
    if kind == "grain":
        return {**common, "mass": 10 ** r.uniform(-3, 0), "rolls": True, "mesh": {"kind": "ball", "radius": .5 * size}, "rotation": [0, 0, 0]}
    if kind == "cloth":
        materials[name] = {"density": 10 ** r.uniform(-1.3, 0), "stretch": {"model": "cst", "stiffness": 10 ** r.uniform(1, 2.5), "poisson": .3},
                           "bend": {"model": "hinge", "stiffness": 10 ** r.uniform(-7, -4)}}
        return {**common, "material": name, "mesh": {"kind": "grid", "size": [1.2 * size, 1.2 * size], "cells": [r.randint(2, 6)] * 2}}
    if kind == "rope":
        materials[name] = {"density": 10 ** r.uniform(-2, -1), "stretch": {"model": "spring", "stiffness": 10 ** r.uniform(1, 3)}}
        return {**common, "material": name, "mesh": {"kind": "segments", "from": [-.8 * size, 0, 0], "to": [.8 * size, 0, 0], "cells": r.randint(2, 12)}}
    materials[name] = {"density": 1000, "solid": {"model": r.choice(["neo-hookean", "stvk", "corotated"]), "youngs": 10 ** r.uniform(4, 5.5), "poisson": .3}}
    return {**common, "material": name, "mesh": {"kind": "box", "size": [size, .6 * size, .6 * size], "cells": [2, 1, 1], "fill": "tets"}}


def around(r):
    kind = r.choice(["floor", "cells", "box", "nothing"])
    if kind == "box":
        return [{"name": "vessel", "fixed": True, "mesh": {"kind": "box", "size": [1.6, 1.6, 1.6], "cells": [r.randint(1, 3)] * 3}}]
    if kind == "nothing":
        return []
    return [{"name": "floor", "fixed": True, "position": [0, -.75, 0], "mesh": {"kind": "grid", "size": [4, 4], "cells": [1, 1] if kind == "floor" else [7, 7]}}]


def make(seed, joints):
    """The scene of a seed, the same with any version of the program (with joints another one)."""
    r = random.Random(f"bodies {seed}")
    materials, bodies, places, size = {}, [], [], r.uniform(.12, .22)
    for k in range(r.randint(2, 9)):
        for attempt in range(50):
            at = [r.uniform(-.55, .55) for c in range(3)]
            if all(sum((a - b) ** 2 for a, b in zip(at, other)) > (2.1 * size) ** 2 for other in places):
                places.append(at)
                bodies.append({**body(r, f"body {k}", size, materials), "position": at})
                break
    thickness = 10 ** r.uniform(-3.5, -2)
    scene = {"format": "tactus-scene/1", "name": f"bodies {seed}", "time": {"end": .25, "frame": .0625},
             "gravity": r.choice([[0, -9.81, 0], [0, -9.81, 0], [0, 0, 0], [3, -9, 1]]),
             "contact": {"thickness": thickness, "stiffness": 10 ** r.uniform(1, 4), "restitution": r.choice([0, .3, .8, 1]),
                         "friction": r.choice([0, 0, .2, .6, {"static": .6, "kinetic": .4}])},
             "materials": materials, "bodies": around(r) + bodies}
    if any(b.get("rolls") for b in bodies) and scene["contact"]["friction"] and r.random() < .5:
        scene["contact"]["rolling"] = 10 ** r.uniform(-3, -1)
    rigid = [(b, at) for b, at in zip(bodies, places) if "rigid" in b]
    if joints and rigid and r.random() < .6:
        made = []
        for k in range(r.randint(1, min(3, len(rigid)))):
            a, at = r.choice(rigid)
            other = r.choice([None] + [b["name"] for b, _ in rigid if b is not a])
            place = [c + r.uniform(-.2, .2) for c in at]
            kind = r.choice(["ball", "hinge", "weld"])
            joint = {"name": f"joint {k}", "kind": kind, "a": {"body": a["name"], "at": place}, "b": {"body": other, "at": place}, "slack": 10 ** r.uniform(-3.3, -2)}
            if kind != "ball":
                joint["span"] = r.uniform(.2, .8) * size
            if kind == "hinge":
                joint["axis"] = r.choice([[1, 0, 0], [0, 1, 0], [1, 1, 0]])
                if r.random() < .5:
                    joint["motor"] = r.choice([{"torque": r.uniform(-.3, .3)}, {"speed": r.uniform(-6, 6), "most": 1}])
                else:
                    more = random.Random(f"hinge {seed} {k}")
                    if more.random() < .7:
                        joint["limits"] = [-more.uniform(2, 90), more.uniform(2, 90)]
                    if more.random() < .5:
                        joint["motor"] = {"position": more.uniform(-60, 60), "stiffness": 10 ** more.uniform(-2, 1), "most": 1, "path": [[0, 0], [.1, 1]]}
            made.append(joint)
        scene["joints"] = made
    return scene


def with_sliders(scene, seed):
    """The scene with sliders between its rigid bodies, and with the world, as its only joints."""
    r = random.Random(f"slide {seed}")
    rigid = [b for b in scene["bodies"] if "rigid" in b]
    made = []
    for k in range(min(3, len(rigid))):
        body = r.choice(rigid)
        other = r.choice([None] + [b["name"] for b in rigid if b is not body])
        at = [c + r.uniform(-.1, .1) for c in body["position"]]
        made.append({"name": f"rail {k}", "kind": "slider", "a": {"body": body["name"], "at": at}, "b": {"body": other, "at": at},
                     "slack": 10 ** r.uniform(-3.3, -2), "span": r.uniform(.02, .2), "axis": [r.uniform(-1, 1) for c in range(3)],
                     "limits": [-r.uniform(.01, .3), r.uniform(.01, .3)]})
    scene.pop("joints", None)
    return {**scene, **({"joints": made} if made else {})}


def implicit(scene, seed):
    """The scene for the implicit integrator, as far as it can run it."""
    r = random.Random(f"implicit {seed}")
    scene["integrator"] = {"kind": "implicit", "step_s": r.choice([2 ** -7, 2 ** -6]), "scheme": r.choice(["euler", "euler", "bdf2", "newmark"]), "newton": {"most": 200}}
    scene["contact"]["restitution"] = 0
    scene["contact"].pop("rolling", None)
    if scene["integrator"]["scheme"] == "newmark":
        scene.pop("joints", None)
    for body in scene["bodies"]:
        body.pop("rolls", None)
    return scene


def impact(scene, seed):
    """The scene for the integrator for impact: all is rigid or a particle, and some of it touches at the start."""
    r = random.Random(f"impact {seed}")
    bodies, step = [], r.choice([2 ** -9, 2 ** -8, 2 ** -7, 2 ** -6])
    for body in scene["bodies"]:
        body.pop("rolls", None)
        if "material" in body and body["mesh"]["kind"] == "box":
            body["rigid"] = {"density": 10 ** r.uniform(2, 4)}
            body["mesh"].pop("fill")
        if "material" in body and "rigid" not in body and not body.get("fixed"):
            if r.random() < .5:
                continue
            body = {"name": body["name"], "position": body["position"], "velocity": body["velocity"], "mass": 10 ** r.uniform(-3, 1),
                    "mesh": {"kind": "ball", "radius": r.uniform(.02, .1)}}
        body.pop("material", None)
        bodies.append(body)
    if r.random() < .4:  # a row of balls a little apart, or in touch
        gap, n = r.choice([0, 1e-9, .3 * scene["contact"]["thickness"], .02]), r.randint(2, 12)
        for k in range(n):
            bodies.append({"name": f"row {k}", "mass": r.choice([.1, .1, 1, 10]), "mesh": {"kind": "ball", "radius": .02},
                           "position": [-.5 + k * (.04 + scene["contact"]["thickness"] + gap), .7, 0], "velocity": [r.choice([0, 0, -2]) if k else 3, 0, 0]})
    motions = []
    if r.random() < .3:
        bodies.append({"name": "paddle", "mesh": {"kind": "grid", "size": [.5, .5], "cells": [r.randint(1, 3)] * 2}, "position": [0, -.7, 0]})
        motions.append({"body": "paddle", "path": [[0, [0, 0, 0]], [.3, [0, r.uniform(0, .2), 0]], [1, [0, 0, 0]]]})
    if r.random() < .3:  # stones that are pieces of one body
        corners, faces = ((0, 0, 0), (.1, 0, 0), (0, .1, 0), (0, 0, .1)), ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
        n = r.randint(2, 8)
        bodies.append({"name": "stones", "rigid": {"density": 2000, "pieces": True}, "position": [-.6, 1.2, .1], "rotation": [r.uniform(0, 360), 0, 0],
                       "velocity": [0, r.choice([0, -3]), 0], "mesh": {"kind": "inline", "vertices": [[x + .13 * k, y, z] for k in range(n) for x, y, z in corners],
                                                                     "triangles": [[4 * k + i for i in face] for k in range(n) for face in faces]}})
    faster, far = r.choice([1, 1, 1, 5]), r.choice([0, 0, 0, 100, 1e4])
    for body in bodies:
        for key in ("velocity", "angular_velocity"):
            if key in body:
                body[key] = [faster * c for c in body[key]]
        body["position"] = [body.get("position", [0, 0, 0])[0] + far, *body.get("position", [0, 0, 0])[1:]]
    end = round(1 / step) * step
    return {"format": scene["format"], "name": scene["name"], "time": {"end": end, "frame": end / 16}, "gravity": scene["gravity"],
            "integrator": {"kind": "impact", "step_s": step, "operator": r.choice(["reflections"] * 7 + ["lcp", "gauss-seidel", "jacobi"])},
            "contact": {"thickness": scene["contact"]["thickness"], "restitution": scene["contact"]["restitution"],
                        "friction": r.choice([0, 0, .2, .6, 1.2])}, "bodies": bodies, **({"motions": motions} if motions else {})}


def limit(seconds):
    def apply():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    return apply


def call(words, ranks=1, seconds=600, spread=False, skin=None, **hooks):
    """Exit code and output; code "time" where the limit of processor time was met, and "hangs" where ten times as much time has passed, and ten minutes."""
    command = (["mpirun", "-q", "--bind-to", "none", "-n", str(ranks)] if ranks > 1 else []) + [TACTUS, *words]
    environment = {**os.environ, **ALONE, **({"TACTUS_TEST_DEAL": "1"} if spread else {}), **({"TACTUS_TEST_SKIN": skin} if skin else {}), **hooks}
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=environment,
                             preexec_fn=limit(seconds), start_new_session=True)
    try:
        text = child.communicate(timeout=max(600, 10 * seconds))[0]
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        return "hangs", child.communicate()[0]
    return ("time" if child.returncode in (-24, -9, 128 + 24) else child.returncode), text


def sentences(text):
    return [line for line in text.splitlines() if line.startswith("tactus: ") and ": warning: " not in line]


def knows_joints(folder):
    path = os.path.join(folder, "probe.json")
    with open(path, "w") as file:
        json.dump({"format": "tactus-scene/1", "time": {"end": 1, "frame": 1}, "joints": [], "bodies": [{"name": "a", "mass": 1, "mesh": {"kind": "points", "vertices": [[0, 0, 0]]}}]}, file)
    return call(["check", path, "-o", folder])[0] == 0


def is_impact(scene):
    return scene.get("integrator", {}).get("kind") == "impact"


def rise(scene, folder):
    """The largest rise of the energy of a run with impacts from one frame to the next, over what may be; 0 where it may rise.

    Particles are exact; bodies that turn on a support are so to the order of the step (docs/reference/impact.md, Energy)."""
    if not is_impact(scene) or "motions" in scene or scene["integrator"]["operator"] == "jacobi":
        return 0
    with open(os.path.join(folder, "energy.csv")) as file:
        rows = list(csv.DictReader(file))
    total = [float(row["total"]) for row in rows]
    allowed = 1e-3 if any("rigid" in body for body in scene["bodies"]) else 1e-9
    return max(b - a for a, b in zip(total, total[1:])) / (allowed * max([float(row["kinetic"]) for row in rows] + [1e-300]))


def alone(folder, scene, seconds):
    """Runs a scene on one rank, with a record, as `one` in the folder: what is wrong with it, as a list; the code; what the run said."""
    wrong, path, one = [], os.path.join(folder, "scene.json"), os.path.join(folder, "one")
    with open(path, "w") as file:
        json.dump(scene, file)
    code, text = call(["run", path, "-o", one, "--quiet", "--record"], seconds=seconds)
    said = sentences(text)
    if code not in (0, 2, 3, "time") or (code in (2, 3) and len(said) != 1):
        wrong.append(f"code {code}: {text[-300:]}")
    if code != 0:
        return wrong, code, said[:1]
    proof, report = call(["audit", one, "--json"])
    report = json.loads(report[report.index("{"):]) if proof in (0, 1) else None
    if report is None or report["pieces"]["crossing"] or report["pieces"]["open"] or report["start_crossing"]:
        wrong.append(f"the audit ends with {proof}")
    with open(os.path.join(one, "run.json")) as file:
        report = json.load(file)
    residual = report["book_residual"]
    worked = is_impact(scene) or report["counters"]["committed"]["penalty"] > 0  # else all works are rounding, and so is their sum
    if residual is not None and worked and not abs(residual) < 1e-9:
        wrong.append(f"the book is open by {residual:g}")
    return wrong, 0, []


def judge(folder, seed, build, seconds, ranks, once):
    """What is wrong with this seed, as a list; the code; how many joints, and what the run said."""
    r, scene = random.Random(f"ways {seed}"), build(seed)
    path, one = os.path.join(folder, "scene.json"), os.path.join(folder, "one")
    wrong, code, said = alone(folder, scene, seconds)
    if code != 0:
        return wrong, code, scene, said
    if rise(scene, one) > 1:
        wrong.append(f"the energy rises by {rise(scene, one):.3g} of what it may")
    for way in range(0 if once else 3 if "integrator" in scene else 2):
        other = os.path.join(folder, f"way{way}")
        n = r.choice(ranks)
        if way == 0:
            code, text = call(["run", path, "-o", other, "--quiet"], n, seconds=4 * seconds, spread=True)
        elif way == 2:
            code, text = call(["run", path, "-o", other, "--quiet"], 1, seconds=4 * seconds, skin=r.choice(["1e-3", ".03", ".3"]))
        else:
            code, text = call(["run", path, "-o", other, "--quiet", "--until", repr(r.choice([.0625, .125] + [.1] * ("integrator" not in scene)))], n, seconds=4 * seconds, spread=True)
            if code == 0:
                code, text = call(["run", "--restart", other, "--quiet"], r.choice([k for k in (1, 2, 3, 4) if k != n]), seconds=4 * seconds, spread=True)
        if code != 0:
            wrong.append(f"on {n} ranks, way {way}: code {code}: {text[-300:]}")
            continue
        differ, text = call(["diff", one, other, "--all-frames"])
        if differ != 0:
            wrong.append(f"on {n} ranks, way {way}: {text.strip()[:200]}")
    return wrong, 0, scene, []


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("first", type=int, nargs="?", default=0)
    parser.add_argument("end", type=int, nargs="?", default=200)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--ranks", type=lambda t: [int(k) for k in t.split(",")], default=[2, 3, 4])
    parser.add_argument("--implicit", action="store_true")
    parser.add_argument("--impact", action="store_true")
    parser.add_argument("--jointed", action="store_true", help="only seeds with joints")
    parser.add_argument("--sliders", action="store_true", help="sliders in the place of all joints")
    parser.add_argument("--once", action="store_true", help="on one rank alone")
    parser.add_argument("--scene", type=int, help="prints the scene of a seed")
    given = parser.parse_args()
    codes, bad, with_joints = collections.Counter(), 0, 0
    with tempfile.TemporaryDirectory() as home:
        joints = knows_joints(home)

    def build(seed):
        scene = with_sliders(make(seed, joints), seed) if given.sliders else make(seed, joints)
        return impact(scene, seed) if given.impact else implicit(scene, seed) if given.implicit else scene
    if given.scene is not None:
        print(json.dumps(build(given.scene), indent=1))
        return 0
    seeds = [seed for seed in range(given.first, given.end) if not given.jointed or "joints" in build(seed)]
    for seed in seeds:
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            wrong, code, scene, said = judge(folder, seed, build, given.seconds, given.ranks, given.once)
        codes[code] += 1
        bad += bool(wrong)
        with_joints += "joints" in scene
        print(f"{'FAILED' if wrong else 'ok    '} seed {seed}, {len(scene['bodies'])} bodies, {len(scene.get('joints', []))} joints: "
              f"{'out of time' if code == 'time' else f'code {code}'}, {time.monotonic() - begin:.1f} s {'; '.join(wrong + said)}", flush=True)
    print(f"\n{len(seeds)} scenes, {with_joints} with joints: " + ", ".join(f"{n} {'out of time' if c == 'time' else f'code {c}'}" for c, n in sorted(codes.items(), key=str)) +
          f"; {bad} wrong")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
