import AlertRules
import Testing

@Suite("ratio/2")
struct Ratio2Tests {
    typealias Run = (minutes: Int, attempts: Int64, bad: Int64)

    /// Fires at minute 75 and goes on to minute 90.
    private static let outage: [Run] = [(60, 100, 0), (30, 100, 50)]

    @Test("it resolves after recovery, with the worst window and the numbers of now")
    func resolves() throws {
        let transitions = Make.transitions(Make.outage(), Make.history([(60, 100, 0), (20, 100, 50), (20, 100, 6), (60, 100, 0)]))
        let resolved = try #require(transitions.last)
        #expect(transitions.map(\.kind) == [.fired, .resolved])
        #expect(resolved.reason == .recovered)
        #expect(resolved.startsAt == transitions[0].startsAt && resolved.firedAt == transitions[0].firedAt)
        #expect(resolved.minute + 1 - Make.start == 110)
        #expect(try #require(resolved.endsAt) - Make.start == 100)
        #expect(resolved.evidence.worst.counts == AttemptCounts(attempts: 1500, bad: 750))
        #expect(resolved.evidence.observed.counts == AttemptCounts(attempts: 1000, bad: 0))
    }

    @Test("the good run grows with little traffic until it excludes the incident, and never reaches back over it")
    func littleTraffic() throws {
        // Half of two a minute is excluded by fewer attempts than a tenth of two a minute.
        let total = Make.transitions(Make.outage(), Make.history([(60, 2, 0), (30, 2, 2), (240, 2, 0)]))
        let tenth = Make.transitions(Make.outage(), Make.history([(60, 20, 0), (60, 20, 2), (240, 2, 0)]))
        let lengths = try [total, tenth].map { transitions in
            let resolved = try #require(transitions.last)
            #expect(transitions.map(\.kind) == [.fired, .resolved])
            #expect(try #require(resolved.endsAt) > resolved.lastSet)
            return resolved.evidence.observed.minutes
        }
        #expect(lengths[0] == 10 && lengths[1] > 60)
    }

    @Test("no traffic keeps the alert firing; good traffic resolves it")
    func silence() {
        #expect(Make.story(Make.outage(), Self.outage + [(1440, 0, 0)]) == ["fired 75"])
        #expect(Make.story(Make.outage(), Self.outage + [(100, 0, 0), (60, 100, 0)]) == ["fired 75", "resolved 196"])
    }

    @Test("at most a tenth of the good run's minutes may be bad by themselves")
    func calm() {
        // 6 of 200 in every fifth minute: 1.2 % in all, yet a fault that comes and goes.
        let flicker: [Run] = (0..<24).flatMap { _ -> [Run] in [(4, 100, 0), (1, 100, 6)] }
        #expect(Make.story(Make.outage(), Self.outage + flicker) == ["fired 75"])
        let rare: [Run] = (0..<6).flatMap { _ -> [Run] in [(19, 100, 0), (1, 100, 6)] }
        #expect(Make.story(Make.outage(), Self.outage + rare).count == 2)
    }

    @Test("an outage that is over does not fire, though the window still holds it", arguments: [11, 12, 13, 14])
    func isOver(minutes: Int) {
        // One failure in each minute after it: by itself no proof that it is over, nor that it goes on.
        #expect(Make.story(Make.outage(), [(60, 10, 0), (minutes, 10, 10), (60, 10, 0)]) == [])
        #expect(Make.story(Make.outage(), [(60, 100, 0), (minutes, 100, 100), (60, 100, 1)]) == [])
    }

    @Test("a single bad failure in the newest minute does not page for an outage that is over")
    func contradicted() {
        let runs: [Run] = [(60, 10, 0), (12, 10, 10), (2, 10, 0), (1, 10, 1), (60, 10, 0)]
        #expect(Make.story(Make.outage(version: .one), runs).first == "fired 75")
        #expect(Make.story(Make.outage(), runs) == [])
    }

    @Test("one minute does not carry the window: the others must prove the fault alone")
    func concentration() {
        // A minute at 100 %, and one failure of 10 in each other: 7 % in all without it, but only seven of a hundred.
        let burst: [Run] = [(60, 10, 0), (1, 10, 1), (1, 40, 40), (5, 10, 0), (8, 10, 1), (60, 10, 0)]
        #expect(Make.story(Make.outage(version: .one), burst).first == "fired 76")
        #expect(Make.story(Make.outage(), burst) == [])
        let spread: [Run] = [(60, 10, 0), (1, 10, 1), (1, 40, 40), (14, 10, 2), (60, 10, 0)]
        #expect(Make.story(Make.outage(), spread).first == "fired 76")
    }

