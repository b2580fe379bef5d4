/* frames_fields.c: has the table of fields that frames have on request, beside position, velocity and contact_force,
 * for all files that write, check or read them; and writes the fields. */
#include <stdlib.h>
#include <string.h>

#include "io/frames/frames.h"

#define CELL TAC_AT_CELLS
#define VERTEX TAC_AT_VERTICES
#define RIGID TAC_AT_RIGID
#define CONTACT TAC_AT_CONTACTS

/* In the order of enum tac_dataset_name. */
static const struct tac_field_info info[TAC_DATASETS] = {
    {"strain_max", "1", CELL, TAC_VALUE_FLOAT, 0, 1u << TAC_OUTPUT_STRAIN},
    {"strain_min", "1", CELL, TAC_VALUE_FLOAT, 0, 1u << TAC_OUTPUT_STRAIN},
    {"stress_max", "N/m", CELL, TAC_VALUE_FLOAT, 0, 1u << TAC_OUTPUT_STRESS},
    {"stress_min", "N/m", CELL, TAC_VALUE_FLOAT, 0, 1u << TAC_OUTPUT_STRESS},
    {"stress_von_mises", "N/m", CELL, TAC_VALUE_FLOAT, 0, 1u << TAC_OUTPUT_STRESS},
    {"bending_angle", "rad", CELL, TAC_VALUE_FLOAT, 0, 1u << TAC_OUTPUT_BENDING},
    {"plastic_strain", "1", CELL, TAC_VALUE_FLOAT, 0, 1u << TAC_OUTPUT_PLASTIC},
    {"plastic_angle", "rad", CELL, TAC_VALUE_FLOAT, 0, 1u << TAC_OUTPUT_PLASTIC},
    {"contact_pressure", "Pa", VERTEX, TAC_VALUE_FLOAT, 0, 1u << TAC_OUTPUT_PRESSURE},
    {"rank", NULL, VERTEX, TAC_VALUE_INT32, 0, 1u << TAC_OUTPUT_RANK},
    {"spin", "rad/s", VERTEX, TAC_VALUE_DOUBLE, 3, 1u << TAC_OUTPUT_SPIN},
    {"rigid_center", "m", RIGID, TAC_VALUE_DOUBLE, 3, 1u << TAC_OUTPUT_POSE},
    {"rigid_rotation", "1", RIGID, TAC_VALUE_DOUBLE, 4, 1u << TAC_OUTPUT_POSE},
    {"rigid_velocity", "m/s", RIGID, TAC_VALUE_DOUBLE, 3, 1u << TAC_OUTPUT_POSE},
    {"rigid_spin", "rad/s", RIGID, TAC_VALUE_DOUBLE, 3, 1u << TAC_OUTPUT_POSE},
    {"contacts_kind", NULL, CONTACT, TAC_VALUE_INT32, 0, 0},
    {"contacts_vertices", NULL, CONTACT, TAC_VALUE_INT64, 4, 0},
    {"contacts_place", "m", CONTACT, TAC_VALUE_DOUBLE, 3, 0},
    {"contacts_normal", "1", CONTACT, TAC_VALUE_DOUBLE, 3, 0},
    {"contacts_gap", "m", CONTACT, TAC_VALUE_DOUBLE, 0, 0},
    {"contacts_force", "N", CONTACT, TAC_VALUE_DOUBLE, 0, 0},
};

const struct tac_field_info *tac_field_table(void)
{
    return info;
}

size_t tac_field_row_bytes(const struct tac_field_info *f)
{
    const size_t bytes = f->value == TAC_VALUE_FLOAT || f->value == TAC_VALUE_INT32 ? 4 : 8;
    return bytes * (size_t)(f->columns > 0 ? f->columns : 1);
}

static hid_t type_of(const struct tac_field_info *f)
{
    switch (f->value) {
    case TAC_VALUE_FLOAT:
        return H5T_NATIVE_FLOAT;
    case TAC_VALUE_DOUBLE:
        return H5T_NATIVE_DOUBLE;
    case TAC_VALUE_INT32:
        return H5T_NATIVE_INT32;
    default:
        return H5T_NATIVE_INT64;
    }
}

unsigned tac_fields_found(hid_t group)
{
    unsigned found = 0;
    for (int k = 0; k < TAC_DATASETS; k++)
        if (H5Lexists(group, info[k].name, H5P_DEFAULT) > 0)
            found |= 1u << k;
    return found;
}

/* Sends rows from the ranks that have them to the ranks that write them, as records of the row's number and its bytes.
 */
static enum tac_err gather_field_rows(struct tac_ctx *ctx, const struct tac_frame_field *field, tac_gid begin,
                                      tac_gid end, char **out)
{
    const size_t bytes = tac_field_row_bytes(field->info), size = sizeof(tac_gid) + bytes;
    enum tac_err err = TAC_OK;
    char *record = NULL, *came = NULL;
    int32_t *to = NULL;
    size_t total = 0;
    TAC_TRY(tac_alloc(ctx, (size_t)(end - begin), bytes, out));
    TAC_TRY(tac_alloc(ctx, field->count, size, &record));
    TAC_TRY(tac_alloc(ctx, field->count, sizeof *to, &to));
    for (size_t i = 0; i < field->count; i++) {
        const tac_gid row = field->row[i];
        TAC_CHECK(row >= 0 && row < field->rows);
        memcpy(record + i * size, &row, sizeof row);
        memcpy(record + i * size + sizeof row, (const char *)field->data + i * bytes, bytes);
        to[i] = tac_rank_of_row(ctx, field->rows, row);
    }
done:
    err = tac_distribute(ctx, err, field->count, to, record, size, &came, &total);
    TAC_CHECK(err || total == (size_t)(end - begin));
    for (size_t i = 0; i < total && !err; i++) {
        tac_gid row;
        memcpy(&row, came + i * size, sizeof row);
        memcpy(*out + (size_t)(row - begin) * bytes, came + i * size + sizeof row, bytes);
    }
    free(record);
    free(came);
    free(to);
    return err;
}

enum tac_err tac_field_write(struct tac_ctx *ctx, struct tac_frames *w, hid_t group,
                             const struct tac_frame_field *field)
{
    const struct tac_field_info *f = field->info;
    enum tac_err err = TAC_OK;
    char *rows = NULL;
    struct tac_dataset d = {group, f->name, f->units, type_of(f), f->columns, field->rows, 0, 0, NULL};
    tac_rows_of_rank(field->rows, ctx->rank, ctx->size, &d.begin, &d.end);
    TAC_TRY(gather_field_rows(ctx, field, d.begin, d.end, &rows));
    d.data = rows;
    TAC_TRY(tac_dataset_write(ctx, w, &d));
done:
    free(rows);
    return err;
}

int64_t tac_fields_space(const struct tac_frame *frame)
{
    int64_t bytes = 0;
    for (int k = 0; k < frame->field_count; k++)
        bytes += tac_dataset_space(frame->field[k].rows, (int64_t)tac_field_row_bytes(frame->field[k].info)) + 4096;
    return bytes;
}
