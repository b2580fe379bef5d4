/* hash.c: computes the SHA-256 over everything that determines the trajectory, in a fixed order and byte order.
 *
 * Covered: the quantum, gravity, contact, clocks, the placed vertices with their masses, velocities and scripts,
 * elements, what each body's material does, the paths of the scripts, and the loads.  Left out: names, paths, time.end,
 * time.frame, output, discovery, and how the geometry came about (a generated mesh and the same mesh from a file are
 * one scene).
 *
 * The rows of each body's tables go in as hashes of chunks of TAC_SCENE_CHUNK rows, so that ranks that hold some rows
 * each make the hash together; it is the same for any number of ranks.
 */
#include "mesh/cache/point_cache.h"
#include "scene/scene_read.h"

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

/* The first body of a material; the number of bodies if there is none. */
static tac_lid first_with(const struct tac_scene *s, tac_lid material)
{
    tac_lid body = 0;
    while (body < s->settings->body_count && s->settings->body[body].material != material)
        body++;
    return body;
}

/* What rolls, and by which laws; nothing where nothing does. */
static void put_rolling(struct digest *d, const struct tac_scene *s)
{
    bool any = false;
    for (tac_lid b = 0; b < s->settings->body_count; b++) {
        if (!s->settings->body[b].rolls)
            continue;
        if (!any)
            put_tag(d, "rolls");
        any = true;
        put_u64(d, (uint64_t)b);
        put_doubles(d, s->settings->body[b].spin, 3);
    }
    for (tac_lid i = 0; any && i < s->settings->contact.law_count; i++) {
        const struct tac_contact_law *law = &s->settings->contact.law[i];
        const tac_lid body[2] = {i ? first_with(s, law->material[0]) : 0, i ? first_with(s, law->material[1]) : 0};
        if (body[0] == s->settings->body_count || body[1] == s->settings->body_count)
            continue;
        put_lids(d, body, 2);
        put_double(d, law->rolling);
        put_double(d, law->twisting);
    }
}

/* Laws by the order in which bodies bring their materials: names and unused materials do not count.  Scenes that have
 * none keep the hash that they had before there were laws. */
static void put_laws(struct digest *d, const struct tac_scene *s)
{
    bool friction = false, apart = false;
    for (tac_lid i = 0; i < s->settings->contact.law_count; i++) {
        friction |= s->settings->contact.law[i].friction > 0;
        apart |= s->settings->contact.law[i].friction != s->settings->contact.law[i].kinetic;
    }
    if (friction && s->settings->contact.friction_model == TAC_FRICTION_KINETIC)
        put_tag(d, "kinetic");
    put_rolling(d, s);
    if (apart) {
        put_tag(d, "static and kinetic");
        put_double(d, s->settings->contact.kinetic);
    }
    if (s->settings->contact.law_count == 1)
        return;
    put_tag(d, "pairs");
    for (tac_lid i = 1; i < s->settings->contact.law_count; i++) {
        const struct tac_contact_law *law = &s->settings->contact.law[i];
        const tac_lid body[2] = {first_with(s, law->material[0]), first_with(s, law->material[1])};
        if (body[0] == s->settings->body_count || body[1] == s->settings->body_count)
            continue;
        put_lids(d, body, 2);
        put_double(d, law->stiffness);
        put_double(d, law->restitution);
        put_double(d, law->friction);
        if (apart)
            put_double(d, law->kinetic);
    }
}

static void put_settings(struct digest *d, const struct tac_scene *s)
{
    put_tag(d, "tactus-scene-hash/2");
    put_double(d, s->settings->quantum_s);
    put_doubles(d, s->settings->gravity, 3);
    put_tag(d, "contact");
    put_double(d, s->settings->contact.thickness);
    put_double(d, s->settings->contact.stiffness);
    put_double(d, s->settings->contact.restitution);
    put_double(d, s->settings->contact.friction);
    put_double(d, s->settings->contact.thickness_exponent);
    put_double(d, s->settings->contact.stiffness_exponent);
    put_double(d, s->settings->contact.min_period_s);
    put_double(d, s->settings->contact.pairs_per_vertex);
    put_u64(d, (uint64_t)s->settings->contact.ignore_count);
    put_lids(d, s->settings->contact.ignore, 2 * (size_t)s->settings->contact.ignore_count);
    put_laws(d, s);
    /* Scenes of before there was the key keep their hash. */
    if (s->settings->contact.thickness > 0 && s->settings->contact.rest_fraction != TAC_REST_FRACTION_MOST) {
        put_tag(d, "rest_fraction/2");
        put_double(d, s->settings->contact.rest_fraction);
    }
    put_tag(d, "clocks");
    put_u64(d, (uint64_t)s->settings->clocks.mode);
    put_double(d, s->settings->clocks.elastic_safety);
    put_double(d, s->settings->clocks.elastic_s);
    put_double(d, s->settings->clocks.contact_safety);
    put_double(d, s->settings->clocks.contact_s);
    put_double(d, s->settings->clocks.gravity_s);
    if (s->settings->rigid_count > 0) {
        put_tag(d, "chords");
        put_double(d, s->settings->clocks.rigid_s);
        put_double(d, s->settings->clocks.turn);
    }
}

