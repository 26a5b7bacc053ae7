import AlertRules
import Alerting
import ArgumentParser
import CommandLineKit
import Foundation
import HTTPClient
import Logging
import Postgres
import PushContract
import Server

extension AlertsCommand {
    /// `pushwatch alerts test [RECEIVER…]`
    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send a test notification to every configured receiver, and show how long each took.",
            discussion: """
                Sends a marked alert and its resolution, and lists receivers used recently that are missing from this configuration. A \
                running service delivers both; without one, this command does. Times are measured from the transition to the receiver's \
                response. Exits with 1 if a receiver did not accept both notifications in time.

                It notifies people as a real alert of that severity does: announce it.
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @Argument(help: ArgumentHelp("Only these receivers; all unless given.", valueName: "receiver")) var receivers: [String] = []
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
            try await options.withPool(connections: 4) { pool, configuration in
                let registry = ReceiverRegistry(configuration)
                if let fault = registry.fault { throw CommandFailure.check(fault) }
                let known = registry.set.receivers.map(\.name)
                let names = known.filter { receivers.isEmpty || receivers.contains($0) }
                if let unknown = receivers.first(where: { !names.contains($0) }) {
                    throw CommandFailure.usage("No receiver is called `\(unknown)`; configured are \(known.joined(separator: ", ")).")
                }
                if receivers.isEmpty { try await warnOfOthers(known, pool) }
                let http = CurlClient(configuration: CurlClientConfiguration(), logger: Logger(label: "alerts"))
                let notifier = Notifier(
                    pool: pool,
                    receivers: registry,
                    configuration: NotifierConfiguration(externalURL: configuration.externalURL),
                    logger: Logger(label: "alerts")
                ) { try await http.send($0) }
                let results = try await sendTest(names, severity, notifier, pool)
                try await notifier.release()
                http.shutdown()
                try report(results)
            }
        }

        /// The running service may have receivers that this command's configuration lacks, such as a webhook of its environment.
        private func warnOfOthers(_ known: [String], _ pool: PostgresPool) async throws {
            let notified = try await TestNotification.receivers(notifiedSince: .now() - .seconds(7 * 86_400), on: pool)
            let others = notified.filter { !known.contains($0) }
            guard !others.isEmpty else { return }
            Terminal.printError(
                "Not tested: \(others.joined(separator: ", ")). Alerts of the last 7 days went there, but this configuration does not have it. "
                    + "Pass the configuration of the service (--config, PUSHWATCH_ALERTS_…)."
            )
        }

        private func sendTest(
            _ names: [String],
            _ severity: Severity,
            _ notifier: Notifier,
            _ pool: PostgresPool
        ) async throws -> [TestNotification.TestNotificationResult] {
            let id = try await TestNotification.fire(receivers: names, severity: severity, author: author, at: .now(), on: pool)
            do {
                _ = try await settled(id, "firing", notifier, pool)
            } catch {
                try? await TestNotification.resolve(id, at: .now(), on: pool)
                throw error
            }
            try await TestNotification.resolve(id, at: .now(), on: pool)
            return try await settled(id, "resolved", notifier, pool)
        }

        /// Delivers what no service delivers, until every notification of the test is settled or the time is up.
        private func settled(
            _ id: UUID,
            _ kind: String,
            _ notifier: Notifier,
            _ pool: PostgresPool
        ) async throws -> [TestNotification.TestNotificationResult] {
            let deadline = ContinuousClock.now + timeout.duration
            while true {
                try await notifier.deliverDue()
                let results = try await TestNotification.results(of: id, on: pool)
                let waiting = results.count { $0.kind == kind && !$0.isSettled }
                if Terminal.isInteractive, !json {
                    Terminal.progress("\(kind): \(results.count { $0.kind == kind } - waiting) notified, \(waiting) pending")
                }
                if waiting == 0 || ContinuousClock.now >= deadline {
                    if Terminal.isInteractive, !json { Terminal.progress("", isLast: true) }
                    return results
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
                        $0.error ?? "",
                    ]
                }
                Terminal.printLine(TextTable(["RECEIVER", "KIND", "STATE", "LATENCY", "ATTEMPTS", "ERROR"], rows).text)
            }
            let failed = Set(results.filter { $0.state != "delivered" }.map(\.receiver)).sorted()
            guard failed.isEmpty else { throw CommandFailure.check("Not reached: \(failed.joined(separator: ", ")).") }
        }
    }
}
