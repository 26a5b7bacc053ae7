import HTTPServer
import PushContract
import ServiceKit

extension SendThrottle {
    /// Reads the body of `PUT /sends/throttle`: `perMinute` or `share`, `reason`, and optionally `provider` (else both), `app` (else all),
    /// `minutes` (else 60, at most a day).
    static func requested(_ value: JSONValue, author: String, now: Timestamp) throws(Problem) -> [SendThrottle] {
        var fields = try JSONFields(value)
        let provider = try fields.optional("provider", JSONFields.oneOf(Provider.self))
        let app = try fields.optional("app", JSONFields.string(1...200))
        let perMinute = try fields.optional("perMinute", JSONFields.number(SendThrottle.rates))
        let share = try fields.optional("share", JSONFields.number(0...1))
        let reason = try fields.required("reason", JSONFields.string(1...500))
        let minutes = try fields.optional("minutes", JSONFields.integer(1...1440)) ?? 60
        try fields.finish()
        guard perMinute == nil || share == nil else {
            throw fields.field("share").invalid("Send either \"perMinute\" or \"share\", not both.")
        }
        guard perMinute != nil || share != nil else {
            throw .invalid(
                "Say how much may go: either \"perMinute\", or \"share\" (0 to 1) of what went during the last five minutes.",
                code: "missing_field",
                pointer: fields.pointer
            )
        }
        return (provider.map { [$0] } ?? Provider.allCases).map { provider in
            SendThrottle(
                provider: provider,
                app: app,
                perMinute: perMinute ?? 0,
                reason: reason,
                author: author,
                createdAt: now,
                expiresAt: now + .seconds(minutes * 60),
                share: share
            )
        }
    }
}
