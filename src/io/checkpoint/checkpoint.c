/* checkpoint.c: the tables of a checkpoint, column by column. */
#include "io/checkpoint/checkpoint_table.h"

#include <stdlib.h>
#include <string.h>

#define AT(record, field) offsetof(struct record, field)
const struct tac_checkpoint_column TAC_VERTEX_COLUMNS[7] = {
    {"start", "m", true, 3, AT(tac_vertex_record, start)},
    {"mass", "kg", true, 0, AT(tac_vertex_record, mass)},
    {"x", "m", true, 3, AT(tac_vertex_record, x)},
    {"v", "m/s", true, 3, AT(tac_vertex_record, v)},
    {"impulse", "N s", true, 3, AT(tac_vertex_record, impulse)},
    {"t", "quanta", false, 0, AT(tac_vertex_record, t)},
    {"impulse_rest", "N s", true, 3, AT(tac_vertex_record, rest)},
};
const struct tac_checkpoint_column TAC_PAST_COLUMNS[1] = {
    {"past", "m, m/s, m/s^2", true, TAC_PAST_NUMBERS, AT(tac_past_record, value)}};
const struct tac_checkpoint_column TAC_TRIANGLE_COLUMNS[1] = {{"triangles", NULL, false, 3, AT(tac_element_record, v)}};
const struct tac_checkpoint_column TAC_SEGMENT_COLUMNS[1] = {{"segments", NULL, false, 2, AT(tac_element_record, v)}};
const struct tac_checkpoint_column TAC_TETRAHEDRON_COLUMNS[1] = {
    {"tetrahedra", NULL, false, 4, AT(tac_element_record, v)}};
const struct tac_checkpoint_column TAC_SCRIPT_COLUMNS[9] = {
    {"script_vertex", NULL, false, 0, AT(tac_script_record, vertex)},
    {"script_next", NULL, false, 0, AT(tac_script_record, next)},
    {"script_t", "quanta", false, 0, AT(tac_script_record, t)},
    {"script_flags", NULL, false, 2, AT(tac_script_record, flags)},
    {"script_origin", "m", true, 3, AT(tac_script_record, origin)},
    {"script_x", "m", true, 3, AT(tac_script_record, x)},
    {"script_v", "m/s", true, 3, AT(tac_script_record, v)},
    {"script_v_free", "m/s", true, 3, AT(tac_script_record, v_free)},
    {"script_force", "N", true, 3, AT(tac_script_record, force)},
};
const struct tac_checkpoint_column TAC_PAIR_COLUMNS[4] = {
    {"pair_key", NULL, false, 0, AT(tac_pair_record, key)},
    {"pair_vertex", NULL, false, 4, AT(tac_pair_record, vertex)},
    {"pair_depth", NULL, false, 0, AT(tac_pair_record, depth)},
    {"pair_rungs", NULL, false, 0, AT(tac_pair_record, groups)},
};

const struct tac_checkpoint_column TAC_ELEMENT_STATE_COLUMNS[6] = {
    {"element_kind", NULL, false, 0, AT(tac_element_state, kind)},
    {"element_id", NULL, false, 0, AT(tac_element_state, id)},
    {"element_vertex", NULL, false, 4, AT(tac_element_state, vertex)},
    {"element_has", NULL, false, 0, AT(tac_element_state, has)},
    {"element_rest", NULL, true, 3, AT(tac_element_state, rest)},
    {"element_last", NULL, true, 3, AT(tac_element_state, last)},
};

const struct tac_checkpoint_column TAC_ENTRY_COLUMNS[3] = {
    {"entry_index", NULL, false, 0, AT(tac_output_entry, index)},
    {"entry_frame", NULL, false, 0, AT(tac_output_entry, frame)},
    {"entry_row", NULL, false, 0, AT(tac_output_entry, row)},
};
/* A table of its own each, in the order of enum tac_lines. */
const struct tac_checkpoint_column TAC_SUM_COLUMNS[] = {
    {"lines_reactions", NULL, false, 0, 0},
    {"lines_histories", NULL, false, 0, 0},
    {"lines_steps", NULL, false, 0, 0},
    {"lines_energy", NULL, false, 0, 0},
};

const struct tac_checkpoint_column TAC_GRIP_COLUMNS[5] = {
    {"grip_key", NULL, false, 0, AT(tac_friction_row, key)},
    {"grip_vertex", NULL, false, 4, AT(tac_friction_row, vertex)},
    {"grip_layer", NULL, false, 0, AT(tac_friction_row, layer)},
    {"grip_t", "quanta", false, 2, AT(tac_friction_row, t)},
    {"grip_value", NULL, true, 13, AT(tac_friction_row, value)},
};

/* Kinds of forces when this table was made; its place for later ones is behind all the rest. */
enum { FIRST_KINDS = 8 };

/* Ticks of the kinds [begin, end). */
static void carry_ticks(struct tac_counters *k, int begin, int end, int64_t *integer, bool out)
{
    for (int i = begin; i < end; i++)
        for (int j = 0; j < 2; j++) {
            int64_t *ticks = j ? &k->executed[i] : &k->committed[i], *at = &integer[2 * (i - begin) + j];
            if (out)
                *at = *ticks;
            else
                *ticks = *at;
        }
}

