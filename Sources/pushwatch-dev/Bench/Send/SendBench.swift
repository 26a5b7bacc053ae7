import CommandLineKit
import Crypto
import Foundation
import Logging
import Postgres
import ProviderSimulator
import PushContract

/// The measurements of `pushwatch-dev bench send`, one after the other.
struct SendBench {
    enum Part: String, CaseIterable, Sendable {
        case client
        case endToEnd = "end-to-end"
        case drain
    }

    struct Settings: Sendable {
        var parts = Set(Part.allCases)
        var connections = [1, 2, 4]
        /// Of each measurement of a rate.
        var sends = 60_000
        /// Each of them has a `collapseId` of its own.
        var collapses = false
        /// Of the measurement of latency.
        var seconds = 8.0
        /// Between the requests of that measurement.
        var interval = Duration.milliseconds(10)
        var deliveries = 1_000_000
        var workedOff = DrainBench.hour
        var clientRequests = 50_000
        /// Tries under way at once, in the server as in the bare sender.
        var inFlight = 500
        /// A program to compare the end-to-end rates with.
        var compareWith: String?
    }

    let settings: Settings
    let database: BenchDatabase
    let logger: Logger

    func run() async throws -> SendBenchReport {
        var report = SendBenchReport()
        let directory = NSTemporaryDirectory() + "pushwatch_bench_simulator_\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        if !settings.parts.isDisjoint(with: [.client, .endToEnd]) {
            Terminal.note("starting the provider simulator")
            let simulator = try await BenchSimulator(directory: directory)
            defer { simulator.stop() }
            if settings.parts.contains(.client) { try await client(simulator, directory, into: &report) }
            if settings.parts.contains(.endToEnd) {
                let other = try settings.compareWith.map {
                    OtherSender(
                        program: $0,
                        url: simulator.apnsURL + "/3/device/" + SendLoad.token,
                        caFile: simulator.caFile,
                        token: try providerToken(directory)
                    )
                }
                for connections in settings.connections {
                    report.endToEnd.append(
                        try await EndToEnd(settings: settings, database: database, simulator: simulator, other: other).run(connections)
                    )
                }
            }
        }
        if settings.parts.contains(.drain) {
            report.drain = try await DrainBench(
                queue: BenchQueue(database: database, logger: logger),
                deliveries: settings.deliveries,
                workedOff: settings.workedOff
            ).run()
        }
        return report
    }

    /// The client and h2load in turns; and on the way, how much the simulator can take.
    private func client(_ simulator: BenchSimulator, _ directory: String, into report: inout SendBenchReport) async throws {
        let token = try providerToken(directory)
        let bench = ClientBench(
            url: simulator.apnsURL + "/3/device/" + SendLoad.token,
            caFile: simulator.caFile,
            requests: settings.clientRequests,
            inFlight: 100,
            connections: 1,
            rounds: 3,
            token: token,
            compareWith: settings.compareWith
        )
        let before = simulator.use.cpuSeconds ?? 0
        let measured = try await bench.run()
        let spent = (simulator.use.cpuSeconds ?? 0) - before
        let answered = Double(settings.clientRequests * measured.slices.values.reduce(0) { $0 + $1.count })
        report.client = measured
        report.ceiling = .init(
            perCoreSecond: answered / max(0.001, spent),
            h2loadPerSecond: measured.slices[ClientBench.Sender.h2load.rawValue]?.map(\.perSecond).max()
        )
    }

    /// Signed here: what is measured has no part in it.
    private func providerToken(_ directory: String) throws -> String {
        let key = try SimulatorCredentials.kept(in: directory).apns
        func encoded(_ text: some DataProtocol) -> String {
            Data(text).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }
        let head = encoded(Data(#"{"alg":"ES256","kid":"\#(key.keyId)"}"#.utf8))
        let claims = encoded(Data(#"{"iss":"\#(key.teamId)","iat":\#(Timestamp.now().seconds)}"#.utf8))
        let signature = try P256.Signing.PrivateKey(pemRepresentation: key.privateKeyPEM).signature(for: Data("\(head).\(claims)".utf8))
        return "\(head).\(claims).\(encoded(signature.rawRepresentation))"
    }
}
