import PushContract
import Testing

@testable import Cricket

/// Cooldowns, staleness, the one key event (L-25, reference §5.4).
@Suite
struct EventTextTests {
    private func event(
        _ type: MatchEventType,
        _ subject: String? = "Oak",
        mark: Int? = nil,
        count: Int = 1,
        at: Timestamp = Sample.now
    ) -> MatchEvent {
        MatchEvent(type, innings: 1, subject: subject, count: count, mark: mark, text: type.rawValue, at: at)
    }

    @Test(
        "an event stays silent for its cooldown, to the second (L-25)",
        arguments: [
            (MatchEventType.six, 19, false), (.six, 20, true), (.four, 19, false), (.four, 20, true), (.batsmanOnFire, 599, false),
            (.batsmanOnFire, 600, true), (.interruption, 299, false), (.interruption, 300, true), (.fifty, 86_400, false),
            (.hundred, 86_400, false), (.fiveFor, 86_400, false), (.maiden, 0, true), (.newBatsman, 0, true),
        ]
    )
    func cooldowns(type: MatchEventType, seconds: Int, isShown: Bool) {
        var cooldowns = Cooldowns()
        #expect(cooldowns.admit([event(type)], now: Sample.now).count == 1)
        let later = Sample.now + .seconds(seconds)
        #expect(!cooldowns.admit([event(type)], now: later).isEmpty == isShown)
        #expect(cooldowns.admit([event(type, "Ash")], now: later).count == 1, "another player's is another event")
        var second = event(type, "Ash")
        second.innings = 2
        #expect(cooldowns.admit([second], now: later).count == 1, "another innings' is another event")
    }

    @Test("wickets cool down by their number, not by time: two in an over both count, a repeated one does not")
    func wickets() {
        var cooldowns = Cooldowns()
        #expect(cooldowns.admit([event(.wicket, nil, mark: 3)], now: Sample.now).count == 1)
        #expect(cooldowns.admit([event(.wicket, nil, mark: 4)], now: Sample.now).count == 1)
        #expect(cooldowns.admit([event(.wicket, nil, mark: 4)], now: Sample.now + .seconds(9_999)).isEmpty)
        #expect(cooldowns.admit([event(.wicket, nil, mark: 6, count: 3)], now: Sample.now).map(\.count) == [2])
    }

    @Test("a wicket that was taken back is reported when it falls after all")
    func retraction() {
        var memory = MatchMemory()
        var told: [MatchEventType] = []
        for (sequence, wickets) in [(1, 0), (2, 1), (3, 0), (4, 1)] {
            let score = Sample.score(Int64(sequence), innings: [Sample.innings(1, sequence, wickets, "1.\(sequence)")])
            guard case .changed(let change) = MatchProgress.step(memory, with: score, now: Sample.now + .seconds(sequence)) else {
                continue
            }
            memory = change.memory
            told += change.events.map(\.type).filter { $0 == .wicket }
            #expect((change.display.key?.type == "wicket") == (wickets == 1), "what was taken back leaves the card")
        }
        #expect(told.count == 2)
    }

    @Test("a match that is abandoned: the card and the alert have the result, else the status of the feed")
    func abandoned() {
        func texts(_ status: String?, _ result: MatchResult?) -> [String] {
            var abandoned = Sample.score(2, phase: .abandoned, result: result)
            abandoned.status = status
            let step = MatchProgress.step(MatchMemory(score: Sample.score(1, phase: .scheduled)), with: abandoned, now: Sample.now)
            guard case .changed(let change) = step else { return [] }
            return [change.display.status] + change.events.map(\.text)
        }
        let status = "Match abandoned: wet outfield"
        #expect(texts(status, nil) == [status, status])
        #expect(texts(status, MatchResult(outcome: .noResult)) == ["No result", "No result"])
        #expect(texts(nil, nil) == ["Abandoned", "Abandoned"])
    }

    /// What each state alerts of.
    private func alerts(_ states: [(at: Int, score: MatchScore)]) -> [[String]] {
        var memory = MatchMemory()
        return states.map { state in
            switch MatchProgress.step(memory, with: state.score, now: Sample.now + .seconds(state.at)) {
            case .changed(let change):
                memory = change.memory
                return change.events.filter { $0.type.urgency == .alert }.map(\.text)
            case .unchanged(let kept):
                memory = kept
                return []
            case .stale, .afterTheEnd: return ["ignored"]
            }
        }
    }

