import AlertRules
import Foundation
import Testing

/// docs/alert-semantics.md, written twice: here the evaluator, and Tests/Conformance/baseline_semantics.py from the document alone.
@Suite("The semantics of a baseline, by two implementations")
struct BaselineSemanticsTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    /// One part of the traffic: [attempts, bad] of each slot of five minutes.
    private struct Stratum: Codable {
        /// Strata that differ in `appMajor` alone are of one family.
        var family = "alert"
        var major: String?
        var slots: [[Int64]]

        var key: GroupKey { GroupKey([.provider: "apns", .pushType: family].merging(major.map { [.appMajor: $0] } ?? [:]) { $1 }) }

        var series: MinuteSeries {
            let minutes = slots.flatMap { slot in
                [AttemptCounts(attempts: slot[0], bad: slot[1])] + Array(repeating: AttemptCounts(), count: 4)
            }
            return MinuteSeries(first: Make.start, minutes: minutes)
        }
    }

    /// What a person called normal: from a slot on, a share for each stratum, or none.
    private struct Accepted: Codable {
        var slot: Int
        var shares: [Double?]
    }

    private struct Case: Codable {
        var strata: [Stratum]
        /// Hours from the start.
        var excluded: [Int]?
        var accepted: Accepted?

        var history: GroupHistory {
            let hours = (excluded ?? []).map { (Make.start + $0 * 60)..<(Make.start + ($0 + 1) * 60) }
            let strata = strata.map { StratumHistory(key: $0.key, series: $0.series, excluding: hours) }
            var history = GroupHistory(group: GroupKey([.provider: "apns"]), strata: strata)
            history.acceptances = [accepted].compactMap { $0 }.map { accepted in
                let shares = zip(self.strata, accepted.shares).compactMap { stratum, share in
                    share.map { FrozenShare(stratum: stratum.key, share: $0) }
                }
                return BaselineAcceptance(from: Make.start + accepted.slot * 5, shares: shares)
            }
            return history
        }
    }

    private struct Vector: Codable {
        var name: String
        /// [slots of five minutes, attempts of each, bad of each]
        var runs: [[Int64]]
        var story: [String]

        var example: Case { Case(strata: [Stratum(slots: runs.flatMap { Array(repeating: [$0[1], $0[2]], count: Int($0[0])) })]) }
    }

    /// Kind, level and slot.
    private static func story(_ example: Case) -> [String] {
        Make.transitions(Make.spike(), example.history).map {
            let kind = [.relearned, .accepted].contains($0.reason) ? $0.reason.rawValue : $0.kind.rawValue
            return "\(kind) \($0.evidence.level.rawValue) \(($0.minute - Make.start) / 5)"
        }
    }

    private static func second(_ cases: [Case]) throws -> [[String]] {
        let script = root.appending(path: "Conformance/baseline_semantics.py").path(percentEncoded: false)
        let lines = try cases.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
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
        for vector in vectors { #expect(Self.story(vector.example) == vector.story, "\(vector.name)") }
        let second = try Self.second(vectors.map(\.example))
        for (vector, story) in zip(vectors, second) { #expect(story == vector.story, "\(vector.name), second implementation") }
        #expect(second.count == vectors.count)
    }

    /// Slots of a part of the traffic: silent before `from`; from `healthy` on with other volumes, shares and gaps.
    private static func slots(
        rate: Int64,
        share: Double,
        from: Int = 0,
        healthy: Int,
        until end: Int,
        using random: inout Seeded
    ) -> [[Int64]] {
        var slots = [[Int64]](repeating: [0, 0], count: from)
        while slots.count < end {
            let isFaulty = slots.count >= healthy
            let volume = isFaulty ? [0, 1, 1, 1, 1, 4, 25][Int.random(in: 0..<7, using: &random)] as Int64 : 1
            let multiple = isFaulty ? [1, 1, 4, 6, 15][Int.random(in: 0..<5, using: &random)] : 1.0
            let length = isFaulty ? [6, 24, 48, 100, 2400][Int.random(in: 0..<5, using: &random)] : 288
            for _ in 0..<min(length, end - slots.count) {
                let attempts = Int64.random(in: 0...(2 * rate), using: &random) * volume
                slots.append([attempts, random.binomial(attempts, min(1, (share + (isFaulty ? 0.002 : 0)) * multiple))])
            }
        }
        return slots
    }

    private static func rate(_ random: inout Seeded) -> Int64 { [1, 4, 10, 60, 300][Int.random(in: 0..<5, using: &random)] }

    private static func share(_ random: inout Seeded) -> Double { [0, 0.005, 0.02][Int.random(in: 0..<3, using: &random)] }

    /// Eight to ten healthy days, then faults, campaigns and silence.
    private static func weeks(using random: inout Seeded) -> Case {
        let healthy = 288 * Int.random(in: 8...10, using: &random)
        let slots = slots(rate: rate(&random), share: share(&random), healthy: healthy, until: 288 * 20, using: &random)
        return Case(strata: [Stratum(slots: slots)])
    }

    /// Kinds of pushes with shares of their own, in several versions, of which some are new.
    private static func strata(using random: inout Seeded) -> Case {
        let keys: [(String, String?)] = [("alert", "3"), ("alert", "4"), ("alert", nil), ("background", "3"), ("liveactivity", nil)]
        let strata = keys.shuffled(using: &random).prefix(Int.random(in: 2...5, using: &random)).map { family, major in
            let from = 288 * [0, 0, 0, 5, 9, 11][Int.random(in: 0..<6, using: &random)] + Int.random(in: 0..<288, using: &random)
            let healthy = 288 * Int.random(in: 9...13, using: &random)
            let slots = slots(
                rate: rate(&random),
                share: share(&random),
                from: from,
                healthy: healthy,
                until: 288 * 17,
                using: &random
            )
            return Stratum(family: family, major: major, slots: slots)
        }
        return Case(strata: strata)
    }

    /// A past with holes, as imports leave it, and silence of days; then traffic.
    private static func beginnings(using random: inout Seeded) -> Case {
        var slots: [[Int64]] = []
        let share = share(&random)
        while slots.count < 288 * 20 {
            slots += [[Int64]](repeating: [0, 0], count: 288 * [0, 1, 2, 13, 15][Int.random(in: 0..<5, using: &random)])
            let end = slots.count + 288 * Int.random(in: 2...9, using: &random)
            slots += Self.slots(rate: rate(&random), share: share, healthy: 288 * 8, until: end - slots.count, using: &random)
        }
        return Case(strata: [Stratum(slots: slots)])
    }

    /// A load test that is left out of the past, and a level that somebody accepted.
    private static func decided(using random: inout Seeded) -> Case {
        var example = Bool.random(using: &random) ? weeks(using: &random) : strata(using: &random)
        let hour = Int.random(in: 150...300, using: &random)
        example.excluded = Array(hour..<(hour + Int.random(in: 1...60, using: &random)))
        example.accepted = Accepted(
            slot: 288 * Int.random(in: 10...14, using: &random) + Int.random(in: 0..<288, using: &random),
            shares: example.strata.map { _ in Bool.random(using: &random) ? Double.random(in: 0...0.05, using: &random) : nil }
        )
        return example
    }

    @Test("on random weeks both decide the same at every slot")
    func matrix() throws {
        var random = Seeded(seed: 4_243)
        let cases = (0..<4).flatMap { _ in
            [Self.weeks(using: &random), Self.strata(using: &random), Self.beginnings(using: &random), Self.decided(using: &random)]
        }
        let stories = cases.map(Self.story)
        let second = try Self.second(cases)
        #expect(second.count == cases.count)
        for (index, story) in stories.enumerated() { #expect(second[index] == story, "case \(index)") }
        let kinds = Set(stories.joined().compactMap { $0.split(separator: " ").prefix(2).joined(separator: " ") })
        let wanted = ["fired reference", "fired unusual_volume", "fired learning", "fired new_normal", "resolved reference"]
        #expect(kinds.isSuperset(of: wanted + ["reopened reference", "relearned reference", "accepted reference"]), "\(kinds)")
        #expect(stories.joined().count > 70, "\(stories.joined().count)")
    }
}
