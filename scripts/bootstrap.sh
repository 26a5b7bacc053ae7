#!/bin/bash
# Installs what Pushwatch needs to build and run, or prints the exact command and stops (exit 3).
# usage: scripts/bootstrap.sh [test]     "test" also asks for what only the tests use
set -euo pipefail
cd "$(dirname "$0")/.."

test=${1:-}
missing=()
need() { # need PACKAGE CHECK…
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}
any() { local file; for file; do [ -e "$file" ] && return 0; done; return 1; }
has_postgres() { command -v initdb || any /usr/lib/postgresql/*/bin/initdb /opt/homebrew/opt/postgresql*/bin/initdb; }

if ! command -v swift >/dev/null; then
    echo "Swift is missing. Install Swift 6.2 or newer: https://www.swift.org/install" >&2
    exit 3
fi

need pkg-config command -v pkg-config
need libpq-dev any /usr/include/postgresql/libpq-fe.h /opt/homebrew/opt/libpq/include/libpq-fe.h
need libcurl4-openssl-dev any /usr/include/curl/curl.h /usr/include/*/curl/curl.h
need libnghttp2-dev any /usr/include/nghttp2/nghttp2.h /opt/homebrew/include/nghttp2/nghttp2.h
need libssl-dev any /usr/include/openssl/ssl.h /opt/homebrew/include/openssl/ssl.h
need libsimdjson-dev any /usr/include/simdjson.h /opt/homebrew/include/simdjson.h
need libcmark-gfm-dev any /usr/include/cmark-gfm.h /opt/homebrew/include/cmark-gfm.h
need libcmark-gfm-extensions-dev any /usr/include/cmark-gfm-core-extensions.h /opt/homebrew/include/cmark-gfm-core-extensions.h
need zlib1g-dev any /usr/include/zlib.h /usr/include/*/zlib.h
if [ "$(uname)" = Linux ]; then need libjemalloc-dev any /usr/include/jemalloc/jemalloc.h; fi
need postgresql has_postgres
if [ "$test" = test ]; then
    need curl command -v curl
    need prometheus command -v promtool
    need pgbouncer any /usr/sbin/pgbouncer
    need prometheus-alertmanager any /usr/bin/prometheus-alertmanager
    need python3-aiosmtpd /usr/bin/python3 -c "import aiosmtpd"
    need openssl command -v openssl
    need chromium any /usr/bin/chromium /usr/bin/google-chrome /opt/homebrew/bin/chromium
    need chromium-driver any /usr/bin/chromedriver /usr/local/bin/chromedriver /opt/homebrew/bin/chromedriver
    need fonts-dejavu-core any /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf /System/Library/Fonts
    need python3-venv /usr/bin/python3 -c "import ensurepip"
fi

# What scripts/conformance.sh and .ci/run run: schemathesis, openapi-python-client and check-jsonschema, at fixed versions.
conformance() {
    local place=.build/conformance pinned=Tests/Conformance/requirements.txt
    cmp -s "$pinned" "$place/installed" && return
    echo "Installing schemathesis from PyPI into $place …"
    rm -rf "$place"
    mkdir -p .build
    if ! /usr/bin/python3 -m venv "$place" || ! "$place/bin/pip" install --quiet --disable-pip-version-check -r "$pinned"; then
        rm -rf "$place"
        echo "schemathesis could not be installed from PyPI. Check that this machine reaches it (or set PIP_INDEX_URL), then run this again." >&2
        exit 3
    fi
    cp "$pinned" "$place/installed"
}

# axe-core, the accessibility rules of the browser tests: one file out of a package of PyPI, at a fixed version.
fetch_axe() {
    [ "$test" = test ] && [ ! -e .build/axe/axe.min.js ] || return 0
    local place
    place=$(mktemp -d)
    if /usr/bin/python3 -m venv "$place/venv" && "$place/venv/bin/pip" download -q --disable-pip-version-check --no-deps \
        -d "$place" axe-core-python==0.1.0 && /usr/bin/python3 -m zipfile -e "$place"/axe_core_python-*.whl "$place/axe"; then
        mkdir -p .build/axe
        mv "$place/axe/axe_core_python/axe.min.js" .build/axe/axe.min.js
    else
        echo "axe-core could not be fetched from PyPI; the browser tests will miss its rules." >&2
    fi
    rm -rf "$place"
}

if [ ${#missing[@]} -eq 0 ]; then
    if [ "$test" = test ]; then conformance; fi
    fetch_axe
    exit 0
fi

install="apt-get install -y --no-install-recommends ${missing[*]}"
if ! command -v apt-get >/dev/null; then
    echo "These are missing: ${missing[*]} (Debian's names). Install them with your system's package manager, then run this again." >&2
    exit 3
fi
if [ "$(id -u)" = 0 ]; then
    runner=()
elif sudo -n true 2>/dev/null; then
    runner=(sudo)
else
    echo "These packages are missing: ${missing[*]}. Install them and run this again:" >&2
    echo "    sudo apt-get update && sudo $install" >&2
    exit 3
fi
echo "Installing ${missing[*]} …"
"${runner[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
"${runner[@]}" env DEBIAN_FRONTEND=noninteractive $install -qq >/dev/null
if [ "$test" = test ]; then conformance; fi
fetch_axe
