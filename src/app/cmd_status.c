/* cmd_status.c: `tactus status DIR...`: says how far runs are or how they ended, and how jobs stand that have not
 * begun. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/app.h"
#include "app/slurm/job_look.h"
#include <tactus/report.h>

static const char about[] =
    "Prints how far the run in the folder DIR is, or how it ended. Of several folders, or of a sweep's folder, it "
    "prints a\n"
    "table. A run of jobs/submit may also be pending, starting, waiting (after a failure) or requeued; where Slurm's\n"
    "squeue is installed, it gives the reason. It needs no MPI, and runs on a login node.";

static const char *status_text(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text != NULL ? text : "?";
}

static int64_t whole_of(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

/* ---- one folder ---- */

static void print_line(const char *name, double seconds, const char *after)
{
    char text[32];
    tac_duration_text(seconds, text, sizeof text);
    printf("  %-11s %s%s\n", name, text, after);
}

static void print_head(const struct tac_look *look)
{
    const char *state = status_text(look->status, "state");
    if (look->job != NULL)
        printf("%s: %s%s%s%s\n", look->dir, look->condition, look->why[0] ? " (" : "", look->why,
               look->why[0] ? ")" : "");
    else if (strcmp(look->condition, "gone") == 0)
        printf("%s: ended without saying so (%s)\n", look->dir, look->why);
    else
        printf("%s: %s\n", look->dir, state);
}

static void print_job(const struct tac_look *look)
{
    const char *job = tac_look_job(look);
    const json_t *s = look->state;
    if (look->job == NULL || job == NULL)
        return;
    printf("  job         %s", job);
    if (s != NULL)
        printf(", %" PRId64 " tries in %" PRId64 " sittings, %" PRId64 " failed since the newest checkpoint",
               whole_of(s, "tries"), whole_of(s, "sittings"), whole_of(s, "failures"));
    printf("\n");
    if (s == NULL && json_is_integer(json_object_get(look->job, "submitted")))
        print_line("submitted", difftime(time(NULL), (time_t)0) - tac_look_real(look->job, "submitted"), " ago");
}

static void print_status(const struct tac_look *look)
{
    const json_t *s = look->status;
    const bool running = strcmp(look->condition, "running") == 0;
    print_head(look);
    print_job(look);
    if (s == NULL)
        return;
    printf("  time        %.6g of %.6g s (%.1f %%)\n", tac_look_real(s, "time"), tac_look_real(s, "end"),
           100 * tac_look_real(s, "share"));
    printf("  speed       %.3g s of simulated time per second, %.3g ticks per second\n", tac_look_real(s, "speed"),
           tac_look_real(s, "ticks_per_s"));
    print_line("wall time", tac_look_real(s, "wall_s"), "");
    if (running)
        print_line("left", tac_look_real(s, "wall_left_s"), "");
    printf("  contacts    %" PRId64 ", deepest layer %" PRId64 "\n", whole_of(s, "contacts"),
           whole_of(s, "deepest_layer"));
    printf("  window      %.3g s, %" PRId64 " rollbacks\n", tac_look_real(s, "window_s"),
           whole_of(json_object_get(s, "counters"), "rollbacks"));
    const char *checkpoint = json_string_value(json_object_get(s, "checkpoint"));
    printf("  checkpoint  %s, restarted %" PRId64 " times\n", checkpoint != NULL ? checkpoint : "none yet",
           whole_of(s, "restarts"));
    if (look->saved_age_s >= 0)
        print_line("saved", look->saved_age_s, " ago");
    if (strcmp(status_text(s, "state"), "running") == 0 && look->age_s >= 0)
        print_line("last sign", look->age_s, " ago");
    if (json_is_string(json_object_get(s, "error")))
        printf("  error       %s\n", status_text(s, "error"));
}

/* ---- a table ---- */

