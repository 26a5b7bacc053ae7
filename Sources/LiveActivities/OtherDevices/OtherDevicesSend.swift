import Delivery
import HTTPServer
import Postgres
import PushContract
import ServiceKit

/// One send to devices without Live Activities, on its way into the queue.
struct OtherDevicesSend: Sendable {
    static let author = "pushwatch live"

    /// `live~<type>~<id>~` and what distinguishes it among the subject's. No id contains `~`.
    var sendId: String
    var content: JSONMembers
    var deliveryClass: DeliveryClass
    /// The order of the subject's sends: the newest wins, and an older one never replaces it.
    var order: Int64
    var expiresAt: Timestamp
    var recipients: LiveRecipients

    /// A Live Update.
    static func liveUpdate(
        _ data: [String: String],
        of subject: String,
        _ suffix: String,
        isAlerting: Bool,
        isCritical: Bool = false,
        order: Int64,
        expiresAt: Timestamp,
        to recipients: LiveRecipients
    ) -> OtherDevicesSend {
        OtherDevicesSend(
            sendId: prefix(subject) + suffix,
            content: [
                "data": .object(JSONMembers(data.mapValues { .string($0) })), "collapseId": .string(LiveUpdateMessage.collapseId(subject)),
                "priority": .string(isAlerting ? "high" : "normal"), "pushType": .string(isAlerting ? "alert" : "background"),
                // FCM delays messages with a collapse key to one in three minutes. These are ordered by the app.
                "fcm": .object(["android": .object(["collapse_key": .null])]),
            ],
            deliveryClass: isCritical ? .critical : isAlerting ? .high : .normal,
            order: order,
            expiresAt: expiresAt,
            recipients: recipients
        )
    }

    /// An ordinary push of a key event.
    static func keyEvent(
        _ alert: LiveSubject.Alert,
        of subject: LiveSubject,
        _ suffix: String,
        isCritical: Bool,
        order: Int64,
        expiresAt: Timestamp,
        to recipients: LiveRecipients
    ) -> OtherDevicesSend {
        let name = NamedSubject(subject: subject.id)
        let data = [
            "live": LiveUpdateMessage.version, "type": name.type, "id": name.id, "event": "alert", "order": "\(order)",
            "timestamp": "\(subject.timestamp)",
        ]
        var content: JSONMembers = [
            "data": .object(JSONMembers(data.mapValues { .string($0) })), "collapseId": .string(LiveUpdateMessage.collapseId(subject.id)),
        ]
        content["title"] = alert.title.isEmpty ? nil : .string(alert.title)
        content["body"] = alert.body.isEmpty ? nil : .string(alert.body)
        content["sound"] = alert.sound.map(JSONValue.string)
        if let level = alert.interruptionLevel {
            content["apns"] = .object(["aps": .object(["interruption-level": .string(level.rawValue)])])
        }
        return OtherDevicesSend(
            sendId: prefix(subject.id) + suffix,
            content: content,
            deliveryClass: isCritical ? .critical : .high,
            order: order,
            expiresAt: expiresAt,
            recipients: recipients
        )
    }

    /// What the sendIds of a subject begin with.
    static func prefix(_ subject: String) -> String {
        let name = NamedSubject(subject: subject)
        return "\(OwnSends.live.prefix)\(name.type)~\(name.id)~"
    }

    /// Stores it, in the caller's transaction; how many devices it goes to. The same send again changes nothing.
    func enqueue(
        check: SendStore.PayloadCheck,
        now: Timestamp,
        sizes: FanOutSizes = FanOutSizes(),
        on connection: BlockingConnection
    ) throws -> Int {
        let receipt = try SendStore.enqueue(
            try request(to: .selected(recipients)),
            requestId: sendId,
            author: OtherDevicesSend.author,
            now: now,
            fanOutSizes: sizes,
            check: check,
            on: connection
        )
        switch receipt {
        case .accepted(let deliveries, _): return deliveries
        // Nobody has such a device, or no provider would take it.
        case .refused, .duplicate, .conflict: return 0
        }
    }

    func request(to target: SendRequest.Target) throws(Problem) -> SendRequest {
        try SendRequest(
            sendId: sendId,
            target: target,
            content: content,
            deliveryClass: deliveryClass,
            version: order,
            expiresAt: expiresAt
        )
    }
}
