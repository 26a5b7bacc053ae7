/// What `baseline/2` keeps of a group's earlier alerts: no window begins before the end of one, and their hours are excluded from training.
package struct BaselineMemory: Sendable, Hashable, Codable {
    /// Hours of UTC, counted from 1970, that an alert touched.
    struct ExcludedHours: Sendable, Hashable, Codable {
        var first: Int64
        var last: Int64
        /// Under a ticket for unusual volume: they are not excluded if they are half of a day or more.
        var isSurge: Bool
    }

    /// The minute at which the last alert ended.
    var consumed: Minute?
    /// The newest minute of unusual volume under the ticket that is open.
    var surgeEnd: Minute?
    /// Since when the open alert is open.
    var openSince: Minute?
    /// The first training day, after a level became the new baseline.
    var trainingFrom: Int64?
    /// When a new normal was announced last.
    var announced: Minute?
    /// Oldest first.
    var excluded: [ExcludedHours] = []

    static let hours: Int64 = 60

    mutating func exclude(from first: Minute, through last: Minute, isSurge: Bool) {
        let span = ExcludedHours(first: first.index / Self.hours, last: last.index / Self.hours, isSurge: isSurge)
        let oldest = (last.day - Int64(Baseline2.knownDays)) * 24
        excluded.removeAll { $0.last < oldest }
        if let newest = excluded.last, newest.isSurge == isSurge, span.first <= newest.last + 1 {
            excluded[excluded.count - 1] = ExcludedHours(
                first: min(newest.first, span.first),
                last: max(newest.last, span.last),
                isSurge: isSurge
            )
        } else {
            excluded.append(span)
        }
    }

    /// An alert whose hours are excluded is over.
    mutating func end(at minute: Minute) {
        consumed = minute
        openSince = nil
        surgeEnd = nil
    }

    /// Makes these days training days after all, and none before them.
    mutating func readmit(from day: Int64) {
        excluded.removeAll { $0.last >= day * 24 }
        trainingFrom = day
    }

    /// Which of a day's hours are excluded from training, as bits.
    func mask(day: Int64) -> UInt32 {
        func mask(_ spans: some Sequence<ExcludedHours>) -> UInt32 {
            spans.reduce(0) { mask, span in
                let first = max(span.first - day * 24, 0)
                let last = min(span.last - day * 24, 23)
                return first > last ? mask : (first...last).reduce(mask) { $0 | 1 << UInt32($1) }
            }
        }
        let surge = mask(excluded.filter(\.isSurge))
        return mask(excluded.filter { !$0.isSurge }) | (surge.nonzeroBitCount >= 12 ? 0 : surge)
    }
}
