#!/bin/bash
# Holds docs/openapi.yaml against a running server: schemathesis (no 5xx, every answer as documented), then every documented error is
# provoked on every operation that documents it, then a Python client is generated of it and used. About two minutes. Needs a built program
# (make build) and scripts/bootstrap.sh test.
# usage: scripts/conformance.sh [PROGRAMS]     (the directory of pushwatch and pushwatch-dev)
set -euo pipefail
cd "$(dirname "$0")/.."
programs=${1:-"$(swift build --show-bin-path)"}
directory=$(mktemp -d "${TMPDIR:-/tmp}/pushwatch-conformance.XXXXXX")
chmod 755 "$directory" # PostgreSQL runs under another user where this is root
trap 'rm -rf "$directory"' EXIT
export PYTHONDONTWRITEBYTECODE=1
mkdir "$directory/client"
.build/conformance/bin/python Tests/Conformance/generated_client.py "$programs" docs/openapi.yaml "$directory/client"
.build/conformance/bin/python Tests/Conformance/run.py "$programs" docs/openapi.yaml "$directory"
