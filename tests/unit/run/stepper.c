/* stepper: steps a scene by the public API as its words say; for stepping.py and control.py.
 *
 *     stepper SCENE|@CHECKPOINT [--set path=value ...] WORD ...
 *
 *   to T          advances to T            random SEED T   advances to T in steps of random sizes
 *   match DIR     advances from frame to frame of a run folder, in random steps, and compares each to the last bit
 *   set A         changes the scene        try A           the same, but it must be refused: prints the sentence
 *   save DIR      writes a checkpoint      dump FILE       state of every vertex into FILE.RANK (read by the scripts)
 *   row           prints the energies      contacts        prints how many there are, and the largest force
 *   hash          prints the scene's hash
 */
#include <tactus/process.h>
#include <tactus/reader.h>
#include <tactus/simulation.h>
#include <tactus/table.h>

#include <stdlib.h>
#include <string.h>

static uint64_t state = 1;

static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

static const double *at(const struct tac_vectors *v, tac_lid i)
{
    return (const double *)(const void *)((const char *)v->data + (size_t)i * v->stride);
}

/* Steps from a quantum to a few windows. */
static enum tac_err random_steps(struct tac_simulation *sim, double end_s)
{
    enum tac_err err = TAC_OK;
    const double begin_s = tac_simulation_time(sim), quantum_s = tac_simulation_scene(sim)->settings->quantum_s;
    while (tac_simulation_time(sim) < end_s - quantum_s) {
        const double kind = uniform(), size = (end_s - begin_s) / 8 * uniform();
        const double step = kind < .1 ? quantum_s : kind < .4 ? size / 64 : size;
        const double t = tac_simulation_time(sim) + step;
        TAC_TRY(tac_simulation_advance(sim, t < end_s ? t : end_s));
    }
    TAC_TRY(tac_simulation_advance(sim, end_s));
done:
    return err;
}

static int64_t differing(const struct tac_vectors *v, const double *whole)
{
    int64_t n = 0;
    for (tac_lid i = 0; i < v->count; i++)
        n += memcmp(at(v, i), &whole[3 * v->id[i]], 3 * sizeof *whole) != 0;
    return n;
}

/* The columns of energy.csv, as in the row. */
static int64_t row_differs(const struct tac_energy_row *r, const struct tac_table *t, int64_t k)
{
    const double *c = &t->value[k * t->column_count];
    const double mine[] = {r->time_s,      r->kinetic,     r->gravity,    r->stretch, r->bend,
                           r->contact,     r->total,       r->dissipated, r->work,    r->defect,
                           r->momentum[0], r->momentum[1], r->momentum[2]};
    int64_t n = 0;
    for (size_t i = 0; i < sizeof mine / sizeof mine[0]; i++)
        n += memcmp(&mine[i], &c[i], sizeof mine[i]) != 0;
    n += (double)r->contacts != c[tac_table_column(t, "contacts")];
    n += (double)r->deepest_layer != c[tac_table_column(t, "deepest_layer")];
    return n;
}

static enum tac_err match(struct tac_ctx *ctx, struct tac_simulation *sim, const char *dir)
{
    enum tac_err err;
    struct tac_reader *r = NULL;
    struct tac_table *table = NULL;
    double *x = NULL, *v = NULL;
    char path[1024];
    int64_t bad = 0, contacts = 0;
    snprintf(path, sizeof path, "%s/energy.csv", dir);
    TAC_TRY(tac_reader_open_all(ctx, dir, &r));
    TAC_TRY(tac_table_read(ctx, path, &table));
    TAC_TRY(tac_alloc(ctx, 3 * (size_t)r->vertex_count, sizeof *x, &x));
    TAC_TRY(tac_alloc(ctx, 3 * (size_t)r->vertex_count, sizeof *v, &v));
    for (int64_t k = 0; k < r->frame_count; k++) {
        struct tac_vectors px, pv;
        struct tac_energy_row row;
        const struct tac_contact *list;
        size_t count;
        TAC_TRY(random_steps(sim, r->frame[k].time_s));
        TAC_TRY(tac_simulation_positions(sim, &px));
        TAC_TRY(tac_simulation_velocities(sim, &pv));
        TAC_TRY(tac_reader_frame(ctx, r, k, x, v, NULL));
        bad += differing(&px, x) + differing(&pv, v);
        TAC_TRY(tac_simulation_contacts(sim, &list, &count));
        int64_t mine = (int64_t)count, all = 0;
        MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, ctx->comm);
        if (k > 0) { /* the row of the start was asked for when the simulation was made */
            TAC_TRY(tac_simulation_energy(sim, &row));
            bad += row_differs(&row, table, k) + (all != row.contacts);
        }
        contacts += all;
    }
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT64_T, MPI_SUM, ctx->comm);
    if (ctx->rank == 0)
        printf("match frames %lld contacts %lld differ %lld\n", (long long)r->frame_count, (long long)contacts,
               (long long)bad);
done:
    free(x);
    free(v);
    tac_table_destroy(&table);
    tac_reader_close(&r);
    return err;
}

static enum tac_err dump(struct tac_ctx *ctx, struct tac_simulation *sim, const char *name)
{
    enum tac_err err;
    struct tac_vectors x, v;
    char path[1024];
    FILE *out = NULL;
    TAC_TRY(tac_simulation_positions(sim, &x));
    TAC_TRY(tac_simulation_velocities(sim, &v));
    snprintf(path, sizeof path, "%s.%d", name, ctx->rank);
    if ((out = fopen(path, "wb")) == NULL)
        TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "cannot write %s", path));
    for (tac_lid i = 0; i < x.count; i++) {
        fwrite(&x.id[i], sizeof *x.id, 1, out);
        fwrite(at(&x, i), sizeof(double), 3, out);
        fwrite(at(&v, i), sizeof(double), 3, out);
    }
