import Postgres
import PushContract
import ServiceKit

/// Stores sends that are most likely all new, and the deliveries that are leased with them, by COPY: half the work of
/// `INSERT … ON CONFLICT`, which writes each row alone and confirms it.
enum SendCopy {
    private static let sends = """
        SAVEPOINT sends;
        COPY pushSends (sendId, contentHash, requestId, author, content, class, policy, createdAt, notBefore, expiresAt, skipped) FROM STDIN (FORMAT binary)
        """

    private static let deliveries = """
        COPY pushDeliveries (deliveryId, sendId, queue, uid, deviceId, platform, pushToken, tokenHash, createdAt)
        FROM STDIN (FORMAT binary)
        """

    /// - Returns: false when one of them is known; then none is stored.
    static func insertNew(
        _ entries: [NewSend],
        now: Timestamp,
        on connection: BlockingConnection
    ) throws -> Bool {
        var stream = CopyStream(columns: 11, capacity: entries.count * 512)
        for entry in entries {
            let send = entry.request
            stream.beginRow()
            stream.append(send.sendId)
            stream.append(send.contentHash)
            stream.append(entry.post.requestId)
            stream.append(entry.post.author)
            stream.append(send.storedContent.text)
            stream.append(entry.deliveryClass.rawValue)
            stream.append(send.policy.rawValue)
            stream.append(now)
            stream.append(send.notBefore)
            stream.append(send.expiresAt)
            stream.append(entry.skipped)
        }
        do {
            try stream.finished().withUnsafeBytes { _ = try connection.copyIn(sends, data: $0) }
        } catch let error as PostgresError where error.code == .uniqueViolation {
            // There is no savepoint if what failed was a statement of the caller's, before it.
            do { try connection.executeScript("ROLLBACK TO SAVEPOINT sends") } catch { throw error }
            return false
        }
        try connection.executeLater("RELEASE SAVEPOINT sends")
        return true
    }

    /// Deliveries of the same transaction's sends, each with its id.
    static func insert(
        _ entries: [(id: Int64, delivery: WaitingDelivery)],
        now: Timestamp,
        on connection: BlockingConnection
    ) throws {
        var stream = CopyStream(columns: 9, capacity: entries.count * 512)
        for (id, entry) in entries {
            let delivery = entry.delivery
            stream.beginRow()
            stream.append(id)
            stream.append(entry.send.sendId)
            stream.append(entry.queue.id)
            stream.append(delivery.uid)
            stream.append(delivery.deviceId)
            stream.append(delivery.platform.rawValue)
            stream.append(delivery.token?.encrypted)
            stream.append(delivery.token?.token.hash.bytes)
            stream.append(now)
        }
        try stream.finished().withUnsafeBytes { _ = try connection.copyIn(deliveries, data: $0) }
    }
}
