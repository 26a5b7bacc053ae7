#!/bin/bash
# The tests that take too long for .ci/run. Runs each step to its end, whatever became of the one before it, and prints
# one line a step. About 90 minutes on two cores. Exit 1 when a step failed.
# usage: scripts/verify.sh [STEP…]        (all steps without arguments, but `rows`, which builds once for each of its defects: some hours)
# SOAK_MINUTES=3 (each of the seven fault suites), LIMITS_MINUTES=1, SEND_MINUTES=10, FUZZ_MINUTES=4, ROWS=5000000 (cookbook)
set -uo pipefail
cd "$(dirname "$0")/.."

run() {
    case $1 in
        soak) bash scripts/soak.sh ingest "${SOAK_MINUTES:-3}" ;;
        alerts) SKIP_BUILD=1 bash scripts/soak.sh alerts ;;
        escalation) SKIP_BUILD=1 bash scripts/soak.sh escalation "${SOAK_MINUTES:-3}" ;;
        limits) SKIP_BUILD=1 bash scripts/soak.sh limits "${LIMITS_MINUTES:-1}" ;;
        soak-send) make soak-send MINUTES="${SEND_MINUTES:-10}" ;;
        fuzz) make fuzz MINUTES="${FUZZ_MINUTES:-4}" ;;
        planted) make planted ;;
        rows) make planted-rows ;;
        client) bash scripts/plant.sh client ;;
        cookbook) make cookbook ROWS="${ROWS:-5000000}" ;;
        extend-check) make extend-check ;;
        incidents) .build/debug/pushwatch-dev scenarios --incidents && .build/debug/pushwatch-dev scenarios --baselines --faults 5 ;;
        *)
            echo "unknown step: $1 (soak alerts escalation limits soak-send fuzz planted rows client cookbook extend-check incidents)" >&2
            exit 2
            ;;
    esac
}

steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(soak alerts escalation limits soak-send fuzz planted client cookbook extend-check incidents)
logs=.build/verify
mkdir -p "$logs"
bad=0
bash scripts/bootstrap.sh test
swift build --build-tests >"$logs/build.log" 2>&1 || { tail -20 "$logs/build.log"; exit 1; }
for step in "${steps[@]}"; do
    started=$SECONDS
    if (run "$step") >"$logs/$step.log" 2>&1; then result=passed; else result=FAILED bad=1; fi
    printf '%-14s %s after %d s; log: %s\n' "$step" "$result" $((SECONDS - started)) "$logs/$step.log"
    [ "$result" = passed ] || tail -20 "$logs/$step.log"
done
exit "$bad"
