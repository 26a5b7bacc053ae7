import Providers
import PushContract
import Testing

@testable import Delivery

@Suite("Slots of credentials")
struct SlotDivisionTests {
    private func share(_ inFlight: Int, isSlow: Bool = false, limit: Int = 500) -> SlotDivision.Share {
        SlotDivision.Share(inFlight: inFlight, isSlow: isSlow, limit: limit)
    }

    @Test("a single credential gets everything")
    func alone() {
        #expect(SlotDivision.capacities(of: ["a": share(0)], capacity: 500) == ["a": 500])
        #expect(SlotDivision.capacities(of: ["a": share(500)], capacity: 500) == ["a": 500])
    }

    @Test("what one borrowed never reaches the other's guaranteed slots")
    func guaranteed() {
        let capacities = SlotDivision.capacities(of: ["a": share(375), "b": share(0)], capacity: 500)
        #expect(capacities == ["a": 375, "b": 125])
    }

    @Test("a slow credential borrows nothing, and its loans go to others as they return")
    func slow() {
        #expect(SlotDivision.capacities(of: ["a": share(375, isSlow: true), "b": share(100)], capacity: 500) == ["a": 125, "b": 125])
        #expect(SlotDivision.capacities(of: ["a": share(125, isSlow: true), "b": share(125)], capacity: 500) == ["a": 125, "b": 375])
    }

    @Test("one that becomes active gets its slots at once")
    func newcomer() {
        let capacities = SlotDivision.capacities(of: ["a": share(250), "b": share(250), "c": share(0)], capacity: 500)
        #expect(capacities["c"] == 83)
    }

    @Test("with more credentials than slots each has one")
    func many() {
        let shares = Dictionary(uniqueKeysWithValues: (0..<40).map { ($0, share(0)) })
        let capacities = SlotDivision.capacities(of: shares, capacity: 10)
        #expect(capacities.count == 40 && capacities.values.allSatisfy { $0 >= 1 })
    }

    @Test("a limit shrinks with refusals, timeouts and latency, once for all that was under way together, and grows with answers")
    func adaptive() {
        var limit = AdaptiveLimit(maximum: 100)
        let start = ContinuousClock.now
        func answer(_ milliseconds: Int) -> PushOutcome {
            var outcome = PushOutcome.accepted("m")
            outcome.responseTime = .milliseconds(milliseconds)
            return outcome
        }
        for _ in 0..<10 { limit.note(answer(20), inFlight: 100, now: start) }
        #expect(limit.value == 100)
        for _ in 0..<50 { limit.note(.fcm(503, "UNAVAILABLE"), inFlight: 100, now: start) }
        #expect(limit.value == 70)
        limit.note(answer(900), inFlight: 100, now: start + .seconds(1))
        #expect(limit.value == 70, "below a second")
        limit.note(answer(1500), inFlight: 100, now: start + .seconds(2))
        #expect(limit.value == 49)
        limit.note(.down, inFlight: 100, now: start + .seconds(3))
        #expect(limit.value == 34)
        for _ in 0..<400 { limit.note(answer(20), inFlight: 100, now: start + .seconds(4)) }
        #expect(limit.value == 100)
        limit.restart()
        #expect(limit.value == 20)
    }

    @Test("a limit shrinks to what finds a stream at once, and does not grow while requests wait for one")
    func streams() {
        var limit = AdaptiveLimit(maximum: 100)
        let start = ContinuousClock.now
        func answer(waiting: Int, for milliseconds: Int) -> PushOutcome {
            var outcome = PushOutcome.accepted("m", latency: .milliseconds(waiting + milliseconds))
            outcome.responseTime = .milliseconds(milliseconds)
            return outcome
        }
        limit.note(answer(waiting: 90, for: 20), inFlight: 100, now: start)
        #expect(limit.value == 100, "a new connection takes that long")
        limit.note(answer(waiting: 200, for: 900), inFlight: 100, now: start)
        #expect(limit.value == 100, "a small part of the response time")
        limit.note(answer(waiting: 200, for: 20), inFlight: 49, now: start)
        #expect(limit.value == 100, "too few to wait for one another")
        for step in 0..<20 { limit.note(answer(waiting: 110, for: 20), inFlight: 100, now: start + .milliseconds(step * 100)) }
        #expect(limit.value == 24, "four times in two seconds")
    }
}
