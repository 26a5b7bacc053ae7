#!/bin/bash
# Tests of the tests: plants a known defect into a copy of the sources, builds it, runs the test that covers it, and expects that
# test to fail. Exit 1 when a defect goes unnoticed, or when an edit no longer applies to the sources (then update it below).
#
# It works on .build/planted (or PLANTED_IN), a copy of the tree with its own build, and never changes the tree itself.
# usage: scripts/plant.sh all | rows | check | client [NAME…] | NAME…        names: ack-before-commit rollup-outside rollup-outside-fresh
# rotation-unlocked keys-unsorted, and the rows of scripts/row-mutants.txt, which `rows` plants. `check` only checks that every edit
# applies to its file; it builds nothing. `client` plants the defects of scripts/client-mutants.txt into a package of the client alone,
# runs the vectors, and expects at least 95 % of them to be caught.
set -uo pipefail
cd "$(dirname "$0")/.."
root=$PWD
. scripts/copy-tree.sh
scratch=${PLANTED_IN:-$root/.build/planted}

# Each: the name of the file, a Perl edit that must change it, the test that must fail.
plan() {
    case $1 in
        ack-before-commit)
            # The writer answers before the commit: of the transactions that were answered, one in four never came to be.
            source=AttemptIngestor.swift
            edit='s/answer\(entries, (try store\(batch, fresh, [^\n]*?, on: connection\)), since: start\)/let isLost = Int.random(in: 0..<4) == 0\n                answer(entries, isLost ? Array(repeating: .accepted, count: batch.count) : $1, since: start)/'
            test='IntegrationTests\.WholeService/TwoServerTests'
            ;;
        rollup-outside)
            # Attempts are committed before they are counted.
            source=RollupDelta.swift
            edit='s/(func apply\(slot: Int16, now: Timestamp, on connection: BlockingConnection\) throws \{\n)/$1        try connection.executeScript("COMMIT; BEGIN")\n/'
            test='AttemptsTests\.AttemptWriterTests/oneTransaction'
            ;;
        rollup-outside-fresh)
            # The same where a batch is written as all new: in one pipeline afterwards, around COPY before.
            source=FreshWriter.swift
            edit='s/(try connection\.pipeline\(\[begin\] \+ checks \+ keys \+ facts) \+ rollups\(batch, now: receivedAt\) \+ \[end\]\)/$1 + [end])\n                try connection.pipeline(rollups(batch, now: receivedAt))/; s/(try connection\.pipeline\(\[begin\] \+ checks \+ keys \+ rollups\(batch, now: receivedAt\))\)/$1 + ["COMMIT", "BEGIN"])/'
            test='AttemptsTests\.FreshWriterTests/(oneTransaction|storedAndCounted)'
            ;;
        rotation-unlocked)
            # The ledger's generation is switched without waiting for the batches under way.
            source=LedgerRotation.swift
            edit='s/\n[^\n]*LOCK TABLE ledgerState IN ACCESS EXCLUSIVE MODE[^\n]*\n/\n/'
            test='AttemptsTests\.LedgerRotationTests/waitsForWriters'
            ;;
        keys-unsorted)
            # Batches take their locks in the order of their items: two of them can wait for each other.
            source=AttemptGroups.swift
            edit='s/sorted\.sort \{ \$0\.key != \$1\.key \? \$0\.key < \$1\.key : \$0\.index < \$1\.index \}/let salt = UInt64.random(in: 0...UInt64.max)\n        sorted.sort { \$0.key != \$1.key ? (\$0.key.low ^ salt) < (\$1.key.low ^ salt) : \$0.index < \$1.index }/'
            test='AttemptsTests\.(LedgerRotationTests|AttemptWriterTests)'
            ;;
        *)
            read -r _ source test edit < <(grep "^$1 " scripts/row-mutants.txt) || { echo "unknown defect: $1" >&2; exit 2; }
            ;;
    esac
    file=Sources/$source
    [ -f "$file" ] || file=$(find Sources/Attempts -name "$source")
    [ -f "$file" ] || { echo "$1: no file $source in Sources" >&2; exit 2; }
}

# A defect of the client's rules: sets file and edit.
plan_client() {
    read -r _ source edit < <(grep "^$1 " scripts/client-mutants.txt) || { echo "unknown defect: $1" >&2; exit 2; }
    file=$(find Sources/PushClient Sources/PushContract -name "$source")
    [ -f "$file" ] || { echo "$1: no file $source in Sources/PushClient" >&2; exit 2; }
}

