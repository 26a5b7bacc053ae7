# Sourced by plant.sh and extend-check.sh: copies the tree to a directory with a build of its own.
# Copies only what differs, so that the build of the previous run is reused.
copy_tree() { # copy_tree DIRECTORY; in the root of the tree
    local scratch=$1 items=() item
    mkdir -p "$scratch"
    for item in Package.swift Package.resolved versions.txt Sources Tests sql alerts scripts docs dashboards live-activities matches deploy \
        README.md CHANGELOG.md Makefile; do
        [ -e "$item" ] && items+=("$item")
    done
    find "${items[@]}" \( -type f -o -type l \) | sort >"$scratch/wanted"
    while IFS= read -r item; do
        [ ! -d "$item" ] && cmp -s "$item" "$scratch/$item" && continue
        mkdir -p "$scratch/$(dirname "$item")"
        cp -PTf "$item" "$scratch/$item"
    done <"$scratch/wanted"
    # Remove what the tree no longer has.
    (cd "$scratch" && for item in "${items[@]}"; do [ -e "$item" ] && find "$item" \( -type f -o -type l \); done | sort) >"$scratch/had"
    comm -13 "$scratch/wanted" "$scratch/had" | while IFS= read -r item; do rm "$scratch/$item"; done
}
