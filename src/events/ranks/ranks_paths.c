/* ranks_paths.c: sends the messages that are not in the schedule: the paths of vertices near a contact, and the
 * straight lines of vertices. */
#include "events/ranks/ranks.h"
#include <string.h>

enum { TAG_ASK = 12, TAG_PATHS = 13, TAG_LINES = 14 };

/* ---- paths of ghosts near a contact ---- */

static size_t ask_for_paths(void *self, struct tac_neighbor *n)
{
    struct tac_sim *sim = self;
    struct tac_ranks *r = sim->ranks;
    size_t count = 0;
    for (size_t k = 0; k < r->wanted_count; k++)
        count += tac_scene_owner(sim->ctx, sim->scene, r->wanted[k]) == n->rank && r->has_path[r->wanted[k]] != 1;
    if (!tac_halo_room(&sim->ranks->halo, n, count * sizeof(tac_gid) + 1))
        return 0;
    tac_gid *id = (tac_gid *)n->report;
    for (size_t k = 0; k < r->wanted_count; k++)
        if (tac_scene_owner(sim->ctx, sim->scene, r->wanted[k]) == n->rank && r->has_path[r->wanted[k]] != 1)
            *id++ = tac_scene_id(sim->scene, r->wanted[k]);
    return count * sizeof(tac_gid);
}

static void keep_question(void *self, struct tac_neighbor *n)
{
    (void)self;
    (void)n; /* it stays in n->heard until it is answered */
}

/* Counts the breakpoints that describe a vertex' path over the pass; the last one lies after the end of the pass, and
 * ends the last piece. */
static size_t path_pieces(const struct tac_sim *sim, tac_lid v)
{
    size_t count = 1;
    if (sim->state.vel[v].w != 0)
        for (int32_t k = sim->paths.break_head[v] >= 0 ? sim->paths.break_first[v] : -1; k >= 0;
             k = sim->paths.breaks[k].next)
            count++;
    return count;
}

struct path_head {
    tac_gid id;
    int64_t pieces;
    struct tac_line line; /* from */
};

/* Computes where a vertex will be at b->t that is at x at time t and moves with velocity v. */
static void predict_break(const struct tac_sim *sim, const double x[3], const double v[3], tac_time t,
                          struct tac_break *b)
{
    const double dt = tac_state_seconds(&sim->state, b->t - t);
    for (int k = 0; k < 3; k++)
        b->x[k] = x[k] + dt * v[k];
}

static size_t send_paths(void *self, struct tac_neighbor *n)
{
    struct tac_sim *sim = self;
    const size_t count = n->heard_count / sizeof(tac_gid);
    const tac_gid *id = (const tac_gid *)n->heard;
    size_t bytes = 0;
    for (size_t k = 0; k < count; k++) {
        tac_lid v = tac_id_find(sim->scene->mesh->part->vertex_id, sim->state.owned, id[k]);
        TAC_CHECK(v >= 0);
        bytes += sizeof(struct path_head) + path_pieces(sim, v) * sizeof(struct tac_break);
    }
    if (!tac_halo_room(&sim->ranks->halo, n, bytes + 1))
        return 0;
    char *at = n->report;
    for (size_t k = 0; k < count; k++) {
        const tac_lid v = tac_id_find(sim->scene->mesh->part->vertex_id, sim->state.owned, id[k]);
        struct path_head *head = (struct path_head *)at;
        memset(head, 0, sizeof *head);
        head->id = id[k];
        head->pieces = (int64_t)path_pieces(sim, v);
        struct tac_break *piece = (struct tac_break *)(head + 1);
        const struct tac_script *s = sim->scripts.of[v] >= 0 ? &sim->scripts.script[sim->scripts.of[v]] : NULL;
        struct tac_break last = {2 * sim->paths.end - sim->paths.start + 1, {0, 0, 0}, -1, 0};
        if (sim->state.vel[v].w != 0) {
            const struct tac_pos *pos = &sim->state.pos[v];
            head->line = sim->paths.line[v];
            for (int32_t b = sim->paths.break_head[v] >= 0 ? sim->paths.break_first[v] : -1; b >= 0;
                 b = sim->paths.breaks[b].next)
                *piece++ = sim->paths.breaks[b];
            predict_break(sim, pos->x, sim->state.vel[v].v, pos->t, &last);
        } else {
            tac_position(&sim->state, &sim->scripts, v, sim->paths.start, head->line.x);
            head->line.t = sim->paths.start;
            predict_break(sim, head->line.x, s ? s->v : (const double[3]){0, 0, 0}, sim->paths.start, &last);
        }
        *piece++ = last;
        at = (char *)piece;
    }
    return bytes;
}

