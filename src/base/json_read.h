/* base/json_read.h: reads JSON from a text, a stream or a file, where memory may run out. */
#ifndef TACTUS_BASE_JSON_READ_H
#define TACTUS_BASE_JSON_READ_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* jansson's parser takes no notice of an allocation that fails while it collects the bytes of a word: it goes on with a
 * word that lacks them, which ends in an assertion, in a loop without end, or in another value.  These functions leave
 * the parser at the first allocation that fails, and give back what it had allocated.
 *
 * Local, one thread at a time. Each returns a new reference, or NULL; then tac_json_no_memory(error) tells whether
 * memory ran out, and error->text what else was wrong. flags: jansson's JSON_DECODE_ANY, JSON_REJECT_DUPLICATES. */
json_t *tac_json_read_text(const char *text, size_t length, size_t flags, json_error_t *error);
json_t *tac_json_read_stream(FILE *stream, size_t flags, json_error_t *error);
json_t *tac_json_read_fd(int fd, size_t flags, json_error_t *error);

/* Local. Returns whether one of the functions above returned NULL because memory ran out. */
bool tac_json_no_memory(const json_error_t *error);

#endif
