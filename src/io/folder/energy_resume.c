/* energy_resume.c: continues the energy.csv of a run from a checkpoint: cuts off the later rows, and checks that the
 * others are as they were written. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "io/folder/output.h"

int64_t tac_energy_frame(const struct tac_scene *scene, double t_s, int64_t next)
{
    const double near = t_s / scene->settings->frame_s;
    if (!(near >= 0 && near < 9e15))
        return -1;
    for (int64_t k = (int64_t)near; k <= (int64_t)near + 1; k++)
        if (k < next && t_s == (double)tac_scene_frame_time(scene, k) * scene->settings->quantum_s)
            return k;
    return -1;
}

static int count_commas(const char *row)
{
    int n = 0;
    for (; *row != '\0'; row++)
        n += *row == ',';
    return n;
}

/* What a line of the file is. */
enum line {
    KEPT,
    LATER, /* than the checkpoint */
    LAST,  /* it is between two frames, or not finished: only the last line of a file may be so */
    WRONG
};

struct reading {
    const struct tac_scene *scene;
    double t_s, before; /* of the checkpoint; of the row before */
    int64_t next;
};

static enum line check_line(struct reading *in, const char *text, ssize_t length, int64_t *index)
{
    enum { COLUMNS = 22 };
    char *rest;
    if (text[length - 1] != '\n')
        return LAST;
    const double at = strtod(text, &rest);
    if (rest == text || *rest != ',' || memchr(text, '\0', (size_t)length) != NULL ||
        count_commas(text) < COLUMNS - 1 || !(at > in->before))
        return WRONG;
    in->before = at;
    if (at > in->t_s)
        return LATER;
    *index = tac_energy_frame(in->scene, at, in->next);
    return *index >= 0 ? KEPT : LAST;
}

static enum tac_err refuse_energy_table(struct tac_ctx *ctx, const struct tac_output *out,
                                        const struct tac_output_past *past, const char *what)
{
    return tac_fail(ctx, TAC_ERR_INPUT,
                    "%s/energy.csv is damaged: %s; put it right, or move it away (a new one begins with the row of "
                    "frame %" PRId64 "), or go on in another folder with -o",
                    out->folder.dir, what, past->next_frame);
}

/* Reads the rows up to that of the last frame before the checkpoint. */
static enum tac_err read_energy_rows(struct tac_ctx *ctx, const struct tac_output *out,
                                     const struct tac_output_past *past, FILE *file, struct tac_energy_plan *plan)
{
    enum tac_err err = TAC_OK;
    struct reading in = {out->scene, (double)past->now * out->scene->settings->quantum_s, -INFINITY, past->next_frame};
    char *text = NULL, what[96];
    size_t capacity = 0;
    int64_t index = -1, line = 1;
    enum line is = KEPT;
    ssize_t length = getline(&text, &capacity, file);
    plan->aside = !(length > 5 && text[length - 1] == '\n' && strncmp(text, "time,", 5) == 0);
    plan->end = plan->aside ? 0 : length;
    plan->losses = !plan->aside && tac_energy_tells_losses(text);
    plan->header = plan->aside ? 0 : (int64_t)crc32(crc32(0, Z_NULL, 0), (const Bytef *)text, (uInt)length);
    /* Everything after the row of the last frame is later. */
    while (!plan->aside && index < past->next_frame - 1 && (length = getline(&text, &capacity, file)) > 0) {
        const bool inside = is == LAST; /* the line before was not the last one */
        is = inside ? WRONG : check_line(&in, text, length, &index);
        line += !inside;
        if (is == WRONG) {
            snprintf(what, sizeof what, "its line %" PRId64 " is no row of this run", line);
            TAC_TRY(refuse_energy_table(ctx, out, past, what));
        }
        if (is == LATER)
            break;
        if (is == LAST)
            continue;
        TAC_TRY(tac_grow(ctx, &plan->row, &plan->capacity, plan->count + 1, sizeof *plan->row));
        plan->row[plan->count++] =
            (struct tac_output_entry){index, 0, (int64_t)crc32(crc32(0, Z_NULL, 0), (const Bytef *)text, (uInt)length)};
        plan->end += length;
    }
    if (ferror(file))
        err = tac_fail(ctx, TAC_ERR_RUN, "cannot read %s/energy.csv: %s", out->folder.dir, strerror(errno));
done:
    free(text);
    return err;
}

