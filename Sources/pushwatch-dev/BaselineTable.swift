import AlertRules
import CommandLineKit

/// What versions 1 and 2 of a baseline make of healthy weeks, beginnings, rises and purges, and whether version 2 stays within its bounds
/// (decision 0025).
struct BaselineTable {
    private static let rates: [Double] = [0.1, 0.5, 1, 4, 10, 100]
    private static let shares: [Double] = [0, 0.002, 0.005, 0.02]

    private let incidents: BaselineIncidents
    private let seed: UInt64
    private var cell: UInt64 = 0
    private(set) var rows: [[String]] = []
    private(set) var faults: [String] = []

    static let head = ["", "version", "runs", "paged", "pages", "tickets", "paged twice", "pages after the end", "median delay"]

    /// Nil for a rule without a baseline.
    init?(_ rule: AlertRule, runs: Int, seed: UInt64) {
        guard let incidents = BaselineIncidents(rule, runs: runs) else { return nil }
        self.incidents = incidents
        self.seed = seed
    }

    mutating func fill() {
        let healthy = sum("healthy weeks", Self.cells) { $0.healthy(rate: $1.rate, share: $1.share, seed: $2) }
        check("healthy weeks", Double(healthy.pages), atMost: healthy.weeks * 5 / 1800)
        let newcomer = sum("195 old sends, then today's", [()]) { $0.newcomer(seed: $2) }
        check("195 old sends", Double(newcomer.pages), atMost: 0)
        let beginnings = BaselineBeginning.allCases.map { kind in sum(kind.rawValue, [kind]) { $0.beginning($1, seed: $2) } }
        let paged = beginnings.reduce(0) { $0 + $1.paged }
        check("beginnings", Double(paged), atMost: Double(beginnings.reduce(0) { $0 + $1.runs }) / 40)
        addRises()
        let purges = sum("purge: 25 × sends, 25 % gone, 2 h", Self.cells) { $0.purge(rate: $1.rate, share: $1.share, seed: $2) }
        // As many as in healthy weeks, which the ten days after a purge are.
        check("pages after a purge", Double(purges.pagesAfter), atMost: Double(purges.runs) / 600)
        check("second pages of a purge", Double(purges.pagedTwice), atMost: 0)
    }

    /// Rises of 2, 6 and 24 hours by how many failures are expected meanwhile, since that decides whether they can be found at all; and
    /// those of an hour, which only a window that begins with them can find.
    private mutating func addRises() {
        let classes: [(multiple: Double, from: Double, to: Double, least: Double)] = [
            (4, 0, 8, 0), (4, 8, 16, 0.5), (4, 16, 32, 0.7), (4, 32, .infinity, 0.9), (8, 0, 2, 0), (8, 2, 4, 0.7), (8, 4, .infinity, 0.97),
        ]
        var after = BaselineIncidents.Result()
        for one in classes {
            let all = Self.cells.flatMap { cell in
                [120, 360, 1440].map { (rate: cell.rate, share: cell.share, minutes: $0) }
            }
            let cells = all.filter { cell in
                let expected = cell.rate * Double(cell.minutes) * cell.share
                return expected >= one.from && expected < one.to
            }
            let to = one.to.isFinite ? " to \(Fraction.rounded(one.to))" : " and more"
            let name = "\(Int(one.multiple)) ×, \(Fraction.rounded(one.from))\(to) expected"
            let found = sum(name, cells) {
                $0.rise(rate: $1.rate, share: $1.share, multiple: one.multiple, minutes: $1.minutes, seed: $2)
            }
            after.add(found)
            if found.found < one.least {
                faults.append("\(name): \(Fraction.percent(found.found)) found, at least \(Fraction.percent(one.least)) wanted")
            }
        }
        for multiple in [4.0, 8] {
            after.add(
                sum("\(Int(multiple)) ×, an hour", Self.cells) {
                    $0.rise(rate: $1.rate, share: $1.share, multiple: multiple, minutes: 60, seed: $2)
                }
            )
        }
        check("pages after a rise", Double(after.pagesAfter), atMost: Double(after.runs) * 15 / 4800)
    }

    private static var cells: [(rate: Double, share: Double)] {
        rates.flatMap { rate in shares.map { (rate, $0) } }
    }

    /// Of version 2; both have a row.
    private mutating func sum<Cell>(
        _ name: String,
        _ cells: [Cell],
        _ run: (BaselineIncidents, Cell, UInt64) -> [BaselineIncidents.Result]
    ) -> BaselineIncidents.Result {
        var sums = [BaselineIncidents.Result(), BaselineIncidents.Result()]
        for one in cells {
            if Terminal.isInteractive { Terminal.progress(name) }
            cell += 1
            for (version, result) in run(incidents, one, seed &+ cell).enumerated() { sums[version].add(result) }
        }
        for (version, sum) in sums.enumerated() {
            rows.append([
                name, "\(version + 1)", "\(sum.runs)", Fraction.percent(sum.found), "\(sum.pages)", "\(sum.tickets)", "\(sum.pagedTwice)",
                "\(sum.pagesAfter)", sum.medianDelay.map { "\($0) min" } ?? "–",
            ])
        }
        return sums[1]
    }

    private mutating func check(_ name: String, _ value: Double, atMost bound: Double) {
        if value > bound { faults.append("\(name): \(Fraction.rounded(value)), at most \(Fraction.rounded(bound))") }
    }
}
