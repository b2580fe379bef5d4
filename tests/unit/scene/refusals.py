#!/usr/bin/python3
"""refusals.py PROBE [N]: every class of bad input ends in one sentence that says what, where and what to do, with code 2.

If it fails, some odd input is run as if it were sound, crashes the reader, or is refused without a helpful sentence.  N: a slow build, only 1/N of the damaged files.
"""

import json
import os
import random
import re
import subprocess
import sys

import scenes

BASE = scenes.scene(
    materials={"cloth": {"density": 0.1, "stretch": {"model": "cst", "stiffness": 10},
                         "bend": {"model": "hinge", "stiffness": 1}},
               "weightless": {"stretch": {"model": "spring", "stiffness": 10}}},
    contact={"thickness": 0.01},
    bodies=[{"name": "sheet", "material": "cloth", "mesh": {"kind": "grid", "size": [1, 1], "cells": [2, 2]}},
            {"name": "floor", "fixed": True, "position": [0, -1, 0],
             "mesh": {"kind": "grid", "size": [4, 4], "cells": [1, 1]}},
            {"name": "dust.1", "mass": 0.5, "mesh": {"kind": "points", "vertices": [[0, 1, 0], [0, 2, 0]]}}],
    motions=[{"body": "sheet", "vertices": [0, 1], "path": [[0, [0, 0, 0]], [1, [0, 1, 0]]]}])

FINS = {"kind": "inline", "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1]],
        "triangles": [[0, 1, 2], [0, 1, 3], [0, 1, 4]]}

# Two tetrahedra in one mesh.
PIECES = ("bodies.2={\"name\":\"r\",\"rigid\":%s,\"mesh\":{\"kind\":\"inline\",\"vertices\":[[0,9,0],[1,9,0],[0,10,0],[0,9,1],"
          "[3,9,0],[4,9,0],[3,10,0],[3,9,1]],\"triangles\":[[0,2,1],[0,1,3],[1,2,3],[0,3,2],[4,6,5],[4,5,7],[5,6,7],[4,7,6]]}}")
DIE = "bodies.2=" + json.dumps({"name": "die", "rigid": {"mass": 1}, "mesh": {"kind": "cube", "edge": 1}, "position": [0, 9, 0]})


def joined(pattern, kind="ball", a=None, b=None, more=(), **keys):
    """A joint between a die and the world, otherwise than it may be."""
    joint = {"name": "j", "kind": kind, "a": a or {"body": "die", "at": [0, 9, 0]}, "b": b or {"body": None}, "slack": 0.01, **keys}
    return [DIE, *more, "joints=" + json.dumps([joint])], r"joints" + pattern


HINGE = {"kind": "hinge", "axis": [0, 0, 1], "span": 0.1}
SLIDER = {**HINGE, "kind": "slider"}

