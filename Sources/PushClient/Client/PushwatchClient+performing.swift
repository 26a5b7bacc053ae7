import Foundation
import PushContract

/// Performs what the client's values decided.
extension PushwatchClient {
    func take(_ input: TokenLifecycle.Input) async {
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
        let document = ServerResponse(response)
        if (200..<300).contains(response.status) { note(document, of: operation) }
        let result = OperationResult.answered(status: response.status, code: document?.code, retryAfter: response.retryAfter)
        await take(.result(operationId: operation.operationId, result))
    }

    /// Stores or deletes the unregister secret after a confirmed operation.
    private func note(_ document: ServerResponse?, of operation: PendingOperation) {
        switch operation.kind {
        case .register:
            guard let secret = document?.unregisterSecret else { return }
            secrets.setSecret(secret, of: operation.uid)
            state.lifecycle.noteSecret(of: operation.uid, isKept: true)
        case .unregister: secrets.setSecret(nil, of: operation.uid)
        default: break
        }
    }

    func perform(_ steps: [LifecycleManager.Step]) async {
        save()
        for step in steps {
            switch step {
            case .end(let activityId): await system.endActivity(activityId)
            case .report(let matchId, let instance, let cause):
                state.tokens.forget(matchId: matchId)
                await take(.queue(.dismissal(matchId: matchId, instance: instance, cause: cause), nil))
            case .unfollow(let matchId):
                state.follows.dismissed(matchId)
                save()
            }
        }
    }

    /// An app cannot see the answers of providers; the server reports them.
    func fetchDeviceState() async {
        guard let submitted = state.lifecycle.registration.lastSubmitted else { return }
        let request = PushRequest(
            method: "GET",
            path: "/devices/" + OperationRequest.escaped(device.deviceId),
            body: nil,
            credential: .session(uid: submitted.uid),
            requestId: newId()
        )
        guard let response = await transport.send(request) else { return }
        let document = ServerResponse(response)
        if response.status == 404, document?.code == "device_not_registered" { return await take(.deviceUnknown) }
        guard response.status == 200, let document else { return }
        state.tokens.updateFromServer(startToken: document.pushToStartToken?.usableHash, ofTypes: document.usableStartTokens)
        if let token = document.pushToken, token.state == "inactive", let reason = token.reasonCode {
            await take(.serverTokenState(token.tokenHash, reason))
        }
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
        // A failed save is repeated with the next change.
        guard let data = try? JSONEncoder().encode(state) else { return }
        try? storage.save(Array(data))
    }
}
