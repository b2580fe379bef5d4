/* rigid_terms.c: what the nodes of rigid bodies add to the potential, its derivatives and the balance of forces. */
#include "implicit/parts.h"
#include "implicit/rigid/rigid_nodes.h"
#include <math.h>

enum { SIZE = TAC_RIGID_SIZE };

/* ---- the bound ---- */

double tac_rigid_reach(const struct tac_implicit *sim, double keep)
{
    const struct tac_implicit_rigid *r = &sim->rigid;
    double least = 1;
    for (size_t n = 0; n < r->own_count; n++) {
        const size_t at = SIZE * (size_t)r->own[n];
        double x[4][3], p[4][3];
        for (int i = 0; i < 4; i++) { /* the nodes in an order in which their tetrahedron has a positive volume */
            const size_t from = at + 3 * (size_t)(i < 2 ? i : 5 - i);
            memcpy(x[i], &r->x[from], sizeof x[i]);
            memcpy(p[i], &r->p[from], sizeof p[i]);
        }
        least = fmin(least, tac_implicit_keep_volume((const double(*)[3])x, (const double(*)[3])p, keep));
    }
    return least;
}

double tac_rigid_ahead(const struct tac_implicit *sim)
{
    const struct tac_implicit_rigid *r = &sim->rigid;
    double most = 0;
    for (size_t n = 0; n < r->own_count; n++)
        for (size_t c = SIZE * (size_t)r->own[n]; c < SIZE * ((size_t)r->own[n] + 1); c++)
            most = fmax(most, fabs(r->ahead[c] - r->x0[c]));
    return most;
}

/* ---- the gradient ---- */

void tac_rigid_clear(struct tac_implicit_rigid *r)
{
    if (r->count == 0)
        return;
    memset(r->gradient, 0, SIZE * r->count * sizeof *r->gradient);
    memset(r->gross, 0, TAC_RIGID_NODES * r->count * sizeof *r->gross);
}

void tac_rigid_add_inertia(struct tac_implicit *sim)
{
    struct tac_implicit_rigid *r = &sim->rigid;
    for (size_t n = 0; n < r->own_count; n++)
        for (size_t c = SIZE * (size_t)r->own[n]; c < SIZE * ((size_t)r->own[n] + 1); c++)
            r->gradient[c] += r->piece[r->own[n]].inertia * (r->x[c] - r->ahead[c]);
}

void tac_rigid_add_shape(struct tac_implicit *sim)
{
    struct tac_implicit_rigid *r = &sim->rigid;
    for (size_t n = 0; n < r->own_count; n++) {
        const size_t k = (size_t)r->own[n];
        double x[4][3], g[4][3];
        memcpy(x, &r->x[SIZE * k], sizeof x);
        tac_element_neo_hookean_whole.push(&r->piece[k].shape, NULL, -sim->weight, (const double(*)[3])x, g);
        for (size_t i = 0; i < 4; i++) {
            r->gross[4 * k + i] += sqrt(tac_dot(g[i], g[i]));
            for (size_t c = 0; c < 3; c++)
                r->gradient[SIZE * k + 3 * i + c] += g[i][c];
        }
    }
}

void tac_rigid_keep_part(struct tac_implicit_rigid *r, int part)
{
    if (r->count == 0)
        return;
    memcpy(r->part[part], r->gradient, SIZE * r->count * sizeof *r->gradient);
    memset(r->gradient, 0, SIZE * r->count * sizeof *r->gradient);
}

void tac_rigid_gather(struct tac_implicit *sim)
{
    struct tac_implicit_rigid *r = &sim->rigid;
    for (size_t n = 0; n < r->own_count; n++) {
        const int32_t k = r->own[n];
        double *g = &r->part[TAC_PART_CONTACT][SIZE * (size_t)k];
        for (tac_lid v = r->piece[k].first; v < r->piece[k].end; v++) {
            const double *f = &sim->newton.part[TAC_PART_CONTACT][3 * (size_t)v];
            double w[TAC_RIGID_NODES];
            tac_rigid_weights(sim, k, v, w);
            for (int i = 0; i < TAC_RIGID_NODES; i++)
                for (int c = 0; c < 3; c++)
                    g[3 * i + c] += w[i] * f[c];
            memset(&sim->newton.gradient[3 * (size_t)v], 0, 3 * sizeof *f);
        }
        for (size_t c = SIZE * (size_t)k; c < SIZE * ((size_t)k + 1); c++)
            r->gradient[c] =
                r->part[TAC_PART_INERTIA][c] + r->part[TAC_PART_ELEMENTS][c] + r->part[TAC_PART_CONTACT][c];
    }
}

double tac_rigid_rounding(const struct tac_implicit *sim, int32_t k, int i)
{
    const struct tac_implicit_rigid *r = &sim->rigid;
    const size_t node = TAC_RIGID_NODES * (size_t)k + (size_t)i;
    double sum = 0;
    for (size_t c = 3 * node; c < 3 * node + 3; c++)
        sum += fabs(r->x[c]) * (fabs(r->part[TAC_PART_INERTIA][c]) + r->gross[node]);
    return 0x1p-53 * sum;
}

/* ---- the static scheme ---- */

void tac_rigid_static(struct tac_implicit *sim, double share)
{
    struct tac_implicit_rigid *r = &sim->rigid;
    for (size_t n = 0; n < r->own_count; n++) {
        struct tac_implicit_piece *p = &r->piece[r->own[n]];
        double x[4][3], dense[144], trace = 0;
        memcpy(x, &r->x[SIZE * (size_t)r->own[n]], sizeof x);
        tac_element_hessian(&tac_element_neo_hookean_whole, &p->shape, NULL, (const double(*)[3])x, dense);
        for (int i = 0; i < SIZE; i++)
            trace += dense[(SIZE + 1) * i];
        p->inertia = share * (sim->scale.h * sim->scale.h * (trace / SIZE));
    }
}
