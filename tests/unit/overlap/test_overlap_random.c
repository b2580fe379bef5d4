/* Random little scenes against brute force in rational arithmetic: every pair, every kind. Coordinates are on a
 * lattice, so that touching of every sort is common. */
#include "check.h"
#include "overlap/overlap.h"
#include "unit/overlap/build_scene.h"
#include "unit/overlap/rational.h"

#include <math.h>
#include <tactus/math.h>

static uint64_t counter;

static int dice(int sides)
{
    return (int)((double)sides * tac_random(11, counter++));
}

static double lattice_number(bool fine)
{
    return fine ? 8 * tac_random(12, counter++) : (double)dice(17) / 2;
}

/* A body of `kind` 0: triangles, 1: segments, 2: particles. */
static void random_body(struct tac_scene *scene, int kind, bool flat, bool fine)
{
    enum { MOST = 6 };
    double x[MOST][3], base[3] = {lattice_number(fine), lattice_number(fine), lattice_number(fine)};
    tac_lid triangle[MOST][3], segment[MOST][2], vertices = 0, triangles = 0, segments = 0;
    char name[32];
    snprintf(name, sizeof name, "body %d", scene->settings->body_count);
    for (vertices = 0; vertices < MOST; vertices++) {
        bool again = true;
        while (again) {
            again = false;
            for (int k = 0; k < 3; k++)
                x[vertices][k] = flat && k == 2 ? 0 : base[k] + lattice_number(fine) / 2;
            for (int i = 0; i < vertices; i++)
                again = again || memcmp(x[i], x[vertices], sizeof x[i]) == 0;
        }
    }
    if (kind == 0)
        for (tac_lid i = 0; i + 2 < MOST; i += 1 + dice(3)) {
            for (int k = 0; k < 3; k++)
                triangle[triangles][k] = i + k;
            triangles++;
        }
    if (kind == 1)
        for (tac_lid i = 0; i + 1 < MOST; i += 1 + dice(2)) {
            segment[segments][0] = i;
            segment[segments++][1] = i + 1;
        }
    if (kind != 2) /* a mesh with elements has no other vertices */
        vertices = kind == 0 ? triangle[triangles - 1][2] + 1 : segment[segments - 1][1] + 1;
    struct tac_body *body = build_body(scene, name, dice(4) > 0, dice(2) ? (double)dice(4) / 4 : 0, NULL, x, vertices,
                                       triangle, triangles, segment, segments);
    body->self_contact = dice(4) > 0;
    for (tac_lid i = body->vertex_begin; i < body->vertex_end; i++)
        if (dice(6) == 0)
            scene->mesh->ever_free[i] = !scene->mesh->ever_free[i];
}

static int compare(const void *a, const void *b)
{
    const struct tac_overlap *p = a, *r = b;
    if (p->kind != r->kind)
        return p->kind < r->kind ? -1 : 1;
    if (p->element[0] != r->element[0])
        return p->element[0] < r->element[0] ? -1 : 1;
    return (p->element[1] > r->element[1]) - (p->element[1] < r->element[1]);
}

static int seen[6];

/* One pair by the letter of the format page: what must be in the list is, with its gap; nothing else is. */
static void check_pair(const struct tac_scene *scene, const struct tac_overlaps *found, enum tac_overlap_kind kind,
                       tac_lid a, tac_lid b, const tac_lid *va, int na, const tac_lid *vb, int nb)
{
    bool any_free = false, share = false;
    struct vec x[5];
    for (int i = 0; i < na; i++)
        for (int j = 0; j < nb; j++)
            share = share || va[i] == vb[j];
    for (int i = 0; i < na + nb; i++) {
        tac_lid vertex = i < na ? va[i] : vb[i - na];
        x[i] = v_from(scene->mesh->x + 3 * vertex);
        any_free = any_free || scene->mesh->ever_free[vertex];
    }
    tac_lid body_a = scene->mesh->vertex_body[va[0]], body_b = scene->mesh->vertex_body[vb[0]];
    const struct tac_body *p = &scene->settings->body[body_a], *r = &scene->settings->body[body_b];
    bool pair = any_free && !share && (body_a != body_b || p->self_contact);
    for (tac_lid i = 0; i < scene->settings->contact.ignore_count; i++) {
        const tac_lid *ignore = scene->settings->contact.ignore + 2 * i;
        if ((ignore[0] == body_a && ignore[1] == body_b) || (ignore[1] == body_a && ignore[0] == body_b))
            pair = false;
    }
    double radius = body_a == body_b && p->has_elements ? 0 : p->radius + r->radius, distance = 0;
    bool must;
    if (kind == TAC_OVERLAP_EDGE_TRIANGLE) {
        must = pair && exact_pierces(x[0], x[1], x[2], x[3], x[4]);
    } else if (kind == TAC_OVERLAP_EDGE_CROSSES_EDGE) {
        /* Strictly crossing: they meet, and no end lies on the other. */
        must = pair && mpq_sgn(exact_ee(x[0], x[1], x[2], x[3])) == 0;
        must = must && mpq_sgn(exact_ve(x[0], x[2], x[3])) && mpq_sgn(exact_ve(x[1], x[2], x[3])) &&
               mpq_sgn(exact_ve(x[2], x[0], x[1])) && mpq_sgn(exact_ve(x[3], x[0], x[1]));
    } else {
        rational d2 = kind == TAC_OVERLAP_VERTEX_TRIANGLE ? exact_vt(x[0], x[1], x[2], x[3])
                      : kind == TAC_OVERLAP_EDGE_EDGE     ? exact_ee(x[0], x[1], x[2], x[3])
                      : kind == TAC_OVERLAP_VERTEX_EDGE   ? exact_ve(x[0], x[1], x[2])
                                                          : exact_vv(x[0], x[1]);
        must = pair && mpq_cmp(d2, q_mul(q(radius), q(radius))) <= 0;
        distance = sqrt(mpq_get_d(d2));
    }
    struct tac_overlap key = {.kind = kind, .element = {a, b}};
    const struct tac_overlap *hit =
        found->count ? bsearch(&key, found->overlap, found->count, sizeof key, compare) : NULL;
    rational_clear();
    bool border = pair && kind >= TAC_OVERLAP_VERTEX_TRIANGLE && distance - radius < 2 * 16 * TAC_OVERLAP_TOUCH;
    CHECK(hit == NULL ? !must : must || border, "kind %d, elements %d %d: %s", (int)kind, a, b,
          hit ? "listed but apart" : "not listed");
    if (hit == NULL)
        return;
    seen[kind]++;
    CHECK(hit->body[0] == body_a && hit->body[1] == body_b);
    if (kind >= TAC_OVERLAP_VERTEX_TRIANGLE)
        CHECK(fabs(hit->gap - (distance - radius)) < 1e-13, "gap %g, should be %g", hit->gap, distance - radius);
    else
        CHECK(hit->gap <= -radius && isfinite(hit->gap), "gap %g of a crossing, radii %g", hit->gap, radius);
}

