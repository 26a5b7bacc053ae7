import Foundation
public import PushContract

/// The client of Pushwatch in an app: registers the device, delivers its tokens to the server despite network failures, and keeps its Live
/// Activities and follows up to date. Its values make every decision; this actor performs them.
///
/// Call the method of each event, and `work()` at the time of `nextWork` (or let `run()` do that). The state survives restarts in
/// the storage; tokens are in memory only.
public actor PushwatchClient {
    /// The state stored between launches.
    struct State: Codable, Equatable {
        var lifecycle = TokenLifecycle()
        var tokens = TokenManager()
        var activities = LifecycleManager()
        var follows = FollowManager()
    }

    let device: PushDevice
    let system: any PushSystem
    let transport: any PushTransport
    let storage: any PushStorage
    let secrets: any SecretStorage
    let now: @Sendable () -> Timestamp
    private let boot: @Sendable () -> Timestamp?
    let newId: @Sendable () -> String
    private let events: @Sendable (ClientEvent) -> Void
    var state: State
    /// As it is in the storage; nil where that is not known.
    var savedState: State?
    /// False while there may be a stored state that cannot be read: it is not replaced.
    private(set) var isLoaded: Bool
    /// Counts the user's follows and unfollows, and their confirmations: a list that the server made before is out of date.
    var followChanges = 0
    /// The states of follows on the user's devices; never stored, since it changes without the app.
    var devices: [ActivitySubject: [FollowedDevice]] = [:]
    /// Raw tokens by their hashes; never stored.
    var rawTokens: [TokenHash: String] = [:]

    /// - Parameters:
    ///   - storage: Stores the state. What is no state of this client counts as none.
    ///   - secrets: Stores unregister secrets: the keychain.
    ///   - now: The wall clock.
    ///   - boot: When the device was started, by the same clock; nil if that is not known. Read from the system by default.
    ///   - newId: Creates operation ids, unique for the installation; random UUIDs by default.
    ///   - events: Called with each failure, for the app's own log or its screens. The client logs them to the system's log as well.
    public init(
        device: PushDevice,
        system: any PushSystem,
        transport: any PushTransport,
        storage: any PushStorage,
        secrets: any SecretStorage,
        now: @escaping @Sendable () -> Timestamp = { .now() },
        boot: (@Sendable () -> Timestamp?)? = nil,
        newId: (@Sendable () -> String)? = nil,
        events: @escaping @Sendable (ClientEvent) -> Void = { _ in }
    ) {
        self.device = device
        self.system = system
        self.transport = transport
        self.storage = storage
        self.secrets = secrets
        self.now = now
        self.boot = boot ?? { DeviceBoot.moment() }
        self.newId = newId ?? { UUID().uuidString.lowercased() }
        self.events = events
        let (stored, event) = Self.load(storage)
        state = stored ?? State()
        isLoaded = stored != nil
        if let event { report(event) }
    }

    /// The stored state, and what is to be reported of it. No state: it cannot be read now.
    private static func load(_ storage: any PushStorage) -> (state: State?, event: ClientEvent?) {
        do {
            guard let bytes = try storage.load() else { return (State(), nil) }
            guard let state = try? JSONDecoder().decode(State.self, from: Data(bytes)) else { return (State(), .stateUnreadable) }
            return (state, nil)
        } catch {
            return (nil, .stateNotLoaded("\(error)"))
        }
    }

    /// Loads a state that could not be read before, and repeats for it what has happened in this process.
    func loadState() async {
        guard !isLoaded, case let (stored?, event) = Self.load(storage) else { return }
        let registration = state.lifecycle.registration
        (state, isLoaded) = (stored, true)
        if let event { report(event) }
        await take(.processRestart)
        await take(.launch)
        if let uid = registration.uid { await take(.sessionEstablished(uid: uid)) }
        if let hash = registration.tokenHash { await take(.tokenCallback(hash)) }
    }

    nonisolated func report(_ event: ClientEvent) {
        ClientLog.write(event)
        events(event)
    }

    // MARK: Events of the app

    /// The process started. Call once, first; then `signedIn` if there is a session.
    public func launch() async {
        await take(.processRestart)
        await take(.launch)
        // Where Live Activities are not allowed any more, the system took the activities away.
        let boot = await system.areActivitiesAllowed() ? boot() : nil
        await perform(state.activities.restore(await system.activities(), now: now(), boot: boot))
        await lookAtActivityTokens()
    }

    /// The app came to the foreground.
    public func foreground() async {
        await take(.foreground)
        await perform(state.activities.check(await system.activities(), now: now()))
        await fetchDeviceState()
        await fetchFollows()
        await lookAtActivityTokens()
    }

    /// A user signed in, or the app found their session after a launch. Another user without a sign-out before signs the last one out.
    public func signedIn(uid: String) async {
        await loadState()
        if let last = state.lifecycle.registration.uid, last != uid { await perform(state.activities.endAll(cause: .system)) }
        await take(.sessionEstablished(uid: uid))
        await fetchFollows()
        await lookAtActivityTokens()
    }

    /// Call before the session is discarded: what the server must still receive (unfollows, the end of the registration) is attempted with
    /// it now. What fails is completed later: the unregistration with the device's secret, the others when the user signs in again. Ends
    /// activities and deletes follows on the device.
    public func signOut() async {
        await loadState()
        await perform(state.activities.endAll(cause: .system))
        await take(.signOut)
    }

    /// The system's permission changed.
    public func permissionChanged(_ permission: PushPermission) async { await take(.permission(permission)) }

    /// The user enables or disables push in the app's settings.
    public func setPushEnabled(_ isEnabled: Bool) async { await take(isEnabled ? .pushEnabled : .pushDisabled) }

    /// The network is back.
    public func connectivityRestored() async { await take(.connectivityUp) }

    // MARK: Tokens

    /// The system provided the push token or a new one. An invalid one is ignored.
    public func pushTokenReceived(_ token: String) async {
        guard let hash = try? TokenHash.of(token, provider: device.provider) else { return report(.tokenMalformed) }
        rawTokens[hash] = token
        await take(.tokenCallback(hash))
        await lookAtActivityTokens()
    }

    /// `pushToStartTokenUpdates` yielded.
    ///
    /// - Parameter attributesType: The name of the `ActivityAttributes` type that the token is for. An app whose activities have one type
    ///   may omit it: the token then serves every type without its own token.
    public func startTokenReceived(_ token: String, attributesType: String? = nil) async {
        // The token belongs to a device, which exists only after the push token is registered.
        let isAllowed = await system.areActivitiesAllowed() && device.hasStartTokens && state.lifecycle.registration.mayRegister
        guard let hash = try? TokenHash.apns(token) else { return report(.tokenMalformed) }
        rawTokens[hash] = token
        let submission = state.tokens.startToken(
            hash,
            attributesType: attributesType,
            uid: state.lifecycle.registration.uid,
            isAllowed: isAllowed
        )
        guard let submission else { return }
        await take(.queue(submission.kind, submission.tokenHash))
    }

    /// `pushTokenUpdates` of an activity yielded.
    public func updateTokenReceived(_ token: String, activityId: String) async {
        guard let hash = try? TokenHash.apns(token) else { return report(.tokenMalformed) }
        guard let activity = state.activities.tracked.first(where: { $0.activityId == activityId && $0.endCause == nil }) else {
            return
        }
        rawTokens[hash] = token
        let submission = state.tokens.updateToken(hash, of: activity.subject, instance: activity.instance)
        guard let submission else { return }
        await take(.queue(submission.kind, submission.tokenHash))
    }

    // MARK: Activities and follows

    /// An activity appeared, for example one that a push started.
    public func activityAppeared(_ activity: SystemActivity) async {
        await perform(state.activities.adopt(activity, now: now()))
        if let token = activity.updateToken { await updateTokenReceived(token, activityId: activity.activityId) }
        save()
    }

    /// An activity ended.
    ///
    /// - Parameter isDismissed: Whether the user removed it, rather than a push or its age ended it.
    public func activityGone(_ activityId: String, isDismissed: Bool) async {
        await perform(state.activities.gone(activityId, isDismissed: isDismissed))
    }

    /// The user follows a subject. Nothing happens without a signed-in user. The server starts its activity when it is live.
    ///
    /// App users follow subjects of types with `"followedBy": "users"`; the server refuses others (`followRefused`). What a service made
    /// this user follow is listed as well, and can be unfollowed.
    public func follow(_ subject: ActivitySubject) async { await follow(subject, startsHere: false) }

    func follow(_ subject: ActivitySubject, startsHere: Bool) async {
        guard state.lifecycle.registration.uid != nil else { return }
        let isNew = state.follows.follow(subject)
        let startsHere = startsHere && !state.activities.isActive(subject)
        // Without a registration the server could not change what the app starts.
        let mayStart = startsHere && state.lifecycle.registration.mayRegister
        let startsNow = mayStart ? await system.areActivitiesAllowed() : false
        guard isNew || startsNow || unconfirmedFollow(of: subject) != nil else { return }
        followChanges += 1
        await take(.queue(.follow(subject, startsHere: startsNow), nil))
    }

    /// The user stops following a subject. Sent even if it is not followed here, so that a second tap repairs what went wrong.
    public func unfollow(_ subject: ActivitySubject) async {
        guard state.lifecycle.registration.uid != nil else { return }
        await perform(state.activities.endAll(subject, cause: .system))
        state.follows.unfollow(subject)
        followChanges += 1
        await take(.queue(.unfollow(subject), nil))
    }

    /// The state of the follow button of a subject.
    public func followButton(of subject: ActivitySubject) async -> FollowButton {
        let areAllowed = await system.areActivitiesAllowed()
        return .state(
            isFollowed: state.follows.subjects.contains(subject),
            areActivitiesAllowed: areAllowed,
            isActivityRunning: state.activities.isActive(subject),
            unconfirmed: unconfirmedFollow(of: subject)
        )
    }

    /// The matches and other subjects the user follows.
    public var followed: Set<ActivitySubject> { state.follows.subjects }

    /// The state of a followed subject on each of the user's devices, as the server answered to the follow or to the last read of the list.
    /// Empty before that; not stored.
    public func followedDevices(of subject: ActivitySubject) -> [FollowedDevice] { devices[subject] ?? [] }

    private func unconfirmedFollow(of subject: ActivitySubject) -> FollowButton.Unconfirmed? {
        FollowButton.Unconfirmed(operations, uid: state.lifecycle.registration.uid, subject: subject)
    }
}
