/* contacts.h: makes a contact of the public interface (tactus/contact.h) from a pair and its distance, and defines the
 * order of lists of contacts. */
#ifndef TACTUS_CONTACT_CONTACTS_H
#define TACTUS_CONTACT_CONTACTS_H

#include "contact/model.h"
#include <string.h>
#include <tactus/contact.h>

/* Fills *out except the vertices' ids and the force. v: local vertices; vertex_body: the bodies of all vertices; x (4,
 * 3): positions of v, m; radius: sum of both bodies' radii, m. */
static inline void tac_contact_make(enum tac_pair_type type, uint64_t key, const tac_lid *v, const tac_lid *vertex_body,
                                    const double x[4][3], const struct tac_near *near, double radius,
                                    struct tac_contact *out)
{
    memset(out, 0, sizeof *out);
    out->kind = (enum tac_contact_kind)type;
    out->primitive[0] = (tac_gid)(key >> 31 & 0x1fffffff);
    out->primitive[1] = (tac_gid)(key & 0x7fffffff);
    out->vertex_count = tac_pair_vertices(type);
    out->first_count = tac_pair_first(type);
    out->body[0] = vertex_body[v[0]];
    out->body[1] = vertex_body[v[out->first_count]];
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < out->vertex_count; i++) /* half of each of the two nearest points */
            out->place[k] += .5 * fabs(near->w[i]) * x[i][k];
    memcpy(out->normal, near->n, sizeof out->normal);
    out->gap = near->d - radius;
    memcpy(out->weight, near->w, sizeof out->weight);
}

/* For qsort(): by kind, then by the primitives' ids. */
static inline int tac_contact_compare(const void *a, const void *b)
{
    const struct tac_contact *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    for (int k = 0; k < 2; k++)
        if (x->primitive[k] != y->primitive[k])
            return x->primitive[k] < y->primitive[k] ? -1 : 1;
    return 0;
}

#endif
