import AlertRules
import ArgumentParser
import CommandLineKit

/// `pushwatch-dev scenarios`
struct ScenariosCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scenarios",
        abstract: "Show how often each rule fires falsely and how soon it finds a fault, on simulated traffic.",
        discussion: """
            Healthy traffic, blips of one minute, campaigns, outages and slight faults, at 20 and at 2 sends a minute; the usual share of \
            failures is a fifth of a rule's threshold. Prints false alarms a week, or the median minutes until a fault is found. The same \
            each time. Rules with a baseline have a table of their own: transactional sends and broadcasts with their own shares, at the full \
            volume, a tenth and a fiftieth of it, and faults that make sends fail four and eight times as often for six hours. Rules about \
            other things than shares (a backlog, unknown codes, devices that return) have a third table: what is usual and looks alarming, and \
            a fault of their kind.
            """
    )

    @OptionGroup var location: AlertsLocation
    @Option(help: "Traffic without a fault, by whole weeks; 28d unless given.", transform: CommandDuration.within(.days(7)...(.days(7000))))
    var duration = CommandDuration.days(28)
    @Option(help: "Faults of each kind.") var faults = 40
    @Flag(
        help:
            "Only incidents of a known share, for the share rules that page, by versions 1 and 2; fails outside of the bounds of version 2."
    )
    var incidents = false
    @Flag(
        help:
            "Only weeks, beginnings, rises and purges, for rules with a baseline, by versions 1 and 2; fails outside of the bounds of version 2."
    )
    var baselines = false
    @Option(help: "The seed of --incidents and --baselines.") var seed: UInt64 = 20_261_123

    func run() async throws {
        guard faults > 0 else { throw ValidationError("--faults must be at least 1.") }
        if incidents { return try showIncidents() }
        if baselines { return try showBaselines() }
        let run = ScenarioRun(weeks: Int(duration.days / 7), faults: faults)
        var rows: [[String]] = []
        for rule in try location.rules() {
            if Terminal.isInteractive { Terminal.progress(rule.name) }
            let results = RuleScenario.allCases.compactMap { run.result(rule, $0) }
            if !results.isEmpty { rows.append([rule.name] + results.map(Self.text)) }
        }
        let learned = try volumes()
        let others = try others()
        if Terminal.isInteractive { Terminal.progress("", isLast: true) }
        Terminal.printLine(TextTable(["RULE"] + RuleScenario.allCases.map(\.rawValue), rows).text)
        Terminal.printLine(
            "\nhealthy, blip and campaign: false alarms a week; outages and faults: median minutes to the alert, and the share found within 6 h."
        )
        let head = ["RULE", "volume", "false alarms a week", "4 times, 6 h", "8 times, 6 h"]
        if !learned.isEmpty { Terminal.printLine("\n" + TextTable(head, learned).text) }
        let otherHead = ["RULE", "healthy", "false alarms a week", "fault", "found"]
        if !others.isEmpty { Terminal.printLine("\n" + TextTable(otherHead, others).text) }
    }

    private func showIncidents() throws {
        var table = IncidentTable(runs: faults, weeks: Int(duration.days / 7), seed: seed)
        for rule in try location.rules() where rule.severity.pages && rule.by.count == 1 { table.add(rule) }
        if Terminal.isInteractive { Terminal.progress("", isLast: true) }
        Terminal.printLine(TextTable(IncidentTable.head, table.rows).text)
        Terminal.printLine("\nAt 0.5 to 1,000 attempts a minute together; a tenth of the threshold fails otherwise. Seed \(seed).")
        Terminal.printLine("Weeks without an incident have a minute of failures every six hours, and a campaign every day (--duration).")
        for fault in table.faults { Terminal.printError(fault) }
        if !table.faults.isEmpty { throw ExitCode(1) }
    }

    private func showBaselines() throws {
        var faults: [String] = []
        for rule in try location.rules() {
            guard var table = BaselineTable(rule, runs: self.faults, seed: seed) else { continue }
            table.fill()
            if Terminal.isInteractive { Terminal.progress("", isLast: true) }
            Terminal.printLine(TextTable([rule.name] + BaselineTable.head.dropFirst(), table.rows).text)
            faults += table.faults
        }
        Terminal.printLine(
            "\nAt 0.1 to 100 attempts a minute and usual shares of 0 to 2 % together; beginnings at 10 a minute. Seed \(seed)."
        )
        for fault in faults { Terminal.printError(fault) }
        if !faults.isEmpty { throw ExitCode(1) }
    }

    private func others() throws -> [[String]] {
        let run = SeriesScenario(weeks: Int(duration.days / 7), faults: faults)
        return try location.rules().compactMap { rule in
            if Terminal.isInteractive { Terminal.progress(rule.name) }
            return run.result(rule).map { result in
                [result.rule, result.healthy, Fraction.rounded(result.falseAlarmsPerWeek), result.fault, Self.text(result.detection)]
            }
        }
    }

    private func volumes() throws -> [[String]] {
        let run = BaselineScenario(weeks: Int(duration.days / 7), faults: faults)
        return try location.rules().flatMap { rule in
            BaselineScenario.Volume.allCases.compactMap { volume -> [String]? in
                if Terminal.isInteractive { Terminal.progress("\(rule.name), volume \(volume.rawValue)") }
                return run.result(rule, volume).map { result in
                    [
                        result.rule, "\(volume.rawValue)", Fraction.rounded(result.falseAlarmsPerWeek), Self.text(result.fourfold),
                        Self.text(result.eightfold),
                    ]
                }
            }
        }
    }

    private static func text(_ detection: BaselineScenario.Detection) -> String {
        detection.medianDelay.map { "\($0) min, \(Fraction.percent(detection.found))" } ?? "not found"
    }

    private static func text(_ result: ScenarioResult) -> String {
        if let rate = result.falseAlarmsPerWeek { return Fraction.rounded(rate) }
        let found = Fraction.percent(result.found ?? 0)
        return result.medianDelay.map { "\($0) min, \(found)" } ?? "not found"
    }
}
