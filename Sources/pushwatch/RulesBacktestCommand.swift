import AlertRules
import Alerting
import ArgumentParser
import Foundation

/// `pushwatch rules backtest`
struct RulesBacktestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backtest",
        abstract: "Show the alerts the rules would have raised on stored history.",
        discussion: """
            Folds the same decisions over the stored rollups that live evaluation folds minute by minute. Reads only. A ratio rule is \
            followed from 14 days before --since, a baseline rule from 3 days before it with the days that teach it, so that an alert \
            that was firing already is known. A rule that is not in force yet is shown as if it had always been. Alerts that another \
            one would have suppressed (`suppressed_by`) say so, and do not count as pages.
            """
    )

    @OptionGroup var location: RulesCommand.Location
    @OptionGroup var history: HistoryOptions
    @Option(name: .long, help: "Only this rule; may be given several times.") var rule: [String] = []
    @Flag(name: .long, help: "Print JSON.") var json = false
    @Option(name: .long, help: "Write a report with drawings to this file as well.") var html: String?
    @Option(name: .long, help: "Write the drawings alone to this file as well, as SVG.") var svg: String?

    func run() async throws {
        let all = try RulesCommand.rules(in: location.directory)
        let rules = try chosen(all)
        let report = try await history.withBacktest { backtest, onProgress in
            BacktestReport(span: backtest.span, results: try await backtest.run(rules, among: all, onProgress: onProgress))
        }
        Terminal.printLine(json ? try report.json() : report.text())
        if let html { try write(report.html, to: html) }
        if let svg { try write(report.svg, to: svg) }
    }

    private func write(_ text: String, to path: String) throws {
        guard FileManager.default.createFile(atPath: path, contents: Data(text.utf8)) else {
            throw CommandFailure.environment("\(path) cannot be written.")
        }
        Terminal.printError("report written to \(path)")
    }

    private func chosen(_ rules: [AlertRule]) throws -> [AlertRule] {
        guard !rule.isEmpty else { return rules }
        for name in rule where !rules.contains(where: { $0.name == name }) {
            throw ValidationError("There is no rule '\(name)'; there are \(rules.map(\.name).joined(separator: ", ")).")
        }
        return rules.filter { rule.contains($0.name) }
    }
}

extension RulesCommand {
    /// The rules of an alerts directory. History is only worth reading for files without errors.
    static func rules(in directory: String) throws -> [AlertRule] {
        let set = AlertsDirectory(path: directory).ruleSet()
        guard !set.hasErrors else {
            for finding in set.findings { Terminal.printError(finding.description) }
            throw CommandFailure.check("The rules in \(directory) have errors.")
        }
        return set.rules
    }
}
