/* histories.c: makes histories.h5 from histories.csv when a run ends: the rows of each history as arrays.  The table
 * grows row by row and survives any kill; the HDF5 file is made whole and renamed. */
#include <fcntl.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/create.h"
#include "io/folder/series.h"
#include "io/h5/h5.h"

/* The datasets of a history, by kind: columns of histories.csv, counted without the name. */
struct set {
    const char *name, *units;
    int columns;
    int first; /* among those behind time, history, vertex, vertices; FLUX, REACTION, POSE: from where that kind's begin
                */
};
enum {
    BEFORE = 4,
    VALUES = 14,
    FLUX_VALUES = 4,
    REACTION_VALUES = 10,
    POSE_VALUES = 7,
    FLUX = 100,
    REACTION = 200,
    POSE = 300,
    WIDEST = 4,
    MOST = 40,
    SETS = 8
};
static const struct set sets[][SETS] = {
    [TAC_HISTORY_VERTICES] = {{"mass", "kg", 1, 0},
                              {"kinetic", "J", 1, 1},
                              {"position", "m", 3, 2},
                              {"velocity", "m/s", 3, 5},
                              {"contact_force", "N", 3, 8},
                              {"elastic_force", "N", 3, 11},
                              {NULL, NULL, 0, 0}},
    [TAC_HISTORY_REACTION] = {{"contact_force", "N", 3, 8},
                              {"elastic_force", "N", 3, 11},
                              {"stroke", "m", 1, REACTION},
                              {"displacement", "m", 3, REACTION + 1},
                              {"force", "N", 3, REACTION + 4},
                              {"moment", "N m", 3, REACTION + 7},
                              {NULL, NULL, 0, 0}},
    [TAC_HISTORY_FLUX] = {{"count_forward", NULL, 1, FLUX},
                          {"count_back", NULL, 1, FLUX + 1},
                          {"mass_forward", "kg", 1, FLUX + 2},
                          {"mass_back", "kg", 1, FLUX + 3},
                          {NULL, NULL, 0, 0}},
    [TAC_HISTORY_POSE] = {{"mass", "kg", 1, 0},
                          {"kinetic", "J", 1, 1},
                          {"position", "m", 3, 2},
                          {"velocity", "m/s", 3, 5},
                          {"contact_force", "N", 3, 8},
                          {"rotation", "1", 4, POSE},
                          {"spin", "rad/s", 3, POSE + 4},
                          {NULL, NULL, 0, 0}},
};

/* The columns of a scene's histories.csv. */
struct columns {
    int count;                /* all but the name */
    int flux, reaction, pose; /* where the columns of these kinds begin, behind BEFORE */
};

static struct columns columns_of(const struct tac_scene *scene)
{
    const unsigned kinds = tac_scene_history_kinds(scene);
    struct columns c = {.flux = VALUES, .reaction = VALUES};
    c.reaction += kinds >> TAC_HISTORY_FLUX & 1 ? FLUX_VALUES : 0;
    c.pose = c.reaction + (kinds >> TAC_HISTORY_REACTION & 1 ? REACTION_VALUES : 0);
    c.count = BEFORE + c.pose + (kinds >> TAC_HISTORY_POSE & 1 ? POSE_VALUES : 0);
    return c;
}

static int place_of(const struct columns *c, const struct set *set)
{
    const int first = set->first >= POSE       ? c->pose + set->first - POSE
                      : set->first >= REACTION ? c->reaction + set->first - REACTION
                      : set->first >= FLUX     ? c->flux + set->first - FLUX
                                               : set->first;
    return BEFORE + first;
}

struct rows {
    size_t count, capacity;
    double *row; /* owned, (count, MOST): the numbers of the lines */
};

/* Reads the numbers of a line; false if it is of another history. */
static bool parse_line(const struct columns *c, const char *line, tac_lid history, const char *name, double value[MOST])
{
    char *rest;
    for (int k = 0; k < BEFORE + VALUES; k++) {
        value[k] = strtod(line, &rest);
        if (rest == line || *rest != ',')
            return false;
        line = rest + 1;
    }
    /* The name as CSV has it: quotes are doubled. */
    if (*line++ != '"' || value[1] != history)
        return false;
    for (; *name != '\0'; name++, line++)
        if (*line != *name || (*name == '"' && *++line != '"'))
            return false;
    if (*line++ != '"')
        return false;
    for (int k = BEFORE + VALUES; k < c->count; k++) {
        value[k] = *line == ',' ? strtod(line + 1, &rest) : 0;
        if (*line != ',' || rest == line + 1)
            return false;
        line = rest;
    }
    return true;
}

static enum tac_err read_history_rows(struct tac_ctx *ctx, const struct columns *columns, FILE *file, tac_lid history,
                                      const char *name, struct rows *rows)
{
    enum tac_err err = TAC_OK;
    char *line = NULL;
    size_t capacity = 0;
    rewind(file);
    while (!err && getline(&line, &capacity, file) > 0) {
        double value[MOST] = {0};
        if (!parse_line(columns, line, history, name, value))
            continue;
        err = tac_grow(ctx, &rows->row, &rows->capacity, MOST * (rows->count + 1), sizeof *rows->row);
        if (err)
            break;
        memcpy(&rows->row[MOST * rows->count++], value, sizeof value);
    }
    free(line);
    return err;
}

