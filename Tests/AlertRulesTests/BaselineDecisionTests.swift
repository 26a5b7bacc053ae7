import AlertRules
import Testing

@Suite("baseline/1")
struct BaselineDecisionTests {
    static let key = GroupKey([.provider: "apns", .platform: "ios", .environment: "production", .pushType: "alert"])

    private func history(_ runs: [(minutes: Int, attempts: Int64, bad: Int64)], excluding excluded: [Range<Minute>] = []) -> GroupHistory {
        GroupHistory(
            group: GroupKey(),
            strata: [StratumHistory(key: Self.key, series: Make.series(runs), excluding: excluded)]
        )
    }

    private func kinds(_ runs: [(minutes: Int, attempts: Int64, bad: Int64)]) -> [Transition.Kind] {
        Make.transitions(Make.spike(version: .one), history(runs)).map(\.kind)
    }

    @Test("3.0 × the weekly baseline is silent; just above fires", arguments: [1, 3, 7, 13] as [Int64])
    func threshold(share: Int64) {
        // An hour of 1,000 attempts a minute: E = 60 · share.
        let week = [(minutes: 8 * 1440, attempts: Int64(1000), bad: share)]
        #expect(kinds(week + [(180, 1000, 3 * share)]) == [])
        #expect(kinds(week + [(60, 1000, 3 * share), (1, 1000, 3 * share + 1), (59, 1000, 3 * share)]) == [.fired])
        #expect(kinds(week + [(180, 1000, 3 * share + 1)]) == [.fired])
    }

    @Test("the alert carries observed, expected and when the rise began")
    func evidence() throws {
        let transitions = Make.transitions(Make.spike(version: .one), history([(8 * 1440, 100, 1), (3, 100, 1), (180, 100, 30)]))
        let fired = try #require(transitions.first)
        #expect(fired.evidence.level == .reference && fired.evidence.definition == "baseline/1")
        #expect(abs(try #require(fired.evidence.expected) - 60) < 1e-6)
        #expect(fired.firedAt - Make.start == 8 * 1440 + 10)
        #expect(fired.startsAt - Make.start == 8 * 1440 + 3)
        #expect(fired.evidence.thresholdText == "3×")
    }

    @Test("an eightfold yesterday does not mask a fourfold today")
    func yesterday() {
        let transitions = Make.transitions(
            Make.spike(version: .one),
            history([(7 * 1440, 100, 1), (1440, 100, 8), (1440, 100, 1), (600, 100, 1), (120, 100, 4)])
        )
        #expect(transitions.map(\.kind) == [.fired, .resolved, .fired])
    }

    @Test("an incident of eight days does not resolve itself by becoming normal")
    func longIncident() {
        let transitions = Make.transitions(Make.spike(version: .one), history([(8 * 1440, 100, 1), (9 * 1440, 100, 8)]))
        #expect(transitions.map(\.kind) == [.fired])
        let after = Make.transitions(Make.spike(version: .one), history([(8 * 1440, 100, 1), (8 * 1440, 100, 8), (180, 100, 1)]))
        #expect(after.map(\.kind) == [.fired, .resolved])
    }

    @Test("a zero baseline with 40 of 1,000 fires, and resolves when a full window would have shown it")
    func zeroBaseline() throws {
        let runs: [(minutes: Int, attempts: Int64, bad: Int64)] = [(8 * 1440, 17, 0), (10, 100, 4), (1440 * 2, 17, 0)]
        let transitions = Make.transitions(Make.spike(version: .one), history(runs))
        #expect(transitions.map(\.kind) == [.fired, .resolved])
        #expect(try #require(transitions.first).evidence.observed.counts.bad >= 10)
        #expect(kinds([(8 * 1440, 17, 0), (1440, 17, 0)]) == [])
        #expect(kinds([(8 * 1440, 17, 0), (3, 17, 3), (120, 17, 0)]) == [])
    }

