import Testing

@testable import HTTPServer

@Test("so many lines a second, and the next second's first tells how many were left out")
func logThrottle() {
    let throttle = LogThrottle(perSecond: 3)
    let start = ContinuousClock.now
    #expect((0..<10).map { throttle.admit(now: start + .milliseconds($0)) } == [0, 0, 0] + Array(repeating: nil, count: 7))
    #expect(throttle.admit(now: start + .seconds(1)) == 7)
    #expect(throttle.admit(now: start + .seconds(1)) == 0)
}
