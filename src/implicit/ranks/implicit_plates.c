/* implicit_plates.c: sends what pairs of plates add to the gradient and to the matrix to the owners of the plates
 * (implicit_plates.h). */
#include "implicit/ranks/implicit_plates.h"
#include "implicit/parts.h"
#include <stdlib.h>

enum { TAG = 48, MOST_VALUES = 12 + 9 * 64 /* of a pair: gradient, matrix of two rigid bodies */ };

/* The head of a pair in a message. Its numbers follow: the gradient, then the upper half of the matrix. */
struct head {
    uint64_t key;
    int32_t sort, type;
    int32_t pushes, size; /* numbers of the gradient; rows of the matrix */
    tac_gid vertex[4];
};

/* A pair that goes to another rank. */
struct leaving {
    struct head head;
    size_t e, value; /* its place in the list of its sort; where its numbers begin: the whole matrix */
    int32_t to;
};

struct arrived {
    uint64_t key;
    int32_t sort;
    size_t value;
    int size;
    struct tac_plate_pair pair;
};

struct tac_implicit_plates {
    size_t leaving_count, leaving_capacity, value_count, value_capacity;
    struct leaving *leaving;          /* owned: by sorts, then by place */
    double *value;                    /* owned: what leaves */
    size_t first[TAC_PAIR_SORTS + 1]; /* of each sort among those that leave */
    size_t arrived_count, arrived_capacity, came_count, came_capacity, order_capacity, pair_capacity;
    struct arrived *arrived;          /* owned: as they came */
    double *came;                     /* owned: their numbers */
    struct tac_implicit_place *order; /* owned */
    struct tac_plate_pair *pair;      /* owned: by sorts, then by key */
    size_t begin[TAC_PAIR_SORTS + 1]; /* of each sort among these */
    size_t shown_count, shown_capacity;
    tac_lid *shown; /* owned: the ghosts of plates */
};

enum tac_err tac_plates_create(struct tac_implicit *sim)
{
    return tac_agree(sim->ctx, tac_alloc(sim->ctx, 1, sizeof *sim->plates, &sim->plates));
}

void tac_plates_destroy(struct tac_implicit_plates **plates)
{
    struct tac_implicit_plates *p = *plates;
    if (p == NULL)
        return;
    free(p->leaving);
    free(p->value);
    free(p->arrived);
    free(p->came);
    free(p->order);
    free(p->pair);
    free(p->shown);
    free(p);
    *plates = NULL;
}

enum tac_err tac_plates_shown(struct tac_implicit *sim, size_t count, tac_lid **shown)
{
    enum tac_err err;
    struct tac_implicit_plates *p = sim->plates;
    p->shown_count = 0;
    TAC_TRY(tac_grow(sim->ctx, &p->shown, &p->shown_capacity, count, sizeof *p->shown));
    p->shown_count = count;
    *shown = p->shown;
done:
    return err;
}

void tac_plates_mark(struct tac_implicit *sim)
{
    if (sim->plates != NULL)
        tac_implicit_ghosts_mark(sim, sim->plates->shown, (int)sim->plates->shown_count);
}

/* ---- which pairs ---- */

bool tac_plates_need(const struct tac_implicit *sim, const tac_lid *v, int n, int i, int32_t *owner)
{
    const uint8_t *const ever_free = sim->scene->mesh->ever_free;
    if (ever_free[v[i]] || !tac_implicit_scripted(sim, v[i]))
        return false;
    *owner = (int32_t)tac_scene_owner(sim->ctx, sim->scene, v[i]);
    for (int k = 0; k < n; k++)
        if ((ever_free[v[k]] || (k < i && tac_implicit_scripted(sim, v[k]))) &&
            (int32_t)tac_scene_owner(sim->ctx, sim->scene, v[k]) == *owner)
            return false;
    return true;
}

static size_t count_of(const struct tac_implicit *sim, enum tac_pair_sort sort)
{
    const size_t count[TAC_PAIR_SORTS] = {sim->contact.sliding_count, sim->contact.touch_count,
                                          sim->contact.foreseen_count};
    return count[sort];
}

/* Own pair e of a sort: its vertices, type and key. */
static const tac_lid *pair_of(const struct tac_implicit *sim, enum tac_pair_sort sort, size_t e,
                              enum tac_pair_type *type, uint64_t *key)
{
    const struct tac_implicit_contact *c = &sim->contact;
    if (sort == TAC_SORT_TOUCHING) {
        const struct tac_implicit_pair *p = tac_implicit_touching(sim, e);
        *type = p->form.type;
        *key = p->key;
        return p->v;
    }
    *type = sort == TAC_SORT_SLIDING ? c->sliding[e].type : c->foreseen[e].type;
    *key = sort == TAC_SORT_SLIDING ? c->sliding[e].key : c->foreseen[e].key;
    return sort == TAC_SORT_SLIDING ? c->sliding[e].v : c->foreseen[e].v;
}

