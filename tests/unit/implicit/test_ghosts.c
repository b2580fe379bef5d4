/* test_ghosts.c: what a rank of the implicit integrator knows, against one that has the whole scene. Vertices belong to
 * ranks by their places or at random, and are pushed about; lists are made along random ways, so ghosts come and go.
 * Every pair that comes near must be in the list of every rank that owns a vertex of it that is free at some time,
 * once, with the vertices, lengths and stiffness that it has in the list of the whole scene, to the last bit; one rank
 * enters it in sums; and ghosts are where their owners are. While scripted vertices are unknowns, their owners must
 * know all vertices of their pairs. If it failed, bits would depend on the ranks, or surfaces would pass. */
#include "check.h"
#include "implicit/parts.h"
#include "implicit/ranks/implicit_plates.h"
#include "partition/part.h"
#include <stdlib.h>
#include <string.h>

enum { DISTRIBUTIONS = 4, ROUNDS = 8, SAMPLES = 8 };

struct world {
    struct tac_ctx ctx, self; /* all ranks; this one */
    struct tac_scene *whole, *local;
    struct tac_implicit *one, *sim; /* of the whole scene; of this rank's */
    int32_t *owner;                 /* (V) */
};

static struct {
    int64_t pairs, near, shared, ghosts, without, plates, pushes, pushed;
} seen;

static double random_in(uint64_t *dice, double from, double to)
{
    *dice = tac_hash64(*dice, 1);
    return from + (to - from) * (double)(*dice >> 11) * 0x1p-53;
}

/* In slabs, or each few vertices of a rank of their own; some rank has nothing in the last one. */
static int32_t owner_of(const struct world *w, tac_gid id, int distribution)
{
    const double place = (w->whole->mesh->x[3 * id + distribution % 3] + .1) / .2;
    if (distribution % 2 == 0)
        return (int32_t)fmax(0, fmin(w->ctx.size - 1, floor(place * w->ctx.size)));
    return (int32_t)(tac_hash64((uint64_t)distribution, (uint64_t)id / 4) %
                     (uint64_t)(distribution == 3 && w->ctx.size > 2 ? w->ctx.size - 1 : w->ctx.size));
}

static void begin(struct world *w, int distribution)
{
    struct tac_pieces *pieces = NULL;
    TAC_CHECK(tac_pieces_from_scene(&w->ctx, w->whole, &pieces) == TAC_OK);
    TAC_CHECK(tac_pieces_topology(&w->ctx, pieces) == TAC_OK);
    for (tac_gid id = 0; id < w->whole->mesh->vertex_count; id++)
        w->owner[id] = owner_of(w, id, distribution);
    for (tac_lid i = 0; i < pieces->vertex_count; i++)
        pieces->owner[i] = w->owner[pieces->vertex_id[i]];
    TAC_CHECK(tac_local_create(&w->ctx, w->whole, pieces, &w->local) == TAC_OK);
    tac_pieces_destroy(&pieces);
    TAC_CHECK(tac_implicit_create(&w->ctx, w->local, &w->sim) == TAC_OK);
    TAC_CHECK(tac_implicit_create(&w->self, w->whole, &w->one) == TAC_OK);
    tac_implicit_begin_scheme(w->sim);
    tac_implicit_begin_scheme(w->one);
    for (tac_lid v = 0; v < w->sim->owned; v++) /* as if a motion moved what is fixed */
        if (!w->sim->scene->mesh->ever_free[v])
            w->sim->scripts.led[v] = TAC_SCRIPTED;
}

static void end(struct world *w)
{
    tac_implicit_destroy(&w->sim);
    tac_implicit_destroy(&w->one);
    tac_local_destroy(&w->local);
}

