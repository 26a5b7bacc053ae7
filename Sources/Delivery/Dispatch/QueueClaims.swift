/// What one claimer remembers between rounds. Losing it costs a longer search, nothing else.
struct QueueClaims {
    var scheduler: QueueScheduler
    /// Where the next claim of each queue begins.
    var cursors: [Int32: Int64] = [:]
    var throttles: [SendThrottle] = []
    var sweptAt: ContinuousClock.Instant?

    init(policy: QueueScheduler.Policy) { scheduler = QueueScheduler(policy: policy) }

    func isSweepDue(_ interval: Duration, now: ContinuousClock.Instant) -> Bool {
        sweptAt.map { now - $0 >= interval } ?? true
    }

    /// The throttle of a queue: the one of its app, else the provider's.
    func throttle(of queue: SendQueue) -> SendThrottle? {
        let applying = throttles.filter { $0.applies(to: queue) }
        return applying.first { $0.app != nil } ?? applying.first
    }
}
