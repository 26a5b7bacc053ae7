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

    private let device: PushDevice
    private let system: any PushSystem
    private let transport: any PushTransport
    private let storage: any PushStorage
    private let secrets: any SecretStorage
    private let now: @Sendable () -> Timestamp
    private let newId: @Sendable () -> String
    private var state: State
    /// Raw tokens by their hashes; never written down.
    private var rawTokens: [TokenHash: String] = [:]

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
        await askServer()
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
    public func startTokenReceived(_ token: String) async {
        // Without the push token's registration there is no device that it could belong to.
        let mayRegister = state.lifecycle.registration.permission.allowsRegistration
        let isAllowed = await system.areActivitiesAllowed() && device.hasStartTokens && mayRegister
        guard let hash = try? TokenHash.apns(token) else { return }
        rawTokens[hash] = token
        guard let submission = state.tokens.startToken(hash, uid: state.lifecycle.registration.uid, isAllowed: isAllowed) else { return }
        await take(.queue(submission.kind, submission.tokenHash))
    }

    /// `pushTokenUpdates` of an activity yielded.
    public func updateTokenReceived(_ token: String, activityId: String) async {
        guard let hash = try? TokenHash.apns(token),
            let activity = state.activities.tracked.first(where: { $0.activityId == activityId && $0.endCause == nil })
        else { return }
        rawTokens[hash] = token
        let submission = state.tokens.updateToken(hash, matchId: activity.matchId, generation: activity.generation)
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
    public func bell(of matchId: String) async -> Bell {
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

    // MARK: Performing

    private func take(_ stimulus: TokenLifecycle.Stimulus) async {
        let effects = state.lifecycle.handle(stimulus, at: now(), hasToken: { rawTokens[$0] != nil }, newId: newId)
        save()
        for effect in effects { await perform(effect) }
    }

    private func perform(_ effect: TokenLifecycle.Effect) async {
        switch effect {
        case .askPermission: await take(.permission(await system.askPermission()))
        case .readPermission: await take(.permission(await system.readPermission()))
        case .askForToken: await system.askForPushToken()
        case .attempt(let operation): await attempt(operation)
        case .success(let operation): state.tokens.confirmed(operation)
        case .endActivity(let matchId):
            state.tokens.forget(matchId: matchId)
            await perform(state.activities.endAll(matchId: matchId, cause: .system))
        case .clearLocal:
            state.tokens.clear()
            state.follows.clear()
        case .enqueued, .needsAttention, .cancelled, .setLastSubmitted: break
        }
        save()
    }

    private func attempt(_ operation: PendingOperation) async {
        let request = OperationRequest(device: device).make(
            operation,
            token: operation.tokenHash.flatMap { rawTokens[$0] },
            secret: secrets.secret(of: operation.uid)
        )
        guard let request, let response = await transport.send(request) else {
            await take(.result(operationId: operation.operationId, .unanswered))
            return
        }
        let answer = ServerAnswer(response)
        if (200..<300).contains(response.status) { note(answer, of: operation) }
        let result = OperationResult.answered(status: response.status, code: answer?.code, retryAfter: response.retryAfter)
        await take(.result(operationId: operation.operationId, result))
    }

    /// What a confirmation brings: the secret of a registration, or that there is none any more.
    private func note(_ answer: ServerAnswer?, of operation: PendingOperation) {
        switch operation.kind {
        case .register:
            guard let secret = answer?.unregisterSecret else { return }
            secrets.setSecret(secret, of: operation.uid)
            state.lifecycle.noteSecret(of: operation.uid, isKept: true)
        case .unregister: secrets.setSecret(nil, of: operation.uid)
        default: break
        }
    }

    private func perform(_ steps: [LifecycleManager.Step]) async {
        save()
        for step in steps {
            switch step {
            case .end(let activityId): await system.endActivity(activityId)
            case .report(let matchId, let generation, let cause):
                state.tokens.forget(matchId: matchId)
                await take(.queue(.dismissal(matchId: matchId, generation: generation, cause: cause), nil))
            case .unfollow(let matchId):
                state.follows.dismissed(matchId)
                save()
            }
        }
    }

    /// An app cannot see what providers answer; the server tells it.
    private func askServer() async {
        guard let submitted = state.lifecycle.registration.lastSubmitted else { return }
        let request = PushRequest(
            method: "GET",
            path: "/devices/" + OperationRequest.escaped(device.deviceId),
            body: nil,
            credential: .session(uid: submitted.uid),
            requestId: newId()
        )
        guard let response = await transport.send(request) else { return }
        let answer = ServerAnswer(response)
        if response.status == 404, answer?.code == "device_not_registered" { return await take(.deviceUnknown) }
        guard response.status == 200, let answer else { return }
        state.tokens.serverHas(startToken: answer.pushToStartToken?.tokenHash, isUsable: answer.pushToStartToken?.state == "active")
        if let token = answer.pushToken, token.state == "off", let reason = token.reasonCode {
            await take(.serverTokenState(token.tokenHash, reason))
        }
    }

    /// The streams may have stayed silent: properties tell what there is.
    private func lookAtActivityTokens() async {
        if let token = await system.pushToStartToken() { await startTokenReceived(token) }
        for activity in await system.activities() {
            if let token = activity.updateToken { await updateTokenReceived(token, activityId: activity.activityId) }
        }
    }

    private func save() {
        // A state that cannot be saved is saved with the next change.
        guard let data = try? JSONEncoder().encode(state) else { return }
        try? storage.save(Array(data))
    }
}
