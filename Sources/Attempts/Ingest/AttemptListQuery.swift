import HTTPServer
import Hummingbird
import PushContract

/// `GET /attempts?uid=&tokenHash=&since=&limit=`, checked.
struct AttemptListQuery {
    var uid: String?
    var tokenHash: TokenHash?
    var since: Timestamp
    var limit: Int

    init(_ request: Request, now: Timestamp) throws(Problem) {
        let parameters = try request.query("uid", "tokenHash", "since", "limit")
        uid = parameters["uid"].map(String.init)
        if let uid, !(1...256).contains(uid.unicodeScalars.count) || uid.hasControlCharacter {
            throw .badRequest("`uid` must have 1 to 256 characters, without control characters.", code: "invalid_parameter")
        }
        if let text = parameters["tokenHash"] {
            guard let hash = TokenHash(rawValue: String(text)) else {
                throw .badRequest(
                    "`tokenHash` must be `sha256:` followed by 64 lower-case hex digits, never a token.",
                    code: "invalid_parameter"
                )
            }
            tokenHash = hash
        }
        guard uid != nil || tokenHash != nil else {
            throw .badRequest("uid or tokenHash is required: uid=… or tokenHash=….", code: "missing_parameter")
        }
        if let text = parameters["since"] {
            guard let since = Timestamp(rfc3339: text) else {
                throw .badRequest("`since` must be an RFC 3339 date-time with an offset.", code: "invalid_parameter")
            }
            self.since = since
        } else {
            since = now - .seconds(7 * 86_400)
        }
        limit = try parameters.limit(standard: 100, maximum: 1000)
    }
}
