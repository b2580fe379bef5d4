#!/usr/bin/python3
"""outputs.py: what is written on request (output.fields, contacts, reactions, histories) is right, is the same on 1, 2 and 3 ranks, changes neither the
trajectory nor the scene's hash, and after kill -9 and a restart no row is lost and none is there twice.

Strains, stresses and angles are computed again here from the positions, in another way; forces are compared with the weight that hangs on a pin
and with what frames.h5 says.  A failure means that somebody designs with wrong numbers, or that asking for more output changes the result."""
import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

TACTUS = os.environ["TACTUS"]
NAME = 'sheet, "a" $HOME\'s'
OUTPUT = {"fields": ["strain", "stress", "bending_angle", "plastic_strain", "contact_pressure", "rank"], "contacts": True, "reactions": True,
          "histories": [{"name": 'tip "x", 1', "body": "rope", "vertices": [4, 0, 2], "every": 0.002, "each": True},
                        {"name": "all", "body": NAME, "every": 0.005},
                        {"name": "half", "body": NAME, "vertices": {"box": [[0, -1, -1], [1, 1, 1]]}, "every": 0.0033},
                        {"name": "what never moves", "body": "ball", "every": 0.0025}]}


def must(true, text):
    if not true:
        sys.exit(text)


def words(ranks, *arguments):
    return ([] if ranks == 1 else ["mpirun", "-q", "--bind-to", "none", "-n", str(ranks)]) + [TACTUS] + [str(w) for w in arguments]


def tactus(*arguments, ranks=1, code=0):
    done = subprocess.run(words(ranks, *arguments), capture_output=True, text=True)
    must(done.returncode == code, "%s: %d instead of %d\n%s%s" % (arguments, done.returncode, code, done.stdout, done.stderr))
    return done.stdout + done.stderr


def scene(end=0.06, **more):
    cloth = {"density": 0.2, "stretch": {"model": "cst", "stiffness": 60, "poisson": 0.3, "yield": 0.01}, "bend": {"model": "hinge", "stiffness": 1e-6, "yield": 0.2}}
    return {"format": "tactus-scene/1", "time": {"end": end, "frame": 0.01}, "gravity": [0, -9.81, 0],
            "contact": {"thickness": 0.004, "stiffness": 50, "friction": 0.3},
            "materials": {"cloth": cloth, "string": {"stretch": {"model": "spring", "stiffness": 5, "damping": 0.002}}},
            "bodies": [{"name": NAME, "material": "cloth", "position": [0, 0.125, 0], "mesh": {"kind": "grid", "size": [0.2, 0.2], "cells": [7, 7]}},
                       {"name": "ball", "fixed": True, "mesh": {"kind": "sphere", "radius": 0.12, "level": 1}},
                       {"name": "rope", "material": "string", "mass": 0.001, "position": [0, 0.2, 0],
                        "mesh": {"kind": "segments", "from": [-0.1, 0, 0], "to": [0.1, 0.01, 0], "cells": 4}},
                       {"name": "gas", "mass": 0.0001, "radius": 0.004, "mesh": {"kind": "points", "vertices": [[0.3, 0, 0], [0.305, 0.02, 0]]}}],
            "motions": [{"body": NAME, "vertices": [0, 7], "path": [[0, [0, 0, 0]], [0.045, [0, 0.01, 0]]], "release": True},
                        {"body": "rope", "vertices": [0], "path": [[0, [0, 0, 0]]]}], **more}


