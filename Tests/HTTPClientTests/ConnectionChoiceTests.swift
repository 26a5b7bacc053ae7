import Testing

@testable import HTTPClient

@Suite struct ConnectionChoiceTests {
    private let rules = ConnectionChoice.Rules(maxConnections: 3, spread: 10, lead: 0)

    private func connection(_ running: Int, of capacity: Int = 100) -> ConnectionState {
        ConnectionState(running: running, capacity: capacity)
    }

    @Test("the least loaded connection carries the next request; past the spread another is opened, up to the limit")
    func spreading() {
        #expect(ConnectionChoice.pick([], rules: rules) == .open)
        #expect(ConnectionChoice.pick([connection(9)], rules: rules) == .use(0, upTo: 1))
        #expect(ConnectionChoice.pick([connection(2)], rules: rules) == .use(0, upTo: 8))
        #expect(ConnectionChoice.pick([connection(10)], rules: rules) == .open)
        #expect(ConnectionChoice.pick([connection(10), connection(3)], rules: rules) == .use(1, upTo: 7))
        #expect(ConnectionChoice.pick([connection(12), connection(11), connection(13)], rules: rules) == .use(1, upTo: 1))
        #expect(ConnectionChoice.pick([connection(16), connection(11), connection(13)], rules: rules) == .use(1, upTo: 2))
        #expect(ConnectionChoice.pick([connection(100), connection(100), connection(100)], rules: rules) == .wait)
    }

    @Test("requests that come at once go to one connection, up to a lead over the next one")
    func lead() {
        let rules = ConnectionChoice.Rules(maxConnections: 3, spread: 10, lead: 4)
        #expect(ConnectionChoice.pick([connection(2), connection(3), connection(2)], rules: rules) == .use(0, upTo: 4))
        #expect(ConnectionChoice.pick([connection(6), connection(3), connection(2)], rules: rules) == .use(2, upTo: 5))
        #expect(ConnectionChoice.pick([connection(8), connection(9)], rules: rules) == .use(0, upTo: 2), "up to the spread")
        #expect(ConnectionChoice.pick([connection(20), connection(30), connection(30)], rules: rules) == .use(0, upTo: 14))
        #expect(ConnectionChoice.pick([connection(20, of: 22), connection(30)], rules: rules) == .open, "one more may be opened")
        #expect(ConnectionChoice.pick([connection(20, of: 22), connection(30), connection(30)], rules: rules) == .use(0, upTo: 2))
    }

    @Test("a connection takes what the peer's SETTINGS allow, whatever the spread is")
    func settings() {
        #expect(ConnectionChoice.pick([connection(4, of: 4), connection(8)], rules: rules) == .use(1, upTo: 2))
        #expect(ConnectionChoice.pick([connection(4, of: 6)], rules: rules) == .use(0, upTo: 2))
        #expect(ConnectionChoice.pick([connection(4, of: 4)], rules: rules) == .open)
        #expect(ConnectionChoice.pick([connection(4, of: 4), connection(4, of: 4), connection(4, of: 4)], rules: rules) == .wait)
        #expect(ConnectionChoice.pick([connection(0, of: 0)], rules: rules) == .open)
    }

    @Test("one connection is opened at a time; one that takes a first request is being opened")
    func opening() {
        let opening = ConnectionState(isOpening: true)
        #expect(ConnectionChoice.pick([opening], rules: rules) == .wait)
        #expect(ConnectionChoice.pick([opening, connection(20)], rules: rules) == .use(1, upTo: 80))
        let first = ConnectionState(isOpening: true, capacity: 1)
        #expect(ConnectionChoice.pick([first], rules: rules) == .use(0, upTo: 1))
        #expect(ConnectionChoice.pick([ConnectionState(isOpening: true, running: 1, capacity: 1)], rules: rules) == .wait)
    }

    @Test("an idle connection is asked only if no other takes the request, and one at a time")
    func uncertain() {
        let idle = ConnectionState(isUncertain: true, capacity: 100)
        let asked = ConnectionState(isOpening: true)
        #expect(ConnectionChoice.pick([idle, idle], rules: rules) == .ask(0))
        #expect(ConnectionChoice.pick([idle, connection(9)], rules: rules) == .use(1, upTo: 1))
        #expect(ConnectionChoice.pick([idle, connection(10)], rules: rules) == .ask(0))
        #expect(ConnectionChoice.pick([asked, idle], rules: rules) == .wait)
        #expect(ConnectionChoice.pick([asked, idle, connection(20)], rules: rules) == .use(2, upTo: 80))
        #expect(ConnectionChoice.pick([asked, idle, connection(100)], rules: rules) == .wait)
        // It does not answer: maybe none that was idle does.
        let overdue = ConnectionState(isOverdue: true)
        #expect(ConnectionChoice.pick([overdue, idle], rules: rules) == .open)
        #expect(ConnectionChoice.pick([overdue, idle, connection(20)], rules: rules) == .ask(1), "no more may be opened")
    }

    @Test("a retired connection takes nothing and does not count")
    func retired() {
        let retired = ConnectionState(isRetired: true, running: 1, capacity: 100)
        #expect(ConnectionChoice.pick([retired], rules: rules) == .open)
        #expect(ConnectionChoice.pick([retired, connection(20), connection(5)], rules: rules) == .use(2, upTo: 5))
    }
}
