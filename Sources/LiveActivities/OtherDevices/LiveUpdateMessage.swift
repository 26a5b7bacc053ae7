import Crypto
import HTTPServer
import PushContract
import ServiceKit

/// The pushes to devices without Live Activities, as sends. Pure; docs/live-activities.md describes their payload for apps.
enum LiveUpdateMessage {
    /// The version of the payload.
    static let version = "1"
    /// Of `title` and `text`; the whole has to fit into FCM's 4,096 bytes.
    private static let textLimit = 200
    /// Below FCM's limit.
    private static let sizeLimit = 4000

    /// What ends a Live Update.
    struct End: Sendable, Hashable {
        var reason: EndReason
        var cause: String?
        /// When the card leaves the screen.
        var dismissAt: Timestamp
    }

    /// `data` of an FCM message: all values are strings.
    ///
    /// - Parameters:
    ///   - order: rises from message to message about a subject.
    ///   - alert: the latest one, with the state that brought it as its identity.
    static func data(
        _ subject: LiveSubject,
        _ mapping: LiveUpdateMapping,
        order: Int64,
        alert: SubjectAlert? = nil,
        end: End? = nil
    ) -> [String: String] {
        let name = NamedSubject(subject: subject.id)
        let card = LiveUpdateCard(subject, mapping)
        var data = [
            "live": version, "type": name.type, "id": name.id, "event": end == nil ? "update" : "end", "order": "\(order)",
            "timestamp": "\(subject.timestamp)", "title": truncated(card.title), "text": truncated(card.text),
            "staleAt": "\(LivePayloads.staleDate(subject).seconds)",
        ]
        data["shortText"] = card.shortText
        data["progress"] = card.progress?.text
        data["when"] = card.when.map { "\($0)" }
        data["chronometer"] = card.chronometer?.rawValue
        if let end {
            data["endReason"] = end.reason.rawValue
            data["endCause"] = end.cause
            data["dismissAt"] = "\(end.dismissAt.seconds)"
        }
        if let alert {
            data["alertId"] = "\(alert.timestamp)"
            data["alertTitle"] = truncated(alert.alert.title)
            data["alertBody"] = truncated(alert.alert.body)
            data["alertSound"] = alert.alert.sound
            data["alertLevel"] = alert.alert.interruptionLevel?.rawValue
        }
        // What does not fit is left out, the attributes first: an app asks for what it lacks.
        for (member, text) in [("contentState", subject.state), ("attributes", subject.attributes)] {
            let size = data.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
            if size + member.utf8.count + text.utf8.count <= sizeLimit { data[member] = text }
        }
        return data
    }

    /// The end of one user's follow: the card leaves the screen at once.
    static func unfollowed(_ subject: String, order: Int64, reason: EndReason, now: Timestamp) -> [String: String] {
        let name = NamedSubject(subject: subject)
        return [
            "live": version, "type": name.type, "id": name.id, "event": "end", "order": "\(order)", "endReason": reason.rawValue,
            "dismissAt": "\(now.seconds)",
        ]
    }

    /// One for each subject. 32 characters: longer ones cannot collapse in browsers.
    static func collapseId(_ subject: String) -> String {
        SHA256.hash(data: Array("live\n\(subject)".utf8)).prefix(16).hexDigits
    }

    private static func truncated(_ text: String) -> String {
        text.count <= textLimit ? text : text.prefix(textLimit - 1) + "…"
    }
}
