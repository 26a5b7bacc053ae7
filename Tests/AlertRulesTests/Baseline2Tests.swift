import Foundation
import Testing

@testable import AlertRules

@Suite("baseline/2")
struct Baseline2Tests {
    typealias Runs = [(minutes: Int, attempts: Int64, bad: Int64)]

    private static let week: Runs = [(9 * 1440, 100, 1)]

    private func transitions(_ runs: Runs) -> [Transition] { Make.transitions(Make.spike(), Make.history(runs)) }

    /// Kind, reason, level, severity, and minutes since the end of the ninth day.
    private func story(_ runs: Runs) -> [String] {
        transitions(runs).map {
            "\($0.kind) \($0.reason.rawValue) \($0.evidence.level.rawValue) \($0.severity) @\($0.minute + 1 - Make.start - 9 * 1440)"
        }
    }

    @Test("version 2: exactly three times is silent, just above fires within the hour")
    func threshold() throws {
        #expect(story(Self.week + [(1440, 100, 3)]) == [])
        #expect(story([(9 * 1440, 1000, 10), (60, 1000, 30), (60, 1000, 31)]).isEmpty == false)
        let fired = try #require(transitions(Self.week + [(180, 100, 4)]).first)
        #expect(fired.kind == .fired && fired.evidence.definition == "baseline/2" && fired.firedAt - Make.start - 9 * 1440 <= 60)
        #expect(fired.startsAt - Make.start == 9 * 1440 && fired.severity == .page)
        #expect(abs(try #require(fired.evidence.expected) - 60) < 1e-6)
    }

    @Test("a rise above three times that chance may explain is silent; the same rise of ten times as many fires")
    func chance() {
        // 3 failures an hour are usual, 10 in an hour are the rise.
        func rise(_ times: Int64) -> [String] {
            let attempts = 5 * times
            let usual: Runs = (0..<9 * 72).flatMap { _ -> Runs in [(15, attempts, 0), (1, attempts, times), (4, attempts, 0)] }
            let half: Runs = (0..<5).flatMap { _ -> Runs in [(1, attempts, times), (4, attempts, 0)] } + [(5, attempts, 0)]
            return story(usual + half + half)
        }
        #expect(rise(1) == [])
        #expect(rise(10).first?.hasPrefix("fired condition_met reference page") == true)
    }

    @Test("195 old sends are too few to train a baseline: a launch on them is a learning group, and pages nobody")
    func newcomer() {
        let old: Runs = [(195, 1, 0), (1440 - 195, 0, 0), (9 * 1440, 0, 0)]
        // One of 200 fails, at ten a minute.
        let launch: Runs = (0..<(3 * 72)).flatMap { _ -> Runs in [(19, 10, 0), (1, 10, 1)] }
        #expect(story(old + launch) == [])
        let first = Make.transitions(Make.spike(version: .one), Make.history(old + launch)).first
        #expect(first?.severity == .page, "version 1 shows what this is about")
    }

    @Test("seven days with fifty attempts each and 700 together train a baseline; six do not, and two weeks without any end it")
    func ready() {
        func level(days: Int, attempts: Int64, pause: Int) -> Evidence.Level? {
            let training: Runs = (0..<days).flatMap { _ -> Runs in [(1, attempts, 0), (1439, 0, 0)] }
            return transitions(training + [(pause * 1440, 0, 0), (120, 100, 50)]).first?.evidence.level
        }
        #expect(level(days: 7, attempts: 100, pause: 1).map { $0 != .learning } == true)
        #expect(level(days: 6, attempts: 1000, pause: 1) == .learning)
        #expect(level(days: 7, attempts: 99, pause: 1) == .learning)
        #expect(level(days: 9, attempts: 49, pause: 1) == .learning)
        #expect(level(days: 8, attempts: 1000, pause: 14).map { $0 != .learning } == true)
        #expect(level(days: 8, attempts: 1000, pause: 16) == .learning)
    }

