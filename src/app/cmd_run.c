/* cmd_run.c: `tactus run SCENE`: runs a scene into a run folder. */
#include "app/app.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/run.h>

static const char usage[] = "SCENE [-o DIR] [--overwrite] [--until T] [--restart FILE|DIR] [--wall-limit HH:MM:SS]\n"
                            "           [--discover MODE] [--record] [--set path=value ...] [--quiet]\n"
                            "           --restart FILE|DIR --branch --set path=value ... -o DIR";
static const char about[] =
    "Runs a scene and writes a run folder: frames.h5 and frames.xdmf (open the latter in ParaView), energy.csv,\n"
    "run.json, scene.json, status.json, checkpoints.  Progress goes to stderr.\n"
    "With --restart it goes on from a checkpoint: SCENE may then be left out, and -o is the checkpoint's folder.\n"
    "With --branch too, a new run with other physics begins there.\n"
    "Several processes: 'mpirun -n 8 tactus run SCENE', or under Slurm 'srun --mpi=pmix tactus run SCENE'.\n"
    "SIGINT, SIGUSR1, SIGTERM and --wall-limit stop it in good order, with a checkpoint.\n"
    "Exit code 0: it ran to its end; 2: the scene or the command line is wrong, nothing was run;\n"
    "3: it failed while running, and the sentence on stderr says where;\n"
    "75: it stopped early with a checkpoint saved: run it again with --restart.";

static enum tac_err add_setting(struct tac_ctx *ctx, struct tac_strings *set, const char *text)
{
    const char **item = realloc(set->item, ((size_t)set->count + 1) * sizeof *item);
    if (item == NULL)
        return tac_fail(ctx, TAC_ERR_RUN, "out of memory while reading the command line");
    set->item = item;
    set->item[set->count++] = text;
    return TAC_OK;
}

struct arguments {
    const char *scene, *dir, *discover, *restart, *wall_limit;
    double until;
    bool overwrite, record, quiet, help, branch;
    struct tac_strings set;
};

/* HH:MM:SS, hours of any number of digits (within reason). */
static enum tac_err read_wall_limit(struct tac_ctx *ctx, const char *text, double *seconds)
{
    size_t hours = strspn(text, "0123456789");
    const char *rest = text + hours;
    bool ok = hours >= 1 && hours <= 6 && strlen(rest) == 6 && rest[0] == ':' && strchr("012345", rest[1]) &&
              strspn(rest + 2, "0123456789") == 1 && rest[3] == ':' && strchr("012345", rest[4]) &&
              strspn(rest + 5, "0123456789") == 1;
    if (!ok)
        return tac_fail(ctx, TAC_ERR_INPUT,
                        "--wall-limit needs hours, minutes and seconds, HH:MM:SS, not '%.100s'; one hour and a half is "
                        "01:30:00",
                        text);
    *seconds = 3600 * strtod(text, NULL) + 60 * strtod(rest + 1, NULL) + strtod(rest + 4, NULL);
    if (*seconds <= 0)
        return tac_fail(ctx, TAC_ERR_INPUT, "--wall-limit is 0; give the run some time, or leave it out");
    return TAC_OK;
}

/* Checks what the command line alone shows. mode: memory for a setting. */
static enum tac_err check_options_of_run(struct tac_ctx *ctx, struct arguments *a, char mode[64], double *wall_limit_s)
{
    enum tac_err err;
    ctx->quiet = a->quiet;
    if (a->wall_limit)
        TAC_TRY(read_wall_limit(ctx, a->wall_limit, wall_limit_s));
    if (a->discover) {
        snprintf(mode, 64, "discovery.mode=%.40s", a->discover);
        TAC_TRY(add_setting(ctx, &a->set, mode));
    }
done:
    return err;
}

static enum tac_err run_scene_file(struct tac_ctx *ctx, struct arguments *a, int argc, char **argv)
{
    enum tac_err err;
    double wall_limit_s = 0;
    char mode[64];
    TAC_TRY(tac_agree(ctx, check_options_of_run(ctx, a, mode, &wall_limit_s)));
    const struct tac_scene_source source = {.path = a->scene, .set = a->set.item, .set_count = a->set.count};
    const struct tac_run_options options = {.dir = a->dir,
                                            .overwrite = a->overwrite,
                                            .record = a->record,
                                            .argc = argc,
                                            .argv = argv,
                                            .wall_limit_s = wall_limit_s,
                                            .until_s = isnan(a->until) ? NULL : &a->until,
                                            .restart = a->restart,
                                            .branch = a->branch};
    TAC_TRY(tac_run(ctx, &source, &options));
done:
    return err;
}

enum tac_err tac_cmd_run(struct tac_ctx *ctx, int argc, char **argv)
{
    struct arguments a = {.until = NAN};
    int count = 0;
    const struct tac_option option[] = {
        {"-o", TAC_OPTION_STRING, &a.dir, "DIR", "run folder (default: <scene's name>.run in the current folder)"},
        {"--overwrite", TAC_OPTION_FLAG, &a.overwrite, NULL, "replace a run that the folder already holds"},
        {"--until", TAC_OPTION_NUMBER, &a.until, "T", "end at T seconds instead of the scene's time.end"},
        {"--discover", TAC_OPTION_STRING, &a.discover, "MODE",
         "how contacts are found: speculate (default), kds or all-pairs; the trajectory is the same"},
        {"--set", TAC_OPTION_LIST, &a.set, "path=value", "change a key of the scene, e.g. contact.restitution=0.5"},
        {"--quiet", TAC_OPTION_FLAG, &a.quiet, NULL, "no progress and no warnings"},
        {"--restart", TAC_OPTION_STRING, &a.restart, "FILE|DIR",
         "go on from a checkpoint, or from the newest whole one in a run folder"},
        {"--wall-limit", TAC_OPTION_STRING, &a.wall_limit, "HH:MM:SS",
         "stop in time with a checkpoint saved (exit code 75)"},
        {"--branch", TAC_OPTION_FLAG, &a.branch, NULL,
         "with --restart: --set changes gravity, contact, loads or motions from there on, in a new folder"},
        {"--record", TAC_OPTION_FLAG, &a.record, NULL,
         "keep every breakpoint of every vertex in record.h5, for an audit"},
    };
    const size_t options = sizeof option / sizeof option[0];
    enum tac_err err;
    TAC_TRY(tac_options_parse(ctx, "run", argc, argv, option, options, &a.scene, 1, &count, &a.help));
    if (a.help) {
        if (ctx->rank == 0)
            tac_options_help("run", usage, about, option, options);
    } else if (a.restart && a.overwrite) {
        err =
            tac_fail(ctx, TAC_ERR_INPUT,
                     "--restart and --overwrite exclude each other, because a run that goes on removes nothing; leave "
                     "--overwrite out, and give -o a folder that holds no run if not the checkpoint's own");
    } else if (a.branch && (a.restart == NULL || a.dir == NULL || a.set.count == 0)) {
        err = tac_fail(ctx, TAC_ERR_INPUT,
                       "--branch needs the run to branch from, what is to change, and a new folder: tactus run "
                       "--restart DIR --branch --set contact.friction=0.1 -o NEW");
    } else if (count < 1 && !a.restart) {
        err = tac_fail(ctx, TAC_ERR_INPUT,
                       "tactus run needs a scene: tactus run SCENE [-o DIR]; 'tactus run -h' has the rest");
    } else {
        err = run_scene_file(ctx, &a, argc, argv);
    }
done:
    free(a.set.item);
    return err;
}