# What --set does to the base scene, and what the sentence must say.
REFUSED = [
    # rigid bodies
    ("bodies.sheet.rigid=1", r"bodies\[0\]\.rigid: must be true, false, "),
    ("bodies.sheet.rigid=true", r"bodies\[0\]\.rigid: .*does not deform, and its material \"cloth\" has \"stretch\""),
    ("bodies.sheet.rigid={}", r"bodies\[0\]\.rigid: needs either \"density\", kg/m\^3, or \"mass\""),
    ("bodies.sheet.rigid={\"density\":1,\"mass\":1}", r"bodies\[0\]\.rigid: needs either"),
    ("bodies.sheet.rigid={\"density\":-1}", r"bodies\[0\]\.rigid\.density: is -1"),
    ("bodies.sheet.rigid={\"densty\":1}", r"rigid\.densty: is no known key; did you mean \"density\"\?"),
    ("bodies.floor.rigid=true", r"bodies\[1\]\.rigid: is given to \"floor\", which is fixed"),
    (["bodies.dust.1.rigid={\"mass\":1}"], r"bodies\[2\]\.mass: is a mass per vertex, and \"rigid\" gives"),
    (["bodies.2={\"name\":\"r\",\"rigid\":{\"mass\":1},\"mesh\":{\"kind\":\"points\",\"vertices\":[[0,9,0],[1,9,0]]}}"],
     r"bodies\[2\]\.rigid: gives the inside of a closed surface a mass, but \"r\" has no triangles"),
    (["bodies.2={\"name\":\"r\",\"rigid\":{\"mass\":1},\"mesh\":{\"kind\":\"grid\",\"size\":[1,1],\"cells\":[1,1]},\"position\":[0,9,0]}"],
     r"bodies\[2\]\.rigid: needs a closed surface, but the edge between vertices \d+ and \d+ of \"r\" has one triangle"),
    (["bodies.2={\"name\":\"r\",\"rigid\":true,\"mass\":1,\"mesh\":{\"kind\":\"points\",\"vertices\":[[0,9,0]]}}"],
     r"bodies\[2\]\.rigid: makes \"r\" rigid, which has no mass that could turn"),
    (["bodies.2={\"name\":\"r\",\"rigid\":{\"density\":1e-308},\"mesh\":{\"kind\":\"cube\",\"edge\":1},\"position\":[0,9,0]}"],
     r"bodies\[2\]\.rigid: gives \"r\" a mass of 1e-308 kg and second moments"),
    (["bodies.2={\"name\":\"r\",\"rigid\":{\"density\":1e+308},\"mesh\":{\"kind\":\"cube\",\"edge\":1},\"position\":[0,9,0]}"],
     r"bodies\[2\]\.rigid: gives \"r\" a mass of 1e\+308 kg and second moments"),
    (["bodies.2={\"name\":\"r\",\"rigid\":{\"mass\":1e+300},\"mesh\":{\"kind\":\"cube\",\"edge\":1},\"position\":[0,9,0]}"],
     r"bodies\[2\]\.rigid: gives \"r\" a mass of 1e\+300 kg and second moments"),
    (["bodies.dust.1.rigid=true", "bodies.dust.1.random_speed=[0,1]"], r"rigid: .*random_speed moves each vertex"),
    (["bodies.dust.1.rigid=true", "discovery.mode=kds"], r"discovery\.mode: is \"kds\", which cannot follow rigid bodies"),
    (["bodies.dust.1.rigid=true", "motions.0={\"body\":\"dust.1\",\"path\":[[0,[0,0,0]]]}"],
     r"motions\[0\]: moves \"dust\.1\", which is rigid"),
    (["bodies.dust.1.rigid=true", "bodies.dust.1.radius=0.01", "contact.friction=0.5"], r"bodies\[2\]\.radius: is not possible on a rigid"),
    (["bodies.dust.1.rigid=true",
      "loads=[{\"body\":\"dust.1\",\"acceleration\":[1,0,0]}]"], r"loads\[0\]: acts on \"dust\.1\", which is rigid: of loads only"),
    (PIECES % '{"density":1,"pieces":1}', r"bodies\[2\]\.rigid\.pieces: must be true or false"),
    (PIECES % '{"pieces":false}', r"bodies\[2\]\.rigid: needs either"),
    (PIECES.replace("[0,2,1]", "[0,1,2]") % '{"density":1,"pieces":true}', r"rigid: needs a closed surface"),
    (PIECES.replace("[4,6,5],[4,5,7],[5,6,7],[4,7,6]", "[4,5,6],[4,7,5],[5,7,6],[4,6,7]") % '{"density":1,"pieces":true}',
     r"rigid: needs a surface with a volume, but the triangles of piece 1 of \"r\" face inwards"),
    (PIECES.replace("[4,6,5],[4,5,7],[5,6,7],[4,7,6]", "[4,5,6]").replace("[0,2,1],[0,1,3],[1,2,3],[0,3,2]", "[0,1,7],[1,2,3]") %
     '{"pieces":true}', r"rigid: has \"pieces\", but vertex 7 of \"r\" is of the piece of vertex 0, and another piece begins at vertex 4"),
    ("bodies.2={\"name\":\"r\",\"rigid\":{\"pieces\":true},\"mass\":1,\"mesh\":{\"kind\":\"points\",\"vertices\":[[0,9,0],[1,9,0]]}}",
     r"rigid: has \"pieces\", but \"r\" has neither triangles nor segments"),
    ([PIECES % '{"density":1,"pieces":true}',
      "joints=[{\"name\":\"j\",\"kind\":\"ball\",\"a\":{\"body\":\"r\",\"at\":[0,9,0]},\"b\":{\"body\":null},\"slack\":0.01}]"],
     r"rigid: has \"pieces\", but a joint holds \"r\", and it is not said which piece"),
    ("bodies.sheet.rigid={\"mass\":1,\"frequency\":-1}", r"bodies\[0\]\.rigid\.frequency: is -1"),
    (["bodies.dust.1.rigid=true", "output.histories=[{\"name\":\"h\",\"body\":\"dust.1\",\"every\":0.1}]"],
     r"output\.histories\[0\]: is of vertices of a rigid body"),
    (["bodies.dust.1.rigid=true", "clocks.rigid_s=1e-300"], r"clocks\.rigid_s: is 1e-300 s, under 2\^12 quanta"),
    ("clocks.turn=0.1", r"clocks\.turn: is 0\.1; it must be"),
    # joints
    joined(r"\[0\]\.kind: \"glue\": is no known value; known: ball, hinge, weld, slider", kind="glue"),
    joined(r"\[0\]\.slack: is 0; it must be", slack=0),
    joined(r"\[0\]\.a\.body: \"dye\" is no body of the scene", a={"body": "dye", "at": [0, 9, 0]}),
    joined(r"\[0\]\.a\.body: is null, which means the world; only b\.body may be null", a={"body": None, "at": [0, 9, 0]}),
    joined(r"\[0\]\.a: needs \"at\", the place", a={"body": "die"}),
    joined(r"\[0\]\.a: has \"at\" and \"vertex\"", a={"body": "die", "at": [0, 9, 0], "vertex": 1}),
    joined(r"\[0\]\.a: has \"vertex\", but \"die\" is rigid", a={"body": "die", "vertex": 1}, b={"body": None, "at": [0, 9, 0]}),
    joined(r"\[0\]\.b: has \"at\", but \"sheet\" is neither rigid, nor fixed, nor moved", b={"body": "sheet"}),
    joined(r"\[0\]: joins nothing that is rigid", a={"body": "floor", "at": [0, 9, 0]}, b={"body": None}),
    joined(r"\[0\]\.b: has vertex 9, but \"sheet\" has vertices 0 to 8", b={"body": "sheet", "vertex": 9}),
    joined(r"\[0\]\.b: is the world, which has no vertices", b={"body": None, "vertex": 1}),
    joined(r"\[0\]: joins two vertices", a={"body": "sheet", "vertex": 1}, b={"body": "floor", "vertex": 1}),
    joined(r"\[0\]: ties a vertex to the world", a={"body": "sheet", "vertex": 1}, b={"body": None, "at": [0, 0, 0]}),
    joined(r"\[0\]: joins \"die\" with itself", b={"body": "die"}),
    joined(r"\[0\]: starts with its sides 0\.5 m apart, and its slack is 0\.01 m", b={"body": None, "at": [0, 9.5, 0]}),
    joined(r"\[0\]\.span: is of hinges, sliders and welds", span=1),
    joined(r"\[0\]: is a weld and needs \"span\"", kind="weld"),
    joined(r"\[0\]: is a hinge and needs \"axis\"", kind="hinge", span=1),
    joined(r"\[0\]\.axis: is \[0, 0, 0\]", **{**HINGE, "axis": [0, 0, 0]}),
    joined(r"\[0\]\.b: is a vertex of \"sheet\", which only a joint of kind \"ball\"", b={"body": "sheet", "vertex": 1}, **HINGE),
    joined(r"\[0\]\.limits: are those of a hinge or a slider", limits=[-1, 1]),
    joined(r"\[0\]: is a slider and needs \"axis\"", kind="slider", span=1),
    joined(r"\[0\]: is a slider and needs \"limits\"", **SLIDER),
    joined(r"\[0\]\.limits: are from 1 to 2 m, but the way is 0 at the start", **SLIDER, limits=[1, 2]),
    joined(r"\[0\]\.limits: let the slider go nowhere", **SLIDER, limits=[0, 0]),
    joined(r"\[0\]\.limits: reach beyond 1e9 times the slack", **SLIDER, limits=[0, 1e8]),
    joined(r"\[0\]\.motor: turns a hinge, and \"kind\" is \"slider\"", **SLIDER, limits=[0, 1], motor={"torque": 1}),
    joined(r"\[0\]: starts with its sides 0\.5 m apart", **SLIDER, limits=[-1, 1], b={"body": None, "at": [0.5, 9, 0]}),
    joined(r"\[0\]\.limits: are from 10 to 20 degrees, but the angle is 0 at the start", **HINGE, limits=[10, 20]),
    joined(r"\[0\]\.limits: let the hinge turn by 320 degrees", **HINGE, limits=[-160, 160]),
    joined(r"\[0\]\.motor: turns a hinge, and \"kind\" is \"ball\"", motor={"torque": 1}),
    joined(r"\[0\]\.motor: must have either \"torque\", \"speed\" or \"position\"", **HINGE, motor={}),
    joined(r"\[0\]\.motor: must have either .*, only one of them", **HINGE, motor={"torque": 1, "speed": 1, "most": 1}),
    joined(r"\[0\]\.motor: has \"speed\" and needs \"most\"", **HINGE, motor={"speed": 1}),
    joined(r"\[0\]\.motor: has \"position\" and needs \"stiffness\"", **HINGE, motor={"position": 1}),
    joined(r"\[0\]\.motor\.most: has no meaning for a motor with \"torque\"", **HINGE, motor={"torque": 1, "most": 1}),
    joined(r"\[0\]\.motor: needs a period of .* s, under 2\^12 quanta", **HINGE, motor={"position": 1, "stiffness": 1e30}),
    joined(r": are not possible with integrator\.scheme \"newmark\"", more=["integrator={\"kind\":\"implicit\",\"step_s\":0.01,\"scheme\":\"newmark\"}"]),
    joined(r"\[0\]\.motor: has no meaning with integrator\.scheme \"static\"", more=["integrator={\"kind\":\"implicit\",\"step_s\":0.01,\"scheme\":\"static\"}"],
           **HINGE, motor={"torque": 1}),
    ([DIE, "joints=[{\"name\":\"\"}]"], r"joints\[0\]\.kind: is missing"),
    # unknown keys, nearest known one
    ("gravty=[0,0,0]", r"gravty: is no known key; did you mean \"gravity\"\?"),
    ("contact.fricton=0.4", r"contact\.fricton: is no known key; did you mean \"friction\"\?"),
    ("clocks.quantum=1", r"clocks\.quantum: .* did you mean \"quantum_s\"\?"),
    ("bodies.sheet.colour=red", r"bodies\[0\]\.colour: is no known key.*known: name, mesh"),
    ("bodies.sheet.mesh.cell=[1,1]", r"bodies\[0\]\.mesh\.cell: .*did you mean 'cells'"),
    ("materials.cloth.stretch.poison=0.3", r"materials\.cloth\.stretch\.poison: .* did you mean \"poisson\"\?"),
    ("motions.0.rotat={}", r"motions\[0\]\.rotat: .* did you mean \"rotate\"\?"),
    ("time.frames=1", r"time\.frames: .* did you mean \"frame\"\?"),
    # missing
    ("time={}", r"time\.end: is missing; it is required"),
    ("bodies.0={\"name\":\"a\"}", r"bodies\[0\]\.mesh: is missing"),
    ("bodies.0={\"mesh\":{}}", r"bodies\[0\]\.name: is missing"),
    ("materials.cloth.stretch={}", r"materials\.cloth\.stretch\.model: is missing"),
    ("motions.0={}", r"motions\[0\]\.body: is missing"),
    # format
    ("format=tactus-scene/2", r"format: is \"tactus-scene/2\"; this version reads \"tactus-scene/1\""),
    ("format=1", r"format: must be a string, not a number"),
    ("units=CGS", r"units: is \"CGS\"; it must be \"SI\" or"),
    ("units=1", r"units: must be an object, not a number"),
    ('units={"length":"mm","mass":"t"}', r"units\.time: is missing"),
    ('units={"length":"mile","mass":"t","time":"s"}', r"units\.length: \"mile\": is no known value"),
    # types
    ("gravity=9.81", r"gravity: must be an array of 3 numbers, not a number"),
    ("gravity=[0,1]", r"gravity: must be an array of 3 numbers, not of 2"),
    ("gravity.1=down", r"gravity\[1\]: must be a number, not the string \"down\""),
    ("contact=0.1", r"contact: must be an object, not a number"),
    ("contact.thickness=thin", r"contact\.thickness: must be a number, not the string \"thin\""),
    ("bodies={}", r"bodies: must be an array, not an object"),
    ("bodies.0=sheet", r"bodies\[0\]: must be an object"),
    ("bodies.sheet.fixed=1", r"bodies\[0\]\.fixed: must be true or false, not a number"),
    ("bodies.sheet.fixed=null", r"bodies\[0\]\.fixed: must be true or false, not null"),
    ("bodies.sheet.seed=1.5", r"bodies\[0\]\.seed: is 1\.5; it must be a whole number"),
    ("bodies.sheet.seed=1e30", r"bodies\[0\]\.seed: is 1e\+30; it must be from 0 to"),
    ("bodies.sheet.name=7", r"bodies\[0\]\.name: must be a string"),
    ("bodies.sheet.mesh=file.obj", r"bodies\[0\]\.mesh: must be an object"),
    ("motions.0.vertices=some", r"motions\[0\]\.vertices: must be \"all\""),
    ("motions.0.vertices=3", r"motions\[0\]\.vertices: must be \"all\""),
    ("motions.0.path.0=0", r"motions\[0\]\.path\[0\]: must be an array of two: the time and the displacement"),
    ("motions.0.path=0", r"motions\[0\]\.path: must be an array of knots"),
    ("materials=[]", r"materials: must be an object"),
    # numbers that are not finite, or out of range
    ("contact.thickness=1e999", r"contact\.thickness: must be a number, not the string"),
    ("contact.thickness=NaN", r"contact\.thickness: must be a number"),
    ("contact.thickness=-0.1", r"contact\.thickness: is -0\.1; it must be at least 0"),
    ("contact.stiffness=0", r"contact\.stiffness: is 0; it must be greater than 0"),
    ("contact.restitution=1.1", r"contact\.restitution: is 1\.1; it must be at least 0 and at most 1"),
    ("contact.restitution=-1e-300", r"contact\.restitution: is -1e-300; it must be at least 0"),
    ('contact.friction={"static":0.3,"kinetic":0.4}',
     r"contact\.friction: has \"static\" 0\.3 under \"kinetic\" 0\.4; what lies still holds at least as well as what slides"),
    ('contact.friction={"static":0.3}', r"contact\.friction\.kinetic: is missing"),
    ('contact.friction={"static":0.3,"kinetic":-1}', r"contact\.friction\.kinetic: is -1; it must be at least 0"),
    ('contact.friction=much', r"contact\.friction: must be a number or \{\"static\": mu, \"kinetic\": mu\}, not the string \"much\""),
    ('contact={"friction":{"static":0.4,"kinetic":0.3},"friction_model":"kinetic"}',
     r"contact\.friction_model: is \"kinetic\", which has no friction of what lies still; give one number"),
    ('contact={"friction":0.3,"friction_model":"kinetic","pairs":[{"materials":["cloth","cloth"],"friction":{"static":1,"kinetic":0.5}}]}',
     r"contact\.friction_model: is \"kinetic\", which has no friction of what lies still"),
    ("contact.rolling=0.1", r"contact\.rolling: has rolling or twisting friction where `friction` is 0"),
    ("bodies.sheet.rolls=true", r"bodies\[0\]\.rolls: is of particles with a radius; \"sheet\" has triangles or segments"),
    ("bodies.dust.1.rolls=true", r"rolls: is of particles with a radius; \"dust\.1\" has no radius"),
    ("bodies.sheet.spin=[1,0,0]", r"bodies\[0\]\.spin: is of grains that roll; give the body"),
    ("contact.friction=-0.1", r"contact\.friction: is -0\.1; it must be at least 0"),
    ("contact.thickness_exponent=0", r"thickness_exponent: is 0; it must be greater than 0 and at most 1"),
    ("contact.thickness_exponent=1.5", r"thickness_exponent: is 1\.5; it must be"),
    ("contact.stiffness_exponent=0.9", r"stiffness_exponent: is 0\.9; it must be at least 1 and at most 8"),
    ("contact.stiffness_exponent=9", r"stiffness_exponent: is 9; it must be"),
    ("contact.min_period_s=0", r"min_period_s: is 0; it must be greater than 0"),
    ("contact.rest_fraction=0", r"rest_fraction: is 0; it must be greater than 0"),
    ("contact.rest_fraction=0.95", r"rest_fraction: is 0\.95; it must be greater than 0 and at most 0\.9"),
    ("contact.pairs_per_vertex=0", r"pairs_per_vertex: is 0; it must be at least 1"),
    ("clocks.elastic_safety=0", r"elastic_safety: is 0; it must be greater than 0 and at most 1"),
    ("clocks.contact_safety=1.01", r"contact_safety: is 1\.01; it must be"),
    ("clocks.gravity_s=-1", r"gravity_s: is -1; it must be greater than 0"),
    ("clocks.elastic_s=0", r"elastic_s: is 0; it must be greater than 0"),
    ("clocks.contact_s=0", r"contact_s: is 0; it must be greater than 0"),
    ("clocks.mode=fre", r"clocks\.mode: \"fre\": is no known value; did you mean \"free\"\?"),
    ("clocks.quantum_s=0.3", r"quantum_s: is 0\.3; it must be a power of two, for instance 0\.25"),
    ("clocks.quantum_s=1.4210854715202e-14", r"quantum_s: .*power of two, for instance 1\.4210854715202004e-14"),
    ("clocks.quantum_s=0", r"quantum_s: is 0; it must be at least"),
    ("clocks.quantum_s=2", r"quantum_s: is 2; it must be"),
    ("discovery.window_s=[1,0.5]", r"window_s: is \[1, 0\.5\]; the first must not exceed the second"),
    ("discovery.kdop=16", r"kdop: is 16; a hierarchy of k-DOPs has k = 6, 14, 18 or 26"),
    ("discovery.kdop=5", r"kdop: is 5"),
    ("discovery.vagueness=-1", r"vagueness: is -1"),
    ("discovery.queue=heap", r"queue: .*heap.* is no known value; known: binary, pairing, calendar, radix"),
    ("integrator.kind=implicit", r"integrator\.step_s: is missing; it is required"),
    ("discovery.window_s=[0,1]", r"window_s: is 0; it must be greater than 0"),
    ("materials.cloth.density=0", r"materials\.cloth\.density: is 0; it must be greater than 0"),
    ("materials.cloth.stretch.stiffness=0", r"stiffness: is 0; it must be greater than 0"),
    ("materials.cloth.stretch.poisson=1", r"poisson: is 1; it must be at least 0 and less than 1"),
    ("materials.cloth.stretch.poisson=-0.1", r"poisson: is -0\.1; it must be"),
    ('materials.gel={"solid":{"model":"neo-hookean","youngs":1,"poisson":-0.01}}',
     r"materials\.gel\.solid\.poisson: is -0\.01; the energy of \"neo-hookean\" has no lower bound"),
    ('materials.gel={"solid":{"model":"stvk","youngs":1,"poisson":-1}}', r"materials\.gel\.solid\.poisson: is -1; it must be greater than -1"),
    ("materials.cloth.stretch.limit_principal=0", r"limit_principal: is 0; it must be greater than 0"),
    ("materials.cloth.stretch.limit_principal=[]", r"limit_principal: must be a number, not an array"),
    ("materials.cloth.stretch.limit_princpal=1", r"limit_princpal: .* did you mean \"limit_principal\"\?"),
    (["materials.weightless.stretch.limit_principal=0.1", "bodies.dust.1.material=weightless"],
     r"bodies\[2\]: \"dust\.1\" has no triangles, nor has any other body of the material \"weightless\""),
    ("materials.cloth.stretch.damping=-1", r"damping: is -1; it must be at least 0"),
    ("materials.cloth.stretch.yield=0", r"yield: is 0; it must be greater than 0"),
    ("materials.cloth.bend.yield=3.2", r"yield: is 3\.2; it must be greater than 0 and less than 3\.14"),
    ("materials.weightless.stretch.poisson=0.1", r"poisson: belongs to the model \"cst\""),
    ("materials.cloth.stretch.model=csst", r"\"csst\": is no known value; did you mean \"cst\"\?"),
    ("materials.cloth.bend.model=spring", r"bend\.model: \"spring\": is no known value.*hinge"),
    ("materials.cloth.bend.rest=bent", r"bend\.rest: \"bent\": is no known value"),
    ("materials.cloth.bend.stiffness=-1", r"bend\.stiffness: is -1; it must be greater than 0"),
    ("bodies.sheet.radius=-1", r"bodies\[0\]\.radius: is -1; it must be at least 0"),
    ("bodies.sheet.mass=0", r"bodies\[0\]\.mass: is 0; it must be greater than 0"),
    ("bodies.sheet.scale=0", r"bodies\[0\]\.scale: is 0; it must be greater than 0"),
    ("bodies.sheet.scale=-1", r"bodies\[0\]\.scale: is -1; it must be greater than 0"),
    ("bodies.sheet.position=[0,1e51,0]", r"bodies\[0\]\.position: has a component 1e\+51; it must stay within 1e\+50"),
    ("bodies.sheet={\"name\":\"sheet\",\"mass\":1,\"scale\":1e50,\"mesh\":{\"kind\":\"points\",\"vertices\":[[9,0,0]]}}",
     r"bodies\[0\]: places vertex 0 at coordinate 9e\+50; coordinates must stay within 1e\+50 m"),
    ("bodies.sheet.scale=1e-200", r"bodies\[0\]: \"sheet\" has a triangle 0 of no area once placed"),
    ("bodies.sheet.position=[1e40,0,0]", r"\"sheet\" has a triangle 0 of no area once placed"),
    ("bodies.sheet.velocity=[1e300,0,0]", r"bodies\[0\]\.velocity: has a component 1e\+300"),
    (["motions=[]", "bodies.2.scale=1e49", "bodies.2.angular_velocity=[1e50,0,0]"], r"bodies\[2\]: \"dust.1\" starts its vertex 0 at .*speeds must stay within"),
    ("bodies.sheet.random_speed=[2,1]", r"random_speed: is \[2, 1\]; the first must not exceed the second"),
    ("bodies.sheet.random_speed=[-1,1]", r"random_speed: is -1; it must be at least 0"),
    ("bodies.sheet.random_speed=1", r"random_speed: must be an array of 2 numbers"),
    (["materials.cloth.density=1e308", "bodies.sheet.scale=1e10"], r"has a vertex 0 of infinite mass; lower its density"),
    # time
    ("time.end=0", r"time\.end: is 0; it must be greater than 0"),
    ("time.frame=-1", r"time\.frame: is -1; it must be greater than 0"),
    ("time.end=1e300", r"time\.end: is 1e\+300 s, over 2\^53 quanta of 1 s, the largest quantum; end sooner"),
    (["time.end=129", "clocks.quantum_s=1.4210854715202004e-14"],
     r"time\.end: is 129 s, over 2\^53 quanta of 1\.4210854715202004e-14 s; end sooner or set clocks\.quantum_s higher"),
    ("time.end=1e-15", r"time\.end: is 1e-15 s, which rounds to no quantum"),
    ("time.frame=4e-10", r"time\.frame: is 4e-10 s; frames lie on multiples of 2\^16 quanta, so it must be at least "
                         r"9\.313225746154785e-10 s"),
    ("time.frame=1e-300", r"time\.frame: .* it must be at least"),
    # names and references
    ("bodies.floor.name=sheet", r"bodies\[1\]\.name: \"sheet\" is the name of bodies\[0\] already; names must be unique"),
    ("bodies.floor.name=", r"bodies\[1\]\.name: is empty"),
    ("bodies.floor.name=\"a\\nb\"", r"bodies\[1\]\.name: \"a\?b\" holds a control character"),
    ("materials={\"\":{}}", r"has an empty name"),
    ("bodies.sheet.material=clot", r"bodies\[0\]\.material: \"clot\" is no material of the scene; did you mean \"cloth\"\?"),
    ("bodies.sheet.material=steel", r"\"steel\" is no material of the scene"),
    ("motions.0.body=shet", r"motions\[0\]\.body: \"shet\" is no body of the scene; did you mean \"sheet\"\?"),
    ("motions.0.body=0", r"motions\[0\]\.body: must be a string"),
    ("contact.ignore=[[\"sheet\",\"flor\"]]", r"contact\.ignore\[0\]\[1\]: \"flor\" is no body.*\"floor\""),
    ("contact.ignore=[[\"sheet\"]]", r"contact\.ignore\[0\]: must be an array of two names"),
    ("contact.ignore=[[\"sheet\",\"sheet\"]]", r"contact\.ignore\[0\]: names one body twice; set the body's \"self\""),
    ("bodies=[]", r"bodies: is empty; a scene needs at least one body"),
    # mass
    ("bodies.sheet.material=weightless", r"bodies\[0\]: \"sheet\" can move freely but has no mass; give "
                                         r"materials\.weightless a density, or the body a mass"),
    ("bodies.floor.fixed=false", r"bodies\[1\]: \"floor\" can move freely but has no mass; give it a mass, or a material"),
    ("bodies.2={\"name\":\"d\",\"material\":\"cloth\",\"mesh\":{\"kind\":\"points\",\"vertices\":[[0,0,0]]}}",
     r"bodies\[2\]: \"d\" can move freely but has no mass: density acts on triangles and segments"),
    ("materials.cloth.density=1e-323", r"\"sheet\" has a vertex 2 of mass 0; raise its density or size"),
    # motions
    ("bodies.sheet.fixed=true", r"motions\[0\]: moves \"sheet\", which is fixed"),
    ("motions.0.rotate={\"axis\":[0,1,0],\"path\":[[0,0]]}", r"motions\[0\]: must have either \"path\" or \"rotate\", not both"),
    ("motions=[{\"body\":\"sheet\"}]", r"motions\[0\]: must have either \"path\" or \"rotate\""),
    ("motions.0.vertices=[]", r"motions\[0\]\.vertices: is empty"),
    ("motions.0.vertices=[9]", r"motions\[0\]\.vertices\[0\]: is 9; it must be from 0 to 8"),
    ("motions.0.vertices=[-1]", r"motions\[0\]\.vertices\[0\]: is -1; it must be from 0 to 8"),
    ("motions.0.vertices=[0.5]", r"motions\[0\]\.vertices\[0\]: is 0\.5; it must be a whole number"),
    ("motions.0.vertices=[3,3]", r"motions\[0\]\.vertices: lists vertex 3 twice"),
    ("motions.0.vertices=[0,1,2,3,4,5,6,7,8,0]", r"lists 10 indices, but the body has only 9 vertices"),
    ("motions.0.vertices={\"box\":[[5,5,5],[6,6,6]]}", r"vertices\.box: holds no vertex of \"sheet\""),
    ("motions.0.vertices={\"box\":[[1,0,0],[0,0,0]]}", r"vertices\.box: has its low x = 1 above its high x = 0"),
    ("motions.0.vertices={\"box\":[[1,0,0]]}", r"vertices\.box: must be \[\[x, y, z\], \[x, y, z\]\]"),
    ("motions.0.vertices={\"ball\":1}", r"vertices\.ball: is no known key"),
    ("motions.0.path=[]", r"motions\[0\]\.path: is empty; one knot pins"),
    ("motions.0.path.0.1=[0,0,1]", r"path\[0\]\[1\]: is \[0, 0, 1\]; a path must start at displacement \[0, 0, 0\]"),
    ("motions.0.path.0.0=-1", r"path\[0\]\[0\]: is -1; a knot must not lie before t = 0"),
    ("motions.0.path.1.0=0", r"path\[1\]\[0\]: is 0 after 0; times of knots must ascend"),
    ("motions.0.path.1.0=1e-15", r"path\[1\]\[0\]: is 1e-15 after 0; times of knots must ascend, by more than a quantum"),
    ("motions.0.path.1.0=1e9", r"path\[1\]\[0\]: is 1e\+09 s, over 2\^53 quanta"),
    ("motions.0.path.1.1=[0,1e60,0]", r"path\[1\]\[1\]: must stay within 1e\+50 m"),
    ("motions=[{\"body\":\"sheet\",\"rotate\":{\"axis\":[0,0,0],\"path\":[[0,0]]}}]", r"rotate\.axis: is \[0, 0, 0\]"),
    ("motions=[{\"body\":\"sheet\",\"rotate\":{\"axis\":[0,1,0],\"path\":[[0,5]]}}]", r"must start at 0 degrees"),
    ("motions=[{\"body\":\"sheet\",\"rotate\":{\"axis\":[0,1,0],\"path\":[[0,0],[1,1e9]]}}]", r"turns by more than 3\.6e\+06"),
    ("motions=[{\"body\":\"sheet\",\"rotate\":{\"axis\":[0,1,0],\"path\":[[0,0],[1e-13,90]]}}]",
     r"turns by more than a degree in a quantum"),
    ("motions=[{\"body\":\"sheet\",\"path\":[[0,[0,0,0]]]},{\"body\":\"sheet\",\"vertices\":[4],\"path\":[[0,[0,0,0]]]}]",
     r"motions\[1\]: moves vertex 4 of \"sheet\", which motions\[0\] moves already; a vertex has at most one motion"),
    # loads
    (["loads=[{\"body\":\"sheet\",\"presure\":1}]"], r"loads\[0\]\.presure: is no known key; did you mean \"pressure\"\?"),
    (["loads=[{\"body\":\"shet\",\"pressure\":1}]"], r"loads\[0\]\.body: \"shet\" is no body of the scene; did you mean \"sheet\"\?"),
    (["loads=[{\"pressure\":1}]"], r"loads\[0\]\.body: is missing"),
    (["loads=[{\"body\":\"floor\",\"pressure\":1}]"], r"loads\[0\]: acts on \"floor\", which is fixed"),
    (["loads=[{\"body\":\"sheet\"}]"], r"loads\[0\]: must have either \"force\", \"acceleration\", \"pressure\" or \"wind\"$"),
    (["loads=[{\"body\":\"sheet\",\"pressure\":1,\"force\":[0,0,1]}]"], r"loads\[0\]: must have either .*, only one of them"),
    (["loads=[{\"body\":\"sheet\",\"pressure\":1,\"drag\":1}]"], r"loads\[0\]: has \"drag\" without \"wind\""),
    (["loads=[{\"body\":\"sheet\",\"wind\":[1,0,0]}]"], r"loads\[0\]: has \"wind\" without \"drag\""),
    (["loads=[{\"body\":\"sheet\",\"pressure\":1e60}]"], r"loads\[0\]\.pressure: is 1e\+60; it must be at least -1e\+50 and at most 1e\+50"),
    (["loads=[{\"body\":\"sheet\",\"force\":[0,1e60,0]}]"], r"loads\[0\]\.force: has a component 1e\+60"),
    (["loads=[{\"body\":\"sheet\",\"force\":1}]"], r"loads\[0\]\.force: must be an array of 3 numbers"),
    (["loads=[{\"body\":\"sheet\",\"vertices\":[0,1,3,6],\"pressure\":1}]"], r"loads\[0\]: selects no whole triangle of \"sheet\""),
    (["loads=[{\"body\":\"dust.1\",\"pressure\":1}]"], r"loads\[0\]: selects no whole triangle of \"dust\.1\"; a pressure acts on triangles"),
    (["loads=[{\"body\":\"dust.1\",\"wind\":[1,0,0],\"drag\":1}]"], r"loads\[0\]: selects no whole triangle of \"dust\.1\"; a wind acts on triangles"),
    (["loads=[{\"body\":\"sheet\",\"wind\":[1,0,0],\"drag\":-1}]"], r"loads\[0\]\.drag: is -1; it must be at least 0"),
    (["loads=[{\"body\":\"sheet\",\"vertices\":[],\"pressure\":1}]"], r"loads\[0\]\.vertices: is empty; leave the load out"),
    (["loads=[{\"body\":\"sheet\",\"vertices\":[9],\"force\":[0,0,1]}]"], r"loads\[0\]\.vertices\[0\]: is 9; it must be from 0 to 8"),
    (["loads=[{\"body\":\"sheet\",\"vertices\":{\"box\":[[5,5,5],[6,6,6]]},\"pressure\":1}]"], r"vertices\.box: holds no vertex of \"sheet\""),
    (["loads=[{\"body\":\"sheet\",\"pressure\":1,\"path\":[]}]"], r"loads\[0\]\.path: is empty; without a path the factor is 1"),
    (["loads=[{\"body\":\"sheet\",\"pressure\":1,\"path\":[[1,0],[0.5,1]]}]"], r"path\[1\]\[0\]: is 0\.5 after 1; times of knots must ascend"),
    (["loads=[{\"body\":\"sheet\",\"pressure\":1,\"path\":[[-1,0]]}]"], r"path\[0\]\[0\]: is -1; a knot must not lie before t = 0"),
    (["loads=[{\"body\":\"sheet\",\"pressure\":1,\"path\":[[0,[0,0,0]]]}]"], r"path\[0\]\[1\]: must be a number, not an array"),
    (["loads=[{\"body\":\"sheet\",\"pressure\":1,\"path\":[[0,1e60]]}]"], r"path\[0\]\[1\]: is 1e\+60; it must stay within 1e\+50"),
    (["loads=[{\"body\":\"sheet\",\"pressure\":1,\"path\":[0]}]"], r"path\[0\]: must be an array of two: the time and the factor"),
    # meshes
    ("bodies.sheet.mesh.kind=gird", r"bodies\[0\]\.mesh\.kind: .*'gird'.*'grid'"),
    ("bodies.sheet.mesh.cells=[1e9,1e9]", r"bodies\[0\]\.mesh"),
    ("bodies.sheet.mesh.cells=[100000,100000]", r"bodies\[0\]\.mesh"),
    ("bodies.sheet.mesh.cells=[99999999999999999999,1]", r"mesh.cells=.*: the value cannot be read as JSON: too big integer"),
    ("bodies.floor.mesh={\"kind\":\"file\",\"path\":\"no-such.obj\"}", r"no-such\.obj"),
    ("bodies.floor.mesh={\"kind\":\"inline\",\"vertices\":[[0,0,0],[1,0,0]],\"triangles\":[[0,1,2]]}",
     r"bodies\[1\]\.mesh\.triangles\[0\]\[2\]: vertex 2 does not exist"),
    ("bodies.floor.mesh={\"kind\":\"inline\",\"vertices\":[[0,0,0],[1,0,0],[2,0,0]],\"triangles\":[[0,1,2]]}",
     r"bodies\[1\]\.mesh"),
    ("bodies.floor.mesh={\"kind\":\"inline\",\"vertices\":[]}", r"bodies\[1\]\.mesh"),
    ("bodies.0=" + json.dumps({"name": "sheet", "material": "cloth", "mesh": FINS}),
     r"bodies\[0\]: \"sheet\" bends, but its edge between vertices 0 and 1 at \(0, 0, 0\) has 3 triangles"),
    # --set itself
    ("contact", r"--set contact: must be path=value"),
    ("=3", r"--set =3: must be path=value"),
    ("gravity=[0,1", r"--set gravity=\[0,1: the value cannot be read as JSON: "),
    ("bodies.7.mass=1", r"--set bodies\.7\.mass=1: the index is past the end: the array's length is 3"),
    ("bodies.post.mass=1", r"--set bodies\.post\.mass=1: no element of the array is named \"post\""),
    ("bodies..mass=1", r"a name in the path is empty"),
    ("name.first=1", r"name: must be a string, not an object"),
    ("time.end.x=1", r"the path goes on below a value that is a number"),
    ("loads.0.body=sheet", r"--set loads\.0\.body=sheet: the scene has no array loads"),
]

