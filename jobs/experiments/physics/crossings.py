"""Do surfaces cross? Segments against triangles by signed volumes, vectorised; shares nothing with the program."""
import numpy as np


def volume(a, b, c, d):
    return np.einsum("...i,...i", np.cross(b - a, c - a), d - a)


def crossings(x, edges, triangles, scripted=None):
    """Pairs (edge, triangle) without a common vertex that cross in the vertices x (V, 3), less those of `scripted` (V)
    vertices alone, which may. What touches in one plane does not cross."""
    found = []
    corner = x[triangles]
    low, high = corner.min(axis=1), corner.max(axis=1)
    p, q = x[edges[:, 0]], x[edges[:, 1]]
    for k in range(len(edges)):
        near = np.all((np.minimum(p[k], q[k]) <= high) & (np.maximum(p[k], q[k]) >= low), axis=1)
        near &= ~np.any((triangles == edges[k, 0]) | (triangles == edges[k, 1]), axis=1)
        if scripted is not None and np.all(scripted[edges[k]]):
            near &= ~np.all(scripted[triangles], axis=1)
        t = np.nonzero(near)[0]
        if not len(t):
            continue
        a, b, c = corner[t, 0], corner[t, 1], corner[t, 2]
        size = 1e-12 * max(np.linalg.norm(q[k] - p[k]), np.max(high[t] - low[t])) ** 3  # less is rounding: in one plane
        over, under = volume(a, b, c, p[k]), volume(a, b, c, q[k])
        through = (np.minimum(over, under) < -size) & (np.maximum(over, under) > size)
        sides = np.stack([volume(p[k], q[k], a, b), volume(p[k], q[k], b, c), volume(p[k], q[k], c, a)])
        inside = np.all(sides > size, axis=0) | np.all(sides < -size, axis=0)
        found += [(k, int(j)) for j in t[through & inside]]
    return found


def edges_of(triangles, segments=None):
    """Unique edges of triangles and segments."""
    pairs = [triangles[:, [k, (k + 1) % 3]] for k in range(3)] + ([] if segments is None else [segments])
    return np.unique(np.sort(np.concatenate(pairs), axis=1), axis=0)


def of_frames(result, scripted=()):
    """Total of crossings over the frames of a run, and how many frames there are; `scripted` are names of bodies."""
    triangles, segments, body, names = result.mesh()
    edges = edges_of(triangles, segments)
    hard = np.isin(body, [names.index(name) for name in scripted])
    frames = result.frames()[1]
    return sum(len(crossings(x, edges, triangles, hard)) for x in frames), len(frames)


def self_test():
    """Ten thousand random edges and triangles against a solve of the linear system."""
    random = np.random.default_rng(1)
    x = random.normal(size=(50000, 3))
    wrong = hits = 0
    for k in range(0, len(x), 5):
        a, b, c, p, q = x[k:k + 5]
        u = np.linalg.solve(np.stack([b - a, c - a, p - q], axis=1), p - a)
        expected = min(u) >= 0 and u[0] + u[1] <= 1 and u[2] <= 1
        got = bool(crossings(x[k:k + 5], np.array([[3, 4]]), np.array([[0, 1, 2]])))
        wrong += got != expected
        hits += got
    return wrong, hits
