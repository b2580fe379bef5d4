/* checkpoint.c: defines the tables of a checkpoint, column by column. */
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
    {"pair_layer_groups", NULL, false, 0, AT(tac_pair_record, groups)},
};

const struct tac_checkpoint_column TAC_RIGID_COLUMNS[5] = {
    {"rigid_vertex", NULL, false, 0, AT(tac_rigid_row, vertex)},
    {"rigid_t", "quanta", false, 0, AT(tac_rigid_row, t)},
    {"rigid_t1", "quanta", false, 0, AT(tac_rigid_row, t1)},
    {"rigid_value", "m, m/s, 1, 1/s", true, TAC_RIGID_NUMBERS, AT(tac_rigid_row, value)},
    {"rigid_past", NULL, true, 4 * TAC_PAST_NUMBERS, AT(tac_rigid_row, past)},
};

const struct tac_checkpoint_column TAC_ELEMENT_KIND_COLUMNS[1] = {{"element_kinds", NULL, false, 4, 0}};
const struct tac_checkpoint_column TAC_ELEMENT_COLUMNS_1[6] = {
    {"element_kind", NULL, false, 0, AT(tac_element_record_1, kind)},
    {"element_id", NULL, false, 0, AT(tac_element_record_1, id)},
    {"element_vertex", NULL, false, 4, AT(tac_element_record_1, vertex)},
    {"element_has", NULL, false, 0, AT(tac_element_record_1, has)},
    {"element_rest", NULL, true, 3, AT(tac_element_record_1, rest)},
    {"element_last", NULL, true, 3, AT(tac_element_record_1, last)},
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

const struct tac_checkpoint_column TAC_FRICTION_COLUMNS[5] = {
    {"friction_key", NULL, false, 0, AT(tac_friction_row, key)},
    {"friction_vertex", NULL, false, 4, AT(tac_friction_row, vertex)},
    {"friction_layer", NULL, false, 0, AT(tac_friction_row, layer)},
    {"friction_t", "quanta", false, 2, AT(tac_friction_row, t)},
    {"friction_value", NULL, true, 13, AT(tac_friction_row, value)},
};

void tac_element_columns(int kind, const struct tac_element_states *s, struct tac_element_columns *out)
{
    static const char *const part[TAC_ELEMENT_COLUMNS] = {"id", "has", "vertex", "rest", "last"};
    const size_t vertex = AT(tac_element_state, vertex), rest = vertex + (size_t)s->nodes * sizeof(tac_gid),
                 last = rest + (size_t)s->width * sizeof(double);
    const size_t offset[TAC_ELEMENT_COLUMNS] = {AT(tac_element_state, id), AT(tac_element_state, has), vertex, rest,
                                                last};
    const int columns[TAC_ELEMENT_COLUMNS] = {0, 0, s->nodes, s->width, s->width};
    for (int k = 0; k < TAC_ELEMENT_COLUMNS; k++) {
        snprintf(out->name[k], sizeof out->name[k], "element_%s_%d", part[k], kind);
        out->column[k] = (struct tac_checkpoint_column){out->name[k], NULL, k >= 3, columns[k], offset[k]};
    }
}

const char *tac_checkpoint_name_1(const char *name)
{
    static const char *const names[][2] = {
        {"pair_layer_groups", "pair_rungs"}, {"friction_key", "grip_key"}, {"friction_vertex", "grip_vertex"},
        {"friction_layer", "grip_layer"},    {"friction_t", "grip_t"},     {"friction_value", "grip_value"},
    };
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        if (strcmp(names[k][0], name) == 0)
            return names[k][1];
    return name;
}

/* ---- numbers ---- */

/* Truth values as numbers of a table. */
struct flags {
    int64_t has_start, has_row, has_losses, has_past, has_script_force;
};

static struct flags flags_of(const struct tac_checkpoint *c)
{
    return (struct flags){c->has_start, c->has_row, c->has_losses, c->has_past, c->trajectory.has_script_force};
}

static void set_flags(struct tac_checkpoint *c, const struct flags *f)
{
    c->has_start = f->has_start != 0;
    c->has_row = f->has_row != 0;
    c->has_losses = f->has_losses != 0;
    c->has_past = f->has_past != 0;
    c->trajectory.has_script_force = f->has_script_force != 0;
}

/* Out to `number`, or in from there. */
static void carry(int64_t *const *place, size_t count, int64_t *number, bool out)
{
    for (size_t i = 0; i < count; i++) {
        if (out)
            number[i] = *place[i];
        else
            *place[i] = number[i];
    }
}

static void carry_ticks(struct tac_counters *k, int64_t ticks[TAC_COUNTED_KINDS][2], bool out)
{
    for (int i = 0; i < TAC_COUNTED_KINDS; i++) {
        int64_t *const place[2] = {&k->committed[i], &k->executed[i]};
        carry(place, 2, ticks[i], out);
    }
}

static void carry_reals(struct tac_checkpoint *c, double *real, bool out)
{
    struct tac_counters *k = &c->counters;
    double *const place[] = {&c->kinetic_start,    &c->book_work,        &c->book_absolute,     &c->wall_s,
                             &k->seconds_forces,   &k->seconds_contact,  &k->seconds_discovery, &k->seconds_waiting,
                             &k->seconds_exchange, &k->seconds_output,   &k->seconds_plans,     &k->seconds_slabs[0],
                             &k->seconds_slabs[1], &k->seconds_lists[0], &k->seconds_lists[1]};
    for (size_t i = 0; i < sizeof place / sizeof place[0]; i++) {
        if (out)
            real[i] = *place[i];
        else
            *place[i] = real[i];
    }
}

_Static_assert(TAC_LINES == 4, "the lists below name the tables of lines one by one");

/* One list serves reading and writing, so that they cannot disagree. */
static void carry_numbers(struct tac_checkpoint *c, struct tac_checkpoint_numbers *n, bool out)
{
    struct tac_counters *k = &c->counters;
    struct flags f = flags_of(c);
    int64_t *const state[] = {&c->now,
                              &c->frame,
                              &c->last_frame,
                              &c->restarts,
                              &f.has_start,
                              &c->deepest_layer,
                              &c->vertex_total,
                              &c->triangle_total,
                              &c->segment_total,
                              &c->tetrahedron_total,
                              &f.has_row,
                              &f.has_losses,
                              &f.has_past,
                              &f.has_script_force,
                              &c->trajectory.generation,
                              &c->trajectory.level,
                              &c->folder.entry_count,
                              &c->folder.sums[0].count,
                              &c->folder.sums[1].count,
                              &c->folder.sums[2].count,
                              &c->folder.sums[3].count,
                              &c->rigid.total};
    int64_t *const counter[] = {&k->silent,
                                &k->windows,
                                &k->rollbacks,
                                &k->repeated_ticks,
                                &k->contacts_found,
                                &k->deepest_layer,
                                &k->certificates_created,
                                &k->certificates_failed,
                                &k->certificates_rescheduled,
                                &k->certificates_reconfirmed,
                                &k->plans_filed,
                                &k->candidate_builds,
                                &k->candidate_repairs,
                                &k->candidates,
                                &k->messages_sent,
                                &k->bytes_sent,
                                &k->migrations,
                                &k->rigid_plans};
    const size_t states = sizeof state / sizeof state[0], counters = sizeof counter / sizeof counter[0];
    TAC_CHECK(states <= TAC_CHECKPOINT_INTEGERS && counters <= TAC_CHECKPOINT_COUNTERS);
    carry(state, states, n->integer, out);
    carry(counter, counters, n->counter, out);
    carry_ticks(k, n->ticks, out);
    carry_reals(c, n->real, out);
    set_flags(c, &f);
}

void tac_checkpoint_pack(const struct tac_checkpoint *c, struct tac_checkpoint_numbers *out)
{
    struct tac_checkpoint copy = *c;
    memset(out, 0, sizeof *out);
    carry_numbers(&copy, out, true);
}

void tac_checkpoint_unpack(struct tac_checkpoint *c, const struct tac_checkpoint_numbers *numbers)
{
    struct tac_checkpoint_numbers copy = *numbers;
    carry_numbers(c, &copy, false);
}

/* Where the ticks of the kinds [begin, end) go to; returns how many numbers that are. */
static size_t list_ticks(struct tac_counters *k, int begin, int end, int64_t **place)
{
    for (int i = begin; i < end; i++) {
        *place++ = &k->committed[i];
        *place++ = &k->executed[i];
    }
    return 2 * (size_t)(end - begin);
}

void tac_checkpoint_unpack_1(struct tac_checkpoint *c, const int64_t integer[TAC_CHECKPOINT_INTEGERS_1],
                             const double real[TAC_CHECKPOINT_REALS])
{
    enum { FIRST_KINDS = 8 }; /* kinds that existed when the format was made; later ones come after other numbers */
    struct tac_counters *k = &c->counters;
    struct flags f = flags_of(c);
    int64_t unused = 0, level_and_force = 0, copy[TAC_CHECKPOINT_INTEGERS_1], *place[TAC_CHECKPOINT_INTEGERS_1];
    double copy_real[TAC_CHECKPOINT_REALS];
    size_t n = 0;
    int64_t *const first[] = {&c->now,
                              &c->frame,
                              &c->last_frame,
                              &c->restarts,
                              &f.has_start,
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
                              &k->migrations};
    /* Older files have 0 in what came later. */
    int64_t *const second[] = {&k->certificates_reconfirmed, &k->plans_filed, &unused, &f.has_row,
                               &c->folder.entry_count};
    int64_t *const third[] = {&k->candidate_repairs,     &f.has_losses,
                              &c->tetrahedron_total,     &f.has_past,
                              &c->folder.sums[0].count,  &c->folder.sums[1].count,
                              &c->folder.sums[2].count,  &c->folder.sums[3].count,
                              &c->trajectory.generation, &level_and_force};
    memcpy(place, first, sizeof first);
    n = sizeof first / sizeof first[0];
    n += list_ticks(k, 0, FIRST_KINDS, place + n);
    memcpy(place + n, second, sizeof second);
    n += sizeof second / sizeof second[0];
    n += list_ticks(k, FIRST_KINDS, TAC_COUNTED_KINDS, place + n);
    memcpy(place + n, third, sizeof third);
    n += sizeof third / sizeof third[0];
    TAC_CHECK(n == TAC_CHECKPOINT_INTEGERS_1);
    memcpy(copy, integer, sizeof copy);
    memcpy(copy_real, real, sizeof copy_real);
    carry(place, n, copy, false);
    carry_reals(c, copy_real, false);
    f.has_script_force = level_and_force % 2;
    c->trajectory.level = level_and_force / 2;
    set_flags(c, &f);
}

/* ---- a row of energy.csv ---- */

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
