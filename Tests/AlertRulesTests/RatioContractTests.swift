import AlertRules
import Testing

/// Deterministic traffic at 100 attempts a minute, after 40 good minutes; times count from the onset.
@Suite("ratio: the contract, by version")
struct RatioContractTests {
    typealias Run = (minutes: Int, attempts: Int64, bad: Int64)

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var runs: [Run]
        var auth = false
        /// What happens under `ratio/1` and `ratio/2`.
        var one: [String]
        var two: [String]
    }

    private static func bad(_ percent: Int64, _ minutes: Int) -> Run { (minutes, 100, percent) }

    static let cases = [
        Case(testDescription: "6 % for an hour", runs: [bad(6, 60)], one: ["fired 15", "resolved 67"], two: ["fired 15", "resolved 70"]),
        Case(testDescription: "exactly 5 % for a day", runs: [bad(5, 1440)], one: [], two: []),
        Case(testDescription: "total for 10 minutes", runs: [bad(100, 10)], one: [], two: []),
        Case(testDescription: "total for 11 minutes", runs: [bad(100, 11)], one: ["fired 15", "resolved 21"], two: []),
        Case(testDescription: "total for 14 minutes", runs: [bad(100, 14)], one: ["fired 15", "resolved 24"], two: []),
        Case(
            testDescription: "total for 15 minutes",
            runs: [bad(100, 15)],
            one: ["fired 15", "resolved 25"],
            two: ["fired 15", "resolved 25"]
        ),
        Case(
            testDescription: "total for 12 minutes, then 8 %",
            runs: [bad(100, 12), bad(8, 60)],
            one: ["fired 15", "resolved 80"],
            two: ["fired 15", "resolved 82"]
        ),
        Case(
            testDescription: "total for 12 minutes, then 6 %",
            runs: [bad(100, 12), bad(6, 60)],
            one: ["fired 15", "resolved 79"],
            two: ["fired 15", "resolved 82"]
        ),
        Case(
            testDescription: "five minutes off and five on for an hour",
            runs: (0..<6).flatMap { _ in [bad(100, 5), bad(0, 5)] },
            one: ["fired 15", "resolved 65"],
            two: ["fired 15", "resolved 65"]
        ),
        Case(
            testDescription: "total for 20 minutes, an hour of silence, then good",
            runs: [bad(100, 20), (60, 0, 0)],
            one: ["fired 15", "resolved 86"],
            two: ["fired 15", "resolved 86"]
        ),
        Case(
            testDescription: "total for 20 minutes, then exactly 4 %",
            runs: [bad(100, 20), bad(4, 60)],
            one: ["fired 15", "resolved 30"],
            two: ["fired 15", "resolved 30"]
        ),
        Case(
            testDescription: "2 % of auth for an hour",
            runs: [bad(2, 60)],
            auth: true,
            one: ["fired 10", "resolved 68"],
            two: ["fired 10", "resolved 70"]
        ),
        Case(testDescription: "exactly 1 % of auth for a day", runs: [bad(1, 1440)], auth: true, one: [], two: []),
    ]

    @Test("each case fires and resolves at the minute the definition says", arguments: cases)
    func contract(_ example: Case) {
        let runs = [(40, 100, 0)] + example.runs + [(240, 100, 0)]
        for (version, expected) in [(RatioCondition.Version.one, example.one), (.two, example.two)] {
            let rule = example.auth ? Make.auth(version: version) : Make.outage(version: version)
            let story = Make.transitions(rule, Make.history(runs)).map { "\($0.kind.rawValue) \($0.minute + 1 - Make.start - 40)" }
            #expect(story == expected, "ratio/\(version.rawValue)")
        }
    }

    @Test("one failure of three never fires")
    func oneOfThree() {
        for version in RatioCondition.Version.allCases {
            #expect(Make.story(Make.outage(version: version), [(40, 0, 0), (1, 3, 1), (240, 0, 0)]) == [])
        }
    }
}