    @Test("an incomplete state retracts nothing: the next one alerts of what is new alone")
    func incomplete() {
        let first = Sample.innings(1, 200, 5, "20.0", closed: true)
        func state(_ sequence: Int64, _ runs: Int, _ wickets: Int, _ overs: String) -> MatchScore {
            Sample.score(sequence, innings: [first, Sample.innings(2, runs, wickets, overs, target: 201)])
        }
        let states = [Sample.score(2), Sample.score(2, innings: [first]), state(2, 0, 0, "0.0"), Sample.score(2, phase: .scheduled)]
        for incomplete in states {
            let (known, next) = (state(1, 160, 4, "15.0"), state(3, 161, 4, "15.1"))
            let reported = alerts([(0, Sample.score(0, phase: .scheduled)), (1, known), (2, incomplete), (3, next)])
            #expect(reported[1].count == 3 && reported[2].isEmpty && reported[3].isEmpty)
            // The match is first seen when it is being played.
            #expect(
                alerts([(1, known), (2, incomplete), (3, next), (4, state(4, 161, 5, "15.2"))])
                    == [[], [], [], ["WICKET! BC 161/5 (15.2)"]]
            )
        }
    }

    @Test("the wickets of a score that goes back by more than an over are silent for two minutes, and are reported if they fall later")
    func farBehind() {
        func state(_ sequence: Int64, _ runs: Int, _ wickets: Int, _ overs: String) -> MatchScore {
            Sample.score(sequence, innings: [Sample.innings(1, runs, wickets, overs)])
        }
        // Old states among new ones.
        #expect(
            alerts([
                (0, state(1, 150, 3, "14.0")), (10, state(2, 160, 4, "15.0")), (20, state(3, 12, 1, "2.0")), (30, state(4, 161, 5, "15.1")),
                (400, state(5, 12, 1, "2.0")), (410, state(6, 162, 5, "15.2")),
            ]) == [[], ["WICKET! AT 160/4 (15.0)"], [], ["WICKET! AT 161/5 (15.1)"], [], []]
        )
        // A score that was never true.
        #expect(
            alerts([
                (0, state(1, 10, 0, "1.2")), (10, state(2, 160, 4, "15.0")), (20, state(3, 10, 0, "1.3")), (150, state(4, 10, 1, "1.4")),
            ]) == [[], ["4 WICKETS! AT 160/4 (15.0)"], [], ["WICKET! AT 10/1 (1.4)"]]
        )
    }

    @Test("expired cooldowns are dropped, so that the record stays small")
    func cooldownsAreDropped() {
        var cooldowns = Cooldowns()
        _ = cooldowns.admit([event(.six)], now: Sample.now)
        #expect(cooldowns.until == ["six/1/Oak": Sample.now.seconds + 20])
        _ = cooldowns.admit([], now: Sample.now + .seconds(20))
        #expect(cooldowns.until.isEmpty)
    }

    @Test("what is surpassed, over or old is stale")
    func staleness() {
        func score(_ runs: Int, state: BatterCard.State = .batting, closed: Bool? = nil, phase: MatchPhase = .live) -> MatchScore {
            let card = BatterCard(name: "Oak", runs: runs, balls: 60, state: state)
            return Sample.score(1, phase: phase, innings: [Sample.innings(1, 120, 2, "10.0", closed: closed, batters: [card])])
        }
        func isStale(_ event: MatchEvent, _ score: MatchScore, _ window: BallWindow = BallWindow(), after seconds: Int = 0) -> Bool {
            event.isStale(in: score, window: window, now: Sample.now + .seconds(seconds))
        }
        #expect(!isStale(event(.fifty), score(51)))
        #expect(isStale(event(.fifty), score(100)))
        #expect(isStale(event(.fifty), score(49)), "corrected")
        #expect(!isStale(event(.hundred), score(101)))
        #expect(isStale(event(.hundred), score(101, closed: true)), "of a closed innings only its end is news")
        #expect(!isStale(event(.inningsEnd, "AT"), score(101, closed: true)))
        #expect(!isStale(event(.six), score(60), after: 60))
        #expect(isStale(event(.six), score(60), after: 61))
        #expect(isStale(event(.batsmanOn90s), score(95, state: .out)))
        #expect(isStale(event(.interruption), score(60)))
        #expect([.interrupted, .stumps, .break].allSatisfy { isStale(event(.resume), score(60, phase: $0)) })
        #expect(!isStale(event(.resume), score(60)))
        #expect(isStale(event(.matchStart), score(0, phase: .scheduled)) && !isStale(event(.matchStart), score(0)))
        #expect(isStale(event(.wicket, nil, mark: 3), score(60)))
        #expect(!isStale(event(.wicket, nil, mark: 2), score(60)))
        var window = BallWindow()
        _ = window.take([Sample.ball(1, wicket: .bowled), Sample.ball(2, wicket: .bowled)], isFirst: true)
        #expect(!isStale(event(.onHattrick, "Elm", mark: 2), score(60), window))
        _ = window.take((1...3).map { Sample.ball($0, wicket: $0 < 3 ? .bowled : nil) }, isFirst: false)
        #expect(isStale(event(.onHattrick, "Elm", mark: 2), score(60), window), "the next ball has gone")
    }

    @Test("one key event: the best of the new ones; small ones do not push a wicket off the card for a minute")
    func keyEvent() {
        let card = BatterCard(name: "Oak", runs: 51, balls: 60)
        let score = Sample.score(1, innings: [Sample.innings(1, 120, 2, "10.0", batters: [card])])
        func key(_ fresh: [MatchEvent], current: MatchEvent? = nil, after seconds: Int = 0) -> MatchEventType? {
            KeyEvent.choose(from: fresh, current: current, in: score, window: BallWindow(), now: Sample.now + .seconds(seconds))?.type
        }
        let wicket = event(.wicket, nil, mark: 2)
        #expect(key([event(.fifty), wicket, event(.four)]) == .wicket)
        #expect(key([event(.scoreChange)]) == nil)
        #expect(key([event(.scoreChange)], current: wicket, after: 60) == .wicket)
        #expect(key([event(.scoreChange)], current: wicket, after: 61) == nil)
        #expect(key([event(.newBatsman)], current: wicket) == .wicket)
        #expect(key([event(.four)], current: wicket) == .four, "what is told with priority 10 is news")
        #expect(key([event(.fifty)], current: wicket) == .fifty)
        #expect(key([event(.newBatsman)]) == .newBatsman)
    }
}
