import PushContract

/// Attempts of one minute with one provider and one ending.
struct TrafficCell: Hashable {
    /// Whole minutes since 1970 UTC.
    var minute: Int64
    var provider: Provider
    /// Nil for those that were sent.
    var reason: ReasonCode?
    var attempts: Int64
    var latencyMsSum: Int64 = 0
    var latencyCount: Int64 = 0
}
