"""Light: a sun with soft shadows, a sky whose light is shadowed too (that is the darkness in folds), and a ground.

Every light is a direction with a shadow map made by raster.py. The sun has one fine map, the sky a few dozen coarse ones.
"""
import numpy as np

from raster import Buffer, View, axes_towards


def corner_normals(points, triangles, crease_degrees=50):
    """Normals (T, 3, 3) at the corners: the mean over those neighbours that meet at less than the crease's angle."""
    p = points[triangles]
    n = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    area = np.linalg.norm(n, axis=1)
    unit = n / np.maximum(area, 1e-300)[:, None]
    vertex = triangles.ravel()
    order = np.argsort(vertex, kind="stable")
    count = np.bincount(vertex, minlength=len(points))
    start = np.cumsum(count) - count
    # All pairs of corners at the same vertex.
    many = count[vertex]
    mine = np.repeat(np.arange(len(vertex)), many)
    other = order[start[vertex[mine]] + np.arange(len(mine)) - np.repeat(np.cumsum(many) - many, many)]
    a, b = mine // 3, other // 3
    dot = (unit[a] * unit[b]).sum(1)
    weight = (dot > np.cos(np.radians(crease_degrees))) * area[b]
    out = np.stack([np.bincount(mine, weight * unit[b, k], minlength=len(vertex)) for k in range(3)], -1)
    length = np.linalg.norm(out, axis=1)
    flat = np.repeat(unit, 3, axis=0)
    out = np.where((length > 0)[:, None], out / np.maximum(length, 1e-300)[:, None], flat)
    return out.reshape(-1, 3, 3)


def hemisphere(count, up):
    """`count` even directions over the half of the sky around `up` (and a little under its rim)."""
    k = np.arange(count) + 0.5
    height = 1 - k / count * 1.05
    angle = k * np.pi * (3 - np.sqrt(5))
    flat = np.sqrt(np.maximum(1 - height**2, 0))
    axes = axes_towards(up, [0, 0, 1] if abs(up[2]) < 0.9 else [1, 0, 0])
    return flat[:, None] * (np.cos(angle)[:, None] * axes[0] + np.sin(angle)[:, None] * axes[1]) + height[:, None] * axes[2]


class ShadowMap:
    """What a far light in `direction` (towards the light) sees of the casters inside a ball."""

    def __init__(self, direction, centre, reach, size, triangles, centres, radii):
        self.reach = reach
        self.view = View(centre, axes_towards(-direction, [0.31, 0.89, 0.33]), size / (2 * reach), size, size, parallel=True)
        buffer = Buffer(self.view)
        buffer.triangles(triangles, np.zeros(len(triangles), np.int32))
        buffer.spheres(centres, radii, np.zeros(len(radii), np.int32))
        self.near = buffer.near.reshape(size, size)
        self.near[[0, -1]] = self.near[:, [0, -1]] = -np.inf

    def lit(self, points, bias, taps):
        """Share (n) of the taps (k, n, 2; in pixels) around each point (n, 3; float32) that see the light."""
        view = self.view
        matrix = (view.axes * np.array([[view.focal], [-view.focal], [-1]])).astype(np.float32)
        offset = np.array([view.width / 2, view.height / 2, bias]) - (view.axes @ view.origin) * [view.focal, -view.focal, -1]
        p = points @ matrix.T + offset.astype(np.float32)
        total = np.zeros(len(points), np.float32)
        for tap in taps:
            x, y = (p[:, 0] + tap[:, 0]).astype(np.int32), (p[:, 1] + tap[:, 1]).astype(np.int32)
            # The map has a rim of nothing, so what is clipped to it is lit.
            np.clip(x, 0, view.width - 1, out=x)
            np.clip(y, 0, view.width - 1, out=y)
            total += self.near[y, x] <= p[:, 2]
        return total / np.float32(len(taps))


def disc(count):
    """`count` points spread evenly over a disc of radius 1."""
    k = np.arange(count) + 0.5
    angle = k * np.pi * (3 - np.sqrt(5))
    return (np.sqrt(k / count)[:, None] * np.stack([np.cos(angle), np.sin(angle)], -1)).astype(np.float32)


