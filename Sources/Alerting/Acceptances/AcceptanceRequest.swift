import Foundation
package import HTTPServer
package import PushContract
import ServiceKit

/// The body of `POST /alerts/{id}/accept`: `reason`.
package struct AcceptanceRequest: Sendable {
    static let longestReason = 500

    package var reason: String

    /// Throws a problem where the reason is missing or too short: the next person on call reads it.
    package init(reason: String?) throws(Problem) {
        let text = (reason ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty, text.count <= Self.longestReason, !text.contains("\0") else {
            throw .invalid("reason is a text of 1 to 500 characters: why is this normal from now on?", pointer: "/reason")
        }
        self.reason = text
    }

    static func parse(_ bytes: [UInt8]) throws(Problem) -> AcceptanceRequest {
        var fields = try JSONFields(JSONParser.parse(bytes))
        let reason = try fields.optional("reason", JSONFields.text(0...Self.longestReason))
        try fields.finish()
        return try AcceptanceRequest(reason: reason)
    }

    /// Why an alert cannot be accepted; nil when it can.
    package static func refusal(of alert: Alert, at now: Timestamp) -> Problem? {
        if !alert.comparesWithPast {
            return .conflict(
                "This alert does not compare with a baseline, so there is nothing to learn anew. Change its rule, or silence it.",
                code: "not_a_baseline"
            )
        }
        guard alert.isAcceptable(at: now) else {
            return .conflict("This alert ended more than a day ago. Accept the level when it fires again.", code: "ended_long_ago")
        }
        return nil
    }
}
