import PushContract
import ServiceKit

/// The checks on one `messages:send` request. Pure.
enum FCMRequestChecks {
    /// The project of the path; nil when the path is not `/v1/projects/{project}/messages:send`.
    static func project(of request: SimulatedRequest) -> String? {
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        guard request.method == "POST", parts.count == 4, parts[0] == "v1", parts[1] == "projects", !parts[2].isEmpty,
            parts[3] == "messages:send"
        else { return nil }
        return parts[2]
    }

    /// - Parameter holder: the account that the request's bearer token was issued to; nil if it was issued to none.
    static func check(_ request: SimulatedRequest, project: String, holder: AccessTokens.Grant?) throws(FCMError) -> FCMSend {
        guard let holder else { throw .unauthenticated }
        guard holder.projectId == project else { throw .projectDenied(project) }
        guard let body = JSONValue(bytes: request.body), let members = body.members else {
            throw .unparsable("", "Invalid JSON payload received. Expected an object.")
        }
        try FCMFieldChecks.refuseUnknown(members, known: ["message", "validate_only", "validateOnly"], at: "")
        guard let message = members["message"], message.members != nil else {
            throw .invalid("message", "The message is not set.")
        }
        let target = try FCMMessageChecks.check(message)
        let validateOnly = members["validate_only"] ?? members["validateOnly"] ?? false
        guard let validateOnly = validateOnly.bool else {
            throw .unparsable("validate_only", "Invalid value at 'validate_only' (TYPE_BOOL)")
        }
        return FCMSend(project: project, target: target, validateOnly: validateOnly)
    }

    /// FCM's checks of the token itself, after the request's form is in order.
    static func checkToken(of send: FCMSend, script: ScriptedToken?) throws(FCMError) {
        guard let script else { return }
        if let project = script.project, project != send.project { throw .senderIdMismatch }
        if script.dead { throw .unregistered }
    }
}

/// A request that passed every check on its form.
struct FCMSend: Sendable, Hashable {
    var project: String
    var target: FCMTarget
    var validateOnly: Bool
}

/// Where a message goes.
enum FCMTarget: Sendable, Hashable {
    /// A registration token or a Firebase installation id.
    case token(String)
    case topic(String)
    case condition(String)

    var token: String? {
        if case .token(let token) = self { token } else { nil }
    }
}
