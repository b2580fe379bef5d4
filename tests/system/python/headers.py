#!/usr/bin/python3
"""headers.py CC FLAGS...: the declarations of the Python package are those of the C headers.

A C program is made of the tables in tactus/_c.py and compiled against the headers: prototypes are compatible, fields have their types and
places, structs their sizes, constants their values; and what ctypes makes of the tables has the same sizes and places.  If it failed, the
package would call functions with wrong arguments, and crash or compute nonsense.
"""
import ctypes
import os
import re
import subprocess
import sys
import tempfile

from common import SOURCE, end, expect

sys.path.insert(0, os.path.join(SOURCE, "src/python"))
from tactus import _c  # noqa: E402


def source(prototypes, structs, constants):
    """The C program, which prints "struct field offset size" and "struct - 0 size"."""
    lines = ["#include <stdio.h>"] + [f"#include <{name}>" for name in _c.HEADERS]
    same = "_Static_assert(__builtin_types_compatible_p(%s, %s), \"%s\");"
    for name, text in prototypes.items():
        result, arguments = _c.split_prototype(text)
        arguments = ["bool (*)(void *)" if "(*)" in a else a for a in arguments]
        pointer = f"{result} (*)({', '.join(arguments) or 'void'})"
        lines.append(same % (f"__typeof__(&{name})", pointer, f"{name}: {text}"))
    for name, value in constants.items():
        lines.append(f"_Static_assert({name} == {value}, \"{name}\");")
    lines.append("int main(void) {")
    for name, text in structs.items():
        for kind, field, count in _c.fields(text):
            member = f"((struct {name} *)0)->{field}"
            if kind == "pointer":
                lines.append(f"_Static_assert(__builtin_classify_type({member}) == 5, \"{name}.{field} is a pointer\");")
            else:
                lines.append(same % (f"__typeof__({member})", f"{kind}[{count}]" if count else kind, f"{name}.{field}"))
            lines.append(f'printf("{name} {field} %zu %zu\\n", offsetof(struct {name}, {field}), sizeof({member}));')
        if "..." not in text:
            lines.append(f'printf("{name} - 0 %zu\\n", sizeof(struct {name}));')
    return "\n".join([*lines, "return 0; }"])


def compiles(text, cc, flags, folder):
    path = os.path.join(folder, "declared.c")
    with open(path, "w") as file:
        file.write(text)
    done = subprocess.run([cc, "-std=c11", "-Werror", path, "-o", path[:-2], *flags], capture_output=True, text=True)
    return done.returncode == 0, done.stderr


def main():
    cc, *flags = sys.argv[1:]
    flags = [flag for part in flags for flag in part.split(";") if flag]
    with tempfile.TemporaryDirectory() as folder:
        good, reported = compiles(source(_c.PROTOTYPES, _c.STRUCTS, _c.CONSTANTS), cc, flags, folder)
        if not good:
            sys.exit("the declarations of _c.py are not those of the headers:\n" + reported)
        out = subprocess.run([os.path.join(folder, "declared")], capture_output=True, text=True, check=True).stdout
        communicator = re.search(r"tac_ctx comm 0 (\d+)", out)[1]
        made = _c.structs({"8": ctypes.c_void_p, "4": ctypes.c_int}[communicator])
        rows = [line.split() for line in out.splitlines()]
        for name, field, offset, size in rows:
            if field == "-":
                expect(ctypes.sizeof(made[name]) == int(size), f"struct {name} has {size} bytes, and {ctypes.sizeof(made[name])} in Python")
            else:
                mine = getattr(made[name], field.replace(".", "_"))
                expect((mine.offset, mine.size) == (int(offset), int(size)), f"{name}.{field} is at {offset} ({size} bytes), and at {mine.offset} ({mine.size}) in Python")
        expect(len(rows) > 60 and len(_c.PROTOTYPES) > 30, "too little is declared for this test to mean anything")

        # What is wrong is seen: each of these has one thing wrong.
        for change in ({"tac_simulation_time": "float (const struct tac_simulation *)"}, {"tac_simulation_advance": "enum tac_err (struct tac_simulation *, float)"},
                       {"tac_simulation_copy": "enum tac_err (struct tac_simulation *, tac_gid, tac_gid *, double *, double *)"}, {"tac_no_such": "void (void)"}):
            expect(not compiles(source(change, {}, {}), cc, flags, folder)[0], f"a wrong prototype is taken: {change}")
        for change in ({"tac_contact": "int kind; tac_lid primitive[2];"}, {"tac_contact": "enum tac_contact_kind kind; tac_gid primitive[3];"},
                       {"tac_scene": "pointer no_such;"}, {"tac_ctx": "pointer rank;"}):
            expect(not compiles(source({}, change, {}), cc, flags, folder)[0], f"a wrong field is taken: {change}")
        expect(not compiles(source({}, {}, {"TAC_ERR_RUN": 4}), cc, flags, folder)[0], "a wrong constant is taken")

    # The version is that of the headers, of CMake and of the wheel.
    with open(os.path.join(SOURCE, "include/tactus/base.h")) as file:
        version = re.search(r'TAC_VERSION "([\d.]+)"', file.read())[1]
    with open(os.path.join(SOURCE, "src/python/pyproject.toml")) as file:
        expect(f'version = "{version}"' in file.read(), "pyproject.toml has another version than the headers")
    expect(version.rpartition(".")[0] == _c.VERSION, f"the package is for {_c.VERSION}, and the headers are {version}")
    import tactus
    expect(tactus.__version__ == version, f"tactus.__version__ is {tactus.__version__}")
    end()


main()
