/// Finds the statements of an SQL text: a semicolon ends one, unless it is quoted or in a comment.
enum SQLStatements {
    /// Without comments before and between them.
    static func split(_ sql: String) -> [String] {
        let bytes = Array(sql.utf8)
        var statements: [String] = []
        var start = 0
        var position = 0
        var isBlank = true
        func finish(_ end: Int) {
            if !isBlank { statements.append(String(decoding: bytes[start..<end], as: UTF8.self)) }
            start = end
            isBlank = true
        }
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: ";"):
                finish(position)
                position += 1
                start = position
            case UInt8(ascii: "'"), UInt8(ascii: "\""):
                isBlank = false
                let escapes = bytes[position] == UInt8(ascii: "'") && isEscapeString(bytes, at: position)
                position = endOfQuoted(bytes, from: position, escapes: escapes)
            case UInt8(ascii: "$"):
                isBlank = false
                position = endOfTagged(bytes, from: position) ?? position + 1
            case UInt8(ascii: "-") where bytes[position...].starts(with: [UInt8(ascii: "-"), UInt8(ascii: "-")]):
                position = bytes[position...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
                if isBlank { start = position }
            case UInt8(ascii: "/") where bytes[position...].starts(with: [UInt8(ascii: "/"), UInt8(ascii: "*")]):
                position = endOfComment(bytes, from: position)
                if isBlank { start = position }
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                position += 1
                if isBlank { start = position }
            default:
                isBlank = false
                position += 1
            }
        }
        finish(bytes.count)
        return statements
    }

    /// `E'…'`: a backslash escapes.
    private static func isEscapeString(_ bytes: [UInt8], at start: Int) -> Bool {
        guard start > 0, bytes[start - 1] | 0x20 == UInt8(ascii: "e") else { return false }
        return start == 1 || !isWord(bytes[start - 2])
    }

    /// Two quotes are one inside; then the second begins another quoted part, which ends in the same place.
    private static func endOfQuoted(_ bytes: [UInt8], from start: Int, escapes: Bool) -> Int {
        var position = start + 1
        while position < bytes.count, bytes[position] != bytes[start] {
            position += escapes && bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(position + 1, bytes.count)
    }

    /// `$$…$$` and `$tag$…$tag$`; nil: it is a parameter, or part of a name.
    private static func endOfTagged(_ bytes: [UInt8], from start: Int) -> Int? {
        if start > 0, isWord(bytes[start - 1]) { return nil }
        guard let end = bytes[(start + 1)...].firstIndex(where: { !isWord($0) }), bytes[end] == UInt8(ascii: "$"),
            !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[start + 1])
        else { return nil }
        let tag = bytes[start...end]
        var position = end + 1
        while position + tag.count <= bytes.count {
            if bytes[position..<position + tag.count].elementsEqual(tag) { return position + tag.count }
            position += 1
        }
        return bytes.count
    }

    /// Comments nest.
    private static func endOfComment(_ bytes: [UInt8], from start: Int) -> Int {
        var depth = 0
        var position = start
        while position + 1 < bytes.count {
            switch (bytes[position], bytes[position + 1]) {
            case (UInt8(ascii: "/"), UInt8(ascii: "*")):
                depth += 1
                position += 2
            case (UInt8(ascii: "*"), UInt8(ascii: "/")):
                depth -= 1
                position += 2
                if depth == 0 { return position }
            default: position += 1
            }
        }
        return bytes.count
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || byte >= 0x80 || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
