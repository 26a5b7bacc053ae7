import PushContract

/// Releases starts at a steady rate: a bucket that fills with time and holds a second's worth.
struct StartRate: Sendable, Hashable {
    private let perSecond: Double
    private var level: Double
    private var filledAt: Timestamp

    init(perSecond: Double, now: Timestamp) {
        self.perSecond = perSecond
        level = perSecond
        filledAt = now
    }

    /// How many may go now, at most `wanted`; they are taken.
    mutating func take(_ wanted: Int, now: Timestamp) -> Int {
        level = min(perSecond, level + max(0, (now - filledAt).inSeconds) * perSecond)
        filledAt = max(filledAt, now)
        let granted = min(wanted, Int(level))
        level -= Double(granted)
        return granted
    }

    /// What was taken and found no use.
    mutating func refund(_ count: Int) { level = min(perSecond, level + Double(count)) }
}
