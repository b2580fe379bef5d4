/* coarse.c: rigid modes of subdomains, and the coarse part of the preconditioner. */
#include "solve/coarse.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A mode that is longer than others only by this part of its length (squared) depends on them; likewise a subdomain
 * that is that small against its distance from the origin is a point. */
static const double DEPENDENT = 1e-8, POINT = 1e-24;

int tac_coarse_basis(const double gram[TAC_MODES][TAC_MODES], double far2, double basis[TAC_MODES][TAC_MODES])
{
    double factor[TAC_MODES][TAC_MODES] = {{0}}, spread = 0, weight = 0;
    int dropped = 0;
    bool kept[TAC_MODES];
    for (int k = 0; k < 3; k++) {
        weight = gram[k][k] > weight ? gram[k][k] : weight;
        spread = gram[k + 3][k + 3] > spread ? gram[k + 3][k + 3] : spread;
    }
    memset(basis, 0, sizeof(double) * TAC_MODES * TAC_MODES);
    /* Cholesky of the Gram matrix, mode by mode: gram = factor factor^T, and the basis is its inverse transposed. */
    for (int j = 0; j < TAC_MODES; j++) {
        double pivot = gram[j][j];
        for (int k = 0; k < j; k++)
            pivot -= factor[j][k] * factor[j][k];
        const double scale = j < 3 ? weight : spread;
        kept[j] = pivot > DEPENDENT * scale && (j < 3 || spread > POINT * far2);
        dropped += !kept[j];
        factor[j][j] = kept[j] ? sqrt(pivot) : 1;
        for (int i = j + 1; i < TAC_MODES; i++) {
            double sum = gram[i][j];
            for (int k = 0; k < j; k++)
                sum -= factor[i][k] * factor[j][k];
            factor[i][j] = kept[j] ? sum / factor[j][j] : 0;
        }
        for (int k = 0; k < j && !kept[j]; k++)
            factor[j][k] = 0;
    }
    for (int m = 0; m < TAC_MODES; m++) /* basis column m: factor^T basis = e_m, from the last row on */
        for (int i = m; i >= 0 && kept[m]; i--) {
            double sum = i == m;
            for (int k = i + 1; k <= m; k++)
                sum -= factor[k][i] * basis[k][m];
            basis[i][m] = kept[i] ? sum / factor[i][i] : 0;
        }
    return dropped;
}

/* Centre and sums of one subdomain. */
struct shape {
    double centre[3], far2, gram[TAC_MODES][TAC_MODES];
};

/* What the modes do at a node with arm d and translation t: 3 rows of 6. */
static void motions(const double *arm, double out[3][TAC_MODES])
{
    const double t = arm[3];
    memset(out, 0, sizeof(double) * 3 * TAC_MODES);
    for (int c = 0; c < 3; c++)
        out[c][c] = t;
    out[0][4] = arm[2]; /* w x d */
    out[0][5] = -arm[1];
    out[1][3] = -arm[2];
    out[1][5] = arm[0];
    out[2][3] = arm[1];
    out[2][4] = -arm[0];
}

static void find_centre(const struct tac_local_system *local, const struct tac_subdomain *s, struct shape *shape)
{
    double sum[3] = {0, 0, 0}, weight = 0;
    shape->far2 = 0;
    for (tac_lid i = s->begin; i < s->end; i++) {
        const double *p = local->place + 4 * (size_t)i;
        weight += p[3] * p[3];
        for (int c = 0; c < 3; c++) {
            sum[c] += p[3] * p[c];
            shape->far2 += p[c] * p[c];
        }
    }
    for (int c = 0; c < 3; c++)
        shape->centre[c] = weight > 0 ? sum[c] / weight : 0;
}

static void find_gram(const struct tac_local_system *local, const struct tac_subdomain *s, struct shape *shape)
{
    memset(shape->gram, 0, sizeof shape->gram);
    for (tac_lid i = s->begin; i < s->end; i++) {
        const double *p = local->place + 4 * (size_t)i;
        double arm[4] = {0, 0, 0, p[3]}, z[3][TAC_MODES];
        for (int c = 0; c < 3; c++)
            arm[c] = p[c] - p[3] * shape->centre[c];
        motions(arm, z);
        for (int a = 0; a < TAC_MODES; a++)
            for (int b = 0; b < TAC_MODES; b++)
                for (int c = 0; c < 3; c++)
                    shape->gram[a][b] += z[c][a] * z[c][b];
    }
}

