/* main.c: the program `tactus`: finds the command, runs it on the ranks that it can use, and prints an error once. */
#include "app/alone.h"
#include "app/app.h"
#include "app/launch.h"
#include <tactus/process.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct command {
    const char *name;
    enum tac_err (*run)(struct tac_ctx *ctx, int argc, char **argv);
    const char *help;
};

static const struct command COMMANDS[] = {
    {"run", tac_cmd_run, "run a scene"},
    {"check", tac_cmd_check, "validate a scene, describe it, and estimate what its run will cost"},
    {"repair", tac_cmd_repair, "find a start without overlaps for a scene whose surfaces cross"},
    {"mesh", tac_cmd_mesh, "make a mesh and write it to a file"},
    {"info", tac_cmd_info, "what a frames file, run folder or mesh holds"},
    {"diff", tac_cmd_diff, "compare two runs to the last bit, or within a tolerance"},
    {"audit", tac_cmd_audit, "prove from a recorded run that nothing passed through anything"},
    {"status", tac_cmd_status, "progress of a running or ended run"},
    {"export", tac_cmd_export, "write frames of a run for ParaView, Blender and other programs"},
    {"pack", tac_cmd_pack, "copy all frames of a run into one new file"},
};
enum { COMMAND_COUNT = sizeof COMMANDS / sizeof COMMANDS[0] };

static void print_help(void)
{
    printf(
        "usage: tactus COMMAND [argument ...] [--option value ...]\n\n"
        "Tactus simulates cloth, shells, soft solids, ropes, particles and obstacles in contact, by an asynchronous\n"
        "integrator (impacts, exact balances of energy) or an implicit one (large steps for what is stiff or slow).\n"
        "No two surfaces pass through each other, and a scene has the same result on any number of processes.\n\n"
        "commands:\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        printf("  %-8s %s\n", COMMANDS[i].name, COMMANDS[i].help);
    printf("\n'tactus COMMAND -h' explains a command; 'tactus --version' prints versions of it and its libraries.\n");
}

/* Finds the command. *out stays NULL if the user asked for help or the version, which this function prints. */
static enum tac_err find_command(struct tac_ctx *ctx, int argc, char **argv, const struct command **out)
{
    const char *known[COMMAND_COUNT];
    *out = NULL;
    if (argc < 2)
        return tac_fail(ctx, TAC_ERR_INPUT, "no command is given; 'tactus --help' lists the commands");
    const char *word = argv[1];
    if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
        if (ctx->rank == 0)
            print_help();
        return TAC_OK;
    }
    if (strcmp(word, "--version") == 0) {
        char text[1024];
        tac_build_text(text, sizeof text);
        if (ctx->rank == 0)
            fputs(text, stdout);
        return TAC_OK;
    }
    for (int i = 0; i < COMMAND_COUNT; i++) {
        known[i] = COMMANDS[i].name;
        if (strcmp(word, COMMANDS[i].name) == 0)
            *out = &COMMANDS[i];
    }
    if (*out == NULL && word[0] == '-')
        return tac_fail(ctx, TAC_ERR_INPUT,
                        "unknown option '%.100s' instead of a command; options come after it: tactus COMMAND %.100s",
                        word, word);
    if (*out == NULL) {
        const char *near = tac_nearest(word, known, COMMAND_COUNT);
        if (near != NULL)
            return tac_fail(ctx, TAC_ERR_INPUT, "unknown command '%.100s'; did you mean '%s'?", word, near);
        return tac_fail(ctx, TAC_ERR_INPUT, "unknown command '%.100s'; 'tactus --help' lists the commands", word);
    }
    return TAC_OK;
}

static bool is_command(int argc, char **argv, const char *name)
{
    return argc > 1 && strcmp(argv[1], name) == 0;
}

/* Only `run`, `check`, `mesh` and `audit` use several ranks. The other commands work on rank 0 alone, and the other
 * ranks get the exit code. */
static enum tac_err run_command(struct tac_ctx *ctx, const struct command *command, int argc, char **argv)
{
    enum tac_err err = TAC_OK;
    static const char *const together[] = {"run", "check", "mesh", "audit"};
    bool all = ctx->size == 1;
    for (size_t i = 0; i < sizeof together / sizeof together[0]; i++)
        all = all || strcmp(command->name, together[i]) == 0;
    if (all)
        return command->run(ctx, argc, argv);
    if (ctx->rank == 0) {
        struct tac_ctx alone;
        tac_ctx_init(&alone, MPI_COMM_SELF);
        err = command->run(&alone, argc, argv);
        memcpy(ctx->error, alone.error, sizeof ctx->error);
    }
    return err;
}

static bool asks_help(int argc, char **argv)
{
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0)
            return true;
    return false;
}

