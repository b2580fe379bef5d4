/* tactus/scene.h: the scene file (JSON, docs/reference/scene-format.md) and the structures that it is turned into, with
 * placed bodies and lumped masses.
 *
 * tac_scene_read() reads, applies --set, validates and resolves; afterwards every default is filled in.  A scene has
 * settings, which are immutable once read and the same on every rank, and a mesh.  Vertices are numbered body by body
 * in scene order, each mesh's own order inside.
 *
 *     const char *set[] = {"contact.friction=0.4"};
 *     struct tac_scene *scene = NULL;
 *     TAC_TRY(tac_scene_read(ctx, "drop.json", set, 1, &scene));
 *     scene->mesh->x[3 * i] ...
 *     tac_scene_destroy(&scene);
 *
 * tac_scene_parse() does the same with a text in memory.
 */
#ifndef TACTUS_SCENE_H
#define TACTUS_SCENE_H

#include <jansson.h>
#include <tactus/base.h>
#include <tactus/counters.h>
#include <tactus/mesh.h>

#define TAC_FRAME_GRAIN 65536 /* quanta: frames lie on multiples of it */

#ifdef __cplusplus
extern "C" {
#endif

enum tac_clock_mode { TAC_CLOCKS_NESTED, TAC_CLOCKS_FREE };
enum tac_discovery_mode { TAC_DISCOVER_SPECULATE, TAC_DISCOVER_KDS, TAC_DISCOVER_ALL_PAIRS };
enum tac_friction_model { TAC_FRICTION_ANCHOR, TAC_FRICTION_KINETIC };
enum tac_structure { TAC_STRUCTURE_KDOP, TAC_STRUCTURE_PAIRS };
enum tac_integrator_kind { TAC_INTEGRATOR_ASYNCHRONOUS, TAC_INTEGRATOR_IMPLICIT, TAC_INTEGRATOR_IMPACT };
enum tac_impact_operator { TAC_IMPACT_REFLECTIONS, TAC_IMPACT_LCP, TAC_IMPACT_GAUSS_SEIDEL, TAC_IMPACT_JACOBI };
enum tac_implicit_scheme { TAC_IMPLICIT_EULER, TAC_IMPLICIT_NEWMARK, TAC_IMPLICIT_BDF2, TAC_IMPLICIT_STATIC };
enum tac_implicit_weights { TAC_WEIGHTS_PAIRS, TAC_WEIGHTS_AREA };
enum tac_implicit_solver { TAC_SOLVER_INVARIANT, TAC_SOLVER_PETSC };
enum { TAC_SOLVER_OPTIONS = 512 };
enum tac_stretch_model { TAC_STRETCH_NONE, TAC_STRETCH_CST, TAC_STRETCH_SPRING };
enum tac_solid_model { TAC_SOLID_NONE, TAC_SOLID_NEO_HOOKEAN, TAC_SOLID_STVK, TAC_SOLID_COROTATED };

/* What a scene knows about a kind of elastic element: its name and, for elements that are neither stretch nor bend, the
 * object `materials.*.SECTION` by which a material gets the element. The members of that object are numbers, each with
 * a name. */
enum { TAC_MATERIAL_SECTIONS = 8, TAC_SECTION_NUMBERS = 4 }; /* most of a material; most numbers of one */
struct tac_section_number {
    const char *key;
    double fallback; /* NAN: required */
    double min, max; /* allowed range */
    bool min_open;   /* without its lower end */
};
struct tac_element_keys {
    const char *name;
    const char *section; /* NULL: is in stretch or bend */
    int count;
    struct tac_section_number number[TAC_SECTION_NUMBERS]; /* (count) */
};
/* One such object in a material. */
struct tac_material_section {
    const struct tac_element_keys *keys; /* borrowed from the element's table */
    double value[TAC_SECTION_NUMBERS];
};

struct tac_material {
    char *name;     /* owned */
    double density; /* kg/m^2 on triangles, kg/m on segments; with a solid kg/m^3 on tetrahedra alone; 0: none */
    enum tac_stretch_model stretch_model;
    double stretch_stiffness;       /* cst: N/m; spring: N */
    double poisson;                 /* cst */
    double stretch_damping;         /* s, times stiffness */
    double stretch_yield;           /* spring: relative change of length; cst: Green strain; 0: none */
    double stretch_limit;           /* no edge is longer than 1 + this times its rest length; 0: no limit */
    double stretch_limit_principal; /* no triangle is stretched to more than 1 + this in any direction; 0: no limit */
    bool bend;                      /* has a hinge model */
    double bend_stiffness;          /* N m */
    double bend_damping;            /* s, times stiffness */
    double bend_yield;              /* rad; 0: none */
    bool rest_flat;                 /* rest angle 0 instead of the mesh's */
    enum tac_solid_model solid_model;
    double solid_damping;               /* s, times stiffness */
    double solid_youngs, solid_poisson; /* Pa; -1 .. 1/2, without the ends */
    int section_count;
    struct tac_material_section section[TAC_MATERIAL_SECTIONS]; /* (section_count), in the order of the elements */
};

/* The contact law of two materials. */
struct tac_contact_law {
    tac_lid material[2]; /* ascending; -1, -1: all that have no law of their own */
    double stiffness;    /* r(1), N/m */
    double restitution;  /* 0..1 */
    double friction;     /* mu >= 0, of what does not slide */
    double kinetic;      /* mu of what slides: at most `friction`, and usually the same */
    double rolling;      /* of grains that roll: torque over radius and normal force */
    double twisting;     /* likewise, about the normal */
};

struct tac_body {
    char *name;         /* owned */
    tac_lid material;   /* index, or -1 */
    double mass;        /* per vertex, kg; 0: from density */
    double radius;      /* offset of its surface, m */
    bool round;         /* its mesh is the middle of a ball or a capsule */
    double position[3]; /* m */
    double rotation[3]; /* rotation vector, degrees */
    double scale;
    double velocity[3];         /* m/s */
    double angular_velocity[3]; /* rad/s about the body's centre of mass */
    bool rolls;                 /* particles that turn; friction acts at their surface */
    double spin[3];             /* of each of them, rad/s */
    bool has_random_speed;
    double random_speed[2]; /* lo, hi, m/s */
    int64_t seed;
    bool fixed, self_contact;
    tac_lid rigid;                        /* its first place among the rigid ones; -1: it is not rigid */
    tac_lid piece_count;                  /* how many places it has there, one behind the other; 0: it is not rigid */
    bool in_pieces;                       /* each connected piece of its mesh is rigid by itself */
    double rigid_density;                 /* kg/m^3 in its closed surface; 0: none given */
    double rigid_mass;                    /* kg, likewise */
    double rigid_frequency;               /* 1/s, of its shape in the implicit integrator; 0: as usual */
    tac_lid vertex_begin, vertex_end;     /* its vertices in the scene's arrays */
    tac_lid triangle_begin, triangle_end; /* its triangles */
    tac_lid segment_begin, segment_end;   /* its segments */
    tac_lid tetrahedron_begin,
        tetrahedron_end; /* its tetrahedra; their faces that only one of them has are its triangles */
    bool has_elements;   /* false: points (particles) */
    double *rest;        /* owned, (vertices of its mesh, 3), m: the placed mesh of a body that starts elsewhere (key
                            `start`), on every rank; NULL: it starts as that mesh */
    /* Velocities that the file of `start` adds; the SHA-256 of all of them, in hexadecimal, or "": it has none.  The
     * numbers are there only while the scene is read. */
    char start_sha256[65];
    double *start_velocity; /* owned, (start_count, 3), m/s: of its first vertices */
    tac_lid start_count;
    tac_lid anchors; /* how many of its last vertices, but for the pins, are points of joints that move with it */
    tac_lid pins;    /* how many of its last vertices are points of the world, to which joints tie it */
};

/* Returns where the vertices of a body's mesh end; those of its joints follow. */
static inline tac_lid tac_body_mesh_end(const struct tac_body *body)
{
    return body->vertex_end - body->anchors - body->pins;
}

/* A body that is rigid (docs/explanation/rigid.md), or a piece of one, as it starts. */
struct tac_rigid_body {
    tac_lid body;
    tac_lid vertex_begin, vertex_end; /* its vertices in the scene's arrays */
    double mass;                      /* kg */
    double center[3];                 /* m */
    double axis[3][3];                /* axis[k]: the unit vector of its principal axis k; right-handed */
    double second[3];                 /* kg m^2, ascending: the integrals of the squared coordinate along each axis */
    double velocity[3];               /* m/s, of its centre */
};

enum tac_joint_kind { TAC_JOINT_BALL, TAC_JOINT_HINGE, TAC_JOINT_WELD, TAC_JOINT_SLIDER };
/* At most: pairs of a joint, and points on one of its sides. */
enum { TAC_JOINT_PAIRS = 3, TAC_JOINT_POINTS = 2 * TAC_JOINT_PAIRS };
enum tac_motor_kind { TAC_MOTOR_NONE, TAC_MOTOR_TORQUE, TAC_MOTOR_SPEED, TAC_MOTOR_POSITION };

/* What turns the first body of a hinge against the second one (docs/explanation/joints.md, Motors). */
struct tac_motor_settings {
    enum tac_motor_kind kind;
    double target;      /* times the factor: N m, rad/s, degrees */
    double most;        /* N m, of a speed or position; infinity: no bound */
    double stiffness;   /* position: N m/rad */
    double damping;     /* position: N m s */
    double inertia;     /* kg m^2: that against which it turns if the joint did not hold */
    tac_lid knot_count; /* 0: the factor is 1 */
    double *knot_t_s;   /* owned, (knot_count), ascending strictly after rounding to quanta */
    double *factor;     /* owned, (knot_count), linear between knots, held before the first and after the last */
};

/* One side of a joint. */
struct tac_joint_end {
    tac_lid body;                    /* -1: the world */
    int64_t vertex;                  /* of a body that is not rigid: its number within the body; -1: `at` counts */
    double at[3];                    /* m, at the start */
    tac_gid point[TAC_JOINT_POINTS]; /* vertices of the scene */
};

/* A joint of two bodies (docs/explanation/joints.md): pairs of points, one on each side, that may not come
 * farther apart than `most`. A slider has three points on its first side, and the ends of three segments on its second
 * one. */
struct tac_joint {
    char *name; /* owned */
    enum tac_joint_kind kind;
    struct tac_joint_end end[2]; /* a, b */
    double axis[3]; /* unit; hinge: what it turns about; slider: along what; weld: normal of the plane of its points */
    double span;    /* m; between the points of a hinge or slider; diameter of the circle through those of a weld */
    double slack;   /* m */
    double stiffness; /* N/m, of the first layer */
    double restitution;
    bool limited;    /* hinge: its angle has limits; slider: always */
    double limit[2]; /* hinge: degrees, least and largest angle, 0 at the start; slider: m, likewise */
    struct tac_motor_settings motor;
    int points[2];                /* on each side */
    int pairs;                    /* how many are held together; other points only show the angle */
    double most[TAC_JOINT_PAIRS]; /* m, of each pair */
    double soft[TAC_JOINT_PAIRS]; /* m: by how much less the layers of a pair begin to act */
};

/* A point that only joints have. */
struct tac_joint_anchor {
    tac_gid vertex;
    tac_lid joint;
    int point;
};

struct tac_point_cache;

/* A script: a path (piecewise linear displacement from where vertices are at the first knot), a rotation, or a file
 * with the position of every vertex at each knot, which some vertices follow (tac_local_mesh.moved). */
struct tac_motion {
    tac_lid body; /* whose vertices it moves */
    bool release; /* free outside its knots */
    tac_lid knot_count;
    double *knot_t_s;              /* owned, (knot_count), ascending strictly after rounding to quanta */
    double *displacement;          /* owned, (knot_count, 3), m; NULL for a rotation and for a file */
    double *degrees;               /* owned, (knot_count); NULL for a path and for a file */
    struct tac_point_cache *cache; /* shared; the file, or NULL; at the first knot the placed mesh stands for it */
    double first_off;              /* m, of a file: how far its first knot is from the placed mesh */
    double axis[3];                /* unit, for a rotation */
    double center[3];              /* m, for a rotation */
    double arm;                    /* m, for a rotation: how far its vertices start from the axis, at most */
};

enum tac_load_kind { TAC_LOAD_FORCE, TAC_LOAD_PRESSURE, TAC_LOAD_WIND, TAC_LOAD_ACCELERATION };

/* A force that the scene prescribes. By its kind it is `force` on every vertex; `pressure` along the normals of
 * triangles, or in 2D on the right-hand side of segments; drag in a `wind`.  A triangle or segment is loaded if all its
 * vertices are.  Force and pressure are times the factor, and so is the wind's velocity. */
struct tac_load {
    enum tac_load_kind kind;
    tac_lid body;
    tac_gid vertex_count; /* how many it selects */
    double force[3];      /* N on each vertex; of an acceleration m/s^2 */
    double pressure;      /* Pa; 2D: N/m */
    double wind[3];       /* m/s */
    double drag;          /* of the wind: the air's density times a coefficient, kg/m^3; 2D: kg/m^2 */
    tac_lid knot_count;   /* 0: the factor is 1 */
    double *knot_t_s;     /* owned, (knot_count), ascending strictly after rounding to quanta */
    double *factor;       /* owned, (knot_count), linear between knots, held before the first and after the last */
};

/* Local. Returns whether the load acts on single vertices. Other loads act on triangles, or on segments in 2D. */
static inline bool tac_load_of_vertices(const struct tac_load *load)
{
    return load->kind == TAC_LOAD_FORCE || load->kind == TAC_LOAD_ACCELERATION;
}

/* The loads of a vertex: `load`, and those of the set `rest`, which all come before it in the scene. */
struct tac_load_set {
    tac_lid load;
    tac_lid rest; /* -1: none */
};

/* The thickness of a pair is at most this part of its distance at the start.  A pair of one mesh uses
 * contact.rest_fraction instead, which may not be larger; scenes from before that key used this value for it, too. */
#define TAC_REST_FRACTION_MOST .9

struct tac_contact_settings {
    double thickness, stiffness, restitution, friction, kinetic, rolling, twisting;
    enum tac_friction_model friction_model;
    tac_lid law_count;           /* 1 + contact.pairs */
    struct tac_contact_law *law; /* owned, (law_count): [0] the scene's, the others by their materials */
    double thickness_exponent, stiffness_exponent;
    double min_period_s;     /* 0: h(1)/2^20 */
    double pairs_per_vertex; /* N_c; 0: chosen from the restitution and valence */
    double rest_fraction; /* of its distance at the start, the most that the thickness of a pair of one mesh may be; of
                           * other pairs TAC_REST_FRACTION_MOST */
    tac_lid ignore_count;
    tac_lid *ignore; /* owned, (ignore_count, 2) body indices that may pass through each other */
};

struct tac_clock_settings {
    enum tac_clock_mode mode;
    double elastic_safety, elastic_s;
    double contact_safety, contact_s; /* contact_s: infinity if none */
    double gravity_s;
    double rigid_s; /* the longest chord of a rigid body, s */
    double turn;    /* and by what angle it turns on a chord at most, rad */
};

/* Settings that only the implicit integrator has (docs/reference/implicit.md). */
struct tac_implicit_settings {
    double step_s;                     /* h */
    enum tac_implicit_scheme scheme;   /* how a step is made of positions, velocities and accelerations */
    double velocity_tol;               /* Newton stops when no vertex would move faster than this, m/s; 0: 1e-2 l / s */
    double force_tol;                  /* and when forces balance to this part of them; 0: not tested */
    int64_t most;                      /* Newton iterations of a step */
    double stiffness;                  /* kappa of the barrier; 0: adaptive */
    enum tac_implicit_weights weights; /* weight of a pair: 1, or the area that it stands for (then kappa is in Pa) */
    double friction_velocity;          /* under it friction is smoothed, m/s; 0: 1e-3 l / s; not of the static scheme */
    double friction_slip;              /* static scheme: under it friction is smoothed in an increment, m; 0: 1e-5 l */
    int64_t lags;                      /* how often the contact forces that friction depends on are updated in a step */
    double solver_tolerance;           /* residual of the linear solver, relative */
    enum tac_implicit_solver solver;
    char solver_options[TAC_SOLVER_OPTIONS]; /* of a solver that has some; else empty */
};

/* Settings that only the integrator for impact has (docs/reference/impact.md). */
struct tac_impact_settings {
    double step_s;                 /* h */
    enum tac_impact_operator kind; /* how bodies that touch bounce */
    double tolerance;              /* of impulses, relative */
    int64_t passes;                /* how often the limits of friction are updated in a support, at most */
    int64_t most;                  /* reflections of an island, but for ten for each of its contacts */
};

struct tac_discovery_settings {
    enum tac_discovery_mode mode;
    double window_s[2];           /* shortest, longest; 0, 0: automatic */
    enum tac_structure structure; /* kds: its broad phase */
    int queue;                    /* kds: how certificates are kept in order, enum tac_queue_kind */
    int64_t kdop;                 /* kds: half-spaces that bound a node: 6, 14, 18, 26 */
    double vagueness;             /* kds: eps of all flight plans, m/s; under 0: chosen per vertex */
};

struct tac_checkpoint_settings {
    double every_s; /* wall time from one to the next */
    double every_t; /* simulated time, s; 0: none */
    int keep;       /* how many of the newest are kept */
};

/* Fields that frames have on request (output.fields). */
enum tac_output_field {
    TAC_OUTPUT_STRAIN,
    TAC_OUTPUT_STRESS,
    TAC_OUTPUT_BENDING,
    TAC_OUTPUT_PLASTIC,
    TAC_OUTPUT_PRESSURE,
    TAC_OUTPUT_RANK,
    TAC_OUTPUT_SPIN,
    TAC_OUTPUT_POSE,
    TAC_OUTPUT_FIELDS
};

enum tac_history_kind {
    TAC_HISTORY_VERTICES, /* positions, velocities and forces of vertices */
    TAC_HISTORY_REACTION, /* the force on those of them that are held, and how far a motion has moved them */
    TAC_HISTORY_FLUX,     /* what has crossed a plane */
    TAC_HISTORY_POSE      /* where a rigid body is, and how it moves and turns */
};
enum tac_history_select { TAC_HISTORY_ALL, TAC_HISTORY_LIST, TAC_HISTORY_BOX };

/* A history: values that are written at an interval of their own. */
struct tac_history {
    char *name; /* owned */
    enum tac_history_kind kind;
    double every_s; /* simulated time; instants are rounded like frames */
    bool each;      /* a row for each vertex, of a pose for each piece; else one row */
    tac_lid body;
    enum tac_history_select select;
    tac_lid index_count;
    tac_lid *index;       /* owned, (index_count): a list, as the scene has it, of numbers within the body */
    double box[2][3];     /* m; of the positions at the start */
    tac_gid vertex_count; /* how many are selected; flux: how many its bodies have; pose: pieces of its body */
    tac_lid flux_count;   /* flux */
    tac_lid *flux_body;   /* owned, (flux_count), as the scene lists them */
    double point[3];      /* flux: a point of the plane, m, and its normal, of any length but 0 */
    double normal[3];
};

struct tac_output_settings {
    unsigned fields;          /* 1 << enum tac_output_field */
    bool contacts, reactions; /* a list of contacts in each frame; reactions.csv */
    tac_lid history_count;
    struct tac_history *history; /* owned */
    int log_count;
    enum tac_log_column log[TAC_LOG_COLUMNS]; /* (log_count): columns of the log, from the left, each at most once */
};

enum { TAC_UNIT_NAME = 32 };

/* The system of units that a scene says it is in (its key `units`); SI without it.  Numbers are never converted. */
struct tac_units {
    bool given;
    double length_m, mass_kg, time_s; /* its units in those of SI */
    char length[TAC_UNIT_NAME], mass[TAC_UNIT_NAME], time[TAC_UNIT_NAME];
    char force[TAC_UNIT_NAME], pressure[TAC_UNIT_NAME], energy[TAC_UNIT_NAME]; /* names of derived ones */
};

/* What the scene file says, with all defaults filled in.  It is read once, is the same on every rank, and lives as long
 * as any scene that shares it: the scene as it was read, and each rank's part of it, one after the other. */
struct tac_settings {
    int users;       /* scenes that share it; the last one that is destroyed frees it */
    char *name;      /* owned; "" if the scene has none */
    char *path;      /* owned; the file it was read from */
    json_t *json;    /* owned; resolved: --set applied, absolute paths, defaults filled in */
    char sha256[65]; /* of all that determines the trajectory, mesh contents included; not end, output, discovery, paths
                      */
    struct {
        unsigned char *value; /* owned, (count, 32): the part of that hash that is of vertices and elements */
        size_t count;         /* 0: not known */
    } row_digest;

    double fastest; /* m/s: a scene in which something moves faster is refused, because it cannot be simulated */
    double end_s, frame_s, quantum_s;
    tac_time t_end; /* quanta; end_s, on the grid of frames where it is within 2^16 quanta of it */
    double gravity[3];
    bool two_d; /* no triangles and every z is 0 */
    struct tac_contact_settings contact;
    struct tac_clock_settings clocks;
    enum tac_integrator_kind integrator;
    struct tac_implicit_settings implicit;
    struct tac_impact_settings impact;
    struct tac_discovery_settings discovery;
    struct tac_checkpoint_settings checkpoint;
    struct tac_output_settings output;

    tac_lid material_count;
    struct tac_material *material; /* owned */
    tac_lid body_count;
    struct tac_body *body; /* owned */
    tac_lid rigid_count;
    struct tac_rigid_body *rigid; /* owned, (rigid_count), by ascending vertex */
    tac_lid joint_count;
    struct tac_joint *joint; /* owned */
    double motor_s;          /* the longest period of motors, s; 0: there are none */
    tac_lid anchor_count;
    struct tac_joint_anchor *anchor; /* owned, by ascending vertex */
    tac_lid motion_count;
    struct tac_motion *motion; /* owned */
    tac_lid load_count;
    struct tac_load *load; /* owned */
    tac_lid load_set_count;
    struct tac_load_set *load_set; /* owned */
    struct tac_units units;
};

/* Returns the place among the rigid ones of a vertex of the scene, which `body` has: that of its piece; -1: the body is
 * not rigid. */
static inline tac_lid tac_rigid_of(const struct tac_settings *s, tac_lid body, tac_gid vertex)
{
    tac_lid low = s->body[body].rigid, high = low + s->body[body].piece_count;
    while (high - low > 1) {
        const tac_lid middle = low + (high - low) / 2;
        if (s->rigid[middle].vertex_begin <= vertex)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Vertices that a motion moves. */
struct tac_moved {
    tac_lid vertex_count;
    tac_lid *vertex; /* owned, ascending ids in the mesh */
};

/* The placed mesh of a scene, or of one rank's part of it, which grows as ghosts come.  The geometry is the rest shape
 * and the start positions.  (The mesh of all ranks together, between one partition and the next, is struct
 * tac_pieces of src/partition.) */
struct tac_local_mesh {
    tac_lid vertex_count;
    double *x;            /* owned, (V, 3), m */
    double *v;            /* owned, (V, 3), m/s; 0 for vertices that are never free */
    double *mass;         /* owned, (V), kg, > 0 for every vertex that can ever be free; 0 for fixed and for scripted
                             vertices without mass */
    uint8_t *ever_free;   /* owned, (V): 1 if the vertex is free at some time */
    tac_lid *vertex_body; /* owned, (V) */
    tac_lid *vertex_load; /* owned, (V): the set of loads on it, or -1; NULL in a scene without loads */
    tac_lid triangle_count;
    tac_lid *triangle; /* owned, (T, 3) vertex ids of this mesh */
    tac_lid segment_count;
    tac_lid *segment; /* owned, (S, 2) vertex ids of this mesh */
    tac_lid tetrahedron_count;
    tac_lid *tetrahedron;          /* owned, (K, 4) vertex ids of this mesh; NULL where there are none */
    struct tac_topology *topology; /* owned, of all triangles and segments */
    tac_lid moved_count;           /* as many as there are motions */
    struct tac_moved *moved;       /* owned, (moved_count): of a rank's part, the vertices that the rank owns */
    tac_lid *joint_point;  /* owned, (joints, 2, 3): the local numbers of their points, -1: not here; NULL in the
                              mesh of a whole scene, whose numbers are the ids */
    struct tac_flat *flat; /* owned, (V): where surfaces that keep their shape are flat; NULL: not
                              computed, or nowhere */
    struct tac_part *part; /* owned; NULL: this is the mesh of the whole scene. Else of one rank */
};

/* A scene: its settings, and its mesh or one rank's part of the mesh. */
struct tac_scene {
    struct tac_settings *settings; /* shared */
    struct tac_local_mesh *mesh;   /* owned */
};

/* Local. Makes an empty scene, which has settings of its own (`settings` NULL) or shares the given ones. TAC_ERR_RUN:
 * out of memory. */
enum tac_err tac_scene_make(struct tac_ctx *ctx, struct tac_settings *settings, struct tac_scene **out);

/* Where a scene comes from: a file, or a text in memory. */
struct tac_scene_source {
    const char *path;       /* the scene's file; NULL: the text */
    const char *text;       /* JSON; the same on all ranks */
    const char *folder;     /* relative paths in `text` start here; NULL: in the current folder */
    const char *const *set; /* (set_count) strings "path=value", applied before anything is looked at */
    int set_count;
};

/* Collective. Reads and validates.  `set` are (set_count) strings "path=value".  TAC_ERR_INPUT: the scene is wrong; one
 * sentence tells the JSON path, or the line and column. */
enum tac_err tac_scene_read(struct tac_ctx *ctx, const char *path, const char *const *set, int set_count,
                            struct tac_scene **out);
/* Collective. Does the same with a JSON text. Relative paths in it start at `folder` (NULL: the current folder). */
enum tac_err tac_scene_parse(struct tac_ctx *ctx, const char *text, const char *folder, const char *const *set,
                             int set_count, struct tac_scene **out);
/* Collective. Does the same with a file or a text. */
enum tac_err tac_scene_source_read(struct tac_ctx *ctx, const struct tac_scene_source *source, struct tac_scene **out);
void tac_scene_destroy(struct tac_scene **scene);

/* The geometry of a whole scene, from a checkpoint. All pointers are borrowed. */
struct tac_geometry {
    tac_gid vertex_count, triangle_count, segment_count, tetrahedron_count;
    /* If a scene is read in pieces, each rank has only here[] rows of the vertices, triangles, segments and tetrahedra,
     * from row first[] on; rows ascend with the ranks. Otherwise each rank has all rows, and these two are not used.
     */
    tac_gid first[4], here[4];
    const double *x;            /* (V, 3) start positions, m */
    const double *mass;         /* (V), kg, to be compared with the scene's; NULL: they are not */
    const tac_gid *triangle;    /* (T, 3) */
    const tac_gid *segment;     /* (S, 2) */
    const tac_gid *tetrahedron; /* (K, 4) */
};

/* Local. Returns the names of the units, {"length": "mm", ..., "force": "N", ...}, for readers of runs; NULL where the
 * scene does not tell its units.  New reference. */
json_t *tac_units_json(const struct tac_units *units);

/* Local. Returns what a checkpoint keeps of a scene: its resolved JSON and, under the key "geometry", which no scene
 * file may have, how many vertices, triangles and segments each body has.  New reference; NULL: out of memory. */
json_t *tac_scene_stored_json(const struct tac_scene *scene);

/* Collective. Makes the scene with which a run goes on from a checkpoint, the same to the last bit as tac_scene_read()
 * made it for that run. `path` NULL: the scene that is stored in the checkpoint; no mesh is read or made.  Else the
 * scene file `path`, which must be the same scene: its meshes are made and compared. For mesh files that are gone the
 * checkpoint's geometry is used, with a warning.  `set` is applied to either.  TAC_ERR_INPUT, naming the key and both
 * values, if something differs that the hash covers (not end, frame, output, discovery, names, paths).  stored: what
 * tac_scene_stored_json() gave. stored_sha256 NULL: hashes are not compared. */
enum tac_err tac_scene_resume(struct tac_ctx *ctx, const char *path, const char *const *set, int set_count,
                              const json_t *stored, const char *stored_sha256, const struct tac_geometry *geometry,
                              struct tac_scene **out);

/* Local. Ends the run of the scene at t_s [s] (--until).  The scene's JSON stays as it is, so a later restart goes on
 * to the scene's own end. TAC_ERR_INPUT as for time.end. */
enum tac_err tac_scene_until(struct tac_ctx *ctx, struct tac_scene *scene, double t_s);

/* Local. Returns a typical step, s: the shortest of clocks.gravity_s, clocks.elastic_s and time.frame. */
double tac_scene_step(const struct tac_scene *scene);

/* Local. Returns the contact law of the bodies a and b: that of contact.pairs, or else the scene's. */
const struct tac_contact_law *tac_scene_law(const struct tac_scene *scene, tac_lid a, tac_lid b);

/* Local. Returns the kinds of histories that the scene asks for: 1 << enum tac_history_kind. */
unsigned tac_scene_history_kinds(const struct tac_scene *scene);

/* Local. Returns the body of a vertex, which is given by its id in the scene. */
tac_lid tac_scene_body_of(const struct tac_scene *scene, tac_gid vertex);

/* Local. Returns the next load that all n vertices have, from the last one of the scene to the first; -1: there are no
 * more. set (n): the load sets of the vertices (vertex_load), which each call advances. */
tac_lid tac_load_next(const struct tac_scene *scene, tac_lid *set, int n);

/* Local. Returns t_s [s] in quanta, rounded to the nearest, halves away from zero; +-TAC_TIME_NEVER beyond 2^53 quanta.
 * Motion knots are due at tac_scene_quanta(scene, knot_t_s[k]). */
tac_time tac_scene_quanta(const struct tac_scene *scene, double t_s);

/* Local. Computes where a motion puts a vertex at t [quanta], if the path of the vertex starts at `origin` (3, m).
 * After the last knot of a motion that releases, the last piece goes on. */
void tac_motion_place(const struct tac_scene *scene, const struct tac_motion *motion, const double origin[3],
                      tac_time t, double x[3]);

/* Where a motion is in its knots: at knot `from`, or at this share of the distance from it to the next one. */
struct tac_motion_at {
    bool before; /* the first knot */
    tac_lid from;
    double share;
};
/* Local. */
struct tac_motion_at tac_motion_find(const struct tac_scene *scene, const struct tac_motion *motion, tac_time t);
/* Local. Rows of a motion's file: those of its vertices that are in scene->mesh->moved, in their order, whose ids in
 * the scene are `id`.  ahead_s: within how much time knots are asked for together, s. */
struct tac_knot_rows;
enum tac_err tac_motion_rows(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_motion *motion,
                             size_t count, const tac_gid *id, double ahead_s, struct tac_knot_rows **out);
/* Local. x (3): where the file puts row i, whose path starts at `origin` (3, m).  After a failure, which rows->err
 * tells, it stays there. */
void tac_motion_place_row(struct tac_knot_rows *rows, const struct tac_motion_at *at, size_t i, const double origin[3],
                          double x[3]);

/* Local. Returns k times every_s [s], computed with every_s as it is written in decimal (30 times 0.02 is 0.6), rounded
 * to the nearest multiple of 2^16 quanta, halves up; TAC_TIME_NEVER far beyond 2^53 quanta; 0 for k <= 0.  If every_s
 * is less than 2^16 quanta, 2^16 quanta are used. */
tac_time tac_scene_grid(const struct tac_scene *scene, double every_s, int64_t k);

/* Local. Returns the time of frame k in quanta: tac_scene_grid() of `frame`, never past the end.  The end itself lies
 * on that grid if it is within 2^16 quanta of it. */
tac_time tac_scene_frame_time(const struct tac_scene *scene, int64_t k);

#ifdef __cplusplus
}
#endif
#endif
