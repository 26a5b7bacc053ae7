/// How urgent a delivery is among those of its app. Each class has queues of its own, so that none waits behind another.
package enum DeliveryClass: String, Sendable, Hashable, Codable, CaseIterable {
    /// Claimed first, on reserved places, and never throttled.
    case critical
    case high
    case normal
    /// Sends to many devices.
    case bulk

    /// Its share of the places among classes that have work.
    var weight: Double {
        switch self {
        case .critical: 16
        case .high: 4
        case .normal: 2
        case .bulk: 1
        }
    }

    /// The class of a send whose caller named none.
    ///
    /// - Parameter bulkThreshold: a send with more deliveries is bulk.
    static func usual(deliveries: Int, bulkThreshold: Int) -> DeliveryClass { deliveries > bulkThreshold ? .bulk : .normal }
}
