import ServiceKit

/// Columns of text, as wide as their widest cell; the last one is not padded.
package struct TextTable {
    package var text: String

    package init(_ header: [String], _ rows: [[String]]) {
        // A line break in a cell would split its row, an escape sequence of a stored text would reach the terminal.
        let all = [header] + rows.map { $0.map { $0.split(whereSeparator: \.isNewline).joined(separator: " ").visible } }
        let widths = header.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        text = all.map { row in
            row.indices.map { column in
                column == row.count - 1 ? row[column] : row[column] + String(repeating: " ", count: widths[column] - row[column].count)
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}