# Whole files.
BROKEN = [
    ("", r"line \d+ column \d+: "),
    ("{", r"line 1 column 1: "),
    ('{"format": "tactus-scene/1",\n "time": {"end": 1,, "frame": 1}}', r"line 2 column 20: "),
    ('{"format": "tactus-scene/1", "name": 1e999}', r"line 1 column \d+: real number overflow"),
    ('{"format": "tactus-scene/1", "time": {"end": 99999999999999999999}}', r"line 1 column \d+: too big integer"),
    ('{"format": "tactus-scene/1", "time": {"end": NaN}}', r"line 1 column \d+: "),
    ('{"format": "tactus-scene/1",\n"name": "a", "name": "b"}', r"line 2 column \d+: duplicate object key"),
    (json.dumps(scenes.scene()) + "x", r"line 1 column \d+: end of file expected"),
    ("[" * 100000, r"line 1 column \d+: maximum parsing depth reached"),
    (b"\xff\xfe{\x00}\x00", r"line 1 column \d+: "),
    (b'{"format": "tactus-scene/1", "name": "\xff"}', r"line 1 column \d+: unable to decode byte 0xff"),
    ("[]", r"must hold a JSON object, not an array"),
    ("{}", r"has no key \"format\""),
    ('{"format": "tactus-scene/1"}', r"time: is missing"),
    (json.dumps(scenes.scene(**{"x" * 100000: 1})), r"is no known key"),
    (json.dumps(scenes.scene(name="n" * 100000, **{"y\n\x1b": 1})), r"y\?\?: is no known key"),
]


