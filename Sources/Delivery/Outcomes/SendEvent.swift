import Postgres
import PushContract
import ServiceKit

/// What senders learn about a send (`accepted`) or about one of its deliveries (all others).
enum SendEvent: String, CaseIterable {
    case accepted
    /// A failed attempt that is followed by another one.
    case attemptFailed
    case sent, failed, superseded, expired, unreachable, cancelled
    /// A dead letter was put back into the queue.
    case retried
    /// The token of the delivery was deactivated, in addition to the event that ended it.
    case tokenDeactivated
}

/// An event of one delivery. Whose it is is looked up when it is read: an erased user's outcomes are gone with the deliveries.
struct DeliveryEvent {
    var deliveryId: Int64
    var event: SendEvent
    /// Attempts made so far.
    var attempts: Int
    /// What is said of the attempt, if there was one.
    var attemptId: String?
    var reasonCode: ReasonCode?
    var providerErrorCode: String?
    var providerMessageId: String?
    var nextAttemptAt: Timestamp?

    fileprivate func write(to json: inout JSONWriter) {
        json.object { json in
            json.member("event", event.rawValue)
            json.member("deliveryId", deliveryId)
            json.member("attempts", Int64(attempts))
            json.member("attemptId", attemptId)
            json.member("reasonCode", reasonCode?.rawValue)
            json.member("providerErrorCode", providerErrorCode)
            json.member("providerMessageId", providerMessageId)
            json.member("nextAttemptAt", nextAttemptAt?.rfc3339)
        }
    }
}

extension DeliveryEvent {
    init(deliveryId: Int64, event: SendEvent, attempts: Int, attempt: Attempt?) {
        self.init(
            deliveryId: deliveryId,
            event: event,
            attempts: attempts,
            attemptId: attempt?.attemptId,
            reasonCode: attempt?.reasonCode,
            providerErrorCode: attempt?.providerErrorCode,
            providerMessageId: attempt?.providerMessageId
        )
    }
}

/// Writes events of sends into `pushOutcomes`, in the transaction that makes them true.
enum SendEvents {
    /// Events of a row, so that a reader can take as many rows as it needs outcomes.
    static let rowLimit = 250

    static func record(_ events: [DeliveryEvent], on connection: BlockingConnection) throws {
        try insert(events, on: connection) { $0.write(to: &$1) }
    }

    /// Deliveries that came to this without an attempt.
    static func record(_ event: SendEvent, _ deliveries: [(deliveryId: Int64, attempts: Int)], on connection: BlockingConnection) throws {
        try record(deliveries.map { DeliveryEvent(deliveryId: $0.deliveryId, event: event, attempts: $0.attempts) }, on: connection)
    }

    /// Sends that were stored.
    static func recordAccepted(_ sends: [(sendId: String, deliveries: Int)], on connection: BlockingConnection) throws {
        try insert(sends, on: connection) { send, json in
            json.object { json in
                json.member("event", SendEvent.accepted.rawValue)
                json.member("sendId", send.sendId)
                json.member("deliveries", Int64(send.deliveries))
            }
        }
    }

    static func insert<Event>(
        _ events: [Event],
        on connection: BlockingConnection,
        write: (Event, inout JSONWriter) -> Void
    ) throws {
        for start in stride(from: 0, to: events.count, by: rowLimit) {
            let row = events[start..<min(start + rowLimit, events.count)]
            var json = JSONWriter()
            json.array { json in
                for event in row { write(event, &json) }
            }
            try connection.executeLater("INSERT INTO pushOutcomes (outcomes, count) VALUES (\(json.text), \(Int32(row.count)))")
        }
    }
}
