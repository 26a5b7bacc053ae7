import PushContract
import Testing

@testable import Cricket

/// Tier 1: every definition, from deliveries (L-24, reference §5.4).
@Suite
struct BallEventsTests {
    /// The events of each ball in turn, as a feed of the last 30 would bring them.
    func reported(_ balls: [Ball], last count: Int = 30) -> [[MatchEventType]] {
        var window = BallWindow()
        return balls.indices.map { reported(Array(balls[0...$0].suffix(count)), in: &window) }
    }

    /// The events of one state.
    private func reported(_ balls: [Ball], in window: inout BallWindow) -> [MatchEventType] {
        let earlier = window
        let change = window.take(balls, isFirst: false)
        return BallEvents.of(change.fresh, in: window, after: earlier, now: Sample.now).map(\.type)
    }

    /// A hat-trick at 13 to 15, sixes and wides, and a second innings.
    private func twoInnings() -> [Ball] {
        var balls = (1...150).map { number -> Ball in
            Sample.ball(number, number % 10 == 0 ? 6 : number % 3, bowler: number / 6 % 2 == 0 ? "Elm" : "Fir")
        }
        for index in 12...14 { balls[index] = Sample.ball(index + 1, wicket: .bowled) }
        balls[40].extras = .init(wides: 1)
        return balls + (1...100).map { Sample.ball($0, $0 % 4, bowler: "Gum", innings: 2) }
    }

    @Test("a feed that sends more balls than are kept reports what one of the last 30 does", arguments: [31, 60, 120])
    func longFeed(count: Int) {
        let balls = twoInnings()
        #expect(reported(balls, last: count) == reported(balls))
        #expect(reported(balls, last: count).joined().count { $0 == .hattrick } == 1)
        #expect(reported(balls, last: count).joined().count { $0 == .six } == 15)
    }

    @Test("after a gap longer than the window, events are those of the balls in it", arguments: [30, 60, 120])
    func longGap(count: Int) {
        let balls = twoInnings()
        var window = BallWindow()
        _ = reported(Array(balls[0..<10]), in: &window)
        let events = reported(Array(balls[0..<60].suffix(count)), in: &window)
        #expect(window.balls == Array(balls[30..<60]))
        #expect(events.count { $0 == .six } == 3 && !events.contains(.hattrick) && !events.contains(.onHattrick))
    }

    @Test("a ball that is taken back makes no older one new, though the feed then reaches back before the window")
    func takenBack() {
        let balls = twoInnings()
        var window = BallWindow()
        for end in 1...40 { _ = reported(Array(balls[0..<end].suffix(30)), in: &window) }
        let change = window.take(Array(balls[9..<39]), isFirst: false)
        #expect(balls[9].isSix && change.fresh == [] && !change.hadGap)
        #expect(window.balls == Array(balls[10..<39]))
        // All of the window at once.
        #expect(window.take(Array(balls[0..<5]), isFirst: false).fresh == [])
        #expect(window.balls == Array(balls[0..<5]) && window.tails == [:])
    }

    @Test("balls that are renumbered, since a missing wide was inserted, or have a name corrected, are not reported again")
    func renumbered() {
        let balls = Array(twoInnings()[0..<20])
        var window = BallWindow()
        _ = reported(balls, in: &window)
        var renamed = balls
        for index in renamed.indices { renamed[index].bowler += " J." }
        #expect(reported(renamed, in: &window) == [])
        var wide = renamed[9]
        wide.runs = 0
        wide.extras = .init(wides: 1)
        var more = Array(renamed[0..<9]) + [wide] + Array(renamed[9...])
        for index in more.indices { more[index].number = index + 1 }
        #expect(reported(more, in: &window) == [])
        #expect(window.balls == more)
    }

    @Test("a ball that is credited to another bowler is reported of this one")
    func otherBowler() {
        var balls = (1...3).map { Sample.ball($0, wicket: .bowled) }
        balls[2].bowler = "Fir"
        var window = BallWindow()
        #expect(reported(balls, in: &window) == [.onHattrick])
        balls[2].bowler = "Elm"
        #expect(reported(balls, in: &window) == [.hattrick])
    }

    @Test("wickets in a row are not carried from one source to another, which may spell the bowler otherwise")
    func otherSource() {
        var memory = MatchMemory()
        var sequence: Int64 = 0
        func types(_ balls: [Ball], _ order: SourceOrder = .same) -> [MatchEventType] {
            sequence += 1
            let score = Sample.score(sequence, innings: [Sample.innings(1, Int(sequence), 0, "\(sequence).0")], balls: balls)
            guard case .changed(let change) = MatchProgress.step(memory, with: score, order, now: Sample.now + .seconds(sequence)) else {
                return []
            }
            memory = change.memory
            return change.events.map(\.type)
        }
        let others = (3...63).map { Sample.ball($0, bowler: "Fir") }
        _ = types([Sample.ball(1, wicket: .bowled), Sample.ball(2, wicket: .bowled)] + Array(others[0..<30]))
        #expect(memory.window.tails == ["Elm": 2])
        // A dot ball of the same bowler, as the other source spells him.
        _ = types(Array(others[1..<30]) + [Sample.ball(33, bowler: "J Elm")], .other)
        _ = types(Array(others[31...]))
        _ = types(Array(others[31...]), .other)
        let events = types(Array(others[32...]) + [Sample.ball(64, wicket: .bowled)])
        #expect(!events.contains(.hattrick) && sequence == 5)
    }

