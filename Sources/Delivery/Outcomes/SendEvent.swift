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
    var attempt: Attempt?
    var nextAttemptAt: Timestamp?

    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [
            "event": .string(event.rawValue), "deliveryId": .integer(deliveryId), "attempts": .integer(Int64(attempts)),
        ]
        members["attemptId"] = (attempt?.attemptId).map(JSONValue.string)
        members["reasonCode"] = (attempt?.reasonCode?.rawValue).map(JSONValue.string)
        members["providerErrorCode"] = (attempt?.providerErrorCode).map(JSONValue.string)
        members["providerMessageId"] = (attempt?.providerMessageId).map(JSONValue.string)
        members["nextAttemptAt"] = (nextAttemptAt?.rfc3339).map(JSONValue.string)
        return .object(members)
    }
}

/// Writes events of sends into `pushOutcomes`, in the transaction that makes them true: one row each time.
enum SendEvents {
    static func record(_ events: [DeliveryEvent], on connection: BlockingConnection) throws {
        try insert(events.map(\.json), on: connection)
    }

    /// Deliveries that came to this without an attempt.
    static func record(_ event: SendEvent, _ deliveries: [(deliveryId: Int64, attempts: Int)], on connection: BlockingConnection) throws {
        try record(deliveries.map { DeliveryEvent(deliveryId: $0.deliveryId, event: event, attempts: $0.attempts) }, on: connection)
    }

    /// Sends that were stored.
    static func recordAccepted(_ sends: [(sendId: String, deliveries: Int)], on connection: BlockingConnection) throws {
        let events = sends.map { send in
            JSONValue.object([
                "event": .string(SendEvent.accepted.rawValue), "sendId": .string(send.sendId),
                "deliveries": .integer(Int64(send.deliveries)),
            ])
        }
        try insert(events, on: connection)
    }

    static func insert(_ events: [JSONValue], on connection: BlockingConnection) throws {
        guard !events.isEmpty else { return }
        try connection.executeLater("INSERT INTO pushOutcomes (outcomes) VALUES (\(JSONValue.array(events).text)::text::json)")
    }
}
