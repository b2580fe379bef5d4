/* local.c: sends the rows of each subdomain to the rank that works on it, and sorts them. */
#include "base/exchange.h"
#include "solve/local_making.h"
#include <stdlib.h>
#include <string.h>

static struct tac_moving_node describe(const struct tac_ctx *ctx, const struct tac_making *m, tac_lid i)
{
    const double *x = m->system->position + 3 * (size_t)i;
    return (struct tac_moving_node){m->system->nodes.id[i],
                                    m->name[i],
                                    ctx->rank,
                                    {x[0], x[1], x[2], m->system->translate ? m->system->translate[i] : 1}};
}

/* Sends the nodes and rows of subdomains that other ranks work on. */
static enum tac_err send(struct tac_ctx *ctx, struct tac_making *m)
{
    enum tac_err err = TAC_OK;
    const struct tac_matrix *a = m->system->matrix;
    struct tac_moving_node *node = NULL;
    struct tac_moving_block *block = NULL;
    int32_t *to_node = NULL, *to_block = NULL;
    size_t nodes = 0, blocks = 0;
    for (tac_lid i = 0; i < a->owned; i++)
        if (m->name[i] >= 0 && m->rank[i] != ctx->rank) {
            nodes++;
            blocks += a->row[i + 1] - a->row[i];
        }
    TAC_TRY(tac_alloc_brief(ctx, nodes, sizeof *node, &node));
    TAC_TRY(tac_alloc_brief(ctx, nodes, sizeof *to_node, &to_node));
    TAC_TRY(tac_alloc_brief(ctx, blocks, sizeof *block, &block));
    TAC_TRY(tac_alloc_brief(ctx, blocks, sizeof *to_block, &to_block));
    nodes = blocks = 0;
    for (tac_lid i = 0; i < a->owned; i++) {
        if (m->name[i] < 0 || m->rank[i] == ctx->rank)
            continue;
        to_node[nodes] = m->rank[i];
        node[nodes++] = describe(ctx, m, i);
        for (size_t k = a->row[i]; k < a->row[i + 1]; k++) {
            const tac_lid j = a->column[k];
            if (m->name[j] < 0)
                continue;
            to_block[blocks] = m->rank[i];
            block[blocks] =
                (struct tac_moving_block){m->system->nodes.id[i], m->system->nodes.id[j], m->name[j], m->rank[j], {0}};
            memcpy(block[blocks++].block, a->block + 9 * k, sizeof block->block);
        }
    }
done:
    err = tac_distribute(ctx, err, nodes, to_node, node, sizeof *node, &m->came, &m->came_count);
    err = tac_distribute(ctx, err, blocks, to_block, block, sizeof *block, &m->block, &m->block_count);
    free(node);
    free(block);
    free(to_node);
    free(to_block);
    return err;
}

/* Lists the owned nodes in the new order, and the subdomains. */
static enum tac_err order_nodes(struct tac_ctx *ctx, struct tac_making *m, struct tac_local_system *out)
{
    enum tac_err err;
    const tac_lid home = m->system->nodes.owned;
    struct tac_keyed *key = NULL;
    struct tac_origin *origin = NULL;
    struct tac_moving_node *node = NULL;
    size_t n = 0, block = 0;
    TAC_TRY(tac_sort_records(ctx, m->block_count, sizeof *m->block, m->block));
    TAC_TRY(tac_sort_records(ctx, m->came_count, sizeof *m->came, m->came));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)home + m->came_count, sizeof *key, &key));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)home + m->came_count, sizeof *origin, &origin));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)home + m->came_count, sizeof *node, &node));
    for (tac_lid i = 0; i < home; i++)
        if (m->name[i] >= 0 && m->rank[i] == ctx->rank) {
            origin[n] = (struct tac_origin){.home = i};
            node[n++] = describe(ctx, m, i);
        }
    for (size_t k = 0; k < m->came_count; k++) {
        origin[n] = (struct tac_origin){.home = -1, .from = block, .came = k};
        while (block < m->block_count && m->block[block].row == m->came[k].id)
            block++;
        origin[n].to = block;
        node[n++] = m->came[k];
    }
    for (size_t k = 0; k < n; k++)
        key[k] = (struct tac_keyed){node[k].id, (int64_t)k};
    TAC_TRY(tac_sort_keyed(ctx, n, key));
    for (size_t k = 0; k < n; k++)
        key[k].key = node[key[k].index].name;
    TAC_TRY(tac_sort_keyed(ctx, n, key));
    out->owned = (tac_lid)n;
    TAC_TRY(tac_alloc_brief(ctx, n, sizeof *m->origin, &m->origin));
    TAC_TRY(tac_alloc_brief(ctx, n, sizeof *out->subdomain, &out->subdomain));
    /* Allocates room for as many ghosts as there can be. */
    const size_t room = n + (size_t)m->system->nodes.count + m->block_count;
    TAC_TRY(tac_alloc_brief(ctx, room, sizeof *out->id, &out->id));
    TAC_TRY(tac_alloc_brief(ctx, room, sizeof *out->owner, &out->owner));
    TAC_TRY(tac_alloc_brief(ctx, room, sizeof *out->name, &out->name));
    for (size_t k = 0; k < n; k++) {
        const size_t from = (size_t)key[k].index;
        m->origin[k] = origin[from];
        out->id[k] = node[from].id;
        out->owner[k] = ctx->rank;
        out->name[k] = node[from].name;
        if (k == 0 || out->name[k] != out->name[k - 1])
            out->subdomain[out->subdomains++] = (struct tac_subdomain){(tac_lid)k, (tac_lid)k, out->name[k]};
        out->subdomain[out->subdomains - 1].end = (tac_lid)k + 1;
    }
