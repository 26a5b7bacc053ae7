import Foundation
import PushContract
import Testing

@testable import OnCall

@Suite("Charts")
struct ChartTests {
    static let from = Timestamp(rfc3339: "2026-03-10T09:00:00Z")!

    @Test(
        "the vertical scale ends at a round number",
        arguments: [
            (0.0, 4.0, 4.0), (7, 4, 8), (312, 4, 400), (950, 4, 1_000), (1_001, 4, 1_500), (0.3, 2, 2), (100, 2, 100), (.nan, 4, 4),
        ]
    )
    func axis(_ largest: Double, _ least: Double, _ top: Double) {
        let axis = ValueAxis(covering: largest, atLeast: least)
        #expect(abs(axis.top - top) < 1e-9)
        #expect((1...5).contains(axis.ticks.count))
        #expect(axis.fraction(axis.top) == 1)
        #expect(axis.fraction(axis.top * 2) == 1)
        #expect(axis.fraction(-1) == 0)
    }

    @Test(
        "the horizontal scale has at most five labels, at round times, none at the edge",
        arguments: [
            (1, []), (5, ["09:08", "09:09", "09:10", "09:11"]), (30, ["09:10", "09:20", "09:30"]), (90, ["09:30", "10:00", "10:30"]),
            (180, ["10:00", "11:00"]), (720, ["12:00", "15:00", "18:00"]), (1_440, ["12:00", "18:00", "00:00", "06:00"]),
            (10_080, ["03-12", "03-14", "03-16"]),
        ]
    )
    func times(_ minutes: Int, _ labels: [String]) {
        let axis = TimeAxis(from: Self.from + .seconds(7 * 60), minutes: minutes)
        #expect(axis.ticks.map(axis.label) == labels)
    }

    @Test("a line has gaps where there is no value, and a value by itself is as wide as its slot")
    func gaps() {
        let axis = ValueAxis(covering: 4, atLeast: 4)
        #expect(LinePath.line([1, nil, 2, 2], axis: axis) == "M0 750L125 750L250 750M625 500L875 500L1000 500")
        #expect(LinePath.line([nil, 4, nil], axis: axis) == "M333.33 0L500 0L666.67 0")
        #expect(LinePath.area([2], axis: axis) == "M0 1000L0 500L500 500L1000 500L1000 1000Z")
        #expect(LinePath.line([], axis: axis).isEmpty)
        #expect(LinePath.line([nil, nil], axis: axis).isEmpty)
    }

    @Test("empty data makes an empty chart that says so")
    func empty() throws {
        let rate = RateChart.svg([], from: Self.from)
        #expect(rate.contains("<desc id=\"rate-desc\">No attempts in this time.</desc>"))
        let reasons = ReasonChart.svg([ReasonBucket](repeating: ReasonBucket(), count: 36), from: Self.from, minutesPerBucket: 5)
        #expect(reasons.contains("No failed attempts in this time."))
        #expect(!reasons.contains("<rect"))
        let ratio = RatioChart.svg(
            [nil, nil],
            time: TimeAxis(from: Self.from, minutes: 2),
            threshold: nil,
            thresholdLabel: "",
            bad: (Self.from, Self.from),
            markers: []
        )
        #expect(ratio.contains("No attempts in this time."))
        for svg in [rate, reasons, ratio] { try parse(svg) }
    }

    @Test("bars stack up to the share of all failures")
    func stacked() {
        let bucket = ReasonBucket(attempts: 100, bad: [.provider5xx: 6, .auth: 2])
        let svg = ReasonChart.svg([bucket], from: Self.from, minutesPerBucket: 5)
        // The scale ends at 8 %: 128 pixels, 16 for each per cent.
        #expect(svg.contains("class=\"r-provider-5xx\" x=\"10%\" width=\"80%\" y=\"52\" height=\"96\""))
        #expect(svg.contains("class=\"r-auth\" x=\"10%\" width=\"80%\" y=\"20\" height=\"32\""))
        #expect(svg.contains("At most 8 % failed, 8 % in the latest."))
    }

    @Test("what is drawn cannot become markup")
    func escaping() throws {
        let svg = RatioChart.svg(
            [0.5],
            time: TimeAxis(from: Self.from, minutes: 1),
            threshold: 0.05,
            thresholdLabel: "\"><script>alert('x')</script>&\u{0}",
            bad: (Self.from, Self.from + .seconds(60)),
            markers: [.init(moment: Self.from, label: "<b>", isLeft: true)]
        )
        #expect(!svg.contains("<script") && !svg.contains("<b>"))
        #expect(svg.contains("&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;\u{FFFD}"))
    }

    @Test(
        "numbers in paths are short and finite",
        arguments: [(1.0, "1"), (0.1, "0.1"), (-2.345, "-2.35"), (0.004, "0"), (.infinity, "0"), (33.05, "33.05")]
    )
    func numbers(_ value: Double, _ text: String) {
        #expect(SVG.number(value) == text)
    }

    /// Tags are balanced.
    private func parse(_ svg: String) throws {
        let opened = svg.matches(of: /<([a-z]+)[^>]*[^\/]>/).count
        let closed = svg.matches(of: /<\/[a-z]+>/).count
        #expect(opened == closed)
    }
}
