/* job_look.c: reads the files of a run folder about its run and its job, and finds the condition of the run. */
#include "app/slurm/job_look.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *job_text(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text != NULL ? text : "";
}

double tac_look_real(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static double now_s(void)
{
    return difftime(time(NULL), (time_t)0);
}

/* dir/name, or NULL if memory is out; the caller frees it. */
static char *join_path(const char *dir, const char *name)
{
    const size_t size = strlen(dir) + strlen(name) + 2;
    char *path = malloc(size);
    if (path != NULL)
        snprintf(path, size, "%s/%s", dir, name);
    return path;
}

static bool is_there(const char *dir, const char *name)
{
    char *path = join_path(dir, name);
    const bool there = path != NULL && access(path, F_OK) == 0;
    free(path);
    return there;
}

/* Seconds since a file was written; NaN: not known. */
static double file_age_s(const char *dir, const char *name)
{
    struct stat s;
    char *path = strchr(name, '/') == NULL && name[0] != '\0' ? join_path(dir, name) : NULL;
    const bool known = path != NULL && stat(path, &s) == 0;
    free(path);
    return known ? fmax(0, now_s() - difftime(s.st_mtime, (time_t)0)) : NAN;
}

enum tac_err tac_look_read(struct tac_ctx *ctx, struct tac_look *look)
{
    enum tac_err err;
    look->age_s = look->saved_age_s = NAN;
    look->alive = TAC_ALIVE_UNKNOWN;
    TAC_TRY(tac_folder_job(ctx, look->dir, &look->job, &look->state));
    if (look->job != NULL && !is_there(look->dir, "status.json"))
        goto done;
    TAC_TRY(tac_folder_status(ctx, look->dir, &look->status));
    look->alive = tac_process_alive(look->status);
    look->age_s = now_s() - tac_look_real(look->status, "updated");
    look->saved_age_s = file_age_s(look->dir, job_text(look->status, "checkpoint"));
done:
    return err;
}

const char *tac_look_job(const struct tac_look *look)
{
    const char *text = job_text(look->state, "job"), *other = job_text(look->job, "job");
    text = strspn(text, "0123456789_") == strlen(text) && isdigit((unsigned char)text[0]) && strcmp(text, "0") != 0
               ? text
               : other;
    return text[0] != '\0' && strspn(text, "0123456789_") == strlen(text) ? text : NULL;
}

void tac_look_clear(struct tac_look *look)
{
    json_decref(look->status);
    json_decref(look->job);
    json_decref(look->state);
    look->status = look->job = look->state = NULL;
}

/* ---- judging ---- */

static bool is_one_of(const char *word, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strcmp(word, *list) == 0)
            return true;
    return false;
}

