"""What the package uses of the C library, written as in its headers, and turned into ctypes.

The tables below are the only declarations.  A test compiles them against the headers (tests/system/python/headers.py): every
prototype, every field with its type and place, and every constant.  So a header that changes cannot silently break
the package.
"""
import ctypes
import re

VERSION = "0.1"  # TAC_VERSION without its last number: the library's soname

HEADERS = ["tactus/base.h", "tactus/check.h", "tactus/contact.h", "tactus/counters.h", "tactus/mesh.h",
           "tactus/process.h", "tactus/scene.h", "tactus/simulation.h", "jansson.h"]

CONSTANTS = {
    "TAC_OK": 0, "TAC_ERR_NO": 1, "TAC_ERR_INPUT": 2, "TAC_ERR_RUN": 3, "TAC_ERR_STOPPED": 75,
    "TAC_CONTACT_VERTEX_TRIANGLE": 0, "TAC_CONTACT_EDGE_EDGE": 1, "TAC_CONTACT_VERTEX_SEGMENT": 2,
    "TAC_CONTACT_VERTEX_VERTEX": 3,
}

# A struct's fields in their order (a.b: b of the struct a in it).  "..." at the end: the struct goes on, the library alone makes it, and these are
# its first fields.
STRUCTS = {
    "tac_ctx": """MPI_Comm comm; int rank; int size; bool quiet; char error[2048]; int warnings; pointer warned;
                  pointer warned_user; bool torn; pointer added_elements; double hooks.patience_s; double hooks.lock_s;
                  double hooks.skin; int hooks.rough; int64_t hooks.spill_bytes; int64_t hooks.giant;
                  int64_t hooks.spread_from; uint64_t hooks.migrate; uint64_t hooks.delay_seed; int hooks.delay_us; int hooks.fail_rank;
                  long hooks.fail_nth; bool hooks.distributes_small; bool hooks.everyone;""",
    "tac_scene_source": "pointer path; pointer text; pointer folder; pointer set; int set_count;",
    "tac_pilot_options": "double seconds; double until_s; pointer restart; pointer go_on; pointer user;",
    "tac_settings": """int users; pointer name; pointer path; pointer json; char sha256[65]; pointer row_digest.value;
                       size_t row_digest.count; double fastest; double end_s; double frame_s; double quantum_s; ...""",
    "tac_local_mesh": """tac_lid vertex_count; pointer x; pointer v; pointer mass; pointer ever_free;
                         pointer vertex_body; pointer vertex_load; tac_lid triangle_count; pointer triangle;
                         tac_lid segment_count; pointer segment; ...""",
    "tac_scene": "pointer settings; pointer mesh;",
    "tac_mesh": """tac_lid vertex_count; pointer x; tac_lid triangle_count; pointer triangle; tac_lid segment_count;
                   pointer segment; tac_lid tetrahedron_count; pointer tetrahedron;""",
    "tac_contact": """enum tac_contact_kind kind; tac_gid primitive[2]; tac_lid body[2]; int vertex_count;
                      int first_count; tac_gid vertex[4]; double place[3]; double normal[3]; double gap;
                      double force; double weight[4];""",
    "tac_energy_row": """double time_s; double kinetic; double gravity; double stretch; double bend; double contact;
                         double total; double dissipated; double work; double defect; double momentum[3];
                         double angular_momentum[3]; double friction_couple[3]; int64_t contacts;
                         int64_t deepest_layer; double min_distance; double lost_friction; double lost_restitution;
                         double lost_damping; double lost_plasticity;""",
}