    @Test("a purge that has ended pages no more: no window reads back over its end")
    func purge() {
        // 2 % as usual at one a minute, then 25 times the sends of which a quarter fail, then a few failures close together.
        let usual: Runs = (0..<(9 * 1440 / 50)).flatMap { _ -> Runs in [(49, 1, 0), (1, 1, 1)] } + [(10, 1, 0)]
        let after: Runs = [(180, 1, 0), (20, 1, 0), (3, 1, 1), (23, 1, 0)] + (0..<60).flatMap { _ -> Runs in [(49, 1, 0), (1, 1, 1)] }
        let all = story(usual + [(120, 25, 6)] + after)
        #expect(all.count { $0.hasPrefix("fired") } == 1 && all.count { $0.hasPrefix("resolved") } == 1, "\(all)")
        #expect(!all.contains { $0.hasPrefix("reopened") }, "\(all)")
    }

    @Test("a rise under unusual volume is a ticket; when the volume is usual again and it goes on, a page takes its place")
    func surge() {
        let launch = story(Self.week + [(120, 400, 24), (240, 100, 6), (240, 100, 1)])
        #expect(
            launch.map { $0.components(separatedBy: " ").dropFirst(0).prefix(4).joined(separator: " ") }.first
                == "fired condition_met unusual_volume ticket"
        )
        #expect(launch.contains { $0.hasPrefix("resolved replaced unusual_volume ticket") }, "\(launch)")
        #expect(launch.contains { $0.hasPrefix("fired condition_met reference page") }, "\(launch)")
        let over = story(Self.week + [(120, 400, 24), (480, 100, 1)])
        #expect(over.map { $0.components(separatedBy: " ")[3] } == ["ticket", "ticket"], "\(over)")
    }

    @Test("the same failures prove less against a reference of few: what is not known about it is part of the test")
    func uncertainty() {
        let reference = { (bad: Double, attempts: Double) -> Double in
            var expectation = Expectation()
            var counts = TrainingCounts()
            (counts.attempts, counts.bad) = (Int64(attempts), bad)
            expectation.add(1000, Baseline2Reference.Cell(counts, minShare: 1e-4))
            return expectation.tail(atLeast: 12, chance: 2.3)
        }
        // One in a thousand each: of 100 attempts' weight, and of 100,000.
        #expect(reference(1, 1000) > 100 * reference(1000, 1_000_000))
        #expect(abs(GammaPoissonTail.incompleteBeta(0.3, 2, 3) - 0.3483) < 1e-9)
        #expect(abs(GammaPoissonTail.incompleteBeta(0.9, 12, 1) - pow(0.9, 12)) < 1e-12)
    }

    @Test("a level that lasts seven days is learned anew, with a ticket; it fires no more, and three times as much does")
    func relearned() {
        let all = story(Self.week + [(12 * 1440, 100, 6)])
        let day = 1440
        #expect(all.count == 4, "\(all)")
        #expect(all.first?.hasPrefix("fired condition_met reference page") == true)
        #expect(all.dropFirst().first == "resolved relearned reference page @\(8 * day + 65)", "\(all)")
        #expect(all.dropFirst(2).first == "fired condition_met new_normal ticket @\(8 * day + 65)", "\(all)")
        #expect(all.last?.hasPrefix("resolved recovered new_normal ticket") == true)
        #expect(story(Self.week + [(12 * day, 100, 6), (180, 100, 20)]).last?.hasPrefix("fired condition_met reference page") == true)
        #expect(story(Self.week + [(12 * day, 100, 6), (180, 100, 18)]).count == 4)
    }

    @Test("what is usual doubles slowly: a ticket says so, and nobody is paged")
    func drift() {
        let all = story([(9 * 1440, 1000, 10)] + (0..<20).map { (1440, 1000, Int64(10 + $0)) })
        #expect(all.map { $0.components(separatedBy: " ")[2] } == ["new_normal", "new_normal"], "\(all)")
    }

    @Test("an end on little traffic is taken back by what resembles the fault: the same alert")
    func reopened() {
        // Forty attempts in the good hours do not prove that a fault of 4 % is over.
        let all = story(Self.week + [(180, 100, 4), (130, 1, 0), (180, 100, 4)])
        #expect(all.map { $0.components(separatedBy: " ")[0] } == ["fired", "resolved", "reopened"], "\(all)")
        let proven = story(Self.week + [(180, 100, 4), (180, 100, 1), (180, 100, 4)])
        #expect(proven.map { $0.components(separatedBy: " ")[0] } == ["fired", "resolved", "fired"], "\(proven)")
    }

    @Test("the first broadcast of a kind is compared with nothing: a tenth at most is its own share, more is a ticket")
    func newStratum() {
        func history(bad: Int64) -> GroupHistory {
            let alert = GroupKey([.provider: "apns", .pushType: "alert"])
            let live = GroupKey([.provider: "apns", .pushType: "liveactivity"])
            let strata = [
                StratumHistory(key: alert, series: Make.series([(9 * 1440 + 180, 100, 1)])),
                StratumHistory(key: live, series: Make.series([(9 * 1440, 0, 0), (120, 100, bad), (60, 0, 0)])),
            ]
            return GroupHistory(group: GroupKey([.provider: "apns"]), strata: strata)
        }
        #expect(Make.transitions(Make.spike(), history(bad: 8)) == [])
        let ticket = Make.transitions(Make.spike(), history(bad: 20))
        #expect(ticket.first?.evidence.level == .learning && ticket.first?.severity == .ticket, "\(ticket)")
    }

    @Test("a new major version is expected to fail as its family does")
    func family() {
        func history(bad: Int64) -> GroupHistory {
            let old = GroupKey([.provider: "apns", .appMajor: "3"])
            let new = GroupKey([.provider: "apns", .appMajor: "4"])
            let strata = [
                StratumHistory(key: old, series: Make.series([(9 * 1440, 100, 2), (180, 0, 0)])),
                StratumHistory(key: new, series: Make.series([(9 * 1440, 0, 0), (180, 100, bad)])),
            ]
            return GroupHistory(group: GroupKey([.provider: "apns"]), strata: strata)
        }
        #expect(Make.transitions(Make.spike(), history(bad: 5)) == [])
        #expect(Make.transitions(Make.spike(), history(bad: 9)).first?.evidence.level == .reference)
    }

    @Test("with an accepted level all days have the same share: rounding does not make the last two the reference")
    func acceptedShare() throws {
        for share in [0.02, 0.03, 0.007, 0.013, 0.006_896_575_511_173_686] {
            for rate in 1...8 as ClosedRange<Int64> {
                let rates = (0..<7).map { rate + 3 * Int64($0) }
                var history = Make.history(rates.map { (minutes: 1440, attempts: $0, bad: 0) } + [(120, 1, 0)])
                let from = Make.start + 7 * 1440
                history.acceptances = [BaselineAcceptance(from: from, shares: [FrozenShare(stratum: GroupKey(), share: share)])]
                let condition = BaselineCondition(reasons: ["x"], above: Fraction(3, 1), version: .two)
                let references = Baseline2References(condition, history)
                let reference = try #require(references.reference(day: Make.start.day + 6, at: from + 60, BaselineMemory()))
                #expect(reference.whole.attempts == Double(rates.reduce(0, +) * 1440), "\(share), \(rate)")
            }
        }
    }

    @Test("a fold in pieces, by way of what is stored, gives what a whole one gives; only sums of a day matter, not their order")
    func restarts() throws {
        let runs: Runs = Self.week + [(120, 400, 24), (240, 100, 6), (130, 1, 0), (180, 100, 6), (600, 100, 1)]
        let history = Make.history(runs)
        let (rule, last) = (Make.spike(), history.total.end - 1)
        let whole = Make.transitions(rule, history)
        #expect(whole.count >= 5, "\(whole.map(\.kind))")
        let start = RuleEvaluation.fold(rule, history, from: AlertState(asOf: Make.start - 1), through: Make.start + 9 * 1440)
        for cut in stride(from: 3, to: last - (Make.start + 9 * 1440), by: 13) {
            let early = RuleEvaluation.fold(rule, history, from: start.state, through: Make.start + 9 * 1440 + cut)
            let stored = try JSONDecoder().decode(AlertState.self, from: JSONEncoder().encode(early.state))
            let late = RuleEvaluation.fold(rule, history, from: stored, through: last)
            #expect(start.transitions + early.transitions + late.transitions == whole, "cut at \(cut)")
        }
    }
}
