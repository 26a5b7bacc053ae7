#!/bin/bash
# Applies the extensions of Tests/Extensions to a copy of the tree: a receiver, a reason code, a condition kind, a provider, a page, a
# column, a command. Prints how many places each touches, builds all of them at once, and runs what each adds. Exit 1 when a patch does
# not apply, touches more than its folder and two places, or does not build.
#
# A place is a folder with new files, or an existing file that is edited.
# usage: scripts/extend-check.sh [--no-build]     works on .build/planted (or PLANTED_IN), the copy that plant.sh uses too
set -uo pipefail
cd "$(dirname "$0")/.."
root=$PWD
. scripts/copy-tree.sh
scratch=${PLANTED_IN:-$root/.build/planted}
limit=3
bad=0

copy_tree "$scratch"
printf '%-22s %6s  %s\n' extension places touched
for patch in Tests/Extensions/*.patch; do
    name=$(basename "$patch" .patch)
    touched=$(awk '
        /^diff --git / { file = $4; sub(/^b\//, "", file); isNew = 0 }
        /^new file mode/ { isNew = 1; sub(/\/[^\/]*$/, "/", file) }
        /^\+\+\+ / { if (!seen[file]++) print file }
    ' "$patch")
    places=$(wc -l <<<"$touched")
    printf '%-22s %6d  %s\n' "$name" "$places" "$(tr '\n' ' ' <<<"$touched")"
    if [ "$places" -gt "$limit" ]; then
        echo "$name: more than its folder and two places" >&2
        bad=1
    fi
    if ! (cd "$scratch" && patch --quiet --forward --no-backup-if-mismatch -p1 <"$root/$patch"); then
        echo "$name: does not apply; update $patch" >&2
        bad=1
    fi
done
[ "$bad" = 0 ] && [ "${1:-}" != --no-build ] || exit "$bad"

cd "$scratch"
if ! swift build --build-tests >extend.log 2>&1; then
    grep -E 'error:' extend.log | sort -u | head -20
    echo "the extensions do not build; see $scratch/extend.log" >&2
    exit 1
fi
swift test --skip-build --disable-xctest --filter 'ExtensionTests' 2>&1 | grep -E 'Test run with|✘' || bad=1
"$(swift build --show-bin-path)/pushwatch" versions list || { echo "the added command does not run" >&2; bad=1; }
exit "$bad"
