/* tactus/audit.h: did anything pass through anything?  Proven from the recorded paths alone.
 *
 * A record (docs/run-folder.md) tells every vertex's path, piecewise linear in time.  The audit looks at every
 * contact pair of the scene over every instant of the record and proves that the two keep their distance: 0, or where a
 * particle takes part the sum of both radii.  It shares no code with the discovery of contacts.  docs/audit.md says
 * what is proven, how, and what is counted.
 *
 *     TAC_TRY(tac_audit_scene_read(ctx, reader, dir, &scene));
 *     TAC_TRY(tac_recorded_open(ctx, dir, scene->vertex_count, &recorded));
 *     TAC_TRY(tac_audit_record(ctx, scene, recorded, &options, &report));
 *     if (report->proven) ...
 *     tac_audit_report_destroy(&report); tac_recorded_close(&recorded); tac_audit_scene_destroy(&scene);
 *
 * Time is cut into *slabs*, the same for any number of ranks, and each slab is judged by itself; so the report is the
 * same for any number of ranks.
 */
#ifndef TACTUS_AUDIT_H
#define TACTUS_AUDIT_H

#include <tactus/reader.h>
#include <tactus/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tac_recorded; /* opaque: tactus/stored.h */

/* What may pass through what.  The first four are those of ccd.h, in its order. */
enum tac_audit_kind {
    TAC_AUDIT_VERTEX_TRIANGLE,
    TAC_AUDIT_EDGE_EDGE,
    TAC_AUDIT_VERTEX_EDGE, /* of a segment */
    TAC_AUDIT_VERTEX_VERTEX,
    TAC_AUDIT_EDGE_TRIANGLE, /* at a start: the edge passes through the triangle */
    TAC_AUDIT_EDGES_CROSS    /* at a start, in the plane */
};

enum tac_audit_verdict {
    TAC_AUDIT_CROSSING, /* they meet, or a particle comes nearer than the radii allow */
    TAC_AUDIT_OPEN      /* neither that nor the contrary could be proven */
};

/* A pair at a time. Ids are the scene's: of a vertex, a triangle, or an edge of its topology. */
struct tac_audit_place {
    double t_s;
    tac_lid id[2];
    uint8_t kind, verdict;
    double gap; /* m: distance less what is to be kept; of a crossing: NaN */
};

/* A time without gaps: every group but the first goes on where the one before it ended. */
struct tac_audit_span {
    double t_s[2];
    int64_t first, last; /* groups: their places in the record */
};

enum { TAC_AUDIT_LISTED = 20 };

struct tac_audit_report {
    bool proven; /* one span, and in it nothing crosses and nothing is open */
    tac_lid vertex_count;
    int64_t span_count, breakpoints, slabs;
    struct tac_audit_span *span; /* owned, (span_count), by time */
    int64_t pairs;               /* (pair, slab) that came near */
    int64_t pieces;              /* pair-pieces of those */
    int64_t crossing, open;      /* pair-pieces of them that are not proven */
    int64_t start_crossing;      /* edges that already pass through something where a span begins */
    int64_t queries;             /* pair-pieces that went to tac_ccd() */
    double watched_m;            /* pairs that did not come near stay further away than this */
    double smallest_bound_m;     /* nothing came nearer than this (less what is to be kept): rigorous */
    bool smallest_known;         /* some pair was measured nearer than watched_m: */
    struct tac_audit_place smallest;
    int listed;
    struct tac_audit_place place[TAC_AUDIT_LISTED]; /* the earliest of crossing, open, start_crossing */
};

struct tac_audit_options {
    int64_t memory_bytes; /* about what the breakpoints that a rank holds may take; 0: the default, 256 MiB */
    bool query_all;       /* every pair-piece goes to tac_ccd(), whatever cheaper bounds say */
};

/* Local. The scene as far as an audit needs it: bodies, topology, who is ever free, contact.ignore; x is room for
 * positions. From the mesh in `frames` and `dir`/scene.json.  TAC_ERR_INPUT. */
enum tac_err tac_audit_scene_read(struct tac_ctx *ctx, struct tac_reader *frames, const char *dir,
                                  struct tac_scene **out);
/* Local. NULL is allowed; leaves NULL. */
void tac_audit_scene_destroy(struct tac_scene **scene);

/* Collective. TAC_ERR_INPUT: the record is damaged. All ranks get the same report. */
enum tac_err tac_audit_record(struct tac_ctx *ctx, struct tac_scene *scene, struct tac_recorded *recorded,
                              const struct tac_audit_options *options, struct tac_audit_report **out);
/* Local. NULL is allowed; leaves NULL. */
void tac_audit_report_destroy(struct tac_audit_report **report);

/* A stored frame. */
struct tac_audit_frame {
    double time_s;
    int64_t crossing;             /* edges through triangles; in the plane, segments through segments */
    int64_t near;                 /* pairs that touch, or particles nearer than the radii allow */
    struct tac_audit_place first; /* of the deepest, if there is any */
    double first_x[3];
};
/* Collective. Frame k of `frames` is looked at by one rank; frame (frames->frame_count) is filled on all. */
enum tac_err tac_audit_frames(struct tac_ctx *ctx, struct tac_scene *scene, const struct tac_reader *frames,
                              struct tac_audit_frame *frame);

/* Local. "vertex 3 of body `a`", "edge 5-9 of body `b`", numbers within the body. side: 0, 1. */
void tac_audit_describe(const struct tac_scene *scene, const struct tac_audit_place *place, int side, char *text,
                        size_t size);
/* Local. What a side of a place is: *kind "vertex", "edge" or "triangle", its body, and its vertices within the body;
 * returns how many. */
int tac_audit_side(const struct tac_scene *scene, const struct tac_audit_place *place, int side, const char **kind,
                   tac_lid *body, tac_lid vertex[3]);

#ifdef __cplusplus
}
#endif
#endif
