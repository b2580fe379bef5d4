#!/usr/bin/env bash
# consumer.sh BUILD CC CXX: installs BUILD into a prefix with a space in its name, moves the prefix, and builds and runs a
# small program against it: with find_package and with pkg-config; likewise the examples of docs/. Each installed header compiles by itself, and after
# any other, as C11 and as C++17, and what it cites is there. The same with the build
# beside the program $TACTUS_OTHER (jobs/test makes that one with clang as a shared library).
set -euo pipefail
build=$1 cc=$2 cxx=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

expect() { # expect FOLDER PROGRAM: it prints what it should, and its errors are one sentence with code 2
    local got want code=0
    want=$(printf 'sphere: 162 vertices, 320 triangles, radius 0.500000\nscene: 2 bodies\nversion %s' "$version")
    got=$(cd "$1" && "$2" ball.h5 "$here/consumer/scene.json")
    if [ "$got" != "$want" ]; then
        printf '%s printed:\n%s\nand not:\n%s\n' "$2" "$got" "$want"
        exit 1
    fi
    got=$(cd "$1" && "$2" ball.h5 no-such-scene.json 2>&1 >/dev/null) || code=$?
    if [ $code != 2 ] || [[ "$got" != *no-such-scene.json* ]]; then
        printf '%s with a missing scene gave code %s: %s\n' "$2" $code "$got"
        exit 1
    fi
}

try() { # try BUILD NAME
    local prefix="$work/$2 prefix" pc flags
    cmake --install "$1" --prefix "$work/first" >"$work/log" || { cat "$work/log"; exit 1; }
    mv "$work/first" "$prefix"
    version=$("$prefix/bin/tactus" --version | grep -o '[0-9]\+\.[0-9]\+\.[0-9]\+' | head -n 1)

    echo "== $2: find_package"
    cmake -S "$here/consumer" -B "$work/$2-cmake" -G Ninja -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" &&
        cmake --build "$work/$2-cmake" >>"$work/log" || { cat "$work/log"; exit 1; }
    expect "$work" "$work/$2-cmake/consumer"
    if cmake -S "$here/consumer" -B "$work/$2-newer" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -Dwanted=99 >"$work/log" 2>&1; then
        echo "find_package accepts version $version as 99.0"
        exit 1
    fi

    echo "== $2: pkg-config"
    pc=$(find "$prefix" -name tactus.pc)
    export PKG_CONFIG_PATH=${pc%/*}
    [ "$(pkg-config --modversion tactus)" = "$version" ]
    flags=$(pkg-config --cflags --libs tactus)
    # pkg-config escapes the space in the prefix for a shell, so a shell reads it.
    eval "$cc -std=c11 -Wall -Werror '$here/consumer/consumer.c' -o '$work/$2-pc' $flags -lm"
    LD_LIBRARY_PATH=$(dirname "${pc%/*}") expect "$work" "$work/$2-pc"
    [ "$(head -n 1 "$work/consumer.run/energy.csv" | cut -d , -f 1)" = time ] && [ "$(wc -l <"$work/consumer.run/energy.csv")" = 6 ]

    echo "== $2: examples"
    local examples="$here/../../../docs/examples" name
    mkdir "$work/$2-examples"
    for name in step change two; do
        eval "$cc -std=c11 -Wall -Wextra -Werror '$examples/$name.c' -o '$work/$2-examples/$name' $flags -lm"
    done
    eval "$cxx -std=c++17 -Wall -Wextra -Werror '$examples/step.cpp' -o '$work/$2-examples/step_cpp' $flags -lm"
    LD_LIBRARY_PATH=$(dirname "${pc%/*}") "$here/examples.py" "$work/$2-examples" "$prefix/bin/tactus"
    cmake -S "$examples" -B "$work/$2-built" -G Ninja -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" \
        -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" && cmake --build "$work/$2-built" >>"$work/log" || { cat "$work/log"; exit 1; }
    "$work/$2-built/two" >/dev/null

    echo "== $2: headers"
    "$here/headers.py" "$prefix/include/tactus" "$here/../../.." "$cc" "$cxx" "$(pkg-config --cflags tactus)"
}

try "$build" own
if [ -n "${TACTUS_OTHER-}" ]; then
    try "$(dirname "$TACTUS_OTHER")" other
fi
