import Devices
import Postgres
import PushContract

extension SendStore {
    /// Writes outcomes: lease release, token action, attempt and next place of each delivery, in one transaction for all.
    ///
    /// A completion whose lease is no longer its own changes nothing and leaves nothing. Returns the deliveries that were completed,
    /// each with whether its token was switched off.
    @discardableResult
    package func complete(_ completions: [Completion]) async throws -> [Int64: Bool] {
        guard !completions.isEmpty else { return [:] }
        return try await pool.performTransaction { [record] connection in
            try CompletionWriter(completions, on: connection).write(record: record)
        }
    }
}

/// One batch of completions inside its transaction.
struct CompletionWriter {
    private let held: [Completion]
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

    func write(record: AttemptRecorder) throws -> [Int64: Bool] {
        let off = try switchOffTokens()
        try insertFinished()
        try insertDead()
        try insertScheduled()
        let attempts = held.compactMap { completion -> Attempt? in
            guard var attempt = completion.attempt else { return nil }
            if off.contains(completion.deliveryId) && attempt.status == .failed { attempt.status = .deactivated }
            return attempt
        }
        if !attempts.isEmpty { try record(attempts, connection) }
        return Dictionary(uniqueKeysWithValues: held.map { ($0.deliveryId, off.contains($0.deliveryId)) })
    }

    /// The deliveries whose token went off.
    private func switchOffTokens() throws -> Set<Int64> {
        let struck = held.filter { $0.strike != nil }
        guard !struck.isEmpty else { return [] }
        let now = try connection.query("SELECT clock_timestamp()")[0].decode(Timestamp.self)
        let places = try DeviceTokens.apply(struck.compactMap(\.strike), on: connection, now: now)
        return Set(places.map { struck[$0].deliveryId })
    }

    private func insertFinished() throws {
        let rows = held.compactMap { completion -> (Completion, outcome: String, messageId: String?)? in
            switch completion.next {
            case .sent(let messageId): (completion, "sent", messageId)
            case .cancelled: (completion, "cancelled", nil)
            case .retry, .dead: nil
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