done:
    free(key);
    free(origin);
    free(node);
    return err;
}

/* Lists the ghosts in the new order, by ascending id, and finds every column's place in it. */
static enum tac_err name_columns(struct tac_ctx *ctx, struct tac_making *m, struct tac_local_system *out)
{
    enum tac_err err;
    const struct tac_matrix *a = m->system->matrix;
    struct tac_keyed *key = NULL;
    tac_gid *id = NULL;
    size_t ghosts = 0, n = 0;
    TAC_TRY(tac_alloc_brief(ctx, (size_t)a->count, sizeof *m->new_node, &m->new_node));
    TAC_TRY(tac_alloc_brief(ctx, m->block_count, sizeof *m->block_column, &m->block_column));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)out->owned + (size_t)a->count + m->block_count, sizeof *key, &key));
    memset(m->new_node, 0xff, (size_t)a->count * sizeof *m->new_node); /* 0xff..: -1, not needed */
    for (tac_lid k = 0; k < out->owned; k++)
        if (m->origin[k].home >= 0)
            for (size_t e = a->row[m->origin[k].home]; e < a->row[m->origin[k].home + 1]; e++)
                m->new_node[a->column[e]] = 0;
    for (tac_lid i = 0; i < a->count; i++)
        if (m->new_node[i] == 0 && m->name[i] >= 0 && m->rank[i] != ctx->rank)
            key[ghosts++] = (struct tac_keyed){m->system->nodes.id[i], i};
    for (size_t k = 0; k < m->block_count; k++)
        if (m->block[k].rank != ctx->rank)
            key[ghosts++] = (struct tac_keyed){m->block[k].column, (int64_t)a->count + (int64_t)k};
    TAC_TRY(tac_sort_keyed(ctx, ghosts, key));
    out->count = out->owned;
    for (size_t k = 0; k < ghosts; k++)
        if (k == 0 || key[k].key != key[k - 1].key) {
            const int64_t at = key[k].index - a->count; /* a received block, or one of the caller's nodes */
            out->id[out->count] = key[k].key;
            out->name[out->count] = at >= 0 ? m->block[at].name : m->name[key[k].index];
            out->owner[out->count++] = at >= 0 ? (int32_t)m->block[at].rank : m->rank[key[k].index];
        }
    for (n = 0; n < (size_t)out->count; n++)
        key[n] = (struct tac_keyed){out->id[n], (int64_t)n};
    TAC_TRY(tac_sort_keyed(ctx, n, key));
    TAC_TRY(tac_alloc_brief(ctx, n, sizeof *id, &id));
    for (size_t k = 0; k < n; k++)
        id[k] = key[k].key;
    for (tac_lid i = 0; i < a->count; i++) {
        const tac_lid at = m->name[i] >= 0 ? tac_id_find(id, (tac_lid)n, m->system->nodes.id[i]) : -1;
        m->new_node[i] = at < 0 ? -1 : (tac_lid)key[at].index;
    }
    for (size_t k = 0; k < m->block_count; k++)
        m->block_column[k] = (tac_lid)key[tac_id_find(id, (tac_lid)n, m->block[k].column)].index;
done:
    free(key);
    free(id);
    return err;
}

