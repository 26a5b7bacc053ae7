/// Path data of a line or an area on 1000 × 1000, one slot for each value, drawn through the middle of the slots.
enum LinePath {
    /// A value of nil is a gap. A value between gaps is drawn as wide as its slot, so it can be seen.
    static func line(_ values: [Double?], axis: ValueAxis) -> String {
        runs(values).map { run in
            let points = points(run, count: values.count, axis: axis)
            return "M" + points.map { "\(SVG.number($0.x)) \(SVG.number($0.y))" }.joined(separator: "L")
        }.joined()
    }

    /// The same, closed down to the base line.
    static func area(_ values: [Double?], axis: ValueAxis) -> String {
        runs(values).map { run in
            let points = points(run, count: values.count, axis: axis)
            guard let first = points.first, let last = points.last else { return "" }
            let top = points.map { "\(SVG.number($0.x)) \(SVG.number($0.y))" }.joined(separator: "L")
            return "M\(SVG.number(first.x)) 1000L\(top)L\(SVG.number(last.x)) 1000Z"
        }.joined()
    }

    private struct Run {
        var first: Int
        var values: [Double]
    }

    private static func runs(_ values: [Double?]) -> [Run] {
        var runs: [Run] = []
        var open = false
        for (index, value) in values.enumerated() {
            guard let value else {
                open = false
                continue
            }
            if open { runs[runs.count - 1].values.append(value) } else { runs.append(Run(first: index, values: [value])) }
            open = true
        }
        return runs
    }

    /// A run that touches an edge is drawn up to it.
    private static func points(_ run: Run, count: Int, axis: ValueAxis) -> [(x: Double, y: Double)] {
        let slot = 1_000 / Double(max(count, 1))
        func y(_ value: Double) -> Double { 1_000 * (1 - axis.fraction(value)) }
        var points = run.values.enumerated().map { (x: (Double(run.first + $0.offset) + 0.5) * slot, y: y($0.element)) }
        guard let first = points.first, let last = points.last else { return [] }
        if run.first == 0 || points.count == 1 { points.insert((first.x - slot / 2, first.y), at: 0) }
        if run.first + run.values.count == count || run.values.count == 1 { points.append((last.x + slot / 2, last.y)) }
        return points
    }
}
