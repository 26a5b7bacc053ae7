import Foundation

extension AttemptCounts {
    /// How strongly the counts contradict a share, in nats: chance makes so extreme a run from `share` at most once in e to this power.
    ///
    /// Zero without attempts, or when the counts have exactly this share. `share` is above 0 and below 1.
    func evidence(against share: Double) -> Double {
        guard attempts > 0 else { return 0 }
        let observed = Double(bad) / Double(attempts)
        return Double(attempts) * (Self.term(observed, share) + Self.term(1 - observed, 1 - share))
    }

    private static func term(_ observed: Double, _ expected: Double) -> Double {
        observed > 0 ? observed * log(observed / expected) : 0
    }
}
