import AlertRules
import Foundation
import Testing

/// docs/alert-semantics.md, written twice: here the evaluator, and Tests/Conformance/alert_semantics.py from the document alone.
@Suite("The semantics, by two implementations")
struct AlertSemanticsTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    private struct Settings: Codable {
        var num: Int64
        var den: Int64
        var window: Int
        var guardText: String
        var reopen: Int

        enum CodingKeys: String, CodingKey {
            case num, den, window, reopen
            case guardText = "guard"
        }

        var rule: AlertRule {
            var ratio = RatioCondition(reasons: ["provider_5xx"], above: Fraction(num, den), for: RuleDuration(minutes: window))
            ratio.guardConfidence = WilsonBound(rawValue: guardText)
            ratio.reopenWithin = RuleDuration(minutes: reopen)
            return Make.rule(.ratio(ratio))
        }
    }

    private struct Case: Codable {
        var rule: Settings
        var minutes: [[Int64]]
    }

    private enum Event: Codable, Hashable {
        case text(String)
        case minute(Int)

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let minute = try? value.decode(Int.self) { self = .minute(minute) } else { self = .text(try value.decode(String.self)) }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .minute(let minute): try container.encode(minute)
            }
        }
    }

    private struct Vector: Codable {
        var name: String
        var rule: Settings
        /// [minutes, attempts a minute, bad a minute]
        var runs: [[Int64]]
        var story: [[Event]]

        var example: Case { Case(rule: rule, minutes: runs.flatMap { Array(repeating: [$0[1], $0[2]], count: Int($0[0])) }) }
    }

    private static func vectors() throws -> [Vector] {
        let data = try Data(contentsOf: root.appending(path: "Conformance/alert.ratio.json"))
        return try JSONDecoder().decode([Vector].self, from: data)
    }

    /// As the second implementation writes it: kind, the minute that decided, the first bad minute or the end.
    private static func story(_ example: Case) -> [[Event]] {
        let counts = example.minutes.map { AttemptCounts(attempts: $0[0], bad: $0[1]) }
        let history = GroupHistory(series: MinuteSeries(first: Make.start, minutes: counts))
        return Make.transitions(example.rule.rule, history).map {
            [.text($0.kind.rawValue), .minute($0.minute - Make.start), .minute(($0.endsAt ?? $0.startsAt) - Make.start)]
        }
    }

    private static func second(_ cases: [Case]) throws -> [[[Event]]] {
        let script = root.appending(path: "Conformance/alert_semantics.py").path(percentEncoded: false)
        let lines = try cases.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
        return try SecondImplementation.run(script, lines: lines).map { try JSONDecoder().decode([[Event]].self, from: Data($0.utf8)) }
    }

    @Test("the vectors are what both come to")
    func vectors() throws {
        let vectors = try Self.vectors()
        #expect(vectors.count >= 12)
        for vector in vectors { #expect(Self.story(vector.example) == vector.story, "\(vector.name)") }
        let second = try Self.second(vectors.map(\.example))
        for (vector, story) in zip(vectors, second) { #expect(story == vector.story, "\(vector.name), second implementation") }
        #expect(second.count == vectors.count)
    }

    @Test("on random traffic both decide the same at every minute")
    func matrix() throws {
        let shares = [0, 0, 0.01, 0.04, 0.06, 0.09, 0.3, 1]
        let rules = [(1, 20, 15, "99%"), (1, 100, 10, "99.9%"), (1, 20, 120, "99%"), (1, 5, 10, "off")].map {
            Settings(num: $0.0, den: $0.1, window: $0.2, guardText: $0.3, reopen: $0.2 == 10 ? 0 : 120)
        }
        var random = Seeded(seed: 4_242)
        let cases = (0..<40).map { index -> Case in
            var minutes: [[Int64]] = []
            while minutes.count < 900 {
                let rate = [0, 1, 1, 4, 12, 60, 400][Int.random(in: 0..<7, using: &random)] as Int64
                let share = shares[Int.random(in: shares.indices, using: &random)]
                for _ in 0..<Int.random(in: 1...70, using: &random) {
                    let attempts = Int64.random(in: 0...(2 * rate), using: &random)
                    minutes.append([attempts, random.binomial(attempts, share)])
                }
            }
            return Case(rule: rules[index % rules.count], minutes: minutes)
        }
        let stories = cases.map(Self.story)
        let second = try Self.second(cases)
        for (index, story) in stories.enumerated() { #expect(second[index] == story, "case \(index)") }
        let kinds = Set(stories.flatMap { $0.compactMap(\.first) })
        #expect(kinds == [.text("fired"), .text("resolved"), .text("reopened")] && stories.reduce(0) { $0 + $1.count } > 100)
    }
}
