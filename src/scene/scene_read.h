/* scene_read.h: declares the parts of the scene's reader, and the functions with which they read one JSON object.
 *
 * Each object of the format is a table of `struct tac_field`; tac_fields_read() checks it against the table (unknown
 * keys, types, ranges), stores the values and writes the defaults back into the JSON, which so becomes the resolved
 * scene.  References, lists and meshes, which a table cannot describe, are code next to it.
 */
#ifndef TACTUS_SCENE_SCENE_READ_H
#define TACTUS_SCENE_SCENE_READ_H

#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <tactus/base.h>
#include <tactus/scene.h>

#define TAC_WHERE 256               /* bytes of a JSON path in a sentence; longer ones are cut */
#define TAC_FARTHEST 1e50           /* m and m/s: beyond, squares of squares leave the range of double */
#define TAC_MOST_ELEMENTS 536870911 /* vertices, triangles, segments of a scene: edges are still counted by tac_lid */
#define TAC_SCENE_CHUNK 4096        /* rows of a body's table that are hashed together, and lie on one rank */

enum tac_table { TAC_VERTICES, TAC_TRIANGLES, TAC_SEGMENTS, TAC_TETRAHEDRA, TAC_TABLES };

/* Vertices of an element of a table; the elements of a mesh. */
static inline int tac_table_width(enum tac_table table)
{
    return table == TAC_SEGMENTS ? 2 : table == TAC_TETRAHEDRA ? 4 : 3;
}
static inline tac_lid **tac_table_elements(struct tac_local_mesh *mesh, enum tac_table table)
{
    return table == TAC_TRIANGLES ? &mesh->triangle : table == TAC_SEGMENTS ? &mesh->segment : &mesh->tetrahedron;
}

/* The rows of one body's table that this rank reads. */
struct tac_rows {
    tac_lid begin, end; /* where they are in the scene's arrays */
    tac_lid number;     /* of row `begin` within the body */
};

/* The table of a mesh before it is part of the scene: all of it, or some rows. */
struct tac_extent {
    tac_lid total[TAC_TABLES];  /* rows of the whole mesh */
    tac_lid number[TAC_TABLES]; /* of the first row that is here */
};

struct tac_pieces;

struct tac_reader {
    struct tac_ctx *ctx;     /* borrowed */
    const char *file;        /* borrowed; the scene's path, as given; of a text, its name in sentences */
    const char *text;        /* borrowed; the scene's JSON; NULL: it is in the file */
    const char *folder;      /* borrowed; where the text's relative paths start; NULL: the current folder */
    const char *setter;      /* borrowed; what brings assignments, in sentences; NULL: --set */
    char *base_dir;          /* owned; absolute folder that relative paths start at */
    struct tac_scene *scene; /* owned until it is handed out */
    bool sets_rest_fraction; /* the scene itself says what contact.rest_fraction is */
    bool leaves_plane;       /* something has a z part: the scene is not 2D */
    json_t *names;           /* owned; body name -> index */
    size_t x_capacity, body_capacity, triangle_capacity, segment_capacity,
        tetrahedron_capacity;          /* of the scene's growing arrays */
    size_t rigid_capacity;             /* of the settings' rigid bodies */
    struct tac_resume *resume;         /* borrowed; NULL: the scene is new */
    const struct tac_settings *before; /* borrowed; of a scene that changes while it runs: how it was; else NULL */

    /* While it is being read, the scene's arrays hold the rows of this rank: all rows, unless `spread`. */
    const struct tac_spread *spread;     /* not NULL: the meshes are spread over the ranks, and reading is collective */
    bool agreed;                         /* all ranks have agreed on the failure already */
    int64_t smallest;                    /* rows of a mesh from which on no rank reads or makes it whole */
    tac_lid total[TAC_TABLES];           /* rows of the scene so far */
    struct tac_rows (*rows)[TAC_TABLES]; /* owned, (body_count) */
    tac_lid *motion;                     /* owned, (rows): the motion of each vertex, or -1 */
    struct tac_pieces *pieces;           /* owned until it is handed out; of a spread scene; made by `spread` */
};

/* Functions of the distributed mesh for a scene that is spread (partition/read_pieces.c).  They are collective, unless
 * they say otherwise. */
