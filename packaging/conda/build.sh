#!/usr/bin/env bash
# Called by conda build.
set -euo pipefail
cmake -S . -B build-conda -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_PREFIX_PATH="$PREFIX" \
    -DBUILD_TESTING=OFF -DTACTUS_WERROR=OFF -DTACTUS_PYTHON_DIR="lib/python$PY_VER/site-packages"
cmake --build build-conda --parallel "$CPU_COUNT"
cmake --install build-conda
