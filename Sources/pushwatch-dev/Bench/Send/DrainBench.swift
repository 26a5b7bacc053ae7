import Attempts
import CommandLineKit
import Delivery
import Foundation
import Logging
import Postgres
import Providers
import PushContract
import ServiceLifecycle

/// `pushwatch-dev bench drain`: a full queue is sent to a provider that takes everything at once, so that the database is what is measured;
/// once alone, once while an analyst holds a snapshot.
struct DrainBench {
    struct Report: Encodable {
        var deliveries: Int
        var perSecond: Double
        var perSecondUnderSnapshot: Double
        var ratio: Double

        var text: String {
            let rates = [("alone", perSecond), ("under a snapshot", perSecondUnderSnapshot)].map { "\($0.0): \(Int($0.1)) a second" }
            return "\(deliveries) queued sends drained, each with its row\n" + rates.joined(separator: "\n")
                + "\nratio: \(String(format: "%.2f", ratio))"
        }
    }

    /// Takes everything.
    private struct AcceptingProvider: PushProvider {
        func send(_ message: PushMessage, to target: PushTarget, attemptId: String, now: Timestamp) async -> PushOutcome {
            .sent(messageId: nil, httpStatus: 200, latency: .milliseconds(1))
        }
    }

    let database: BenchDatabase
    let deliveries: Int
    let logger: Logger

    func run() async throws -> Report {
        let configuration = PostgresConfiguration(
            url: database.url,
            maxConnections: 6,
            statementTimeout: .seconds(1800),
            applicationName: "bench drain"
        )
        _ = try await Migrator(configuration: configuration, directory: try ProjectFiles.locate("sql/migrations"), logger: logger).migrate()
        let pool = PostgresPool(configuration: configuration, logger: logger)
        defer { pool.close() }
        try await PartitionMaintenance(pool: pool, logger: logger).maintain()
        let cipher = TokenCipher(.random())
        let alone = try await measure("alone", pool, cipher) { try await $0() }
        let under = try await measure("under an analyst's snapshot", pool, cipher) { drain in
            try await pool.withConnection { analyst in
                // PostgreSQL ends our sessions after a minute idle in a transaction; this one must stay open.
                try await analyst.executeScript(
                    "BEGIN ISOLATION LEVEL REPEATABLE READ; SET LOCAL idle_in_transaction_session_timeout = 0"
                )
                _ = try await analyst.query("SELECT count(*) FROM pushReady")
                let rate = try await drain()
                try await analyst.executeScript("ROLLBACK")
                return rate
            }
        }
        return Report(deliveries: deliveries, perSecond: alone, perSecondUnderSnapshot: under, ratio: under / alone)
    }

    private func measure(
        _ name: String,
        _ pool: PostgresPool,
        _ cipher: TokenCipher,
        _ body: (_ drain: () async throws -> Double) async throws -> Double
    ) async throws -> Double {
        Terminal.note("filling the queue with \(deliveries) sends")
        try await fill(pool, cipher)
        Terminal.note("draining \(name)")
        return try await body { try await drain(pool, cipher) }
    }

    private func fill(_ pool: PostgresPool, _ cipher: TokenCipher) async throws {
        let token = try PushToken(String(repeating: "5a", count: 32), provider: .apns)
        let encrypted = try cipher.encrypt(token, as: .delivery)
        try await pool.execute(
            "TRUNCATE pushSends, pushDeliveries, pushReady, pushScheduled, pushLeases, pushFinished, pushDead, pushQueues RESTART IDENTITY"
        )
        try await pool.execute(
            "INSERT INTO pushQueues (app, provider, environment, class) VALUES ('com.example.bench', 'apns', 'production', 'normal')"
        )
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
            INSERT INTO pushDeliveries (sendId, queue, uid, platform, provider, environment, app, pushToken, tokenHash, createdAt)
            SELECT \(run) || n, (SELECT queue FROM pushQueues), 'user-' || n, 'ios', 'apns', 'production', 'com.example.bench', \(encrypted),
                \(token.hash.rawValue), now()
            FROM generate_series(1, \(deliveries)) n
            """
        )
        try await pool.execute(
            "INSERT INTO pushReady (queue, deliveryId, attemptNumber, readyAt) SELECT queue, deliveryId, 1, now() FROM pushDeliveries ORDER BY 2"
        )
        try await pool.execute("ANALYZE pushSends, pushDeliveries, pushReady")
        try await pool.execute("CHECKPOINT")
    }

    private func drain(_ pool: PostgresPool, _ cipher: TokenCipher) async throws -> Double {
        let store = SendStore(pool: pool, cipher: cipher, record: AttemptRecording.recorder(slot: 300, logger: logger))
        let dispatcher = SendDispatcher(
            store: store,
            throttles: ThrottleStore(pool: pool),
            lookup: { _, _, _ in AcceptingProvider() },
            logger: logger
        )
        let group = ServiceGroup(configuration: .init(services: [.init(service: dispatcher)], logger: logger))
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            let start = ContinuousClock.now
            tasks.addTask { try await group.run() }
            while try await pool.query("SELECT EXISTS (SELECT FROM pushReady) OR EXISTS (SELECT FROM pushLeases)")[0].decode(Bool.self) {
                try await Task.sleep(for: .milliseconds(250))
            }
            let seconds = (ContinuousClock.now - start).inSeconds
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            let sent = try await pool.query("SELECT count(*) FROM pushFinished WHERE outcome = 'sent'")[0].decode(Int.self)
            guard sent == deliveries else { throw CommandFailure.check("\(deliveries) were queued and \(sent) sent.") }
            return Double(deliveries) / seconds
        }
    }
}
