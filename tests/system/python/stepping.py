#!/usr/bin/python3
"""stepping.py [MOST_RANKS]: stepping from Python, in any steps, on 1, 2 and 3 ranks under mpi4py, gives the bits of `tactus run`.

If it failed, Python's users would see another trajectory than the program's own, or vertices with the numbers of others.
"""
import json
import os
import random
import sys
import tempfile

import numpy as np

from common import SOURCE, end, expect, failures, program, raises, ranks

CLOTH = os.path.join(SOURCE, "tests/system/equality/scenes/let-go.json")


def steps(sim, t, dice):
    """To t in steps of random sizes."""
    begin = sim.time
    while sim.time < t:
        size = (t - begin) * dice.choice([0.5, 0.25, 0.01, 1e-9]) * dice.random()
        sim.advance(min(t, sim.time + size))


def match(folder, scene, seed):
    """Steps a scene from frame to frame of its run, and compares all that both have.  On several ranks: each has its own vertices."""
    import tactus
    run, dice = tactus.open(folder), random.Random(seed)
    sim, contacts = tactus.Simulation(scene), 0
    with sim:
        for k, t in enumerate(run.times):
            steps(sim, float(t), dice)
            x, v = run.positions(k), run.velocities(k)
            expect(sim.positions.tobytes() == x[sim.ids].tobytes(), f"frame {k}, rank {sim.rank}: positions differ")
            expect(sim.velocities.tobytes() == v[sim.ids].tobytes(), f"frame {k}, rank {sim.rank}: velocities differ")
            expect(sim.positions.dtype == np.float64 and sim.positions.shape == (len(sim.ids), 3), "shape and type of positions")
            expect(np.all(np.diff(sim.ids) > 0), "ids ascend")
            whole = sim.gather("positions", root=None)
            expect(whole.tobytes() == x.tobytes(), f"frame {k}: gathered positions differ")
            mine = sim.contacts()
            total = len(mine) if sim.size == 1 else sim.comm.allreduce(len(mine))
            if k > 0:  # the row of the start was asked for when the simulation was made
                row = sim.energy()
                names = [name for name in row.dtype.names if np.array([row[name]]).tobytes() != np.array([run.energy[k][name]]).tobytes()]
                expect(not names, f"frame {k}: the energies differ in {names}")
                expect(total == row["contacts"], f"frame {k}: {total} contacts, and {row['contacts']} in the row")
            contacts += total
            expect(np.all((mine["force"] >= 0) & (np.abs(np.linalg.norm(mine["normal"], axis=1) - 1) < 1e-9)), "forces and normals of contacts")
            expect(all(np.isin(mine["vertex"][:, 0], sim.ids)), "a contact is on the rank of its first vertex")
        expect(sim.frame_time(len(run)) is None or not sim.frame_time(len(run)) == sim.time, "frame times")
    expect(sim.closed, "a with block closes the simulation")
    return len(run), contacts


def on_ranks():
    """What each rank of `mpirun python` does: match, and by callbacks at frames."""
    folder, scene = sys.argv[2:4]
    from mpi4py import MPI
    import tactus
    frames, contacts = match(folder, scene, 11)
    run, seen = tactus.open(folder), []
    sim = tactus.Simulation(scene, comm=MPI.COMM_WORLD)
    sim.on_frame(lambda sim, k: seen.append((k, sim.positions.tobytes() == run.positions(k)[sim.ids].tobytes())))
    sim.advance(float(run.times[-1]))
    wanted = [k for k in range(1, frames) if run.times[k] == sim.frame_time(k)]  # --until ended the run between two
    expect(len(wanted) >= 2 and seen == [(k, True) for k in wanted], f"callbacks at frames: {seen}")
    saved = sim.save(os.path.join(os.path.dirname(folder), f"saved-{sim.size}"))
    later = sim.gather(root=0)
    sim.close()
    with tactus.Simulation.restore(saved) as again:
        same = again.gather(root=0)
        expect(again.rank != 0 or same.tobytes() == later.tobytes(), "a restored simulation stands elsewhere")
    # Half of the ranks alone: the others do not take part.
    if MPI.COMM_WORLD.size > 1:
        part = MPI.COMM_WORLD.Split(MPI.COMM_WORLD.rank % 2)
        with tactus.Simulation(scene, comm=part) as alone:
            alone.advance(0.001 * (1 + MPI.COMM_WORLD.rank % 2))
            expect(alone.size == part.size, "the simulation of a part of the ranks")
    print(f"rank {MPI.COMM_WORLD.rank} frames {frames} contacts {contacts} failures {len(failures)}")
    sys.exit(len(failures))


