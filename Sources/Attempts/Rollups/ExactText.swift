/// A text that is equal to another and comes before it by its UTF-8 bytes, as in PostgreSQL. Swift takes strings for equal that Unicode
/// calls equivalent, such as an é of one and of two characters.
struct ExactText: Hashable, Comparable, Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    static func == (lhs: ExactText, rhs: ExactText) -> Bool { lhs.text.utf8.elementsEqual(rhs.text.utf8) }

    static func < (lhs: ExactText, rhs: ExactText) -> Bool {
        var (left, right) = (lhs.text, rhs.text)
        return left.withUTF8 { left in right.withUTF8 { left.lexicographicallyPrecedes($0) } }
    }
}
