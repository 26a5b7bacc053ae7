import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import HTTPServer

@Suite("What a connection may cost")
struct ConnectionLimitTests {
    private func head() -> HTTPRequestPart { .head(HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/")) }

    private func receive(_ part: HTTPRequestPart, _ channel: EmbeddedChannel) throws { try channel.writeInbound(part) }

    @Test("a body that drips for ever, or never begins, ends with its deadline", arguments: [true, false])
    func body(drips: Bool) throws {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(BodyDeadline(.seconds(35)))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        try receive(head(), channel)
        for _ in 0..<34 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            if drips { try receive(.body(ByteBuffer(string: "x")), channel) }
        }
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("a body that comes whole leaves its connection alone, and the next one has its own deadline")
    func wholeBody() throws {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(BodyDeadline(.seconds(35)))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        for _ in 0..<3 {
            try receive(head(), channel)
            channel.embeddedEventLoop.advanceTime(by: .seconds(30))
            try receive(.end(nil), channel)
            channel.embeddedEventLoop.advanceTime(by: .seconds(300))
        }
        #expect(channel.isActive)
    }

    @Test("an address has so many connections and no more, until one of them ends; others are not concerned")
    func addresses() throws {
        let limit = ConnectionLimit(total: 100, perAddress: 2)
        #expect(limit.enter("192.0.2.7") && limit.enter("192.0.2.7"))
        #expect(!limit.enter("192.0.2.7"))
        #expect(limit.enter("192.0.2.8"))
        limit.leave("192.0.2.7")
        #expect(limit.enter("192.0.2.7"))
        limit.leave("192.0.2.7")
        limit.leave("192.0.2.7")
        #expect(limit.count(of: "192.0.2.7") == 0)
    }

    @Test("a listener has so many connections and no more, wherever they come from, until one of them ends")
    func total() {
        let limit = ConnectionLimit(total: 100, perAddress: 0)
        #expect((0..<100).allSatisfy { limit.enter("192.0.2.\($0 % 2)") })
        #expect(!limit.enter("192.0.2.0") && !limit.enter("192.0.2.9"))
        limit.leave("192.0.2.0")
        #expect(limit.enter("192.0.2.9"))
        #expect(!limit.enter("192.0.2.9"))
    }

    @Test("a connection beyond the limit is closed, and its end makes no place")
    func closes() throws {
        let limit = ConnectionLimit(total: 1, perAddress: 0)
        func connect() throws -> EmbeddedChannel {
            let channel = EmbeddedChannel(handler: limit.handler())
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
            return channel
        }
        let first = try connect()
        for _ in 0..<3 { #expect(!(try connect().isActive)) }
        #expect(first.isActive)
        try first.close().wait()
        #expect(try connect().isActive)
    }
}