struct tac_spread {
    enum tac_err (*pieces)(struct tac_reader *reader); /* makes reader->pieces; the scene loses its arrays */
    enum tac_err (*check_manifold)(struct tac_reader *reader);
    enum tac_err (*find_hinged)(struct tac_reader *reader, uint8_t *hinged); /* (body_count) */
    void (*destroy)(struct tac_reader *reader);                              /* local; the pieces */
    /* Local. Calls add() for each vertex of the pieces. */
    void (*add_masses)(const struct tac_reader *reader, void (*add)(uint64_t *sum, tac_gid id, double mass),
                       uint64_t *sum);
};

/* The name of the scene that a checkpoint holds, for sentences. */
#define TAC_RESUMED_NAME "the scene in the checkpoint"

/* Going on from a checkpoint (resume.c). */
struct tac_resume {
    const struct tac_geometry *geometry; /* borrowed */
    json_t *stored;                      /* owned; the resolved scene of the checkpoint */
    size_t body_count;                   /* of it */
    tac_lid *begin;   /* owned, (body_count + 1, TAC_TABLES): where each body's rows of the tables begin */
    bool from_stored; /* no scene file: all geometry is the checkpoint's */
    bool differs; /* while spread: the scene is another one than the checkpoint's, and this has not been reported yet */
};

/* Local. Returns a reader for this source, at its beginning. */
struct tac_reader tac_reader_of(struct tac_ctx *ctx, const struct tac_scene_source *source);
/* Local, or collective while spread: makes a failure of one rank the failure of all. */
enum tac_err tac_reader_agree(struct tac_reader *reader, enum tac_err err);
/* Local. Notes that the ranks have agreed on this code, as after a collective function, which returns the same code on
 * all ranks. */
enum tac_err tac_reader_agreed(struct tac_reader *reader, enum tac_err err);

enum tac_field_kind {
    TAC_FIELD_NUMBER,   /* double */
    TAC_FIELD_INTEGER,  /* int64_t */
    TAC_FIELD_VECTOR,   /* double[3], no component beyond +-max */
    TAC_FIELD_RANGE,    /* double[2], the first at most the second, both in the field's range */
    TAC_FIELD_BOOL,     /* bool */
    TAC_FIELD_FRICTION, /* double[2], mu static and kinetic: a number means both */
    TAC_FIELD_CHOICE,   /* int-sized enum: the place of the string in `choice` */
    TAC_FIELD_OTHER     /* known; read by code */
};

#define TAC_NOWHERE ((size_t)-1) /* offset of a field that is checked but not stored */

struct tac_field {
    const char *key;
    enum tac_field_kind kind;
    size_t offset;           /* of the value in the struct that is filled, or TAC_NOWHERE */
    double fallback;         /* default (choice: its place); NAN: none, the value is left as it is */
    double min, max;         /* allowed range, ends included ... */
    bool min_open, max_open; /* ... unless said here */
    bool required;
    const char *const *choice; /* NULL-terminated */
};

