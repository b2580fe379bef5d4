/* local_mesh.c: makes local scenes from pieces (docs/reference/ranks.md, Who holds what).
 *
 * No rank has a list of the owners of all vertices. So there is a directory: the rank whose block of ids holds a vertex
 * keeps the number of its owner. A rank that has an element gets the owners of its vertices there, and sends the
 * element to each of them; vertices go to their owners. An owner then requests from the other owners for the vertices
 * of its elements that it does not own, its ghosts. */
#include "partition/local_mesh.h"

#include <stdlib.h>
#include <string.h>

static enum tac_err sort_arrived(struct tac_ctx *ctx, struct arrived *a)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_sort_records(ctx, a->vertices, sizeof *a->vertex, a->vertex));
    TAC_TRY(tac_sort_records(ctx, a->triangles, sizeof *a->triangle, a->triangle));
    TAC_TRY(tac_sort_records(ctx, a->segments, sizeof *a->segment, a->segment));
    TAC_TRY(tac_sort_records(ctx, a->hinges, sizeof *a->hinge, a->hinge));
    TAC_TRY(tac_sort_records(ctx, a->tetrahedra, sizeof *a->tetrahedron, a->tetrahedron));
done:
    return err;
}

static bool is_ours(const struct arrived *a, tac_gid id)
{
    size_t low = 0, high = a->vertices;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (a->vertex[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < a->vertices && a->vertex[low].id == id;
}

/* Of a joint that has a point here, all points must be here. */
static enum tac_err add_joints(struct tac_ctx *ctx, const struct tac_settings *settings, const struct arrived *a,
                               struct tac_ids *ids)
{
    enum tac_err err = TAC_OK;
    for (tac_lid i = 0; i < settings->joint_count; i++) {
        const struct tac_joint *joint = &settings->joint[i];
        bool ours = false; /* the points of a scripted body may belong to several ranks */
        for (int side = 0; side < 2; side++)
            for (int p = 0; p < joint->points[side]; p++)
                ours = ours || is_ours(a, joint->end[side].point[p]);
        if (!ours)
            continue;
        for (int side = 0; side < 2; side++)
            TAC_TRY(tac_ids_add(ctx, ids, (size_t)joint->points[side], joint->end[side].point));
    }
done:
    return err;
}

static enum tac_err find_corners(struct tac_ctx *ctx, const struct tac_settings *settings, struct arrived *a,
                                 size_t *count)
{
    struct tac_ids ids = {0};
    enum tac_err err = TAC_OK;
    TAC_TRY(add_joints(ctx, settings, a, &ids));
    for (size_t i = 0; i < a->triangles; i++)
        TAC_TRY(tac_ids_add(ctx, &ids, 3, a->triangle[i].vertex));
    for (size_t i = 0; i < a->segments; i++)
        TAC_TRY(tac_ids_add(ctx, &ids, 2, a->segment[i].vertex));
    for (size_t i = 0; i < a->hinges; i++)
        TAC_TRY(tac_ids_add(ctx, &ids, 4, a->hinge[i].vertex));
    for (size_t i = 0; i < a->tetrahedra; i++)
        TAC_TRY(tac_ids_add(ctx, &ids, 4, a->tetrahedron[i].vertex));
    TAC_TRY(tac_ids_finish(ctx, &ids, &a->corner, count));
    TAC_TRY(tac_finder_make(ctx, a->corner, *count, &a->finder));
    TAC_TRY(tac_alloc(ctx, *count, sizeof *a->number, &a->number));
done:
    free(ids.list);
    return err;
}

/* Local ids of the vertices of elements and joints; the ghosts' ids, ascending, in *ghost (owned by the caller). */
static enum tac_err number_vertices(struct tac_ctx *ctx, const struct tac_settings *settings, struct arrived *a,
                                    tac_gid **ghost)
{
    size_t corners = 0, mine = 0;
    enum tac_err err = TAC_OK;
    TAC_TRY(find_corners(ctx, settings, a, &corners));
    for (size_t i = 0; i < corners; i++) {
        while (mine < a->vertices && a->vertex[mine].id < a->corner[i])
            mine++;
        const bool ours = mine < a->vertices && a->vertex[mine].id == a->corner[i];
        a->number[i] = ours ? (tac_lid)mine : (tac_lid)(a->vertices + a->ghosts++);
    }
    if (a->vertices + a->ghosts > INT32_MAX)
        TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "rank %d would hold %zu vertices; use more ranks", ctx->rank,
                         a->vertices + a->ghosts));
    TAC_TRY(tac_alloc(ctx, a->ghosts, sizeof **ghost, ghost));
    for (size_t i = 0; i < corners; i++)
        if ((size_t)a->number[i] >= a->vertices)
            (*ghost)[(size_t)a->number[i] - a->vertices] = a->corner[i];
done:
    return err;
}