/* Nothing for an asynchronous scene.  How exactly the linear solver works is part of the trajectory, too. */
static void put_implicit(struct digest *d, const struct tac_scene *s)
{
    const struct tac_implicit_settings *m = &s->settings->implicit;
    if (s->settings->integrator != TAC_INTEGRATOR_IMPLICIT)
        return;
    put_tag(d, "implicit/3");
    put_double(d, m->step_s);
    put_u64(d, (uint64_t)m->scheme);
    put_double(d, m->velocity_tol);
    put_double(d, m->force_tol);
    put_u64(d, (uint64_t)m->most);
    put_double(d, m->stiffness);
    put_double(d, m->friction_velocity);
    if (m->scheme == TAC_IMPLICIT_STATIC)
        put_double(d, m->friction_slip);
    put_u64(d, (uint64_t)m->lags);
    put_double(d, m->solver_tolerance);
    if (m->weights == TAC_WEIGHTS_AREA)
        put_tag(d, "area");
    if (m->solver == TAC_SOLVER_PETSC) {
        put_tag(d, "petsc");
        put_tag(d, m->solver_options);
    }
}

static void put_impact(struct digest *d, const struct tac_scene *s)
{
    const struct tac_impact_settings *m = &s->settings->impact;
    if (s->settings->integrator != TAC_INTEGRATOR_IMPACT)
        return;
    put_tag(d, "impact/5");
    put_double(d, m->step_s);
    put_u64(d, (uint64_t)m->kind);
    put_double(d, m->tolerance);
    put_u64(d, (uint64_t)m->passes);
    put_u64(d, (uint64_t)m->most);
}

static void put_piece(struct digest *d, const struct tac_rigid_body *rigid, bool range)
{
    if (range) {
        put_u64(d, (uint64_t)rigid->vertex_begin);
        put_u64(d, (uint64_t)rigid->vertex_end);
    }
    put_double(d, rigid->mass);
    put_doubles(d, rigid->center, 3);
    put_doubles(d, rigid->axis[0], 9);
    put_doubles(d, rigid->second, 3);
}

static void put_bodies(struct digest *d, const struct tac_scene *s)
{
    static const struct tac_material none;
    put_tag(d, "bodies");
    put_u64(d, (uint64_t)s->settings->body_count);
    for (tac_lid b = 0; b < s->settings->body_count; b++) {
        const struct tac_body *body = &s->settings->body[b];
        const struct tac_material *m = body->material >= 0 ? &s->settings->material[body->material] : &none;
        put_u64(d, (uint64_t)body->vertex_end);
        put_u64(d, (uint64_t)body->triangle_end);
        put_u64(d, (uint64_t)body->segment_end);
        put_double(d, body->radius);
        put_u64(d, (uint64_t)body->fixed);
        put_u64(d, (uint64_t)body->self_contact);
        put_u64(d, (uint64_t)m->stretch_model);
        put_double(d, m->stretch_stiffness);
        put_double(d, m->poisson);
        put_double(d, m->stretch_damping);
        put_double(d, m->stretch_yield);
        put_u64(d, (uint64_t)m->bend);
        put_double(d, m->bend_stiffness);
        put_double(d, m->bend_damping);
        put_double(d, m->bend_yield);
        put_u64(d, (uint64_t)m->rest_flat);
        if (s->settings->contact.law_count > 1)
            put_u64(d, (uint64_t)first_with(s, body->material));
        if (m->stretch_limit > 0) {
            put_tag(d, "limit");
            put_double(d, m->stretch_limit);
        }
        if (m->stretch_limit_principal > 0) {
            put_tag(d, "limit_principal");
            put_double(d, m->stretch_limit_principal);
        }
        if (m->solid_model != TAC_SOLID_NONE) {
            put_tag(d, "solid");
            put_u64(d, (uint64_t)m->solid_model);
            put_double(d, m->solid_youngs);
            put_double(d, m->solid_poisson);
            put_double(d, m->solid_damping);
        }
        if (body->tetrahedron_end > body->tetrahedron_begin) {
            put_tag(d, "tetrahedra");
            put_u64(d, (uint64_t)body->tetrahedron_end);
        }
        if (body->rigid >= 0) {
            put_tag(d, "rigid");
            if (body->piece_count > 1) {
                put_tag(d, "pieces");
                put_u64(d, (uint64_t)body->piece_count);
            }
            for (tac_lid k = 0; k < body->piece_count; k++)
                put_piece(d, &s->settings->rigid[body->rigid + k], body->piece_count > 1);
            if (s->settings->integrator == TAC_INTEGRATOR_IMPLICIT && body->rigid_frequency > 0) {
                put_tag(d, "frequency");
                put_double(d, body->rigid_frequency);
            }
        }
        if (body->rest != NULL) {
            put_tag(d, "rest");
            put_doubles(d, body->rest, 3 * (size_t)(tac_body_mesh_end(body) - body->vertex_begin));
        }
        if (body->start_sha256[0] != '\0') {
            put_tag(d, "start velocity");
            put_tag(d, body->start_sha256);
        }
        for (int i = 0; i < m->section_count; i++) {
            put_tag(d, m->section[i].keys->section);
            put_doubles(d, m->section[i].value, (size_t)m->section[i].keys->count);
        }
    }
}

