import Postgres
import ServiceKit

/// A delivery of a send that was sent at its first attempt.
struct SentDelivery {
    var deliveryId: Int64
    var queue: Int32
    /// SHA-256, as `AttemptID` derives it.
    var attemptId: [UInt8]
    var messageId: SentMessageId
}

/// Deliveries that one transaction records as sent at their first attempt: a row of `pushOutcomes` holds their state and their events, and
/// is found by their ids, which are near each other.
struct SentTogether {
    /// What a row of fewer would save is less than what it costs to find a delivery in it.
    static let minimum = 8
    /// Between the first and the last id. Who looks for a delivery reads rows up to here.
    static let span: Int64 = 16_384

    /// In ascending order of their ids.
    private(set) var deliveries: [SentDelivery]

    /// Divides deliveries into groups of neighbours. Those without enough neighbours are in none.
    static func groups(of deliveries: [SentDelivery]) -> [SentTogether] {
        guard deliveries.count >= minimum else { return [] }
        var groups: [SentTogether] = []
        var group: [SentDelivery] = []
        for delivery in deliveries.sorted(by: { $0.deliveryId < $1.deliveryId }) {
            if let first = group.first, delivery.deliveryId - first.deliveryId >= span || group.count == SendEvents.rowLimit {
                if group.count >= minimum { groups.append(SentTogether(deliveries: group)) }
                group = []
            }
            group.append(delivery)
        }
        if group.count >= minimum { groups.append(SentTogether(deliveries: group)) }
        return groups
    }

    func insert(on connection: BlockingConnection) throws {
        guard let first = deliveries.first?.deliveryId, let last = deliveries.last?.deliveryId else { return }
        try connection.executeLater(
            """
            INSERT INTO pushOutcomes (outcomes, count, sent, sentQueues, sentAttemptIds, sentMessageIds, firstSent, lastSent)
            VALUES ('[]', \(Int32(deliveries.count)), \(deliveries.map(\.deliveryId)), \(deliveries.map(\.queue)),
                \(deliveries.map(\.attemptId) as [[UInt8]]), \(deliveries.map(\.messageId.stored)), \(first), \(last))
            """
        )
    }

    /// The row that has a delivery, which is in no other place.
    ///
    /// - Parameters:
    ///   - columns: of `o`, the row.
    ///   - condition: whether to look.
    static func row(_ columns: Query, of deliveryId: Query, where condition: Query) -> Query {
        """
        SELECT \(columns) FROM pushOutcomes o
        WHERE \(condition) AND o.lastSent >= \(deliveryId) AND o.lastSent < \(deliveryId) + \(raw: String(span))
            AND o.firstSent <= \(deliveryId) AND \(deliveryId) = ANY (o.sent)
        ORDER BY o.lastSent LIMIT 1
        """
    }
}
