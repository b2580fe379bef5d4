/* tactus/audit.h: whether anything passed through anything, proven from the recorded paths alone.
 *
 * A record (docs/reference/file-formats.md) holds the path of every vertex, piecewise linear in time.  The audit
 * examines every contact pair of the scene at every instant of the record, and proves that the two primitives keep
 * their distance: the sum of both radii, or 0 within one mesh.  It shares no code with the discovery of contacts.
 * docs/explanation/audit.md says what is proven, how, and what is counted.
 *
 *     TAC_TRY(tac_audit_run_read(ctx, dir, &run));               first, because the run may still write
 *     TAC_TRY(tac_audit_scene_read(ctx, reader, dir, &scene));
 *     TAC_TRY(tac_recorded_open(ctx, dir, scene->vertex_count, &recorded));
 *     TAC_TRY(tac_audit_scene_tie(ctx, &folder, scene, &made));
 *     TAC_TRY(tac_audit_record(ctx, scene, recorded, &options, &report));
 *     if (report->proven) ...
 *     tac_audit_report_destroy(&report); tac_recorded_close(&recorded); tac_scene_destroy(&scene);
 *
 * Time is cut into *slabs*, the same for any number of ranks, and each slab is examined by itself.  So the report is
 * the same for any number of ranks.
 */
#ifndef TACTUS_AUDIT_H
#define TACTUS_AUDIT_H

#include <tactus/reader.h>
#include <tactus/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tac_recorded; /* opaque: tactus/stored.h */
struct tac_exempt;   /* tactus/exempt.h */

/* What may pass through what. The first four kinds are those of the query (docs/explanation/ccd.md), in the same order.
 */
enum tac_audit_kind {
    TAC_AUDIT_VERTEX_TRIANGLE,
    TAC_AUDIT_EDGE_EDGE,
    TAC_AUDIT_VERTEX_EDGE, /* of a segment */
    TAC_AUDIT_VERTEX_VERTEX,
    TAC_AUDIT_EDGE_TRIANGLE, /* at a start: the edge passes through the triangle */
    TAC_AUDIT_EDGES_CROSS    /* at a start, in the plane */
};

enum tac_audit_verdict {
    TAC_AUDIT_CROSSING, /* they meet, or come nearer than the radii of two bodies allow */
    TAC_AUDIT_OPEN      /* no proof was found, neither of a crossing nor of the distance */
};

/* A pair of primitives at an instant. Each id is that of a vertex, a triangle or an edge in the scene's topology. */
struct tac_audit_place {
    double t_s;
    tac_lid id[2];
    uint8_t kind, verdict;
    double gap; /* m: the distance minus the distance that must be kept; NaN for a crossing */
};

/* A part of the record without gaps in time: every group but the first begins where the one before it ended. */
struct tac_audit_span {
    double t_s[2];
    int64_t first, last; /* groups: their places in the record */
};

enum { TAC_AUDIT_LISTED = 20 };

/* ---- which run the record belongs to, and whether it is all of that run ---- */

/* How a run ended. Its run.json tells this, or its status.json as long as there is no run.json. */
enum tac_audit_end {
    TAC_AUDIT_UNTOLD, /* neither file exists */
    TAC_AUDIT_FINISHED,
    TAC_AUDIT_STOPPED, /* with a checkpoint, to be gone on with */
    TAC_AUDIT_FAILED,
    TAC_AUDIT_RUNNING, /* it seems to be running, as far as this machine can find */
    TAC_AUDIT_KILLED   /* its process is gone */
};

struct tac_audit_run {
    enum tac_audit_end end;
    double time_s;   /* when it finished or stopped; NaN: not known */
    char sha256[80]; /* of its scene; empty: not known */
    char from[16];   /* the file that tells this; empty: none */
};

/* What a run folder holds, for tac_audit_scene_tie(). All pointers are borrowed. */
struct tac_audit_folder {
    const char *dir;
    const struct tac_reader *frames;
    const struct tac_recorded *recorded; /* NULL: the audit is of frames alone */
    const struct tac_audit_run *run;
};

/* Which part of the run the user asks about, and which part of it was looked at. */
struct tac_audit_part {
    double asked_s[2];  /* --from, --until; NaN: the run's beginning, the run's end */
    double looked_s[2]; /* NaN: nothing */
    double begin_s;     /* of the run as frames.h5 has it: its first frame; NaN: there is none */
    bool reaches[2];    /* what was looked at reaches what was asked for, at its beginning, its end */
    bool whole;         /* it is all of the run, which has finished */
};

/* Why the frames, the record and run.json cannot belong to one run. */
enum tac_audit_clash {
    TAC_AUDIT_NO_CLASH,
    TAC_AUDIT_FRAMES_END, /* the frames do not end where the run did */
    TAC_AUDIT_RECORD_ENDS /* the record goes on after the run's end */
};

/* The result of comparing the positions at the ends of the record's intervals with those of the frames. */
struct tac_audit_tie {
    int64_t compared, differing; /* positions: of a vertex, at an end of an interval */
    int64_t missing;             /* ends of intervals for which frames.h5 has no frame */
    int64_t off;                 /* intervals that do not go from frame to frame */
    int64_t interval;            /* off > 0: the first of those */
    /* differing > 0: the first one. */
    int64_t frame;
    double t_s, recorded[3], framed[3];
    tac_lid vertex;
};

