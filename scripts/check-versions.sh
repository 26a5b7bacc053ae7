#!/bin/bash
# Compares the resolved version of every package, direct or not, with versions.txt, so that two builds of one commit use the same ones.
# usage: scripts/check-versions.sh [--write]     (--write updates versions.txt)
set -euo pipefail
cd "$(dirname "$0")/.."

swift package resolve >/dev/null
resolved=$(
    python3 - <<'PY'
import json

state = json.load(open(".build/workspace-state.json"))["object"]["dependencies"]
for item in sorted(state, key=lambda item: item["packageRef"]["identity"]):
    print(item["packageRef"]["identity"], item["state"].get("checkoutState", {}).get("version", "no version"))
PY
)
if [ "${1:-}" = --write ]; then
    printf '%s\n' "$resolved" >versions.txt
    exit 0
fi
if ! diff -u --label versions.txt --label resolved versions.txt <(printf '%s\n' "$resolved"); then
    echo "The resolved packages differ from versions.txt. Pin the package in Package.swift, or accept them with scripts/check-versions.sh --write." >&2
    exit 1
fi
echo "versions: $(wc -l <versions.txt) packages as in versions.txt"
