"""import_tactus.py: brings a run of Tactus into Blender, as meshes that move by a cache (MDD).

As an add-on: Edit, Preferences, Add-ons, Install, this file; then File, Import, Tactus run (frames.h5).
Without a window:

    blender -b --python import_tactus.py -- out.run --save out.blend

Every body becomes an object: triangles are faces, segments edges, particles vertices.  Its positions in all frames are in an MDD file in
the run folder (blender/), which a Mesh Cache modifier plays; frame k of the run is frame k of Blender, whose frames per second become those
of the run.  The run's y axis is Blender's z axis (up="z" leaves them as they are).

The caches are made from frames.h5 by h5py.  Debian's Blender uses the system's Python, which has it (python3-h5py).  Blender's own builds
bring a Python without h5py: make the caches first, by any Python that has it, and import then:

    python3 import_tactus.py out.run
"""
import json
import os
import sys

import numpy as np

bl_info = {"name": "Tactus runs", "author": "Tactus", "version": (0, 1, 0), "blender": (3, 0, 0), "location": "File > Import > Tactus run (frames.h5)",
           "description": "Imports runs of Tactus as meshes with a point cache", "category": "Import-Export"}
FORMAT = "tactus-blender/1"


class Problem(Exception):
    """One sentence for the user."""


def turned(x, up):
    """Positions (n, 3) in Blender's axes."""
    return x if up == "z" else np.stack([x[:, 0], -x[:, 2], x[:, 1]], 1)


def folder_of(path):
    """The run folder of a path to it, or to its frames.h5."""
    folder = os.path.abspath(path)
    folder = folder if os.path.isdir(folder) else os.path.dirname(folder)
    if not os.path.exists(os.path.join(folder, "frames.h5")):
        raise Problem(f"{path} is no run of Tactus: there is no frames.h5")
    return folder


def write_caches(folder, up="y"):
    """Writes blender/index.json, K.npz (mesh) and K.mdd (positions) of every body K.  Returns the index."""
    try:
        import h5py
    except ImportError:
        raise Problem("this Python has no h5py to read frames.h5 with; run `python3 import_tactus.py RUN` with one that has it, and import again") from None
    out = os.path.join(folder, "blender")
    os.makedirs(out, exist_ok=True)
    with h5py.File(os.path.join(folder, "frames.h5"), "r") as file:
        mesh, frames = file["mesh"], file["frames"]
        names = sorted((name for name in frames if "time" in frames[name]), key=int)
        if not names:
            raise Problem(f"{folder} has no frames yet")
        times = [float(frames[name]["time"][()]) for name in names]
        body, triangles, segments = mesh["body"][()].ravel(), mesh["triangles"][()].reshape(-1, 3), mesh["segments"][()].reshape(-1, 2)
        bodies = []
        for number, name in enumerate(mesh["body_names"][()]):
            at = np.flatnonzero(body == number)
            first, end = (int(at[0]), int(at[-1]) + 1) if len(at) else (0, 0)
            of = [rows[(rows[:, 0] >= first) & (rows[:, 0] < end)] - first for rows in (triangles, segments)]
            np.savez(os.path.join(out, f"{number}.npz"), triangles=of[0], segments=of[1], start=turned(frames[names[0]]["position"][first:end], up))
            bodies.append({"name": name.decode() if isinstance(name, bytes) else str(name), "first": first, "end": end, "radius": float(mesh["radius"][first]) if end else 0})
        files = [open(os.path.join(out, f"{number}.mdd.part"), "wb") for number in range(len(bodies))]
        try:
            for file_of, of in zip(files, bodies):
                file_of.write(np.array([len(times), of["end"] - of["first"]], ">i4").tobytes() + np.array(times, ">f4").tobytes())
            for name in names:  # one frame at a time: a run may be larger than the memory
                x = frames[name]["position"][()]
                for file_of, of in zip(files, bodies):
                    file_of.write(np.ascontiguousarray(turned(x[of["first"]:of["end"]], up), ">f4").tobytes())
        finally:
            for file_of in files:
                file_of.close()
    for number in range(len(bodies)):
        os.replace(os.path.join(out, f"{number}.mdd.part"), os.path.join(out, f"{number}.mdd"))
    stat = os.stat(os.path.join(folder, "frames.h5"))
    index = {"format": FORMAT, "up": up, "times": times, "bodies": bodies, "size": stat.st_size}
    with open(os.path.join(out, "index.json.part"), "w", encoding="utf-8") as file:
        json.dump(index, file)
    os.replace(os.path.join(out, "index.json.part"), os.path.join(out, "index.json"))
    return index


