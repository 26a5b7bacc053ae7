import Delivery
import PushContract

/// The queue in numbers and one sentence.
struct QueueView {
    struct QueueRow {
        let name: String
        let waiting: String
        let oldest: String
        let queueIn: String
        let queueOut: String
    }

    let depth: String
    let verdict: String
    let isGrowing: Bool
    let ready: String
    let retrying: String
    let scheduled: String
    let sending: String
    let oldest: String
    let arrived: String
    let ended: String
    let queues: [QueueRow]
    let hasQueues: Bool
    let throttles: [String]
    let hasThrottles: Bool

    init(_ backlog: Backlog, throttles: [SendThrottle], now: Timestamp) {
        depth = NumberText.count(backlog.ready + backlog.retrying)
        verdict = Self.words(backlog.drain)
        isGrowing = backlog.drain == .growing
        ready = NumberText.count(backlog.ready)
        retrying = NumberText.count(backlog.retrying)
        scheduled = NumberText.count(backlog.scheduled)
        sending = NumberText.count(backlog.sending)
        oldest = backlog.oldestReadyAt.map { DurationText.span(now - $0) } ?? "–"
        let queues = backlog.queues
        arrived = Self.rate(queues.reduce(0) { $0 + $1.arrived }) + "/min"
        ended = Self.rate(queues.reduce(0) { $0 + $1.ended }) + "/min"
        let busy = queues.filter { $0.ready + $0.retrying > 0 }.sorted { $0.ready + $0.retrying > $1.ready + $1.retrying }
        self.queues = busy.prefix(6).map { Self.line($0, now: now) }
        hasQueues = !busy.isEmpty
        self.throttles = throttles.map { Self.words($0, now: now) }
        hasThrottles = !throttles.isEmpty
    }

    private static func line(_ queue: QueueBacklog, now: Timestamp) -> QueueRow {
        QueueRow(
            name: "\(queue.queue.provider.rawValue) \(queue.queue.app)\(queue.queue.isCritical ? " (critical)" : "")",
            waiting: NumberText.count(queue.ready + queue.retrying),
            oldest: queue.oldestReadyAt.map { DurationText.span(now - $0) } ?? "–",
            queueIn: rate(queue.arrived),
            queueOut: rate(queue.ended)
        )
    }

    private static func words(_ drain: DrainEstimate) -> String {
        switch drain {
        case .empty: "Nothing waits."
        case .after(let span): "Drained in about \(DurationText.span(max(span, .seconds(1)))) at this pace."
        case .growing: "Not draining: as much comes in as leaves, or more."
        }
    }

    private static func words(_ throttle: SendThrottle, now: Timestamp) -> String {
        "\(throttle.provider.rawValue)\(throttle.app.map { " \($0)" } ?? ""): non-critical sends limited to "
            + "\(NumberText.rate(throttle.perMinute)) a minute until \(ClockText.moment(throttle.expiresAt, now: now)) "
            + "(\(throttle.reason); set by \(throttle.author))"
    }

    private static func rate(_ count: Int) -> String { NumberText.rate(Double(count) * 60 / Backlog.window.inSeconds) }
}
