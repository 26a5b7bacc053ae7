import AlertRules
import Alerting
import ArgumentParser
import CommandLineKit
import Foundation

/// `pushwatch rules backtest`
struct RulesBacktestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backtest",
        abstract: "Show the alerts the rules would have raised on stored history.",
        discussion: """
            Evaluates the stored rollups as live evaluation does, minute by minute. It only reads. A ratio rule is evaluated from 14 \
            days before --since, a baseline rule from 28 days before it (version 1: 3 days), with its reference days, so that an alert \
            that was already firing is known. A rule that is not in force yet is shown as if it always had been. Alerts that another one \
            would have suppressed (`suppressed_by`) are marked, and do not count as pages.
            """
    )

    @OptionGroup var location: AlertsLocation
    @OptionGroup var history: HistoryOptions
    @Option(name: .long, help: "Only this rule; repeatable.") var rule: [String] = []
    @Flag(name: .long, help: "Print JSON.") var json = false
    @Option(name: .long, help: "Also write a report with charts to this file.") var html: String?
    @Option(name: .long, help: "Also write the charts alone to this file, as SVG.") var svg: String?

    func run() async throws {
        let all = try location.rules()
        let rules = try chosen(all)
        for path in [html, svg].compactMap(\.self) { try requireWriting(path) }
        let report = try await history.withBacktest { backtest, onProgress in
            BacktestReport(span: backtest.span, results: try await backtest.run(rules, among: all, onProgress: onProgress))
        }
        Terminal.printLine(json ? try report.json() : report.text())
        if let html { try write(report.html, to: html) }
        if let svg { try write(report.svg, to: svg) }
    }

    /// Before the evaluation, which may take minutes.
    private func requireWriting(_ path: String) throws {
        let directory = URL(filePath: path).deletingLastPathComponent().path
        var isDirectory: ObjCBool = false
        let target = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) ? path : directory
        guard !isDirectory.boolValue, FileManager.default.isWritableFile(atPath: target) else {
            throw CommandFailure.environment("\(path) cannot be written.")
        }
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
            throw ValidationError("--rule: unknown rule \"\(name)\"; expected one of \(rules.map(\.name).joined(separator: ", ")).")
        }
        return rules.filter { rule.contains($0.name) }
    }
}
