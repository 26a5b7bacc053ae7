import AlertRules
import Alerting
import ArgumentParser
import Foundation
import HTTPServer
import PushContract

extension AlertsCommand {
    /// `pushwatch acceptances add ID`
    struct Accept: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say of an alert of a baseline: this is how it is from now on.",
            discussion: """
                pushwatch acceptances add 0198a1b2 --reason "app 4.2 drops the tokens of devices that lie in drawers"

                The alert ends within a minute with the cause `accepted`, and its receivers are told. From then on the rule expects, in this \
                group, the level it fired at: it does not fire again for that, and it fires for three times more (or whatever its multiple \
                is). Within a week real days take the place of what was accepted. Rules, thresholds and other groups stay as they are.

                Do this only when the cause is known and will stay: failures that are called normal page nobody. An incident that goes on \
                wants `pushwatch silences add`, which ends by itself. It can be taken back: `pushwatch acceptances remove`. Live evaluation and \
                `pushwatch rules backtest` decide by it alike, from the minute it was taken up.

                Only alerts of rules with a `baseline` can be accepted, while they fire or within a day after their end.
                """
        )

        @OptionGroup var options: Options
        @Argument(help: "The alert's id, or its beginning.") var id: String
        @Option(help: "Why this is normal from now on; the next person on call will read it.") var reason: String
        @Option(help: "Who says so.") var by: String = NSUserName()

        func run() async throws {
            try await options.withDatabase { pool, _ in
                let alert = try await options.alert(id, on: pool)
                let now = Timestamp.now()
                if let problem = AcceptanceRequest.refusal(of: alert, at: now) { throw CommandFailure.check(problem.detail) }
                let wanted = try AcceptanceRequest(reason: reason)
                let made = try await AcceptanceStore.accept(alert, author: by, reason: wanted.reason, at: now, on: pool)
                guard let accepted = try await AcceptanceStore.current(of: alert.id, on: pool) else {
                    throw CommandFailure.check("The acceptance of this alert was taken back at the same moment.")
                }
                if options.json { return try options.printLine(json: AcceptanceDocument(accepted)) }
                Terminal.printLine(
                    made == nil
                        ? "\(accepted.subject) was accepted before, \(accepted.summary)"
                        : "\(accepted.id.uuidString.lowercased()) \(accepted.subject) is accepted; it takes effect within a minute."
                )
            }
        }
    }

    /// `pushwatch acceptances list`
    struct Acceptances: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "The levels that were called normal and still are.")

        @OptionGroup var options: Options

        func run() async throws {
            try await options.withDatabase { pool, _ in
                let acceptances = try await AcceptanceStore.current(on: pool)
                if options.json { return try options.printLine(json: AcceptanceListDocument(acceptances)) }
                guard !acceptances.isEmpty else { return Terminal.printLine("Nothing was accepted as a new normal.") }
                let rows = acceptances.map {
                    [
                        $0.id.uuidString.lowercased(), $0.rule, $0.group.description, $0.effectiveFrom?.rfc3339 ?? "not taken up yet",
                        $0.author, $0.reason,
                    ]
                }
                Terminal.printLine(TextTable(["ID", "RULE", "GROUP", "FROM", "AUTHOR", "REASON"], rows).text)
            }
        }
    }

    /// `pushwatch acceptances remove ID`
    struct Unaccept: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take an acceptance back. The past counts again as it was; what is too much for it fires again."
        )

        @OptionGroup var options: Options
        @Argument(help: "The acceptance's id, as `pushwatch acceptances list` shows it.") var id: String
        @Option(help: "Who takes it back.") var by: String = NSUserName()

        func run() async throws {
            try await options.withDatabase { pool, _ in
                guard let uuid = UUID(uuidString: id),
                    let undone = try await AcceptanceStore.undo(uuid, by: by, at: .now(), on: pool)
                else { throw CommandFailure.check("There is no standing acceptance with the id `\(id)`.") }
                if !options.json { Terminal.printLine("\(undone.subject) compares with its own past again.") }
            }
        }
    }
}
