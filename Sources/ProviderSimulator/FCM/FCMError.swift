import PushContract

/// An error in Google's shape: `{"error": {code, status, message, details}}`.
struct FCMError: Error, Sendable, Hashable {
    /// HTTP status, repeated as `code`.
    var status: Int
    /// The canonical name: `NOT_FOUND`.
    var name: String
    var message: String
    /// The FcmError detail's code: `UNREGISTERED`; nil: no such detail, as when Google's front answers and not FCM.
    var errorCode: String?
    /// The BadRequest detail's violations.
    var violations: [Violation] = []
    /// The QuotaFailure detail's subject.
    var quotaSubject: String?

    struct Violation: Sendable, Hashable {
        var field: String
        var description: String
    }

    /// The canonical names of the statuses FCM uses (google.rpc.Code).
    static func canonicalName(of status: Int) -> String {
        switch status {
        case 400: "INVALID_ARGUMENT"
        case 401: "UNAUTHENTICATED"
        case 403: "PERMISSION_DENIED"
        case 404: "NOT_FOUND"
        case 409: "ABORTED"
        case 429: "RESOURCE_EXHAUSTED"
        case 500: "INTERNAL"
        case 503: "UNAVAILABLE"
        case 504: "DEADLINE_EXCEEDED"
        default: "UNKNOWN"
        }
    }
}

extension FCMError {
    /// An error with an FcmError; its status is that of the table of provider codes.
    init(code: String, message: String) {
        let status = ProviderCode.row(.provider(.fcm), code)?.status ?? 400
        self.init(status: status, name: FCMError.canonicalName(of: status), message: message, errorCode: code)
    }

    /// A field FCM does not accept; with FcmError.
    static func invalid(_ field: String, _ description: String) -> FCMError {
        FCMError(
            status: 400,
            name: "INVALID_ARGUMENT",
            message: description,
            errorCode: "INVALID_ARGUMENT",
            violations: [.init(field: field, description: description)]
        )
    }

    /// JSON that is not the API's: refused by Google's front, without FcmError.
    static func unparsable(_ field: String, _ description: String) -> FCMError {
        FCMError(
            status: 400,
            name: "INVALID_ARGUMENT",
            message: description,
            violations: [.init(field: field, description: description)]
        )
    }

    static let unregistered = FCMError(code: "UNREGISTERED", message: "Requested entity was not found.")
    static let senderIdMismatch = FCMError(code: "SENDER_ID_MISMATCH", message: "SenderId mismatch")
    static let unauthenticated = FCMError(
        status: 401,
        name: "UNAUTHENTICATED",
        message: "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid "
            + "authentication credential."
    )
    static func projectDenied(_ project: String) -> FCMError {
        FCMError(
            status: 403,
            name: "PERMISSION_DENIED",
            message:
                "Permission 'cloudmessaging.messages.create' denied on resource '//cloudresourcemanager.googleapis.com/projects/\(project)'"
        )
    }
    /// Google gives no details with this one.
    static let tooBig = FCMError(status: 400, name: "INVALID_ARGUMENT", message: "Android message is too big")

    /// An error that a fault rule asks for: an FcmError code, or a canonical name, or a status alone.
    static func scripted(_ fault: FaultResponse) -> FCMError {
        var error = FCMError(status: fault.status, name: canonicalName(of: fault.status), message: fault.reason ?? "Scripted fault.")
        guard let reason = fault.reason else { return error }
        if ProviderCode.row(.provider(.fcm), reason) != nil {
            error.errorCode = reason
        } else {
            error.name = reason
        }
        if reason == "QUOTA_EXCEEDED" { error.quotaSubject = "project" }
        if reason == "INVALID_ARGUMENT" {
            let field = fault.field ?? "message.token"
            error.message = "The registration token is not a valid FCM registration token"
            if field != "message.token" { error.message = "Invalid value at '\(field)'" }
            error.violations = field.isEmpty ? [] : [.init(field: field, description: error.message)]
        }
        return error
    }
}