PROTOTYPES = {
    "tac_version": "const char * (void)",
    "tac_ctx_init": "void (struct tac_ctx *, MPI_Comm)",
    "tac_agree": "enum tac_err (struct tac_ctx *, enum tac_err)",
    "tac_mpi_begin": "enum tac_err (struct tac_ctx *, bool *)",
    "tac_mpi_end": "void (bool)",
    "tac_scene_parse": "enum tac_err (struct tac_ctx *, const char *, const char *, const char *const *, int, "
                       "struct tac_scene **)",
    "tac_scene_read": "enum tac_err (struct tac_ctx *, const char *, const char *const *, int, struct tac_scene **)",
    "tac_scene_destroy": "void (struct tac_scene **)",
    "tac_scene_stored_json": "json_t * (const struct tac_scene *)",
    "tac_scene_frame_time": "tac_time (const struct tac_scene *, int64_t)",
    "tac_check_describe": "enum tac_err (struct tac_ctx *, const struct tac_scene *, json_t *, FILE *)",
    "tac_check_engine": "enum tac_err (struct tac_ctx *, const struct tac_scene *, const char *, json_t *, FILE *)",
    "tac_check_exempt": "enum tac_err (struct tac_ctx *, const struct tac_scene *, json_t *, FILE *)",
    "tac_check_forecast": "enum tac_err (struct tac_ctx *, const struct tac_scene *, const struct tac_pilot *, json_t *, "
                          "FILE *)",
    "tac_pilot_run": "enum tac_err (struct tac_ctx *, const struct tac_scene_source *, "
                     "const struct tac_pilot_options *, struct tac_pilot **)",
    "tac_pilot_destroy": "void (struct tac_pilot **)",
    "tac_mesh_create": "enum tac_err (struct tac_ctx *, const json_t *, const char *, const char *, "
                       "struct tac_mesh **)",
    "tac_mesh_destroy": "void (struct tac_mesh **)",
    "tac_simulation_create": "enum tac_err (struct tac_ctx *, const struct tac_scene_source *, "
                             "struct tac_simulation **)",
    "tac_simulation_restore": "enum tac_err (struct tac_ctx *, const char *, const struct tac_scene_source *, "
                              "struct tac_simulation **)",
    "tac_simulation_destroy": "void (struct tac_simulation **)",
    "tac_simulation_advance": "enum tac_err (struct tac_simulation *, double)",
    "tac_simulation_time": "double (const struct tac_simulation *)",
    "tac_simulation_watch": "void (struct tac_simulation *, bool (*)(void *), void *)",
    "tac_simulation_vertices": "tac_lid (const struct tac_simulation *)",
    "tac_simulation_copy": "enum tac_err (struct tac_simulation *, tac_lid, tac_gid *, double *, double *)",
    "tac_simulation_scene": "const struct tac_scene * (const struct tac_simulation *)",
    "tac_simulation_contacts": "enum tac_err (struct tac_simulation *, const struct tac_contact **, size_t *)",
    "tac_simulation_energy": "enum tac_err (struct tac_simulation *, struct tac_energy_row *)",
    "tac_simulation_set_control": "enum tac_err (struct tac_simulation *, const char *)",
    "tac_simulation_save": "enum tac_err (struct tac_simulation *, const char *, char *, size_t)",
    "json_object": "json_t * (void)",
    "json_loads": "json_t * (const char *, size_t, json_error_t *)",
    "json_dumps": "char * (const json_t *, size_t)",
    "json_delete": "void (json_t *)",
    "MPI_Comm_dup": "int (MPI_Comm, MPI_Comm *)",
    "MPI_Comm_free": "int (MPI_Comm *)",
    "MPI_Initialized": "int (int *)",
    "MPI_Finalized": "int (int *)",
    "MPI_Get_library_version": "int (char *, int *)",
}

# Structs with a "pointer" by these names in C; all other pointers are passed as addresses.
WATCHER = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p)
WARNED = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)

SCALARS = {
    "void": None, "bool": ctypes.c_bool, "char": ctypes.c_char, "int": ctypes.c_int, "double": ctypes.c_double,
    "size_t": ctypes.c_size_t, "long": ctypes.c_long, "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64, "tac_lid": ctypes.c_int32, "tac_gid": ctypes.c_int64,
    "tac_time": ctypes.c_int64, "pointer": ctypes.c_void_p,
}


def scalar(name, mpi_comm):
    """The ctypes type of a C type that is no pointer; mpi_comm: that of MPI_Comm in this MPI library."""
    if name == "MPI_Comm":
        return mpi_comm
    if name.startswith("enum "):
        return ctypes.c_int
    return SCALARS[name]


def fields(text):
    """(type, name, count or None) of each field of a struct's text, without the "..."."""
    for part in filter(None, (" ".join(p.split()) for p in text.split(";"))):
        match = re.fullmatch(r"((?:enum )?\w+) ([\w.]+)(?:\[(\d+)\])?", part)
        if match:
            yield match[1], match[2], int(match[3]) if match[3] else None
        elif part != "...":
            raise ValueError(part)


def structs(mpi_comm):
    """{name: ctypes.Structure} of STRUCTS."""
    made = {}
    for name, text in STRUCTS.items():
        members = []
        for kind, field, count in fields(text):
            base = scalar(kind, mpi_comm)
            members.append((field.replace(".", "_"), base * count if count else base))
        made[name] = type(name, (ctypes.Structure,), {"_fields_": members})
    return made


def split_prototype(text):
    """(result, [arguments]) of a prototype."""
    result, arguments = re.fullmatch(r"(.*?) ?\((.*)\)", text).groups()
    parts = re.split(r", (?![^(]*\)\()", arguments)
    return result.strip(), [] if parts == ["void"] else parts


def argument(text, mpi_comm):
    if "(*)" in text:
        return WATCHER
    if text == "const char *":
        return ctypes.c_char_p
    if "*" in text:
        return ctypes.c_void_p
    return scalar(text, mpi_comm)


def declare(library, mpi_comm):
    """Gives every function of PROTOTYPES its types; AttributeError names one that the library does not have."""
    for name, text in PROTOTYPES.items():
        function = getattr(library, name)
        result, arguments = split_prototype(text)
        # An owned string is an address, which is to be freed; a constant one is its text.
        function.restype = (ctypes.c_char_p if result == "const char *" else ctypes.c_void_p if "*" in result
                            else scalar(result, mpi_comm))
        function.argtypes = [argument(a, mpi_comm) for a in arguments]
