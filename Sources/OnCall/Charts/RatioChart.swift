import PushContract

/// The share of bad attempts over time, with the threshold it was compared with and the moments that matter.
enum RatioChart {
    struct Marker {
        var moment: Timestamp
        var label: String
        /// On which side of its line the label is drawn, unless the edge of the chart is there.
        var isLeft: Bool
    }

    /// `shares` are 0–1, one for each slot of `time`; nil where nothing was attempted.
    /// `bad` is the time the alert covers; it is shaded.
    static func svg(
        _ shares: [Double?],
        time: TimeAxis,
        threshold: Double?,
        thresholdLabel: String,
        bad: (from: Timestamp, to: Timestamp),
        markers: [Marker]
    ) -> String {
        let percents = shares.map { $0.map { $0 * 100 } }
        let largest = max(percents.compactMap { $0 }.max() ?? 0, (threshold ?? 0) * 125)
        let frame = ChartFrame(
            id: "ratio",
            title: "Share of bad attempts a minute",
            description: description(shares, threshold: thresholdLabel),
            time: time,
            value: ValueAxis(covering: largest, atLeast: 0.4),
            valueLabel: { NumberText.short($0) + " %" }
        )
        let shapes =
            SVG.element("path", [("class", "area-bad"), ("d", LinePath.area(percents, axis: frame.value))])
            + SVG.element("path", [("class", "line-bad"), ("d", LinePath.line(percents, axis: frame.value))])
        return frame.svg(
            behind: [band(from: bad.from, to: bad.to, in: frame), frame.scaled(shapes)],
            inFront: markers.enumerated().map { line($0.element, row: $0.offset, in: frame) } + [
                thresholdLine(threshold, thresholdLabel, in: frame)
            ]
        )
    }

    private static func band(from: Timestamp, to: Timestamp, in frame: ChartFrame) -> String {
        let (left, right, top) = (frame.x(from), frame.x(to), frame.y(frame.value.top))
        return SVG.element(
            "rect",
            [
                ("class", "band"), ("x", SVG.percent(left)), ("width", SVG.percent(max(0, right - left))), ("y", SVG.number(top)),
                ("height", SVG.number(frame.y(0) - top)),
            ]
        )
    }

    /// Its label is at the left, over the healthy hour before the alert.
    private static func thresholdLine(_ threshold: Double?, _ label: String, in frame: ChartFrame) -> String {
        guard let threshold else { return "" }
        let y = frame.y(threshold * 100)
        return SVG.element(
            "line",
            [("class", "threshold"), ("x1", "0"), ("x2", "100%"), ("y1", SVG.number(y)), ("y2", SVG.number(y))]
        ) + SVG.text(label, [("class", "strong"), ("x", "44"), ("y", SVG.number(y - 4))])
    }

    private static func line(_ marker: Marker, row: Int, in frame: ChartFrame) -> String {
        let x = frame.x(marker.moment)
        return SVG.element(
            "line",
            [("class", "marker"), ("x1", SVG.percent(x)), ("x2", SVG.percent(x)), ("y1", "14"), ("y2", SVG.number(frame.y(0)))]
        )
            + SVG.text(
                marker.label,
                [
                    ("class", "strong"), ("x", SVG.percent(x)), ("dx", isLeft(marker, x) ? "3" : "-3"),
                    ("y", SVG.number(11 + 14 * Double(row))),
                    ("text-anchor", isLeft(marker, x) ? "end" : "start"),
                ]
            )
    }

    private static func isLeft(_ marker: Marker, _ x: Double) -> Bool { x < 25 ? false : x > 75 ? true : marker.isLeft }

    private static func description(_ shares: [Double?], threshold: String) -> String {
        let known = shares.compactMap { $0 }
        guard let worst = known.max(), let last = known.last else { return "No attempts in this time." }
        return "At most \(NumberText.percent(worst)), at last \(NumberText.percent(last)); \(threshold)."
    }
}
