import Foundation
import Postgres
import PushContract

/// The facts' statements: `notificationDeliveryAttempts`.
enum FactStatements {
    /// Copies new rows in, in binary form, straight from the packed records.
    static func copy(
        _ inserts: [AttemptGroups.Insert],
        of batch: AttemptBatch,
        receivedAt: Timestamp,
        on connection: BlockingConnection
    ) throws {
        let bytes = FactCopy.stream(inserts, of: batch, receivedAt: receivedAt)
        try bytes.withUnsafeBytes { _ = try connection.copyIn(FactCopy.statement, data: $0) }
    }

    /// The stored rows of the given entries, for rollups and for answers.
    static func stored(_ entries: [LedgerEntry], on connection: BlockingConnection) throws -> [AttemptKey: Attempt] {
        guard !entries.isEmpty else { return [:] }
        let rows = try connection.query(
            """
            SELECT \(raw: StoredAttempt.columns)
            FROM notificationDeliveryAttempts
            JOIN unnest(\(entries.map(\.attemptedAt)), \(entries.map(\.key))) AS wanted (at, key)
                ON attemptedAt = wanted.at AND attemptKey = wanted.key
            """
        )
        let attempts = try rows.map(StoredAttempt.decode)
        return Dictionary(uniqueKeysWithValues: attempts.map { (AttemptKey(attemptId: $0.attemptId), $0) })
    }

    /// Takes rows forward: the later report replaces everything but identity, `attemptedAt` and `receivedAt`. Replacing the optional
    /// fields as a whole is what makes the outcome independent of the order in which the reports came.
    static func advance(_ moves: [AttemptMove], of batch: AttemptBatch, on connection: BlockingConnection) throws {
        func texts(_ piece: KeyPath<AttemptBatch.Record, AttemptBatch.Piece>) -> [String?] {
            moves.map { batch.string($0.record[keyPath: piece]) }
        }
        try connection.execute(
            """
            UPDATE notificationDeliveryAttempts AS fact SET
                status = moved.status::pushStatus, reasonCode = moved.reason::pushReason, providerErrorCode = moved.code,
                app = moved.app, environment = moved.environment::pushEnvironment, pushType = moved.pushType,
                appVersion = moved.appVersion, providerMessageId = moved.messageId, latencyMs = moved.latency, sendId = moved.sendId
            FROM unnest(\(moves.map(\.entry.attemptedAt)), \(moves.map(\.entry.key)), \(moves.map(\.record.status.rawValue)),
                        \(moves.map { $0.record.reasonCode?.rawValue }), \(texts(\.providerErrorCode)), \(texts(\.app)),
                        \(moves.map { $0.record.environment?.rawValue }), \(texts(\.pushType)), \(texts(\.appVersion)),
                        \(texts(\.providerMessageId)), \(moves.map(\.record.latencyMs)), \(texts(\.sendId)))
                AS moved (at, key, status, reason, code, app, environment, pushType, appVersion, messageId, latency, sendId)
            WHERE fact.attemptedAt = moved.at AND fact.attemptKey = moved.key
            """
        )
    }

    /// Which of these exact rows stand already; the ledger may have forgotten what an import brings again.
    static func existing(_ records: [AttemptBatch.Record], on connection: BlockingConnection) throws -> Set<AttemptKey> {
        let rows = try connection.query(
            """
            SELECT fact.attemptKey FROM notificationDeliveryAttempts AS fact
            JOIN unnest(\(records.map(\.attemptedAt)), \(records.map(\.key))) AS wanted (at, key)
                ON fact.attemptedAt = wanted.at AND fact.attemptKey = wanted.key
            """
        )
        return try Set(rows.map { try $0.decode(AttemptKey.self) })
    }
}
