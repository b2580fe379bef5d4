#!/usr/bin/env bash
# Every C file that git lists is laid out as .clang-format says, and the check sees a file that is not.
set -euo pipefail
cd "$TACTUS_SOURCE"
jobs/format --check 2>&1 | tail -n 40
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r jobs .clang-format "$work"
cd "$work"
git init -q
printf 'int  main( void ){ return 0;}\n' >ugly.c
git add ugly.c
if jobs/format --check >/dev/null 2>&1; then
    echo "jobs/format --check accepts an ugly file"
    exit 1
fi
jobs/format
jobs/format --check