/* Bodies are shifted and crumpled, and go a way, alike on all ranks; what is fixed stays. */
static void shake(struct world *w, uint64_t dice)
{
    const struct tac_local_mesh *mesh = w->whole->mesh;
    struct tac_implicit *one = w->one, *sim = w->sim;
    const double crumple = random_in(&dice, 0, .01), apart = pow(10, random_in(&dice, -4, -1.5));
    for (tac_lid b = 0; b < w->whole->settings->body_count; b++) {
        double shift[3], way[3];
        for (int k = 0; k < 3; k++) {
            shift[k] = random_in(&dice, -.02, .02);
            way[k] = random_in(&dice, -.05, .05);
        }
        for (tac_lid v = 0; v < mesh->vertex_count; v++)
            for (int k = 0; k < 3 && mesh->vertex_body[v] == b; k++) {
                const double free = mesh->ever_free[v] ? 1 : 0;
                one->x[3 * v + k] = mesh->x[3 * v + k] + free * (shift[k] + random_in(&dice, -crumple, crumple));
                one->newton.p[3 * v + k] = free * (way[k] + random_in(&dice, -apart, apart));
            }
    }
    for (tac_lid i = 0; i < sim->owned; i++) {
        memcpy(&sim->x[3 * i], &one->x[3 * tac_implicit_id(sim, i)], 3 * sizeof *sim->x);
        memcpy(&sim->newton.p[3 * i], &one->newton.p[3 * tac_implicit_id(sim, i)], 3 * sizeof *sim->x);
    }
    TAC_CHECK(tac_implicit_ghosts_refresh(sim) == TAC_OK);
}

/* Is this pair of the rank the one of the whole scene? */
static void look_at_pair(const struct world *w, const struct tac_implicit_pair *mine,
                         const struct tac_implicit_pair *whole)
{
    for (int i = 0; i < tac_pair_vertices(whole->form.type); i++) {
        const tac_lid v = mine->v[i], at = whole->v[i];
        CHECK(tac_implicit_id(w->sim, v) == at, "vertex %d of a pair", i);
        CHECK(memcmp(&w->sim->x[3 * v], &w->one->x[3 * at], 3 * sizeof(double)) == 0, "vertex %d is elsewhere",
              (int)at);
        CHECK(memcmp(&w->sim->newton.p[3 * v], &w->one->newton.p[3 * at], 3 * sizeof(double)) == 0,
              "vertex %d goes another way", (int)at);
        seen.ghosts += v >= w->sim->meshed;
    }
    CHECK(memcmp(&mine->form.radius, &whole->form.radius, sizeof(double)) == 0 &&
              memcmp(&mine->form.thickness, &whole->form.thickness, sizeof(double)) == 0 &&
              memcmp(&mine->form.parallel, &whole->form.parallel, sizeof(double)) == 0,
          "a pair has other lengths");
    CHECK(memcmp(&mine->share, &whole->share, sizeof(double)) == 0, "a pair is as stiff as %.17g, not %.17g",
          mine->share, whole->share);
    CHECK(mine->friction == whole->friction, "a pair has other friction");
}

/* Does a pair of the whole scene come under its thickness on the way?  Distances are looked at here and there. */
static bool comes_near(const struct world *w, const struct tac_implicit_pair *p, double part)
{
    const int n = tac_pair_vertices(p->form.type);
    for (int sample = 0; sample <= SAMPLES; sample++) {
        double x[4][3];
        struct tac_near near;
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 3; k++)
                x[i][k] = w->one->x[3 * p->v[i] + k] + part * sample / SAMPLES * w->one->newton.p[3 * p->v[i] + k];
        tac_near_pair(p->form.type, x, &near);
        if (near.d < p->form.radius + p->form.thickness)
            return true;
    }
    return false;
}

/* Does this rank have pairs because of its vertex v? */
static bool is_mine(const struct world *w, tac_lid v)
{
    return v < w->sim->owned && (!w->sim->contact.movers_only || w->sim->scene->mesh->ever_free[v]);
}

/* A list may have pairs that no other list has, for boxes differ; but they must be pairs of this rank. */
static void look_at_extra(const struct world *w, const struct tac_implicit_pair *mine)
{
    tac_lid v[4];
    bool own = false;
    tac_key_vertices(w->whole, mine->key, v);
    for (int i = 0; i < tac_pair_vertices(mine->form.type); i++) {
        CHECK(tac_implicit_id(w->sim, mine->v[i]) == v[i], "vertex %d of a pair that only a rank has", i);
        own = own || is_mine(w, mine->v[i]);
    }
    CHECK(own, "rank %d has a pair of others", w->ctx.rank);
}

