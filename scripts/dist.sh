#!/bin/bash
# Builds a release and packs it: dist/pushwatch-VERSION-OS-ARCH.tar.gz, with its SHA-256 beside it.
# In it: the program (stripped, Swift's own libraries inside), sql/, alerts/, live-activities/, matches/, dashboards/, docs/, a systemd unit,
# a settings example.
# What stays outside: libpq, libcurl, libsimdjson, zlib and the C library, so that the system's updates of them count.
set -euo pipefail
cd "$(dirname "$0")/.."

flags=(-c release --static-swift-stdlib --product pushwatch)
swift build "${flags[@]}"
binary="$(swift build "${flags[@]}" --show-bin-path)/pushwatch"
version=$("$binary" --version)
name="pushwatch-$version-$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)"

rm -rf "dist/$name"
mkdir -p "dist/$name/bin"
strip -o "dist/$name/bin/pushwatch" "$binary"
cp -R sql alerts live-activities matches dashboards docs deploy README.md CHANGELOG.md "dist/$name/"
# The same bytes from the same commit: one order, one owner, one time.
time=$(git log -1 --format=%ct 2>/dev/null || echo 0)
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$time" -C dist -cf - "$name" | gzip -n9 >"dist/$name.tar.gz"
(cd dist && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
rm -rf "dist/$name"
echo "dist/$name.tar.gz ($(du -h "dist/$name.tar.gz" | cut -f1))"
