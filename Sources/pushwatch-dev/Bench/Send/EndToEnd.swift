import CommandLineKit
import Foundation
import Logging
import Postgres
import PushContract
import ServiceKit

/// Sends posted over HTTP until each has its durable attempt, between two measurements of the bare provider.
struct EndToEnd {
    let settings: SendBench.Settings
    let database: BenchDatabase
    let simulator: BenchSimulator
    let other: OtherSender?
    /// Of the measurement of the full rate.
    private static let turns = 3

    func run(_ connections: Int) async throws -> SendBenchReport.EndToEnd {
        note(connections, "bare")
        let bare = BareProvider(settings: simulator.settings, connections: connections, inFlight: settings.inFlight)
        let before = try await bare.run(requests: settings.sends, simulator: simulator.use)
        var measured = try await measure(connections)
        note(connections, "bare again")
        let after = try await bare.run(requests: settings.sends, simulator: simulator.use)
        for slice in [before, after] where slice.failed > 0 {
            throw CommandFailure.check("\(slice.failed) bare requests failed: \(slice.failure ?? "")")
        }
        measured.barePerSecond = (before.perSecond + after.perSecond) / 2
        measured.barePerCoreSecond = (before.perCoreSecond + after.perCoreSecond) / 2
        measured.ratio = measured.perSecond / measured.barePerSecond
        return measured
    }

    private func note(_ connections: Int, _ step: String) { Terminal.note("\(connections) connections to the provider: \(step)") }

    private func runOther(_ connections: Int, _ requests: Int) async throws -> OtherSender.Slice? {
        guard let other else { return nil }
        note(connections, "the other program")
        return try await other.run(requests: requests, inFlight: settings.inFlight)
    }

    private func measure(_ connections: Int) async throws -> SendBenchReport.EndToEnd {
        note(connections, "starting the server")
        var environment = simulator.settings
        environment["PUSHWATCH_PROVIDERS_CONNECTIONS"] = "\(connections)"
        let server = try await BenchServer(database: database.url, arguments: ["--sends"], environment: environment)
        defer { server.stop() }
        let pool = PostgresPool(
            configuration: PostgresConfiguration(
                url: database.url,
                maxConnections: 2,
                statementTimeout: .seconds(600),
                applicationName: "bench send"
            ),
            logger: Logger(label: "bench")
        )
        defer { pool.close() }
        let load = SendLoad(port: server.port, key: server.key, collapses: settings.collapses)
        // With it and a number a sendId is as long as those that the server makes.
        let run = String(ULID.make(at: .now()).prefix(ULID.length - "-run1-12345".count))
        _ = try await drain(pool, load, settings.sends / 20, run: run + "-warm")
        let postgres = try await ProcessUse.postgres(of: pool)
        let own = ProcessUse(pid: getpid())
        // In turns with the other program: the machine's speed changes within a minute.
        let share = settings.sends / Self.turns
        let sends = share * Self.turns
        func uses() -> [Double] {
            [server.use.cpuSeconds, postgres?.familySeconds, simulator.use.cpuSeconds, own.cpuSeconds].map { $0 ?? 0 }
        }
        var otherTotal = try await runOther(connections, share)
        var spent = [0.0, 0, 0, 0]
        var seconds = 0.0
        for turn in 1...Self.turns {
            note(connections, "end to end, \(share) sends as fast as they are taken, \(turn) of \(Self.turns)")
            let before = uses()
            seconds += try await drain(pool, load, share, run: run + "-run\(turn)")
            for (index, after) in uses().enumerated() { spent[index] += after - before[index] }
            if let slice = try await runOther(connections, share) { otherTotal?.add(slice) }
        }
        try await check(pool, sends, run: run)
        let rate = Double(sends) / seconds
        // The kernel writes to disk after 30 s what was left to it at full speed. Here commits would wait for it, by chance.
        sync()
        note(connections, "end to end, at half that rate")
        let paced = try await load.pace(rate / 2, for: .seconds(settings.seconds), every: settings.interval, run: run + "-half")
        try await settle(pool)
        let (p50, p99) = try await latencies(pool, run: run + "-half", sends: paced)
        let perSend = spent.map { $0 * 1e6 / Double(sends) }
        return SendBenchReport.EndToEnd(
            connections: connections,
            perSecond: rate,
            barePerSecond: 0,
            ratio: 0,
            otherPerSecond: otherTotal?.perSecond,
            otherPerCoreSecond: otherTotal?.perCoreSecond,
            perCoreSecond: 1e6 / max(1, perSend[0] + perSend[1]),
            barePerCoreSecond: 0,
            serverMicroseconds: perSend[0],
            postgresMicroseconds: postgres == nil ? nil : perSend[1],
            simulatorMicroseconds: perSend[2],
            loadMicroseconds: perSend[3],
            pacedPerSecond: rate / 2,
            p50Milliseconds: p50,
            p99Milliseconds: p99
        )
    }

