#!/bin/bash
# How long people need: from a clone to the first alert they see, and from the first page to who is affected and why.
# usage: scripts/people-paths.sh [REPOSITORY]     (this tree must be built, with its tests: swift build --build-tests)
#
# The first path is walked in a fresh clone with this tree's program, so the build is not in it. The second is walked by a headless
# Chromium, with clicks.
set -euo pipefail
cd "$(dirname "$0")/.."
tree=$PWD
program="$(swift build --show-bin-path)/pushwatch-dev"
[ -x "$program" ] || { echo "Build first: make build" >&2; exit 3; }

place=$(mktemp -d)
chmod 755 "$place"
up=
end() {
    if [ -n "$up" ] && kill -0 "$up" 2>/dev/null; then kill -INT "$up"; wait "$up" || true; fi
    rm -rf "$place"
}
trap end EXIT

begun=$(date +%s.%N)
since() { awk -v now="$(date +%s.%N)" -v begun="$begun" -v what="$1" 'BEGIN { printf "%6.1f s  %s\n", now - begun, what }'; }
wait_for() { # wait_for SECONDS WHAT COMMAND…
    local limit=$1 what=$2
    shift 2
    for _ in $(seq $((limit * 5))); do
        if "$@" >/dev/null 2>&1; then return 0; fi
        kill -0 "$up" 2>/dev/null || { cat "$place/log" >&2; echo "It ended before: $what" >&2; exit 1; }
        sleep 0.2
    done
    tail -40 "$place/log" >&2
    echo "Not within $limit s: $what" >&2
    exit 1
}

echo "From a clone to the first alert"
git clone -q "${1:-$tree}" "$place/pushwatch"
since "cloned"
cd "$place/pushwatch"
bash scripts/bootstrap.sh
since "everything that is needed is installed"
"$program" up >"$place/log" 2>&1 &
up=$!
wait_for 300 "ready" grep -q "Pushwatch is ready at" "$place/log"
since "ready"
link=$(grep -oE 'http://[^ ]+/sign-in\?ticket=[^ ]+' "$place/log" | head -1)
url=${link%/sign-in*}
curl -sf -c "$place/cookies" -o /dev/null "$link"
since "signed in"
shows() { curl -sf -b "$place/cookies" "$url/" | grep -q 'alerts\? firing'; }
wait_for 300 "an alert on the page" shows
since "the alert is on the page"
wait_for 300 "the alert at its receiver" grep -q "ALERT DELIVERED" "$place/log"
since "the alert is at its receiver"
kill -INT "$up"
wait "$up" || true
up=
since "stopped again"

cd "$tree"
echo "From the page to who is affected and why"
swift test --skip-build --disable-xctest --filter 'BrowserTests/threeClicks' 2>&1 | tee "$place/test" | grep -E 'clicks,|✘|skipped' || {
    tail -30 "$place/test" >&2
    exit 1
}
