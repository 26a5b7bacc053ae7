import ServiceKit

/// Builds answers in the token endpoint's shape.
enum OAuthResponses {
    static func issued(_ token: String, lifetimeSeconds: Int) -> SimulatedResponse {
        let body: JSONValue = ["access_token": .string(token), "expires_in": .integer(Int64(lifetimeSeconds)), "token_type": "Bearer"]
        return SimulatedResponse(status: 200, headers: [jsonType], body: body.bytes)
    }

    static func refused(_ refusal: OAuthRefusal, status: Int = 400) -> SimulatedResponse {
        let body: JSONValue = ["error": .string(refusal.error), "error_description": .string(refusal.description)]
        return SimulatedResponse(status: status, reason: refusal.error, headers: [jsonType], body: body.bytes)
    }

    static let jsonType = SimulatedResponse.Header("content-type", "application/json; charset=UTF-8")
}
