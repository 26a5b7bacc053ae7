import Foundation
package import HTTPServer
package import PushContract

/// The body of `POST /silences`: `matchers`, `endsAt`, `reason`, and optionally `startsAt`.
package struct SilenceRequest: Sendable {
    /// Longer than this is not a silence but a rule that should be changed.
    static let longest = Duration.seconds(90 * 86_400)

    var matchers: [SilenceMatcher]
    var startsAt: Timestamp?
    var endsAt: Timestamp
    var reason: String

    package init(matchers: [SilenceMatcher], startsAt: Timestamp? = nil, endsAt: Timestamp, reason: String) {
        self.matchers = matchers
        self.startsAt = startsAt
        self.endsAt = endsAt
        self.reason = reason
    }

    static func parse(_ bytes: [UInt8]) throws(Problem) -> SilenceRequest {
        guard let object = (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: Any] else {
            throw .malformedJSON("The body is not a JSON object with matchers, endsAt and reason.")
        }
        try refuseUnknown(object, known: ["matchers", "startsAt", "endsAt", "reason"], at: "")
        guard let list = object["matchers"] as? [Any], !list.isEmpty, list.count <= 20 else {
            throw .invalid("matchers is a list of 1 to 20 objects with name and value.", pointer: "/matchers")
        }
        var matchers: [SilenceMatcher] = []
        for (index, item) in list.enumerated() { matchers.append(try matcher(item, at: "/matchers/\(index)")) }
        guard let endsAt = try time(object["endsAt"], at: "/endsAt") else {
            throw .invalid("endsAt is an RFC 3339 time with offset, such as 2026-01-05T12:00:00Z.", pointer: "/endsAt")
        }
        guard let reason = object["reason"] as? String, isText(reason, upTo: 500) else {
            throw .invalid("reason: 1 to 500 characters required; say why the alerts are silenced", pointer: "/reason")
        }
        return SilenceRequest(
            matchers: matchers,
            startsAt: try time(object["startsAt"], at: "/startsAt"),
            endsAt: endsAt,
            reason: reason
        )
    }

    package func silence(author: String, now: Timestamp) throws(Problem) -> AlertSilence {
        let start = startsAt ?? now
        guard endsAt > now, endsAt > start else { throw .invalid("endsAt must lie in the future and after startsAt.", pointer: "/endsAt") }
        guard endsAt - now <= Self.longest else { throw .invalid("A silence may last 90 days at most.", pointer: "/endsAt") }
        return AlertSilence(matchers: matchers, startsAt: start, endsAt: endsAt, author: author, reason: reason, createdAt: now)
    }

    private static func matcher(_ item: Any, at pointer: String) throws(Problem) -> SilenceMatcher {
        guard let object = item as? [String: Any] else { throw .invalid("A matcher is an object with name and value.", pointer: pointer) }
        try refuseUnknown(object, known: ["name", "value", "isEqual"], at: pointer)
        guard let name = object["name"] as? String, isText(name, upTo: 100) else {
            throw .invalid("name is a label such as alertname, severity or provider.", pointer: pointer + "/name")
        }
        guard let value = object["value"] as? String, value.count <= 300, !value.contains("\0") else {
            throw .invalid("value is the text the label must have.", pointer: pointer + "/value")
        }
        guard object["isEqual"] == nil || object["isEqual"] is Bool else {
            throw .invalid("isEqual is true or false.", pointer: pointer + "/isEqual")
        }
        return SilenceMatcher(name: name, value: value, isEqual: object["isEqual"] as? Bool ?? true)
    }

    private static func time(_ value: Any?, at pointer: String) throws(Problem) -> Timestamp? {
        guard let value, !(value is NSNull) else { return nil }
        guard let text = value as? String, let time = Timestamp(rfc3339: text) else {
            throw .invalid("This is an RFC 3339 time with offset, such as 2026-01-05T12:00:00Z.", pointer: pointer)
        }
        return time
    }

    private static func refuseUnknown(_ object: [String: Any], known: [String], at pointer: String) throws(Problem) {
        guard let unknown = object.keys.sorted().first(where: { !known.contains($0) }) else { return }
        let detail = "There is no field '\(unknown)' here. Known: \(known.joined(separator: ", "))."
        throw .invalid(detail, code: "unknown_field", pointer: "\(pointer)/\(unknown)")
    }

    private static func isText(_ text: String, upTo limit: Int) -> Bool {
        !text.trimmingCharacters(in: .whitespaces).isEmpty && text.count <= limit && !text.contains("\0")
    }
}
