import Alerting
import ArgumentParser
import Audit
import CommandLineKit
import Foundation
import PushContract

/// `pushwatch exclusions …`
struct ExclusionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exclusions",
        abstract: "Exclude periods from what baselines are computed of.",
        subcommands: [List.self, Add.self, Remove.self]
    )

    /// `pushwatch exclusions list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the excluded periods.")

        @OptionGroup var options: ConfigurationOptions
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            try await options.withPool { pool, _ in
                let all = try await ExclusionStore.all(on: pool)
                if json {
                    return try Terminal.printLine(json: all.map(ExclusionDocument.init))
                }
                guard !all.isEmpty else { return Terminal.printLine("No period is excluded.") }
                Terminal.printLine(
                    TextTable(["FROM", "TO", "AUTHOR", "REASON"], all.map { [$0.from.rfc3339, $0.to.rfc3339, $0.author, $0.reason] }).text
                )
            }
        }
    }

    /// `pushwatch exclusions add`
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Exclude a period from the baselines.",
            discussion: """
                  pushwatch exclusions add --from 2026-01-05T10:00:00Z --to 2026-01-09T08:30:00Z --reason "tokens of a broken restore"

                For an incident of more than three days, which would shift the median of seven days. Every rule with a baseline ignores these \
                minutes from the next evaluation on, and so does `pushwatch rules backtest`. Alerts that fired already do not change.
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @Option(help: "The first minute, such as 2026-01-05T10:00:00Z, or a day (UTC).") var from: String
        @Option(help: "The first minute after the period; now unless given.") var to: String?
        @Option(help: "What happened.") var reason: String
        @Option(help: "Who adds it.") var author: String = NSUserName()
        @Flag(help: "Print JSON, as `pushwatch exclusions list` does.") var json = false

        func validate() throws {
            _ = try period()
            guard !reason.isEmpty else { throw ValidationError("--reason must not be empty.") }
        }

        private func period() throws -> (start: Timestamp, end: Timestamp) {
            let start = try ExclusionsCommand.minute(from, "--from")
            let end = try to.map { try ExclusionsCommand.minute($0, "--to") } ?? Timestamp.now().flooredToMinute()
            guard end > start else { throw ValidationError("--to must be after --from.") }
            return (start, end)
        }

        func run() async throws {
            let (start, end) = try period()
            try await options.withPool { pool, _ in
                let exclusion = ExcludedTime(from: start, to: end, reason: reason, author: author)
                try await ExclusionStore.add(exclusion, recording: AuditRecorder(by: author), on: pool)
                if json { return try Terminal.printLine(json: ExclusionDocument(exclusion)) }
                Terminal.printLine("\(start.rfc3339) to \(end.rfc3339) is excluded from the baselines.")
            }
        }
    }

    /// `pushwatch exclusions remove FROM`
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Include an excluded period in the baselines again.")

        @OptionGroup var options: ConfigurationOptions
        @Argument(help: "Its first minute, as `pushwatch exclusions list` shows it.") var from: String
        @Option(help: "Who removes it.") var author: String = NSUserName()
        @Flag(help: "Print JSON: its first minute.") var json = false

        func validate() throws { _ = try ExclusionsCommand.minute(from, "FROM") }

        func run() async throws {
            let start = try ExclusionsCommand.minute(from, "FROM")
            try await options.withPool { pool, _ in
                guard try await ExclusionStore.remove(from: start, recording: AuditRecorder(by: author), on: pool) > 0 else {
                    throw CommandFailure.check("No exclusion begins at \(start.rfc3339); `pushwatch exclusions list` lists them.")
                }
                if json { return try Terminal.printLine(json: ["removed": start.rfc3339]) }
                Terminal.printLine("The period from \(start.rfc3339) is included again.")
            }
        }
    }

    private static func minute(_ text: String, _ option: String) throws -> Timestamp {
        guard let moment = Timestamp(commandLine: text) else {
            throw ValidationError(
                "\(option) \"\(text)\" is not an RFC 3339 date-time such as 2026-01-05T10:00:00Z, nor a date such as 2026-01-05."
            )
        }
        return moment.flooredToMinute()
    }
}