def controls(folder):
    """A change in mid-run is that of the C interface: the same value in the scene, from the start, when it is made at once."""
    import tactus
    drop = os.path.join(SOURCE, "docs/examples/drop.json")
    with tactus.Simulation(drop) as a, tactus.Simulation(drop, set={"gravity": [0, -1.62, 0]}) as b:
        a.set("gravity", np.array([0, -1.62, 0]))
        expect(a.sha256 == b.sha256 and a.scene["gravity"] == [0, -1.62, 0], "set() changes the scene")
        for sim in (a, b):
            sim.advance(0.3)
        expect(a.positions.tobytes() == b.positions.tobytes(), "two simulations at once, of one scene, move alike")
        before = a.positions
        kept = before.copy()
        a.set("loads.0.force", [0.01, 0, 0])
        a.advance(0.4)
        b.advance(0.4)
        expect(a.positions.tobytes() != b.positions.tobytes(), "a load moves one of them")
        expect(before.tobytes() == kept.tobytes() and not before.flags.writeable, "an array that was taken keeps its values")
        expect(a.positions is a.positions and np.shares_memory(a.positions, a.positions[a.of("ball")]), "no copy is made of what was evaluated")
        with raises(tactus.InputError, "contact.thickness"):
            a.set("contact.thickness", 0.1)
        with raises(tactus.InputError, "nan"):
            a.set("gravity", [0, np.nan, 0])
        # The forces of a scripted body and of what it meets are opposite.
        contacts = a.contacts()
        expect(np.allclose(a.contact_force("ball"), -a.contact_force("floor", by="ball")), "force and counterforce")
        expect(abs(np.linalg.norm(a.contact_force("ball")) - np.linalg.norm((contacts["force"][:, None] * contacts["normal"]).sum(0))) < 1e-12, "the sum of contacts")
        frames = [k for k in a.frames(until=0.625)]
        expect(frames == [4, 5] and a.time == a.frame_time(5), f"frames() goes from frame to frame: {frames}")
        saved = a.save(os.path.join(folder, "it's saved"))
        with tactus.Simulation.restore(saved) as c:
            for sim in (a, c):
                sim.advance(0.7)
            expect(a.positions.tobytes() == c.positions.tobytes() and a.sha256 == c.sha256, "a checkpoint goes on with the same bits")
        info = json.loads(program("info", saved, "--json"))
        expect(info["scene_sha256"] == a.sha256, "a checkpoint is one of the program's")


def main():
    most = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        run = os.path.join(folder, "cloth.run")
        program("run", CLOTH, "-o", run, "--until", 0.02, "--quiet")
        import tactus
        frames, contacts = match(run, CLOTH, 5)
        expect(frames > 3 and contacts > 0, f"only {frames} frames with {contacts} contacts were compared")
        match(run, tactus.Scene.load(CLOTH), 6)
        controls(folder)
        for count in range(1, most + 1):
            reported = ranks(count, os.path.abspath(__file__), "--rank", run, CLOTH)
            expect(reported.count("failures 0") == count, f"{count} ranks: {reported}")


if sys.argv[1:2] == ["--rank"]:
    on_ranks()
main()
end()
