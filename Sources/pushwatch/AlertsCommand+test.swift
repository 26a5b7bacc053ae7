import AlertRules
import Alerting
import ArgumentParser
import Audit
import CommandLineKit
import Foundation
import Postgres
import PushContract
import Server

extension AlertsCommand {
    /// `pushwatch alerts test`
    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send a test notification through the running service, and show how long each receiver took.",
            discussion: """
                Writes a marked alert and its resolution for every configured receiver, and for those that were notified within the last 7 days. \
                The running service delivers both, as it delivers every alert; times are measured from the transition to the receiver's response. \
                Exits with 1 if a receiver did not accept both in time, or if something could not be tested: no service is running, or no \
                receiver is configured.

                It notifies people as a real alert of that severity does: announce it.
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @Option(
            name: .customLong("receiver"),
            help: ArgumentHelp("Only this receiver; repeat it for several. All unless given.", valueName: "name")
        )
        var receivers: [String] = []
        @Option(help: "critical, page, ticket or info.") var severity: String = "page"
        @Option(
            help: "How long to wait for each of the two notifications; 60s unless given.",
            transform: CommandDuration.within(.seconds(1)...(.hours(1)))
        )
        var timeout = CommandDuration.seconds(60)
        @Option(help: "Who tests them.") var author: String = NSUserName()
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            guard let severity = Severity(rawValue: severity) else {
                throw ValidationError("--severity is critical, page, ticket or info.")
            }
            try await options.withPool(connections: 2) { pool, configuration in
                let registry = ReceiverRegistry(configuration)
                if let fault = registry.fault { throw CommandFailure.check(fault) }
                let names = try await names(registry.set.receivers.map(\.name), pool)
                guard try await TestNotification.isDelivering(on: pool) else {
                    throw CommandFailure.check(
                        "No running service delivers notifications from this database. Start `pushwatch serve` with the role `alert`, and try again."
                    )
                }
                try report(try await sendTest(names, severity, pool))
            }
        }

        /// The running service may have receivers that this command's configuration lacks, such as a webhook of its environment.
        private func names(_ configured: [String], _ pool: PostgresPool) async throws -> [String] {
            let notified = try await TestNotification.receivers(notifiedSince: .now() - .seconds(7 * 86_400), on: pool)
            let known = configured + notified.filter { !configured.contains($0) }
            if let unknown = receivers.first(where: { !known.contains($0) }) {
                throw CommandFailure.check("No receiver is called `\(unknown)`; there are \(known.joined(separator: ", ")).")
            }
            guard !known.isEmpty else {
                throw CommandFailure.check("No receiver is configured: nobody would be notified. See alerts/receivers.example.yml.")
            }
            return receivers.isEmpty ? known : receivers
        }

        private func sendTest(
            _ names: [String],
            _ severity: Severity,
            _ pool: PostgresPool
        ) async throws -> [TestNotification.TestNotificationResult] {
            let interruption = await Interruption()
            let id = try await TestNotification.fire(receivers: names, severity: severity, recording: AuditRecorder(by: author), on: pool)
            let results: [TestNotification.TestNotificationResult]?
            do {
                results = try await interruption.until {
                    try await settled(id, "firing", pool)
                    try await TestNotification.resolve(id, at: .now(), on: pool)
                    try await settled(id, "resolved", pool)
                    return try await TestNotification.results(of: id, on: pool)
                }
            } catch {
                try? await end(id, pool)
                throw error
            }
            try await end(id, pool)
            guard let results else {
                throw CommandFailure(message: "Interrupted. The test alert is resolved.", code: Interruption.exitCode)
            }
            return results
        }

        /// Whatever became of the test, its alert does not stay open: who has been notified of it is notified of its end by the service.
        private func end(_ id: UUID, _ pool: PostgresPool) async throws {
            try await TestNotification.withdraw(id, at: .now(), on: pool)
            try await TestNotification.resolve(id, at: .now(), on: pool)
        }

        /// Waits until every notification of this kind is settled or the time is up.
        private func settled(_ id: UUID, _ kind: String, _ pool: PostgresPool) async throws {
            let deadline = ContinuousClock.now + timeout.duration
            while true {
                let results = try await TestNotification.results(of: id, on: pool).filter { $0.kind == kind }
                let waiting = results.count { !$0.isSettled }
                if Terminal.isInteractive, !json {
                    Terminal.progress("\(kind): \(results.count - waiting) notified, \(waiting) pending")
                }
                if waiting == 0 || ContinuousClock.now >= deadline {
                    if Terminal.isInteractive, !json { Terminal.progress("", isLast: true) }
                    return
                }
                try await Task.sleep(for: .milliseconds(100))
            }
        }

        private func report(_ results: [TestNotification.TestNotificationResult]) throws {
            if json {
                try Terminal.printLine(json: results)
            } else {
                let rows = results.map {
                    [
                        $0.receiver, $0.kind, $0.state, $0.state == "delivered" ? "\($0.latencyMs ?? 0) ms" : "–", "\($0.attempts)",
                        $0.error ?? ($0.isSettled || $0.attempts > 0 ? "" : "the running service has no receiver of this name, or is busy"),
                    ]
                }
                Terminal.printLine(TextTable(["RECEIVER", "KIND", "STATE", "LATENCY", "ATTEMPTS", "ERROR"], rows).text)
            }
            let failed = Set(results.filter { $0.state != "delivered" }.map(\.receiver)).sorted()
            guard failed.isEmpty else { throw CommandFailure.check("Not reached: \(failed.joined(separator: ", ")).") }
        }
    }
}
