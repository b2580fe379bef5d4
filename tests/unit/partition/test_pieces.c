/* test_pieces.c: random scenes, distributed to random owners again and again.  If this fails, a rank's part of the
 * scene is not what it is in the whole one, and runs on several ranks give other bits than on one, or crash. */
#include "check.h"

#include "base/exchange.h"
#include "partition/part.h"
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static long left = -1; /* allocations until one fails; -1: none does */

void *__wrap_calloc(size_t count, size_t size)
{
    return left >= 0 && left-- == 0 ? NULL : __real_calloc(count, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return left >= 0 && left-- == 0 ? NULL : __real_aligned_alloc(alignment, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return left >= 0 && left-- == 0 ? NULL : __real_realloc(memory, size);
}

static uint64_t seed, counter;

static tac_lid draw(tac_lid below)
{
    return (tac_lid)(tac_random(seed, counter++) * below);
}

static void *room(size_t count, size_t size)
{
    void *memory = __real_calloc(count ? count : 1, size);
    TAC_CHECK(memory != NULL);
    return memory;
}

struct kind {
    tac_lid vertices, triangles, segments, bodies;
    bool close; /* triangles among vertices of near ids: many shared and some non-manifold edges */
};

static const struct kind KINDS[] = {
    {1, 0, 0, 1, false},       {2, 0, 1, 1, false},        {3, 1, 0, 1, false},   {7, 0, 0, 2, false},
    {4, 4, 0, 1, true},        {6, 30, 10, 1, true},       {40, 60, 20, 3, true}, {200, 300, 0, 4, true},
    {300, 100, 200, 5, false}, {5000, 9000, 500, 7, true},
};

static void draw_vertices(tac_lid width, bool close, tac_lid below, tac_lid *out)
{
    const tac_lid start = draw(below);
    for (tac_lid k = 0; k < width; k++) {
        bool again = true;
        while (again) {
            out[k] = close ? (start + draw(5)) % below : draw(below);
            again = false;
            for (tac_lid j = 0; j < k; j++)
                again = again || out[j] == out[k];
        }
    }
}

/* The same on every rank. */
static struct tac_scene *make_whole(struct tac_ctx *ctx, const struct kind *kind)
{
    struct tac_scene *s = NULL;
    if (tac_scene_make(ctx, NULL, &s) != TAC_OK)
        exit(1);
    const size_t n = (size_t)kind->vertices;
    s->settings->name = strdup("random");
    s->settings->path = strdup("nowhere.json");
    s->settings->json = json_object();
    s->settings->contact.ignore = room(0, 1);
    s->settings->body_count = kind->bodies;
    s->settings->body = room((size_t)kind->bodies, sizeof *s->settings->body);
    s->settings->material_count = 1;
    s->settings->material = room(1, sizeof *s->settings->material);
    s->settings->material[0].name = strdup("cloth");
    s->mesh->vertex_count = kind->vertices;
    s->mesh->x = room(3 * n, sizeof *s->mesh->x);
    s->mesh->v = room(3 * n, sizeof *s->mesh->v);
    s->mesh->mass = room(n, sizeof *s->mesh->mass);
    s->mesh->ever_free = room(n, 1);
    s->mesh->vertex_body = room(n, sizeof *s->mesh->vertex_body);
    for (tac_lid b = 0; b < kind->bodies; b++) {
        char name[16];
        snprintf(name, sizeof name, "b%d", (int)b);
        s->settings->body[b].name = strdup(name);
        s->settings->body[b].vertex_begin = (tac_lid)((int64_t)kind->vertices * b / kind->bodies);
        s->settings->body[b].vertex_end = (tac_lid)((int64_t)kind->vertices * (b + 1) / kind->bodies);
        for (tac_lid i = s->settings->body[b].vertex_begin; i < s->settings->body[b].vertex_end; i++)
            s->mesh->vertex_body[i] = b;
    }
    s->settings->motion_count = 2;
    s->settings->motion = room(2, sizeof *s->settings->motion);
    s->mesh->moved_count = 2;
    s->mesh->moved = room(2, sizeof *s->mesh->moved);
    for (tac_lid m = 0; m < 2; m++) {
        s->mesh->moved[m].vertex = room(n, sizeof *s->mesh->moved->vertex);
        s->settings->motion[m].knot_count = 1;
        s->settings->motion[m].knot_t_s = room(1, sizeof(double));
    }
    s->settings->motion[0].displacement = room(3, sizeof(double));
    s->settings->motion[1].degrees = room(1, sizeof(double));
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < 3; k++) {
            s->mesh->x[3 * i + k] = tac_random(seed, counter++);
            s->mesh->v[3 * i + k] = tac_random(seed, counter++);
        }
        s->mesh->mass[i] = tac_random(seed, counter++);
        s->mesh->ever_free[i] = (uint8_t)draw(2);
        const tac_lid m = draw(4);
        if (m < 2)
            s->mesh->moved[m].vertex[s->mesh->moved[m].vertex_count++] = (tac_lid)i;
    }
    s->settings->load_count = s->settings->load_set_count = 2;
    s->settings->load = room(2, sizeof *s->settings->load);
    s->settings->load_set = room(2, sizeof *s->settings->load_set);
    s->mesh->vertex_load = room(n, sizeof *s->mesh->vertex_load);
    for (tac_lid k = 0; k < 2; k++) {
        s->settings->load[k].knot_count = 1;
        s->settings->load[k].knot_t_s = room(1, sizeof(double));
        s->settings->load[k].factor = room(1, sizeof(double));
        s->settings->load[k].factor[0] = tac_random(seed, counter++);
        s->settings->load_set[k] = (struct tac_load_set){k, k - 1};
    }
    for (size_t i = 0; i < n; i++)
        s->mesh->vertex_load[i] = draw(3) - 1;
    s->mesh->triangle_count = kind->triangles;
    s->mesh->triangle = room(3 * (size_t)kind->triangles, sizeof *s->mesh->triangle);
    for (tac_lid t = 0; t < kind->triangles; t++)
        draw_vertices(3, kind->close && kind->vertices > 5, kind->vertices, s->mesh->triangle + 3 * (size_t)t);
    s->mesh->segment_count = kind->segments;
    s->mesh->segment = room(2 * (size_t)kind->segments, sizeof *s->mesh->segment);
    for (tac_lid i = 0; i < kind->segments; i++)
        draw_vertices(2, kind->close && kind->vertices > 5, kind->vertices, s->mesh->segment + 2 * (size_t)i);
    TAC_CHECK(tac_topology_create(ctx, s->mesh->vertex_count, s->mesh->triangle_count, s->mesh->triangle,
                                  s->mesh->segment_count, s->mesh->segment, &s->mesh->topology) == TAC_OK);
    return s;
}

