/* create.c: makes new files, and never through a symbolic link that has their name. */
#include "base/create.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int tac_create_new(int folder, const char *name, int flags)
{
    if (unlinkat(folder, name, 0) != 0 && errno != ENOENT)
        return -1;
    return openat(folder, name, flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}

FILE *tac_create_stream(int folder, const char *name)
{
    const int fd = tac_create_new(folder, name, O_WRONLY);
    FILE *stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (stream == NULL && fd >= 0) {
        const int why = errno;
        close(fd);
        unlinkat(folder, name, 0);
        errno = why;
    }
    return stream;
}
