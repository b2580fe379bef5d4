/* plain.h: the plain synchronous leapfrog loop that the engine is compared with (bench_engine, bench_instructions).
 *
 * It computes the elastic forces of a simulation's own elements by the same kernels, one element at a time, all at one
 * period, as in any explicit code without contact; no book of works. Local; reads sim->elastic, and moves sim's
 * vertices behind its back, so that the simulation can be used for nothing else afterwards.
 *
 *     tac_sim_create(&ctx, scene, mode, &plain);
 *     leapfrog(plain, 20, tac_state_seconds(&plain->state, shortest(plain)));
 */
#ifndef TACTUS_TESTS_BENCH_PLAIN_H
#define TACTUS_TESTS_BENCH_PLAIN_H
#include "elements/kernels.h"
#include "events/sim.h"

static inline void gather(const struct tac_pos *pos, const tac_lid *v, int n, double x[][3])
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            x[i][k] = pos[v[i]].x[k];
}

static inline void scatter(const struct tac_pos *pos, struct tac_vel *vel, const tac_lid *v, int n, double j[][3])
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            vel[v[i]].v[k] += vel[v[i]].w * j[i][k];
}

/* The plain loop: everything at one period, as in any explicit code. */
static void leapfrog(struct tac_sim *sim, int steps, double h)
{
    const tac_lid n = sim->scene->mesh->vertex_count;
    struct tac_pos *restrict pos = sim->state.pos;
    struct tac_vel *restrict vel = sim->state.vel;
    const double *g = sim->scene->settings->gravity;
    for (int step = 0; step < steps; step++) {
        for (tac_lid i = 0; i < n; i++)
            for (int k = 0; k < 3; k++)
                pos[i].x[k] += h * vel[i].v[k];
        for (tac_lid i = 0; i < n; i++)
            for (int k = 0; k < 3; k++)
                vel[i].v[k] += vel[i].w != 0 ? h * g[k] : 0;
        for (size_t c = 0; c < sim->elastic->class_count; c++) {
            const struct tac_rate_class *r = &sim->elastic->rate[c];
            for (size_t e = 0; e < tac_class_count(r, TAC_KIND_SPRING); e++) {
                const struct tac_spring *s =
                    tac_forces_record(&r->group[tac_element_of_kind(TAC_KIND_SPRING)].elastic, e);
                double x[2][3], j[2][3];
                gather(pos, s->v, 2, x);
                tac_one_spring(s->length, h * s->stiffness, x, j[0]);
                for (int k = 0; k < 3; k++)
                    j[1][k] = -j[0][k];
                scatter(pos, vel, s->v, 2, j);
            }
            for (size_t e = 0; e < tac_class_count(r, TAC_KIND_CST); e++) {
                const struct tac_cst *t = tac_forces_record(&r->group[tac_element_of_kind(TAC_KIND_CST)].elastic, e);
                double x[3][3], j[3][3];
                gather(pos, t->v, 3, x);
                tac_one_cst(t->b00, t->b01, t->b11, h * t->a, h * t->b, x, j);
                scatter(pos, vel, t->v, 3, j);
            }
            for (size_t e = 0; e < tac_class_count(r, TAC_KIND_HINGE); e++) {
                const struct tac_hinge *b =
                    tac_forces_record(&r->group[tac_element_of_kind(TAC_KIND_HINGE)].elastic, e);
                double x[4][3], j[4][3];
                gather(pos, b->v, 4, x);
                tac_one_hinge(b->angle, 2 * h * b->stiffness, x, j);
                scatter(pos, vel, b->v, 4, j);
            }
        }
    }
}

/* Most frequent (smallest) period of the elastic forces: the plain loop's step. */
static tac_time shortest(const struct tac_sim *sim)
{
    return sim->elastic->rate[0].period;
}

#endif