def noise_turn(x, y):
    """An angle per pixel that differs from its neighbours' as evenly as can be (interleaved gradient noise)."""
    return (2 * np.pi * np.mod(52.9829189 * np.mod(0.06711056 * x + 0.00583715 * y, 1), 1)).astype(np.float32)


def turned(points, angle, radius):
    """Disc points (k, 2) turned by each pixel's angle (n) and scaled: (k, n, 2)."""
    c, s = np.cos(angle), np.sin(angle)
    x = points[:, None, 0] * c - points[:, None, 1] * s
    y = points[:, None, 0] * s + points[:, None, 1] * c
    return radius * np.stack([x, y], -1)


class Light:
    """All lights of a frame. Casters: triangles (T, 3, 3), spheres (centres, radii), within a ball (centre, reach)."""

    SKY = 20
    SUN_COLOUR = np.array([1.14, 1.08, 0.98], np.float32)

    def __init__(self, up, sun, centre, reach, triangles, centres, radii, size=2048):
        self.up, self.sun = np.asarray(up, np.float32), (sun / np.linalg.norm(sun)).astype(np.float32)
        self.reach = reach
        self.sun_map = ShadowMap(self.sun, centre, reach, size, triangles, centres, radii)
        self.sky_size = size // 4
        self.sky = hemisphere(self.SKY, up).astype(np.float32)
        self.sky_map = [ShadowMap(d, centre, reach, self.sky_size, triangles, centres, radii) for d in self.sky]

    def sky_tint(self, direction):
        height = max(float(direction @ self.up), 0)
        tint = (1 - height) * np.array([0.98, 0.97, 0.95]) + height * np.array([0.84, 0.91, 1.02])
        return tint.astype(np.float32)

    def on(self, points, normals, turn):
        """Light (n, 3) that falls on surface points, and the sun's share (n) in it; normals face the viewer; all float32."""
        texel = np.float32(2 * self.reach / self.sun_map.view.width)
        # Sun: shadows a few texels soft; a little of it shines through from behind, as through cloth.
        facing = normals @ self.sun
        shifted = points + normals * (np.where(facing >= 0, 1, -1).astype(np.float32) * 2 * texel)[:, None]
        sun = self.sun_map.lit(shifted, 1.5 * texel, turned(disc(10), turn, 5.0))
        direct = sun * (np.maximum(facing, 0) + np.float32(0.12) * np.maximum(-facing, 0))
        out = direct[:, None] * self.SUN_COLOUR
        # Sky: bluish above, pale at the rim; each direction's shadow is blurred by a tap at random.
        texel = np.float32(2 * self.reach / self.sky_size)
        lift = points + normals * (1.5 * texel)
        spread = disc(self.SKY)
        sky = np.zeros_like(out)
        for k, (d, shadow) in enumerate(zip(self.sky, self.sky_map)):
            cosine = normals @ d
            seen = np.flatnonzero(cosine > 0)
            tap = turned(spread[(7 * k) % self.SKY][None], turn[seen], 9.0)
            cosine = cosine[seen] * shadow.lit(lift[seen], 1.5 * texel, tap)
            sky[seen] += cosine[:, None] * self.sky_tint(d)
        # Full sky gives 1 to a surface that faces up; the ground returns some to what faces down.
        out += sky * np.float32(0.74 / np.maximum(self.sky @ self.up, 0).sum())
        down = np.maximum(0, 0.5 - 0.5 * (normals @ self.up))
        out += (0.07 + 0.14 * down)[:, None] * np.array([1.0, 0.97, 0.92], np.float32)
        return out, sun * (facing > 0)

    def highlight(self, normals, towards):
        half = towards + self.sun
        half /= np.maximum(np.linalg.norm(half, axis=1), 1e-9)[:, None]
        return np.maximum((normals * half).sum(1), 0) ** 40


def to_srgb(linear):
    """Rolls highlights off softly and encodes to 0..255."""
    x = np.maximum(linear, 0)
    x = np.where(x > 0.7, 0.7 + 0.3 * (1 - np.exp(-(x - 0.7) / 0.3)), x)
    x = np.where(x <= 0.0031308, 12.92 * x, 1.055 * x ** (1 / 2.4) - 0.055)
    return np.clip(np.rint(255 * x), 0, 255).astype(np.uint8)


def to_linear(code):
    """'#rrggbb' to linear light."""
    c = np.array([int(code[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
