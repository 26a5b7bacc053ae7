#!/usr/bin/env python3
"""Checks the words of the project.

1. Names: every word of a name declared in Sources (types, functions, properties, cases, parameters; camelCase split) is in docs/words.txt.
2. Prose: comments and string literals of Sources, docs, alerts, comments of sql, README and CHANGELOG use none of the phrases below.
3. Lines have at most 140 characters: of documents outside tables and code; of Sources, Tests and sql, where what literals contain does
   not count, since swift-format breaks none. Fixtures and vectors are not checked.

docs/words-todo.txt lists what is still to be done: `name WORD`, `line PATH` and `file PATH` (of a Swift file only its
name, so that moves do not matter). It must only shrink.

usage: scripts/lint-words.py [--all] [--update] [--count]
  --all      also print the findings in files of docs/words-todo.txt
  --update   remove from docs/words-todo.txt what is done
  --count    print the number of findings only, and exit 0
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORDS = ROOT / "docs/words.txt"
TODO = ROOT / "docs/words-todo.txt"

# Phrase → what to write instead. Matched against prose, without regard to case.
PHRASES = {
    r"told|tell|tells|telling": "notify, report, state, distinguish",
    r"held back|holds? back|holding back": "suppress",
    r"held": "blocked, suppressed, open circuit, leased",
    r"standstill": "open circuit",
    r"lanes?": "queue, notification order key",
    r"episodes?": "alert",
    r"couriers?": "notifier",
    r"token breakers?|breakers?": "deactivation limiter, circuit",
    r"strikes?": "token feedback",
    r"judgements?|withheld": "feedback, deferred",
    r"parked|unpark(?:ed|s)?": "dead-lettered, retry",
    r"seals?|sealed|sealing|vaults?": "encrypt",
    r"mend(?:s|ed|ing)?": "fix",
    r"heed(?:s|ed|ing)?": "obey, observe",
    r"owed|owes": "due",
    r"(?:stands?|standing) twice": "duplicate",
    r"made[- ]up": "synthetic",
    r"besides?": "next to, together with",
    r"(?:lies|lie) (?:in|below|under|there|next|outside)": "is in",
    r"whoever|whatever came|nobody knows|somebody knew|came of it|comes of it": "name the actor or the outcome",
    r"surroundings": "environment",
    r"drill(?:s|ed)?": "test notification",
    r"shelf|shelves|desks?|books?|boards?|doors?|rings?|crowds?": "cache, handler, registry, state, listener, key set, fleet",
    r"floors?|house|room": "layer, minimum, structure, space",
    r"distance to firing": "rule status",
}
# Legitimate uses, removed from a line before it is checked.
ALLOWED = [
    r"circuit breakers?",
    r"\w*floor\(",  # rounding down
    r"strike rates?|(?:on|off|the) strike|strike bowlers?",  # cricket
    r"\"strike\":true|\bstrike: \{ type: boolean",  # a field of the cricket display state
    r"holds? (?:a |the |its )?locks?|locks? (?:is |are |it )?held|held locks?",
    r"boundary (?:ropes?|boards?)",
    r"besides that",
    r"AES\.GCM\.SealedBox|SealedBox|\.seal\(",
    r"key ?rings?\b(?= of the operating)",
    r"/floors?/",
]
PATTERNS = [(re.compile(rf"(?<![\w/.-])(?:{phrase})(?![\w/]|-\w)", re.IGNORECASE), better) for phrase, better in PHRASES.items()]
ALLOWED_PATTERN = re.compile("|".join(ALLOWED), re.IGNORECASE)

COMMENT = re.compile(r"//+[^\n]*")
MULTILINE = re.compile(r'#*"""(.*?)"""', re.DOTALL)
STRING = re.compile(r'"((?:\\\(|\\.|[^"\\\n])*)"')
# Literals of one line, with what is interpolated into them.
LITERAL = re.compile(r'(#+)".*?"\1|"(?:\\#*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\\.|[^"\\\n])*"')
SQL_LITERAL = re.compile(r"'(?:[^'\n]|'')*'")
DECLARED = re.compile(r"\b(?:struct|class|enum|actor|protocol|typealias|associatedtype|extension|func|var|let)\s+`?([A-Za-z_]\w*)`?")
CASES = re.compile(r"^[ \t]*(?:indirect )?case ([a-z`][^\n:]*)$", re.MULTILINE)
PARAMETER = re.compile(r"[(,]\s*([a-z_]\w*)(?:\s+([a-z_]\w*))?\s*:\s*(?=sending|inout|borrowing|consuming|@|some |any |\[|\(|[A-Z])")
PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
KEYWORDS = {"let", "var", "is", "as", "self", "init"}


def names(text):
    """The names that Swift source declares."""
    text = STRING.sub('""', COMMENT.sub("", MULTILINE.sub('""', text)))
    found = set(DECLARED.findall(text))
    for line in CASES.findall(text):
        line = re.sub(r"\([^()]*(?:\([^()]*\)[^()]*)*\)", "", line)
        for item in line.split(","):
            match = re.match(r"\s*`?([a-z]\w*)`?\s*(?:=.*)?$", item)
            if match and match.group(1) not in KEYWORDS:
                found.add(match.group(1))
    for match in PARAMETER.findall(text):
        found.update(name for name in match if name)
    return found


def words_of(name):
    return [part.lower() for part in PARTS.findall(name)]


def forms(word):
    """A word with its regular inflections."""
    result = {word, word + "s", word + "es", word + "d", word + "ed", word + "ing"}
    if word.endswith("e"):
        result |= {word[:-1] + "ing"}
    if word.endswith("y"):
        result |= {word[:-1] + "ies", word[:-1] + "ied"}
    if re.search(r"[aeiou][bdgklmnprt]$", word):
        result |= {word + word[-1] + "ed", word + word[-1] + "ing"}
    return result


def vocabulary():
    known = set()
    for line in WORDS.read_text().splitlines():
        word = line.split("#")[0].strip()
        if word:
            known |= forms(word)
    return known


def prose(path, text):
    """(line number, text) of what people read in a file."""
    if path.suffix == ".swift":
        for match in MULTILINE.finditer(text):
            start = text.count("\n", 0, match.start(1)) + 1
            for offset, line in enumerate(match.group(1).split("\n")):
                yield start + offset, re.sub(r"\\\([^)]*\)", "", line)
        for number, line in enumerate(MULTILINE.sub(lambda m: "\n" * m.group(0).count("\n"), text).split("\n"), 1):
            for match in STRING.finditer(line):
                value = re.sub(r"\\\([^)]*\)", "", match.group(1))
                if " " in value:
                    yield number, value
            comment = re.search(r"(?:^|\s)//+(.*)$", STRING.sub('""', line))
            if comment:
                yield number, comment.group(1)
    elif path.suffix == ".sql":
        for number, line in enumerate(text.split("\n"), 1):
            if "--" in line:
                yield number, line.split("--", 1)[1]
    else:
        on = True
        for number, line in enumerate(text.split("\n"), 1):
            if "<!-- words: off -->" in line:
                on = False
            elif "<!-- words: on -->" in line:
                on = True
            elif on:
                # Code in backticks is checked where it is declared; “…” are titles of tests.
                yield number, re.sub(r"`[^`]*`|“[^”]*”", "", line) if path.suffix == ".md" else line


def prose_files():
    yield from (ROOT / name for name in ("README.md", "CHANGELOG.md"))
    for folder, suffixes in (("Sources", {".swift"}), ("docs", {".md", ".yaml"}), ("alerts", {".md", ".yml"}), ("sql", {".md", ".sql"}), ("dashboards", {".md"})):
        yield from (path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in suffixes)


def long_lines():
    """(path, line number, length) of lines with more than 140 characters."""
    for path in (path for path in prose_files() if path.suffix == ".md"):
        is_code = False
        for number, line in enumerate(path.read_text().split("\n"), 1):
            text = line.lstrip(" ")
            if text.startswith("```"):
                is_code = not is_code
            if len(line) > 140 and not is_code and not text.startswith("|"):
                yield path.relative_to(ROOT), number, len(line)
    for folder, suffix in (("Sources", ".swift"), ("Tests", ".swift"), ("sql", ".sql")):
        for path in sorted((ROOT / folder).rglob(f"*{suffix}")):
            is_literal = False
            for number, line in enumerate(path.read_text().split("\n"), 1):
                is_text = line.lstrip(" ").startswith(("//", "--"))
                if suffix == ".swift" and line.count('"""') % 2:
                    is_literal = not is_literal
                elif is_literal:
                    continue
                literal, empty = (SQL_LITERAL, "''") if suffix == ".sql" else (LITERAL, '""')
                if len(line) > 140 and len(line if is_text else literal.sub(empty, line)) > 140:
                    yield path.relative_to(ROOT), number, len(line)