/* Lists a pair for each rank that needs it; all of them get the same numbers. */
static enum tac_err put_pair(struct tac_implicit *sim, enum tac_pair_sort sort, size_t e, bool *any)
{
    enum tac_err err = TAC_OK;
    struct tac_implicit_plates *p = sim->plates;
    enum tac_pair_type type;
    uint64_t key;
    const tac_lid *v = pair_of(sim, sort, e, &type, &key);
    const int n = tac_pair_vertices(type);
    *any = false;
    for (int i = 0; i < n; i++) {
        int32_t to;
        if (!tac_plates_need(sim, v, n, i, &to) || (!*any && !tac_implicit_counts_pair(sim, v, n)))
            continue;
        TAC_TRY(tac_grow(sim->ctx, &p->leaving, &p->leaving_capacity, p->leaving_count + 1, sizeof *p->leaving));
        struct leaving *l = &p->leaving[p->leaving_count++];
        *l = (struct leaving){{key, (int32_t)sort, (int32_t)type, 0, 0, {-1, -1, -1, -1}}, e, p->value_count, to};
        for (int k = 0; k < n; k++)
            l->head.vertex[k] = tac_implicit_id(sim, v[k]);
        *any = true;
    }
done:
    return err;
}

/* ---- what they add ---- */

/* The gradient of own pair e at x; of a foreseen pair, which is no part of the potential, the forces. */
static void push_of(const struct tac_implicit *sim, enum tac_pair_sort sort, size_t e, const double *x, double g[4][3])
{
    if (sort == TAC_SORT_SLIDING) {
        tac_implicit_friction_gradient(sim, &sim->contact.sliding[e], x, g);
    } else if (sort == TAC_SORT_TOUCHING) {
        tac_implicit_contact_gradient(sim, e, x, g);
    } else {
        const struct tac_foreseen *f = &sim->contact.foreseen[e];
        const double force =
            tac_implicit_kappa_of(sim, f->share, sim->newton.kappa) * tac_implicit_foreseen_force(f, x);
        for (int i = 0; i < tac_pair_vertices(f->type); i++)
            for (int c = 0; c < 3; c++)
                g[i][c] = force * f->w[i] * f->n[c];
    }
}

/* Evaluates the pairs of a sort that leave. matrix: their matrices, too, of this curvature. */
static enum tac_err evaluate(struct tac_implicit *sim, enum tac_pair_sort sort, const double *x, bool matrix,
                             enum tac_curvature curvature)
{
    enum tac_err err = TAC_OK;
    struct tac_implicit_plates *p = sim->plates;
    const bool pushes = !matrix || sort == TAC_SORT_FORESEEN;
    for (size_t e = 0; e < count_of(sim, sort); e++) {
        const size_t first = p->leaving_count;
        bool any;
        double g[4][3];
        TAC_TRY(put_pair(sim, sort, e, &any));
        if (!any)
            continue;
        const int n = tac_pair_vertices((enum tac_pair_type)p->leaving[first].head.type);
        TAC_TRY(tac_grow(sim->ctx, &p->value, &p->value_capacity, p->value_count + MOST_VALUES, sizeof *p->value));
        double *to = &p->value[p->value_count];
        if (pushes) {
            push_of(sim, sort, e, x, g);
            memcpy(to, g, 3 * (size_t)n * sizeof(double));
        }
        const int count = pushes ? 3 * n : 0;
        const int rows = matrix ? 3 * tac_implicit_pair_matrix(sim, sort, e, x, curvature, to + count) : 0;
        p->value_count += (size_t)(count + rows * rows);
        for (size_t k = first; k < p->leaving_count; k++) {
            p->leaving[k].head.pushes = count;
            p->leaving[k].head.size = rows;
        }
    }
done:
    return err;
}

/* ---- messages ---- */

static size_t bytes_of(const struct head *h)
{
    return sizeof *h + (size_t)(h->pushes + h->size * (h->size + 1) / 2) * sizeof(double);
}

