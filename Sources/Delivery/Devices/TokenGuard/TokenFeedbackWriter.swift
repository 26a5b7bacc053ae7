package import Postgres
package import PushContract

/// What every send path takes its token actions through: counts what providers say of tokens, and stops switching off when too many are
/// refused at once. Runs inside the caller's transaction.
package struct TokenFeedbackWriter: Sendable {
    private let limits: DeactivationDecision.Limits
    private let slot: Int32

    /// - Parameter slot: the process's own rows of the counts.
    package init(limits: DeactivationDecision.Limits = DeactivationDecision.Limits(), slot: Int32 = .random(in: 0...1_000_000)) {
        self.limits = limits
        self.slot = slot
    }

    /// What a batch of outcomes came to.
    struct Report: Sendable {
        /// The strikes, by their place in the batch, that are to be deferred under a limiter instead of applied.
        var deferred: [Int: Int64] = [:]
        var opened: [CredentialScope] = []
    }

    /// Counts the feedback and applies it to the tokens of devices: the indexes of those that deactivated a token, and those that a limiter
    /// defers. The update token of an activity belongs to its owner, who acts on it.
    package func apply(
        _ feedbackBatch: [TokenFeedback],
        samples: [RefusalSample],
        on connection: BlockingConnection,
        now: Timestamp
    ) throws -> (off: Set<Int>, deferred: Set<Int>, opened: [CredentialScope]) {
        let report = try admit(feedbackBatch, samples: samples, on: connection, now: now)
        func apply(
            _ kinds: Set<TokenKind>,
            _ body: ([TokenFeedback], [Int: Int64], BlockingConnection, Timestamp) throws -> Set<Int>
        ) throws -> [Int] {
            let chosen = feedbackBatch.indices.filter { kinds.contains(feedbackBatch[$0].token) }
            guard !chosen.isEmpty else { return [] }
            let limiters = chosen.enumerated().compactMap { index, original in report.deferred[original].map { (index, $0) } }
            let batch = chosen.map { feedbackBatch[$0] }
            return try body(batch, Dictionary(uniqueKeysWithValues: limiters), connection, now).map { chosen[$0] }
        }
        let device = try apply([.push, .delivery], DeviceTokens.apply)
        // A send that names a token may name a start token.
        let start = try apply([.pushToStart, .delivery], StartTokens.apply)
        let off = Set(device + start)
        let dead = feedbackBatch.indices.filter { index in
            guard report.deferred[index] == nil else { return false }
            if case .deactivate = feedbackBatch[index].verdict { return true }
            return off.contains(index)
        }
        try TokenRegistry.noteDead(dead.map { feedbackBatch[$0] }, on: connection, now: now)
        return (off, Set(report.deferred.keys), report.opened)
    }

    /// Counts the feedback; which of it a limiter defers until a person decides.
    func admit(
        _ feedbackBatch: [TokenFeedback],
        samples: [RefusalSample],
        on connection: BlockingConnection,
        now: Timestamp
    ) throws -> Report {
        try count(samples, on: connection, now: now)
        var report = Report()
        let adverse = feedbackBatch.enumerated().filter { $0.element.verdict != .valid && $0.element.credential != nil }
        guard !adverse.isEmpty else { return report }
        let causes = Dictionary(adverse.compactMap { feedback in feedback.element.scope.map { ($0, feedback.element.cause) } }) {
            first,
            _ in
            first
        }
        let statuses = try LimiterQueries.statuses(Array(causes.keys), since: now - limits.window, on: connection, now: now)
        var open: [CredentialScope: Int64] = [:]
        for (scope, status) in statuses.sorted(by: { $0.key.key < $1.key.key }) {
            if let limiter = status.open {
                open[scope] = limiter
            } else if !status.isInCooldown, DeactivationDecision.opens(status.counts, limits: limits) {
                open[scope] = try LimiterQueries.open(
                    scope,
                    counts: status.counts,
                    cause: causes[scope] ?? "",
                    windowFrom: now - limits.window,
                    on: connection,
                    now: now
                )
                report.opened.append(scope)
            }
        }
        for (index, feedback) in adverse { report.deferred[index] = feedback.scope.flatMap { open[$0] } }
        return report
    }

    private func count(_ samples: [RefusalSample], on connection: BlockingConnection, now: Timestamp) throws {
        guard !samples.isEmpty else { return }
        var counts: [CredentialScope: DeactivationDecision.Counts] = [:]
        for sample in samples {
            counts[sample.scope, default: .init(total: 0, ambiguous: 0, gone: 0)].total += 1
            if sample.kind == .ambiguous { counts[sample.scope]?.ambiguous += 1 }
            if sample.kind == .gone { counts[sample.scope]?.gone += 1 }
        }
        try LimiterQueries.count(counts, slot: slot, on: connection, now: now)
    }
}

extension TokenFeedback {
    /// Where it counts; nil when the credential is not known.
    var scope: CredentialScope? {
        guard let credential, let environment else { return nil }
        return CredentialScope(provider: provider, app: app, environment: environment, credential: credential)
    }
}