/* A run, or the pilot run of `check`: both step a scene, and stop in good order on a signal. */
static bool steps_scene(int argc, char **argv)
{
    if (is_command(argc, argv, "run"))
        return true;
    for (int i = 2; is_command(argc, argv, "check") && i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--pilot") == 0 || strncmp(argv[i], "--pilot=", 8) == 0)
            return true;
    return false;
}

/* Starting MPI takes a third of a second and a helper process, and may fail if MPI does not understand the launcher. A
 * run needs MPI; commands of one process do without it. */
static bool wants_mpi(const struct tac_launch *launch, int argc, char **argv)
{
    if (asks_help(argc, argv))
        return false;
    if (steps_scene(argc, argv) || is_command(argc, argv, "repair"))
        return true;
    if (launch->how == TAC_LAUNCH_PERHAPS)
        return is_command(argc, argv, "audit");
    return launch->how == TAC_LAUNCH_TOGETHER && launch->count != 1;
}

static bool reported; /* one for the process, like MPI's handlers: the failure was printed */

/* Ends the program after a failure of MPI. MPI's own handler would print ten lines and exit with a code that has no
 * meaning here. */
static void mpi_failed(MPI_Comm *comm, int *code, ...)
{
    char why[MPI_MAX_ERROR_STRING] = "";
    int length = 0, rank = 0;
    MPI_Error_string(*code, why, &length);
    MPI_Comm_rank(*comm, &rank);
    if (!reported)
        fprintf(stderr, "tactus: MPI failed on rank %d: %s; look after the machines and the network between them\n",
                rank, why);
    reported = true;
    fflush(stderr);
    tac_alone_end();
    MPI_Abort(MPI_COMM_WORLD, TAC_ERR_RUN);
}

/* Installs that handler, so that a failing call of MPI never returns; most callers do not check its result. */
static void catch_mpi(void)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(mpi_failed, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Errhandler_free(&handler);
}

static bool starting; /* one for the process, like MPI's own state: it is in MPI_Init() */

/* MPI ends the process itself when it cannot start: before MPI_Init() has returned, no handler of errors can be set. */
static void tell_start(void)
{
    if (!starting)
        return;
    fprintf(stderr, "tactus: MPI could not be started; check the memory that a process may take ('ulimit -v'), and the "
                    "Open MPI installation\n");
    fflush(stderr);
    tac_alone_end();
    _Exit(TAC_ERR_RUN);
}

/* Starts MPI for all processes of the launch, of which this is one. */
static enum tac_err start_mpi(struct tac_ctx *ctx, const struct tac_launch *launch, int *argc, char ***argv)
{
    if (launch->how == TAC_LAUNCH_ALONE)
        tac_alone_begin();
    atexit(tell_start);
    starting = true;
    if (MPI_Init(argc, argv) != MPI_SUCCESS)
        exit(TAC_ERR_RUN);
    starting = false;
    catch_mpi();
    tac_ctx_init(ctx, MPI_COMM_WORLD);
    tac_meet(ctx);
    if (ctx->size > 1 || launch->count <= 1)
        return TAC_OK;
    ctx->rank = launch->rank; /* each process has started MPI alone: the first one prints the sentence */
    return tac_launch_fail(ctx, launch, *argc > 1 ? (*argv)[1] : "run");
}

int main(int argc, char **argv)
{
    struct tac_ctx ctx = {.comm = MPI_COMM_SELF, .size = 1};
    const struct tac_launch launch = tac_launch_look();
    const bool mpi = wants_mpi(&launch, argc, argv);
    const struct command *command = NULL;
    enum tac_err err = TAC_OK;
    /* After a damaged file HDF5 may complain when it shuts down; all files are closed by then. */
    tac_hdf5_leave();
    if (steps_scene(argc, argv))
        tac_signals_catch();
    if (launch.how == TAC_LAUNCH_UNCONNECTED && !asks_help(argc, argv) &&
        (steps_scene(argc, argv) || is_command(argc, argv, "repair") || is_command(argc, argv, "audit"))) {
        ctx.rank = launch.rank;
        err = tac_launch_fail(&ctx, &launch, argv[1]);
    } else if (mpi) {
        err = start_mpi(&ctx, &launch, &argc, &argv);
    } else if (launch.rank > 0 && launch.count != 1) {
        return TAC_OK; /* the first process does it */
    }
    const bool started = mpi && launch.how != TAC_LAUNCH_UNCONNECTED;
    if (!err)
        err = find_command(&ctx, argc, argv, &command);
    if (!err && command != NULL)
        err = run_command(&ctx, command, argc - 2, argv + 2);
    if ((fflush(stdout) != 0 || ferror(stdout)) && err <= TAC_ERR_NO)
        err = tac_fail(&ctx, TAC_ERR_RUN, "cannot write to standard output: %s", strerror(errno));
    err = tac_agree(&ctx, err);
    reported = err > TAC_ERR_NO;
    if (reported && ctx.rank == 0)
        fprintf(stderr, "tactus: %s\n",
                ctx.error[0] != '\0' ? ctx.error : "failed without saying why; please report it");
    if (ctx.torn && ctx.rank == 0)
        MPI_Abort(MPI_COMM_WORLD, err);
    if (ctx.torn)
        MPI_Barrier(MPI_COMM_WORLD); /* rank 0 prints why and ends all ranks meanwhile */
    if (started) {
        MPI_Finalize();
        tac_alone_end();
    }
    return err;
}