    /// Posts as fast as they are taken; seconds from the first request to the last attempt.
    private func drain(_ pool: PostgresPool, _ load: SendLoad, _ sends: Int, run: String) async throws -> Double {
        let start = ContinuousClock.now
        try await load.post(sends, batch: 200, posters: 4, run: run)
        try await settle(pool)
        return (ContinuousClock.now - start).inSeconds
    }

    /// Each must have been sent, once. Apart from what is measured, as it reads all that was sent before, too.
    private func check(_ pool: PostgresPool, _ sends: Int, run: String) async throws {
        let (sent, rows) = try await pool.query(
            """
            SELECT (SELECT count(*) FROM pushFinished f JOIN pushDeliveries d USING (deliveryId)
                    WHERE d.sendId LIKE \(run + "-run%") AND f.outcome = 'sent'),
                (SELECT count(*) FROM notificationDeliveryAttempts WHERE sendId LIKE \(run + "-run%") AND status = 'sent')
            """
        )[0].decode((Int, Int).self)
        guard sent == sends, rows == sends else {
            throw CommandFailure.check("\(sends) sends were taken, \(sent) are sent and \(rows) have their row.")
        }
    }

    /// Waits until nothing is queued or under way, and gives up when nothing has ended for a minute.
    private func settle(_ pool: PostgresPool) async throws {
        let waiting: Query =
            "SELECT EXISTS (SELECT FROM pushReady) OR EXISTS (SELECT FROM pushLeases) OR EXISTS (SELECT FROM pushScheduled)"
        var ended = -1
        var (now, progress) = (ContinuousClock.now, ContinuousClock.now)
        while try await pool.query(waiting)[0].decode(Bool.self) {
            try await Task.sleep(for: .milliseconds(50))
            guard ContinuousClock.now - now > .seconds(5) else { continue }
            now = .now
            let count = try await pool.query("SELECT count(*) FROM pushFinished")[0].decode(Int.self)
            if count != ended { (ended, progress) = (count, now) }
            if now - progress > .seconds(60) { throw try await stalled(pool) }
        }
    }

    private func stalled(_ pool: PostgresPool) async throws -> CommandFailure {
        let (ready, leased, scheduled) = try await pool.query(
            "SELECT (SELECT count(*) FROM pushReady), (SELECT count(*) FROM pushLeasedDeliveries), (SELECT count(*) FROM pushScheduled)"
        )[0].decode((Int, Int, Int).self)
        return .check("No send has ended for a minute: \(ready) are ready, \(leased) leased and \(scheduled) scheduled.")
    }

    private func latencies(_ pool: PostgresPool, run: String, sends: Int) async throws -> (Double, Double) {
        let (count, p50, p99) = try await pool.query(
            """
            SELECT count(*), 1000 * percentile_cont(0.5) WITHIN GROUP (ORDER BY took), 1000 * percentile_cont(0.99) WITHIN GROUP (ORDER BY took)
            FROM (
                SELECT extract(epoch FROM f.finishedAt - d.createdAt)::float8 AS took
                FROM pushDeliveries d JOIN pushFinished f USING (deliveryId) WHERE d.sendId LIKE \(run + "-%")
            ) x
            """
        )[0].decode((Int, Double, Double).self)
        guard count == sends else { throw CommandFailure.check("\(sends) sends were taken and \(count) ended.") }
        return (p50, p99)
    }
}
