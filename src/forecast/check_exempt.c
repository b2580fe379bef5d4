/* check_exempt.c: the part of `tactus check` about pairs of bodies that nothing keeps apart; it finds where scripts
 * take them through each other. */
#include "base/compare.h"
#include "state/scripts.h"
#include <tactus/check.h>
#include <tactus/exempt.h>

#include <stdlib.h>
#include <string.h>

enum { MOST_INSTANTS = 256 };
#define MOST_ELEMENTS 4e7 /* times instants: some seconds */

/* Knots of the scripts, and instants between the first and the last of them: ascending; returns how many. */
static int choose_instants(const struct tac_scene *scene, tac_time t[MOST_INSTANTS])
{
    const struct tac_settings *s = scene->settings;
    const double elements = 1.0 + scene->mesh->triangle_count + scene->mesh->segment_count;
    const double room = MOST_ELEMENTS / elements;
    const int most = room < 8 ? 8 : room > MOST_INSTANTS ? MOST_INSTANTS : (int)room;
    tac_time first = s->t_end, last = 0;
    int count = 0;
    for (tac_lid m = 0; m < s->motion_count; m++)
        for (tac_lid k = 0; k < s->motion[m].knot_count; k++) {
            const tac_time knot = tac_scene_quanta(scene, s->motion[m].knot_t_s[k]);
            const tac_time at = knot < s->t_end ? knot : s->t_end;
            first = at < first ? at : first;
            last = at > last ? at : last;
            if (count < most / 2)
                t[count++] = at;
        }
    const int between = most - count;
    for (int i = 0; i < between && last >= first; i++)
        t[count++] = first + (last - first) / (between > 1 ? between - 1 : 1) * i;
    qsort(t, (size_t)count, sizeof *t, tac_compare_int64);
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (kept == 0 || t[i] > t[kept - 1])
            t[kept++] = t[i];
    return kept;
}

/* Computes the positions at t of vertices that are scripted for ever; x0: at the start. */
static enum tac_err put_places(const struct tac_scene *scene, const uint8_t *scripted, struct tac_knot_rows **rows,
                               const double *x0, tac_time t, double *x)
{
    for (tac_lid m = 0; m < scene->mesh->moved_count; m++) {
        const struct tac_motion *motion = &scene->settings->motion[m];
        const struct tac_motion_at at = tac_motion_find(scene, motion, t);
        for (tac_lid i = 0; i < scene->mesh->moved[m].vertex_count; i++) {
            const size_t v = (size_t)scene->mesh->moved[m].vertex[i];
            if (scripted[v] && rows[m] != NULL)
                tac_motion_place_row(rows[m], &at, (size_t)i, &x0[3 * v], &x[3 * v]);
            else if (scripted[v])
                tac_motion_place(scene, motion, &x0[3 * v], t, &x[3 * v]);
        }
    }
    return tac_motion_rows_error(scene, rows);
}

static enum tac_err examine_instants(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_exempt *exempt)
{
    enum tac_err err = TAC_OK;
    struct tac_local_mesh mesh = *scene->mesh;
    struct tac_scene there = *scene;
    struct tac_knot_rows **rows = NULL;
    tac_time t[MOST_INSTANTS];
    const size_t n = 3 * (size_t)mesh.vertex_count;
    const int count = choose_instants(scene, t);
    there.mesh = &mesh;
    TAC_TRY(tac_motion_rows_make(ctx, scene, 0, &rows));
    TAC_TRY(tac_alloc(ctx, n, sizeof *mesh.x, &mesh.x));
    memcpy(mesh.x, scene->mesh->x, n * sizeof *mesh.x);
    for (int i = 0; i < count; i++) {
        TAC_TRY(put_places(scene, exempt->scripted, rows, scene->mesh->x, t[i], mesh.x));
        TAC_TRY(tac_exempt_look(ctx, &there, (double)t[i] * scene->settings->quantum_s, exempt));
    }
done:
    tac_motion_rows_destroy(scene, &rows);
    free(mesh.x == scene->mesh->x ? NULL : mesh.x);
    return err;
}

enum tac_err tac_check_exempt(struct tac_ctx *ctx, const struct tac_scene *scene, json_t *report, FILE *text)
{
    enum tac_err err = TAC_OK;
    struct tac_exempt *exempt = NULL;
    char words[320];
    TAC_TRY(tac_exempt_create(ctx, scene, &exempt));
    if (tac_exempt_any(exempt))
        TAC_TRY(examine_instants(ctx, scene, exempt));
    for (size_t i = 0; i < exempt->count; i++)
        if (exempt->pair[i].crossing > 0) {
            tac_exempt_describe(scene, &exempt->pair[i], "\"", words, sizeof words);
            tac_warn(ctx,
                     "%s: scripts move them through each other, or they overlap from the start; none of their vertices "
                     "is ever free, so neither can yield",
                     words);
        }
    if (text)
        tac_exempt_print(text, "exempt     ", scene, exempt, "\"");
    if (json_object_set_new(report, "exempt", tac_exempt_json(scene, exempt)) != 0)
        TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "out of memory while describing the scene"));
done:
    tac_exempt_destroy(&exempt);
    return err;
}
