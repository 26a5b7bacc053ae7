import Glibc
import Testing

@testable import HTTPClient

@Suite struct AddressHistoryTests {
    private let now = ContinuousClock.now

    private func address(_ port: Int) -> SocketAddress {
        var address: SocketAddress?
        _ = withLoopback(port: port) { pointer, length in address = SocketAddress(pointer, length: length, family: AF_INET) }
        return address!
    }

    @Test("what failed lately is tried last, until it works again or ten minutes have passed")
    func order() {
        let (first, second, third) = (address(1), address(2), address(3))
        let history = AddressHistory()
        #expect(history.ordered([first, second, third], now: now) == [first, second, third])
        history.noteFailure(of: first, now: now)
        history.noteFailure(of: third, now: now)
        #expect(history.ordered([first, second, third], now: now + .seconds(599)) == [second, first, third])
        history.noteSuccess(of: first)
        #expect(history.ordered([first, second, third], now: now + .seconds(599)) == [first, second, third])
        history.noteFailure(of: first, now: now)
        #expect(history.ordered([first, second], now: now + .seconds(600)) == [first, second])
    }

    @Test("an address that was not connected to is not the first of the next connection's")
    func failedConnection() {
        let peer = ScriptedPeer([{ $0.readToEnd() }])
        defer { peer.stop() }
        let gone = ScriptedPeer([])
        gone.stop()
        let found = [address(gone.port), address(peer.port)]
        let history = AddressHistory()
        let connection = HTTP2Connection(
            id: 1,
            origin: try! HTTP2Origin(of: "https://push.example"),
            configuration: HTTP2ClientConfiguration(),
            poller: EventPoller(),
            input: InputBuffer(),
            context: TLSContext(caFile: nil, certificate: nil),
            ticket: TLSSessionTicket(),
            addressHistory: history,
            proxy: nil,
            now: now
        )
        connection.connect(.success(found), now: now)
        // The refusal may be known at once; its share of the time is over by now in any case.
        connection.sweep(now: now + .seconds(6))
        #expect(connection.address == found[1])
        #expect(history.ordered(found, now: now) == [found[1], found[0]])
    }
}
