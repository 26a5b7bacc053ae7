import Foundation
public import PushContract

/// Pushwatch's part in an app: registers the device, carries its tokens to the server whatever the network does, keeps its Live
/// Activities and follows in step. Every decision is made by the values it holds; this actor performs them.
///
/// Call the method that names what happened, and `work()` whenever `nextWork` has come (or let `run()` do that). State survives restarts in
/// the storage; tokens stay in memory.
public actor PushClient {
    /// What is kept between launches.
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
    /// Raw tokens by their hashes; never written down.
    var rawTokens: [TokenHash: String] = [:]

    /// - Parameters:
    ///   - storage: where the state is kept. State that cannot be read counts as none.
    ///   - secrets: the keychain.
    ///   - now: the wall clock.
    ///   - newId: makes operation ids, unique for the installation; random UUIDs without it.
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

    // MARK: What happens to the app

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

    /// A session is there.
    public func signedIn(uid: String) async {
        await take(.sessionEstablished(uid: uid))
        await lookAtActivityTokens()
    }

    /// Call before the session is thrown away: what is tried at once may still use it. Activities end, follows are forgotten here.
    public func signOut() async {
        await perform(state.activities.endAll(cause: .system))
        await take(.signOut)
    }

    /// The system's permission changed.
    public func permissionChanged(_ permission: PushPermission) async { await take(.permission(permission)) }

    /// The user switches push on or off in the app's settings.
    public func setPushEnabled(_ isEnabled: Bool) async { await take(isEnabled ? .pushEnabled : .pushDisabled) }

    /// The network is back.
    public func connectivityRestored() async { await take(.connectivityUp) }

    // MARK: Tokens

    /// The system handed out the push token, or another one. One that cannot be a token is ignored.
    public func pushTokenReceived(_ token: String) async {
        guard let hash = try? TokenHash.of(token, provider: device.provider) else { return }
        rawTokens[hash] = token
        await take(.tokenCallback(hash))
        await lookAtActivityTokens()
    }

    /// `pushToStartTokenUpdates` yielded.
    ///
    /// - Parameter attributesType: whose token it is, by the name of its `ActivityAttributes`. An app whose activities have one type may
    ///   leave it out: the token then serves every type that has none of its own.
    public func startTokenReceived(_ token: String, attributesType: String? = nil) async {
        // Without the push token's registration there is no device that it could belong to.
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

    /// An activity is gone.
    ///
    /// - Parameter isDismissed: it was taken off the screen, rather than ended by a push or by age.
    public func activityGone(_ activityId: String, isDismissed: Bool) async {
        await perform(state.activities.gone(activityId, isDismissed: isDismissed))
    }

    /// The user taps the bell of a match that is not followed.
    public func follow(_ matchId: String) async {
        guard let kind = state.follows.follow(matchId) else { return }
        await take(.queue(kind, nil))
    }

    /// The user taps the bell of a followed match.
    public func unfollow(_ matchId: String) async {
        await perform(state.activities.endAll(matchId: matchId, cause: .system))
        guard let kind = state.follows.unfollow(matchId) else { return }
        await take(.queue(kind, nil))
    }

    /// What the bell of a match shows.
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

    /// What has not been confirmed yet, with what needs attention.
    public var operations: [PendingOperation] { state.lifecycle.queue.operations }

    /// The matches the user follows.
    public var followedMatches: Set<String> { state.follows.matchIds }

    /// The activities on the screen.
    public var trackedActivities: [LifecycleManager.Tracked] { state.activities.tracked }

    /// When `work` has something to do next; nil when nothing waits.
    public var nextWork: Timestamp? { state.lifecycle.queue.nextWake }

    /// Tries what is due.
    public func work() async { await take(.tick) }

    /// Tries what waits now, whatever the schedule says.
    public func retryNow() async { await take(.connectivityUp) }

    /// Works whenever something is due, until the task is cancelled.
    public func run(clock: any Clock<Duration> = ContinuousClock()) async {
        while !Task.isCancelled {
            await work()
            let wait = nextWork.map { $0 - now() } ?? .seconds(60)
            // What is due and cannot be tried waits for an event, not for the clock.
            try? await clock.sleep(for: min(max(wait, .seconds(1)), .seconds(60)))
        }
    }
}