    @Test("the beginning may lie a smooth window before the window, so that a lucky minute hides nothing")
    func bridgedOnset() {
        let runs: [Run] = [(60, 4, 0), (4, 4, 2), (6, 4, 0), (12, 4, 2)]
        #expect(Make.story(Make.outage(), runs).first == "fired 75")
        #expect(Make.story(Make.outage { $0.smooth = RuleDuration(minutes: 1) }, runs) == [])
    }

    @Test("what fires again within two hours is the same alert; later it is another one")
    func reopening() throws {
        let pause = { (minutes: Int) -> [Run] in [(minutes, 100, 0)] }
        let again = Make.transitions(Make.outage(), Make.history(Self.outage + pause(60) + Self.outage.dropFirst() + pause(60)))
        #expect(again.map(\.kind) == [.fired, .resolved, .reopened, .resolved])
        #expect(Set(again.map(\.startsAt)).count == 1 && Set(again.map(\.firedAt)).count == 1)
        #expect(again[2].evidence.observed.first - Make.start == 150 && again[2].lastSet > again[1].lastSet)
        // Resolved at minute 99; set again at minute 219 is the last that reopens.
        #expect(Make.story(Make.outage(), Self.outage + pause(115) + [(30, 100, 50)]).last == "reopened 220")
        #expect(Make.story(Make.outage(), Self.outage + pause(116) + [(30, 100, 50)]).last == "fired 221")
        let off = Make.outage { $0.reopenWithin = RuleDuration(minutes: 0) }
        #expect(Make.story(off, Self.outage + pause(60) + [(30, 100, 50)]).last == "fired 165")
    }

    @Test("later than that it is the same alert if attempts in half of the minutes between do not exclude the incident, for a day")
    func reopeningByEvidence() {
        // A tenth fails for half an hour; the good run resolves it at minute 80.
        func last(_ between: [Run]) -> String? {
            Make.story(Make.outage(), [(40, 20, 0), (30, 20, 2), (12, 20, 0)] + between + [(30, 20, 2)]).last
        }
        #expect(last([(170, 20, 1)]) == "reopened 267", "at the threshold")
        #expect(last([(170, 20, 0)]) == "fired 267")
        #expect(last([(170, 0, 0)]) == "fired 267", "nothing was attempted")
        // 1.25 times the threshold is excluded by 140 attempts without a failure, of which 40 follow the end; the minutes that set it do
        // not count.
        #expect(last([(100, 1, 0), (70, 0, 0)]) == "fired 267")
        #expect(last([(99, 1, 0), (71, 0, 0)]) == "reopened 267")
        // 84 of the 168 minutes are half of them.
        #expect(last([(82, 1, 0), (88, 0, 0)]) == "reopened 267")
        #expect(last([(81, 1, 0), (89, 0, 0)]) == "fired 267")
        func twentieth(_ minutes: Int) -> [Run] { (0..<minutes / 20).flatMap { _ -> [Run] in [(19, 1, 0), (1, 1, 1)] } }
        #expect(last(twentieth(1420))?.hasPrefix("reopened") == true)
        #expect(last(twentieth(1440))?.hasPrefix("fired") == true)
    }

    @Test("the good run excludes at least 1.25 times the threshold by nine nats: 140 attempts without a failure, not 130")
    func strength() throws {
        // What 6 % of 1,500 prove is less than that, so exactly 6.25 % must be excluded: 9 / -ln(1 - 0.0625) = 139.5 attempts.
        let rule = Make.outage { $0.guardConfidence = .percent999 }
        let resolved = { (rate: Int64) in
            try #require(Make.transitions(rule, Make.history([(60, 100, 0), (15, 100, 6), (240, rate, 0)])).last).evidence.observed
        }
        #expect(try resolved(14).counts.attempts == 140 && resolved(14).minutes == 10)
        #expect(try resolved(13).counts.attempts == 195 && resolved(13).minutes == 15)
    }
}
