"""Pictures of a run's frames: chooses camera, ground and colours by itself, the same for all frames of a call."""
import numpy as np

from raster import Buffer, View, axes_towards, clip_near
from shading import Light, corner_normals, noise_turn, to_linear, to_srgb

MOVING = ["#cf5b3a", "#2d7f89", "#dfa93a", "#6b5b9e", "#7da24c", "#c2517f", "#4b7cc0", "#8d6b50"]
FIXED = "#8b9198"
GROUND = to_linear("#dcd8d0")
SKY_LOW, SKY_HIGH = to_linear("#ece9e4"), to_linear("#c9d3dd")


class Picture:
    """View options: azimuth and elevation in degrees, zoom, up (3) or None for the scene's, near: a place and a radius (4) that the camera holds
    in the place of all that moves.  colouring: what colours tell (colouring.py), else
    bodies; wire: with the edges of triangles."""

    def __init__(self, run, frames, azimuth=None, elevation=None, zoom=1.0, up=None, near=None, colouring=None, wire=False):
        self.run, self.colouring, self.wire = run, colouring, wire
        states = [run.frame(k)[1] for k in frames]
        self.flat = bool(all(np.ptp(x[:, 2]) == 0 for x in states) and len(run.triangles) == 0)
        self._axes(azimuth, elevation, up)
        self._extent(states)
        self.zoom = zoom
        self.held = self.cloud
        if near is not None:
            self.held = np.array(near[:3]) + near[3] * np.array([[(-1, 1)[(k >> d) & 1] for d in range(3)] for k in range(8)])
        self.size = max(float(np.linalg.norm(self.high - self.low)), 1e-12)
        self.thickness = (0.007 if self.flat else 0.004) * self.size
        self.floor_is_body = False
        self._hide_walls()
        if not self.floor_is_body:
            self.floor -= 3e-4 * self.size  # just under all there is
        self._colours()

    def _axes(self, azimuth, elevation, up):
        g = np.linalg.norm(self.run.gravity)
        self.up = np.asarray(up, float) if up is not None else (-self.run.gravity / g if g > 0 else np.array([0.0, 1, 0]))
        self.up /= np.linalg.norm(self.up)
        if self.flat:
            self.axes = axes_towards([0, 0, -1], [0, 1, 0])
            return
        a = np.radians(32 if azimuth is None else azimuth)
        e = np.radians(24 if elevation is None else elevation)
        # Azimuth 0 looks along -z where y is up.
        side = axes_towards(self.up, [0, 0, -1] if abs(self.up[2]) < 0.9 else [0, 1, 0])
        front, right = -side[1], -side[0]
        towards = np.cos(e) * (np.cos(a) * front + np.sin(a) * right) + np.sin(e) * self.up
        self.axes = axes_towards(-towards, self.up)

    def _extent(self, states):
        """The box of all that moves, over all frames, and what of the fixed lies about it."""
        run = self.run
        still = run.fixed[run.body]
        pad = np.where(np.isin(np.arange(len(run.body)), run.points), run.radius, 0)[:, None]
        use = ~still if (~still).any() else np.ones(len(still), bool)
        low = np.min([(x - pad)[use].min(0) for x in states], 0)
        high = np.max([(x + pad)[use].max(0) for x in states], 0)
        self.mover_low, self.mover_high = low, high
        room = 0.30 * np.linalg.norm(high - low)
        # A floor or wall that is plane and reaches beyond what moves shall not push the camera away.
        self._planes(states[0], low, high)
        shown = still & (~self.wide[run.body] if use.sum() < len(use) else True)
        near = [np.clip(states[0][shown], low - room, high + room)] if shown.any() else []
        cloud = near + [(x + s * pad)[use][:: max(1, int(use.sum() / 4000))] for x in states for s in (-1, 1)]
        corners = np.array([[(low, high)[(k >> d) & 1][d] for d in range(3)] for k in range(8)])
        self.cloud = np.concatenate(cloud + ([] if len(states) > 1 else [corners]) if self.flat else cloud)
        self.low, self.high = self.cloud.min(0), self.cloud.max(0)
        everything = [x[r] for x in states for r in (np.flatnonzero(use), np.flatnonzero(still)) if len(r)]
        self.floor = min(float((p @ self.up).min()) for p in everything)

    def _planes(self, x, low, high):
        """Of the fixed bodies of triangles: which are plane (with their normals), and of these the wide ones."""
        run, n = self.run, len(self.run.body_names)
        self.planar, self.wide, self.plane_normal = np.zeros(n, bool), np.zeros(n, bool), np.zeros((n, 3))
        owner = run.body[run.triangles[:, 0]] if len(run.triangles) else np.zeros(0, int)
        size = np.linalg.norm(high - low)
        for b in np.flatnonzero(run.fixed):
            p = x[run.triangles[owner == b]]
            if len(p) == 0:
                continue
            normal = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
            normal = normal[np.argmax((normal * normal).sum(1))]
            normal /= max(np.linalg.norm(normal), 1e-300)
            corners = p.reshape(-1, 3)
            self.plane_normal[b] = normal
            self.planar[b] = np.abs((corners - corners[0]) @ normal).max() <= 1e-4 * np.linalg.norm(np.ptp(corners, axis=0))
            self.wide[b] = self.planar[b] and np.linalg.norm(np.ptp(corners, axis=0)) > size

    def _hide_walls(self):
        """Fixed walls that stand before what moves (the near sides of a box) are left out."""
        run, keep = self.run, np.ones(len(self.run.triangles), bool)
        casts = keep.copy()
        self.inside = False
        if self.flat or run.fixed.all() or len(keep) == 0:
            self.keep, self.casts = keep, casts
            return
        x = run.frame(0)[1]
        corners = np.array([[(self.mover_low, self.mover_high)[(k >> d) & 1][d] for d in range(3)] for k in range(8)])
        slack = 1e-3 * self.size
        owner = run.body[run.triangles[:, 0]]
        for b in np.flatnonzero(run.fixed):
            mine = np.flatnonzero(owner == b)
            if len(mine) == 0:
                continue
            p = x[run.triangles[mine]]
            low, high = p.min((0, 1)), p.max((0, 1))
            around = bool((low <= self.mover_low + slack).all() and (high >= self.mover_high - slack).all())
            normal = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
            normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None]
            level = float((p @ self.up).min())
            if self.wide[b] and abs(self.plane_normal[b] @ self.up) > 0.9999 and np.any(run.gravity) and level <= self.floor + slack:
                # The lowest wide floor: the ground, drawn without end, stands in for it.
                keep[mine] = casts[mine] = False
                self.floor, self.floor_is_body = level, True
                continue
            if not (around or self.planar[b]):
                continue
            side = ((corners[None] - p[:, :1]) * normal[:, None]).sum(2)
            inward = np.where((side >= -slack).all(1), 1, np.where((side <= slack).all(1), -1, 0))
            before = inward * (normal @ self.axes[2]) > 0  # its inner side looks away from us
            keep[mine[before]] = False
            casts[mine if around else mine[before]] = False
            self.inside |= around
        self.keep, self.casts = keep, casts

    def _colours(self):
        run = self.run
        linear = np.zeros((len(run.body_names), 3))
        moving = 0
        for b, fixed in enumerate(run.fixed):
            linear[b] = to_linear(FIXED if fixed else MOVING[moving % len(MOVING)])
            moving += not fixed
        self.colour = linear.astype(np.float32)

    def sphere_colours(self, body):
        """Spheres of one body differ from their neighbours, so that a heap of them can be read."""
        vary = np.mod(np.arange(len(body)) * 0.618033988749895, 1).astype(np.float32)[:, None]
        many = np.bincount(body, minlength=len(self.colour))[body][:, None] > 20
        own = self.colour[body]
        tone = np.where(vary < 0.5, own * (0.62 + 0.76 * vary), own + (1 - own) * (0.45 * (vary - 0.5)))
        return np.where(many, tone, own)

    def _camera(self, width, height):
        forward = self.axes[2]
        p = self.held @ self.axes.T
        margin = 0.86 * self.zoom
        if self.flat:
            low, high = p.min(0), p.max(0)
            span = np.maximum(high - low, 1e-3 * self.size) + 4 * self.thickness
            middle = (low + high) / 2
            origin = middle @ self.axes - 2 * self.size * forward
            return View(origin, self.axes, margin * min(width / span[0], height / span[1]), width, height, parallel=True)
        # The eye that sees the whole cloud: each side of the image is touched by some point.
        focal = 0.5 * max(width, height) / np.tan(np.radians(17))
        half = np.array([width, height]) / 2 * margin / focal
        # Of the planes |x - ex| <= half (z - ez): the smallest ez and its centre, per direction.
        centre, ez = np.zeros(2), np.inf
        for k in range(2):
            right, left = (p[:, k] - half[k] * p[:, 2]).max(), (-p[:, k] - half[k] * p[:, 2]).max()
            ez = min(ez, -(right + left) / (2 * half[k]))
        for k in range(2):
            right, left = (p[:, k] - half[k] * (p[:, 2] - ez)).max(), (-p[:, k] - half[k] * (p[:, 2] - ez)).max()
            centre[k] = (right - left) / 2
        origin = np.array([centre[0], centre[1], ez]) @ self.axes
        return View(origin, self.axes, focal, width, height)

    def _tubes(self, x):
        """Segments as tubes of eight sides with balls at their ends."""
        run = self.run
        s = run.segments
        if len(s) == 0:
            return np.zeros((0, 3, 3)), np.zeros((0, 3, 3)), np.zeros(0, int), np.zeros((0, 3)), np.zeros(0), np.zeros(0, int)
        a, b = x[s[:, 0]], x[s[:, 1]]
        r = np.maximum(run.radius[s[:, 0]], self.thickness)
        d = b - a
        d /= np.maximum(np.linalg.norm(d, axis=1), 1e-300)[:, None]
        helper = np.where((np.abs(d[:, 0]) < 0.9)[:, None], [1.0, 0, 0], [0, 1.0, 0])
        u = np.cross(d, helper)
        u /= np.maximum(np.linalg.norm(u, axis=1), 1e-300)[:, None]
        w = np.cross(d, u)
        points, normals = [], []
        for k in range(8):
            n = [np.cos(t) * u + np.sin(t) * w for t in (np.pi * k / 4, np.pi * (k + 1) / 4)]
            p = [e + r[:, None] * m for e in (a, b) for m in n]
            for i, j, l in ((0, 3, 2), (0, 1, 3)):
                points.append(np.stack([p[i], p[j], p[l]], 1))
                normals.append(np.stack([n[i % 2], n[j % 2], n[l % 2]], 1))
        body = run.body[s[:, 0]]
        # Balls mark the joints of chains and springs where these are few enough to be told apart.
        ball = np.tile(r, 2) * np.where(run.fixed[np.tile(body, 2)] | (len(s) > 50), 1, 1.9)
        return np.concatenate(points), np.concatenate(normals), np.tile(body, 16), np.concatenate([a, b]), ball, np.tile(body, 2)

    def draw(self, k, width, height, samples=2):
        """Frame k as (height, width, 3) bytes; samples x samples rays per pixel."""
        run = self.run
        x = run.frame(k)[1]
        view = self._camera(width * samples, height * samples)
        away = 1.0 if view.parallel else float(view.depth(self.held.mean(0)))
        self.thickness = max(self.thickness, 0.8 * samples * away / view.focal)  # lines do not vanish between pixels
        tri = run.triangles
        tube, tube_normal, tube_body, ball, ball_radius, ball_body = self._tubes(x)
        points = np.concatenate([x[tri[self.keep]], tube])
        normals = np.concatenate([corner_normals(x, tri)[self.keep], tube_normal]) if len(tri) else tube_normal
        body = np.concatenate([run.body[tri[self.keep, 0]], tube_body])
        centres = np.concatenate([x[run.points], ball])
        radii = np.concatenate([np.where(run.radius[run.points] > 0, run.radius[run.points], 1.5 * self.thickness), ball_radius])
        sphere_body = np.concatenate([run.body[run.points], ball_body])
        casters = np.concatenate([x[tri[self.casts]], tube])

        middle = (self.low + self.high) / 2
        reach = 0.62 * self.size
        sun = self.up * 1.0 + self.axes[0] * -0.62 - self.axes[2] * 0.42
        if self.flat:
            sun = np.array([-0.4, 0.7, 1.0])
        light = Light(self.up if not self.flat else np.array([0, 0.3, 1.0]), sun, middle, reach, casters, centres, radii,
                      size=int(np.clip(1.6 * max(width, height), 256, 2048)))

        buffer = Buffer(view)
        if view.parallel:
            drawn, source = points, np.arange(len(points))
        else:
            drawn, source = clip_near(points, view, 1e-3 * self.size)
        buffer.triangles(drawn, source.astype(np.int32))
        buffer.spheres(centres, radii, (len(points) + np.arange(len(radii))).astype(np.int32))
        surface = Surface(self, view, points, normals, body, centres, sphere_body, buffer)
        if self.wire:
            surface.wired = int(self.keep.sum())
        if self.colouring is None:
            return to_srgb(surface.image(light, samples, middle, reach))
        # A tube has 16 triangles: for each of 8 sides two, whose corners are the ends (a, b, b) and (a, a, b).
        cell, end, point = self.colouring.values(k)
        tubes = [end[:, ends] for _ in range(8) for ends in ([0, 1, 1], [0, 0, 1])] if len(end) else []
        surface.share = self.colouring.share(np.concatenate([cell[self.keep], *tubes]))
        surface.sphere_share = self.colouring.share(np.concatenate([point, end[:, 0], end[:, 1]]))
        return self.colouring.legend(to_srgb(surface.image(light, samples, middle, reach)))


