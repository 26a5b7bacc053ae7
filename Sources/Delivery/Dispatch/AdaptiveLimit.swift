import Providers
import PushContract

/// How many requests one credential may have under way: grows by steps while the provider answers soon, and shrinks by a factor when it
/// refuses, does not answer, becomes slow, or has no stream free (additive increase, multiplicative decrease).
///
/// So it stays near the number of streams that the provider grants over all connections: what would wait for a stream in the client, where
/// a critical push cannot overtake it, waits in the queue, where it can.
struct AdaptiveLimit: Sendable, Hashable {
    /// Latency above this many times the usual one, and above `slow`, counts as an overload.
    static let slowFactor = 10
    static let slow = Duration.seconds(1)
    static let reduction = 0.7
    /// A request that waited for a stream for longer than this, and longer than a quarter of its response time, shows that too many are
    /// under way.
    static let streamWait = Duration.milliseconds(100)
    /// One decrease for all that was under way together.
    static let pause = Duration.milliseconds(500)
    /// Increase for each answer.
    static let step = 0.25
    static let least = 4.0
    /// The limit after an outage.
    static let afterOutage = 20.0

    let maximum: Int
    private(set) var exact: Double
    /// The usual latency: falls at once, rises slowly.
    private(set) var baseline: Duration?
    /// The last answer took longer than `slow`, whatever is usual.
    private(set) var isSlow = false
    private var reducedAt: ContinuousClock.Instant?

    init(maximum: Int) {
        self.maximum = maximum
        exact = Double(maximum)
    }

    /// At least 1.
    var value: Int { max(1, Int(exact)) }

    /// Takes up an answer, or its absence.
    ///
    /// - Parameter inFlight: requests at that moment, this one included.
    mutating func note(_ outcome: PushOutcome, inFlight: Int, now: ContinuousClock.Instant) {
        guard outcome.httpStatus != nil || outcome.refusalScope == .provider else { return }
        let time = outcome.responseTime ?? outcome.latency
        isSlow = time > AdaptiveLimit.slow
        let isOverloaded = isSlow && baseline.map { time > $0 * AdaptiveLimit.slowFactor } ?? false
        if outcome.httpStatus != nil {
            let before = baseline ?? time
            baseline = time < before ? time : before + (time - before) / 200
        }
        let streamWait = outcome.latency - time
        // Few requests wait for a connection to be opened or to answer a PING, and not for one another.
        let isWithoutStream = streamWait > AdaptiveLimit.streamWait && streamWait > time / 4 && Double(inFlight) >= exact / 2
        if isOverloaded || isWithoutStream || outcome.isThrottled || outcome.refusalScope == .provider {
            guard reducedAt.map({ now - $0 >= AdaptiveLimit.pause }) ?? true else { return }
            reducedAt = now
            exact = max(min(AdaptiveLimit.least, Double(maximum)), exact * AdaptiveLimit.reduction)
        } else {
            exact = min(Double(maximum), exact + AdaptiveLimit.step)
        }
    }

    /// The provider is back: begins low, and grows with each answer.
    mutating func restart() { exact = min(Double(maximum), AdaptiveLimit.afterOutage) }
}
