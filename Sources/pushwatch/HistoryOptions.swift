import AlertRules
import Alerting
import ArgumentParser
import CommandLineKit
import HTTPServer
import Logging
import Postgres
import PushContract
import Server

/// Which database has the history, and how much of it is read.
struct HistoryOptions: ParsableArguments {
    @OptionGroup var options: ConfigurationOptions
    @Option(name: .long, help: "How far back, such as 28d, or a time such as 2026-01-05 or 2026-01-05T12:00:00Z.") var since = "28d"
    @Option(name: .long, help: "The end, as a time; now unless given.") var until: String?

    /// A database was named on the command line.
    var isGiven: Bool { options.database != nil || options.config != nil }

    func validate() throws {
        _ = try span(now: .now())
    }

    /// Runs `body` with a backtest over the history. Progress, and a warning when the history is too short, go to standard error.
    func withBacktest<T>(_ body: (RuleBacktest, (RuleBacktest.Progress) -> Void) async throws -> T) async throws -> T {
        var result: T?
        try await options.withPool { pool, _ in
            let span = try span(now: .now())
            let backtest = RuleBacktest(span: span, on: pool)
            if let first = try await backtest.firstMinute(), first > span.since - 14 * 1440 {
                Terminal.printError("note: stored history begins \(first); baselines learn for their whole reference from there.")
            }
            result = try await body(backtest) { progress in
                Terminal.progress("reading \(progress.rule): \(progress.daysRead * 100 / max(1, progress.days)) %")
            }
            Terminal.progress("read \(RuleDuration(minutes: span.minutes)) of history", isLast: true)
        }
        guard let result else { throw CancellationError() }
        return result
    }

    /// A minute counts as closed a minute after its end, as in live evaluation.
    private func span(now: Timestamp) throws -> BacktestSpan {
        let closed = Minute.lastClosed(before: now - .seconds(60))
        let last = min(try until.map { try moment($0, "--until") - 1 } ?? closed, closed)
        let first = try RuleDuration(since).map { last + 1 - $0.minutes } ?? moment(since, "--since")
        guard first <= last else { throw ValidationError("--since must be before --until, and in the past.") }
        return BacktestSpan(since: first, last: last)
    }

    private func moment(_ text: String, _ option: String) throws -> Minute {
        guard let moment = Timestamp(commandLine: text) else {
            throw ValidationError("\(option) '\(text)' is neither a duration such as 28d nor a time such as 2026-01-05T12:00:00Z.")
        }
        return Minute(moment)
    }
}
