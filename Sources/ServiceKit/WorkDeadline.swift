import Synchronization

/// Until when the work of one request has to be done; every database call of the request's task ends by then.
///
/// Safe to use from any task.
package final class WorkDeadline: Sendable {
    /// Of the request that this task works for, if any.
    @TaskLocal package static var current: WorkDeadline?

    /// Of a request. Below the 10 s within which every request is answered: a rollback and the answer itself come after it.
    package static let requestLimit: Duration = .seconds(8)

    private let limit: Duration
    private let at: Mutex<ContinuousClock.Instant>

    package init(_ limit: Duration) {
        self.limit = limit
        at = Mutex(.now + limit)
    }

    package var end: ContinuousClock.Instant { at.withLock { $0 } }

    /// Whether this task's work comes too late for its request.
    package static var isOver: Bool { isOver(in: .zero) }

    /// Whether it would if it came `time` later.
    package static func isOver(in time: Duration) -> Bool { current.map { $0.end - .now <= time } ?? false }

    /// Begins anew: the caller has sent its body only now, however slowly, and has its own deadline for that.
    package func restart() { at.withLock { $0 = .now + limit } }
}
