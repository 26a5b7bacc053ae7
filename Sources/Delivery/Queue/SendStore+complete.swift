import Postgres
import PushContract

extension SendStore {
    /// Writes outcomes: lease release, token action, attempt and next place of each delivery, in one transaction for all.
    ///
    /// A completion whose lease is no longer its own changes nothing and leaves nothing.
    ///
    /// - Parameter delays: how long a queue is paused.
    @discardableResult
    package func complete(_ completions: [Completion], delays: RetryDelays = RetryDelays()) async throws -> CompletionReport {
        guard !completions.isEmpty else { return CompletionReport() }
        return try await pool.performTransaction { [record, feedbackWriter] connection in
            var writer = try CompletionWriter(completions, on: connection)
            return try writer.write(record: record, feedbackWriter: feedbackWriter, delays: delays)
        }
    }
}

/// One batch of completions inside its transaction.
struct CompletionWriter {
    private var leased: [Completion]
    private let connection: BlockingConnection

    /// Releases the leases; what is not held any more is dropped here.
    init(_ completions: [Completion], on connection: BlockingConnection) throws {
        self.connection = connection
        let ordered = completions.sorted { $0.deliveryId < $1.deliveryId }
        let rows = try connection.query(
            """
            DELETE FROM pushLeases l USING unnest(\(ordered.map(\.deliveryId)), \(ordered.map(\.leaseToken))) AS c(deliveryId, leaseToken)
            WHERE l.deliveryId = c.deliveryId AND l.leaseToken = c.leaseToken
            RETURNING l.deliveryId
            """
        )
        let closed = Set(try rows.map { try $0.decode(Int64.self) })
        leased = ordered.filter { closed.contains($0.deliveryId) }
    }

    mutating func write(record: AttemptRecorder, feedbackWriter: TokenFeedbackWriter, delays: RetryDelays) throws -> CompletionReport {
        var report = CompletionReport()
        try updateTokenEnvironments()
        let off = try deactivateTokens(feedbackWriter, &report)
        try insertFinished()
        try insertDead()
        try insertScheduled()
        try insertBlocked(&report)
        report.paused = try CircuitQueries.pause(leased.compactMap(\.pause), delays: delays, on: connection)
        let attempts = leased.compactMap { completion -> Attempt? in
            guard var attempt = completion.attempt else { return nil }
            if off.contains(completion.deliveryId) && attempt.status == .failed { attempt.status = .deactivated }
            return attempt
        }
        if !attempts.isEmpty { try record(attempts, connection) }
        report.completed = Dictionary(uniqueKeysWithValues: leased.map { ($0.deliveryId, off.contains($0.deliveryId)) })
        return report
    }

    /// Holds are ended before others are opened: what is refuted by one outcome of the batch may be asserted by another.
    private func insertBlocked(_ report: inout CompletionReport) throws {
        report.closed = Set(leased.flatMap(\.circuitsClosed))
        try CircuitQueries.close(report.closed, on: connection)
        try CircuitQueries.rescheduleProbe(Set(leased.filter { $0.attempt == nil }.compactMap(\.probeOf)), on: connection)
        let waiting = leased.compactMap { completion -> (Completion, CircuitReference, ReasonCode?)? in
            if case .blocked(let circuit, let reason) = completion.next { (completion, circuit, reason) } else { nil }
        }
        guard !waiting.isEmpty else { return }
        let openings = waiting.compactMap { if case .opening(let opening) = $0.1 { opening } else { nil } }
        let open = try CircuitQueries.open(openings, on: connection)
        report.opened = Array(open.values)
        let ids = waiting.map { entry -> Int64? in
            switch entry.1 {
            case .open(let id): id
            case .opening(let opening): open[opening.scope]?.id
            }
        }
        // A hold that has ended meanwhile keeps nothing: then it is due now.
        try connection.execute(
            """
            INSERT INTO pushScheduled (deliveryId, queue, runAt, attemptNumber, reasonCode, circuitId)
            SELECT t.deliveryId, t.queue, CASE WHEN h.circuitId IS NULL THEN clock_timestamp() ELSE t.expiresAt END, t.attemptNumber,
                t.reason::pushReason, h.circuitId
            FROM unnest(\(waiting.map(\.0.deliveryId)), \(waiting.map(\.0.queue)), \(waiting.map(\.0.expiresAt)),
                \(waiting.map { $0.0.attemptsMade + 1 }), \(waiting.map { $0.2?.rawValue }), \(ids))
                AS t(deliveryId, queue, expiresAt, attemptNumber, reason, circuitId)
            LEFT JOIN pushCircuits h ON h.circuitId = t.circuitId AND h.closedAt IS NULL
            """
        )
    }

