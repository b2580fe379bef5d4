"""A small software rasteriser in numpy: which triangle or sphere does each pixel see, and how near is it.

A View is a camera (perspective) or a light (parallel). It turns world points into pixels and a *nearness*, which is
affine over a triangle on the screen and larger for what is nearer: 1/z in perspective, -z in parallel projection.
Triangles are cut into pixel rows, rows into pixels, and all of it is done on whole arrays at once.
"""
import numpy as np

CHUNK = 2_000_000  # pixels worked on at once: bounds the memory


class View:
    """Where one looks from. axes: rows right, up, forward; focal: pixels per unit at distance 1 (parallel: per unit)."""

    def __init__(self, origin, axes, focal, width, height, parallel=False):
        self.origin, self.axes = np.asarray(origin, float), np.asarray(axes, float)
        self.focal, self.width, self.height, self.parallel = float(focal), int(width), int(height), parallel

    def project(self, points):
        """(..., 3) world points -> (..., 2) pixels and (...) nearness. In perspective, points must be before the eye."""
        p = (points - self.origin) @ self.axes.T
        scale = self.focal if self.parallel else self.focal / p[..., 2]
        x = self.width / 2 + p[..., 0] * scale
        y = self.height / 2 - p[..., 1] * scale
        return np.stack([x, y], -1), (-p[..., 2] if self.parallel else 1 / p[..., 2])

    def depth(self, points):
        return (points - self.origin) @ self.axes[2]

    def rays(self, x, y):
        """Direction (n, 3) of the rays through pixels (x, y), of length 1 along `forward`."""
        r = (np.asarray(x, float) + 0.5 - self.width / 2) / self.focal
        u = (self.height / 2 - np.asarray(y, float) - 0.5) / self.focal
        if self.parallel:
            return np.broadcast_to(self.axes[2], (len(r), 3))
        return r[:, None] * self.axes[0] + u[:, None] * self.axes[1] + self.axes[2]

    def along(self, x, y, direction):
        """The rays through pixels (x, y) along a direction, float32 (n), without the rays themselves."""
        a = (self.axes @ direction).astype(np.float32)
        r = (x - np.float32(self.width / 2 - 0.5)) * np.float32(1 / self.focal)
        u = (np.float32(self.height / 2 - 0.5) - y) * np.float32(1 / self.focal)
        return r.astype(np.float32) * a[0] + u.astype(np.float32) * a[1] + a[2]

    def away(self, x, y, nearness, point):
        """Distance (n) from `point` of what is seen in perspective through pixels (x, y) at this nearness."""
        o = self.origin - point
        depth = 1 / np.asarray(nearness, np.float64)
        r = (x - (self.width / 2 - 0.5)) / self.focal
        u = ((self.height / 2 - 0.5) - y) / self.focal
        a = self.axes @ o
        square = o @ o + depth * (2 * (r * a[0] + u * a[1] + a[2]) + depth * (1 + r * r + u * u))
        return np.sqrt(np.maximum(square, 0))

    def unproject(self, x, y, nearness, ray=None):
        if self.parallel:
            r = (x + 0.5 - self.width / 2) / self.focal
            u = (self.height / 2 - y - 0.5) / self.focal
            return self.origin + r[:, None] * self.axes[0] + u[:, None] * self.axes[1] - nearness[:, None] * self.axes[2]
        return self.origin + (self.rays(x, y) if ray is None else ray) / nearness[:, None]


def axes_towards(forward, up):
    """Rows right, up, forward of a right-handed set; any up that is not parallel."""
    f = np.asarray(forward, float) / np.linalg.norm(forward)
    r = np.cross(f, up)
    if np.linalg.norm(r) < 1e-6:
        r = np.cross(f, [1, 0, 0] if abs(f[0]) < 0.9 else [0, 0, 1])
    r /= np.linalg.norm(r)
    return np.array([r, np.cross(r, f), f])


def clip_near(triangles, view, near):
    """Triangles (T, 3, 3) cut at distance `near` before a perspective eye. Returns them and the index of each one's origin."""
    z = view.depth(triangles)
    inside = z > near
    whole = inside.all(1)
    keep, source = [triangles[whole]], [np.flatnonzero(whole)]
    for t in np.flatnonzero(inside.any(1) & ~whole):
        polygon = []
        for k in range(3):
            a, b, za, zb = triangles[t, k], triangles[t, (k + 1) % 3], z[t, k] - near, z[t, (k + 1) % 3] - near
            if za > 0:
                polygon.append(a)
            if (za > 0) != (zb > 0):
                polygon.append(a + (b - a) * (za / (za - zb)))
        for k in range(1, len(polygon) - 1):
            keep.append(np.array([[polygon[0], polygon[k], polygon[k + 1]]]))
            source.append(np.array([t]))
    return np.concatenate(keep), np.concatenate(source)


def _expand(first, count):
    """For each i the run first[i] .. first[i]+count[i]-1: (index i repeated, running value)."""
    owner = np.repeat(np.arange(len(count)), count)
    start = np.cumsum(count) - count
    return owner, np.arange(len(owner)) - start[owner] + first[owner]


def _chunks(count):
    """Cuts 0..n so that each piece sums to about CHUNK (single items may be larger)."""
    total = np.cumsum(count)
    at, done = 0, 0
    while at < len(count):
        end = max(at + 1, int(np.searchsorted(total, done + CHUNK, "right")))
        yield slice(at, end)
        done = total[end - 1]
        at = end


