import Foundation
public import PushContract

/// The client of Pushwatch in an app: registers the device, delivers its tokens to the server despite network failures, and keeps its Live
/// Activities and follows up to date. Its values make every decision; this actor performs them.
///
/// Call the method of each event, and `work()` at the time of `nextWork` (or let `run()` do that). The state survives restarts in
/// the storage; tokens are in memory only.
public actor PushwatchClient {
    /// The state stored between launches.
    struct State: Codable {
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
    let newId: @Sendable () -> String
    var state: State
    /// Raw tokens by their hashes; never stored.
    var rawTokens: [TokenHash: String] = [:]

    /// - Parameters:
    ///   - storage: Stores the state. State that cannot be read counts as none.
    ///   - secrets: Stores unregister secrets: the keychain.
    ///   - now: The wall clock.
    ///   - newId: Creates operation ids, unique for the installation; random UUIDs by default.
    public init(
        device: PushDevice,
        system: any PushSystem,
        transport: any PushTransport,
        storage: any PushStorage,
        secrets: any SecretStorage,
        now: @escaping @Sendable () -> Timestamp = { .now() },
        newId: (@Sendable () -> String)? = nil
    ) {
        self.device = device
        self.system = system
        self.transport = transport
        self.storage = storage
        self.secrets = secrets
        self.now = now
        self.newId = newId ?? { UUID().uuidString.lowercased() }
        state = storage.load().flatMap { try? JSONDecoder().decode(State.self, from: Data($0)) } ?? State()
    }

    // MARK: Events of the app

    /// The process started. Call once, first; then `signedIn` if there is a session.
    public func launch() async {
        await take(.processRestart)
        await take(.launch)
        await perform(state.activities.restore(await system.activities(), now: now()))
        await lookAtActivityTokens()
    }

    /// The app came to the foreground.
    public func foreground() async {
        await take(.foreground)
        await perform(state.activities.check(now: now()))
        await fetchDeviceState()
        await lookAtActivityTokens()
    }

    /// A user signed in.
    public func signedIn(uid: String) async {
        await take(.sessionEstablished(uid: uid))
        await lookAtActivityTokens()
    }

    /// Call before the session is discarded, so that operations attempted immediately can still use it. Ends activities and deletes follows
    /// on the device.
    public func signOut() async {
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
        guard let hash = try? TokenHash.of(token, provider: device.provider) else { return }
        rawTokens[hash] = token
        await take(.tokenCallback(hash))
        await lookAtActivityTokens()
    }

    /// `pushToStartTokenUpdates` yielded.
    ///
    /// - Parameter attributesType: The name of the `ActivityAttributes` type that the token is for. An app whose activities have one type may
    ///   omit it: the token then serves every type without its own token.
    public func startTokenReceived(_ token: String, attributesType: String? = nil) async {
        // The token belongs to a device, which exists only after the push token is registered.
        let mayRegister = state.lifecycle.registration.permission.allowsRegistration
        let isAllowed = await system.areActivitiesAllowed() && device.hasStartTokens && mayRegister
        guard let hash = try? TokenHash.apns(token) else { return }
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
        guard let hash = try? TokenHash.apns(token),
            let activity = state.activities.tracked.first(where: { $0.activityId == activityId && $0.endCause == nil })
        else { return }
        rawTokens[hash] = token
        let submission = state.tokens.updateToken(hash, matchId: activity.matchId, instance: activity.instance)
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

    /// New content arrived for an activity.
    public func activityUpdated(_ activityId: String) {
        state.activities.updated(activityId, now: now())
        save()
    }

    /// An activity ended.
    ///
    /// - Parameter isDismissed: Whether the user removed it, rather than a push or its age ended it.
    public func activityGone(_ activityId: String, isDismissed: Bool) async {
        await perform(state.activities.gone(activityId, isDismissed: isDismissed))
    }

    /// The user follows a match.
    public func follow(_ matchId: String) async {
        guard let kind = state.follows.follow(matchId) else { return }
        await take(.queue(kind, nil))
    }

    /// The user stops following a match.
    public func unfollow(_ matchId: String) async {
        await perform(state.activities.endAll(matchId: matchId, cause: .system))
        guard let kind = state.follows.unfollow(matchId) else { return }
        await take(.queue(kind, nil))
    }

    /// The state of the follow button of a match.
    public func followButton(of matchId: String) async -> FollowButton {
        let isInFlight = state.lifecycle.queue.operations.contains { operation in
            [.queued, .inFlight].contains(operation.state)
                && (operation.kind == .follow(matchId: matchId) || operation.kind == .unfollow(matchId: matchId))
        }
        return .state(
            isFollowed: state.follows.matchIds.contains(matchId),
            areActivitiesAllowed: await system.areActivitiesAllowed(),
            isInFlight: isInFlight
        )
    }

    // MARK: The queue

    /// The unconfirmed operations, including those that need attention.
    public var operations: [PendingOperation] { state.lifecycle.queue.operations }

    /// The matches the user follows.
    public var followedMatches: Set<String> { state.follows.matchIds }

    /// The activities on the screen.
    public var trackedActivities: [LifecycleManager.Tracked] { state.activities.tracked }

    /// When `work` has something to do next; nil if nothing waits.
    public var nextWork: Timestamp? { state.lifecycle.queue.nextWake }

    /// Attempts the operations that are due.
    public func work() async { await take(.tick) }

    /// Attempts all waiting operations now, regardless of the schedule.
    public func retryNow() async { await take(.connectivityUp) }

    /// Attempts operations whenever they are due, until the task is cancelled.
    public func run(clock: any Clock<Duration> = ContinuousClock()) async {
        while !Task.isCancelled {
            await work()
            let wait = nextWork.map { $0 - now() } ?? .seconds(60)
            // An operation that is due but cannot be attempted waits for an event, not for the clock.
            try? await clock.sleep(for: min(max(wait, .seconds(1)), .seconds(60)))
        }
    }
}
