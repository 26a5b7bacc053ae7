#!/bin/bash
# Targets stand on floors; each imports strictly lower floors only (docs/architecture.md). The compiler's
# --explicit-target-dependency-import-check refuses undeclared imports; this refuses declared ones that go up or sideways,
# and the C libraries outside their one home.
set -euo pipefail
cd "$(dirname "$0")/.."

floor() {
    case $1 in
        CLibPQ | CCurl | CCurlLoop | CZlib | CSimdJSON) echo 0 ;;
        PushContract | AlertRules) echo 1 ;;
        Postgres | CurlHTTP | Observability | HTTPEdge | Cricket | PushLifecycle) echo 2 ;;
        Access | Attempts | Devices | Providers) echo 3 ;;
        Sending | Alerting) echo 4 ;;
        OnCall | LiveActivities) echo 5 ;;
        PushwatchServer | ProviderSimulator | LocalPostgres) echo 6 ;;
        pushwatch) echo 7 ;;
        *) echo "" ;;
    esac
}

bad=0
complain() {
    echo "$1" >&2
    bad=1
}

for directory in Sources/*/; do
    target=$(basename "$directory")
    own=$(floor "$target")
    [ -n "$own" ] || complain "Sources/$target stands on no floor: add it to scripts/check-layers.sh and docs/architecture.md"
    while IFS=: read -r file line; do
        module=$(sed -E 's/^.*import +((struct|enum|class|func|protocol) +)?([A-Za-z0-9_]+).*$/\3/' <<<"$line")
        other=$(floor "$module")
        [ -n "$other" ] || continue
        [ "$other" -lt "$own" ] || complain "$file: $target (floor $own) imports $module (floor $other)"
        case $module in
            CLibPQ) [ "$target" = Postgres ] || complain "$file: only Postgres imports CLibPQ" ;;
            CCurl) [ "$target" = CurlHTTP ] || complain "$file: only CurlHTTP imports CCurl" ;;
        esac
    done < <(grep -rHE '^[[:space:]]*(@[a-zA-Z_()]+ )?(public |package |internal )?import ' "$directory" --include='*.swift' || true)
done
# SQL text lives on floors 3 to 5 and in sql/; the benchmarks, which measure the database itself, may have some.
while read -r file; do
    complain "$file: SQL text outside floors 3 to 5"
done < <(grep -rlE '"(SELECT|INSERT INTO|UPDATE|DELETE FROM) ' Sources/PushContract Sources/AlertRules Sources/CurlHTTP Sources/Observability \
    Sources/HTTPEdge Sources/Cricket Sources/PushLifecycle Sources/PushwatchServer Sources/ProviderSimulator Sources/pushwatch --exclude-dir=Bench 2>/dev/null || true)
[ "$bad" = 0 ] && echo "floors hold"
exit "$bad"
