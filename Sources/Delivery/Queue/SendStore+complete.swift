import Postgres
import PushContract

extension SendStore {
    /// Writes outcomes: lease release, token action, attempt and next place of each delivery, in one transaction for all.
    ///
    /// A completion whose lease is no longer its own changes nothing and leaves nothing.
    ///
    /// - Parameter delays: how long a lane is paused.
    @discardableResult
    package func complete(_ completions: [Completion], delays: RetryDelays = RetryDelays()) async throws -> CompletionReport {
        guard !completions.isEmpty else { return CompletionReport() }
        return try await pool.performTransaction { [record, tokenGuard] connection in
            var writer = try CompletionWriter(completions, on: connection)
            return try writer.write(record: record, tokenGuard: tokenGuard, delays: delays)
        }
    }
}

/// One batch of completions inside its transaction.
struct CompletionWriter {
    private var held: [Completion]
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
        let released = Set(try rows.map { try $0.decode(Int64.self) })
        held = ordered.filter { released.contains($0.deliveryId) }
    }

    mutating func write(record: AttemptRecorder, tokenGuard: TokenGuard, delays: RetryDelays) throws -> CompletionReport {
        var report = CompletionReport()
        try placeTokens()
        let off = try switchOffTokens(tokenGuard, &report)
        try insertFinished()
        try insertDead()
        try insertScheduled()
        try insertHeld(&report)
        report.paused = try HoldQueries.pause(held.compactMap(\.pause), delays: delays, on: connection)
        let attempts = held.compactMap { completion -> Attempt? in
            guard var attempt = completion.attempt else { return nil }
            if off.contains(completion.deliveryId) && attempt.status == .failed { attempt.status = .deactivated }
            return attempt
        }
        if !attempts.isEmpty { try record(attempts, connection) }
        report.completed = Dictionary(uniqueKeysWithValues: held.map { ($0.deliveryId, off.contains($0.deliveryId)) })
        return report
    }

    /// Holds are ended before others are opened: what is refuted by one outcome of the batch may be asserted by another.
    private func insertHeld(_ report: inout CompletionReport) throws {
        report.released = Set(held.flatMap(\.releases))
        try HoldQueries.release(report.released, on: connection)
        try HoldQueries.probeAgain(Set(held.filter { $0.attempt == nil }.compactMap(\.probeOf)), on: connection)
        let waiting = held.compactMap { completion -> (Completion, HoldReference, ReasonCode?)? in
            if case .held(let hold, let reason) = completion.next { (completion, hold, reason) } else { nil }
        }
        guard !waiting.isEmpty else { return }
        let openings = waiting.compactMap { if case .opening(let opening) = $0.1 { opening } else { nil } }
        let open = try HoldQueries.open(openings, on: connection)
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
            INSERT INTO pushScheduled (deliveryId, lane, runAt, attemptNumber, reasonCode, holdId)
            SELECT t.deliveryId, t.lane, CASE WHEN h.holdId IS NULL THEN clock_timestamp() ELSE t.expiresAt END, t.attemptNumber,
                t.reason::pushReason, h.holdId
            FROM unnest(\(waiting.map(\.0.deliveryId)), \(waiting.map(\.0.lane)), \(waiting.map(\.0.expiresAt)),
                \(waiting.map { $0.0.triesMade + 1 }), \(waiting.map { $0.2?.rawValue }), \(ids))
                AS t(deliveryId, lane, expiresAt, attemptNumber, reason, holdId)
            LEFT JOIN pushHolds h ON h.holdId = t.holdId AND h.releasedAt IS NULL
            """
        )
    }

    /// Tries tokens in the other environment that may belong there: then nothing has been judged yet.
    private mutating func placeTokens() throws {
        var doubtful: [(index: Int, placement: TokenPlacement)] = []
        var settled: [EnvironmentTrial: [TokenPlacement]] = [:]
        for (index, completion) in held.enumerated() {
            switch completion.placement {
            case .doubtful(let placement): doubtful.append((index, placement))
            case .settled(let placement, let trial): settled[trial, default: []].append(placement)
            case nil: break
            }
        }
        for (trial, placements) in settled { try TokenEnvironments.settle(placements, as: trial, on: connection) }
        guard !doubtful.isEmpty else { return }
        let turned = try TokenEnvironments.turn(doubtful.map(\.placement), on: connection)
        guard !turned.isEmpty else { return }
        let now = try connection.query("SELECT clock_timestamp()")[0].decode(Timestamp.self)
        for place in turned where held[doubtful[place].index].expiresAt > now {
            held[doubtful[place].index].strike = nil
            held[doubtful[place].index].judgement = nil
            held[doubtful[place].index].next = .retry(at: now, after: .tokenInvalid)
        }
    }

    /// The deliveries whose token went off.
    private func switchOffTokens(_ tokenGuard: TokenGuard, _ report: inout CompletionReport) throws -> Set<Int64> {
        let struck = held.filter { $0.strike != nil }
        let judgements = held.compactMap(\.judgement)
        guard !struck.isEmpty || !judgements.isEmpty else { return [] }
        let now = try connection.query("SELECT clock_timestamp()")[0].decode(Timestamp.self)
        let applied = try tokenGuard.apply(struck.compactMap(\.strike), judgements: judgements, on: connection, now: now)
        report.breakersOpened = applied.opened
        return Set(applied.off.map { struck[$0].deliveryId })
    }

    private func insertFinished() throws {
        let rows = held.compactMap { completion -> (Completion, outcome: String, messageId: String?)? in
            switch completion.next {
            case .sent(let messageId): (completion, "sent", messageId)
            case .cancelled: (completion, "cancelled", nil)
            case .retry, .held, .dead: nil
            }
        }
        guard !rows.isEmpty else { return }
        try connection.execute(
            """
            INSERT INTO pushFinished (deliveryId, lane, outcome, attempts, providerMessageId, finishedAt)
            SELECT deliveryId, lane, outcome, attempts, messageId, clock_timestamp()
            FROM unnest(\(rows.map(\.0.deliveryId)), \(rows.map(\.0.lane)), \(rows.map(\.outcome)), \(rows.map(\.0.triesMade)),
                \(rows.map(\.messageId))) AS t(deliveryId, lane, outcome, attempts, messageId)
            """
        )
    }

    private func insertDead() throws {
        let rows = held.compactMap { completion -> (Completion, outcome: String, reason: String?, code: String?)? in
            guard case .dead(let outcome, let reason, let code) = completion.next else { return nil }
            return (completion, outcome.rawValue, reason?.rawValue, code)
        }
        guard !rows.isEmpty else { return }
        try connection.execute(
            """
            INSERT INTO pushDead (deliveryId, lane, outcome, attempts, reasonCode, providerErrorCode, finishedAt)
            SELECT deliveryId, lane, outcome, attempts, reason::pushReason, code, clock_timestamp()
            FROM unnest(\(rows.map(\.0.deliveryId)), \(rows.map(\.0.lane)), \(rows.map(\.outcome)), \(rows.map(\.0.triesMade)),
                \(rows.map(\.reason)), \(rows.map(\.code))) AS t(deliveryId, lane, outcome, attempts, reason, code)
            """
        )
    }

    private func insertScheduled() throws {
        let rows = held.compactMap { completion -> (Completion, runAt: Timestamp, reason: String)? in
            guard case .retry(let runAt, let reason) = completion.next else { return nil }
            return (completion, runAt, reason.rawValue)
        }
        guard !rows.isEmpty else { return }
        try connection.execute(
            """
            INSERT INTO pushScheduled (deliveryId, lane, runAt, attemptNumber, reasonCode)
            SELECT deliveryId, lane, runAt, attemptNumber, reason::pushReason
            FROM unnest(\(rows.map(\.0.deliveryId)), \(rows.map(\.0.lane)), \(rows.map(\.runAt)), \(rows.map { $0.0.attemptNumber + 1 }),
                \(rows.map(\.reason))) AS t(deliveryId, lane, runAt, attemptNumber, reason)
            """
        )
    }
}