static bool write_set(hid_t group, const char *name, const char *units, int rank, const hsize_t *size,
                      const double *data)
{
    const hid_t space = H5Screate_simple(rank, size, NULL);
    const hid_t id =
        space >= 0 ? H5Dcreate2(group, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) : -1;
    bool ok = id >= 0 && (units == NULL || tac_h5_put_text(id, "units", units)) &&
              H5Dwrite(id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
    if (id >= 0)
        ok = H5Dclose(id) >= 0 && ok;
    if (space >= 0)
        H5Sclose(space);
    return ok;
}

/* Writes what the history follows: a body, or the bodies and the plane of a flux. */
static bool put_about(hid_t group, const struct tac_settings *settings, const struct tac_history *h)
{
    static const char *const kind[] = {"vertices", "reaction", "flux", "pose"};
    bool ok = tac_h5_put_text(group, "name", h->name) && tac_h5_put_text(group, "kind", kind[h->kind]);
    if (h->kind != TAC_HISTORY_FLUX)
        return ok && tac_h5_put_text(group, "body", settings->body[h->body].name);
    return ok &&
           write_set(group, "plane", "m", 2, (hsize_t[]){2, 3},
                     (const double[]){h->point[0], h->point[1], h->point[2], h->normal[0], h->normal[1], h->normal[2]});
}

/* buffer: (rows, WIDEST). Rows of one time are consecutive, `each` of them. */
static bool write_history(hid_t group, const struct tac_output *out, const struct columns *columns,
                          const struct tac_history *h, const struct rows *rows, double *buffer)
{
    const size_t each = h->each ? (size_t)h->vertex_count : 1, times = rows->count / each;
    bool ok = put_about(group, out->scene->settings, h);
    for (size_t k = 0; k < times; k++)
        buffer[k] = rows->row[MOST * each * k];
    ok = ok && write_set(group, "time", "s", 1, (hsize_t[]){times}, buffer);
    for (size_t k = 0; k < each && k < rows->count; k++)
        buffer[k] = rows->row[MOST * k + 2];
    if (h->each)
        ok = ok && write_set(group, "vertex", NULL, 1, (hsize_t[]){rows->count > 0 ? each : 0}, buffer);
    for (const struct set *set = sets[h->kind]; set->name != NULL; set++) {
        const size_t width = (size_t)set->columns, at = (size_t)place_of(columns, set);
        hsize_t size[3] = {times, each, width};
        int rank = h->each ? 2 : 1;
        if (!h->each)
            size[1] = width;
        for (size_t k = 0; k < times * each; k++)
            memcpy(&buffer[width * k], &rows->row[MOST * k + at], width * sizeof *buffer);
        ok = ok && write_set(group, set->name, set->units, rank + (width > 1), size, buffer);
    }
    return ok;
}

static enum tac_err write_histories(struct tac_ctx *ctx, const struct tac_output *out, FILE *file, hid_t parent,
                                    bool *ok)
{
    const struct tac_output_settings *output = &out->scene->settings->output;
    const struct columns columns = columns_of(out->scene);
    enum tac_err err = TAC_OK;
    for (tac_lid h = 0; h < output->history_count && *ok && !err; h++) {
        struct rows rows = {0};
        double *buffer = NULL;
        char name[16];
        snprintf(name, sizeof name, "%06d", (int)h);
        err = read_history_rows(ctx, &columns, file, h, output->history[h].name, &rows);
        if (!err)
            err = tac_alloc(ctx, WIDEST * rows.count + 1, sizeof *buffer, &buffer);
        const hid_t group = err ? -1 : H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        *ok = err || (group >= 0 && write_history(group, out, &columns, &output->history[h], &rows, buffer));
        if (group >= 0)
            H5Gclose(group);
        free(rows.row);
        free(buffer);
    }
    return err;
}

enum tac_err tac_histories_convert(struct tac_ctx *ctx, const struct tac_output *out)
{
    const struct tac_settings *settings = out->scene->settings;
    char csv[4200], temporary[4200], path[4200];
    enum tac_err err = TAC_OK;
    bool ok = true;
    struct tac_h5_quiet quiet;
    /* The path uses the folder's descriptor, because the folder may have been renamed. */
    snprintf(csv, sizeof csv, "/proc/self/fd/%d/histories.csv", out->folder.fd);
    snprintf(path, sizeof path, "/proc/self/fd/%d/histories.h5", out->folder.fd);
    snprintf(temporary, sizeof temporary, "/proc/self/fd/%d/histories.h5.tmp", out->folder.fd);
    FILE *file = fopen(csv, "re");
    if (file == NULL)
        return tac_fail(ctx, TAC_ERR_RUN, "cannot read %s/histories.csv; is the disk in order?", out->folder.dir);
    /* HDF5 would write through a link of that name. */
    const int fresh = tac_create_new(out->folder.fd, "histories.h5.tmp", O_WRONLY);
    if (fresh >= 0)
        close(fresh);
    tac_h5_quiet(&quiet);
    hid_t h5 = fresh < 0 ? -1 : H5Fcreate(temporary, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t group = h5 >= 0 ? H5Gcreate2(h5, "histories", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) : -1;
    ok = group >= 0 && tac_h5_put_text(h5, "format", "tactus-histories/1") &&
         tac_h5_put_text(h5, "version", tac_version()) && tac_h5_put_text(h5, "commit", tac_commit()) &&
         tac_h5_put_text(h5, "name", settings->name) && tac_h5_put_text(h5, "scene_sha256", settings->sha256);
    if (ok)
        err = write_histories(ctx, out, file, group, &ok);
    if (group >= 0)
        ok = H5Gclose(group) >= 0 && ok;
    if (h5 >= 0)
        ok = H5Fclose(h5) >= 0 && ok;
    tac_h5_restore(&quiet);
    fclose(file);
    if (!err && ok && rename(temporary, path) == 0)
        return TAC_OK;
    unlink(temporary);
    return err ? err
               : tac_fail(ctx, TAC_ERR_RUN, "cannot write %s/histories.h5; free some space or write elsewhere with -o",
                          out->folder.dir);
}
