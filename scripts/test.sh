#!/bin/bash
# Runs every test target, one after the other: each has the machine to itself, so that tests with servers and databases do not starve
# each other on two cores. Ends with each issue of the tests that failed, then one line of totals; exit 1 if anything failed.
# usage: [RERUN=1] scripts/test.sh [TARGET…]        (tests must be built: swift build --build-tests)
# RERUN=1: a target that failed is run once more, alone. What fails twice has failed; what passes then is named as unsteady at the end.
set -uo pipefail
cd "$(dirname "$0")/.."

if [ $# -gt 0 ]; then targets=("$@"); else targets=(); for d in Tests/*Tests; do targets+=("$(basename "$d")"); done; fi
log=$(mktemp "${TMPDIR:-/tmp}/pushwatch-test.XXXXXX")
trap 'rm -f "$log"' EXIT

# Sets code, summary, count and bad.
run() {
    swift test --skip-build --disable-xctest --filter "^$1\\." >"$log" 2>&1
    code=$?
    summary=$(grep -E 'Test run with [0-9]+ tests? .*(passed|failed)' "$log" | tail -1 | sed -E 's/^.*(Test run with)/\1/')
    count=$(grep -oE 'Test run with [0-9]+' <<<"$summary" | grep -oE '[0-9]+$' || echo 0)
    bad=$(grep -E '✘ Test .* failed after' "$log" | grep -vc 'Test run with')
    if [ "$code" != 0 ] && [ "$bad" = 0 ]; then bad=1; fi
    [ "$count" -ge "$bad" ] || count=$bad
    echo "$1: ${summary:-ended with $code and without a summary}"
    # What did not run is said, however well the rest went.
    grep -E '(Suite|Test) .* skipped' "$log" | sort -u
    if [ "$code" != 0 ]; then
        grep -vE '◇|✔' "$log" | tail -150
        tail -20 "$log"
    fi
}

passed=0
failed=0
issues=()
unsteady=()
for target in "${targets[@]}"; do
    run "$target"
    if [ "$code" != 0 ] && [ -n "${RERUN:-}" ]; then
        mapfile -t names < <(grep -E '✘ Test .* failed after' "$log" | grep -v 'Test run with' | sed -E 's/^.*✘ Test (.*) failed after.*$/\1/')
        echo "$target: once more"
        run "$target"
        if [ "$code" = 0 ]; then unsteady+=("${names[@]/#/$target: }"); fi
    fi
    if [ "$code" != 0 ]; then
        mapfile -t lines < <(grep -oE '✘ .* recorded an issue.*' "$log" | cut -c 1-400)
        issues+=("${lines[@]/#/$target: }")
    fi
    passed=$((passed + count - bad))
    failed=$((failed + bad))
done
if [ ${#unsteady[@]} -gt 0 ]; then
    echo "Unsteady, failed once and passed when run again:"
    printf '  %s\n' "${unsteady[@]}"
fi
if [ ${#issues[@]} -gt 0 ]; then
    echo "Failed:"
    printf '  %s\n' "${issues[@]}"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
