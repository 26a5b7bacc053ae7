import Foundation
import PushContract
import ServiceKit
import Testing

@testable import Cricket

/// A match as a function of time, and its faults.
@Suite
struct ReplayTests {
    private static func notation() -> MatchNotation {
        MatchNotation(
            overs: 6,
            outcome: ["winner": "Ash Town", "by": ["runs": 20]],
            innings: [
                .init(
                    team: "Ash Town",
                    overs: ["Yew: 4 . W 1 wd 6 .", "Fir: 1 lb2 . . 4 .", "Yew: 6 6 6 1 1 1", "Fir: 4 4 1 Wc W .", "Gum: 1 2 6 6 . 1"]
                ),
                .init(
                    team: "Birch City",
                    overs: ["Ivy: 6 6 4 1 2 1", "Elm: . . . . . .", "Ivy: W W W . 4 .", "Elm: 1 6 1 1 2 Wro", "Ivy: W . 1 . Rh 4"]
                ),
            ]
        )
    }

    private let script: MatchScript

    init() throws { script = try Self.notation().script() }

    private func finalState(_ changes: [MatchChange]) -> UnifiedDisplayState? {
        guard var state = changes.last?.display else { return nil }
        // How many states there were before depends on what arrived; when an event stays on the card, too.
        state.seq = 0
        state.updatedAt = 0
        return state
    }

