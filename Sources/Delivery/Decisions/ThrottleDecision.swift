package import PushContract

/// How many non-critical sends a throttle lets through: a bucket that fills at `perMinute`, and never slower than the rate of probes.
package enum ThrottleDecision {
    /// A throttle never stops the flow: without probes nobody would see the provider recover.
    static let probesPerMinute = 4.0

    /// The bucket as stored.
    package struct Bucket: Sendable, Hashable {
        package var perMinute: Double
        package var allowance: Double
        package var refilledAt: Timestamp

        package init(perMinute: Double, allowance: Double, refilledAt: Timestamp) {
            self.perMinute = perMinute
            self.allowance = allowance
            self.refilledAt = refilledAt
        }
    }

    /// The rate that is really applied.
    package static func effectivePerMinute(_ perMinute: Double) -> Double { max(perMinute, probesPerMinute) }

    /// Takes up to `wanted` from the bucket.
    ///
    /// At most five seconds' worth is saved up, so a quiet queue cannot burst past the rate; but two sends at least, else a bucket that is
    /// full for a moment before it is asked would fall behind its rate. A clock that steps back refills nothing.
    package static func take(_ wanted: Int, from bucket: Bucket, now: Timestamp) -> (granted: Int, bucket: Bucket) {
        let rate = effectivePerMinute(bucket.perMinute) / 60
        let elapsed = max(0, (now - bucket.refilledAt).inSeconds)
        let limit = max(2, rate * 5)
        let level = min(limit, bucket.allowance + elapsed * rate)
        // Fifteen fifteenths are one, whatever the rounding says.
        let granted = max(0, min(wanted, Int(level + 1e-9)))
        var bucket = bucket
        bucket.allowance = max(0, level - Double(granted))
        bucket.refilledAt = max(now, bucket.refilledAt)
        return (granted, bucket)
    }
}