    @Test("a boundary is four or six off the bat, over the rope")
    func boundaries() {
        let balls = [
            Sample.ball(1, 4), Sample.ball(2, 6), Sample.ball(3, 4, nonBoundary: true), Sample.ball(4, 6, nonBoundary: true),
            Sample.ball(5, 0, extras: .init(legByes: 4)), Sample.ball(6, 0, extras: .init(wides: 5)),
            Sample.ball(7, 4, extras: .init(noBalls: 1)),
        ]
        #expect(reported(balls) == [[.four], [.six], [], [], [], [], [.four]])
    }

    @Test(
        "only credited wickets make a hat-trick",
        arguments: [
            (WicketKind.bowled, true), (.caught, true), (.caughtAndBowled, true), (.lbw, true), (.stumped, true), (.hitWicket, true),
            (.runOut, false), (.retiredHurt, false), (.retiredOut, false), (.obstructingTheField, false), (.timedOut, false),
        ]
    )
    func creditedWickets(kind: WicketKind, counts: Bool) {
        let events = reported([Sample.ball(1, wicket: .bowled), Sample.ball(2, wicket: .lbw), Sample.ball(3, wicket: kind)])
        #expect(events.flatMap { $0 }.contains(.hattrick) == counts)
    }

    @Test("a hat-trick goes across overs and spells, other bowlers between, however far")
    func acrossSpells() {
        var balls = [Sample.ball(1), Sample.ball(2, wicket: .bowled), Sample.ball(3, wicket: .bowled)]
        balls += (4...80).map { Sample.ball($0, 1, bowler: $0 / 6 % 2 == 0 ? "Fir" : "Gum") }
        balls.append(Sample.ball(81, wicket: .lbw))
        #expect(reported(balls).last == [.hattrick])
        // Any delivery of his own in between breaks it.
        balls[40] = Sample.ball(41, 1, bowler: "Elm")
        #expect(reported(balls).last == [])
    }

    @Test("six in six are two hat-tricks, four in four are one")
    func longRuns() {
        let events = reported((1...6).map { Sample.ball($0, wicket: .bowled) }).flatMap { $0 }
        #expect(events.count { $0 == .hattrick } == 2)
        #expect(events.count { $0 == .onHattrick } == 1)
    }

    @Test("a gap in the feed claims nothing across it")
    func gap() {
        var window = BallWindow()
        _ = window.take([Sample.ball(1, wicket: .bowled), Sample.ball(2, wicket: .bowled)], isFirst: false)
        let change = window.take([Sample.ball(4, wicket: .bowled)], isFirst: false)
        #expect(change.hadGap)
        #expect(BallEvents.of(change.fresh, in: window, now: Sample.now).map(\.type) == [])
    }

    @Test("a maiden is a whole over of one bowler who concedes nothing; byes and leg byes are allowed")
    func maidens() {
        let clean = (1...6).map { Sample.ball($0) }
        #expect(reported(clean).last == [.maiden])
        var byes = clean
        byes[2].extras = .init(byes: 4, legByes: 1)
        #expect(reported(byes).last == [.maiden])
        var wide = clean
        wide[2].extras = .init(wides: 1)
        #expect(reported(wide).last == [])
        var shared = clean
        shared[5].bowler = "Fir"
        #expect(reported(shared).last == [])
        #expect(reported(Array(clean.dropFirst())).flatMap { $0 } == [], "the over's beginning is not known")
    }

    @Test("a miscounted over ends where the feed says")
    func miscounted() {
        var five = (1...5).map { Sample.ball($0) }
        #expect(reported(five).last == [])
        five[4].endsOver = true
        #expect(reported(five).last == [.maiden])
    }

    @Test("sixes in a row are reported from the third, a big over from twenty runs")
    func sixes() {
        #expect(reported((1...4).map { Sample.ball($0, 6) }) == [[.six], [.six], [.six, .consecutiveSixes], [.six, .consecutiveSixes]])
        var over = (1...6).map { Sample.ball($0, 3) }
        #expect(reported(over).last == [])
        over[0].extras = .init(byes: 2)
        #expect(reported(over).last == [.bigOver])
    }

    @Test("a window never holds more than 30 balls (L-23)")
    func windowSize() {
        var window = BallWindow()
        for end in 1...200 {
            _ = window.take((max(1, end - 99)...end).map { Sample.ball($0) }, isFirst: false)
            #expect(window.balls.count == min(30, end))
            #expect(window.balls.last?.number == end)
        }
    }

    @Test("a corrected ball is replaced and reported again, a retracted one is removed")
    func corrections() {
        var window = BallWindow()
        _ = window.take((1...3).map { Sample.ball($0, 4) }, isFirst: false)
        let change = window.take([Sample.ball(2, 4), Sample.ball(3, 6)], isFirst: false)
        #expect(change.fresh == [Sample.ball(3, 6)])
        #expect(window.balls.map(\.runs) == [4, 4, 6])
        _ = window.take([Sample.ball(1, 4), Sample.ball(2, 4)], isFirst: false)
        #expect(window.balls.count == 2)
    }
}
