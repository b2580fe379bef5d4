/* Every writer's files come back to the last bit (STL: to the last bit of single precision), whatever the mesh; nothing
 * half-written stays behind; what a format cannot hold is refused. */
#include "support.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "mesh_round_trip_XXXXXX";

static const char *inside(const char *name)
{
    static char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static struct tac_mesh *read_back(const char *name)
{
    struct tac_mesh *mesh = NULL;
    ctx.error[0] = '\0';
    CHECK(tac_mesh_read(&ctx, inside(name), &mesh) == TAC_OK && mesh != NULL, "%s", ctx.error);
    return mesh;
}

static void write_it(const struct tac_mesh *mesh, const char *name)
{
    ctx.error[0] = '\0';
    CHECK(tac_mesh_write(&ctx, mesh, inside(name)) == TAC_OK, "%s", ctx.error);
}

static bool same_elements(const struct tac_mesh *a, const struct tac_mesh *b)
{
    return a->triangle_count == b->triangle_count && a->segment_count == b->segment_count &&
           memcmp(a->triangle, b->triangle, 3 * sizeof(tac_lid) * (size_t)a->triangle_count) == 0 &&
           memcmp(a->segment, b->segment, 2 * sizeof(tac_lid) * (size_t)a->segment_count) == 0;
}

static bool same(const struct tac_mesh *a, const struct tac_mesh *b)
{
    return a->vertex_count == b->vertex_count &&
           memcmp(a->x, b->x, 3 * sizeof(double) * (size_t)a->vertex_count) == 0 && same_elements(a, b);
}

static void check_exact(const char *text)
{
    static const char *const names[] = {"a.obj", "a.ply", "a.h5", "a.PLY"};
    struct tac_mesh *mesh = make(text);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        write_it(mesh, names[i]);
        struct tac_mesh *back = read_back(names[i]);
        CHECK(same(mesh, back), "%s as %s", text, names[i]);
        /* The same file again through the scene's two ways. */
        char spec[500];
        snprintf(spec, sizeof spec, "{'kind':'file','path':'%s'}", inside(names[i]));
        struct tac_mesh *again = make(spec);
        CHECK(same(mesh, again), "%s as %s", text, names[i]);
        tac_mesh_destroy(&again);
        snprintf(spec, sizeof spec, "{'kind':'points','path':'%s'}", inside(names[i]));
        again = make(spec);
        CHECK(again->vertex_count == mesh->vertex_count && again->triangle_count + again->segment_count == 0 &&
                  memcmp(again->x, mesh->x, 3 * sizeof(double) * (size_t)mesh->vertex_count) == 0,
              "%s as points of %s", text, names[i]);
        tac_mesh_destroy(&again);
        tac_mesh_destroy(&back);
    }
    tac_mesh_destroy(&mesh);
}

static void check_stl(const char *text)
{
    struct tac_mesh *mesh = make(text);
    write_it(mesh, "a.stl");
    struct tac_mesh *back = read_back("a.stl");
    CHECK(back->triangle_count == mesh->triangle_count && back->vertex_count == mesh->vertex_count, "%s", text);
    for (int64_t k = 0; k < 3 * (int64_t)mesh->triangle_count; k++)
        for (int c = 0; c < 3; c++)
            CHECK((double)(float)mesh->x[3 * mesh->triangle[k] + c] == back->x[3 * back->triangle[k] + c], "%s", text);
    /* Once single, for ever the same. */
    write_it(back, "b.stl");
    struct tac_mesh *twice = read_back("b.stl");
    CHECK(same(back, twice), "%s", text);
    tac_mesh_destroy(&twice);
    tac_mesh_destroy(&back);
    tac_mesh_destroy(&mesh);
}

static void check_refused(const struct tac_mesh *mesh, const char *path, enum tac_err code, const char *sentence)
{
    ctx.error[0] = '\0';
    const enum tac_err err = tac_mesh_write(&ctx, mesh, path);
    CHECK(err == code && strstr(ctx.error, sentence) != NULL && strstr(ctx.error, path) != NULL, "%d %s", err,
          ctx.error);
}