static void check_all(const struct tac_scene *scene, const struct tac_overlaps *found)
{
    const struct tac_topology *t = scene->mesh->topology;
    for (tac_lid v = 0; v < scene->mesh->vertex_count; v++) {
        for (tac_lid i = 0; i < scene->mesh->triangle_count; i++)
            check_pair(scene, found, TAC_OVERLAP_VERTEX_TRIANGLE, v, i, &v, 1, scene->mesh->triangle + 3 * i, 3);
        bool particle = !scene->settings->body[scene->mesh->vertex_body[v]].has_elements, on_segment = false;
        for (tac_lid i = 0; i < 2 * scene->mesh->segment_count; i++)
            on_segment = on_segment || scene->mesh->segment[i] == v;
        for (tac_lid i = 0; i < t->edge_count && (particle || on_segment); i++)
            if (t->edge_segment[i] >= 0)
                check_pair(scene, found, TAC_OVERLAP_VERTEX_EDGE, v, i, &v, 1, t->edge + 2 * i, 2);
        for (tac_lid w = v + 1; w < scene->mesh->vertex_count && particle; w++)
            if (!scene->settings->body[scene->mesh->vertex_body[w]].has_elements)
                check_pair(scene, found, TAC_OVERLAP_VERTEX_VERTEX, v, w, &v, 1, &w, 1);
    }
    for (tac_lid e = 0; e < t->edge_count; e++) {
        for (tac_lid f = e + 1; f < t->edge_count; f++)
            check_pair(scene, found, scene->settings->two_d ? TAC_OVERLAP_EDGE_CROSSES_EDGE : TAC_OVERLAP_EDGE_EDGE, e,
                       f, t->edge + 2 * e, 2, t->edge + 2 * f, 2);
        for (tac_lid i = 0; i < scene->mesh->triangle_count; i++)
            check_pair(scene, found, TAC_OVERLAP_EDGE_TRIANGLE, e, i, t->edge + 2 * e, 2, scene->mesh->triangle + 3 * i,
                       3);
    }
}

int main(void)
{
    struct tac_ctx ctx = {.size = 1}; /* a rank alone needs no MPI */
    size_t listed = 0, checked = 0;
    for (int round = 0; round < 120; round++) {
        struct tac_scene *scene = build_scene();
        bool flat = round % 4 == 3, fine = round % 5 == 4;
        for (int i = 0; i < 6; i++)
            random_body(scene, flat ? 1 + dice(2) : dice(3), flat, fine);
        if (round % 3 == 0) {
            scene->settings->contact.ignore_count = 2;
            for (int i = 0; i < 4; i++)
                scene->settings->contact.ignore[i] = dice(6);
        }
        build_finish(&ctx, scene);
        struct tac_overlaps *found = NULL;
        CHECK(tac_overlap_find(&ctx, scene, &found) == TAC_OK, "%s", ctx.error);
        for (size_t i = 1; i < found->count; i++)
            CHECK(found->overlap[i - 1].gap <= found->overlap[i].gap);
        if (found->count > 0)
            qsort(found->overlap, found->count, sizeof *found->overlap, compare);
        for (size_t i = 1; i < found->count; i++)
            CHECK(compare(&found->overlap[i - 1], &found->overlap[i]) != 0, "listed twice");
        int before[6], after = 0;
        memcpy(before, seen, sizeof seen);
        check_all(scene, found);
        for (int k = 0; k < 6; k++)
            after += seen[k] - before[k];
        CHECK((size_t)after == found->count, "%zu listed, %d are pairs", found->count, after);
        listed += found->count;
        checked++;
        tac_overlap_destroy(&found);
        build_destroy(&scene);
    }
    for (int k = 0; k < 6; k++)
        CHECK(seen[k] > 20, "kind %d hardly occurs", k);
    printf("%zu scenes, %zu overlaps\n", checked, listed);
    rational_free();
    return check_result();
}
