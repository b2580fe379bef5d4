/* hooks.c: reads the hooks for tests (struct tac_hooks) from the environment; nothing else in the library does. */
#include "base/hooks.h"
#include <stdlib.h>
#include <string.h>

static double real(const char *name)
{
    const char *text = getenv(name);
    return text != NULL ? strtod(text, NULL) : 0;
}

static int64_t whole(const char *name)
{
    const char *text = getenv(name);
    return text != NULL ? strtoll(text, NULL, 10) : 0;
}

static bool yes(const char *name)
{
    const char *text = getenv(name);
    return text != NULL && strcmp(text, "0") != 0;
}

void tac_hooks_read(struct tac_hooks *hooks)
{
    const char *delay = getenv("TACTUS_TEST_DELAY"), *fail = getenv("TACTUS_TEST_FAIL");
    unsigned long seed = 0;
    *hooks = (struct tac_hooks){.patience_s = real("TACTUS_TEST_PATIENCE_S"),
                                .lock_s = real("TACTUS_TEST_LOCK_S"),
                                .skin = real("TACTUS_TEST_SKIN"),
                                .rough = (int)whole("TACTUS_TEST_ROUGH"),
                                .spill_bytes = whole("TACTUS_TEST_SPILL"),
                                .giant = whole("TACTUS_TEST_GIANT"),
                                .spread_from = whole("TACTUS_TEST_SPREAD"),
                                .migrate = (uint64_t)whole("TACTUS_TEST_MIGRATE"),
                                .distributes_small = yes("TACTUS_TEST_DEAL"),
                                .everyone = yes("TACTUS_TEST_EVERYONE")};
    if (delay != NULL && sscanf(delay, "%lu,%d", &seed, &hooks->delay_us) == 2)
        hooks->delay_seed = seed;
    else
        hooks->delay_us = 0;
    if (fail == NULL || sscanf(fail, "%d,%ld", &hooks->fail_rank, &hooks->fail_nth) != 2)
        hooks->fail_nth = 0;
}
