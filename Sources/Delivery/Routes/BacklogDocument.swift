import PushContract

/// The queue as `GET /sends/backlog` shows it.
package struct BacklogDocument: Encodable, Sendable {
    struct Depth: Encodable, Sendable {
        var ready: Int
        var retrying: Int
        var scheduled: Int
        /// Waiting until an open circuit closes.
        var blocked: Int
        var sending: Int
        /// Age of the oldest ready delivery; null when none is ready.
        var oldestSeconds: Double?
        /// `empty`, `draining` or `growing`.
        var drain: String
        /// Until nothing waits, if all goes on as in the last five minutes; only while draining.
        var drainSeconds: Double?
    }

    struct InQueue: Encodable, Sendable {
        var app: String
        var provider: Provider
        var environment: PushEnvironment
        var `class`: DeliveryClass
        var backlog: Depth
    }

    var at: Timestamp
    var total: Depth
    var queues: [InQueue]
    var circuits: [CircuitDocument]
    var pauses: [RateLimitPauseDocument]

    package init(_ backlog: Backlog) {
        at = backlog.at
        total = Depth(
            ready: backlog.ready,
            retrying: backlog.retrying,
            scheduled: backlog.scheduled,
            blocked: backlog.blocked,
            sending: backlog.sending,
            oldestReadyAt: backlog.oldestReadyAt,
            at: backlog.at,
            drain: backlog.drain
        )
        queues = backlog.queues.map { queue in
            InQueue(
                app: queue.queue.app,
                provider: queue.queue.provider,
                environment: queue.queue.environment,
                class: queue.queue.deliveryClass,
                backlog: Depth(
                    ready: queue.ready,
                    retrying: queue.retrying,
                    scheduled: queue.scheduled,
                    blocked: queue.blocked,
                    sending: queue.sending,
                    oldestReadyAt: queue.oldestReadyAt,
                    at: backlog.at,
                    drain: queue.drain
                )
            )
        }
        circuits = backlog.circuits.map(CircuitDocument.init)
        pauses = backlog.pauses.map(RateLimitPauseDocument.init)
    }
}

extension BacklogDocument.Depth {
    init(
        ready: Int,
        retrying: Int,
        scheduled: Int,
        blocked: Int,
        sending: Int,
        oldestReadyAt: Timestamp?,
        at: Timestamp,
        drain estimate: DrainEstimate
    ) {
        self.ready = ready
        self.blocked = blocked
        self.retrying = retrying
        self.scheduled = scheduled
        self.sending = sending
        oldestSeconds = oldestReadyAt.map { max(0, (at - $0).inSeconds) }
        switch estimate {
        case .empty: drain = "empty"
        case .growing: drain = "growing"
        case .after(let duration):
            drain = "draining"
            drainSeconds = duration.inSeconds
        }
    }
}