static void look(struct world *w, double part)
{
    const struct tac_implicit_contact *one = &w->one->contact, *mine = &w->sim->contact;
    size_t at = 0;
    int *counted = calloc(one->pair_count + 1, sizeof *counted);
    TAC_CHECK(counted != NULL);
    for (size_t k = 1; k < mine->pair_count; k++)
        CHECK(mine->pair[k - 1].key < mine->pair[k].key, "the list does not ascend");
    for (size_t k = 0; k < one->pair_count; k++) {
        const struct tac_implicit_pair *p = &one->pair[k];
        int owners = 0;
        for (int i = 0; i < tac_pair_vertices(p->form.type); i++)
            owners += w->owner[p->v[i]] == w->ctx.rank && (!mine->movers_only || w->whole->mesh->ever_free[p->v[i]]);
        for (; at < mine->pair_count && mine->pair[at].key < p->key; at++)
            look_at_extra(w, &mine->pair[at]);
        const bool has = at < mine->pair_count && mine->pair[at].key == p->key;
        CHECK(!has || owners > 0, "rank %d has a pair of others", w->ctx.rank);
        CHECK(has || owners == 0 || !comes_near(w, p, part), "rank %d lacks a pair of type %d", w->ctx.rank,
              p->form.type);
        if (!has)
            continue;
        look_at_pair(w, &mine->pair[at], p);
        seen.pairs++;
        seen.near += comes_near(w, p, part);
        seen.shared += owners < tac_pair_vertices(p->form.type) && comes_near(w, p, part);
        counted[k] = mine->pair[at++].counted;
    }
    MPI_Allreduce(MPI_IN_PLACE, counted, (int)one->pair_count, MPI_INT, MPI_SUM, w->ctx.comm);
    for (size_t k = 0; k < one->pair_count; k++)
        CHECK(counted[k] == 1 || (counted[k] == 0 && !comes_near(w, &one->pair[k], part)),
              "a pair is entered in sums %d times", counted[k]);
    free(counted);
}

/* Does this rank know the vertices of all pairs with vertices of its own that are never free? */
static void look_at_plates(const struct world *w, double part)
{
    const uint8_t *ever_free = w->whole->mesh->ever_free;
    for (size_t k = 0; k < w->one->contact.pair_count; k++) {
        const struct tac_implicit_pair *p = &w->one->contact.pair[k];
        const int n = tac_pair_vertices(p->form.type);
        bool mine = false, any_free = false;
        for (int i = 0; i < n; i++) {
            mine = mine || (!ever_free[p->v[i]] && w->owner[p->v[i]] == w->ctx.rank);
            any_free = any_free || ever_free[p->v[i]];
        }
        if (!mine || !any_free || !comes_near(w, p, part))
            continue;
        for (int i = 0; i < n; i++)
            CHECK(tac_ghost_find(w->sim->halo, p->v[i]) >= 0, "the owner of a plate lacks vertex %d", (int)p->v[i]);
        seen.plates++;
    }
}

/* Are the forces of contact on vertices that are never free those of the whole scene, to the last bit? */
static void look_at_forces(struct world *w)
{
    w->one->newton.pull = w->sim->newton.pull;
    w->one->newton.kappa = w->sim->newton.kappa = 1;
    w->one->newton.stiffer = w->sim->newton.stiffer = 1;
    w->one->contact.touch_of = NULL;
    TAC_CHECK(tac_implicit_touch(w->one, w->one->x) == TAC_OK);
    tac_plates_gradients(w->sim, w->sim->x);
    TAC_CHECK(w->sim->halo->down == TAC_OK);
    tac_implicit_gradient(w->sim, w->sim->x);
    tac_implicit_gradient(w->one, w->one->x);
    seen.pushed += (int64_t)tac_plates_count(w->sim, TAC_SORT_TOUCHING);
    for (tac_lid i = 0; i < w->sim->owned; i++)
        for (tac_lid c = 3 * i; c < 3 * i + 3 && !w->sim->scene->mesh->ever_free[i]; c++) {
            const double mine = w->sim->newton.part[TAC_PART_CONTACT][c];
            const double whole = w->one->newton.part[TAC_PART_CONTACT][3 * tac_implicit_id(w->sim, i) + c - 3 * i];
            CHECK(mine == whole || (mine != mine && whole != whole), "a plate is pushed by %.17g, not %.17g", mine,
                  whole);
            seen.pushes += mine != 0 && mine == whole;
        }
    w->one->newton.pull = 0;
}

