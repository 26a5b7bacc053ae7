#!/bin/bash
# Runs every test target, one after the other: each has the machine to itself, so that tests with servers and databases do not starve
# each other on two cores. IntegrationTests mostly wait: they run in two halves at once. Ends with each issue of the tests that failed,
# then one line of totals; exit 1 if anything failed.
# usage: [RERUN=1] [SILENCE=720] scripts/test.sh [TARGET…]        (tests must be built: swift build --build-tests)
# RERUN=1: a target that failed is run once more, alone. What fails twice has failed; what passes then is named as unsteady at the end.
# SILENCE: a target in which no test begins or ends for so many seconds has failed, and is ended. A test with a database ends after 600.
set -uo pipefail
cd "$(dirname "$0")/.."
silence=${SILENCE:-720}

if [ $# -gt 0 ]; then targets=("$@"); else targets=(); for d in Tests/*Tests; do targets+=("$(basename "$d")"); done; fi
# In memory where there is space, as hundreds of databases are made and dropped: on a disk that takes most of the time.
if [ -z "${TMPDIR:-}" ] && [ "$(df -k --output=avail /dev/shm 2>/dev/null | tail -1)" -gt $((8 << 20)) ] 2>/dev/null; then
    TMPDIR=/dev/shm
fi
# A directory of its own: whatever a test leaves behind goes with it. The server of the databases is another user's.
root=$(mktemp -d "${TMPDIR:-/tmp}/pushwatch-test.XXXXXX")
chmod 711 "$root"
# What `swift test` runs. Two of those at once would dispute the database of what is built.
tests=$(swift build --show-bin-path)/pushwatchPackageTests.xctest
if [ -f "$tests" ]; then runner=("$tests" --testing-library swift-testing); else runner=(swift test --skip-build --disable-xctest); fi
# One line of totals for each target, then its issues and what was unsteady.
results=$root/results
mkdir "$results"
lanes=()
# The lanes end what they run.
trap '[ ${#lanes[@]} = 0 ] || { kill "${lanes[@]}" && wait; } 2>/dev/null; rm -rf "$root"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Ends the target, with the servers that it leaves when it has no time to stop them.
end() {
    kill "-$1" -- "-$job"
    for server in "$TMPDIR"/pushwatch-tests-*/data/postmaster.pid; do
        [ ! -e "$server" ] || kill -QUIT "$(head -1 "$server")"
    done
    sleep 1
}

# Ends the target when its log does not grow any more, and says which tests had begun.
watch() {
    while sleep 5 && [ -e "$log" ]; do
        [ $(($(date +%s) - $(stat -c %Y "$log"))) -gt $silence ] || continue
        hanging=$(grep -vE '^◇ Test (case|run)' "$log" | sed -nE 's/^◇ Test (.*) started\.$/\1/p' | sort -u |
            comm -23 - <(sed -nE 's/^[✔✘] Test (.*) (passed|failed) after .*$/\1/p' "$log" | sed -E 's/ with [0-9]+ test cases?$//' | sort -u))
        while read -r name; do echo "✘ Test $name recorded an issue: no test began or ended for $silence s"; done <<<"$hanging" >>"$log"
        end KILL
        return
    done
}

# run FILTER NAME: sets code, summary, count and bad.
run() {
    # In a group of its own, so that all of it can be ended. The shell lets what it runs in the background ignore SIGINT; the commands under
    # test must not.
    setsid env --default-signal=INT "${runner[@]}" --filter "$1" >"$log" 2>&1 &
    job=$!
    watch &
    wait "$job"
    code=$?
    kill $! 2>/dev/null
    job=
    summary=$(grep -E 'Test run with [0-9]+ tests? .*(passed|failed)' "$log" | tail -1 | sed -E 's/^.*(Test run with)/\1/')
    count=$(grep -oE 'Test run with [0-9]+' <<<"$summary" | grep -oE '[0-9]+$' || echo 0)
    bad=$(grep -E '✘ Test .* failed after' "$log" | grep -vc 'Test run with')
    if [ "$code" != 0 ] && [ "$bad" = 0 ]; then bad=1; fi
    [ "$count" -ge "$bad" ] || count=$bad
    echo "$2: ${summary:-ended with $code and without a summary}"
    # What did not run is said, however well the rest went.
    grep '^➜ .* skipped' "$log" | sort -u
    if [ "$code" != 0 ]; then
        grep -vE '◇|✔' "$log" | tail -150
        tail -20 "$log"
    fi
}

# lane FILTER NAME: runs these tests in a directory of their own. Those that fail are left to be run once more.
lane() {
    export TMPDIR
    TMPDIR=$(mktemp -d "$root/lane.XXXXXX")
    chmod 711 "$TMPDIR"
    log=$TMPDIR/log
    job=
    trap '[ -z "$job" ] || end TERM' EXIT
    trap 'exit 143' TERM INT
    run "$1" "$2"
    if [ "$code" != 0 ] && [ -n "${RERUN:-}" ]; then
        grep -E '✘ Test .* failed after' "$log" | grep -v 'Test run with' | sed -E "s/^.*✘ Test (.*) failed after.*\$/  $2: \\1/" >"$results/again.$2"
        [ -s "$results/again.$2" ] || echo "  $2: ended with $code" >"$results/again.$2"
        return
    fi
    settle "$2"
}

# Notes what became of the tests of this name.
settle() {
    [ "$code" = 0 ] || grep -oE '✘ .* recorded an issue.*' "$log" | cut -c 1-400 | sed "s/^/  $1: /" >>"$results/issues"
    echo "$((count - bad)) $bad" >>"$results/totals"
}

# Runs the lanes of these filters and names at once, then those that failed once more, each alone.
at_once() {
    local filters=() names=() index
    while [ $# -gt 0 ]; do filters+=("$1") names+=("$2") && shift 2; done
    for index in "${!names[@]}"; do
        lane "${filters[$index]}" "${names[$index]}" &
        lanes+=($!)
    done
    wait "${lanes[@]}"
    lanes=()
    for index in "${!names[@]}"; do
        again="$results/again.${names[$index]}"
        [ -e "$again" ] || continue
        echo "${names[$index]}: once more"
        (RERUN='' lane "${filters[$index]}" "${names[$index]}" && [ "$code" = 0 ] && cat "$again" >>"$results/unsteady") &
        lanes=($!)
        wait "${lanes[@]}"
        lanes=()
    done
}

runs=0
for target in "${targets[@]}"; do
    if [ "$target" = IntegrationTests ]; then
        suites='^IntegrationTests\.(WholeService/|(?!WholeService))'
        at_once "${suites}[A-K]" "$target A-K" "${suites}[L-Z]" "$target L-Z"
        runs=$((runs + 2))
    else
        at_once "^$target\." "$target"
        runs=$((runs + 1))
    fi
done
if [ -e "$results/unsteady" ]; then
    echo "Unsteady, failed once and passed when run again:"
    cat "$results/unsteady"
fi
if [ -e "$results/issues" ]; then
    echo "Failed:"
    cat "$results/issues"
fi
# What ended before its totals has failed.
awk -v runs=$runs '{ passed += $1; failed += $2 }
    END { failed += runs - NR; print passed + 0 " passed, " failed + 0 " failed"; exit failed > 0 || passed == 0 }' "$results/totals"
