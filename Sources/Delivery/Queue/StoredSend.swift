import Postgres
package import PushContract

/// A send as it is stored: what was asked for, and the state and attempts of each delivery.
package struct StoredSend: Sendable {
    package struct Delivery: Sendable {
        package var deliveryId: Int64
        package var uid: String
        package var deviceId: String?
        package var platform: Platform
        package var provider: Provider
        package var environment: PushEnvironment
        package var app: String
        package var state: DeliveryState
        /// Tries that ended.
        package var attempts: Int
        package var reasonCode: ReasonCode?
        package var providerErrorCode: String?
        package var providerMessageId: String?
        /// When it is tried next, if that is known.
        package var nextAttemptAt: Timestamp?
        package var finishedAt: Timestamp?
    }

    package var sendId: String
    package var requestId: String
    package var author: String
    package var deliveryClass: DeliveryClass
    package var policy: DeliveryPolicy
    package var createdAt: Timestamp
    package var notBefore: Timestamp?
    package var expiresAt: Timestamp
    var cancelledAt: Timestamp?
    /// The targets that it does not go to.
    var skipped: [SkippedTargets]
    /// Not all deliveries are stored yet.
    var isStoring: Bool
    /// Deliveries of a page at most.
    package static let pageLimit = 1000
    /// Attempts of a page at most.
    static let attemptLimit = 10_000

    /// A page of them.
    package var deliveries: [Delivery]
    /// All that are stored, by state.
    package var counts: [DeliveryState: Int]
    /// The rows of the attempts of the people on the page, oldest first.
    package var attempts: [Attempt]
    /// They have more attempts than a page shows.
    var areAttemptsTruncated = false
    /// The attempts of all deliveries that have ended.
    package var attemptCount = 0
    /// The last delivery of the page; nil on the last page.
    package var next: Int64?

    package var state: SendState {
        if isStoring { return .storing }
        // It may have been cancelled before it had a delivery.
        return counts.isEmpty && cancelledAt != nil ? .cancelled : SendState(Array(counts.keys))
    }
}

extension StoredSend {
    init(_ row: Row, deliveries: [Delivery], counts: [DeliveryState: Int], attempts: [Attempt]) throws {
        let values = try row.decode(
            (String, String, String, String, String, Timestamp, Timestamp?, Timestamp, Timestamp?, Bool, String?).self
        )
        self.init(
            sendId: values.0,
            requestId: values.1,
            author: values.2,
            deliveryClass: try stored(values.3),
            policy: try stored(values.4),
            createdAt: values.5,
            notBefore: values.6,
            expiresAt: values.7,
            cancelledAt: values.8,
            skipped: try [SkippedTargets](stored: values.10),
            isStoring: values.9,
            deliveries: deliveries,
            counts: counts,
            attempts: attempts
        )
    }
}

extension StoredSend.Delivery {
    init(_ row: Row) throws {
        let values = try row.decode(
            (Int64, String, String?, String, String, String, String, String, Int32, String?, String?, String?, Timestamp?, Timestamp?).self
        )
        self.init(
            deliveryId: values.0,
            uid: values.1,
            deviceId: values.2,
            platform: try stored(values.3),
            provider: try stored(values.4),
            environment: try stored(values.5),
            app: values.6,
            state: try stored(values.7),
            attempts: Int(values.8),
            reasonCode: try values.9.map { try stored($0) },
            providerErrorCode: values.10,
            providerMessageId: values.11,
            nextAttemptAt: values.12,
            finishedAt: values.13
        )
    }
}