    @Test("the position follows from the clock alone, and freezes in the breaks")
    func position() {
        let pace = ReplayPace(millisecondsPerBall: 1_000, breakSeconds: 60, speed: 2)
        let plan = ReplayPlan(script, startAt: Sample.now, pace: pace)
        #expect(plan.steps[plan.step(at: Sample.now + .seconds(-1))].position.phase == .scheduled)
        #expect(plan.steps[plan.step(at: Sample.now)].position == .init(innings: 1, bowledBalls: 0, phase: .live))
        #expect(plan.steps[plan.step(at: Sample.now + .milliseconds(2_500))].position.bowledBalls == 5)
        let breakAt = plan.steps.first { $0.position.phase == .break }!.milliseconds
        let during = [0, 10_000, 29_999].map { plan.step(at: plan.moment(ofMatchTime: breakAt) + .milliseconds($0)) }
        #expect(Set(during).count == 1)
        #expect(
            plan.steps[plan.step(at: plan.moment(ofMatchTime: breakAt) + .milliseconds(30_000))].position
                == .init(innings: 2, bowledBalls: 0, phase: .live)
        )
        #expect(plan.isOver(at: Sample.now + plan.duration))
    }

    @Test("days of so many overs: stumps, a night, and the next morning goes on with the very same score; none after the last ball")
    func days() {
        var pace = ReplayPace(millisecondsPerBall: 1_000, breakSeconds: 60)
        pace.oversPerDay = 3
        pace.nightSeconds = 1_000
        let plan = ReplayPlan(script, startAt: Sample.now, pace: pace)
        let nights = plan.steps.indices.filter { plan.steps[$0].position.phase == .stumps }
        // Ten overs: a night after the third, the sixth and the ninth.
        #expect(nights.map { plan.steps[$0].position.innings } == [1, 2, 2])
        for night in nights {
            let (evening, morning) = (plan.steps[night - 1], plan.steps[night + 1])
            #expect(morning.milliseconds - plan.steps[night].milliseconds == 1_000_000)
            #expect(evening.position.bowledBalls == plan.steps[night].position.bowledBalls)
            #expect(morning.position == evening.position, "play goes on where it stopped")
        }
        #expect(plan.steps.last?.position.phase == .ended)
        pace.oversPerDay = 5
        let whole = ReplayPlan(script, startAt: Sample.now, pace: pace).steps
        #expect(whole.count { $0.position.phase == .stumps } == 1, "an innings that ends with the day has no break of its own")
        #expect(!whole.contains { $0.position.phase == .break })
    }

    @Test("a replay is the same each time, with faults too", arguments: [[], ReplayFault.allCases])
    func deterministic(faults: [ReplayFault]) {
        let first = Sample.feed(script, faults: Set(faults), seed: 9)
        let second = Sample.feed(script, faults: Set(faults), seed: 9)
        #expect(first.messages == second.messages)
        #expect(first.messages.map { first.score(of: $0) } == second.messages.map { second.score(of: $0) })
        if !faults.isEmpty { #expect(Sample.feed(script, faults: Set(faults), seed: 10).messages != first.messages) }
    }

    @Test("every fault does what it is named for", arguments: ReplayFault.allCases)
    func faults(fault: ReplayFault) {
        let clean = Sample.feed(script).messages
        let spoilt = Sample.feed(script, faults: [fault], seed: 3).messages
        #expect(spoilt != clean)
        #expect(zip(spoilt, spoilt.dropFirst()).allSatisfy { $0.milliseconds <= $1.milliseconds })
        #expect(spoilt.contains { $0.step == clean.last?.step && $0.wrong == nil })
        switch fault {
        case .duplicate: #expect(spoilt.count > clean.count)
        case .gap: #expect(spoilt.count < clean.count)
        case .correct: #expect(spoilt.contains { $0.wrong != nil })
        case .late, .reorder, .stall: #expect(spoilt.count == clean.count)
        }
    }

    @Test("whatever the feed does, the match ends in the same state and never goes back (L-24)", arguments: 0..<40)
    func faultsEndAlike(seed: Int) {
        let clean = Sample.play(Sample.feed(script))
        var random = SplitMix64(seed: UInt64(seed))
        let faults = Set(ReplayFault.allCases.filter { _ in random.hits(oneIn: 2) })
        let changes = Sample.play(Sample.feed(script, faults: faults, seed: UInt64(seed)))
        #expect(finalState(changes)?.innings == finalState(clean)?.innings)
        #expect(finalState(changes)?.status == finalState(clean)?.status)
        #expect(
            zip(changes, changes.dropFirst()).allSatisfy { $0.display.seq < $1.display.seq && $0.display.updatedAt < $1.display.updatedAt }
        )
        if faults.isDisjoint(with: [.correct, .gap, .stall]) {
            #expect(changes.count(.hattrick) == 1)
        }
        if faults.isDisjoint(with: [.correct]) { #expect(changes.count(.wicket) == clean.count(.wicket)) }
    }

    @Test("duplicated and reordered feeds report the same events as an ordered one", arguments: 0..<20)
    func duplicates(seed: Int) {
        let clean = Sample.play(Sample.feed(script, faults: []))
        let changes = Sample.play(Sample.feed(script, faults: [.duplicate], seed: UInt64(seed)))
        #expect(changes.story == clean.story)
        #expect(finalState(changes) == finalState(clean))
    }

    @Test("polling any subset of states reports the same wickets, milestones and innings (L-24)", arguments: 0..<60)
    func anySubset(seed: Int) {
        let feed = Sample.feed(script, detail: .scores)
        let all = Sample.play(feed)
        var random = SplitMix64(seed: UInt64(seed))
        let chance = 2 + random.below(20)
        var memory = MatchMemory()
        var changes: [MatchChange] = []
        for (index, message) in feed.messages.enumerated() {
            guard index == 0 || index == feed.messages.count - 1 || random.hits(oneIn: chance) else { continue }
            let now = feed.plan.moment(ofMatchTime: message.milliseconds)
            guard case .changed(let change) = MatchProgress.step(memory, with: feed.score(of: message), now: now) else { continue }
            memory = change.memory
            changes.append(change)
        }
        for type in [MatchEventType.wicket, .fifty, .hundred, .fiveFor, .inningsEnd, .matchEnd, .targetSet] {
            #expect(changes.count(type) == all.count(type), "\(type)")
        }
        #expect(all.count(.wicket) == 8)
    }
}