/* What Slurm's commonest reasons mean. */
static const char *explain_reason(const char *reason)
{
    static const char *const known[][2] = {
        {"Priority", "jobs with a higher priority come first"},
        {"Resources", "it waits for free nodes"},
        {"BeginTime", "Slurm lets it wait some time after a requeue"},
        {"Dependency", "it waits for another job"},
        {"JobHeldUser", "it is held; release it: scontrol release"},
        {"JobHeldAdmin", "an administrator holds it"},
        {"JobArrayTaskLimit", "the sweep runs as many at a time as it may already"},
        {"PartitionTimeLimit", "it requests more time than the partition allows, and will not start"},
        {"PartitionNodeLimit", "it requests more nodes than the partition allows, and will not start"},
        {"ReqNodeNotAvail", "nodes that it needs are down or reserved"},
        {"launch failed requeued held", "its nodes failed to start it; release it: scontrol release"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strncmp(reason, known[i][0], strlen(known[i][0])) == 0)
            return known[i][1];
    return NULL;
}

static void set_condition(struct tac_look *look, const char *condition, const char *why)
{
    look->condition = condition;
    snprintf(look->why, sizeof look->why, "%s", why);
}

/* Sets the condition from what the program wrote, for a run without a job or after its job. */
static void use_program_state(struct tac_look *look)
{
    static const char *const known[] = {"running", "finished", "stopped", "failed", NULL};
    const char *state = job_text(look->status, "state");
    for (int i = 0; known[i] != NULL; i++)
        if (strcmp(state, known[i]) == 0)
            set_condition(look, known[i], job_text(look->status, "error"));
    if (look->condition == NULL)
        set_condition(look, "unknown", "");
    if (strcmp(look->condition, "running") == 0 && look->alive == TAC_ALIVE_NO) {
        look->condition = "gone";
        snprintf(look->why, sizeof look->why, "its process %lld is gone",
                 (long long)json_integer_value(json_object_get(look->status, "pid")));
    }
}

/* Sets the condition if the job wrote how it ended (stopped, failed, finished); false: it did not. */
static bool use_job_end(struct tac_look *look)
{
    static const char *const ends[] = {"finished", "stopped", "failed", NULL};
    const char *state = job_text(look->state, "state");
    if (strcmp(job_text(look->status, "state"), "finished") == 0) {
        set_condition(look, "finished", "");
        return true;
    }
    for (int i = 0; ends[i] != NULL; i++)
        if (strcmp(state, ends[i]) == 0) {
            set_condition(look, ends[i], job_text(look->state, "reason"));
            /* The user has continued the run by hand. */
            if (tac_look_real(look->status, "updated") > tac_look_real(look->state, "updated") + 5)
                use_program_state(look);
            return true;
        }
    return false;
}

/* Sets the condition of a run whose job is running, as far as is known. */
static void use_running_job(struct tac_look *look)
{
    const char *state = job_text(look->state, "state");
    const bool running = strcmp(job_text(look->status, "state"), "running") == 0;
    if (use_job_end(look))
        return;
    if (strcmp(state, "requeued") == 0 || strcmp(state, "waiting") == 0)
        set_condition(look, strcmp(state, "requeued") == 0 ? "requeued" : "waiting", job_text(look->state, "reason"));
    else if (running && look->alive == TAC_ALIVE_NO && look->queue != TAC_QUEUE_KNOWN)
        use_program_state(look);
    else if (running && look->alive != TAC_ALIVE_NO)
        set_condition(look, "running", "");
    else
        set_condition(look, "starting", "");
}

static void use_pending_job(struct tac_look *look)
{
    const char *more = explain_reason(look->queue_reason);
    look->condition = look->state == NULL ? "pending" : "requeued";
    snprintf(look->why, sizeof look->why, "%s%s%s", look->queue_reason, more != NULL ? ": " : "",
             more != NULL ? more : "");
}

/* Sets the condition if the batch system says that the job has ended. */
static void use_ended_job(struct tac_look *look)
{
    char word[sizeof look->queue_state];
    const char *again = job_text(look->job, "again");
    if (use_job_end(look))
        return;
    snprintf(word, sizeof word, "%s", look->queue_state);
    for (char *c = word; *c != '\0'; c++)
        *c = *c == '_' ? ' ' : (char)tolower((unsigned char)*c);
    look->condition = strcmp(look->queue_state, "CANCELLED") == 0 ? "stopped" : "gone";
    snprintf(look->why, sizeof look->why, "Slurm says of job %s: %s%s%s", tac_look_job(look), word,
             again[0] != '\0' ? "; it goes on with: " : "", again);
}

void tac_look_judge(struct tac_look *look)
{
    static const char *const waits[] = {"PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", NULL};
    static const char *const works[] = {"RUNNING",   "CONFIGURING", "COMPLETING", "SUSPENDED",
                                        "SIGNALING", "STAGE_OUT",   "STOPPED",    NULL};
    const char *again = job_text(look->job, "again");
    look->condition = NULL;
    look->why[0] = '\0';
    if (look->job == NULL) {
        use_program_state(look);
    } else if (tac_look_job(look) == NULL && look->state == NULL && look->status == NULL) {
        snprintf(look->why, sizeof look->why, "no job was submitted yet; submit it with: %s", again);
        look->condition = "pending";
    } else if (look->queue == TAC_QUEUE_KNOWN && is_one_of(look->queue_state, waits)) {
        use_pending_job(look);
    } else if (look->queue == TAC_QUEUE_KNOWN && is_one_of(look->queue_state, works)) {
        use_running_job(look);
    } else if (look->queue == TAC_QUEUE_KNOWN) {
        use_ended_job(look);
    } else if (look->queue == TAC_QUEUE_UNKNOWN) {
        if (!use_job_end(look)) {
            look->condition = "gone";
            snprintf(look->why, sizeof look->why,
                     "Slurm no longer lists job %s, and the job has not reported how it ended%s%s", tac_look_job(look),
                     again[0] != '\0' ? "; it goes on with: " : "", again);
        }
    } else if (look->state == NULL && look->status == NULL) {
        set_condition(look, "pending", "squeue does not say why");
    } else if (look->state == NULL) {
        use_program_state(look);
    } else {
        use_running_job(look);
    }
}

bool tac_look_lives(const struct tac_look *look)
{
    static const char *const lives[] = {"pending", "starting", "running", "waiting", "requeued", NULL};
    return look->condition != NULL && is_one_of(look->condition, lives);
}
