import AlertRules
import Alerting
import ArgumentParser
import HTTPClient
import Foundation
import Logging
import Postgres
import PushContract
import Server

extension AlertsCommand {
    /// `pushwatch receivers test`
    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send a marked alert, and its end, through every receiver, and say how long each took.",
            discussion: """
                The running service delivers it; when none does, this command does. Receivers are those of the settings this command is given, so \
                give it the service's. Times run from the transition to the receiver's answer.
                Ends with 1 when a receiver did not take both messages in time. It pages whom a page pages: announce it.
                """
        )

        @OptionGroup var options: Options
        @Option(help: "critical, page, ticket or info.") var severity: String = "page"
        @Option(help: "Only these receivers; repeatable.") var receiver: [String] = []
        @Option(help: "Seconds to wait for each of the two messages.") var timeout = 60

        func run() async throws {
            guard let severity = Severity(rawValue: severity) else {
                throw ValidationError("--severity is critical, page, ticket or info.")
            }
            try await options.withDatabase { pool, configuration in
                let book = ReceiverRegistry(
                    fixed: configuration.receivers,
                    file: configuration.alertsDirectory + "/receivers.yml",
                    environment: ProcessInfo.processInfo.environment
                )
                if let fault = book.fault { throw CommandFailure.check(fault) }
                let known = book.set.receivers.map(\.name)
                let names = known.filter { receiver.isEmpty || receiver.contains($0) }
                if let unknown = receiver.first(where: { !names.contains($0) }) {
                    throw CommandFailure(message: "There is no receiver `\(unknown)`; there are \(known.joined(separator: ", ")).", code: 2)
                }
                if receiver.isEmpty { try await tellOfOthers(known, pool) }
                let http = CurlClient(configuration: CurlClientConfiguration(), logger: Logger(label: "alerts"))
                let notifier = Notifier(
                    pool: pool,
                    receivers: book,
                    configuration: NotifierConfiguration(externalURL: configuration.externalURL),
                    logger: Logger(label: "alerts")
                ) { try await http.send($0) }
                let results = try await sendTest(names, severity, notifier, pool)
                try await notifier.release()
                http.shutdown()
                try report(results)
            }
        }

        /// The service may know receivers that this command's settings do not name: that of `pushwatch up`, or a webhook set in its environment.
        private func tellOfOthers(_ known: [String], _ pool: PostgresPool) async throws {
            let told = try await TestNotification.receivers(notifiedSince: .now() - .seconds(7 * 86_400), on: pool)
            let others = told.filter { !known.contains($0) }
            guard !others.isEmpty else { return }
            Terminal.printError(
                "Not tested: \(others.joined(separator: ", ")). Alerts of the last 7 days went there, and the settings of this command do not name it. "
                    + "Give it those of the service (--config, PUSHWATCH_ALERTS_…)."
            )
        }

        private func sendTest(
            _ names: [String],
            _ severity: Severity,
            _ notifier: Notifier,
            _ pool: PostgresPool
        ) async throws -> [TestNotification.TestNotificationResult] {
            let id = try await TestNotification.fire(receivers: names, severity: severity, author: NSUserName(), at: .now(), on: pool)
            do {
                _ = try await settled(id, "firing", notifier, pool)
            } catch {
                try? await TestNotification.resolve(id, at: .now(), on: pool)
                throw error
            }
            try await TestNotification.resolve(id, at: .now(), on: pool)
            return try await settled(id, "resolved", notifier, pool)
        }

        /// Delivers what no service delivers, until every notification of the test has its answer or the time is up.
        private func settled(_ id: UUID, _ kind: String, _ notifier: Notifier, _ pool: PostgresPool) async throws -> [TestNotification.TestNotificationResult] {
            let deadline = ContinuousClock.now + .seconds(timeout)
            while true {
                try await notifier.deliverDue()
                let results = try await TestNotification.results(of: id, on: pool)
                let waiting = results.count { $0.kind == kind && !$0.isSettled }
                if Terminal.isInteractive, !options.json {
                    Terminal.progress("\(kind): \(results.count { $0.kind == kind } - waiting) told, \(waiting) waiting")
                }
                if waiting == 0 || ContinuousClock.now >= deadline {
                    if Terminal.isInteractive, !options.json { Terminal.progress("", isLast: true) }
                    return results
                }
                try await Task.sleep(for: .milliseconds(100))
            }
        }

        private func report(_ results: [TestNotification.TestNotificationResult]) throws {
            if options.json {
                try options.printLine(json: results)
            } else {
                let rows = results.map {
                    [
                        $0.receiver, $0.kind, $0.state, $0.state == "delivered" ? "\($0.latencyMs ?? 0) ms" : "–", "\($0.attempts)",
                        $0.error ?? "",
                    ]
                }
                Terminal.printLine(TextTable(["RECEIVER", "MESSAGE", "STATE", "LATENCY", "TRIES", "ERROR"], rows).text)
            }
            let failed = Set(results.filter { $0.state != "delivered" }.map(\.receiver)).sorted()
            guard failed.isEmpty else { throw CommandFailure.check("Not reached: \(failed.joined(separator: ", ")).") }
        }
    }
}