/* All that depends on numbers alone: who has which subdomain, and memory. */
static enum tac_err prepare(struct tac_ctx *ctx, const struct tac_local_system *local, const struct tac_cut *cut,
                            struct tac_coarse *out)
{
    enum tac_err err;
    const size_t n = (size_t)cut->subdomains;
    out->ctx = ctx;
    out->subdomains = cut->subdomains;
    out->size = TAC_MODES * cut->subdomains;
    TAC_TRY(tac_alloc_brief(ctx, 3 * n, sizeof *out->centre, &out->centre));
    TAC_TRY(tac_alloc_brief(ctx, n, sizeof *out->basis, &out->basis));
    TAC_TRY(tac_alloc_brief(ctx, 4 * (size_t)local->count, sizeof *out->arm, &out->arm));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)ctx->size, sizeof *out->count, &out->count));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)ctx->size, sizeof *out->start, &out->start));
    TAC_TRY(tac_alloc_brief(ctx, n, sizeof *out->slot, &out->slot));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)out->size, sizeof *out->mine, &out->mine));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)out->size, sizeof *out->all, &out->all));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)out->size, sizeof *out->value, &out->value));
    for (size_t s = 0; s < n; s++)
        out->slot[s] = out->count[cut->rank[s]]++;
    for (int r = 1; r < ctx->size; r++)
        out->start[r] = out->start[r - 1] + out->count[r - 1];
    for (size_t s = 0; s < n; s++)
        out->slot[s] += out->start[cut->rank[s]];
done:
    return err;
}

enum tac_err tac_coarse_make(struct tac_ctx *ctx, const struct tac_local_system *local, const struct tac_cut *cut,
                             struct tac_coarse *out)
{
    enum tac_err err;
    struct shape *shape = NULL;
    tac_coarse_free(out);
    err = prepare(ctx, local, cut, out);
    err = err ? err : tac_alloc_brief(ctx, (size_t)cut->subdomains, sizeof *shape, &shape);
    TAC_TRY(tac_agree(ctx, err));
    /* Subdomains without nodes that move are on no rank, and stay 0. */
    for (int k = 0; k < local->subdomains; k++) {
        struct shape *mine = &shape[local->subdomain[k].number];
        find_centre(local, &local->subdomain[k], mine);
        find_gram(local, &local->subdomain[k], mine);
    }
    /* One rank has each, the others have +0: the sum of -0 and +0 is +0, on one rank too. */
    const int numbers = cut->subdomains * (int)(sizeof *shape / sizeof(double));
    for (int k = 0; k < numbers; k++)
        ((double *)shape)[k] += 0.0;
    MPI_Allreduce(MPI_IN_PLACE, shape, numbers, MPI_DOUBLE, MPI_SUM, ctx->comm);
    for (int s = 0; s < cut->subdomains; s++) {
        memcpy(out->centre + 3 * (size_t)s, shape[s].centre, sizeof shape[s].centre);
        out->dropped += tac_coarse_basis((const double(*)[TAC_MODES])shape[s].gram, shape[s].far2, out->basis[s]);
    }
    for (tac_lid i = 0; i < local->count; i++) {
        const double *p = local->place + 4 * (size_t)i, *centre = out->centre + 3 * (size_t)local->number[i];
        double *arm = out->arm + 4 * (size_t)i;
        arm[3] = p[3];
        for (int c = 0; c < 3; c++)
            arm[c] = p[c] - p[3] * centre[c];
    }
    TAC_TRY(tac_coarse_rows(ctx, local, out));
    for (int r = 0; r < ctx->size; r++) { /* from now on in numbers, not in subdomains */
        out->count[r] *= TAC_MODES;
        out->start[r] *= TAC_MODES;
    }
done:
    free(shape);
    if (err)
        tac_coarse_free(out);
    return err;
}

void tac_coarse_free(struct tac_coarse *coarse)
{
    free(coarse->centre);
    free(coarse->basis);
    free(coarse->arm);
    free(coarse->outside_from);
    free(coarse->outside);
    free(coarse->inner_rows);
    free(coarse->outer_rows);
    tac_dense_free(&coarse->matrix);
    free(coarse->count);
    free(coarse->start);
    free(coarse->slot);
    free(coarse->mine);
    free(coarse->all);
    free(coarse->value);
    memset(coarse, 0, sizeof *coarse);
}
