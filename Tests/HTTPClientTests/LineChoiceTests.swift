import Testing

@testable import HTTPClient

@Suite struct LineChoiceTests {
    private let rules = LineChoice.Rules(maxConnections: 3, maxStreams: 100, spread: 10)

    private func line(_ running: Int, unissued: Int = 0, proven: Bool = true, retired: Bool = false, port: Int? = nil) -> LineState {
        LineState(running: running, unissued: unissued, isProven: proven, isRetired: retired, port: port ?? (proven ? 1 : 0))
    }

    @Test("the least loaded connection carries the next request; past the spread another is opened, up to the limit")
    func spreading() {
        #expect(LineChoice.pick([], rules: rules) == .open)
        #expect(LineChoice.pick([line(9)], rules: rules) == .use(0))
        #expect(LineChoice.pick([line(10)], rules: rules) == .open)
        #expect(LineChoice.pick([line(10), line(3)], rules: rules) == .use(1))
        #expect(LineChoice.pick([line(12), line(11), line(13)], rules: rules) == .use(1))
        #expect(LineChoice.pick([line(100), line(100), line(100)], rules: rules) == .wait)
    }

    @Test("a connection with a request that found no free stream is full, whatever its SETTINGS said before")
    func settings() {
        #expect(LineChoice.pick([line(4, unissued: 1), line(8)], rules: rules) == .use(1))
        #expect(LineChoice.pick([line(4, unissued: 1)], rules: rules) == .open)
        #expect(LineChoice.pick([line(4, unissued: 1), line(4, unissued: 1), line(4, unissued: 1)], rules: rules) == .wait)
    }

    @Test("one connection is opened at a time, and a peer that authorises first gets one request")
    func opening() {
        #expect(LineChoice.pick([line(3, unissued: 3, proven: false)], rules: rules) == .use(0))
        #expect(LineChoice.pick([line(10, unissued: 10, proven: false)], rules: rules) == .wait)
        // There is a connection, though nothing was answered yet.
        #expect(LineChoice.pick([line(10, proven: false, port: 1)], rules: rules) == .open)
        var careful = rules
        careful.startsWithOneStream = true
        #expect(LineChoice.pick([line(0, proven: false)], rules: careful) == .use(0))
        #expect(LineChoice.pick([line(1, proven: false)], rules: careful) == .wait)
        #expect(LineChoice.pick([line(1, proven: false, port: 1)], rules: careful) == .wait)
        #expect(LineChoice.pick([line(1, proven: false), line(9)], rules: careful) == .use(1))
        #expect(LineChoice.pick([line(1, proven: false), line(20)], rules: careful) == .use(1))
    }

    @Test("a retired connection takes nothing and does not count")
    func retired() {
        #expect(LineChoice.pick([line(1, retired: true)], rules: rules) == .open)
        #expect(LineChoice.pick([line(1, retired: true), line(20), line(5)], rules: rules) == .use(2))
    }
}