def areas_touched(x, tri, f):
    """The area that each vertex' contact force acts on: that of its contacts, of the finer side, at most its own, and no less than twice their mean."""
    part = np.cross(x[tri[:, 1]] - x[tri[:, 0]], x[tri[:, 2]] - x[tri[:, 0]]) / 6
    own, size, touched, push, area_force, forces = np.zeros((len(x), 3)), np.zeros(len(x)), np.zeros(len(x)), np.zeros((len(x), 3)), np.zeros(len(x)), np.zeros(len(x))
    np.add.at(own, tri.ravel(), np.repeat(part, 3, axis=0))
    np.add.at(size, tri.ravel(), np.repeat(np.linalg.norm(part, axis=1), 3))
    for kind, v, place, n, gap, force in zip(*(f["contacts_" + name][:] for name in ("kind", "vertices", "place", "normal", "gap", "force"))):
        if kind > 1 or not force > 0:
            continue
        first, second = v[:2 - (kind == 0)], v[2 - (kind == 0):]
        weights = []
        for ids, foot in ((first, place + 0.5 * gap * n), (second, place - 0.5 * gap * n)):
            weights.append(np.linalg.lstsq(np.vstack([x[ids].T, np.ones(len(ids))]), np.append(foot, 1), rcond=None)[0])
        area = min(abs(w) @ abs(own[ids] @ n) for ids, w in zip((first, second), weights))
        for i, w in zip(v, abs(np.concatenate(weights))):
            touched[i] += w * area * (kind == 0)
            forces[i] += w * force
            area_force[i] += w * force * area
            push[i] += w * force * n
    length = np.linalg.norm(push, axis=1)
    along = np.abs(np.einsum("ij,ij->i", own, push)) / np.where(length > 0, length, 1)
    least = 2 * area_force / np.where(forces > 0, forces, 1)
    return np.where((area_force > 0) & (along > 0), np.minimum(np.maximum(touched, least), along), size)


def write(name, value):
    with open(name, "w") as file:
        json.dump(value, file)
    return name


def table(path):
    with open(path) as file:
        return list(csv.DictReader(file))


def same_folder(a, b):
    """To the last bit: frames with all fields but the rank, reactions, histories."""
    for name in ("reactions.csv", "histories.csv", "energy.csv"):
        must(open(a + "/" + name).read() == open(b + "/" + name).read(), "%s differs between %s and %s" % (name, a, b))
    with h5py.File(a + "/frames.h5") as x, h5py.File(b + "/frames.h5") as y:
        must(list(x["frames"]) == list(y["frames"]), "frames of %s and %s" % (a, b))
        for k in x["frames"]:
            for name in set(x["frames"][k]) | set(y["frames"][k]):
                must(name == "rank" or x["frames"][k][name][()].tobytes() == y["frames"][k][name][()].tobytes(), "%s of frame %s: %s and %s" % (name, k, a, b))
    with h5py.File(a + "/histories.h5") as x, h5py.File(b + "/histories.h5") as y:
        for g in x["histories"]:
            for name in x["histories"][g]:
                must(np.array_equal(x["histories"][g][name][()], y["histories"][g][name][()]), "histories.h5: %s" % name)


def near(a, b, what, tolerance=2e-6):
    a, b = np.atleast_1d(np.asarray(a, float)), np.atleast_1d(np.asarray(b, float))
    must(a.shape == b.shape and np.allclose(a, b, rtol=tolerance, atol=tolerance * max(1e-8, np.nanmax(np.abs(b), initial=0)), equal_nan=True),
         "%s: %s instead of %s" % (what, a[:5], b[:5]))


def strains(rest, now):
    """Principal stretches of triangles by a singular value decomposition."""
    e, d = rest[:, 1:] - rest[:, :1], now[:, 1:] - now[:, :1]
    frames = []
    for (a, b), (c, f) in zip(e, d):
        q, r = np.linalg.qr(np.array([a, b]).T)
        frames.append(np.linalg.svd(np.array([c, f]).T @ np.linalg.inv(r), compute_uv=False)[:2])
    return np.array(frames)


