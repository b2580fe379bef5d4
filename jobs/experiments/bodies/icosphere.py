"""icosphere.py: the unit sphere of triangles that scenes of rigid bodies share. It is no program."""
import numpy


def icosphere(level):
    """Vertices and triangles, facing outwards, of an icosahedron whose faces are cut in four, level times."""
    golden = (1 + 5 ** .5) / 2
    x = [numpy.array(c[-k:] + c[:-k]) for k in range(3) for c in [(a, b * golden, 0.) for a in (-1., 1.) for b in (-1., 1.)]]
    faces = [[i, j, k] for i in range(12) for j in range(i + 1, 12) for k in range(j + 1, 12)
             if all(abs(((x[p] - x[q]) ** 2).sum() - 4) < 1e-9 for p, q in ((i, j), (j, k), (i, k)))]
    faces = [f if numpy.dot(numpy.cross(x[f[1]] - x[f[0]], x[f[2]] - x[f[0]]), x[f[0]]) > 0 else f[::-1] for f in faces]
    for _ in range(level):
        middles, finer = {}, []
        for f in faces:
            m = []
            for p, q in ((f[0], f[1]), (f[1], f[2]), (f[2], f[0])):
                key = (min(p, q), max(p, q))
                if key not in middles:
                    middles[key] = len(x)
                    x.append(x[p] + x[q])
                m.append(middles[key])
            finer += [[f[0], m[0], m[2]], [f[1], m[1], m[0]], [f[2], m[2], m[1]], m]
        x = [p / numpy.linalg.norm(p) for p in x]
        faces = finer
    return numpy.array([p / numpy.linalg.norm(p) for p in x]), faces