/* Packs and unpacks with one list, so that both directions agree. */
static void carry_numbers(struct tac_checkpoint *c, int64_t *integer, double *real, bool out)
{
    struct tac_counters *k = &c->counters;
    const int64_t *const first = integer;
    int64_t has_start = c->has_start, has_row = c->has_row, plans_reported = 0 /* of former versions */;
    int64_t *const whole[] = {
        &c->now,
        &c->frame,
        &c->last_frame,
        &c->restarts,
        &has_start,
        &c->deepest_layer,
        &c->vertex_total,
        &c->triangle_total,
        &c->segment_total,
        &k->silent,
        &k->windows,
        &k->rollbacks,
        &k->repeated_ticks,
        &k->contacts_found,
        &k->deepest_layer,
        &k->certificates_created,
        &k->certificates_failed,
        &k->certificates_rescheduled,
        &k->candidate_builds,
        &k->candidates,
        &k->messages_sent,
        &k->bytes_sent,
        &k->migrations,
    };
    double *const reals[] = {&c->kinetic_start,    &c->book_work,        &c->book_absolute,     &c->wall_s,
                             &k->seconds_forces,   &k->seconds_contact,  &k->seconds_discovery, &k->seconds_waiting,
                             &k->seconds_exchange, &k->seconds_output,   &k->seconds_plans,     &k->seconds_slabs[0],
                             &k->seconds_slabs[1], &k->seconds_lists[0], &k->seconds_lists[1]};
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        if (out)
            integer[i] = *whole[i];
        else
            *whole[i] = integer[i];
    }
    integer += sizeof whole / sizeof whole[0];
    carry_ticks(k, 0, FIRST_KINDS, integer, out);
    /* Later ones: older checkpoints have 0 here. */
    int64_t *const more[] = {&k->certificates_reconfirmed, &k->plans_filed, &plans_reported, &has_row,
                             &c->folder.entry_count};
    integer += 2 * FIRST_KINDS;
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        if (out)
            integer[i] = *more[i];
        else
            *more[i] = integer[i];
    }
    integer += sizeof more / sizeof more[0];
    carry_ticks(k, FIRST_KINDS, TAC_COUNTED_KINDS, integer, out);
    integer += 2 * (TAC_COUNTED_KINDS - FIRST_KINDS);
    if (out) {
        integer[0] = k->candidate_repairs;
        integer[1] = c->has_losses;
        integer[2] = c->tetrahedron_total;
        integer[3] = c->has_past;
        for (int i = 0; i < TAC_LINES; i++)
            integer[4 + i] = c->folder.sums[i].count;
        integer[4 + TAC_LINES] = c->trajectory.generation;
        integer[5 + TAC_LINES] = 2 * c->trajectory.level + c->trajectory.has_script_force;
    } else {
        k->candidate_repairs = integer[0];
        c->has_losses = integer[1] != 0;
        c->tetrahedron_total = integer[2];
        c->has_past = integer[3] != 0;
        for (int i = 0; i < TAC_LINES; i++)
            c->folder.sums[i].count = integer[4 + i];
        c->trajectory.generation = integer[4 + TAC_LINES];
        c->trajectory.has_script_force = integer[5 + TAC_LINES] % 2 != 0;
        c->trajectory.level = integer[5 + TAC_LINES] / 2;
    }
    TAC_CHECK(integer + 6 + TAC_LINES <= first + TAC_CHECKPOINT_INTEGERS);
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        if (out)
            real[i] = *reals[i];
        else
            *reals[i] = real[i];
    }
    c->has_start = has_start != 0;
    c->has_row = has_row != 0;
}

void tac_checkpoint_row(struct tac_energy_row *row, double value[TAC_CHECKPOINT_ROW], bool out)
{
    double whole[2] = {(double)row->contacts, (double)row->deepest_layer};
    double *const place[TAC_CHECKPOINT_ROW] = {&row->time_s,
                                               &row->kinetic,
                                               &row->gravity,
                                               &row->stretch,
                                               &row->bend,
                                               &row->contact,
                                               &row->total,
                                               &row->dissipated,
                                               &row->work,
                                               &row->defect,
                                               &row->momentum[0],
                                               &row->momentum[1],
                                               &row->momentum[2],
                                               &row->angular_momentum[0],
                                               &row->angular_momentum[1],
                                               &row->angular_momentum[2],
                                               &row->friction_couple[0],
                                               &row->friction_couple[1],
                                               &row->friction_couple[2],
                                               &whole[0],
                                               &whole[1],
                                               &row->min_distance};
    for (int k = 0; k < TAC_CHECKPOINT_ROW; k++) {
        if (out)
            value[k] = *place[k];
        else
            *place[k] = value[k];
    }
    row->contacts = (int64_t)whole[0];
    row->deepest_layer = (int64_t)whole[1];
}

void tac_checkpoint_row_losses(struct tac_energy_row *row, double value[TAC_CHECKPOINT_LOST], bool out)
{
    double *const place[TAC_CHECKPOINT_LOST] = {&row->lost_friction, &row->lost_restitution, &row->lost_damping,
                                                &row->lost_plasticity};
    for (int k = 0; k < TAC_CHECKPOINT_LOST; k++) {
        if (out)
            value[k] = *place[k];
        else
            *place[k] = value[k];
    }
}

void tac_checkpoint_pack(const struct tac_checkpoint *c, int64_t *integer, double *real)
{
    struct tac_checkpoint copy = *c;
    memset(integer, 0, TAC_CHECKPOINT_INTEGERS * sizeof *integer);
    memset(real, 0, TAC_CHECKPOINT_REALS * sizeof *real);
    carry_numbers(&copy, integer, real, true);
}

void tac_checkpoint_unpack(struct tac_checkpoint *c, const int64_t *integer, const double *real)
{
    int64_t i[TAC_CHECKPOINT_INTEGERS];
    double r[TAC_CHECKPOINT_REALS];
    memcpy(i, integer, sizeof i);
    memcpy(r, real, sizeof r);
    carry_numbers(c, i, r, false);
}
