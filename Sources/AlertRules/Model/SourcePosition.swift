/// A place in a file, counted from 1.
package struct SourcePosition: Sendable, Hashable, Comparable {
    package var file: String
    package var line: Int
    package var column: Int

    package init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    package static func < (a: SourcePosition, b: SourcePosition) -> Bool {
        (a.file, a.line, a.column) < (b.file, b.line, b.column)
    }
}

extension SourcePosition: CustomStringConvertible {
    package var description: String { "\(file):\(line):\(column)" }
}
