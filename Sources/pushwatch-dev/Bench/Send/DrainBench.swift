import CommandLineKit
import Delivery
import Foundation
import Postgres
import PushContract

/// `pushwatch-dev bench drain`: a full queue is sent, to a provider in this process that takes everything at once, so that the database is
/// what is measured, or over HTTP/2 to the provider simulator; once alone, once while an analyst holds a snapshot and another session is
/// idle in a transaction that has written, both from before deliveries were worked off whose rows cannot be removed until then.
struct DrainBench {
    struct Report: Encodable {
        var deliveries: Int
        var workedOff: Int
        var alone: BenchQueue.Rate
        var underSnapshot: BenchQueue.Rate
        var ratio: Double

        var text: String {
            let rates = [
                ("alone", alone), ("next to a snapshot and an idle transaction from \(workedOff) sends before", underSnapshot),
            ].map { name, rate in
                "\(name): \(Int(rate.perSecond)) a second"
                    + (rate.perCoreSecond.map { ", \(Int($0)) a core-second of sender and database" } ?? "")
            }
            return "\(deliveries) queued sends drained, each with its row\n" + rates.joined(separator: "\n")
                + "\nratio: \(String(format: "%.2f", ratio))"
        }
    }

    /// Sends of an hour, 5,000 a second.
    static let hour = 18_000_000

    let queue: BenchQueue
    let deliveries: Int
    /// Deliveries that are worked off next to the snapshot before the queue is filled.
    let workedOff: Int

    func run() async throws -> Report {
        let pool = try await queue.migratedPool()
        defer { pool.close() }
        let cipher = TokenCipher(.random())
        Terminal.note("filling the queue with \(deliveries) sends")
        try await queue.empty(pool)
        try await fill(pool, cipher)
        Terminal.note("draining alone")
        let alone = try await drain(pool, cipher)
        try await queue.empty(pool)
        let under = try await nextToOldTransactions(pool) {
            Terminal.note("working off \(workedOff) sends next to a snapshot and an idle transaction")
            try await workOff(pool)
            Terminal.note("filling the queue with \(deliveries) sends")
            try await fill(pool, cipher)
            Terminal.note("draining next to the snapshot")
            return try await drain(pool, cipher)
        }
        return Report(
            deliveries: deliveries,
            workedOff: workedOff,
            alone: alone,
            underSnapshot: under,
            ratio: under.perSecond / alone.perSecond
        )
    }

    private func nextToOldTransactions(_ pool: PostgresPool, _ body: () async throws -> BenchQueue.Rate) async throws -> BenchQueue.Rate {
        // PostgreSQL ends our sessions after a minute idle in a transaction; these must stay open.
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ; SET LOCAL idle_in_transaction_session_timeout = 0"
        return try await pool.withConnection { analyst in
            try await analyst.executeScript(begin)
            _ = try await analyst.query("SELECT count(*) FROM pushReady")
            return try await pool.withConnection { writer in
                try await writer.executeScript(begin)
                _ = try await writer.query("INSERT INTO pushQueueSamples VALUES ('epoch', '{}', '{}', '{}') RETURNING at")
                let rate = try await body()
                try await writer.executeScript("ROLLBACK")
                try await analyst.executeScript("ROLLBACK")
                return rate
            }
        }
    }

    /// Leaves the rows that deliveries leave which went through the queue.
    private func workOff(_ pool: PostgresPool) async throws {
        let step = 1_000_000
        for first in stride(from: 1, through: workedOff, by: step) {
            let last = min(workedOff, first + step - 1)
            try await pool.execute(
                """
                INSERT INTO pushReady (queue, deliveryId, attemptNumber, readyAt)
                SELECT (SELECT queue FROM pushQueues), -n, 1, now() FROM generate_series(\(first), \(last)) n
                """
            )
            try await pool.execute("DELETE FROM pushReady")
            try await pool.execute(
                """
                INSERT INTO pushLeases (leaseToken, worker, claimedAt, leaseUntil, deliveryIds, attemptNumbers, tokenHashes)
                SELECT -n, 'bench', now(), now() - interval '1 hour' + n * interval '50 ms', array_agg(-i), array_agg(1), array_agg(NULL::bytea)
                FROM (SELECT i, i / 250 AS n FROM generate_series(\(first), \(last)) i) leased GROUP BY n
                """
            )
            try await pool.execute("DELETE FROM pushLeases")
            Terminal.progress("\(last) of \(workedOff) sends worked off", isLast: last == workedOff)
        }
    }

    private func fill(_ pool: PostgresPool, _ cipher: TokenCipher) async throws {
        let token = try PushToken(String(repeating: "5a", count: 32), provider: .apns)
        let encrypted = try cipher.encryptedBytes(of: token, as: .delivery)
        let run = UUID().uuidString
        try await pool.execute(
            """
            INSERT INTO pushSends (sendId, contentHash, requestId, author, content, class, policy, createdAt, expiresAt)
            SELECT \(run) || n, '', 'bench', 'bench', '{"title": "Goal"}', 'normal', 'at_least_once', now(), now() + interval '1 day'
            FROM generate_series(1, \(deliveries)) n
            """
        )
        try await pool.execute(
            """
            INSERT INTO pushDeliveries (sendId, queue, uid, platform, pushToken, tokenHash, createdAt)
            SELECT \(run) || n, (SELECT queue FROM pushQueues), 'user-' || n, 'ios', \(encrypted), \(token.hash.bytes), now()
            FROM generate_series(1, \(deliveries)) n
            """
        )
        try await pool.execute(
            "INSERT INTO pushReady (queue, deliveryId, attemptNumber, readyAt) SELECT queue, deliveryId, 1, now() FROM pushDeliveries ORDER BY 2"
        )
        try await pool.execute("ANALYZE pushSends, pushDeliveries, pushReady")
        try await pool.execute("CHECKPOINT")
    }

    private func drain(_ pool: PostgresPool, _ cipher: TokenCipher) async throws -> BenchQueue.Rate {
        let rate = try await queue.sending(pool, cipher) { provider, use in
            let start = try use()
            // Then none is ready; to look for one would read all that was worked off. How many were sent is counted below.
            while provider.count < deliveries {
                Terminal.progress("\(provider.count) of \(deliveries) sent")
                try await Task.sleep(for: .milliseconds(50))
            }
            Terminal.progress("\(deliveries) of \(deliveries) sent", isLast: true)
            while try await pool.query("SELECT EXISTS (SELECT FROM pushLeases)")[0].decode(Bool.self) {
                try await Task.sleep(for: .milliseconds(50))
            }
            return BenchQueue.Rate(of: deliveries, from: start, to: try use())
        }
        let sent = try await pool.query("SELECT count(*) FROM pushFinished WHERE outcome = 'sent'")[0].decode(Int.self)
        guard sent == deliveries else { throw CommandFailure.check("\(deliveries) were queued and \(sent) sent.") }
        return rate
    }
}