/* Owners by an id: blocks, all to one, scattered, or scattered over every other rank. */
static int owner_of(const struct tac_ctx *ctx, int manner, tac_gid id, tac_gid total)
{
    if (manner == 0)
        return tac_block_rank(total, ctx->size, id);
    if (manner == 1)
        return ctx->size - 1;
    const int drawn = (int)(tac_random(seed + (uint64_t)manner, (uint64_t)id) * ctx->size);
    return manner % 2 ? drawn : drawn / 2 * 2;
}

static void check_edges(const struct tac_scene *w, const struct tac_scene *s, const tac_lid *local)
{
    const struct tac_topology *a = w->mesh->topology, *b = s->mesh->topology;
    const struct tac_part *part = s->mesh->part;
    for (tac_lid e = 0; e < b->edge_count; e++) {
        const tac_gid g = part->edge_id[e];
        CHECK(e == 0 || part->edge_id[e - 1] < g);
        for (int k = 0; k < 2; k++) {
            CHECK(part->vertex_id[b->edge[2 * e + k]] == a->edge[2 * g + k]);
            const tac_lid t = a->edge_triangle[2 * g + k];
            CHECK(b->edge_triangle[2 * e + k] ==
                  (t < 0 ? -1 : tac_id_find(part->triangle_id, s->mesh->triangle_count, t)));
        }
        CHECK(b->edge_valence[e] == a->edge_valence[g]);
        const tac_lid segment = a->edge_segment[g];
        CHECK(b->edge_segment[e] ==
              (segment < 0 ? -1 : tac_id_find(part->segment_id, s->mesh->segment_count, segment)));
    }
    for (tac_lid t = 0; t < s->mesh->triangle_count; t++)
        for (int k = 0; k < 3; k++)
            CHECK(part->edge_id[b->triangle_edge[3 * t + k]] == a->triangle_edge[3 * part->triangle_id[t] + k]);
    for (tac_lid i = 0; i < s->mesh->segment_count; i++) {
        const tac_lid *edge = b->edge + 2 * part->segment_edge[i], *v = s->mesh->segment + 2 * i;
        CHECK((edge[0] == v[0] && edge[1] == v[1]) || (edge[0] == v[1] && edge[1] == v[0]));
    }
    tac_lid h = 0;
    for (tac_lid g = 0; g < a->hinge_count; g++) {
        bool ours = false;
        for (int k = 0; k < 4; k++)
            ours = ours || (local[a->hinge[4 * g + k]] >= 0 && local[a->hinge[4 * g + k]] < part->owned);
        if (!ours)
            continue;
        CHECK(h < b->hinge_count && part->edge_id[b->hinge_edge[h]] == a->hinge_edge[g]);
        for (int k = 0; k < 4 && h < b->hinge_count; k++)
            CHECK(part->vertex_id[b->hinge[4 * h + k]] == a->hinge[4 * g + k]);
        h++;
    }
    CHECK(h == b->hinge_count, "%d hinges and %d", (int)h, (int)b->hinge_count);
}

