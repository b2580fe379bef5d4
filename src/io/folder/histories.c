/* histories.c: histories.h5, made of histories.csv when a run ends: the rows of each history as arrays.  The table
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

/* The columns behind time and history, by datasets. */
static const struct {
    const char *name, *units;
    int columns;
} SETS[] = {{"mass", "kg", 1},      {"kinetic", "J", 1},       {"position", "m", 3},
            {"velocity", "m/s", 3}, {"contact_force", "N", 3}, {"elastic_force", "N", 3}};
enum {
    SET_COUNT = sizeof SETS / sizeof SETS[0],
    VALUES = 16,
    BEFORE = 4
}; /* BEFORE: time, history, vertex, vertices */

struct rows {
    size_t count, capacity;
    double *row; /* owned, (count, VALUES): time, vertex, then the values of SETS */
};

/* A line's numbers, if it is of this history. */
static bool parse(const char *line, tac_lid history, const char *name, double value[BEFORE + VALUES - 2])
{
    char *rest;
    for (int k = 0; k < BEFORE + VALUES - 2; k++) {
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
    return *line == '"';
}

static enum tac_err read_rows(struct tac_ctx *ctx, FILE *file, tac_lid history, const char *name, struct rows *rows)
{
    enum tac_err err = TAC_OK;
    char *line = NULL;
    size_t capacity = 0;
    rewind(file);
    while (!err && getline(&line, &capacity, file) > 0) {
        double value[BEFORE + VALUES - 2];
        if (!parse(line, history, name, value))
            continue;
        err = tac_grow(ctx, &rows->row, &rows->capacity, VALUES * (rows->count + 1), sizeof *rows->row);
        if (err)
            break;
        double *row = &rows->row[VALUES * rows->count++];
        row[0] = value[0];
        row[1] = value[2];
        memcpy(row + 2, value + BEFORE, (VALUES - 2) * sizeof *row);
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

/* buffer: (rows, 3).  Rows of one time are one behind the other, `each` of them. */
static bool write_history(hid_t group, const struct tac_output *out, const struct tac_history *h,
                          const struct rows *rows, double *buffer)
{
    const size_t each = h->each ? (size_t)h->vertex_count : 1, times = rows->count / each;
    bool ok = tac_h5_put_text(group, "name", h->name) &&
              tac_h5_put_text(group, "body", out->scene->settings->body[h->body].name);
    for (size_t k = 0; k < times; k++)
        buffer[k] = rows->row[VALUES * each * k];
    ok = ok && write_set(group, "time", "s", 1, (hsize_t[]){times}, buffer);
    for (size_t k = 0; k < each && k < rows->count; k++)
        buffer[k] = rows->row[VALUES * k + 1];
    if (h->each)
        ok = ok && write_set(group, "vertex", NULL, 1, (hsize_t[]){rows->count > 0 ? each : 0}, buffer);
    for (int s = 0, at = 2; s < SET_COUNT; at += SETS[s++].columns) {
        const size_t width = (size_t)SETS[s].columns;
        hsize_t size[3] = {times, each, width};
        int rank = h->each ? 2 : 1;
        if (!h->each)
            size[1] = width;
        for (size_t k = 0; k < times * each; k++)
            memcpy(&buffer[width * k], &rows->row[VALUES * k + (size_t)at], width * sizeof *buffer);
        ok = ok && write_set(group, SETS[s].name, SETS[s].units, rank + (width > 1), size, buffer);
    }
    return ok;
}

static enum tac_err write_all(struct tac_ctx *ctx, const struct tac_output *out, FILE *file, hid_t parent, bool *ok)
{
    const struct tac_output_settings *output = &out->scene->settings->output;
    enum tac_err err = TAC_OK;
    for (tac_lid h = 0; h < output->history_count && *ok && !err; h++) {
        struct rows rows = {0};
        double *buffer = NULL;
        char name[16];
        snprintf(name, sizeof name, "%06d", (int)h);
        err = read_rows(ctx, file, h, output->history[h].name, &rows);
        if (!err)
            err = tac_alloc(ctx, 3 * rows.count + 1, sizeof *buffer, &buffer);
        const hid_t group = err ? -1 : H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        *ok = err || (group >= 0 && write_history(group, out, &output->history[h], &rows, buffer));
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
    /* By the folder's descriptor: it may have been renamed. */
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
        err = write_all(ctx, out, file, group, &ok);
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
