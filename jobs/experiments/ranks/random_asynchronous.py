#!/usr/bin/python3
"""random_asynchronous.py [FROM TO] [--seconds S] [--ranks 2,3,4,7] [--keep DIR] [--scene SEED]: random scenes of all that the asynchronous integrator knows, by every way to run them.

The scenes are drawn as ../implicit/random_implicit.py draws them: units from 1 mm to 1 km, odd meshes, meshes and starts from files, what an animation
moves and what follows it, motions that let go, winds, pressures, dampers, yield, limits of stretch, joints with motors, histories, scenes in a plane.
Clocks (nested and free, safeties, bounds in seconds), layers (stiffness, exponents, restitution, friction of both models), grains that roll and rigid
bodies are those of the asynchronous integrator. Each scene is run on one rank with --record for S seconds of processor time at most (20) and audited;
then on another number of ranks, found by all three ways of discovery, with vertices that change ranks or messages that are late; in two pieces on two
numbers of ranks; and, for some, as a branch from one checkpoint on two numbers of ranks. Bits must be equal (`tactus diff`). A run on
several ranks that takes over four times S is not judged, and counted.

Prints a row for each seed and a summary; exit code 1 if one is wrong. --keep: folders of wrong seeds are left there. --scene prints a scene. What it
shows: whether the invariance law holds for combinations that nobody has thought of."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "implicit"))
import random_implicit  # noqa: E402


class Asynchronous(random_implicit.Draw):
    """A scene of the asynchronous integrator; `step` is here only a unit of time."""

    def __init__(self, seed, folder):
        super().__init__(seed, folder)
        r = self.r
        self.scheme = "asynchronous"
        self.friction = r.choice([0, 0, .3, 1, {"static": .6, "kinetic": .3}])

    def body(self, name, at):
        super().body(name, at)
        made, r = self.bodies[-1], self.r
        if isinstance(made.get("rigid"), dict):
            made["rigid"].pop("frequency", None)
        if made["mesh"]["kind"] == "ball" and "mass" in made and r.random() < .6:
            made["rolls"] = True

    def stop(self, r):
        return self.end * r.uniform(.05, .95)

    def way(self, r, seed):
        modes = ["all-pairs"] + ["kds"] * (not any("rigid" in b for b in self.bodies))  # kinetic structures do not follow rigid bodies
        words = ["--discover", r.choice(modes)] if r.random() < .5 else []
        return words, r.choice([{}, {"TACTUS_TEST_MIGRATE": str(1 + seed)}, {"TACTUS_TEST_DELAY": f"{seed},300"}, {"TACTUS_TEST_EVERYONE": "1"}])

    def contact(self):
        r, made = self.r, super().contact()
        made.update(stiffness=10 ** r.uniform(0, 4), restitution=r.choice([0, 0, .3, .8, 1]))
        if made["friction"] and r.random() < .2 and not isinstance(made["friction"], dict):
            made["friction_model"] = "kinetic"
        elif made["friction"] and any(b.get("rolls") for b in self.bodies) and r.random() < .5:
            made["rolling"] = 10 ** r.uniform(-3, -1)
        if r.random() < .1:
            made["thickness_exponent"], made["stiffness_exponent"] = r.choice([(.25, 2), (.5, 3), (.25, 4)])
        for pair in made.get("pairs", []):
            pair.update(stiffness=10 ** r.uniform(0, 4), restitution=r.choice([0, .5, 1]))
        return made

    def integrator(self):
        return {"kind": "asynchronous"}

    def clocks(self):
        r, made = self.r, {}
        if r.random() < .3:
            made["mode"] = "free"
        if r.random() < .3:
            made["accuracy"] = r.choice(["draft", "fine"])
        elif r.random() < .3:
            made["elastic_safety"], made["contact_safety"] = r.uniform(.05, .5), r.uniform(.05, .5)
        for key in ("elastic_s", "contact_s", "gravity_s", "rigid_s"):
            if r.random() < .1:
                made[key] = self.end * 10 ** r.uniform(-3, -1)
        return made

    def scene(self):
        made = super().scene()
        clocks = self.clocks()
        return {**made, **({"clocks": clocks} if clocks else {})}


if __name__ == "__main__":
    sys.exit(random_implicit.main(Asynchronous, __doc__))
