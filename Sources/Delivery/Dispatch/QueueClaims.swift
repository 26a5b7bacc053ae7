/// What one claimer remembers between rounds. Losing it costs a longer search, nothing else.
struct QueueClaims {
    private let policy: QueueScheduler.Policy
    private var schedulers: [SendSlots.Credential: QueueScheduler] = [:]
    /// Where the next claim of each queue begins.
    var cursors: [Int32: Int64] = [:]
    var throttles: [SendThrottle] = []
    var sweptAt: ContinuousClock.Instant?
    /// Deliveries of closed circuits are left to make ready.
    var isReleasing = false
    /// When something of a paced queue was last claimed.
    var pacedAt: [Int32: ContinuousClock.Instant] = [:]

    /// What is claimed behind an open circuit only learns that it is blocked, and what a slow provider is sent together it answers together.
    /// That is no haste, and would take time from others: so many …
    private static let pacedLimit = 10
    /// … each time, once in this interval.
    private static let pacedInterval = Duration.milliseconds(100)

    init(policy: QueueScheduler.Policy) { self.policy = policy }

    /// The scheduler of a credential's queues.
    subscript(credential: SendSlots.Credential) -> QueueScheduler {
        get { schedulers[credential] ?? QueueScheduler(policy: policy) }
        set { schedulers[credential] = newValue }
    }

    func isSweepDue(_ interval: Duration, now: ContinuousClock.Instant) -> Bool {
        sweptAt.map { now - $0 >= interval } ?? true
    }

    /// How many deliveries of a paced queue may be claimed now.
    mutating func takePaced(of queue: Int32, now: ContinuousClock.Instant) -> Int {
        if let last = pacedAt[queue], now - last < Self.pacedInterval { return 0 }
        pacedAt[queue] = now
        return Self.pacedLimit
    }

    /// The throttle of a queue: the one of its app, else the provider's.
    func throttle(of queue: SendQueue) -> SendThrottle? {
        let applying = throttles.filter { $0.applies(to: queue) }
        return applying.first { $0.app != nil } ?? applying.first
    }
}