enum { DIGEST = 32, ROW = 10 }; /* bytes of a SHA-256; values of a row, at most */

static unsigned char *write_u64(unsigned char *to, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        *to++ = (unsigned char)(value >> (8 * i));
    return to;
}

static unsigned char *write_double(unsigned char *to, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return write_u64(to, bits);
}

static unsigned char *write_row(const struct tac_reader *reader, enum tac_table table, tac_lid row, unsigned char *to)
{
    const struct tac_scene *s = reader->scene;
    const size_t i = (size_t)row;
    if (table == TAC_VERTICES) {
        for (size_t k = 0; k < 3; k++)
            to = write_double(to, s->mesh->x[3 * i + k]);
        for (size_t k = 0; k < 3; k++)
            to = write_double(to, s->mesh->v[3 * i + k]);
        to = write_double(to, s->mesh->mass[i]);
        to = write_u64(to, s->mesh->ever_free[i]);
        to = write_u64(to, (uint64_t)(int64_t)reader->motion[i]);
        return s->settings->load_count ? write_u64(to, (uint64_t)(int64_t)s->mesh->vertex_load[i]) : to;
    }
    const size_t width = (size_t)tac_table_width(table);
    const tac_lid *element = *tac_table_elements(s->mesh, table);
    for (size_t k = 0; k < width; k++)
        to = write_u64(to, (uint64_t)(int64_t)element[width * i + k]);
    return to;
}

static tac_lid chunks_of(tac_lid rows)
{
    return rows / TAC_SCENE_CHUNK + (rows % TAC_SCENE_CHUNK != 0);
}

/* The digests of this rank's chunks, body by body, table by table, in *out (owned by the caller). */
static enum tac_err digest_rows(struct tac_reader *reader, unsigned char **out, size_t *count)
{
    const struct tac_scene *s = reader->scene;
    unsigned char *buffer = NULL, *to;
    size_t n = 0;
    enum tac_err err = TAC_OK;
    for (tac_lid b = 0; b < s->settings->body_count; b++)
        for (int k = 0; k < TAC_TABLES; k++)
            n += (size_t)chunks_of(reader->rows[b][k].end - reader->rows[b][k].begin);
    TAC_TRY(tac_alloc(reader->ctx, n, DIGEST, out));
    TAC_TRY(tac_alloc(reader->ctx, TAC_SCENE_CHUNK, ROW * 8, &buffer));
    *count = 0;
    for (tac_lid b = 0; b < s->settings->body_count; b++)
        for (int k = 0; k < TAC_TABLES; k++)
            for (tac_lid row = reader->rows[b][k].begin; row < reader->rows[b][k].end;) {
                const tac_lid left = reader->rows[b][k].end - row,
                              end = row + (left < TAC_SCENE_CHUNK ? left : TAC_SCENE_CHUNK);
                for (to = buffer; row < end; row++)
                    to = write_row(reader, (enum tac_table)k, row, to);
                if (EVP_Digest(buffer, (size_t)(to - buffer), *out + DIGEST * (*count)++, NULL, EVP_sha256(), NULL) !=
                    1)
                    TAC_TRY(tac_fail(reader->ctx, TAC_ERR_RUN,
                                     "libcrypto failed to compute a SHA-256; check its installation"));
            }
done:
    free(buffer);
    return err;
}

