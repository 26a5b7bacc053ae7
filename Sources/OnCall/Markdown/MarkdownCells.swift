/// The cells of a table's line: split at `|`, but not inside code and not at `\|`.
enum MarkdownCells {
    static func split(_ line: Substring) -> [String] {
        var cells: [String] = [""]
        var isCode = false
        var isEscaped = false
        for character in line.trimmed.dropFirst() {
            if isEscaped {
                cells[cells.count - 1] += character == "|" ? "|" : "\\" + String(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "|", !isCode {
                cells.append("")
            } else {
                if character == "`" { isCode.toggle() }
                cells[cells.count - 1].append(character)
            }
        }
        if cells.last?[...].isBlank == true { cells.removeLast() }
        return cells.map { String($0[...].trimmed) }
    }
}
