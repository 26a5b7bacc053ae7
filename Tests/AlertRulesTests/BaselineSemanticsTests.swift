import AlertRules
import Foundation
import Testing

/// docs/alert-semantics.md, written twice: here the evaluator, and Tests/Conformance/baseline_semantics.py from the document alone.
@Suite("The semantics of a baseline, by two implementations")
struct BaselineSemanticsTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    private struct Vector: Codable {
        var name: String
        /// [slots of five minutes, attempts of each, bad of each]
        var runs: [[Int64]]
        var story: [String]

        var slots: [[Int64]] { runs.flatMap { Array(repeating: [$0[1], $0[2]], count: Int($0[0])) } }
    }

    /// Kind, level and slot.
    private static func story(_ slots: [[Int64]]) -> [String] {
        let minutes = slots.flatMap { slot in
            [AttemptCounts(attempts: slot[0], bad: slot[1])] + Array(repeating: AttemptCounts(), count: 4)
        }
        return Make.transitions(Make.spike(), GroupHistory(series: MinuteSeries(first: Make.start, minutes: minutes))).map {
            let kind = $0.reason == .relearned ? $0.reason.rawValue : $0.kind.rawValue
            return "\(kind) \($0.evidence.level.rawValue) \(($0.minute - Make.start) / 5)"
        }
    }

    private static func second(_ cases: [[[Int64]]]) throws -> [[String]] {
        let script = root.appending(path: "Conformance/baseline_semantics.py").path(percentEncoded: false)
        let lines = try cases.map { String(decoding: try JSONEncoder().encode(["slots": $0]), as: UTF8.self) }
        return try SecondImplementation.run(script, lines: lines).map { line in
            let events = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [[Any]] ?? []
            return events.map { $0.map { "\($0)" }.joined(separator: " ") }
        }
    }

    @Test("the vectors are what both come to")
    func vectors() throws {
        let data = try Data(contentsOf: Self.root.appending(path: "Conformance/alert.baseline.json"))
        let vectors = try JSONDecoder().decode([Vector].self, from: data)
        #expect(vectors.count >= 8)
        for vector in vectors { #expect(Self.story(vector.slots) == vector.story, "\(vector.name)") }
        let second = try Self.second(vectors.map(\.slots))
        for (vector, story) in zip(vectors, second) { #expect(story == vector.story, "\(vector.name), second implementation") }
        #expect(second.count == vectors.count)
    }

    @Test("on random weeks both decide the same at every slot")
    func matrix() throws {
        var random = Seeded(seed: 4_243)
        let cases = (0..<12).map { _ -> [[Int64]] in
            let (rate, share) = (
                [2, 10, 60, 300][Int.random(in: 0..<4, using: &random)] as Int64, [0, 0.005, 0.02][Int.random(in: 0..<3, using: &random)]
            )
            let healthy = 288 * Int.random(in: 8...10, using: &random)
            var slots: [[Int64]] = []
            while slots.count < 288 * 22 {
                let isFaulty = slots.count >= healthy
                let volume = isFaulty ? [0, 1, 1, 1, 4, 25][Int.random(in: 0..<6, using: &random)] as Int64 : 1
                let multiple = isFaulty ? [1, 1, 3, 5, 12][Int.random(in: 0..<5, using: &random)] : 1.0
                let length = isFaulty ? [6, 24, 100, 600, 2400][Int.random(in: 0..<5, using: &random)] : 288
                for _ in 0..<length {
                    let attempts = Int64.random(in: 0...(2 * rate), using: &random) * volume
                    slots.append([attempts, random.binomial(attempts, min(1, (share + (isFaulty ? 0.002 : 0)) * multiple))])
                }
            }
            return slots
        }
        let stories = cases.map(Self.story)
        let second = try Self.second(cases)
        for (index, story) in stories.enumerated() { #expect(second[index] == story, "case \(index)") }
        let kinds = Set(stories.joined().compactMap { $0.split(separator: " ").prefix(2).joined(separator: " ") })
        #expect(kinds.isSuperset(of: ["fired reference", "fired unusual_volume", "resolved reference", "fired new_normal"]), "\(kinds)")
        #expect(stories.joined().count > 60)
    }
}
