/* signals.c: notes SIGINT, SIGTERM and SIGUSR1 in a variable, which the run reads between two passes. */
#include <tactus/process.h>

#include <signal.h>
#include <string.h>

/* Signals come to a process, not to a run, so this is of the process. */
static volatile sig_atomic_t caught;

static void note(int number)
{
    caught = number;
}

void tac_signals_catch(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = note;
    sigemptyset(&action.sa_mask);
    caught = 0;
    action.sa_flags = SA_RESTART; /* no call that has begun shall fail because of a signal */
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    /* If the user presses Ctrl-C again, the process ends without a checkpoint. */
    action.sa_flags = (int)(SA_RESTART | SA_RESETHAND);
    sigaction(SIGINT, &action, NULL);
}

int tac_signal_caught(void)
{
    return caught;
}