class Surface:
    """What a frame's samples see, and their shading. A pixel whose samples see one smooth piece is shaded once, and its
    light is smoothed with its neighbours'; only pixels at edges are shaded sample by sample."""

    GROUND, NOTHING = -2, -1
    share = sphere_share = None  # of the colours' range: (triangles, 3), (spheres); None: bodies have colours
    wired = 0  # so many triangles show their edges

    def __init__(self, picture, view, points, normals, body, centres, sphere_body, buffer):
        self.picture, self.view, self.buffer = picture, view, buffer
        self.points, self.normals, self.body = points, normals, body
        self.centres, self.sphere_body = centres, sphere_body
        face = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
        self.face = (face / np.maximum(np.linalg.norm(face, axis=1), 1e-300)[:, None]).astype(np.float32)

    def _find_ground(self, middle, reach):
        """Gives the samples that see nothing else the ground, where there is one and it is near enough to matter."""
        pic, view = self.picture, self.view
        self.height = float(view.origin @ pic.up) - pic.floor
        if pic.flat or pic.inside or not np.any(pic.run.gravity) or self.height <= 0:
            return
        at = np.flatnonzero(self.buffer.thing < 0)
        fall = -view.along(at % view.width, at // view.width, pic.up)
        at, fall = at[fall > 1e-6], fall[fall > 1e-6]
        self.buffer.near[at] = fall / self.height
        far = view.away(at % view.width, at // view.width, fall / np.float32(self.height), middle) / reach
        self.buffer.thing[at[far < 6]] = self.GROUND

    def _edges(self, samples):
        """Pixels (n) whose samples see different pieces, or one piece with a fold or a jump in depth."""
        view = self.view
        shape = (view.height // samples, samples, view.width // samples, samples)
        thing = self.buffer.thing.reshape(shape).transpose(0, 2, 1, 3).reshape(-1, samples * samples)
        near = self.buffer.near.reshape(shape).transpose(0, 2, 1, 3).reshape(-1, samples * samples)
        first, edge = thing[:, :1], np.zeros(len(thing), bool)
        some = np.flatnonzero((thing != first).any(1))
        t, f = thing[some], first[some]
        triangles = ((t >= 0) & (t < len(self.points))).all(1)
        edge[some[~triangles]] = True
        some, t, f = some[triangles], t[triangles], f[triangles]
        bend = np.abs((self.face[t] * self.face[f]).sum(2)).min(1)
        depth = 1 / near[some] if not view.parallel else -near[some]
        jump = np.ptp(depth, axis=1) > 0.01 * self.picture.size
        edge[some] = (bend < 0.9) | jump | (self.body[t] != self.body[f]).any(1)
        return edge

    def _look(self, at):
        """Samples `at`: position, normal towards the viewer, colour, direction of the viewer."""
        x, y = at % self.view.width, at // self.view.width
        ray = self.view.rays(x, y)
        p = self.view.unproject(x, y, self.buffer.near[at].astype(float), ray)
        towards = ray / -np.sqrt(np.einsum("ij,ij->i", ray, ray))[:, None]
        thing, pic = self.buffer.thing[at], self.picture
        normal, colour = np.zeros_like(p), np.zeros((len(at), 3), np.float32)
        ground = thing == self.GROUND
        normal[ground], colour[ground] = pic.up, GROUND
        is_triangle = (thing >= 0) & (thing < len(self.points))
        t = thing[is_triangle]
        a, b, c = self.points[t, 0], self.points[t, 1], self.points[t, 2]
        flat = np.cross(b - a, c - a)
        square = np.maximum((flat * flat).sum(1), 1e-300)
        q = p[is_triangle]
        wb = np.clip((np.cross(q - a, c - a) * flat).sum(1) / square, 0, 1)
        wc = np.clip((np.cross(b - a, q - a) * flat).sum(1) / square, 0, 1)
        m = self.normals[t, 0] * (1 - wb - wc)[:, None] + self.normals[t, 1] * wb[:, None] + self.normals[t, 2] * wc[:, None]
        back = (flat * towards[is_triangle]).sum(1) < 0
        normal[is_triangle] = np.where(back[:, None], -m, m)
        shown = pic.colour[self.body[t]]
        # The back of a moving sheet is a paler tone of its front.
        pale = (back & ~pic.run.fixed[self.body[t]])[:, None]
        colour[is_triangle] = np.where(pale, 0.62 * shown + 0.38 * 0.62, shown)
        wa = 1 - wb - wc
        if self.share is not None:
            colour[is_triangle] = pic.colouring.ramp(self.share[t, 0] * wa + self.share[t, 1] * wb + self.share[t, 2] * wc)
        if self.wired:
            self._draw_edges(colour, np.flatnonzero(is_triangle), t, (a, b, c), (wa, wb, wc), np.sqrt(square), q)
        is_sphere = thing >= len(self.points)
        s = thing[is_sphere] - len(self.points)
        normal[is_sphere] = p[is_sphere] - self.centres[s]
        colour[is_sphere] = pic.sphere_colours(self.sphere_body)[s] if self.share is None else pic.colouring.ramp(self.sphere_share[s])
        normal /= np.maximum(np.sqrt(np.einsum("ij,ij->i", normal, normal)), 1e-300)[:, None]
        return p.astype(np.float32), normal.astype(np.float32), colour, towards.astype(np.float32)

    def _draw_edges(self, colour, at, t, corners, weights, double_area, place):
        """Darkens samples that are nearer than a pixel to an edge of their triangle."""
        pixel = (1 if self.view.parallel else self.view.depth(place)) / self.view.focal
        near = np.full(len(t), np.inf)
        for k in range(3):
            side = corners[(k + 2) % 3] - corners[(k + 1) % 3]
            near = np.minimum(near, weights[k] * double_area / np.maximum(np.sqrt(np.einsum("ij,ij->i", side, side)), 1e-300))
        edge = at[(near < 1.1 * pixel) & (t < self.wired)]
        colour[edge] *= np.float32(0.3)

    def _light(self, light, at, turn_x, turn_y):
        """Colour, light and highlight of the samples `at`, in pieces that fit the memory."""
        n = len(at)
        colour, lit, shine = np.zeros((n, 3), np.float32), np.zeros((n, 3), np.float32), np.zeros(n, np.float32)
        normal, depth = np.zeros((n, 3), np.float32), np.zeros(n, np.float32)
        for begin in range(0, n, 1 << 18):
            k = slice(begin, begin + (1 << 18))
            p, normal[k], colour[k], towards = self._look(at[k])
            lit[k], sun = light.on(p, normal[k], noise_turn(turn_x[k], turn_y[k]))
            shine[k] = 0.10 * sun * light.highlight(normal[k], towards)
            depth[k] = self.view.depth(p)
        shine[self.buffer.thing[at] == self.GROUND] = 0
        return colour, lit, shine, normal, depth

    COARSE = 3  # pixels: light changes slowly over a smooth piece

    def _smooth_light(self, light, first, pixel, shape):
        """Colour, light and highlight of pixels inside smooth pieces.  Light is computed at every third pixel of every third row; the others
        take it from those around them on the same piece.  Where there is none, it is computed there."""
        height, width = shape
        n, step = len(pixel), 0.01 * self.picture.size
        row, column = (pixel // width).astype(np.int32), (pixel % width).astype(np.int32)
        place, normal, colour, towards = (np.zeros((n, 3), np.float32) for _ in range(4))
        depth = np.zeros(n, np.float32)
        for begin in range(0, n, 1 << 18):
            k = slice(begin, begin + (1 << 18))
            place[k], normal[k], colour[k], towards[k] = self._look(first[pixel[k]])
            depth[k] = self.view.depth(place[k])

        def compute(at):
            """Light and the sun's share, as (len(at), 4)."""
            out = np.zeros((len(at), 4), np.float32)
            for begin in range(0, len(at), 1 << 17):
                k = at[begin:begin + (1 << 17)]
                out[begin:begin + len(k), :3], out[begin:begin + len(k), 3] = light.on(place[k], normal[k], noise_turn(column[k], row[k]))
            return out

        coarse = np.flatnonzero((row % self.COARSE == 0) & (column % self.COARSE == 0))
        known = compute(coarse)
        # A grid of the coarse pixels with a rim, and in it where each is in `known`.
        grid = np.full((height // self.COARSE + 4, width // self.COARSE + 4), -1, np.int32)
        r, c = row[coarse] // self.COARSE + 1, column[coarse] // self.COARSE + 1
        grid[r, c] = np.arange(len(coarse))
        known = blend(known, known, normal[coarse], depth[coarse], [(grid[r + dy, c + dx], 1.0) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dx or dy],
                      normal[coarse], depth[coarse], step, 1.0)[0]
        lit, missing = np.zeros((n, 4), np.float32), np.zeros(n, bool)
        lit[coarse] = known
        rest = np.ones(n, bool)
        rest[coarse] = False
        rest = np.flatnonzero(rest)
        r, c = row[rest] // self.COARSE + 1, column[rest] // self.COARSE + 1
        fy, fx = (row[rest] % self.COARSE / np.float32(self.COARSE)).astype(np.float32), (column[rest] % self.COARSE / np.float32(self.COARSE)).astype(np.float32)
        around = [(grid[r, c], (1 - fy) * (1 - fx)), (grid[r, c + 1], (1 - fy) * fx), (grid[r + 1, c], fy * (1 - fx)), (grid[r + 1, c + 1], fy * fx)]
        lit[rest], weight = blend(known, np.zeros((len(rest), 4), np.float32), normal[rest], depth[rest], around, normal[coarse], depth[coarse], step, 0.0)
        alone = rest[weight < 0.05]
        lit[alone] = compute(alone)
        shine = 0.10 * lit[:, 3] * light.highlight(normal, towards)
        shine[self.buffer.thing[first[pixel]] == self.GROUND] = 0
        return colour, lit[:, :3], shine

    def image(self, light, samples, middle, reach):
        """(height, width, 3) of linear light."""
        view, pic = self.view, self.picture
        self._find_ground(middle, reach)
        width, height = view.width // samples, view.height // samples
        edge = self._edges(samples)
        x, y = np.arange(width * height) % width, np.arange(width * height) // width
        up = np.clip(1 - y / height, 0, 1)[:, None]
        sky = (SKY_LOW + (SKY_HIGH - SKY_LOW) * up**1.3).astype(np.float32)
        image = sky.copy()

        first = (y * samples) * view.width + x * samples
        pixel = np.flatnonzero(~edge & (self.buffer.thing[first] != self.NOTHING))
        colour, lit, shine = self._smooth_light(light, first, pixel, (height, width))
        image[pixel] = colour * lit + shine[:, None]

        pixel = np.flatnonzero(edge)
        total = np.zeros((len(pixel), 3), np.float32)
        for k in range(samples * samples):
            at = first[pixel] + (k // samples) * view.width + k % samples
            some = self.buffer.thing[at] != self.NOTHING
            colour, lit, shine, _, _ = self._light(light, at[some], x[pixel[some]], y[pixel[some]] + 7 * k)
            part = sky[pixel]
            part[some] = colour * lit + shine[:, None]
            total += self._fade(part, sky[pixel], at, light, middle, reach)
        image[pixel] = total / (samples * samples)
        rest = np.flatnonzero(~edge)
        image[rest] = self._fade(image[rest], sky[rest], first[rest], light, middle, reach)
        return image.reshape(height, width, 3)

    def _fade(self, colour, sky, at, light, middle, reach):
        """The ground goes over into the sky with the distance."""
        ground = np.flatnonzero(self.buffer.thing[at] == self.GROUND)
        g = at[ground]
        away = self.view.away(g % self.view.width, g // self.view.width, self.buffer.near[g], middle) / reach
        fade = (np.clip((away - 1.2) / 4.8, 0, 1)[:, None] ** 0.7).astype(np.float32)
        colour[ground] = colour[ground] * (1 - fade) + sky[ground] * fade
        return colour


def blend(known, start, normal, depth, around, known_normal, known_depth, step, own):
    """Means of `known` (m, 4) at the places `around` [(place or -1, weight)] that lie on the same smooth piece as normal and depth (n); own: the
    weight of `start` (n, 4).  Returns the means and their weights."""
    total, weight = start * np.float32(own), np.full(len(start), own, np.float32)
    for other, share in around:
        same = (other >= 0) & (np.abs(known_depth[other] - depth) < step)
        same &= np.einsum("ij,ij->i", known_normal[other], normal) > 0.95
        share = (same * np.float32(share)).astype(np.float32)
        total += known[other] * share[:, None]
        weight += share
    return total / np.maximum(weight, 1e-6)[:, None], weight
