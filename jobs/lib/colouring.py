"""Colours of a run by what it does (jobs/render --colour): values at corners and points, one range for all frames, and a legend."""
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from problem import Problem
from shading import to_linear

# From cold to warm, readable in grey too.
RAMP = np.array([to_linear(c) for c in ("#2f4b8f", "#3f7fb1", "#74b5ae", "#c9d7a0", "#f2c46d", "#e2813f", "#a82f2b")], np.float32)
TITLES = {"speed": "speed, m/s", "contact": "contact force, N", "strain": "largest principal strain", "thickness": "thickness over that at the start"}


def ramp(share):
    """Linear light (n, 3) of shares 0..1; nan is grey."""
    at = np.clip(np.nan_to_num(share, nan=0.5), 0, 1) * (len(RAMP) - 1)
    k = np.minimum(at.astype(int), len(RAMP) - 2)
    f = (at - k)[:, None].astype(np.float32)
    out = RAMP[k] * (1 - f) + RAMP[k + 1] * f
    out[np.isnan(share)] = 0.35
    return out


class Colouring:
    """kind: a key of TITLES. frames: those that the range is of."""

    def __init__(self, run, kind, frames):
        self.run, self.kind = run, kind
        if kind in ("strain", "thickness"):
            if len(run.triangles) + len(run.segments) == 0:
                raise Problem(f"--colour {kind}: {run.folder} has points alone, which have none")
            if int(run.names[0]) != 0:
                raise Problem(f"--colour {kind}: {run.folder} lacks frame 0, which lengths are compared with; colour by speed or contact")
            self.rest = run.frame(0)[1]
        values = np.concatenate([np.ravel(part) for k in frames for part in self.values(k)])
        values = values[np.isfinite(values)]
        self.low, self.high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
        if kind in ("speed", "contact"):
            self.low = 0.0
        if not self.high > self.low:
            self.high = self.low + (abs(self.low) or 1.0)

    def _field(self, k, name):
        group = self.run.file["frames"][self.run.names[k]]
        try:
            return group[name][()].astype(float)
        except (KeyError, OSError) as e:
            raise Problem(f"frame {self.run.names[k]} of {self.run.folder} has no {name} that can be read: {e}") from None

    def values(self, k):
        """Of frame k: at the corners of triangles (T, 3), at the ends of segments (S, 2), at points (P)."""
        run = self.run
        t, s, p = run.triangles, run.segments, run.points
        if self.kind in ("speed", "contact"):
            v = np.linalg.norm(self._field(k, "velocity" if self.kind == "speed" else "contact_force"), axis=1)
            return v[t], v[s], v[p]
        x = run.frame(k)[1]
        length = [np.linalg.norm(y[s[:, 1]] - y[s[:, 0]], axis=1) for y in (self.rest, x)]
        with np.errstate(divide="ignore", invalid="ignore"):
            along = length[1] / length[0]
            most, least = stretches(self.rest[t], x[t])
            cell, end = (most - 1, along - 1) if self.kind == "strain" else (1 / (most * least), 1 / along)
        return np.repeat(cell[:, None], 3, 1), np.repeat(end[:, None], 2, 1), np.full(len(p), np.nan)

    ramp = staticmethod(ramp)

    def share(self, value):
        return ((value - self.low) / (self.high - self.low)).astype(np.float32)

    def legend(self, pixels):
        """The picture (h, w, 3) with a bar, its title and its range in the lower right corner."""
        from matplotlib import font_manager
        image = Image.fromarray(pixels)
        w, h = image.size
        if w < 200 or h < 120:
            return pixels
        size = max(11, h // 44)
        font = ImageFont.truetype(font_manager.findfont("DejaVu Sans"), size)
        bar = (w // 4, max(8, h // 60))
        x, y = w - bar[0] - w // 40, h - bar[1] - 2 * size - h // 60
        linear = ramp(np.linspace(0, 1, bar[0]))
        code = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.maximum(linear, 0) ** (1 / 2.4) - 0.055)
        strip = np.broadcast_to(np.rint(255 * code).astype(np.uint8), (bar[1], bar[0], 3))
        pen = ImageDraw.Draw(image)
        pen.text((x, y - size // 3), TITLES[self.kind], fill="#2a2f35", font=font, anchor="ls")
        image.paste(Image.fromarray(np.ascontiguousarray(strip)), (x, y))
        for value, at, anchor in ((self.low, x, "lt"), (self.high, x + bar[0], "rt")):
            pen.text((at, y + bar[1] + size // 4), f"{value:.3g}", fill="#2a2f35", font=font, anchor=anchor)
        return np.asarray(image)


def stretches(rest, now):
    """Principal stretches (n), (n) of triangles (n, 3, 3)."""
    e, d, f, g = rest[:, 1] - rest[:, 0], rest[:, 2] - rest[:, 0], now[:, 1] - now[:, 0], now[:, 2] - now[:, 0]
    dot = lambda a, b: np.einsum("ij,ij->i", a, b)  # noqa: E731
    l, n = np.sqrt(dot(e, e)), np.cross(e, d)
    p, q = dot(e, d) / l, np.sqrt(dot(n, n)) / l
    f0 = f / l[:, None]
    f1 = (g - f * (p / l)[:, None]) / q[:, None]
    a, b, c = dot(f0, f0), dot(f1, f1), dot(f0, f1)
    mean, root = (a + b) / 2, np.sqrt(((a - b) / 2) ** 2 + c * c)
    return np.sqrt(mean + root), np.sqrt(np.maximum(mean - root, 0))