def caches(folder, up):
    """The index of caches that fit frames.h5; made if need be."""
    try:
        with open(os.path.join(folder, "blender", "index.json"), encoding="utf-8") as file:
            index = json.load(file)
        if index["format"] == FORMAT and index["up"] == up and index["size"] == os.stat(os.path.join(folder, "frames.h5")).st_size:
            return index
    except (OSError, ValueError, KeyError):
        pass
    return write_caches(folder, up)


def load(path, up="y"):
    """Brings the run into the present scene.  Returns the objects, in the order of the run's bodies."""
    import bpy
    folder = folder_of(path)
    index, made = caches(folder, up), []
    collection = bpy.data.collections.new(os.path.basename(folder))
    bpy.context.scene.collection.children.link(collection)
    for number, body in enumerate(index["bodies"]):
        with np.load(os.path.join(folder, "blender", f"{number}.npz")) as arrays:
            mesh = bpy.data.meshes.new(body["name"])
            mesh.from_pydata(arrays["start"].tolist(), arrays["segments"].tolist(), arrays["triangles"].tolist())
        for polygon in mesh.polygons:
            polygon.use_smooth = True
        mesh.update()
        thing = bpy.data.objects.new(body["name"], mesh)
        collection.objects.link(thing)
        cache = thing.modifiers.new("Tactus", "MESH_CACHE")
        cache.cache_format, cache.filepath = "MDD", os.path.join(folder, "blender", f"{number}.mdd")
        # The cache has Blender's axes already, and a sample for every frame.
        cache.forward_axis, cache.up_axis, cache.interpolation = "POS_Y", "POS_Z", "LINEAR"
        cache.time_mode, cache.play_mode, cache.frame_start, cache.frame_scale = "FRAME", "SCENE", 0, 1
        made.append(thing)
    scene, times = bpy.context.scene, index["times"]
    scene.frame_start, scene.frame_end = 0, len(times) - 1
    if len(times) > 1:
        per_second = 1 / (times[1] - times[0])
        scene.render.fps = int(min(max(round(per_second), 1), 32767))
        scene.render.fps_base = scene.render.fps / per_second
    scene.frame_set(0)
    return made


def register():
    import bpy
    from bpy_extras.io_utils import ImportHelper

    class ImportTactusRun(bpy.types.Operator, ImportHelper):
        """Import a run of Tactus"""
        bl_idname, bl_label = "import_scene.tactus_run", "Import Tactus run"
        filename_ext = ".h5"
        filter_glob: bpy.props.StringProperty(default="*.h5", options={"HIDDEN"})
        up: bpy.props.EnumProperty(name="Up", items=[("y", "y", "the run's y axis is up"), ("z", "z", "the run's z axis is up")])

        def execute(self, context):
            try:
                load(self.filepath, self.up)
            except (Problem, OSError) as problem:
                self.report({"ERROR"}, str(problem))
                return {"CANCELLED"}
            return {"FINISHED"}

    def entry(menu, context):
        menu.layout.operator(ImportTactusRun.bl_idname, text="Tactus run (frames.h5)")
    register.made = ImportTactusRun, entry
    bpy.utils.register_class(ImportTactusRun)
    bpy.types.TOPBAR_MT_file_import.append(entry)


def unregister():
    import bpy
    operator, entry = register.made
    bpy.types.TOPBAR_MT_file_import.remove(entry)
    bpy.utils.unregister_class(operator)


def main(words):
    import argparse
    p = argparse.ArgumentParser(prog="import_tactus.py", description="Brings a run of Tactus into Blender; outside of Blender it writes the caches.")
    p.add_argument("run", help="the run folder")
    p.add_argument("--up", choices=["y", "z"], default="y", help="which axis of the run is up (y)")
    p.add_argument("--save", metavar="FILE.blend", help="in Blender: save there")
    o = p.parse_args(words)
    try:
        if "bpy" not in sys.modules:
            folder = folder_of(o.run)
            index = write_caches(folder, o.up)
            print(f"{os.path.join(folder, 'blender')}: {len(index['bodies'])} bodies, {len(index['times'])} frames; now import the run in Blender")
            return 0
        import bpy
        load(o.run, o.up)
        if o.save:
            bpy.ops.wm.save_as_mainfile(filepath=os.path.abspath(o.save))
    except (Problem, OSError) as problem:
        print(f"import_tactus.py: {problem}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    if "bpy" in sys.modules or "--" in sys.argv:
        if "--" in sys.argv:
            code = main(sys.argv[sys.argv.index("--") + 1:])
            if code:
                sys.exit(code)
        else:
            register()
    else:
        sys.exit(main(sys.argv[1:]))
