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

/// A send queue in a scratch database, and this process, which sends what is in it.
struct BenchQueue {
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

        var executor: (any TaskExecutor)? { next?.executor }

        /// How many it has taken.
        var count: Int { taken.load(ordering: .relaxed) }

        func send(_ message: PushMessage, to target: PushTarget, attemptId: String, now: Timestamp) async -> PushOutcome {
            let outcome = await next?.send(message, to: target, attemptId: attemptId, now: now)
            taken.add(1, ordering: .relaxed)
            return outcome ?? .sent(messageId: nil, httpStatus: 200, latency: .milliseconds(1))
        }
    }

    let database: BenchDatabase
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

    func store(_ pool: PostgresPool, _ cipher: TokenCipher) -> SendStore {
        SendStore(pool: pool, cipher: cipher, record: AttemptRecording.recorder(slot: 300, logger: logger))
    }

    /// While a dispatcher sends what is queued.
    ///
    /// - Parameter body: is given the provider and a function for what has been used up so far.
    func sending<Result: Sendable>(
        _ pool: PostgresPool,
        _ cipher: TokenCipher,
        _ body: (CountingProvider, () throws -> Use) async throws -> Result
    ) async throws -> Result {
        let provider = CountingProvider(next: try provider?.provider())
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
            let result = try await body(provider) { Use(at: .now, cpuSeconds: [own.cpuSeconds, postgres?.familySeconds]) }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            return result
        }
    }
}

extension BenchQueue.Rate {
    /// - Parameter count: sends between the two.
    init(of count: Int, from start: BenchQueue.Use, to end: BenchQueue.Use) {
        let spent = zip(end.cpuSeconds, start.cpuSeconds).map { after, before in after.flatMap { after in before.map { after - $0 } } }
        perSecond = Double(count) / (end.at - start.at).inSeconds
        perCoreSecond = spent.contains(nil) ? nil : Double(count) / spent.compactMap(\.self).reduce(0, +)
    }
}