/* Elements of `width` vertices: those that touch an owned vertex, ascending. Marks what they reach. */
static void check_elements(const struct tac_scene *s, tac_lid width, tac_lid whole_count, const tac_lid *whole,
                           tac_lid count, const tac_gid *id, const tac_lid *element, const tac_lid *local,
                           uint8_t *reached)
{
    tac_lid n = 0;
    for (tac_lid g = 0; g < whole_count; g++) {
        bool ours = false;
        for (tac_lid k = 0; k < width; k++) {
            const tac_lid i = local[whole[width * g + k]];
            ours = ours || (i >= 0 && i < s->mesh->part->owned);
        }
        if (!ours)
            continue;
        CHECK(n < count && id[n] == g);
        for (tac_lid k = 0; k < width && n < count; k++) {
            CHECK(element[width * n + k] == local[whole[width * g + k]]);
            reached[whole[width * g + k]] = 1;
        }
        n++;
    }
    CHECK(n == count, "%d elements and %d", (int)n, (int)count);
}

static void check_vertices(const struct tac_ctx *ctx, const struct tac_scene *w, const struct tac_scene *s, int manner,
                           const tac_lid *valence, const tac_lid *motion)
{
    const struct tac_part *part = s->mesh->part;
    for (tac_lid i = 0; i < s->mesh->vertex_count; i++) {
        const tac_gid g = part->vertex_id[i];
        const int owner = owner_of(ctx, manner, g, w->mesh->vertex_count);
        CHECK(i == 0 || i == part->owned || part->vertex_id[i - 1] < g);
        CHECK(part->owner[i] == owner && (owner == ctx->rank) == (i < part->owned));
        CHECK(memcmp(s->mesh->x + 3 * i, w->mesh->x + 3 * g, 3 * sizeof(double)) == 0);
        CHECK(memcmp(s->mesh->v + 3 * i, w->mesh->v + 3 * g, 3 * sizeof(double)) == 0);
        CHECK(memcmp(s->mesh->mass + i, w->mesh->mass + g, sizeof(double)) == 0);
        CHECK(s->mesh->ever_free[i] == w->mesh->ever_free[g] && s->mesh->vertex_body[i] == w->mesh->vertex_body[g]);
        CHECK(part->valence[i] == valence[g], "%d and %d", (int)part->valence[i], (int)valence[g]);
        CHECK(part->motion[i] == motion[g] && part->scripted[i] == (motion[g] >= 0));
        CHECK(s->mesh->vertex_load[i] == w->mesh->vertex_load[g]);
    }
    CHECK(s->settings == w->settings);
    for (tac_lid m = 0; m < w->settings->motion_count; m++) {
        const struct tac_moved *a = &w->mesh->moved[m], *b = &s->mesh->moved[m];
        tac_lid n = 0;
        for (tac_lid k = 0; k < a->vertex_count; k++) {
            if (owner_of(ctx, manner, a->vertex[k], w->mesh->vertex_count) != ctx->rank)
                continue;
            CHECK(n < b->vertex_count && part->vertex_id[b->vertex[n]] == a->vertex[k]);
            n++;
        }
        CHECK(n == b->vertex_count);
    }
}

