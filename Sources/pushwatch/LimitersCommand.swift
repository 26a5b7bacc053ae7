import ArgumentParser
import Audit
import CommandLineKit
import Delivery
import Foundation
import PushContract

/// `pushwatch limiters …`
struct LimitersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "limiters",
        abstract: "See where too many tokens were rejected at once, and decide what becomes of them.",
        discussion: """
            When a provider rejects more tokens of an app than ever expire at once, the deactivation limiter opens: no further token is \
            deactivated, and the rejected ones become suspect until a person decides. A wrong environment, topic or project rejects every \
            token.
            """,
        subcommands: [List.self, Undo.self, Confirm.self]
    )

    /// `pushwatch limiters list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the open limiters.")

        @OptionGroup var options: ConfigurationOptions
        @Flag(help: "Print JSON, as GET /sends/deactivation-limiters returns it.") var json = false

        func run() async throws {
            try await options.withPool { pool, _ in
                let open = try await DeactivationLimiterStore(pool: pool).open()
                if json { return try Terminal.printLine(json: DeactivationLimitersDocument(open)) }
                if open.isEmpty { return Terminal.printLine("No limiter is open.") }
                let rows = open.map { limiter in
                    [
                        "\(limiter.id)", "\(limiter.scope.provider)", limiter.scope.app, "\(limiter.scope.environment)",
                        "\(limiter.counts.ambiguous + limiter.counts.gone) of \(limiter.counts.total)", limiter.cause,
                        "\(limiter.openedAt)",
                        "\(limiter.deferred)", "\(limiter.deactivated)", limiter.scope.credential,
                    ]
                }
                let header = [
                    "ID", "PROVIDER", "APP", "ENVIRONMENT", "REJECTED", "CAUSE", "SINCE", "DEFERRED", "DEACTIVATED", "CREDENTIAL",
                ]
                Terminal.printLine(TextTable(header, rows).text)
            }
        }
    }

    /// `pushwatch limiters undo ID`
    struct Undo: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "The configuration was wrong: the tokens become active again, and the limiter closes."
        )

        @OptionGroup var decision: Decision

        func run() async throws {
            try await decision.run(.undo, "active again")
        }
    }

    /// `pushwatch limiters confirm ID`
    struct Confirm: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "The rejections were right: deactivate the deferred tokens. The limiter does not open again for a day."
        )

        @OptionGroup var decision: Decision

        func run() async throws {
            try await decision.run(.confirm, "inactive")
        }
    }

    /// What both decisions take.
    struct Decision: ParsableArguments {
        @OptionGroup var options: ConfigurationOptions
        @Argument(
            help: "The limiter's id, as `pushwatch limiters list` shows it.",
            transform: CommandID.shown(by: "pushwatch limiters list")
        )
        var id: Int64
        @Option(help: "Who decides.") var author: String = NSUserName()
        @Flag(help: "Print JSON: the number of tokens.") var json = false

        func run(_ decision: DeactivationLimiterStore.Decision, _ state: String) async throws {
            try await options.withPool { pool, _ in
                let store = DeactivationLimiterStore(pool: pool)
                guard let tokens = try await store.close(id, decision, recording: AuditRecorder(by: author)) else {
                    throw CommandFailure.check("No open limiter has the id \(id).")
                }
                if json { return try Terminal.printLine(json: ["tokens": tokens]) }
                Terminal.printLine("\(tokens) tokens are \(state).")
            }
        }
    }
}
