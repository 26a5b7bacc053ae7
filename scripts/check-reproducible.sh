#!/bin/bash
# Builds a release of HEAD twice from nothing, in one directory, and compares what is packed: archive, contents and sums.
# usage: scripts/check-reproducible.sh     (an hour on two cores; leaves nothing but its verdict)
set -euo pipefail
cd "$(dirname "$0")/.."
place=$(mktemp -d "${TMPDIR:-/tmp}/pushwatch-reproducible.XXXXXX")
trap 'rm -rf "$place"' EXIT
git clone -q . "$place/source"
for build in 1 2; do
    rm -rf "$place/source/.build"
    (cd "$place/source" && bash scripts/dist.sh "" "$place/$build") >"$place/$build.log" 2>&1 || { tail -20 "$place/$build.log" >&2; exit 1; }
    echo "build $build: $(cut -c1-64 "$place/$build"/*.sha256 | tr '\n' ' ')"
done
diff -r "$place/1" "$place/2" && echo "reproducible: two builds give the same archive and the same list of contents"
