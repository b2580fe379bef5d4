/* tactus/exempt.h: pairs of bodies that nothing keeps apart, because no vertex of them is ever free.
 *
 * Scripted bodies may pass through each other and through fixed bodies, because neither can yield.  Such pairs are no
 * contact pairs, and the audit proves nothing about them.  `tactus check` and `tactus audit` name them, so that no
 * reader takes them for proven, and list where they cross.  Only single instants are examined for this.
 *
 *     TAC_TRY(tac_exempt_create(ctx, scene, &exempt));
 *     TAC_TRY(tac_exempt_look(ctx, scene, t_s, exempt));   // for each instant, with the scene's x put there
 *     TAC_TRY(tac_exempt_join(ctx, exempt));               // where ranks have looked at different instants
 */
#ifndef TACTUS_EXEMPT_H
#define TACTUS_EXEMPT_H

#include <jansson.h>
#include <tactus/base.h>
#include <tactus/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TAC_EXEMPT_MOST = 10000 }; /* pairs that are listed though they were not seen to cross */

struct tac_exempt_pair {
    tac_lid body[2];  /* the smaller one first; of a body with itself both are the same */
    uint8_t whole;    /* no vertex of either body is ever free: nothing at all is proven about this pair */
    int64_t crossing; /* pairs of primitives that cross, at the instant with the most of them; 0: none was seen */
    double t_s[2];    /* crossing > 0: the first and the last such instant looked at, s */
};

struct tac_exempt {
    uint8_t *scripted;            /* owned, (V): never free, and follows a script */
    struct tac_exempt_pair *pair; /* owned, (count), by bodies */
    size_t count, capacity;
    int64_t pairs;    /* whole pairs, also those beyond TAC_EXEMPT_MOST */
    int64_t instants; /* looked at */
    bool any;         /* something is scripted for ever */
};

/* Local. Lists the pairs that are exempt as a whole.  A vertex that is never free follows a script, unless its body is
 * `fixed`. Reads the scene's bodies, ever_free and vertex_body. */
enum tac_err tac_exempt_create(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_exempt **out);
/* Local. NULL is allowed; leaves NULL. */
void tac_exempt_destroy(struct tac_exempt **exempt);
/* Local. Is there a pair that could cross? */
bool tac_exempt_any(const struct tac_exempt *exempt);
/* Local. Looks for crossings at the instant t_s [s].  The scene's x must hold the positions at that instant. */
enum tac_err tac_exempt_look(struct tac_ctx *ctx, const struct tac_scene *scene, double t_s, struct tac_exempt *exempt);
/* Collective. Joins the results of all ranks; the numbers of instants are added up. */
enum tac_err tac_exempt_join(struct tac_ctx *ctx, struct tac_exempt *exempt);

/* Local. Returns how many pairs were seen to cross. */
int64_t tac_exempt_crossing(const struct tac_exempt *exempt);

/* Local. {pairs, crossing, instants, list [{a, b, whole, crossing, time [first, last] or null}]}; NULL: out of memory.
 */
json_t *tac_exempt_json(const struct tac_scene *scene, const struct tac_exempt *exempt);
/* Local. Writes a sentence part about a pair to `text`, with `quote` around names. */
void tac_exempt_describe(const struct tac_scene *scene, const struct tac_exempt_pair *pair, const char *quote,
                         char *text, size_t size);
/* Local. Prints lines of text, or nothing if there are no such pairs.  The first line begins with `begin`; the others
 * are indented by its length. */
void tac_exempt_print(FILE *out, const char *begin, const struct tac_scene *scene, const struct tac_exempt *exempt,
                      const char *quote);

#ifdef __cplusplus
}
#endif
#endif
