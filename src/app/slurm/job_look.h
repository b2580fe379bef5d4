/* job_look.h: finds the condition of a run, from the files of the program (status.json) and of the job
 * (job-state.json), and from the output of squeue about the job.
 *
 *     struct tac_look look = {.dir = "drop.run"};
 *     TAC_TRY(tac_look_read(ctx, &look));
 *     tac_queue_ask(&look, 1);
 *     tac_look_judge(&look);
 *     puts(look.condition);
 *     tac_look_clear(&look);
 */
#ifndef TACTUS_APP_SLURM_JOB_LOOK_H
#define TACTUS_APP_SLURM_JOB_LOOK_H

#include <tactus/report.h>

enum tac_queue {
    TAC_QUEUE_SILENT,  /* squeue was not called, or gave no answer: only the files are known */
    TAC_QUEUE_UNKNOWN, /* the batch system does not list the job, or no longer lists it */
    TAC_QUEUE_KNOWN    /* queue_state and queue_reason are what squeue said */
};

struct tac_look {
    const char *dir; /* borrowed */
    json_t *status;  /* owned; NULL: the run has not begun */
    json_t *job;     /* owned; NULL: not started by jobs/submit */
    json_t *state;   /* owned; NULL: the job has not begun */
    enum tac_alive alive;
    double age_s;       /* since the program last wrote status.json; NaN: never */
    double saved_age_s; /* since the newest checkpoint was written; NaN: none */
    enum tac_queue queue;
    char queue_state[32], queue_reason[128];
    const char *condition; /* pending, starting, running, waiting, requeued, finished, stopped, failed, gone; static */
    char why[1024];        /* the reason of the condition; "": none */
};

/* Local. Reads the folder. TAC_ERR_INPUT: neither a run nor a job is there, or a file is damaged. */
enum tac_err tac_look_read(struct tac_ctx *ctx, struct tac_look *look);
/* Local. Returns the number of the run's job, as squeue writes it ("17", "17_3"), or NULL. */
const char *tac_look_job(const struct tac_look *look);
/* Local. Returns a number of the object, or NaN if there is none. */
double tac_look_real(const json_t *object, const char *key);
/* Local. Asks squeue once about the jobs of all these folders, and waits ten seconds at most. */
void tac_queue_ask(struct tac_look *look, int count);
/* Local. Fills condition and why from the other fields. */
void tac_look_judge(struct tac_look *look);
/* Local. Returns whether the run will continue without the user's help. */
bool tac_look_lives(const struct tac_look *look);
void tac_look_clear(struct tac_look *look);

#endif