static void print_table(const struct tac_look *look, int count)
{
    int width = (int)strlen("folder");
    for (int i = 0; i < count; i++)
        width = (int)strlen(look[i].dir) > width ? (int)strlen(look[i].dir) : width;
    printf("%-*s  %-8s  %6s  %9s  %9s  %8s  %8s  %s\n", width, "folder", "state", "done", "left", "speed", "restarts",
           "saved", "why");
    for (int i = 0; i < count; i++) {
        const json_t *s = look[i].status;
        char left[32] = "-", saved[32] = "-", share[32] = "-", speed[32] = "-", restarts[32] = "-";
        if (strcmp(look[i].condition, "running") == 0)
            tac_duration_text(tac_look_real(s, "wall_left_s"), left, sizeof left);
        if (look[i].saved_age_s >= 0)
            tac_duration_text(look[i].saved_age_s, saved, sizeof saved);
        if (s != NULL) {
            snprintf(share, sizeof share, "%.1f%%", 100 * tac_look_real(s, "share"));
            snprintf(speed, sizeof speed, "%.3g", tac_look_real(s, "speed"));
            snprintf(restarts, sizeof restarts, "%" PRId64, whole_of(s, "restarts"));
        }
        printf("%-*s  %-8s  %6s  %9s  %9s  %8s  %8s  %s\n", width, look[i].dir, look[i].condition, share, left, speed,
               restarts, saved, look[i].why[0] ? look[i].why : "-");
    }
}

/* ---- JSON ---- */

/* Returns status.json with further data of the run; NULL: out of memory. */
static json_t *json_of(const struct tac_look *look)
{
    json_t *o = look->status != NULL ? json_copy(look->status) : json_object();
    const char *job = tac_look_job(look);
    tac_json_put(&o, "folder", tac_json_text(look->dir));
    tac_json_put(&o, "condition", tac_json_text(look->condition));
    tac_json_put(&o, "why", look->why[0] ? tac_json_text(look->why) : json_null());
    tac_json_put(&o, "alive",
                 look->alive == TAC_ALIVE_UNKNOWN ? json_null() : json_boolean(look->alive == TAC_ALIVE_YES));
    tac_json_put(&o, "age_s", tac_json_real(look->age_s));
    tac_json_put(&o, "saved_age_s", tac_json_real(look->saved_age_s));
    tac_json_put(&o, "job", look->job != NULL && job != NULL ? tac_json_text(job) : json_null());
    tac_json_put(&o, "job_state", look->state != NULL ? json_incref(look->state) : json_null());
    return o;
}

static enum tac_err print_status_json(struct tac_ctx *ctx, const struct tac_look *look, int count, bool list)
{
    json_t *all = json_array();
    for (int i = 0; i < count; i++)
        tac_json_append(&all, json_of(&look[i]));
    if (list || all == NULL)
        return tac_json_print(ctx, all);
    json_t *one = json_incref(json_array_get(all, 0));
    json_decref(all);
    return tac_json_print(ctx, one);
}

/* ---- which folders ---- */

struct folders {
    char **item; /* owned */
    int count;
    bool table; /* also of one */
};

static enum tac_err add_folder(struct tac_ctx *ctx, struct folders *list, const char *dir, const char *name)
{
    char **item = realloc(list->item, ((size_t)list->count + 1) * sizeof *item);
    const size_t size = strlen(dir) + strlen(name) + 2;
    if (item != NULL)
        list->item = item;
    char *path = item != NULL ? malloc(size) : NULL;
    if (path == NULL)
        return tac_fail(ctx, TAC_ERR_RUN, "out of memory while reading the names of folders");
    snprintf(path, size, "%s%s%s", dir, name[0] ? "/" : "", name);
    list->item[list->count++] = path;
    return TAC_OK;
}

/* A sweep's folder stands for those of its runs. */
static enum tac_err add_folders(struct tac_ctx *ctx, struct folders *list, const char *dir)
{
    enum tac_err err = TAC_OK;
    json_t *job = NULL, *state = NULL;
    size_t i;
    json_t *run;
    if (tac_folder_job(ctx, dir, &job, &state) != TAC_OK)
        ctx->error[0] = '\0'; /* this failure is reported later */
    json_t *runs = json_object_get(json_object_get(job, "sweep"), "runs");
    if (!json_is_array(runs))
        TAC_TRY(add_folder(ctx, list, dir, ""));
    list->table = list->table || json_is_array(runs);
    json_array_foreach(runs, i, run)
    {
        const char *name = json_string_value(json_object_get(run, "folder"));
        if (name == NULL || strspn(name, "0123456789") != strlen(name))
            TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "'%s/job.json' is damaged: a run of the sweep has no folder", dir));
        TAC_TRY(add_folder(ctx, list, dir, name));
    }