def check_fields():
    with h5py.File("one.run/frames.h5") as file:
        mesh, first = file["mesh"], file["frames/000000"]
        body = mesh["body"][:]
        for k in ("000000", "000004", "000006"):
            f = file["frames"][k]
            x0, x, tri, seg = first["position"][:], f["position"][:], mesh["triangles"][:], mesh["segments"][:]
            cells = len(tri) + len(seg) + len(mesh["points"])
            s = strains(x0[tri], x[tri]) - 1
            length = lambda y: np.linalg.norm(y[seg[:, 1]] - y[seg[:, 0]], axis=1)  # noqa: E731
            stretch = length(x) / length(x0) - 1
            near(f["strain_max"][:], np.r_[s[:, 0], stretch, 0, 0], "strain_max")
            near(f["strain_min"][:], np.r_[s[:, 1], stretch, 0, 0], "strain_min")
            n = np.cross(x[tri[:, 1]] - x[tri[:, 0]], x[tri[:, 2]] - x[tri[:, 0]])
            n /= np.linalg.norm(n, axis=1)[:, None]
            edges, angle = {}, np.zeros(cells)
            for t, v in enumerate(tri):
                for a, b in ((v[0], v[1]), (v[1], v[2]), (v[2], v[0])):
                    edges.setdefault((min(a, b), max(a, b)), []).append(t)
            for pair in edges.values():
                if len(pair) == 2:
                    bend = np.arccos(np.clip(n[pair[0]] @ n[pair[1]], -1, 1))
                    for t in pair:
                        angle[t] = max(angle[t], bend)
            near(np.abs(f["bending_angle"][:]), angle, "bending_angle", 1e-4)
            share = areas_touched(x, tri, f)
            force = np.linalg.norm(f["contact_force"][:].astype(float), axis=1)
            near(f["contact_pressure"][:], np.where(share > 0, force / np.where(share > 0, share, 1), 0), "contact_pressure")
            # Where nothing has flowed, stress follows from the strain: principal second Piola-Kirchhoff stresses, pushed forward.
            g = .5 * ((s + 1) ** 2 - 1)
            pk = 60 / (1 - .3 ** 2) * np.c_[g[:, 0] + .3 * g[:, 1], g[:, 1] + .3 * g[:, 0]]
            sigma = np.sort(pk * (s + 1) ** 2 / np.prod(s + 1, axis=1)[:, None], axis=1)[:, ::-1]
            elastic = (f["plastic_strain"][:len(tri)] == 0) & (body[tri[:, 0]] == 0)
            must(elastic.sum() > 10 or k == "000006", "nothing is elastic in frame %s" % k)
            near(f["stress_max"][:][:len(tri)][elastic], sigma[elastic, 0], "stress_max", 1e-5)
            near(f["stress_min"][:][:len(tri)][elastic], sigma[elastic, 1], "stress_min", 1e-5)
            near(f["stress_von_mises"][:][:len(tri)][elastic], np.sqrt(sigma[elastic, 0] ** 2 - sigma[elastic, 0] * sigma[elastic, 1] + sigma[elastic, 1] ** 2), "stress_von_mises", 1e-5)
            must(np.isnan(f["stress_max"][:][:len(tri)][body[tri[:, 0]] == 1]).all() and np.isnan(f["stress_max"][-2:]).all(), "stress of what has none")
            near(f["stress_max"][len(tri):len(tri) + 4], 5 * stretch, "tension of the rope", 1e-5)
        must(f["plastic_strain"][:].max() > 0 and np.abs(f["plastic_angle"][:]).max() > 0, "nothing flowed")
        must((f["rank"][:] == 0).all(), "ranks")
        rows = table("one.run/energy.csv")
        for k, row in enumerate(rows):
            c = file["frames"]["%06d" % k]
            must(len(c["contacts_gap"]) == int(row["contacts"]), "number of contacts in frame %d" % k)
            if len(c["contacts_gap"]):
                must(c["contacts_gap"][:].min() == float(row["min_distance"]), "least gap in frame %d" % k)
                near(np.linalg.norm(c["contacts_normal"][:], axis=1), np.ones(len(c["contacts_gap"])), "normals")
                must((c["contacts_force"][:] > 0).all() and (c["contacts_vertices"][:].max(axis=1) < len(x)).all(), "forces, vertices")
        must(int(rows[-1]["contacts"]) > 10, "too few contacts to say anything")
        # A fixed body is held against the contact forces on it.
        for k, row in enumerate([r for r in table("one.run/reactions.csv") if r["name"] == "ball"]):
            frame = file["frames"]["%06d" % k]
            at, f = frame["position"][:][body == 1], frame["contact_force"][:][body == 1].astype(float)
            near([float(row["force_" + c]) for c in "xyz"], -f.sum(axis=0), "force on the ball", 1e-4)
            near([float(row["moment_" + c]) for c in "xyz"], -np.cross(at, f).sum(axis=0), "moment on the ball", 1e-3)
        held = [int(r["vertices"]) for r in table("one.run/reactions.csv") if r["name"] == NAME]
        must(held == [2, 2, 2, 2, 2, 0, 0], "held vertices: %s" % held)
    with h5py.File("one.run/histories.h5") as file, h5py.File("one.run/frames.h5") as frames:
        each, mean, half, ball = (file["histories"][name] for name in ("000000", "000001", "000002", "000003"))
        must([g.attrs["name"].decode() if isinstance(g.attrs["name"], bytes) else g.attrs["name"] for g in (each, mean, half)] == ['tip "x", 1', "all", "half"], "names")
        must(each["position"].shape == (31, 3, 3) and list(each["vertex"][:]) == [0, 2, 4] and mean["position"].shape == (13, 3) and len(half["time"]) == 19, "shapes")
        for k in range(7):
            frame = frames["frames"]["%06d" % k]
            first = np.flatnonzero(body == 2)[0]
            must((each["position"][5 * k] == frame["position"][:][first + np.array([0, 2, 4])]).all(), "positions of a history at frame %d" % k)
            must((each["velocity"][5 * k] == frame["velocity"][:][first + np.array([0, 2, 4])]).all(), "velocities of a history at frame %d" % k)
            near(mean["position"][2 * k], frame["position"][:][body == 0].mean(axis=0), "mean position", 1e-12)
            near(mean["contact_force"][2 * k], frame["contact_force"][:][body == 0].sum(axis=0), "contact force of a history", 1e-4)
            near(ball["contact_force"][4 * k], frame["contact_force"][:][body == 1].sum(axis=0), "contact force on what never moves", 1e-4)
        near(mean["mass"][0], 0.2 * 0.2 * 0.2, "mass", 1e-12)


