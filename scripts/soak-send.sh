#!/bin/bash
# Sends through faults for ten minutes (or SOAK_SECONDS): workers killed every few seconds, the database crashed, the provider
# restarted. Ends with 1 when a send is lost, doubled without cause, or fsck finds anything. Needs built tests (make test).
set -uo pipefail
cd "$(dirname "$0")/.."
SOAK_SECONDS="${SOAK_SECONDS:-600}" exec swift test --skip-build --disable-xctest --filter '^IntegrationTests\.WholeService/SendFaultTests'