static size_t fill(void *self, struct tac_neighbor *n)
{
    const struct tac_implicit *sim = self;
    const struct tac_implicit_plates *p = sim->plates;
    size_t bytes = 0;
    for (size_t k = 0; k < p->leaving_count; k++)
        bytes += p->leaving[k].to == n->rank ? bytes_of(&p->leaving[k].head) : 0;
    if (!tac_halo_room(sim->halo, n, bytes + 1))
        return 0;
    char *to = n->report;
    for (size_t k = 0; k < p->leaving_count; k++) {
        const struct leaving *l = &p->leaving[k];
        const double *from = &p->value[l->value];
        if (l->to != n->rank)
            continue;
        memcpy(to, &l->head, sizeof l->head);
        to += sizeof l->head;
        memcpy(to, from, (size_t)l->head.pushes * sizeof *from);
        to += (size_t)l->head.pushes * sizeof *from;
        from += l->head.pushes;
        for (int r = 0; r < l->head.size; r++) {
            const size_t part = (size_t)(l->head.size - r);
            memcpy(to, &from[(size_t)r * (size_t)l->head.size + (size_t)r], part * sizeof *from);
            to += part * sizeof *from;
        }
    }
    return bytes;
}

/* The vertex that was found last at each place of a pair: most pairs have their plate in common with the one before. */
struct found {
    tac_gid id[4];
    tac_lid v[4];
};

static enum tac_err take_pair(struct tac_implicit *sim, const char **from, struct found *found)
{
    enum tac_err err;
    struct tac_implicit_plates *p = sim->plates;
    struct head h;
    memcpy(&h, *from, sizeof h);
    const char *numbers = *from + sizeof h;
    const size_t size = (size_t)h.size, count = (size_t)h.pushes + size * size;
    TAC_TRY(tac_grow(sim->ctx, &p->arrived, &p->arrived_capacity, p->arrived_count + 1, sizeof *p->arrived));
    TAC_TRY(tac_grow(sim->ctx, &p->came, &p->came_capacity, p->came_count + count, sizeof *p->came));
    struct arrived *a = &p->arrived[p->arrived_count++];
    *a = (struct arrived){
        h.key, h.sort, p->came_count, h.pushes, {0, (enum tac_pair_type)h.type, {-1, -1, -1, -1}, NULL, NULL}};
    for (int i = 0; i < tac_pair_vertices(a->pair.type); i++) {
        if (h.vertex[i] != found->id[i])
            found->v[i] = tac_ghost_find(sim->halo, h.vertex[i]);
        found->id[i] = h.vertex[i];
        a->pair.v[i] = found->v[i];
    }
    double *to = &p->came[p->came_count];
    memcpy(to, numbers, (size_t)h.pushes * sizeof *to);
    numbers += (size_t)h.pushes * sizeof *to;
    to += h.pushes;
    for (size_t r = 0; r < size; r++) { /* of a matrix only the upper half is read */
        memcpy(&to[r * size + r], numbers, (size - r) * sizeof *to);
        numbers += (size - r) * sizeof *to;
    }
    p->came_count += count;
    *from += bytes_of(&h);
done:
    return err;
}

static void take(void *self, struct tac_neighbor *n)
{
    struct tac_implicit *sim = self;
    const char *from = n->heard;
    struct found found = {{-1, -1, -1, -1}, {-1, -1, -1, -1}};
    while (from < n->heard + n->heard_count && !sim->halo->down)
        tac_halo_failed(sim->halo, take_pair(sim, &from, &found));
}

/* ---- the order ---- */

/* Sets how many of the own pairs of the sort come before each of those that arrived. */
static void place(const struct tac_implicit *sim, enum tac_pair_sort sort)
{
    struct tac_implicit_plates *p = sim->plates;
    size_t e = 0;
    for (size_t k = p->begin[sort]; k < p->begin[sort + 1]; k++) {
        for (; e < count_of(sim, sort); e++) {
            enum tac_pair_type type;
            uint64_t key;
            (void)pair_of(sim, sort, e, &type, &key);
            if (key > p->order[k].key)
                break;
        }
        p->pair[k].place = e;
    }
}

