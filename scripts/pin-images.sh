#!/bin/bash
# Writes the digest behind each image's tag into the files that name images, so that two builds begin with the same bytes: FROM image:tag
# becomes FROM image:tag@sha256:…; one that has a digest gets the tag's present one. Needs the network.
# usage: scripts/pin-images.sh [--check] [FILE…]     (--check changes nothing, and exits with 1 if an image has no digest)
# REGISTRY=https://… asks another registry than Docker Hub's, for all images.
set -euo pipefail
cd "$(dirname "$0")/.."

check=
[ "${1:-}" = --check ] && { check=1; shift; }
files=("$@")
[ ${#files[@]} -gt 0 ] || files=(
    Dockerfile deploy/docker/Dockerfile compose.yaml deploy/citus/compose.yaml .github/workflows/test.yml .github/workflows/release.yml
)
registry=${REGISTRY:-https://registry-1.docker.io}

# digest NAME TAG: of the list of platforms, as `docker pull` resolves the tag.
digest() {
    local name=$1 tag=$2 token header=() answer
    [[ $name == */* ]] || name=library/$name
    if [ "$registry" = https://registry-1.docker.io ]; then
        token=$(curl -fsS "https://auth.docker.io/token?service=registry.docker.io&scope=repository:$name:pull" | sed -E 's/.*"token":"([^"]*)".*/\1/')
        header=(-H "Authorization: Bearer $token")
    fi
    answer=$(curl -fsSI "${header[@]}" \
        -H 'Accept: application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json' \
        "$registry/v2/$name/manifests/$tag") || { echo "$name:$tag cannot be found at $registry." >&2; return 1; }
    tr -d '\r' <<<"$answer" | sed -nE 's/^docker-content-digest: (sha256:[0-9a-f]{64})$/\1/Ip' | grep . \
        || { echo "$registry gives no digest for $name:$tag." >&2; return 1; }
}

bad=0
for file in "${files[@]}"; do
    # The image that compose builds itself has no tag and no registry.
    while IFS= read -r image; do
        tagged=${image%%@*}
        if [ -n "$check" ]; then
            [[ $image == *@sha256:* ]] || { echo "$file: $image has no digest; run scripts/pin-images.sh"; bad=1; }
            continue
        fi
        found=$(digest "${tagged%:*}" "${tagged##*:}")
        sed -i -E "s#$image( |\$)#$tagged@$found\1#" "$file"
        echo "$file: $tagged@$found"
    done < <(sed -nE 's/^(FROM|[[:space:]]*(image|container):)[[:space:]]+([^[:space:]]+:[^[:space:]]+).*/\3/p' "$file" | sort -u)
done
exit "$bad"
