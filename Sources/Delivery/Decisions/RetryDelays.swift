package import ServiceKit

/// How long failed tries wait. Bases are configuration, so that a demonstration or a test need not wait for minutes.
package struct RetryDelays: Sendable, Hashable {
    /// APNs 5xx. Apple asks for 15 minutes; one early retry helps what is urgent, then it grows to that.
    package var apns: Backoff
    /// FCM 5xx and quota. Google asks for at least 10 s before the first retry.
    package var fcm: Backoff
    /// DNS, connect, TLS, reset, timeout.
    package var network: Backoff
    /// 429.
    package var throttled: Backoff
    /// Between probes of a credential that is refused: somebody has to correct it first.
    package var afterFix: Backoff
    /// How long a queue waits at least when its provider asks for fewer requests (Google: a minute), doubled while that goes on.
    package var pause: Backoff
    /// From the end of a pause to the full rate. Google asks for a minute.
    package var ramp: Duration
    /// A delivery whose credential is refused while others with it are accepted.
    var ownRefusal = Backoff(base: .seconds(5), minimum: .seconds(2), cap: .seconds(60))
    /// The longest `Retry-After` that is obeyed: a longer one is a fault of the provider, and would keep critical pushes for hours.
    var retryAfterCap = Duration.seconds(900)

    package init(
        apns: Backoff = Backoff(base: .seconds(5), cap: .seconds(900)),
        fcm: Backoff = Backoff(base: .seconds(10), minimum: .seconds(10), cap: .seconds(900)),
        network: Backoff = Backoff(base: .seconds(1), cap: .seconds(120)),
        throttled: Backoff = Backoff(base: .seconds(30), minimum: .seconds(30), cap: .seconds(900)),
        afterFix: Backoff = Backoff(base: .seconds(60), minimum: .seconds(30), cap: .seconds(900)),
        pause: Backoff = Backoff(base: .seconds(60), minimum: .seconds(60), cap: .seconds(900)),
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
        let curve = Backoff(base: duration, cap: duration)
        var delays = RetryDelays(
            apns: curve,
            fcm: curve,
            network: curve,
            throttled: curve,
            afterFix: curve,
            pause: curve,
            ramp: duration
        )
        delays.ownRefusal = curve
        return delays
    }
}
