import PushContract

/// Values of some dimensions: which group an alert is about, or which stratum a count belongs to.
///
/// An attempt without a value (no `environment`, say) has the empty text.
package struct GroupKey: Sendable, Hashable, Codable {
    package var values: [Dimension: String]

    package init(_ values: [Dimension: String] = [:]) { self.values = values }

    package subscript(dimension: Dimension) -> String? { values[dimension] }

    /// Only the named dimensions; a missing one counts as empty.
    package func restricted(to dimensions: [Dimension]) -> GroupKey {
        GroupKey(Dictionary(dimensions.map { ($0, values[$0] ?? "") }, uniquingKeysWith: { first, _ in first }))
    }

    private var sorted: [(key: Dimension, value: String)] { values.sorted { $0.key < $1.key } }
}

extension GroupKey: CustomStringConvertible {
    /// `platform=ios,provider=apns`, sorted; `all` for the whole traffic. Stable, so it may serve as an identity.
    package var description: String {
        values.isEmpty ? "all" : sorted.map { "\($0.key.rawValue)=\($0.value)" }.joined(separator: ",")
    }
}

extension GroupKey: Comparable {
    package static func < (a: GroupKey, b: GroupKey) -> Bool { ExactText(a.description) < ExactText(b.description) }
}

/// By the bytes of the values, as PostgreSQL groups: two apps must not share an alert.
extension GroupKey {
    package static func == (a: GroupKey, b: GroupKey) -> Bool {
        a.values.count == b.values.count && a.values.allSatisfy { b.has($0.value, for: $0.key) }
    }

    package func hash(into hasher: inout Hasher) {
        // Whatever the order of the dimensions.
        var hashes = 0
        for (dimension, value) in values {
            var own = Hasher()
            own.combine(dimension)
            own.combine(ExactText(value))
            hashes ^= own.finalize()
        }
        hasher.combine(hashes)
    }

    package func has(_ value: String, for dimension: Dimension) -> Bool {
        values[dimension].map { ExactText($0) == ExactText(value) } ?? false
    }
}
