#!/bin/bash
# Runs every test target, one after the other: each has the machine to itself, so that tests with servers and databases do not starve
# each other on two cores. Ends with one line of totals; exit 1 if anything failed.
# usage: scripts/test.sh [TARGET…]        (tests must be built: swift build --build-tests)
set -uo pipefail
cd "$(dirname "$0")/.."

if [ $# -gt 0 ]; then targets=("$@"); else targets=(); for d in Tests/*Tests; do targets+=("$(basename "$d")"); done; fi
log=$(mktemp "${TMPDIR:-/tmp}/pushwatch-test.XXXXXX")
trap 'rm -f "$log"' EXIT

passed=0
failed=0
for target in "${targets[@]}"; do
    swift test --skip-build --disable-xctest --filter "^$target\\." >"$log" 2>&1
    code=$?
    summary=$(grep -E 'Test run with [0-9]+ tests? .*(passed|failed)' "$log" | tail -1 | sed -E 's/^.*(Test run with)/\1/')
    count=$(grep -oE 'Test run with [0-9]+' <<<"$summary" | grep -oE '[0-9]+$' || echo 0)
    bad=$(grep -E '✘ Test .* failed after' "$log" | grep -vc 'Test run with')
    if [ "$code" != 0 ] && [ "$bad" = 0 ]; then bad=1; fi
    [ "$count" -ge "$bad" ] || count=$bad
    echo "$target: ${summary:-ended with $code and without a summary}"
    if [ "$code" != 0 ]; then
        grep -vE '◇|✔' "$log" | tail -150
        tail -20 "$log"
    fi
    passed=$((passed + count - bad))
    failed=$((failed + bad))
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