/* Makes the two halos between the caller's nodes and ours, and `from`. */
static enum tac_err make_transfers(struct tac_ctx *ctx, struct tac_making *m, struct tac_local_system *out)
{
    enum tac_err err;
    const tac_lid home = m->system->nodes.owned;
    tac_gid *id = NULL;
    int32_t *owner = NULL;
    struct tac_nodes bring = {0}, back = {0};
    size_t most = (size_t)home + m->came_count + (size_t)out->owned;
    TAC_TRY(tac_alloc_brief(ctx, 2 * most, sizeof *id, &id));
    TAC_TRY(tac_alloc_brief(ctx, 2 * most, sizeof *owner, &owner));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)out->owned, sizeof *out->from, &out->from));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)home, sizeof *out->gone_node, &out->gone_node));
    out->home_count = home;
    out->came = (tac_lid)m->came_count;
    bring = (struct tac_nodes){home + out->came, home, id, owner};
    memcpy(id, m->system->nodes.id, (size_t)home * sizeof *id);
    for (size_t k = 0; k < m->came_count; k++) {
        id[(size_t)home + k] = m->came[k].id;
        owner[(size_t)home + k] = (int32_t)m->came[k].home;
    }
    for (tac_lid k = 0; k < out->owned; k++)
        out->from[k] = m->origin[k].home >= 0 ? m->origin[k].home : home + (tac_lid)m->origin[k].came;
    id += most;
    owner += most;
    memcpy(id, out->id, (size_t)out->owned * sizeof *id);
    for (tac_lid i = 0; i < home; i++)
        if (m->name[i] >= 0 && m->rank[i] != ctx->rank) {
            id[out->owned + out->gone] = m->system->nodes.id[i];
            owner[out->owned + out->gone] = m->rank[i];
            out->gone_node[out->gone++] = i;
        }
    back = (struct tac_nodes){out->owned + out->gone, out->owned, id, owner};
    id -= most;
    owner -= most;
    TAC_TRY(tac_alloc_brief(ctx, 3 * (size_t)bring.count, sizeof *out->bring_value, &out->bring_value));
    TAC_TRY(tac_alloc_brief(ctx, 3 * (size_t)back.count, sizeof *out->back_value, &out->back_value));
done:
    err = tac_nodes_halo_create_after(ctx, err, &bring, &out->bring);
    if (!err)
        err = tac_nodes_halo_create(ctx, &back, &out->give_back);
    free(id);
    free(owner);
    return err;
}

static enum tac_err make_places(struct tac_ctx *ctx, const struct tac_making *m, struct tac_local_system *out)
{
    enum tac_err err;
    TAC_TRY(tac_alloc_brief(ctx, 4 * (size_t)out->count, sizeof *out->place, &out->place));
    for (tac_lid k = 0; k < out->owned; k++) {
        const struct tac_origin *o = &m->origin[k];
        const struct tac_moving_node node = o->home >= 0 ? describe(ctx, m, o->home) : m->came[o->came];
        memcpy(out->place + 4 * (size_t)k, node.place, sizeof node.place);
    }
done:
    return err;
}

enum tac_err tac_local_system_make(struct tac_ctx *ctx, const struct tac_system *system, const uint8_t *fixed,
                                   const struct tac_cut *cut, struct tac_local_system *out)
{
    enum tac_err err;
    struct tac_making m = {.system = system, .rank = cut->rank};
    struct tac_nodes nodes;
    tac_local_system_free(out);
    out->products = system->products;
    err = tac_alloc_brief(ctx, (size_t)system->nodes.count, sizeof *m.name, &m.name);
    if ((err = tac_agree(ctx, err)) != TAC_OK)
        goto done;
    for (tac_lid i = 0; i < system->nodes.count; i++)
        m.name[i] = fixed[i] ? -1 : cut->name[i];
    TAC_TRY(send(ctx, &m));
    err = order_nodes(ctx, &m, out);
    err = err ? err : name_columns(ctx, &m, out);
    err = err ? err : tac_local_rows(ctx, &m, out);
    err = err ? err : make_places(ctx, &m, out);
    nodes = (struct tac_nodes){out->count, out->owned, out->id, out->owner};
    TAC_TRY(tac_nodes_halo_create_after(ctx, err, &nodes, &out->halo));
    tac_nodes_halo_refresh(out->halo, out->place, 4 * sizeof *out->place);
    TAC_TRY(make_transfers(ctx, &m, out));
done:
    free(m.name);
    free(m.came);
    free(m.block);
    free(m.origin);
    free(m.new_node);
    free(m.block_column);
    if (err)
        tac_local_system_free(out);
    return err;
}

static void rows_free(struct tac_rows *rows)
{
    free(rows->from);
    free(rows->column);
    free(rows->block);
}

void tac_local_system_free(struct tac_local_system *local)
{
    free(local->id);
    free(local->owner);
    free(local->name);
    free(local->place);
    free(local->subdomain);
    free(local->diagonal);
    rows_free(&local->lower);
    rows_free(&local->outer);
    free(local->outer_node);
    tac_nodes_halo_destroy(&local->halo);
    tac_nodes_halo_destroy(&local->bring);
    tac_nodes_halo_destroy(&local->give_back);
    free(local->bring_value);
    free(local->from);
    free(local->back_value);
    free(local->gone_node);
    memset(local, 0, sizeof *local);
}
