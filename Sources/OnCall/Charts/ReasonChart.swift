import PushContract

/// The share of failed attempts in each bucket, stacked by reason.
enum ReasonChart {
    static func svg(_ buckets: [ReasonBucket], from: Timestamp, minutesPerBucket: Int) -> String {
        let largest = buckets.map(\.badShare).max() ?? 0
        let frame = ChartFrame(
            id: "reasons",
            title: "Failed attempts by reason",
            description: description(buckets, minutesPerBucket: minutesPerBucket),
            time: TimeAxis(from: from, minutes: buckets.count * minutesPerBucket),
            value: ValueAxis(covering: largest * 100, atLeast: 2),
            valueLabel: { NumberText.short($0) + " %" }
        )
        let bars = buckets.enumerated().map { bar($0.element, index: $0.offset, of: buckets.count, in: frame) }
        return frame.svg(behind: bars)
    }

    private static func bar(_ bucket: ReasonBucket, index: Int, of count: Int, in frame: ChartFrame) -> String {
        guard bucket.attempts > 0 else { return "" }
        let slot = 100 / Double(count)
        var below = 0.0
        var parts = ""
        for reason in ReasonCode.drawingOrder {
            let share = 100 * Double(bucket.bad[reason] ?? 0) / Double(bucket.attempts)
            guard share > 0 else { continue }
            let (top, bottom) = (frame.y(below + share), frame.y(below))
            below += share
            parts += SVG.element(
                "rect",
                [
                    ("class", reason.cssClass), ("x", SVG.percent(slot * (Double(index) + 0.1))), ("width", SVG.percent(slot * 0.8)),
                    ("y", SVG.number(top)), ("height", SVG.number(bottom - top)),
                ]
            )
        }
        return parts
    }

    private static func description(_ buckets: [ReasonBucket], minutesPerBucket: Int) -> String {
        guard let worst = buckets.max(by: { $0.badShare < $1.badShare }), worst.badShare > 0 else {
            return "No failed attempts in this time."
        }
        let last = buckets.last { $0.attempts > 0 }
        return "Shares per \(minutesPerBucket) minutes. At most \(NumberText.share(worst.allBad, of: worst.attempts)) failed, "
            + "\(NumberText.share(last?.allBad ?? 0, of: last?.attempts ?? 0)) in the latest. The table has the numbers by reason."
    }
}

extension ReasonCode {
    /// From the base line up: what rules watch comes first, so that its shape can be read.
    static let drawingOrder: [ReasonCode] = [.provider5xx, .auth, .network, .tokenNotRegistered, .tokenInvalid, .unknown]

    /// Its colour in the style sheet.
    var cssClass: String { "r-" + rawValue.replacing("_", with: "-") }
}
