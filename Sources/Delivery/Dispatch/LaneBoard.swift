/// What one claimer remembers between rounds. Losing it costs a longer search, nothing else.
struct LaneBoard {
    var scheduler: LaneScheduler
    /// Where the next claim of each lane begins.
    var floors: [Int32: Int64] = [:]
    var throttles: [SendThrottle] = []
    var sweptAt: ContinuousClock.Instant?

    init(policy: LaneScheduler.Policy) { scheduler = LaneScheduler(policy: policy) }

    func isSweepDue(_ interval: Duration, now: ContinuousClock.Instant) -> Bool {
        sweptAt.map { now - $0 >= interval } ?? true
    }

    /// The throttle of a lane: the one of its app, else the provider's.
    func throttle(of lane: Lane) -> SendThrottle? {
        let applying = throttles.filter { $0.applies(to: lane) }
        return applying.first { $0.app != nil } ?? applying.first
    }
}
