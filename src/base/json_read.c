/* json_read.c: jansson's parser, left at the first allocation that fails. */
#include "base/json_read.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* One source is given. */
struct source {
    const char *text;
    size_t length;
    FILE *stream;
    int fd;
};

/* What the parser has allocated and not given back, in the order of allocation. It is searched from the end: nearly all
 * that the parser gives back is young (the key of the value just read), and the few old ones (a table that grew) are
 * given back once for each doubling. */
static struct {
    json_malloc_t malloc;
    json_free_t free;
    void **live;
    size_t count, space;
    jmp_buf out;
} parse;

static void *parse_malloc(size_t size)
{
    void *memory = parse.malloc(size);
    if (memory != NULL && parse.count == parse.space) {
        const size_t space = parse.space > 0 ? 2 * parse.space : 256;
        void **more = space <= SIZE_MAX / sizeof *more ? realloc(parse.live, space * sizeof *more) : NULL;
        if (more == NULL) {
            parse.free(memory);
            memory = NULL;
        } else {
            parse.live = more;
            parse.space = space;
        }
    }
    if (memory == NULL)
        longjmp(parse.out, 1);
    parse.live[parse.count++] = memory;
    return memory;
}

static void parse_free(void *memory)
{
    size_t i = parse.count;
    while (i > 0 && parse.live[i - 1] != memory)
        i--;
    if (i > 0) {
        memmove(parse.live + i - 1, parse.live + i, (parse.count - i) * sizeof *parse.live);
        parse.count--;
    }
    parse.free(memory);
}

static json_t *read_source(const struct source *source, size_t flags, json_error_t *error)
{
    if (source->text != NULL)
        return json_loadb(source->text, source->length, flags, error);
    return source->stream != NULL ? json_loadf(source->stream, flags, error) : json_loadfd(source->fd, flags, error);
}

static json_t *read_guarded(const struct source *source, size_t flags, json_error_t *error)
{
    json_t *volatile value = NULL;
    memset(error, 0, sizeof *error);
    json_get_alloc_funcs(&parse.malloc, &parse.free);
    parse.live = NULL;
    parse.count = parse.space = 0;
    json_set_alloc_funcs(parse_malloc, parse_free);
    if (setjmp(parse.out) == 0) {
        value = read_source(source, flags, error);
    } else {
        while (parse.count > 0)
            parse.free(parse.live[--parse.count]);
        strcpy(error->text, "out of memory");
        error->text[sizeof error->text - 1] = json_error_out_of_memory;
    }
    json_set_alloc_funcs(parse.malloc, parse.free);
    free(parse.live);
    parse.live = NULL;
    return value;
}

json_t *tac_json_read_text(const char *text, size_t length, size_t flags, json_error_t *error)
{
    return read_guarded(&(struct source){.text = text, .length = length}, flags, error);
}

json_t *tac_json_read_stream(FILE *stream, size_t flags, json_error_t *error)
{
    return read_guarded(&(struct source){.stream = stream}, flags, error);
}

json_t *tac_json_read_fd(int fd, size_t flags, json_error_t *error)
{
    return read_guarded(&(struct source){.fd = fd}, flags, error);
}

bool tac_json_no_memory(const json_error_t *error)
{
    return json_error_code(error) == json_error_out_of_memory;
}
