import CommandLineKit
import Foundation
import Logging
import Postgres
import PushContract

/// The scenarios of `pushwatch-dev bench overload`, one after the other against one server.
struct OverloadBench {
    struct Settings: Sendable {
        var idleConnections: Int
        var slowSenders: Int
        /// Of each scenario but the last.
        var seconds: Double
        /// How long the database hangs.
        var outage: Double
    }

    let settings: Settings
    let server: BenchServer
    let pool: PostgresPool

    func run() async throws -> OverloadReport {
        var report = OverloadReport()
        report.scenarios.append(try await scenario("well-behaved senders alone") { "16 connections, batches of 10" })
        report.scenarios.append(try await idle())
        report.scenarios.append(try await slow())
        report.scenarios.append(try await bombs())
        report.scenarios.append(try await outage())
        report.scenarios.append(try await scenario("well-behaved senders afterwards") { "" })
        return report
    }

    /// Runs well-behaved senders during `load`, which returns its note.
    private func scenario(_ name: String, load: @escaping @Sendable () async throws -> String) async throws -> OverloadReport.Scenario {
        Terminal.note(name)
        server.use.resetPeak()
        async let note = load()
        let (result, seconds) = try await loader(rows: 10, connections: 16).run(seconds: settings.seconds)
        return measured(name, result, seconds, note: try await note)
    }

    private func measured(_ name: String, _ result: Loader.Result, _ seconds: Double, note: String) -> OverloadReport.Scenario {
        let sorted = result.microseconds.sorted()
        func percentile(_ share: Double) -> Double? {
            sorted.isEmpty ? nil : Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]) / 1000
        }
        return OverloadReport.Scenario(
            name: name,
            seconds: seconds,
            peakMemoryMiB: server.use.peakMemory.map { Double($0) / 1_048_576 },
            memoryAfterMiB: server.use.memory.map { Double($0) / 1_048_576 },
            requestsPerSecond: Double(result.requests) / seconds,
            p50Milliseconds: percentile(0.5),
            p99Milliseconds: percentile(0.99),
            refused: result.refused,
            note: [note, result.failure ?? ""].filter { !$0.isEmpty }.joined(separator: "; ")
        )
    }

    private func loader(rows: Int, connections: Int) -> Loader {
        Loader(connections: connections, rows: rows, isSingle: false, path: "/attempts", port: server.port, key: server.key)
    }

    private func idle() async throws -> OverloadReport.Scenario {
        let connections = (0..<settings.idleConnections).compactMap { _ in RawConnection(port: server.port) }
        defer { withExtendedLifetime(connections) {} }
        return try await scenario("idle connections") { [settings] in "\(connections.count) of \(settings.idleConnections) kept open" }
    }

    /// Half of them drip their head, half their body, a byte a second; who is cut off begins again.
    private func slow() async throws -> OverloadReport.Scenario {
        let (port, key, settings) = (server.port, server.key, settings)
        return try await scenario("slow senders") {
            let head = """
                POST /attempts HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer \(key)\r\nContent-Type: application/json\r\n\
                Content-Length: 4000000\r\n
                """
            let deadline = ContinuousClock.now + .milliseconds(Int(settings.seconds * 1000))
            var senders: [(connection: RawConnection, pendingBytes: ArraySlice<UInt8>)] = []
            var (begun, ended) = (0, 0)
            while ContinuousClock.now < deadline {
                senders.removeAll { $0.connection.isEnded }
                ended = begun - senders.count
                while senders.count < settings.slowSenders, let connection = RawConnection(port: port) {
                    begun += 1
                    var pendingBytes = Array((head + "X-Slow: " + String(repeating: "x", count: 4000)).utf8)[...]
                    if begun.isMultiple(of: 2) {
                        guard connection.send(Array((head + "\r\n[").utf8)[...]) else { continue }
                        pendingBytes = ArraySlice(repeating: UInt8(ascii: " "), count: 4000)
                    }
                    senders.append((connection, pendingBytes))
                }
                for index in senders.indices {
                    if senders[index].connection.send(senders[index].pendingBytes.prefix(1)) { senders[index].pendingBytes.removeFirst() }
                }
                try await Task.sleep(for: .seconds(1))
            }
            return "\(settings.slowSenders) at a byte a second, \(ended) cut off"
        }
    }

    /// Each body: 4 MiB that would become a thousand times as much.
    private func bombs() async throws -> OverloadReport.Scenario {
        let (port, key, settings) = (server.port, server.key, settings)
        let member = try await Self.gzippedZeros()
        let body = Array(repeatElement(member, count: (4 << 20) / member.count - 1).joined())
        return try await scenario("gzip bombs") {
            let head = """
                POST /attempts HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer \(key)\r\nContent-Type: application/json\r\n\
                Content-Encoding: gzip\r\nContent-Length: \(body.count)\r\nConnection: close\r\n\r\n
                """
            let request = Array(head.utf8) + body
            let deadline = ContinuousClock.now + .milliseconds(Int(settings.seconds * 1000))
            let statuses = await withTaskGroup(of: [Int: Int].self) { group in
                for _ in 0..<16 {
                    group.addTask {
                        await BenchThread.run { isCancelled in
                            var statuses: [Int: Int] = [:]
                            while !isCancelled(), ContinuousClock.now < deadline, let connection = RawConnection(port: port) {
                                _ = connection.send(request[...])
                                statuses[connection.status() ?? 0, default: 0] += 1
                            }
                            return statuses
                        }
                    }
                }
                return await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
            }
            let inflated = Double(body.count / member.count * Self.memberBytes) / 1_073_741_824
            return String(format: "%.1f MiB that inflate to %.1f GiB; answers: ", Double(body.count) / 1_048_576, inflated)
                + statuses.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key == 0 ? "closed" : "\($0.key)")" }.joined(
                    separator: ", "
                )
        }
    }

    private static let memberBytes = 64 << 20

    private static func gzippedZeros() async throws -> [UInt8] {
        let gzip = try BenchProcess("/bin/sh", arguments: ["-c", "head -c \(memberBytes) /dev/zero | gzip -9"])
        let bytes = Array(try await gzip.output())
        guard bytes.count > 1000 else { throw CommandFailure.environment("`gzip` is not there to make a bomb with.") }
        return bytes
    }

    /// Full load while every process of the database is stopped: worse for memory than a database that refuses connections, since
    /// no call fails at once.
    private func outage() async throws -> OverloadReport.Scenario {
        guard let postgres = try await ProcessUse.postgres(of: pool) else {
            return OverloadReport.Scenario(name: "database stopped", seconds: 0, note: "not measured: the database runs elsewhere")
        }
        Terminal.note("database stopped for \(Int(settings.outage)) s under full load")
        server.use.resetPeak()
        let before = try await stored()
        let settings = settings
        async let pause: Void = {
            try await Task.sleep(for: .seconds(2))
            let family = [postgres.pid] + postgres.children
            for pid in family { kill(pid, SIGSTOP) }
            defer { for pid in family { kill(pid, SIGCONT) } }
            try await Task.sleep(for: .seconds(settings.outage))
        }()
        let (result, seconds) = try await loader(rows: 500, connections: 256).run(seconds: settings.outage + 6)
        try await pause
        let rows = try await stored() - before
        return measured(
            "database stopped \(Int(settings.outage)) s",
            result,
            seconds,
            note: "256 connections, batches of 500; acknowledged \(result.rows), stored \(rows)"
        )
    }

    private func stored() async throws -> Int {
        try await pool.query("SELECT count(*) FROM notificationDeliveryAttempts")[0].decode(Int.self)
    }
}
