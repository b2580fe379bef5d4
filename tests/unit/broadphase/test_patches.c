/* test_patches.c: patches against all their pairs. A sheet is laid along shapes that bend, fold, squeeze and shake it,
 * and that change while the list lives: where a patch says that none of its pairs can touch, each of them must stay
 * over its first layer, whatever its vertices do within their trajectory bounds. A flat sheet's patches must say so
 * everywhere, and those of a bent one of the pairs that have room, though others have none. If it failed, contacts
 * within a cloth would be missed, or every list would go past all neighbours. */
#include "broadphase/patches.h"
#include "geometry/closest_points.h"
#include "unit/events/support.h"

#include <math.h>

enum { SAMPLES = 3 };

static struct {
    int held, asked; /* pairs of primitives of blocks that are beside each other */
    double closest;  /* least that was left between a pair that was left out and its first layer, in skins */
} count;

static double shake(tac_lid v, int axis, double size)
{
    return size * (2 * ((double)(tac_hash64((uint64_t)v, (uint64_t)axis) >> 11) * 0x1p-53) - 1);
}

/* Where the point x of the sheet is in a shape, m; `size` says how far it has gone. */
static void lay(int shape, double size, const double x[3], tac_lid v, double q[3])
{
    const double r = .1 / (size + 1e-9);
    memcpy(q, x, 3 * sizeof *q);
    switch (shape) {
    case 0: /* a roll */
        q[0] = r * sin(x[0] / r);
        q[1] += r * (1 - cos(x[0] / r));
        break;
    case 1: /* squeezed along the diagonal */
        for (int k = 0; k < 3; k += 2)
            q[k] -= .25 * size * (x[0] + x[2]);
        break;
    case 2: /* folded in two */
        if (x[0] > .013) {
            q[0] = .013 + cos(3 * size) * (x[0] - .013);
            q[1] += sin(3 * size) * (x[0] - .013);
        }
        break;
    case 3: /* shaken */
        for (int k = 0; k < 3; k++)
            q[k] += shake(v, k, .02 * size);
        break;
    default: /* waves across, as it turns */
        q[1] += .02 * size * sin(60 * x[2]);
        q[0] = cos(size) * x[0] - sin(size) * x[2];
        q[2] = sin(size) * x[0] + cos(size) * x[2];
    }
}

/* Is every pair of features of two primitives over its first layer, whatever the vertices do within their bounds? */
static void look(const struct tac_sim *sim, enum tac_pair_type type, const tac_lid *v)
{
    const struct tac_candidates *c = sim->view.candidates;
    struct tac_form form;
    if (!tac_model_is_pair(sim->model, type, v))
        return;
    tac_model_form(sim->model, type, v, &form);
    for (int sample = 0; sample <= SAMPLES; sample++) {
        const double t = c->from_s + (c->span_s - c->from_s) * sample / SAMPLES;
        struct tac_near near;
        double x[4][3], radius[2] = {0, 0};
        for (int i = 0; i < 4; i++) {
            const struct tac_path_bound *bound = &c->path_bound[v[i]];
            double *r = &radius[i >= tac_pair_first(type)];
            *r = fmax(*r, bound->radius);
            for (int k = 0; k < 3; k++)
                x[i][k] = bound->x[k] + t * bound->v[k];
        }
        tac_near_pair(type, x, &near);
        const double left = near.d - radius[0] - radius[1] - tac_model_reach(sim->model, &form, 1);
        count.closest = fmin(count.closest, left / c->skin);
        CHECK(left > 0, "vertices %d %d %d %d may come %g m under their first layer in a patch that holds", (int)v[0],
              (int)v[1], (int)v[2], (int)v[3], -left);
    }
}

static void look_at_primitives(const struct tac_sim *sim, const struct tac_primitive *p, const struct tac_primitive *q)
{
    for (int k = 0; k < 3; k++) {
        if (p->vertices >> k & 1)
            look(sim, TAC_PAIR_VERTEX_TRIANGLE, (tac_lid[]){p->v[k], q->v[0], q->v[1], q->v[2]});
        if (q->vertices >> k & 1)
            look(sim, TAC_PAIR_VERTEX_TRIANGLE, (tac_lid[]){q->v[k], p->v[0], p->v[1], p->v[2]});
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if ((p->edges >> i & 1) && (q->edges >> j & 1))
                look(sim, TAC_PAIR_EDGE_EDGE,
                     (tac_lid[]){p->v[(i + 1) % 3], p->v[(i + 2) % 3], q->v[(j + 1) % 3], q->v[(j + 2) % 3]});
}

static bool share_vertex(const struct tac_primitive *p, const struct tac_primitive *q)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (p->v[i] == q->v[j])
                return true;
    return false;
}

static void pairs(const struct tac_sim *sim)
{
    struct tac_candidates *c = sim->view.candidates;
    int64_t cost = 0;
    count.held = count.asked = 0;
    count.closest = INFINITY;
    tac_patches_ask(c->patches[0]);
    for (int32_t i = 0; i < c->primitive_begin[1]; i++)
        for (int32_t j = i + 1; j < c->primitive_begin[1]; j++) {
            const bool neighbours = share_vertex(&c->primitive[i], &c->primitive[j]);
            const bool held = tac_patches_hold(c, sim->scene->mesh->x, c->patches[0], c->patches[0]->of[i],
                                               c->patches[0]->of[j], &cost);
            count.asked += neighbours;
            count.held += neighbours && held;
            if (held)
                look_at_primitives(sim, &c->primitive[i], &c->primitive[j]);
        }
    CHECK(cost > 0, "asking costs something");
}

