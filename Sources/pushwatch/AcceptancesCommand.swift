import AlertRules
import Alerting
import ArgumentParser
import Audit
import CommandLineKit
import Foundation
import HTTPServer
import PushContract

/// `pushwatch acceptances …`
struct AcceptancesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "acceptances",
        abstract: "Accept the level of a baseline alert as the new normal.",
        subcommands: [List.self, Add.self, Remove.self]
    )

    /// `pushwatch acceptances list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the acceptances in force.")

        @OptionGroup var options: ConfigurationOptions
        @Flag(help: "Print JSON, as GET /acceptances returns it.") var json = false

        func run() async throws {
            try await options.withPool { pool, _ in
                let acceptances = try await AcceptanceStore.current(on: pool)
                if json { return try Terminal.printLine(json: AcceptanceListDocument(acceptances)) }
                guard !acceptances.isEmpty else { return Terminal.printLine("No acceptance is in force.") }
                let rows = acceptances.map {
                    [
                        $0.id.uuidString.lowercased(), $0.rule, $0.group.description, $0.effectiveFrom?.rfc3339 ?? "not in effect yet",
                        $0.author, $0.reason,
                    ]
                }
                Terminal.printLine(TextTable(["ID", "RULE", "GROUP", "FROM", "AUTHOR", "REASON"], rows).text)
            }
        }
    }

    /// `pushwatch acceptances add ALERT`
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Accept the level at which a baseline alert fired.",
            discussion: """
                  pushwatch acceptances add 0198a1b2 --reason "app 4.2 drops the tokens of unused devices"

                The alert resolves within a minute with the cause `accepted`, and its receivers are notified. From then on the rule expects \
                the accepted level in this group: it fires again at a multiple of that level. Within a week, measured days replace the \
                accepted level. Rules, thresholds and other groups do not change.

                Accept an alert only if its cause is known and permanent: accepted failures notify no one. For an incident that will end, \
                add a silence, which expires. `pushwatch acceptances remove` undoes an acceptance. Live evaluation and \
                `pushwatch rules backtest` apply it alike from the minute it takes effect.

                Only alerts of rules with a `baseline` can be accepted, while they fire and for a day afterwards.
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @Argument(help: "The alert's id, or its beginning.") var alert: String
        @Option(help: "Why this level is normal from now on, for the next person on call.") var reason: String
        @Option(help: "Who accepts it.") var author: String = NSUserName()
        @Flag(help: "Print JSON, as POST /alerts/ID/accept returns it.") var json = false

        func run() async throws {
            try await options.withPool { pool, _ in
                let alert = try await AlertsCommand.alert(alert, on: pool)
                let now = Timestamp.now()
                if let problem = AcceptanceRequest.refusal(of: alert, at: now) { throw CommandFailure.check(problem.detail) }
                let request = try AcceptanceRequest(reason: reason)
                let audit = AuditRecorder(by: author, at: now)
                let made = try await AcceptanceStore.accept(alert, reason: request.reason, recording: audit, on: pool)
                guard let accepted = try await AcceptanceStore.current(of: alert.id, on: pool) else {
                    throw CommandFailure.check("The acceptance of this alert was removed at the same moment.")
                }
                if json { return try Terminal.printLine(json: AcceptanceDocument(accepted)) }
                Terminal.printLine(
                    made == nil
                        ? "\(accepted.subject) was accepted before, \(accepted.summary)"
                        : "\(accepted.id.uuidString.lowercased()) \(accepted.subject) is accepted; it takes effect within a minute."
                )
            }
        }
    }

    /// `pushwatch acceptances remove ID`
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove an acceptance. The rule compares with the measured past again, and fires if that is exceeded."
        )

        @OptionGroup var options: ConfigurationOptions
        @Argument(help: "The acceptance's id, as `pushwatch acceptances list` shows it.") var id: String
        @Option(help: "Who removes it.") var author: String = NSUserName()
        @Flag(help: "Print JSON: the acceptance's id.") var json = false

        func run() async throws {
            try await options.withPool { pool, _ in
                guard let uuid = UUID(uuidString: id),
                    let removed = try await AcceptanceStore.undo(uuid, recording: AuditRecorder(by: author), on: pool)
                else { throw CommandFailure.check("No acceptance in force has the id `\(id)`.") }
                if json { return try Terminal.printLine(json: ["removed": removed.id.uuidString.lowercased()]) }
                Terminal.printLine("The acceptance of \(removed.subject) is removed.")
            }
        }
    }
}
