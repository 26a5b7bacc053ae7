/// What one minute of a group counts as.
package enum RatioVerdict: String, Sendable, Hashable, Codable {
    /// Nothing was attempted: neither good nor bad.
    case blank
    case breach
    case ok
}

extension RatioCondition {
    /// The verdict on one closed minute (§2.2).
    ///
    /// The minute *itself* over the threshold makes a clean step exact; the *smooth* window bridges a lucky minute in noise.
    package func verdict(on minute: Minute, in series: MinuteSeries) -> RatioVerdict {
        let near = series.window(endingAt: minute, minutes: smooth.minutes)
        guard near.attempts > 0 else { return .blank }
        guard near.bad >= minBadSmooth else { return .ok }
        return series[minute].isAbove(above) || near.isAbove(above) ? .breach : .ok
    }
}

/// The verdicts of consecutive minutes with running sums, so that a window of them costs two look-ups.
struct RatioVerdicts {
    let first: Minute
    private(set) var verdicts: [RatioVerdict] = []
    private var breaches: [Int32] = [0]
    private var evaluable: [Int32] = [0]

    init(_ condition: RatioCondition, series: MinuteSeries, from first: Minute, through last: Minute) {
        self.first = first
        guard first <= last else { return }
        let count = last - first + 1
        verdicts.reserveCapacity(count)
        breaches.reserveCapacity(count + 1)
        evaluable.reserveCapacity(count + 1)
        for offset in 0..<count {
            let verdict = condition.verdict(on: first + offset, in: series)
            verdicts.append(verdict)
            breaches.append(breaches[offset] + (verdict == .breach ? 1 : 0))
            evaluable.append(evaluable[offset] + (verdict == .blank ? 0 : 1))
        }
    }

    subscript(minute: Minute) -> RatioVerdict { verdicts[minute - first] }

    /// Breaching minutes, and minutes that can be evaluated at all, in the window that ends at `last`.
    func window(endingAt last: Minute, minutes: Int) -> (breaches: Int, evaluable: Int) {
        let upper = last - first + 1
        return (Int(breaches[upper] - breaches[upper - minutes]), Int(evaluable[upper] - evaluable[upper - minutes]))
    }
}
