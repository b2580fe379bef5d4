#include "forces/kernels.h"
#include <stdlib.h>
#include <string.h>

/* Kick one vertex by an impulse and return the kick's work: J . (v before + v after) / 2. */
static inline double kick(struct tac_vel *restrict vel, double w, const double *restrict j, bool book)
{
    double work = 0;
    if (book)
        work = j[0] * vel->v[0] + j[1] * vel->v[1] + j[2] * vel->v[2] +
               .5 * w * (j[0] * j[0] + j[1] * j[1] + j[2] * j[2]);
    vel->v[0] += w * j[0];
    vel->v[1] += w * j[1];
    vel->v[2] += w * j[2];
    return work;
}

static inline void enter(struct tac_book *book, double work)
{
    book->work += work;
    book->absolute += fabs(work);
}

static inline void tick_springs(const struct tac_rate_class *rate, const struct tac_pos *restrict pos,
                                struct tac_vel *restrict vel, struct tac_book *book, bool with_book)
{
    struct tac_book sum = {0, 0};
    const double h = rate->h_s;
    for (size_t i = 0; i < rate->count[TAC_KIND_SPRING]; i++) {
        const struct tac_spring *s = &rate->spring[i];
        const struct tac_pos *a = &pos[s->v[0]], *b = &pos[s->v[1]];
        double j[3];
        tac_spring_impulse(s, h, a->x, b->x, j);
        double work = kick(&vel[s->v[0]], a->w, j, with_book);
        j[0] = -j[0];
        j[1] = -j[1];
        j[2] = -j[2];
        work += kick(&vel[s->v[1]], b->w, j, with_book);
        if (with_book)
            enter(&sum, work);
    }
    if (with_book) {
        book->work += sum.work;
        book->absolute += sum.absolute;
    }
}

static inline void tick_csts(const struct tac_rate_class *rate, const struct tac_pos *restrict pos,
                             struct tac_vel *restrict vel, struct tac_book *book, bool with_book)
{
    struct tac_book sum = {0, 0};
    const double h = rate->h_s;
    for (size_t i = 0; i < rate->count[TAC_KIND_CST]; i++) {
        const struct tac_cst *c = &rate->cst[i];
        const struct tac_pos *p0 = &pos[c->v[0]], *p1 = &pos[c->v[1]], *p2 = &pos[c->v[2]];
        double j0[3], j1[3], j2[3];
        tac_cst_impulse(c, h, p0->x, p1->x, p2->x, j1, j2);
        for (int k = 0; k < 3; k++)
            j0[k] = -(j1[k] + j2[k]);
        double work = kick(&vel[c->v[0]], p0->w, j0, with_book);
        work += kick(&vel[c->v[1]], p1->w, j1, with_book);
        work += kick(&vel[c->v[2]], p2->w, j2, with_book);
        if (with_book)
            enter(&sum, work);
    }
    if (with_book) {
        book->work += sum.work;
        book->absolute += sum.absolute;
    }
}

static inline void tick_hinges(const struct tac_rate_class *rate, const struct tac_pos *restrict pos,
                               struct tac_vel *restrict vel, struct tac_book *book, bool with_book)
{
    struct tac_book sum = {0, 0};
    const double h = rate->h_s;
    for (size_t i = 0; i < rate->count[TAC_KIND_HINGE]; i++) {
        const struct tac_hinge *g = &rate->hinge[i];
        double j[4][3], work = 0;
        tac_hinge_impulse(g, h, pos[g->v[0]].x, pos[g->v[1]].x, pos[g->v[2]].x, pos[g->v[3]].x, j);
        for (int k = 0; k < 4; k++)
            work += kick(&vel[g->v[k]], pos[g->v[k]].w, j[k], with_book);
        if (with_book)
            enter(&sum, work);
    }
    if (with_book) {
        book->work += sum.work;
        book->absolute += sum.absolute;
    }
}

void tac_elastic_tick(const struct tac_rate_class *rate, enum tac_kind kind, const struct tac_pos *pos,
                      struct tac_vel *vel, struct tac_book *book)
{
    if (kind == TAC_KIND_SPRING) {
        if (book)
            tick_springs(rate, pos, vel, book, true);
        else
            tick_springs(rate, pos, vel, book, false);
    } else if (kind == TAC_KIND_CST) {
        if (book)
            tick_csts(rate, pos, vel, book, true);
        else
            tick_csts(rate, pos, vel, book, false);
    } else if (kind == TAC_KIND_HINGE) {
        if (book)
            tick_hinges(rate, pos, vel, book, true);
        else
            tick_hinges(rate, pos, vel, book, false);
    }
}

const tac_lid *tac_elastic_stencil(const struct tac_rate_class *rate, enum tac_kind kind, size_t e, int *count)
{
    switch (kind) {
    case TAC_KIND_SPRING:
        *count = 2;
        return rate->spring[e].v;
    case TAC_KIND_CST:
        *count = 3;
        return rate->cst[e].v;
    case TAC_KIND_HINGE:
        *count = 4;
        return rate->hinge[e].v;
    default:
        *count = 0;
        return NULL;
    }
}

void tac_elastic_impulse(const struct tac_rate_class *rate, enum tac_kind kind, size_t e, const double x[4][3],
                         double impulse[4][3])
{
    memset(impulse, 0, 12 * sizeof(double));
    if (kind == TAC_KIND_SPRING) {
        tac_spring_impulse(&rate->spring[e], rate->h_s, x[0], x[1], impulse[0]);
        for (int k = 0; k < 3; k++)
            impulse[1][k] = -impulse[0][k];
    } else if (kind == TAC_KIND_CST) {
        tac_cst_impulse(&rate->cst[e], rate->h_s, x[0], x[1], x[2], impulse[1], impulse[2]);
        for (int k = 0; k < 3; k++)
            impulse[0][k] = -(impulse[1][k] + impulse[2][k]);
    } else if (kind == TAC_KIND_HINGE) {
        tac_hinge_impulse(&rate->hinge[e], rate->h_s, x[0], x[1], x[2], x[3], impulse);
    }
}

double tac_elastic_potential(const struct tac_rate_class *rate, enum tac_kind kind, size_t e, const double x[4][3])
{
    switch (kind) {
    case TAC_KIND_SPRING:
        return tac_spring_potential(&rate->spring[e], x[0], x[1]);
    case TAC_KIND_CST:
        return tac_cst_potential(&rate->cst[e], x[0], x[1], x[2]);
    case TAC_KIND_HINGE:
        return tac_hinge_potential(&rate->hinge[e], x[0], x[1], x[2], x[3]);
    default:
        return 0;
    }
}

void tac_elastic_destroy(struct tac_elastic **elastic)
{
    if (*elastic == NULL)
        return;
    for (size_t i = 0; i < (*elastic)->class_count; i++) {
        struct tac_rate_class *rate = &(*elastic)->rate[i];
        free(rate->spring);
        free(rate->cst);
        free(rate->hinge);
        free(rate->vertex);
        for (int k = 0; k < TAC_KINDS; k++)
            free(rate->held[k]);
    }
    free((*elastic)->rate);
    free((*elastic)->omega);
    free(*elastic);
    *elastic = NULL;
}
