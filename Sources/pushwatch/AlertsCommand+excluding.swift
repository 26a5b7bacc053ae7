import Alerting
import ArgumentParser
import Foundation
import PushContract

extension AlertsCommand {
    /// `pushwatch exclusions add`
    struct Exclude: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Leave a stretch of time out of what teaches the baselines.",
            discussion: """
                pushwatch exclusions add --from 2026-01-05T10:00:00Z --to 2026-01-09T08:30:00Z --reason "tokens of a broken restore"

                For an incident of more than three days, which the median of seven days does not forgive. Every rule with a baseline learns without \
                these minutes, from the next evaluation on, and so does `pushwatch rules backtest`. What has fired stays as it is.
                """
        )

        @OptionGroup var options: Options
        @Option(help: "The first minute, such as 2026-01-05T10:00:00Z.") var from: String
        @Option(help: "The first minute after it; otherwise now.") var to: String?
        @Option(help: "What happened.") var reason: String
        @Option(help: "Who says so.") var by: String = NSUserName()

        func run() async throws {
            let start = try Self.moment(from, "--from")
            let end = try to.map { try Self.moment($0, "--to") } ?? Timestamp.now().flooredToMinute()
            guard end > start else { throw ValidationError("--to is not after --from.") }
            guard !reason.isEmpty else { throw ValidationError("--reason says what happened.") }
            try await options.withDatabase { pool, _ in
                try await ExclusionStore.add(ExcludedTime(from: start, to: end, reason: reason, author: by), on: pool)
                Terminal.printLine("\(start.rfc3339) to \(end.rfc3339) teaches no baseline any more.")
            }
        }

        static func moment(_ text: String, _ option: String) throws -> Timestamp {
            guard let moment = Timestamp(rfc3339: text) else {
                throw ValidationError("\(option) is a moment such as 2026-01-05T10:00:00Z, not '\(text)'.")
            }
            return moment.flooredToMinute()
        }
    }

    /// `pushwatch exclusions list`
    struct Exclusions: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "The stretches of time that teach no baseline.")

        @OptionGroup var options: Options

        func run() async throws {
            try await options.withDatabase { pool, _ in
                let all = try await ExclusionStore.all(on: pool)
                if options.json {
                    return try options.printLine(
                        json: all.map { ["from": $0.from.rfc3339, "to": $0.to.rfc3339, "reason": $0.reason, "author": $0.author] }
                    )
                }
                guard !all.isEmpty else { return Terminal.printLine("All of the past teaches.") }
                Terminal.printLine(
                    TextTable(["FROM", "TO", "AUTHOR", "REASON"], all.map { [$0.from.rfc3339, $0.to.rfc3339, $0.author, $0.reason] }).text
                )
            }
        }
    }

    /// `pushwatch exclusions remove FROM`
    struct Unexclude: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Let a stretch of time teach again.")

        @OptionGroup var options: Options
        @Argument(help: "Its first minute, as `exclusions` shows it.") var from: String

        func run() async throws {
            let start = try Exclude.moment(from, "FROM")
            try await options.withDatabase { pool, _ in
                guard try await ExclusionStore.remove(from: start, on: pool) > 0 else {
                    throw CommandFailure.check("No exclusion begins at \(start.rfc3339); `pushwatch exclusions list` lists them.")
                }
                Terminal.printLine("What began at \(start.rfc3339) teaches again.")
            }
        }
    }
}
