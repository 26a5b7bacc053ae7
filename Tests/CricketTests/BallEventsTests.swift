import PushContract
import Testing

@testable import Cricket

/// Tier 1: every definition, from deliveries (L-24, reference §5.4).
@Suite
struct BallEventsTests {
    /// The events of each ball in turn, as a feed of the last 30 would bring them.
    private func told(_ balls: [Ball]) -> [[MatchEventType]] {
        var window = BallWindow()
        return balls.indices.map { index in
            let change = window.take(Array(balls[0...index].suffix(30)), isFirst: false)
            return BallEvents.of(change.fresh, in: window, now: Sample.now).map(\.type)
        }
    }

    @Test("a boundary is four or six off the bat, over the rope")
    func boundaries() {
        let balls = [
            Sample.ball(1, 4), Sample.ball(2, 6), Sample.ball(3, 4, nonBoundary: true), Sample.ball(4, 6, nonBoundary: true),
            Sample.ball(5, 0, extras: .init(legByes: 4)), Sample.ball(6, 0, extras: .init(wides: 5)),
            Sample.ball(7, 4, extras: .init(noBalls: 1)),
        ]
        #expect(told(balls) == [[.four], [.six], [], [], [], [], [.four]])
    }

    @Test(
        "only credited wickets make a hat-trick",
        arguments: [
            (WicketKind.bowled, true), (.caught, true), (.caughtAndBowled, true), (.lbw, true), (.stumped, true), (.hitWicket, true),
            (.runOut, false), (.retiredHurt, false), (.retiredOut, false), (.obstructingTheField, false), (.timedOut, false),
        ]
    )
    func creditedWickets(kind: WicketKind, counts: Bool) {
        let events = told([Sample.ball(1, wicket: .bowled), Sample.ball(2, wicket: .lbw), Sample.ball(3, wicket: kind)])
        #expect(events.flatMap { $0 }.contains(.hattrick) == counts)
    }

    @Test("a hat-trick goes across overs and spells, other bowlers between, however far")
    func acrossSpells() {
        var balls = [Sample.ball(1), Sample.ball(2, wicket: .bowled), Sample.ball(3, wicket: .bowled)]
        balls += (4...80).map { Sample.ball($0, 1, bowler: $0 / 6 % 2 == 0 ? "Fir" : "Gum") }
        balls.append(Sample.ball(81, wicket: .lbw))
        #expect(told(balls).last == [.hattrick])
        // Any delivery of his own in between breaks it.
        balls[40] = Sample.ball(41, 1, bowler: "Elm")
        #expect(told(balls).last == [])
    }

    @Test("six in six are two hat-tricks, four in four are one")
    func longRuns() {
        let events = told((1...6).map { Sample.ball($0, wicket: .bowled) }).flatMap { $0 }
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
        #expect(told(clean).last == [.maiden])
        var byes = clean
        byes[2].extras = .init(byes: 4, legByes: 1)
        #expect(told(byes).last == [.maiden])
        var wide = clean
        wide[2].extras = .init(wides: 1)
        #expect(told(wide).last == [])
        var shared = clean
        shared[5].bowler = "Fir"
        #expect(told(shared).last == [])
        #expect(told(Array(clean.dropFirst())).flatMap { $0 } == [], "the over's beginning is not known")
    }

    @Test("a miscounted over ends where the feed says")
    func miscounted() {
        var five = (1...5).map { Sample.ball($0) }
        #expect(told(five).last == [])
        five[4].endsOver = true
        #expect(told(five).last == [.maiden])
    }

    @Test("sixes in a row are told from the third, a big over from twenty runs")
    func sixes() {
        #expect(told((1...4).map { Sample.ball($0, 6) }) == [[.six], [.six], [.six, .consecutiveSixes], [.six, .consecutiveSixes]])
        var over = (1...6).map { Sample.ball($0, 3) }
        #expect(told(over).last == [])
        over[0].extras = .init(byes: 2)
        #expect(told(over).last == [.bigOver])
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

    @Test("a corrected ball is replaced and told anew, a retracted one is forgotten")
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
