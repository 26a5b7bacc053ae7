package import HTTPServer
package import PushContract
import ServiceKit

/// The body of `POST /silences`: `matchers`, `endsAt`, `reason`, and optionally `startsAt`.
package struct SilenceRequest: Sendable {
    /// For longer than this, change the rule instead.
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
        var fields = try JSONFields(JSONParser.parse(bytes))
        let request = SilenceRequest(
            matchers: try fields.required("matchers", JSONFields.list(of: matcher, 1...20)),
            startsAt: try fields.optional("startsAt", time),
            endsAt: try fields.required("endsAt", time),
            reason: try fields.required("reason", JSONFields.text(0...500))
        )
        try fields.finish()
        return request
    }

    package func silence(author: String, now: Timestamp) throws(Problem) -> AlertSilence {
        guard matchers.contains(where: { !$0.isEqual || !$0.value.isEmpty }) else {
            throw .invalid(
                "These matchers match every alert without the label, as an absent label counts as empty. Give one of them a value.",
                pointer: "/matchers"
            )
        }
        guard (1...500).contains(reason.count), !reason.allSatisfy(\.isWhitespace) else {
            throw .invalid("reason: say in 1 to 500 characters why the alerts are silenced.", pointer: "/reason")
        }
        let start = startsAt ?? now
        guard endsAt > now, endsAt > start else { throw .invalid("endsAt must be in the future and after startsAt.", pointer: "/endsAt") }
        guard endsAt - now <= Self.longest else { throw .invalid("A silence may last 90 days at most.", pointer: "/endsAt") }
        return AlertSilence(matchers: matchers, startsAt: start, endsAt: endsAt, author: author, reason: reason, createdAt: now)
    }

    private static func matcher(_ value: JSONValue, _ field: JSONFields.Field) throws(Problem) -> SilenceMatcher {
        var fields = try JSONFields(value, at: field.pointer)
        let matcher = SilenceMatcher(
            name: try fields.required("name", JSONFields.string(1...100)),
            value: try fields.required("value", JSONFields.text(0...300)),
            isEqual: try fields.optional("isEqual", JSONFields.bool) ?? true
        )
        try fields.finish()
        return matcher
    }

    private static func time(_ value: JSONValue, _ field: JSONFields.Field) throws(Problem) -> Timestamp {
        guard let time = value.string.flatMap({ Timestamp(rfc3339: $0) }) else {
            throw field.invalid("\(field.name) is an RFC 3339 time with offset, such as 2026-01-05T12:00:00Z.")
        }
        return time
    }
}
