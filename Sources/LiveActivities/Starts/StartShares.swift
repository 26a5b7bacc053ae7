import PushContract

/// Which subjects share the starts that the rate allows, and in which order. Pure.
struct StartShares: Sendable {
    private var grantedAt: [String: Timestamp] = [:]

    /// The order in which subjects with due starts get their shares: who got none for longest goes first, of equals the most important.
    ///
    /// - Parameter subjects: the most important first.
    mutating func order(_ subjects: [String]) -> [String] {
        let known = grantedAt
        grantedAt = [:]
        for subject in subjects { grantedAt[subject] = known[subject] }
        return subjects.enumerated().sorted { left, right in
            let (first, second) = (known[left.element], known[right.element])
            if first == second { return left.offset < right.offset }
            return first.map { first in second.map { first < $0 } ?? false } ?? true
        }.map(\.element)
    }

    mutating func grant(_ subject: String, now: Timestamp) { grantedAt[subject] = now }

    /// What the next one may have when so many share what is left.
    static func share(of left: Int, among count: Int) -> Int { (left + count - 1) / count }
}
