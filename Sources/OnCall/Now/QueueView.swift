import PushContract
import Delivery

/// The queue in numbers and one sentence.
struct QueueView {
    struct LaneLine {
        let name: String
        let waiting: String
        let oldest: String
        let laneIn: String
        let laneOut: String
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
    let lanes: [LaneLine]
    let hasLanes: Bool
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
        oldest = backlog.oldestReadyAt.map { SpanText.span(now - $0) } ?? "–"
        let lanes = backlog.lanes
        arrived = Self.rate(lanes.reduce(0) { $0 + $1.arrived }) + "/min"
        ended = Self.rate(lanes.reduce(0) { $0 + $1.ended }) + "/min"
        let busy = lanes.filter { $0.ready + $0.retrying > 0 }.sorted { $0.ready + $0.retrying > $1.ready + $1.retrying }
        self.lanes = busy.prefix(6).map { Self.line($0, now: now) }
        hasLanes = !busy.isEmpty
        self.throttles = throttles.map { Self.words($0, now: now) }
        hasThrottles = !throttles.isEmpty
    }

    private static func line(_ lane: LaneBacklog, now: Timestamp) -> LaneLine {
        LaneLine(
            name: "\(lane.lane.provider.rawValue) \(lane.lane.app)\(lane.lane.isCritical ? " (critical)" : "")",
            waiting: NumberText.count(lane.ready + lane.retrying),
            oldest: lane.oldestReadyAt.map { SpanText.span(now - $0) } ?? "–",
            laneIn: rate(lane.arrived),
            laneOut: rate(lane.ended)
        )
    }

    private static func words(_ drain: DrainEstimate) -> String {
        switch drain {
        case .empty: "Nothing waits."
        case .after(let span): "Drained in about \(SpanText.span(max(span, .seconds(1)))) at this pace."
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
