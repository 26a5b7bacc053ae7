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

    /// What the send gate stops, and the form that ends it.
    struct ObstacleRow {
        let text: String
        let path: String?
        let provider: String
        let app: String
        let button: String
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
    let obstacles: [ObstacleRow]
    let hasObstacles: Bool
    let blocked: String
    let throttles: [String]
    let hasThrottles: Bool

    init(_ backlog: Backlog, throttles: [SendThrottle], mayAct: Bool = false, now: Timestamp) {
        depth = NumberText.count(backlog.ready + backlog.retrying + backlog.blocked)
        blocked = NumberText.count(backlog.blocked)
        verdict = Self.words(backlog)
        obstacles = backlog.circuits.map { Self.row($0, mayAct, now: now) } + backlog.pauses.map { Self.row($0, mayAct, now: now) }
        hasObstacles = !obstacles.isEmpty
        isGrowing = backlog.drain == .growing || backlog.blocked + backlog.paused > 0
        ready = NumberText.count(backlog.ready)
        retrying = NumberText.count(backlog.retrying)
        scheduled = NumberText.count(backlog.scheduled)
        sending = NumberText.count(backlog.sending)
        oldest = backlog.oldestReadyAt.map { DurationText.span(now - $0) } ?? "–"
        let queues = backlog.queues
        arrived = Self.rate(queues.reduce(0) { $0 + $1.arrived }) + "/min"
        ended = Self.rate(queues.reduce(0) { $0 + $1.ended }) + "/min"
        let busy = queues.filter { $0.waiting > 0 }.sorted { $0.waiting > $1.waiting }
        self.queues = busy.prefix(6).map { Self.line($0, now: now) }
        hasQueues = !busy.isEmpty
        self.throttles = throttles.map { Self.words($0, now: now) }
        hasThrottles = !throttles.isEmpty
    }

    private static func line(_ queue: QueueBacklog, now: Timestamp) -> QueueRow {
        QueueRow(
            name:
                "\(queue.queue.provider.rawValue) \(queue.queue.app)\(queue.queue.deliveryClass == .normal ? "" : " (\(queue.queue.deliveryClass.rawValue))")",
            waiting: NumberText.count(queue.waiting),
            oldest: queue.oldestReadyAt.map { DurationText.span(now - $0) } ?? "–",
            queueIn: rate(queue.arrived),
            queueOut: rate(queue.ended)
        )
    }

    private static func row(_ circuit: Circuit, _ mayAct: Bool, now: Timestamp) -> ObstacleRow {
        ObstacleRow(
            text: "\(circuit.summary), since \(ClockText.moment(circuit.since, now: now)); next probe "
                + DurationText.ago(circuit.nextProbeAt, now: now),
            path: mayAct ? "/oncall/circuits/\(circuit.id)/close" : nil,
            provider: circuit.scope.provider.rawValue,
            app: circuit.scope.app,
            button: "Close circuit"
        )
    }

    private static func row(_ pause: RateLimitPause, _ mayAct: Bool, now: Timestamp) -> ObstacleRow {
        ObstacleRow(
            text: "\(pause.provider.displayName) asked for fewer requests to \(pause.app) (\(pause.cause)): paused until "
                + ClockText.moment(pause.until, now: now),
            path: mayAct ? "/oncall/pauses/end" : nil,
            provider: pause.provider.rawValue,
            app: pause.app,
            button: "Send again"
        )
    }

    private static func words(_ backlog: Backlog) -> String {
        let stopped = [
            backlog.blocked > 0 ? "\(NumberText.count(backlog.blocked)) blocked by an open circuit." : nil,
            backlog.paused > 0 ? "\(NumberText.count(backlog.paused)) paused for a rate limit." : nil,
        ].compactMap { $0 }
        guard !stopped.isEmpty else { return words(backlog.drain) }
        return (stopped + (backlog.drain == .empty || backlog.paused > 0 ? [] : [words(backlog.drain)])).joined(separator: " ")
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

extension QueueBacklog {
    /// Deliveries that are due and not sent yet.
    fileprivate var waiting: Int { ready + retrying + blocked }
}