struct tac_audit_report {
    bool proven; /* of what was asked for: one span, nothing in it crosses or is open, and the frames agree */
    struct tac_audit_part part;
    struct tac_audit_tie tie;
    enum tac_audit_clash clash;
    tac_lid vertex_count;
    int64_t span_count, breakpoints, slabs;
    struct tac_audit_span *span; /* owned, (span_count), by time */
    int64_t pairs;               /* (pair, slab) that came near */
    int64_t pieces;              /* pair-pieces of those */
    int64_t crossing, open;      /* pair-pieces of them that are not proven */
    int64_t start_crossing;      /* edges that already pass through something where a span begins */
    int64_t queries;             /* pair-pieces that went to tac_ccd() */
    double watched_m;            /* pairs that did not come near stay farther apart than this */
    double smallest_bound_m;     /* nothing came nearer than this (less what is to be kept): rigorous */
    bool smallest_known;         /* some pair was measured nearer than watched_m; `smallest` says which */
    struct tac_audit_place smallest;
    struct tac_exempt
        *exempt; /* owned: pairs of bodies of which nothing is proven, because none of their vertices is ever free */
    int listed;
    struct tac_audit_place place[TAC_AUDIT_LISTED]; /* the earliest of crossing, open, start_crossing */
};

struct tac_audit_options {
    const struct tac_audit_run *run; /* borrowed */
    const struct tac_reader *frames; /* borrowed */
    double from_s, until_s;          /* NaN: from the run's beginning, to its end */
    int64_t memory_bytes; /* about what the breakpoints that a rank holds may take; 0: the default, 256 MiB */
    bool query_all;       /* every pair-piece goes to tac_ccd(), whatever cheaper bounds say */
};

/* Local. Reads as much of the scene as an audit needs, from the mesh in `frames` and from `dir`/scene.json: bodies,
 * topology, which vertices are ever free, contact.ignore. The array x is only room for positions. TAC_ERR_INPUT: a file
 * is missing, damaged, or of another format. */
enum tac_err tac_audit_scene_read(struct tac_ctx *ctx, struct tac_reader *frames, const char *dir,
                                  struct tac_scene **out);

/* Collective. Rank 0 reads how the run in `dir` ended. Call it before the frames and the record are opened: while a run
 * goes on they may be newer than what is read here, but must not be older. TAC_ERR_INPUT: a file is damaged. */
enum tac_err tac_audit_run_read(struct tac_ctx *ctx, const char *dir, struct tac_audit_run *run);
/* Collective. Checks by the scene's hash that the frames, the record and run.json belong to one scene, and that
 * scene.json, the mesh and the positions of frame 0 make that scene. *made: the second check was possible, because
 * there is a frame at t = 0; if not, there is a warning. TAC_ERR_INPUT, with one sentence: a check failed, or a file
 * does not contain the hash. */
enum tac_err tac_audit_scene_tie(struct tac_ctx *ctx, const struct tac_audit_folder *folder,
                                 const struct tac_scene *scene, bool *made);
/* Local. Returns whether the frames end where the run did. */
enum tac_audit_clash tac_audit_frames_clash(const struct tac_audit_run *run, const struct tac_reader *frames);
/* Local. Fills in `part` from its asked_s and looked_s (NaN: nothing was looked at). late[0]: what was looked at begins
 * later than was asked for; late[1]: it ends earlier. */
void tac_audit_part_fill(struct tac_audit_part *part, const struct tac_audit_run *run, const struct tac_reader *frames,
                         const bool late[2]);

/* Collective. Audits a record. All ranks get the same report. TAC_ERR_INPUT: the record is damaged. */
enum tac_err tac_audit_record(struct tac_ctx *ctx, struct tac_scene *scene, struct tac_recorded *recorded,
                              const struct tac_audit_options *options, struct tac_audit_report **out);
/* Local. NULL is allowed; leaves NULL. */
void tac_audit_report_destroy(struct tac_audit_report **report);

/* The audit of one stored frame. */
struct tac_audit_frame {
    double time_s;
    int64_t crossing;             /* edges through triangles; in the plane, segments through segments */
    int64_t near;                 /* pairs that touch, or are nearer than the radii allow */
    struct tac_audit_place first; /* of the deepest, if there is any */
    double first_x[3];
};
/* Collective. Looks at the frames k of `frames` with first <= k < last, each on one rank. The array `frame` (last) is
 * filled in on all ranks. */
enum tac_err tac_audit_frames(struct tac_ctx *ctx, struct tac_scene *scene, const struct tac_reader *frames,
                              int64_t first, int64_t last, struct tac_audit_frame *frame);

/* Local. Writes one side (0 or 1) of a place as text: "vertex 3 of body `a`", "edge 5-9 of body `b`"; the numbers are
 * those within the body. */
void tac_audit_describe(const struct tac_scene *scene, const struct tac_audit_place *place, int side, char *text,
                        size_t size);
/* Local. Tells what one side of a place is: *kind "vertex", "edge" or "triangle", its body, and its vertices as
 * numbered within the body. Returns the number of vertices. */
int tac_audit_side(const struct tac_scene *scene, const struct tac_audit_place *place, int side, const char **kind,
                   tac_lid *body, tac_lid vertex[3]);

#ifdef __cplusplus
}
#endif
#endif
