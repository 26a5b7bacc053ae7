/// Reads lines into blocks. Whatever it does not know becomes a paragraph, so no line of a runbook is ever lost.
struct MarkdownReader {
    private let lines: [Substring]
    private var position = 0

    /// Lists may stand in lists this deep; what is deeper is read as text.
    private let depth: Int

    static func blocks(_ text: String) -> [MarkdownBlock] {
        let lines = text.replacing("\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false)
        var reader = MarkdownReader(lines: lines, depth: 6)
        return reader.read()
    }

    private init(lines: [Substring], depth: Int) {
        self.lines = lines
        self.depth = depth
    }

    private mutating func read() -> [MarkdownBlock] {
        var blocks: [MarkdownBlock] = []
        while position < lines.count {
            let line = lines[position]
            if line.isBlank {
                position += 1
            } else if let heading = Self.heading(line) {
                blocks.append(heading)
                position += 1
            } else if line.trimmed.hasPrefix("```") {
                blocks.append(code())
            } else if depth > 0, let marker = ListMarker(line) {
                blocks.append(list(marker))
            } else if isTable {
                blocks.append(table())
            } else {
                blocks.append(paragraph())
            }
        }
        return blocks
    }

    private static func heading(_ line: Substring) -> MarkdownBlock? {
        let level = line.prefix { $0 == "#" }.count
        guard (1...6).contains(level), line.dropFirst(level).first == " " else { return nil }
        return .heading(level: level, text: String(line.dropFirst(level).trimmed))
    }

    private mutating func code() -> MarkdownBlock {
        let indent = lines[position].indent
        position += 1
        var code: [Substring] = []
        while position < lines.count, !lines[position].trimmed.hasPrefix("```") {
            code.append(lines[position].dropIndent(indent))
            position += 1
        }
        position += 1
        return .code(code.joined(separator: "\n"))
    }

    /// An item holds its own line and whatever is indented under it.
    private mutating func list(_ first: ListMarker) -> MarkdownBlock {
        var items: [[MarkdownBlock]] = []
        while position < lines.count, let marker = ListMarker(lines[position]), marker.isOrdered == first.isOrdered,
            marker.indent == first.indent
        {
            var inner: [Substring] = [lines[position].dropFirst(marker.width)]
            position += 1
            while position < lines.count, belongs(lines[position], to: marker) {
                inner.append(lines[position].dropIndent(marker.width))
                position += 1
            }
            var reader = MarkdownReader(lines: inner, depth: depth - 1)
            items.append(reader.read())
            skipBlanksBeforeItem(first)
        }
        return .list(ordered: first.isOrdered, items: items)
    }

    private func belongs(_ line: Substring, to marker: ListMarker) -> Bool {
        if line.isBlank { return nextLine(after: position).map { $0.indent >= marker.width } ?? false }
        return line.indent >= marker.width
    }

    private mutating func skipBlanksBeforeItem(_ first: ListMarker) {
        guard position < lines.count, lines[position].isBlank, let next = nextLine(after: position), let marker = ListMarker(next),
            marker.isOrdered == first.isOrdered, marker.indent == first.indent
        else { return }
        while position < lines.count, lines[position].isBlank { position += 1 }
    }

    private func nextLine(after index: Int) -> Substring? { lines[index...].first { !$0.isBlank } }

    private var isTable: Bool {
        guard position + 1 < lines.count, lines[position].trimmed.hasPrefix("|") else { return false }
        let rule = lines[position + 1].trimmed
        return rule.hasPrefix("|") && rule.allSatisfy { "|-: ".contains($0) }
    }

    private mutating func table() -> MarkdownBlock {
        let header = MarkdownCells.split(lines[position])
        position += 2
        var rows: [[String]] = []
        while position < lines.count, lines[position].trimmed.hasPrefix("|") {
            rows.append(MarkdownCells.split(lines[position]))
            position += 1
        }
        return .table(header: header, rows: rows)
    }

    private mutating func paragraph() -> MarkdownBlock {
        var text: [Substring] = [lines[position].trimmed]
        position += 1
        while position < lines.count, !startsBlock(lines[position]) {
            text.append(lines[position].trimmed)
            position += 1
        }
        return .paragraph(text.joined(separator: " "))
    }

    private func startsBlock(_ line: Substring) -> Bool {
        line.isBlank || line.trimmed.hasPrefix("```") || Self.heading(line) != nil || line.trimmed.hasPrefix("|")
            || (depth > 0 && ListMarker(line) != nil)
    }
}
