import Attempts
import CommandLineKit
import Delivery
import Foundation
import Logging
import Postgres
import Providers
import PushContract
import ServiceLifecycle
import Synchronization

/// `pushwatch-dev bench drain`: a full queue is sent, to a provider in this process that takes everything at once, so that the database is
/// what is measured, or over HTTP/2 to the provider simulator; once alone, once while an analyst holds a snapshot and another session is
/// idle in a transaction that has written, both from before deliveries were worked off whose rows cannot be removed until then.
struct DrainBench {
    struct Report: Encodable {
        var deliveries: Int
        var workedOff: Int
        var alone: Rate
        var underSnapshot: Rate
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

    struct Rate: Encodable {
        var perSecond: Double
        /// By processor time of this process and of PostgreSQL; nil where that is not known.
        var perCoreSecond: Double?
    }

    /// What has been used up at a moment: by this process and by PostgreSQL, where that is known.
    struct Use {
        var at: ContinuousClock.Instant
        var cpuSeconds: [Double?]
    }

    /// Takes everything, or has it sent.
    final class CountingProvider: PushProvider {
        private let taken = Atomic(0)
        private let next: APNsProvider?

        init(next: APNsProvider?) { self.next = next }

        /// How many it has taken.
        var count: Int { taken.load(ordering: .relaxed) }

        func send(_ message: PushMessage, to target: PushTarget, attemptId: String, now: Timestamp) async -> PushOutcome {
            let outcome = await next?.send(message, to: target, attemptId: attemptId, now: now)
            taken.add(1, ordering: .relaxed)
            return outcome ?? .sent(messageId: nil, httpStatus: 200, latency: .milliseconds(1))
        }
    }

    /// Sends of an hour, 5,000 a second.
    static let hour = 18_000_000

    let database: BenchDatabase
    let deliveries: Int
    /// Deliveries that are worked off next to the snapshot before the queue is filled.
    let workedOff: Int
    /// Nil: the provider is in this process.
    var provider: BareProvider?
    let logger: Logger

    /// A pool as that of the service for sending, of a database with our tables.
    func migratedPool() async throws -> PostgresPool {
        var configuration = PostgresConfiguration(
            url: database.url,
            maxConnections: 6,
            statementTimeout: .seconds(1800),
            applicationName: "bench drain"
        )
        // Else a scan from before the table grew would read what the snapshot keeps, each time.
        configuration.looksUpByIndex = true
        _ = try await Migrator(configuration: configuration, directory: try ProjectFiles.locate("sql/migrations"), logger: logger).migrate()
        let pool = PostgresPool(configuration: configuration, logger: logger)
        try await PartitionMaintenance(pool: pool, logger: logger).maintain()
        return pool
    }

    func run() async throws -> Report {
        let pool = try await migratedPool()
        defer { pool.close() }
        let cipher = TokenCipher(.random())
        Terminal.note("filling the queue with \(deliveries) sends")
        try await empty(pool)
        try await fill(pool, cipher)
        Terminal.note("draining alone")
        let alone = try await drain(pool, cipher)
        try await empty(pool)
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

    private func nextToOldTransactions(_ pool: PostgresPool, _ body: () async throws -> Rate) async throws -> Rate {
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

    func empty(_ pool: PostgresPool) async throws {
        try await pool.execute(
            """
            TRUNCATE pushSends, pushDeliveries, pushReady, pushScheduled, pushLeases, pushFinishedSingles, pushOutcomes, pushDead, pushQueues,
                notificationDeliveryAttempts, attemptLedger, attemptRollups, attemptLatencies, tokenOutcomes RESTART IDENTITY
            """
        )
        try await pool.execute(
            "INSERT INTO pushQueues (app, provider, environment, class) VALUES ('com.example.bench', 'apns', 'production', 'normal')"
        )
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

    private func drain(_ pool: PostgresPool, _ cipher: TokenCipher) async throws -> Rate {
        let provider = CountingProvider(next: try provider?.provider())
        let rate = try await sending(to: provider, pool, cipher) { use in
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
            return Rate(of: deliveries, from: start, to: try use())
        }
        let sent = try await pool.query("SELECT count(*) FROM pushFinished WHERE outcome = 'sent'")[0].decode(Int.self)
        guard sent == deliveries else { throw CommandFailure.check("\(deliveries) were queued and \(sent) sent.") }
        return rate
    }

    func store(_ pool: PostgresPool, _ cipher: TokenCipher) -> SendStore {
        SendStore(pool: pool, cipher: cipher, record: AttemptRecording.recorder(slot: 300, logger: logger))
    }

    /// While a dispatcher sends what is queued.
    ///
    /// - Parameter body: is given a function for what has been used up so far.
    func sending<Result: Sendable>(
        to provider: CountingProvider,
        _ pool: PostgresPool,
        _ cipher: TokenCipher,
        _ body: (() throws -> Use) async throws -> Result
    ) async throws -> Result {
        let dispatcher = SendDispatcher(
            store: store(pool, cipher),
            throttles: ThrottleStore(pool: pool),
            lookup: { _, _, _ in provider },
            logger: logger
        )
        let postgres = try await ProcessUse.postgres(of: pool)
        let own = ProcessUse(pid: getpid())
        let group = ServiceGroup(configuration: .init(services: [.init(service: dispatcher)], logger: logger))
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let result = try await body { Use(at: .now, cpuSeconds: [own.cpuSeconds, postgres?.familySeconds]) }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            return result
        }
    }
}

extension DrainBench.Rate {
    /// - Parameter count: sends between the two.
    init(of count: Int, from start: DrainBench.Use, to end: DrainBench.Use) {
        let spent = zip(end.cpuSeconds, start.cpuSeconds).map { after, before in after.flatMap { after in before.map { after - $0 } } }
        perSecond = Double(count) / (end.at - start.at).inSeconds
        perCoreSecond = spent.contains(nil) ? nil : Double(count) / spent.compactMap(\.self).reduce(0, +)
    }
}
