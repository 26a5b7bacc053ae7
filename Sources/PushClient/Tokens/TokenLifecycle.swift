public import PushContract

/// The lifecycle of a device's push token: when it is registered and unregistered, and the queue of these operations. A value: maps stimuli
/// to effects, the same on every platform.
///
/// Persist it after each change; it contains hashes, never a token.
public struct TokenLifecycle: Codable, Sendable, Hashable {
    /// What happened on the device.
    public enum Input: Sendable, Hashable {
        case launch
        case foreground
        case sessionEstablished(uid: String)
        case permission(PushPermission)
        case tokenCallback(TokenHash)
        case connectivityUp
        case signOut
        case pushDisabled
        case pushEnabled
        case serverTokenState(TokenHash, ReasonCode)
        case deviceUnknown
        /// The process was restarted from the persisted state.
        case processRestart
        /// Another operation, for activities and follows.
        case queue(OperationKind, TokenHash?)
        case result(operationId: String, OperationResult)
        /// The user retries an operation that needs attention; nil: all of them, and everything that waits.
        case retry(operationId: String?)
        /// The user gives up an operation that waits or needs attention.
        case discard(operationId: String)
        /// Time passed.
        case tick
    }

    /// What to do, in the returned order.
    public enum Effect: Sendable, Hashable {
        case askPermission
        case readPermission
        case askForToken
        case enqueued(PendingOperation)
        /// Attempt this operation now, and report the outcome as `result`.
        case attempt(PendingOperation)
        case success(PendingOperation)
        case needsAttention(PendingOperation)
        case cancelled(PendingOperation)
        case setLastSubmitted(TokenHash)
        /// End this activity on the device, since the server has none.
        case endActivity(ActivitySubject, instance: Int?)
        case clearLocal
    }

    /// The state of the registration rules.
    public private(set) var registration = RegistrationState()
    /// The queue of unconfirmed operations.
    public private(set) var queue = PendingOperations()
    /// Users with a stored unregister secret for this device: they can be unregistered without a session.
    public private(set) var usersWithSecret: Set<String> = []

    /// The state of a new installation.
    public init() {}

    /// Applies a stimulus and returns its effects.
    ///
    /// - Parameters:
    ///   - hasToken: Whether the raw token with this hash is in memory; otherwise an operation waits until the system provides it.
    ///   - newId: Creates the id of a new operation.
    public mutating func handle(
        _ input: Input,
        at now: Timestamp,
        hasToken: (TokenHash) -> Bool = { _ in true },
        newId: () -> String
    ) -> [Effect] {
        // During sign-out the session is still valid.
        let session = input == .signOut ? registration.uid : nil
        var effects = queue.expire(now: now).map(Effect.needsAttention)
        switch input {
        case .launch:
            queue.wake(now: now)
            effects += apply(.launch, now, newId)
        case .foreground:
            queue.wake(now: now)
            release(now)
            effects += apply(.foreground, now, newId)
        case .sessionEstablished(let uid):
            // Another user without a sign-out before: the last one is signed out.
            if let last = registration.uid, last != uid { effects += leave(now, newId) { .signOut(mayBeRegistered: $0) } }
            queue.release(uid: uid, now: now)
            effects += apply(.sessionEstablished(uid: uid), now, newId)
        case .permission(.denied) where registration.permission.allowsRegistration:
            effects += leave(now, newId) { .permissionWithdrawn(mayBeRegistered: $0) }
        case .permission(let permission): effects += apply(.permission(permission), now, newId)
        case .tokenCallback(let hash): effects += apply(.tokenReceived(hash), now, newId)
        case .connectivityUp: queue.wake(now: now)
        case .signOut:
            // The last moment with a session.
            queue.wake(now: now)
            effects += leave(now, newId) { .signOut(mayBeRegistered: $0) }
        case .pushDisabled: effects += leave(now, newId) { .pushDisabled(mayBeRegistered: $0) }
        case .pushEnabled: effects += apply(.pushEnabled, now, newId)
        case .serverTokenState(let hash, let reason): effects += apply(.tokenInvalidated(hash, reason), now, newId)
        case .deviceUnknown: effects += apply(.deviceUnknown, now, newId)
        case .processRestart:
            queue.restart(now: now)
        case .retry(let operationId):
            if operationId == nil {
                queue.wake(now: now)
                release(now)
            }
            queue.retry(operationId, now: now)
        case .discard(let operationId): effects += queue.cancel { $0.operationId == operationId }.map(Effect.cancelled)
        case .queue(let kind, let hash):
            if let uid = registration.uid { effects += enqueue(kind, uid: uid, hash, now, newId) }
        case .result(let operationId, let result): effects += settle(operationId, result, now, newId)
        case .tick: break
        }
        let (uid, secrets, registered) = (registration.uid ?? session, usersWithSecret, registration.lastSubmitted?.uid)
        effects += queue.take(now: now) { operation in
            if case .unregister = operation.kind { return operation.uid == uid || secrets.contains(operation.uid) }
            // A start token belongs to a device, which exists when it is registered.
            if case .startToken = operation.kind, registered != operation.uid { return false }
            // A token is unregistered by its hash.
            return operation.uid == uid && (operation.kind == .unregisterToken || operation.tokenHash.map(hasToken) ?? true)
        }.map(Effect.attempt)
        return effects
    }

