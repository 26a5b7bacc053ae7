import Foundation

/// Text with `{{ placeholder }}` in it.
package struct AnnotationTemplate: Sendable, Hashable {
    enum Part: Sendable, Hashable {
        case text(String)
        case placeholder(Placeholder)
    }

    /// Why a text is not a template.
    struct Fault: Error {
        let message: String
    }

    let parts: [Part]
    /// The text as written.
    package let source: String

    /// A text without placeholders.
    package init(plain text: String) {
        source = text
        parts = [.text(text)]
    }

    /// Fails on an unknown placeholder, naming the known ones, and on an unclosed one. `by` are the rule's groups.
    init(_ text: String, by: [Dimension]) throws(Fault) {
        source = text
        var parts: [Part] = []
        var rest = Substring(text)
        while let open = rest.range(of: "{{") {
            guard let close = rest.range(of: "}}", range: open.upperBound..<rest.endIndex) else {
                throw Fault(message: "'{{' without '}}'")
            }
            parts.append(.text(String(rest[..<open.lowerBound])))
            let name = rest[open.upperBound..<close.lowerBound].trimmingCharacters(in: .whitespaces)
            parts.append(.placeholder(try Placeholder.named(name, by: by)))
            rest = rest[close.upperBound...]
        }
        self.parts = parts + [.text(String(rest))]
    }

    package func rendered(_ facts: AnnotationContext) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .placeholder(let placeholder): facts.value(of: placeholder)
            }
        }.joined()
    }
}

/// What an annotation may mention.
enum Placeholder: Sendable, Hashable {
    enum Fact: String, CaseIterable {
        case observed, threshold, bad, attempts, expected, since, window, worst, group, rule, severity, multiple
    }

    case fact(Fact)
    case group(Dimension)

    static func named(_ name: String, by: [Dimension]) throws(AnnotationTemplate.Fault) -> Placeholder {
        if let fact = Fact(rawValue: name) { return .fact(fact) }
        let groups = by.sorted().map { "group.\($0.rawValue)" }
        if name.hasPrefix("group."), let dimension = Dimension(rawValue: String(name.dropFirst(6))) {
            guard by.contains(dimension) else {
                let available = groups.isEmpty ? "the rule has no 'by'" : "'by' has \(groups.joined(separator: ", "))"
                throw AnnotationTemplate.Fault(message: "placeholder '\(name)' needs '\(dimension.rawValue)' in 'by'; \(available)")
            }
            return .group(dimension)
        }
        let known = Fact.allCases.map(\.rawValue) + groups
        throw AnnotationTemplate.Fault(message: "unknown placeholder '\(name)'; known: \(known.joined(separator: ", "))")
    }
}
