#!/bin/bash
# With AddressSanitizer: mutated bodies through the service's parser and through an independent one, until time is up or the two disagree;
# then, for as long, what HTTP/2 servers send, mutated, into the client of the providers. Builds in .build/fuzz, apart from everything else (some minutes the first time).
# usage: scripts/fuzz.sh [SECONDS]        SEED=… repeats a run
set -euo pipefail
duration=${1:-600}
cd "$(dirname "$0")/.."
for program in attempt-fuzz http2-fuzz; do
    swift build --scratch-path .build/fuzz --sanitize=address --product "$program"
done
# The first fault of memory ends it. Swift's own metadata is never freed, so leaks are not looked for.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0:abort_on_error=0:halt_on_error=1}
for program in attempt-fuzz http2-fuzz; do
    .build/fuzz/debug/"$program" --seconds "$duration" ${SEED:+--seed "$SEED"}
done
