/* spill.c: keeps breakpoints that do not fit in memory as sorted runs in a temporary file, and merges the runs when
 * they are read. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "io/record/record.h"

static enum tac_err fail_spill(const struct tac_spill *s, const char *what, int why)
{
    return tac_fail(s->ctx, TAC_ERR_RUN,
                    "cannot %s the breakpoints of --record in a temporary file in %s: %s; free some space or write "
                    "elsewhere with -o",
                    what, s->dir, strerror(why));
}

enum tac_err tac_spill_create(struct tac_ctx *ctx, const char *dir, struct tac_spill *s)
{
    enum tac_err err = TAC_OK;
    char *path = NULL;
    const size_t size = strlen(dir) + sizeof "/record.h5.XXXXXX";
    *s = (struct tac_spill){.ctx = ctx, .dir = dir, .fd = -1};
    s->fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (s->fd >= 0)
        return TAC_OK;
    /* Some file systems have no files without a name. */
    TAC_TRY(tac_alloc(ctx, size, 1, &path));
    snprintf(path, size, "%s/record.h5.XXXXXX", dir);
    s->fd = mkostemp(path, O_CLOEXEC);
    if (s->fd < 0)
        err = fail_spill(s, "keep", errno);
    else
        unlink(path);
done:
    free(path);
    return err;
}

enum tac_err tac_spill_begin(struct tac_spill *s, int blocks)
{
    enum tac_err err;
    int64_t *cut = NULL;
    if (blocks > 0)
        TAC_TRY(tac_alloc(s->ctx, (size_t)blocks + 1, sizeof *cut, &cut));
    TAC_TRY(tac_grow(s->ctx, &s->run, &s->run_capacity, s->run_count + 1, sizeof *s->run));
    s->run[s->run_count++] = (struct tac_run_of_points){s->end, s->end, cut};
    cut = NULL;
done:
    free(cut);
    return err;
}

enum tac_err tac_spill_append(struct tac_spill *s, const struct tac_point *point, size_t count)
{
    const char *from = (const char *)point;
    size_t left = count * sizeof *point;
    off_t at = (off_t)s->end * (off_t)sizeof *point;
    struct rlimit limit;
    /* Writing past that would end the process. */
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && (rlim_t)at + left > limit.rlim_cur)
        return fail_spill(s, "keep", EFBIG);
    while (left > 0) {
        const ssize_t n = pwrite(s->fd, from, left, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail_spill(s, "keep", n < 0 ? errno : ENOSPC);
        from += n;
        at += n;
        left -= (size_t)n;
    }
    s->end += (int64_t)count;
    s->run[s->run_count - 1].end = s->end;
    return TAC_OK;
}

void tac_spill_cut(struct tac_spill *s, size_t runs)
{
    while (s->run_count > runs) {
        s->end = s->run[--s->run_count].begin;
        free(s->run[s->run_count].cut);
    }
    /* Frees the disk space; a failure is harmless. */
    if (s->end == 0 && s->fd >= 0 && ftruncate(s->fd, 0) != 0)
        return;
}

void tac_spill_destroy(struct tac_spill *s)
{
    if (s->ctx == NULL)
        return;
    for (size_t k = 0; k < s->run_count; k++)
        free(s->run[k].cut);
    free(s->run);
    if (s->fd >= 0)
        close(s->fd);
    *s = (struct tac_spill){.fd = -1};
}

/* ---- merging ---- */

struct tac_cursor {
    int64_t next, end;        /* points in the file, not read yet */
    struct tac_point *buffer; /* view */
    size_t at, have;
};