static tac_lid table_rows(const struct tac_body *body, int table)
{
    switch (table) {
    case TAC_VERTICES:
        return body->vertex_end - body->vertex_begin;
    case TAC_TRIANGLES:
        return body->triangle_end - body->triangle_begin;
    case TAC_TETRAHEDRA:
        return body->tetrahedron_end - body->tetrahedron_begin;
    default:
        return body->segment_end - body->segment_begin;
    }
}

/* All ranks' digests, in the scene's order, in place of this rank's. */
static enum tac_err gather_digests(struct tac_reader *reader, unsigned char **digests, size_t *count)
{
    const struct tac_scene *s = reader->scene;
    struct tac_ctx *ctx = reader->ctx;
    unsigned char *from = NULL, *to = NULL;
    int *size = NULL, *at, mine = (int)*count, all = 0;
    MPI_Datatype type;
    enum tac_err err = tac_alloc(ctx, 2 * (size_t)ctx->size, sizeof *size, &size);
    TAC_TRY(tac_reader_agree(reader, err));
    at = size + ctx->size;
    MPI_Allgather(&mine, 1, MPI_INT, size, 1, MPI_INT, ctx->comm);
    for (int r = 0; r < ctx->size; r++) {
        at[r] = all;
        all += size[r];
    }
    err = tac_alloc(ctx, (size_t)all, DIGEST, &from);
    if (err == TAC_OK)
        err = tac_alloc(ctx, (size_t)all, DIGEST, &to);
    TAC_TRY(tac_reader_agree(reader, err));
    MPI_Type_contiguous(DIGEST, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Allgatherv(*digests, mine, type, from, size, at, type, ctx->comm);
    MPI_Type_free(&type);
    *count = 0;
    for (tac_lid b = 0; b < s->settings->body_count; b++)
        for (int k = 0; k < TAC_TABLES; k++) {
            const tac_lid rows = table_rows(&s->settings->body[b], k);
            for (tac_lid c = 0; c < chunks_of(rows); c++) {
                const int rank = tac_spread_rank(ctx, b, rows, c * TAC_SCENE_CHUNK);
                memcpy(to + DIGEST * (*count)++, from + DIGEST * (size_t)at[rank]++, DIGEST);
            }
        }
    free(*digests);
    *digests = to;
    to = NULL;
done:
    free(size);
    free(from);
    free(to);
    return err;
}

static void put_motions(struct digest *d, const struct tac_scene *s)
{
    put_tag(d, "motions");
    put_u64(d, (uint64_t)s->settings->motion_count);
    for (tac_lid i = 0; i < s->settings->motion_count; i++) {
        const struct tac_motion *m = &s->settings->motion[i];
        put_u64(d, (uint64_t)m->release);
        put_u64(d, (uint64_t)m->knot_count);
        for (tac_lid k = 0; k < m->knot_count; k++)
            put_u64(d, (uint64_t)tac_scene_quanta(s, m->knot_t_s[k]));
        put_u64(d, m->cache != NULL ? 2 : m->degrees != NULL);
        if (m->degrees != NULL) {
            put_doubles(d, m->degrees, (size_t)m->knot_count);
            put_doubles(d, m->axis, 3);
            put_doubles(d, m->center, 3);
        } else if (m->cache != NULL) {
            put_tag(d, m->cache->sha256);
        } else {
            put_doubles(d, m->displacement, 3 * (size_t)m->knot_count);
        }
    }
}

/* Nothing for a scene without loads. */
static void put_loads(struct digest *d, const struct tac_scene *s)
{
    if (s->settings->load_count == 0)
        return;
    put_tag(d, "loads");
    put_u64(d, (uint64_t)s->settings->load_count);
    for (tac_lid i = 0; i < s->settings->load_count; i++) {
        const struct tac_load *l = &s->settings->load[i];
        put_u64(d, (uint64_t)l->kind);
        put_doubles(d, l->force, 3);
        put_double(d, l->pressure);
        put_doubles(d, l->wind, 3);
        put_double(d, l->drag);
        put_u64(d, (uint64_t)l->knot_count);
        for (tac_lid k = 0; k < l->knot_count; k++)
            put_u64(d, (uint64_t)tac_scene_quanta(s, l->knot_t_s[k]));
        put_doubles(d, l->factor, (size_t)l->knot_count);
    }
    put_u64(d, (uint64_t)s->settings->load_set_count);
    for (tac_lid i = 0; i < s->settings->load_set_count; i++) {
        put_u64(d, (uint64_t)s->settings->load_set[i].load);
        put_u64(d, (uint64_t)(int64_t)s->settings->load_set[i].rest);
    }
}

static void put_motor(struct digest *d, const struct tac_scene *s, const struct tac_motor_settings *m)
{
    put_u64(d, (uint64_t)m->kind);
    if (m->kind == TAC_MOTOR_NONE)
        return;
    put_double(d, m->target);
    put_double(d, m->most);
    put_double(d, m->stiffness);
    put_double(d, m->damping);
    put_u64(d, (uint64_t)m->knot_count);
    for (tac_lid k = 0; k < m->knot_count; k++)
        put_u64(d, (uint64_t)tac_scene_quanta(s, m->knot_t_s[k]));
    put_doubles(d, m->factor, (size_t)m->knot_count);
}

/* Nothing for a scene without joints. Their points are vertices of bodies. */
static void put_joints(struct digest *d, const struct tac_scene *s)
{
    if (s->settings->joint_count == 0)
        return;
    put_tag(d, "joints");
    put_u64(d, (uint64_t)s->settings->joint_count);
    for (tac_lid i = 0; i < s->settings->joint_count; i++) {
        const struct tac_joint *joint = &s->settings->joint[i];
        put_u64(d, (uint64_t)joint->kind);
        for (int side = 0; side < 2; side++)
            for (int p = 0; p < joint->points[side]; p++)
                put_u64(d, (uint64_t)joint->end[side].point[p]);
        put_doubles(d, joint->most, (size_t)joint->pairs);
        put_doubles(d, joint->soft, (size_t)joint->pairs);
        put_double(d, joint->stiffness);
        put_double(d, joint->restitution);
        put_motor(d, s, &joint->motor);
    }
}

static enum tac_err begin_digest(struct tac_ctx *ctx, struct digest **out)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, 1, sizeof **out, out));
    (*out)->md = EVP_MD_CTX_new();
    if ((*out)->md == NULL || EVP_DigestInit_ex((*out)->md, EVP_sha256(), NULL) != 1)
        TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "libcrypto offers no SHA-256; check its installation"));
