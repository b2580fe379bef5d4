#!/usr/bin/env bash
# The jobs tell what they do, refuse what they do not know, and what the docs say of packages and scenes is so.
set -euo pipefail
cd "$TACTUS_SOURCE"
fail() { echo "usage.sh: $*"; exit 1; }

for job in jobs/quickstart jobs/test jobs/docs jobs/submit jobs/sweep-table; do
    $job --help | grep "^usage: $job" >/dev/null || fail "$job --help does not tell its usage"
done
code=0
jobs/quickstart --no-such-option >/dev/null 2>&1 || code=$?
[ $code = 2 ] || fail "quickstart takes an unknown option (code $code)"
code=0
jobs/quickstart a b >/dev/null 2>&1 || code=$?
[ $code = 2 ] || fail "quickstart takes two scenes (code $code)"
code=0
said=$(jobs/quickstart no-such-scene.json 2>&1) || code=$?
[ $code != 0 ] && [[ $said == *no-such-scene.json* ]] || fail "quickstart with a missing scene: code $code, $said"

# .ci/run is jobs/test.
[ "$(grep -cvE '^(#|$)' .ci/run)" = 1 ] && grep -q 'jobs/test' .ci/run || fail ".ci/run does more than call jobs/test"

# docs/how-to/build.md gives a reason for each package.
while read -r group package why; do
    case $group in '' | '#'*) continue ;; esac
    [ -n "$why" ] || fail "jobs/lib/packages gives no reason for $package"
    grep -qF "\`$package\`" docs/how-to/build.md || fail "docs/how-to/build.md does not mention $package"
done <jobs/lib/packages

twice=$(awk '!/^#/ && NF { print $2 }' jobs/lib/packages | sort | uniq -d)
[ -z "$twice" ] || fail "jobs/lib/packages lists twice: $twice"

# README names every scene by the path jobs/NAME.json, which is a link, and everything it links to exists.
for scene in jobs/scenes/*.json; do
    grep -qF "(jobs/${scene##*/})" README.md || fail "README.md does not mention $scene"
    [ "jobs/${scene##*/}" -ef "$scene" ] || fail "jobs/${scene##*/} is not the scene $scene"
done
for page in README.md CONTRIBUTING.md docs/developers/tour.md docs/how-to/build.md; do
    while read -r link; do
        [ -e "$(dirname "$page")/${link%%#*}" ] || fail "$page links to $link, which is not there"
    done < <(grep -oP '\]\(\K(?!https?:|#)[^)]+' "$page")
done

# The files that the tour goes through are there.
tree=$(git ls-files)
while read -r file; do
    [ "$file" != cmd_NAME.c ] || continue
    grep -qE "(^|/)${file//./\\.}\$" <<<"$tree" || fail "docs/developers/tour.md speaks of $file, which is not there"
done < <(grep -oE '[A-Za-z0-9_./-]+\.(c|h|py)\b' docs/developers/tour.md | sed 's|^src/app/cmd_NAME.c$|cmd_NAME.c|' | sort -u)
