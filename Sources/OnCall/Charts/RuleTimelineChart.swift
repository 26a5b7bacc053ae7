import AlertRules
import Alerting
import PushContract
import ServiceKit

/// Four weeks of a rule as two rows: above the alerts that the rule as it is now would have raised, below those that were raised, hollow
/// where a person marked one as noise. Where the two differ, the rule was changed, or the data came late.
struct RuleTimelineChart {
    private static let rowHeight = 9.0
    private static let gap = 3.0
    private static let height = 2 * rowHeight + gap + 4
    /// The smallest width of an alert, so that short ones are visible.
    private static let narrowest = 0.6

    let past: [RulesData.Past]
    /// Nil until it was computed.
    let backtest: BacktestCache.Entry?
    let now: Timestamp

    /// - Parameter id: unique on the page.
    func svg(rule: String, id: String) -> String {
        SVG.element(
            "svg",
            [
                ("class", "chart strip"), ("role", "img"), ("aria-labelledby", "\(id)-title"), ("width", "100%"),
                ("height", SVG.number(Self.height)),
            ],
            SVG.element("title", [("id", "\(id)-title")], description(rule).escapedHTML)
                + (weeks + lines + would + was).joined()
        )
    }

    private var time: TimeAxis {
        TimeAxis(from: now - .seconds(RulesStore.days * 86_400), minutes: Int(RulesStore.days) * 1_440)
    }

    private var would: [String] {
        (backtest?.alerts ?? []).map { alert in
            let end = alert.resolvedAt ?? (backtest?.span.last ?? alert.firedAt) + 1
            return bar(Timestamp(seconds: alert.firedAt.second), Timestamp(seconds: end.second), kind: "would", y: 0)
        }
    }

    private var was: [String] {
        past.map {
            bar(
                $0.firedAt,
                $0.resolvedAt ?? now,
                kind: $0.resolvedAt == nil ? "firing" : $0.verdict ?? "unmarked",
                y: Self.rowHeight + Self.gap
            )
        }
    }

    private func bar(_ from: Timestamp, _ to: Timestamp, kind: String, y: Double) -> String {
        let left = 100 * time.fraction(from)
        let width = max(Self.narrowest, 100 * time.fraction(to) - left)
        return SVG.element(
            "rect",
            [
                ("class", "spell \(kind)"), ("x", SVG.percent(min(left, 100 - width))), ("y", SVG.number(y + 1)),
                ("width", SVG.percent(width)),
                ("height", SVG.number(Self.rowHeight - 2)),
            ]
        )
    }

    private var weeks: [String] {
        (1...3).map { week in
            let x = SVG.percent(Double(week) * 25)
            return SVG.element("line", [("x1", x), ("x2", x), ("y1", "0"), ("y2", SVG.number(Self.height - 4))])
        }
    }

    private var lines: [String] {
        [Self.rowHeight, 2 * Self.rowHeight + Self.gap].map { y in
            SVG.element("line", [("class", "base"), ("x1", "0"), ("x2", "100%"), ("y1", SVG.number(y)), ("y2", SVG.number(y))])
        }
    }

    private func description(_ rule: String) -> String { "\(rule): \(raised) \(BacktestWords.text(backtest, now: now))" }

    private var raised: String {
        guard let newest = past.first else { return "no alert was raised in \(RulesStore.days) days." }
        let noise = past.filter { $0.verdict == "noise" }.count
        return "\(past.count) \(past.count == 1 ? "alert was" : "alerts were") raised in \(RulesStore.days) days, "
            + (noise == 0 ? "" : "\(noise) marked as noise, ") + "the latest \(DurationText.ago(newest.firedAt, now: now))."
    }
}
