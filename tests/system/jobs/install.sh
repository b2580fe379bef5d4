#!/usr/bin/env bash
# jobs/lib/install asks apt-get for exactly what is missing, through sudo where it must, and says what it cannot do.
# Wrong would be: packages installed that are there, a hang for a password, a failure that reads as success.
set -euo pipefail
install=$TACTUS_SOURCE/jobs/lib/install
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
fail() { echo "install.sh: $*"; exit 1; }

fake() { printf '#!/bin/bash\n%s\n' "$2" >"$work/bin/$1"; chmod +x "$work/bin/$1"; }
for tool in bash env dirname cat tail mktemp rm grep; do ln -s "$(command -v $tool)" "$work/bin/$tool"; done
fake dpkg-query 'package=${@: -1}; if grep -qx "$package" "$WORK/there"; then printf "ii "; elif grep -qx "$package" "$WORK/removed"; then printf "rc "; else exit 1; fi'
fake apt-get 'echo "apt-get $*" >>"$WORK/calls"; read -r -t 1 line && echo "input: $line" >>"$WORK/calls"; echo "${APT_SAYS-}"; exit ${APT_CODE-0}'
fake sudo 'echo "sudo $*" >>"$WORK/calls"; exec "$@"'
fake id 'echo "${FAKE_UID-0}"'
export WORK=$work
: >"$work/removed"

try() { # try GROUP...: output in $work/out, calls in $work/calls, code in $code
    code=0
    : >"$work/calls"
    PATH=$work/bin "$install" "$@" >"$work/out" 2>&1 <<<"typed by the user" || code=$?
}

packages=$(awk '$1 == "build" { print $2 }' "$TACTUS_SOURCE/jobs/lib/packages")
[ -n "$packages" ] || fail "jobs/lib/packages has no build packages"

# All there: nothing happens.
printf '%s\n' $packages >"$work/there"
try build
[ $code = 0 ] && [ ! -s "$work/calls" ] && [ ! -s "$work/out" ] || fail "with all packages there it does something: $(cat "$work/calls" "$work/out")"

# Two missing, one of them removed but for its configuration: these two are asked for, no other.
printf '%s\n' $packages | grep -vx -e cmake -e libjansson-dev >"$work/there"
echo libjansson-dev >"$work/removed"
try build
[ $code = 0 ] || fail "code $code: $(cat "$work/out")"
asked=$(sed -n 's/^apt-get .* install -y --no-install-recommends //p' "$work/calls")
[ "$asked" = "cmake libjansson-dev" ] || fail "asked for '$asked'"
grep -q 'apt-get .* update$' "$work/calls" || fail "the lists were not updated first: $(cat "$work/calls")"
! grep -q '^input' "$work/calls" || fail "apt-get could read what the user typed"
! grep -q '^sudo' "$work/calls" || fail "root does not need sudo"

# No root: through sudo; without sudo one sentence that names the packages.
FAKE_UID=1000 try build
[ $code = 0 ] && [ "$(grep -c '^sudo' "$work/calls")" = 2 ] || fail "not through sudo: $(cat "$work/calls" "$work/out")"
mv "$work/bin/sudo" "$work/sudo"
FAKE_UID=1000 try build
[ $code = 1 ] && [ ! -s "$work/calls" ] && [ "$(wc -l <"$work/out")" = 1 ] && grep -q 'cmake libjansson-dev' "$work/out" ||
    fail "without sudo: code $code, $(cat "$work/out")"
mv "$work/sudo" "$work/bin/sudo"

# apt-get fails: its words are shown, the code is not 0.
APT_CODE=100 APT_SAYS='E: Unable to locate package' try build
[ $code = 1 ] && grep -q 'E: Unable to locate' "$work/out" || fail "a failing apt-get: code $code, $(cat "$work/out")"

# Not Debian: it says so and lets the build go on. Unknown group: refused.
rm "$work/bin/dpkg-query"
try build
[ $code = 0 ] && grep -q 'no Debian' "$work/out" && [ ! -s "$work/calls" ] || fail "without dpkg: code $code, $(cat "$work/out")"
try biuld
[ $code = 2 ] && grep -q biuld "$work/out" || fail "unknown group: code $code, $(cat "$work/out")"
