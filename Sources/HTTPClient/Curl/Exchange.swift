import Synchronization

/// One request in the loop, and the task that waits for it.
final class Exchange: Sendable {
    typealias Outcome = Result<OutboundResponse, OutboundFailure>

    let request: OutboundRequest
    let started = ContinuousClock.now
    private let waiter: UnsafeContinuation<Outcome, Never>
    private let flag: CancellationFlag
    /// How often it was returned as not processed. Only the loop's thread changes it.
    private let resent = Atomic(0)

    init(request: OutboundRequest, flag: CancellationFlag, waiter: UnsafeContinuation<Outcome, Never>) {
        self.request = request
        self.flag = flag
        self.waiter = waiter
    }

    var isCancelled: Bool { flag.isSet }
    var latency: Duration { ContinuousClock.now - started }
    var deadline: ContinuousClock.Instant { started + request.timeout }

    /// Whether it may be retried; counts the retry.
    func takeResend(atMost limit: Int) -> Bool { resent.add(1, ordering: .relaxed).newValue <= limit }

    /// Called exactly once.
    func finish(_ result: Outcome) { waiter.resume(returning: result) }
}

/// Set by the cancellation handler, which may run before the exchange exists.
final class CancellationFlag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}
