import Attempts
import Providers
import PushContract

/// Allows one request to a provider. Only `PushPipeline.perform` makes permits, and its callers write the outcome: so nothing is sent
/// without its attempt, its token action and the send gate. It cannot be copied or kept: one permit, one request.
private struct PushPermit: ~Copyable, Sendable {}

extension PushPipeline {
    /// A task keeps what this function needs while it waits, for each push under way: so what takes space is done in functions that do not
    /// wait, and handed on by reference.
    ///
    /// - Returns: the outcome, which is to be written; nil when there is nothing to write.
    func perform(
        _ push: PreparedPush,
        answered: (PushOutcome) -> Void,
        _ decide: (PushResult, inout PushFindings) -> Kind.Consequence?
    ) async -> (PushResult, DeliveryOutcome<Kind.Consequence>?) {
        let admitted: AdmittedPush
        switch admit(push) {
        case .blocked(let obstacle): return block(push, by: obstacle, decide)
        case .allowed(let allowed): admitted = allowed
        }
        var intent: Int64?
        if case .intent(let isCurrent) = push.push.protection {
            switch await saveIntent(push, isCurrent) {
            case .blocked(let obstacle): return block(push, by: obstacle, decide)
            case .saved(let number): intent = number
            }
        }
        let startedAt = clock(push)
        let result = await request(admitted, permit: PushPermit())
        announce(result, to: answered)
        var verdict = admitted.assess(result, by: gate, now: now())
        if verdict.unlessAcceptedSince != nil, let acceptedAt = await acceptedElsewhere(verdict) {
            verdict = admitted.assess(result, by: gate, acceptedElsewhere: acceptedAt, now: now())
        }
        return (result, admitted.outcome(of: result, verdict, intent: intent, startedAt: startedAt, at: clock(push), decide))
    }

    @inline(never)
    private func admit(_ push: PreparedPush) -> Admission {
        let scope = push.scope
        let provider = lookup(scope.provider, scope.app, scope.environment)
        let credential = provider?.credential ?? ""
        switch gate.admit(scope, credential: credential, lease: push.lease, now: now()) {
        case .blocked(let obstacle): return .blocked(obstacle)
        case .allowed(let circuits):
            return .allowed(AdmittedPush(push, by: provider, credential: credential, circuitsToClose: circuits))
        }
    }

    /// Records what is about to be sent and no claim protects.
    ///
    /// - Returns: the group of intents that it is recorded in.
    @inline(never)
    private func saveIntent(_ push: PreparedPush, _ isCurrent: () -> Bool) async -> IntentResult {
        guard let number = await journal.save(push.push.identity) else {
            return .blocked(SendGate.Obstacle(until: now() + IntentJournal.pause))
        }
        guard isCurrent() else {
            journal.withdraw(number)
            return .blocked(SendGate.Obstacle(until: now()))
        }
        return .saved(number)
    }

    /// What is recorded as the time.
    @inline(never)
    private func clock(_ push: PreparedPush) -> Timestamp { if let clock = push.push.clock { clock() } else { now() } }

    @inline(never)
    private func announce(_ result: PushResult, to answered: (PushOutcome) -> Void) {
        if case .attempted(let answer) = result { answered(answer) }
    }

    @inline(never)
    private func block(
        _ push: PreparedPush,
        by obstacle: SendGate.Obstacle,
        _ decide: (PushResult, inout PushFindings) -> Kind.Consequence?
    ) -> (PushResult, DeliveryOutcome<Kind.Consequence>?) {
        let result = PushResult.blocked(obstacle)
        var findings = PushFindings()
        let consequence = decide(result, &findings)
        guard consequence != nil || push.lease != nil else { return (result, nil) }
        return (result, DeliveryOutcome(consequence: consequence, findings: findings, lease: push.lease, at: clock(push)))
    }

    /// The only place where a push is handed to a provider.
    private func request(_ push: AdmittedPush, permit: consuming PushPermit) async -> PushResult {
        switch push.prepared.request {
        case .message(let request): await send(request, by: push.provider, permit: permit)
        case .broadcast(let request): await broadcast(request, by: push.provider, permit: permit)
        case .refused(let result): result
        }
    }

    @inline(never)
    private func send(
        _ request: MessageRequest,
        by provider: (any PushProvider)?,
        permit: consuming PushPermit
    ) async -> PushResult {
        guard let provider else { return .withoutCredential }
        return result(
            await provider.send(request.message, to: request.target, attemptId: request.attemptId, now: now()),
            token: request.target.token
        )
    }

    @inline(never)
    private func broadcast(
        _ request: BroadcastRequest,
        by provider: (any PushProvider)?,
        permit: consuming PushPermit
    ) async -> PushResult {
        guard let provider = provider as? any BroadcastProvider else { return .withoutCredential }
        return .attempted(
            await provider.broadcast(request.push, to: request.channel, in: request.scope, attemptId: request.attemptId, now: now())
        )
    }

    @inline(never)
    private func result(_ answer: PushOutcome, token: String) -> PushResult {
        var outcome = answer
        outcome.removeTokens(token)
        return .attempted(outcome)
    }
}

private enum Admission {
    case allowed(AdmittedPush)
    case blocked(SendGate.Obstacle)
}

private enum IntentResult {
    case saved(Int64)
    case blocked(SendGate.Obstacle)
}

extension PushResult {
    /// Blocks as a refused credential does, until one is configured.
    fileprivate static var withoutCredential: PushResult {
        var outcome = PushOutcome.failed(
            Classification(.auth, retry: .afterFix),
            code: "NoCredentials",
            detail: "No credential is configured for this app and environment."
        )
        outcome.refusalScope = .credential
        return .attempted(outcome)
    }
}
