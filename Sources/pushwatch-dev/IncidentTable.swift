import AlertRules
import CommandLineKit

/// What versions 1 and 2 of the share rules make of incidents of a known share, and whether version 2 is within its bounds (decision 0024).
struct IncidentTable {
    private static let rates: [Double] = [0.5, 1, 3, 6, 10, 20, 50, 100, 1000]

    let runs: Int
    /// Without an incident, of each of ten groups.
    let weeks: Int
    let seed: UInt64
    private(set) var rows: [[String]] = []
    private(set) var faults: [String] = []

    init(runs: Int, weeks: Int, seed: UInt64) {
        self.runs = runs
        self.weeks = weeks
        self.seed = seed
    }

    static let head = [
        "RULE", "incident", "version", "found", "false resolves a day", "second pages", "pages after the end", "resolved after",
    ]

    mutating func add(_ rule: AlertRule) {
        guard let one = rule.shareRule(.one), let two = rule.shareRule(.two) else { return }
        for (name, multiple, minutes) in [("1.2 ×, a day", 1.2, 1440), ("1.5 ×, a day", 1.5, 1440), ("2 ×, a day", 2, 1440)] {
            let results = add(
                rule.name,
                name,
                [one, two],
                Self.rates.map { IncidentScenario(rate: $0, multiple: multiple, minutes: minutes) }
            )
            guard multiple >= 1.5, let result = results.last else { continue }
            let rate = Double(result.falseResolves) / result.days
            if rate > 0.01 { faults.append("\(rule.name), \(name): \(Fraction.rounded(rate)) false resolves a day, at most 0.01") }
            if result.secondPages > 0 { faults.append("\(rule.name), \(name): \(result.secondPages) second pages, none allowed") }
        }
        for minutes in [11, 14, 60] {
            let name = "total, \(minutes) min"
            let results = add(rule.name, name, [one, two], Self.rates.map { IncidentScenario(rate: $0, multiple: nil, minutes: minutes) })
            guard minutes == 11, let result = results.last, result.latePages > max(1, result.runs / 900) else { continue }
            faults.append("\(rule.name), \(name): \(result.latePages) of \(result.runs) page after the end, at most 1 of 900")
        }
        addHealthy(rule.name, [one, two])
    }

    private mutating func addHealthy(_ rule: String, _ rules: [AlertRule]) {
        var pages = rules.map { _ in 0 }
        for (index, rate) in IncidentScenario.groups.enumerated() {
            if Terminal.isInteractive { Terminal.progress("\(rule), healthy weeks, \(Fraction.rounded(rate)) a minute") }
            let own = IncidentScenario.healthyPages(rules, rate: rate, weeks: weeks, seed: seed &+ UInt64(rows.count * 100 + index))
            pages = zip(pages, own).map { $0 + $1 }
        }
        for (version, pages) in pages.enumerated() {
            rows.append([rule, "none, \(weeks) weeks of ten groups", "\(version + 1)", "\(pages) pages", "–", "–", "–", "–"])
        }
        if let two = pages.last, two > max(1, weeks * 3 / 1000) {
            faults.append("\(rule): \(two) pages in \(weeks) healthy weeks of ten groups, at most 3 in 1,000")
        }
    }

    private mutating func add(
        _ rule: String,
        _ name: String,
        _ rules: [AlertRule],
        _ cells: [IncidentScenario]
    ) -> [IncidentScenario.Result] {
        var sums = rules.map { _ in IncidentScenario.Result() }
        for (index, cell) in cells.enumerated() {
            if Terminal.isInteractive { Terminal.progress("\(rule), \(name), \(Fraction.rounded(cell.rate)) a minute") }
            let results = cell.results(rules, runs: runs, seed: seed &+ UInt64(rows.count * 100 + index))
            for (version, result) in results.enumerated() { sums[version].add(result) }
            guard cell.multiple == nil, cell.minutes >= 60, cell.rate >= 1, let one = results[0].medianDelay else { continue }
            // A minute without attempts decides nothing in version 2, which costs up to a minute at one attempt a minute.
            if results[1].medianDelay.map({ $0 > one + 1 }) ?? true {
                faults.append("\(rule), \(name), \(Fraction.rounded(cell.rate)) a minute: found over a minute later than by version 1")
            }
        }
        for (version, sum) in sums.enumerated() {
            rows.append([
                rule, name, "\(version + 1)",
                sum.medianDelay.map { "\($0) min, \(Fraction.percent(Double(sum.delays.count) / Double(sum.runs)))" } ?? "not found",
                Fraction.rounded(Double(sum.falseResolves) / sum.days), "\(sum.secondPages)", "\(sum.latePages) of \(sum.runs)",
                sum.medianRecovery.map { "\($0) min" } ?? "–",
            ])
        }
        return sums
    }
}
