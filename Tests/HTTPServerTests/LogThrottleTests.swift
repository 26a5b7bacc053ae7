import Testing

@testable import HTTPServer

@Test("the number of lines a second is limited, and the first line of the next second states how many were left out")
func logThrottle() {
    let throttle = LogThrottle(perSecond: 3)
    let start = ContinuousClock.now
    #expect((0..<10).map { throttle.admit(now: start + .milliseconds($0)) } == [0, 0, 0] + Array(repeating: nil, count: 7))
    #expect(throttle.admit(now: start + .seconds(1)) == 7)
    #expect(throttle.admit(now: start + .seconds(1)) == 0)
}
