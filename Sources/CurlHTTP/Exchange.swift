import Synchronization

/// One request on its way through the loop, and the task that waits for it.
final class Exchange: Sendable {
    let request: OutboundRequest
    let started = ContinuousClock.now
    private let waiter: CheckedContinuation<Result<OutboundResponse, OutboundFailure>, Never>
    private let flag: CancellationFlag

    init(
        request: OutboundRequest,
        flag: CancellationFlag,
        waiter: CheckedContinuation<Result<OutboundResponse, OutboundFailure>, Never>
    ) {
        self.request = request
        self.flag = flag
        self.waiter = waiter
    }

    var isCancelled: Bool { flag.isSet }
    var latency: Duration { ContinuousClock.now - started }

    /// Called exactly once.
    func finish(_ result: Result<OutboundResponse, OutboundFailure>) { waiter.resume(returning: result) }
}

/// Set by the cancellation handler, which may run before the exchange exists.
final class CancellationFlag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}
