import PushContract

/// The queue as `GET /sends/backlog` shows it.
package struct BacklogDocument: Encodable, Sendable {
    struct Depth: Encodable, Sendable {
        /// First attempts.
        var queued: DrainDocument
        /// Failed deliveries that are attempted again, those that are due included.
        var retrying: DrainDocument
        var scheduled: Int
        /// Waiting until an open circuit closes.
        var blocked: Int
        var sending: Int
        /// Age of the oldest ready delivery; null when none is ready.
        var oldestSeconds: Double?
    }

    struct DrainDocument: Encodable, Sendable {
        var waiting: Int
        /// In the last minute.
        var `in`: Int?
        var out: Int
        var trend: Drain.Trend
        /// Until nothing waits; only while draining.
        var etaSeconds: Double?
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
        total = Depth(backlog.queues, at: backlog.at)
        queues = backlog.queues.map { queue in
            InQueue(
                app: queue.queue.app,
                provider: queue.queue.provider,
                environment: queue.queue.environment,
                class: queue.queue.deliveryClass,
                backlog: Depth([queue], at: backlog.at)
            )
        }
        circuits = backlog.circuits.map(CircuitDocument.init)
        pauses = backlog.pauses.map(RateLimitPauseDocument.init)
    }
}

extension BacklogDocument.Depth {
    init(_ queues: [QueueBacklog], at: Timestamp) {
        queued = BacklogDocument.DrainDocument(.queued(of: queues, now: at))
        retrying = BacklogDocument.DrainDocument(.retries(of: queues, now: at))
        scheduled = queues.reduce(0) { $0 + $1.scheduled }
        blocked = queues.reduce(0) { $0 + $1.blocked }
        sending = queues.reduce(0) { $0 + $1.sending }
        oldestSeconds = queues.compactMap(\.oldestReadyAt).min().map { max(0, (at - $0).inSeconds) }
    }
}

extension BacklogDocument.DrainDocument {
    init(_ drain: Drain) {
        self.init(waiting: drain.waiting, in: drain.arrived, out: drain.ended, trend: drain.trend, etaSeconds: drain.eta?.inSeconds)
    }
}