static void take_paths(void *self, struct tac_neighbor *n)
{
    struct tac_sim *sim = self;
    const char *at = n->heard, *end = n->heard + n->heard_count;
    while (at < end) {
        const struct path_head *head = (const struct path_head *)at;
        const struct tac_break *piece = (const struct tac_break *)(head + 1);
        const tac_lid v = tac_ghost_find(&sim->ranks->halo, head->id);
        TAC_CHECK(v >= 0);
        enum tac_err err = tac_grow(sim->ctx, &sim->paths.breaks, &sim->paths.break_capacity,
                                    sim->paths.break_count + (size_t)head->pieces, sizeof *sim->paths.breaks);
        if (err) {
            tac_ranks_failed(sim->ranks, err);
            return;
        }
        sim->paths.line[v] = head->line;
        sim->paths.break_first[v] = (int32_t)sim->paths.break_count;
        for (int64_t k = 0; k < head->pieces; k++) {
            sim->paths.breaks[sim->paths.break_count] = piece[k];
            sim->paths.breaks[sim->paths.break_count].next =
                k + 1 < head->pieces ? (int32_t)sim->paths.break_count + 1 : -1;
            sim->paths.break_head[v] = (int32_t)sim->paths.break_count++;
        }
        sim->ranks->has_path[v] = 1;
        at = (const char *)(piece + head->pieces);
    }
}

void tac_ranks_paths(struct tac_sim *sim)
{
    tac_halo_exchange(&sim->ranks->halo, TAG_ASK, ask_for_paths, keep_question, sim);
    tac_halo_exchange(&sim->ranks->halo, TAG_PATHS, send_paths, take_paths, sim);
}

/* ---- lines ---- */

static size_t tell_lines(void *self, struct tac_neighbor *n)
{
    struct tac_sim *sim = self;
    if (!tac_halo_room(&sim->ranks->halo, n, n->give_count * sizeof(struct tac_line) + 1))
        return 0;
    struct tac_line *line = (struct tac_line *)n->report;
    for (size_t i = 0; i < n->give_count; i++) {
        const tac_lid v = n->give[i];
        memset(&line[i], 0, sizeof line[i]);
        const struct tac_script *s = tac_state_script(&sim->state, &sim->scripts, v);
        if (s != NULL) {
            memcpy(line[i].x, s->x, sizeof s->x);
            memcpy(line[i].v, s->v, sizeof s->v);
            line[i].t = s->t;
        } else {
            memcpy(line[i].x, sim->state.pos[v].x, sizeof line[i].x);
            memcpy(line[i].v, sim->state.vel[v].v, sizeof line[i].v);
            line[i].t = sim->state.pos[v].t;
        }
    }
    return n->give_count * sizeof *line;
}

static void take_lines(void *self, struct tac_neighbor *n)
{
    struct tac_sim *sim = self;
    const struct tac_line *line = (const struct tac_line *)n->heard;
    TAC_CHECK(n->heard_count == n->need_count * sizeof *line);
    for (size_t i = 0; i < n->need_count; i++) {
        const tac_lid v = n->need[i];
        if (sim->paths.line)
            sim->paths.line[v] = line[i];
        const double dt = tac_state_seconds(&sim->state, sim->state.now - line[i].t);
        for (int k = 0; k < 3; k++)
            sim->state.pos[v].x[k] = line[i].t == sim->state.now ? line[i].x[k] : line[i].x[k] + dt * line[i].v[k];
        sim->state.pos[v].t = sim->state.now;
    }
}

void tac_ranks_lines(struct tac_sim *sim)
{
    tac_halo_exchange(&sim->ranks->halo, TAG_LINES, tell_lines, take_lines, sim);
}

bool tac_ranks_want_path(struct tac_ctx *ctx, struct tac_ranks *ranks, tac_lid ghost)
{
    if (ranks->has_path[ghost] != 0)
        return ranks->has_path[ghost] == 1;
    enum tac_err err =
        tac_grow(ctx, &ranks->wanted, &ranks->wanted_capacity, ranks->wanted_count + 1, sizeof *ranks->wanted);
    tac_ranks_failed(ranks, err);
    if (!err) {
        ranks->wanted[ranks->wanted_count++] = ghost;
        ranks->has_path[ghost] = 2;
    }
    return false;
}
