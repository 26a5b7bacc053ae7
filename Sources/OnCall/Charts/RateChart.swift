import PushContract

/// Attempts a minute as an area, with the failed ones as a line over it.
enum RateChart {
    static func svg(_ minutes: [MinuteTraffic], from: Timestamp) -> String {
        let largest = minutes.map(\.attempts).max() ?? 0
        let frame = ChartFrame(
            id: "rate",
            title: "Send attempts a minute",
            description: description(minutes, largest: largest),
            time: TimeAxis(from: from, minutes: minutes.count),
            value: ValueAxis(covering: Double(largest), atLeast: 4),
            valueLabel: NumberText.short
        )
        let attempts = minutes.map { Double($0.attempts) as Double? }
        let bad = minutes.map { Double($0.bad) as Double? }
        let shapes =
            SVG.element("path", [("class", "area-attempts"), ("d", LinePath.area(attempts, axis: frame.value))])
            + SVG.element("path", [("class", "line-attempts"), ("d", LinePath.line(attempts, axis: frame.value))])
            + (bad.contains { $0 ?? 0 > 0 }
                ? SVG.element("path", [("class", "line-bad"), ("d", LinePath.line(bad, axis: frame.value))]) : "")
        return frame.svg(behind: [frame.scaled(shapes)])
    }

    private static func description(_ minutes: [MinuteTraffic], largest: Int64) -> String {
        guard largest > 0, let last = minutes.last else { return "No attempts in this time." }
        let bad = minutes.reduce(0) { $0 + $1.bad }
        let all = minutes.reduce(0) { $0 + $1.attempts }
        return "\(NumberText.count(all)) attempts in \(minutes.count) minutes, \(NumberText.count(bad)) of them failed; "
            + "at most \(NumberText.count(largest)) a minute, \(NumberText.count(last.attempts)) in the last one."
    }
}
