/// `- `, `* ` or `1. ` at the start of a line.
struct ListMarker {
    let isOrdered: Bool
    /// Spaces before it.
    let indent: Int
    /// Characters up to the item's text.
    let width: Int

    init?(_ line: Substring) {
        indent = line.indent
        let rest = line.dropFirst(indent)
        let digits = rest.prefix { ("0"..."9").contains($0) }.count
        if let mark = rest.first, mark == "-" || mark == "*", rest.dropFirst().first == " " {
            isOrdered = false
            width = indent + 2
        } else if (1...3).contains(digits), rest.dropFirst(digits).hasPrefix(". ") {
            isOrdered = true
            width = indent + digits + 2
        } else {
            return nil
        }
    }
}

extension Substring {
    var isBlank: Bool { allSatisfy { $0 == " " || $0 == "\t" } }
    var indent: Int { prefix { $0 == " " }.count }

    var trimmed: Substring {
        var text = drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }

    /// Without up to `width` leading spaces.
    func dropIndent(_ width: Int) -> Substring { dropFirst(Swift.min(width, indent)) }
}
