import Testing

@testable import HTTPClient

@Suite struct ConnectionChoiceTests {
    private let rules = ConnectionChoice.Rules(maxConnections: 3, maxStreams: 100, spread: 10)

    private func connection(
        _ running: Int,
        unissued: Int = 0,
        authorized: Bool = true,
        retired: Bool = false,
        port: Int? = nil
    ) -> ConnectionState {
        ConnectionState(
            running: running,
            unissued: unissued,
            isAuthorized: authorized,
            isRetired: retired,
            port: port ?? (authorized ? 1 : 0)
        )
    }

    @Test("the least loaded connection carries the next request; past the spread another is opened, up to the limit")
    func spreading() {
        #expect(ConnectionChoice.pick([], rules: rules) == .open)
        #expect(ConnectionChoice.pick([connection(9)], rules: rules) == .use(0))
        #expect(ConnectionChoice.pick([connection(10)], rules: rules) == .open)
        #expect(ConnectionChoice.pick([connection(10), connection(3)], rules: rules) == .use(1))
        #expect(ConnectionChoice.pick([connection(12), connection(11), connection(13)], rules: rules) == .use(1))
        #expect(ConnectionChoice.pick([connection(100), connection(100), connection(100)], rules: rules) == .wait)
    }

    @Test("a connection with a request that found no free stream is full, whatever its SETTINGS said before")
    func settings() {
        #expect(ConnectionChoice.pick([connection(4, unissued: 1), connection(8)], rules: rules) == .use(1))
        #expect(ConnectionChoice.pick([connection(4, unissued: 1)], rules: rules) == .open)
        #expect(
            ConnectionChoice.pick([connection(4, unissued: 1), connection(4, unissued: 1), connection(4, unissued: 1)], rules: rules)
                == .wait
        )
    }

    @Test("one connection is opened at a time, and a peer that authorises first gets one request")
    func opening() {
        #expect(ConnectionChoice.pick([connection(3, unissued: 3, authorized: false)], rules: rules) == .use(0))
        #expect(ConnectionChoice.pick([connection(10, unissued: 10, authorized: false)], rules: rules) == .wait)
        // There is a connection, though nothing was answered yet.
        #expect(ConnectionChoice.pick([connection(10, authorized: false, port: 1)], rules: rules) == .open)
        var careful = rules
        careful.startsWithOneStream = true
        #expect(ConnectionChoice.pick([connection(0, authorized: false)], rules: careful) == .use(0))
        #expect(ConnectionChoice.pick([connection(1, authorized: false)], rules: careful) == .wait)
        #expect(ConnectionChoice.pick([connection(1, authorized: false, port: 1)], rules: careful) == .wait)
        #expect(ConnectionChoice.pick([connection(1, authorized: false), connection(9)], rules: careful) == .use(1))
        #expect(ConnectionChoice.pick([connection(1, authorized: false), connection(20)], rules: careful) == .use(1))
    }

    @Test("a retired connection takes nothing and does not count")
    func retired() {
        #expect(ConnectionChoice.pick([connection(1, retired: true)], rules: rules) == .open)
        #expect(ConnectionChoice.pick([connection(1, retired: true), connection(20), connection(5)], rules: rules) == .use(2))
    }
}