def check_weight():
    """A weight that has come to rest on a damped spring: its pin holds it."""
    value = scene(end=2, materials={"string": {"stretch": {"model": "spring", "stiffness": 5, "damping": 0.05}}}, contact={}, motions=[{"body": "rope", "vertices": [0], "path": [[0, [0, 0, 0]]]}],
                  bodies=[{"name": "rope", "material": "string", "mass": 0.01, "mesh": {"kind": "segments", "from": [0.3, 0.1, 0], "to": [0.3, 0, 0], "cells": 1}}],
                  output={"reactions": True, "histories": [{"name": 'pin "a", 1', "kind": "reaction", "body": "rope", "every": 0.5}]})
    tactus("run", write("weight.json", value), "-o", "weight.run", "--quiet")
    tactus("run", "weight.json", "-o", "weight-2.run", "--quiet", ranks=2)
    said = tactus("diff", "weight.run", "weight-2.run")
    must("histories.csv" in said and said.endswith("equal\n"), "histories with names on 2 ranks: " + said)
    with open("weight-2.run/histories.csv") as file:
        rows = file.read().splitlines()
    with open("weight-2.run/histories.csv", "w") as file:
        file.write("\n".join(rows[:-1] + [rows[-1].rsplit(",", 1)[0] + ",7"]) + "\n")
    must("different" in tactus("diff", "weight.run", "weight-2.run", code=1), "another moment is no difference")
    last = table("weight.run/reactions.csv")[-1]
    near([float(last["force_" + c]) for c in "xyz"], [0, 0.01 * 9.81, 0], "reaction", 1e-3)
    near([float(last["moment_" + c]) for c in "xyz"], np.cross([0.3, 0.1, 0], [0, 0.01 * 9.81, 0]), "moment", 1e-3)


def check_contacts():
    """Of two particles or two edges one rank decides, and perhaps another one tells: it must tell where both are at that instant."""
    threads = [{"name": "thread-%d" % k, "material": "string", "mass": 0.001, "position": [0, 0.006 * k, 0.3], "rotation": [0, 40 * k, 0],
                "velocity": [0, -0.5 * k, 0], "mesh": {"kind": "segments", "from": [-0.1, 0, 0], "to": [0.1, 0, 0], "cells": 5}} for k in range(4)]
    gas = {"name": "gas", "mass": 0.0001, "radius": 0.004, "random_speed": [0.5, 2], "seed": 5, "mesh": {"kind": "points", "lattice": {"count": [5, 5, 2], "spacing": 0.013}}}
    path = write("contacts.json", scene(end=0.02, bodies=[gas] + threads, motions=[], output={"contacts": True}, time={"end": 0.02, "frame": 0.001}))
    tactus("run", path, "-o", "contacts-1.run", "--quiet")
    with h5py.File("contacts-1.run/frames.h5") as file:
        kinds = np.concatenate([file["frames"][k]["contacts_kind"][:] for k in file["frames"]])
    must((kinds == 1).sum() > 20 and (kinds == 3).sum() > 20, "too few contacts to say anything: %s" % np.bincount(kinds))
    for ranks, mode in ((3, "speculate"), (2, "kds")):
        folder = "contacts-%d.run" % ranks
        tactus("run", path, "-o", folder, "--quiet", "--discover", mode, ranks=ranks)
        must(tactus("diff", "contacts-1.run", folder, "--all-frames").endswith("equal\n"), "contacts on %d ranks, %s" % (ranks, mode))


