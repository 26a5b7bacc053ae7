package import Postgres
import PushContract

/// Writes outcomes of one kind of push: leases, token actions, circuits, the owners' consequences, attempts and intents, in one
/// transaction for many.
package struct OutcomeStore<Kind: DeliveryKind>: Sendable {
    package let kind: Kind
    private let pool: PostgresPool
    private let feedbackWriter: TokenFeedbackWriter
    private let delays: RetryDelays
    private let record: AttemptRecorder

    /// - Parameters:
    ///   - feedbackWriter: what every token action goes through.
    ///   - delays: how long queues are paused.
    package init(
        _ kind: Kind,
        pool: PostgresPool,
        feedbackWriter: TokenFeedbackWriter,
        delays: RetryDelays = RetryDelays(),
        record: @escaping AttemptRecorder
    ) {
        self.kind = kind
        self.pool = pool
        self.feedbackWriter = feedbackWriter
        self.delays = delays
        self.record = record
    }

    /// What processes other than this one had accepted.
    func acceptances(excluding owner: String) -> AcceptancesElsewhere { AcceptancesElsewhere(pool: pool, owner: owner) }

    /// - Parameters:
    ///   - groups: those whose outcomes are all written with these.
    ///   - owner: the process whose groups they are.
    ///   - mayBeWritten: the answer to an earlier try was lost: those that it has written are stale.
    @discardableResult
    package func write(
        _ outcomes: [DeliveryOutcome<Kind.Consequence>],
        ending groups: OutcomeGroups = OutcomeGroups(),
        of owner: String = "",
        mayBeWritten: Bool = false
    ) async throws -> OutcomeReport {
        guard !outcomes.isEmpty else { return OutcomeReport() }
        return try await pool.performTransaction { [self] connection in
            var transaction = try OutcomeTransaction<Kind>(outcomes, ending: groups.leases, mayBeWritten: mayBeWritten, on: connection)
            let report = try transaction.write(kind, feedbackWriter: feedbackWriter, delays: delays, record: record)
            try IntentStore.forget(groups.intents, owner: owner, on: connection)
            return report
        }
    }
}

/// What ends with a batch of outcomes: groups of which it has the last.
package struct OutcomeGroups: Sendable {
    /// By their numbers.
    var intents: [Int64]
    /// By their tokens.
    var leases: [Int64]

    package init(intents: [Int64] = [], leases: [Int64] = []) {
        self.intents = intents
        self.leases = leases
    }
}

/// What a batch of outcomes came to.
package struct OutcomeReport: Sendable {
    /// One for each outcome, in order.
    package var dispositions: [OutcomeDisposition] = []
    package var opened: [Circuit] = []
    package var closed: Set<Int64> = []
    package var paused: [RateLimitPause] = []
    /// Where so many tokens were refused that none is deactivated any more.
    var limitersOpened: [CredentialScope] = []
}

/// One batch of outcomes inside its transaction.
private struct OutcomeTransaction<Kind: DeliveryKind> {
    /// Those whose lease is valid, and those that need none.
    private var outcomes: [DeliveryOutcome<Kind.Consequence>]
    /// Their indexes in the batch.
    private let indexes: [Int]
    private let count: Int
    private let now: Timestamp
    private let connection: BlockingConnection

    /// Releases the deliveries from their leases, or ends these.
    init(
        _ batch: [DeliveryOutcome<Kind.Consequence>],
        ending: [Int64],
        mayBeWritten: Bool,
        on connection: BlockingConnection
    ) throws {
        self.connection = connection
        count = batch.count
        now = batch.indices.map { batch[$0].at }.max() ?? .now()
        var released = batch.indices.compactMap { batch[$0].lease }.filter { !ending.contains($0.leaseToken) }
        guard !released.isEmpty || !ending.isEmpty else {
            outcomes = batch
            indexes = Array(batch.indices)
            return
        }
        var written: [Int64: Set<Int64>] = [:]
        func isWritten(_ lease: DeliveryLease) -> Bool { written[lease.leaseToken]?.contains(lease.deliveryId) == true }
        if mayBeWritten, !released.isEmpty {
            // Not in the leases that end: had the earlier try been committed, they would not be there.
            let tokens = Set(released.map(\.leaseToken)).sorted()
            for row in try connection.query(
                "SELECT leaseToken, released FROM pushLeases WHERE leaseToken = ANY(\(tokens)) FOR NO KEY UPDATE"
            ) {
                let (leaseToken, earlier) = try row.decode((Int64, [Int64]).self)
                written[leaseToken] = Set(earlier)
            }
            released.removeAll(where: isWritten)
        }
        let valid = Set(try connection.query(Self.release(released, ending: ending)).map { try $0.decode(Int64.self) })
        indexes = batch.indices.filter { index in
            guard let lease = batch[index].lease else { return true }
            return valid.contains(lease.leaseToken) && !isWritten(lease)
        }
        outcomes = indexes.map { batch[$0] }
    }

