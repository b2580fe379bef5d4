/* contact_rows.c: makes the list of contacts of a frame, in an order that does not depend on the ranks: by kind, then
 * by the primitives' ids. */
#include "base/exchange.h"
#include "contact/contacts.h"
#include "run/requested_fields.h"
#include <stdlib.h>
#include <string.h>

/* Each rank sorts one range of kinds and first primitives, so that the whole list is the ranks' lists one after the
 * other. */
static enum tac_err sort_over_ranks(struct tac_ctx *ctx, enum tac_err err, struct tac_contact **list, size_t *count)
{
    enum { KINDS = TAC_CONTACT_VERTEX_VERTEX + 1 };
    struct tac_contact *came = NULL;
    int32_t *to = NULL;
    int64_t most = 0;
    size_t total = 0;
    for (size_t i = 0; i < *count && !err; i++)
        most = (*list)[i].primitive[0] > most ? (*list)[i].primitive[0] : most;
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_MAX, ctx->comm);
    if (!err)
        err = tac_alloc(ctx, *count, sizeof *to, &to);
    for (size_t i = 0; i < *count && !err; i++) {
        const int64_t place = (int64_t)(*list)[i].kind * (most + 1) + (*list)[i].primitive[0];
        to[i] = (int32_t)tac_block_rank(KINDS * (most + 1), ctx->size, place);
    }
    err = tac_distribute(ctx, err, *count, to, *list, sizeof **list, &came, &total);
    free(to);
    if (err)
        return err;
    if (total > 0)
        qsort(came, total, sizeof *came, tac_contact_compare);
    free(*list);
    *list = came;
    *count = total;
    return TAC_OK;
}

static void put_contact(const struct tac_contact *c, size_t i, void *const data[TAC_DATASETS])
{
    ((int32_t *)data[TAC_DATA_CONTACTS_KIND])[i] = (int32_t)c->kind;
    memcpy((tac_gid *)data[TAC_DATA_CONTACTS_VERTICES] + 4 * i, c->vertex, sizeof c->vertex);
    memcpy((double *)data[TAC_DATA_CONTACTS_PLACE] + 3 * i, c->place, sizeof c->place);
    memcpy((double *)data[TAC_DATA_CONTACTS_NORMAL] + 3 * i, c->normal, sizeof c->normal);
    ((double *)data[TAC_DATA_CONTACTS_GAP])[i] = c->gap;
    ((double *)data[TAC_DATA_CONTACTS_FORCE])[i] = c->force;
}

enum tac_err tac_fields_contacts(struct tac_simulation *sim, struct tac_fields *fields, struct tac_frame *frame)
{
    struct tac_ctx *ctx = sim->ctx;
    struct tac_contact *list = NULL;
    size_t count = 0;
    enum tac_err err = sim->integrator->contacts(sim->state, &list, &count);
    TAC_TRY(sort_over_ranks(ctx, err, &list, &count));
    int64_t rows = (int64_t)count, before = 0;
    MPI_Exscan(&rows, &before, 1, MPI_INT64_T, MPI_SUM, ctx->comm);
    if (ctx->rank == 0)
        before = 0;
    MPI_Allreduce(MPI_IN_PLACE, &rows, 1, MPI_INT64_T, MPI_SUM, ctx->comm);
    err = tac_alloc(ctx, count, sizeof *fields->contact_row, &fields->contact_row);
    for (int k = TAC_DATA_CONTACTS_KIND; k < TAC_DATASETS && !err; k++)
        err = tac_alloc(ctx, count, tac_field_row_bytes(&tac_field_table()[k]), &fields->data[k]);
    TAC_TRY(tac_agree(ctx, err));
    for (size_t i = 0; i < count; i++) {
        fields->contact_row[i] = before + (tac_gid)i;
        put_contact(&list[i], i, fields->data);
    }
    for (int k = TAC_DATA_CONTACTS_KIND; k < TAC_DATASETS; k++)
        fields->field[frame->field_count++] =
            (struct tac_frame_field){&tac_field_table()[k], rows, count, fields->contact_row, fields->data[k]};
done:
    free(list);
    return err;
}
