#!/bin/bash
# The fault tests, each for so many minutes instead of a few faults: the same code as in `make test`, and the same report, one line a
# test: kills, acknowledged, found, mismatches. Exit 1 when anything is lost, doubled or off.
# usage: scripts/soak.sh [ingest|sends|kill|crash|commit|disk|standby|identity|limits|escalation|alerts|citus] [MINUTES]
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:-ingest}
export PUSHWATCH_SOAK_MINUTES=${2:-10}
target='IntegrationTests\.WholeService/'
case $what in
    kill | sends) suites='KilledServerTests' ;;
    crash) suites='LostDatabaseTests' ;;
    commit) suites='LostCommitTests' ;;
    disk) suites='FullDiskTests' ;;
    alerts) target='LiveActivitiesTests\.' suites='ManyAlertsTests' ;; # a thousand, whatever the minutes
    escalation) target='AlertingTests\.' suites='EscalationSoakTests' ;;
    limits) suites='MachineLimitTests' ;;
    standby) suites='PromotedStandbyTests' ;;
    citus)
        suites='DistributedSoakTests'
        [ -n "${PUSHWATCH_TEST_CITUS_BIN:-}" ] || { echo "no Citus: PUSHWATCH_TEST_CITUS_BIN is not set" >&2; exit 1; }
        ;;
    identity) suites='IdentityPropertyTests|TwoServerTests' ;;
    ingest) suites='KilledServerTests|LostDatabaseTests|LostCommitTests|FullDiskTests|PromotedStandbyTests|IdentityPropertyTests|TwoServerTests' ;;
    *)
        echo "unknown: $what; see the head of scripts/soak.sh" >&2
        exit 2
        ;;
esac
[ -n "${SKIP_BUILD:-}" ] || swift build --build-tests
exec swift test --skip-build --disable-xctest --filter "$target($suites)"
