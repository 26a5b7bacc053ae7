import PushContract
import Testing

@testable import OnCall

@Suite("Words for times and numbers")
struct TextTests {
    static let now = Timestamp(rfc3339: "2026-03-10T12:00:00Z")!

    @Test(
        "spans have the two largest units",
        arguments: [
            (0, "0 s"), (59, "59 s"), (60, "1 min"), (3_599, "59 min"), (3_600, "1 h"), (3_900, "1 h 5 min"), (86_400, "1 d"),
            (95_000, "1 d 2 h"), (-5, "0 s"),
        ]
    )
    func spans(_ seconds: Int, _ text: String) {
        #expect(DurationText.span(.seconds(seconds)) == text)
    }

    @Test("relative times", arguments: [(0, "just now"), (90, "1 min ago"), (-120, "in 2 min")])
    func relative(_ passed: Int, _ text: String) {
        #expect(DurationText.ago(Self.now - .seconds(passed), now: Self.now) == text)
    }

    @Test("a moment of another day has its date")
    func moments() {
        #expect(ClockText.moment(Self.now - .seconds(60), now: Self.now) == "11:59 UTC")
        #expect(ClockText.moment(Self.now - .seconds(86_400), now: Self.now) == "2026-03-09 12:00 UTC")
    }

    @Test("counts are grouped", arguments: [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567"), (-1_000, "-1,000")])
    func counts(_ value: Int, _ text: String) {
        #expect(NumberText.count(value) == text)
    }

    @Test("rates", arguments: [(0.0, "0"), (0.25, "0.3"), (9.96, "10"), (1_234.4, "1,234"), (.nan, "–"), (1e30, "1,000,000,000,000,000")])
    func rates(_ value: Double, _ text: String) {
        #expect(NumberText.rate(value) == text)
    }

    @Test("axis labels are short", arguments: [(2.5, "2.5"), (950, "950"), (1_500, "1.5k"), (2_000_000, "2M")])
    func short(_ value: Double, _ text: String) {
        #expect(NumberText.short(value) == text)
    }
}
