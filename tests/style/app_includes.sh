#!/usr/bin/env bash
# The program uses only the public headers: any include of a private one in src/app is an error.
set -euo pipefail
cd "${TACTUS_SOURCE:-$(dirname "$0")/../..}"
[ -n "$(ls src/app/*.c)" ]
if grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' -r src/app --include='*.[ch]' | grep -vE '"app/[a-z_/]+\.h"' ; then
    echo "src/app may include <tactus/...> and its own headers only"
    exit 1
fi
if grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*<(hdf5|metis|openssl)' -r src/app --include='*.[ch]'; then
    echo "src/app leaves these libraries to libtactus"
    exit 1
fi
