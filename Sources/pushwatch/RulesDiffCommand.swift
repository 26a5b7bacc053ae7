import AlertRules
import Alerting
import ArgumentParser
import CommandLineKit

/// `pushwatch rules diff OLD NEW`
struct RulesDiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Show which alerts a change of rules adds and removes on stored history.",
        discussion: """
            Backtests the rules of both alerts directories that decide differently, notify differently (severity, labels, suppressed_by, and \
            receivers.yml where both have one) or are suppressed by a rule that changed, and prints Markdown for a comment on the change. \
            Exits with 0 if the alerts and their notifications are the same, and with 1 if one was added, removed or moved, or notifies others.
            """
    )

    @Argument(help: "The alerts directory as it is.") var old: String
    @Argument(help: "The alerts directory as it would be.") var new: String
    @OptionGroup var history: HistoryOptions

    func run() async throws {
        let before = try AlertsLocation.rules(in: old)
        let after = try AlertsLocation.rules(in: new)
        let (oldReceivers, newReceivers) = (try receivers(in: old), try receivers(in: new))
        let difference = try await history.withBacktest { backtest, onProgress in
            try await RuleSetDifference.between(
                before,
                after,
                oldReceivers: oldReceivers,
                newReceivers: newReceivers,
                backtest,
                onProgress: onProgress
            )
        }
        Terminal.printLine(difference.text)
        if !difference.isEmpty { throw ExitCode(1) }
    }

    private func receivers(in directory: String) throws -> ReceiverSet? {
        do {
            return try ReceiverFile.routing(path: "\(directory)/receivers.yml")
        } catch {
            throw CommandFailure.check("\(error)")
        }
    }
}
