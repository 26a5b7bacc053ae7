public import PushContract

/// When an app registers and unregisters its push token: the rules of the lifecycle contract. A value without side effects.
public struct RegistrationState: Codable, Sendable, Hashable {
    /// What happened.
    public enum Event: Sendable, Hashable {
        /// The process started.
        case launch
        case foreground
        case sessionEstablished(uid: String)
        case permission(PushPermission)
        /// The user withdrew the permission in the system's settings: push is disabled.
        case permissionWithdrawn(mayBeRegistered: Bool)
        /// The system's callback with the current token.
        case tokenReceived(TokenHash)
        /// - Parameter mayBeRegistered: Whether a registration waits or is in flight, and may have reached the server, or an unregistration
        ///   has not reached it.
        case signOut(mayBeRegistered: Bool)
        /// The user turned push off in the app's settings.
        case pushDisabled(mayBeRegistered: Bool)
        case pushEnabled
        /// The server reports that the provider refused this token.
        case tokenInvalidated(TokenHash, ReasonCode)
        /// The server does not, or no longer, know the device.
        case deviceUnknown
        /// A registration was confirmed.
        case registered(uid: String, TokenHash)
    }

    /// What to do.
    public enum Step: Sendable, Hashable {
        /// Show the system's prompt; once per installation.
        case askPermission
        /// Read the permission without a prompt.
        case readPermission
        /// Request the token from the system.
        case askForToken
        case register(uid: String, TokenHash)
        /// Unregister the device.
        case unregister(uid: String, TokenHash?, keepsFollows: Bool)
        /// Unregister this token alone: the device keeps its start tokens, activities and follows.
        case unregisterToken(uid: String, TokenHash)
        /// Delete the user's local data.
        case clearLocal
    }

    /// A registration confirmed by the server.
    public struct Submission: Codable, Sendable, Hashable {
        /// The user.
        public var uid: String
        /// The hash of the token.
        public var tokenHash: TokenHash
        /// When it was confirmed.
        public var at: Timestamp
    }

    /// A registration older than this is renewed at the next foreground.
    public static let touchInterval = Duration.seconds(86_400)

    /// The signed-in user.
    public private(set) var uid: String?
    /// The system's permission.
    public private(set) var permission = PushPermission.notDetermined
    /// The app's own setting.
    public private(set) var isPushEnabled = true
    /// The last confirmed registration.
    public private(set) var lastSubmitted: Submission?
    /// Valid within this process: known after the system has provided it.
    public private(set) var tokenHash: TokenHash?
    /// Whether the user wants pushes here: allowed in the system, and not disabled in the app.
    public var mayRegister: Bool { permission.allowsRegistration && isPushEnabled }
    private var hasAskedPermission = false
    private var awaitsRegistration = false

    /// The state of a new installation.
    public init() {}

    /// Applies an event and returns what to do.
    public mutating func handle(_ event: Event, now: Timestamp) -> [Step] {
        switch event {
        case .launch: return launch()
        case .foreground:
            let isOld = lastSubmitted.map { now - $0.at > Self.touchInterval } ?? false
            return [.readPermission] + registration(force: isOld)
        case .sessionEstablished(let uid):
            self.uid = uid
            return registration(force: false)
        case .permission(let permission): return changed(permission)
        case .permissionWithdrawn(let mayBeRegistered):
            permission = .denied
            defer { lastSubmitted = nil }
            return unregistration(mayBeRegistered, keepsFollows: true)
        case .tokenReceived(let hash):
            tokenHash = hash
            return registration(force: false)
        case .signOut(let mayBeRegistered):
            let steps = unregistration(mayBeRegistered, keepsFollows: false)
            uid = nil
            lastSubmitted = nil
            return steps + [.clearLocal]
        case .pushDisabled(let mayBeRegistered):
            isPushEnabled = false
            defer { lastSubmitted = nil }
            return unregistration(mayBeRegistered, keepsFollows: true)
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
        awaitsRegistration = true
        return hasAskedPermission ? [.readPermission] : [.askPermission]
    }

    private mutating func changed(_ new: PushPermission) -> [Step] {
        let isUnchanged = permission == new
        permission = new
        // A prompt that was never answered, as when the process ended meanwhile, is shown again, and so is that of another device, whose
        // state came with a backup.
        hasAskedPermission = new != .notDetermined
        guard mayRegister else { return [] }
        // Nothing changed: the permission is read at every foreground.
        if isUnchanged, tokenHash != nil { return registration(force: false) }
        // A known token is registered with each new permission; an unknown one arrives with the callback.
        return [.askForToken] + registration(force: !isUnchanged)
    }

    private mutating func registration(force: Bool) -> [Step] {
        guard let uid, let tokenHash, mayRegister else { return [] }
        let isNew = lastSubmitted?.tokenHash != tokenHash || lastSubmitted?.uid != uid
        guard force || awaitsRegistration || isNew else { return [] }
        awaitsRegistration = false
        return [.register(uid: uid, tokenHash)]
    }

    private func unregistration(_ mayBeRegistered: Bool, keepsFollows: Bool) -> [Step] {
        guard let uid, lastSubmitted != nil || mayBeRegistered else { return [] }
        return [.unregister(uid: uid, lastSubmitted?.tokenHash ?? tokenHash, keepsFollows: keepsFollows)]
    }

    /// Only a token that is no longer registered is worth a new registration; an invalid one is a fault of our configuration, which another
    /// token would share. The refused one is not registered again unless the system provides it again.
    private mutating func invalidated(_ hash: TokenHash, _ reason: ReasonCode) -> [Step] {
        guard reason == .tokenNotRegistered, let uid, hash == lastSubmitted?.tokenHash else { return [] }
        if tokenHash == hash { tokenHash = nil }
        awaitsRegistration = true
        return [.unregisterToken(uid: uid, hash), .askForToken] + registration(force: true)
    }
}
