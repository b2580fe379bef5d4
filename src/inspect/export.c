/* export.c: writes one frame as an OBJ or PLY file, or hands it to the writers of other formats. */
#include "inspect/export_room.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/create.h"

/* A body's name as one word of an OBJ file. */
static void put_name(FILE *f, const char *name)
{
    fputs("o ", f);
    for (; *name != '\0'; name++)
        fputc((unsigned char)*name <= 32 || *name == 127 ? '_' : *name, f);
    fputc('\n', f);
}

/* Elements follow the order of bodies, so an object is opened where the body changes. */
static void put_elements(FILE *f, const struct tac_reader *r, char letter, const tac_lid *element, tac_lid count,
                         int corners, tac_lid *object)
{
    for (tac_lid i = 0; i < count; i++) {
        const tac_lid *corner = element + (size_t)i * (size_t)corners;
        if (r->body[corner[0]] != *object) {
            *object = r->body[corner[0]];
            put_name(f, r->body_name[*object]);
        }
        fputc(letter, f);
        for (int c = 0; c < corners; c++)
            fprintf(f, " %" PRId64, (int64_t)corner[c] + 1);
        fputc('\n', f);
    }
}

static void write_obj(FILE *f, const struct tac_reader *r, const struct tac_export_frame *frame)
{
    tac_lid object = -1;
    fprintf(f, "# tactus %s, t = %.17g s\n", tac_version(), frame->time_s);
    for (size_t i = 0; i < (size_t)r->vertex_count; i++)
        fprintf(f, "v %.17g %.17g %.17g\n", frame->position[3 * i], frame->position[3 * i + 1],
                frame->position[3 * i + 2]);
    put_elements(f, r, 'f', r->triangle, r->triangle_count, 3, &object);
    put_elements(f, r, 'l', r->segment, r->segment_count, 2, &object);
    put_elements(f, r, 'p', r->point, r->point_count, 1, &object);
}

static void write_ply(FILE *f, const struct tac_reader *r, const struct tac_export_frame *frame)
{
    static const uint16_t one = 1;
    bool little = *(const unsigned char *)&one == 1;
    fprintf(f, "ply\nformat binary_%s_endian 1.0\ncomment tactus %s, t = %.17g s\n", little ? "little" : "big",
            tac_version(), frame->time_s);
    fprintf(f,
            "element vertex %" TAC_PRILID "\nproperty double x\nproperty double y\nproperty double z\n"
            "property double vx\nproperty double vy\nproperty double vz\n"
            "property float fx\nproperty float fy\nproperty float fz\nproperty int body\n",
            r->vertex_count);
    if (r->triangle_count > 0)
        fprintf(f, "element face %" TAC_PRILID "\nproperty list uchar int vertex_indices\n", r->triangle_count);
    if (r->segment_count > 0)
        fprintf(f, "element edge %" TAC_PRILID "\nproperty int vertex1\nproperty int vertex2\n", r->segment_count);
    fputs("end_header\n", f);
    for (size_t i = 0; i < (size_t)r->vertex_count; i++) {
        int32_t body = r->body[i];
        fwrite(frame->position + 3 * i, sizeof(double), 3, f);
        fwrite(frame->velocity + 3 * i, sizeof(double), 3, f);
        fwrite(frame->contact_force + 3 * i, sizeof(float), 3, f);
        fwrite(&body, sizeof body, 1, f);
    }
    for (size_t i = 0; i < (size_t)r->triangle_count; i++) {
        fputc(3, f);
        fwrite(r->triangle + 3 * i, sizeof(int32_t), 3, f);
    }
    for (size_t i = 0; i < (size_t)r->segment_count; i++)
        fwrite(r->segment + 2 * i, sizeof(int32_t), 2, f);
}

enum tac_err tac_export_file(struct tac_ctx *ctx, const char *path, tac_export_content *content, const void *data)
{
    enum tac_err err = TAC_OK;
    char *temporary = NULL;
    size_t size = strlen(path) + sizeof ".tmp";
    FILE *f = NULL;
    TAC_TRY(tac_alloc(ctx, size, 1, &temporary));
    snprintf(temporary, size, "%s.tmp", path);
    f = tac_create_stream(AT_FDCWD, temporary);
    int why = errno;
    if (f != NULL) {
        errno = 0;
        content(f, data);
        bool good = fflush(f) == 0 && !ferror(f);
        why = errno;
        if (fclose(f) != 0 && good) {
            good = false;
            why = errno;
        }
        if (good && rename(temporary, path) == 0)
            goto done;
        why = good ? errno : why;
        unlink(temporary);
    }
    err = tac_fail(ctx, TAC_ERR_RUN, "cannot write '%s': %s; free some space or write elsewhere with -o", path,
                   strerror(why));
done:
    free(temporary);
    return err;
}

struct mesh_file {
    const struct tac_reader *r;
    const struct tac_export_frame *frame;
    bool ply;
};

static void mesh_content(FILE *f, const void *data)
{
    const struct mesh_file *m = data;
    (m->ply ? write_ply : write_obj)(f, m->r, m->frame);
}

enum tac_err tac_export_write(struct tac_ctx *ctx, const struct tac_reader *r, const struct tac_export_frame *frame,
                              enum tac_export_format format, const char *path)
{
    const struct mesh_file m = {r, frame, format == TAC_EXPORT_PLY};
    if (format == TAC_EXPORT_VTU || format == TAC_EXPORT_VTP)
        return tac_export_vtk(ctx, r, frame, format == TAC_EXPORT_VTP, path);
    return tac_export_file(ctx, path, mesh_content, &m);
}
