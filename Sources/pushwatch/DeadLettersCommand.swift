import ArgumentParser
import Audit
import CommandLineKit
import Delivery
import Foundation
import PushContract

/// `pushwatch dead-letters …`
struct DeadLettersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead-letters",
        abstract: "See deliveries that ended without success, and retry them.",
        subcommands: [List.self, Retry.self]
    )

    /// Which deliveries; the same for both commands.
    struct Selection: ParsableArguments {
        @Option(help: "Only of this send, however old.") var sendId: String?
        @Option(help: "failed, expired or unreachable.") var outcome: String?
        @Option(help: "One of the reason codes, such as provider_5xx.") var reason: String?
        @Option(help: "The provider's own code, such as PayloadTooLarge.") var code: String?
        @Option(help: "Only of this app.") var app: String?
        @Option(help: "How far back, at most 45d; 24h unless given.", transform: CommandDuration.within(.seconds(1)...(.days(45))))
        var since = CommandDuration.hours(24)

        func validate() throws {
            if let outcome, DeadOutcome(rawValue: outcome) == nil {
                throw ValidationError("--outcome must be failed, expired or unreachable.")
            }
            if let reason, ReasonCode(rawValue: reason) == nil {
                throw ValidationError("--reason must be one of \(ReasonCode.allCases.map(\.rawValue).joined(separator: ", ")).")
            }
        }

        var isNarrow: Bool { sendId != nil || outcome != nil || reason != nil || code != nil }

        func filter(now: Timestamp) -> DeadLetterFilter {
            DeadLetterFilter(
                sendId: sendId,
                outcome: outcome.flatMap(DeadOutcome.init),
                reasonCode: reason.flatMap(ReasonCode.init),
                providerErrorCode: code,
                app: app,
                since: sendId == nil ? now - since.duration : Timestamp(seconds: 0),
                until: now + .seconds(60)
            )
        }
    }

    /// `pushwatch dead-letters list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List deliveries that failed, expired or found no device, newest first.",
            discussion: "  pushwatch dead-letters list --code PayloadTooLarge --since 2h"
        )

        @OptionGroup var options: ConfigurationOptions
        @OptionGroup var selection: Selection
        @Option(help: "Rows at most.") var limit = 100
        @Flag(help: "Print JSON, as GET /sends/dead returns it.") var json = false

        func validate() throws {
            guard (1...100_000).contains(limit) else { throw ValidationError("--limit must be from 1 to 100000.") }
        }

        func run() async throws {
            try await options.withPool { pool, _ in
                let store = SendStore(pool: pool, record: { _, _ in })
                let letters = try await store.deadLetters(selection.filter(now: .now()), limit: limit)
                if json { return try Terminal.printLine(json: DeadLettersDocument(letters)) }
                if letters.isEmpty { return Terminal.printLine("None.") }
                let rows = letters.map { letter in
                    [
                        "\(letter.finishedAt)", letter.sendId, letter.uid, letter.deviceId ?? "token", "\(letter.provider)",
                        letter.outcome.rawValue, letter.reasonCode?.rawValue ?? "–", letter.providerErrorCode ?? "–", "\(letter.attempts)",
                    ]
                }
                let header = ["ENDED", "SEND", "UID", "DEVICE", "PROVIDER", "OUTCOME", "REASON", "CODE", "ATTEMPTS"]
                Terminal.printLine(TextTable(header, rows).text)
            }
        }
    }

    /// `pushwatch dead-letters retry`
    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Put the deliveries that match back into their queues.",
            discussion: """
                  pushwatch dead-letters retry --send-id goal-17
                  pushwatch dead-letters retry --outcome expired --since 2h --expires-in 30m

                A retry is the next attempt of the same delivery. What has expired may be attempted for --expires-in; what was cancelled stays \
                cancelled.
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @OptionGroup var selection: Selection
        @Option(
            help: "How long what has expired may be attempted, at most 28d; 1h unless given.",
            transform: CommandDuration.within(.minutes(1)...(.days(28)))
        )
        var expiresIn = CommandDuration.hours(1)
        @Option(help: "Who retries them.") var author: String = NSUserName()
        @Flag(help: "Only count what matches, at most 100000. Deliveries of cancelled sends are counted, but not retried.") var dryRun =
            false
        @Flag(help: "Print JSON: the number of deliveries.") var json = false

        func validate() throws {
            guard selection.isNarrow else {
                throw ValidationError("Name what to retry: --send-id, --outcome, --reason or --code.")
            }
        }

        func run() async throws {
            try await options.withPool { pool, _ in
                let store = SendStore(pool: pool, record: { _, _ in })
                let filter = selection.filter(now: .now())
                let total: Int
                if dryRun {
                    total = try await store.deadLetters(filter, limit: 100_000).count
                } else {
                    total = try await store.retryAllDeadLetters(filter, lifetime: expiresIn.duration, recording: AuditRecorder(by: author))
                }
                if json { return try Terminal.printLine(json: [dryRun ? "matching" : "retried": total]) }
                Terminal.printLine(dryRun ? "\(total) deliveries match." : "\(total) deliveries are in their queues again.")
            }
        }
    }
}
