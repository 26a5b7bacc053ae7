import AlertRules
import Alerting
import PushContract

/// The page of rules as its template sees it.
struct RulesPage {
    struct Row {
        let name: String
        let severity: String
        let meaning: String
        let state: String
        /// Why it is quiet above its threshold.
        let quietReason: String?
        let isFiring: Bool
        let ruleStatus: String
        let detail: String?
        /// For `<meter>`: 0 to 100, where 100 is the threshold.
        let meter: String?
        let meterText: String?
        let evaluated: String
        let fired: String
        let marks: String?
        /// The last four weeks: what the rule would have raised, and what was raised.
        let strip: String
        /// The backtest in words.
        let backtest: String
        let runbook: String?
    }

    struct PastAlertRow {
        let when: String
        let whenAttribute: String
        let name: String
        let path: String
        let lasted: String
        let verdict: String
    }

    let frame: PageFrame
    let headline: String
    let isFiring: Bool
    let faults: [String]
    let rules: [Row]
    let past: [PastAlertRow]
    let hasPast: Bool
    let days: String
    let acceptances: [AcceptanceRow]
    let hasAcceptances: Bool

    init(_ data: RulesData, reader: PageReader, now: Timestamp) {
        let firing = data.entries.filter { $0.firing > 0 }.count
        frame = PageFrame(title: "Rules · Pushwatch", state: firing > 0 ? .alarmed : .calm, person: reader.name, now: now)
        isFiring = firing > 0
        headline =
            "\(data.entries.count) \(data.entries.count == 1 ? "rule" : "rules"), "
            + (firing == 0 ? "none firing" : "\(firing) firing")
        faults = data.faults
        rules = data.entries.enumerated().map { index, entry in Self.line(entry, index, now: now) }
        past = data.past.map { Self.line($0, now: now) }
        hasPast = !past.isEmpty
        acceptances = data.acceptances.map { AcceptanceRow($0, mayUndo: reader.mayAcknowledge, back: "/oncall/rules", now: now) }
        hasAcceptances = !acceptances.isEmpty
        days = "\(RulesStore.days)"
    }

    private static func line(_ entry: RulesData.Entry, _ index: Int, now: Timestamp) -> Row {
        let rule = entry.rule
        return Row(
            name: rule.name,
            severity: rule.severity.rawValue,
            meaning: meaning(rule),
            state: entry.firing > 0 ? "firing" : "quiet",
            quietReason: entry.firing > 0 ? nil : entry.ruleStatus?.quietReason,
            isFiring: entry.firing > 0,
            ruleStatus: entry.ruleStatus?.text ?? "–",
            detail: entry.ruleStatus.map {
                "\($0.group): \(NumberText.count($0.counts.bad)) of \(NumberText.count($0.counts.attempts)) attempts in its window"
            },
            meter: entry.ruleStatus?.meter,
            meterText: entry.ruleStatus?.meterText,
            evaluated: entry.progress.map { DurationText.ago($0.evaluatedAt, now: now) } ?? "not yet",
            fired: "\(entry.fired)",
            marks: entry.real + entry.noise > 0 ? "\(entry.real) real, \(entry.noise) noise" : nil,
            strip: RuleTimelineChart(past: entry.past, backtest: entry.backtest, now: now).svg(rule: rule.name, id: "rule-\(index)"),
            backtest: BacktestWords.text(entry.backtest, now: now),
            runbook: RunbookDirectory.name(of: rule.annotations.runbook).map { "/runbooks/\($0)" }
        )
    }

    /// `provider_5xx above 5 % for 15 min, by provider`
    private static func meaning(_ rule: AlertRule) -> String {
        let by = rule.by.isEmpty ? "" : ", by \(rule.by.map(\.rawValue).joined(separator: " and "))"
        return rule.condition.summary(\.words) + by
    }

    private static func line(_ past: RulesData.Past, now: Timestamp) -> PastAlertRow {
        PastAlertRow(
            when: ClockText.moment(past.firedAt, now: now),
            whenAttribute: past.firedAt.rfc3339,
            name: past.group == "all" ? past.rule : "\(past.rule) · \(past.group)",
            path: "/oncall/alerts/\(past.id)",
            lasted: past.resolvedAt.map { DurationText.span($0 - past.firedAt) } ?? "firing",
            verdict: past.verdict ?? ""
        )
    }
}
