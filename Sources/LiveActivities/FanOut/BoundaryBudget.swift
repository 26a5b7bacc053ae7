package import PushContract

/// One device's bucket for boundaries: so many an hour at priority 10, the others at 5.
///
/// Kept as the moment from which it is full again, so that it can be stored, and read by another process, without knowing how it was
/// filled.
package struct BoundaryBudget: Sendable, Hashable {
    package static let perHour = 8
    private static let refill = Duration.seconds(3600) / perHour

    /// Nil: it is full.
    private(set) var fullAt: Timestamp?

    package init(fullAt: Timestamp? = nil) { self.fullAt = fullAt }

    /// True if there is one left; it is taken.
    package mutating func take(now: Timestamp) -> Bool {
        let from = max(fullAt ?? now, now)
        guard from - now <= BoundaryBudget.refill * (BoundaryBudget.perHour - 1) else { return false }
        fullAt = from + BoundaryBudget.refill
        return true
    }

    func isFull(now: Timestamp) -> Bool { fullAt.map { $0 <= now } ?? true }
}

/// The buckets of all devices: one each, over everything that it follows and this process sends.
struct BoundaryBudgets: Sendable {
    /// A device, or all that listen to a channel.
    private struct Holder: Hashable {
        @ExactText var userId: String
        @ExactText var deviceId: String

        init(_ key: ActivityKey) {
            userId = key.userId
            deviceId = key.deviceId
        }
    }

    /// Who has no entry has a full one.
    private var budgets: [Holder: BoundaryBudget] = [:]
    private var pruneAt = 1024

    /// The bucket of the device that an activity is on.
    subscript(_ key: ActivityKey) -> BoundaryBudget {
        get { budgets[Holder(key)] ?? BoundaryBudget() }
        set { budgets[Holder(key)] = newValue.fullAt == nil ? nil : newValue }
    }

    /// What was stored for an activity of the device: the emptier one counts.
    mutating func learn(_ key: ActivityKey, fullAt stored: Timestamp?) {
        guard let stored, stored > self[key].fullAt ?? Timestamp(microseconds: 0) else { return }
        self[key] = BoundaryBudget(fullAt: stored)
    }

    /// Forgets those that are full again, when many have gathered.
    mutating func prune(now: Timestamp) {
        guard budgets.count > pruneAt else { return }
        budgets = budgets.filter { !$0.value.isFull(now: now) }
        pruneAt = max(1024, budgets.count * 2)
    }
}
