package import Postgres
package import PushContract
package import ServiceKit

/// An alert of a feature above that a device was not sent. It is stored as a delivery that has ended, so that it goes with what is
/// forgotten or erased, and its sender learns of it from the stream of outcomes.
package struct UndeliveredAlert: Sendable {
    package enum Cause: Sendable, Hashable {
        /// Another one stood for it.
        case superseded
        case expired
        case failed(reason: ReasonCode?, code: String?)
    }

    /// Nil: it was not made for each device.
    package var delivery: NewQueuedDelivery?
    package var cause: Cause
    /// Says which one it is: `alert` of the outcome.
    package var alert: JSONValue

    package init(_ delivery: NewQueuedDelivery?, _ cause: Cause, alert: JSONValue) {
        self.delivery = delivery
        self.cause = cause
        self.alert = alert
    }

    /// In the transaction that makes them true.
    package static func record(_ alerts: [UndeliveredAlert], now: Timestamp, on connection: BlockingConnection) throws {
        guard !alerts.isEmpty else { return }
        var stored = try DeliveryQueue.insert(alerts.compactMap(\.delivery), now: now, on: connection)[...]
        var superseded: [(deliveryId: Int64, queue: Int32)] = []
        var dead: [(deliveryId: Int64, queue: Int32, alert: UndeliveredAlert)] = []
        var events: [JSONValue] = []
        for alert in alerts {
            let delivery = alert.delivery == nil ? nil : stored.popFirst()
            events.append(alert.event(delivery?.deliveryId))
            guard let delivery else { continue }
            if alert.cause == .superseded {
                superseded.append(delivery)
            } else {
                dead.append((delivery.deliveryId, delivery.queue, alert))
            }
        }
        try connection.execute(
            """
            INSERT INTO pushFinishedSingles (deliveryId, queue, outcome, attempts, finishedAt)
            SELECT deliveryId, queue, 'superseded', 0, \(now)
            FROM unnest(\(superseded.map(\.deliveryId)), \(superseded.map(\.queue))) AS t(deliveryId, queue)
            """
        )
        try connection.execute(
            """
            INSERT INTO pushDead (deliveryId, queue, outcome, attempts, reasonCode, providerErrorCode, finishedAt)
            SELECT deliveryId, queue, outcome, 0, reason::pushReason, code, \(now)
            FROM unnest(\(dead.map(\.deliveryId)), \(dead.map(\.queue)), \(dead.map(\.alert.name)),
                \(dead.map(\.alert.refusal.reason?.rawValue)), \(dead.map(\.alert.refusal.code)))
                AS t(deliveryId, queue, outcome, reason, code)
            """
        )
        try SendEvents.insert(events, on: connection) { $1.value($0) }
    }

    private var name: String {
        switch cause {
        case .superseded: SendEvent.superseded.rawValue
        case .expired: SendEvent.expired.rawValue
        case .failed: SendEvent.failed.rawValue
        }
    }

    private var refusal: (reason: ReasonCode?, code: String?) {
        if case .failed(let reason, let code) = cause { (reason, code) } else { (nil, nil) }
    }

    private var attempts: Int { if case .failed = cause { 1 } else { 0 } }

    private func event(_ deliveryId: Int64?) -> JSONValue {
        var members: JSONMembers = ["event": .string(name), "alert": alert]
        members["deliveryId"] = deliveryId.map(JSONValue.integer)
        members["attempts"] = deliveryId.map { _ in .integer(Int64(attempts)) }
        members["reasonCode"] = (refusal.reason?.rawValue).map(JSONValue.string)
        members["providerErrorCode"] = refusal.code.map(JSONValue.string)
        return .object(members)
    }
}