static bool holds_all(const struct tac_patches *patches, const struct tac_patch *patch, const struct tac_primitive *p)
{
    int found = 0;
    for (int k = 0; k < 3; k++)
        for (int32_t i = 0; i < patch->vertex_count; i++)
            found += patches->vertex[patch->vertex + i] == p->v[k];
    return found == 3;
}

/* A patch knows every vertex of the pairs that it speaks for: of its own block, and of those near it. */
static void look_at_lists(const struct tac_candidates *c)
{
    const struct tac_patches *patches = c->patches[0];
    for (int32_t k = 0; k < patches->count; k++) {
        const struct tac_patch *patch = &patches->patch[k];
        for (int32_t p = 0; p < c->primitive_begin[1] && patch->near_count > 0; p++) {
            bool near = patches->of[p] == k;
            for (int32_t i = 0; i < patch->near_count; i++)
                near |= patches->of[p] == patches->near[patch->near + i];
            CHECK(!near || holds_all(patches, patch, &c->primitive[p]), "patch %d lacks a vertex of primitive %d",
                  (int)k, (int)p);
        }
    }
}

/* The sheet goes from a shape of one size to that of another while the list lives. */
static void shape(const struct tac_sim *sim, int kind, double from, double to, double skins)
{
    struct tac_candidates *c = sim->view.candidates;
    c->from_s = .25;
    c->span_s = 1;
    c->extent = 1;
    for (tac_lid v = 0; v < sim->scene->mesh->vertex_count; v++) {
        struct tac_path_bound *bound = &c->path_bound[v];
        const double *x = &sim->scene->mesh->x[3 * (size_t)v];
        double q[2][3];
        lay(kind, from, x, v, q[0]);
        lay(kind, to, x, v, q[1]);
        for (int k = 0; k < 3; k++) {
            bound->x[k] = q[0][k];
            bound->v[k] = q[1][k] - q[0][k];
        }
        /* A few vertices tremble. */
        bound->radius = skins * c->skin * (kind > 0 && shake(v, 3, 1) > .95 ? 8 : 1);
    }
    pairs(sim);
}

static void sheet(const char *mesh, double thickness, double least_flat, double least_held, double least_closest)
{
    static const double size[] = {0, .1, .3, .5, .8, 1};
    struct settings s = {.count = 0};
    struct experiment e;
    int held = 0, asked = 0;
    double closest = INFINITY;
    set(&s, "contact.thickness=%g", thickness);
    set(&s, "bodies.cloth.mesh=%s", mesh);
    begin(&e, "tests/system/equality/scenes/cloth-over-sphere.json", &s);
    CHECK(e.sim->view.candidates->patches[0] != NULL && e.sim->view.candidates->patches[1] == NULL,
          "a cloth has patches, a still ball has none");
    look_at_lists(e.sim->view.candidates);
    shape(e.sim, 0, 0, 0, 1);
    CHECK(count.held > least_flat * count.asked, "%d of %d neighbours in a flat sheet are left out", count.held,
          count.asked);
    for (int kind = 0; kind < 5; kind++)
        for (int k = 0; k + 1 < (int)(sizeof size / sizeof *size); k++)
            for (int skins = 0; skins < 2; skins++) {
                shape(e.sim, kind, size[k], size[k + 1], skins);
                held += count.held;
                asked += count.asked;
                closest = fmin(closest, count.closest);
            }
    printf("thickness %g m: %d of %d pairs of neighbours were left out, none with less than %.2f skins left\n",
           thickness, held, asked, closest);
    CHECK(held > least_held * asked && held < asked, "%d of %d held; some shapes must hold, and others must fail", held,
          asked);
    CHECK(closest < least_closest, "a bound so wide would hide an error");
    end(&e);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    sheet("{\"kind\":\"grid\",\"size\":[0.16,0.08],\"cells\":[16,8]}", .002, .95, .65, 1.3);
    sheet("{\"kind\":\"grid\",\"size\":[0.16,0.08],\"cells\":[16,8]}", .02, .95, .55, 1.6);
    sheet("{\"kind\":\"ribbon\",\"width\":0.06,\"cells\":[16,6],\"curve\":[[-0.08,0,0],[-0.04,0.01,0],[0.04,0.01,0],"
          "[0.08,0,0]]}",
          .02, .95, .5, .6);
    /* A turn in the plane: blocks at its inner edge are too small for patches of their own. */
    sheet("{\"kind\":\"ribbon\",\"width\":0.03,\"cells\":[24,6],\"up\":[0,1,0],\"curve\":[[-0.08,0,0],[0,0,0],[0.02,0,"
          "0.01],"
          "[0.025,0,0.08]]}",
          .02, .6, .57, .8);
    MPI_Finalize();
    return check_result();
}
