import Foundation
package import HTTPServer
package import PushContract

extension DeadLetterFilter {
    /// How far back is looked when nobody says.
    static let usualAge = Duration.seconds(86_400)

    /// From the query of `GET /sends/dead`.
    package init(query: [Substring: Substring], now: Timestamp) throws(Problem) {
        func text(_ name: Substring) -> String? { query[name].map(String.init) }
        func choice<Choice: RawRepresentable & CaseIterable>(_ name: Substring, _ type: Choice.Type) throws(Problem) -> Choice?
        where Choice.RawValue == String {
            guard let value = text(name) else { return nil }
            guard let choice = Choice(rawValue: value) else {
                throw .badRequest(
                    "The query's \(name) must be one of \(Choice.allCases.map(\.rawValue).joined(separator: ", ")).",
                    code: "invalid_parameter"
                )
            }
            return choice
        }
        func moment(_ name: Substring) throws(Problem) -> Timestamp? {
            guard let value = text(name) else { return nil }
            guard let moment = Timestamp(rfc3339: value) else {
                throw .badRequest(
                    "The query's \(name) is an RFC 3339 date-time with an offset, such as 2026-02-12T09:30:00Z.",
                    code: "invalid_parameter"
                )
            }
            return moment
        }
        self.init(
            sendId: text("sendId"),
            outcome: try choice("outcome", DeadOutcome.self),
            reasonCode: try choice("reasonCode", ReasonCode.self),
            providerErrorCode: text("providerErrorCode"),
            provider: try choice("provider", Provider.self),
            app: text("app"),
            since: try moment("since") ?? now - DeadLetterFilter.usualAge,
            until: try moment("until") ?? now + .seconds(60)
        )
    }

    /// From the body of `POST /sends/dead/retry`. A sendId alone finds its letters however old they are.
    package init(_ fields: inout JSONFields, now: Timestamp) throws(Problem) {
        let sendId = try fields.optional("sendId", JSONFields.identifier)
        let outcome = try fields.optional("outcome", JSONFields.oneOf(DeadOutcome.self))
        let reasonCode = try fields.optional("reasonCode", JSONFields.oneOf(ReasonCode.self))
        let code = try fields.optional("providerErrorCode", JSONFields.string(1...200))
        let since = try fields.optional("since", JSONFields.timestamp)
        guard sendId != nil || outcome != nil || reasonCode != nil || code != nil || since != nil else {
            throw .invalid(
                "Say which dead letters: \"sendId\", \"outcome\", \"reasonCode\", \"providerErrorCode\" or \"since\".",
                code: "missing_field",
                pointer: fields.pointer
            )
        }
        self.init(
            sendId: sendId,
            outcome: outcome,
            reasonCode: reasonCode,
            providerErrorCode: code,
            provider: try fields.optional("provider", JSONFields.oneOf(Provider.self)),
            app: try fields.optional("app", JSONFields.string(1...200)),
            since: since ?? (sendId == nil ? now - DeadLetterFilter.usualAge : Timestamp(seconds: 0)),
            until: try fields.optional("until", JSONFields.timestamp) ?? now + .seconds(60)
        )
    }
}
