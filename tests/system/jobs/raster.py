#!/usr/bin/python3
"""The rasteriser of jobs/render against closed forms: covered area, nearness, which thing is in front, shadows.
Wrong would be: holes between neighbours, things seen through others, spheres of the wrong size, light that leaks."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ["TACTUS_SOURCE"], "jobs", "lib"))
import numpy as np

from raster import Buffer, View, axes_towards, clip_near
from shading import ShadowMap, corner_normals, disc, hemisphere, noise_turn, turned

checks = 0


def check(ok, what):
    global checks
    checks += 1
    if not ok:
        sys.exit(f"raster.py: {what}")


def axes_are_orthonormal():
    for forward in ([0, 0, -1], [1, 2, 3], [0, -1, 0]):
        a = axes_towards(forward, [0, 1, 0])
        check(np.allclose(a @ a.T, np.eye(3)), f"axes towards {forward} are not orthonormal")
        check(np.allclose(np.cross(a[0], a[1]), -a[2]), "right x up must point backward")
    check(np.allclose(axes_towards([0, 0, -1], [0, 1, 0]), [[1, 0, 0], [0, 1, 0], [0, 0, -1]]), "looking along -z, x is right and y up")


def mesh_covers_without_holes_or_overlap(rng, view, plane):
    """A jittered grid of triangles over a rectangle: every pixel centre inside is covered, none outside."""
    n = 12
    u, v = np.meshgrid(np.linspace(-1, 1, n), np.linspace(-1, 1, n))
    inner = np.zeros((n, n))
    inner[1:-1, 1:-1] = 1
    u, v = u + inner * rng.uniform(-0.06, 0.06, (n, n)), v + inner * rng.uniform(-0.06, 0.06, (n, n))
    p = np.stack([u.ravel(), v.ravel(), plane(u, v).ravel()], -1)
    i = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    tri = np.concatenate([np.stack([i, i + 1, i + n + 1], -1), np.stack([i, i + n + 1, i + n], -1)])
    b = Buffer(view)
    b.triangles(p[tri], np.arange(len(tri), dtype=np.int32))
    hit = b.thing >= 0
    pixel = np.arange(len(hit))
    x, y = pixel % view.width, pixel // view.width
    where = view.unproject(x[hit], y[hit], b.near[hit].astype(float))
    check(np.abs(where[:, 2] - plane(where[:, 0], where[:, 1])).max() < 1e-5, "points found do not lie on the plane")
    # Which pixel centres see the rectangle: the ray against the plane z = c + a x + b y.
    ray = view.rays(x, y)
    origin = view.unproject(x, y, np.zeros(len(x))) if view.parallel else np.broadcast_to(view.origin, ray.shape)
    c, a, bb = plane(0.0, 0.0), plane(1.0, 0.0) - plane(0.0, 0.0), plane(0.0, 1.0) - plane(0.0, 0.0)
    t = (c + a * origin[:, 0] + bb * origin[:, 1] - origin[:, 2]) / (ray[:, 2] - a * ray[:, 0] - bb * ray[:, 1])
    q = origin + ray * t[:, None]
    inside = (np.abs(q[:, :2]) < 1 - 1e-4).all(1)
    outside = (np.abs(q[:, :2]) > 1 + 1e-4).any(1)
    check(inside.sum() > 5000, "the test looks past its mesh")
    check(hit[inside].all(), f"{(~hit[inside]).sum()} holes in a closed mesh")
    check(not hit[outside].any(), "pixels covered outside of the mesh")


def nearer_hides_farther(rng):
    """Random triangles, each pixel against the brute-force nearest."""
    view = View([0, 0, 3], axes_towards([0, 0, -1], [0, 1, 0]), 60, 64, 48)
    tri = rng.uniform(-1, 1, (60, 3, 3))
    b = Buffer(view)
    b.triangles(tri, np.arange(60, dtype=np.int32))
    pixel = np.arange(64 * 48)
    ray = view.rays(pixel % 64, pixel // 64)
    best, which = np.full(len(pixel), np.inf), np.full(len(pixel), -1)
    for k, (p0, p1, p2) in enumerate(tri):
        n = np.cross(p1 - p0, p2 - p0)
        t = (p0 - view.origin) @ n / (ray @ n)
        q = view.origin + ray * t[:, None]
        inside = np.ones(len(pixel), bool)
        for a, c in ((p0, p1), (p1, p2), (p2, p0)):
            inside &= np.cross(c - a, q - a) @ n > 0
        nearer = inside & (t < best)
        best[nearer], which[nearer] = t[nearer], k
    # Pixels whose centre lies within rounding of an edge may differ.
    check((b.thing != which).mean() < 2e-3, f"{(b.thing != which).sum()} pixels see another triangle than the nearest")
    same = (b.thing == which) & (which >= 0)
    check(same.sum() > 1000 and np.abs(1 / b.near[same] - best[same]).max() < 1e-5, "depths differ from those of the rays")


def spheres_have_their_size():
    for parallel in (False, True):
        focal = 150 if parallel else 300
        view = View([0, 0, 5], axes_towards([0, 0, -1], [0, 1, 0]), focal, 400, 400, parallel)
        b = Buffer(view)
        b.spheres(np.array([[0.3, -0.2, 0.0], [0.3, -0.2, -1.5]]), np.array([0.8, 0.7]), np.array([0, 1], np.int32))
        seen = np.flatnonzero(b.thing == 0)
        p = view.unproject(seen % 400, seen // 400, b.near[seen].astype(float))
        check(np.abs(np.linalg.norm(p - [0.3, -0.2, 0], axis=1) - 0.8).max() < 1e-4, "points on a sphere have not its radius")
        if parallel:
            check(abs(len(seen) / (np.pi * (0.8 * focal) ** 2) - 1) < 0.002, "a sphere has not its area")
            check(not (b.thing == 1).any(), "a ball is seen through a larger one before it")


def cut_at_the_eye():
    """A floor that goes on behind the eye: cut, and still seen where it should be."""
    view = View([0, 1, 0], axes_towards([0, -0.5, -1], [0, 1, 0]), 100, 100, 100)
    floor = np.array([[[-50, 0, -50], [50, 0, -50], [50, 0, 50]], [[-50, 0, -50], [50, 0, 50], [-50, 0, 50]]], float)
    cut, source = clip_near(floor, view, 0.01)
    check((view.depth(cut) >= 0.01 - 1e-9).all() and set(source) == {0, 1}, "cutting left points behind the eye")
    b = Buffer(view)
    b.triangles(cut, source.astype(np.int32))
    bottom = b.near.reshape(100, 100)[-1]
    check((b.thing.reshape(100, 100)[-1] >= 0).all(), "the floor is missing before our feet")
    p = view.unproject(np.arange(100), np.full(100, 99), bottom.astype(float))
    check(np.abs(p[:, 1]).max() < 1e-4, "the floor is at a wrong height")


def light_and_shadow():
    centre, radius = np.array([[0.0, 0, 0]]), np.array([0.5])
    shadow = ShadowMap(np.array([0, 1.0, 0]), np.zeros(3), 2.0, 512, np.zeros((0, 3, 3)), centre, radius)
    still = np.zeros((1, 300, 2), np.float32)
    r = np.linspace(0, 1.5, 300)
    below = np.stack([r, np.full(300, -1.0), 0 * r], -1).astype(np.float32)
    lit = shadow.lit(below, 0.01, still)
    check((lit[r < 0.485] == 0).all() and (lit[r > 0.515] == 1).all(), "the shadow of a ball has not the ball's size")
    above = below * np.array([1, -1, 1], np.float32)
    check((shadow.lit(above, 0.01, still) == 1).all(), "a ball shades what is between it and the light")
    far = np.array([[30.0, 0, 0]], np.float32)
    check(shadow.lit(far, 0.01, still[:, :1])[0] == 1, "what lies outside of the map must be lit")
    d = hemisphere(32, np.array([0.6, 0.8, 0.0]))
    check(np.allclose(np.linalg.norm(d, axis=1), 1) and (d @ [0.6, 0.8, 0]).min() > -0.1, "sky directions leave the sky")
    taps = turned(disc(10), noise_turn(np.arange(50), np.arange(50)), 3.0)
    check(taps.shape == (10, 50, 2) and np.linalg.norm(taps, axis=2).max() <= 3.0 + 1e-5, "taps leave their disc")


def normals_keep_creases():
    """Two squares at a right angle keep their own normals; at 10 degrees they share them."""
    for angle, shared in ((90, False), (10, True)):
        a = np.radians(angle)
        p = np.array([[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1], [-np.cos(a), np.sin(a), 0], [-np.cos(a), np.sin(a), 1]])
        t = np.array([[0, 1, 2], [2, 1, 3], [1, 0, 4], [1, 4, 5]])
        n = corner_normals(p, t)
        check(np.allclose(np.linalg.norm(n, axis=2), 1), "normals are not of length 1")
        check((n[0, 0] @ n[2, 1] > np.cos(np.radians(5))) == shared, f"a fold of {angle} degrees is shaded wrongly")


rng = np.random.default_rng(7)
axes_are_orthonormal()
eye = np.array([0.4, 0.3, 4.0])
for flat in (lambda u, v: 0 * u + 0 * v, lambda u, v: 0.3 * u - 0.2 * v):
    mesh_covers_without_holes_or_overlap(rng, View(eye, axes_towards(-eye, [0, 1, 0]), 400, 320, 240), flat)
    mesh_covers_without_holes_or_overlap(rng, View(eye, axes_towards(-eye, [0, 1, 0]), 90, 320, 240, parallel=True), flat)
nearer_hides_farther(rng)
spheres_have_their_size()
cut_at_the_eye()
light_and_shadow()
normals_keep_creases()
print(f"{checks} checks passed")
