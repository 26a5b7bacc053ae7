import AlertRules

/// Why an alert fires, in a few words: the codes of the failures, and the one value that has them.
struct AlertCause: Hashable {
    /// A value or a code is named when it has at least this part of the excess, or of the failures.
    private static let least = 0.5
    /// Characters of a name.
    private static let longest = 80
    /// Lifts that differ by less than this factor count as equal.
    private static let alike = 1.05

    /// The reason, the provider's code: those that most failures have.
    let codes: [Contributor]
    /// The value whose attempts fail most, of those that have most of the failures; nil when all fail alike.
    let distinct: Contributor?

    init(_ contributors: [Contributor]) {
        let most = contributors.filter { $0.excessShare >= Self.least }
        codes = Contributor.why.compactMap { name in most.filter { $0.dimension == name }.max { $0.bad < $1.bad } }
        distinct = most.filter { $0.lift != nil }.reduce(nil) { best, next in
            guard let best, let highest = best.lift, let lift = next.lift else { return next }
            if lift > highest * Self.alike { return next }
            return lift * Self.alike >= highest && next.excess > best.excess ? next : best
        }
    }

    /// `UNAVAILABLE; appVersion=3.2.0, 4.93 (at least 4.41) × its share of the traffic`; nil when nothing is known.
    var text: String? {
        let distinct = distinct.map { distinct in
            "\(distinct.dimension)=\(distinct.value.cut(toCharacters: Self.longest))"
                + (distinct.liftText.map { ", \($0)" } ?? "")
        }
        let parts = codes.map { $0.value.cut(toCharacters: Self.longest) } + (distinct.map { [$0] } ?? [])
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}
