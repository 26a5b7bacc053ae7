import AlertRules
import ArgumentParser

/// `pushwatch rules scenarios`
struct RulesScenariosCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scenarios",
        abstract: "Show how often each rule is wrong and how soon it is right, on simulated traffic.",
        discussion: """
            Healthy traffic, blips of one minute, campaigns, outages and slight faults, at 20 and at 2 sends a minute; the usual share of
            failures is a fifth of a rule's threshold. Prints false alarms a week, or the median minutes until a fault is found. The same
            each time. Rules that learn from days, and rules about other things than shares, are judged by `rules backtest`.
            """
    )

    @OptionGroup var location: RulesCommand.Location
    @Option(help: "Weeks without a fault.") var weeks = 4
    @Option(help: "Faults of each kind.") var faults = 40

    func run() async throws {
        guard weeks > 0, faults > 0 else { throw ValidationError("--weeks and --faults are at least 1.") }
        let run = ScenarioRun(weeks: weeks, faults: faults)
        var rows: [[String]] = []
        for rule in try RulesCommand.rules(in: location.directory) {
            if Terminal.isInteractive { Terminal.progress(rule.name) }
            let results = RuleScenario.allCases.compactMap { run.result(rule, $0) }
            if !results.isEmpty { rows.append([rule.name] + results.map(Self.text)) }
        }
        if Terminal.isInteractive { Terminal.progress("", isLast: true) }
        Terminal.say(TextTable(["RULE"] + RuleScenario.allCases.map(\.rawValue), rows).text)
        Terminal.say(
            "\nhealthy, blip and campaign: false alarms a week; outages and faults: median minutes to the alert, and the part found in 6 h."
        )
    }

    private static func text(_ result: ScenarioResult) -> String {
        if let rate = result.falseAlarmsPerWeek { return Fraction.rounded(rate) }
        let found = Fraction.percent(result.found ?? 0)
        return result.medianDelay.map { "\($0) min, \(found)" } ?? "not found"
    }
}
