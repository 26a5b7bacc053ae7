package import Attempts
package import Logging
package import Providers
package import PushContract

/// Finds the provider of an app; nil when no credential for it is configured.
package typealias ProviderLookup = @Sendable (_ provider: Provider, _ app: String, _ environment: PushEnvironment) -> (any PushProvider)?

/// Attempts every push: send gate, provider, outcome writer. Every attempt leaves exactly one row.
///
/// Pushes are attempted within `working`, which writes their outcomes. A class, as each push under way refers to it.
package final class PushPipeline<Kind: DeliveryKind>: Sendable {
    package let gate: SendGate
    let lookup: ProviderLookup
    let journal: IntentJournal
    private let writer: OutcomeWriter<Kind>
    private let acceptances: AcceptancesElsewhere
    let now: @Sendable () -> Timestamp

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
    /// - Parameter decide: what the result means for the owner; may change what it says about others.
    /// - Returns: the disposition is nil when there was no attempt.
    package func attempt(
        _ push: Push,
        decide: (PushResult, inout PushFindings) -> Kind.Consequence?
    ) async -> (result: PushResult, disposition: OutcomeDisposition?) {
        let (result, outcome) = await perform(PreparedPush(push, now: now()), answered: { _ in }, decide)
        guard let outcome else { return (result, nil) }
        return (result, await writer.submit(outcome))
    }

    /// The same, and returns when its outcome is handed to the writer: no task waits for that.
    ///
    /// - Parameters:
    ///   - answered: called with the provider's answer, before it is written.
    ///   - written: called when its outcome is written, found stale, or given up. Nil: there was no attempt.
    func attempt(
        _ push: PreparedPush,
        answered: (PushOutcome) -> Void,
        written: @escaping @Sendable (OutcomeDisposition?) -> Void,
        decide: (PushResult, inout PushFindings) -> Kind.Consequence?
    ) async {
        let (_, outcome) = await perform(push, answered: answered, decide)
        if let outcome { writer.submit(outcome, written: written) } else { written(nil) }
    }

    /// Makes one request that is no push: it sends nothing to anybody, and leaves no attempt. A refused credential and a rate limit count
    /// as for a push.
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
        case .blocked(let obstacle):
            await writer.submit(DeliveryOutcome(consequence: blocked(obstacle.until), at: startedAt))
        case .allowed(let circuitsToClose):
            guard let provider = lookup(scope.provider, scope.app, scope.environment) as? any BroadcastProvider else {
                await writer.submit(DeliveryOutcome(consequence: blocked(startedAt + SendGate.retryInterval), at: startedAt))
                return
            }
            let (outcome, consequence) = await body(provider)
            let at = now()
            func assess(acceptedElsewhere: Timestamp? = nil) -> GateVerdict {
                gate.assess(
                    outcome,
                    scope,
                    hasOwnTopic: true,
                    credential: credential,
                    operationKey: "channels",
                    acceptedElsewhere: acceptedElsewhere,
                    now: at
                )
            }
            var verdict = assess()
            if let acceptedAt = await acceptedElsewhere(verdict) { verdict = assess(acceptedElsewhere: acceptedAt) }
            let findings = PushFindings(outcome, in: scope, circuitsToClose: circuitsToClose, verdict: verdict)
            await writer.submit(DeliveryOutcome(consequence: consequence, findings: findings, at: at))
        }
    }

    /// Writes the end of a push that is not attempted.
    ///
    /// - Parameter written: as for `attempt`.
    func end(
        _ consequence: Kind.Consequence,
        lease: DeliveryLease?,
        at: Timestamp,
        written: @escaping @Sendable (OutcomeDisposition?) -> Void
    ) {
        writer.submit(DeliveryOutcome(consequence: consequence, lease: lease, at: at), written: written)
    }

    /// Names the credential of pushes of this scope, without disclosing it; "" when there is none.
    package func credential(for scope: PushScope) -> String { lookup(scope.provider, scope.app, scope.environment)?.credential ?? "" }

    /// Where pushes of this scope are best attempted (`PushProvider.executor`).
    func executor(for scope: PushScope) -> (any TaskExecutor)? { lookup(scope.provider, scope.app, scope.environment)?.executor }

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

    /// When another process last had a push of the scope accepted: asked for before a circuit opens.
    @inline(never)
    func acceptedElsewhere(_ verdict: GateVerdict) async -> Timestamp? {
        guard let opening = verdict.opening, let since = verdict.unlessAcceptedSince else { return nil }
        return await acceptances.last(in: opening.scope, since: since)
    }
}
