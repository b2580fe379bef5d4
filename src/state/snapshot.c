/* snapshot.c: sorts the rows of a snapshot, and frees it. */
#include "state/snapshot.h"
#include <stdlib.h>

int tac_element_state_compare(const void *a, const void *b)
{
    const struct tac_element_state *x = a, *y = b;
    if (x->vertex[0] != y->vertex[0])
        return x->vertex[0] < y->vertex[0] ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

int tac_friction_row_compare(const void *a, const void *b)
{
    const struct tac_friction_row *x = a, *y = b;
    if (x->vertex[0] != y->vertex[0])
        return x->vertex[0] < y->vertex[0] ? -1 : 1;
    return x->key != y->key ? (x->key > y->key ? 1 : -1) : (x->layer > y->layer) - (x->layer < y->layer);
}

tac_lid tac_checkpoint_elements(const struct tac_checkpoint *c)
{
    tac_lid count = 0;
    for (int kind = 0; kind < TAC_KINDS; kind++)
        count += c->element[kind].count;
    return count;
}

void tac_checkpoint_destroy(struct tac_checkpoint **checkpoint)
{
    struct tac_checkpoint *c = *checkpoint;
    if (c == NULL)
        return;
    free(c->vertices.id);
    free(c->vertices.start);
    free(c->vertices.mass);
    free(c->vertices.x);
    free(c->vertices.v);
    free(c->vertices.t);
    free(c->vertices.impulse);
    free(c->vertices.rest);
    free(c->vertices.past);
    free(c->mesh.triangle_id);
    free(c->mesh.triangle);
    free(c->mesh.tetrahedron_id);
    free(c->mesh.tetrahedron);
    free(c->mesh.segment_id);
    free(c->mesh.segment);
    free(c->script);
    free(c->pair);
    free(c->last);
    for (int kind = 0; kind < TAC_KINDS; kind++)
        free(c->element[kind].row);
    free(c->friction_state);
    free(c->rigid.row);
    free(c->folder.entry);
    for (int k = 0; k < TAC_LINES; k++)
        free(c->folder.sums[k].line);
    free(c->follow);
    free(c);
    *checkpoint = NULL;
}