static void check_all_refused(void)
{
    struct tac_mesh *mesh = make("{'kind':'sphere','radius':1}");
    struct tac_mesh *chain = make("{'kind':'segments','from':[0,0,0],'to':[1,0,0]}");
    struct tac_mesh *points = make("{'kind':'points','vertices':[[0,0,0]]}");
    struct tac_mesh *fine =
        make("{'kind':'inline','vertices':[[1,0,0],[1.000000001,0,0],[0,1,0]],'triangles':[[0,1,2]]}");
    struct tac_mesh *huge = make("{'kind':'sphere','radius':1e50}");
    check_refused(mesh, inside("a.vtk"), TAC_ERR_INPUT, "must end in .obj, .ply, .stl, .msh or .h5");
    check_refused(mesh, inside("obj"), TAC_ERR_INPUT, "must end in .obj, .ply, .stl, .msh or .h5");
    check_refused(mesh, inside("none/a.obj"), TAC_ERR_INPUT, "cannot be made: No such file or directory");
    check_refused(mesh, inside("none/a.h5"), TAC_ERR_INPUT, "cannot be made: No such file or directory");
    check_refused(chain, inside("c.stl"), TAC_ERR_INPUT, "holds triangles only, and this mesh has segments");
    check_refused(points, inside("c.stl"), TAC_ERR_INPUT, "holds triangles only, and this mesh has none");
    check_refused(fine, inside("c.stl"), TAC_ERR_INPUT, "two corners of triangle 0 are the same");
    check_refused(huge, inside("c.stl"), TAC_ERR_INPUT, "STL has single precision, and ");
    CHECK(mkdir(inside("folder.obj"), 0777) == 0);
    check_refused(mesh, inside("folder.obj"), TAC_ERR_INPUT, "cannot be made: Is a directory");
    /* A disk that is full: every write to it fails, and only at the end. */
    if (access("/dev/full", W_OK) == 0 && symlink("/dev/full", inside("full")) == 0) {
        char partial[450];
        static const char *const names[] = {"x.obj", "x.ply", "x.stl"};
        for (int i = 0; i < 3; i++) {
            snprintf(partial, sizeof partial, "%s.partial-%ld", inside(names[i]), (long)getpid());
            CHECK(symlink("/dev/full", partial) == 0);
            check_refused(mesh, inside(names[i]), TAC_ERR_RUN, "cannot be written: No space left on device");
            CHECK(access(inside(names[i]), F_OK) != 0 && access(partial, F_OK) != 0, "nothing stays behind");
        }
        unlink(inside("full"));
    }
    rmdir(inside("folder.obj"));
    tac_mesh_destroy(&mesh);
    tac_mesh_destroy(&chain);
    tac_mesh_destroy(&points);
    tac_mesh_destroy(&fine);
    tac_mesh_destroy(&huge);
}

/* Only finished files under their own names are in the folder; removes them all. */
static void check_folder(void)
{
    static const char *const expected[] = {"a.obj", "a.ply", "a.PLY", "a.h5", "a.stl", "b.stl"};
    DIR *dir = opendir(folder);
    int found = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        bool known = entry->d_name[0] == '.';
        for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
            const bool match = strcmp(entry->d_name, expected[i]) == 0;
            found += match;
            known = known || match;
        }
        CHECK(known, "%s is left behind", entry->d_name);
        unlink(inside(entry->d_name));
    }
    closedir(dir);
    CHECK(found == 6, "%d files", found);
    CHECK(rmdir(folder) == 0);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    tac_ctx_init(&ctx, MPI_COMM_WORLD);
    if (mkdtemp(folder) == NULL)
        abort();
    check_exact("{'kind':'sphere','radius':0.1,'level':3}");
    check_exact("{'kind':'torus','radii':[1e-30,3e-31],'cells':[7,5]}");
    check_exact("{'kind':'cone','radius':1e60,'height':2e60,'cells':[5,3],'closed':true}");
    check_exact("{'kind':'segments','from':[0.1,0.2,0.3],'to':[1,2,0.7],'cells':7}");
    check_exact("{'kind':'points','lattice':{'count':[3,2,2],'spacing':0.3}}");
    check_exact("{'kind':'inline','vertices':[[0.1,0.7,1e-5],[1,0,0],[0,1,0],[3,3,3]],'triangles':[[0,1,2]],"
                "'edges':[[2,3],[0,3]]}");
    check_stl("{'kind':'sphere','radius':0.1,'level':3}");
    check_stl("{'kind':'spikes','size':[3,4],'count':[3,2],'height':2,'base':0.3}");
    check_all_refused();
    check_folder();
    MPI_Finalize();
    return check_result();
}
