#!/bin/bash
# Every target is in a layer and imports strictly lower layers only (docs/architecture.md). The compiler's
# --explicit-target-dependency-import-check rejects undeclared imports; this script rejects declared imports of the same or a higher
# layer, imports of a C library outside the target that wraps it, and SQL text outside stores.
# usage: scripts/check-layers.sh
set -euo pipefail
cd "$(dirname "$0")/.."

layer() {
    case $1 in
        CLibPQ | CCurl | CNGHTTP2 | COpenSSL | CEpoll | CZlib | CSimdJSON | CMarkGFM) echo 0 ;;
        PushContract) echo 1 ;;
        PushClient | ServiceKit) echo 2 ;;
        AlertRules | Postgres | HTTPClient | HTTPServer | Cricket) echo 3 ;;
        Attempts | Audit | Providers) echo 4 ;;
        Access | Delivery) echo 5 ;;
        LiveActivities | Alerting) echo 6 ;;
        OnCall) echo 7 ;;
        Server | ProviderSimulator | LocalPostgres) echo 8 ;;
        CommandLineKit) echo 9 ;;
        pushwatch | pushwatch-dev) echo 10 ;;
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
    own=$(layer "$target")
    if [ -z "$own" ]; then
        complain "Sources/$target is in no layer: add it to scripts/check-layers.sh and to the table in docs/architecture.md"
        continue
    fi
    while IFS=: read -r file line; do
        [[ $line =~ import\ +((struct|enum|class|func|protocol)\ +)?([A-Za-z0-9_]+) ]] || continue
        module=${BASH_REMATCH[3]}
        case $module in
            CLibPQ) [ "$target" = Postgres ] || complain "$file: only Postgres imports CLibPQ" ;;
            CCurl | CNGHTTP2 | CEpoll) [ "$target" = HTTPClient ] || complain "$file: only HTTPClient imports $module" ;;
            COpenSSL)
                [ "$target" = HTTPClient ] || [ "${file##*/}" = KeyCipher.swift ] ||
                    complain "$file: only HTTPClient and KeyCipher.swift import COpenSSL"
                ;;
        esac
        other=$(layer "$module")
        [ -z "$other" ] || [ "$other" -lt "$own" ] || complain "$file: $target (layer $own) imports $module (layer $other)"
    done < <(grep -rHE '^[[:space:]]*(@[a-zA-Z_()]+ )?(public |package |internal )?import ' "$directory" --include='*.swift' || true)
done

# SQL text: not in targets without stores, and nowhere in a file that serves requests or reads command lines. Benchmarks, which
# measure the database itself, may contain SQL.
sql='(^[[:space:]]*|")(SELECT|INSERT INTO|UPDATE [a-zA-Z]+ |DELETE FROM|WITH [a-zA-Z]+ (\(.*\) )?AS)'
while read -r file; do
    case $file in
        */Bench/* | */Benchmarks/*) continue ;;
        Sources/Postgres/* | Sources/LocalPostgres/*) continue ;;
        Sources/Attempts/* | Sources/Audit/* | Sources/Access/* | Sources/Delivery/* | Sources/LiveActivities/* | Sources/Alerting/* | \
            Sources/OnCall/*)
            ! grep -qE '^[a-z ]*import (Hummingbird|HTTPTypes|ArgumentParser|Mustache)$' "$file" ||
                complain "$file: SQL text in a file that serves requests; move it to a store"
            ;;
        *) complain "$file: SQL text in a target without stores" ;;
    esac
done < <(grep -rlE "$sql" Sources --include='*.swift' || true)

[ "$bad" = 0 ] && echo "layers: every target imports lower layers only"
exit "$bad"
