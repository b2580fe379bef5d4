/* memory_use.c: reads the memory of this process from /proc/self. */
#include "base/memory_use.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>

/* A line of /proc/self/status, "NAME: N kB", in bytes; 0: there is none. */
static int64_t read_status(const char *name)
{
    long long kib = 0;
    char line[256];
    const size_t length = strlen(name);
    FILE *status = fopen("/proc/self/status", "re");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, name, length) == 0 && sscanf(line + length, ": %lld kB", &kib) == 1)
            break;
    if (status != NULL)
        fclose(status);
    return kib * 1024;
}

int64_t tac_memory_now(void)
{
    return read_status("VmRSS");
}

int64_t tac_memory_peak(void)
{
    return read_status("VmHWM");
}

void tac_memory_forget_peak(void)
{
    malloc_trim(0);
    FILE *refs = fopen("/proc/self/clear_refs", "we");
    if (refs == NULL)
        return;
    fputs("5", refs); /* proc(5): sets VmHWM to what VmRSS is now */
    fclose(refs);
}
