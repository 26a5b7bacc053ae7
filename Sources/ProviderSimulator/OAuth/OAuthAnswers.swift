/// Builds answers in the token endpoint's shape.
enum OAuthAnswers {
    static func issued(_ token: String, lifetimeSeconds: Int) -> SimulatedAnswer {
        let body: JSONValue = ["access_token": .string(token), "expires_in": .number(Double(lifetimeSeconds)), "token_type": "Bearer"]
        return SimulatedAnswer(status: 200, headers: [jsonType], body: body.bytes)
    }

    static func refused(_ refusal: OAuthRefusal, status: Int = 400) -> SimulatedAnswer {
        let body: JSONValue = ["error": .string(refusal.error), "error_description": .string(refusal.description)]
        return SimulatedAnswer(status: status, reason: refusal.error, headers: [jsonType], body: body.bytes)
    }

    static let jsonType = SimulatedAnswer.Header("content-type", "application/json; charset=UTF-8")
}