/* The next points of a cursor that has none left in memory; have = 0 at its end. */
static enum tac_err refill_cursor(struct tac_merge *m, struct tac_cursor *c)
{
    const struct tac_spill *s = m->spill;
    const int64_t left = c->end - c->next;
    c->at = 0;
    c->have = left < (int64_t)m->each ? (size_t)left : m->each;
    char *to = (char *)c->buffer;
    size_t bytes = c->have * sizeof *c->buffer;
    for (off_t at = (off_t)c->next * (off_t)sizeof *c->buffer; bytes > 0;) {
        const ssize_t n = pread(s->fd, to, bytes, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail_spill(s, "read", n < 0 ? errno : EIO);
        to += n;
        at += n;
        bytes -= (size_t)n;
    }
    c->next += (int64_t)c->have;
    return TAC_OK;
}

static bool comes_before(const struct tac_merge *m, size_t a, size_t b)
{
    const tac_gid x = m->cursor[a].buffer[m->cursor[a].at].vertex, y = m->cursor[b].buffer[m->cursor[b].at].vertex;
    return x < y || (x == y && a < b);
}

static void sift_down(struct tac_merge *m, size_t k)
{
    for (size_t child; (child = 2 * k + 1) < m->heap_count; k = child) {
        if (child + 1 < m->heap_count && comes_before(m, m->heap[child + 1], m->heap[child]))
            child++;
        if (!comes_before(m, m->heap[child], m->heap[k]))
            return;
        const size_t swap = m->heap[k];
        m->heap[k] = m->heap[child];
        m->heap[child] = swap;
    }
}

enum tac_err tac_merge_open(struct tac_spill *s, int block, size_t points, struct tac_merge *m)
{
    enum tac_err err;
    const size_t n = s->run_count;
    m->spill = s;
    m->each = n > 0 && points / n > 1 ? points / n : 1;
    m->collapse = block >= 0;
    m->holds = false;
    m->heap_count = 0;
    TAC_TRY(tac_grow(s->ctx, &m->cursor, &m->cursor_capacity, n, sizeof *m->cursor));
    TAC_TRY(tac_grow(s->ctx, &m->heap, &m->heap_capacity, n, sizeof *m->heap));
    /* Allocates all memory in one call, because a buffer that grows step by step fragments the heap. */
    TAC_TRY(tac_grow(s->ctx, &m->buffer, &m->buffer_capacity, n * m->each > points ? n * m->each : points,
                     sizeof *m->buffer));
    for (size_t k = 0; k < n; k++) {
        struct tac_cursor *c = &m->cursor[k];
        const struct tac_run_of_points *run = &s->run[k];
        c->next = block >= 0 ? run->cut[block] : run->begin;
        c->end = block >= 0 ? run->cut[block + 1] : run->end;
        c->buffer = m->buffer + k * m->each;
        TAC_TRY(refill_cursor(m, c));
        if (c->have > 0)
            m->heap[m->heap_count++] = k;
    }
    for (size_t k = m->heap_count / 2; k-- > 0;)
        sift_down(m, k);
done:
    return err;
}

enum tac_err tac_merge_next(struct tac_merge *m, struct tac_point *out, size_t most, size_t *count)
{
    size_t n = 0;
    *count = 0;
    while (n < most && m->heap_count > 0) {
        struct tac_cursor *c = &m->cursor[m->heap[0]];
        const struct tac_point *p = &c->buffer[c->at++];
        const tac_gid vertex = p->vertex;
        if (m->holds && !(m->collapse && m->held.vertex == p->vertex && m->held.t == p->t))
            out[n++] = m->held;
        m->held = *p;
        m->holds = true;
        if (c->at == c->have) {
            const enum tac_err err = refill_cursor(m, c);
            if (err)
                return err;
        }
        if (c->have == 0)
            m->heap[0] = m->heap[--m->heap_count];
        if (c->have == 0 || c->buffer[c->at].vertex != vertex)
            sift_down(m, 0);
    }
    if (n < most && m->heap_count == 0 && m->holds) {
        out[n++] = m->held;
        m->holds = false;
    }
    *count = n;
    return TAC_OK;
}

void tac_merge_destroy(struct tac_merge *m)
{
    free(m->cursor);
    free(m->heap);
    free(m->buffer);
    *m = (struct tac_merge){0};
}
