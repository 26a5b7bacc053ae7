import Attempts
import CommandLineKit
import Delivery
import Foundation
import LiveActivities
import Logging
import Postgres
import PushContract
import ServiceKit
import ServiceLifecycle

/// The measurement of `pushwatch-dev bench live`: an update every two seconds to many tokens, then as many starts at the same time.
struct LiveBench {
    struct Settings: Sendable {
        var tokens: Int
        var starts: Int
        var seconds: Double
        var interval = Duration.seconds(2)
        var startsPerSecond: Double
    }

    let settings: Settings
    let database: BenchDatabase
    let logger: Logger

    func run() async throws -> LiveBenchReport {
        let pool = PostgresPool(
            configuration: PostgresConfiguration(
                url: database.url,
                maxConnections: 10,
                statementTimeout: .seconds(120),
                applicationName: "bench"
            ),
            logger: logger
        )
        defer { pool.close() }
        _ = try await Migrator(
            configuration: PostgresConfiguration(url: database.url, maxConnections: 1),
            directory: try ProjectFiles.locate("sql/migrations"),
            logger: logger
        ).migrate()
        try await PartitionMaintenance(pool: pool, logger: logger).maintain()
        let cipher = TokenCipher(.random())
        let fixture = LiveFixture(pool: pool, cipher: cipher)
        Terminal.note("storing \(settings.tokens) activities and \(settings.starts) followers")
        try await fixture.running(0..<settings.tokens, of: "on", now: .now())
        try await fixture.followers(1_000_000..<(1_000_000 + settings.starts), of: "next", now: .now())
        try await fixture.score("next", phase: "scheduled", runs: 0, now: .now())
        try await pool.execute("ANALYZE")
        let apns = PacedAPNs(slowEvery: 20, deadEvery: 50)
        let wake = WakeSignal()
        let queueWake = WakeSignal()
        let service = LiveService(engine: engine(pool, cipher, apns, queueWake), wake: wake, logger: logger)
        let dispatcher = dispatcher(pool, cipher, apns, queueWake)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await service.run() }
            group.addTask { try await dispatcher.run() }
            Terminal.note("an update every \(settings.interval) for \(Int(settings.seconds)) s")
            try await play(fixture, apns, wake, for: settings.seconds)
            let alone = apns.tally
            Terminal.note("the same, while \(settings.starts) starts are released")
            let began = ContinuousClock.now
            try await fixture.score("next", phase: "live", runs: 1, now: .now())
            wake.signal()
            let limit = Double(settings.starts) / settings.startsPerSecond * 2 + 20
            while apns.tally.starts < settings.starts, (ContinuousClock.now - began).inSeconds < limit {
                try await play(fixture, apns, wake, for: settings.interval.inSeconds)
            }
            try await play(fixture, apns, wake, for: settings.interval.inSeconds * 2)
            let both = apns.tally
            try await settle(pool, apns)
            let report = try await LiveBenchReport(settings, alone: alone, both: both, pool: pool, apns: apns)
            group.cancelAll()
            return report
        }
    }

    /// What is under way is answered and written: a slow token takes six seconds for each state, and may just have begun.
    private func settle(_ pool: PostgresPool, _ apns: PacedAPNs) async throws {
        let end = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(500))
            let tally = apns.tally
            let rows = try await LiveBenchReport.rows(pool)
            let newest = tally.newest.values.max()
            let isReported = (0..<settings.tokens).allSatisfy { apns.isDead($0) || tally.newest[$0] == newest }
            if tally.underWay.isEmpty, isReported, rows >= tally.updates + tally.starts { return }
        }
    }

    private func play(_ fixture: LiveFixture, _ apns: PacedAPNs, _ wake: WakeSignal, for seconds: Double) async throws {
        let end = ContinuousClock.now + .seconds(seconds)
        var turn = ContinuousClock.now
        while ContinuousClock.now < end {
            try await fixture.score("on", phase: "live", runs: Int.random(in: 1...100_000), now: .now())
            let newest = try await fixture.newest("on")
            apns.note(newest.timestamp, builtAt: newest.builtAt)
            wake.signal()
            turn += settings.interval
            try await Task.sleep(until: turn)
        }
    }

    /// Sends the starts.
    private func dispatcher(_ pool: PostgresPool, _ cipher: TokenCipher, _ apns: PacedAPNs, _ wake: WakeSignal) -> SendDispatcher {
        let kinds = QueuedKinds([LiveStart(pool: pool, cipher: cipher), LiveEnd(pool: pool, cipher: cipher)], logger: logger)
        let store = SendStore(pool: pool, cipher: cipher, kinds: kinds, record: AttemptRecording.recorder(slot: 301, logger: logger))
        return SendDispatcher(store: store, throttles: ThrottleStore(pool: pool), lookup: { _, _, _ in apns }, wake: wake, logger: logger)
    }

    private func engine(_ pool: PostgresPool, _ cipher: TokenCipher, _ apns: PacedAPNs, _ queueWake: WakeSignal) -> LiveEngine {
        let record = AttemptRecording.recorder(slot: 300, logger: logger)
        var configuration = LiveConfiguration()
        configuration.policy.perSecond = settings.startsPerSecond
        let stores = LiveStores(pool: pool, policy: configuration.policy, cipher: cipher, record: record)
        return LiveEngine(configuration: configuration, stores: stores, lookup: { _, _, _ in apns }, queueWake: queueWake, logger: logger)
    }
}
