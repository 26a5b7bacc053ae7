import Testing

@testable import HTTPClient

@Suite struct ConnectionPolicyTests {
    private static let opened = ContinuousClock.now
    /// What a client begins with: a push has 20 s.
    private static let limits = HTTP2ClientConfiguration()

    /// A moment, and what became of the connection by then; all in seconds since it was opened.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var at: Int
        var received = 0
        var used = 0
        var busy = 0
        var pinged: Int?
        var pings = 0
        var use = ConnectionUse(running: 1, hasWaiter: true)
        var action: ConnectionPolicy.Action

        var times: ConnectionTimes {
            var times = ConnectionTimes(opened: opened)
            times.lastReceived = opened + .seconds(received)
            times.lastUsed = opened + .seconds(used)
            times.busySince = opened + .seconds(busy)
            times.pingSentAt = pinged.map { opened + .seconds($0) }
            times.pings = pings
            return times
        }
    }

    private static let idle = ConnectionUse()
    private static let retired = ConnectionUse(running: 1, hasWaiter: true, isRetired: true)
    private static let abandoned = ConnectionUse(running: 1, isRetired: true)
    private static let useless = ConnectionUse(grantsStreams: false)

    static let cases = [
        Case(testDescription: "no answer for 4 s", at: 4, action: .nothing),
        Case(testDescription: "no answer for 5 s", at: 5, action: .ping),
        Case(testDescription: "another answer came meanwhile", at: 9, received: 5, action: .nothing),
        Case(testDescription: "idle until just now", at: 104, busy: 100, action: .nothing),
        Case(testDescription: "idle until 5 s ago", at: 105, busy: 100, action: .ping),
        Case(testDescription: "a draining connection, too", at: 5, use: retired, action: .ping),
        Case(testDescription: "the PING is on its way", at: 9, pinged: 5, pings: 1, action: .nothing),
        Case(testDescription: "lost before the time of its requests is over", at: 10, pinged: 5, pings: 1, action: .lost),
        Case(testDescription: "no second PING soon", at: 14, received: 5, pings: 1, action: .nothing),
        Case(testDescription: "a second PING later", at: 15, received: 5, pings: 1, action: .ping),
        Case(testDescription: "at last every 80 s", at: 579, received: 500, pings: 9, action: .nothing),
        Case(testDescription: "an idle connection is never asked", at: 3599, use: idle, action: .nothing),
        Case(testDescription: "asked before its use", at: 64, pinged: 60, pings: 1, use: idle, action: .nothing),
        Case(testDescription: "lost before its use", at: 65, pinged: 60, pings: 1, use: idle, action: .lost),
        Case(testDescription: "idle for an hour", at: 3600, use: idle, action: .end),
        Case(testDescription: "retired, and nothing runs", at: 1, use: ConnectionUse(isRetired: true), action: .end),
        Case(testDescription: "retired, and nobody waits", at: 1, use: abandoned, action: .end),
        Case(testDescription: "no streams for a while", at: 9, use: useless, action: .nothing),
        Case(testDescription: "no streams for long", at: 10, use: useless, action: .end),
        Case(testDescription: "a day old and in use", at: 86_400, received: 86_399, action: .retire),
        Case(testDescription: "a day old and idle", at: 86_400, used: 86_399, use: idle, action: .end),
    ]

    @Test("age, use, silence and PINGs decide whether a connection is pinged, retired, closed or lost", arguments: cases)
    func action(of row: Case) {
        let now = Self.opened + .seconds(row.at)
        #expect(ConnectionPolicy.action(row.times, row.use, limits: Self.limits, now: now) == row.action)
    }

    @Test(
        "an idle connection that was silent for more than 30 s must answer a PING before it is used",
        arguments: [(30, Int?.none, false), (31, nil, true), (31, 31, false)]
    )
    func uncertain(at seconds: Int, pinged: Int?, isUncertain: Bool) {
        var times = ConnectionTimes(opened: Self.opened)
        times.pingSentAt = pinged.map { Self.opened + .seconds($0) }
        let now = Self.opened + .seconds(seconds)
        #expect(ConnectionPolicy.isUncertain(times, limits: Self.limits, now: now) == isUncertain)
    }
}
