public import PushContract

/// The result of one attempt of an operation.
public enum OperationResult: Sendable, Hashable {
    /// An answer of the server: its status, the problem's `code`, and `Retry-After` in seconds.
    case answered(status: Int, code: String? = nil, retryAfter: Int? = nil)
    /// No answer: offline, DNS, TLS, reset, timeout.
    case unanswered

    /// The bucket of a failed attempt, as an attempt of the contract names it.
    public var reasonCode: ReasonCode {
        switch self {
        case .unanswered, .answered(status: 408, _, _): .network
        case .answered(status: 401, _, _), .answered(status: 403, _, _): .auth
        case .answered(status: 500...599, _, _): .provider5xx
        case .answered: .unknown
        }
    }
}

/// The meaning of an answer for an operation.
enum OperationVerdict: Hashable {
    case success
    case retry(after: Duration?)
    /// The session is no longer valid.
    case waitForSession
    /// The server does not know the device: register it, then retry.
    case registerFirst
    /// The activity has ended or was dismissed: drop the token, end the activity.
    case endActivity
    case giveUp

    init(_ result: OperationResult, of kind: OperationKind) {
        guard case .answered(let status, let code, let retryAfter) = result else {
            self = .retry(after: nil)
            return
        }
        switch status {
        case 200..<300: self = .success
        case 401: self = .waitForSession
        case 404: self = Self.missing(kind, code: code)
        case 409: self = Self.conflict(kind)
        case 408, 425, 429, 500...599: self = .retry(after: retryAfter.map { .seconds($0) })
        default: self = .giveUp
        }
    }

    private static func missing(_ kind: OperationKind, code: String?) -> OperationVerdict {
        switch kind {
        // What was to be deleted does not exist.
        case .unregister, .unregisterToken, .unfollow, .dismissal: .success
        case .startToken, .activityToken: code == "device_not_registered" ? .registerFirst : .giveUp
        case .register, .follow: .giveUp
        }
    }

    private static func conflict(_ kind: OperationKind) -> OperationVerdict {
        switch kind {
        case .activityToken: .endActivity
        case .dismissal, .unfollow: .success
        default: .giveUp
        }
    }
}
