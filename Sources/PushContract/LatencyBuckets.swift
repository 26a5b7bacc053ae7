/// The classes of latency that attempts are counted in. Attempts slower than a bound are known exactly, a percentile up to its bucket.
package enum LatencyBuckets {
    /// The highest latency of each bucket in milliseconds, in ratios of 1.4 to 3: finest where providers answer late, but answer.
    package static let bounds: [Int32] = [
        1, 2, 5, 10, 20, 50, 100, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000, 10_000, 30_000, 60_000, .max,
    ]

    /// The highest latency of the bucket that an attempt is in.
    package static func bound(of latencyMs: Int32) -> Int32 { bounds.first { latencyMs <= $0 } ?? .max }
}
