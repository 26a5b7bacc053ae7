#!/bin/bash
# Prints figures of the sources: their size, types, unused `package` names, warnings, callers of a provider, words, migrations, tests.
# usage: scripts/figures.sh [--log BUILDLOG] [COMMIT…]     each COMMIT is printed as a column before the tree; BUILDLOG is the log of a
# build of the tree from nothing, which the count of warnings needs
set -euo pipefail
cd "$(dirname "$0")/.."

log=
if [ "${1:-}" = --log ]; then
    log=$2
    shift 2
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trees=()
for commit; do
    mkdir "$scratch/$commit"
    git archive "$commit" Sources Tests $(git ls-tree --name-only "$commit" sql) | tar -x -C "$scratch/$commit"
    trees+=("$scratch/$commit")
done
LOG=$log python3 - "${trees[@]}" "$PWD" <<'PY'
import importlib.util
import os
import re
import sys
from collections import defaultdict
from pathlib import Path

spec = importlib.util.spec_from_file_location("words", "scripts/lint-words.py")
words = importlib.util.module_from_spec(spec)
spec.loader.exec_module(words)
known = words.vocabulary()
MODIFIERS = r"(?:(?:public|package|private|fileprivate|internal|final|indirect|nonisolated|static|mutating|override|convenience|lazy|weak|isolated|distributed|consuming|borrowing|(?:public|package|private)\(set\)|@\w+(?:\([^)]*\))?) )*"
TYPE = re.compile(rf"^[ \t]*{MODIFIERS}(?:struct|class|enum|actor|protocol|typealias) [A-Z]", re.MULTILINE)
PACKAGE = re.compile(rf"^[ \t]*{MODIFIERS}package {MODIFIERS}(?:struct|class|enum|actor|protocol|typealias|func|var|let|case) `?(\w+)", re.MULTILINE)
PROVIDER = re.compile(r"\b\w*[pP]rovider\w*\??\.(?:send|broadcast)\(")


def figures(root, log):
    sources = {path: path.read_text() for path in root.glob("Sources/**/*.swift")}
    tests = {path: path.read_text() for path in root.glob("Tests/**/*.swift")}
    target = {path: path.relative_to(root).parts[1] for path in [*sources, *tests]}
    lines = sorted(text.count("\n") for text in sources.values())
    total = sum(lines)
    types = sum(len(TYPE.findall(text)) for text in sources.values())
    used_in = defaultdict(set)
    for path, text in [*sources.items(), *tests.items()]:
        for word in set(re.findall(r"\w+", text)):
            used_in[word].add(target[path])
    declared = [(target[path], name) for path, text in sources.items() for name in PACKAGE.findall(text)]
    unused = sum(1 for own, name in declared if used_in[name] <= {own})
    callers = sum(
        len(PROVIDER.findall(text)) for path, text in sources.items() if "Bench" not in path.parts and target[path] not in ("Providers", "ProviderSimulator")
    )
    outside = {word for text in sources.values() for name in words.names(text) for word in words.words_of(name) if word not in known}
    warnings = "-"
    if log:
        found = re.findall(r"(?:^|/)((?:Sources|Tests)/[^:\n]+:\d+:\d+: warning: .*)", Path(log).read_text(), re.MULTILINE)
        warnings = len(set(found))
    return {
        "lines in Sources (Swift)": total,
        "files; lines of a file, median / p90 / largest": f"{len(lines)}; {lines[len(lines) // 2]} / {lines[len(lines) * 9 // 10]} / {lines[-1]}",
        "type declarations": types,
        "types per 1,000 lines": round(types * 1000 / total, 1),
        "`package` declarations": len(declared),
        "`package` names unused outside their target": unused,
        "warnings in our own targets": warnings,
        "callers of a provider's send and broadcast": callers,
        "words of declared names outside docs/words.txt": len(outside),
        "migrations": len(list(root.glob("sql/migrations/*.sql"))),
        "lines in Tests (Swift)": sum(text.count("\n") for text in tests.values()),
        "tests (@Test)": sum(text.count("@Test") for text in tests.values()),
    }


trees = [Path(argument) for argument in sys.argv[1:]]
columns = [figures(tree, os.environ.get("LOG") if tree == trees[-1] else None) for tree in trees]
print("| figure | " + " | ".join([*(tree.name for tree in trees[:-1]), "now"]) + " |")
print("|---" * (len(trees) + 1) + "|")
for name in columns[0]:
    print(f"| {name} | " + " | ".join(str(column[name]) for column in columns) + " |")
PY
