/* exempt_report.c: pairs of bodies that nothing keeps apart, in words and in JSON: for `tactus check` and `tactus
 * audit`.
 */
#include <tactus/exempt.h>

#include <stdlib.h>
#include <string.h>
#include <tactus/report.h>

static const char *name_of(const struct tac_scene *scene, const struct tac_exempt_pair *p, int side)
{
    return scene->settings->body[p->body[side]].name;
}

json_t *tac_exempt_json(const struct tac_scene *scene, const struct tac_exempt *exempt)
{
    json_t *list = json_array();
    for (size_t i = 0; i < exempt->count; i++) {
        const struct tac_exempt_pair *p = &exempt->pair[i];
        json_t *time = p->crossing > 0 ? json_pack("[f, f]", p->t_s[0], p->t_s[1]) : json_null();
        tac_json_append(&list, json_pack("{s:o, s:o, s:b, s:I, s:o}", "a", tac_json_text(name_of(scene, p, 0)), "b",
                                         tac_json_text(name_of(scene, p, 1)), "whole", (int)p->whole, "crossing",
                                         (json_int_t)p->crossing, "time", time));
    }
    return json_pack("{s:I, s:I, s:I, s:o}", "pairs", (json_int_t)exempt->pairs, "crossing",
                     (json_int_t)tac_exempt_crossing(exempt), "instants", (json_int_t)exempt->instants, "list", list);
}

void tac_exempt_describe(const struct tac_scene *scene, const struct tac_exempt_pair *p, const char *quote, char *text,
                         size_t size)
{
    char who[160];
    if (p->body[0] == p->body[1])
        snprintf(who, sizeof who, "%s%.60s%s and itself", quote, name_of(scene, p, 0), quote);
    else
        snprintf(who, sizeof who, "%s%.60s%s and %s%.60s%s", quote, name_of(scene, p, 0), quote, quote,
                 name_of(scene, p, 1), quote);
    if (p->crossing == 0)
        snprintf(text, size, "%s", who);
    else
        snprintf(text, size, "%s cross from t = %.9g to %.9g s, in %lld places at the most", who, p->t_s[0], p->t_s[1],
                 (long long)p->crossing);
}

void tac_exempt_print(FILE *out, const char *begin, const struct tac_scene *scene, const struct tac_exempt *exempt,
                      const char *quote)
{
    enum { SHOWN = 20 };
    char text[320];
    const int64_t crossing = tac_exempt_crossing(exempt);
    int64_t shown = 0, all = exempt->pairs;
    for (size_t i = 0; i < exempt->count; i++)
        all += !exempt->pair[i].whole;
    if (all == 0)
        return;
    fprintf(out,
            "%s%lld %s of bodies of which no vertex is ever free: nothing keeps them apart; seen to cross at %lld "
            "instants: %lld\n",
            begin, (long long)all, all == 1 ? "pair" : "pairs", (long long)exempt->instants, (long long)crossing);
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < exempt->count && shown < SHOWN; i++) {
            if ((exempt->pair[i].crossing > 0) != (round == 0))
                continue;
            tac_exempt_describe(scene, &exempt->pair[i], quote, text, sizeof text);
            fprintf(out, "%*s%s\n", (int)strlen(begin), "", text);
            shown++;
        }
    if (all > shown)
        fprintf(out, "%*sand %lld more\n", (int)strlen(begin), "", (long long)(all - shown));
}
