import PushContract

/// Which queues a new delivery may go past, as far as this process knows: those in which nothing waited when it last looked, and that no
/// throttle slows.
struct DirectAdmission {
    private var isOpen = false
    private var empty: Set<Int32> = []
    /// Something has been waiting in a queue.
    private var waitingSince: ContinuousClock.Instant?
    private var throttles: [SendThrottle] = []
    private var unknownSince: ContinuousClock.Instant?

    /// This process sends what it leases.
    mutating func open() { isOpen = true }

    /// It begins nothing more.
    mutating func close() { isOpen = false }

    mutating func look(at queues: [(queue: SendQueue, first: Int64?)], throttles: [SendThrottle], now: ContinuousClock.Instant) {
        empty = Set(queues.filter { $0.first == nil }.map(\.queue.id))
        waitingSince = queues.contains { $0.first != nil } ? waitingSince ?? now : nil
        self.throttles = throttles
    }

    /// Something waits in a queue now.
    mutating func fill(_ queue: SendQueue, now: ContinuousClock.Instant) {
        empty.remove(queue.id)
        waitingSince = waitingSince ?? now
    }

    /// Whether it is worth waiting for slots: nothing waits in a queue, or only for so short a time that it may soon be empty again.
    func mayWait(patience: Duration, now: ContinuousClock.Instant) -> Bool {
        isOpen && waitingSince.map { now - $0 < patience } ?? true
    }

    func admits(_ queue: SendQueue) -> Bool {
        isOpen && empty.contains(queue.id) && !throttles.contains { $0.applies(to: queue) }
    }

    /// A transaction that leases failed, perhaps after its commit.
    mutating func noteUnknownLeases(now: ContinuousClock.Instant) { unknownSince = now }

    /// Leases may exist that this process knows nothing of.
    var hasUnknownLeases: Bool { unknownSince != nil }

    /// They were searched for at `now`; the youngest are found later.
    mutating func searchedForUnknownLeases(now: ContinuousClock.Instant) {
        if let since = unknownSince, now - since > SendStore.unknownLeaseWait * 2 { unknownSince = nil }
    }
}