static enum tac_err sort_arrived(struct tac_implicit *sim)
{
    enum tac_err err;
    struct tac_implicit_plates *p = sim->plates;
    size_t n = 0;
    TAC_TRY(tac_grow(sim->ctx, &p->order, &p->order_capacity, 2 * p->arrived_count, sizeof *p->order));
    TAC_TRY(tac_grow(sim->ctx, &p->pair, &p->pair_capacity, p->arrived_count, sizeof *p->pair));
    for (enum tac_pair_sort sort = 0; sort < TAC_PAIR_SORTS; sort++) {
        const size_t first = p->begin[sort] = n;
        for (size_t k = 0; k < p->arrived_count; k++)
            if (p->arrived[k].sort == (int32_t)sort)
                p->order[n++] = (struct tac_implicit_place){p->arrived[k].key, k};
        tac_implicit_sort_places(&p->order[first], n - first);
        p->begin[sort + 1] = n;
        for (size_t k = first; k < n; k++) {
            const struct arrived *a = &p->arrived[p->order[k].at];
            p->pair[k] = a->pair;
            p->pair[k].g = &p->came[a->value];
            p->pair[k].dense = p->pair[k].g + a->size;
        }
        place(sim, sort);
    }
done:
    return err;
}

/* ---- exchanges ---- */

static void exchange(struct tac_implicit *sim, enum tac_err err, const double *x, bool matrix,
                     enum tac_curvature curvature)
{
    struct tac_implicit_plates *p = sim->plates;
    p->leaving_count = p->value_count = p->arrived_count = p->came_count = 0;
    memset(p->begin, 0, sizeof p->begin); /* where this fails nothing has come */
    for (enum tac_pair_sort sort = 0; sort < TAC_PAIR_SORTS; sort++) {
        p->first[sort] = p->leaving_count;
        if (!err && (matrix || sort != TAC_SORT_FORESEEN))
            err = evaluate(sim, sort, x, matrix, curvature);
    }
    p->first[TAC_PAIR_SORTS] = p->leaving_count;
    tac_halo_failed(sim->halo, err);
    tac_halo_exchange(sim->halo, TAG, fill, take, sim);
    if (!sim->halo->down)
        tac_halo_failed(sim->halo, sort_arrived(sim));
}

static bool in_use(const struct tac_implicit *sim)
{
    return sim->plates != NULL && sim->newton.pull > 0;
}

void tac_plates_gradients(struct tac_implicit *sim, const double *x)
{
    if (!in_use(sim))
        return;
    exchange(sim, TAC_OK, x, false, TAC_CURVATURE_NONE);
    tac_implicit_count_pairs(sim, TAC_WORK_GRADIENT, sim->plates->leaving_count);
    tac_implicit_count_terms(sim, TAC_TERM_GRADIENT, sim->plates->arrived_count);
}

enum tac_err tac_plates_matrices(struct tac_implicit *sim, enum tac_err err, const double *x,
                                 enum tac_curvature curvature)
{
    if (!in_use(sim))
        return err;
    exchange(sim, err, x, true, curvature);
    tac_implicit_count_terms(sim, TAC_TERM_MATRIX, sim->plates->arrived_count);
    return err ? err : sim->halo->down;
}

const struct tac_plate_pair *tac_plates_next(const struct tac_implicit *sim, enum tac_pair_sort sort, size_t e,
                                             size_t *next)
{
    const struct tac_implicit_plates *p = sim->plates;
    if (!in_use(sim) || sort >= TAC_PAIR_SORTS || p->begin[sort] + *next == p->begin[sort + 1] ||
        p->pair[p->begin[sort] + *next].place > e)
        return NULL;
    return &p->pair[p->begin[sort] + (*next)++];
}

size_t tac_plates_count(const struct tac_implicit *sim, enum tac_pair_sort sort)
{
    return in_use(sim) && sort < TAC_PAIR_SORTS ? sim->plates->begin[sort + 1] - sim->plates->begin[sort] : 0;
}

const double *tac_plates_ready(const struct tac_implicit *sim, enum tac_pair_sort sort, size_t e, size_t *next)
{
    const struct tac_implicit_plates *p = sim->plates;
    if (!in_use(sim) || sort >= TAC_PAIR_SORTS)
        return NULL;
    size_t k = p->first[sort] + *next;
    while (k < p->first[sort + 1] && p->leaving[k].e < e)
        k++;
    *next = k - p->first[sort];
    if (k == p->first[sort + 1] || p->leaving[k].e != e)
        return NULL;
    return &p->value[p->leaving[k].value + (size_t)p->leaving[k].head.pushes];
}

void tac_plates_push(struct tac_implicit *sim, enum tac_pair_sort sort, size_t e, size_t *next)
{
    const struct tac_plate_pair *pair;
    while ((pair = tac_plates_next(sim, sort, e, next)) != NULL)
        for (int i = 0; i < tac_pair_vertices(pair->type); i++)
            for (int k = 0; k < 3 && pair->v[i] < sim->owned; k++)
                sim->newton.gradient[3 * (size_t)pair->v[i] + (size_t)k] += pair->g[3 * i + k];
}
