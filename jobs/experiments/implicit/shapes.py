"""shapes.py: meshes of tetrahedra for the scenes of literature.py, as arrays, and the number of distinct contacts of a frame.

A mesh is (vertices (V, 3), tetrahedra (K, 4)), all volumes positive. save() writes one as HDF5 for scenes' "file". It is no program."""
import itertools

import h5py
import numpy

KUHN = [[sum(1 << axis for axis in order[:k]) for k in range(4)] for order in itertools.permutations(range(3))]  # corners of a cell


def save(path, mesh):
    with h5py.File(path, "w") as file:
        file["vertices"], file["tetrahedra"] = mesh
    return {"kind": "file", "path": path}


def upright(x, tets):
    """Tetrahedra of negative volume are turned."""
    a, b, c, d = (x[tets[:, k]] for k in range(4))
    volume = numpy.einsum("ij,ij->i", b - a, numpy.cross(c - a, d - a))
    tets[volume < 0] = tets[volume < 0][:, [0, 2, 1, 3]]
    return x, tets


def ring(big, small, along, around):
    """A torus around the z axis without vertices inside: sections are polygons, cut by a zigzag; three tetrahedra a prism."""
    u = 2 * numpy.pi * numpy.arange(along)[:, None] / along
    v = 2 * numpy.pi * (numpy.arange(around)[None, :] + 0.5) / around
    distance = big + small * numpy.cos(v)
    x = numpy.stack([distance * numpy.cos(u), distance * numpy.sin(u), small * numpy.sin(v) + 0 * u], axis=2).reshape(-1, 3)
    low, high, triangles = 0, around - 1, []
    while high - low > 1:
        triangles.append((low, low + 1, high))
        low += 1
        if high - low > 1:
            triangles.append((low, high - 1, high))
            high -= 1
    tets = []
    for s in range(along):
        here, there = s * around, (s + 1) % along * around
        for i, j, k in triangles:
            tets += [(here + i, here + j, here + k, there + k), (here + i, here + j, there + j, there + k),
                     (here + i, there + i, there + j, there + k)]
    return upright(x, numpy.array(tets))


def cells_inside(corner, n):
    """Kuhn's tetrahedra of the unit cells at corner (C, 3); the vertices are lattice points of up to n in each direction."""
    offset = numpy.array([[c >> k & 1 for k in range(3)] for c in range(8)])
    at = corner[:, None, :] + offset[None]
    number = (at[..., 2] * (n + 1) + at[..., 1]) * (n + 1) + at[..., 0]
    return numpy.concatenate([number[:, path] for path in KUHN])


def ball(radius, n):
    """An icosahedron about its centre, each of its 20 tetrahedra cut in n^3; vertices lie on n spheres."""
    golden = (1 + 5 ** 0.5) / 2
    corner = numpy.array([p for a, b in itertools.product((-1, 1), (-golden, golden)) for p in ((0, a, b), (a, b, 0), (b, 0, a))])
    faces = [f for f in itertools.combinations(range(12), 3)
             if all(abs(numpy.linalg.norm(corner[i] - corner[j]) - 2) < 1e-9 for i, j in itertools.combinations(f, 2))]
    lattice = numpy.array(list(itertools.product(range(n + 1), repeat=3)))[:, ::-1]  # x fastest
    number = (lattice[:, 2] * (n + 1) + lattice[:, 1]) * (n + 1) + lattice[:, 0]
    assert (number == numpy.arange(len(number))).all()
    tets = cells_inside(lattice[(lattice < n).all(axis=1)], n)
    wedge = (lattice[:, 0] <= lattice[:, 1]) & (lattice[:, 1] <= lattice[:, 2])  # of each icosahedron's face: the simplex x <= y <= z
    tets = tets[wedge[tets].all(axis=1)]
    shell = numpy.maximum(lattice[:, 2:3], 1)
    x, all_tets = [], []
    for f in faces:
        a, b, c = corner[list(f)]
        p = (lattice[:, 2:3] - lattice[:, 1:2]) * a + (lattice[:, 1:2] - lattice[:, 0:1]) * b + lattice[:, 0:1] * c
        p = p / numpy.maximum(numpy.linalg.norm(p, axis=1, keepdims=True), 1e-300) * shell * radius / n
        p[lattice[:, 2] == 0] = 0
        all_tets.append(tets + len(lattice) * len(x))
        x.append(p)
    return merged(numpy.concatenate(x), numpy.concatenate(all_tets))


def merged(x, tets):
    """Equal places become one vertex, and vertices without tetrahedra are dropped."""
    used, tets = numpy.unique(tets, return_inverse=True)
    tets = tets.reshape(-1, 4)
    key = numpy.round(x[used] * 1e9).astype(numpy.int64)
    _, first, same = numpy.unique(key, axis=0, return_index=True, return_inverse=True)
    return upright(x[used][first], same.reshape(-1)[tets])


