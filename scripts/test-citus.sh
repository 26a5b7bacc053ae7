#!/bin/bash
# Runs suites again on databases whose attempts and ledger Citus distributes over two workers: those of what reads or writes these tables.
# The server is one that you have: PUSHWATCH_TEST_CITUS_BIN names the `bin` directory of a PostgreSQL with the extension installed.
# Without it nothing runs, which is said. `make test` runs what only such a database has to show, with the same variable.
# usage: PUSHWATCH_TEST_CITUS_BIN=/usr/lib/postgresql/15/bin scripts/test-citus.sh [SUITE…]    (tests must be built)
set -euo pipefail
cd "$(dirname "$0")/.."

suites=(
    # Writing, rotation, retention, checks, the cookbook, roles.
    AttemptsTests.AttemptWriterTests AttemptsTests.FreshWriterTests AttemptsTests.LedgerRotationTests
    AttemptsTests.LedgerHintsTests AttemptsTests.PartitionMaintenanceTests AttemptsTests.RollupCompactionTests
    AttemptsTests.AttemptImporterTests AttemptsTests.AttemptTailTests AttemptsTests.FsckTests AttemptsTests.CookbookTests
    AttemptsTests.GrantsTests AttemptsTests.AnalystRoleTests AttemptsTests.DistributedAttemptsTests PostgresTests.MigratorTests
    # Rules, series, and what an alert says of people and codes.
    AlertingTests.RuleEvaluatorTests AlertingTests.EvaluatorRestartTests AlertingTests.SeriesTests AlertingTests.EvidenceTests
    AlertingTests.ImpactTests AlertingTests.ImpactPassTests AlertingTests.LateAttemptTests AlertingTests.ExactLabelTests
    # Sends and token outcomes.
    DeliveryTests.DispatchTests DeliveryTests.OutcomeEffectTests DeliveryTests.EnvironmentTrialTests DeliveryTests.DeadTokenTests
    DeliveryTests.TokenGuardTests DeliveryTests.SendFsckTests DeliveryTests.OutcomeStreamTests DeliveryTests.DispatchLogTests
    DeliveryTests.CircuitTests
    OnCallTests.OnCallPeopleTests
    IntegrationTests.WholeService/DatabaseRoleTests IntegrationTests.WholeService/DistributedServerTests
    IntegrationTests.WholeService/SendTests
)
[ $# -eq 0 ] || suites=("$@")
if [ -z "${PUSHWATCH_TEST_CITUS_BIN:-}" ]; then
    echo "skipped: no Citus (PUSHWATCH_TEST_CITUS_BIN is not set), ${#suites[@]} suites"
    exit 0
fi
[ "$(id -u)" = 0 ] || echo "skipped: not root, the tests that cut networks"
export PUSHWATCH_TEST_ENGINE=citus
# One after the other: together they take more connections than the nodes have.
status=0
for suite in "${suites[@]}"; do
    swift test --skip-build --disable-xctest --filter "^${suite//./\\.}(/|\$)" || status=1
done
exit $status
