import PushContract

/// What a rule did in four weeks, as a strip: a bar for each alert, as long as it lasted, marked when somebody called it noise.
enum RuleStrip {
    private static let height = 18.0
    /// Shorter alerts than this part of the strip would not be seen.
    private static let narrowest = 0.6

    /// - Parameter id: unique on the page.
    static func svg(_ past: [RulesData.Past], rule: String, id: String, now: Timestamp) -> String {
        let time = TimeAxis(from: now - .seconds(RulesStore.days * 86_400), minutes: Int(RulesStore.days) * 1_440)
        let bars = past.map { alert in
            let from = 100 * time.fraction(alert.firedAt)
            let width = max(narrowest, 100 * time.fraction(alert.resolvedAt ?? now) - from)
            let kind = alert.resolvedAt == nil ? "firing" : alert.verdict ?? "unmarked"
            return SVG.element(
                "rect",
                [
                    ("class", "spell \(kind)"), ("x", SVG.percent(min(from, 100 - width))), ("y", "2"), ("width", SVG.percent(width)),
                    ("height", SVG.number(height - 5)),
                ]
            )
        }
        let weeks = (1...3).map { week in
            SVG.element(
                "line",
                [
                    ("x1", SVG.percent(Double(week) * 25)), ("x2", SVG.percent(Double(week) * 25)), ("y1", "2"),
                    ("y2", SVG.number(height - 3)),
                ]
            )
        }
        let base = SVG.element(
            "line",
            [("class", "base"), ("x1", "0"), ("x2", "100%"), ("y1", SVG.number(height - 3)), ("y2", SVG.number(height - 3))]
        )
        return SVG.element(
            "svg",
            [
                ("class", "chart strip"), ("role", "img"), ("aria-labelledby", "\(id)-title"), ("width", "100%"),
                ("height", SVG.number(height)),
            ],
            SVG.element("title", [("id", "\(id)-title")], SVG.escape(description(past, rule: rule, now: now)))
                + weeks.joined() + base + bars.joined()
        )
    }

    private static func description(_ past: [RulesData.Past], rule: String, now: Timestamp) -> String {
        guard let newest = past.first else { return "\(rule): no alert in \(RulesStore.days) days." }
        let noise = past.filter { $0.verdict == "noise" }.count
        return "\(rule): \(past.count) \(past.count == 1 ? "alert" : "alerts") in \(RulesStore.days) days, "
            + (noise == 0 ? "" : "\(noise) marked as noise, ") + "the latest \(SpanText.ago(newest.firedAt, now: now))."
    }
}
