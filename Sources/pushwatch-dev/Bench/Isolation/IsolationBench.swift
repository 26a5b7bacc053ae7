import CommandLineKit
import Foundation
import Logging
import Postgres
import PushContract

/// The scenarios of `pushwatch-dev bench isolation`, one after the other: two instances, one database, one provider simulator.
struct IsolationBench {
    struct Settings: Sendable {
        /// APNs sends a second.
        var rate: Double
        var waiting: Int
        var outage: Int
        /// Of each scenario.
        var seconds: Double
    }

    private enum Fault: String, CaseIterable {
        case silent = "FCM accepts and never answers"
        case slow = "FCM answers after 2 s"
        case failing = "FCM answers 503"

        var rule: String {
            switch self {
            case .silent: #"[{"provider":"fcm","hang":true}]"#
            case .slow: #"[{"provider":"fcm","delayMs":2000}]"#
            case .failing: #"[{"provider":"fcm","answer":{"status":503}}]"#
            }
        }
    }

    /// Refused by the provider, each for itself.
    private static let rejected = (1...4).map { String(repeating: "0\($0)", count: 32) }

    let settings: Settings
    let database: BenchDatabase

    func run() async throws -> IsolationReport {
        let directory = NSTemporaryDirectory() + "pushwatch_bench_isolation_\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        Terminal.note("starting the provider simulator and two servers")
        let simulator = try await BenchSimulator(directory: directory)
        defer { simulator.stop() }
        let servers = [
            try await BenchServer(database: database.url, arguments: ["--sends"], environment: simulator.settings),
            try await BenchServer(database: database.url, arguments: ["--sends"], environment: simulator.settings),
        ]
        defer { for server in servers { server.stop() } }
        let pool = PostgresPool(
            configuration: PostgresConfiguration(
                url: database.url,
                maxConnections: 2,
                statementTimeout: .seconds(600),
                applicationName: "bench isolation"
            ),
            logger: Logger(label: "bench")
        )
        defer { pool.close() }
        let deliveries = IsolationDeliveries(load: SendLoad(port: servers[0].port, key: servers[0].key), pool: pool)
        _ = try await paced("warm", deliveries, for: 2)
        var report = IsolationReport()
        report.scenarios.append(try await paced("alone", deliveries, for: settings.seconds))
        for fault in Fault.allCases {
            try await simulator.setFaults(fault.rule)
            try await deliveries.enqueue(settings.waiting, run: "fcm-\(fault)")
            report.scenarios.append(try await paced(fault.rawValue, deliveries, for: settings.seconds))
            try await simulator.setFaults("[]")
            try await deliveries.clear()
        }
        let tokens = Self.rejected.map { "\"\($0)\"" }.joined(separator: ",")
        try await simulator.setFaults(
            #"[{"provider":"apns","tokens":[\#(tokens)],"answer":{"status":403,"reason":"InvalidProviderToken"}}]"#
        )
        try await deliveries.enqueue(rejected: Self.rejected)
        report.scenarios.append(try await paced("four deliveries of the app are refused", deliveries, for: settings.seconds))
        try await simulator.setFaults("[]")
        try await deliveries.clear()
        report.scenarios.append(try await paced("alone afterwards", deliveries, for: settings.seconds))
        report.compare()
        report.outage = try await OutageBench(
            waiting: settings.outage,
            instances: servers.count,
            deliveries: deliveries,
            simulator: simulator
        )
        .run()
        return report
    }

    private func paced(_ name: String, _ deliveries: IsolationDeliveries, for seconds: Double) async throws -> IsolationReport.Scenario {
        Terminal.note(name)
        let run = "apns-" + UUID().uuidString
        let posted = try await deliveries.load.pace(settings.rate, for: .seconds(seconds), run: run)
        return IsolationReport.Scenario(
            name: name,
            normal: try await deliveries.latency(of: .normal, run: run, posted: posted),
            critical: try await deliveries.latency(of: .critical, run: run, posted: posted)
        )
    }
}

extension IsolationReport {
    /// Fills in the ratios: the first and the last scenario are the time alone.
    fileprivate mutating func compare() {
        guard let first = scenarios.first, let last = scenarios.last else { return }
        let normal = (first.normal.p50Milliseconds + last.normal.p50Milliseconds) / 2
        let critical = (first.critical.p99Milliseconds + last.critical.p99Milliseconds) / 2
        for index in scenarios.indices {
            scenarios[index].normalRatio = scenarios[index].normal.p50Milliseconds / normal
            scenarios[index].criticalP99Ratio = scenarios[index].critical.p99Milliseconds / critical
        }
    }
}
