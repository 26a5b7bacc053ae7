#!/bin/bash
# Mutated bodies through the service's parser and through an independent one, with AddressSanitizer, until time is up or the two
# disagree. Builds in .build/fuzz, apart from everything else (some minutes the first time).
# usage: scripts/fuzz.sh [SECONDS]        SEED=… repeats a run
set -euo pipefail
duration=${1:-600}
cd "$(dirname "$0")/.."
swift build --scratch-path .build/fuzz --sanitize=address --product attempt-fuzz
# The first fault of memory ends it. Swift's own metadata is never freed, so leaks are not looked for.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0:abort_on_error=0:halt_on_error=1}
exec .build/fuzz/debug/attempt-fuzz --seconds "$duration" ${SEED:+--seed "$SEED"}