def main():
    options = set(sys.argv[1:])
    todo = [line.split("#")[0].strip() for line in TODO.read_text().splitlines()] if TODO.exists() else []
    todo = {line for line in todo if line}
    known = vocabulary() if WORDS.exists() else set()
    bad, done = [], set(todo)
    count = {"names": 0, "prose": 0}

    unknown = {}
    for path in sorted((ROOT / "Sources").rglob("*.swift")):
        for name in names(path.read_text()):
            for word in words_of(name):
                if word not in known:
                    unknown.setdefault(word, []).append(f"{path.relative_to(ROOT)}: {name}")
    count["names"] = len(unknown)
    for word, places in sorted(unknown.items()):
        done.discard(f"name {word}")
        if f"name {word}" not in todo or "--all" in options:
            bad.append((f"name {word}", f"{word} is not in docs/words.txt: {'; '.join(places[:3])}{' …' if len(places) > 3 else ''}"))

    for path in prose_files():
        relative = str(path.relative_to(ROOT))
        key = "file " + (path.name if path.suffix == ".swift" else relative)
        for number, line in prose(path, path.read_text()):
            line = ALLOWED_PATTERN.sub("", line)
            for pattern, better in PATTERNS:
                match = pattern.search(line)
                if not match:
                    continue
                count["prose"] += 1
                done.discard(key)
                if key not in todo or "--all" in options:
                    bad.append((key, f"{relative}:{number}: “{match.group(0)}”; write: {better}"))

    for path, number, length in long_lines():
        key = f"line {path}"
        done.discard(key)
        if key not in todo or "--all" in options:
            bad.append((key, f"{path}:{number}: {length} characters; write at most 140"))

    if "--count" in options:
        print(f"words of declared names outside docs/words.txt: {count['names']}; phrases to replace: {count['prose']}")
        return 0
    if "--update" in options:
        TODO.write_text("".join(line + "\n" for line in TODO.read_text().splitlines() if line.split("#")[0].strip() not in done))
    elif done:
        for line in sorted(done):
            print(f"docs/words-todo.txt: {line}: done; remove the line (scripts/lint-words.py --update)")
    for _, message in bad:
        print(message)
    failed = any(key not in todo for key, _ in bad) or (bool(done) and "--update" not in options)
    if not failed:
        print(f"words: {len(todo - done)} entries left in docs/words-todo.txt")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