done:
    return err;
}

static void free_digest(struct digest *d)
{
    if (d != NULL)
        EVP_MD_CTX_free(d->md);
    free(d);
}

static enum tac_err write_hex(struct tac_ctx *ctx, struct digest *d, char hex[65])
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    flush(d);
    if (d->failed || EVP_DigestFinal_ex(d->md, sum, &size) != 1 || size != DIGEST)
        return tac_fail(ctx, TAC_ERR_RUN, "libcrypto failed to compute a SHA-256; check its installation");
    for (unsigned int i = 0; i < size; i++)
        snprintf(hex + 2 * i, 3, "%02x", sum[i]);
    return TAC_OK;
}

enum tac_err tac_scene_digest(struct tac_ctx *ctx, const double *value, size_t count, char hex[65])
{
    struct digest *d = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(begin_digest(ctx, &d));
    put_doubles(d, value, count);
    err = write_hex(ctx, d, hex);
done:
    free_digest(d);
    return err;
}

static enum tac_err finish(struct tac_reader *reader, const unsigned char *digests, size_t count)
{
    struct tac_scene *scene = reader->scene;
    struct digest *d = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(begin_digest(reader->ctx, &d));
    put_settings(d, scene);
    put_implicit(d, scene);
    put_impact(d, scene);
    put_bodies(d, scene);
    put_motions(d, scene);
    put_loads(d, scene);
    put_joints(d, scene);
    put_tag(d, "mesh");
    flush(d);
    d->failed = d->failed || EVP_DigestUpdate(d->md, digests, DIGEST * count) != 1;
    err = write_hex(reader->ctx, d, scene->settings->sha256);
done:
    free_digest(d);
    return err;
}

enum tac_err tac_scene_hash(struct tac_reader *reader)
{
    unsigned char *digests = NULL;
    size_t count = 0;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_reader_agree(reader, digest_rows(reader, &digests, &count)));
    if (reader->spread)
        TAC_TRY(gather_digests(reader, &digests, &count));
    TAC_TRY(finish(reader, digests, count));
    reader->scene->settings->row_digest.value = digests;
    reader->scene->settings->row_digest.count = count;
    digests = NULL;
done:
    free(digests);
    return err;
}

enum tac_err tac_scene_rehash(struct tac_reader *reader)
{
    return finish(reader, reader->scene->settings->row_digest.value, reader->scene->settings->row_digest.count);
}
