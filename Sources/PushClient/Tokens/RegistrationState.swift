public import PushContract

/// When an app registers its push token, and when it unregisters: the lifecycle contract's rules. A value; decides, and does nothing.
public struct RegistrationState: Codable, Sendable, Hashable {
    /// What happened.
    public enum Event: Sendable, Hashable {
        /// The process started.
        case launch
        case foreground
        case sessionEstablished(uid: String)
        case permission(PushPermission)
        /// The system's callback with the current token.
        case tokenReceived(TokenHash)
        /// - Parameter mayBeRegistered: a registration waits or is in flight: it may have reached the server.
        case signOut(mayBeRegistered: Bool)
        /// The user turned push off in the app's settings.
        case pushDisabled(mayBeRegistered: Bool)
        case pushEnabled
        /// The server says that the provider gave this token back.
        case tokenInvalidated(TokenHash, ReasonCode)
        /// The server does not know the device (any more).
        case deviceUnknown
        /// A registration was confirmed.
        case registered(uid: String, TokenHash)
    }

    /// What to do about it.
    public enum Step: Sendable, Hashable {
        /// Show the system's prompt; once in the app's life.
        case askPermission
        /// Look at the permission without asking.
        case readPermission
        /// Have the system hand out the token.
        case askForToken
        case register(uid: String, TokenHash)
        case unregister(uid: String, TokenHash?)
        /// Forget what belongs to the user.
        case clearLocal
    }

    /// A registration that the server confirmed.
    public struct Submission: Codable, Sendable, Hashable {
        /// For whom.
        public var uid: String
        /// Of which token.
        public var tokenHash: TokenHash
        /// When it was confirmed.
        public var at: Timestamp
    }

    /// A device that does not touch its registration for that long does so at the next foreground.
    public static let touchInterval = Duration.seconds(86_400)

    /// Who is signed in.
    public private(set) var uid: String?
    /// What the system allows.
    public private(set) var permission = PushPermission.notDetermined
    /// The app's own switch.
    public private(set) var isPushEnabled = true
    /// The last confirmed registration.
    public private(set) var lastSubmitted: Submission?
    /// Of this process's life: known once the system has handed it out.
    public private(set) var tokenHash: TokenHash?
    private var hasAskedPermission = false
    private var awaitsFirstRegistration = false

    /// A new installation.
    public init() {}

    /// Takes an event in, and says what to do.
    public mutating func handle(_ event: Event, now: Timestamp) -> [Step] {
        switch event {
        case .launch: return launch()
        case .foreground:
            let isOld = lastSubmitted.map { now - $0.at > Self.touchInterval } ?? false
            return registration(force: isOld)
        case .sessionEstablished(let uid):
            self.uid = uid
            return registration(force: false)
        case .permission(let permission): return changed(permission)
        case .tokenReceived(let hash):
            tokenHash = hash
            return registration(force: false)
        case .signOut(let mayBeRegistered):
            let steps = unregistration(mayBeRegistered)
            uid = nil
            lastSubmitted = nil
            return steps + [.clearLocal]
        case .pushDisabled(let mayBeRegistered):
            isPushEnabled = false
            defer { lastSubmitted = nil }
            return unregistration(mayBeRegistered)
        case .pushEnabled:
            isPushEnabled = true
            return permission.allowsRegistration ? [.askForToken] + registration(force: true) : [.askPermission]
        case .tokenInvalidated(let hash, let reason): return invalidated(hash, reason)
        case .deviceUnknown: return registration(force: true)
        case .registered(let uid, let hash):
            if self.uid == uid, isPushEnabled { lastSubmitted = Submission(uid: uid, tokenHash: hash, at: now) }
            return []
        }
    }

    private mutating func launch() -> [Step] {
        tokenHash = nil
        awaitsFirstRegistration = true
        defer { hasAskedPermission = true }
        return hasAskedPermission ? [.readPermission] : [.askPermission]
    }

    private mutating func changed(_ new: PushPermission) -> [Step] {
        let wasAllowed = permission.allowsRegistration
        permission = new
        guard new.allowsRegistration, isPushEnabled else { return [] }
        // A token that is known was not to be used before; one that is not comes with the callback.
        return [.askForToken] + registration(force: !wasAllowed)
    }

    private mutating func registration(force: Bool) -> [Step] {
        guard let uid, let tokenHash, permission.allowsRegistration, isPushEnabled else { return [] }
        let isNew = lastSubmitted?.tokenHash != tokenHash || lastSubmitted?.uid != uid
        guard force || awaitsFirstRegistration || isNew else { return [] }
        awaitsFirstRegistration = false
        return [.register(uid: uid, tokenHash)]
    }

    private func unregistration(_ mayBeRegistered: Bool) -> [Step] {
        guard let uid, lastSubmitted != nil || mayBeRegistered else { return [] }
        return [.unregister(uid: uid, lastSubmitted?.tokenHash ?? tokenHash)]
    }

    /// Only a token the provider gave back is worth a new start; a bad one is our configuration's fault, and another would be as bad.
    private mutating func invalidated(_ hash: TokenHash, _ reason: ReasonCode) -> [Step] {
        guard reason == .tokenNotRegistered, let uid, hash == lastSubmitted?.tokenHash else { return [] }
        return [.unregister(uid: uid, hash), .askForToken] + registration(force: true)
    }
}