/* Checks that the rows are those that the checkpoint lists. If it lists none (an older checkpoint), the last row must
 * be there. */
static enum tac_err compare_with_checkpoint(struct tac_ctx *ctx, const struct tac_output *out,
                                            const struct tac_output_past *past, const struct tac_energy_plan *plan)
{
    char what[96];
    const int64_t last = past->next_frame - 1;
    size_t r = 0;
    if (past->entry_count == 0 && plan->row[plan->count - 1].index < last) {
        snprintf(what, sizeof what, "it lacks the row of frame %" PRId64, last);
        return refuse_energy_table(ctx, out, past, what);
    }
    for (int64_t k = 0; k < past->entry_count; k++) {
        const struct tac_output_entry *e = &past->entry[k];
        if (e->row < 0)
            continue;
        while (r < plan->count && plan->row[r].index < e->index)
            r++;
        if (r < plan->count && plan->row[r].index == e->index && plan->row[r].row == e->row)
            continue;
        if (r < plan->count && plan->row[r].index == e->index)
            snprintf(what, sizeof what, "the row of frame %" PRId64 ", line %zu, is not what was written", e->index,
                     r + 2);
        else
            snprintf(what, sizeof what, "it lacks the row of frame %" PRId64, e->index);
        return refuse_energy_table(ctx, out, past, what);
    }
    return TAC_OK;
}

static bool tells_rows(const struct tac_output_past *past)
{
    for (int64_t k = 0; k < past->entry_count; k++)
        if (past->entry[k].row >= 0)
            return true;
    return false;
}

enum tac_err tac_energy_look(struct tac_ctx *ctx, const struct tac_output *out, const struct tac_output_past *past,
                             bool here, struct tac_energy_plan *plan)
{
    enum tac_err err = TAC_OK;
    FILE *file = NULL;
    const int fd = openat(out->folder.fd, "energy.csv", O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT)
        return tac_fail(ctx, TAC_ERR_RUN, "cannot read %s/energy.csv: %s", out->folder.dir, strerror(errno));
    plan->there = fd >= 0;
    if (plan->there) {
        file = fdopen(fd, "r");
        if (file == NULL) {
            err = tac_fail(ctx, TAC_ERR_RUN, "cannot read %s/energy.csv: %s", out->folder.dir, strerror(errno));
            close(fd);
            goto done;
        }
        TAC_TRY(read_energy_rows(ctx, out, past, file, plan));
    }
    if (here)
        TAC_TRY(tac_sums_look(ctx, out, past));
    if (here && plan->count > 0)
        TAC_TRY(compare_with_checkpoint(ctx, out, past, plan));
    else if (here && !plan->aside && tells_rows(past))
        tac_warn(ctx, "%s/energy.csv has no rows from before the checkpoint, and goes on with that of frame %" PRId64,
                 out->folder.dir, past->next_frame);
done:
    if (file != NULL)
        fclose(file);
    return err;
}

enum tac_err tac_energy_resume(struct tac_ctx *ctx, struct tac_output *out, const struct tac_output_past *past,
                               const struct tac_energy_plan *plan)
{
    enum tac_err err = TAC_OK;
    const char *dir = out->folder.dir;
    if (plan->aside) {
        if (renameat(out->folder.fd, "energy.csv", out->folder.fd, "energy.csv.damaged") != 0)
            return tac_fail(ctx, TAC_ERR_RUN, "cannot rename %s/energy.csv: %s", dir, strerror(errno));
        tac_warn(ctx,
                 "%s/energy.csv does not begin with its header; it is kept as energy.csv.damaged, and a new one begins",
                 dir);
    }
    if (plan->aside || !plan->there)
        return tac_energy_create(ctx, out, past->losses);
    out->energy = openat(out->folder.fd, "energy.csv", O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
    out->energy_losses = plan->losses;
    struct tac_output_sums *sums = &out->sums[TAC_LINES_ENERGY];
    err = tac_grow(ctx, &sums->line, &sums->capacity, 1, sizeof *sums->line);
    if (err)
        return err;
    sums->line[0] = plan->header;
    sums->count = 1;
    if (out->energy < 0 || ftruncate(out->energy, (off_t)plan->end) != 0)
        err = tac_fail(ctx, TAC_ERR_RUN, "cannot write %s/energy.csv: %s", dir, strerror(errno));
    return err;
}