/* Local. Fails with "FILE: WHERE" and the sentence; returns TAC_ERR_INPUT. */
enum tac_err tac_scene_fail(struct tac_reader *reader, const char *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void tac_scene_warn(struct tac_reader *reader, const char *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A number in the fewest digits that read back as it: for sentences. */
struct tac_shown {
    char text[32];
};
struct tac_shown tac_shown(double value);

/* Local. Returns "a string", "an array", ..., for sentences. */
const char *tac_json_type(const json_t *value);

/* Local. Writes where + "." + key into out; where "" gives key. */
void tac_where(char out[TAC_WHERE], const char *where, const char *key);
void tac_where_index(char out[TAC_WHERE], const char *where, size_t index);

/* Local. Reads `object` (checked to be one) by the table into `base`, and writes defaults into it. */
enum tac_err tac_fields_read(struct tac_reader *reader, json_t *object, const char *where,
                             const struct tac_field *field, size_t count, void *base);
/* Local. Reads one value by its field; where: its JSON path. */
enum tac_err tac_field_read(struct tac_reader *reader, const struct tac_field *field, const json_t *value,
                            const char *where, void *base);
/* Local. Gets the object under `key` of `parent`, which is made empty if it is missing; borrowed. */
enum tac_err tac_section(struct tac_reader *reader, json_t *parent, const char *where, const char *key, json_t **out);
/* Local. Gets the array under `key`, which is made empty if it is missing; borrowed. */
enum tac_err tac_list(struct tac_reader *reader, json_t *parent, const char *where, const char *key, json_t **out);
/* Local. Read single values. A zero has no sign. */
enum tac_err tac_number(struct tac_reader *reader, const json_t *value, const char *where, double *out);
enum tac_err tac_integer(struct tac_reader *reader, const json_t *value, const char *where, int64_t min, int64_t max,
                         int64_t *out);
enum tac_err tac_vector(struct tac_reader *reader, const json_t *value, const char *where, double out[3]);
enum tac_err tac_string(struct tac_reader *reader, const json_t *value, const char *where, const char **out);
/* Refuses names with control characters, because names go to terminals, files and other programs. */
enum tac_err tac_check_name(struct tac_reader *reader, const char *name, const char *where);
enum tac_err tac_copy(struct tac_ctx *ctx, const char *text, char **out);

/* The parts, in the order they run. */
enum tac_err tac_scene_set(struct tac_reader *reader, json_t *root, const char *assignment);
enum tac_err tac_scene_read_settings(struct tac_reader *reader, json_t *root);
/* units.c. Reads the scene's key `units`. */
enum tac_err tac_scene_read_units(struct tac_reader *reader, json_t *root);
/* outputs.c. Read the scene's section `output`; and its histories, after the bodies.  Collective while spread. */
enum tac_err tac_scene_read_output(struct tac_reader *reader, json_t *section);
enum tac_err tac_scene_read_histories(struct tac_reader *reader, json_t *root);
void tac_scene_free_histories(struct tac_output_settings *output);
/* implicit_settings.c. Read the section `integrator` of that kind, after `clocks`; and, when all has been read, refuse
 * keys that have a meaning with the asynchronous integrator only. */
enum tac_err tac_scene_read_implicit(struct tac_reader *reader, json_t *integrator);
enum tac_err tac_scene_check_implicit(struct tac_reader *reader);
/* impact_settings.c. Do the same for the integrator for impact. */
enum tac_err tac_scene_read_impact(struct tac_reader *reader, json_t *integrator);
enum tac_err tac_scene_check_impact(struct tac_reader *reader);
/* step_settings.c. Local. Check, for an integrator with steps of h, s: that they fit to frames and to the end; and,
 * when all has been read, what else needs the state at times, and modes that it does not have. who: "the integrator
 * ...". */
enum tac_err tac_scene_check_step(struct tac_reader *reader, double h);
enum tac_err tac_scene_check_whole_steps(struct tac_reader *reader, double h, const char *who);
/* times.c.  Returns the quantum of a scene that does not give one; its end must be known.  It is 2^-46 s, or the next
 * power of two with which the end fits 2^53 quanta; for a scene that goes on from a checkpoint, the checkpoint's. */
double tac_scene_default_quantum(const struct tac_reader *reader);
/* Returns end_s, which must fit, in quanta.  If it is a frame or the end of an implicit step, up to the rounding of
 * their grid, it is the time of that frame or step. */
tac_time tac_scene_end(const struct tac_scene *scene);
/* Checks that end and frame fit the quantum, and sets t_end. */
enum tac_err tac_scene_check_time(struct tac_reader *reader);
/* Reads again the settings that a running simulation may change: gravity, and the numbers of `contact`. */
enum tac_err tac_scene_reread_settings(struct tac_reader *reader, json_t *root);
enum tac_err tac_scene_read_materials(struct tac_reader *reader, json_t *root);
/* sections.c. `fields` (count of them are there) gets the sections of all elements; returns their number. */
size_t tac_scene_section_fields(const struct tac_reader *reader, struct tac_field *fields, size_t count);
enum tac_err tac_scene_read_sections(struct tac_reader *reader, json_t *object, const char *where,
                                     struct tac_material *material);
enum tac_err tac_scene_find_material(struct tac_reader *reader, const json_t *value, const char *where, tac_lid *out);
/* Reads the laws of `contact`, the scene's section, after the materials. */
enum tac_err tac_scene_read_laws(struct tac_reader *reader, json_t *contact);
enum tac_err tac_scene_read_bodies(struct tac_reader *reader, json_t *root);
/* Reads contact.ignore; `contact`: the scene's section. */
enum tac_err tac_scene_read_ignore(struct tac_reader *reader, json_t *contact);
enum tac_err tac_scene_read_motions(struct tac_reader *reader, json_t *root);
/* Read the paths of motions and the values of loads again, into empty arrays.  Bodies and vertices are not read. */
enum tac_err tac_scene_reread_motions(struct tac_reader *reader, json_t *root);
enum tac_err tac_scene_reread_loads(struct tac_reader *reader, json_t *root);
/* The vertices that a motion or a load is about. */
struct tac_selection {
    const char *what; /* borrowed; "motion", "load": for sentences */
    bool points;      /* all: the body's points of joints, too, which move with it */
    tac_lid count;
    tac_lid *vertex; /* owned by the caller, also after a failure: ascending ids in the scene, of the rows that are here
                      */
};
/* select.c. Collective while spread. Selects vertices by the key `vertices` of the object, which is set if it is
 * missing. */
enum tac_err tac_scene_select(struct tac_reader *reader, json_t *object, const char *where, tac_lid body,
                              struct tac_selection *selection);
/* motion.c. Begins a path: room for the times (*knot_t_s) and values (*value, `width` numbers each) of its knots, whose
 * number is that of the array.  empty: the sentence for a path without knots. */
enum tac_err tac_scene_knots(struct tac_reader *reader, const json_t *path, const char *where, const char *empty,
                             size_t width, double **knot_t_s, double **value);
/* Makes a direction a unit vector; refuses [0, 0, 0]. */
enum tac_err tac_scene_direction(struct tac_reader *reader, const char *where, double axis[3]);
/* Reads a knot [time, value]: its time is added to the *count times in knot_t_s, s, and must lie after them; *value is
 * the JSON of its value.  what: names the value in sentences. */
enum tac_err tac_scene_knot(struct tac_reader *reader, const json_t *knot, const char *where, const char *what,
                            double *knot_t_s, tac_lid *count, const json_t **value);
/* positions.c. Collective while spread. Read the course of a motion by a file of positions, or by a body that such a
 * motion moves; the motions with files must have been read. */
enum tac_err tac_scene_read_positions(struct tac_reader *reader, json_t *positions, const char *where, tac_lid body,
                                      struct tac_motion *motion);
enum tac_err tac_scene_read_follow(struct tac_reader *reader, json_t *follow, const char *where,
                                   struct tac_motion *motion);
/* Collective while spread. Reads all knots of motion `index`, for the hash, and refuses speeds that are too large. */
enum tac_err tac_scene_check_positions(struct tac_reader *reader, tac_lid index);
/* Local. Takes the knots of a motion that did not change; the file is shared. */
enum tac_err tac_motion_copy_course(struct tac_reader *reader, const struct tac_motion *from,
                                    struct tac_motion *motion);
/* Local. Frees what the motion owns. */
void tac_motion_clear(struct tac_motion *motion);
/* elsewhere.c. Collective while spread. The key `start` of a body whose mesh has been read; placed: the mesh is that of
 * a checkpoint, and has those positions already. */
enum tac_err tac_scene_read_start(struct tac_reader *reader, json_t *object, const char *where, tac_lid body,
                                  bool placed);
/* elsewhere.c. Local. Refuses an element of a table that has no size at the start, is turned inside out,
 * or is stretched beyond its limit.  at: (rows,
 * width) where the vertices of this rank's rows are in x; NULL: at their ids. */
enum tac_err tac_start_check_sizes(struct tac_reader *reader, tac_lid body, enum tac_table table, const tac_lid *at,
                                   const double *x);
/* body.c. Local. Places the vertices of a mesh, of which the first has that number; placed: they are in their place. */
enum tac_err tac_scene_place_vertices(struct tac_reader *reader, const char *where, const struct tac_body *body,
                                      const struct tac_mesh *mesh, bool placed, tac_lid number, double *x);
/* body.c. Local. What a body needs of its mesh. */
enum tac_mesh_want tac_scene_mesh_want(const struct tac_scene *scene, const struct tac_body *body);
/* body.c. Local. A relative path under `key` becomes absolute: the resolved scene can then be read from anywhere. */
enum tac_err tac_scene_resolve_path(struct tac_reader *reader, json_t *object, const char *key);
/* scene_loads.c. Reads a path of factors: knots [time, factor], *count of them. */
enum tac_err tac_scene_read_factors(struct tac_reader *reader, const json_t *path, const char *where, double **knot_t_s,
                                    tac_lid *count, double **factor);
/* scene_loads.c. tac_scene_check_loads() checks that each load has something to act on; call it when it is known
 * whether the scene is 2D. */
enum tac_err tac_scene_read_loads(struct tac_reader *reader, json_t *root);
enum tac_err tac_scene_check_loads(struct tac_reader *reader);
enum tac_err tac_scene_find_body(struct tac_reader *reader, const json_t *value, const char *where, tac_lid *out);
enum tac_err tac_scene_masses(struct tac_reader *reader);
/* rigid/rigid_bodies.c. The key `rigid` of a body whose mesh has been read; and, when the bodies' lumped masses are
 * known, its mass and axes: then the masses of its vertices become the shares by which contact's periods are bounded.
 */
enum tac_err tac_scene_read_rigid(struct tac_reader *reader, json_t *object, const char *where, tac_lid body);
enum tac_err tac_scene_make_rigid(struct tac_reader *reader, tac_lid body, const char *where);
/* Local. Computes the centre of mass of a rigid body, or that of all its pieces together. */
void tac_scene_rigid_center(const struct tac_settings *settings, const struct tac_body *body, double center[3]);
/* rigid/joints.c. The scene's `joints`, before the bodies; then, when the mesh of a body has been read, its points of
 * joints, behind its other vertices; and when all bodies have been read, what joins what.  placed: they are among the
 * vertices of the mesh already, as its last ones. */
enum tac_err tac_scene_read_joints(struct tac_reader *reader, json_t *root);
enum tac_err tac_scene_add_anchors(struct tac_reader *reader, tac_lid body, const char *where, bool placed);
enum tac_err tac_scene_check_joints(struct tac_reader *reader);
/* When motions have been read: is every point that joints have on a body that is not rigid held for ever? */
enum tac_err tac_scene_check_joined(struct tac_reader *reader);
/* When the masses of bodies are known: how motors keep to what they aim at, and how often they tick. */
enum tac_err tac_scene_set_motors(struct tac_reader *reader);
/* motor.c. The key `motor` of a joint. */
enum tac_err tac_scene_read_motor(struct tac_reader *reader, json_t *object, const char *where,
                                  struct tac_joint *joint);
/* Local. Points of the world never move. Call it when motions have been read. */
void tac_scene_hold_pins(struct tac_reader *reader);
/* What has no meaning with rigid bodies, or is not there yet, when all has been read. */
enum tac_err tac_scene_check_rigid(struct tac_reader *reader);
enum tac_err tac_scene_velocities(struct tac_reader *reader);
/* Warns of values that are valid but hardly what was meant. sets_thickness: the scene itself says what
 * contact.thickness is. */
enum tac_err tac_scene_doubts(struct tac_reader *reader, bool sets_thickness);
/* plausible.c. Does the part about numbers and meshes.  is_free: (bodies) 1: the body has a vertex that is free at some
 * time.
 */
enum tac_err tac_scene_doubt_numbers(struct tac_reader *reader, const uint8_t *is_free);
/* sizes.c. Does the part about sizes that do not fit the units that the scene declares.  Collective while spread. */
enum tac_err tac_scene_doubt_units(struct tac_reader *reader);
/* Sets scene->fastest, and refuses a scene in which something starts or is moved faster. */
enum tac_err tac_scene_check_speeds(struct tac_reader *reader);
/* Local. Refuses vertices of a body that start faster. */
enum tac_err tac_scene_check_start(struct tac_reader *reader, tac_lid body);
/* Local. Does the same for gravity and motions that were read again; the `arm` of a motion is known. */
enum tac_err tac_scene_recheck_speeds(struct tac_reader *reader);
/* Returns whether the triangles of a body can bend, so that no three of them may meet at an edge. */
bool tac_scene_bends(const struct tac_scene *scene, tac_lid body);
enum tac_err tac_scene_fail_manifold(struct tac_reader *reader, const tac_gid edge[2], const double x[3],
                                     tac_lid valence);
enum tac_err tac_scene_check_elements(struct tac_reader *reader);
enum tac_err tac_scene_hash(struct tac_reader *reader);
/* hash.c, local. The SHA-256 of numbers in the byte order of the scene's hash, in hexadecimal. */
enum tac_err tac_scene_digest(struct tac_ctx *ctx, const double *value, size_t count, char hex[65]);
/* elsewhere.c, collective while spread. Adds the velocities that the files of `start` have, which the hash has by their
 * own SHA-256: a run that goes on does without the file. */
enum tac_err tac_scene_add_start_velocities(struct tac_reader *reader);
/* Local. Computes the hash again after settings, motions or loads were changed; the rows' part of it is the stored
 * one. */
enum tac_err tac_scene_rehash(struct tac_reader *reader);
double tac_scene_area(const double *a, const double *b, const double *c);
double tac_scene_length(const double *a, const double *b);
double tac_scene_volume(const double *a, const double *b, const double *c, const double *d);
/* "triangle", its number within the body and "area" in the sentence for an element that vanished. */
enum tac_err tac_scene_fail_vanished(struct tac_reader *reader, const char *where, const struct tac_body *body,
                                     const char *what, tac_lid number, const char *size);

/* Spread: collective counterparts of the above.  See spread.c. */
/* Local. For a table of `total` rows of a body (its index): return the rank that has row `number`; and the rows that a
 * rank has. */
int tac_spread_rank(const struct tac_ctx *ctx, tac_lid body, tac_lid total, tac_lid number);
void tac_spread_block(const struct tac_ctx *ctx, tac_lid body, tac_lid total, tac_lid *first, tac_lid *count);
/* Local. Returns the number of rows of a mesh of which a rank can read (HDF5) or make a part alone; 0 if the mesh is
 * needed as a whole, or has an error. */
int64_t tac_spread_mesh_rows(const struct tac_ctx *ctx, const json_t *spec, const char *base_dir);
/* Collective. Gets the positions of n vertices of a body (numbers below `total`) from the ranks' blocks x, of which
 * ours starts at number `first`. */
enum tac_err tac_spread_ask(struct tac_ctx *ctx, enum tac_err err, tac_lid body, tac_lid total, size_t n,
                            const tac_gid *number, tac_lid first, const double *x, double *out);
enum tac_err tac_spread_mesh(struct tac_reader *reader, tac_lid body, const json_t *spec, const char *where,
                             enum tac_mesh_want want, struct tac_mesh **out, struct tac_extent *extent);
enum tac_err tac_spread_lump(struct tac_reader *reader, tac_lid body, const char *where, double density);

/* Collective. Reads reader->file, with settings, into reader->scene; tac_scene_read() calls it. */
enum tac_err tac_scene_read_by(struct tac_reader *reader, const char *const *set, int set_count);
/* scene.c, for resume.c. Makes everything from the JSON; `root` becomes the resolved scene. */
enum tac_err tac_scene_resolve(struct tac_reader *reader, json_t *root);
enum tac_err tac_scene_load(struct tac_reader *reader, json_t **out);
enum tac_err tac_scene_find_base(struct tac_reader *reader);
/* scene.c, for resume.c. Collective. Checks, while spread, that all ranks have the same text. */
enum tac_err tac_reader_compare_texts(struct tac_reader *reader);
/* resume.c, for body.c; collective while spread. Makes the placed mesh of a body whose geometry is that of the
 * checkpoint, or this rank's rows of it; *mesh stays NULL if the body's own mesh has to be made. */
enum tac_err tac_resume_mesh(struct tac_reader *reader, json_t *body, const char *where, tac_lid index,
                             struct tac_mesh **mesh, struct tac_extent *extent);
/* resume.c. Does the work of tac_scene_resume(); reader->resume has the geometry, and whether there is a scene file.
 * The scene is in reader->scene. */
enum tac_err tac_scene_resume_by(struct tac_reader *reader, const char *const *set, int set_count, const json_t *stored,
                                 const char *stored_sha256);
/* differ.c. Fails with TAC_ERR_INPUT, naming the first key in which the scene differs from the stored one, of those
 * that the hash covers. */
enum tac_err tac_scene_differs(struct tac_reader *reader);
/* differ.c. Does the same for the keys that place body `index`, whose mesh is not made; TAC_OK if nothing differs. */
enum tac_err tac_scene_placed_alike(struct tac_reader *reader, json_t *body, tac_lid index);

#endif
