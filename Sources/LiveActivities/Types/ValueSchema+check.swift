package import HTTPServer
package import ServiceKit

extension ValueSchema {
    /// Throws 422 with the JSON pointer of the first fault and what is expected there.
    package func check(_ value: JSONValue, at pointer: String) throws(Problem) {
        guard case .rules(let rules) = self else { return }
        let name = ValueSchema.name(pointer)
        if let kinds = rules.kinds, !kinds.contains(where: { $0.accepts(value) }) {
            let expected = Kind.allCases.filter(kinds.contains).map(\.name).joined(separator: " or ")
            throw .invalid("\"\(name)\" must be \(expected); this is \(value.kind).", code: "schema_mismatch", pointer: pointer)
        }
        if let choices = rules.choices, !choices.contains(value) {
            let list = choices.map(\.text).joined(separator: ", ")
            throw .invalid("\"\(name)\" must be one of \(list).", code: "schema_mismatch", pointer: pointer)
        }
        switch value {
        case .string(let text): try rules.checkLength(text.unicodeScalars.count, name, pointer)
        case .integer(let number): try rules.checkRange(Double(number), name, pointer)
        case .number(let number): try rules.checkRange(number, name, pointer)
        case .array(let elements): try rules.check(elements, name, pointer)
        case .object(let members): try rules.check(members, pointer)
        case .null, .bool: break
        }
    }

    /// The last part of a pointer, for sentences.
    static func name(_ pointer: String) -> String { pointer.split(separator: "/").last.map(String.init) ?? "body" }
}

extension ValueSchema.Rules {
    fileprivate func checkLength(_ length: Int, _ name: String, _ pointer: String) throws(Problem) {
        guard let allowed = self.length, !allowed.contains(length) else { return }
        throw fault("\"\(name)\" must have \(ValueSchema.words(allowed)) characters; this has \(length).", pointer)
    }

    fileprivate func checkRange(_ number: Double, _ name: String, _ pointer: String) throws(Problem) {
        guard let range, !range.contains(number) else { return }
        throw fault("\"\(name)\" must be from \(range.lowerBound.shortText) to \(range.upperBound.shortText).", pointer)
    }

    fileprivate func check(_ elements: [JSONValue], _ name: String, _ pointer: String) throws(Problem) {
        if let count, !count.contains(elements.count) {
            throw fault("\"\(name)\" must have \(ValueSchema.words(count)) elements; this has \(elements.count).", pointer)
        }
        guard let items else { return }
        for (index, element) in elements.enumerated() { try items.check(element, at: "\(pointer)/\(index)") }
    }

    fileprivate func check(_ members: JSONMembers, _ pointer: String) throws(Problem) {
        for name in required where members[name] == nil {
            throw .invalid("Add the member \"\(name)\".", code: "missing_field", pointer: "\(pointer)/\(name.jsonPointerToken)")
        }
        for (name, member) in members.sorted(by: { $0.key < $1.key }) {
            let memberPointer = "\(pointer)/\(name.jsonPointerToken)"
            if let schema = properties[name] {
                try schema.check(member, at: memberPointer)
            } else if !isOpen {
                let known = properties.keys.sorted().joined(separator: ", ")
                throw .invalid(
                    "There is no member \"\(name.prefix(100))\" in this type; known are \(known).",
                    code: "unknown_field",
                    pointer: memberPointer
                )
            }
        }
    }

    private func fault(_ message: String, _ pointer: String) -> Problem {
        .invalid(message, code: "schema_mismatch", pointer: pointer)
    }
}

extension ValueSchema {
    fileprivate static func words(_ range: ClosedRange<Int>) -> String {
        if range.upperBound == .max { return "at least \(range.lowerBound)" }
        return range.lowerBound == 0 ? "at most \(range.upperBound)" : "\(range.lowerBound) to \(range.upperBound)"
    }
}
