import Alerting
import ArgumentParser
import Audit
import CommandLineKit
import Foundation
import PushContract
import Server

/// `pushwatch receivers …`
struct ReceiversCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receivers",
        abstract: "See whether notifications reach their receivers, and retry those that a receiver rejected.",
        discussion: "`pushwatch alerts test` sends a test notification to every receiver.",
        subcommands: [List.self, Retry.self]
    )

    /// `pushwatch receivers list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the receivers: the last delivery, what is pending, and what is dead-lettered.",
            discussion: """
                Receivers are those of this configuration, and those that notifications were addressed to. CONFIGURED HERE is `no` for a \
                receiver that the configuration of this command does not have: a running service may have it.
                """
        )

        struct Row: Encodable {
            var configured: Bool
            var summary: ReceiverSummary

            enum CodingKeys: CodingKey { case configured }

            func encode(to encoder: any Encoder) throws {
                try summary.encode(to: encoder)
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(configured, forKey: .configured)
            }
        }

        @OptionGroup var options: ConfigurationOptions
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            try await options.withPool { pool, configuration in
                let registry = ReceiverRegistry(configuration)
                if let fault = registry.fault { throw CommandFailure.check(fault) }
                let configured = registry.set.receivers.map(\.name)
                let used = try await NotificationHistory.receivers(on: pool)
                let unused = configured.filter { name in !used.contains { $0.receiver == name } }.map { ReceiverSummary(receiver: $0) }
                let rows = (used + unused).sorted { $0.receiver < $1.receiver }
                    .map { Row(configured: configured.contains($0.receiver), summary: $0) }
                if json { return try Terminal.printLine(json: rows) }
                guard !rows.isEmpty else { return Terminal.printLine("No receiver is configured.") }
                show(rows)
            }
        }

        private func show(_ rows: [Row]) {
            let cells = rows.map { row in
                [
                    row.summary.receiver, row.configured ? "yes" : "no", row.summary.lastDeliveredAt?.rfc3339 ?? "never",
                    "\(row.summary.pending)", "\(row.summary.deadLettered)", row.summary.lastError ?? "",
                ]
            }
            let header = ["RECEIVER", "CONFIGURED HERE", "LAST DELIVERED", "PENDING", "DEAD-LETTERED", "LAST ERROR"]
            Terminal.printLine(TextTable(header, cells).text)
        }
    }

    /// `pushwatch receivers retry NAME`
    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send the notifications again that a receiver rejected, once it is fixed."
        )

        @OptionGroup var options: ConfigurationOptions
        @Argument(help: "The receiver's name, as `pushwatch receivers list` shows it.") var receiver: String
        @Option(help: "Who retries them.") var author: String = NSUserName()
        @Flag(help: "Print JSON: the number of notifications.") var json = false

        func run() async throws {
            try await options.withPool { pool, configuration in
                let registry = ReceiverRegistry(configuration)
                let known = Set(try await NotificationHistory.receivers(on: pool).map(\.receiver) + registry.set.receivers.map(\.name))
                // A mistyped name would look like a receiver that rejected nothing.
                guard known.contains(receiver) else {
                    if let fault = registry.fault { throw CommandFailure.check(fault) }
                    let names = known.isEmpty ? "none is configured" : "expected one of \(known.sorted().joined(separator: ", "))"
                    throw CommandFailure.check("There is no receiver `\(receiver)`: \(names).")
                }
                let count = try await NotificationHistory.retry(receiver, recording: AuditRecorder(by: author), on: pool)
                if json { return try Terminal.printLine(json: ["retried": count]) }
                Terminal.printLine(
                    count == 0
                        ? "No notification for \(receiver) is dead-lettered." : "\(count) notifications for \(receiver) are pending again."
                )
            }
        }
    }
}

extension ReceiverRegistry {
    /// The receivers of the service with this configuration.
    convenience init(_ configuration: ServerConfiguration) {
        self.init(
            fixed: configuration.receivers,
            file: configuration.alertsDirectory + "/receivers.yml",
            environment: ProcessInfo.processInfo.environment
        )
    }
}
