public import PushContract

/// The queue of what the server has not confirmed.
extension PushwatchClient {
    /// The unconfirmed operations, including those that need attention.
    public var operations: [PendingOperation] { state.lifecycle.queue.operations }

    /// When `work` has something to do next; nil if nothing waits.
    public var nextWork: Timestamp? { state.lifecycle.queue.nextWake }

    /// Attempts the operations that are due.
    public func work() async { await take(.tick) }

    /// Attempts all waiting operations now, regardless of the schedule, and those that need attention.
    public func retryNow() async { await take(.retry(operationId: nil)) }

    /// Attempts an operation that needs attention again, for another 24 hours.
    public func retry(_ operationId: String) async { await take(.retry(operationId: operationId)) }

    /// Gives up an operation, unless it is in flight: the server keeps what it has.
    public func discard(_ operationId: String) async {
        // What needs attention was settled when the server refused it.
        let waiting = operations.first { $0.operationId == operationId && [.queued, .waitingForSession].contains($0.state) }
        await take(.discard(operationId: operationId))
        guard let waiting else { return }
        settleFollow(of: waiting) { state.follows.refused(waiting.kind) }
        save()
    }

    /// Attempts operations whenever they are due, until the task is cancelled.
    public func run(clock: any Clock<Duration> = ContinuousClock()) async {
        while !Task.isCancelled {
            let started = now()
            await work()
            // An operation that was due and could not be attempted waits for an event, not for the clock.
            let next = nextWork.flatMap { $0 > started ? $0 : nil }
            let wait = next.map { max($0 - now(), .seconds(1)) } ?? .seconds(60)
            try? await clock.sleep(for: min(wait, .seconds(60)))
        }
    }
}
