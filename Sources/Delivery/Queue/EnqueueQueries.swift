import Attempts
import HTTPServer
import Postgres
import PushContract
import ServiceKit

/// The SQL of storing sends.
enum EnqueueQueries {
    /// Which of these sends are stored, with their content's hash, number of deliveries and the targets that they do not go to.
    static func known(
        _ sendIds: [String],
        on connection: BlockingConnection
    ) throws -> [String: (hash: [UInt8], deliveries: Int, skipped: [SkippedTargets])] {
        let rows = try connection.query(
            """
            SELECT sendId, contentHash, coalesce((SELECT devices FROM pushFanOuts f WHERE f.sendId = s.sendId),
                (SELECT count(*) FROM pushDeliveries d WHERE d.sendId = s.sendId)), skipped
            FROM pushSends s WHERE sendId = ANY(\(sendIds))
            """
        )
        var known: [String: (hash: [UInt8], deliveries: Int, skipped: [SkippedTargets])] = [:]
        for row in rows {
            let (sendId, hash, deliveries, skipped) = try row.decode((String, [UInt8], Int, String?).self)
            known[sendId] = (hash, deliveries, try [SkippedTargets](stored: skipped))
        }
        return known
    }

    /// Inserts the sends that are new; which are known.
    ///
    /// - Parameter expectation: of the sends that come this way.
    static func insert(
        _ entries: [NewSend],
        expectation: KeyExpectation,
        now: Timestamp,
        on connection: BlockingConnection
    ) throws -> Set<String> {
        guard !entries.isEmpty else { return [] }
        let sends = entries.map(\.request)
        if sends.count >= CopyStream.minimumRows, expectation.expectsNewKeys() {
            if try SendCopy.insertNew(entries, now: now, on: connection) {
                expectation.foundNewKeysOnly()
                return []
            }
            expectation.foundDuplicates()
        }
        let rows = try connection.query(
            """
            INSERT INTO pushSends (sendId, contentHash, requestId, author, content, class, policy, createdAt, notBefore, expiresAt, skipped)
            SELECT sendId, contentHash, requestId, author, content, class::pushClass, policy::pushPolicy, \(now), notBefore, expiresAt, skipped
            FROM unnest(\(sends.map(\.sendId)), \(sends.map(\.contentHash) as [[UInt8]]), \(entries.map(\.post.requestId)),
                \(entries.map(\.post.author)), \(sends.map(\.storedContent.text)), \(entries.map(\.deliveryClass.rawValue)),
                \(sends.map(\.policy.rawValue)), \(sends.map(\.notBefore)), \(sends.map(\.expiresAt)),
                \(entries.map(\.skipped)))
                AS t(sendId, contentHash, requestId, author, content, class, policy, notBefore, expiresAt, skipped)
            ON CONFLICT (sendId) DO NOTHING
            RETURNING sendId
            """
        )
        return Set(sends.map(\.sendId)).subtracting(try rows.map { try $0.decode(String.self) })
    }

    /// Inserts deliveries without a `collapseId` and puts each where it waits: ready, or scheduled when its send is not due.
    static func insertWaiting(_ entries: [WaitingDelivery], now: Timestamp, on connection: BlockingConnection) throws {
        guard !entries.isEmpty else { return }
        try connection.executeLater(insert(rows(entries), mayBeLater: entries.contains { $0.send.notBefore != nil }, now: now))
    }

    /// Leases deliveries that the same transaction is to store (`SendCopy.insert`); for each, in order, its id, its lease, and its device
    /// as it is now.
    ///
    /// Parameters are in sub-selects, so that PostgreSQL cannot see how many rows there will be: otherwise it plans each execution anew.
    static func lease(_ deliveries: [NewDelivery], lease duration: Duration, worker: String) -> Query {
        let devices = deliveries.indices.filter { deliveries[$0].deviceId != nil }
        return """
            WITH lease AS MATERIALIZED (
                \(lease)
            ), target AS MATERIALIZED (
                SELECT ordinal, nextval('pushDeliveries_deliveryId_seq') AS deliveryId, 1 AS attemptNumber, lease.leaseToken, lease.claimedAt,
                    \(device)
                FROM generate_series(0, (SELECT \(deliveries.count - 1))) AS ordinal
                CROSS JOIN lease
                LEFT JOIN (
                    unnest((SELECT \(devices)), (SELECT \(devices.map { deliveries[$0].uid })),
                        (SELECT \(devices.map { deliveries[$0].deviceId })), (SELECT \(devices.map { deliveries[$0].provider.rawValue })),
                        (SELECT \(devices.map { deliveries[$0].app }))) AS t(ordinal, uid, deviceId, provider, app)
                    JOIN devices v ON v.userId = t.uid AND v.deviceId = t.deviceId AND v.provider = t.provider::pushProvider AND v.app = t.app
                        AND v.expiresAt > clock_timestamp()
                ) USING (ordinal)
            ), leased AS (
                \(insertLease(of: "target", lease: duration, worker: worker))
            )
            SELECT \(leased), NULL::bytea FROM target ORDER BY ordinal
            """
    }

