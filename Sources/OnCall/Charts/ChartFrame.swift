import PushContract
import ServiceKit

/// What all charts share: size, scales, grid, labels and the description for screen readers.
///
/// The chart is as wide as its container and of fixed height. Text keeps its size at every width, since only the shapes are stretched.
struct ChartFrame {
    static let height = 172.0
    private static let plotTop = 20.0
    private static let plotHeight = 128.0
    private static let lineHeight = 14.0

    /// Unique on the page.
    let id: String
    let title: String
    /// What the chart shows, in a sentence or two with its numbers.
    let description: String
    let time: TimeAxis
    let value: ValueAxis
    let valueLabel: (Double) -> String

    /// Pixels from the top.
    func y(_ value: Double) -> Double { Self.plotTop + Self.plotHeight * (1 - self.value.fraction(value)) }

    /// Percent from the left.
    func x(_ moment: Timestamp) -> Double { 100 * time.fraction(moment) }

    /// A layer whose paths are drawn on 1000 × 1000 and stretched to the plot.
    func scaled(_ shapes: String) -> String {
        SVG.element(
            "svg",
            [
                ("x", "0"), ("y", SVG.number(Self.plotTop)), ("width", "100%"), ("height", SVG.number(Self.plotHeight)),
                ("viewBox", "0 0 1000 1000"), ("preserveAspectRatio", "none"),
            ],
            shapes
        )
    }

    /// The whole chart; `behind` is drawn under the grid's labels, `inFront` over everything.
    func svg(behind: [String], inFront: [String] = []) -> String {
        let words =
            SVG.element("title", [("id", "\(id)-title")], title.escapedHTML)
            + SVG.element("desc", [("id", "\(id)-desc")], description.escapedHTML)
        return SVG.element(
            "svg",
            [
                ("class", "chart"), ("role", "img"), ("aria-labelledby", "\(id)-title \(id)-desc"), ("width", "100%"),
                ("height", SVG.number(Self.height + (ownTimes.isEmpty ? 0 : Self.lineHeight))),
            ],
            words + grid + behind.joined() + labels + inFront.joined()
        )
    }

    private var grid: String {
        let lines = ([0] + value.ticks).map { tick in
            SVG.element(
                "line",
                [
                    ("class", tick == 0 ? "base" : "grid"), ("x1", "0"), ("x2", "100%"), ("y1", SVG.number(y(tick))),
                    ("y2", SVG.number(y(tick))),
                ]
            )
        }
        return lines.joined()
    }

    private var labels: String {
        let values = value.ticks.map { SVG.text(valueLabel($0), [("x", "0"), ("y", SVG.number(y($0) - 3))]) }
        let times = time.ticks.map {
            SVG.text(time.label($0), [("x", SVG.percent(x($0))), ("y", SVG.number(Self.height - 6)), ("text-anchor", "middle")])
        }
        return (values + times + ownTimes).joined()
    }

    /// A second line below UTC's.
    private var ownTimes: [String] {
        time.ticks.compactMap { tick in
            time.ownLabel(tick).map {
                SVG.text(
                    $0,
                    [("x", SVG.percent(x(tick))), ("y", SVG.number(Self.height - 6 + Self.lineHeight)), ("text-anchor", "middle")]
                )
            }
        }
    }
}
