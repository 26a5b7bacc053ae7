#!/bin/bash
# Packs a release: DIRECTORY/pushwatch-VERSION-OS-ARCH.tar.gz, and next to it what is in it (.cdx.json, CycloneDX), and the SHA-256 of both
# (.sha256). With SIGNING_KEY, the file of an SSH key, the sums are signed (.sha256.sig; ssh-keygen -Y verify, docs/operations.md).
# usage: scripts/dist.sh [PROGRAMS [DIRECTORY]]
# PROGRAMS: the directory of both programs; without it a release is built. DIRECTORY: dist/ unless given.
# GZIP_LEVEL=1 packs in a fraction of the time that 9, the default, takes.
# In it: pushwatch and pushwatch-dev (stripped, Swift's own libraries inside), sql/, alerts/, live-activities/, matches/, dashboards/,
# docs/, vectors/, a systemd unit, a settings example, and what makes an image of it. docs/operations.md says how to install it; DistTests
# look into it. What stays outside: libpq, libcurl, libnghttp2, OpenSSL, libsimdjson, zlib, libjemalloc, libcmark-gfm and the C library, so
# that the system's updates of them count.
set -euo pipefail
cd "$(dirname "$0")/.."

programs=${1:-}
place=${2:-dist}
if [ -z "$programs" ]; then
    flags=(-c release --static-swift-stdlib)
    swift build "${flags[@]}" --product pushwatch
    swift build "${flags[@]}" --product pushwatch-dev
    programs=$(swift build "${flags[@]}" --show-bin-path)
fi
bash scripts/check-programs.sh "$programs"
version=$("$programs/pushwatch" --version)
name="pushwatch-$version-$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)"

rm -rf "${place:?}/$name"
mkdir -p "$place/$name/bin"
for program in pushwatch pushwatch-dev; do
    # The compiler's hashes of its own intermediate code differ from build to build, and the linker's identifier with them.
    strip --remove-section=.swift_modhash --remove-section=.note.gnu.build-id -o "$place/$name/bin/$program" "$programs/$program"
    echo "$program $(du -h --apparent-size "$place/$name/bin/$program" | cut -f1)"
done
cp -R sql alerts live-activities matches dashboards docs deploy README.md CHANGELOG.md llms.txt compose.yaml "$place/$name/"
# What a client of another platform must pass (docs/parity.md).
cp -R Tests/Vectors "$place/$name/vectors"
# The image of a release holds the program that is there; the Dockerfile of the sources builds one.
mv "$place/$name/deploy/docker/Dockerfile" "$place/$name/Dockerfile"
rmdir "$place/$name/deploy/docker"
python3 scripts/sbom.py "$programs/pushwatch" "$programs/pushwatch-dev" >"$place/$name/sbom.cdx.json"
# The same bytes from the same commit: one order, one owner, one time.
time=$(git log -1 --format=%ct 2>/dev/null || echo 0)
tar --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw --mtime="@$time" -C "$place" -cf - "$name" | gzip -n"${GZIP_LEVEL:-9}" >"$place/$name.tar.gz"
cp "$place/$name/sbom.cdx.json" "$place/$name.cdx.json"
(cd "$place" && sha256sum "$name.tar.gz" "$name.cdx.json" >"$name.sha256")
if [ -n "${SIGNING_KEY:-}" ]; then
    rm -f "$place/$name.sha256.sig"
    ssh-keygen -q -Y sign -f "$SIGNING_KEY" -n pushwatch-release "$place/$name.sha256"
else
    echo "not signed: SIGNING_KEY names no key"
fi
rm -rf "${place:?}/$name"
echo "$place/$name.tar.gz ($(du -h "$place/$name.tar.gz" | cut -f1))"