done:
    if (out)
        fclose(out);
    MPI_Barrier(ctx->comm);
    return err;
}

static enum tac_err tell_contacts(struct tac_ctx *ctx, struct tac_simulation *sim)
{
    enum tac_err err;
    const struct tac_contact *list;
    size_t count;
    double force = 0, least = 1e300, number = 0;
    TAC_TRY(tac_simulation_contacts(sim, &list, &count));
    for (size_t k = 0; k < count; k++) {
        force = list[k].force > force ? list[k].force : force;
        least = list[k].gap < least ? list[k].gap : least;
    }
    number = (double)count;
    MPI_Allreduce(MPI_IN_PLACE, &force, 1, MPI_DOUBLE, MPI_MAX, ctx->comm);
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MIN, ctx->comm);
    MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_DOUBLE, MPI_SUM, ctx->comm);
    if (ctx->rank == 0)
        printf("contacts %.0f force %.17g gap %.17g\n", number, force, least);
    for (size_t k = 0; k < count && ctx->size == 1; k++)
        printf("contact kind %d bodies %d %d primitives %lld %lld normal %.17g %.17g %.17g place %.17g %.17g %.17g\n",
               (int)list[k].kind, (int)list[k].body[0], (int)list[k].body[1], (long long)list[k].primitive[0],
               (long long)list[k].primitive[1], list[k].normal[0], list[k].normal[1], list[k].normal[2],
               list[k].place[0], list[k].place[1], list[k].place[2]);
done:
    return err;
}

static enum tac_err tell_row(struct tac_ctx *ctx, struct tac_simulation *sim)
{
    enum tac_err err;
    struct tac_energy_row r;
    TAC_TRY(tac_simulation_energy(sim, &r));
    if (ctx->rank == 0)
        printf("row t %.17g total %.17g dissipated %.17g work %.17g defect %.17g\n", r.time_s, r.total, r.dissipated,
               r.work, r.defect);
done:
    return err;
}

/* A change that must be refused, without harm. */
static enum tac_err refused(struct tac_ctx *ctx, struct tac_simulation *sim, const char *assignment)
{
    const enum tac_err got = tac_simulation_set_control(sim, assignment);
    if (ctx->rank == 0)
        printf("refused %d %s\n", (int)got, ctx->error);
    if (got == TAC_ERR_INPUT && ctx->error[0] != '\0')
        return TAC_OK;
    return tac_fail(ctx, TAC_ERR_RUN, "%s was not refused", assignment);
}

static enum tac_err obey(struct tac_ctx *ctx, struct tac_simulation *sim, char ***word)
{
    enum tac_err err = TAC_OK;
    const char *verb = *(*word)++;
    if (strcmp(verb, "to") == 0) {
        TAC_TRY(tac_simulation_advance(sim, strtod(*(*word)++, NULL)));
    } else if (strcmp(verb, "random") == 0) {
        state = strtoul(*(*word)++, NULL, 10);
        TAC_TRY(random_steps(sim, strtod(*(*word)++, NULL)));
    } else if (strcmp(verb, "match") == 0) {
        TAC_TRY(match(ctx, sim, *(*word)++));
    } else if (strcmp(verb, "set") == 0) {
        TAC_TRY(tac_simulation_set_control(sim, *(*word)++));
    } else if (strcmp(verb, "try") == 0) {
        TAC_TRY(refused(ctx, sim, *(*word)++));
    } else if (strcmp(verb, "save") == 0) {
        TAC_TRY(tac_simulation_save(sim, *(*word)++, NULL, 0));
    } else if (strcmp(verb, "dump") == 0) {
        TAC_TRY(dump(ctx, sim, *(*word)++));
    } else if (strcmp(verb, "contacts") == 0) {
        TAC_TRY(tell_contacts(ctx, sim));
    } else if (strcmp(verb, "row") == 0) {
        TAC_TRY(tell_row(ctx, sim));
    } else if (strcmp(verb, "hash") == 0) {
        if (ctx->rank == 0)
            printf("hash %s\n", tac_simulation_scene(sim)->settings->sha256);
    } else {
        err = tac_fail(ctx, TAC_ERR_INPUT, "stepper does not know '%s'", verb);
    }
done:
    return err;
}

int main(int argc, char **argv)
{
    struct tac_ctx ctx;
    struct tac_simulation *sim = NULL;
    bool started;
    const char *set[16];
    struct tac_scene_source source = {.set = set};
    char **word = argv + 2;
    enum tac_err err = tac_mpi_begin(&ctx, &started);
    ctx.quiet = true;
    for (; word < argv + argc && strcmp(*word, "--set") == 0; word += 2)
        set[source.set_count++] = word[1];
    if (!err && argv[1][0] == '@')
        err = tac_simulation_restore(&ctx, argv[1] + 1, &source, &sim);
    else if (!err) {
        source.path = argv[1];
        err = tac_simulation_create(&ctx, &source, &sim);
    }
    while (!err && word < argv + argc)
        err = obey(&ctx, sim, &word);
    if (err && ctx.rank == 0)
        fprintf(stderr, "stepper: %s\n", ctx.error);
    tac_simulation_destroy(&sim);
    tac_mpi_end(started);
    return (int)err;
}