# The client and its tests as a package of their own, which builds in seconds.
client_package() {
    cat <<'PACKAGE'
// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let package = Package(
    name: "pushwatch",
    platforms: [.macOS(.v15), .iOS("16.2")],
    dependencies: [.package(url: "https://github.com/apple/swift-crypto", "4.5.2"..<"5.0.0")],
    targets: [
        .target(name: "PushContract", dependencies: [crypto], swiftSettings: strict),
        .target(name: "PushClient", dependencies: ["PushContract"], swiftSettings: strict),
        .testTarget(name: "PushClientTests", dependencies: ["PushClient", "PushContract", crypto], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
PACKAGE
}

client() {
    local planted=0 caught=0 name before
    scratch=${PLANTED_IN:-$root/.build/planted-client}
    copy_tree "$scratch"
    client_package >"$scratch/Package.swift"
    vectors='PushClientTests\.(ContractVectorTests|TraceVectorTests|ClientTraceTests)'
    cd "$scratch"
    swift build --build-tests >build.log 2>&1 || { tail -20 build.log; exit 1; }
    swift test --skip-build --disable-xctest --filter "$vectors" >vectors.log 2>&1 || { echo "vectors fail without a defect; see $scratch/vectors.log"; exit 1; }
    for name in "$@"; do
        plan_client "$name"
        cp "$file" original
        perl -0pi -e "$edit" "$file"
        planted=$((planted + 1))
        if cmp -s original "$file"; then
            echo "$name: the edit does not apply to $file"
        elif ! swift build --build-tests >build.log 2>&1; then
            echo "$name: does not build: $(grep -m 1 'error:' build.log)"
        elif timeout 120 swift test --skip-build --disable-xctest --filter "$vectors" >"$name.log" 2>&1; then
            echo "$name: NOT caught"
        else
            caught=$((caught + 1))
            echo "$name: caught"
        fi
        cp original "$file"
    done
    cd "$root"
    echo "$caught of $planted planted defects of the client are caught by the vectors"
    [ $((caught * 100)) -ge $((planted * 95)) ]
}

every=(ack-before-commit rollup-outside rollup-outside-fresh rotation-unlocked keys-unsorted)
names=("$@")
[ "${1:-}" != all ] || names=("${every[@]}")
[ ${#names[@]} -gt 0 ] || { sed -n 2,10p "$0"; exit 2; }
bad=0
mapfile -t every_client < <(grep -v '^#' scripts/client-mutants.txt | cut -d ' ' -f 1)
mapfile -t every_row < <(grep -v '^#' scripts/row-mutants.txt | cut -d ' ' -f 1)
[ "${1:-}" != rows ] || names=("${every_row[@]}")
if [ "$1" = client ]; then
    shift
    [ $# -gt 0 ] || set -- "${every_client[@]}"
    client "$@"
    exit
fi
if [ "$1" = check ]; then
    for name in "${every_client[@]}"; do
        plan_client "$name"
        ! perl -0pe "$edit" "$file" | cmp -s - "$file" || { echo "$name: the edit does not apply to $file"; bad=1; }
    done
    for name in "${every[@]}" "${every_row[@]}"; do
        plan "$name"
        [ "$(perl -0pe "$edit" "$file" | cksum)" != "$(cksum <"$file")" ] || { echo "$name: the edit does not apply to $file"; bad=1; }
    done
    exit "$bad"
fi
for name in "${names[@]}"; do
    plan "$name"
    copy_tree "$scratch"
    cd "$scratch"
    before=$(cksum <"$file")
    perl -0pi -e "$edit" "$file"
    if [ "$before" = "$(cksum <"$file")" ]; then
        echo "$name: the edit does not apply to $file"
        bad=1
    elif ! swift build --build-tests >"$scratch/build.log" 2>&1; then
        echo "$name: does not build; see $scratch/build.log"
        grep -m 3 'error:' "$scratch/build.log"
        bad=1
    elif swift test --skip-build --disable-xctest --filter "$test" >"$scratch/$name.log" 2>&1; then
        echo "$name: NOT caught by $test"
        bad=1
    else
        echo "$name: caught, $(grep -cE '✘ Test .* recorded an issue' "$scratch/$name.log") issues in $test"
    fi
    cd "$root"
done
exit "$bad"