def one_sentence(reply, pattern):
    error = reply["error"]
    return (reply["code"] == 2 and re.search(pattern, error) and len(error) < 1900
            and not any(ord(c) < 32 for c in error))


def table(probe):
    path = probe.write("base.json", json.dumps(BASE))
    assert probe.ask([path])[0]["code"] == 0, probe.ask([path])
    replies = probe.ask([path] * len(REFUSED), sets=[item if isinstance(item, list) else [item] for item, _ in REFUSED])
    for (item, pattern), reply in zip(REFUSED, replies):
        if not one_sentence(reply, pattern):
            yield f"--set {item}: wanted code 2 and '{pattern}', got {reply['code']}: {reply['error']}"
    for (text, pattern), reply in zip(BROKEN, probe.ask([text for text, _ in BROKEN])):
        if not one_sentence(reply, pattern):
            yield f"{text[:200]}: wanted code 2 and '{pattern}', got {reply['code']}: {reply['error'][:300]}"
    for path, pattern in [("/no/such/scene.json", "cannot be opened: No such file"), (probe.path, "is a folder")]:
        reply = probe.ask([path])[0]
        if not one_sentence(reply, pattern):
            yield f"{path}: wanted code 2 and '{pattern}', got {reply['code']}: {reply['error']}"


def damaged(probe):
    """Scenes cut short and scrambled: refused, or by luck still good, never a crash."""
    text = json.dumps(list(scenes.good(probe))[1]).encode()
    every = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    cut = range(0, len(text) - 1, 7 * every)
    for i, reply in zip(cut, probe.ask([text[:i] for i in cut])):
        if not one_sentence(reply, r"line 1 column \d+: "):
            yield f"cut after {i} bytes: {reply}"
    rng = random.Random(1)
    for reply in probe.ask([scramble(rng, text) for _ in range(600 // every)]):
        if reply["code"] and not one_sentence(reply, "."):
            yield f"scrambled: {reply}"


def scramble(rng, text):
    text = bytearray(text)
    for _ in range(rng.randrange(1, 4)):
        i = rng.randrange(len(text))
        what = rng.randrange(4)
        if what == 0:
            text[i] = rng.randrange(256)
        elif what == 1:
            del text[i:i + rng.randrange(1, 20)]
        elif what == 2:
            j = rng.randrange(len(text))
            text[i:i] = text[j:j + rng.randrange(1, 40)]
        else:
            text[i:i + 1] = rng.choice([b"9" * 30, b"-", b"e999", b"null", b"[]", b"{}", b'""', b"0", b"\\u0000"])
    return bytes(text)


def accepted(probe):
    """What looks odd and is right."""
    path = probe.write("base.json", json.dumps(BASE))
    for item in [["contact.friction=0"], ["bodies.dust.1.mass=2"], ["bodies.2.mass=2"], ["bodies.sheet.position.1=0.3"],
                 ["clocks.quantum_s=1.862645149230957e-09", "time.end=8e6", "time.frame=1"], ["motions=[]"],
                 ["bodies.sheet.scale=1e-20"], ["time.end=128"], ["time.end=129"], ["time.end=9e15", "time.frame=1e9"], ["time.frame=1e9"], ["bodies.sheet.seed=3.0"],
                 ["discovery.mode=all-pairs"], ["contact.ignore=[[\"sheet\",\"dust.1\"],[\"dust.1\",\"sheet\"]]"],
                 ["materials.cloth.stretch.damping=0", "contact.pairs=[]", "loads=[]", "output={}"],
                 ["bodies.floor.material=weightless"], ["bodies.sheet.mesh=" + json.dumps(FINS), "materials.cloth={\"density\":1}",
                                                        "motions=[]"]]:
        reply = probe.ask([path], sets=[item])[0]
        if reply["code"]:
            yield f"--set {item} is refused: {reply['error']}"


def program(probe):
    """The program itself: exit codes, one line on stderr, nothing on stdout."""
    tactus = os.environ["TACTUS"]
    path = probe.write("base.json", json.dumps(BASE))

    def run(*arguments):
        done = subprocess.run([tactus, "check", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    for arguments, pattern in [([path, "--set", "discovery.mode=guess"], r"discovery\.mode"),
                               ([path, "--set", "bodies.sheet.colour=red"], r"is no known key"),
                               (["/no/such.json"], r"cannot be opened"), ([], r"needs a scene"),
                               ([path, "--sett", "a=1"], r"'--set'")]:
        code, out, error = run(*arguments)
        if code != 2 or out or len(error.splitlines()) != 1 or not re.search("^tactus: .*" + pattern, error):
            yield f"tactus check {arguments}: {code} '{out}' '{error}'"
    code, out, error = run(path, "--json", "--set", "name=odd")
    if code or error or json.loads(out)["degrees_of_freedom"] != 3 * (9 - 2 + 2) or json.loads(out)["name"] != "odd":
        yield f"tactus check --json: {code} '{out}' '{error}'"
    code, out, error = run(path, "--details")
    for text in ['"sheet": 9 vertices, 8 triangles', "edge-edge", "4 vertices, 2 triangles, 0 segments, fixed", "3D"]:
        if code or text not in out:
            yield f"tactus check does not tell '{text}': {code} '{out}' '{error}'"


def main():
    probe = scenes.Probe(sys.argv[1])
    failures = []
    for part in table, damaged, accepted, program:
        failures += part(probe)
    for failure in failures[:60]:
        print(failure)
    print(f"{len(REFUSED) + len(BROKEN)} refusals, {len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