    /// What is leased of a device `v`.
    static let device: Query = """
        v.platform AS devicePlatform, v.environment AS deviceEnvironment, v.pushToken AS deviceToken, v.pushTokenHash AS deviceTokenHash,
        v.registrationVersion, v.tokenState, v.tokenStateSince, v.appVersion, v.environmentTrial, v.locale
        """

    /// What is returned of a delivery that is stored with its lease; the key of its token follows.
    static let leased: Query = """
        deliveryId, leaseToken, claimedAt, devicePlatform, deviceEnvironment, deviceToken, deviceTokenHash, registrationVersion, tokenState,
        tokenStateSince, appVersion, environmentTrial, locale
        """

    /// One lease, for all deliveries of a statement.
    static let lease: Query = "SELECT nextval('pushLeaseTokens') AS leaseToken, clock_timestamp() AS claimedAt"

    /// - Parameter deliveries: a relation with leaseToken, claimedAt, deliveryId, attemptNumber and deviceTokenHash (`sha256:` and 64
    ///   digits).
    static func insertLease(of deliveries: Query, lease: Duration, worker: String, probeOf: Int64? = nil) -> Query {
        """
        INSERT INTO pushLeases (leaseToken, worker, claimedAt, leaseUntil, probeOf, deliveryIds, attemptNumbers, tokenHashes)
            SELECT leaseToken, \(worker), claimedAt, claimedAt + \(lease.inSeconds) * interval '1 second', \(probeOf),
                array_agg(deliveryId), array_agg(attemptNumber), array_agg(decode(substring(deviceTokenHash FROM 8), 'hex'))
            FROM \(deliveries) GROUP BY leaseToken, claimedAt
        """
    }

    /// Deliveries to store.
    static func rows(_ entries: [WaitingDelivery]) -> Query {
        let sends = entries.map(\.send)
        let deliveries = entries.map(\.delivery)
        return """
            SELECT sendId, queue, uid, deviceId, platform::pushPlatform AS platform, provider::pushProvider AS provider,
                environment::pushEnvironment AS environment, app, pushToken, tokenHash, collapseId, version, expiresAt, isDirect, ordinal
            FROM unnest((SELECT \(sends.map(\.sendId))), (SELECT \(entries.map(\.queue.id))), (SELECT \(deliveries.map(\.uid))),
                (SELECT \(deliveries.map(\.deviceId))), (SELECT \(deliveries.map(\.platform.rawValue))),
                (SELECT \(deliveries.map(\.provider.rawValue))), (SELECT \(deliveries.map(\.environment.rawValue))),
                (SELECT \(deliveries.map(\.app))), (SELECT \(deliveries.map(\.token?.encrypted))),
                (SELECT \(deliveries.map(\.token?.token.hash.bytes))), (SELECT \(sends.map(\.content.collapseId))), (SELECT \(sends.map(\.version))), (SELECT \(sends.map(\.expiresAt))),
                (SELECT \(entries.map(\.isDirect))))
                WITH ORDINALITY AS t(sendId, queue, uid, deviceId, platform, provider, environment, app, pushToken, tokenHash, collapseId,
                    version, expiresAt, isDirect, ordinal)
            """
    }

    /// Inserts deliveries of which none replaces another and puts each where it waits; how many.
    static func insert(_ rows: Query, mayBeLater: Bool, now: Timestamp) -> Query {
        """
        WITH stored AS (
            INSERT INTO pushDeliveries (sendId, queue, uid, deviceId, platform, pushToken, tokenHash, createdAt)
            SELECT sendId, queue, uid, deviceId, platform, pushToken, tokenHash, \(now) FROM (\(rows)) t
            RETURNING deliveryId, queue, sendId
        ), \(waiting("stored", mayBeLater: mayBeLater))
        SELECT count(*) FROM stored
        """
    }

    /// Puts new deliveries where they wait.
    ///
    /// - Parameter mayBeLater: one of their sends has a `notBefore`. Otherwise no send is looked up.
    static func waiting(_ stored: Query, mayBeLater: Bool) -> Query {
        guard mayBeLater else {
            return """
                ready AS (
                    INSERT INTO pushReady (queue, deliveryId, attemptNumber, readyAt)
                    SELECT queue, deliveryId, 1, clock_timestamp() FROM \(stored) ORDER BY deliveryId
                )
                """
        }
        return """
            due AS (
                SELECT deliveryId, queue, notBefore, coalesce(notBefore > clock_timestamp(), false) AS later
                FROM \(stored) JOIN pushSends USING (sendId)
            ), scheduled AS (
                INSERT INTO pushScheduled (deliveryId, queue, runAt, attemptNumber)
                SELECT deliveryId, queue, notBefore, 1 FROM due WHERE later
            ), ready AS (
                INSERT INTO pushReady (queue, deliveryId, attemptNumber, readyAt)
                SELECT queue, deliveryId, 1, clock_timestamp() FROM due WHERE NOT later ORDER BY deliveryId
            )
            """
    }
}