done:
    json_decref(job);
    json_decref(state);
    return err;
}

static void clear_folders(struct folders *list)
{
    for (int i = 0; i < list->count; i++)
        free(list->item[i]);
    free(list->item);
    *list = (struct folders){NULL, 0, false};
}

/* ---- the command ---- */

/* Reads the files again if Slurm says that a job has ended and its files do not. The job may have ended after its files
 * were read and before Slurm answered. */
static enum tac_err recheck_slurm_state(struct tac_ctx *ctx, struct tac_look *look)
{
    enum tac_err err = TAC_OK;
    tac_look_judge(look);
    if (look->queue == TAC_QUEUE_SILENT || strcmp(look->condition, "gone") != 0)
        return err;
    tac_look_clear(look);
    err = tac_look_read(ctx, look);
    tac_look_judge(look);
    return err;
}

/* Looks once at all folders, and prints. *lives: some run will continue. In a table a folder that cannot be read does
 * not hide the others; the command fails with the sentence about the last such folder. */
static enum tac_err look_once(struct tac_ctx *ctx, const struct folders *list, bool as_json, bool clear, bool *lives)
{
    enum tac_err err = TAC_OK, bad = TAC_OK;
    struct tac_look *look = NULL;
    int count = 0;
    *lives = false;
    TAC_TRY(tac_alloc(ctx, (size_t)list->count, sizeof *look, &look));
    for (int i = 0; i < list->count; i++) {
        look[count].dir = list->item[i];
        const enum tac_err read = tac_look_read(ctx, &look[count]);
        if (read == TAC_OK)
            count++;
        else
            tac_look_clear(&look[count]);
        bad = read ? read : bad;
    }
    tac_queue_ask(look, count);
    for (int i = 0; i < count; i++) {
        const enum tac_err judged = recheck_slurm_state(ctx, &look[i]);
        bad = judged ? judged : bad;
        *lives = *lives || tac_look_lives(&look[i]);
    }
    if (clear)
        printf("\033[H\033[2J");
    if (as_json && (count > 0 || list->table))
        TAC_TRY(print_status_json(ctx, look, count, list->table));
    else if (count > 0 && list->table)
        print_table(look, count);
    else if (count > 0)
        print_status(look);
    fflush(stdout);
    err = bad;
done:
    for (int i = 0; i < count; i++)
        tac_look_clear(&look[i]);
    free(look);
    return err;
}

static enum tac_err watch_folders(struct tac_ctx *ctx, const struct folders *list)
{
    const struct timespec pause = {2, 0};
    const bool terminal = isatty(STDOUT_FILENO);
    for (;;) {
        bool lives;
        const enum tac_err err = look_once(ctx, list, false, terminal, &lives);
        if (err || !lives || ferror(stdout))
            return err;
        nanosleep(&pause, NULL);
        if (!terminal)
            putchar('\n');
    }
}

enum tac_err tac_cmd_status(struct tac_ctx *ctx, int argc, char **argv)
{
    enum tac_err err;
    bool as_json = false, watching = false, help, lives;
    const char **dir = NULL;
    int count;
    struct folders list = {NULL, 0, false};
    const struct tac_option option[] = {
        {"--json", TAC_OPTION_FLAG, &as_json, NULL, "print JSON: status.json, and how the run and its job are"},
        {"--watch", TAC_OPTION_FLAG, &watching, NULL, "print it every two seconds, until all runs have ended"}};
    TAC_TRY(tac_alloc(ctx, (size_t)argc + 1, sizeof *dir, &dir));
    TAC_TRY(tac_options_parse(ctx, "status", argc, argv, option, 2, dir, argc, &count, &help));
    if (help) {
        tac_options_help("status", "DIR... [--watch] [--json]", about, option, 2);
        goto done;
    }
    if (count < 1)
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "tactus status needs a run folder: tactus status DIR"));
    if (as_json && watching)
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT,
                         "--watch and --json exclude each other; call tactus status --json again and again"));
    list.table = count > 1;
    for (int i = 0; i < count; i++)
        TAC_TRY(add_folders(ctx, &list, dir[i]));
    if (watching)
        err = watch_folders(ctx, &list);
    else
        err = look_once(ctx, &list, as_json, false, &lives);
done:
    clear_folders(&list);
    free(dir);
    return err;
}