def grown(inside, low, high, cell):
    """The cells of a grid between low and high whose centres are inside(x, y, z), cut in six each."""
    n = int(round((max(h - l for l, h in zip(low, high))) / cell))
    corner = numpy.array(list(itertools.product(range(n), repeat=3)))
    centre = (corner + 0.5) * cell + low
    keep = inside(*centre.T)
    lattice = numpy.array(list(itertools.product(range(n + 1), repeat=3)))[:, ::-1]
    used, tets = numpy.unique(cells_inside(corner[keep], n), return_inverse=True)
    return upright(lattice[used] * cell + low, tets.reshape(-1, 4))


def near_line(x, y, z, a, b, radius):
    """Within radius of the segment from a to b."""
    a, b, p = numpy.array(a, float), numpy.array(b, float), numpy.stack([x, y, z], axis=1)
    t = numpy.clip((p - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
    return numpy.linalg.norm(p - a - t[:, None] * (b - a), axis=1) <= radius


# ---- distinct contacts ----

def on_triangle(p, t):
    """Which corners of t (N, 3, 3) carry the point nearest to p (N, 3): flags (N, 3)."""
    a, b, c = t[:, 0], t[:, 1], t[:, 2]
    best = numpy.full(len(p), numpy.inf)
    flags = numpy.zeros((len(p), 3), bool)
    n = numpy.cross(b - a, c - a)
    area = numpy.einsum("ij,ij->i", n, n)
    weight = numpy.stack([numpy.einsum("ij,ij->i", numpy.cross(v - u, p - u), n) / area for u, v in ((b, c), (c, a), (a, b))], axis=1)
    within = (weight > 0).all(axis=1)
    flags[within] = True
    best[within] = 0
    for i, j in ((0, 1), (1, 2), (2, 0)):
        u, v = t[:, i], t[:, j]
        s = numpy.clip(numpy.einsum("ij,ij->i", p - u, v - u) / numpy.einsum("ij,ij->i", v - u, v - u), 0, 1)
        d = numpy.linalg.norm(p - u - s[:, None] * (v - u), axis=1)
        nearer = d < best
        best[nearer] = d[nearer]
        flags[nearer] = False
        flags[nearer, i], flags[nearer, j] = s[nearer] < 1, s[nearer] > 0
    return flags


def on_edges(x):
    """Which of the four ends carry the nearest points of edges x (N, 4, 3): flags (N, 4)."""
    u, v, w = x[:, 1] - x[:, 0], x[:, 3] - x[:, 2], x[:, 0] - x[:, 2]
    uu, vv, uv, uw, vw = (numpy.einsum("ij,ij->i", p, q) for p, q in ((u, u), (v, v), (u, v), (u, w), (v, w)))
    det = uu * vv - uv * uv
    s = numpy.clip(numpy.where(det > 1e-20 * uu * vv, (uv * vw - vv * uw) / numpy.maximum(det, 1e-300), 0), 0, 1)
    t = numpy.clip((uv * s + vw) / vv, 0, 1)
    s = numpy.clip((uv * t - uw) / uu, 0, 1)
    return numpy.stack([s < 1, s > 0, t < 1, t > 0], axis=1)


def distinct(frame):
    """How many different sets of vertices carry the nearest points of a frame's contacts: what the literature counts."""
    kind, v, x = frame["contacts_kind"][()], frame["contacts_vertices"][()], frame["position"][()]
    sets = []
    face, edge, other = kind == 0, kind == 1, kind > 1
    if face.any():
        flags = on_triangle(x[v[face, 0]], x[v[face, 1:]])
        sets.append(numpy.concatenate([v[face, :1], numpy.where(flags, v[face, 1:], -1)], axis=1))
        sets[-1][:, 1:].sort(axis=1)
    if edge.any():
        flags = on_edges(x[v[edge]])
        w = numpy.where(flags, v[edge], -1)
        single, double = w[:, :2].min(axis=1) < 0, w[:, 2:].min(axis=1) < 0
        turned = single < double  # a lone vertex comes first, as in a pair of vertex and triangle
        w[turned] = w[turned][:, [2, 3, 0, 1]]
        lone = numpy.minimum(single, True) | double
        first = numpy.where(lone, w[:, :2].max(axis=1), -2)
        row = numpy.where(lone[:, None], numpy.concatenate([first[:, None], -numpy.ones((len(w), 1), int), w[:, 2:]], axis=1), w)
        row[lone, 1:] = numpy.sort(row[lone, 1:], axis=1)
        sets.append(row)
    if other.any():
        sets.append(v[other])
    if not sets:
        return 0
    rows = numpy.concatenate(sets)
    points = (rows >= 0).sum(axis=1) == 2
    rows[points] = numpy.sort(rows[points], axis=1)
    return len(numpy.unique(rows, axis=0))
