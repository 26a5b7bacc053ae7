#!/bin/bash
# Counts the compiler's warnings about our own targets in the log of a build. Only files that were compiled are in a log, so the count is
# complete after a build from nothing, as in CI.
# usage: [WARNINGS=error] scripts/check-warnings.sh LOG     (WARNINGS=error: exit 1 when there is one)
set -euo pipefail
log=$1
found=$(grep -oE '(^|/)(Sources|Tests)/[^:]+:[0-9]+:[0-9]+: warning: .*' "$log" | sed -E 's/^\///' | sort -u || true)
count=$(grep -c . <<<"$found" || true)
echo "warnings: $count"
[ "$count" != 0 ] || exit 0
cut -d/ -f1,2 <<<"$found" | sort | uniq -c | sort -rn
if [ "${WARNINGS:-}" = error ]; then
    head -50 <<<"$found" >&2
    exit 1
fi