static void tell_vertex(const void *known, tac_gid id, void *record)
{
    const struct arrived *a = known;
    size_t low = 0, high = a->vertices;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (a->vertex[middle].id <= id)
            low = middle;
        else
            high = middle;
    }
    memcpy(record, &a->vertex[low], sizeof *a->vertex);
}

static enum tac_err fetch_ghosts(struct tac_ctx *ctx, const struct tac_settings *settings,
                                 const struct tac_directory *d, struct arrived *a)
{
    tac_gid *ghost = NULL;
    int32_t *owner = NULL;
    enum tac_err err = sort_arrived(ctx, a);
    if (err == TAC_OK)
        err = number_vertices(ctx, settings, a, &ghost);
    if (err == TAC_OK)
        err = tac_alloc(ctx, a->ghosts, sizeof *owner, &owner);
    if (err == TAC_OK)
        err = tac_alloc(ctx, a->ghosts, sizeof *a->ghost, &a->ghost);
    TAC_TRY(tac_directory_owners(ctx, err, d, a->ghosts, ghost, owner));
    TAC_TRY(tac_ask(ctx, TAC_OK, a->ghosts, owner, ghost, tell_vertex, a, sizeof *a->ghost, a->ghost));
done:
    free(ghost);
    free(owner);
    return err;
}

static enum tac_err make_vertices(struct tac_ctx *ctx, const struct arrived *a, struct tac_scene *s)
{
    const size_t n = a->vertices + a->ghosts;
    struct tac_part *part = s->mesh->part;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, 3 * n, sizeof *s->mesh->x, &s->mesh->x));
    TAC_TRY(tac_alloc(ctx, 3 * n, sizeof *s->mesh->v, &s->mesh->v));
    TAC_TRY(tac_alloc(ctx, n, sizeof *s->mesh->mass, &s->mesh->mass));
    TAC_TRY(tac_alloc(ctx, n, 1, &s->mesh->ever_free));
    TAC_TRY(tac_alloc(ctx, n, sizeof *s->mesh->vertex_body, &s->mesh->vertex_body));
    if (s->settings->load_count)
        TAC_TRY(tac_alloc(ctx, n, sizeof *s->mesh->vertex_load, &s->mesh->vertex_load));
    TAC_TRY(tac_alloc(ctx, n, sizeof *part->vertex_id, &part->vertex_id));
    TAC_TRY(tac_alloc(ctx, n, sizeof *part->owner, &part->owner));
    TAC_TRY(tac_alloc(ctx, n, sizeof *part->valence, &part->valence));
    TAC_TRY(tac_alloc(ctx, n, 1, &part->scripted));
    TAC_TRY(tac_alloc(ctx, n, sizeof *part->motion, &part->motion));
    s->mesh->vertex_count = (tac_lid)n;
    part->owned = (tac_lid)a->vertices;
    for (size_t i = 0; i < n; i++) {
        const struct vertex_record *r = i < a->vertices ? &a->vertex[i] : &a->ghost[i - a->vertices];
        memcpy(s->mesh->x + 3 * i, r->x, sizeof r->x);
        memcpy(s->mesh->v + 3 * i, r->v, sizeof r->v);
        s->mesh->mass[i] = r->mass;
        s->mesh->ever_free[i] = (uint8_t)r->ever_free;
        s->mesh->vertex_body[i] = r->body;
        if (s->mesh->vertex_load)
            s->mesh->vertex_load[i] = r->load;
        part->vertex_id[i] = r->id;
        part->owner[i] = r->owner;
        part->valence[i] = r->valence;
        part->scripted[i] = (uint8_t)r->scripted;
        part->motion[i] = r->motion;
    }
done:
    return err;
}