def check_kills(path):
    """kill -9 at several moments; between them whatever was written is a beginning, and in the end nothing is missing."""
    more = ["--set", "time.end=0.18", "--set", "output.checkpoint_every_t=0.013"]
    tactus("run", path, "-o", "whole.run", "--quiet", *more)
    done, lines = 0, 0
    for attempt in range(40):
        arguments = ("run", "--restart", "killed.run", "--quiet", "--set", "time.end=0.18", "--set", "output.checkpoint_every_t=0.013") if attempt else ("run", path, "-o", "killed.run", "--quiet", *more)
        process = subprocess.Popen(words(1, *arguments), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while process.poll() is None:
            have = open("killed.run/histories.csv").read().count("\n") if os.path.exists("killed.run/histories.csv") else 0
            if have > lines + 60 and os.path.exists("killed.run/checkpoint.h5") and done < 3:
                process.send_signal(signal.SIGKILL)
                done, lines = done + 1, have
            time.sleep(0.02)
        if process.wait() == 0:
            break
        must(process.returncode == -signal.SIGKILL, "a restart failed: %s" % process.stderr.read())
    must(done > 0, "the run was over before it could be killed")
    same_folder("whole.run", "killed.run")


def main():
    plain = write("plain.json", scene())
    path = write("scene.json", scene(output=OUTPUT))
    tactus("run", plain, "-o", "plain.run", "--quiet")
    tactus("run", path, "-o", "one.run", "--quiet")
    sha = [json.load(open(name + ".run/run.json"))["scene_sha256"] for name in ("plain", "one")]
    must(sha[0] == sha[1], "asking for output changes the scene's hash")
    must(tactus("diff", "plain.run", "one.run", "--all-frames").endswith("equal\n"), "asking for output changes the run")
    check_fields()
    check_weight()
    check_contacts()
    # Ranks, with a stop between two frames and off all grids; on with another number.
    tactus("run", path, "-o", "three.run", "--quiet", "--until", "0.0347", ranks=3)
    tactus("run", "--restart", "three.run", "--quiet", ranks=2)
    same_folder("one.run", "three.run")
    with h5py.File("three.run/frames.h5") as file:
        must(set(file["frames/000000/rank"][:]) == {0, 1, 2} and set(file["frames/000006/rank"][:]) == {0, 1}, "owners")
    must("fields" in tactus("diff", "one.run", "three.run"), "tactus diff compares no fields")
    check_kills(path)
    # Frames with and without fields in one file; damage is found before anything is changed.
    tactus("run", path, "-o", "mixed.run", "--quiet", "--until", "0.03", "--set", "output={}")
    tactus("run", "--restart", "mixed.run", "--quiet", "--set", "output.fields=[\"strain\"]")
    text = open("mixed.run/frames.xdmf").read()
    must(text.count('"strain_max"') == 3 and text.count("<Grid Name=\"0") == 7, "frames.xdmf tells of fields that are not there")
    with h5py.File("mixed.run/frames.h5") as file:
        must(["strain_max" in file["frames"][k] for k in file["frames"]] == [False] * 4 + [True] * 3, "fields since the restart")
    tactus("run", path, "-o", "bad.run", "--quiet", "--until", "0.03")
    with open("bad.run/histories.csv") as file:
        lines = file.read().splitlines(True)
    with open("bad.run/histories.csv", "w") as file:
        file.write("".join(lines[:5] + ["no row\n"] + lines[5:]))
    must("histories.csv is damaged: its line 6" in tactus("run", "--restart", "bad.run", "--quiet", code=2), "a damaged table is taken")
    # What cannot be.
    for change, text in ((("output.fields=[\"stran\"]"), "did you mean \"strain\""), ("output.histories.0.body=\"x\"", "output.histories[0].body"),
                         ("output.histories.0.every=0", "greater than 0"), ("output.histories.1.name=\"half\"", "used twice"),
                         ("output.histories.0.vertices=[9]", "output.histories[0].vertices"), ("output.histories.2.vertices={\"box\":[[5,5,5],[6,6,6]]}", "holds no vertex")):
        for ranks in (1, 2) if "box" in change else (1,):
            must(text in tactus("run", path, "-o", "no.run", "--set", change, ranks=ranks, code=2) and not os.path.exists("no.run"), "%s: refused otherwise" % change)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
