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

    init(policy: QueueScheduler.Policy) { self.policy = policy }

    /// The scheduler of a credential's queues.
    subscript(credential: SendSlots.Credential) -> QueueScheduler {
        get { schedulers[credential] ?? QueueScheduler(policy: policy) }
        set { schedulers[credential] = newValue }
    }

    func isSweepDue(_ interval: Duration, now: ContinuousClock.Instant) -> Bool {
        sweptAt.map { now - $0 >= interval } ?? true
    }

    /// The throttle of a queue: the one of its app, else the provider's.
    func throttle(of queue: SendQueue) -> SendThrottle? {
        let applying = throttles.filter { $0.applies(to: queue) }
        return applying.first { $0.app != nil } ?? applying.first
    }
}