static void check_local(struct tac_ctx *ctx, const struct tac_scene *w, const struct tac_scene *s, int manner)
{
    const size_t n = (size_t)w->mesh->vertex_count;
    tac_lid *local = room(n, sizeof *local), *valence = room(n, sizeof *valence), *motion = room(n, sizeof *motion);
    uint8_t *reached = room(n, 1);
    tac_lid expected = 0;
    for (size_t i = 0; i < n; i++)
        local[i] = motion[i] = -1;
    for (tac_lid i = 0; i < s->mesh->vertex_count; i++)
        local[s->mesh->part->vertex_id[i]] = i;
    for (tac_lid e = 0; e < 2 * w->mesh->topology->edge_count; e++)
        valence[w->mesh->topology->edge[e]]++;
    for (tac_lid m = 0; m < w->settings->motion_count; m++)
        for (tac_lid k = 0; k < w->mesh->moved[m].vertex_count; k++)
            motion[w->mesh->moved[m].vertex[k]] = m;
    CHECK(s->mesh->part->vertex_total == w->mesh->vertex_count &&
          s->mesh->part->triangle_total == w->mesh->triangle_count);
    CHECK(s->mesh->part->segment_total == w->mesh->segment_count &&
          s->mesh->part->edge_total == w->mesh->topology->edge_count);
    CHECK(s->settings->body_count == w->settings->body_count &&
          strcmp(s->settings->body[0].name, w->settings->body[0].name) == 0);
    CHECK(s->settings->body[0].vertex_end == w->settings->body[0].vertex_end && s->settings->json == w->settings->json);
    CHECK(strcmp(s->settings->name, w->settings->name) == 0 &&
          strcmp(s->settings->material[0].name, w->settings->material[0].name) == 0);
    check_vertices(ctx, w, s, manner, valence, motion);
    check_elements(s, 3, w->mesh->triangle_count, w->mesh->triangle, s->mesh->triangle_count,
                   s->mesh->part->triangle_id, s->mesh->triangle, local, reached);
    check_elements(s, 2, w->mesh->segment_count, w->mesh->segment, s->mesh->segment_count, s->mesh->part->segment_id,
                   s->mesh->segment, local, reached);
    check_edges(w, s, local);
    for (tac_lid h = 0; h < 4 * s->mesh->topology->hinge_count; h++)
        reached[s->mesh->part->vertex_id[s->mesh->topology->hinge[h]]] = 1;
    for (size_t i = 0; i < n; i++)
        expected += reached[i] || owner_of(ctx, manner, (tac_gid)i, w->mesh->vertex_count) == ctx->rank;
    CHECK(expected == s->mesh->vertex_count, "%d vertices and %d", (int)expected, (int)s->mesh->vertex_count);
    free(local);
    free(valence);
    free(motion);
    free(reached);
}

static void set_owners(struct tac_ctx *ctx, struct tac_pieces *p, int manner)
{
    for (tac_lid i = 0; i < p->vertex_count; i++)
        p->owner[i] = owner_of(ctx, manner, p->vertex_id[i], p->vertex_total);
}

/* From the whole scene with all distributions; the code of the first step that fails. */
static enum tac_err go_round(struct tac_ctx *ctx, const struct tac_scene *whole, int manners, bool check)
{
    struct tac_pieces *pieces = NULL;
    struct tac_scene *local = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_pieces_from_scene(ctx, whole, &pieces));
    free(pieces->triangle_valence);
    pieces->triangle_valence = NULL; /* made where missing */
    TAC_TRY(tac_pieces_topology(ctx, pieces));
    for (int manner = 0; manner < manners; manner++) {
        if (manner > 0)
            TAC_TRY(tac_pieces_of(ctx, local, &pieces));
        tac_local_destroy(&local);
        set_owners(ctx, pieces, manner);
        if (manner == 2) { /* as from a reader that leaves them to the scripts */
            free(pieces->motion);
            pieces->motion = NULL;
        }
        TAC_TRY(tac_local_create(ctx, whole, pieces, &local));
        tac_pieces_destroy(&pieces);
        if (check)
            check_local(ctx, whole, local, manner);
    }
