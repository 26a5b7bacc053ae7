import ServiceKit

/// Builds answers in Apple's shape.
enum APNsResponses {
    static func accepted(_ request: SimulatedRequest, environment: APNsEnvironment, identifiers: ResponseIdentifiers) -> SimulatedResponse {
        SimulatedResponse(status: 200, headers: headers(request, environment: environment, identifiers: identifiers))
    }

    static func refused(
        _ refusal: APNsRefusal,
        _ request: SimulatedRequest,
        environment: APNsEnvironment,
        identifiers: ResponseIdentifiers
    ) -> SimulatedResponse {
        var answer = reason(
            refusal.reason.rawValue,
            status: refusal.reason.status,
            timestamp: refusal.timestamp,
            headers: headers(request, environment: environment, identifiers: identifiers)
        )
        answer.headers.append(.init("x-simulator-detail", refusal.detail))
        return answer
    }

    /// An answer that a fault rule asks for: any status with any reason.
    static func scripted(
        _ fault: FaultResponse,
        timestamp: Int64,
        _ request: SimulatedRequest,
        environment: APNsEnvironment,
        identifiers: ResponseIdentifiers
    ) -> SimulatedResponse {
        let headers = headers(request, environment: environment, identifiers: identifiers)
        guard let reason = fault.reason else { return SimulatedResponse(status: fault.status, headers: headers) }
        return Self.reason(reason, status: fault.status, timestamp: fault.status == 410 ? timestamp : nil, headers: headers)
    }

    private static func reason(_ reason: String, status: Int, timestamp: Int64?, headers: [SimulatedResponse.Header]) -> SimulatedResponse {
        var body: JSONMembers = ["reason": .string(reason)]
        if let timestamp { body["timestamp"] = .integer(Int64(timestamp)) }
        return SimulatedResponse(status: status, reason: reason, headers: headers, body: JSONValue.object(body).bytes)
    }

    /// The sender's `apns-id`, or one of ours; `apns-unique-id` only where Apple sends it, in the development environment.
    private static func headers(
        _ request: SimulatedRequest,
        environment: APNsEnvironment,
        identifiers: ResponseIdentifiers
    ) -> [SimulatedResponse.Header] {
        var headers = [SimulatedResponse.Header("apns-id", request.header("apns-id") ?? identifiers.message)]
        if environment == .sandbox { headers.append(.init("apns-unique-id", identifiers.unique)) }
        return headers
    }
}

/// The identifiers the simulator would give a request, drawn by the shell.
struct ResponseIdentifiers: Sendable, Hashable {
    /// `apns-id` in Apple's upper-case form; the end of FCM's message name.
    var message: String
    /// `apns-unique-id`.
    var unique: String
}
