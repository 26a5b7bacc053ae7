#!/usr/bin/env python3
"""Refuses statements on the attempts and the ledger in forms that fail where Citus distributes these tables.

Looks at the string literals of Sources that name one of the tables (or the view of attempts), benchmarks aside. A statement that is put
together from several literals is only found by `make test-citus`. Checks itself first.

usage: scripts/check-statements.py
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLES = r"(?:\b(?:notificationDeliveryAttempts|attemptLedger|ledgerState|attemptLabels)\b|\.source\(by:|\bcountSource\.)"
SHAPES = [
    (r"\bLATERAL\s*\(\s*SELECT\b.*\bLIMIT\b", "LATERAL … LIMIT: a subquery for each (Query.together)"),
    (r"\bFOR\s+(?:NO\s+KEY\s+)?(?:UPDATE|(?:KEY\s+)?SHARE)\b", "rows of several shards locked: compare and swap in UPDATE … RETURNING"),
    (r"\A(?!.*\bMATERIALIZED\b).*(?:\bGROUPING\s+SETS\b|\bROLLUP\s*\(|\bCUBE\s*\()", "grouping sets: over a MATERIALIZED CTE"),
    (r"\bEXISTS\s*\(\s*SELECT\s+FROM\b", "EXISTS (SELECT FROM …): SELECT 1"),
    (rf"\bUPDATE\s+{TABLES}.*::push[A-Z]\w*(?!\w|\[)", r"a cast from text in UPDATE: \(words:)::push…[]"),
    (rf"\bUPDATE\s+{TABLES}.*\[[^\]:]*:[^\]]*\]", "a slice of an array in UPDATE, which ends the coordinator: its elements"),
]
SHAPES = [(re.compile(shape, re.DOTALL | re.IGNORECASE), better) for shape, better in SHAPES]
TABLES = re.compile(TABLES, re.IGNORECASE)
LITERAL = re.compile(r'#*"""(.*?)"""|"((?:\\.|[^"\\\n])*)"', re.DOTALL)
COMMENT = re.compile(r"^\s*--[^\n]*$", re.MULTILINE)

REFUSED = [
    '"""\nSELECT 1 FROM unnest($1) u CROSS JOIN LATERAL (\n SELECT 1 FROM notificationDeliveryAttempts a LIMIT 5) a\n"""',
    '"SELECT status FROM attemptLedger WHERE attemptKey = ANY($1) FOR UPDATE"',
    '"SELECT status FROM attemptledger FOR NO KEY UPDATE"',
    '"SELECT 1 FROM notificationDeliveryAttempts GROUP BY ROLLUP (uid)"',
    '"""\nSELECT 1 FROM attemptLabels\nGROUP BY GROUPING SETS ((uid), ())\n"""',
    '"SELECT minute FROM \\(rule.countSource.rawValue) GROUP BY CUBE (minute)"',
    '"SELECT 1 FROM devices WHERE EXISTS (SELECT FROM notificationDeliveryAttempts)"',
    '"UPDATE attemptLedger SET status = $1::pushStatus"',
    '"UPDATE ledgerState SET frozenAt = frozenAt[1:2]"',
]
ACCEPTED = [
    '"SELECT 1 FROM pushReady FOR UPDATE SKIP LOCKED"',
    '"SELECT 1 FROM notificationDeliveryAttempts ORDER BY attemptedAt LIMIT 1"',
    '"SELECT EXISTS (SELECT 1 FROM notificationDeliveryAttempts)"',
    '"WITH c AS MATERIALIZED (SELECT uid FROM attemptLabels) SELECT uid FROM c GROUP BY ROLLUP (uid)"',
    '"UPDATE attemptLedger SET status = m.status FROM unnest($1::pushStatus[]) AS m (status)"',
    '"SELECT 1 FROM notificationDeliveryAttempts WHERE status = $1::pushStatus"',
]


def refusals(text):
    """The line and the remedy of each statement that is refused."""
    for literal in LITERAL.finditer(text):
        statement = COMMENT.sub("", literal[1] or literal[2] or "")
        if TABLES.search(statement):
            for shape, better in SHAPES:
                if shape.search(statement):
                    yield text.count("\n", 0, literal.start()) + 1, better


def main():
    wrong = [text for text in REFUSED if not list(refusals(text))] + [text for text in ACCEPTED if list(refusals(text))]
    if wrong:
        sys.exit("scripts/check-statements.py is wrong about:\n" + "\n".join(wrong))
    found = 0
    for path in sorted((ROOT / "Sources").rglob("*.swift")):
        if "Bench" in path.parts:
            continue
        for line, better in refusals(path.read_text()):
            print(f"{path.relative_to(ROOT)}:{line}: not on distributed tables: {better}", file=sys.stderr)
            found += 1
    if found:
        sys.exit(1)
    print("statements: none on the attempts or the ledger that fails on distributed tables")


if __name__ == "__main__":
    main()
