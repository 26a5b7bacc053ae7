/// A text that is equal to another and comes before it by its UTF-8 bytes, as in PostgreSQL. Swift takes strings for equal that Unicode
/// calls equivalent, such as K and the Kelvin sign, or an é of one and of two characters.
///
/// Names that callers choose (users, apps) are compared by it: `@ExactText var app: String` for a member of a key.
@propertyWrapper
package struct ExactText: Hashable, Comparable, Sendable {
    package var wrappedValue: String

    package init(wrappedValue: String) { self.wrappedValue = wrappedValue }

    package init(_ text: String) { wrappedValue = text }

    package var text: String { wrappedValue }

    /// The member itself, to compare it: `a.$app == b.$app`.
    package var projectedValue: ExactText { self }

    package func hash(into hasher: inout Hasher) {
        var text = wrappedValue
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    package static func == (lhs: ExactText, rhs: ExactText) -> Bool { lhs.text.utf8.elementsEqual(rhs.text.utf8) }

    package static func < (lhs: ExactText, rhs: ExactText) -> Bool {
        var (left, right) = (lhs.text, rhs.text)
        return left.withUTF8 { left in right.withUTF8 { left.lexicographicallyPrecedes($0) } }
    }
}
