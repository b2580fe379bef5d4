#!/usr/bin/python3
"""experiment_scenes.py NAME [-o FILE]: scenes of jobs/experiments/physics, cut to a second or so of computing.

The experiments make their scenes themselves; here they are asked for them, and stopped when they would run one. Without a
name: all names.
"""
import argparse
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "jobs", "experiments", "physics"))


class Asked(Exception):
    """Thrown where an experiment would run its scene."""


class Asker:
    """Stands for an experiment."""
    quick, home = True, "."

    def run(self, scene, *_arguments, **_keys):
        raise Asked(scene)


def scene_of(function, *arguments, **keys):
    try:
        function(Asker(), *arguments, **keys)
    except Asked as asked:
        return json.loads(json.dumps(asked.args[0], default=float))
    raise SystemExit(f"{function.__name__} runs no scene")


def until(scene, end, frames=8):
    scene["time"] = {"end": end, "frame": end / frames}
    return scene


def house(mu, storeys, end):
    import cards
    return until(scene_of(cards.stand, mu, storeys, 1), end)


def plates(count, end):
    import cards
    return until(scene_of(cards.plates, count, .4, 1), end)


def limited(kind, speed, limit, end, **which):
    import limits
    return until(scene_of(limits.hit, kind, speed, limit, **which), end)


def rolled(end):
    import limits
    return until(scene_of(limits.rolled, .05), end)


def slope(body, mu, e, end, **contact):
    """A particle is put closer, a box let fall from where it stands: contact from the first milliseconds on."""
    import friction
    keys = {}
    if body == "box":
        contact = {"thickness": .002, **contact}
        keys["materials"] = {"shell": {"density": 5, "stretch": {"model": "spring", "stiffness": 4000, "damping": 1e-3},
                                       "bend": {"model": "hinge", "stiffness": 2, "damping": 1e-3}}}
    thing = friction.box() if body == "box" else friction.particle()
    return until(scene_of(friction.on_slope, thing, mu, e, 1, contact, **keys), end)


def sludge(mu, end):
    """In two dimensions: grains that fall onto a floor and each other, and flow over its edge."""
    import sludge as experiment
    width, place, size = experiment.lattice((5, 4))
    walls = [(0, 2), (0, 0), (width, 0), (width + 4, -2)]
    return until(scene_of(experiment.run, walls, place, size, mu, 1, random_speed=[0, 1], seed=7), end)


def thrown(e, end):
    """A tumbling box, let fall lower than in the experiment."""
    import defect
    scene = defect.throw(e, 0, 0)
    scene["bodies"][1]["position"][1] = .09
    return until(scene, end)


def balls(e, count, end):
    """Fewer of the 900, in the same box' corner, all as fast as they are."""
    import box
    scene = box.box_scene(e, end, end / 8, "balls")
    scene["bodies"][1]["mesh"]["lattice"].update(count=count, spacing=.23)
    return scene


def heap(mu, end):
    """A heap of balls on a floor and against a slope, and one that falls into it (ACM 2009, section 6.3)."""
    import physics
    x, triangles = physics.grid((1.2, .6), (3, 2))
    x[:, 1] = [max(0, .8 * p) for p in x[:, 0]]  # a floor, and a slope beside it
    lattice = [[.205 * (i + .5 * (j % 2)) - .5, .12 + .5 * max(0, .205 * (i + .5 * (j % 2)) - .25) + .19 * j, .205 * (k + .5 * (j % 2)) - .25]
               for j in range(3) for i in range(3) for k in range(3)]
    bodies = [{"name": "ground", "fixed": True, "mesh": {"kind": "inline", "vertices": x.tolist(), "triangles": triangles.tolist()}},
              {"name": "balls", "mass": .5, "radius": .08, "mesh": {"kind": "points", "vertices": lattice}},
              {"name": "stone", "mass": 2, "radius": .05, "velocity": [1, -8, .3], "mesh": {"kind": "points", "vertices": [[-.2, .9, .02]]}}]
    return physics.scene(end, end / 8, bodies, gravity=[0, -9.81, 0], name="heap",
                         contact={"thickness": .02, "stiffness": 5000, "restitution": 0, "friction": mu})


SCENES = {
    "house": lambda: house(.6, 2, .125),
    "house-falls": lambda: house(.1, 1, .5),
    "plates": lambda: plates(5, .125),
    "chain-hit": lambda: limited("chain", 10, .02, .04),
    "chain-shot": lambda: limited("chain", 300, .02, .0015),
    "cloth-hit": lambda: limited("cloth", 10, .05, .02),
    "cloth-hit-wide": lambda: limited("cloth", 10, .05, .005, edges=False, triangles=True),
    "rolled": lambda: rolled(.03125),
    "slope-particle": lambda: slope("particle", .51, 1, .5),
    "slope-deep": lambda: slope("particle", .49, .5, .25, stiffness=50),
    "slope-kinetic": lambda: slope("particle", .49, 0, .25, friction_model="kinetic"),
    "slope-box": lambda: slope("box", .51, .5, .125),
    "sludge": lambda: sludge(.3, .5),
    "thrown": lambda: thrown(.5, .125),
    "balls": lambda: balls(.5, [5, 5, 5], .25),
    "balls-together": lambda: balls(0, [5, 5, 5], .25),
    "heap": lambda: heap(.5, .5),
}


def make(name):
    """The scene of a name, as a dictionary."""
    if name not in SCENES:
        raise SystemExit(f"there is no experiment scene '{name}'; there are {', '.join(SCENES)}")
    return SCENES[name]()


def scenes(names):
    """(name, scene) of names with commas between, or of `all`."""
    for name in SCENES if names == "all" else names.split(","):
        yield f"experiment:{name}", make(name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?", choices=list(SCENES))
    parser.add_argument("-o", metavar="FILE", help="default: standard output")
    arguments = parser.parse_args()
    if arguments.name is None:
        print("\n".join(SCENES))
        return
    text = json.dumps(make(arguments.name), indent=1) + "\n"
    if arguments.o:
        with open(arguments.o, "w") as file:
            file.write(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
