/* place.c: computes where a script puts a vertex at a time. */
#include <tactus/scene.h>

#include <string.h>
#include <tactus/math.h>

void tac_motion_place(const struct tac_scene *scene, const struct tac_motion *m, const double origin[3], tac_time t,
                      double x[3])
{
    tac_lid k = 0;
    double share = 0, turn = 0;
    memcpy(x, origin, 3 * sizeof *x);
    if (t < tac_scene_quanta(scene, m->knot_t_s[0]))
        return;
    while (k + 1 < m->knot_count && tac_scene_quanta(scene, m->knot_t_s[k + 1]) <= t)
        k++;
    const tac_lid from = k + 1 == m->knot_count && m->release && k > 0 ? k - 1 : k;
    if (from + 1 < m->knot_count) {
        const tac_time begin = tac_scene_quanta(scene, m->knot_t_s[from]);
        const tac_time end = tac_scene_quanta(scene, m->knot_t_s[from + 1]);
        share = (double)(t - begin) / (double)(end - begin);
    }
    if (m->displacement != NULL) {
        const double *d = &m->displacement[3 * (size_t)from];
        for (int c = 0; c < 3; c++)
            x[c] = origin[c] + (share != 0 ? d[c] + share * (d[3 + c] - d[c]) : d[c]);
        return;
    }
    turn = m->degrees[from] + (share != 0 ? share * (m->degrees[from + 1] - m->degrees[from]) : 0);
    if (turn == 0)
        return;
    double vector[3], matrix[9], r[3];
    for (int c = 0; c < 3; c++)
        vector[c] = turn * (TAC_PI / 180) * m->axis[c];
    tac_rotation(vector, matrix);
    tac_sub(r, origin, m->center);
    for (int c = 0; c < 3; c++)
        x[c] = m->center[c] + tac_dot(&matrix[3 * c], r);
}