    @Test("with less than seven days it learns: a ticket at most, and nothing below 10 %")
    func learning() throws {
        #expect(kinds([(2 * 1440, 100, 1), (180, 100, 9)]) == [])
        let transitions = Make.transitions(Make.spike(version: .one), history([(2 * 1440, 100, 1), (180, 100, 20), (180, 100, 1)]))
        let fired = try #require(transitions.first)
        #expect(transitions.map(\.kind) == [.fired, .resolved])
        #expect(fired.evidence.level == .learning && fired.severity == .ticket && fired.evidence.expected == nil)
        #expect(fired.evidence.thresholdText == "10 %")
        let silent = Make.spike(version: .one) { $0.warnAbove = nil }
        #expect(Make.transitions(silent, history([(2 * 1440, 100, 1), (180, 100, 20)])) == [])
    }

    @Test("a ticket of a learning baseline ends where the page of a learned one begins")
    func learned() {
        // 2 h of window and gap pass before seven days are known.
        let transitions = Make.transitions(Make.spike(version: .one), history([(6 * 1440, 100, 1), (1440 + 240, 100, 20)]))
        #expect(transitions.map(\.kind) == [.fired, .resolved, .fired])
        #expect(transitions.map(\.reason) == [.conditionMet, .learned, .conditionMet])
        #expect(transitions.map(\.severity) == [.ticket, .ticket, .page])
    }

    @Test("ten times the broadcasts, at their own healthy share, are silent")
    func mixShift() {
        let live = GroupKey([.provider: "apns", .platform: "ios", .pushType: "liveactivity"])
        let alert = GroupKey([.provider: "apns", .platform: "ios", .pushType: "alert"])
        func history(broadcastBad: Int64) -> GroupHistory {
            let steady = Make.series([(8 * 1440 + 180, 1000, 3)])
            let broadcast = Make.series([(8 * 1440, 100, 3), (180, 1000, broadcastBad)])
            return GroupHistory(
                group: GroupKey([.provider: "apns"]),
                strata: [StratumHistory(key: live, series: steady), StratumHistory(key: alert, series: broadcast)]
            )
        }
        #expect(Make.transitions(Make.spike(version: .one), history(broadcastBad: 30)) == [])
        #expect(Make.transitions(Make.spike(version: .one), history(broadcastBad: 120)).map(\.kind) == [.fired])
    }

    @Test("no baseline is trained on excluded minutes")
    func exclusions() {
        let runs: [(minutes: Int, attempts: Int64, bad: Int64)] = [(4 * 1440, 100, 1), (4 * 1440, 100, 4), (1440, 100, 1), (180, 100, 5)]
        // Four bad days of seven lift the median, so that fivefold looks like little.
        #expect(Make.transitions(Make.spike(version: .one), history(runs)).count { $0.firedAt - Make.start > 9 * 1440 } == 0)
        let incident = (Make.start + 4 * 1440)..<(Make.start + 8 * 1440)
        let trained = Make.transitions(Make.spike(version: .one), history(runs, excluding: [incident]))
        #expect(trained.count { $0.firedAt - Make.start > 9 * 1440 } == 1)
    }

    @Test("little traffic takes a longer window")
    func longerWindows() throws {
        // 0.6 bad attempts an hour are expected, 3.6 in six hours.
        let sparse = (0..<(9 * 24)).flatMap { hour -> [(minutes: Int, attempts: Int64, bad: Int64)] in
            [(59, 1, 0), (1, 1, hour % 5 < 3 ? 1 : 0)]
        }
        let fired = try #require(Make.transitions(Make.spike(version: .one), history(sparse + [(120, 1, 1)])).first)
        #expect(fired.evidence.observed.minutes == 360)
    }

    @Test("without traffic the alert keeps firing")
    func silence() {
        #expect(kinds([(8 * 1440, 100, 1), (60, 100, 10), (3 * 1440, 0, 0)]) == [.fired])
    }

    @Test("when traffic drops, an incident that is over is not found again in a longer window")
    func dropInTraffic() {
        let day: [(minutes: Int, attempts: Int64, bad: Int64)] = [(8 * 1440, 100, 1), (60, 100, 80), (90, 100, 1)]
        #expect(kinds(day + [(12 * 60, 0, 0)]) == [.fired, .resolved])
        #expect(kinds(day + [(100, 0, 0), (12 * 60, 2, 0)]) == [.fired, .resolved])
    }
}
