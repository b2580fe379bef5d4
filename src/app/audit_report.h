/* audit_report.h: declares the output of `tactus audit`. */
#ifndef TACTUS_APP_AUDIT_REPORT_H
#define TACTUS_APP_AUDIT_REPORT_H

#include <jansson.h>

#include <tactus/audit.h>

/* What was audited. All pointers are borrowed. */
struct tac_audited {
    const char *dir;
    const struct tac_scene *scene;
    const struct tac_reader *frames;
    const struct tac_audit_run *run;
    bool made; /* the folder's mesh and scene.json give the scene's hash */
};

/* Local. Print the report of a record. */
enum tac_err tac_audit_print_record_json(struct tac_ctx *ctx, const struct tac_audited *a,
                                         const struct tac_audit_report *report);
void tac_audit_print_record(const struct tac_audited *a, const struct tac_audit_report *report);

/* A report of frames. */
struct tac_audited_frames {
    int64_t first, last;                 /* the frames that were audited, by place: first .. last - 1 */
    const struct tac_audit_frame *frame; /* borrowed, (last) */
    int64_t bad;                         /* frames in which two surfaces cross */
    int64_t missing;                     /* numbers between the first and the last that frames.h5 does not have */
    struct tac_audit_part part;
    enum tac_audit_clash clash;
};
enum tac_err tac_audit_print_frames_json(struct tac_ctx *ctx, const struct tac_audited *a,
                                         const struct tac_audited_frames *f);
void tac_audit_print_frames(const struct tac_audited *a, const struct tac_audited_frames *f);

/* Local. Returns whether all requested frames are free of crossings. */
bool tac_audit_frames_good(const struct tac_audited_frames *f);

#endif
