/* hash.c: SHA-256 over what determines the trajectory, in a fixed order and byte order.
 *
 * Covered: the quantum, gravity, contact, clocks, the placed vertices with their masses and velocities, elements, what
 * each body's material does, and the scripts.  Left out: names, paths, time.end, time.frame, output, discovery, and how
 * the geometry came about (a generated mesh and the same mesh from a file are one scene).
 */
#include "read.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

struct digest {
    EVP_MD_CTX *md; /* owned */
    size_t used;
    bool failed;
    unsigned char buffer[1 << 16];
};

static void flush(struct digest *d)
{
    d->failed = d->failed || EVP_DigestUpdate(d->md, d->buffer, d->used) != 1;
    d->used = 0;
}

/* Eight bytes, the lowest first. */
static void put_u64(struct digest *d, uint64_t value)
{
    if (d->used + 8 > sizeof d->buffer)
        flush(d);
    for (int i = 0; i < 8; i++)
        d->buffer[d->used++] = (unsigned char)(value >> (8 * i));
}

static void put_double(struct digest *d, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_u64(d, bits);
}

static void put_doubles(struct digest *d, const double *value, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_double(d, value[i]);
}

static void put_lids(struct digest *d, const tac_lid *value, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_u64(d, (uint64_t)(int64_t)value[i]);
}

/* Tags keep parts of the stream from being taken for one another. */
static void put_tag(struct digest *d, const char *tag)
{
    put_u64(d, strlen(tag));
    for (; *tag != '\0'; tag++)
        put_u64(d, (unsigned char)*tag);
}

static void put_settings(struct digest *d, const struct tac_scene *s)
{
    put_tag(d, "tactus-scene-hash/1");
    put_double(d, s->quantum_s);
    put_doubles(d, s->gravity, 3);
    put_tag(d, "contact");
    put_double(d, s->contact.thickness);
    put_double(d, s->contact.stiffness);
    put_double(d, s->contact.restitution);
    put_double(d, s->contact.friction);
    put_double(d, s->contact.thickness_exponent);
    put_double(d, s->contact.stiffness_exponent);
    put_double(d, s->contact.min_period_s);
    put_double(d, s->contact.pairs_per_vertex);
    put_u64(d, (uint64_t)s->contact.ignore_count);
    put_lids(d, s->contact.ignore, 2 * (size_t)s->contact.ignore_count);
    put_tag(d, "clocks");
    put_u64(d, (uint64_t)s->clocks.mode);
    put_double(d, s->clocks.elastic_safety);
    put_double(d, s->clocks.elastic_s);
    put_double(d, s->clocks.contact_safety);
    put_double(d, s->clocks.contact_s);
    put_double(d, s->clocks.gravity_s);
}

static void put_bodies(struct digest *d, const struct tac_scene *s)
{
    static const struct tac_material none;
    put_tag(d, "bodies");
    put_u64(d, (uint64_t)s->body_count);
    for (tac_lid b = 0; b < s->body_count; b++) {
        const struct tac_body *body = &s->body[b];
        const struct tac_material *m = body->material >= 0 ? &s->material[body->material] : &none;
        put_u64(d, (uint64_t)body->vertex_end);
        put_u64(d, (uint64_t)body->triangle_end);
        put_u64(d, (uint64_t)body->segment_end);
        put_double(d, body->radius);
        put_u64(d, (uint64_t)body->fixed);
        put_u64(d, (uint64_t)body->self_contact);
        put_u64(d, (uint64_t)m->stretch_model);
        put_double(d, m->stretch_stiffness);
        put_double(d, m->poisson);
        put_u64(d, (uint64_t)m->bend);
        put_double(d, m->bend_stiffness);
        put_u64(d, (uint64_t)m->rest_flat);
    }
}

static void put_mesh(struct digest *d, const struct tac_scene *s)
{
    put_tag(d, "mesh");
    put_doubles(d, s->x, 3 * (size_t)s->vertex_count);
    put_doubles(d, s->v, 3 * (size_t)s->vertex_count);
    put_doubles(d, s->mass, (size_t)s->vertex_count);
    for (tac_lid i = 0; i < s->vertex_count; i++)
        put_u64(d, s->ever_free[i]);
    put_lids(d, s->triangle, 3 * (size_t)s->triangle_count);
    put_lids(d, s->segment, 2 * (size_t)s->segment_count);
}

static void put_motions(struct digest *d, const struct tac_scene *s)
{
    put_tag(d, "motions");
    put_u64(d, (uint64_t)s->motion_count);
    for (tac_lid i = 0; i < s->motion_count; i++) {
        const struct tac_motion *m = &s->motion[i];
        put_u64(d, (uint64_t)m->vertex_count);
        put_lids(d, m->vertex, (size_t)m->vertex_count);
        put_u64(d, (uint64_t)m->release);
        put_u64(d, (uint64_t)m->knot_count);
        for (tac_lid k = 0; k < m->knot_count; k++)
            put_u64(d, (uint64_t)tac_scene_quanta(s, m->knot_t_s[k]));
        put_u64(d, m->degrees != NULL);
        if (m->degrees != NULL) {
            put_doubles(d, m->degrees, (size_t)m->knot_count);
            put_doubles(d, m->axis, 3);
            put_doubles(d, m->center, 3);
        } else {
            put_doubles(d, m->displacement, 3 * (size_t)m->knot_count);
        }
    }
}

enum tac_err tac_scene_hash(struct tac_reader *reader)
{
    struct tac_scene *scene = reader->scene;
    struct digest *d = NULL;
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(reader->ctx, 1, sizeof *d, &d));
    d->md = EVP_MD_CTX_new();
    if (d->md == NULL || EVP_DigestInit_ex(d->md, EVP_sha256(), NULL) != 1)
        TAC_TRY(tac_fail(reader->ctx, TAC_ERR_RUN, "libcrypto offers no SHA-256; check its installation"));
    put_settings(d, scene);
    put_bodies(d, scene);
    put_mesh(d, scene);
    put_motions(d, scene);
    flush(d);
    if (d->failed || EVP_DigestFinal_ex(d->md, sum, &size) != 1 || 2 * size >= sizeof scene->sha256)
        TAC_TRY(tac_fail(reader->ctx, TAC_ERR_RUN, "libcrypto failed to compute a SHA-256; check its installation"));
    for (unsigned int i = 0; i < size; i++)
        snprintf(scene->sha256 + 2 * i, 3, "%02x", sum[i]);
done:
    if (d != NULL)
        EVP_MD_CTX_free(d->md);
    free(d);
    return err;
}
