/* test_signals.c: the signals that ask a run to stop are noted and do not end it; a second Ctrl-C does.  If it fails,
 * jobs lose what they computed since the last checkpoint when their time is over. */
#include "check.h"

#include <signal.h>
#include <sys/wait.h>
#include <tactus/process.h>
#include <unistd.h>

int main(void)
{
    static const int numbers[] = {SIGTERM, SIGUSR1, SIGINT};
    for (int i = 0; i < 3; i++) {
        tac_signals_catch();
        CHECK(tac_signal_caught() == 0, "%d before any signal", tac_signal_caught());
        for (int times = 0; times < (numbers[i] == SIGINT ? 1 : 3); times++)
            raise(numbers[i]);
        CHECK(tac_signal_caught() == numbers[i], "%d instead of %d", tac_signal_caught(), numbers[i]);
    }
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        tac_signals_catch();
        raise(SIGINT);
        raise(SIGINT);
        _exit(0);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGINT,
          "status %d", status);
    return check_result();
}
