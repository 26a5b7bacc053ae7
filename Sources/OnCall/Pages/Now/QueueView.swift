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
    let queued: String
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
    /// Where they are lifted, for those who may.
    let throttlePath: String?

    init(_ backlog: Backlog, throttles: [SendThrottle], mayAct: Bool = false, now: Timestamp) {
        let all = Drain.all(of: backlog.queues, now: backlog.at)
        depth = NumberText.count(all.waiting + backlog.blocked)
        blocked = NumberText.count(backlog.blocked)
        verdict = Self.words(backlog, all)
        obstacles = backlog.circuits.map { Self.row($0, mayAct, now: now) } + backlog.pauses.map { Self.row($0, mayAct, now: now) }
        hasObstacles = !obstacles.isEmpty
        isGrowing = all.trend == .growing || backlog.blocked + backlog.paused > 0
        queued = Self.words(of: .queued(of: backlog.queues, now: backlog.at))
        retrying = Self.words(of: .retries(of: backlog.queues, now: backlog.at))
        scheduled = NumberText.count(backlog.scheduled)
        sending = NumberText.count(backlog.sending)
        oldest = backlog.oldestReadyAt.map { DurationText.span(now - $0) } ?? "–"
        arrived = Self.arrived(all) + "/min"
        ended = NumberText.count(all.ended) + "/min"
        let busy = backlog.queues.filter { $0.waiting + $0.blocked > 0 }.sorted { $0.waiting + $0.blocked > $1.waiting + $1.blocked }
        queues = busy.prefix(6).map { Self.line($0, at: backlog.at, now: now) }
        hasQueues = !busy.isEmpty
        self.throttles = throttles.map { Self.words($0, now: now) }
        hasThrottles = !throttles.isEmpty
        throttlePath = mayAct && hasThrottles ? "/oncall/throttle" : nil
    }

    private static func line(_ queue: QueueBacklog, at: Timestamp, now: Timestamp) -> QueueRow {
        let drain = Drain.all(of: [queue], now: at)
        return QueueRow(
            name:
                "\(queue.queue.provider.rawValue) \(queue.queue.app)\(queue.queue.deliveryClass == .normal ? "" : " (\(queue.queue.deliveryClass.rawValue))")",
            waiting: NumberText.count(queue.waiting + queue.blocked),
            oldest: queue.oldestReadyAt.map { DurationText.span(now - $0) } ?? "–",
            queueIn: arrived(drain),
            queueOut: NumberText.count(drain.ended)
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

    private static func words(_ backlog: Backlog, _ drain: Drain) -> String {
        let stopped = [
            backlog.blocked > 0 ? "\(NumberText.count(backlog.blocked)) blocked by an open circuit." : nil,
            backlog.paused > 0 ? "\(NumberText.count(backlog.paused)) paused for a rate limit." : nil,
        ].compactMap { $0 }
        guard !stopped.isEmpty else { return words(drain) }
        return (stopped + (drain.trend == .empty || backlog.paused > 0 ? [] : [words(drain)])).joined(separator: " ")
    }

    private static func words(_ drain: Drain) -> String {
        switch drain.trend {
        case .empty: "Nothing waits."
        case .draining: "Drained in about \(span(drain.eta)) at this pace."
        case .steady: "Not draining: as much waits as a minute ago."
        case .growing: "Growing: more waits than a minute ago."
        case .unknown: "No instance that sends has counted the queue in the last minute."
        }
    }

    /// `411, in 30/min, out 25/min, growing`
    private static func words(of drain: Drain) -> String {
        guard drain.waiting > 0 || drain.ended > 0 else { return "0" }
        let trend = drain.trend == .draining ? "draining, empty in about \(span(drain.eta))" : drain.trend.rawValue
        return "\(NumberText.count(drain.waiting)), in \(arrived(drain))/min, out \(NumberText.count(drain.ended))/min, \(trend)"
    }

    private static func span(_ eta: Duration?) -> String { DurationText.span(max(eta ?? .zero, .seconds(1))) }

    private static func arrived(_ drain: Drain) -> String { drain.arrived.map { NumberText.count($0) } ?? "–" }

    static func words(_ throttle: SendThrottle, now: Timestamp) -> String {
        "\(throttle.provider.rawValue)\(throttle.app.map { " \($0)" } ?? ""): non-critical sends limited to "
            + "\(NumberText.rate(throttle.perMinute)) a minute until \(ClockText.moment(throttle.expiresAt, now: now)) "
            + "(\(throttle.reason); set by \(throttle.author))"
    }
}
