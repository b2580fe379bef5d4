/* support.h: scenes from JSON text for the tests of the elastic forces. */
#ifndef TACTUS_TESTS_FORCES_SUPPORT_H
#define TACTUS_TESTS_FORCES_SUPPORT_H

#include "check.h"
#include "elements/elastic.h"
#include "elements/records.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>
#include <unistd.h>

static struct tac_ctx ctx = {.size = 1}; /* one rank needs no MPI */
static uint64_t drawn;

static inline double uniform(double low, double high)
{
    return low + (high - low) * tac_random(31, drawn++);
}

/* Reads a scene from JSON with single quotes for double ones; `materials` and `bodies` are the insides of those keys,
 * `rest` further keys. Ends the test when the scene is wrong. */
static inline struct tac_scene *read_scene(const char *materials, const char *bodies, const char *rest)
{
    char text[8192], path[] = "/tmp/tactus-test-XXXXXX";
    int length = snprintf(text, sizeof text,
                          "{'format': 'tactus-scene/1', 'time': {'end': 1, 'frame': 1}, 'materials': {%s}, "
                          "'bodies': [%s]%s}",
                          materials, bodies, rest);
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    int fd = mkstemp(path);
    struct tac_scene *scene = NULL;
    if (fd < 0 || write(fd, text, (size_t)length) != length || close(fd) != 0) {
        printf("cannot write %s\n", path);
        exit(1);
    }
    enum tac_err err = tac_scene_read(&ctx, path, NULL, 0, &scene);
    unlink(path);
    if (err) {
        printf("the test's scene is refused: %s\n%s\n", ctx.error, text);
        exit(1);
    }
    return scene;
}

static inline struct tac_elastic *make_elastic(const struct tac_scene *scene)
{
    struct tac_elastic *elastic = NULL;
    if (tac_elastic_create(&ctx, scene, &elastic)) {
        printf("no elastic forces: %s\n", ctx.error);
        exit(1);
    }
    return elastic;
}

/* The (4,3) positions of an element, from an array (V,3). */
static inline int gather(const struct tac_rate_class *rate, enum tac_kind kind, size_t e, const double *x,
                         double out[TAC_ELEMENT_NODES][3])
{
    int n;
    const tac_lid *v = tac_elastic_stencil(rate, kind, e, &n);
    memset(out, 0, 12 * sizeof(double));
    for (int i = 0; i < n; i++)
        memcpy(out[i], x + 3 * v[i], 3 * sizeof(double));
    return n;
}

/* The elements of one of the program's own kinds in a class. */
static inline const struct tac_element_group *group_of(const struct tac_rate_class *rate, enum tac_kind kind)
{
    return &rate->group[tac_element_of_kind((int)kind)];
}

#define FOR_EACH_ELEMENT(elastic, rate, kind, e)                                                                       \
    for (const struct tac_rate_class *rate = (elastic)->rate; rate < (elastic)->rate + (elastic)->class_count; rate++) \
        for (int kind = TAC_KIND_SPRING; kind <= TAC_KIND_HINGE; kind++)                                               \
            for (size_t e = 0; e < tac_class_count(rate, kind); e++)

#endif
