#!/usr/bin/python3
"""bits.py: a scene's start is the same to the last bit with other processor features and another compiler.

If it fails, placing, masses, generators or random velocities depend on the machine: the invariance law is broken before
the first kick.  The scene's hash covers all of them.
"""

import json
import os
import subprocess
import sys

import scenes


def sha256(program, path, **environment):
    done = subprocess.run([program, "check", path, "--json"], stdout=subprocess.PIPE, env={**os.environ, **environment})
    if done.returncode:
        raise SystemExit(f"{program} check ends with {done.returncode}")
    return json.loads(done.stdout)["sha256"]


def main():
    probe = scenes.Probe(None)
    everything = scenes.scene(materials={}, bodies=[])
    for i, scene in enumerate(scenes.good(probe)):
        for name, material in scene.get("materials", {}).items():
            everything["materials"][f"{name}{i}"] = material
        for body in scene["bodies"]:
            body.update(name=f"{body['name']}{i}", position=[3.1 * i, 0.7, -0.3], rotation=[11.3 * i, 7, 77.7],
                        scale=1 / (i + 1.3))
            if "material" in body:
                body["material"] += str(i)
            if not body.get("fixed"):
                body.update(velocity=[0.1, 0.2, 0.3], angular_velocity=[1.1, 2.2, 3.3 * i])
            if not body.get("fixed") and not body.get("rigid"):
                body.update(random_speed=[0.3, 0.7], seed=i)
            if body["mesh"]["kind"] in ("ball", "capsule"):
                del body["radius"]  # the mesh' times the scale
            everything["bodies"].append(body)
    path = probe.write("everything.json", json.dumps(everything))
    tactus = os.environ["TACTUS"]
    want = sha256(tactus, path)
    hidden = "glibc.cpu.hwcaps=-AVX,-AVX2,-AVX512F,-FMA,-FMA4,-SSE4_1,-SSE4_2"
    got = {"without FMA and AVX": sha256(tactus, path, GLIBC_TUNABLES=hidden)}
    if os.environ.get("TACTUS_OTHER"):
        got["by the other compiler"] = sha256(os.environ["TACTUS_OTHER"], path)
    bad = [f"{name}: {value}, not {want}" for name, value in got.items() if value != want]
    print("\n".join(bad) or f"{len(everything['bodies'])} bodies, {len(got) + 1} ways, one hash")
    return 1 if bad else 0


sys.exit(main())
