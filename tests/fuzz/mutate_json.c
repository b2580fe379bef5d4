/* mutate_json.c: changes a JSON text so that it stays one: numbers, words of the schema FUZZ_SCHEMA, members, elements,
 * whole subtrees.  One time in four the bytes are changed instead, for the parser's sake.
 */
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

enum { MOST_WORDS = 1024, MOST_SLOTS = 4096 };

/* Where a value is: in an object or an array. */
struct slot {
    json_t *parent; /* borrowed */
    const char *key;
    size_t index;
};

struct slots {
    size_t count;
    struct slot slot[MOST_SLOTS];
};

static const char *words[MOST_WORDS];
static size_t word_count;
static uint64_t state;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1dULL >> 16;
}

static void add_word(const char *word)
{
    if (word != NULL && word_count < MOST_WORDS)
        words[word_count++] = word;
}

/* Names of properties and choices of a schema, which stays in memory. */
static void collect_words(json_t *node)
{
    const char *key;
    json_t *value;
    size_t i;
    json_array_foreach(node, i, value)
    {
        collect_words(value);
    }
    json_object_foreach(json_object_get(node, "properties"), key, value)
    {
        add_word(key);
    }
    json_array_foreach(json_object_get(node, "enum"), i, value)
    {
        add_word(json_string_value(value));
    }
    add_word(json_string_value(json_object_get(node, "const")));
    json_object_foreach(node, key, value)
    {
        collect_words(value);
    }
}

static const char *word(void)
{
    static const char *const others[] = {"",    "a", "m.obj", "/dev/zero", "folder",  "fifo",
                                         "all", "b", "m",     "\xc3\xa9",  "\x1b[31m"};
    if (word_count == 0) {
        static json_t *schema;
        schema = json_load_file(FUZZ_SCHEMA, 0, NULL);
        collect_words(schema);
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
            add_word(others[i]);
    }
    return words[next() % word_count];
}

static json_t *number(const json_t *old)
{
    static const double special[] = {0,          -0.0,
                                     1,          -1,
                                     0.5,        2,
                                     1e-300,     5e-324,
                                     1e300,      1.7976931348623157e308,
                                     1e50,       1.01e50,
                                     -1e50,      1e100,
                                     1e-12,      3,
                                     1e6,        1e-6,
                                     1e12,       0.1,
                                     1e-50,      90,
                                     180,        360,
                                     7,          1e15,
                                     4294967296, 9007199254740992};
    static const json_int_t whole[] = {0,          1,           -1,         2,         3,         1000,      2147483647,
                                       2147483648, -2147483648, 4294967295, INT64_MAX, INT64_MIN, 134217728, 1 << 20};
    const double v = json_number_value(old);
    double changed;
    switch (next() % 8) {
    case 0:
    case 1:
        return json_real(special[next() % (sizeof special / sizeof special[0])]);
    case 2:
        return json_integer(whole[next() % (sizeof whole / sizeof whole[0])]);
    case 3:
        return json_integer(json_is_integer(old) ? (json_int_t)((uint64_t)json_integer_value(old) + next() % 5 - 2)
                                                 : (json_int_t)(next() % 8));
    case 4:
        changed = v * (1 + ldexp(1, -(int)(next() % 53)));
        break;
    case 5:
        changed = v * pow(10, (double)(next() % 13) - 6);
        break;
    case 6:
        changed = -v;
        break;
    default:
        changed = v + (double)(next() % 2000) / 1000 - 1;
    }
    return json_real(isfinite(changed) ? changed : 1);
}

static json_t *anything(void)
{
    switch (next() % 8) {
    case 0:
        return json_null();
    case 1:
        return json_boolean(next() % 2);
    case 2:
        return json_array();
    case 3:
        return json_object();
    case 4:
        return json_string(word());
    case 5:
        return json_pack("[i, i, i]", (int)(next() % 4), (int)(next() % 4), (int)(next() % 4));
    case 6:
        return json_pack("[[i, i], [i, i]]", 0, 0, 1, (int)(next() % 4));
    default:
        return number(NULL);
    }
}

static void collect(json_t *node, struct slots *s)
{
    const char *key;
    json_t *value;
    size_t i;
    json_array_foreach(node, i, value)
    {
        if (s->count < MOST_SLOTS)
            s->slot[s->count++] = (struct slot){node, NULL, i};
        collect(value, s);
    }
    json_object_foreach(node, key, value)
    {
        if (s->count < MOST_SLOTS)
            s->slot[s->count++] = (struct slot){node, key, 0};
        collect(value, s);
    }
}

static json_t *at(const struct slot *s)
{
    return s->key != NULL ? json_object_get(s->parent, s->key) : json_array_get(s->parent, s->index);
}

/* Takes the reference. */
static void put(const struct slot *s, json_t *value)
{
    if (s->key != NULL)
        json_object_set_new(s->parent, s->key, value);
    else
        json_array_set_new(s->parent, s->index, value);
}

static void change(json_t *root)
{
    static struct slots all;
    all.count = 0;
    collect(root, &all);
    if (all.count == 0)
        return;
    struct slot *s = &all.slot[next() % all.count];
    const json_t *other = at(&all.slot[next() % all.count]);
    for (int tries = 0; tries < 3 && (json_is_object(at(s)) || json_is_array(at(s))); tries++)
        s = &all.slot[next() % all.count]; /* mostly leaves */
    json_t *value = at(s);
    switch (next() % 12) {
    case 0:
        put(s, anything());
        break;
    case 1:
        if (s->key != NULL)
            json_object_del(s->parent, s->key);
        else
            json_array_remove(s->parent, s->index);
        break;
    case 2:
        put(s, json_deep_copy(other));
        break;
    case 3:
        if (s->key == NULL)
            json_array_insert_new(s->parent, s->index, json_deep_copy(value));
        else
            json_object_set_new(s->parent, word(), next() % 2 ? json_deep_copy(other) : anything());
        break;
    case 4:
        if (s->key == NULL)
            for (uint64_t n = next() % 16; n > 0; n--)
                json_array_append_new(s->parent, json_deep_copy(value));
        break;
    default:
        if (json_is_number(value))
            put(s, number(value));
        else if (json_is_string(value))
            put(s, json_string(word()));
        else if (json_is_boolean(value))
            put(s, json_boolean(!json_is_true(value)));
        else if (json_is_object(value))
            json_object_set_new(value, word(), anything());
        else
            put(s, json_deep_copy(other));
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    state = ((uint64_t)seed << 1 | 1) * 0x9e3779b97f4a7c15ULL;
    json_t *root = next() % 4 != 0 ? json_loadb((const char *)data, size, 0, NULL) : NULL;
    char *text = NULL;
    size_t length = 0;
    if (root != NULL) {
        for (uint64_t n = 1 + next() % 3; n > 0; n--)
            change(root);
        text = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(17));
        length = text != NULL ? strlen(text) : 0;
    }
    if (length > 0 && length <= max_size)
        memcpy(data, text, size = length);
    else
        size = LLVMFuzzerMutate(data, size, max_size);
    free(text);
    json_decref(root);
    return size;
}