done:
    tac_pieces_destroy(&pieces);
    tac_local_destroy(&local);
    return err;
}

/* Every allocation of every rank fails once: all ranks say so, and none waits. */
static void check_faults(struct tac_ctx *ctx)
{
    struct tac_scene *whole = make_whole(ctx, &KINDS[6]);
    long failed = 0;
    for (int rank = 0; rank < ctx->size; rank++)
        for (long n = 0;; n++) {
            ctx->error[0] = '\0';
            left = ctx->rank == rank ? n : -1;
            const enum tac_err err = go_round(ctx, whole, 2, false);
            int done = ctx->rank == rank && left >= 0;
            left = -1;
            MPI_Bcast(&done, 1, MPI_INT, rank, ctx->comm);
            if (done) {
                CHECK(err == TAC_OK, "%s", ctx->error);
                break;
            }
            failed++;
            /* MPI's own allocations go through other names, so that each of these is ours. */
            CHECK(err == TAC_ERR_RUN && strstr(ctx->error, "memory") != NULL, "%ld: %d %s", n, (int)err, ctx->error);
        }
    CHECK(failed > 50 * ctx->size, "only %ld allocations failed", failed);
    ctx->error[0] = '\0';
    tac_scene_destroy(&whole);
}

/* Messages larger than the limit come through in portions, the same. */
static void check_portions(struct tac_ctx *ctx)
{
    int64_t *count = room((size_t)ctx->size, sizeof *count), *came = room((size_t)ctx->size, sizeof *came);
    for (int round = 0; round < 20; round++) {
        struct tac_keyed *send, *got[2];
        size_t n = 0, total = 0;
        for (int r = 0; r < ctx->size; r++)
            n += (size_t)(count[r] = (ctx->rank * 7 + r * 5 + round) % 11);
        send = room(n, sizeof *send);
        for (size_t i = 0; i < n; i++)
            send[i] = (struct tac_keyed){ctx->rank, (int64_t)i};
        CHECK(tac_exchange(ctx, send, count, sizeof *send, &got[0], came) == TAC_OK);
        CHECK(tac_exchange_limited(ctx, send, count, sizeof *send, &got[1], came, round % 4) == TAC_OK);
        for (int r = 0; r < ctx->size; r++) {
            CHECK(came[r] == (r * 7 + ctx->rank * 5 + round) % 11);
            for (int64_t i = 0; i < came[r]; i++)
                CHECK(got[0][total + (size_t)i].key == r);
            total += (size_t)came[r];
        }
        CHECK(memcmp(got[0], got[1], total * sizeof *send) == 0);
        free(send);
        free(got[0]);
        free(got[1]);
    }
    /* Most ranks have nothing for each other, as with many of them: one sends to one. */
    for (int from = 0; from < ctx->size; from++)
        for (int to = 0; to < ctx->size; to++) {
            memset(count, 0, (size_t)ctx->size * sizeof *count);
            count[to] = ctx->rank == from ? 1000 * from + to + 1 : 0;
            CHECK(tac_tell_counts(ctx, count, came) == TAC_OK);
            for (int r = 0; r < ctx->size; r++)
                CHECK(came[r] == (ctx->rank == to && r == from ? 1000 * from + to + 1 : 0));
        }
    free(count);
    free(came);
}

int main(int argc, char **argv)
{
    struct tac_ctx ctx;
    MPI_Init(&argc, &argv);
    tac_ctx_init(&ctx, MPI_COMM_WORLD);
    check_portions(&ctx);
    for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; k++)
        for (seed = 1; seed < (KINDS[k].vertices > 1000 ? 2 : 6); seed++) {
            struct tac_scene *whole = make_whole(&ctx, &KINDS[k]);
            const enum tac_err err = go_round(&ctx, whole, 6, true);
            CHECK(err == TAC_OK, "kind %zu: %s", k, ctx.error);
            tac_scene_destroy(&whole);
        }
    check_faults(&ctx);
    int failed = check_result();
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed;
}