def _row_spans(xy, width, height):
    """Rows of pixels covered by triangles (T, 3, 2): triangle, row, first and last pixel, all clipped to the screen."""
    top = np.clip(np.ceil(xy[..., 1].min(1) - 0.5), 0, height).astype(np.int64)
    bottom = np.clip(np.floor(xy[..., 1].max(1) - 0.5), -1, height - 1).astype(np.int64)
    t, row = _expand(top, np.maximum(bottom - top + 1, 0))
    low, high = np.full(len(t), np.inf), np.full(len(t), -np.inf)
    for k in range(3):
        a, b = xy[:, k], xy[:, (k + 1) % 3]
        # The same end first whichever triangle asks, so that neighbours agree where their edge lies.
        swap = (a[:, 1] > b[:, 1])[:, None]
        a, b = np.where(swap, b, a)[t], np.where(swap, a, b)[t]
        rise = b[:, 1] - a[:, 1]
        y = row + 0.5
        on = (y >= a[:, 1]) & (y <= b[:, 1]) & (rise > 0)
        x = a[:, 0] + (y - a[:, 1]) * (b[:, 0] - a[:, 0]) / np.where(rise > 0, rise, 1)
        low = np.where(on, np.minimum(low, x), low)
        high = np.where(on, np.maximum(high, x), high)
    some = high >= low
    t, row, low, high = t[some], row[some], low[some], high[some]
    first = np.clip(np.ceil(low - 0.5 - 1e-6), 0, width).astype(np.int64)
    last = np.clip(np.floor(high - 0.5 + 1e-6), -1, width - 1).astype(np.int64)
    some = last >= first
    return t[some], row[some], first[some], last[some]


class Buffer:
    """The nearest thing per pixel: nearness (-inf: nothing) and thing (triangles from 0, then spheres; -1: nothing)."""

    def __init__(self, view):
        n = view.width * view.height
        self.view = view
        self.near = np.full(n, -np.inf, np.float32)
        self.thing = np.full(n, -1, np.int32)

    def _put(self, pixel, near, thing):
        better = np.flatnonzero(near > self.near[pixel])
        while len(better):
            pixel, near, thing = pixel[better], near[better], thing[better]
            self.near[pixel] = near  # of several in one pixel the last is kept; the loop lets nearer ones back in
            self.thing[pixel] = thing
            better = np.flatnonzero(near > self.near[pixel])

    def triangles(self, points, things):
        """Draws triangles (T, 3, 3), all before the eye, as the things (T) given."""
        view = self.view
        xy, near = view.project(points)
        e1, e2 = xy[:, 1] - xy[:, 0], xy[:, 2] - xy[:, 0]
        area = e1[:, 0] * e2[:, 1] - e1[:, 1] * e2[:, 0]
        ok = (np.abs(area) > 1e-9) & np.isfinite(xy).all((1, 2))
        xy, near, things, e1, e2, area = xy[ok], near[ok], things[ok], e1[ok], e2[ok], area[ok]
        n1, n2 = near[:, 1] - near[:, 0], near[:, 2] - near[:, 0]
        gx = (n1 * e2[:, 1] - n2 * e1[:, 1]) / area
        gy = (n2 * e1[:, 0] - n1 * e2[:, 0]) / area
        lo, hi = near.min(1), near.max(1)
        t, row, first, last = _row_spans(xy, view.width, view.height)
        count = last - first + 1
        for part in _chunks(count):
            o, x = _expand(first[part], count[part])
            k, y = t[part][o], row[part][o]
            value = near[k, 0] + (x + 0.5 - xy[k, 0, 0]) * gx[k] + (y + 0.5 - xy[k, 0, 1]) * gy[k]
            value = np.clip(value, lo[k], hi[k])  # slivers seen edge-on have wild gradients
            self._put(y * view.width + x, value.astype(np.float32), things[k])

    def spheres(self, centres, radii, things):
        view = self.view
        z = view.depth(centres)
        if not view.parallel:
            ok = z > 1.5 * radii
            centres, radii, things, z = centres[ok], radii[ok], things[ok], z[ok]
        if len(radii) == 0:
            return
        xy, _ = view.project(centres)
        half = radii * view.focal if view.parallel else 1.2 * radii * view.focal / (z - radii)
        box = []
        for k, limit in ((0, view.width), (1, view.height)):
            box.append(np.clip(np.floor(xy[:, k] - half), 0, limit).astype(np.int64))
            box.append(np.clip(np.ceil(xy[:, k] + half), -1, limit - 1).astype(np.int64))
        rows, row = _expand(box[2], np.maximum(box[3] - box[2] + 1, 0))
        count = np.maximum(box[1] - box[0] + 1, 0)[rows]
        for part in _chunks(count):
            o, x = _expand(box[0][rows[part]], count[part])
            k, y = rows[part][o], row[part][o]
            if view.parallel:
                dx = (x + 0.5 - xy[k, 0]) / view.focal
                dy = (y + 0.5 - xy[k, 1]) / view.focal
                root = radii[k] ** 2 - dx * dx - dy * dy
                depth = z[k] - np.sqrt(np.maximum(root, 0))
                near = -depth
            else:
                ray, to = view.rays(x, y), centres[k] - view.origin
                a, b = (ray * ray).sum(1), (ray * to).sum(1)
                root = b * b - a * ((to * to).sum(1) - radii[k] ** 2)
                near = a / (b - np.sqrt(np.maximum(root, 0)))
            hit = root > 0
            self._put((y * view.width + x)[hit], near[hit].astype(np.float32), things[k][hit])
