/// What describes a metric beyond its name.
struct MetricDescription: Sendable {
    var help: String
    /// Upper bounds of a histogram's buckets, rising, without infinity; nil for the usual ones.
    var buckets: [Double]?

    /// Seconds, from half a millisecond to a minute.
    static let secondsBuckets: [Double] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
    /// Sizes and counts.
    static let sizeBuckets: [Double] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000]
}
