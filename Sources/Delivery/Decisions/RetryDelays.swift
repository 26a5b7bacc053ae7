/// How long failed tries wait. Bases are configuration, so that a demonstration or a test need not wait for minutes.
package struct RetryDelays: Sendable, Hashable {
    /// A growing wait with full jitter: `floor` + random(0 … min(`cap`, `base` × 2ⁿ)).
    package struct Growth: Sendable, Hashable {
        package var base: Duration
        package var floor: Duration
        package var cap: Duration

        package init(base: Duration, floor: Duration = .zero, cap: Duration) {
            self.base = base
            self.floor = floor
            self.cap = cap
        }
    }

    /// APNs 5xx. Apple asks for 15 minutes; one early retry helps what is urgent, then it grows to that.
    package var apns: Growth
    /// FCM 5xx and quota. Google asks for at least 10 s before the first retry.
    package var fcm: Growth
    /// DNS, connect, TLS, reset, timeout.
    package var network: Growth
    /// 429.
    package var throttled: Growth
    /// Between tries of a credential that is refused: somebody has to mend it first.
    package var afterFix: Growth
    /// How long a lane waits at least when its provider asks for fewer requests (Google: a minute), doubled while that goes on.
    package var pause: Growth
    /// From the end of a pause to the full rate. Google asks for a minute.
    package var ramp: Duration

    package init(
        apns: Growth = Growth(base: .seconds(5), cap: .seconds(900)),
        fcm: Growth = Growth(base: .seconds(10), floor: .seconds(10), cap: .seconds(900)),
        network: Growth = Growth(base: .seconds(1), cap: .seconds(120)),
        throttled: Growth = Growth(base: .seconds(30), floor: .seconds(30), cap: .seconds(900)),
        afterFix: Growth = Growth(base: .seconds(60), floor: .seconds(30), cap: .seconds(900)),
        pause: Growth = Growth(base: .seconds(60), floor: .seconds(60), cap: .seconds(900)),
        ramp: Duration = .seconds(60)
    ) {
        self.apns = apns
        self.fcm = fcm
        self.network = network
        self.throttled = throttled
        self.afterFix = afterFix
        self.pause = pause
        self.ramp = ramp
    }

    /// Everything `duration` at most: for tests and the demonstration.
    package static func quick(_ duration: Duration) -> RetryDelays {
        let growth = Growth(base: duration, cap: duration)
        return RetryDelays(
            apns: growth,
            fcm: growth,
            network: growth,
            throttled: growth,
            afterFix: growth,
            pause: growth,
            ramp: duration
        )
    }
}
