/* gmsh.h: declares what the two halves of the Gmsh reader share: the position in the file, and its numbers. */
#ifndef TACTUS_MESH_GMSH_H
#define TACTUS_MESH_GMSH_H

#include "mesh/read.h"

struct tac_gmsh_node {
    int64_t tag;
    tac_lid vertex;
};

struct tac_gmsh {
    struct tac_builder *b;       /* borrowed */
    const struct tac_file *file; /* borrowed */
    struct tac_text text;        /* where we are, outside binary data */
    struct tac_bytes bytes;      /* where we are, inside */
    bool binary, version4, has_format, has_nodes, has_elements;
    struct tac_gmsh_node *node; /* owned; sorted by tag once all are read */
    size_t node_count, node_capacity;
};

/* All local. Numbers in the text or in the binary data, as the file has them: `int`, `size_t`, double of the format. */
enum tac_err tac_gmsh_fail(const struct tac_gmsh *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
enum tac_err tac_gmsh_int(struct tac_gmsh *g, const char *what, int64_t *out);
enum tac_err tac_gmsh_size(struct tac_gmsh *g, const char *what, int64_t *out);
enum tac_err tac_gmsh_double(struct tac_gmsh *g, const char *what, double *out);
/* A size_t that is not negative. */
enum tac_err tac_gmsh_count(struct tac_gmsh *g, const char *what, int64_t *out);
/* The count on a line of its own, text also in binary files of version 2. */
enum tac_err tac_gmsh_count_line(struct tac_gmsh *g, const char *what, int64_t *count);
/* Binary data begins here. */
void tac_gmsh_enter(struct tac_gmsh *g);

/* The $Elements section of version 2 and of 4.1. */
enum tac_err tac_gmsh_elements2(struct tac_gmsh *g);
enum tac_err tac_gmsh_elements4(struct tac_gmsh *g);

#endif