int main(int argc, char **argv)
{
    struct world w = {0};
    char path[4096];
    const char *root = getenv("TACTUS_SOURCE");
    MPI_Init(&argc, &argv);
    tac_ctx_init(&w.ctx, MPI_COMM_WORLD);
    tac_ctx_init(&w.self, MPI_COMM_SELF);
    snprintf(path, sizeof path, "%s/tests/unit/broadphase/along.json", root ? root : ".");
    TAC_CHECK(tac_scene_read(&w.self, path, NULL, 0, &w.whole) == TAC_OK);
    w.owner = malloc((size_t)w.whole->mesh->vertex_count * sizeof *w.owner);
    TAC_CHECK(w.owner != NULL);
    for (int distribution = 0; distribution < DISTRIBUTIONS; distribution++) {
        begin(&w, distribution);
        for (uint64_t round = 1; round <= ROUNDS; round++) {
            uint64_t dice = tac_hash64((uint64_t)distribution, round);
            const double part = round % 3 ? 1 : random_in(&dice, .01, 1);
            int64_t tuned[TAC_TUNED] = {0}; /* begins with the skin */
            shake(&w, dice);
            tac_implicit_skin_out(w.sim, tuned);
            double skin;
            memcpy(&skin, tuned, sizeof skin);
            skin *= random_in(&dice, .5, 1);
            memcpy(tuned, &skin, sizeof skin);
            tac_implicit_skin_in(w.sim, tuned);
            tac_implicit_skin_in(w.one, tuned);
            TAC_CHECK(tac_implicit_find(w.one, w.one->x, w.one->newton.p, part) == TAC_OK);
            for (int pull = 0; pull < 2; pull++) {
                w.sim->newton.pull = pull;
                TAC_CHECK(tac_implicit_find(w.sim, w.sim->x, w.sim->newton.p, part) == TAC_OK);
                if (pull > 0) {
                    TAC_CHECK(tac_implicit_show_pairs(w.sim) == TAC_OK);
                    look_at_plates(&w, part);
                    look_at_forces(&w);
                }
                seen.without += w.sim->contact.movers_only;
                look(&w, part);
            }
        }
        end(&w);
    }
    MPI_Allreduce(MPI_IN_PLACE, &seen, sizeof seen / sizeof(int64_t), MPI_INT64_T, MPI_SUM, w.ctx.comm);
    if (w.ctx.rank == 0)
        printf(
            "%lld pairs on all ranks; %lld come near, %lld of them on several ranks; %lld vertices came with lists\n",
            (long long)seen.pairs, (long long)seen.near, (long long)seen.shared, (long long)seen.ghosts);
    CHECK(seen.without > 0, "no list was one of free vertices only");
    if (w.ctx.rank == 0)
        printf("%lld pairs of plates; %lld were sent, and %lld forces on plates compared\n", (long long)seen.plates,
               (long long)seen.pushed, (long long)seen.pushes);
    CHECK(seen.pushed > 100 && seen.pushes > 100, "plates must be pushed for this to test something");
    CHECK(seen.plates > 100, "plates must be near for this to test something");
    CHECK(seen.shared > 1000 && seen.ghosts > 1000, "pairs must straddle ranks for this to test something");
    tac_scene_destroy(&w.whole);
    free(w.owner);
    MPI_Finalize();
    return check_result();
}
