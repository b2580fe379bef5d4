#!/usr/bin/env bash
# Every scene in jobs/ passes `tactus check`: its keys are known, its surfaces do not cross.
set -euo pipefail
cd "$TACTUS_SOURCE"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
found=0
for scene in jobs/*.json; do
    "$TACTUS" check "$scene" -o "$work" >"$work/out" 2>&1 || { cat "$work/out"; exit 1; }
    found=$((found + 1))
done
[ $found -ge 2 ] || { echo "only $found scenes found"; exit 1; }
# So do the scenes that README.md shows.
awk -v out="$work/readme-" '/^```json/ { n++; on = 1; next } /^```/ { on = 0 } on { print > (out n ".json") }' README.md
for scene in "$work"/readme-*.json; do
    "$TACTUS" check "$scene" -o "$work" >"$work/out" 2>&1 || { cat "$work/out"; exit 1; }
done
