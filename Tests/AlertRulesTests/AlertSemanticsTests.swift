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
        var version: Int64?
        var minBlocked: Int64?
        var resolveWithin: Int?

        enum CodingKeys: String, CodingKey {
            case num, den, window, reopen, version
            case guardText = "guard"
            case minBlocked = "min_blocked"
            case resolveWithin = "resolve_within"
        }

        var rule: AlertRule {
            let version = version.flatMap(RatioCondition.Version.init) ?? .two
            let length = RuleDuration(minutes: window)
            var ratio = RatioCondition(reasons: ["provider_5xx"], above: Fraction(num, den), for: length, version: version)
            ratio.guardConfidence = WilsonBound(rawValue: guardText)
            ratio.reopenWithin = RuleDuration(minutes: reopen)
            ratio.minBlocked = minBlocked
            if let resolveWithin { ratio.resolveWithin = RuleDuration(minutes: resolveWithin) }
            return Make.rule(.ratio(ratio))
        }
    }

    private struct Case: Codable {
        var rule: Settings
        var minutes: [[Int64]]
        /// Of each minute the open circuits: since when, and how many pushes each blocks.
        var circuits: [[[Int64]]]?

        var history: GroupHistory {
            let counts = minutes.map { AttemptCounts(attempts: $0[0], bad: $0[1]) }
            var history = GroupHistory(series: MinuteSeries(first: Make.start, minutes: counts))
            let open = (circuits ?? []).enumerated().map { index, circuits in
                (Make.start + index, circuits.map { Self.circuit(since: Make.start + Int($0[0]), waiting: $0[1]) })
            }
            history.circuits = CircuitMinutes(Dictionary(uniqueKeysWithValues: open))
            return history
        }

        private static func circuit(since: Minute, waiting: Int64) -> OpenCircuit {
            OpenCircuit(app: "a", environment: "production", cause: "InvalidProviderToken", since: since, waiting: waiting)
        }
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
        Make.transitions(example.rule.rule, example.history).map {
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

    /// Rates and shares that change at random, with silence between.
    private static func traffic(using random: inout Seeded) -> [[Int64]] {
        let shares = [0, 0, 0.01, 0.04, 0.06, 0.09, 0.3, 1]
        var minutes: [[Int64]] = []
        while minutes.count < 900 {
            let rate = [0, 1, 1, 4, 12, 60, 400][Int.random(in: 0..<7, using: &random)] as Int64
            let share = shares[Int.random(in: shares.indices, using: &random)]
            for _ in 0..<Int.random(in: 1...70, using: &random) {
                let attempts = Int64.random(in: 0...(2 * rate), using: &random)
                minutes.append([attempts, random.binomial(attempts, share)])
            }
        }
        return minutes
    }

    /// Up to two circuits at a time, each open for a while and blocking more and more.
    private static func circuits(of minutes: Int, using random: inout Seeded) -> [[[Int64]]] {
        var circuits = [[[Int64]]](repeating: [], count: minutes)
        for _ in 0..<2 {
            var minute = Int.random(in: 0...200, using: &random)
            while minute < minutes {
                let (since, growth) = (minute, Int64.random(in: 0...2, using: &random))
                for age in 0..<Int.random(in: 5...60, using: &random) where since + age < minutes {
                    circuits[since + age].append([Int64(since), growth * Int64(age) / 4])
                    minute = since + age
                }
                minute += Int.random(in: 1...200, using: &random)
            }
        }
        return circuits
    }

    @Test("on random traffic both decide the same at every minute")
    func matrix() throws {
        let rules = [
            Settings(num: 1, den: 20, window: 15, guardText: "99%", reopen: 120),
            Settings(num: 1, den: 100, window: 10, guardText: "99.9%", reopen: 0),
            Settings(num: 1, den: 20, window: 120, guardText: "99%", reopen: 120),
            Settings(num: 1, den: 5, window: 10, guardText: "off", reopen: 0),
            Settings(num: 3, den: 100, window: 10, guardText: "95%", reopen: 30, minBlocked: 5),
            Settings(num: 1, den: 20, window: 15, guardText: "99%", reopen: 0, version: 1),
            Settings(num: 1, den: 20, window: 10, guardText: "99%", reopen: 0, version: 1, minBlocked: 5, resolveWithin: 50),
        ]
        var random = Seeded(seed: 4_242)
        let cases = (0..<56).map { index -> Case in
            let (rule, minutes) = (rules[index % rules.count], Self.traffic(using: &random))
            return Case(
                rule: rule,
                minutes: minutes,
                circuits: rule.minBlocked == nil ? nil : Self.circuits(of: minutes.count, using: &random)
            )
        }
        let stories = cases.map(Self.story)
        let second = try Self.second(cases)
        #expect(second.count == cases.count)
        for (index, story) in stories.enumerated() { #expect(second[index] == story, "case \(index)") }
        let kinds = Set(stories.flatMap { $0.compactMap(\.first) })
        #expect(kinds == [.text("fired"), .text("resolved"), .text("reopened")] && stories.reduce(0) { $0 + $1.count } > 100)
    }
}
