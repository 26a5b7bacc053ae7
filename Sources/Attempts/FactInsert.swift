import Postgres
import PushContract

/// One new fact as a prepared statement: for batches so small that COPY's own statement costs more than the rows. Columns of values and
/// not arrays: a function scan over twenty arrays costs more than the row does.
enum FactInsert {
    static func query(_ record: AttemptBatch.Record, of batch: AttemptBatch, receivedAt: Timestamp) -> Query {
        func text(_ piece: AttemptBatch.Piece) -> Query.Parameter { .text(piece, of: batch) }
        return Query(
            statement,
            [
                text(record.attemptId), text(record.uid), .word(record.platform.spelling), .word(record.provider.spelling),
                text(record.tokenHash), .word(record.eventType.spelling), .word(record.status.spelling),
                .word(record.reasonCode?.spelling), text(record.providerErrorCode), .moment(record.attemptedAt), text(record.requestId),
                text(record.app), .word(record.environment?.spelling), text(record.pushType), text(record.appVersion),
                text(record.providerMessageId), .number(record.latencyMs), text(record.sendId), .moment(receivedAt), .key(record.key),
            ]
        )
    }

    private static let statement: StaticString = """
        INSERT INTO notificationDeliveryAttempts (attemptId, uid, platform, provider, tokenHash, eventType, status, reasonCode,
            providerErrorCode, attemptedAt, requestId, app, environment, pushType, appVersion, providerMessageId, latencyMs, sendId,
            receivedAt, attemptKey)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
        """
}
