import ServiceKit

/// Builds answers in FCM's shape.
enum FCMResponses {
    static func accepted(project: String, messageId: String) -> SimulatedResponse {
        let body: JSONValue = ["name": .string("projects/\(project)/messages/\(messageId)")]
        return SimulatedResponse(status: 200, headers: [OAuthResponses.jsonType], body: body.bytes)
    }

    static func refused(_ error: FCMError) -> SimulatedResponse {
        var members: JSONMembers = [
            "code": .integer(Int64(error.status)), "message": .string(error.message), "status": .string(error.name),
        ]
        let details = details(of: error)
        if !details.isEmpty { members["details"] = .array(details) }
        let body: JSONValue = ["error": .object(members)]
        var headers = [OAuthResponses.jsonType]
        if error.status == 401 && error.errorCode == nil {
            headers.append(.init("www-authenticate", #"Bearer realm="https://accounts.google.com/", error="invalid_token""#))
        }
        return SimulatedResponse(status: error.status, reason: error.errorCode ?? error.name, headers: headers, body: body.bytes)
    }

    private static func details(of error: FCMError) -> [JSONValue] {
        var details: [JSONValue] = []
        if let code = error.errorCode {
            details.append(["@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": .string(code)])
        }
        if !error.violations.isEmpty {
            let violations = error.violations.map { violation -> JSONValue in
                ["field": .string(violation.field), "description": .string(violation.description)]
            }
            details.append(["@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": .array(violations)])
        }
        if let subject = error.quotaSubject {
            let violation: JSONValue = ["subject": .string(subject), "description": "Message rate exceeded."]
            details.append(["@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]])
        }
        return details
    }
}
