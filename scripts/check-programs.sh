#!/bin/bash
# The production program is linked with no simulator, no database of its own, no demo and no benchmark.
# usage: scripts/check-programs.sh [PROGRAMS]     (the directory of pushwatch and pushwatch-dev; without it that of the debug build)
set -euo pipefail
cd "$(dirname "$0")/.."
programs=${1:-"$(swift build --show-bin-path)"}

# Modules that only pushwatch-dev may hold, as their mangled names begin: the length of the name, then the name.
forbidden='\$s(17ProviderSimulator|13LocalPostgres|13pushwatch_dev|10PushClient)'
count() { { nm "$1" 2>/dev/null || true; } | grep -cE "$forbidden" || true; }

development=$(count "$programs/pushwatch-dev")
# Without symbols nothing would be found in either.
[ "$development" -gt 0 ] || { echo "$programs/pushwatch-dev has no symbols to check; build it without stripping" >&2; exit 3; }
production=$(count "$programs/pushwatch")
if [ "$production" -gt 0 ]; then
    echo "pushwatch is linked with $production symbols that belong to pushwatch-dev alone, such as:" >&2
    { nm "$programs/pushwatch" | grep -E "$forbidden" || true; } | head -5 >&2
    exit 1
fi
echo "pushwatch is linked with nothing of pushwatch-dev"
