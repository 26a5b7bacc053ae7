import AlertRules
import Alerting
import ArgumentParser

/// `pushwatch rules diff OLD NEW`
struct RulesDiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Show which alerts a change of rules gains and loses on stored history.",
        discussion: """
            Backtests the rules of both alerts directories where they decide differently, tell others (severity, labels, suppressed_by, and \
            receivers.yml where both have one) or are suppressed by a rule that changed, and prints Markdown for a comment on the change. \
            Ends with 0 when the alerts and who is told of them are the same, and with 1 when one was gained, lost, moved or told otherwise.
            """
    )

    @Argument(help: "The alerts directory as it is.") var old: String
    @Argument(help: "The alerts directory as it would be.") var new: String
    @OptionGroup var history: HistoryOptions

    func run() async throws {
        let before = try RulesCommand.rules(in: old)
        let after = try RulesCommand.rules(in: new)
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
