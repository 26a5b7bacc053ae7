/// The members of a JSON object, in the order of their keys' bytes.
///
/// An array: objects are small, and to search a few keys takes less time than to hash one.
package struct JSONMembers: Sendable {
    package typealias Element = (key: String, value: JSONValue)

    private var elements: [Element]

    /// - Parameter minimumCapacity: members for which there is space.
    package init(minimumCapacity: Int = 0) {
        elements = []
        elements.reserveCapacity(minimumCapacity)
    }

    struct RepeatedKey: Error {
        let key: String
    }

    /// Members in any order.
    init(anyOrder elements: consuming [Element]) throws(RepeatedKey) {
        self.elements = elements
        if repeatedKey == nil { return }
        self.elements.sort { JSONMembers.precedes($0.key, $1.key) }
        if let repeatedKey { throw RepeatedKey(key: repeatedKey) }
    }

    package init(_ members: [String: JSONValue]) {
        elements = members.sorted { JSONMembers.precedes($0.key, $1.key) }
    }

    private init(sorted: [Element]) { elements = sorted }

    /// The first key that does not come after the one before it.
    private var repeatedKey: String? {
        elements.indices.dropFirst().first { !JSONMembers.precedes(elements[$0 - 1].key, elements[$0].key) }.map { elements[$0].key }
    }

    package var keys: some Collection<String> { elements.lazy.map(\.key) }
    package var values: some Collection<JSONValue> { elements.lazy.map(\.value) }

    package subscript(key: String) -> JSONValue? {
        get { index(of: key).map { elements[$0].value } }
        set {
            if let index = index(of: key) {
                if let newValue { elements[index].value = newValue } else { elements.remove(at: index) }
            } else if let newValue {
                elements.insert((key, newValue), at: position(of: key))
            }
        }
    }

    package mutating func removeValue(forKey key: String) -> JSONValue? {
        index(of: key).map { elements.remove(at: $0).value }
    }

    package func mapValues(_ transform: (JSONValue) throws -> JSONValue) rethrows -> JSONMembers {
        JSONMembers(sorted: try elements.map { ($0.key, try transform($0.value)) })
    }

    /// Without those for which it is nil.
    package func compactMapValues<Value>(_ transform: (JSONValue) throws -> Value?) rethrows -> [String: Value] {
        var values: [String: Value] = [:]
        for (key, value) in elements { values[key] = try transform(value) }
        return values
    }

    package func filter(_ condition: (Element) throws -> Bool) rethrows -> JSONMembers {
        JSONMembers(sorted: try elements.filter(condition))
    }

    /// - Parameter merge: makes one of two values with the same key: of this, and of `other`.
    package func merging(_ other: JSONMembers, _ merge: (JSONValue, JSONValue) throws -> JSONValue) rethrows -> JSONMembers {
        var merged: [Element] = []
        merged.reserveCapacity(count + other.count)
        var rest = other.elements[...]
        for (key, value) in elements {
            while let next = rest.first, JSONMembers.precedes(next.key, key) { merged.append(rest.removeFirst()) }
            if let next = rest.first, !JSONMembers.precedes(key, next.key) {
                merged.append((key, try merge(value, rest.removeFirst().value)))
            } else {
                merged.append((key, value))
            }
        }
        return JSONMembers(sorted: merged + rest)
    }

    private func index(of key: String) -> Int? {
        guard elements.count > 16 else {
            let length = key.utf8.count
            return elements.firstIndex { $0.key.utf8.count == length && $0.key == key }
        }
        let position = position(of: key)
        return position < elements.count && elements[position].key == key ? position : nil
    }

    /// Where the key is, or would be.
    private func position(of key: String) -> Int {
        var range = 0..<elements.count
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            range = JSONMembers.precedes(elements[middle].key, key) ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }

    private static func precedes(_ left: String, _ right: String) -> Bool { left.utf8.lexicographicallyPrecedes(right.utf8) }
}

extension JSONMembers: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { elements.count }
    package subscript(position: Int) -> Element { elements[position] }
}

extension JSONMembers: Hashable {
    package static func == (left: JSONMembers, right: JSONMembers) -> Bool {
        left.elements.elementsEqual(right.elements) { $0.key == $1.key && $0.value == $1.value }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(elements.count)
        for (key, value) in elements {
            hasher.combine(key)
            hasher.combine(value)
        }
    }
}

extension JSONMembers: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral members: (String, JSONValue)...) { self.init(members) }

    init(_ literal: [(String, JSONValue)]) {
        do { try self.init(anyOrder: literal) } catch { preconditionFailure("the key \(error.key) occurs twice") }
    }
}

extension JSONMembers: Encodable {
    private struct MemberKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ key: String) { stringValue = key }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: MemberKey.self)
        for (key, value) in elements { try container.encode(value, forKey: MemberKey(key)) }
    }
}
