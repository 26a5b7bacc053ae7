#!/bin/bash
# Type-checks the SwiftUI views of PushClient where there is no SwiftUI, against the stand-ins of Tests/StandIns. It shows that they use
# the contract's types as these are; how they look, and that they compile on a Mac, it does not show.
# usage: scripts/check-views.sh [FILE…]     (the views by default)
set -euo pipefail
cd "$(dirname "$0")/.."
files=("$@")
[ ${#files[@]} -gt 0 ] || files=(Sources/PushClient/Views/*.swift)
modules=$(mktemp -d)
trap 'rm -rf "$modules"' EXIT
flags=(-swift-version 6 -parse-as-library -enable-upcoming-feature ExistentialAny -enable-upcoming-feature MemberImportVisibility
    -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature NonisolatedNonsendingByDefault)
contract=()
for name in PagerActivityAttributes PagerCard UnifiedDisplayState ScoreCard; do contract+=("Sources/PushContract/$name.swift"); done
swiftc "${flags[@]}" -emit-module -module-name SwiftUI -emit-module-path "$modules/SwiftUI.swiftmodule" Tests/StandIns/SwiftUI.swift
swiftc "${flags[@]}" -emit-module -module-name PushContract -emit-module-path "$modules/PushContract.swiftmodule" "${contract[@]}"
swiftc "${flags[@]}" -typecheck -warnings-as-errors -module-name Views -I "$modules" "${files[@]}"
echo "views: ${#files[@]} files type-check against the stand-ins"
