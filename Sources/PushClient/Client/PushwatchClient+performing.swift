import Foundation
import PushContract

/// Performs what the client's values decided.
extension PushwatchClient {
    func take(_ input: TokenLifecycle.Input) async {
        await loadState()
        let effects = state.lifecycle.handle(input, at: now(), hasToken: { rawTokens[$0] != nil }, newId: newId)
        save()
        for effect in effects { await perform(effect) }
    }

    private func perform(_ effect: TokenLifecycle.Effect) async {
        switch effect {
        case .askPermission: await take(.permission(await system.askPermission()))
        case .readPermission: await take(.permission(await system.readPermission()))
        case .askForToken: await system.askForPushToken()
        case .attempt(let operation): await attempt(operation)
        case .success(let operation):
            state.tokens.confirmed(operation)
            settleFollow(of: operation) { state.follows.confirmed(operation.kind) }
        case .needsAttention(let operation):
            report(.needsAttention(operation))
            settleFollow(of: operation) { state.follows.refused(operation.kind) }
        case .endActivity(let subject, let instance):
            state.tokens.forget(subject)
            await perform(state.activities.endAll(subject, instance: instance, cause: .system))
        case .clearLocal:
            state.tokens.clear()
            state.follows.clear()
            devices = [:]
        case .enqueued, .cancelled, .setLastSubmitted: break
        }
        save()
    }

    /// The follows on the device are those of the signed-in user, and a newer wish of theirs is what counts.
    func settleFollow(of operation: PendingOperation, _ change: () -> Void) {
        guard let subject = operation.kind.followedSubject, operation.uid == state.lifecycle.registration.uid else { return }
        followChanges += 1
        let isLast = !operations.contains {
            $0.uid == operation.uid && $0.operationId != operation.operationId && $0.kind.followedSubject == subject
        }
        if isLast { change() }
    }

    private func attempt(_ operation: PendingOperation) async {
        let request = OperationRequest(device: device).make(
            operation,
            token: operation.tokenHash.flatMap { rawTokens[$0] },
            secret: state.lifecycle.usersWithSecret.contains(operation.uid) ? secrets.secret(of: operation.uid) : nil
        )
        guard let request, let response = await transport.send(request) else {
            report(.attemptFailed(operation, status: nil, code: nil, OperationResult.unanswered.reasonCode))
            await take(.result(operationId: operation.operationId, .unanswered))
            return
        }
        let document = ServerResponse(response)
        let isAccepted = (200..<300).contains(response.status)
        if isAccepted { note(document, of: operation) }
        let result = OperationResult.answered(status: response.status, code: document?.code, retryAfter: response.retryAfter)
        if OperationVerdict(result, of: operation.kind) != .success {
            report(.attemptFailed(operation, status: response.status, code: document?.code, result.reasonCode))
        }
        await take(.result(operationId: operation.operationId, result))
        if isAccepted, case .follow(.match(let matchId), startsHere: true) = operation.kind,
            operation.uid == state.lifecycle.registration.uid
        {
            await startActivity(ActivityRequest(matchId: matchId, phase: document?.phase, state: FollowedState(response)?.displayState))
        }
    }

    /// Starts the activity of a match that is still followed and shows none.
    private func startActivity(_ request: ActivityRequest?) async {
        guard let request, case let matchId = request.attributes.matchId, state.follows.subjects.contains(.match(matchId)),
            !state.activities.isActive(.match(matchId))
        else { return }
        if let activity = await system.requestActivity(request) {
            await activityAppeared(activity)
        } else {
            report(.activityNotStarted(matchId: matchId))
        }
    }

    /// Keeps what the answer to a confirmed operation says: the unregister secret, and the state of a follow on the user's devices.
    private func note(_ document: ServerResponse?, of operation: PendingOperation) {
        switch operation.kind {
        case .register:
            guard let secret = document?.unregisterSecret else { return }
            // The one that is stored after a failure may be too old for the server to know.
            let isKept = (try? secrets.setSecret(secret, of: operation.uid)) != nil
            if !isKept { report(.secretNotSaved(uid: operation.uid)) }
            state.lifecycle.noteSecret(of: operation.uid, isKept: isKept)
        case .unregister: try? secrets.setSecret(nil, of: operation.uid)
        case .follow(let subject, _) where operation.uid == state.lifecycle.registration.uid:
            devices[subject] = document?.starts?.map(\.device)
        case .unfollow(let subject) where operation.uid == state.lifecycle.registration.uid: devices[subject] = nil
        default: break
        }
    }

    func perform(_ steps: [LifecycleManager.Step]) async {
        save()
        for step in steps {
            switch step {
            case .end(let activityId): await system.endActivity(activityId)
            case .report(let subject, let instance, let cause):
                // A card that replaced it keeps its token.
                if !state.activities.isActive(subject) { state.tokens.forget(subject) }
                await take(.queue(.dismissal(subject, instance: instance, cause: cause), nil))
            case .unfollow(let subject):
                state.follows.unfollow(subject)
                followChanges += 1
                save()
            }
        }
    }

    /// An app cannot see the answers of providers; the server reports them.
    func fetchDeviceState() async {
        guard let submitted = state.lifecycle.registration.lastSubmitted else { return }
        guard let response = await read("/devices/" + OperationRequest.escaped(device.deviceId), uid: submitted.uid) else { return }
        let document = ServerResponse(response)
        if response.status == 404, document?.code == "device_not_registered" { return await take(.deviceUnknown) }
        guard response.status == 200, let document else { return }
        // The server has another token: its answer to a registration was lost, or another app registers under the same deviceId.
        if let token = document.pushToken, token.tokenHash != submitted.tokenHash { return await take(.deviceUnknown) }
        state.tokens.updateFromServer(startToken: document.pushToStartToken?.usableHash, ofTypes: document.usableStartTokens)
        if let token = document.pushToken, token.state == "inactive", let reason = token.reasonCode {
            await take(.serverTokenState(token.tokenHash, reason))
        }
    }

    /// The user may have followed and unfollowed on other devices, and follows end with their subjects.
    func fetchFollows() async {
        guard let uid = state.lifecycle.registration.uid else { return }
        let changes = followChanges
        guard let response = await read("/user/follow", uid: uid), response.status == 200, let document = ServerResponse(response),
            let follows = document.follows, changes == followChanges, uid == state.lifecycle.registration.uid
        else { return }
        state.follows.readBack(follows.map(\.subject), unconfirmed: operations.filter { $0.uid == uid })
        devices = Dictionary(grouping: document.starts ?? [], by: \.subject).mapValues { $0.map(\.device) }
        save()
    }

    private func read(_ path: String, uid: String) async -> PushResponse? {
        let request = PushRequest(method: "GET", path: path, body: nil, credential: .session(uid: uid), requestId: newId())
        let response = await transport.send(request)
        if response?.status != 200 { report(.readFailed(path: path, status: response?.status)) }
        return response
    }

    /// The streams may not have yielded; the properties have the current tokens.
    func lookAtActivityTokens() async {
        if let token = await system.pushToStartToken() { await startTokenReceived(token) }
        for (type, token) in await system.pushToStartTokens().sorted(by: { $0.key < $1.key }) {
            await startTokenReceived(token, attributesType: type)
        }
        for activity in await system.activities() {
            if let token = activity.updateToken { await updateTokenReceived(token, activityId: activity.activityId) }
        }
    }

    func save() {
        guard isLoaded, state != savedState else { return }
        // A failed save is repeated with the next change.
        do {
            try storage.save(Array(JSONEncoder().encode(state)))
            savedState = state
        } catch {
            report(.stateNotSaved("\(error)"))
        }
    }
}