    /// Tries tokens in the other environment that may belong there: then nothing has been judged yet.
    private mutating func updateTokenEnvironments() throws {
        var uncertain: [(index: Int, tokenEnvironment: TokenEnvironment)] = []
        var resolved: [EnvironmentTrial: [TokenEnvironment]] = [:]
        for (index, completion) in leased.enumerated() {
            switch completion.tokenEnvironment {
            case .uncertain(let tokenEnvironment): uncertain.append((index, tokenEnvironment))
            case .resolved(let tokenEnvironment, let trial): resolved[trial, default: []].append(tokenEnvironment)
            case nil: break
            }
        }
        for (trial, tokenEnvironments) in resolved { try TokenEnvironmentQueries.finishTrial(tokenEnvironments, as: trial, on: connection) }
        guard !uncertain.isEmpty else { return }
        let switched = try TokenEnvironmentQueries.switchEnvironment(uncertain.map(\.tokenEnvironment), on: connection)
        guard !switched.isEmpty else { return }
        let now = try connection.query("SELECT clock_timestamp()")[0].decode(Timestamp.self)
        for index in switched where leased[uncertain[index].index].expiresAt > now {
            leased[uncertain[index].index].feedback = nil
            leased[uncertain[index].index].sample = nil
            leased[uncertain[index].index].next = .retry(at: now, after: .tokenInvalid)
        }
    }

    /// The deliveries whose token went off.
    private func deactivateTokens(_ feedbackWriter: TokenFeedbackWriter, _ report: inout CompletionReport) throws -> Set<Int64> {
        let withFeedback = leased.filter { $0.feedback != nil }
        let samples = leased.compactMap(\.sample)
        guard !withFeedback.isEmpty || !samples.isEmpty else { return [] }
        let now = try connection.query("SELECT clock_timestamp()")[0].decode(Timestamp.self)
        let applied = try feedbackWriter.apply(withFeedback.compactMap(\.feedback), samples: samples, on: connection, now: now)
        report.limitersOpened = applied.opened
        return Set(applied.off.map { withFeedback[$0].deliveryId })
    }

    private func insertFinished() throws {
        let rows = leased.compactMap { completion -> (Completion, outcome: String, messageId: String?)? in
            switch completion.next {
            case .sent(let messageId): (completion, "sent", messageId)
            case .cancelled: (completion, "cancelled", nil)
            case .retry, .blocked, .dead: nil
            }
        }
        guard !rows.isEmpty else { return }
        try connection.execute(
            """
            INSERT INTO pushFinished (deliveryId, queue, outcome, attempts, providerMessageId, finishedAt)
            SELECT deliveryId, queue, outcome, attempts, messageId, clock_timestamp()
            FROM unnest(\(rows.map(\.0.deliveryId)), \(rows.map(\.0.queue)), \(rows.map(\.outcome)), \(rows.map(\.0.attemptsMade)),
                \(rows.map(\.messageId))) AS t(deliveryId, queue, outcome, attempts, messageId)
            """
        )
    }

    private func insertDead() throws {
        let rows = leased.compactMap { completion -> (Completion, outcome: String, reason: String?, code: String?)? in
            guard case .dead(let outcome, let reason, let code) = completion.next else { return nil }
            return (completion, outcome.rawValue, reason?.rawValue, code)
        }
        guard !rows.isEmpty else { return }
        try connection.execute(
            """
            INSERT INTO pushDead (deliveryId, queue, outcome, attempts, reasonCode, providerErrorCode, finishedAt)
            SELECT deliveryId, queue, outcome, attempts, reason::pushReason, code, clock_timestamp()
            FROM unnest(\(rows.map(\.0.deliveryId)), \(rows.map(\.0.queue)), \(rows.map(\.outcome)), \(rows.map(\.0.attemptsMade)),
                \(rows.map(\.reason)), \(rows.map(\.code))) AS t(deliveryId, queue, outcome, attempts, reason, code)
            """
        )
    }

    private func insertScheduled() throws {
        let rows = leased.compactMap { completion -> (Completion, runAt: Timestamp, reason: String)? in
            guard case .retry(let runAt, let reason) = completion.next else { return nil }
            return (completion, runAt, reason.rawValue)
        }
        guard !rows.isEmpty else { return }
        try connection.execute(
            """
            INSERT INTO pushScheduled (deliveryId, queue, runAt, attemptNumber, reasonCode)
            SELECT deliveryId, queue, runAt, attemptNumber, reason::pushReason
            FROM unnest(\(rows.map(\.0.deliveryId)), \(rows.map(\.0.queue)), \(rows.map(\.runAt)), \(rows.map { $0.0.attemptNumber + 1 }),
                \(rows.map(\.reason))) AS t(deliveryId, queue, runAt, attemptNumber, reason)
            """
        )
    }
}
