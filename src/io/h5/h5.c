/* h5.c: opens HDF5 files, reads rows and text attributes, and describes the reason of a failure. */
#include "io/h5/h5.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/process.h>
#include <unistd.h>

void tac_hdf5_leave(void)
{
    H5dont_atexit();
}

void tac_h5_quiet(struct tac_h5_quiet *saved)
{
    H5Eget_auto2(H5E_DEFAULT, &saved->print, &saved->data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5Eclear2(H5E_DEFAULT);
}

void tac_h5_restore(const struct tac_h5_quiet *saved)
{
    H5Eclear2(H5E_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, saved->print, saved->data);
}

struct reason {
    char *text;
    size_t size;
    bool memory;
};

static herr_t keep_innermost(unsigned n, const H5E_error2_t *error, void *data)
{
    struct reason *reason = data;
    if (error->desc != NULL && error->desc[0] != '\0')
        snprintf(reason->text, reason->size, "%s", error->desc);
    reason->memory = error->maj_num == H5E_RESOURCE;
    return 1; /* the walk begins at the innermost: stop */
}

bool tac_h5_reason(char *text, size_t size)
{
    struct reason reason = {text, size, false};
    snprintf(text, size, "unknown reason");
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, &reason);
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    return reason.memory;
}

bool tac_h5_is(const char *path)
{
    static const unsigned char magic[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    unsigned char head[8];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, head, sizeof head);
    close(fd);
    return n == (ssize_t)sizeof head && memcmp(head, magic, sizeof head) == 0;
}

hid_t tac_h5_open_read(const char *path)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
#if H5_VERSION_GE(1, 10, 7)
    if (access >= 0)
        H5Pset_file_locking(access, false, true);
#endif
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, access >= 0 ? access : H5P_DEFAULT);
    if (access >= 0)
        H5Pclose(access);
    return file;
}

bool tac_h5_read_rows(hid_t dataset, hid_t type, int columns, int64_t begin, int64_t count, void *data)
{
    const hsize_t from[2] = {(hsize_t)begin, 0}, size[2] = {(hsize_t)count, (hsize_t)columns};
    if (count == 0)
        return true;
    hid_t space = H5Dget_space(dataset), memory = H5Screate_simple(columns > 0 ? 2 : 1, size, NULL);
    bool ok = space >= 0 && memory >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, size, NULL) >= 0 &&
              H5Dread(dataset, type, memory, space, H5P_DEFAULT, data) >= 0;
    if (space >= 0)
        H5Sclose(space);
    if (memory >= 0)
        H5Sclose(memory);
    return ok;
}

bool tac_h5_put_attribute(hid_t object, const char *name, hid_t type, hid_t space, const void *value)
{
    const hid_t id = space >= 0 ? H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT) : (hid_t)-1;
    bool ok = id >= 0 && H5Awrite(id, type, value) >= 0;
    if (id >= 0)
        ok = H5Aclose(id) >= 0 && ok;
    if (space >= 0)
        H5Sclose(space);
    return ok;
}

bool tac_h5_put_text(hid_t object, const char *name, const char *value)
{
    enum { LONGEST = 4096 }; /* an object header holds 64 KiB of attributes */
    size_t length = strlen(value);
    if (length > LONGEST)
        for (length = LONGEST; length > 0 && ((unsigned char)value[length] & 0xC0) == 0x80;)
            length--; /* between characters of UTF-8 */
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR), attribute = -1;
    bool ok = type >= 0 && space >= 0 && H5Tset_size(type, length > 0 ? length : 1) >= 0 &&
              H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0;
    if (ok)
        attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    ok = ok && attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
    if (attribute >= 0)
        ok = H5Aclose(attribute) >= 0 && ok;
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    return ok;
}

static bool read_variable(hid_t attribute, char *value, size_t size)
{
    char *text = NULL;
    hid_t memory = H5Tcopy(H5T_C_S1);
    bool ok = memory >= 0 && H5Tset_size(memory, H5T_VARIABLE) >= 0 && H5Tset_cset(memory, H5T_CSET_UTF8) >= 0 &&
              H5Aread(attribute, memory, &text) >= 0 && text != NULL;
    if (ok)
        snprintf(value, size, "%s", text);
    if (text != NULL)
        H5free_memory(text);
    if (memory >= 0)
        H5Tclose(memory);
    return ok;
}

bool tac_h5_get_text(hid_t object, const char *name, char *value, size_t size)
{
    bool ok = false;
    char *text = NULL;
    hid_t attribute = -1, type = -1, space = -1;
    value[0] = '\0';
    if (H5Aexists(object, name) <= 0 || (attribute = H5Aopen(object, name, H5P_DEFAULT)) < 0)
        return false;
    type = H5Aget_type(attribute);
    space = H5Aget_space(attribute);
    if (type < 0 || space < 0 || H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1)
        goto done;
    if (H5Tis_variable_str(type) > 0) {
        ok = read_variable(attribute, value, size);
        goto done;
    }
    size_t length = H5Tget_size(type);
    if (length == 0 || length > 65536 || (text = calloc(length + 1, 1)) == NULL)
        goto done;
    ok = H5Aread(attribute, type, text) >= 0;
    if (ok)
        snprintf(value, size, "%s", text);
done:
    free(text);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    H5Aclose(attribute);
    return ok;
}

bool tac_h5_get_text_if_any(hid_t object, const char *name, char *value, size_t size)
{
    value[0] = '\0';
    return H5Aexists(object, name) == 0 || tac_h5_get_text(object, name, value, size);
}
