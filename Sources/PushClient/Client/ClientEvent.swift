public import PushContract

/// A failure that the client met. Contains no token; safe to log.
public enum ClientEvent: Sendable, Hashable, CustomStringConvertible {
    /// An attempt failed; the operation is retried on its schedule unless `needsAttention` follows.
    case attemptFailed(PendingOperation, status: Int?, code: String?, ReasonCode)
    /// The operation was refused permanently, or its window ended: retry or discard it.
    case needsAttention(PendingOperation)
    /// A read at the foreground failed: the device's token states, or the list of follows.
    case readFailed(path: String, status: Int?)
    /// The system refused to start the activity of this match. The server starts it by a push after ten minutes.
    case activityNotStarted(matchId: String)
    /// The system provided a token that is none.
    case tokenMalformed
    /// The stored state is not one of this client, and counts as none.
    case stateUnreadable
    /// The stored state cannot be read now. Nothing is stored until it is; it is loaded with the next event.
    case stateNotLoaded(String)
    /// The state could not be stored; it is stored again with the next change.
    case stateNotSaved(String)
    /// The unregister secret of this user could not be stored: after a sign-out the device is unregistered only while the session is valid.
    case secretNotSaved(uid: String)

    /// One line, with the operation's id.
    public var description: String {
        switch self {
        case .attemptFailed(let operation, let status, let code, let reason):
            "attempt failed: \(Self.text(operation)), attempt \(operation.attemptNumber), status \(status.map(String.init) ?? "none"), "
                + "code \(code ?? "none"), reason \(reason.rawValue)"
        case .needsAttention(let operation): "operation needs attention: \(Self.text(operation))"
        case .readFailed(let path, let status): "read failed: GET \(path), status \(status.map(String.init) ?? "none")"
        case .activityNotStarted(let matchId): "activity not started: match \(matchId)"
        case .tokenMalformed: "malformed token ignored"
        case .stateUnreadable: "stored state is unreadable; starting without one"
        case .stateNotLoaded(let error): "state not loaded: \(error)"
        case .stateNotSaved(let error): "state not saved: \(error)"
        case .secretNotSaved(let uid): "unregister secret not saved: user \(uid)"
        }
    }

    private static func text(_ operation: PendingOperation) -> String { "\(operation.kind.name) \(operation.operationId)" }
}
