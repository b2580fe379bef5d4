/* Islands with bodies that turn are solved by all ranks together where TACTUS_TEST_GIANT says so, with the bits of one
 * rank; also those that an interior point helps to solve. Without ranks that share it, a problem of all ranks would go
 * to none of them. */
#include "check.h"
#include "impact/operator.h"
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { BOXES = 24, POINTS = 4, BODIES = 2 * BOXES, ROWS = BOXES * POINTS };

/* Box k stands with its corners on the one below, or on the floor. */
static void make_row(struct tac_impact_row *row, int k, int corner)
{
    const double gyration = sqrt(1. / 6), x = corner % 2 == 0 ? -.5 : .5, z = corner / 2 == 0 ? -.5 : .5;
    *row = (struct tac_impact_row){.body = {2 * k, k > 0 ? 2 * k - 2 : -1},
                                   .turn = {2 * k + 1, k > 0 ? 2 * k - 1 : 0},
                                   .inverse = {1, k > 0},
                                   .n = {0, 1, 0},
                                   .restitution = .5,
                                   .friction = .4};
    for (int side = 0; side < (k > 0 ? 2 : 1); side++)
        for (int a = 0; a < 3; a++) {
            const double axis[3] = {a == 0, a == 1, a == 2}, r[3] = {x, side == 0 ? -.5 : .5, z};
            tac_cross(row->arm[side][a], axis, r);
            for (int c = 0; c < 3; c++)
                row->arm[side][a][c] /= gyration;
        }
    tac_row_aim(row);
}

/* Impact and support of a tower that falls and leans; sets its velocities. large: an interior point helps in problems
 * of more columns. */
static void work(struct tac_ctx *ctx, double *v, size_t large, size_t *columns, bool *deep)
{
    static struct tac_impact_row row[ROWS];
    struct tac_instant in = {
        .ctx = ctx, .dealt = true, .large = large, .bodies = BODIES, .v = v, .rows = ROWS, .row = row};
    in.rule =
        (struct tac_impact_settings){.kind = TAC_IMPACT_REFLECTIONS, .tolerance = 1e-10, .passes = 4, .most = 1000};
    for (int k = 0; k < BOXES; k++)
        for (int corner = 0; corner < POINTS; corner++)
            make_row(&row[POINTS * k + corner], k, corner);
    for (int c = 0; c < 3 * BODIES; c++)
        v[c] = ((c * 37) % 101 - 50) / 100. - (c % 6 == 1);
    in.fastest = 2;
    CHECK(tac_instant_islands(&in) == TAC_OK && tac_instant_strike(&in) == TAC_OK && tac_instant_rub(&in) == TAC_OK &&
              tac_instant_support(&in, false) == TAC_OK,
          "%s", ctx->error);
    CHECK(in.unsolved == 0, "unsolved: %d", (int)in.unsolved);
    CHECK((in.interior.factors > 0) == (large == 5), "more than %zu columns: %d factors", large,
          (int)in.interior.factors);
    *columns = in.deal.share.columns;
    *deep = in.deal.share.deep;
    tac_instant_free(&in);
}

int main(int argc, char **argv)
{
    struct tac_ctx alone, all;
    double one[3 * BODIES], together[3 * BODIES];
    size_t columns;
    bool deep;
    MPI_Init(&argc, &argv);
    setenv("TACTUS_TEST_GIANT", "5", 1);
    tac_ctx_init(&alone, MPI_COMM_SELF);
    tac_ctx_init(&all, MPI_COMM_WORLD);
    for (size_t large = 5; large <= 500; large += 495) {
        work(&alone, one, large, &columns, &deep);
        CHECK(columns == 0, "one rank solves %zu columns in parts", columns);
        work(&all, together, large, &columns, &deep);
        if (all.size > 1)
            CHECK(columns > 0 && deep, "%d ranks: %zu columns of a share, which turn: %d", all.size, columns, deep);
        CHECK(memcmp(one, together, sizeof one) == 0, "other bits on %d ranks", all.size);
    }
    MPI_Finalize();
    return check_result();
}