    /// The leases that are there. Who takes a lease over locks it against both.
    ///
    /// By `ANY`, so that they are looked up: next to an old snapshot a join may come to read all that was deleted.
    private static func release(_ deliveries: [DeliveryLease], ending: [Int64]) -> Query {
        """
        WITH ended AS (
            DELETE FROM pushLeases WHERE leaseToken = ANY(\(array(ending))) RETURNING leaseToken
        ), kept AS (
            UPDATE pushLeases l SET released = released || ARRAY(
                SELECT deliveryId FROM unnest(\(deliveries.map(\.leaseToken)), \(deliveries.map(\.deliveryId))) AS t(token, deliveryId)
                WHERE token = l.leaseToken
            )
            WHERE leaseToken = ANY(\(array(Set(deliveries.map(\.leaseToken)).sorted()))) RETURNING leaseToken
        )
        SELECT leaseToken FROM ended UNION ALL SELECT leaseToken FROM kept
        """
    }

    /// Few tokens as an array of a length that PostgreSQL knows: one of unknown length counts as ten, so that each execution would be
    /// planned anew for the fewer that there are.
    private static func array(_ tokens: [Int64]) -> Query {
        guard tokens.count <= 4 else { return "\(tokens)" }
        // No lease has the token 0.
        let padded = tokens + Array(repeating: 0, count: 4 - tokens.count)
        return "ARRAY[\(padded[0]), \(padded[1]), \(padded[2]), \(padded[3])]::bigint[]"
    }

    mutating func write(
        _ kind: Kind,
        feedbackWriter: TokenFeedbackWriter,
        delays: RetryDelays,
        record: AttemptRecorder
    ) throws -> OutcomeReport {
        var report = OutcomeReport()
        try updateTokenEnvironments()
        let feedback = try applyFeedback(feedbackWriter, &report)
        // Circuits are closed before others are opened: what one outcome of the batch refutes, another may assert.
        report.closed = Set(outcomes.indices.flatMap { outcomes[$0].findings.circuitsClosed })
        try CircuitQueries.close(report.closed, on: connection)
        try CircuitQueries.returnProbes(
            Set(outcomes.indices.compactMap { outcomes[$0].attempt == nil ? outcomes[$0].lease?.probeOf : nil }),
            on: connection
        )
        let circuits = try CircuitQueries.open(outcomes.indices.compactMap { outcomes[$0].findings.opening }, on: connection)
        report.opened = Array(circuits.values)
        let context = OutcomeContext(deferred: feedback.deferred, deactivated: feedback.deactivated, circuits: circuits)
        let deactivated = try feedback.deactivated.union(kind.apply(outcomes, context, on: connection))
        report.paused = try CircuitQueries.pause(
            outcomes.indices.compactMap { outcomes[$0].findings.pause },
            delays: delays,
            on: connection
        )
        let attempts = outcomes.indices.compactMap { index -> Attempt? in
            guard var attempt = outcomes[index].attempt else { return nil }
            if deactivated.contains(index) && attempt.status == .failed { attempt.status = .deactivated }
            return attempt
        }
        if !attempts.isEmpty { try record(attempts, connection) }
        report.dispositions = Array(repeating: .stale, count: count)
        for (index, original) in indexes.enumerated() {
            report.dispositions[original] =
                deactivated.contains(index)
                ? .tokenDeactivated : feedback.deferred.contains(index) ? .deactivationDeferred : .written
        }
        return report
    }

    /// Moves tokens that may belong to the other environment there: then nothing has been judged yet.
    private mutating func updateTokenEnvironments() throws {
        var uncertain: [(index: Int, tokenEnvironment: TokenEnvironment)] = []
        var resolved: [EnvironmentTrial: [TokenEnvironment]] = [:]
        for index in outcomes.indices {
            switch outcomes[index].findings.tokenEnvironment {
            case .uncertain(let tokenEnvironment): uncertain.append((index, tokenEnvironment))
            case .resolved(let tokenEnvironment, let trial): resolved[trial, default: []].append(tokenEnvironment)
            case nil: break
            }
        }
        for (trial, tokenEnvironments) in resolved { try TokenEnvironmentQueries.finishTrial(tokenEnvironments, as: trial, on: connection) }
        guard !uncertain.isEmpty else { return }
        let switched = try TokenEnvironmentQueries.switchEnvironment(uncertain.map(\.tokenEnvironment), on: connection)
        for index in switched.map({ uncertain[$0].index }) where outcomes[index].lease.map({ $0.expiresAt > now }) ?? true {
            outcomes[index].switchedAt = now
        }
    }

    /// Counts what was said about tokens, and deactivates those of devices; tokens of activities belong to their owner.
    private func applyFeedback(
        _ feedbackWriter: TokenFeedbackWriter,
        _ report: inout OutcomeReport
    ) throws -> (deactivated: Set<Int>, deferred: Set<Int>) {
        let indexes = outcomes.indices.filter { outcomes[$0].feedback != nil }
        let feedback = indexes.compactMap { outcomes[$0].feedback }
        let samples = outcomes.indices.compactMap { outcomes[$0].sample }
        guard !feedback.isEmpty || !samples.isEmpty else { return ([], []) }
        let applied = try feedbackWriter.apply(feedback, samples: samples, on: connection, now: now)
        report.limitersOpened = applied.opened
        return (Set(applied.off.map { indexes[$0] }), Set(applied.deferred.map { indexes[$0] }))
    }
}