/* The scripts' lists of vertices: those that we own. */
static enum tac_err make_motions(struct tac_ctx *ctx, struct tac_scene *s)
{
    const struct tac_part *part = s->mesh->part;
    tac_lid *count = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, (size_t)s->settings->motion_count, sizeof *count, &count));
    for (tac_lid i = 0; i < part->owned; i++)
        if (part->motion[i] >= 0)
            count[part->motion[i]]++;
    for (tac_lid m = 0; m < s->settings->motion_count; m++)
        TAC_TRY(tac_alloc(ctx, (size_t)count[m], sizeof(tac_lid), &s->mesh->moved[m].vertex));
    for (tac_lid i = 0; i < part->owned; i++)
        if (part->motion[i] >= 0) {
            struct tac_moved *moved = &s->mesh->moved[part->motion[i]];
            moved->vertex[moved->vertex_count++] = i;
        }
done:
    free(count);
    return err;
}

/* Where the points of joints are among our vertices. */
static enum tac_err make_joints(struct tac_ctx *ctx, const struct arrived *a, struct tac_scene *s)
{
    enum tac_err err = TAC_OK;
    if (s->settings->joint_count == 0)
        return TAC_OK;
    TAC_TRY(tac_alloc(ctx, (size_t)s->settings->joint_count, 2 * TAC_JOINT_POINTS * sizeof(tac_lid),
                      &s->mesh->joint_point));
    tac_lid *to = s->mesh->joint_point;
    for (tac_lid i = 0; i < s->settings->joint_count; i++)
        for (int side = 0; side < 2; side++)
            for (int p = 0; p < TAC_JOINT_POINTS; p++) {
                const struct tac_joint *joint = &s->settings->joint[i];
                const tac_lid found =
                    p < joint->points[side] ? tac_finder_find(&a->finder, joint->end[side].point[p]) : -1;
                *to++ = found >= 0 ? a->number[found] : -1;
            }
done:
    return err;
}

static enum tac_err make_scene(struct tac_ctx *ctx, const struct tac_scene *common, const struct tac_pieces *p,
                               struct arrived *a, struct tac_scene **out)
{
    enum tac_err err = TAC_OK;
    struct tac_scene *s = NULL;
    TAC_TRY(tac_scene_make(ctx, common->settings, &s));
    TAC_TRY(tac_alloc(ctx, (size_t)common->settings->motion_count, sizeof *s->mesh->moved, &s->mesh->moved));
    s->mesh->moved_count = common->settings->motion_count;
    TAC_TRY(tac_alloc(ctx, 1, sizeof *s->mesh->part, &s->mesh->part));
    s->mesh->part->vertex_total = p->vertex_total;
    s->mesh->part->triangle_total = p->triangle_total;
    s->mesh->part->segment_total = p->segment_total;
    s->mesh->part->edge_total = p->edge_total;
    s->mesh->part->tetrahedron_total = p->tetrahedron_total;
    TAC_TRY(make_vertices(ctx, a, s));
    free(a->vertex);
    free(a->ghost);
    a->vertex = a->ghost = NULL;
    TAC_TRY(make_motions(ctx, s));
    TAC_TRY(make_joints(ctx, a, s));
    TAC_TRY(tac_local_elements(ctx, a, s));
    *out = s;
    s = NULL;
done:
    tac_local_destroy(&s);
    return err;
}

enum tac_err tac_local_create(struct tac_ctx *ctx, const struct tac_scene *common, struct tac_pieces *pieces,
                              struct tac_scene **out)
{
    struct tac_directory directory = {0};
    struct arrived a = {0};
    enum tac_err err = TAC_OK;
    *out = NULL;
    TAC_TRY(tac_directory_make(ctx, pieces, &directory));
    TAC_TRY(tac_local_distribute(ctx, &directory, common, pieces, &a));
    TAC_TRY(fetch_ghosts(ctx, common->settings, &directory, &a));
    TAC_TRY(tac_agree(ctx, make_scene(ctx, common, pieces, &a, out)));
done:
    if (err)
        tac_local_destroy(out);
    free(directory.owner);
    free(a.vertex);
    free(a.ghost);
    free(a.triangle);
    free(a.segment);
    free(a.hinge);
    free(a.tetrahedron);
    free(a.corner);
    free(a.number);
    tac_finder_free(&a.finder);
    return err;
}
