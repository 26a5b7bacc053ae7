package import Attempts
package import Logging
package import Providers
package import PushContract

/// Finds who carries pushes to an app; nil when no credential for it is configured.
package typealias ProviderLookup = @Sendable (_ provider: Provider, _ app: String, _ environment: PushEnvironment) -> (any PushProvider)?

/// Allows one request to a provider. Only `PushPipeline.attempt` makes permits, and it writes the outcome: so nothing is sent without its
/// attempt, its token action and the send gate. It cannot be copied or kept: one permit, one request.
private struct PushPermit: ~Copyable, Sendable {}

/// The one way of a push: send gate, provider, outcome writer. Every attempt leaves exactly one row.
///
/// Pushes are attempted within `working`, which writes their outcomes.
package struct PushPipeline<Kind: DeliveryKind>: Sendable {
    package let gate: SendGate
    private let lookup: ProviderLookup
    private let journal: IntentJournal
    private let writer: OutcomeWriter<Kind>
    private let acceptances: AcceptancesElsewhere
    private let now: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - intents: where pushes that no claim protects are recorded before they are sent.
    ///   - owner: this process, with another name after each restart.
    ///   - uncommitted: counts the outcomes that wait to be written.
    ///   - writeTimeout: how long they wait for a database that is away.
    package init(
        outcomes: OutcomeStore<Kind>,
        intents: IntentStore,
        owner: String,
        lookup: @escaping ProviderLookup,
        uncommitted: UncommittedOutcomes,
        writeTimeout: Duration = .seconds(60),
        logger: Logger,
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        self.lookup = lookup
        self.now = now
        gate = SendGate()
        acceptances = outcomes.acceptances(excluding: owner)
        let open = OpenGroups()
        journal = IntentJournal(store: intents, open: open, owner: owner, logger: logger)
        writer = OutcomeWriter(
            outcomes,
            gate: gate,
            intents: open,
            owner: owner,
            uncommitted: uncommitted,
            writeTimeout: writeTimeout,
            logger: logger
        )
    }

    /// Makes one attempt, if the gate allows it. Returns when its outcome is written, found stale, or given up.
    ///
    /// - Parameters:
    ///   - lease: of a delivery of the queue.
    ///   - answered: called with the provider's answer, before it is written.
    ///   - decide: what the result means for the owner; may change what it says about others.
    package func attempt(
        _ push: Push,
        lease: DeliveryLease? = nil,
        answered: (PushOutcome) -> Void = { _ in },
        decide: (PushResult, inout PushFindings) -> Kind.Consequence?
    ) async -> (result: PushResult, disposition: OutcomeDisposition) {
        let prepared = PreparedPush(push, now: now())
        let scope = prepared.scope
        let provider = lookup(scope.provider, scope.app, scope.environment)
        let credential = provider?.credential ?? ""
        let circuitsToClose: [Circuit]
        switch gate.admit(scope, credential: credential, lease: lease, now: now()) {
        case .blocked(let obstacle): return await block(prepared.push, lease, by: obstacle, decide)
        case .allowed(let circuits): circuitsToClose = circuits
        }
        var intent: Int64?
        if case .intent(let isCurrent) = prepared.push.protection {
            guard let number = await journal.save(prepared.push.identity) else {
                return await block(prepared.push, lease, by: SendGate.Obstacle(until: now() + IntentJournal.pause), decide)
            }
            guard isCurrent() else {
                journal.withdraw(number)
                return await block(prepared.push, lease, by: SendGate.Obstacle(until: now()), decide)
            }
            intent = number
        }
        let clock = prepared.push.clock ?? now
        let startedAt = clock()
        let answer = await request(prepared, to: provider, permit: PushPermit())
        answered(answer)
        let verdict = await assess(
            answer,
            scope,
            hasOwnTopic: prepared.push.hasOwnTopic,
            credential: credential,
            operationKey: prepared.push.identity.operationKey,
            now: now()
        )
        var findings = PushFindings(
            answer,
            of: prepared.push,
            credential: credential,
            circuitsToClose: circuitsToClose,
            verdict: verdict,
            startedAt: startedAt
        )
        let consequence = decide(.attempted(answer), &findings)
        let outcome = DeliveryOutcome(
            attempt: Attempt(prepared.push.identity, answer, at: startedAt),
            consequence: consequence,
            findings: findings,
            lease: lease,
            intent: intent,
            at: clock(),
            detail: answer.detail
        )
        return (.attempted(answer), await writer.submit(outcome))
    }

    /// Makes one request that is no push: it sends nothing to anybody, and leaves no attempt. A refused credential and a rate limit count as
    /// for a push.
    ///
    /// - Parameters:
    ///   - blocked: what follows if the gate does not allow it, or there is no such provider.
    ///   - body: the request and what follows.
    package func request(
        in scope: PushScope,
        blocked: (_ until: Timestamp) -> Kind.Consequence,
        _ body: (any BroadcastProvider) async -> (outcome: PushOutcome, consequence: Kind.Consequence)
    ) async {
        let credential = credential(for: scope)
        let startedAt = now()
        switch gate.admit(scope, credential: credential, lease: nil, now: startedAt) {
        case .blocked(let obstacle): await end(blocked(obstacle.until), lease: nil, at: startedAt)
        case .allowed(let circuitsToClose):
            guard let provider = lookup(scope.provider, scope.app, scope.environment) as? any BroadcastProvider else {
                return await end(blocked(startedAt + SendGate.retryInterval), lease: nil, at: startedAt)
            }
            let (outcome, consequence) = await body(provider)
            let at = now()
            let verdict = await assess(outcome, scope, hasOwnTopic: true, credential: credential, operationKey: "channels", now: at)
            let findings = PushFindings(outcome, in: scope, circuitsToClose: circuitsToClose, verdict: verdict)
            await writer.submit(DeliveryOutcome(consequence: consequence, findings: findings, at: at))
        }
    }

    /// Writes the end of a push that is not attempted.
    package func end(_ consequence: Kind.Consequence, lease: DeliveryLease?, at: Timestamp) async {
        await writer.submit(DeliveryOutcome(consequence: consequence, lease: lease, at: at))
    }

    /// Names the credential of pushes of this scope, without disclosing it; "" when there is none.
    package func credential(for scope: PushScope) -> String { lookup(scope.provider, scope.app, scope.environment)?.credential ?? "" }

    /// Writes outcomes as long as `body` makes attempts, and returns when all of them are written.
    package func working<Value: Sendable, Failure: Error>(
        _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        journal.open()
        writer.open()
        return try await withTaskGroup(of: Void.self) { group -> Result<Value, Failure> in
            group.addTask { [journal] in await journal.run() }
            group.addTask { [writer] in await writer.run() }
            let result: Result<Value, Failure>
            do throws(Failure) {
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
            journal.close()
            writer.close()
            await group.waitForAll()
            // Groups that are left would be taken for lost.
            try? await journal.sweep()
            return result
        }.get()
    }

    /// Deletes groups of intents whose outcomes are all written; usually that happens with the last of their outcomes.
    package func sweepIntents() async throws { try await journal.sweep() }

    /// What the outcome says about its scope. Other processes may have had pushes of it accepted: they are asked for before a circuit opens.
    private func assess(
        _ outcome: PushOutcome,
        _ scope: PushScope,
        hasOwnTopic: Bool,
        credential: String,
        operationKey: String,
        now: Timestamp
    ) async -> GateVerdict {
        func verdict(acceptedElsewhere: Timestamp? = nil) -> GateVerdict {
            gate.assess(
                outcome,
                scope,
                hasOwnTopic: hasOwnTopic,
                credential: credential,
                operationKey: operationKey,
                acceptedElsewhere: acceptedElsewhere,
                now: now
            )
        }
        let own = verdict()
        guard let opening = own.opening, let since = own.unlessAcceptedSince,
            let acceptedAt = await acceptances.last(in: opening.scope, since: since)
        else { return own }
        return verdict(acceptedElsewhere: acceptedAt)
    }

    private func block(
        _ push: Push,
        _ lease: DeliveryLease?,
        by obstacle: SendGate.Obstacle,
        _ decide: (PushResult, inout PushFindings) -> Kind.Consequence?
    ) async -> (PushResult, OutcomeDisposition) {
        let result = PushResult.blocked(obstacle)
        var findings = PushFindings()
        let consequence = decide(result, &findings)
        guard consequence != nil || lease != nil else { return (result, .written) }
        let at = (push.clock ?? now)()
        return (result, await writer.submit(DeliveryOutcome(consequence: consequence, findings: findings, lease: lease, at: at)))
    }

    /// The only place where a push is handed to a provider.
    private func request(
        _ prepared: PreparedPush,
        to provider: (any PushProvider)?,
        permit: consuming PushPermit
    ) async -> PushOutcome {
        let now = now()
        let identity = prepared.push.identity
        switch prepared.content {
        case .failure(let error): return .failed(Classification(.unknown, retry: .never), code: error.code, detail: error.message)
        case .success(.message(let message, let token)):
            guard let provider else { return .withoutCredential }
            let target = PushTarget(
                provider: identity.provider,
                token: token.rawValue,
                environment: identity.environment,
                app: identity.app
            )
            var outcome = await provider.send(message, to: target, attemptId: prepared.push.messageId, now: now)
            outcome.removeTokens(token.rawValue)
            return outcome
        case .success(.broadcast(let message, let channel)):
            guard let provider = provider as? any BroadcastProvider else { return .withoutCredential }
            let scope = BroadcastScope(app: identity.app, environment: identity.environment)
            let attemptId = "\(prepared.push.messageId):\(identity.attemptNumber)"
            return await provider.broadcast(message, to: channel, in: scope, attemptId: attemptId, now: now)
        }
    }
}

extension PushOutcome {
    /// Blocks as a refused credential does, until one is configured.
    fileprivate static var withoutCredential: PushOutcome {
        var outcome = PushOutcome.failed(
            Classification(.auth, retry: .afterFix),
            code: "NoCredentials",
            detail: "No credential is configured for this app and environment."
        )
        outcome.refusalScope = .credential
        return outcome
    }
}