    /// An unregister secret of this user was stored or deleted.
    public mutating func noteSecret(of uid: String, isKept: Bool) {
        if isKept { usersWithSecret.insert(uid) } else { usersWithSecret.remove(uid) }
    }

    /// A 401 may arrive after the session was renewed, and no other `sessionEstablished` follows.
    private mutating func release(_ now: Timestamp) {
        if let uid = registration.uid { queue.release(uid: uid, now: now) }
    }

    /// The user signs out, disables push or withdraws the permission: a registration that was not sent is dropped, one that may have
    /// reached the server is undone.
    private mutating func leave(_ now: Timestamp, _ newId: () -> String, _ event: (Bool) -> RegistrationState.Event) -> [Effect] {
        guard let uid = registration.uid else { return apply(event(false), now, newId) }
        let unconfirmed = queue.operations.last { operation in
            guard operation.uid == uid else { return false }
            // After one that is not attempted any more the device is still registered.
            if case .unregister = operation.kind { return [.waitingForSession, .needsAttention].contains(operation.state) }
            return operation.kind == .register
        }
        let event = event(unconfirmed != nil)
        let cancelled = queue.cancel { operation in
            guard operation.uid == uid else { return false }
            if case .signOut = event { return operation.kind.isDroppedAtSignOut }
            return operation.kind.isOfRegistration
        }
        return cancelled.map(Effect.cancelled) + apply(event, now, newId, unconfirmed: unconfirmed?.tokenHash)
    }

    /// - Parameter unconfirmed: The token to unregister where none is confirmed, and the system has not provided it in this process.
    private mutating func apply(
        _ event: RegistrationState.Event,
        _ now: Timestamp,
        _ newId: () -> String,
        unconfirmed: TokenHash? = nil
    ) -> [Effect] {
        registration.handle(event, now: now).flatMap { step -> [Effect] in
            switch step {
            case .askPermission: [.askPermission]
            case .readPermission: [.readPermission]
            case .askForToken: [.askForToken]
            case .clearLocal: [.clearLocal]
            case .register(let uid, let hash): enqueue(.register, uid: uid, hash, now, newId)
            case .unregisterToken(let uid, let hash): enqueue(.unregisterToken, uid: uid, hash, now, newId)
            case .unregister(let uid, let hash, let keepsFollows):
                enqueue(.unregister(keepsFollows: keepsFollows ? true : nil), uid: uid, hash ?? unconfirmed, now, newId)
            }
        }
    }

    private mutating func enqueue(
        _ kind: OperationKind,
        uid: String,
        _ hash: TokenHash?,
        _ now: Timestamp,
        _ newId: () -> String
    ) -> [Effect] {
        switch queue.enqueue(kind, uid: uid, tokenHash: hash, operationId: newId(), now: now) {
        case .added(let operation, let superseded): superseded.map(Effect.cancelled) + [.enqueued(operation)]
        case .waitsAlready: []
        }
    }

    private mutating func settle(
        _ operationId: String,
        _ result: OperationResult,
        _ now: Timestamp,
        _ newId: () -> String
    ) -> [Effect] {
        switch queue.settle(operationId, result, now: now) {
        case .success(let operation): return [.success(operation)] + confirmed(operation, now)
        case .needsAttention(let operation): return [.needsAttention(operation)]
        case .outdated(let operation): return [.cancelled(operation)]
        case .needsRegistration(let operation): return registerFirst(operation.uid, now, newId)
        case .activityEnded(let operation):
            guard case .activityToken(let subject, let instance) = operation.kind else { return [.cancelled(operation)] }
            return [.cancelled(operation), .endActivity(subject, instance: instance)]
        case .retry, .waitingForSession, .unknown: return []
        }
    }

    private mutating func confirmed(_ operation: PendingOperation, _ now: Timestamp) -> [Effect] {
        switch operation.kind {
        case .register:
            guard let hash = operation.tokenHash else { return [] }
            _ = registration.handle(.registered(uid: operation.uid, hash), now: now)
            return registration.lastSubmitted?.tokenHash == hash ? [.setLastSubmitted(hash)] : []
        case .unregister:
            usersWithSecret.remove(operation.uid)
            return []
        default: return []
        }
    }

    /// Queues the device's registration, unless one waits already, before the operation that needs it.
    private mutating func registerFirst(_ uid: String, _ now: Timestamp, _ newId: () -> String) -> [Effect] {
        let effects = apply(.deviceUnknown, now, newId)
        queue.moveRegistrationFirst(of: uid)
        return effects
    }
}
