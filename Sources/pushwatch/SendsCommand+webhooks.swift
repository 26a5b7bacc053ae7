import ArgumentParser
import Audit
import CommandLineKit
import Delivery
import Foundation
import PushContract

extension SendsCommand {
    /// `pushwatch sends webhooks`
    struct Webhooks: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the webhooks that receive outcomes: how far each has come, and what is wrong.",
            discussion:
                "Webhooks are configured in the file of sends.webhooksFile. A webhook is listed once an instance has looked for its outcomes."
        )

        @OptionGroup var options: ConfigurationOptions
        @Flag(help: "Print JSON, as GET /sends/webhooks returns it.") var json = false

        private static func row(_ webhook: OutcomeWebhookStatus) -> [String] {
            func time(_ timestamp: Timestamp?) -> String { timestamp.map { "\($0)" } ?? "-" }
            let failures = webhook.failures == 0 ? "-" : "\(webhook.failures) since \(time(webhook.failingSince))"
            let deadLettered = webhook.deadLettered == 0 ? "-" : "\(webhook.deadLettered)"
            return [
                webhook.name, webhook.cursor, time(webhook.waitingSince), time(webhook.deliveredAt), failures, webhook.lastError ?? "-",
                deadLettered,
            ]
        }

        func run() async throws {
            try await options.withPool(connections: 1) { pool, _ in
                let webhooks = try await OutcomeWebhookStore(pool: pool).all()
                if json { return try Terminal.printLine(json: OutcomeWebhooksDocument(webhooks)) }
                if webhooks.isEmpty {
                    return Terminal.printLine("No webhook receives outcomes. Configure one in the file of sends.webhooksFile.")
                }
                let rows = webhooks.map(Self.row)
                let header = ["NAME", "CURSOR", "WAITING SINCE", "LAST DELIVERED", "FAILURES", "LAST ERROR", "DEAD-LETTERED"]
                Terminal.printLine(TextTable(header, rows).text)
                for webhook in webhooks {
                    guard let after = webhook.deadLetteredAfter else { continue }
                    Terminal.printLine(
                        "To send the last dead-lettered outcomes again: pushwatch sends replay \(webhook.name) --after \(after)"
                    )
                }
            }
        }
    }

    /// `pushwatch sends replay NAME --after CURSOR`
    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send a webhook everything after a cursor once more.",
            discussion: """
                The receiver knows repeated outcomes by their cursors.

                  pushwatch sends replay orders --after 1204-3
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @Argument(help: "As pushwatch sends webhooks lists it.") var name: String
        @Option(help: "Who asks for it, for the audit.") var author: String = NSUserName()
        @Option(help: "Cursor after which outcomes are sent again; 0-0 is the beginning of what is kept.", transform: SendsCommand.cursor)
        var after: OutcomeCursor

        func run() async throws {
            try await options.withPool(connections: 1) { pool, _ in
                let store = OutcomeWebhookStore(pool: pool)
                guard let (before, now) = try await store.replay(name, after: after, recording: AuditRecorder(by: author)) else {
                    throw CommandFailure.check("There is no webhook named \(name): `pushwatch sends webhooks` lists them.")
                }
                Terminal.printLine("\(name) is sent the outcomes behind \(now.cursor) again; it was at \(before.cursor).")
            }
        }
    }
}
