#!/bin/bash
# Four fuzzers with AddressSanitizer, one after the other, each until its time is up or a promise breaks: bodies of attempts, framing of
# HTTP/1.1 requests, answers of the providers, and what HTTP/2 servers send to the client of the providers.
# Builds in .build/fuzz, apart from everything else (some minutes the first time).
# usage: scripts/fuzz.sh [SECONDS]        SEED=… repeats a run; ONLY="framing-fuzz answer-fuzz" runs these alone
set -euo pipefail
duration=${1:-600}
programs=${ONLY:-attempt-fuzz framing-fuzz answer-fuzz http2-fuzz}
cd "$(dirname "$0")/.."
for program in $programs; do
    swift build --scratch-path .build/fuzz --sanitize=address --product "$program"
done
# The first fault of memory ends it. Swift's own metadata is never freed, so leaks are not looked for.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0:abort_on_error=0:halt_on_error=1}
for program in $programs; do
    .build/fuzz/debug/"$program" --seconds "$duration" ${SEED:+--seed "$SEED"}
done
